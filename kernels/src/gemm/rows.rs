//! The kernels for tiles of any multiple of 16 rows.
//!
//! Operands A and B are swapped, as in [`swap_ab`](super::swap_ab): 128 columns of `b` are the rows of the accumulators, and the rows of
//! `a` are their columns, of which `wgmma` multiplies any number. So few tiles share out the rows of a product evenly: 669 rows are four
//! tiles of 176, but six of 128. `half` kernels have 64 columns and one consumer warpgroup: 142 rows of a product with 4096 columns are 128
//! tiles of 96 x 64, a tile for nearly each multiprocessor of an H200. `cluster` kernels are for two blocks, which share the tiles of `b`,
//! and `cluster_1x2` and `cluster_1x4` kernels for two and four that share the tiles of `a`; those of a `cluster_2x2` kernel share both.
//! `wide` kernels have 256 columns, two blocks of 64 for each of two consumer warpgroups: 136 rows of a product with 17,408 columns are 68
//! tiles of 144 x 256. Tiles of `f64` have 32 rows and 256 columns: those of [`kernels`](super::kernels), turned round. A tile of `c` is
//! the transpose of the accumulators. Its way to memory is the epilogue buffer, which `stmatrix` transposes into.

use cuda_tiles::launch::ByValue;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::pipeline::AUTOMATIC;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::{Side, TileSide};

use super::body::{GROUP, GemmConfig, Transposed, gemm_body};
use super::epilogue::{Scales, Sum, finish};
use super::scheduler::TileRange;

/// The stages of tiles of up to 160 x 256. Their epilogue buffers have panels of 32 rows, since four stages leave no room for larger ones.
/// Threads store these.
///
/// *Measured:* with three stages a k step of 160 x 256 takes 1.04 us in place of 0.85, where rows begin beside 128 bytes.
const WIDE_STAGES: usize = 4;

gemm_table!(instances!(rows_nt (swapped_kernel!
    /// As [`gemm_nt`](super::kernels::gemm_nt), in tiles of any multiple of 16 rows, with operands A and B swapped.
    gemm_rows_nt [threads = 256, producer = 128, min_blocks = 1], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
gemm_table!(instances!(rows_nn (swapped_kernel!
    /// As [`gemm_nn`](super::kernels::gemm_nn), in tiles of any multiple of 16 rows, with operands A and B swapped.
    gemm_rows_nn [threads = 256, producer = 128, min_blocks = 1], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [K x N] transposed,
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
gemm_table!(instances!(rows_tn (swapped_kernel!
    /// As [`gemm_tn`](super::kernels::gemm_tn), in tiles of any multiple of 16 rows, with operands A and B swapped.
    gemm_rows_tn [threads = 256, producer = 128, min_blocks = 1], group GROUP, stages AUTOMATIC, a [K x M], b [K x N] transposed,
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
gemm_table!(instances!(rows_tt (swapped_kernel!
    /// As [`gemm_tt`](super::kernels::gemm_tt), in tiles of any multiple of 16 rows, with operands A and B swapped.
    gemm_rows_tt [threads = 256, producer = 128, min_blocks = 1], group GROUP, stages AUTOMATIC, a [K x M], b [N x K],
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
gemm_table!(instances!(half_rows_nt (swapped_kernel!
    /// As [`gemm_rows_nt`], with one consumer warpgroup.
    gemm_half_rows_nt [threads = 128, producer = 32, min_blocks = 1], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 1;
) [] ();));
gemm_table!(instances!(half_rows_nn (swapped_kernel!
    /// As [`gemm_rows_nn`], with one consumer warpgroup.
    gemm_half_rows_nn [threads = 128, producer = 32, min_blocks = 1], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [K x N] transposed,
    |acc| acc.transposed_accumulators(), buffer 1;
) [] ();));
gemm_table!(instances!(cluster_rows_nt (swapped_kernel!
    /// As [`gemm_rows_nt`], for clusters of two blocks, one below the other, which share the tiles of `b`.
    gemm_cluster_rows_nt [threads = 256, producer = 128, cluster = [2, 1], min_blocks = 1, targets = warpgroups], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
gemm_table!(instances!(cluster_1x2_rows_nt (swapped_kernel!
    /// As [`gemm_rows_nt`], for clusters of two blocks side by side, which share the tiles of `a`.
    gemm_cluster_1x2_rows_nt [threads = 256, producer = 128, cluster = [1, 2], min_blocks = 1, targets = warpgroups], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
gemm_table!(instances!(cluster_2x2_rows_nt (swapped_kernel!
    /// As [`gemm_rows_nt`], for clusters of two rows and two columns of blocks: those of a row share the tiles of `a`, those of a column
    /// the tiles of `b`.
    gemm_cluster_2x2_rows_nt [threads = 256, producer = 128, cluster = [2, 2], min_blocks = 1, targets = warpgroups], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
gemm_table!(instances!(half_cluster_1x2_rows_nt (swapped_kernel!
    /// As [`gemm_half_rows_nt`], for clusters of two blocks side by side, which share the tiles of `a`.
    gemm_half_cluster_1x2_rows_nt [threads = 128, producer = 32, cluster = [1, 2], min_blocks = 1, targets = warpgroups], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 1;
) [] ();));
gemm_table!(instances!(half_cluster_1x4_rows_nt (swapped_kernel!
    /// As [`gemm_half_rows_nt`], for clusters of four blocks side by side, which share the tiles of `a`.
    gemm_half_cluster_1x4_rows_nt [threads = 128, producer = 32, cluster = [1, 4], min_blocks = 1, targets = warpgroups], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 1;
) [] ();));
gemm_table!(instances!(half_cluster_2x2_rows_nt (swapped_kernel!
    /// As [`gemm_half_rows_nt`], for the clusters of [`gemm_cluster_2x2_rows_nt`].
    gemm_half_cluster_2x2_rows_nt [threads = 128, producer = 32, cluster = [2, 2], min_blocks = 1, targets = warpgroups], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 1;
) [] ();));
gemm_table!(instances!(wide_rows_nt (swapped_kernel!
    /// As [`gemm_rows_nt`], in tiles of 256 columns.
    gemm_wide_rows_nt [threads = 256, producer = 128, min_blocks = 1, targets = warpgroups], group GROUP, stages WIDE_STAGES, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 2 x 32;
) [] ();));
gemm_table!(instances!(wide_cluster_rows_nt (swapped_kernel!
    /// As [`gemm_wide_rows_nt`], for clusters of two blocks, one below the other, which share the tiles of `b`.
    gemm_wide_cluster_rows_nt [threads = 256, producer = 128, cluster = [2, 1], min_blocks = 1, targets = warpgroups], group GROUP, stages WIDE_STAGES, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 2 x 32;
) [] ();));
gemm_table!(instances!(wide_cluster_1x2_rows_nt (swapped_kernel!
    /// As [`gemm_wide_rows_nt`], for clusters of two blocks side by side, which share the tiles of `a`.
    gemm_wide_cluster_1x2_rows_nt [threads = 256, producer = 128, cluster = [1, 2], min_blocks = 1, targets = warpgroups], group GROUP, stages WIDE_STAGES, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 2 x 32;
) [] ();));
gemm_table!(instances!(wide_rows_nn (swapped_kernel!
    /// As [`gemm_rows_nn`], in tiles of 256 columns.
    gemm_wide_rows_nn [threads = 256, producer = 128, min_blocks = 1, targets = warpgroups], group GROUP, stages WIDE_STAGES, a [M x K] transposed, b [K x N] transposed,
    |acc| acc.transposed_accumulators(), buffer 2 x 32;
) [] ();));
gemm_table!(instances!(wide_cluster_rows_nn (swapped_kernel!
    /// As [`gemm_wide_rows_nn`], for clusters of two blocks, one below the other, which share the tiles of `b`.
    gemm_wide_cluster_rows_nn [threads = 256, producer = 128, cluster = [2, 1], min_blocks = 1, targets = warpgroups], group GROUP, stages WIDE_STAGES, a [M x K] transposed, b [K x N] transposed,
    |acc| acc.transposed_accumulators(), buffer 2 x 32;
) [] ();));
