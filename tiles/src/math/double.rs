//! Elementary functions of f64.

use super::device::double as device;
use crate::arch::float as arch;

/// Defines functions that are `libm`'s on the CPU and ours on the device.
macro_rules! elementary {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        pub fn $name(x: f64) -> f64 {
            if arch::HAS_LIBM { libm::$name(x) } else { device::$name(x) }
        }
    )*};
}

elementary! {
    /// `e^x`, within 1 ulp.
    exp;
    /// `2^x`, within 1 ulp.
    exp2;
    /// Natural logarithm, within 1 ulp.
    log;
    /// Logarithm to base 2, within 1 ulp.
    log2;
    /// Sine of `x` radians, within 1 ulp for every finite `x`.
    sin;
    /// Cosine of `x` radians, within 1 ulp for every finite `x`.
    cos;
    /// Tangent of `x` radians, within 2.5 ulp for every finite `x`.
    tan;
}

/// Hyperbolic tangent, within 2 ulp. The same code for both back ends: `libm::tanh` is up to 2.2 ulp off.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    device::tanh(x)
}

/// Square root, correctly rounded.
#[inline(always)]
pub fn sqrt(x: f64) -> f64 {
    arch::sqrt_f64(x)
}

/// `1 / sqrt(x)`, within 1 ulp; +∞ for +0 and −∞ for −0.
#[inline(always)]
pub fn rsqrt(x: f64) -> f64 {
    1.0 / arch::sqrt_f64(x)
}

/// The largest integer not above `x`.
#[inline(always)]
pub fn floor(x: f64) -> f64 {
    arch::floor_f64(x)
}

/// `x` without its fraction.
#[inline(always)]
pub fn trunc(x: f64) -> f64 {
    arch::truncate_f64(x)
}

/// The integer nearest to `x`, halves to the even one.
#[inline(always)]
pub fn round_even(x: f64) -> f64 {
    arch::round_even_f64(x)
}

/// The smallest integer not below `x`.
#[inline(always)]
pub fn ceil(x: f64) -> f64 {
    arch::ceil_f64(x)
}
