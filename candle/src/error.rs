//! What can go wrong in an operation.

use candle_core::DType;

/// Why an operation was not done. candle's own error has it as text, behind `?`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A tensor has elements of another type than the kernel.
    #[error("the tensor has elements of {found:?}, but the kernel takes {wanted:?}")]
    ElementType {
        /// The tensor's type.
        found: DType,
        /// The kernel's type.
        wanted: DType,
    },
    /// There is no kernel for elements of this type.
    #[error("{operation}: there is no kernel for elements of {found:?}, but for {known:?}")]
    NoKernel {
        /// The operation's name.
        operation: &'static str,
        /// The tensor's type.
        found: DType,
        /// The types that have kernels.
        known: &'static [DType],
    },
    /// A tensor has another number of axes than the kernel.
    #[error("the tensor has {} axes (shape {shape:?}), but the kernel takes {wanted}", shape.len())]
    Rank {
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The number that the kernel takes.
        wanted: usize,
    },
    /// The leading axes do not lie behind one another at one distance, so that they are not one axis.
    #[error(
        "the leading axes of a tensor of shape {shape:?} and strides {strides:?} cannot be walked as one, as the kernel does: call \
         `contiguous()` first"
    )]
    Axes {
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The tensor's strides, in elements.
        strides: Vec<usize>,
    },
    /// Shape and strides lead to elements outside of the tensor's memory.
    #[error("a layout of shape {shape:?} and strides {strides:?} leads out of memory of {len} elements")]
    Layout {
        /// The tensor's shape.
        shape: Vec<usize>,
        /// The tensor's strides, in elements.
        strides: Vec<usize>,
        /// How many elements there are.
        len: usize,
    },
    /// The operands do not go together.
    #[error("{operation}: {problem}")]
    Operands {
        /// The operation's name.
        operation: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A launch failed.
    #[error(transparent)]
    Host(#[from] cuda_tiles_host::Error),
    /// candle failed.
    #[error(transparent)]
    Candle(#[from] candle_core::Error),
}

/// What operations return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<Error> for candle_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Candle(error) => error,
            error => Self::wrap(error),
        }
    }
}
