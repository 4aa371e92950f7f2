//! `Short` is not a type of cuda-tiles, and its traits are for no others

use cuda_tiles::cpu::CpuBlock;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::Rank;
use cuda_tiles::view::ElementIndex;

type Small = Tile<u32, Shape1<4>, Blocked<CpuBlock>>;
type Kept = <Small as ElementIndex<Rank<1>>>::Prepared;
/// Would name 64 elements by four indices.
#[derive(Clone, Copy)]
struct Short(Small);

impl ElementIndex<Rank<1>> for Short {
    type Shape = Shape1<64>;
    type Layout = Blocked<CpuBlock>;
    type Prepared = <Small as ElementIndex<Rank<1>>>::Prepared;
    fn prepare(self) -> Kept {
        <Small as ElementIndex<Rank<1>>>::prepare(self.0)
    }
}

fn main() {}
