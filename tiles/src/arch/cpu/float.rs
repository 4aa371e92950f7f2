//! The floating-point instructions of `arch/ptx/float.rs` on the CPU: same names, same results.
//!
//! Exact instructions are exact here too. The functions named `approximate` compute accurately: a CPU has no
//! use for their shortcuts, so tests on the CPU see the better of the results that the ISA allows. A NaN from
//! the minimum or maximum of f32 or from a conversion of f32 to 16 bits is the ISA's canonical NaN; the
//! payload of other NaNs is not specified on either side.

/// Whether the elementary functions of [`crate::math`] come from the `libm` crate: on a CPU it is the fastest
/// choice.
pub const HAS_LIBM: bool = true;

/// The NaN that PTX instructions return for f32.
const CANONICAL_NAN_F32: f32 = f32::from_bits(0x7fff_ffff);
/// The NaN that PTX instructions return for f16.
const CANONICAL_NAN_F16: u16 = 0x7fff;
/// The NaN that PTX instructions return for bf16.
const CANONICAL_NAN_BF16: u16 = 0x7fff;

/// `a + b` rounded, and what rounding took away, exactly (D. Knuth, The Art of Computer Programming 2, 4.2.2,
/// theorem B).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// The exact value of `sum + error` as an f32 rounded to odd: exact, or cut off with the lowest bit set.
/// Rounded again to 16 bits, it gives what one rounding would (S. Boldo, G. Melquiond, "When double rounding
/// is odd", 2005).
fn round_to_odd(sum: f64, error: f64) -> f32 {
    let truncated = f64_to_f32_toward_zero(if error != 0.0 && (error < 0.0) == (sum > 0.0) {
        // The exact value lies on the side of zero: what is cut off must be cut off from there.
        f64::from_bits(sum.to_bits() - 1)
    } else {
        sum
    });
    let inexact = (truncated as f64 != sum || error != 0.0) && !sum.is_nan();
    f32::from_bits(truncated.to_bits() | inexact as u32)
}

/// `a * b + c`, rounded once to nearest even.
#[inline]
pub fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
    libm::fmaf(a, b, c)
}

/// `a * b + c`, rounded once toward negative infinity.
pub fn fma_round_down_f32(a: f32, b: f32, c: f32) -> f32 {
    // The product of two 24-bit significands is exact in 53 bits.
    let (sum, error) = two_sum(a as f64 * b as f64, c as f64);
    let nearest = sum as f32;
    let too_large = nearest as f64 > sum || (nearest as f64 == sum && error < 0.0);
    if too_large { nearest.next_down() } else { nearest }
}

/// `a * b + c`, rounded once to nearest even and clamped to `[0, 1]`; a NaN becomes 0.
pub fn fma_saturating_f32(a: f32, b: f32, c: f32) -> f32 {
    let value = libm::fmaf(a, b, c);
    if value > 0.0 { if value < 1.0 { value } else { 1.0 } } else { 0.0 }
}

/// `a * b + c`, rounded once to nearest even.
#[inline]
pub fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
    libm::fma(a, b, c)
}

/// Defines functions by an expression.
macro_rules! functions {
    ($($(#[$attribute:meta])* $name:ident($($operand:ident: $type:ty),*) -> $result:ty = $value:expr;)*) => {$(
        $(#[$attribute])*
        #[inline]
        pub fn $name($($operand: $type),*) -> $result {
            $value
        }
    )*};
}

functions! {
    /// Square root, correctly rounded.
    sqrt_f32(x: f32) -> f32 = libm::sqrtf(x);
    /// Square root, correctly rounded.
    sqrt_f64(x: f64) -> f64 = libm::sqrt(x);
    /// `x` to the next integer below.
    floor_f32(x: f32) -> f32 = libm::floorf(x);
    /// `x` to the next integer below.
    floor_f64(x: f64) -> f64 = libm::floor(x);
    /// `x` to the next integer above.
    ceil_f32(x: f32) -> f32 = libm::ceilf(x);
    /// `x` to the next integer above.
    ceil_f64(x: f64) -> f64 = libm::ceil(x);
    /// `x` without its fraction.
    truncate_f32(x: f32) -> f32 = libm::truncf(x);
    /// `x` without its fraction.
    truncate_f64(x: f64) -> f64 = libm::trunc(x);
    /// `x` to the nearest integer, halves to the even one.
    round_even_f32(x: f32) -> f32 = libm::rintf(x);
    /// `x` to the nearest integer, halves to the even one.
    round_even_f64(x: f64) -> f64 = libm::rint(x);
}

/// Defines the two minima or maxima of one type: one where a NaN gives way to a number and one where it wins.
/// `$less` is the comparison; of two zeros the one whose sign is `$negative` wins.
macro_rules! extrema {
    ($extreme:literal, $suppress:ident, $propagate:ident: $type:ty, $less:tt, $negative:literal, $nan:expr) => {
        #[doc = concat!("The ", $extreme, "; a NaN gives way to a number. −0 is smaller than +0.")]
        #[inline]
        pub fn $suppress(a: $type, b: $type) -> $type {
            if a.is_nan() {
                if b.is_nan() { $nan } else { b }
            } else if b.is_nan() || a $less b || (a == b && a.is_sign_negative() == $negative) {
                a
            } else {
                b
            }
        }

        #[doc = concat!("The ", $extreme, ", or NaN if there is a NaN. −0 is smaller than +0.")]
        #[inline]
        pub fn $propagate(a: $type, b: $type) -> $type {
            if a.is_nan() || b.is_nan() { $nan } else { $suppress(a, b) }
        }
    };
}

extrema!("smaller one", min_f32, min_nan_f32: f32, <, true, CANONICAL_NAN_F32);
extrema!("larger one", max_f32, max_nan_f32: f32, >, false, CANONICAL_NAN_F32);
extrema!("smaller one", min_f64, min_nan_f64: f64, <, true, f64::NAN);
extrema!("larger one", max_f64, max_nan_f64: f64, >, false, f64::NAN);

/// A subnormal number becomes a zero of its sign, as with `.ftz`.
fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

functions! {
    /// `2^x`; subnormal operands and results are kept.
    exp2_approximate_f32(x: f32) -> f32 = libm::exp2f(x);
    /// `2^x`; subnormal operands and results become zero.
    exp2_approximate_flush_f32(x: f32) -> f32 = flush(libm::exp2f(flush(x)));
    /// `log2(x)`.
    log2_approximate_f32(x: f32) -> f32 = libm::log2f(x);
    /// `sin(x)`.
    sin_approximate_f32(x: f32) -> f32 = libm::sinf(x);
    /// `cos(x)`.
    cos_approximate_f32(x: f32) -> f32 = libm::cosf(x);
    /// `tanh(x)`.
    tanh_approximate_f32(x: f32) -> f32 = libm::tanhf(x);
    /// `1 / sqrt(x)`; subnormal operands are kept.
    rsqrt_approximate_f32(x: f32) -> f32 = (1.0 / libm::sqrt(x as f64)) as f32;
    /// `1 / sqrt(x)`; subnormal operands count as zero.
    rsqrt_approximate_flush_f32(x: f32) -> f32 = rsqrt_approximate_f32(flush(x));
    /// `sqrt(x)`; subnormal operands are kept.
    sqrt_approximate_f32(x: f32) -> f32 = libm::sqrtf(x);
    /// `1 / x`; subnormal operands and results are kept.
    reciprocal_approximate_f32(x: f32) -> f32 = 1.0 / x;
    /// `1 / x`; subnormal operands and results become zero.
    reciprocal_approximate_flush_f32(x: f32) -> f32 = flush(1.0 / flush(x));
    /// `a / b`, also where the device returns 0 because |b| is above 2¹²⁶.
    divide_approximate_f32(a: f32, b: f32) -> f32 = a / b;
    /// `a / b`.
    divide_full_f32(a: f32, b: f32) -> f32 = a / b;
}

functions! {
    /// `2^x` of an f16.
    exp2_approximate_f16(x: u16) -> u16 = f32_to_f16(libm::exp2f(f16_to_f32(x)));
    /// `tanh(x)` of an f16.
    tanh_approximate_f16(x: u16) -> u16 = f32_to_f16(libm::tanhf(f16_to_f32(x)));
    /// `2^x` of a bf16; subnormal operands and results become zero.
    exp2_approximate_bf16(x: u16) -> u16 = f32_to_bf16(exp2_approximate_flush_f32(bf16_to_f32(x)));
    /// `tanh(x)` of a bf16.
    tanh_approximate_bf16(x: u16) -> u16 = f32_to_bf16(libm::tanhf(bf16_to_f32(x)));
}

functions! {
    /// An f16 as an f32, exactly.
    f16_to_f32(x: u16) -> f32 = half::f16::from_bits(x).to_f32();
    /// An f16 as an f64, exactly.
    f16_to_f64(x: u16) -> f64 = f16_to_f32(x) as f64;
    /// The f16 nearest to `x`, ties to even.
    f32_to_f16(x: f32) -> u16 = if x.is_nan() { CANONICAL_NAN_F16 } else { half::f16::from_f32(x).to_bits() };
    /// The f16 nearest to `x`, ties to even, in one rounding. (`half::f16::from_f64` ignores the lowest 32
    /// bits of `x`.)
    f64_to_f16(x: f64) -> u16 = f32_to_f16(round_to_odd(x, 0.0));
    /// An f32's upper half is a bf16: a bf16 as an f32, exactly.
    bf16_to_f32(x: u16) -> f32 = f32::from_bits((x as u32) << 16);
    /// The bf16 nearest to `x`, ties to even.
    f32_to_bf16(x: f32) -> u16 =
        if x.is_nan() { CANONICAL_NAN_BF16 } else { half::bf16::from_f32(x).to_bits() };
    /// The bf16 nearest to `x`, ties to even, in one rounding.
    f64_to_bf16(x: f64) -> u16 = f32_to_bf16(round_to_odd(x, 0.0));
    /// Two f32 as a pair of f16, ties to even. The instruction takes the high half first, so `high` comes
    /// first here too.
    f32_pair_to_f16x2(high: f32, low: f32) -> u32 = pair(f32_to_f16(high), f32_to_f16(low));
    /// Two f32 as a pair of bf16, ties to even, `high` first.
    f32_pair_to_bf16x2(high: f32, low: f32) -> u32 = pair(f32_to_bf16(high), f32_to_bf16(low));
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f32_to_i32(x: f32) -> i32 = x as i32;
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f32_to_u32(x: f32) -> u32 = x as u32;
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f32_to_i64(x: f32) -> i64 = x as i64;
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f32_to_u64(x: f32) -> u64 = x as u64;
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f64_to_i32(x: f64) -> i32 = x as i32;
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f64_to_u32(x: f64) -> u32 = x as u32;
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f64_to_i64(x: f64) -> i64 = x as i64;
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f64_to_u64(x: f64) -> u64 = x as u64;
}

/// The f32 next to `x` on the side of zero.
pub fn f64_to_f32_toward_zero(x: f64) -> f32 {
    let nearest = x as f32;
    if (nearest as f64).abs() > x.abs() && x.is_finite() {
        f32::from_bits(nearest.to_bits() - 1)
    } else {
        nearest
    }
}

/// Defines the arithmetic of a 16-bit format. An f32 sum, difference or product of two of them, rounded
/// again, equals the value rounded once, because 24 bits are at least 2 × 11 + 2 (S. Figueroa, "When is
/// double rounding innocuous?", 1995). The fused multiply-add has no such luck and goes through round-to-odd.
macro_rules! half_arithmetic {
    (
        $name:literal, $to:ident, $from:ident, $add:ident, $subtract:ident, $multiply:ident, $fma:ident, $min:ident,
        $max:ident, $min_nan:ident, $max_nan:ident
    ) => {
        functions! {
            #[doc = concat!("`a + b` of ", $name, ", rounded once.")]
            $add(a: u16, b: u16) -> u16 = $from($to(a) + $to(b));
            #[doc = concat!("`a - b` of ", $name, ", rounded once.")]
            $subtract(a: u16, b: u16) -> u16 = $from($to(a) - $to(b));
            #[doc = concat!("`a * b` of ", $name, ", rounded once.")]
            $multiply(a: u16, b: u16) -> u16 = $from($to(a) * $to(b));
            #[doc = concat!("`a * b + c` of ", $name, ", rounded once.")]
            $fma(a: u16, b: u16, c: u16) -> u16 = {
                let (sum, error) = two_sum($to(a) as f64 * $to(b) as f64, $to(c) as f64);
                $from(if sum.is_finite() { round_to_odd(sum, error) } else { sum as f32 })
            };
            #[doc = concat!("The smaller ", $name, "; a NaN gives way to a number. −0 is smaller than +0.")]
            $min(a: u16, b: u16) -> u16 = $from(min_f32($to(a), $to(b)));
            #[doc = concat!("The larger ", $name, "; a NaN gives way to a number. +0 is larger than −0.")]
            $max(a: u16, b: u16) -> u16 = $from(max_f32($to(a), $to(b)));
            #[doc = concat!("The smaller ", $name, ", or NaN if there is a NaN.")]
            $min_nan(a: u16, b: u16) -> u16 = $from(min_nan_f32($to(a), $to(b)));
            #[doc = concat!("The larger ", $name, ", or NaN if there is a NaN.")]
            $max_nan(a: u16, b: u16) -> u16 = $from(max_nan_f32($to(a), $to(b)));
        }
    };
}

half_arithmetic!(
    "f16",
    f16_to_f32,
    f32_to_f16,
    add_f16,
    subtract_f16,
    multiply_f16,
    fma_f16,
    min_f16,
    max_f16,
    min_nan_f16,
    max_nan_f16
);
half_arithmetic!(
    "bf16",
    bf16_to_f32,
    f32_to_bf16,
    add_bf16,
    subtract_bf16,
    multiply_bf16,
    fma_bf16,
    min_bf16,
    max_bf16,
    min_nan_bf16,
    max_nan_bf16
);

/// Two 16-bit values as a pair.
fn pair(high: u16, low: u16) -> u32 {
    (high as u32) << 16 | low as u32
}

/// Defines the operations on pairs of 16-bit values by those on single ones.
macro_rules! pairs {
    ($($(#[$attribute:meta])* $name:ident($($operand:ident),*) = $single:ident;)*) => {
        functions! {$(
            $(#[$attribute])*
            $name($($operand: u32),*) -> u32 =
                pair($single($(($operand >> 16) as u16),*), $single($($operand as u16),*));
        )*}
    };
}

pairs! {
    /// `2^x` of an f16 pair.
    exp2_approximate_f16x2(x) = exp2_approximate_f16;
    /// `tanh(x)` of an f16 pair.
    tanh_approximate_f16x2(x) = tanh_approximate_f16;
    /// `2^x` of a bf16 pair; subnormal operands and results become zero.
    exp2_approximate_bf16x2(x) = exp2_approximate_bf16;
    /// `tanh(x)` of a bf16 pair.
    tanh_approximate_bf16x2(x) = tanh_approximate_bf16;
    /// `a + b` of two f16 pairs.
    add_f16x2(a, b) = add_f16;
    /// `a - b` of two f16 pairs.
    subtract_f16x2(a, b) = subtract_f16;
    /// `a * b` of two f16 pairs.
    multiply_f16x2(a, b) = multiply_f16;
    /// `a * b + c` of three f16 pairs.
    fma_f16x2(a, b, c) = fma_f16;
    /// The smaller ones of two f16 pairs; a NaN gives way to a number.
    min_f16x2(a, b) = min_f16;
    /// The larger ones of two f16 pairs; a NaN gives way to a number.
    max_f16x2(a, b) = max_f16;
    /// `a + b` of two bf16 pairs.
    add_bf16x2(a, b) = add_bf16;
    /// `a - b` of two bf16 pairs.
    subtract_bf16x2(a, b) = subtract_bf16;
    /// `a * b` of two bf16 pairs.
    multiply_bf16x2(a, b) = multiply_bf16;
    /// `a * b + c` of three bf16 pairs.
    fma_bf16x2(a, b, c) = fma_bf16;
    /// The smaller ones of two bf16 pairs; a NaN gives way to a number.
    min_bf16x2(a, b) = min_bf16;
    /// The larger ones of two bf16 pairs; a NaN gives way to a number.
    max_bf16x2(a, b) = max_bf16;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The f16 or bf16 nearest to `x` by search among all finite values: independent of the code under test.
    fn nearest(x: f64, to_f32: fn(u16) -> f32) -> u16 {
        let distance = |bits: u16| (to_f32(bits) as f64 - x).abs();
        let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
        (0..0x8000u16)
            .map(|bits| bits | sign)
            .filter(|&bits| to_f32(bits).is_finite())
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1))))
            .expect("there are finite values")
    }

    #[test]
    fn conversions_from_f64_round_once() {
        // Just above and below the middle of two neighbours, by less than an f32 can tell.
        for middle in
            [1.0 + 2f64.powi(-11), 1.0 + 3.0 * 2f64.powi(-11), -2f64.powi(-25), 1.5 * 2f64.powi(-24)]
        {
            for nudge in [0.0, 2f64.powi(-52), -2f64.powi(-52)] {
                let x = middle * (1.0 + nudge);
                assert_eq!(f64_to_f16(x), nearest(x, f16_to_f32), "{x:e} as f16");
            }
        }
        for middle in [1.0 + 2f64.powi(-8), 1.0 + 3.0 * 2f64.powi(-8), -2f64.powi(-134)] {
            for nudge in [0.0, 2f64.powi(-52), -2f64.powi(-52)] {
                let x = middle * (1.0 + nudge);
                assert_eq!(f64_to_bf16(x), nearest(x, bf16_to_f32), "{x:e} as bf16");
            }
        }
        assert_eq!(f64_to_f16(1e300), 0x7c00);
        assert_eq!(f64_to_f16(f64::NEG_INFINITY), 0xfc00);
        assert_eq!(f64_to_bf16(1e300), 0x7f80);
    }

    #[test]
    fn half_fma_rounds_once() {
        let f16 = |x: f64| f64_to_f16(x);
        // 2048 · 1 + 1 lies between two f16, and so does 2048 + 1 + 2^-24, but not in their middle.
        assert_eq!(fma_f16(f16(2048.0), f16(1.0), f16(1.0)), f16(2048.0));
        let above = 1.0 + 2f64.powi(-10);
        assert_eq!(fma_f16(f16(above), f16(above), f16(2048.0)), f16(2050.0));
        // (1 + 2^-10)(1 - 2^-10) - 1 is -2^-20: the product alone would round to 1.
        assert_eq!(fma_f16(f16(above), f16(1.0 - 2f64.powi(-10)), f16(-1.0)), f16(-2f64.powi(-20)));
        assert_eq!(fma_bf16(0x7f80, 0x0000, 0x3f80), 0x7fff);
        assert_eq!(fma_bf16(0x7f80, 0x3f80, 0x3f80), 0x7f80);
    }

    #[test]
    fn directed_and_saturating_fma() {
        let epsilon = f32::EPSILON;
        assert_eq!(fma_round_down_f32(1.0, 1.0, epsilon / 4.0), 1.0);
        assert_eq!(fma_round_down_f32(1.0, 1.0, -epsilon / 8.0), 1.0f32.next_down());
        assert_eq!(fma_round_down_f32(1.0, 1.0, -1e-30), 1.0f32.next_down());
        assert_eq!(fma_round_down_f32(f32::MAX, 2.0, 0.0), f32::MAX);
        assert_eq!(fma_round_down_f32(f32::INFINITY, 1.0, 0.0), f32::INFINITY);
        for (x, expected) in [(-1.0, 0.0), (0.5, 0.5), (2.0, 1.0), (f32::NAN, 0.0)] {
            assert_eq!(fma_saturating_f32(x, 1.0, 0.0), expected);
        }
    }

    #[test]
    fn extrema_of_zeros_and_nans() {
        assert!(min_f32(0.0, -0.0).is_sign_negative() && min_f32(-0.0, 0.0).is_sign_negative());
        assert!(max_f32(0.0, -0.0).is_sign_positive() && max_f32(-0.0, 0.0).is_sign_positive());
        assert_eq!(min_f32(f32::NAN, 3.0), 3.0);
        assert_eq!(max_f64(3.0, f64::NAN), 3.0);
        assert_eq!(min_nan_f32(f32::NAN, 3.0).to_bits(), 0x7fff_ffff);
        assert!(max_nan_f64(3.0, f64::NAN).is_nan());
        assert_eq!(max_f16x2(0x3c00_7e00, 0x4000_3c00), 0x4000_3c00);
    }
}
