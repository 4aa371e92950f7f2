//! Values of the metadata.

macro_rules! values {
    ($($name:ident($type:ty) = $id:literal, $text:literal;)*) => {
        /// A value of a GGUF file's metadata.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum GgufValue {
            $(#[doc = $text] $name($type),)*
            /// Values of one type.
            Array(GgufArray),
        }

        /// Values of one type in a GGUF file's metadata.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum GgufArray {
            $(#[doc = concat!("Each of them ", $text)] $name(Vec<$type>),)*
            /// Each of them an array.
            Array(Vec<GgufArray>),
        }

        impl GgufValue {
            /// Reads a value of the type with this number.
            pub(super) fn read(cursor: &mut Cursor<'_>, id: u32) -> Result<Self, FileError> {
                match id {
                    $($id => <$type>::take(cursor).map(Self::$name),)*
                    ARRAY => GgufArray::read(cursor, 0).map(Self::Array),
                    _ => Err(cursor.refused(format!("the type {id} of a value is not known"))),
                }
            }
        }

        impl GgufArray {
            /// Number of values.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$name(values) => values.len(),)*
                    Self::Array(values) => values.len(),
                }
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            fn read(cursor: &mut Cursor<'_>, depth: u32) -> Result<Self, FileError> {
                let id = u32::take(cursor)?;
                let count = u64::take(cursor)?;
                match id {
                    $($id => cursor.several(count, <$type>::LEAST_BYTES, <$type>::take).map(Self::$name),)*
                    ARRAY if depth < DEEPEST => {
                        let take = |cursor: &mut Cursor<'_>| Self::read(cursor, depth + 1);
                        cursor.several(count, ARRAY_BYTES, take).map(Self::Array)
                    }
                    ARRAY => Err(cursor.refused(format!("arrays are nested more than {DEEPEST} deep"))),
                    _ => Err(cursor.refused(format!("the type {id} of an array's values is not known"))),
                }
            }
        }
    };
}

use super::cursor::{Cursor, Take};
use crate::files::error::FileError;

/// The number of the type of arrays.
const ARRAY: u32 = 9;

/// Bytes of an empty array: the type and the number of its values.
const ARRAY_BYTES: u64 = 12;

/// How deep arrays may be nested. No file is known that nests them at all.
const DEEPEST: u32 = 8;

values! {
    U8(u8) = 0, "An unsigned number of 8 bits.";
    I8(i8) = 1, "A signed number of 8 bits.";
    U16(u16) = 2, "An unsigned number of 16 bits.";
    I16(i16) = 3, "A signed number of 16 bits.";
    U32(u32) = 4, "An unsigned number of 32 bits.";
    I32(i32) = 5, "A signed number of 32 bits.";
    F32(f32) = 6, "A float of 32 bits.";
    Bool(bool) = 7, "Yes or no.";
    String(String) = 8, "A text.";
    U64(u64) = 10, "An unsigned number of 64 bits.";
    I64(i64) = 11, "A signed number of 64 bits.";
    F64(f64) = 12, "A float of 64 bits.";
}

impl GgufValue {
    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is a whole one that is not negative, of whatever type.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::U8(number) => Some(number.into()),
            Self::U16(number) => Some(number.into()),
            Self::U32(number) => Some(number.into()),
            Self::U64(number) => Some(number),
            Self::I8(number) => number.try_into().ok(),
            Self::I16(number) => number.try_into().ok(),
            Self::I32(number) => number.try_into().ok(),
            Self::I64(number) => number.try_into().ok(),
            _ => None,
        }
    }

    /// The number, if it is a float of either size.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::F32(number) => Some(number.into()),
            Self::F64(number) => Some(number),
            _ => None,
        }
    }

    /// Yes or no, if it is that.
    pub fn as_bool(&self) -> Option<bool> {
        match *self {
            Self::Bool(answer) => Some(answer),
            _ => None,
        }
    }

    /// The values, if it is an array.
    pub fn as_array(&self) -> Option<&GgufArray> {
        match self {
            Self::Array(values) => Some(values),
            _ => None,
        }
    }
}
