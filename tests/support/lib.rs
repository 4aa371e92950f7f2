//! What tests, examples and benchmarks share: the compiled kernels.

/// `kernels/`, compiled.
pub mod kernels {
    cuda_tiles_host::include_kernels!("cuda_tiles_kernels");
}

/// The code of README.md, as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
