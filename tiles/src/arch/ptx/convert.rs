//! Conversions between element types that rustc does not emit by itself: directed rounding, and FP8 in pairs (PTX ISA,
//! "Data Movement and Conversion Instructions: cvt").
//!
//! A pair is one integer with the first value in its low half. FP8 has instructions from `sm_90` on; for older
//! architectures the same bits come from integer arithmetic.

use crate::arch::float::f16_to_f32;
#[cfg(not(target_feature = "sm_90"))]
use crate::arch::float::f32_pair_to_f16x2;
#[cfg(not(target_feature = "sm_90"))]
use crate::arch::minifloat::E4M3;
use core::arch::asm;

/// Defines functions that consist of one instruction with register operands only.
macro_rules! instructions {
    ($(
        $(#[$attribute:meta])*
        $name:ident($($operand:ident: $type:ty => $class:ident),*) -> $result:ty => $result_class:ident =
            $template:literal;
    )*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        pub fn $name($($operand: $type),*) -> $result {
            let result: $result;
            // SAFETY: the instruction reads its operand registers and writes its result register; it touches
            // no memory, no stack and no state, and it is defined for every operand value.
            unsafe {
                asm!(
                    $template,
                    out($result_class) result,
                    $(in($class) $operand,)*
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            result
        }
    )*};
}

instructions! {
    /// The f32 next to `x` on the side of negative infinity.
    f64_to_f32_toward_negative(x: f64 => reg64) -> f32 => reg32 = "cvt.rm.f32.f64 {}, {};";
    /// The f32 next to `x` on the side of positive infinity.
    f64_to_f32_toward_positive(x: f64 => reg64) -> f32 => reg32 = "cvt.rp.f32.f64 {}, {};";
    /// The f16 next to `x` on the side of zero.
    f32_to_f16_toward_zero(x: f32 => reg32) -> u16 => reg16 = "cvt.rz.f16.f32 {}, {};";
}

instructions! {
    /// All bits set where `x` is negative, else none. The magnitude of an i16 goes by this, since ptxas takes the result of
    /// `abs.s16` for a number that is not negative, which of -32768 it is.
    sign_mask_i16(x: i16 => reg16) -> i16 => reg16 = "shr.s16 {}, {}, 15;";
    /// `x`, or the greatest u32 where it is larger. LLVM knows that shifts by 64 bits or more give zero, and of a u64 that it
    /// compares with 64 by itself takes the low word for the amount.
    saturate_u64_to_u32(x: u64 => reg64) -> u32 => reg32 = "cvt.sat.u32.u64 {}, {};";
    /// The low word of `high` and `low`, taken as one number, shifted right by `bits` modulo 32 (PTX ISA, "shf").
    funnel_shift_right(low: u32 => reg32, high: u32 => reg32, bits: u32 => reg32) -> u32 => reg32 =
        "shf.r.wrap.b32 {}, {}, {}, {};";
}

#[cfg(target_feature = "sm_90")]
instructions! {
    /// Two f32 as a pair of E4M3, ties to even, saturated to the greatest number, `high` first.
    f32_pair_to_e4m3x2(high: f32 => reg32, low: f32 => reg32) -> u16 => reg16 =
        "cvt.rn.satfinite.e4m3x2.f32 {}, {}, {};";
    /// Two f32 as a pair of E5M2, ties to even, saturated to the greatest number, `high` first.
    f32_pair_to_e5m2x2(high: f32 => reg32, low: f32 => reg32) -> u16 => reg16 =
        "cvt.rn.satfinite.e5m2x2.f32 {}, {}, {};";
    /// A pair of f16 as a pair of E4M3, ties to even, saturated to the greatest number.
    f16x2_to_e4m3x2(pair: u32 => reg32) -> u16 => reg16 = "cvt.rn.satfinite.e4m3x2.f16x2 {}, {};";
    /// A pair of f16 as a pair of E5M2, ties to even, saturated to the greatest number.
    f16x2_to_e5m2x2(pair: u32 => reg32) -> u16 => reg16 = "cvt.rn.satfinite.e5m2x2.f16x2 {}, {};";
    /// A pair of E4M3 as a pair of f16, exactly.
    e4m3x2_to_f16x2(pair: u16 => reg16) -> u32 => reg32 = "cvt.rn.f16x2.e4m3x2 {}, {};";
}

/// A pair of E4M3 as f32, the low one first, exactly.
#[cfg(target_feature = "sm_90")]
#[inline(always)]
pub fn e4m3x2_to_f32_pair(pair: u16) -> [f32; 2] {
    let halves = e4m3x2_to_f16x2(pair);
    [f16_to_f32(halves as u16), f16_to_f32((halves >> 16) as u16)]
}

#[cfg(target_feature = "sm_90")]
pub use crate::arch::minifloat::pairs::e5m2x2_to_f16x2;
#[cfg(not(target_feature = "sm_90"))]
pub use crate::arch::minifloat::pairs::*;

/// A pair of f16 as a pair of E4M3, ties to even, saturated to the greatest number.
#[cfg(not(target_feature = "sm_90"))]
#[inline(always)]
pub fn f16x2_to_e4m3x2(pair: u32) -> u16 {
    f32_pair_to_e4m3x2(f16_to_f32((pair >> 16) as u16), f16_to_f32(pair as u16))
}

/// A pair of f16 as a pair of E5M2, ties to even, saturated to the greatest number.
#[cfg(not(target_feature = "sm_90"))]
#[inline(always)]
pub fn f16x2_to_e5m2x2(pair: u32) -> u16 {
    f32_pair_to_e5m2x2(f16_to_f32((pair >> 16) as u16), f16_to_f32(pair as u16))
}

/// A pair of E4M3 as a pair of f16, exactly.
#[cfg(not(target_feature = "sm_90"))]
#[inline(always)]
pub fn e4m3x2_to_f16x2(pair: u16) -> u32 {
    f32_pair_to_f16x2(E4M3.decode((pair >> 8) as u8), E4M3.decode(pair as u8))
}

/// A pair of E5M2 as f32, the low one first, exactly.
#[inline(always)]
pub fn e5m2x2_to_f32_pair(pair: u16) -> [f32; 2] {
    let halves = e5m2x2_to_f16x2(pair);
    [f16_to_f32(halves as u16), f16_to_f32((halves >> 16) as u16)]
}
