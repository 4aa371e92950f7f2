//! The conversions of `arch/ptx/convert.rs` on the CPU: same names, same results.

pub use crate::arch::minifloat::pairs::*;

use crate::arch::float::{f16_to_f32, f32_pair_to_f16x2, f32_to_f16, f64_to_f32_toward_zero};
use crate::arch::minifloat::E4M3;

/// The f32 next to `x` on the side of negative infinity.
pub fn f64_to_f32_toward_negative(x: f64) -> f32 {
    let cut = f64_to_f32_toward_zero(x);
    if f64::from(cut) > x { cut.next_down() } else { cut }
}

/// The f32 next to `x` on the side of positive infinity.
pub fn f64_to_f32_toward_positive(x: f64) -> f32 {
    let cut = f64_to_f32_toward_zero(x);
    if f64::from(cut) < x { cut.next_up() } else { cut }
}

/// The f16 next to `x` on the side of zero.
pub fn f32_to_f16_toward_zero(x: f32) -> u16 {
    let nearest = f32_to_f16(x);
    if f16_to_f32(nearest).abs() > x.abs() { nearest - 1 } else { nearest }
}

/// All bits set where `x` is negative, else none.
#[inline]
pub fn sign_mask_i16(x: i16) -> i16 {
    x >> 15
}

/// `x`, or the greatest u32 where it is larger.
#[inline]
pub fn saturate_u64_to_u32(x: u64) -> u32 {
    x.min(u64::from(u32::MAX)) as u32
}

/// The low word of `high` and `low`, taken as one number, shifted right by `bits` modulo 32.
pub fn funnel_shift_right(low: u32, high: u32, bits: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> (bits & 31)) as u32
}

/// A pair of f16 as a pair of E4M3, ties to even, saturated to the greatest number.
#[inline]
pub fn f16x2_to_e4m3x2(pair: u32) -> u16 {
    f32_pair_to_e4m3x2(f16_to_f32((pair >> 16) as u16), f16_to_f32(pair as u16))
}

/// A pair of f16 as a pair of E5M2, ties to even, saturated to the greatest number.
#[inline]
pub fn f16x2_to_e5m2x2(pair: u32) -> u16 {
    f32_pair_to_e5m2x2(f16_to_f32((pair >> 16) as u16), f16_to_f32(pair as u16))
}

/// A pair of E4M3 as a pair of f16, exactly.
#[inline]
pub fn e4m3x2_to_f16x2(pair: u16) -> u32 {
    f32_pair_to_f16x2(E4M3.decode((pair >> 8) as u8), E4M3.decode(pair as u8))
}

/// A pair of E5M2 as f32, the low one first, exactly.
#[inline]
pub fn e5m2x2_to_f32_pair(pair: u16) -> [f32; 2] {
    let halves = e5m2x2_to_f16x2(pair);
    [f16_to_f32(halves as u16), f16_to_f32((halves >> 16) as u16)]
}
