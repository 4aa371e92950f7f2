//! Compiles the kernels to PTX. Without a device toolchain it warns once, and Python gets kernels for the CPU alone.

use cuda_tiles_builder::CudaBuilder;

/// The variable by which `cargo xtask test` says that no GPU will run the tests.
const WITHOUT_GPU: &str = "CUDA_TILES_TEST_WITHOUT_GPU";

fn main() {
    println!("cargo::rerun-if-env-changed={WITHOUT_GPU}");
    let gemm = std::env::var_os("CARGO_FEATURE_GEMM").map(|_| "gemm");
    CudaBuilder::new("../../kernels")
        .features(gemm)
        .for_gpus(std::env::var_os(WITHOUT_GPU).is_none())
        .build();
}
