//! Functions of floats, one element at a time. `f16` and `bf16` compute in `f32` and round once.

use super::{Cast, Number, bf16, f16};
use crate::arch::float as machine;
use crate::math::{double, single};

/// Floats: `fma`, roots, exponentials, logarithms, trigonometry, rounding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point element type",
    label = "expected f16, bf16, f32 or f64",
    note = "convert first: `.cast::<f32>()`"
)]
pub trait Float: Number {
    /// Not a number.
    const NAN: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEGATIVE_INFINITY: Self;
    /// Negative zero.
    const NEGATIVE_ZERO: Self;
    /// `self * factor + summand`, rounded once.
    fn fma(self, factor: Self, summand: Self) -> Self;
    /// Whether it is an infinity.
    fn is_infinite(self) -> bool;
    /// e to the power `self`.
    fn exp(self) -> Self;
    /// 2 to the power `self`.
    fn exp2(self) -> Self;
    /// Natural logarithm.
    fn log(self) -> Self;
    /// Base-2 logarithm.
    fn log2(self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Reciprocal of the square root.
    fn rsqrt(self) -> Self;
    /// Sine of an angle in radians.
    fn sin(self) -> Self;
    /// Cosine of an angle in radians.
    fn cos(self) -> Self;
    /// Tangent of an angle in radians.
    fn tan(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The greatest integer not above.
    fn floor(self) -> Self;
    /// The least integer not below.
    fn ceil(self) -> Self;
    /// The number without its fraction.
    fn trunc(self) -> Self;
    /// The nearest integer, halves to the even one.
    fn round_even(self) -> Self;
    /// Its magnitude with the sign of `sign`, also of zeros and NaN.
    fn copysign(self, sign: Self) -> Self;
}

macro_rules! unary {
    (direct $module:ident: $($name:ident)*) => { $(
        #[inline(always)]
        fn $name(self) -> Self {
            $module::$name(self)
        }
    )* };
    (through_f32 $type:ident: $($name:ident)*) => { $(
        #[inline(always)]
        fn $name(self) -> Self {
            Cast::<$type>::cast(single::$name(Cast::<f32>::cast(self)))
        }
    )* };
}

macro_rules! float {
    ($type:ident, $way:ident $argument:ident, |$a:ident, $b:ident, $c:ident| $fma:expr) => {
        impl Float for $type {
            const NAN: Self = $type::NAN;
            const INFINITY: Self = $type::INFINITY;
            const NEGATIVE_INFINITY: Self = $type::NEG_INFINITY;
            const NEGATIVE_ZERO: Self = $type::from_bits(1 << (8 * size_of::<$type>() - 1));
            #[inline(always)]
            fn fma(self, factor: Self, summand: Self) -> Self {
                let ($a, $b, $c) = (self, factor, summand);
                $fma
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                let mask = Self::NEGATIVE_ZERO.to_bits();
                $type::from_bits(self.to_bits() & !mask | sign.to_bits() & mask)
            }
            #[inline(always)]
            fn is_infinite(self) -> bool {
                Number::abs(self).to_bits() == $type::INFINITY.to_bits()
            }
            unary!($way $argument: exp exp2 log log2 sqrt rsqrt sin cos tan tanh floor ceil trunc round_even);
        }
    };
}
float!(f32, direct single, |a, b, c| machine::fma_f32(a, b, c));
float!(f64, direct double, |a, b, c| machine::fma_f64(a, b, c));
float!(f16, through_f32 f16, |a, b, c| f16::from_bits(machine::fma_f16(a.to_bits(), b.to_bits(), c.to_bits())));
float!(bf16, through_f32 bf16, |a, b, c| bf16::from_bits(machine::fma_bf16(a.to_bits(), b.to_bits(), c.to_bits())));

/// `f32`: the hardware's approximate functions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no approximate functions",
    label = "expected f32",
    note = "only f32 has approximate forms in hardware; the accurate forms work for every float"
)]
pub trait ApproximateFloat: Float {
    /// e to the power `self`, approximately.
    fn exp_approximate(self) -> Self;
    /// 2 to the power `self`, approximately.
    fn exp2_approximate(self) -> Self;
    /// Natural logarithm, approximately.
    fn log_approximate(self) -> Self;
    /// Base-2 logarithm, approximately.
    fn log2_approximate(self) -> Self;
    /// Reciprocal of the square root, approximately.
    fn rsqrt_approximate(self) -> Self;
    /// Reciprocal, approximately.
    fn reciprocal_approximate(self) -> Self;
    /// Sine, approximately; good between -pi and pi.
    fn sin_approximate(self) -> Self;
    /// Cosine, approximately; good between -pi and pi.
    fn cos_approximate(self) -> Self;
    /// Hyperbolic tangent, approximately.
    fn tanh_approximate(self) -> Self;
    /// Quotient, approximately.
    fn divide_approximate(self, divisor: Self) -> Self;
}

impl ApproximateFloat for f32 {
    unary!(direct single: exp_approximate exp2_approximate log_approximate log2_approximate rsqrt_approximate
        reciprocal_approximate sin_approximate cos_approximate tanh_approximate);
    #[inline(always)]
    fn divide_approximate(self, divisor: Self) -> Self {
        single::divide_approximate(self, divisor)
    }
}
