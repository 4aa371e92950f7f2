//! Mathematical functions of tiles of floats. Error bounds stand with the functions of one element, in
//! [`crate::math`].

use super::Operand;
use super::operand::{Combined, Fetch, Promoted};
use crate::arch;
use crate::element::{ApproximateFloat, Cast, Element, Float, Promote, WholeExponent};
use crate::layout::Layout;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
use crate::tile::{Spread, Tile};

macro_rules! functions {
    ($class:ident: $($(#[$attribute:meta])* $name:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline_on_device]
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
    ///
    /// # Accuracy
    ///
    /// `f16` and `bf16` compute in `f32` and round once. [`math`](crate::math#errors) has the error bounds of all functions, and says which of
    /// them give the same bits on every device.
    exp;
    /// 2 to the power of each element.
    exp2;
    /// Natural logarithms.
    log;
    /// Base-2 logarithms.
    log2;
    /// Square roots, correctly rounded.
    ///
    /// # On a GPU
    ///
    /// `sqrt.rn.f32` or `sqrt.rn.f64` (PTX ISA, "Floating Point Instructions: sqrt").
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
    /// The greatest integers that are not above each element.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], -2.5f32);
    ///     assert_eq!((t.floor().at([0]), t.ceil().at([0])), (-3.0, -2.0));
    ///     assert_eq!((t.trunc().at([0]), t.round_even().at([0])), (-2.0, -2.0));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// `cvt.rmi.f32.f32` or `cvt.rmi.f64.f64` (PTX ISA, "Data Movement and Conversion Instructions: cvt"). [`ceil`](Self::ceil) is `.rpi`,
    /// [`trunc`](Self::trunc) is `.rzi`, and [`round_even`](Self::round_even) is `.rni`.
    floor;
    /// The least integers that are not below each element: see [`floor`](Self::floor).
    ceil;
    /// Elements without their fractions: see [`floor`](Self::floor).
    trunc;
    /// The nearest integers, halves to the even one: see [`floor`](Self::floor).
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
    /// The error function.
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
    /// The logistic function, `1 / (1 + e^-x)`.
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
    /// The usual approximation of [`gelu`](Self::gelu), `x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2`; -0 for negative infinity.
    gelu_tanh;
}
functions! { ApproximateFloat:
    /// e to the power of each element, by one hardware instruction after a scaling.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 1.0f32);
    ///     assert!((t.exp_approximate().at([0]) - 2.718_281_8).abs() < 1e-6);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// [`ApproximateFloat`] has the error bounds of all approximations. The CPU may be more accurate than a GPU.
    ///
    /// # On a GPU
    ///
    /// `ex2.approx.ftz.f32` (PTX ISA, "Floating Point Instructions: ex2"). The other approximations are these instructions:
    ///
    /// | method | instruction | section of the PTX ISA |
    /// |---|---|---|
    /// | [`log_approximate`](Self::log_approximate) [`log2_approximate`](Self::log2_approximate) | `lg2.approx.f32` | "Floating Point Instructions: lg2" |
    /// | [`sqrt_approximate`](Self::sqrt_approximate) | `sqrt.approx.f32` | "Floating Point Instructions: sqrt" |
    /// | [`rsqrt_approximate`](Self::rsqrt_approximate) | `rsqrt.approx.ftz.f32` | "Floating Point Instructions: rsqrt" |
    /// | [`reciprocal_approximate`](Self::reciprocal_approximate) | `rcp.approx.ftz.f32` | "Floating Point Instructions: rcp" |
    /// | [`sin_approximate`](Self::sin_approximate) | `sin.approx.f32` | "Floating Point Instructions: sin" |
    /// | [`cos_approximate`](Self::cos_approximate) | `cos.approx.f32` | "Floating Point Instructions: cos" |
    exp_approximate;
    /// Natural logarithms, by one hardware instruction before a scaling: see [`exp_approximate`](Self::exp_approximate).
    log_approximate;
    /// Base-2 logarithms, by one hardware instruction: see [`exp_approximate`](Self::exp_approximate).
    log2_approximate;
    /// Square roots, by one hardware instruction: see [`exp_approximate`](Self::exp_approximate).
    sqrt_approximate;
    /// Reciprocals of the square roots, by one hardware instruction: see [`exp_approximate`](Self::exp_approximate).
    rsqrt_approximate;
    /// Reciprocals, by one hardware instruction: see [`exp_approximate`](Self::exp_approximate).
    reciprocal_approximate;
    /// Sines, by one hardware instruction, good between -pi and pi: see [`exp_approximate`](Self::exp_approximate).
    sin_approximate;
    /// Cosines, by one hardware instruction, good between -pi and pi: see [`exp_approximate`](Self::exp_approximate).
    cos_approximate;
    /// Logistic function, by two hardware instructions.
    sigmoid_approximate;
    /// Sigmoid-weighted linear units, by one hardware instruction.
    ///
    /// # Accuracy
    ///
    /// The error is at most 2.5 · 10⁻⁴ of the element, which is about the error of results of 16 bits.
    silu_approximate;
    /// `log(1 + e^x)`, by two hardware instructions.
    softplus_approximate;
    /// Gaussian-error linear units with the hyperbolic tangent, by one hardware instruction.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let units = cx.full(shape![4], 1.0_f32).gelu_tanh_approximate();
    ///     assert!((units.at([0]) - 0.841192).abs() < 2.5e-4);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// The error is at most 2.5 · 10⁻⁴ of the element, which is about the error of results of 16 bits.
    gelu_tanh_approximate;
}

/// Functions that the hardware has for two 16-bit floats at once.
macro_rules! packed_functions {
    ($($(#[$attribute:meta])* $name:ident $pair:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline_on_device]
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
    /// 2 to the power of each element, by one hardware instruction.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let x = cx.full(shape![4], f16::from_f32(-2.0));
    ///     assert_eq!(x.exp2_approximate().at([2]), f16::from_f32(0.25));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// `ex2.approx.ftz.f32` (PTX ISA, "Floating Point Instructions: ex2"). Two elements of 16 bits are one instruction: `ex2.approx.f16x2`, or
    /// `ex2.approx.ftz.bf16x2` from `sm_90` on (PTX ISA, "Half Precision Floating Point Instructions: ex2").
    exp2_approximate exp2_approximate_pair;
    /// Hyperbolic tangents, by one hardware instruction.
    ///
    /// # On a GPU
    ///
    /// `tanh.approx.f32` (PTX ISA, "Floating Point Instructions: tanh"). Two elements of 16 bits are one instruction: `tanh.approx.f16x2`, or
    /// `tanh.approx.bf16x2` from `sm_90` on (PTX ISA, "Half Precision Floating Point Instructions: tanh").
    tanh_approximate tanh_approximate_pair;
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// `self * factor + summand`, rounded once.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 3.0f32);
    ///     assert_eq!(t.fma(2.0, 1.0).at([0]), 7.0);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// `factor` and `summand` broadcast. Their elements have the type of this tile.
    ///
    /// # On a GPU
    ///
    /// `fma.rn.f32` or `fma.rn.f64` (PTX ISA, "Floating Point Instructions: fma"). Two elements of 16 bits are one instruction,
    /// `fma.rn.f16x2` or `fma.rn.bf16x2` (PTX ISA, "Half Precision Floating Point Instructions: fma").
    #[inline_on_device]
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

    /// The angles of the points `(x, self)`, between -pi and pi.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let y = cx.full(shape![4], 1.0f32);
    ///     assert_eq!(y.atan2(-0.0).at([0]), core::f32::consts::FRAC_PI_2);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// `x` broadcasts, and both sides are promoted to their common type.
    #[inline_on_device]
    pub fn atan2<R: Operand<T, S, L>>(self, x: R) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Float>,
    {
        x.combine(self, |y, x| Float::atan2(Cast::<Promoted<T, S, L, R>>::cast(y), T::promote(x)))
    }

    /// `√(self² + other²)`, without overflow or underflow on the way.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 3e30f32).hypot(4e30);
    ///     assert!((t.at([0]) / 5e30 - 1.0).abs() < 1e-6);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// `other` broadcasts, and both sides are promoted to their common type.
    #[inline_on_device]
    pub fn hypot<R: Operand<T, S, L>>(self, other: R) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Float>,
    {
        other.combine(self, |a, b| Float::hypot(Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b)))
    }

    /// Elements to the power `exponent`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 4.0f32);
    ///     assert_eq!(t.pow(1.5).at([0]), 8.0);
    ///     assert_eq!(t.pow(cx.full(shape![2, 1], -1i32)).at([1, 3]), 0.25);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// `exponent` broadcasts, and both sides are promoted to their common type.
    ///
    /// # Accuracy
    ///
    /// [`math`](crate::math) has the error bound. Special values are those of C's `pow` (Annex F.9.4.4). 1 to any power is 1, and so is any
    /// number to the power 0. A negative number to a power that is not whole is NaN.
    #[inline_on_device]
    pub fn pow<R: Operand<T, S, L>>(self, exponent: R) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Float>,
    {
        exponent.combine(self, |x, y| Float::pow(Cast::<Promoted<T, S, L, R>>::cast(x), T::promote(y)))
    }

    /// Elements to a whole power.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], -2.0f32);
    ///     assert_eq!(t.powi(3).at([0]), -8.0);
    ///     assert_eq!(t.powi(cx.iota::<i32>(shape![4])).at([2]), 4.0);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The exponent is an `i32`, or a tile of integers of up to 32 bits or of `bool`, which broadcasts.
    ///
    /// # Accuracy
    ///
    /// As accurate as [`Tile::pow`] for every exponent. Constant exponents from -1 to 4 cost as much as the products.
    #[inline_on_device]
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
    #[inline_on_device]
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
