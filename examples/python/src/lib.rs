//! The ready-made kernels as functions for Python. `cuda_tiles_kernels/__init__.py` calls them, by the type of elements.
//!
//! Results are parameters: the caller makes them, by the allocator of its own library. What a kernel would only find out on the GPU,
//! where it traps, is checked here.

mod attention;
#[cfg(feature = "gemm")]
mod linear;
mod rows;

use cuda_tiles_ffi::{Call, TensorView, TensorViewMut, export};
use cuda_tiles_host::{Error, Grid, Launch, Result};
use cuda_tiles_kernels::vector;

// Defines KERNELS, what the build script has compiled.
cuda_tiles_host::include_kernels!("cuda_tiles_kernels");

/// Makes the kernels known to the GPU of a call. That is quick, and done once.
fn load(call: &Call) -> Result<()> {
    call.device().load(&KERNELS)
}

/// The error that operands do not go together.
fn refuse<T>(operation: &'static str, problem: String) -> Result<T> {
    Err(Error::Operands { operation, problem })
}

/// `out = x + y`.
#[export]
fn vector_add(
    call: &Call,
    x: TensorView<f32, 1>,
    y: TensorView<f32, 1>,
    out: TensorViewMut<f32, 1>,
) -> Result<()> {
    if x.shape() != y.shape() || x.shape() != out.shape() {
        let problem = format!("{:?}, {:?} and {:?} are not one shape", x.shape(), y.shape(), out.shape());
        return refuse("vector_add", problem);
    }
    load(call)?;
    vector::add::<f32, 4096>().launch_on(call.stream(), Grid::cover(out.shape(), [4096]), (x, y, out))
}
