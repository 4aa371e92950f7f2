//! Compiles `tests/kernels/` to PTX. Five hundred small kernels: one image serves every GPU.

use cuda_tiles_builder::{Arch, CudaBuilder};

fn main() {
    if let Err(error) = CudaBuilder::new("../kernels").arch(Arch::Sm80).build() {
        println!("cargo::error={error}");
    }
}
