//! Compiles the kernels to PTX.

use cuda_tiles_builder::CudaBuilder;

fn main() {
    CudaBuilder::new("../../kernels").build();
}
