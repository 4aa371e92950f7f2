//! `Other` is not a type of cuda-tiles, and its traits are for no others
//! `Order` is not a type of cuda-tiles, and its traits are for no others

use cuda_tiles::prelude::*;
use cuda_tiles::shape::{AxisOrder, Broadcast, OfRank, Rank, ShapeDescription};

/// Would have fewer elements than its description says.
#[derive(Clone, Copy, Default)]
struct Other;

impl OfRank<Rank<1>> for Other {}
impl Broadcast<Other> for Other {
    type Output = Other;
}
impl Broadcast<()> for Other {
    type Output = Other;
}
impl Shape for Other {
    type Rank = Rank<1>;
    type Count = <Shape1<1024> as Shape>::Count;
    type Rows = <Shape1<1024> as Shape>::Rows;
    type Columns = <Shape1<1024> as Shape>::Columns;
    const DESCRIPTION: ShapeDescription = <Shape1<1024> as Shape>::DESCRIPTION;
    const LENGTHS: [usize; 4] = <Shape1<1024> as Shape>::LENGTHS;
    const LEN: usize = 1;
}

/// Would make 64 elements of four.
struct Order;

impl AxisOrder<Shape1<4>> for Order {
    type Permuted = Shape1<64>;
    const AXES: [usize; 4] = [0, 1, 2, 3];
}

fn main() {}
