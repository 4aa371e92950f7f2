//! Compiles `kernels/` to PTX, for one architecture, whose code all supported GPUs run.

use cuda_tiles_builder::{Arch, CudaBuilder};

fn main() {
    CudaBuilder::new("kernels").name("digits").arch(Arch::Sm80).build();
}
