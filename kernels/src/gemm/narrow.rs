//! The kernels for products of few rows, as in decoding. They spend most of the time reading `b` once.
//!
//! Operands A and B are swapped. 64 columns of `b` are the rows of the accumulators, and the few rows of `a` are the columns of the
//! accumulators. A `b` of 8,192 columns has 128 tiles, enough to keep 128 multiprocessors reading. A tile of `c` is the transpose of the
//! accumulators. Its way to memory is the epilogue buffer, which `stmatrix` transposes into. *Measured* on an H200: products of `f8e4m3`
//! with one k step take 3.0 us in tiles of 64 x 64; with a transposition through shared memory that registers exchanged, they took 3.7.

use cuda_tiles::launch::ByValue;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::pipeline::TWO_BLOCKS;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::{Side, TileSide};

use super::body::{GROUP, GemmConfig, Transposed, gemm_body};
use super::epilogue::{Scales, Sum, finish};
use super::scheduler::TileRange;

gemm_table!(instances!(narrow_nt (swapped_kernel!
    /// As [`gemm_nt`](super::kernels::gemm_nt), for `c` of few rows, with operands A and B swapped.
    gemm_narrow_nt [threads = 128, producer = 32], group GROUP, stages TWO_BLOCKS, a [M x K] transposed, b [N x K],
    |acc| acc.transposed_accumulators(), buffer 1;
) [] ();));
gemm_table!(instances!(narrow_nn (swapped_kernel!
    /// As [`gemm_nn`](super::kernels::gemm_nn), for `c` of few rows, with operands A and B swapped.
    gemm_narrow_nn [threads = 128, producer = 32], group GROUP, stages TWO_BLOCKS, a [M x K] transposed, b [K x N] transposed,
    |acc| acc.transposed_accumulators(), buffer 1;
) [] ();));
