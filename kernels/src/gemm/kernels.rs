//! The ready-made kernels: one for each way in which the two factors can lie, of element types and tiles that are listed.
//!
//! In the names the first letter is that of the left factor, the second that of the right one: `n` is stored as it is
//! multiplied, `t` as its transpose, always row by row.

use cuda_tiles::prelude::*;
use cuda_tiles::mma::KLoopElement;

use super::body::{BAND, Transposed, Way, parts_of_product};
use super::epilogue::{Sum, finish};
use super::work::Portion;

/// `c = activation(alpha a b + beta c + bias)`, of `a` as it is (M x K) and `b` as it is (K x N).
///
/// Parameters: the factors' types, that of the sums and that of `c`; rows, columns and depth of a tile; 1 if sums are of the
/// full precision for 8-bit floats. The bias is empty or as long as a row of `c`. `splits`, `whole` and
/// `batches` say what a launch computes: 1, `u32::MAX` and the number of matrices of `c` for all of it.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    dependent,
    instances(
        <f16, f16, f32, f16, 128, 256, 64, 0>,
        <f16, f16, f32, f16, 128, 128, 64, 0>,
        <f16, f16, f32, f32, 128, 256, 64, 0>,
        <bf16, bf16, f32, bf16, 128, 256, 64, 0>,
        <bf16, bf16, f32, bf16, 128, 128, 64, 0>,
        <bf16, bf16, f32, f32, 128, 256, 64, 0>,
        <f64, f64, f64, f64, 256, 64, 16, 0>,
        <f64, f64, f64, f64, 256, 32, 16, 0>,
    )
)]
pub fn gemm_nn<
    B: Block,
    T: KLoopElement<U, Accumulator = C>,
    U: Repack,
    C: Sum + Cast<O>,
    O: Element + Cast<C>,
    const M: usize,
    const N: usize,
    const K: usize,
    const PRECISE: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<M, K>>,
    b: TmaLoad<U, Shape2<K, N>>,
    c: TmaStore<O, Shape2<M, N>>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
    whole: u32,
    batches: u32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<M, K>>, SharedTile<U, Shape2<K, N>>)>,
    #[shared] buffer: EpilogueBuffer<2>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    let portion = Portion { splits, whole, batches };
    let epilogue = move |cx, sums, tile: &_| finish(cx, sums, tile, bias, [alpha, beta], activation);
    parts_of_product(roles, a, b, c, portion, Way::<false, PRECISE, BAND>, ring, buffer, epilogue);
}

/// `c = activation(alpha a b + beta c + bias)`, of `a` as it is (M x K) and `b` stored transposed (N x K).
///
/// Parameters: the factors' types, that of the sums and that of `c`; rows, columns and depth of a tile; 1 if sums are of the
/// full precision for 8-bit floats. The bias is empty or as long as a row of `c`. `splits`, `whole` and
/// `batches` say what a launch computes: 1, `u32::MAX` and the number of matrices of `c` for all of it.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    dependent,
    instances(
        <f16, f16, f32, f16, 128, 256, 64, 0>,
        <f16, f16, f32, f16, 128, 128, 64, 0>,
        <f16, f16, f32, f32, 128, 256, 64, 0>,
        <bf16, bf16, f32, bf16, 128, 256, 64, 0>,
        <bf16, bf16, f32, bf16, 128, 128, 64, 0>,
        <bf16, bf16, f32, f32, 128, 256, 64, 0>,
        <tf32, tf32, f32, f32, 128, 256, 32, 0>,
        <tf32, tf32, f32, f32, 128, 128, 32, 0>,
        <f8e4m3, f8e4m3, f32, f16, 128, 256, 128, 0>,
        <f8e4m3, f8e4m3, f32, f16, 128, 256, 128, 1>,
        <f8e4m3, f8e4m3, f32, f16, 128, 128, 128, 1>,
        <f8e4m3, f8e4m3, f32, bf16, 128, 256, 128, 0>,
        <f8e4m3, f8e4m3, f32, bf16, 128, 256, 128, 1>,
        <f8e4m3, f8e4m3, f32, bf16, 128, 128, 128, 1>,
        <f8e4m3, f8e4m3, f32, f32, 128, 256, 128, 0>,
        <f8e4m3, f8e4m3, f32, f32, 128, 256, 128, 1>,
        <f8e4m3, f8e4m3, f32, f32, 128, 128, 128, 1>,
        <f8e5m2, f8e5m2, f32, f16, 128, 256, 128, 0>,
        <f8e5m2, f8e5m2, f32, f16, 128, 256, 128, 1>,
        <f8e5m2, f8e5m2, f32, f16, 128, 128, 128, 1>,
        <f8e5m2, f8e5m2, f32, bf16, 128, 256, 128, 0>,
        <f8e5m2, f8e5m2, f32, bf16, 128, 256, 128, 1>,
        <f8e5m2, f8e5m2, f32, bf16, 128, 128, 128, 1>,
        <i8, i8, i32, i32, 128, 256, 128, 0>,
        <i8, i8, i32, i32, 128, 128, 128, 0>,
        <u8, i8, i32, i32, 128, 128, 128, 0>,
        <f64, f64, f64, f64, 256, 64, 16, 0>,
        <f64, f64, f64, f64, 256, 32, 16, 0>,
    )
)]
pub fn gemm_nt<
    B: Block,
    T: KLoopElement<U, Accumulator = C>,
    U: Repack,
    C: Sum + Cast<O>,
    O: Element + Cast<C>,
    const M: usize,
    const N: usize,
    const K: usize,
    const PRECISE: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<M, K>>,
    b: TmaLoad<U, Shape2<N, K>>,
    c: TmaStore<O, Shape2<M, N>>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
    whole: u32,
    batches: u32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<M, K>>, SharedTile<U, Shape2<N, K>>)>,
    #[shared] buffer: EpilogueBuffer<2>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    let portion = Portion { splits, whole, batches };
    let epilogue = move |cx, sums, tile: &_| finish(cx, sums, tile, bias, [alpha, beta], activation);
    let (a, b) = (a, Transposed(b));
    parts_of_product(roles, a, b, c, portion, Way::<false, PRECISE, BAND>, ring, buffer, epilogue);
}

/// `c = activation(alpha a b + beta c + bias)`, of `a` stored transposed (K x M) and `b` as it is (K x N).
///
/// Parameters: the factors' types, that of the sums and that of `c`; rows, columns and depth of a tile; 1 if sums are of the
/// full precision for 8-bit floats. The bias is empty or as long as a row of `c`. `splits`, `whole` and
/// `batches` say what a launch computes: 1, `u32::MAX` and the number of matrices of `c` for all of it.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    dependent,
    instances(
        <f16, f16, f32, f16, 128, 256, 64, 0>,
        <f16, f16, f32, f16, 128, 128, 64, 0>,
        <f16, f16, f32, f32, 128, 256, 64, 0>,
        <bf16, bf16, f32, bf16, 128, 256, 64, 0>,
        <bf16, bf16, f32, bf16, 128, 128, 64, 0>,
        <bf16, bf16, f32, f32, 128, 256, 64, 0>,
        <f64, f64, f64, f64, 256, 64, 16, 0>,
        <f64, f64, f64, f64, 256, 32, 16, 0>,
    )
)]
pub fn gemm_tn<
    B: Block,
    T: KLoopElement<U, Accumulator = C>,
    U: Repack,
    C: Sum + Cast<O>,
    O: Element + Cast<C>,
    const M: usize,
    const N: usize,
    const K: usize,
    const PRECISE: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<K, M>>,
    b: TmaLoad<U, Shape2<K, N>>,
    c: TmaStore<O, Shape2<M, N>>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
    whole: u32,
    batches: u32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<K, M>>, SharedTile<U, Shape2<K, N>>)>,
    #[shared] buffer: EpilogueBuffer<2>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    let portion = Portion { splits, whole, batches };
    let epilogue = move |cx, sums, tile: &_| finish(cx, sums, tile, bias, [alpha, beta], activation);
    let (a, b) = (Transposed(a), b);
    parts_of_product(roles, a, b, c, portion, Way::<false, PRECISE, BAND>, ring, buffer, epilogue);
}

/// `c = activation(alpha a b + beta c + bias)`, of `a` stored transposed (K x M) and `b` stored transposed (N x K).
///
/// Parameters: the factors' types, that of the sums and that of `c`; rows, columns and depth of a tile; 1 if sums are of the
/// full precision for 8-bit floats. The bias is empty or as long as a row of `c`. `splits`, `whole` and
/// `batches` say what a launch computes: 1, `u32::MAX` and the number of matrices of `c` for all of it.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    dependent,
    instances(
        <f16, f16, f32, f16, 128, 256, 64, 0>,
        <bf16, bf16, f32, bf16, 128, 256, 64, 0>,
        <tf32, tf32, f32, f32, 128, 256, 32, 0>,
        <tf32, tf32, f32, f32, 128, 128, 32, 0>,
        <f64, f64, f64, f64, 256, 64, 16, 0>,
        <f64, f64, f64, f64, 256, 32, 16, 0>,
    )
)]
pub fn gemm_tt<
    B: Block,
    T: KLoopElement<U, Accumulator = C>,
    U: Repack,
    C: Sum + Cast<O>,
    O: Element + Cast<C>,
    const M: usize,
    const N: usize,
    const K: usize,
    const PRECISE: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<K, M>>,
    b: TmaLoad<U, Shape2<N, K>>,
    c: TmaStore<O, Shape2<M, N>>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
    whole: u32,
    batches: u32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<K, M>>, SharedTile<U, Shape2<N, K>>)>,
    #[shared] buffer: EpilogueBuffer<2>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    let portion = Portion { splits, whole, batches };
    let epilogue = move |cx, sums, tile: &_| finish(cx, sums, tile, bias, [alpha, beta], activation);
    let (a, b) = (Transposed(a), Transposed(b));
    parts_of_product(roles, a, b, c, portion, Way::<false, PRECISE, BAND>, ring, buffer, epilogue);
}
