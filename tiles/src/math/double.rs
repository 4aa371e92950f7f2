//! Elementary functions of f64.

use super::device::double as device;
use super::portable;
use crate::arch::float as arch;

/// Defines functions that are `libm`'s on the CPU and ours on the device.
macro_rules! elementary {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        #[inline_on_device]
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

/// Defines functions that have one algorithm for both back ends.
macro_rules! portable {
    ($($(#[$attribute:meta])* $name:ident($($operand:ident: $type:ty),*);)*) => {$(
        $(#[$attribute])*
        #[inline_on_device]
        pub fn $name($($operand: $type),*) -> f64 {
            portable::$name($($operand),*)
        }
    )*};
}

portable! {
    /// Arc sine, within 2.2 ulp.
    asin(x: f64);
    /// Arc cosine, within 1.2 ulp.
    acos(x: f64);
    /// Arc tangent, within 1.5 ulp.
    atan(x: f64);
    /// Hyperbolic sine, within 1.8 ulp.
    sinh(x: f64);
    /// Hyperbolic cosine, within 1.2 ulp.
    cosh(x: f64);
    /// Inverse hyperbolic sine, within 2 ulp.
    asinh(x: f64);
    /// Inverse hyperbolic cosine, within 2.1 ulp.
    acosh(x: f64);
    /// Inverse hyperbolic tangent, within 2.2 ulp.
    atanh(x: f64);
    /// Logarithm to base 10, within 0.6 ulp.
    log10(x: f64);
    /// `log(1 + x)`, within 1.4 ulp.
    log1p(x: f64);
    /// `e^x - 1`, within 1.2 ulp.
    expm1(x: f64);
    /// `10^x`, within 1 ulp.
    exp10(x: f64);
    /// Error function, within 1.1 ulp.
    erf(x: f64);
    /// Complementary error function, `1 - erf(x)`, within 4 ulp.
    erfc(x: f64);
    /// Cube root, within 0.6 ulp.
    cbrt(x: f64);
    /// Logistic function, `1 / (1 + e^-x)`, within 2.5 ulp.
    sigmoid(x: f64);
    /// Sigmoid-weighted linear unit, `x / (1 + e^-x)`; −0 for −∞, within 3.2 ulp.
    silu(x: f64);
    /// `log(1 + e^x)`, within 1.8 ulp.
    softplus(x: f64);
    /// Gaussian-error linear unit, `x · (1 + erf(x / √2)) / 2`; −0 for −∞, within 5 ulp.
    gelu(x: f64);
    /// Its usual approximation, `x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`; −0 for −∞, within 3.5 ulp.
    gelu_tanh(x: f64);
    /// The angle of the point `(x, y)`, between −π and π, within 1.7 ulp.
    atan2(y: f64, x: f64);
    /// `√(x² + y²)`, within 1 ulp, without overflow or underflow on the way.
    hypot(x: f64, y: f64);
    /// `x^y`, within 1 ulp, with the special values of C's Annex F.
    pow(x: f64, y: f64);
    /// `x^n`, within 2 ulp, with the special values of [`pow`]. Exponents from −1 to 4 are products.
    powi(x: f64, n: i32);
}

/// `1 / x`, correctly rounded.
#[inline_on_device]
pub fn reciprocal(x: f64) -> f64 {
    1.0 / x
}

/// Hyperbolic tangent, within 2 ulp. The same code for both back ends: `libm::tanh` is up to 2.2 ulp off.
#[inline_on_device]
pub fn tanh(x: f64) -> f64 {
    device::tanh(x)
}

/// Square root, correctly rounded.
#[inline_on_device]
pub fn sqrt(x: f64) -> f64 {
    arch::sqrt_f64(x)
}

/// `1 / sqrt(x)`, within 1 ulp; +∞ for +0 and −∞ for −0.
#[inline_on_device]
pub fn rsqrt(x: f64) -> f64 {
    1.0 / arch::sqrt_f64(x)
}

/// The largest integer not above `x`.
#[inline_on_device]
pub fn floor(x: f64) -> f64 {
    arch::floor_f64(x)
}

/// `x` without its fraction.
#[inline_on_device]
pub fn trunc(x: f64) -> f64 {
    arch::truncate_f64(x)
}

/// The integer nearest to `x`, halves to the even one.
#[inline_on_device]
pub fn round_even(x: f64) -> f64 {
    arch::round_even_f64(x)
}

/// The smallest integer not below `x`.
#[inline_on_device]
pub fn ceil(x: f64) -> f64 {
    arch::ceil_f64(x)
}
