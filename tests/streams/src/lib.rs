//! Streamed products of matrices, of which `cargo xtask ptx` checks the code for each generation of GPUs: that tensor cores
//! multiply, that the copy engine or asynchronous copies fetch, and that no register is spilled.
//!
//! The tiles are such as serve all targets. Before `sm_90` there are no copying threads, and from `sm_100` on no warpgroups.

#![no_std]

use cuda_tiles::prelude::*;
use cuda_tiles::stream::StagedProduct;

/// `c = a b`: both factors row-major, the right one read across its rows.
#[kernel(
    threads = 128,
    copy = 32,
    min_blocks = 1,
    instances(<f16, f32, f16, 64, 64, 64, 3>, <f64, f64, f64, 64, 64, 16, 4>)
)]
pub fn streamed_nn<
    B: Block,
    T: StagedProduct<T, C>,
    C: Number + Cast<O>,
    O: Element,
    const M: usize,
    const N: usize,
    const K: usize,
    const S: usize,
>(
    block: Split<B>,
    a: TileSource<T, Shape2<M, K>>,
    b: TileSource<T, Shape2<K, N>>,
    c: TileSink<O, Shape2<M, N>>,
    #[shared] ring: Ring<(Staged<T, Shape2<M, K>>, Staged<T, Shape2<K, N>>), S>,
    #[shared] stash: Stash<1>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    let steps = a.tile_counts().1;
    let feed =
        block.indices(Swizzled::<8>, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.column(j)));
    block.pipeline(ring, feed, move |cx, mut receiver| {
        let mut stash = stash;
        for tile in c.deal(cx, Swizzled::<8>) {
            let mut sums = Accumulator::<C, _, _>::zero(cx);
            receiver.steps(steps).each(|(a, b)| sums.mma(a, b));
            tile.store(&mut stash, sums.finish().cast::<O>());
        }
    });
}

/// `c = a b'`: both factors row-major, the right one transposed.
#[kernel(
    threads = 128,
    copy = 32,
    min_blocks = 1,
    instances(
        <bf16, f32, bf16, 64, 64, 64, 3>,
        <tf32, f32, f32, 64, 64, 32, 3>,
        <f8e4m3, f32, f16, 64, 64, 64, 4>,
        <i8, i32, i32, 64, 64, 64, 3>
    )
)]
pub fn streamed_nt<
    B: Block,
    T: StagedProduct<T, C>,
    C: Number + Cast<O>,
    O: Element,
    const M: usize,
    const N: usize,
    const K: usize,
    const S: usize,
>(
    block: Split<B>,
    a: TileSource<T, Shape2<M, K>>,
    b: TileSource<T, Shape2<N, K>>,
    c: TileSink<O, Shape2<M, N>>,
    #[shared] ring: Ring<(Staged<T, Shape2<M, K>>, Staged<T, Shape2<N, K>>), S>,
    #[shared] stash: Stash<1>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    let steps = a.tile_counts().1;
    let feed =
        block.indices(Swizzled::<8>, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    block.pipeline(ring, feed, move |cx, mut receiver| {
        let mut stash = stash;
        for tile in c.deal(cx, Swizzled::<8>) {
            let mut sums = Accumulator::<C, _, _>::zero(cx);
            receiver.steps(steps).each(|(a, b)| sums.mma(a, b.transposed()));
            tile.store(&mut stash, sums.finish().cast::<O>());
        }
    });
}
