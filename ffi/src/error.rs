//! What a call can raise, in the words of the person who called.

use std::ffi::CStr;
use std::fmt;

use cuda_tiles_host::Error;

/// The class of a Python exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExceptionKind {
    /// `TypeError`: an argument is of another type than the parameter.
    Type,
    /// `ValueError`: an argument is of the right type, and has a value, a shape or a place that cannot be.
    Value,
    /// `MemoryError`: a device has no room.
    Memory,
    /// `RuntimeError`: anything else, such as a failure of the device.
    Runtime,
}

impl ExceptionKind {
    /// The name that TVM-FFI knows the class by.
    pub(crate) fn name(self) -> &'static CStr {
        match self {
            Self::Type => c"TypeError",
            Self::Value => c"ValueError",
            Self::Memory => c"MemoryError",
            Self::Runtime => c"RuntimeError",
        }
    }
}

/// What an exported function raises in Python: a class of exception and a text.
///
/// A [`cuda_tiles_host::Error`] becomes one by `?`: a `ValueError` where arguments of a launch do not fit, a `MemoryError` where a device
/// has no room, else a `RuntimeError`. Functions with checks of their own return `Result<(), Exception>`:
///
/// ```
/// use cuda_tiles_ffi::{Call, Exception, ExceptionKind, TensorView, export};
///
/// /// Refuses what has an odd number of columns.
/// #[export]
/// fn check_columns(_call: &Call, x: TensorView<f32, 2>) -> Result<(), Exception> {
///     let [_, columns] = x.shape();
///     match columns % 2 {
///         0 => Ok(()),
///         _ => Err(Exception::new(ExceptionKind::Value, format!("{columns} columns are not pairs"))),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exception {
    kind: ExceptionKind,
    text: String,
}

impl Exception {
    /// An exception of this class with this text.
    pub fn new(kind: ExceptionKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The class.
    pub fn kind(&self) -> ExceptionKind {
        self.kind
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for Exception {}

impl From<Error> for Exception {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Argument { .. }
            | Error::Operands { .. }
            | Error::Grid { .. }
            | Error::Length { .. }
            | Error::View { .. }
            | Error::TooLarge { .. }
            | Error::WrongDevice { .. } => ExceptionKind::Value,
            Error::OutOfMemory { .. } => ExceptionKind::Memory,
            _ => ExceptionKind::Runtime,
        };
        Self::new(kind, error.to_string())
    }
}

/// What is wrong with a call, or with one of its arguments.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("it takes {} ({}), and {given} given", count(.names.len(), "argument"), .names.join(", "))]
    Count { names: &'static [&'static str], given: String },
    #[error("{wanted} is expected, and {given} was given")]
    Type { wanted: String, given: String },
    #[error("{value} is out of the range of the parameter's type, {wanted}")]
    Range { value: i64, wanted: &'static str },
    #[error("the text is not UTF-8")]
    NotUtf8,
    #[error("the tensor's elements are {found}, and the parameter's are {wanted}: convert the tensor")]
    ElementType { wanted: String, found: String },
    #[error("the tensor has {} (shape {shape:?}), and the parameter has {wanted}", count(.shape.len(), "axis"))]
    Rank { wanted: usize, shape: Vec<i64> },
    #[error(
        "the tensor is on {found}, and `{first}` is on {expected}: the tensors of a call are on one device"
    )]
    OtherDevice { found: String, first: &'static str, expected: String },
    #[error("the tensor is on {found}: kernels run on CUDA devices and on the CPU")]
    ForeignDevice { found: String },
    #[error("the tensor is not a valid DLPack tensor: {reason}")]
    Malformed { reason: &'static str },
    #[error("shape {shape:?} and strides {strides:?} reach beyond the address space")]
    TooLarge { shape: Vec<i64>, strides: Vec<i64> },
    #[error(
        "axis {axis} has the stride {stride}: strides are not negative; make a contiguous copy of the tensor"
    )]
    NegativeStride { axis: usize, stride: i64 },
    #[error(
        "shape {shape:?} and strides {strides:?} give one element several indices, and the function writes to the tensor: make a \
         contiguous copy of it"
    )]
    SharedElements { shape: Vec<usize>, strides: Vec<usize> },
    #[error(
        "the tensor begins at address {address:#x}, which is no multiple of the {bytes} bytes of an element"
    )]
    Unaligned { address: usize, bytes: usize },
    #[error(
        "its memory overlaps that of `{other}`, and the function writes to `{written}`: give that memory of its own, from the first to the \
         last element"
    )]
    Overlap { other: &'static str, written: &'static str },
    #[error("an element of the tensor of bool is the byte {byte}, which is neither false (0) nor true (1)")]
    NotBool { byte: u8 },
    #[error(
        "the current stream is CUDA's per-thread default stream, on which tensors cannot be passed: make another stream the current one"
    )]
    PerThreadStream,
    #[error("the result {value} is larger than Python's side can take, a signed integer of 64 bits")]
    Result { value: u64 },
    #[error("the function panicked: {message}")]
    Panicked { message: String },
    #[error("no exception could be raised: libtvm_ffi is not loaded; `import tvm_ffi` before the call")]
    NoRuntime,
}

impl Problem {
    fn kind(&self) -> ExceptionKind {
        match self {
            Self::Count { .. } | Self::Type { .. } | Self::ElementType { .. } => ExceptionKind::Type,
            Self::PerThreadStream | Self::Panicked { .. } | Self::NoRuntime => ExceptionKind::Runtime,
            _ => ExceptionKind::Value,
        }
    }

    /// The exception of a function, whatever its arguments.
    pub(crate) fn of(self, function: &Function) -> Exception {
        Exception::new(self.kind(), format!("{}: {self}", function.name))
    }

    /// The exception of one argument.
    pub(crate) fn at(self, function: &Function, position: usize) -> Exception {
        let name = function.parameters[position];
        Exception::new(
            self.kind(),
            format!("{}, argument {} (`{name}`): {self}", function.name, position + 1),
        )
    }
}

/// An exported function, for messages.
#[derive(Debug)]
pub struct Function {
    /// Its name in Python.
    pub name: &'static str,
    /// The names of its parameters after the call itself.
    pub parameters: &'static [&'static str],
}

/// A number of things, in words.
pub(crate) fn count(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "axis") => format!("{count} axes"),
        _ => format!("{count} {what}s"),
    }
}
