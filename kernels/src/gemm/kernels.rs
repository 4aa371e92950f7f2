//! The kernels for products of many rows, one for each storage of the operands.
//!
//! The first letter of the suffix is operand A, the second is operand B. `n` is stored as it is multiplied, `t` is stored as its transpose.
//! Both are row-major.
//!
//! Two blocks of a `cluster` kernel load the tiles of operand B together, each a half, and TMA sends them to both. That halves the requests
//! for B, of which there are two for each row that does not begin at a multiple of 128 bytes. Four blocks of a `cluster_1x4` kernel so
//! share the tiles of operand A: few rows have no second row of tiles. Those of a `cluster_4x1` kernel share the tiles of operand B, and
//! the four blocks of a `cluster_2x2` kernel both. The blocks of a `deep` kernel have tiles of 64 rows and a multiprocessor for themselves:
//! with more stages than two blocks would have, more loads are on their way. Two blocks of a `compact` kernel share a multiprocessor: one
//! stores its tile while the other multiplies.

use cuda_tiles::launch::ByValue;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::pipeline::{AUTOMATIC, TWO_BLOCKS};
use cuda_tiles::prelude::*;
use cuda_tiles::shape::{Side, TileSide};

use super::body::{GROUP, GemmConfig, Transposed, gemm_body};
use super::epilogue::{Scales, Sum, finish};
use super::scheduler::TileRange;

/// Defines a kernel whose accumulators are tiles of `c`, in a module of its own: the compiler compiles modules side by side.
///
/// Brackets hold the settings of `#[kernel]`, `warpgroups` is the number of consumer warpgroups, and `stages` that of the ring's stages. Each
/// operand has the shape of its tiles in memory. `transposed` follows if memory holds the operand's transpose.
macro_rules! kernel {
    (
        $(#[$documentation:meta])*
        $module:ident: $name:ident [$($setting:tt)*], warpgroups $warpgroups:tt, stages $stages:ident: a [$a_rows:tt x $a_columns:tt] $($transposed_a:ident)?, b [$b_rows:tt x $b_columns:tt] $($transposed_b:ident)?;
        instances $instances:tt
    ) => {
        mod $module {
            use super::*;

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
            #[kernel($($setting)*, dependent, cpu = crate::gemm::on_cpu::by_tma::<T, O>(M, N, !is_set!($($transposed_a)?) && is_set!($($transposed_b)?), in_clusters!($($setting)*)), instances $instances)]
            pub fn $name<
                B: Block,
                T: KLoopElement<U, Accumulator = C>,
                U: Repack,
                C: Sum + Cast<O>,
                O: Element + Cast<C>,
                const M: usize,
                const N: usize,
                const K: usize,
                const PROMOTED: bool,
            >(
                roles: WarpRoles<B>,
                a: TmaLoad<T, (Side<$a_rows>, Side<$a_columns>)>,
                b: TmaLoad<U, (Side<$b_rows>, Side<$b_columns>)>,
                c: TmaStore<O, (Side<M>, Side<N>)>,
                bias: Span<O, (u32,)>,
                scales: ByValue<Scales<C>>,
                range: ByValue<TileRange>,
                #[shared] ring: Ring<(SharedTile<T, (Side<$a_rows>, Side<$a_columns>)>, SharedTile<U, (Side<$b_rows>, Side<$b_columns>)>), $stages>,
                #[shared] buffer: EpilogueBuffer<$warpgroups>,
            ) where
                D<M>: TileSide,
                D<N>: TileSide,
                D<K>: TileSide,
            {
                let config = GemmConfig::<GROUP, false, PROMOTED>;
                let mut buffer = buffer;
                gemm_body(roles, operand!(a $($transposed_a)?), operand!(b $($transposed_b)?), c, range.0, config, ring, move |cx, acc, tile| {
                    let result = finish(cx, acc, &tile, bias, scales.0);
                    tile.store(&mut buffer, result);
                });
            }
        }
        // There is nothing to name on the device, where a kernel is an entry alone.
        #[allow(unused_imports, unreachable_pub, reason = "as above")]
        pub use $module::*;
    };
}

gemm_table!(instances!(nn (kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored M x K and `b` stored K x N.
    nn: gemm_nn [threads = 256, producer = 128, min_blocks = 1], warpgroups 2, stages AUTOMATIC: a [M x K], b [K x N];
) [] ();));
gemm_table!(instances!(nt (kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored M x K and `b` stored N x K, as its transpose.
    nt: gemm_nt [threads = 256, producer = 128, min_blocks = 1], warpgroups 2, stages AUTOMATIC: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(tn (kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored K x M, as its transpose, and `b` stored K x N.
    tn: gemm_tn [threads = 256, producer = 128, min_blocks = 1], warpgroups 2, stages AUTOMATIC: a [K x M] transposed, b [K x N];
) [] ();));
gemm_table!(instances!(tt (kernel!
    /// `c = activation(alpha a b + beta c + bias)`, with `a` stored K x M and `b` stored N x K, both as their transposes.
    tt: gemm_tt [threads = 256, producer = 128, min_blocks = 1], warpgroups 2, stages AUTOMATIC: a [K x M] transposed, b [N x K] transposed;
) [] ();));
gemm_table!(instances!(cluster_nn (kernel!
    /// As [`gemm_nn`], for clusters of two blocks, one below the other, which share the tiles of `b`.
    cluster_nn: gemm_cluster_nn [threads = 256, producer = 128, cluster = [2, 1], min_blocks = 1, targets = warpgroups], warpgroups 2, stages AUTOMATIC: a [M x K], b [K x N];
) [] ();));
gemm_table!(instances!(cluster_nt (kernel!
    /// As [`gemm_nt`], for clusters of two blocks, one below the other, which share the tiles of `b`.
    cluster_nt: gemm_cluster_nt [threads = 256, producer = 128, cluster = [2, 1], min_blocks = 1, targets = warpgroups], warpgroups 2, stages AUTOMATIC: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(cluster_tn (kernel!
    /// As [`gemm_tn`], for clusters of two blocks, one below the other, which share the tiles of `b`.
    cluster_tn: gemm_cluster_tn [threads = 256, producer = 128, cluster = [2, 1], min_blocks = 1, targets = warpgroups], warpgroups 2, stages AUTOMATIC: a [K x M] transposed, b [K x N];
) [] ();));
gemm_table!(instances!(cluster_tt (kernel!
    /// As [`gemm_tt`], for clusters of two blocks, one below the other, which share the tiles of `b`.
    cluster_tt: gemm_cluster_tt [threads = 256, producer = 128, cluster = [2, 1], min_blocks = 1, targets = warpgroups], warpgroups 2, stages AUTOMATIC: a [K x M] transposed, b [N x K] transposed;
) [] ();));
gemm_table!(instances!(cluster_2x2_nt (kernel!
    /// As [`gemm_nt`], for clusters of two rows and two columns of blocks: those of a row share the tiles of `a`, those of a column the
    /// tiles of `b`.
    cluster_2x2_nt: gemm_cluster_2x2_nt [threads = 256, producer = 128, cluster = [2, 2], min_blocks = 1, targets = warpgroups], warpgroups 2, stages AUTOMATIC: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(cluster_1x4_nt (kernel!
    /// As [`gemm_nt`], for clusters of four blocks side by side, which share the tiles of `a`.
    cluster_1x4_nt: gemm_cluster_1x4_nt [threads = 256, producer = 128, cluster = [1, 4], min_blocks = 1, targets = warpgroups], warpgroups 2, stages AUTOMATIC: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(cluster_4x1_nt (kernel!
    /// As [`gemm_nt`], for clusters of four blocks, one below the other, which share the tiles of `b`.
    cluster_4x1_nt: gemm_cluster_4x1_nt [threads = 256, producer = 128, cluster = [4, 1], min_blocks = 1, targets = warpgroups], warpgroups 2, stages AUTOMATIC: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(deep_nn (kernel!
    /// As [`gemm_nn`], in tiles of 64 rows, with a multiprocessor's whole ring.
    deep_nn: gemm_deep_nn [threads = 128, producer = 32, min_blocks = 1], warpgroups 1, stages AUTOMATIC: a [M x K], b [K x N];
) [] ();));
gemm_table!(instances!(deep_nt (kernel!
    /// As [`gemm_nt`], in tiles of 64 rows, with a multiprocessor's whole ring.
    deep_nt: gemm_deep_nt [threads = 128, producer = 32, min_blocks = 1], warpgroups 1, stages AUTOMATIC: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(deep_tn (kernel!
    /// As [`gemm_tn`], in tiles of 64 rows, with a multiprocessor's whole ring.
    deep_tn: gemm_deep_tn [threads = 128, producer = 32, min_blocks = 1], warpgroups 1, stages AUTOMATIC: a [K x M] transposed, b [K x N];
) [] ();));
gemm_table!(instances!(deep_tt (kernel!
    /// As [`gemm_tt`], in tiles of 64 rows, with a multiprocessor's whole ring.
    deep_tt: gemm_deep_tt [threads = 128, producer = 32, min_blocks = 1], warpgroups 1, stages AUTOMATIC: a [K x M] transposed, b [N x K] transposed;
) [] ();));
gemm_table!(instances!(deep_cluster_4x1_nt (kernel!
    /// As [`gemm_deep_nt`], for clusters of four blocks, one below the other, which share the tiles of `b`.
    deep_cluster_4x1_nt: gemm_deep_cluster_4x1_nt [threads = 128, producer = 32, cluster = [4, 1], min_blocks = 1, targets = warpgroups], warpgroups 1, stages AUTOMATIC: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(deep_cluster_2x2_nt (kernel!
    /// As [`gemm_deep_nt`], for the clusters of [`gemm_cluster_2x2_nt`].
    deep_cluster_2x2_nt: gemm_deep_cluster_2x2_nt [threads = 128, producer = 32, cluster = [2, 2], min_blocks = 1, targets = warpgroups], warpgroups 1, stages AUTOMATIC: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(compact_nn (kernel!
    /// As [`gemm_nn`], in tiles of 64 rows, for small results.
    compact_nn: gemm_compact_nn [threads = 128, producer = 32], warpgroups 1, stages TWO_BLOCKS: a [M x K], b [K x N];
) [] ();));
gemm_table!(instances!(compact_nt (kernel!
    /// As [`gemm_nt`], in tiles of 64 rows, for small results.
    compact_nt: gemm_compact_nt [threads = 128, producer = 32], warpgroups 1, stages TWO_BLOCKS: a [M x K], b [N x K] transposed;
) [] ();));
gemm_table!(instances!(compact_tn (kernel!
    /// As [`gemm_tn`], in tiles of 64 rows, for small results.
    compact_tn: gemm_compact_tn [threads = 128, producer = 32], warpgroups 1, stages TWO_BLOCKS: a [K x M] transposed, b [K x N];
) [] ();));
gemm_table!(instances!(compact_tt (kernel!
    /// As [`gemm_tt`], in tiles of 64 rows, for small results.
    compact_tt: gemm_compact_tt [threads = 128, producer = 32], warpgroups 1, stages TWO_BLOCKS: a [K x M] transposed, b [N x K] transposed;
) [] ();));
