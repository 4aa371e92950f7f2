//! Compiles the kernels to PTX: those of this folder, and those of `cuda-tiles-kernels`. Only tensors on GPUs want it.

use cuda_tiles_builder::CudaBuilder;

fn main() {
    let has = |feature: &str| std::env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    CudaBuilder::new("kernels").for_gpus(has("CUDA")).build();
    CudaBuilder::new("../kernels").features(has("GEMM").then_some("gemm")).for_gpus(has("CUDA")).build();
}
