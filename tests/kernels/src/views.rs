//! Loads and stores through partition views: every mapping, extent type, alignment, rank and padding.

use cuda_tiles::prelude::*;

/// A kernel that copies a vector of any length, masked.
macro_rules! masked_copies {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, tiles of $tile:literal, $instances:tt;)*) => { $(
        /// Copies `x` to `y`.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, instances $instances)]
        pub fn $name<T: Promote<T, Output = T>>(cx: Cx, x: Span<T, (u32,)>, y: SpanMut<T, (u32,)>) {
            let (x, y) = (x.partition(cx, shape![$tile]), y.partition(cx, shape![$tile]));
            let i = cx.bid::<0>();
            y.store_masked(x.load_masked(Zero, i), i);
        }
    )* };
}
masked_copies! {
    copy_by_1: 128 threads, 1 neighbours, tiles of 128, (<u8>, <f16>, <i32>, <f64>);
    copy_by_2: 32 threads, 2 neighbours, tiles of 256, (<u8>, <bf16>, <f32>, <i64>);
    copy_by_4: 256 threads, 4 neighbours, tiles of 64,
        (<bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>);
    copy_by_8: 64 threads, 8 neighbours, tiles of 512, (<i8>, <u16>, <u32>, <u64>);
    copy_by_16: 1024 threads, 16 neighbours, tiles of 32, (<bool>, <i16>, <f32>, <f64>);
}

/// Copies whole tiles, checked (even rows of tiles) and unchecked.
#[kernel(
    threads = 128, min_blocks = 1,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn copy_whole<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32)>,
    checked: SpanMut<T, (u32, u32)>,
    unchecked: SpanMut<T, (u32, u32)>,
) {
    let x = x.partition(cx, shape![4, 16]);
    let (checked, unchecked) = (checked.partition(cx, shape![4, 16]), unchecked.partition(cx, shape![4, 16]));
    let i = cx.bid::<0>();
    for j in 0..x.num_tiles(1) {
        let tile = x.load((i, j));
        checked.store(tile, (i, j));
        // SAFETY: the tile lies inside both tensors, as the checked load and store of the same tile in tensors of
        // the same shape have shown; it is this block's own, as its index says.
        unsafe { unchecked.store_unchecked(x.load_unchecked((i, j)), (i, j)) };
    }
}

/// Copies matrices between mappings, by masked access, one block a tile.
#[kernel(
    threads = 64, min_blocks = 1,
    grid = 2,
    instances(
        <i32, Right, Right>, <i32, Right, Left>, <i32, Right, Pitched>, <i32, Right, Strided>,
        <i32, Left, Right>, <i32, Left, Left>, <i32, Left, Pitched>, <i32, Left, Strided>,
        <i32, Pitched, Right>, <i32, Pitched, Left>, <i32, Pitched, Pitched>, <i32, Pitched, Strided>,
        <i32, Strided, Right>, <i32, Strided, Left>, <i32, Strided, Pitched>, <i32, Strided, Strided>,
        <u8, Pitched, Pitched>, <f16, Left, Pitched>, <f64, Strided, Right>
    )
)]
pub fn copy_mapped<T, M, O>(
    cx: Cx,
    x: TensorSpan<T, (u32, u32), cuda_tiles::span::ReadOnly, M>,
    y: TensorSpan<T, (u32, u32), cuda_tiles::span::Exclusive, O>,
) where
    T: Promote<T, Output = T>,
    M: Mapping,
    O: Mapping,
{
    let (x, y) = (x.partition(cx, shape![8, 16]), y.partition(cx, shape![8, 16]));
    let index = (cx.bid::<0>(), cx.bid::<1>());
    y.store_masked(x.load_masked(Zero, index), index);
}

/// Copies a matrix whose extents have the types `E`, by masked access; `counts` gets the numbers of tiles.
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 8,
    grid = 2,
    instances(
        <(u32, u32)>, <(u64, u64)>, <(u32, u64)>, <(D<37>, u32)>, <(u32, D<48>)>, <(D<37>, D<48>)>,
        <(u32, Mult<u32, 8>)>, <(u64, Mult<u64, 16>)>, <(Mult<u32, 37>, Mult<u32, 2>)>
    )
)]
pub fn copy_extents<E>(cx: Cx, x: Span<f16, E>, y: SpanMut<f16, E>, counts: SpanMut<u64, (D<2>, u32, u32)>)
where
    E: Extents<Rank = shape::Rank<2>>,
    E::Offset: Into<u64>,
{
    let (x, y) = (x.partition(cx, shape![4, 32]), y.partition(cx, shape![4, 32]));
    let counts = counts.partition(cx, shape![1, 1, 1]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    y.store_masked(x.load_masked(Zero, (i, j)), (i, j));
    counts.store(cx.scalar::<u64>(x.num_tiles(0).into()), (0, i, j));
    counts.store(cx.scalar::<u64>(x.num_tiles(1).into()), (1, i, j));
}

/// Copies a vector that lies on a multiple of 16 bytes: of `x` the kernel checks it, of `y` the launch, and the kernel promises
/// what the launch has checked.
#[kernel(threads = 128, min_blocks = 1, vector = 16, instances(<u8>, <f16>, <f32>, <f64>))]
pub fn copy_aligned<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32,)>,
    y: SpanMut<T, (u32,), Right, Aligned<16>>,
) {
    // SAFETY: the launch checked the argument's type.
    let y = unsafe { y.assume_aligned::<16>() };
    let (x, y) = (x.aligned::<16>().partition(cx, shape![256]), y.partition(cx, shape![256]));
    let i = cx.bid::<0>();
    y.store_masked(x.load_masked(Zero, i), i);
}

/// Copies a tensor of rank 0, a single number, and adds the number of blocks.
#[kernel(threads = 32, min_blocks = 1)]
pub fn copy_rank_1_to_0(cx: Cx, x: Span<i32, (D<1>,)>, y: SpanMut<i32, (D<1>,)>) {
    let x: Tile<i32, Shape0, _> = x.partition(cx, shape![1]).load(0).reshape(shape![]);
    y.partition(cx, shape![1]).store(x + cx.num_blocks(0) as i32, cx.bid::<0>());
}

/// Loads a number from a tensor of rank 0 and stores it throughout `y`.
#[kernel(threads = 128, min_blocks = 1, instances(<bool>, <f16>, <i32>, <f64>))]
pub fn spread_rank_0<T: Promote<T, Output = T>>(cx: Cx, x: Span<T, ()>, y: SpanMut<T, (u32,)>) {
    let x = x.partition(cx, shape![]).load(());
    y.partition(cx, shape![32]).store_masked(x, cx.bid::<0>());
}

/// Copies a tensor of rank 3 on a grid of rank 3.
#[kernel(threads = 128, min_blocks = 1, grid = 3, instances(<u8>, <f32>, <i64>))]
pub fn copy_rank_3<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32, u32)>,
    y: SpanMut<T, (u32, u32, u32)>,
) {
    let (x, y) = (x.partition(cx, shape![2, 4, 8]), y.partition(cx, shape![2, 4, 8]));
    let index = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    y.store_masked(x.load_masked(Zero, index), index);
}

/// Copies a tensor of rank 4; a block takes all tiles along the inner two axes.
#[kernel(threads = 128, min_blocks = 1, vector = 8, grid = 2, instances(<u8>, <f32>, <i64>))]
pub fn copy_rank_4<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32, u32, u32)>,
    y: SpanMut<T, (u32, u32, u32, u32)>,
) {
    let (x, y) = (x.partition(cx, shape![1, 2, 4, 16]), y.partition(cx, shape![1, 2, 4, 16]));
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    for k in 0..x.num_tiles(2) {
        for l in 0..x.num_tiles(3) {
            y.store_masked(x.load_masked(Zero, (i, j, k, l)), (i, j, k, l));
        }
    }
}

/// Tiles of `x` padded with zero, -0, infinity, -infinity and NaN, as rows; the tile after the last one too.
#[kernel(threads = 64, min_blocks = 1, vector = 8, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn paddings<T: Float>(cx: Cx, x: Span<T, (u32,)>, results: SpanMut<T, (D<5>, u32)>) {
    let (x, results) = (x.partition(cx, shape![64]), results.partition(cx, shape![1, 64]));
    let i = cx.bid::<0>();
    results.store(x.load_masked(Zero, i), (0, i));
    results.store(x.load_masked(NegativeZero, i), (1, i));
    results.store(x.load_masked(PositiveInfinity, i), (2, i));
    results.store(x.load_masked(NegativeInfinity, i), (3, i));
    results.store(x.load_masked(Nan, i), (4, i));
}

/// Tiles of `x` padded with zero; the tile after the last one too.
#[kernel(threads = 32, min_blocks = 1, vector = 16, instances(<bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>))]
pub fn padding<T: Promote<T, Output = T>>(cx: Cx, x: Span<T, (u32,)>, results: SpanMut<T, (u32,)>) {
    let results = results.partition(cx, shape![64]);
    let i = cx.bid::<0>();
    let tile = x.partition(cx, shape![64]).load_masked(Zero, i);
    results.store(tile, i);
}

/// Doubles the elements of `y` in place, then adds to each tile the sum of its first row, which a second tensor takes
/// on the way there and back: loads see the block's earlier stores, made by other threads.
#[kernel(threads = 128, min_blocks = 1)]
pub fn load_after_store(cx: Cx, y: SpanMut<i32, (u32, D<64>)>, scratch: SpanMut<i32, (u32, D<64>)>) {
    let (y, scratch) = (y.partition(cx, shape![16, 64]), scratch.partition(cx, shape![16, 64]));
    let index = (cx.bid::<0>(), 0);
    y.store_masked(y.load_masked(Zero, index) * 2, index);
    let doubled = y.load_masked(Zero, index);
    let sums = doubled.sum::<1>();
    scratch.store_masked(sums, index);
    scratch.store_masked(scratch.load_masked(Zero, index) + doubled, index);
    y.store_masked(scratch.load_masked(Zero, index), index);
}

/// `y = x + 1`, by fewer blocks than there are tiles.
#[kernel(threads = 64, min_blocks = 1)]
pub fn persistent(cx: Cx, x: Span<i32, (u32,)>, y: SpanMut<i32, (u32,)>) {
    let (x, y) = (x.partition(cx, shape![32]), y.partition(cx, shape![32]));
    for i in cx.tiles::<0>(x.num_tiles(0)) {
        y.store_masked(x.load_masked(Zero, i) + 1, i);
    }
}

/// Loads tile `index` of `x` in tiles of 2 x 2 (rows `0..2` of `tiles`), and in tiles of 2 x 4 padded with NaN; stores
/// 100 times the numbers 0 to 3 as the tile (1, 3) of `y`, in tiles of 2 x 2.
#[kernel(threads = 32, min_blocks = 1, grid = 2)]
pub fn worked_examples(
    cx: Cx,
    x: Span<i32, (D<4>, D<8>)>,
    z: Span<f32, (D<4>, D<11>)>,
    loaded: SpanMut<i32, (u32, u32)>,
    padded: SpanMut<f32, (u32, u32)>,
    y: SpanMut<i32, (D<4>, D<8>)>,
) {
    let loaded = loaded.partition(cx, shape![2, 2]);
    let padded = padded.partition(cx, shape![2, 4]);
    let y = y.partition(cx, shape![2, 2]);
    let own = (cx.bid::<0>(), cx.bid::<1>());
    loaded.store(x.partition(cx, shape![2, 2]).load(own), own);
    padded.store_masked(z.partition(cx, shape![2, 4]).load_masked(Nan, own), own);
    if (*own.0, *own.1) == (1, 3) {
        y.store(cx.iota::<i32>(shape![2, 2]) * 100, own);
    }
}

/// Overwrites the last tile with 7, counting in 64 bits.
#[kernel]
pub fn mark_last_tile(cx: Cx, x: SpanMut<u8, (u64,)>) {
    let x = x.partition(cx, shape![4096]);
    let i = cx.bid::<0>();
    if u64::from(*i) + 1 == x.num_tiles(0) {
        x.store_masked(cx.full(shape![4096], 7_u8), i);
    }
}
