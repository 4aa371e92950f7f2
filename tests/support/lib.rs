//! What tests, examples and benchmarks share: the compiled kernels.

/// `kernels/`, compiled.
pub mod kernels {
    cuda_tiles_host::include_kernels!("cuda_tiles_kernels");
}
