//! The C interface of TVM-FFI 0.1 (`tvm/ffi/c_api.h`), as far as calls with tensors need it. DLPack's structs are those of the host library.

use std::ffi::{c_char, c_void};

pub(crate) use cuda_tiles_host::dlpack::{DLDataType, DLDevice, DLTensor, device_type};

/// `TVMFFIAny`: one argument, or the result. The caller owns what it points to, at least until the call has returned.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Any {
    /// Which kind of value it is: a constant of [`kind`], or a type that was registered at run time.
    pub(crate) kind: i32,
    /// Of a short string the length in bytes, of all others zero.
    pub(crate) length: u32,
    pub(crate) value: Value,
}

/// The eight bytes of an [`Any`].
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) union Value {
    pub(crate) integer: i64,
    pub(crate) float: f64,
    pub(crate) pointer: *mut c_void,
    pub(crate) bytes: [u8; 8],
}

/// `TVMFFITypeIndex`: the kinds of values.
pub(crate) mod kind {
    pub(crate) const NONE: i32 = 0;
    pub(crate) const INT: i32 = 1;
    pub(crate) const BOOL: i32 = 2;
    pub(crate) const FLOAT: i32 = 3;
    pub(crate) const OPAQUE_POINTER: i32 = 4;
    pub(crate) const DATA_TYPE: i32 = 5;
    pub(crate) const DEVICE: i32 = 6;
    pub(crate) const DL_TENSOR: i32 = 7;
    pub(crate) const RAW_STRING: i32 = 8;
    pub(crate) const BYTE_ARRAY: i32 = 9;
    pub(crate) const SMALL_STRING: i32 = 11;
    pub(crate) const SMALL_BYTES: i32 = 12;
    pub(crate) const STRING: i32 = 65;
    pub(crate) const BYTES: i32 = 66;
    pub(crate) const FUNCTION: i32 = 68;
    pub(crate) const SHAPE: i32 = 69;
    pub(crate) const TENSOR: i32 = 70;
    pub(crate) const ARRAY: i32 = 71;
    pub(crate) const MAP: i32 = 72;
    pub(crate) const PYTHON_OBJECT: i32 = 74;
    pub(crate) const LIST: i32 = 75;
    pub(crate) const DICT: i32 = 76;
    pub(crate) const BIG_INT: i32 = 78;
}

/// `TVMFFIObject`: what every object begins with. Its reference counts, type and deleter are the caller's.
type ObjectHeader = [u64; 3];

/// A string object: the header, and a `TVMFFIByteArray`.
#[repr(C)]
pub(crate) struct StringObject {
    pub(crate) _header: ObjectHeader,
    pub(crate) data: *const c_char,
    pub(crate) size: usize,
}

/// A tensor object: the header, and a `DLTensor`.
#[repr(C)]
pub(crate) struct TensorObject {
    pub(crate) _header: ObjectHeader,
    pub(crate) tensor: DLTensor,
}

// The sizes that `c_api.h` and `dlpack.h` give them where pointers have 64 bits.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Any>() == 16 && size_of::<StringObject>() == 40);
    assert!(size_of::<DLTensor>() == 48 && size_of::<TensorObject>() == 72);
};

impl Any {
    pub(crate) const fn none() -> Self {
        Self { kind: kind::NONE, length: 0, value: Value { integer: 0 } }
    }

    pub(crate) const fn int(integer: i64) -> Self {
        Self { kind: kind::INT, length: 0, value: Value { integer } }
    }

    pub(crate) const fn bool(value: bool) -> Self {
        Self { kind: kind::BOOL, length: 0, value: Value { integer: value as i64 } }
    }

    pub(crate) const fn float(float: f64) -> Self {
        Self { kind: kind::FLOAT, length: 0, value: Value { float } }
    }
}
