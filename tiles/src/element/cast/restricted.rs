//! Conversions from and to the floats without arithmetic. Each of them is exact in `f32`, so that `f32` is the way
//! to all other types and from those that it holds exactly. What it does not hold is rounded to odd on the way, or
//! lies so far beyond the target's greatest number that a rounding first changes nothing.

use super::{Cast, exact_or_odd, odd};
use crate::arch::convert;
use crate::arch::minifloat as machine;
use crate::element::{bf16, f4e2m1, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, tf32};

/// To `f32` exactly, and by it to everything else.
macro_rules! out {
    ($($from:ident: $($to:ident)*;)*) => { $(
        casts! {
            $from to f32: |value| value.to_f32();
            $from to $($to)*: |value| Cast::<f32>::cast(value).cast();
        }
    )* };
}
out! {
    tf32: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f64 f8e4m3 f8e5m2 f8ue5m3 f4e2m1;
    f8e8m0: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f64 tf32 f8e4m3 f8e5m2 f8ue5m3 f4e2m1;
    f8ue5m3: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f64 tf32 f8e4m3 f8e5m2 f4e2m1;
    f4e2m1: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f64 tf32 f8e4m3 f8e5m2 f8ue5m3;
}
casts! {
    f8e4m3 to bool i8 i16 i32 i64 u8 u16 u32 u64 f64 tf32 f8e5m2 f8ue5m3 f4e2m1: |value| Cast::<f32>::cast(value).cast();
    f8e5m2 to bool i8 i16 i32 i64 u8 u16 u32 u64 f64 tf32 f8e4m3 f8ue5m3 f4e2m1: |value| Cast::<f32>::cast(value).cast();
}

/// From `f32` by `encode`; from the other types by `f32`.
macro_rules! into {
    ($($to:ident: |$value:ident| $encode:expr;)*) => { $(
        casts! {
            f32 to $to: |$value| $encode;
            f64 to $to: |value| Cast::<f32>::cast(exact_or_odd(value)).cast();
            bool to $to: |value| Cast::<f32>::cast(value).cast();
            i8 to $to: |value| (value as f32).cast();
            u8 to $to: |value| (value as f32).cast();
            i16 to $to: |value| (value as f32).cast();
            u16 to $to: |value| (value as f32).cast();
            bf16 to $to: |value| Cast::<f32>::cast(value).cast();
        }
    )* };
}
into! {
    tf32: |value| tf32::from_bits(machine::encode_tf32(value));
    f8ue5m3: |value| f8ue5m3::from_f32(value);
    f4e2m1: |value| f4e2m1::from_f32(value);
}
casts! {
    f16 to tf32 f8ue5m3 f4e2m1: |value| Cast::<f32>::cast(value).cast();
    i32 to tf32: |value| (value as f64).cast();
    u32 to tf32: |value| (value as f64).cast();
    i64 to tf32: |value| Cast::<tf32>::cast(f64::copysign(odd(value.unsigned_abs()), value as f64));
    u64 to tf32: |value| Cast::<tf32>::cast(odd(value));
    i32 to f8e4m3 f8e5m2 f8ue5m3 f4e2m1: |value| (value as f32).cast();
    u32 to f8e4m3 f8e5m2 f8ue5m3 f4e2m1: |value| (value as f32).cast();
    i64 to f8e4m3 f8e5m2 f8ue5m3 f4e2m1: |value| (value as f32).cast();
    u64 to f8e4m3 f8e5m2 f8ue5m3 f4e2m1: |value| (value as f32).cast();
}

/// FP8 with instructions that convert pairs, between it and `f32` and the 16-bit floats.
macro_rules! paired {
    ($($type:ident, $from_singles:ident, $from_halves:ident, $to_singles:ident, $to_halves:ident;)*) => { $(
        casts! {
            f64 to $type: |value| Cast::<f32>::cast(exact_or_odd(value)).cast();
            bool to $type: |value| Cast::<f32>::cast(value).cast();
            i8 to $type: |value| (value as f32).cast();
            u8 to $type: |value| (value as f32).cast();
            i16 to $type: |value| (value as f32).cast();
            u16 to $type: |value| (value as f32).cast();
        }
        impl Cast<$type> for f32 {
            #[inline_on_device]
            fn cast(self) -> $type {
                $type::from_bits(convert::$from_singles(0.0, self) as u8)
            }
            #[inline_on_device]
            fn cast_pair(low: f32, high: f32) -> [$type; 2] {
                convert::$from_singles(high, low).to_le_bytes().map($type::from_bits)
            }
        }
        impl Cast<$type> for f16 {
            #[inline_on_device]
            fn cast(self) -> $type {
                $type::from_bits(convert::$from_halves(u32::from(self.to_bits())) as u8)
            }
            #[inline_on_device]
            fn cast_pair(low: f16, high: f16) -> [$type; 2] {
                let pair = u32::from(high.to_bits()) << 16 | u32::from(low.to_bits());
                convert::$from_halves(pair).to_le_bytes().map($type::from_bits)
            }
        }
        impl Cast<$type> for bf16 {
            #[inline_on_device]
            fn cast(self) -> $type {
                Cast::<f32>::cast(self).cast()
            }
            #[inline_on_device]
            fn cast_pair(low: bf16, high: bf16) -> [$type; 2] {
                Cast::cast_pair(Cast::<f32>::cast(low), Cast::<f32>::cast(high))
            }
        }
        impl Cast<f32> for $type {
            #[inline_on_device]
            fn cast(self) -> f32 {
                convert::$to_singles(u16::from(self.to_bits()))[0]
            }
            #[inline_on_device]
            fn cast_pair(low: $type, high: $type) -> [f32; 2] {
                convert::$to_singles(u16::from_le_bytes([low.to_bits(), high.to_bits()]))
            }
        }
        impl Cast<f16> for $type {
            #[inline_on_device]
            fn cast(self) -> f16 {
                f16::from_bits(convert::$to_halves(u16::from(self.to_bits())) as u16)
            }
            #[inline_on_device]
            fn cast_pair(low: $type, high: $type) -> [f16; 2] {
                let pair = convert::$to_halves(u16::from_le_bytes([low.to_bits(), high.to_bits()]));
                [f16::from_bits(pair as u16), f16::from_bits((pair >> 16) as u16)]
            }
        }
        impl Cast<bf16> for $type {
            #[inline_on_device]
            fn cast(self) -> bf16 {
                Cast::<f32>::cast(self).cast()
            }
            #[inline_on_device]
            fn cast_pair(low: $type, high: $type) -> [bf16; 2] {
                let [low, high]: [f32; 2] = Cast::cast_pair(low, high);
                Cast::cast_pair(low, high)
            }
        }
    )* };
}
paired! {
    f8e4m3, f32_pair_to_e4m3x2, f16x2_to_e4m3x2, e4m3x2_to_f32_pair, e4m3x2_to_f16x2;
    f8e5m2, f32_pair_to_e5m2x2, f16x2_to_e5m2x2, e5m2x2_to_f32_pair, e5m2x2_to_f16x2;
}
