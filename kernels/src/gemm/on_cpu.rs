//! Which kernels the CPU has code for.
//!
//! On the CPU a product is the same in tiles of any shape, and operands that TMA cannot read are packed. So one kernel for each storage of
//! the operands has code there, of those that TMA feeds, and one with tiles for few rows: the code of a kernel takes a second to compile,
//! and there are hundreds. With the feature `gemm-on-cpu` kernels from `f16` to `f16` and from `i8` to `i32` have code for the CPU, by
//! which the library tests the bodies that all types have in common: for K-major operands.

use cuda_tiles::element::{bf16, f8e4m3, f8e5m2, f16, tf32};

/// The elements of a tile that serves all products: 128 x 128, of `f64` 256 x 64.
const TILE: usize = 128 * 128;
/// The elements of a tile of 128 x 256.
const LARGEST_TILE: usize = 2 * TILE;
/// Square tiles that threads load have so many rows, or more.
const ROWS_BY_THREADS: usize = 32;

/// The element type of operand A.
pub(super) trait OnCpu {
    /// The bytes of elements of results for which the CPU has code for every body, if there are any.
    const EVERY: Option<usize> = None;
}

impl OnCpu for f16 {
    const EVERY: Option<usize> = if cfg!(feature = "gemm-on-cpu") { Some(2) } else { None };
}

impl OnCpu for i8 {
    const EVERY: Option<usize> = if cfg!(feature = "gemm-on-cpu") { Some(4) } else { None };
}

impl OnCpu for bf16 {}
impl OnCpu for tf32 {}
impl OnCpu for f8e4m3 {}
impl OnCpu for f8e5m2 {}
impl OnCpu for u8 {}
impl OnCpu for f64 {}

/// Whether the CPU has code for every body that reads K-major operands, of operands `T` and results `O`.
const fn every<T: OnCpu, O>() -> bool {
    matches!(T::EVERY, Some(bytes) if bytes == size_of::<O>())
}

/// Whether the body with tiles of this shape differs from that with others in the number of rows alone, of those that TMA feeds.
const fn is_as_others(rows: usize, columns: usize) -> bool {
    matches!((rows, columns), (96 | 112 | 176 | 208, 128) | (112, 256) | (32 | 144 | 160, 64))
}

/// Whether the CPU has code for a kernel that TMA feeds, with tiles of this size, of operands that both are K-major or not, for clusters of
/// blocks or not. The largest tiles of all results are among them, since stream-K adds up partial sums of another type in those.
pub(super) const fn by_tma<T: OnCpu, O>(
    rows: usize,
    columns: usize,
    is_k_major: bool,
    in_clusters: bool,
) -> bool {
    let is_for_tests = every::<T, O>() && !is_as_others(rows, columns)
        || T::EVERY.is_some() && rows * columns == LARGEST_TILE;
    let serves_all = rows * columns == TILE && (rows == columns || size_of::<T>() == size_of::<f64>());
    is_for_tests && is_k_major || serves_all && !in_clusters
}

/// The same for a kernel whose threads load or copy tiles.
pub(super) const fn by_threads<T: OnCpu, O>(rows: usize, columns: usize, is_k_major: bool) -> bool {
    is_k_major && (every::<T, O>() || rows == columns && rows >= ROWS_BY_THREADS)
}

/// The same for a kernel for vectors, with so many elements of the result in a tile.
pub(super) const fn for_vectors<T: OnCpu, O>(elements: usize) -> bool {
    elements == 32 || every::<T, O>() && elements != 64
}
