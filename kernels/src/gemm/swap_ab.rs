//! The kernel for 32-bit elements with an MN-major `b`.
//!
//! Tensor cores read 32-bit operands from shared memory only if they are K-major. Tensor cores take operand A from registers too, and
//! threads load registers from either majorness. So operands A and B are swapped. Columns of `b` are the rows of the accumulators, and
//! rows of `a` are the columns of the accumulators. A tile of `c` is the transpose of the accumulators.

use cuda_tiles::launch::ByValue;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::prelude::*;

use super::body::{GemmConfig, Transposed, gemm_body};
use super::epilogue::{Scales, Sum, finish};
use super::scheduler::TileRange;

/// Rows of tiles in a group of the tile order. The tiles have twice the rows of other kernels' tiles.
///
/// *Measured:* groups of 6 take 0.3 % less time at 8192^3 and 1.2 % less at 2048^3 than groups of 8, and 0.3 % less than groups of 4.
const GROUP: u32 = 6;

macro_rules! kernel {
    (instances $instances:tt) => {
        /// As [`gemm_nn`](super::kernels::gemm_nn), for an MN-major `b` of 32-bit elements, with operands A and B swapped.
        ///
        /// Generic parameters: the element types of `a`, `b`, the accumulators and `c`; the rows, columns and depth of a tile; whether
        /// accumulation is promoted.
        ///
        /// # Shapes
        ///
        /// `c` is M x N. The bias is empty or has N elements. Each of `a` and `b` is one matrix or a batch of as many matrices as `c`.
        ///
        /// # On a GPU
        ///
        /// The kernel is persistent: launch one block for each multiprocessor. It supports programmatic dependent launch (PDL).
        #[kernel(threads = 256, producer = 128, min_blocks = 1, dependent, instances $instances)]
        pub fn gemm_swap_ab_nn<
            B: Block,
            T: KLoopElement<U, Accumulator = C>,
            U: KLoopElement<T, Accumulator = C>,
            C: Sum + Cast<O>,
            O: Element + Cast<C>,
            const M: usize,
            const N: usize,
            const K: usize,
            const PROMOTED: bool,
        >(
            roles: WarpRoles<B>,
            a: TmaLoad<T, Shape2<M, K>>,
            b: TmaLoad<U, Shape2<K, N>>,
            c: TmaStore<O, Shape2<M, N>>,
            bias: Span<O, (u32,)>,
            scales: ByValue<Scales<C>>,
            range: ByValue<TileRange>,
            #[shared] ring: Ring<(SharedTile<U, Shape2<K, N>>, SharedTile<T, Shape2<M, K>>)>,
        ) where
            D<M>: Dimension,
            D<N>: Dimension,
            D<K>: Dimension,
        {
            let config = GemmConfig::<GROUP, true, PROMOTED>;
            gemm_body(roles, Transposed(b), Transposed(a), c, range.0, config, ring, move |cx, acc, tile| {
                let result = finish(cx, acc.transposed_accumulators(), &tile, bias, scales.0);
                tile.store_directly(result);
            });
        }
    };
}
gemm_table!(instances!(swap_ab_nn (kernel!) [] ();));
