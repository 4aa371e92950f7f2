//! The element types of `ggml`, single ones and blocks, and tensors of them.

use std::fmt;

use crate::sealed::Sealed;
use cuda_tiles::element::{Element, bf16, f16};

macro_rules! types {
    ($($name:ident = $id:literal: $elements:literal elements in $bytes:literal bytes;)*) => {
        /// How `ggml` stores elements: one by one, or in blocks that share scales.
        #[allow(non_camel_case_types, reason = "the names are ggml's")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum GgmlType {
            $(
                #[doc = concat!("`", stringify!($name), "`: ", $elements, " element(s) in ", $bytes, " byte(s).")]
                $name,
            )*
        }

        impl GgmlType {
            /// All types.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The type with this number in files; `None` for numbers that `ggml` does not use, or not any more.
            pub fn from_id(id: u32) -> Option<Self> {
                match id {
                    $($id => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Its number in files.
            pub fn id(self) -> u32 {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// Elements in a block; 1 where elements are stored one by one.
            pub fn block_elements(self) -> usize {
                match self {
                    $(Self::$name => $elements,)*
                }
            }

            /// Bytes of a block.
            pub fn block_bytes(self) -> usize {
                match self {
                    $(Self::$name => $bytes,)*
                }
            }
        }
    };
}
types! {
    F32 = 0: 1 elements in 4 bytes;
    F16 = 1: 1 elements in 2 bytes;
    Q4_0 = 2: 32 elements in 18 bytes;
    Q4_1 = 3: 32 elements in 20 bytes;
    Q5_0 = 6: 32 elements in 22 bytes;
    Q5_1 = 7: 32 elements in 24 bytes;
    Q8_0 = 8: 32 elements in 34 bytes;
    Q8_1 = 9: 32 elements in 36 bytes;
    Q2_K = 10: 256 elements in 84 bytes;
    Q3_K = 11: 256 elements in 110 bytes;
    Q4_K = 12: 256 elements in 144 bytes;
    Q5_K = 13: 256 elements in 176 bytes;
    Q6_K = 14: 256 elements in 210 bytes;
    Q8_K = 15: 256 elements in 292 bytes;
    IQ2_XXS = 16: 256 elements in 66 bytes;
    IQ2_XS = 17: 256 elements in 74 bytes;
    IQ3_XXS = 18: 256 elements in 98 bytes;
    IQ1_S = 19: 256 elements in 50 bytes;
    IQ4_NL = 20: 32 elements in 18 bytes;
    IQ3_S = 21: 256 elements in 110 bytes;
    IQ2_S = 22: 256 elements in 82 bytes;
    IQ4_XS = 23: 256 elements in 136 bytes;
    I8 = 24: 1 elements in 1 bytes;
    I16 = 25: 1 elements in 2 bytes;
    I32 = 26: 1 elements in 4 bytes;
    I64 = 27: 1 elements in 8 bytes;
    F64 = 28: 1 elements in 8 bytes;
    IQ1_M = 29: 256 elements in 56 bytes;
    BF16 = 30: 1 elements in 2 bytes;
    TQ1_0 = 34: 256 elements in 54 bytes;
    TQ2_0 = 35: 256 elements in 66 bytes;
    MXFP4 = 39: 32 elements in 17 bytes;
    NVFP4 = 40: 64 elements in 36 bytes;
    Q1_0 = 41: 128 elements in 18 bytes;
}

impl fmt::Display for GgmlType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// What a GGUF file says of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufTensor {
    /// Its name.
    pub name: String,
    /// Extents of its axes in elements, the last axis fastest: the other way round than the format writes them.
    pub shape: Vec<usize>,
    /// How its elements are stored.
    pub element_type: GgmlType,
    /// The first byte of its elements, from the beginning of the file.
    pub offset: u64,
    /// Bytes of its elements.
    pub bytes: u64,
}

/// An element type that GGUF stores one by one.
pub trait GgufElement: Element + Sealed {
    /// The type in files.
    const TYPE: GgmlType;
}

macro_rules! elements {
    ($($type:ty: $name:ident;)*) => { $(
        impl GgufElement for $type {
            const TYPE: GgmlType = GgmlType::$name;
        }
    )* };
}
elements! {
    f32: F32;
    f16: F16;
    bf16: BF16;
    f64: F64;
    i8: I8;
    i16: I16;
    i32: I32;
    i64: I64;
}
