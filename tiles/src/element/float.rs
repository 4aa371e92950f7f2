//! Functions of floats, one element at a time. `f16` and `bf16` compute in `f32` and round once, but for approximations
//! that are instructions.

use super::{Cast, Element, Number, bf16, f16};
use crate::arch::float as machine;
use crate::math::{double, single};

/// Floats: `fma`, roots, exponentials, logarithms, trigonometry, rounding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point element type",
    label = "expected f16, bf16, f32 or f64",
    note = "convert first: `.cast::<f32>()`"
)]
#[doc(alias("float32", "float64"))]
pub trait Float: Number {
    /// Not a number.
    const NAN: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Negative infinity.
    const NEGATIVE_INFINITY: Self;
    /// Negative zero.
    const NEGATIVE_ZERO: Self;
    /// The nearest number of this type, ties to even: literals of generic kernels.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// fn half<T: Float, S: Shape, L: Layout>(t: Tile<T, S, L>) -> Tile<T, S, L> {
    ///     t * T::from_f64(0.5)
    /// }
    /// cuda_tiles::cpu::block(|cx| assert_eq!(half(cx.full(shape![4], 3.0f32)).at([0]), 1.5));
    /// ```
    fn from_f64(number: f64) -> Self;
    /// `self * factor + summand`, rounded once.
    fn fma(self, factor: Self, summand: Self) -> Self;
    /// [`Float::fma`] of two at once: packed instructions where the machine has them.
    #[inline_on_device]
    fn fma_pair(values: [Self; 2], factors: [Self; 2], summands: [Self; 2]) -> [Self; 2] {
        [values[0].fma(factors[0], summands[0]), values[1].fma(factors[1], summands[1])]
    }
    /// Whether it is an infinity.
    fn is_infinite(self) -> bool;
    /// The number without its fraction.
    fn trunc(self) -> Self;
    /// The nearest integer, halves to the even one.
    fn round_even(self) -> Self;
    /// Its magnitude with the sign of `sign`, also of zeros and NaN.
    fn copysign(self, sign: Self) -> Self;
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
    /// 10 to the power `self`.
    fn exp10(self) -> Self;
    /// e to the power `self`, minus 1.
    fn expm1(self) -> Self;
    /// Base-10 logarithm.
    fn log10(self) -> Self;
    /// Natural logarithm of `1 + self`.
    fn log1p(self) -> Self;
    /// Arc sine.
    fn asin(self) -> Self;
    /// Arc cosine.
    fn acos(self) -> Self;
    /// Arc tangent.
    fn atan(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Inverse hyperbolic sine.
    fn asinh(self) -> Self;
    /// Inverse hyperbolic cosine.
    fn acosh(self) -> Self;
    /// Inverse hyperbolic tangent.
    fn atanh(self) -> Self;
    /// Error function.
    fn erf(self) -> Self;
    /// Complementary error function.
    fn erfc(self) -> Self;
    /// Cube root.
    fn cbrt(self) -> Self;
    /// Reciprocal, correctly rounded.
    fn reciprocal(self) -> Self;
    /// Logistic function, `1 / (1 + e^-self)`.
    fn sigmoid(self) -> Self;
    /// Sigmoid-weighted linear unit, `self * sigmoid(self)`.
    fn silu(self) -> Self;
    /// `log(1 + e^self)`.
    fn softplus(self) -> Self;
    /// Gaussian-error linear unit, by the error function.
    fn gelu(self) -> Self;
    /// Gaussian-error linear unit, by its approximation with the hyperbolic tangent.
    fn gelu_tanh(self) -> Self;
    /// The angle of the point `(x, self)`.
    fn atan2(self, x: Self) -> Self;
    /// `√(self² + other²)`.
    fn hypot(self, other: Self) -> Self;
    /// `self` to the power `exponent`.
    fn pow(self, exponent: Self) -> Self;
    /// `self` to a whole power.
    fn powi(self, exponent: i32) -> Self;
}

/// Two 16-bit floats in one register, the first in the low half.
#[inline_on_device]
fn pack<T: Element<Bits = u16>>([low, high]: [T; 2]) -> u32 {
    u32::from(high.to_bits()) << 16 | u32::from(low.to_bits())
}

/// What [`pack`] made one of.
#[inline_on_device]
fn unpack<T: Element<Bits = u16>>(pair: u32) -> [T; 2] {
    [T::from_bits(pair as u16), T::from_bits((pair >> 16) as u16)]
}

macro_rules! unary {
    (direct $module:ident: $($name:ident)*) => { $(
        #[inline_on_device]
        fn $name(self) -> Self {
            $module::$name(self)
        }
    )* };
    (through_f32 $type:ident: $($name:ident)*) => { $(
        #[inline_on_device]
        fn $name(self) -> Self {
            Cast::<$type>::cast(single::$name(Cast::<f32>::cast(self)))
        }
    )* };
}

macro_rules! binary {
    (direct $module:ident: $($name:ident($other:ident))*) => { $(
        #[inline_on_device]
        fn $name(self, $other: Self) -> Self {
            $module::$name(self, $other)
        }
    )* };
    (through_f32 $type:ident: $($name:ident($other:ident))*) => { $(
        #[inline_on_device]
        fn $name(self, $other: Self) -> Self {
            Cast::<$type>::cast(single::$name(Cast::<f32>::cast(self), Cast::<f32>::cast($other)))
        }
    )* };
}

/// The whole power of one type.
macro_rules! whole_power {
    (direct $module:ident) => {
        #[inline_on_device]
        fn powi(self, exponent: i32) -> Self {
            $module::powi(self, exponent)
        }
    };
    (through_f32 $type:ident) => {
        #[inline_on_device]
        fn powi(self, exponent: i32) -> Self {
            Cast::<$type>::cast(single::powi(Cast::<f32>::cast(self), exponent))
        }
    };
}

macro_rules! float {
    ($type:ident, $way:ident $argument:ident, |$a:ident, $b:ident, $c:ident| $fma:expr $(, $packed:ident)?) => {
        impl Float for $type {
            const NAN: Self = $type::NAN;
            const INFINITY: Self = $type::INFINITY;
            const NEGATIVE_INFINITY: Self = $type::NEG_INFINITY;
            const NEGATIVE_ZERO: Self = $type::from_bits(1 << (8 * size_of::<$type>() - 1));
            #[inline_on_device]
            fn from_f64(number: f64) -> Self {
                number.cast()
            }
            #[inline_on_device]
            fn fma(self, factor: Self, summand: Self) -> Self {
                let ($a, $b, $c) = (self, factor, summand);
                $fma
            }
            $(
                #[inline_on_device]
                fn fma_pair(values: [Self; 2], factors: [Self; 2], summands: [Self; 2]) -> [Self; 2] {
                    unpack(machine::$packed(pack(values), pack(factors), pack(summands)))
                }
            )?
            #[inline_on_device]
            fn copysign(self, sign: Self) -> Self {
                let mask = Self::NEGATIVE_ZERO.to_bits();
                $type::from_bits(self.to_bits() & !mask | sign.to_bits() & mask)
            }
            unary!($way $argument: trunc round_even);
            #[inline_on_device]
            fn is_infinite(self) -> bool {
                Number::abs(self).to_bits() == $type::INFINITY.to_bits()
            }
            unary!($way $argument: exp exp2 log log2 sqrt rsqrt sin cos tan tanh floor ceil);
            unary!($way $argument: exp10 expm1 log10 log1p asin acos atan sinh cosh asinh acosh atanh erf erfc cbrt
                reciprocal sigmoid silu softplus gelu gelu_tanh);
            binary!($way $argument: atan2(x) hypot(other) pow(exponent));
            whole_power!($way $argument);
        }
    };
}
float!(f32, direct single, |a, b, c| machine::fma_f32(a, b, c));
float!(f64, direct double, |a, b, c| machine::fma_f64(a, b, c));
float!(f16, through_f32 f16, |a, b, c| f16::from_bits(machine::fma_f16(a.to_bits(), b.to_bits(), c.to_bits())), fma_f16x2);
float!(bf16, through_f32 bf16, |a, b, c| bf16::from_bits(machine::fma_bf16(a.to_bits(), b.to_bits(), c.to_bits())), fma_bf16x2);

/// What can be the exponent of [`Float::powi`]: whole numbers of up to 32 bits, and `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an exponent of whole powers",
    label = "expected a signed integer of up to 32 bits, u8, u16 or bool",
    note = "`powi` is for whole exponents; `pow` takes exponents of the tile's own type"
)]
pub trait WholeExponent: Element {
    /// The exponent as an `i32`.
    fn to_exponent(self) -> i32;
}

macro_rules! exponents {
    ($($type:ident)*) => { $(
        impl WholeExponent for $type {
            #[inline_on_device]
            fn to_exponent(self) -> i32 {
                self.into()
            }
        }
    )* };
}
exponents!(bool i8 i16 i32 u8 u16);

/// Floats with approximate functions of the hardware: `f32`, whose errors stand with the functions of [`single`], and the
/// 16-bit floats. Their `exp2` and `tanh` are instructions of their own, of which the hardware does two at once; their other
/// functions are those of `f32`, rounded once more.
///
/// | function | f16 | bf16 |
/// |---|---|---|
/// | `exp2_approximate`, relative error, and one unit in the last place | 2⁻⁹·⁹ | 2⁻⁷; rounded to nearest before `sm_90` |
/// | `tanh_approximate`, absolute error | 2⁻¹⁰·⁹⁸⁷ | 2⁻⁸; rounded to nearest before `sm_90` |
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no approximate functions",
    label = "expected f32, f16 or bf16",
    note = "the hardware has no approximate forms for `{Self}`; the accurate forms work for every float"
)]
#[doc(alias("approx"))]
pub trait ApproximateFloat: Float {
    /// e to the power `self`, approximately.
    fn exp_approximate(self) -> Self;
    /// 2 to the power `self`, approximately.
    fn exp2_approximate(self) -> Self;
    /// Natural logarithm, approximately.
    fn log_approximate(self) -> Self;
    /// Base-2 logarithm, approximately.
    fn log2_approximate(self) -> Self;
    /// Square root, approximately.
    fn sqrt_approximate(self) -> Self;
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
    /// Logistic function, approximately.
    fn sigmoid_approximate(self) -> Self;
    /// Sigmoid-weighted linear unit, approximately.
    fn silu_approximate(self) -> Self;
    /// `log(1 + e^self)`, approximately.
    fn softplus_approximate(self) -> Self;
    /// Gaussian-error linear unit with the hyperbolic tangent, approximately.
    fn gelu_tanh_approximate(self) -> Self;
    /// Quotient, approximately.
    fn divide_approximate(self, divisor: Self) -> Self;

    /// [`ApproximateFloat::exp2_approximate`] of two at once: packed instructions where the machine has them.
    #[inline_on_device]
    fn exp2_approximate_pair(low: Self, high: Self) -> [Self; 2] {
        [low.exp2_approximate(), high.exp2_approximate()]
    }
    /// [`ApproximateFloat::tanh_approximate`] of two at once.
    #[inline_on_device]
    fn tanh_approximate_pair(low: Self, high: Self) -> [Self; 2] {
        [low.tanh_approximate(), high.tanh_approximate()]
    }
}

macro_rules! approximate {
    ($type:ident, $way:ident $argument:ident $(, $exp2:ident $exp2_pair:ident $tanh:ident $tanh_pair:ident)?) => {
        impl ApproximateFloat for $type {
            unary!($way $argument: exp_approximate log_approximate log2_approximate sqrt_approximate rsqrt_approximate
                reciprocal_approximate sin_approximate cos_approximate sigmoid_approximate silu_approximate
                softplus_approximate gelu_tanh_approximate);
            binary!($way $argument: divide_approximate(divisor));
            approximate!(@packed $type $($exp2 $exp2_pair $tanh $tanh_pair)?);
        }
    };
    (@packed f32) => {
        unary!(direct single: exp2_approximate tanh_approximate);
    };
    (@packed $type:ident $exp2:ident $exp2_pair:ident $tanh:ident $tanh_pair:ident) => {
        approximate!(@one $type exp2_approximate exp2_approximate_pair $exp2 $exp2_pair);
        approximate!(@one $type tanh_approximate tanh_approximate_pair $tanh $tanh_pair);
    };
    (@one $type:ident $name:ident $name_pair:ident $instruction:ident $packed:ident) => {
        #[inline_on_device]
        fn $name(self) -> Self {
            $type::from_bits(machine::$instruction(self.to_bits()))
        }
        #[inline_on_device]
        fn $name_pair(low: Self, high: Self) -> [Self; 2] {
            unpack(machine::$packed(pack([low, high])))
        }
    };
}
approximate!(f32, direct single);
approximate!(f16, through_f32 f16, exp2_approximate_f16 exp2_approximate_f16x2 tanh_approximate_f16 tanh_approximate_f16x2);
approximate!(bf16, through_f32 bf16, exp2_approximate_bf16 exp2_approximate_bf16x2 tanh_approximate_bf16 tanh_approximate_bf16x2);
