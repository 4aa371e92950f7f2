//! As [`threads`](super::threads), but the threads copy operands ahead to shared memory.
//!
//! `cp.async` copies 4 bytes at least. So it copies elements of 4 bytes and more wherever they begin. The plans with these kernels for smaller
//! elements are for rows that begin at multiples of 4 bytes; other rows go through registers, which is slower than [`threads`](super::threads).
//!
//! Three stages of tiles of 128 x 64 leave room for two blocks on a multiprocessor. `narrow_ahead` kernels, for few rows, have four.
//!
//! `double_buffered` kernels have two stages of deep k steps. They are for `f64`, of which a k step of 16 elements costs as much as its
//! products: a barrier, the wait for the first fragments, and the instructions of the copies.

use cuda_tiles::launch::ByValue;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::prelude::*;

use super::epilogue::{Scales, Sum, finish_view};
use super::scheduler::TileRange;

/// An operand in shared memory, as it is multiplied.
macro_rules! multiplied {
    ($tile:ident) => {
        $tile
    };
    ($tile:ident transposed) => {
        $tile.transposed()
    };
}

/// The index of a tile of an operand in memory: a row or column of tiles, and a k step.
macro_rules! index {
    ($index:expr) => {
        $index
    };
    ($index:expr, transposed) => {{
        let (row, column) = $index;
        (column, row)
    }};
}

/// The elements along K of operand A.
macro_rules! depth {
    ($a:ident) => {
        $a.extent(2)
    };
    ($a:ident transposed) => {
        $a.extent(1)
    };
}

/// Defines a kernel whose threads copy the operands ahead.
///
/// Brackets hold the stages of the ring. Each operand has the shape of its tiles in memory. `transposed` follows if memory holds the
/// operand's transpose.
macro_rules! ahead_kernel {
    (
        $(#[$documentation:meta])*
        $name:ident [$stages:literal]: a [$a_rows:tt x $a_columns:tt] $($transposed_a:ident)?, b [$b_rows:tt x $b_columns:tt] $($transposed_b:ident)?;
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
        #[kernel(threads = 128, min_blocks = 3, grid = 3, dependent, cpu = crate::gemm::on_cpu::by_threads::<T, O>(M, N, !is_set!($($transposed_a)?) && is_set!($($transposed_b)?)), instances $instances)]
        pub fn $name<
            B: Block,
            T: KLoopElement<U, Accumulator = C>,
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
            #[shared] mut ring: Ring<(SharedTile<T, Shape2<$a_rows, $a_columns>>, SharedTile<U, Shape2<$b_rows, $b_columns>>), $stages>,
        ) where
            D<M>: Dimension,
            D<N>: Dimension,
            D<K>: Dimension,
        {
            let c = c.partition(cx, shape![1, M, N]);
            let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
            let (batch, first, count) = range.0.split(*m, depth!(a $($transposed_a)?).div_ceil(K as u32));
            // One matrix serves the whole batch.
            let (x, y) = (if a.extent(0) == 1 { 0 } else { batch }, if b.extent(0) == 1 { 0 } else { batch });
            let a = a.index::<0>(x).partition(cx, shape![$a_rows, $a_columns]);
            let b = b.index::<0>(y).partition(cx, shape![$b_rows, $b_columns]);
            let tiles = ring.copy_ahead(cx, count, |k| {
                let k = first + k;
                (a.tile(index!((*i, k) $(, $transposed_a)?)), b.tile(index!((k, *j) $(, $transposed_b)?)))
            });
            let acc = tiles.accumulate(|acc, (a, b)| acc.mma(multiplied!(a $($transposed_a)?), multiplied!(b $($transposed_b)?)));
            let acc = acc.reshape(shape![1, M, N]);
            let result = finish_view!(cx, acc, scales.0, bias, c, shape![N], (m, i, j), *j);
            c.store_masked(result, (m, i, j));
        }
    };
}

gemm_table!(instances!(ahead_nn (ahead_kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored M x K and `b` stored K x N.
    gemm_ahead_nn [3]: a [M x K], b [K x N];
) [] ();));

gemm_table!(instances!(ahead_nt (ahead_kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored M x K and `b` stored N x K, as its transpose.
    gemm_ahead_nt [3]: a [M x K], b [N x K] transposed;
) [] ();));

gemm_table!(instances!(ahead_tn (ahead_kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored K x M, as its transpose, and `b` stored K x N.
    gemm_ahead_tn [3]: a [K x M] transposed, b [K x N];
) [] ();));

gemm_table!(instances!(ahead_tt (ahead_kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored K x M and `b` stored N x K, both as their transposes.
    gemm_ahead_tt [3]: a [K x M] transposed, b [N x K] transposed;
) [] ();));

gemm_table!(instances!(narrow_ahead_nn (ahead_kernel!
    /// As [`gemm_ahead_nn`], for `c` of few rows.
    gemm_narrow_ahead_nn [4]: a [M x K], b [K x N];
) [] ();));

gemm_table!(instances!(narrow_ahead_nt (ahead_kernel!
    /// As [`gemm_ahead_nt`], for `c` of few rows.
    gemm_narrow_ahead_nt [4]: a [M x K], b [N x K] transposed;
) [] ();));

gemm_table!(instances!(narrow_ahead_tn (ahead_kernel!
    /// As [`gemm_ahead_tn`], for `c` of few rows.
    gemm_narrow_ahead_tn [4]: a [K x M] transposed, b [K x N];
) [] ();));

gemm_table!(instances!(double_buffered_nn (ahead_kernel!
    /// As [`gemm_ahead_nn`], with two stages.
    gemm_double_buffered_nn [2]: a [M x K], b [K x N];
) [] ();));

gemm_table!(instances!(double_buffered_nt (ahead_kernel!
    /// As [`gemm_ahead_nt`], with two stages.
    gemm_double_buffered_nt [2]: a [M x K], b [N x K] transposed;
) [] ();));

gemm_table!(instances!(double_buffered_tn (ahead_kernel!
    /// As [`gemm_ahead_tn`], with two stages.
    gemm_double_buffered_tn [2]: a [K x M] transposed, b [K x N];
) [] ();));

gemm_table!(instances!(double_buffered_tt (ahead_kernel!
    /// As [`gemm_ahead_tt`], with two stages.
    gemm_double_buffered_tt [2]: a [K x M] transposed, b [N x K] transposed;
) [] ();));
