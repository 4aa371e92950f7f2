//! f32 and f64 under one name, and sums of two of them.

use crate::arch::float as machine;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// An f32 or an f64: what the algorithms need of both.
pub trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// 0.
    const ZERO: Self;
    /// 1/2.
    const HALF: Self;
    /// 1.
    const ONE: Self;
    /// 2.
    const TWO: Self;
    /// Positive infinity.
    const INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// Half the distance of 1 and the next number: what is smaller than this does not change 1.
    const NEGLIGIBLE: Self;
    /// A number so large that adding 1 does not change it, but whose square is finite.
    const LARGE: Self;
    /// Beyond this, in both directions, powers of e have long left the range of the type, by more than the factor
    /// `2^GUARD`.
    const EXPONENT_LIMIT: Self;
    /// A power of two that lifts subnormal numbers above the least normal one.
    const GUARD: i32;
    /// What is added to an exponent in the format's field.
    const EXPONENT_BIAS: i32;
    /// How often the estimate of the inverse cube root is improved: the error, times three, is cubed and divided by six.
    const CUBE_ROOT_STEPS: usize;
    /// 1 / ln 2.
    const LOG2_E: Self;
    /// log2 10.
    const LOG2_10: Self;
    /// ln 2 as a sum; products of the high part with exponents are exact.
    const LN_2: Pair<Self>;
    /// log10 2 as a sum; products of the high part with exponents are exact.
    const LOG10_2: Pair<Self>;
    /// ln 10 as a sum.
    const LN_10: Pair<Self>;
    /// 1 / ln 10 as a sum.
    const FRAC_1_LN_10: Pair<Self>;
    /// 2/3 as a sum.
    const TWO_THIRDS: Pair<Self>;
    /// π as a sum.
    const PI: Pair<Self>;
    /// √½.
    const FRAC_1_SQRT_2: Self;
    /// 2 √(2/π) as a sum.
    const GELU_LINEAR: Pair<Self>;
    /// 0.044715 · 2 √(2/π) as a sum.
    const GELU_CUBIC: Pair<Self>;
    /// An integer, exactly if it has no more digits than the type.
    fn of(integer: i32) -> Self;
    /// `self * factor + summand`, rounded once.
    fn fma(self, factor: Self, summand: Self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The largest integer not above.
    fn floor(self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The magnitude with the sign of another number.
    fn with_sign_of(self, other: Self) -> Self;
    /// Whether the sign bit is set.
    fn is_negative(self) -> bool;
    /// The nearest integer as a float and as an integer, for magnitudes below 2^20.
    fn round(self) -> (Self, i32);
    /// `2^n` for normal results.
    fn power_of_two(n: i32) -> Self;
    /// A positive finite number as `(1 + f) · 2^e` with `1 + f` in [√½, √2): `(f, e)`.
    fn split(self) -> (Self, i32);
    /// An estimate of `self^(-1/3)` for positive normal numbers, off by less than 5 %.
    fn estimate_inverse_cube_root(self) -> Self;

    /// `self · 2^n` for |n| up to twice the normal range: in two steps, of which only the second can round or overflow
    /// if this number is near one.
    #[inline_on_device]
    fn scale(self, n: i32) -> Self {
        let half = n >> 1;
        self * Self::power_of_two(half) * Self::power_of_two(n.wrapping_sub(half))
    }

    /// The product and what rounding took from it, exactly where neither underflows.
    #[inline_on_device]
    fn times(self, factor: Self) -> Pair<Self> {
        let high = self * factor;
        Pair { high, low: self.fma(factor, -high) }
    }

    /// The sum of this number and a smaller one, exactly (T. J. Dekker, "A floating-point technique for extending the
    /// available precision", 1971).
    #[inline_on_device]
    fn plus_smaller(self, smaller: Self) -> Pair<Self> {
        let high = self + smaller;
        Pair { high, low: smaller - (high - self) }
    }
}

/// An unevaluated sum, whose low part is at most about the last place of the high one.
#[derive(Clone, Copy)]
pub struct Pair<R> {
    pub high: R,
    pub low: R,
}

impl<R: Real> Pair<R> {
    /// The product with a number, to about twice the digits.
    #[inline_on_device]
    pub(super) fn scaled(self, factor: R) -> Self {
        let Pair { high, low } = self.high.times(factor);
        Pair { high, low: self.low.fma(factor, low) }
    }

    /// The product, to about twice the digits.
    #[inline_on_device]
    pub(super) fn times(self, other: Self) -> Self {
        let Pair { high, low } = self.high.times(other.high);
        Pair { high, low: self.high.fma(other.low, self.low.fma(other.high, low)) }
    }

    /// The sum with one that is not larger, to about twice the digits.
    #[inline_on_device]
    pub(super) fn plus_smaller(self, smaller: Self) -> Self {
        let Pair { high, low } = self.high.plus_smaller(smaller.high);
        Pair { high, low: low + (self.low + smaller.low) }
    }

    /// The value, rounded.
    #[inline_on_device]
    pub(super) fn value(self) -> R {
        self.high + self.low
    }
}

macro_rules! real {
    (
        $type:ident, $bits:ident, $signed:ident, $digits:literal, $fma:ident, $sqrt:ident, $floor:ident,
        shift $shift:literal, large $large:literal, exponents $limit:literal, guard $guard:literal,
        cube_root $magic:literal in $steps:literal,
        $($name:ident: $high:expr, $low:literal;)*
    ) => {
        impl Real for $type {
            const ZERO: Self = 0.0;
            const HALF: Self = 0.5;
            const ONE: Self = 1.0;
            const TWO: Self = 2.0;
            const INFINITY: Self = $type::INFINITY;
            const NAN: Self = $type::NAN;
            const NEGLIGIBLE: Self = $type::EPSILON / 4.0;
            const LARGE: Self = $large;
            const EXPONENT_LIMIT: Self = $limit;
            const GUARD: i32 = $guard;
            const EXPONENT_BIAS: i32 = $type::MAX_EXP - 1;
            const CUBE_ROOT_STEPS: usize = $steps;
            const LOG2_E: Self = core::$type::consts::LOG2_E;
            const LOG2_10: Self = core::$type::consts::LOG2_10;
            const FRAC_1_SQRT_2: Self = core::$type::consts::FRAC_1_SQRT_2;
            $( const $name: Pair<Self> = Pair { high: $high, low: $low }; )*
            #[inline_on_device]
            fn of(integer: i32) -> Self {
                integer as $type
            }
            #[inline_on_device]
            fn fma(self, factor: Self, summand: Self) -> Self {
                machine::$fma(self, factor, summand)
            }
            #[inline_on_device]
            fn sqrt(self) -> Self {
                machine::$sqrt(self)
            }
            #[inline_on_device]
            fn floor(self) -> Self {
                machine::$floor(self)
            }
            #[inline_on_device]
            fn abs(self) -> Self {
                $type::abs(self)
            }
            #[inline_on_device]
            fn with_sign_of(self, other: Self) -> Self {
                self.copysign(other)
            }
            #[inline_on_device]
            fn is_negative(self) -> bool {
                self.is_sign_negative()
            }
            #[inline_on_device]
            fn round(self) -> (Self, i32) {
                // Adding this rounds to an integer and leaves it in the low bits.
                const SHIFT: $type = $shift;
                let shifted = self + SHIFT;
                (shifted - SHIFT, shifted.to_bits().wrapping_sub(SHIFT.to_bits()) as i32)
            }
            #[inline_on_device]
            fn power_of_two(n: i32) -> Self {
                $type::from_bits((n.wrapping_add($type::MAX_EXP - 1) as $bits) << ($digits - 1))
            }
            #[inline_on_device]
            fn split(self) -> (Self, i32) {
                const SQRT_HALF: $bits = core::$type::consts::FRAC_1_SQRT_2.to_bits();
                const FRACTION: $bits = (1 << ($digits - 1)) - 1;
                const UNIT: $type = ((1 as $bits) << ($digits - 1)) as $type;
                let (x, bias) =
                    if self < $type::MIN_POSITIVE { (self * UNIT, 1 - $digits) } else { (self, 0) };
                // The difference from the bits of √½ has the exponent in its upper bits.
                let field = x.to_bits().wrapping_sub(SQRT_HALF) & !FRACTION;
                let significand = $type::from_bits(x.to_bits().wrapping_sub(field));
                (significand - 1.0, (field as $signed >> ($digits - 1)) as i32 + bias)
            }
            #[inline_on_device]
            fn estimate_inverse_cube_root(self) -> Self {
                $type::from_bits(($magic as $bits).wrapping_sub(self.to_bits() / 3))
            }
        }
    };
}

real! {
    f32, u32, i32, 24, fma_f32, sqrt_f32, floor_f32,
    shift 12_582_912.0, large 67_108_864.0, exponents 125.0, guard 24, cube_root 0x54a2_1d2a_u32 in 2,
    LN_2: 0.693_145_75, 1.428_606_8e-6;
    LOG10_2: 0.301_025_4, 4.605_039e-6;
    LN_10: core::f32::consts::LN_10, -3.197_543_6e-8;
    FRAC_1_LN_10: core::f32::consts::LOG10_E, -1.010_305e-8;
    TWO_THIRDS: 2.0 / 3.0, -1.986_821_6e-8;
    PI: core::f32::consts::PI, -8.742_278e-8;
    GELU_LINEAR: 1.595_769_2, -4.534_068e-8;
    GELU_CUBIC: 0.071_354_814, 2.398_832_5e-9;
}
real! {
    f64, u64, i64, 53, fma_f64, sqrt_f64, floor_f64,
    shift 6_755_399_441_055_744.0, large 18_014_398_509_481_984.0, exponents 800.0, guard 54,
    cube_root 0x553e_f0ff_289d_d796_u64 in 3,
    LN_2: 0.693_147_180_559_208_2, 7.371_002_565_167_799e-13;
    LOG10_2: 0.301_029_995_663_611_77, 3.694_239_077_158_931e-13;
    LN_10: core::f64::consts::LN_10, -2.170_756_223_382_249_4e-16;
    FRAC_1_LN_10: core::f64::consts::LOG10_E, 1.098_319_650_216_765e-17;
    TWO_THIRDS: 2.0 / 3.0, 3.700_743_415_417_188e-17;
    PI: core::f64::consts::PI, 1.224_646_799_147_353_2e-16;
    GELU_LINEAR: 1.595_769_121_605_730_8, -9.969_308_809_110_92e-17;
    GELU_CUBIC: 0.071_354_816_272_600_25, -6.175_149_918_155_315e-19;
}
