//! The types of elements that DLPack has.

use cuda_tiles_host::{Element, bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f16};

use crate::abi::DataType;

/// Types of elements that a tensor from Python can have.
///
/// | here | PyTorch | DLPack |
/// |---|---|---|
/// | `bool` | `bool` | `bool`, 8 bits |
/// | `i8` to `i64`, `u8` to `u64` | `int8` to `uint64` | `int`, `uint` |
/// | `f16`, `f32`, `f64` | `float16`, `float32`, `float64` | `float` |
/// | `bf16` | `bfloat16` | `bfloat`, 16 bits |
/// | `f8e4m3`, `f8e5m2`, `f8e8m0` | `float8_e4m3fn`, `float8_e5m2`, `float8_e8m0fnu` | the same |
/// | `f4e2m1x2` | `float4_e2m1fn_x2` | `float4_e2m1fn`, 2 lanes |
///
/// The remaining types of `cuda_tiles` (`tf32`, `f8ue5m3`) have no type in DLPack: pass `f32` or `u8`, and
/// [`TensorView::bitcast`](crate::TensorView::bitcast).
#[diagnostic::on_unimplemented(
    message = "tensors from Python have no elements of `{Self}`",
    note = "DLPack has bool, integers, `f16`, `bf16`, `f32`, `f64`, `f8e4m3`, `f8e5m2`, `f8e8m0` and `f4e2m1x2`; of another type of the same \
            size take the bits, with `TensorView::bitcast`"
)]
pub trait DlpackElement: Element {
    /// The name in messages: PyTorch's and NumPy's.
    #[doc(hidden)]
    const DLPACK_NAME: &'static str;
    /// Code, bits and lanes.
    #[doc(hidden)]
    const DLPACK_TYPE: (u8, u8, u16);
}

macro_rules! elements {
    ($($type:ident $name:literal $code:literal $bits:literal $lanes:literal;)*) => {
        $(
            impl DlpackElement for $type {
                const DLPACK_NAME: &'static str = $name;
                const DLPACK_TYPE: (u8, u8, u16) = ($code, $bits, $lanes);
            }
        )*

        /// The names of the types that there are kernels for.
        const NAMES: &[(DataType, &str)] = &[
            $((DataType { code: $code, bits: $bits, lanes: $lanes }, $name),)*
        ];
    };
}

elements! {
    bool "bool" 6 8 1;
    i8 "int8" 0 8 1;
    i16 "int16" 0 16 1;
    i32 "int32" 0 32 1;
    i64 "int64" 0 64 1;
    u8 "uint8" 1 8 1;
    u16 "uint16" 1 16 1;
    u32 "uint32" 1 32 1;
    u64 "uint64" 1 64 1;
    f16 "float16" 2 16 1;
    f32 "float32" 2 32 1;
    f64 "float64" 2 64 1;
    bf16 "bfloat16" 4 16 1;
    f8e4m3 "float8_e4m3fn" 10 8 1;
    f8e5m2 "float8_e5m2" 12 8 1;
    f8e8m0 "float8_e8m0fnu" 14 8 1;
    f4e2m1x2 "float4_e2m1fn_x2" 17 4 2;
}

/// What the elements of a tensor are, in words.
pub(crate) fn name(found: DataType) -> String {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == found) {
        return (*name).to_owned();
    }
    let DataType { code, bits, lanes } = found;
    match (code, lanes) {
        (5, 1) => format!("complex{bits}"),
        _ => format!("of DLPack's type code {code} with {bits} bits and {lanes} lane(s)"),
    }
}
