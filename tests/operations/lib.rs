//! `tests/kernels/` and `tests/streams/`, compiled.

cuda_tiles_host::include_kernels!("cuda_tiles_test_kernels");

/// `tests/streams/`, compiled.
pub mod streams {
    cuda_tiles_host::include_kernels!("cuda_tiles_test_streams");
}
