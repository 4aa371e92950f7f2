//! Operations with modes: how results round, whether subnormal numbers count, how accurate a function is.
//!
//! [`modes`](super::modes) lists what goes with what. Results are the same bits on the CPU and on a GPU, but for those in
//! the modes `Approximate` and `Full`, which on the CPU are more accurate.

use super::Operand;
use super::modes::{ArithmeticMode, DivisionMode, FlushMode, FunctionMode, FusedMode, RootMode};
use super::operand::{Combined, Fetch, Promoted};
use crate::element::{Cast, Element, Number, Promote};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::tile::{Spread, Tile};

macro_rules! binary {
    ($($(#[$attribute:meta])* $name:ident = $mode:ident::$function:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline(always)]
            pub fn $name<R: Operand<T, S, L>, M: $mode<Promoted<T, S, L, R>>>(
                self,
                other: R,
                _mode: M,
            ) -> Combined<T, S, L, R>
            where
                T: Promote<R::Element, Output: Number>,
            {
                other.combine(self, |a, b| M::$function(Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b)))
            }
        )* }
    };
}
binary! {
    /// `self + other` in a mode, or a tuple of modes.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (one, tiny) = (cx.full(shape![4], 1.0f32), 1e-30);
    ///     assert_eq!(one.add_with(tiny, TowardZero).at([0]), 1.0);
    ///     assert_eq!(one.add_with(tiny, TowardPositive).at([0]), 1.0f32.next_up());
    ///     let subnormal = cx.full(shape![4], 1e-40f32);
    ///     assert_eq!(subnormal.add_with(subnormal, (TowardZero, FlushToZero)).at([0]), 0.0);
    /// });
    /// ```
    #[doc(alias("addf"))]
    add_with = ArithmeticMode::add;
    /// `self - other` in a mode, or a tuple of modes.
    #[doc(alias("subf"))]
    sub_with = ArithmeticMode::sub;
    /// `self * other` in a mode, or a tuple of modes.
    #[doc(alias("mulf"))]
    mul_with = ArithmeticMode::mul;
    /// `self / other` in a mode, or a tuple of modes.
    ///
    /// `Full` errs by at most 2 ulp. `Approximate` does where |other| lies in [2⁻¹²⁶, 2¹²⁶]; for larger divisors a GPU
    /// returns 0, or NaN for an infinite dividend.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let one = cx.full(shape![4], 1.0f64);
    ///     let (below, above) = (one.div_with(3.0, TowardNegative), one.div_with(3.0, TowardPositive));
    ///     assert_eq!(below.at([0]).next_up(), above.at([0]));
    /// });
    /// ```
    #[doc(alias("divf", "truediv", "div_rn", "fdiv"))]
    div_with = DivisionMode::div;
}

macro_rules! unary {
    ($($(#[$attribute:meta])* $name:ident = $mode:ident::$function:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline(always)]
            pub fn $name<M: $mode<T>>(self, _mode: M) -> Self {
                Tile::from_registers_fn(|i| M::$function(self.registers().get(i)))
            }
        )* }
    };
}
unary! {
    /// Square roots in a mode, or a tuple of modes. `Approximate` has a relative error below 2⁻²³.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let root = cx.full(shape![4], 2.0f32).sqrt_with(TowardPositive);
    ///     assert_eq!(root.at([0]), 1.414_213_7);
    /// });
    /// ```
    sqrt_with = RootMode::sqrt;
    /// e to the power of each element: `Full`, as [`exp`](Tile::exp), or `Approximate`, by one hardware instruction after a
    /// scaling.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let e = cx.full(shape![4], 1.0f32).exp_with(Approximate).at([0]);
    ///     assert!((e - 2.718_281_8).abs() < 1e-6);
    /// });
    /// ```
    exp_with = FunctionMode::exp;
    /// Natural logarithms: `Full`, as [`log`](Tile::log), or `Approximate`, by one hardware instruction before a scaling.
    log_with = FunctionMode::log;
    /// Base-2 logarithms: `Full`, as [`log2`](Tile::log2), or `Approximate`, by the hardware.
    log2_with = FunctionMode::log2;
    /// Sines: `Full`, as [`sin`](Tile::sin), or `Approximate`, by the hardware, which is good between -pi and pi.
    sin_with = FunctionMode::sin;
    /// Cosines: `Full`, as [`cos`](Tile::cos), or `Approximate`, by the hardware, which is good between -pi and pi.
    cos_with = FunctionMode::cos;
    /// Hyperbolic tangents: `Full`, as [`tanh`](Tile::tanh), or `Approximate`, by the hardware.
    tanh_with = FunctionMode::tanh;
    /// 2 to the power of each element: `Full`, as [`exp2`](Tile::exp2), or `Approximate` or `FlushToZero`, by the hardware,
    /// where subnormal numbers become zero; the tuple of both says the same.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.tile_of([3.0f32, -140.0]);
    ///     let powers = t.exp2_with((Approximate, FlushToZero));
    ///     assert_eq!([powers.at([0]), powers.at([1])], [8.0, 0.0]);
    /// });
    /// ```
    exp2_with = FlushMode::exp2;
    /// Reciprocals of the square roots: `Full`, as [`rsqrt`](Tile::rsqrt), or `Approximate` or `FlushToZero`, by the
    /// hardware, where subnormal elements count as zero.
    rsqrt_with = FlushMode::rsqrt;
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// `self * factor + summand`, rounded once in a mode, or a tuple of modes.
    ///
    /// `factor` and `summand` broadcast; their elements have the type of this tile.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 3.0f32);
    ///     assert_eq!(t.fma_with(2.0, 1e-30, TowardPositive).at([0]), 6.0f32.next_up());
    /// });
    /// ```
    #[inline(always)]
    pub fn fma_with<F, A, M>(self, factor: F, summand: A, _mode: M) -> Tile<T, A::Shape, A::Layout>
    where
        F: Operand<T, S, L, Element = T>,
        A: Operand<T, F::Shape, F::Layout, Element = T>,
        M: FusedMode<T>,
    {
        let left = Spread::<T, S, L, A::Shape, A::Layout>::new(self);
        let factor = factor.prepare::<A::Shape, A::Layout>();
        let summand = summand.prepare::<A::Shape, A::Layout>();
        Tile::from_registers_fn(|i| M::fma(left.get(i), factor.get(i), summand.get(i)))
    }
}
