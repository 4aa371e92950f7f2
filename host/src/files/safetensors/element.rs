//! Element types in the words of safetensors.

use crate::sealed::Sealed;
use cuda_tiles::element::{Element, bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f16};

/// An element type that safetensors has: all but `tf32`, `f8ue5m3` and single `f4e2m1`.
pub trait SafeTensorsElement: Element + Sealed {
    /// The type's name.
    const DTYPE: &'static str;
    /// Of how many numbers of that type an element consists.
    const NUMBERS: u64 = 1;
}

/// Every type of the format, with the bits of a number.
const BITS: [(&str, u64); 22] = [
    ("BOOL", 8),
    ("F4", 4),
    ("F6_E2M3", 6),
    ("F6_E3M2", 6),
    ("U8", 8),
    ("I8", 8),
    ("F8_E5M2", 8),
    ("F8_E4M3", 8),
    ("F8_E8M0", 8),
    ("F8_E4M3FNUZ", 8),
    ("F8_E5M2FNUZ", 8),
    ("I16", 16),
    ("U16", 16),
    ("F16", 16),
    ("BF16", 16),
    ("I32", 32),
    ("U32", 32),
    ("F32", 32),
    ("C64", 64),
    ("F64", 64),
    ("I64", 64),
    ("U64", 64),
];

/// The bits of a number of this type; `None` if the format has no such type.
pub(super) fn bits(dtype: &str) -> Option<u64> {
    BITS.iter().find(|(name, _)| *name == dtype).map(|&(_, bits)| bits)
}

macro_rules! dtypes {
    ($($type:ty: $name:literal;)*) => { $(
        impl SafeTensorsElement for $type {
            const DTYPE: &'static str = $name;
        }
    )* };
}
dtypes! {
    bool: "BOOL";
    u8: "U8";
    i8: "I8";
    f8e5m2: "F8_E5M2";
    f8e4m3: "F8_E4M3";
    f8e8m0: "F8_E8M0";
    i16: "I16";
    u16: "U16";
    f16: "F16";
    bf16: "BF16";
    i32: "I32";
    u32: "U32";
    f32: "F32";
    f64: "F64";
    i64: "I64";
    u64: "U64";
}

impl SafeTensorsElement for f4e2m1x2 {
    const DTYPE: &'static str = "F4";
    const NUMBERS: u64 = 2;
}
