//! The host's side: checks of the operands, the choice of an instance, and launches.

mod cross_entropy;
mod element;
mod norms;
mod softmax;

use std::format;
use std::string::String;

use cuda_tiles_host::{Error, Result, Stream};

use super::kernels::{InVectors, on_cpu};

pub use cross_entropy::{cross_entropy, cross_entropy_backward, cross_entropy_backward_in_place};
pub use element::RowElement;
pub use norms::{layer_norm, layer_norm_backward, rms_norm, rms_norm_backward};
pub use softmax::{softmax, softmax_backward};

/// The matrices of a call, of one shape.
#[derive(Clone, Copy, Debug)]
pub struct Matrices {
    rows: usize,
    columns: usize,
    /// Whether the kernels are those for [`InVectors`].
    in_vectors: bool,
}

impl Matrices {
    /// Matrices of elements `T`. `are_aligned` says whether all operands that have columns begin at multiples of 16 bytes.
    fn new<T>(stream: &Stream, [rows, columns]: [usize; 2], are_aligned: bool) -> Self {
        let lie_in_vectors = are_aligned && columns.is_multiple_of(8);
        let have_kernels = on_cpu::<T, InVectors>() || stream.device().is_gpu();
        Self { rows, columns, in_vectors: lie_in_vectors && have_kernels }
    }
}

/// What the first element of rows that lie in vectors is aligned to, in bytes.
const ALIGNMENT: usize = 16;

/// The error that operands do not go together.
fn refuse<T>(operation: &'static str, problem: String) -> Result<T> {
    Err(Error::Operands { operation, problem })
}

/// Checks that tensors have the shape that the first of them should have.
fn check_shapes<const RANK: usize>(
    operation: &'static str,
    expected: [usize; RANK],
    tensors: &[(&str, [usize; RANK])],
) -> Result<()> {
    match tensors.iter().find(|(_, found)| *found != expected) {
        None => Ok(()),
        Some((name, found)) => refuse(
            operation,
            format!("`{name}` has shape {found:?}, and the rows of the operation want {expected:?}"),
        ),
    }
}
