//! Matrix multiplication, step by step: `docs/book/src/tensor-cores.md` explains each step.

use cuda_tiles::prelude::*;

/// `c = a b`: each block loads tiles, multiplies them, and loads the next tiles. Block `(i, j)` computes a tile of 128 x 128.
#[kernel(threads = 256, grid = 2)]
pub fn gemm_loads(cx: Cx, a: Span<f16, (u32, u32)>, b: Span<f16, (u32, u32)>, c: SpanMut<f16, (u32, u32)>) {
    let (a, b) = (a.partition(cx, shape![128, 32]), b.partition(cx, shape![32, 128]));
    let c = c.partition(cx, shape![128, 128]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let mut acc = cx.accumulators::<f32>(shape![128, 128]);
    for k in 0..a.num_tiles(1) {
        acc = mma(a.load_masked(Zero, (i, k)), b.load_masked(Zero, (k, j)), acc);
    }
    c.store_masked(acc.cast::<f16>(), (i, j));
}

/// `c = a b`, and the tiles of the next steps are copied to shared memory while those of this step are multiplied. One line says so. `a` and
/// `b` are any matrices, as before. The rows of `c` are whole vectors: then 256 columns leave the registers that the products need.
#[kernel(threads = 256, grid = 2, min_blocks = 1, instances(<128>, <256> if warpgroups))]
pub fn gemm_ahead<B: Block, const N: usize>(
    cx: Cx<B>,
    a: Span<f16, (u32, u32)>,
    b: Span<f16, (u32, u32)>,
    c: SpanMut<f16, (u32, Mult<u32, 8>), Right, Aligned<16>>,
    #[shared] mut ring: Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, N>>), 4>,
) where
    D<N>: Dimension,
{
    let (a, b) = (a.partition(cx, shape![128, 64]), b.partition(cx, shape![64, N]));
    let c = c.partition(cx, shape![128, N]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let tiles = ring.copy_ahead(cx, a.num_tiles(1), |k| (a.tile((i, k)), b.tile((k, j))));
    let acc = tiles.accumulate(|acc, (a, b)| acc.mma(a, b));
    c.store_masked(acc.cast::<f16>(), (i, j));
}

/// The same with operands that TMA copies.
#[kernel(threads = 256, grid = 2, min_blocks = 1, instances(<128>, <256> if warpgroups))]
pub fn gemm_ahead_tma<B: Block, const N: usize>(
    cx: Cx<B>,
    a: TmaLoad<f16, Shape2<128, 64>>,
    b: TmaLoad<f16, Shape2<64, N>>,
    c: SpanMut<f16, (u32, Mult<u32, 8>), Right, Aligned<16>>,
    #[shared] mut ring: Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, N>>), 4>,
) where
    D<N>: Dimension,
{
    let c = c.partition(cx, shape![128, N]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let tiles = ring.copy_ahead(cx, a.tile_counts().1, |k| (a.tile(*i, k), b.tile(k, *j)));
    let acc = tiles.accumulate(|acc, (a, b)| acc.mma(a, b));
    c.store_masked(acc.cast::<f16>(), (i, j));
}

/// `c = a b` with a pipeline: a producer warp loads operands into the stages of a ring, ahead of the consumers. The kernel is
/// persistent: any number of blocks shares the tiles of `c`, of 128 x `N`. 256 columns are for GPUs with warpgroups (compute
/// capability 9.0): elsewhere the fragments of the operands take registers, too.
#[kernel(threads = 256, producer = 32, min_blocks = 1, instances(<128>, <256> if warpgroups))]
pub fn gemm_streamed<B: Block, const N: usize>(
    roles: WarpRoles<B>,
    a: TmaLoad<f16, Shape2<128, 64>>,
    b: TmaLoad<f16, Shape2<64, N>>,
    c: TmaStore<f16, Shape2<128, N>>,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, N>>)>,
    #[shared] mut buffer: EpilogueBuffer<2>,
) where
    D<N>: Dimension,
{
    let tiles = roles.tile_indices(Grouped::<16>, c.tile_counts());
    let loads = tiles.flat_map(move |[_, i, j]| a.row(i).zip(b.column(j)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in c.schedule(cx, Grouped::<16>) {
            let acc = consumer.k_loop(a.tile_counts().1).accumulate(|acc, (a, b)| acc.mma(a, b));
            tile.store(&mut buffer, acc.cast());
        }
    });
}

/// `c = gelu(a b + bias)`: the same pipeline, with an epilogue before the store. The bias is as long as a row of `c`. Where
/// warpgroups multiply, the epilogue needs registers, which a whole producer warpgroup hands over.
#[kernel(threads = 256, producer = 128, min_blocks = 1, instances(<128>, <256> if warpgroups))]
pub fn gemm_streamed_gelu<B: Block, const N: usize>(
    roles: WarpRoles<B>,
    a: TmaLoad<f16, Shape2<128, 64>>,
    b: TmaLoad<f16, Shape2<64, N>>,
    bias: Span<f16, (u32,)>,
    c: TmaStore<f16, Shape2<128, N>>,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, N>>)>,
    #[shared] mut buffer: EpilogueBuffer<2>,
) where
    D<N>: Dimension,
{
    let tiles = roles.tile_indices(Grouped::<16>, c.tile_counts());
    let loads = tiles.flat_map(move |[_, i, j]| a.row(i).zip(b.column(j)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in c.schedule(cx, Grouped::<16>) {
            let acc = consumer.k_loop(a.tile_counts().1).accumulate(|acc, (a, b)| acc.mma(a, b));
            let acc = tile.add_row(cx, acc, bias);
            tile.store(&mut buffer, acc.gelu_tanh_approximate().cast());
        }
    });
}
