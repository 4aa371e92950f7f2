//! Element types in DLPack's numbers.

use cuda_tiles::element::{Element, bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f16, i4x2, u4x2};

use super::abi::DLDataType;
use crate::sealed::Sealed;

/// An element type that DLPack has.
///
/// | here | PyTorch | DLPack |
/// |---|---|---|
/// | `bool` | `bool` | `bool`, 8 bits |
/// | `i8` to `i64`, `u8` to `u64` | `int8` to `uint64` | `int`, `uint` |
/// | `f16`, `f32`, `f64` | `float16`, `float32`, `float64` | `float` |
/// | `bf16` | `bfloat16` | `bfloat`, 16 bits |
/// | `f8e4m3`, `f8e5m2`, `f8e8m0` | `float8_e4m3fn`, `float8_e5m2`, `float8_e8m0fnu` | the same |
/// | `f4e2m1x2` | `float4_e2m1fn_x2` | `float4_e2m1fn`, 2 lanes |
/// | `i4x2`, `u4x2` | none that holds data | `int`, `uint` of 4 bits, 2 lanes |
///
/// The remaining types (`tf32`, `f8ue5m3`, single numbers of four bits) have no type in DLPack: pass `f32` or `u8`, and
/// [`TensorView::bitcast`](crate::TensorView::bitcast).
#[diagnostic::on_unimplemented(
    message = "arrays of other libraries have no elements of `{Self}`",
    note = "DLPack has bool, integers, `f16`, `bf16`, `f32`, `f64`, `f8e4m3`, `f8e5m2`, `f8e8m0`, `f4e2m1x2`, `i4x2` and `u4x2`; of another type of the same \
            size take the bits, with `TensorView::bitcast`"
)]
pub trait DlpackElement: Element + Sealed {
    /// The type in DLPack's numbers. A pair of numbers of four bits is one element of two lanes.
    const DATA_TYPE: DLDataType;
}

macro_rules! data_types {
    ($($type:ty: $code:literal $bits:literal x $lanes:literal;)*) => { $(
        impl DlpackElement for $type {
            const DATA_TYPE: DLDataType = DLDataType { code: $code, bits: $bits, lanes: $lanes };
        }
    )* };
}
data_types! {
    i8: 0 8 x 1;
    i16: 0 16 x 1;
    i32: 0 32 x 1;
    i64: 0 64 x 1;
    u8: 1 8 x 1;
    u16: 1 16 x 1;
    u32: 1 32 x 1;
    u64: 1 64 x 1;
    f16: 2 16 x 1;
    f32: 2 32 x 1;
    f64: 2 64 x 1;
    bf16: 4 16 x 1;
    bool: 6 8 x 1;
    f8e4m3: 10 8 x 1;
    f8e5m2: 12 8 x 1;
    f8e8m0: 14 8 x 1;
    f4e2m1x2: 17 4 x 2;
    i4x2: 0 4 x 2;
    u4x2: 1 4 x 2;
}

/// The names of the codes of `DLDataTypeCode`, from 0.
const CODES: [&str; 18] = [
    "int",
    "uint",
    "float",
    "opaque handle",
    "bfloat",
    "complex",
    "bool",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
];

/// A type in words.
pub(super) fn describe(data_type: DLDataType) -> String {
    let DLDataType { code, bits, lanes } = data_type;
    let name = CODES.get(usize::from(code)).map_or_else(|| format!("code {code}"), |name| (*name).to_owned());
    match lanes {
        1 => format!("{name} of {bits} bits"),
        _ => format!("{name} of {bits} bits, {lanes} lanes"),
    }
}
