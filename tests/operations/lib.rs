//! `tests/kernels/`, compiled.

cuda_tiles_host::include_kernels!("cuda_tiles_test_kernels");
