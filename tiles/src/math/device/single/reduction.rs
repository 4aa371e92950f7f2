//! Argument reduction of f32 by multiples of π/2.

use crate::arch::float::fma_f32;

/// Below this the quotient has at most 17 bits, and three parts of π/2 are enough for every f32.
const COUNTABLE: f32 = 105_615.0;

/// `x` as `quadrant · π/2 + r` with `|r| <= π/4` up to rounding: `(r, quadrant)`, of which only the two low
/// bits of the quadrant count. NaN and infinities give NaN.
#[inline_on_device]
pub(super) fn reduce(x: f32) -> (f32, u32) {
    if x.abs() < COUNTABLE { reduce_countable(x) } else { reduce_large(x) }
}

/// Three steps of W. J. Cody and W. Waite's reduction ("Software Manual for the Elementary Functions", 1980),
/// fused: the first one is exact, and the third reaches 2⁻⁷³. All parts of π/2 are positive, so that −0 stays
/// −0.
#[inline_on_device]
fn reduce_countable(x: f32) -> (f32, u32) {
    const FRAC_PI_2_HIGH: f32 = core::f32::consts::FRAC_PI_2.next_down();
    /// Adding this rounds to an integer and leaves it in the low bits.
    const SHIFT: f32 = 12_582_912.0;
    let shifted = fma_f32(x, core::f32::consts::FRAC_2_PI, SHIFT);
    let quotient = shifted - SHIFT;
    let r = fma_f32(quotient, -FRAC_PI_2_HIGH, x);
    let r = fma_f32(quotient, -7.549_789_4e-8, r);
    let r = fma_f32(quotient, -5.390_303e-15, r);
    (r, shifted.to_bits())
}

/// M. Payne and R. Hanek's reduction ("Radian reduction for trigonometric functions", 1983) in integers: of
/// the bits of 2/π only those that matter for the product modulo 4 are multiplied. For an f32 these are 96
/// bits, cut out of the first seven words.
#[inline_on_device]
fn reduce_large(x: f32) -> (f32, u32) {
    const SIGNIFICAND_BITS: u32 = 23;
    let bits = x.to_bits();
    let exponent = (bits >> SIGNIFICAND_BITS) & 0xff;
    let significand = (bits & 0x7f_ffff | 0x80_0000) as u64;

    // x is `significand · 2^(exponent - 150)`. Bits of 2/π whose product with it is a multiple of 4 are
    // skipped: 136 positions below the exponent field is where they end.
    let skipped = exponent.wrapping_sub(136);
    // Four words of 2/π, which begins after 16 zero bits. They are chosen by comparisons: an array indexed at
    // run time would be a table in memory.
    let far = skipped & 64 != 0;
    let choose = |far_word: u32, near_word: u32| if far { far_word } else { near_word };
    let w0 = choose(0x1529_fc27, 0x0000_a2f9);
    let w1 = choose(0x57d1_f534, 0x836e_4e44);
    let w2 = choose(0xddc0_db62, 0x1529_fc27);
    let w3 = choose(0x9599_3c43, 0x57d1_f534);
    let w4 = choose(0x9041_fe51, 0xddc0_db62);
    let odd = skipped & 32 != 0;
    let choose = |odd_word: u32, even_word: u32| if odd { odd_word } else { even_word };
    let (w0, w1, w2, w3) = (choose(w1, w0), choose(w2, w1), choose(w3, w2), choose(w4, w3));
    let funnel = |high: u32, low: u32| (((high as u64) << 32 | low as u64) << (skipped & 31) >> 32) as u32;
    let (w0, w1, w2) = (funnel(w0, w1), funnel(w1, w2), funnel(w2, w3));

    // The product modulo 2^96; its unit is 2^-94, so that the two top bits are the quadrant.
    let low = significand * w2 as u64;
    let middle = significand * w1 as u64 + (low >> 32);
    let high = (significand as u32).wrapping_mul(w0).wrapping_add((middle >> 32) as u32);
    let top = (high as u64) << 32 | (middle & 0xffff_ffff);
    let fraction = top << 2 | ((low as u32) >> 30) as u64;
    // A fraction of one half or more belongs to the next quadrant, from below: as a signed number it is
    // negative.
    let quadrant = (top >> 62) as u32 + (fraction >> 63) as u32;
    /// π/2 · 2^-64.
    const UNIT: f64 = core::f64::consts::FRAC_PI_2 / 18_446_744_073_709_551_616.0;
    let r = (fraction as i64 as f64 * UNIT) as f32;

    if !x.is_finite() {
        (f32::NAN, 0)
    } else if x.is_sign_negative() {
        (-r, quadrant.wrapping_neg())
    } else {
        (r, quadrant)
    }
}
