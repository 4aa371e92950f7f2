//! Elementary functions of f32: accurate ones, and approximate ones that are one or two instructions on the
//! device.

use core::f32::consts::{LN_2, LOG2_E};

use super::device::single as device;
use super::{portable, wide};
use crate::arch::float as arch;

/// Defines functions that differ between the CPU and the device.
macro_rules! elementary {
    ($($(#[$attribute:meta])* $name:ident = $host:path;)*) => {$(
        $(#[$attribute])*
        #[inline_on_device]
        pub fn $name(x: f32) -> f32 {
            if arch::HAS_LIBM { $host(x) } else { device::$name(x) }
        }
    )*};
}

elementary! {
    /// `e^x`, within 2 ulp; 0.51 on the CPU.
    exp = wide::exp;
    /// `2^x`, within 2.1 ulp; 0.51 on the CPU.
    exp2 = wide::exp2;
    /// Natural logarithm, within 1 ulp.
    log = libm::logf;
    /// Logarithm to base 2, within 1.1 ulp.
    log2 = libm::log2f;
    /// Sine of `x` radians, within 2 ulp for every finite `x`.
    sin = libm::sinf;
    /// Cosine of `x` radians, within 2 ulp for every finite `x`.
    cos = libm::cosf;
    /// Tangent of `x` radians, within 3.1 ulp for every finite `x`.
    tan = libm::tanf;
}

/// Defines functions that have one algorithm for both back ends.
macro_rules! portable {
    ($($(#[$attribute:meta])* $name:ident($($operand:ident: $type:ty),*);)*) => {$(
        $(#[$attribute])*
        #[inline_on_device]
        pub fn $name($($operand: $type),*) -> f32 {
            portable::$name($($operand),*)
        }
    )*};
}

portable! {
    /// Arc sine, within 2.2 ulp.
    asin(x: f32);
    /// Arc cosine, within 1.2 ulp.
    acos(x: f32);
    /// Arc tangent, within 1.5 ulp.
    atan(x: f32);
    /// Hyperbolic sine, within 1.8 ulp.
    sinh(x: f32);
    /// Hyperbolic cosine, within 1.2 ulp.
    cosh(x: f32);
    /// Inverse hyperbolic sine, within 2 ulp.
    asinh(x: f32);
    /// Inverse hyperbolic cosine, within 2.1 ulp.
    acosh(x: f32);
    /// Inverse hyperbolic tangent, within 2.2 ulp.
    atanh(x: f32);
    /// Logarithm to base 10, within 0.6 ulp.
    log10(x: f32);
    /// `log(1 + x)`, within 1.4 ulp.
    log1p(x: f32);
    /// `e^x - 1`, within 1.2 ulp.
    expm1(x: f32);
    /// `10^x`, within 1 ulp.
    exp10(x: f32);
    /// Error function, within 1.1 ulp.
    erf(x: f32);
    /// Complementary error function, `1 - erf(x)`, within 4 ulp.
    erfc(x: f32);
    /// Cube root, within 0.6 ulp.
    cbrt(x: f32);
    /// Logistic function, `1 / (1 + e^-x)`, within 2.5 ulp.
    sigmoid(x: f32);
    /// Sigmoid-weighted linear unit, `x / (1 + e^-x)`; −0 for −∞, within 3.2 ulp.
    silu(x: f32);
    /// `log(1 + e^x)`, within 1.8 ulp.
    softplus(x: f32);
    /// Gaussian-error linear unit, `x · (1 + erf(x / √2)) / 2`; −0 for −∞, within 5 ulp.
    gelu(x: f32);
    /// Its usual approximation, `x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`; −0 for −∞, within 3.5 ulp.
    gelu_tanh(x: f32);
    /// The angle of the point `(x, y)`, between −π and π, within 1.7 ulp.
    atan2(y: f32, x: f32);
    /// `√(x² + y²)`, within 1 ulp, without overflow or underflow on the way.
    hypot(x: f32, y: f32);
    /// `x^y`, within 1 ulp, with the special values of C's Annex F.
    pow(x: f32, y: f32);
    /// `x^n`, within 2 ulp, with the special values of [`pow`]. Exponents from −1 to 4 are products.
    powi(x: f32, n: i32);
}

/// `1 / x`, correctly rounded.
#[inline_on_device]
pub fn reciprocal(x: f32) -> f32 {
    1.0 / x
}

/// Hyperbolic tangent, within 2 ulp.
#[inline_on_device]
pub fn tanh(x: f32) -> f32 {
    // `libm::tanhf` is up to 2.2 ulp off.
    if arch::HAS_LIBM { libm::tanh(x as f64) as f32 } else { device::tanh(x) }
}

/// Square root, correctly rounded.
#[inline_on_device]
pub fn sqrt(x: f32) -> f32 {
    arch::sqrt_f32(x)
}

/// `1 / sqrt(x)`, within 2 ulp; +∞ for +0 and −∞ for −0.
#[inline_on_device]
pub fn rsqrt(x: f32) -> f32 {
    arch::rsqrt_approximate_f32(x)
}

/// The largest integer not above `x`.
#[inline_on_device]
pub fn floor(x: f32) -> f32 {
    arch::floor_f32(x)
}

/// `x` without its fraction.
#[inline_on_device]
pub fn trunc(x: f32) -> f32 {
    arch::truncate_f32(x)
}

/// The integer nearest to `x`, halves to the even one.
#[inline_on_device]
pub fn round_even(x: f32) -> f32 {
    arch::round_even_f32(x)
}

/// The smallest integer not below `x`.
#[inline_on_device]
pub fn ceil(x: f32) -> f32 {
    arch::ceil_f32(x)
}

/// `e^x` as `2^(x · log2 e)`: the relative error is below 2⁻²² + |x| · 2⁻²³. Subnormal results become zero.
#[inline_on_device]
pub fn exp_approximate(x: f32) -> f32 {
    arch::exp2_approximate_flush_f32(x * LOG2_E)
}

/// `2^x` with a relative error below 2⁻²². Subnormal results become zero.
#[inline_on_device]
pub fn exp2_approximate(x: f32) -> f32 {
    arch::exp2_approximate_flush_f32(x)
}

/// Natural logarithm with an absolute error below 2⁻²² for x in (0.5, 2), else with a relative error below
/// 2⁻²¹.
#[inline_on_device]
pub fn log_approximate(x: f32) -> f32 {
    arch::log2_approximate_f32(x) * LN_2
}

/// Logarithm to base 2 with an absolute error below 2⁻²² for x in (0.5, 2), else with a relative error below
/// 2⁻²².
#[inline_on_device]
pub fn log2_approximate(x: f32) -> f32 {
    arch::log2_approximate_f32(x)
}

/// Sine with an absolute error below 2⁻²⁰ in [−2π, 2π]. Beyond, the error grows with |x|.
#[inline_on_device]
pub fn sin_approximate(x: f32) -> f32 {
    arch::sin_approximate_f32(x)
}

/// Cosine with an absolute error below 2⁻²⁰ in [−2π, 2π]. Beyond, the error grows with |x|.
#[inline_on_device]
pub fn cos_approximate(x: f32) -> f32 {
    arch::cos_approximate_f32(x)
}

/// Hyperbolic tangent with a relative error below 2⁻¹¹.
#[inline_on_device]
pub fn tanh_approximate(x: f32) -> f32 {
    arch::tanh_approximate_f32(x)
}

/// `1 / sqrt(x)` within 2 ulp. Subnormal operands count as zero.
#[inline_on_device]
pub fn rsqrt_approximate(x: f32) -> f32 {
    arch::rsqrt_approximate_flush_f32(x)
}

/// `1 / x` within 1 ulp. Subnormal operands and results become zero.
#[inline_on_device]
pub fn reciprocal_approximate(x: f32) -> f32 {
    arch::reciprocal_approximate_flush_f32(x)
}

/// `a / b` within 2 ulp for |b| in [2⁻¹²⁶, 2¹²⁶]. For larger |b| the device returns 0, or NaN if `a` is
/// infinite.
#[inline_on_device]
pub fn divide_approximate(a: f32, b: f32) -> f32 {
    arch::divide_approximate_f32(a, b)
}

/// Square root with a relative error below 2⁻²³.
#[inline_on_device]
pub fn sqrt_approximate(x: f32) -> f32 {
    arch::sqrt_approximate_f32(x)
}

/// `1 / (1 + e^-x)` with a relative error below 2⁻²¹ + |x| · 2⁻²³; 0 below −88.
#[inline_on_device]
pub fn sigmoid_approximate(x: f32) -> f32 {
    arch::reciprocal_approximate_flush_f32(1.0 + arch::exp2_approximate_flush_f32(x * -LOG2_E))
}

/// `x (1 + tanh(half)) / 2`, which is `x / (1 + e^(-2 half))`.
#[inline_on_device]
fn weighted(x: f32, half: f32) -> f32 {
    x * arch::fma_f32(arch::tanh_approximate_f32(half), 0.5, 0.5)
}

/// `x / (1 + e^-x)` with an error below 2.5 · 10⁻⁴ |x|, and for negative `x` below 8 · 10⁻³, as follows from what the PTX ISA promises of
/// the hyperbolic tangent; −0 for −∞. A GPU of compute capability 9.0 was measured to be within 4 · 10⁻⁶ |x|.
#[inline_on_device]
pub fn silu_approximate(x: f32) -> f32 {
    // Below, the hyperbolic tangent is -1. Infinity times zero would be NaN.
    let x = arch::max_nan_f32(x, -32.0);
    weighted(x, 0.5 * x)
}

/// `x · (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2` with an error below 2.5 · 10⁻⁴ |x|, and for negative `x` below 2 · 10⁻³, as
/// follows from what the PTX ISA promises of the hyperbolic tangent; −0 for −∞. A GPU of compute capability 9.0 was measured to be within
/// 4 · 10⁻⁶ |x|.
#[inline_on_device]
pub fn gelu_tanh_approximate(x: f32) -> f32 {
    const LINEAR: f32 = 0.797_884_6;
    const CUBIC: f32 = 0.035_677_408;
    // As above.
    let x = arch::max_nan_f32(x, -8.0);
    weighted(x, x * arch::fma_f32(x * x, CUBIC, LINEAR))
}

/// `log(1 + e^x)` with an error below 2⁻²¹ + |result| · 2⁻²².
#[inline_on_device]
pub fn softplus_approximate(x: f32) -> f32 {
    let small = arch::exp2_approximate_flush_f32(-x.abs() * LOG2_E);
    arch::fma_f32(arch::log2_approximate_f32(1.0 + small), LN_2, arch::max_nan_f32(x, 0.0))
}
