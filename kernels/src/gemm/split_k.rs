//! The second pass of split-K and stream-K: it adds up partial sums and applies the epilogue.

use cuda_tiles::prelude::*;

use cuda_tiles::launch::ByValue;

use super::body::ORDER;
use super::epilogue::{Scales, Sum, finish_view};
use super::scheduler::TileRange;
use super::stream_k::StreamK;

/// Adds up tiles number 0 to `$count`: the sums are those of their elements, in this order.
///
/// Several loads are in flight at the same time. The additions keep their order.
macro_rules! add_up {
    ($acc:ident, $count:expr, |$part:ident| $tile:expr) => {
        let count = $count;
        let load = |$part: u32| $tile;
        let mut part = 0;
        while part + 4 <= count {
            let [w, x, y, z] = [load(part), load(part + 1), load(part + 2), load(part + 3)];
            $acc = $acc + w + x + y + z;
            part += 4;
        }
        while part < count {
            $acc += load(part);
            part += 1;
        }
    };
}

/// The second pass of split-K: `c = activation(alpha acc + beta c + bias)`, where `acc` is the total of the partial sums.
///
/// Generic parameters: the element types of the partial sums and of `c`; the partial sums that a block loads at once, and the rows of its
/// tile. Many partial sums of a small result are spread over the threads of a block, and those of a very small one over blocks for each row.
///
/// # Shapes
///
/// `partial_sums` has `splits` matrices of the shape of `c` for each matrix of `c`: matrix `m` has the partial sums `m * splits` to
/// `(m + 1) * splits - 1`. The bias is empty or has as many elements as a row of `c`.
///
/// # On a GPU
///
/// Each block computes a tile of `ROWS` x 128. The axes of the grid are columns, rows and matrices of `c`. The kernel supports programmatic
/// dependent launch (PDL).
#[kernel(
    threads = 256,
    grid = 3,
    dependent,
    instances(
        <f32, f16, 1, 16>, <f32, bf16, 1, 16>, <f32, f32, 1, 16>, <i32, i32, 1, 16>, <f64, f64, 1, 16>,
        <f32, f16, 8, 4>, <f32, bf16, 8, 4>, <f32, f32, 8, 4>, <i32, i32, 8, 4>, <f64, f64, 8, 4>,
        <f32, f16, 32, 1>, <f32, bf16, 32, 1>, <f32, f32, 32, 1>, <i32, i32, 32, 1>, <f64, f64, 32, 1>,
    )
)]
pub fn reduce_split_k<
    B: Block,
    C: Sum + Cast<O>,
    O: Number + Cast<C>,
    const PARTS: usize,
    const ROWS: usize,
>(
    cx: Cx<B>,
    partial_sums: Span<C, (u32, u32, u32), Pitched<4>>,
    c: SpanMut<O, (u32, u32, u32), Pitched>,
    bias: Span<O, (u32,)>,
    scales: ByValue<Scales<C>>,
    splits: u32,
) where
    D<PARTS>: Dimension,
    D<ROWS>: Dimension,
{
    let c = c.partition(cx, shape![1, ROWS, 128]);
    let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    let first = *m * splits;
    let partial_sums = partial_sums.slice::<0>(first..first + splits).partition(cx, shape![PARTS, ROWS, 128]);
    let mut acc = cx.zeros::<C>(shape![PARTS, ROWS, 128]);
    add_up!(acc, partial_sums.num_tiles(0), |parts| partial_sums.load_masked(Zero, (parts, *i, *j)));
    let result = finish_view!(cx, acc.sum::<0>(), scales.0, bias, c, shape![128], (m, i, j), *j);
    c.store_masked(result, (m, i, j));
}

/// The second pass of stream-K: `c = activation(alpha acc + beta c + bias)`, where `acc` is the total of the partial sums.
///
/// Generic parameters: as for [`reduce_split_k`]. `range` is the range of the first pass, counted in the tiles of `c`, and `steps` is the
/// number of k steps of a tile. `c` may be only the end of the result. Tiles before the range keep their elements.
///
/// # Shapes
///
/// `partial_sums` has two slots for each block of the first pass, and a slot has the size of one tile. The bias is empty or has as many
/// elements as a row of `c`.
///
/// # On a GPU
///
/// As [`reduce_split_k`].
#[kernel(
    threads = 256,
    grid = 3,
    dependent,
    instances(
        <f32, f16, 1, 16>, <f32, bf16, 1, 16>, <f32, f32, 1, 16>, <i32, i32, 1, 16>,
        <f32, f16, 8, 4>, <f32, bf16, 8, 4>, <f32, f32, 8, 4>, <i32, i32, 8, 4>,
    )
)]
pub fn reduce_stream_k<
    B: Block,
    C: Sum + Cast<O>,
    O: Number + Cast<C>,
    const PARTS: usize,
    const ROWS: usize,
>(
    cx: Cx<B>,
    partial_sums: Span<C, (u32, u32, u32), Pitched<4>>,
    c: SpanMut<O, (u32, u32, u32), Pitched>,
    bias: Span<O, (u32,)>,
    scales: ByValue<Scales<C>>,
    range: ByValue<TileRange>,
    steps: u32,
) where
    D<PARTS>: Dimension,
    D<ROWS>: Dimension,
{
    let (blocks, height, width) =
        (partial_sums.extent(0) / 2, partial_sums.extent(1), partial_sums.extent(2));
    let [batches, rows, columns] = [0, 1, 2].map(|axis| c.extent(axis));
    let c = c.partition(cx, shape![1, ROWS, 128]);
    let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    // The tile of the first pass, in tiles of this pass.
    let (tile_rows, tile_columns) = ((height / const { ROWS as u32 }).max(1), (width / 128).max(1));
    let counts = [batches, rows.div_ceil(height.max(1)), columns.div_ceil(width.max(1))];
    let number = ORDER.number_of([*m, *i / tile_rows, *j / tile_columns], counts);
    let whole = range.0.whole();
    if number < whole {
        return;
    }
    let (row, column) = (*i % tile_rows, *j % tile_columns);
    let stream_k = StreamK { tiles: counts[0] * counts[1] * counts[2] - whole, steps, blocks };
    let slots = stream_k.slots(number - whole);
    // The first slot may lie anywhere. The others lie one behind the other.
    let first =
        partial_sums.partition(cx, shape![1, ROWS, 128]).load_masked(Zero, (slots.first(), row, column));
    let others = partial_sums.slice::<0>(slots.others()).partition(cx, shape![PARTS, ROWS, 128]);
    let mut acc = cx.zeros::<C>(shape![PARTS, ROWS, 128]);
    add_up!(acc, others.num_tiles(0), |parts| others.load_masked(Zero, (parts, row, column)));
    let result = finish_view!(cx, first + acc.sum::<0>(), scales.0, bias, c, shape![128], (m, i, j), *j);
    c.store_masked(result, (m, i, j));
}
