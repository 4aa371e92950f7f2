//! Compiles `kernels/` to PTX.

use cuda_tiles_builder::{Arch, CudaBuilder};

fn main() {
    CudaBuilder::new("kernels").arch(Arch::Sm80).arch(Arch::Sm90a).build();
}
