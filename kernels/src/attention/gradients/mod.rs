//! The gradients of attention, from its results and the logarithms of its sums (Dao, Fu, Ermon, Rudra, Ré, "FlashAttention", 2022,
//! algorithm 4).
//!
//! With the scores `S = scale Q K'`, the logarithm `L` of the sum of `exp(S)` of each row, and the gradient `dO` of the results,
//!
//! ```text
//! P  = exp(S - L)            the weights, computed again
//! D  = rowsum(dO * O)        a number for each query
//! dP = dO V'
//! dS = P * (dP - D)
//! dV = P' dO
//! dK = scale dS' Q
//! dQ = scale dS K
//! ```
//!
//! `dK` and `dV` are sums over queries, `dQ` over keys. [`keys`] and [`queries`] are a kernel for each of the two: it takes the rows of the
//! one side and walks over the other, and keeps its sums in registers. So no sum depends on the order of blocks, and the results are the
//! same in each launch. `S` and `dP` are computed twice for it: seven products in place of the five of FlashAttention-2 (T. Dao,
//! "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023), which adds to `dQ` by atomics.
//!
//! [`statistics`] goes before both, and writes `L` and `D` the way that tiles of queries are loaded.

pub mod keys;
pub mod queries;
pub mod statistics;

#[cfg(feature = "host")]
pub(super) mod launch;

use cuda_tiles::prelude::*;

/// 1 / log2 e: the kernels' scale includes log2 e, since the exponential of a GPU is a power of two.
const LN_2: f32 = core::f32::consts::LN_2;

/// A tile of queries, the tile of the gradients of their results, and their statistics.
type Queries<T, const QUERIES: usize, const HEAD: usize> = (
    SharedTile<T, Shape2<QUERIES, HEAD>>,
    SharedTile<T, Shape2<QUERIES, HEAD>>,
    SharedTile<f32, Shape2<8, QUERIES>>,
);
/// A tile of keys and the tile of their values.
type Keys<T, const KEYS: usize, const HEAD: usize> =
    (SharedTile<T, Shape2<KEYS, HEAD>>, SharedTile<T, Shape2<KEYS, HEAD>>);
/// A tile of scores, or of their gradients.
type Scores<B, const ROWS: usize, const COLUMNS: usize> = Tile<f32, Shape2<ROWS, COLUMNS>, Accumulators<B>>;
