//! Elementary functions of f32: accurate ones, and approximate ones that are one or two instructions on the
//! device.

use core::f32::consts::{LN_2, LOG2_E};

use super::device::single as device;
use crate::arch::float as arch;

/// Defines functions that are `libm`'s on the CPU and ours on the device.
macro_rules! elementary {
    ($($(#[$attribute:meta])* $name:ident = $libm:ident;)*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        pub fn $name(x: f32) -> f32 {
            if arch::HAS_LIBM { libm::$libm(x) } else { device::$name(x) }
        }
    )*};
}

elementary! {
    /// `e^x`, within 2 ulp.
    exp = expf;
    /// `2^x`, within 2.1 ulp.
    exp2 = exp2f;
    /// Natural logarithm, within 1 ulp.
    log = logf;
    /// Logarithm to base 2, within 1.1 ulp.
    log2 = log2f;
    /// Sine of `x` radians, within 2 ulp for every finite `x`.
    sin = sinf;
    /// Cosine of `x` radians, within 2 ulp for every finite `x`.
    cos = cosf;
    /// Tangent of `x` radians, within 3.1 ulp for every finite `x`.
    tan = tanf;
}

/// Hyperbolic tangent, within 2 ulp.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    // `libm::tanhf` is up to 2.2 ulp off.
    if arch::HAS_LIBM { libm::tanh(x as f64) as f32 } else { device::tanh(x) }
}

/// Square root, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    arch::sqrt_f32(x)
}

/// `1 / sqrt(x)`, within 2 ulp; +∞ for +0 and −∞ for −0.
#[inline(always)]
pub fn rsqrt(x: f32) -> f32 {
    arch::rsqrt_approximate_f32(x)
}

/// The largest integer not above `x`.
#[inline(always)]
pub fn floor(x: f32) -> f32 {
    arch::floor_f32(x)
}

/// `x` without its fraction.
#[inline(always)]
pub fn trunc(x: f32) -> f32 {
    arch::truncate_f32(x)
}

/// The integer nearest to `x`, halves to the even one.
#[inline(always)]
pub fn round_even(x: f32) -> f32 {
    arch::round_even_f32(x)
}

/// The smallest integer not below `x`.
#[inline(always)]
pub fn ceil(x: f32) -> f32 {
    arch::ceil_f32(x)
}

/// `e^x` as `2^(x · log2 e)`: the relative error is below 2⁻²² + |x| · 2⁻²³. Subnormal results become zero.
#[inline(always)]
pub fn exp_approximate(x: f32) -> f32 {
    arch::exp2_approximate_flush_f32(x * LOG2_E)
}

/// `2^x` with a relative error below 2⁻²². Subnormal results become zero.
#[inline(always)]
pub fn exp2_approximate(x: f32) -> f32 {
    arch::exp2_approximate_flush_f32(x)
}

/// Natural logarithm with an absolute error below 2⁻²² for x in (0.5, 2), else with a relative error below
/// 2⁻²¹.
#[inline(always)]
pub fn log_approximate(x: f32) -> f32 {
    arch::log2_approximate_f32(x) * LN_2
}

/// Logarithm to base 2 with an absolute error below 2⁻²² for x in (0.5, 2), else with a relative error below
/// 2⁻²².
#[inline(always)]
pub fn log2_approximate(x: f32) -> f32 {
    arch::log2_approximate_f32(x)
}

/// Sine with an absolute error below 2⁻²⁰ in [−2π, 2π]. Beyond, the error grows with |x|.
#[inline(always)]
pub fn sin_approximate(x: f32) -> f32 {
    arch::sin_approximate_f32(x)
}

/// Cosine with an absolute error below 2⁻²⁰ in [−2π, 2π]. Beyond, the error grows with |x|.
#[inline(always)]
pub fn cos_approximate(x: f32) -> f32 {
    arch::cos_approximate_f32(x)
}

/// Hyperbolic tangent with a relative error below 2⁻¹¹.
#[inline(always)]
pub fn tanh_approximate(x: f32) -> f32 {
    arch::tanh_approximate_f32(x)
}

/// `1 / sqrt(x)` within 2 ulp. Subnormal operands count as zero.
#[inline(always)]
pub fn rsqrt_approximate(x: f32) -> f32 {
    arch::rsqrt_approximate_flush_f32(x)
}

/// `1 / x` within 1 ulp. Subnormal operands and results become zero.
#[inline(always)]
pub fn reciprocal_approximate(x: f32) -> f32 {
    arch::reciprocal_approximate_flush_f32(x)
}

/// `a / b` within 2 ulp for |b| in [2⁻¹²⁶, 2¹²⁶]. For larger |b| the device returns 0, or NaN if `a` is
/// infinite.
#[inline(always)]
pub fn divide_approximate(a: f32, b: f32) -> f32 {
    arch::divide_approximate_f32(a, b)
}
