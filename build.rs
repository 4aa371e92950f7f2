//! Compiles `kernels/` to PTX, and `tests/threads/` for the example that launches them by `cust`. Without a device toolchain it warns once
//! and the kernels run on the CPU alone.

use cuda_tiles_builder::{Arch, CudaBuilder};
use std::path::PathBuf;

/// The variable by which `cargo xtask test` says that no GPU will run the tests. PTX of `gemm`, attention and operations on rows, which takes
/// minutes, would be for nobody, and tests that look at PTX look at the small kernels' for one architecture.
const WITHOUT_GPU: &str = "CUDA_TILES_TEST_WITHOUT_GPU";

fn main() {
    println!("cargo::rerun-if-env-changed={WITHOUT_GPU}");
    let for_gpus = std::env::var_os(WITHOUT_GPU).is_none();
    let gemm = std::env::var_os("CARGO_FEATURE_GEMM").is_some() && for_gpus;
    let kernels = CudaBuilder::new("kernels").arch(Arch::Sm80);
    let kernels = if for_gpus { kernels.arch(Arch::Sm90a) } else { kernels };
    kernels.default_features(for_gpus).features(["basics"].into_iter().chain(gemm.then_some("gemm"))).build();
    if std::env::var_os("CARGO_FEATURE_CUST").is_some() {
        let file = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("threads.ptx");
        CudaBuilder::new("tests/threads")
            .arch(Arch::Sm80)
            .machine_code(false)
            .for_gpus(for_gpus)
            .copy_to(file)
            .build();
    }
}
