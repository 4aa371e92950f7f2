//! Compiles `tests/kernels/` and `tests/streams/` to PTX. One image of the five hundred small kernels serves every GPU. Pipelined
//! kernels have a second image, with warpgroup instructions. Machine code for all of them would take minutes, and each is launched a few
//! times. Nor are the five hundred optimised in full, which takes minutes, too.

use cuda_tiles_builder::{Arch, CudaBuilder};

/// The variable by which `cargo xtask test` says that no GPU will run the tests.
const WITHOUT_GPU: &str = "CUDA_TILES_TEST_WITHOUT_GPU";

fn main() {
    println!("cargo::rerun-if-env-changed={WITHOUT_GPU}");
    let for_gpus = std::env::var_os(WITHOUT_GPU).is_none();
    let kernels = CudaBuilder::new("../kernels").arch(Arch::Sm80).rustflags(["-Copt-level=1"]);
    let streams = CudaBuilder::new("../streams").arch(Arch::Sm80).arch(Arch::Sm90a);
    for builder in [kernels, streams] {
        builder.machine_code(false).for_gpus(for_gpus).build();
    }
}
