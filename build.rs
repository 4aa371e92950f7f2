//! Compiles `kernels/` to PTX. Without a device toolchain it warns once and the kernels run on the CPU alone.

use cuda_tiles_builder::{Arch, CudaBuilder};

fn main() {
    let builder = CudaBuilder::new("kernels").arch(Arch::Sm90a).arch(Arch::Sm80);
    let gemm = std::env::var_os("CARGO_FEATURE_GEMM").map(|_| "gemm");
    builder.features(gemm).build();
}
