//! Compiles the kernels of `kernels/` and `tests/kernels/` to PTX. Without a device toolchain it warns once and the
//! kernels run on the CPU alone.

use cuda_tiles_builder::{Arch, CudaBuilder};

fn main() {
    for directory in ["kernels", "tests/kernels"] {
        let built = CudaBuilder::new(directory).arch(Arch::Sm90a).arch(Arch::Sm80).build();
        if let Err(error) = built {
            println!("cargo::error={error}");
        }
    }
}
