//! Functions of `f32` and `f64` that `core` does not have.
//!
//! They are those of [`crate::math`], whose error bounds hold, on a GPU and on the CPU. In a crate with `std`, its functions come first.

use crate::element::{Float, Number};
use crate::sealed::Sealed;

macro_rules! functions {
    ($($(#[$attribute:meta])* $name:ident($self:ident $(, $argument:ident: $type:ty)*) -> $result:ty = $body:expr;)*) => {
        /// Functions of floats, with `std`'s names and meaning.
        ///
        /// ```
        /// use cuda_tiles::cuda_std::GpuFloat;
        /// assert_eq!(GpuFloat::sqrt(2.25_f32), 1.5);
        /// assert_eq!(GpuFloat::rem_euclid(-5.5_f64, 2.0), 0.5);
        /// ```
        pub trait GpuFloat: Sealed + Float {
            $(
                $(#[$attribute])*
                fn $name($self $(, $argument: $type)*) -> $result;
            )*
        }

        functions! { @implement f32: $($name($self $(, $argument: $type)*) -> $result = $body;)* }
        functions! { @implement f64: $($name($self $(, $argument: $type)*) -> $result = $body;)* }
    };
    (@implement $float:ident: $($name:ident($self:ident $(, $argument:ident: $type:ty)*) -> $result:ty = $body:expr;)*) => {
        impl GpuFloat for $float {
            $(
                #[inline(always)]
                fn $name($self $(, $argument: $type)*) -> $result {
                    $body
                }
            )*
        }
    };
}
functions! {
    /// The largest integer that is not larger.
    floor(self) -> Self = Float::floor(self);
    /// The smallest integer that is not smaller.
    ceil(self) -> Self = Float::ceil(self);
    /// The nearest integer, of two that are as near the one further from zero.
    round(self) -> Self = {
        let whole = Float::trunc(self);
        if Number::abs(self - whole) >= 0.5 { whole + Float::copysign(1.0, self) } else { whole }
    };
    /// The number without its fraction.
    trunc(self) -> Self = Float::trunc(self);
    /// The fraction.
    fract(self) -> Self = self - Float::trunc(self);
    /// The absolute value.
    abs(self) -> Self = Number::abs(self);
    /// 1 with the number's sign, or NaN.
    signum(self) -> Self = if self.is_nan() { self } else { Float::copysign(1.0, self) };
    /// The absolute value, with the sign of another number.
    copysign(self, sign: Self) -> Self = Float::copysign(self, sign);
    /// `self * a + b`, rounded once.
    mul_add(self, a: Self, b: Self) -> Self = Float::fma(self, a, b);
    /// The quotient as an integer, so that the remainder is not negative.
    div_euclid(self, rhs: Self) -> Self = {
        let quotient = Float::trunc(self / rhs);
        match Number::rem(self, rhs) < 0.0 {
            true if rhs > 0.0 => quotient - 1.0,
            true => quotient + 1.0,
            false => quotient,
        }
    };
    /// The remainder that is not negative.
    rem_euclid(self, rhs: Self) -> Self = {
        let remainder = Number::rem(self, rhs);
        if remainder < 0.0 { remainder + Number::abs(rhs) } else { remainder }
    };
    /// A power with an integer exponent.
    powi(self, n: i32) -> Self = Float::powi(self, n);
    /// A power.
    powf(self, n: Self) -> Self = Float::pow(self, n);
    /// The square root.
    sqrt(self) -> Self = Float::sqrt(self);
    /// e to this power.
    exp(self) -> Self = Float::exp(self);
    /// 2 to this power.
    exp2(self) -> Self = Float::exp2(self);
    /// The natural logarithm.
    ln(self) -> Self = Float::log(self);
    /// The logarithm to any base.
    log(self, base: Self) -> Self = Float::log(self) / Float::log(base);
    /// The logarithm to the base 2.
    log2(self) -> Self = Float::log2(self);
    /// The logarithm to the base 10.
    log10(self) -> Self = Float::log10(self);
    /// The cube root.
    cbrt(self) -> Self = Float::cbrt(self);
    /// The length of the hypotenuse, `sqrt(self² + other²)`.
    hypot(self, other: Self) -> Self = Float::hypot(self, other);
    /// The sine of an angle in radians.
    sin(self) -> Self = Float::sin(self);
    /// The cosine of an angle in radians.
    cos(self) -> Self = Float::cos(self);
    /// The tangent of an angle in radians.
    tan(self) -> Self = Float::tan(self);
    /// The angle with this sine, in radians.
    asin(self) -> Self = Float::asin(self);
    /// The angle with this cosine, in radians.
    acos(self) -> Self = Float::acos(self);
    /// The angle with this tangent, in radians.
    atan(self) -> Self = Float::atan(self);
    /// The angle of the point with this `y` and another `x`, in radians.
    atan2(self, other: Self) -> Self = Float::atan2(self, other);
    /// The sine and the cosine.
    sin_cos(self) -> (Self, Self) = (Float::sin(self), Float::cos(self));
    /// `exp(self) - 1`, also where it is near zero.
    exp_m1(self) -> Self = Float::expm1(self);
    /// `ln(1 + self)`, also where it is near zero.
    ln_1p(self) -> Self = Float::log1p(self);
    /// The hyperbolic sine.
    sinh(self) -> Self = Float::sinh(self);
    /// The hyperbolic cosine.
    cosh(self) -> Self = Float::cosh(self);
    /// The hyperbolic tangent.
    tanh(self) -> Self = Float::tanh(self);
    /// The number with this hyperbolic sine.
    asinh(self) -> Self = Float::asinh(self);
    /// The number with this hyperbolic cosine.
    acosh(self) -> Self = Float::acosh(self);
    /// The number with this hyperbolic tangent.
    atanh(self) -> Self = Float::atanh(self);
}
