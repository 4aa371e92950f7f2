//! Argument reduction of f64 by multiples of π/2.

use crate::arch::float::fma_f64;

/// Below this the quotient has at most 20 bits, and three parts of π/2 are enough for every f64.
const COUNTABLE: f64 = 1_000_000.0;

/// π/2 as the sum of three f64.
const FRAC_PI_2_HIGH: f64 = core::f64::consts::FRAC_PI_2;
const FRAC_PI_2_MIDDLE: f64 = 6.123_233_995_736_766e-17;
const FRAC_PI_2_LOW: f64 = -1.497_384_904_859_169_8e-33;

/// An argument reduced: `quadrant · π/2 + high + low`, with `|high| <= π/4` up to rounding and `low` its
/// rounding error.
#[derive(Clone, Copy)]
pub(super) struct Reduced {
    pub(super) high: f64,
    pub(super) low: f64,
    /// Only the two low bits count.
    pub(super) quadrant: u32,
}

/// Reduces `x`. NaN and infinities give NaN.
#[inline_on_device]
pub(super) fn reduce(x: f64) -> Reduced {
    if x.abs() < COUNTABLE { reduce_countable(x) } else { reduce_large(x) }
}

/// Three steps of W. J. Cody and W. Waite's reduction ("Software Manual for the Elementary Functions", 1980),
/// fused, with the rounding error of each kept.
#[inline_on_device]
fn reduce_countable(x: f64) -> Reduced {
    /// Adding this rounds to an integer and leaves it in the low bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let shifted = fma_f64(x, core::f64::consts::FRAC_2_PI, SHIFT);
    let quotient = shifted - SHIFT;
    // Exact: both sides are multiples of the same unit, and the difference is small.
    let first = fma_f64(quotient, -FRAC_PI_2_HIGH, x);
    let product = quotient * FRAC_PI_2_MIDDLE;
    let product_error = fma_f64(quotient, FRAC_PI_2_MIDDLE, -product);
    let second = first - product;
    // What the subtraction rounded away (D. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B):
    // `first` may be the smaller one.
    let product_part = first - second;
    let first_part = second + product_part;
    let second_error = (first - first_part) + (product_part - product);
    let tail = fma_f64(quotient, -FRAC_PI_2_LOW, second_error - product_error);
    let high = second + tail;
    Reduced { high, low: (second - high) + tail, quadrant: shifted.to_bits() as u32 }
}

/// 2/π after 64 zero bits: enough for the largest exponent. A static would keep all kernels that use it from the short way of the builder.
const TWO_OVER_PI: &[u64; 20] = &[
    0x0000_0000_0000_0000,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
];

/// M. Payne and R. Hanek's reduction ("Radian reduction for trigonometric functions", 1983) in integers: of
/// the bits of 2/π only those that matter for the product modulo 4 are multiplied. For an f64 these are 192
/// bits.
#[inline_on_device]
fn reduce_large(x: f64) -> Reduced {
    const SIGNIFICAND_BITS: u32 = 52;
    let bits = x.to_bits();
    let exponent = (bits >> SIGNIFICAND_BITS) as u32 & 0x7ff;
    let significand = bits & ((1 << SIGNIFICAND_BITS) - 1) | 1 << SIGNIFICAND_BITS;

    // x is `significand · 2^(exponent - 1075)`. Bits of 2/π whose product with it is a multiple of 4 are
    // skipped: 1013 positions below the exponent field is where they end.
    let skipped = exponent.wrapping_sub(1013);
    let first = (skipped >> 6) as usize;
    let word = |i: usize| TWO_OVER_PI.get(first + i).copied().unwrap_or(0);
    let funnel = |high: u64, low: u64| (((high as u128) << 64 | low as u128) << (skipped & 63) >> 64) as u64;
    let (w0, w1, w2, w3) = (word(0), word(1), word(2), word(3));
    let (w0, w1, w2) = (funnel(w0, w1), funnel(w1, w2), funnel(w2, w3));

    // The product modulo 2^192; its unit is 2^-190, so that the two top bits are the quadrant.
    let low = significand as u128 * w2 as u128;
    let middle = significand as u128 * w1 as u128 + (low >> 64);
    let high = significand.wrapping_mul(w0).wrapping_add((middle >> 64) as u64);
    let top = (high as u128) << 64 | middle as u64 as u128;
    let fraction = top << 2 | (low as u64 >> 62) as u128;
    // A fraction of one half or more belongs to the next quadrant, from below.
    let beyond_half = (fraction >> 127) as u32;
    let quadrant = (high >> 62) as u32 + beyond_half;
    let negative = (beyond_half != 0) != x.is_sign_negative();
    let magnitude = if beyond_half != 0 { fraction.wrapping_neg() } else { fraction };

    // The fraction's first 53 bits and the 53 after them, as floats. No f64 is so close to a multiple of π/2
    // that the first 64 bits are zero.
    let zeros = magnitude.leading_zeros();
    let normal = magnitude << (zeros & 127);
    let unit = f64::from_bits(((1023 - 53 - zeros) as u64) << SIGNIFICAND_BITS);
    let leading = (normal >> 75) as u64 as f64 * unit;
    let following = ((normal >> 22) as u64 & ((1 << 53) - 1)) as f64 * unit * (1.0 / 9_007_199_254_740_992.0);
    let product = leading * FRAC_PI_2_HIGH;
    let tail = fma_f64(leading, FRAC_PI_2_HIGH, -product)
        + fma_f64(leading, FRAC_PI_2_MIDDLE, following * FRAC_PI_2_HIGH);
    let high = product + tail;
    let low = (product - high) + tail;

    if !x.is_finite() {
        return Reduced { high: f64::NAN, low: 0.0, quadrant: 0 };
    }
    Reduced {
        high: if negative { -high } else { high },
        low: if negative { -low } else { low },
        quadrant: if x.is_sign_negative() { quadrant.wrapping_neg() } else { quadrant },
    }
}
