//! Compiles `kernels/` to PTX for GPUs from Ampere on, and for Hopper with all that it has.

use cuda_tiles_builder::{Arch, CudaBuilder};

fn main() {
    CudaBuilder::new("kernels").name("kernels").arch(Arch::Sm80).arch(Arch::Sm90a).build();
}
