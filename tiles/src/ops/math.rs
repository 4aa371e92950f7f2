//! Mathematical functions of tiles of floats. Error bounds stand with the functions of one element, in
//! [`crate::math`].

use super::Operand;
use super::operand::{Combined, Fetch, Promoted};
use crate::arch;
use crate::element::{ApproximateFloat, Cast, Classify, Element, Float, Promote, WholeExponent};
use crate::layout::Layout;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::tile::{Spread, Tile};

macro_rules! functions {
    ($class:ident: $($(#[$attribute:meta])* $name:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline(always)]
            pub fn $name(self) -> Self
            where
                T: $class,
            {
                Tile::from_registers_fn(|i| $class::$name(self.registers().get(i)))
            }
        )* }
    };
}
functions! { Float:
    /// e to the power of each element.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| assert_eq!(cx.full(shape![4], 0.0f32).exp().at([3]), 1.0));
    /// ```
    exp;
    /// 2 to the power of each element.
    exp2;
    /// Natural logarithms.
    log;
    /// Base-2 logarithms.
    log2;
    /// Square roots, correctly rounded.
    sqrt;
    /// Reciprocals of the square roots.
    rsqrt;
    /// Sines of angles in radians.
    sin;
    /// Cosines of angles in radians.
    cos;
    /// Tangents of angles in radians.
    tan;
    /// Hyperbolic tangents.
    tanh;
    /// The greatest integers not above.
    floor;
    /// The least integers not below.
    ceil;
    /// Elements without their fractions.
    trunc;
    /// The nearest integers, halves to the even one.
    round_even;
}
functions! { Float:
    /// 10 to the power of each element.
    exp10;
    /// e to the power of each element, minus 1, without cancellation.
    expm1;
    /// Base-10 logarithms.
    log10;
    /// Natural logarithms of 1 plus each element, without cancellation.
    log1p;
    /// Arc sines, between -pi/2 and pi/2.
    asin;
    /// Arc cosines, between 0 and pi.
    acos;
    /// Arc tangents, between -pi/2 and pi/2.
    atan;
    /// Hyperbolic sines.
    sinh;
    /// Hyperbolic cosines.
    cosh;
    /// Inverse hyperbolic sines.
    asinh;
    /// Inverse hyperbolic cosines, not negative.
    acosh;
    /// Inverse hyperbolic tangents.
    atanh;
    /// Error function.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let x = cx.full(shape![4], 0.5f32);
    ///     let whole = x.erf() + x.erfc();
    ///     assert!((whole.at([0]) - 1.0).abs() < 1e-6);
    /// });
    /// ```
    erf;
    /// Complementary error function, without cancellation.
    erfc;
    /// Cube roots.
    cbrt;
    /// Reciprocals, correctly rounded.
    reciprocal;
    /// Logistic function, `1 / (1 + e^-x)`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let x = cx.full(shape![4], -3.0f32);
    ///     assert!((x.sigmoid() - 0.047_425_874).abs().at([1]) < 1e-8);
    /// });
    /// ```
    sigmoid;
    /// Sigmoid-weighted linear units (swish), `x / (1 + e^-x)`; -0 for negative infinity.
    silu;
    /// `log(1 + e^x)`, without overflow.
    softplus;
    /// Gaussian-error linear units, `x (1 + erf(x / √2)) / 2`; -0 for negative infinity.
    gelu;
    /// Their usual approximation, `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`; -0 for negative infinity.
    gelu_tanh;
}
functions! { ApproximateFloat:
    /// e to the power of each element, by one hardware instruction after a scaling.
    exp_approximate;
    /// Natural logarithms, by one hardware instruction before a scaling.
    log_approximate;
    /// Base-2 logarithms, by the hardware.
    log2_approximate;
    /// Square roots, by the hardware.
    sqrt_approximate;
    /// Reciprocals of the square roots, by the hardware.
    rsqrt_approximate;
    /// Reciprocals, by the hardware.
    reciprocal_approximate;
    /// Sines, by the hardware; good between -pi and pi.
    sin_approximate;
    /// Cosines, by the hardware; good between -pi and pi.
    cos_approximate;
    /// Logistic function, by two hardware instructions.
    sigmoid_approximate;
    /// Sigmoid-weighted linear units, by one hardware instruction; off by at most 2.5 · 10⁻⁴ of the element, as results of 16 bits are by
    /// themselves.
    silu_approximate;
    /// `log(1 + e^x)`, by two hardware instructions.
    softplus_approximate;
    /// Gaussian-error linear units with the hyperbolic tangent, by one hardware instruction; off by at most 2.5 · 10⁻⁴ of the element, as
    /// results of 16 bits are by themselves.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let units = cx.full(shape![4], 1.0_f32).gelu_tanh_approximate();
    ///     assert!((units.at([0]) - 0.841192).abs() < 2.5e-4);
    /// });
    /// ```
    gelu_tanh_approximate;
}

/// Functions that the hardware has for two 16-bit floats at once.
macro_rules! packed_functions {
    ($($(#[$attribute:meta])* $name:ident $pair:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline(always)]
            pub fn $name(self) -> Self
            where
                T: ApproximateFloat,
            {
                let get = |i| self.registers().get(i);
                Tile::from_register_pairs(|i| T::$name(get(i)), |i| T::$pair(get(i), get(i + 1)))
            }
        )* }
    };
}
packed_functions! {
    /// 2 to the power of each element, by the hardware.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let x = cx.full(shape![4], f16::from_f32(-2.0));
    ///     assert_eq!(x.exp2_approximate().at([2]), f16::from_f32(0.25));
    /// });
    /// ```
    exp2_approximate exp2_approximate_pair;
    /// Hyperbolic tangents, by the hardware.
    tanh_approximate tanh_approximate_pair;
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// `self * factor + summand`, rounded once.
    ///
    /// `factor` and `summand` broadcast; their elements have the type of this tile.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 3.0f32);
    ///     assert_eq!(t.fma(2.0, 1.0).at([0]), 7.0);
    /// });
    /// ```
    #[inline(always)]
    pub fn fma<F, A>(self, factor: F, summand: A) -> Tile<T, A::Shape, A::Layout>
    where
        T: Float,
        F: Operand<T, S, L, Element = T>,
        A: Operand<T, F::Shape, F::Layout, Element = T>,
    {
        let left = Spread::<T, S, L, A::Shape, A::Layout>::new(self);
        let factor = factor.prepare::<A::Shape, A::Layout>();
        let summand = summand.prepare::<A::Shape, A::Layout>();
        Tile::from_register_pairs(
            |i| left.get(i).fma(factor.get(i), summand.get(i)),
            |i| {
                let [values, factors, summands] = [
                    [left.get(i), left.get(i + 1)],
                    [factor.get(i), factor.get(i + 1)],
                    [summand.get(i), summand.get(i + 1)],
                ];
                T::fma_pair(values, factors, summands)
            },
        )
    }

    /// Whether elements are infinite.
    #[inline(always)]
    #[doc(alias("isinf"))]
    pub fn is_infinite(self) -> Tile<bool, S, L>
    where
        T: Classify,
    {
        Tile::from_registers_fn(|i| self.registers().get(i).classify_infinite())
    }

    /// The angles of the points `(x, self)`, between -pi and pi; `x` broadcasts.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let y = cx.full(shape![4], 1.0f32);
    ///     assert_eq!(y.atan2(-0.0).at([0]), core::f32::consts::FRAC_PI_2);
    /// });
    /// ```
    #[inline(always)]
    pub fn atan2<R: Operand<T, S, L>>(self, x: R) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Float>,
    {
        x.combine(self, |y, x| Float::atan2(Cast::<Promoted<T, S, L, R>>::cast(y), T::promote(x)))
    }

    /// `√(self² + other²)` without overflow or underflow on the way; `other` broadcasts.
    #[inline(always)]
    pub fn hypot<R: Operand<T, S, L>>(self, other: R) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Float>,
    {
        other.combine(self, |a, b| Float::hypot(Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b)))
    }

    /// Elements to the power `exponent`, which broadcasts. Special values are those of C's `pow` (Annex F.9.4.4): 1 to any
    /// power and any number to the power 0 is 1, and a negative number to a power that is not whole is NaN.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 4.0f32);
    ///     assert_eq!(t.pow(1.5).at([0]), 8.0);
    ///     assert_eq!(t.pow(cx.full(shape![2, 1], -1i32)).at([1, 3]), 0.25);
    /// });
    /// ```
    #[inline(always)]
    pub fn pow<R: Operand<T, S, L>>(self, exponent: R) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Float>,
    {
        exponent.combine(self, |x, y| Float::pow(Cast::<Promoted<T, S, L, R>>::cast(x), T::promote(y)))
    }

    /// Elements to a whole power: an `i32`, or a tile of integers of up to 32 bits or of `bool`, which broadcasts. As accurate
    /// as [`Tile::pow`] for every exponent; constant ones from -1 to 4 cost as much as the products.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], -2.0f32);
    ///     assert_eq!(t.powi(3).at([0]), -8.0);
    ///     assert_eq!(t.powi(cx.iota::<i32>(shape![4])).at([2]), 4.0);
    /// });
    /// ```
    #[inline(always)]
    pub fn powi<R>(self, exponent: R) -> Tile<T, R::Shape, R::Layout>
    where
        T: Float,
        R: Operand<i32, S, L, Element: WholeExponent>,
    {
        let left = Spread::<T, S, L, R::Shape, R::Layout>::new(self);
        let right = exponent.prepare::<R::Shape, R::Layout>();
        Tile::from_registers_fn(|i| Float::powi(left.get(i), right.get(i).to_exponent()))
    }

    /// The tile whose register `i` holds `one(i)`, or where there are several, whose registers `i` and `i + 1` hold `two(i)`.
    #[inline(always)]
    fn from_register_pairs(one: impl Fn(usize) -> T, two: impl Fn(usize) -> [T; 2]) -> Self {
        if Self::REGISTERS == 1 || !arch::TILES_IN_REGISTERS {
            return Tile::from_registers_fn(one);
        }
        let mut registers = Registers::from_fn(|_| T::ZERO);
        <L::Registers<S>>::unroll(0, 2, &mut |i| {
            let [low, high] = two(i);
            registers.set(i, low);
            registers.set(i + 1, high);
        });
        Tile::from_registers(registers)
    }
}
