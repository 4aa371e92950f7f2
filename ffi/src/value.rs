//! Arguments as they come: each read once out of the caller's memory, before anything is done with them.

use std::ffi::{CStr, c_char};

use crate::abi::{Any, DLDataType, DLDevice, DLTensor, StringObject, TensorObject, kind};
use crate::element;
use crate::error::{Problem, count};

/// An argument.
pub(crate) enum Value<'call> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'call [u8]),
    Tensor(Array<'call>),
    /// Something that no parameter takes, in words.
    Other(String),
}

/// A tensor of the caller.
pub(crate) struct Array<'call> {
    /// Address of the first element.
    pub(crate) address: *mut u8,
    pub(crate) device: DLDevice,
    pub(crate) data_type: DLDataType,
    pub(crate) shape: &'call [i64],
    /// `None` for row-major order.
    pub(crate) strides: Option<&'call [i64]>,
}

impl<'call> Value<'call> {
    /// Reads an argument.
    ///
    /// # Safety
    /// The argument is a `TVMFFIAny` as `c_api.h` describes it, and what it points to stays as it is for `'call`.
    pub(crate) unsafe fn read(any: &'call Any) -> Result<Self, Problem> {
        // SAFETY: all eight bytes of the union are initialised in a value of any kind, and of each of its fields all bytes are valid.
        // Pointers are those of the kind that stands beside them, which the caller vouches for.
        unsafe {
            Ok(match any.kind {
                kind::NONE => Self::None,
                kind::BOOL => Self::Bool(any.value.integer != 0),
                kind::INT => Self::Int(any.value.integer),
                kind::FLOAT => Self::Float(any.value.float),
                kind::SMALL_STRING => {
                    let bytes: &'call [u8; 8] = &any.value.bytes;
                    Self::Text(&bytes[..(any.length as usize).min(bytes.len())])
                }
                kind::RAW_STRING => {
                    Self::Text(CStr::from_ptr(any.value.pointer.cast::<c_char>().cast_const()).to_bytes())
                }
                kind::STRING => {
                    let text = &*any.value.pointer.cast::<StringObject>();
                    Self::Text(elements(text.data.cast(), text.size))
                }
                kind::DL_TENSOR => Self::Tensor(Array::read(any.value.pointer.cast())?),
                kind::TENSOR => {
                    let object = any.value.pointer.cast::<TensorObject>();
                    Self::Tensor(Array::read(&raw const (*object).tensor)?)
                }
                other => Self::Other(described(other)),
            })
        }
    }

    /// The argument in words, for a message that something else was expected.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::None => "None".to_owned(),
            Self::Bool(_) => "a bool".to_owned(),
            Self::Int(_) => "an int".to_owned(),
            Self::Float(_) => "a float".to_owned(),
            Self::Text(_) => "a str".to_owned(),
            Self::Tensor(array) => {
                format!(
                    "a tensor of {} with {}",
                    element::name(array.data_type),
                    count(array.shape.len(), "axis")
                )
            }
            Self::Other(what) => what.clone(),
        }
    }
}

impl<'call> Array<'call> {
    /// Reads a `DLTensor`.
    ///
    /// # Safety
    /// It is one as `dlpack.h` describes it, null or not, and stays as it is for `'call`.
    unsafe fn read(tensor: *const DLTensor) -> Result<Self, Problem> {
        // SAFETY: null or valid, says the caller.
        let Some(tensor) = (unsafe { tensor.as_ref::<'call>() }) else {
            return Err(Problem::Malformed { reason: "its address is null" });
        };
        let Ok(rank) = usize::try_from(tensor.ndim) else {
            return Err(Problem::Malformed { reason: "the number of its axes is negative" });
        };
        if rank > 0 && tensor.shape.is_null() {
            return Err(Problem::Malformed { reason: "it has axes, and no shape" });
        }
        // SAFETY: DLPack gives both arrays an element for each axis; null was excluded for the shape, and means row-major order for
        // the strides.
        let (shape, strides) = unsafe {
            (
                elements(tensor.shape, rank),
                (!tensor.strides.is_null()).then(|| elements(tensor.strides, rank)),
            )
        };
        Ok(Self {
            address: tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize),
            device: tensor.device,
            data_type: tensor.dtype,
            shape,
            strides,
        })
    }
}

/// An array of C, whose address counts only if it has elements.
///
/// # Safety
/// If `count` is not 0, the array has as many elements at `address`, which stay as they are for `'call`.
unsafe fn elements<'call, T>(address: *const T, count: usize) -> &'call [T] {
    match count {
        0 => &[],
        // SAFETY: passed on to the caller.
        _ => unsafe { std::slice::from_raw_parts(address, count) },
    }
}

/// A kind of value that no parameter takes, in words.
fn described(kind: i32) -> String {
    match kind {
        kind::OPAQUE_POINTER => "a pointer".to_owned(),
        kind::DATA_TYPE => "a dtype".to_owned(),
        kind::DEVICE => "a device".to_owned(),
        kind::BYTE_ARRAY | kind::SMALL_BYTES | kind::BYTES => "bytes".to_owned(),
        kind::FUNCTION => "a function".to_owned(),
        kind::SHAPE => "a shape".to_owned(),
        kind::ARRAY | kind::LIST => "a list".to_owned(),
        kind::MAP | kind::DICT => "a dict".to_owned(),
        kind::PYTHON_OBJECT => "a Python object that is neither number, text nor tensor".to_owned(),
        kind::BIG_INT => "an int of more than 64 bits".to_owned(),
        other => format!("an object of TVM-FFI's type {other}"),
    }
}
