//! Products of few rows, as in decoding: what takes time is to read `b`, once.
//!
//! The factors exchange their roles: 64 columns of `b` are the rows of a tile of sums, and the few rows of `a` are its columns,
//! so that 8,192 columns are tiles enough to keep 128 multiprocessors reading. A tile of the result is the transpose.

use cuda_tiles::prelude::*;
use cuda_tiles::mma::KLoopElement;

use super::body::{BAND, Transposed, Way, parts_of_product};
use super::epilogue::{Sum, finish};
use super::work::Portion;

/// As [`gemm_nt`](super::kernels::gemm_nt), of tiles of `M` rows and 64 columns of `c`.
///
/// Parameters: the factors' type, that of the sums and that of `c`; rows and depth of a tile; 1 if sums are of the full precision
/// for 8-bit floats.
#[kernel(
    threads = 128,
    producer = 32,
    dependent,
    instances(
        <f16, f32, f16, 16, 64, 0>, <f16, f32, f16, 32, 64, 0>, <f16, f32, f16, 64, 64, 0>,
        <f16, f32, f32, 16, 64, 0>, <f16, f32, f32, 32, 64, 0>, <f16, f32, f32, 64, 64, 0>,
        <bf16, f32, bf16, 16, 64, 0>, <bf16, f32, bf16, 32, 64, 0>, <bf16, f32, bf16, 64, 64, 0>,
        <bf16, f32, f32, 16, 64, 0>, <bf16, f32, f32, 32, 64, 0>, <bf16, f32, f32, 64, 64, 0>,
        <tf32, f32, f32, 16, 32, 0>, <tf32, f32, f32, 64, 32, 0>,
        <f8e4m3, f32, f16, 16, 128, 1>, <f8e4m3, f32, f16, 64, 128, 1>,
        <f8e4m3, f32, bf16, 16, 128, 1>, <f8e4m3, f32, bf16, 64, 128, 1>,
        <f8e4m3, f32, f32, 16, 128, 1>, <f8e4m3, f32, f32, 64, 128, 1>,
        <i8, i32, i32, 16, 128, 0>, <i8, i32, i32, 64, 128, 0>,
    )
)]
pub fn gemm_narrow_nt<
    B: Block,
    T: KLoopElement<T, Accumulator = C>,
    C: Sum + Cast<O>,
    O: Element + Cast<C>,
    const M: usize,
    const K: usize,
    const PRECISE: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<M, K>>,
    b: TmaLoad<T, Shape2<64, K>>,
    c: TmaStore<O, Shape2<M, 64>>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
    whole: u32,
    batches: u32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<64, K>>, SharedTile<T, Shape2<M, K>>)>,
    #[shared] buffer: EpilogueBuffer<0>,
) where
    D<M>: Dimension,
    D<K>: Dimension,
{
    let portion = Portion { splits, whole, batches };
    let epilogue = move |cx, sums: Tile<C, _, _>, tile: &_| {
        finish(
            cx,
            Accumulator::from_tile(cx, sums.transpose::<0, 1>()).finish(),
            tile,
            bias,
            [alpha, beta],
            activation,
        )
    };
    let (a, b) = (Transposed(a), b);
    parts_of_product(roles, b, a, c, portion, Way::<true, PRECISE, BAND>, ring, buffer, epilogue);
}

/// As [`gemm_nn`](super::kernels::gemm_nn), of tiles of `M` rows and 64 columns of `c`. Parameters: the factors' type, that of the
/// sums and that of `c`; rows and depth of a tile.
#[kernel(
    threads = 128,
    producer = 32,
    dependent,
    instances(
        <f16, f32, f16, 16, 64>, <f16, f32, f16, 32, 64>, <f16, f32, f16, 64, 64>,
        <f16, f32, f32, 16, 64>, <f16, f32, f32, 32, 64>, <f16, f32, f32, 64, 64>,
        <bf16, f32, bf16, 16, 64>, <bf16, f32, bf16, 32, 64>, <bf16, f32, bf16, 64, 64>,
        <bf16, f32, f32, 16, 64>, <bf16, f32, f32, 32, 64>, <bf16, f32, f32, 64, 64>,
        <tf32, f32, f32, 16, 32>, <tf32, f32, f32, 64, 32>,
    )
)]
pub fn gemm_narrow_nn<
    B: Block,
    T: KLoopElement<T, Accumulator = C>,
    C: Sum + Cast<O>,
    O: Element + Cast<C>,
    const M: usize,
    const K: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<M, K>>,
    b: TmaLoad<T, Shape2<K, 64>>,
    c: TmaStore<O, Shape2<M, 64>>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
    whole: u32,
    batches: u32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<K, 64>>, SharedTile<T, Shape2<M, K>>)>,
    #[shared] buffer: EpilogueBuffer<0>,
) where
    D<M>: Dimension,
    D<K>: Dimension,
{
    let portion = Portion { splits, whole, batches };
    let epilogue = move |cx, sums: Tile<C, _, _>, tile: &_| {
        finish(
            cx,
            Accumulator::from_tile(cx, sums.transpose::<0, 1>()).finish(),
            tile,
            bias,
            [alpha, beta],
            activation,
        )
    };
    let (a, b) = (Transposed(a), Transposed(b));
    parts_of_product(roles, b, a, c, portion, Way::<true, 0, BAND>, ring, buffer, epilogue);
}
