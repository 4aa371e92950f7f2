//! Element types, and which of them go together.

use serde::{Deserialize, Serialize};

/// An element type of tiles and tensors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the variants are named as the types are")]
pub enum Element {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    Bf16,
    F32,
    F64,
}

use Element::*;

impl Element {
    /// All of them.
    pub const ALL: [Self; 13] = [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, Bf16, F32, F64];
    /// Those with arithmetic.
    pub const NUMBERS: [Self; 12] = [I8, I16, I32, I64, U8, U16, U32, U64, F16, Bf16, F32, F64];
    /// The integers.
    pub const INTEGERS: [Self; 8] = [I8, I16, I32, I64, U8, U16, U32, U64];
    /// The floats.
    pub const FLOATS: [Self; 4] = [F16, Bf16, F32, F64];

    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            I8 => "i8",
            I16 => "i16",
            I32 => "i32",
            I64 => "i64",
            U8 => "u8",
            U16 => "u16",
            U32 => "u32",
            U64 => "u64",
            F16 => "f16",
            Bf16 => "bf16",
            F32 => "f32",
            F64 => "f64",
        }
    }

    /// Its size in memory.
    pub fn bytes(self) -> usize {
        match self {
            Bool | I8 | U8 => 1,
            I16 | U16 | F16 | Bf16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 => 8,
        }
    }

    /// Its width in bits; of `bool` the width when it is packed.
    pub fn bits(self) -> u32 {
        if self == Bool { 1 } else { self.bytes() as u32 * 8 }
    }

    /// Whether it is one of the floats.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | Bf16 | F32 | F64)
    }

    /// Whether it is one of the integers.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Bool
    }

    /// Whether it has arithmetic.
    pub fn is_number(self) -> bool {
        self != Bool
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }

    /// The integer without a sign of the same width.
    pub fn unsigned(self) -> Self {
        match self.bytes() {
            1 => U8,
            2 => U16,
            4 => U32,
            _ => U64,
        }
    }

    /// The common type of two element types, if there is one: integers of one signedness go to the wider one, an integer and a
    /// float to the float, two floats to the wider one, `bool` to the other.
    pub fn promote(self, other: Self) -> Option<Self> {
        let wider = if self.bytes() >= other.bytes() { self } else { other };
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Bool, b) => Some(b),
            (a, Bool) => Some(a),
            (F16, Bf16) | (Bf16, F16) => None,
            (a, b) if a.is_float() && b.is_float() => Some(wider),
            (a, _) if a.is_float() => Some(a),
            (_, b) if b.is_float() => Some(b),
            (a, b) if a.is_signed() == b.is_signed() => Some(wider),
            _ => None,
        }
    }

    /// The bits of an integer, or of `bool`, cut off to the width.
    pub fn wrap(self, value: i128) -> u64 {
        match self {
            Bool => u64::from(value != 0),
            _ if self.bits() == 64 => value as u64,
            _ => value as u64 & ((1 << self.bits()) - 1),
        }
    }

    /// The integer that has these bits.
    pub fn integer(self, bits: u64) -> i128 {
        let unused = 64 - self.bits();
        if self.is_signed() { i128::from((bits << unused) as i64 >> unused) } else { i128::from(bits) }
    }

    /// The least and the greatest integer.
    pub fn range(self) -> (i128, i128) {
        match (self.is_signed(), self.bits()) {
            (true, width) => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
            (false, width) => (0, (1 << width) - 1),
        }
    }
}
