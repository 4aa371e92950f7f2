//! The kernels for operands that TMA cannot read, and for small products: threads load the operands.
//!
//! An operand may begin anywhere and have rows of any pitch, so that nothing is packed. Blocks are many and small: the grid has a block for
//! each tile and each partial sum, and several blocks share a multiprocessor.
//!
//! An operand that memory holds as its transpose stays as threads have loaded it: tensor cores transpose.
//!
//! Launch bounds of four blocks leave 128 registers to `ptxas`, which then has more loads under way than without bounds. `shallow_threads`
//! kernels have none: they gain more by many blocks, or would spill.

use cuda_tiles::launch::ByValue;
use cuda_tiles::mma::MultiplyAccumulate;
use cuda_tiles::prelude::*;

use super::epilogue::{Scales, Sum, finish_view};
use super::scheduler::TileRange;

/// A tile of operand A or B as it is multiplied.
macro_rules! load {
    ($view:ident, $index:expr) => {
        $view.load_masked(Zero, $index)
    };
    ($view:ident, $index:expr, transposed) => {{
        let (matrix, row, column) = $index;
        $view.load_masked(Zero, (matrix, column, row)).transposed_in_place::<1, 2>()
    }};
}

/// The k steps of an operand in memory.
macro_rules! steps {
    ($view:ident) => {
        $view.num_tiles(2)
    };
    ($view:ident transposed) => {
        $view.num_tiles(1)
    };
}

/// Defines a kernel whose threads load the operands.
///
/// Brackets hold the settings of `#[kernel]`. Each operand has the shape of its tiles in memory. `transposed` follows if memory holds the
/// operand's transpose.
macro_rules! threads_kernel {
    (
        $(#[$documentation:meta])*
        $name:ident [$($setting:tt)*]: a [$a_rows:tt x $a_columns:tt] $($transposed_a:ident)?, b [$b_rows:tt x $b_columns:tt] $($transposed_b:ident)?;
        instances $instances:tt
    ) => {
        $(#[$documentation])*
        ///
        /// Generic parameters: the element types of `a`, `b`, the accumulators and `c`; the rows, columns and depth of a tile.
        ///
        /// # Shapes
        ///
        /// `c` is M x N. For split-K, it has `splits` matrices of partial sums for each matrix of the product. The bias is empty or has N
        /// elements. Each of `a` and `b` is one matrix or a batch.
        ///
        /// # On a GPU
        ///
        /// Each block computes a tile. The axes of the grid are columns, rows and matrices of `c`. The kernel supports programmatic
        /// dependent launch (PDL).
        #[kernel($($setting)*, grid = 3, dependent, cpu = crate::gemm::on_cpu::by_threads::<T, O>(M, N, !is_set!($($transposed_a)?) && is_set!($($transposed_b)?)), instances $instances)]
        pub fn $name<
            B: Block,
            T: MultiplyAccumulate<U, C>,
            U: Repack,
            C: Sum + Cast<O>,
            O: Element + Cast<C>,
            const M: usize,
            const N: usize,
            const K: usize,
        >(
            cx: Cx<B>,
            a: Span<T, (u32, u32, u32), Pitched>,
            b: Span<U, (u32, u32, u32), Pitched>,
            c: SpanMut<O, (u32, u32, u32), Pitched>,
            bias: Span<O, (u32,)>,
            scales: ByValue<Scales<C>>,
            range: ByValue<TileRange>,
        ) where
            D<M>: Dimension,
            D<N>: Dimension,
            D<K>: Dimension,
        {
            let (a_batches, b_batches) = (a.extent(0), b.extent(0));
            let a = a.partition(cx, shape![1, $a_rows, $a_columns]);
            let b = b.partition(cx, shape![1, $b_rows, $b_columns]);
            let c = c.partition(cx, shape![1, M, N]);
            let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
            let (batch, first, count) = range.0.split(*m, steps!(a $($transposed_a)?));
            // One matrix serves the whole batch.
            let (x, y) = (if a_batches == 1 { 0 } else { batch }, if b_batches == 1 { 0 } else { batch });
            let mut acc = cx.accumulators::<C>(shape![1, M, N]);
            for k in first..first + count {
                acc = mma(load!(a, (x, *i, k) $(, $transposed_a)?), load!(b, (y, k, *j) $(, $transposed_b)?), acc);
            }
            let result = finish_view!(cx, acc, scales.0, bias, c, shape![N], (m, i, j), *j);
            c.store_masked(result, (m, i, j));
        }
    };
}

gemm_table!(instances!(threads_nn (threads_kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored M x K and `b` stored K x N.
    gemm_threads_nn [threads = 128, min_blocks = 4]: a [M x K], b [K x N];
) [] ();));

gemm_table!(instances!(threads_nt (threads_kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored M x K and `b` stored N x K, as its transpose.
    gemm_threads_nt [threads = 128, min_blocks = 4]: a [M x K], b [N x K] transposed;
) [] ();));

gemm_table!(instances!(threads_tn (threads_kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored K x M, as its transpose, and `b` stored K x N.
    gemm_threads_tn [threads = 128, min_blocks = 4]: a [K x M] transposed, b [K x N];
) [] ();));

gemm_table!(instances!(threads_tt (threads_kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored K x M and `b` stored N x K, both as their transposes.
    gemm_threads_tt [threads = 128, min_blocks = 4]: a [K x M] transposed, b [N x K] transposed;
) [] ();));

gemm_table!(instances!(shallow_threads_nn (threads_kernel!
    /// As [`gemm_threads_nn`], for a depth of few elements: `ptxas` chooses the registers.
    gemm_shallow_threads_nn [threads = 128]: a [M x K], b [K x N];
) [] ();));

gemm_table!(instances!(shallow_threads_nt (threads_kernel!
    /// As [`gemm_threads_nt`], for a depth of few elements: `ptxas` chooses the registers.
    gemm_shallow_threads_nt [threads = 128]: a [M x K], b [N x K] transposed;
) [] ();));

gemm_table!(instances!(shallow_threads_tn (threads_kernel!
    /// As [`gemm_threads_tn`], for a depth of few elements: `ptxas` chooses the registers.
    gemm_shallow_threads_tn [threads = 128]: a [K x M] transposed, b [K x N];
) [] ();));

gemm_table!(instances!(shallow_threads_tt (threads_kernel!
    /// As [`gemm_threads_tt`], for a depth of few elements: `ptxas` chooses the registers.
    gemm_shallow_threads_tt [threads = 128]: a [K x M] transposed, b [N x K] transposed;
) [] ();));
