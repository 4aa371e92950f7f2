//! Functions of `f32` and `f64` that `core` does not have.
//!
//! They are those of [`crate::math`], whose error bounds hold, on a GPU and on the CPU. In a crate with `std`, its functions come first.

use crate::element::{Float, Number};
use crate::sealed::Sealed;

/// Functions of floats, with `std`'s names and meaning.
///
/// ```
/// use cuda_tiles::cuda_std::GpuFloat;
/// assert_eq!(GpuFloat::sqrt(2.25_f32), 1.5);
/// assert_eq!(GpuFloat::rem_euclid(-5.5_f64, 2.0), 0.5);
/// ```
pub trait GpuFloat: Sealed + Float {
    /// The largest integer that is not larger.
    fn floor(self) -> Self;
    /// The smallest integer that is not smaller.
    fn ceil(self) -> Self;
    /// The nearest integer, of two that are as near the one further from zero.
    fn round(self) -> Self;
    /// The number without its fraction.
    fn trunc(self) -> Self;
    /// The fraction.
    fn fract(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// 1 with the number's sign, or NaN.
    fn signum(self) -> Self;
    /// The absolute value, with the sign of another number.
    fn copysign(self, sign: Self) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// The quotient as an integer, so that the remainder is not negative.
    fn div_euclid(self, rhs: Self) -> Self;
    /// The remainder that is not negative.
    fn rem_euclid(self, rhs: Self) -> Self;
    /// A power with an integer exponent.
    fn powi(self, n: i32) -> Self;
    /// A power.
    fn powf(self, n: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// e to this power.
    fn exp(self) -> Self;
    /// 2 to this power.
    fn exp2(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// The logarithm to any base.
    fn log(self, base: Self) -> Self;
    /// The logarithm to the base 2.
    fn log2(self) -> Self;
    /// The logarithm to the base 10.
    fn log10(self) -> Self;
    /// The cube root.
    fn cbrt(self) -> Self;
    /// The length of the hypotenuse, `sqrt(self² + other²)`.
    fn hypot(self, other: Self) -> Self;
    /// The sine of an angle in radians.
    fn sin(self) -> Self;
    /// The cosine of an angle in radians.
    fn cos(self) -> Self;
    /// The tangent of an angle in radians.
    fn tan(self) -> Self;
    /// The angle with this sine, in radians.
    fn asin(self) -> Self;
    /// The angle with this cosine, in radians.
    fn acos(self) -> Self;
    /// The angle with this tangent, in radians.
    fn atan(self) -> Self;
    /// The angle of the point with this `y` and another `x`, in radians.
    fn atan2(self, other: Self) -> Self;
    /// The sine and the cosine.
    fn sin_cos(self) -> (Self, Self);
    /// `exp(self) - 1`, also where it is near zero.
    fn exp_m1(self) -> Self;
    /// `ln(1 + self)`, also where it is near zero.
    fn ln_1p(self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The number with this hyperbolic sine.
    fn asinh(self) -> Self;
    /// The number with this hyperbolic cosine.
    fn acosh(self) -> Self;
    /// The number with this hyperbolic tangent.
    fn atanh(self) -> Self;
}

macro_rules! functions {
    ($($name:ident($self:ident $(, $argument:ident: $type:ty)*) -> $result:ty = $body:expr;)*) => {
        functions! { @implement f32: $($name($self $(, $argument: $type)*) -> $result = $body;)* }
        functions! { @implement f64: $($name($self $(, $argument: $type)*) -> $result = $body;)* }
    };
    (@implement $float:ident: $($name:ident($self:ident $(, $argument:ident: $type:ty)*) -> $result:ty = $body:expr;)*) => {
        impl GpuFloat for $float {
            $(
                #[inline_on_device]
                fn $name($self $(, $argument: $type)*) -> $result {
                    $body
                }
            )*
        }
    };
}
functions! {
    floor(self) -> Self = Float::floor(self);
    ceil(self) -> Self = Float::ceil(self);
    round(self) -> Self = {
        let whole = Float::trunc(self);
        if Number::abs(self - whole) >= 0.5 { whole + Float::copysign(1.0, self) } else { whole }
    };
    trunc(self) -> Self = Float::trunc(self);
    fract(self) -> Self = self - Float::trunc(self);
    abs(self) -> Self = Number::abs(self);
    signum(self) -> Self = if self.is_nan() { self } else { Float::copysign(1.0, self) };
    copysign(self, sign: Self) -> Self = Float::copysign(self, sign);
    mul_add(self, a: Self, b: Self) -> Self = Float::fma(self, a, b);
    div_euclid(self, rhs: Self) -> Self = {
        let quotient = Float::trunc(self / rhs);
        match Number::rem(self, rhs) < 0.0 {
            true if rhs > 0.0 => quotient - 1.0,
            true => quotient + 1.0,
            false => quotient,
        }
    };
    rem_euclid(self, rhs: Self) -> Self = {
        let remainder = Number::rem(self, rhs);
        if remainder < 0.0 { remainder + Number::abs(rhs) } else { remainder }
    };
    powi(self, n: i32) -> Self = Float::powi(self, n);
    powf(self, n: Self) -> Self = Float::pow(self, n);
    sqrt(self) -> Self = Float::sqrt(self);
    exp(self) -> Self = Float::exp(self);
    exp2(self) -> Self = Float::exp2(self);
    ln(self) -> Self = Float::log(self);
    log(self, base: Self) -> Self = Float::log(self) / Float::log(base);
    log2(self) -> Self = Float::log2(self);
    log10(self) -> Self = Float::log10(self);
    cbrt(self) -> Self = Float::cbrt(self);
    hypot(self, other: Self) -> Self = Float::hypot(self, other);
    sin(self) -> Self = Float::sin(self);
    cos(self) -> Self = Float::cos(self);
    tan(self) -> Self = Float::tan(self);
    asin(self) -> Self = Float::asin(self);
    acos(self) -> Self = Float::acos(self);
    atan(self) -> Self = Float::atan(self);
    atan2(self, other: Self) -> Self = Float::atan2(self, other);
    sin_cos(self) -> (Self, Self) = (Float::sin(self), Float::cos(self));
    exp_m1(self) -> Self = Float::expm1(self);
    ln_1p(self) -> Self = Float::log1p(self);
    sinh(self) -> Self = Float::sinh(self);
    cosh(self) -> Self = Float::cosh(self);
    tanh(self) -> Self = Float::tanh(self);
    asinh(self) -> Self = Float::asinh(self);
    acosh(self) -> Self = Float::acosh(self);
    atanh(self) -> Self = Float::atanh(self);
}
