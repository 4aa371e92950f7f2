//! The kernels for products of few rows, as in decoding. They spend most of the time reading `b` once.
//!
//! Operands A and B are swapped. 64 columns of `b` are the rows of the accumulators, and the few rows of `a` are the columns of the
//! accumulators. A `b` of 8,192 columns has 128 tiles, enough to keep 128 multiprocessors reading. A tile of `c` is the transpose of the
//! accumulators.

use cuda_tiles::launch::ByValue;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::prelude::*;

use super::body::{GROUP, GemmConfig, Transposed, gemm_body};
use super::epilogue::{Scales, Sum, finish};
use super::scheduler::TileRange;

/// Defines a kernel for few rows.
///
/// `b` has the shape of its tiles in memory. `transposed` follows if this is not the shape of operand A of the swapped product.
macro_rules! kernel {
    ($(#[$documentation:meta])* $name:ident: b [$b_rows:tt x $b_columns:tt] $($transposed_b:ident)?; instances $instances:tt) => {
        $(#[$documentation])*
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
        #[kernel(threads = 128, producer = 32, dependent, instances $instances)]
        pub fn $name<
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
            b: TmaLoad<U, Shape2<$b_rows, $b_columns>>,
            c: TmaStore<O, Shape2<M, N>>,
            bias: Span<O, (u32,)>,
            scales: ByValue<Scales<C>>,
            range: ByValue<TileRange>,
            #[shared] ring: Ring<(SharedTile<U, Shape2<$b_rows, $b_columns>>, SharedTile<T, Shape2<M, K>>)>,
        ) where
            D<M>: Dimension,
            D<N>: Dimension,
            D<K>: Dimension,
        {
            let config = GemmConfig::<GROUP, true, PROMOTED>;
            gemm_body(roles, operand_a!(b $($transposed_b)?), Transposed(a), c, range.0, config, ring, move |cx, acc, tile| {
                let acc = Accumulator::from_tile(cx, acc.transpose::<0, 1>()).finish();
                let result = finish(cx, acc, &tile, bias, scales.0);
                tile.store_directly(result);
            });
        }
    };
}

/// `b` as operand A of the swapped product.
macro_rules! operand_a {
    ($operand:ident) => {
        $operand
    };
    ($operand:ident transposed) => {
        Transposed($operand)
    };
}

gemm_table!(instances!(narrow_nt (kernel!
    /// As [`gemm_nt`](super::kernels::gemm_nt), for `c` of few rows, with operands A and B swapped.
    gemm_narrow_nt: b [N x K];
) [] ();));
gemm_table!(instances!(narrow_nn (kernel!
    /// As [`gemm_nn`](super::kernels::gemm_nn), for `c` of few rows, with operands A and B swapped.
    gemm_narrow_nn: b [K x N] transposed;
) [] ();));
