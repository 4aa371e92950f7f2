//! Products of elements that tensor cores want along the contracted axis, of a `b` that lies across it.
//!
//! Warpgroups take their left factor from registers too, where it can lie in any way. So the factors exchange their roles: columns of
//! `b` are the rows of a tile of sums, the rows of `a` are its columns, and a tile of the result is the transpose.

use cuda_tiles::prelude::*;
use cuda_tiles::mma::KLoopElement;

use super::body::{Transposed, Way, parts_of_product};
use super::epilogue::{Sum, finish};
use super::work::Portion;

/// Rows of tiles in a band, which have twice the rows of those that 16 are for. *Measured:* 0.3 % less time at 8192^3, 1.2 % at 2048^3 than
/// with 8; 0.3 % less than with 4.
const BAND: u32 = 6;

/// As [`gemm_nn`](super::kernels::gemm_nn). Parameters: the factors' type, that of the sums and that of `c`; rows, columns and depth
/// of a tile.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    dependent,
    instances(<tf32, f32, f32, 256, 128, 32>, <tf32, f32, f32, 128, 128, 32>)
)]
pub fn gemm_swap_ab_nn<
    B: Block,
    T: KLoopElement<T, Accumulator = C>,
    C: Sum + Cast<O>,
    O: Element + Cast<C>,
    const M: usize,
    const N: usize,
    const K: usize,
>(
    roles: WarpRoles<B>,
    a: TmaLoad<T, Shape2<M, K>>,
    b: TmaLoad<T, Shape2<K, N>>,
    c: TmaStore<O, Shape2<M, N>>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
    whole: u32,
    batches: u32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<K, N>>, SharedTile<T, Shape2<M, K>>)>,
    #[shared] buffer: EpilogueBuffer<0>,
) where
    D<M>: Dimension,
    D<N>: Dimension,
    D<K>: Dimension,
{
    let portion = Portion { splits, whole, batches };
    let epilogue = move |cx, sums: Tile<C, _, _>, tile: &_| {
        finish(cx, sums.transposed_accumulators(), tile, bias, [alpha, beta], activation)
    };
    let (a, b) = (Transposed(a), Transposed(b));
    parts_of_product(roles, b, a, c, portion, Way::<true, 0, BAND>, ring, buffer, epilogue);
}
