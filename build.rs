//! Compiles `kernels/` to PTX. Without a device toolchain it warns once and the kernels run on the CPU alone.

use cuda_tiles_builder::{Arch, CudaBuilder};

fn main() {
    if let Err(error) = CudaBuilder::new("kernels").arch(Arch::Sm90a).arch(Arch::Sm80).build() {
        println!("cargo::error={error}");
    }
}
