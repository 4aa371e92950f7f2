//! Loads and stores of tiles at steps and at elements, and of rows that start anywhere in memory.

use cuda_tiles::prelude::*;

/// A kernel that copies a matrix, masked, one block a tile.
macro_rules! ragged_copies {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, tiles of $rows:literal $columns:literal, $instances:tt;)*) => { $(
        /// Copies `x` to `y`.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, grid = 2, instances $instances)]
        pub fn $name<T: Promote<T, Output = T>>(cx: Cx, x: Span<T, (u32, u32)>, y: SpanMut<T, (u32, u32)>) {
            let (x, y) = (x.partition(cx, shape![$rows, $columns]), y.partition(cx, shape![$rows, $columns]));
            let index = (cx.bid::<0>(), cx.bid::<1>());
            y.store_masked(x.load_masked(Zero, index), index);
        }
    )* };
}
ragged_copies! {
    ragged_by_2: 32 threads, 2 neighbours, tiles of 2 128, (<u8>, <f16>, <i32>, <f64>);
    ragged_by_4: 128 threads, 4 neighbours, tiles of 1 1024,
        (<bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>);
    ragged_by_8: 64 threads, 8 neighbours, tiles of 4 64, (<u8>, <f16>, <f32>, <f64>);
    ragged_by_16: 64 threads, 16 neighbours, tiles of 1 256, (<i8>, <bf16>, <u32>, <i64>);
}

/// Copies whole tiles of rows that need not be aligned, in place: adds 1 to each element.
#[kernel(threads = 64, min_blocks = 1, vector = 8, instances(<u8>, <f16>, <f32>, <f64>))]
pub fn ragged_in_place<T: Number>(cx: Cx, y: SpanMut<T, (u32, u32)>) {
    let y = y.partition(cx, shape![2, 64]);
    let i = cx.bid::<0>();
    for j in 0..y.num_tiles(1) - 1 {
        y.store(y.load((i, j)) + T::ONE, (i, j));
    }
    let last = (i, y.num_tiles(1) - 1);
    y.store_masked(y.load_masked(Zero, last) + T::ONE, last);
}

/// Tile `(i, j)` of 4 x 8 elements of `x`, at steps that overlap, that are exact, and that leave gaps, as tiles of 4 x 8
/// in three layers.
#[kernel(
    threads = 32, min_blocks = 1,
    grid = 2,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn strided_loads<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32)>,
    y: SpanMut<T, (D<3>, u32, u32)>,
    spaces: SpanMut<u32, (u32, u32, D<8>)>,
) {
    let y = y.partition(cx, shape![1, 4, 8]);
    let spaces = spaces.partition(cx, shape![1, 1, 1]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let overlapping = x.strided(cx, shape![4, 8], steps![3, 2]);
    let exact = x.strided(cx, shape![4, 8], steps![4, 8]);
    let apart = x.strided(cx, shape![4, 8], steps![5, 16]);
    y.store(overlapping.load_masked(Zero, (i, j)), (0, i, j));
    y.store(exact.load_masked(Zero, (i, j)), (1, i, j));
    y.store(apart.load_masked(Zero, (i, j)), (2, i, j));
    let store = |k: usize, number: u32| spaces.store(cx.scalar(number), (i, j, k));
    store(0, overlapping.num_tiles(0));
    store(1, overlapping.num_tiles(1));
    store(2, exact.num_tiles(0));
    store(3, exact.num_tiles(1));
    store(4, apart.num_tiles(0));
    store(5, apart.num_tiles(1));
    store(6, overlapping.index_space()[1]);
    store(7, apart.index_space()[2]);
}

/// Stores tile `(i, j, k)` of ones at steps as long as the tile and longer; the unchecked store of a tile inside too.
#[kernel(threads = 64, min_blocks = 1, grid = 3, instances(<u8>, <i16>, <f32>, <i64>))]
pub fn strided_stores<T: Number>(cx: Cx, y: SpanMut<T, (u32, u32, u32)>) {
    let y = y.strided(cx, shape![1, 2, 4], steps![2, 2, 6]);
    let index = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    y.store_masked(cx.ones::<T>(shape![1, 2, 4]), index);
    y.store_masked(y.load_masked(Zero, index) + T::ONE, index);
}

/// Each block adds 1 to a tile that its number does not make its own: counted from the end side by side and at steps, and
/// at any element where `firsts` says.
#[kernel(threads = 64, min_blocks = 1, instances(<u8>, <f16>, <f32>, <i64>))]
pub fn unowned<T: Number>(
    cx: Cx,
    firsts: Span<i32, (u32,)>,
    side_by_side: SpanMut<T, (u32,)>,
    at_steps: SpanMut<T, (u32,)>,
    anywhere: SpanMut<T, (u32,)>,
) {
    let side_by_side = side_by_side.partition(cx, shape![64]);
    let at_steps = at_steps.strided(cx, shape![64], steps![80]);
    let anywhere = anywhere.window(cx, shape![64]);
    let i = cx.bid::<0>();
    let other = cx.num_blocks(0) - 1 - *i;
    let first = firsts.partition(cx, shape![1]).load(i).at([0]);
    // SAFETY: no two blocks count to one tile from the end, and those of the first two views share no element; the
    // test's windows do not overlap.
    unsafe {
        side_by_side.store_masked_unowned(side_by_side.load_masked_unowned(Zero, other) + T::ONE, other);
        at_steps.store_masked_unowned(at_steps.load_masked_unowned(Zero, other) + T::ONE, other);
        anywhere.store_masked_unowned(anywhere.load_masked_unowned(Zero, first) + T::ONE, first);
    }
}

/// The window of 4 x 16 elements whose first element is `(4 i - 6, 16 j - 21)`, padded, as tile `(i, j)` of `y`.
#[kernel(
    threads = 64, min_blocks = 1,
    grid = 2,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn windows<T: Promote<T, Output = T>>(cx: Cx, x: Span<T, (u32, u32)>, y: SpanMut<T, (u32, u32)>) {
    let y = y.partition(cx, shape![4, 16]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let x = x.window(cx, shape![4, 16]);
    y.store(x.load_masked(Zero, (*i as i32 * 4 - 6, *j as i64 * 16 - 21)), (i, j));
}

/// Windows of other extents and mappings: 64-bit, static, pitched by 4, and with the first axis contiguous.
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 8,
    grid = 2,
    instances(
        <(u64, u64), Right>, <(u32, D<48>), Right>, <(u32, Mult<u32, 8>), Right>, <(u32, u32), Pitched<4>>,
        <(u32, u32), Left>, <(u32, u32), Strided>
    )
)]
pub fn windows_of_spans<E, M>(
    cx: Cx,
    x: TensorSpan<f16, E, cuda_tiles::span::ReadOnly, M>,
    y: SpanMut<f16, (u32, u32)>,
) where
    E: Extents<Rank = shape::Rank<2>>,
    M: Mapping,
{
    let y = y.partition(cx, shape![8, 32]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let x = x.window(cx, shape![8, 32]);
    y.store(x.load_masked(NegativeZero, (*i as i32 * 8 - 5, *j as i32 * 32 - 24)), (i, j));
}

/// `y[i] = x[i - 1] + x[i] + x[i + 1]`, with nothing beyond either end.
#[kernel(threads = 128, min_blocks = 1)]
pub fn three_points(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    let (x, y) = (x.window(cx, shape![512]), y.partition(cx, shape![512]));
    let i = cx.bid::<0>();
    let first = *i as i32 * 512;
    let sum = x.load_masked(Zero, first - 1) + x.load_masked(Zero, first) + x.load_masked(Zero, first + 1);
    y.store_masked(sum, i);
}

/// Loads the window at `first`, which must lie inside, and stores it through overlapping windows of an atomic span.
#[kernel(threads = 32, min_blocks = 1)]
pub fn window_inside(
    cx: Cx,
    x: Span<i32, (u32, u32)>,
    y: SpanAtomic<i32, (u32, u32)>,
    row: i32,
    column: i32,
) {
    let tile = x.window(cx, shape![2, 8]).load((row, column));
    y.window(cx, shape![2, 8]).atomic_store_masked(tile, (row - 1, column - 3), Relaxed, scope::Device);
    let loaded =
        y.strided(cx, shape![2, 8], steps![1, 1]).atomic_load_masked(Zero, (0, 0), Relaxed, scope::Device);
    y.window(cx, shape![2, 8]).atomic_store(loaded, (2, 0), Relaxed, scope::Device);
}

/// Adds 1 to the only element of `y`, which only one block may do.
#[kernel(threads = 32, min_blocks = 1, instances(<i8>, <f16>, <i32>, <f64>))]
pub fn count_one<T: Number>(cx: Cx, y: SpanMut<T, ()>) {
    let y = y.partition(cx, shape![]);
    y.store(y.load(()) + T::ONE, ());
}

/// The worked examples of the reference pages by strided views: tile (1, 2) of a 4 x 8 tensor in tiles of 2 x 2, tile
/// (0, 2) of a 4 x 11 tensor in tiles of 2 x 4, 100 times the numbers 0 to 3 stored as tile (1, 3).
#[kernel(threads = 32, min_blocks = 1, grid = 2)]
pub fn worked_examples_at_steps(
    cx: Cx,
    x: Span<i32, (D<4>, D<8>)>,
    z: Span<f32, (D<4>, D<11>)>,
    loaded: SpanMut<i32, (u32, u32)>,
    padded: SpanMut<f32, (u32, u32)>,
    y: SpanMut<i32, (D<4>, D<8>)>,
) {
    let loaded = loaded.partition(cx, shape![2, 2]);
    let padded = padded.partition(cx, shape![2, 4]);
    let steps = steps![2, 2];
    let y = y.strided(cx, shape![2, 2], steps);
    let own = (cx.bid::<0>(), cx.bid::<1>());
    loaded.store(x.strided(cx, shape![2, 2], steps).load(own), own);
    let tile = z.window(cx, shape![2, 4]).load_masked(Nan, (*own.0 * 2, *own.1 * 4));
    padded.store_masked(tile, own);
    if (*own.0, *own.1) == (1, 3) {
        y.store(cx.iota::<i32>(shape![2, 2]) * 100, own);
    }
}

/// Tiles of `x` by indices of every type, beyond the tensor on either side and inside it, as rows.
#[kernel(threads = 32, min_blocks = 1)]
pub fn index_types(cx: Cx, x: Span<i32, (u32,)>, y: SpanMut<i32, (u32, D<10>, D<32>)>) {
    let (x, y) = (x.partition(cx, shape![32]), y.partition(cx, shape![1, 1, 32]));
    let i = cx.bid::<0>();
    y.store(x.load_masked(Zero, -1_i32), (i, 0, 0));
    y.store(x.load_masked(Zero, i64::MIN), (i, 1, 0));
    y.store(x.load_masked(Zero, u64::MAX), (i, 2, 0));
    y.store(x.load_masked(Zero, 1_u64 << 32), (i, 3, 0));
    y.store(x.load_masked(Zero, (1_u64 << 32) + 1), (i, 4, 0));
    y.store(x.load_masked(Zero, u32::MAX), (i, 5, 0));
    y.store(x.load_masked(Zero, 1_i32), (i, 6, 0));
    y.store(x.load_masked(Zero, 1_i64), (i, 7, 0));
    y.store(x.load_masked(Zero, 1_u64), (i, 8, 0));
    y.store(x.load_masked(Zero, 1_usize), (i, 9, 0));
}
