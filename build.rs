//! Compiles `kernels/` to PTX. Without a device toolchain it warns once and the kernels run on the CPU alone.

use cuda_tiles_builder::{Arch, CudaBuilder};

/// The variable by which `cargo xtask test` says that no GPU will run the tests. PTX of `gemm`, which takes minutes, would be for nobody.
const WITHOUT_GPU: &str = "CUDA_TILES_TEST_WITHOUT_GPU";

fn main() {
    println!("cargo::rerun-if-env-changed={WITHOUT_GPU}");
    let gemm = std::env::var_os("CARGO_FEATURE_GEMM").is_some() && std::env::var_os(WITHOUT_GPU).is_none();
    CudaBuilder::new("kernels").arch(Arch::Sm90a).arch(Arch::Sm80).features(gemm.then_some("gemm")).build();
}
