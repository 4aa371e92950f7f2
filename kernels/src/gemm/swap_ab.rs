//! The kernels for 32-bit elements with an MN-major `b`.
//!
//! Tensor cores read 32-bit operands from shared memory only if they are K-major. Tensor cores take operand A from registers too, and
//! threads load registers from either majorness. So operands A and B are swapped. Columns of `b` are the rows of the accumulators, and rows
//! of `a` are the columns of the accumulators, of which there may be any multiple of 16. A tile of `c` is the transpose of the
//! accumulators. The blocks of a `cluster` kernel share the tiles of `a`, whose rows may begin beside lines.

use cuda_tiles::launch::ByValue;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::pipeline::AUTOMATIC;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::{Side, TileSide};

use super::body::{GemmConfig, Transposed, gemm_body};
use super::epilogue::{Scales, Sum, finish};
use super::scheduler::TileRange;

/// Rows of tiles in a group of the tile order. The largest tiles have twice the rows of other kernels' tiles, and all have the same group.
///
/// *Measured:* groups of 6 take 0.3 % less time at 8192^3 and 1.2 % less at 2048^3 than groups of 8, and 0.3 % less than groups of 4.
pub(super) const GROUP: u32 = 6;

gemm_table!(instances!(swap_ab_nn (swapped_kernel!
    /// As [`gemm_nn`](super::kernels::gemm_nn), for an MN-major `b` of 32-bit elements, with operands A and B swapped.
    gemm_swap_ab_nn [threads = 256, producer = 128, min_blocks = 1], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [K x N] transposed,
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
gemm_table!(instances!(cluster_1x2_swap_ab_nn (swapped_kernel!
    /// As [`gemm_swap_ab_nn`], for clusters of two blocks side by side, which share the tiles of `a`.
    gemm_cluster_1x2_swap_ab_nn [threads = 256, producer = 128, cluster = [1, 2], min_blocks = 1, targets = warpgroups], group GROUP, stages AUTOMATIC, a [M x K] transposed, b [K x N] transposed,
    |acc| acc.transposed_accumulators(), buffer 2;
) [] ();));
