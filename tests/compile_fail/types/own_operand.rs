//! `Short` is not a type of cuda-tiles, and its traits are for no others
//! `Thin` is not a type of cuda-tiles, and its traits are for no others

use cuda_tiles::cpu::CpuBlock;
use cuda_tiles::layout::{Join, LayoutDescription};
use cuda_tiles::ops::Operand;
use cuda_tiles::prelude::*;
use cuda_tiles::registers::PowerOfTwo;

type Whole = Blocked<CpuBlock>;
type Small = Tile<u32, Shape1<4>, Whole>;
type Kept = <Small as Operand<u32, Shape1<4>, Whole>>::Prepared<Shape1<4>, Whole>;
/// Would be read beyond its four elements.
struct Short(Small);

impl Operand<u32, Shape1<64>, Whole> for Short {
    type Element = u32;
    type Shape = Shape1<64>;
    type Layout = Whole;
    type Prepared<To: Shape, M: Layout> =
        <Small as Operand<u32, Shape1<4>, Whole>>::Prepared<Shape1<4>, Whole>;
    fn prepare<To: Shape, M: Layout>(self) -> Kept {
        <Small as Operand<u32, Shape1<4>, Whole>>::prepare::<Shape1<4>, Whole>(self.0)
    }
}

/// Would have one register for any number of elements.
#[derive(Clone, Copy)]
struct Thin;

impl Join<Thin> for Thin {
    type Output = Thin;
}
impl Layout for Thin {
    type Block = CpuBlock;
    type Registers<S: Shape> = <D<1> as Dimension>::Count;
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> = <D<1> as Dimension>::Count;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Blocked { vector: 0, threads: 6 };
}

fn main() {}
