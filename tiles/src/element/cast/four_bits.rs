//! Conversions from and to the integers of four bits: by the integers of a byte, which hold all of them, and to the floats that
//! kernels multiply in without an instruction that converts.

use super::Cast;
use crate::arch::float as machine;
use crate::element::{bf16, f4e2m1, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, i4, tf32, u4};

/// `by` is the integer of a byte of the same signedness.
macro_rules! integers {
    ($($type:ident by $byte:ident $get:ident, other $other:ident;)*) => { $(
        casts! {
            $type to i8 i16 i32 i64 u8 u16 u32 u64: |value| value.$get() as _;
            $type to $other: |value| $other::from_bits(value.to_bits());
            $type to bool: |value| value.to_bits() != 0;
            $type to f64 tf32 f8e4m3 f8e5m2 f8ue5m3 f4e2m1: |value| value.$get().cast();
            bool to $type: |value| $type::from_bits(value.into());
        }
        integers! { @wrapped $type: i8 i16 i32 i64 u8 u16 u32 u64 }
        integers! { @saturated $type by $byte: f16 bf16 f32 f64 tf32 f8e4m3 f8e5m2 f8e8m0 f8ue5m3 f4e2m1 }
    )* };
    (@wrapped $type:ident: $($from:ident)*) => { casts! {
        $( $from to $type: |value| $type::from_bits(value as u8); )*
    } };
    // What a byte does not hold lies beyond four bits, too: to saturate twice is to saturate.
    (@saturated $type:ident by $byte:ident: $($from:ident)*) => { casts! {
        $( $from to $type: |value| $type::saturating(Cast::<$byte>::cast(value)); )*
    } };
}
integers! {
    i4 by i8 to_i8, other u4;
    u4 by u8 to_u8, other i4;
}

/// To floats by their bits: the bits of the integer stand in the lowest places of a power of two's mantissa, where they count as units,
/// and the power is subtracted. The sign of an `i4` turned round counts 8 more than the number, so that 8 goes with the power. Every step is
/// exact, and a zero positive. (Y. J. Kim et al., "Who Says Elephants Can't Run: Bringing Large Scale MoE Models into Cloud Scale
/// Production", 2022, section 3.3.) `base` is that power, and 8 in its lowest places for an `i4`.
macro_rules! by_bits {
    ($($from:ident to $to:ident: base $base:literal, $subtract:ident, $subtract_pair:ident;)*) => { $(
        impl Cast<$to> for $from {
            #[inline_on_device]
            fn cast(self) -> $to {
                $to::from_bits(machine::$subtract($base ^ u16::from(self.to_bits()), $base))
            }
            #[inline_on_device]
            fn cast_pair(low: Self, high: Self) -> [$to; 2] {
                const BASES: u32 = $base << 16 | $base;
                let pair = u32::from(high.to_bits()) << 16 | u32::from(low.to_bits());
                let pair = machine::$subtract_pair(BASES ^ pair, BASES);
                [$to::from_bits(pair as u16), $to::from_bits((pair >> 16) as u16)]
            }
        }
    )* };
    (singles $($from:ident: base $base:literal;)*) => { casts! {
        $( $from to f32: |value| f32::from_bits($base ^ u32::from(value.to_bits())) - f32::from_bits($base); )*
    } };
}
by_bits! {
    i4 to f16: base 0x6408, subtract_f16, subtract_f16x2;
    u4 to f16: base 0x6400, subtract_f16, subtract_f16x2;
    i4 to bf16: base 0x4308, subtract_bf16, subtract_bf16x2;
    u4 to bf16: base 0x4300, subtract_bf16, subtract_bf16x2;
}
by_bits! { singles
    i4: base 0x4b00_0008;
    u4: base 0x4b00_0000;
}
