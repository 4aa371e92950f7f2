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
            #[inline_on_device]
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
    ///
    /// # Shapes
    ///
    /// `other` broadcasts, and both sides are promoted to their common type.
    #[doc(alias("addf"))]
    add_with = ArithmeticMode::add;
    /// `self - other` in a mode, or a tuple of modes: see [`add_with`](Self::add_with).
    #[doc(alias("subf"))]
    sub_with = ArithmeticMode::sub;
    /// `self * other` in a mode, or a tuple of modes: see [`add_with`](Self::add_with).
    #[doc(alias("mulf"))]
    mul_with = ArithmeticMode::mul;
    /// `self / other` in a mode, or a tuple of modes.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let one = cx.full(shape![4], 1.0f64);
    ///     let (below, above) = (one.div_with(3.0, TowardNegative), one.div_with(3.0, TowardPositive));
    ///     assert_eq!(below.at([0]).next_up(), above.at([0]));
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// `Full` errs by at most 2 ulp. So does `Approximate` where |other| lies in [2⁻¹²⁶, 2¹²⁶]. For larger divisors a GPU returns 0, or NaN
    /// for an infinite dividend.
    #[doc(alias("divf", "truediv", "div_rn", "fdiv"))]
    div_with = DivisionMode::div;
}

macro_rules! unary {
    ($($(#[$attribute:meta])* $name:ident = $mode:ident::$function:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline_on_device]
            pub fn $name<M: $mode<T>>(self, _mode: M) -> Self {
                Tile::from_registers_fn(|i| M::$function(self.registers().get(i)))
            }
        )* }
    };
}
unary! {
    /// Square roots in a mode, or a tuple of modes.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let root = cx.full(shape![4], 2.0f32).sqrt_with(TowardPositive);
    ///     assert_eq!(root.at([0]), 1.414_213_7);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// `Approximate` has a relative error below 2⁻²³. The other modes are correctly rounded.
    sqrt_with = RootMode::sqrt;
    /// e to the power of each element in a mode, `Full` or `Approximate`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let e = cx.full(shape![4], 1.0f32).exp_with(Approximate).at([0]);
    ///     assert!((e - 2.718_281_8).abs() < 1e-6);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// `Full` is [`exp`](Tile::exp). `Approximate` is [`exp_approximate`](Tile::exp_approximate), which names the instruction.
    exp_with = FunctionMode::exp;
    /// Natural logarithms: `Full` is [`log`](Tile::log), and `Approximate` is [`log_approximate`](Tile::log_approximate).
    log_with = FunctionMode::log;
    /// Base-2 logarithms: `Full` is [`log2`](Tile::log2), and `Approximate` is [`log2_approximate`](Tile::log2_approximate).
    log2_with = FunctionMode::log2;
    /// Sines: `Full` is [`sin`](Tile::sin), and `Approximate` is [`sin_approximate`](Tile::sin_approximate).
    sin_with = FunctionMode::sin;
    /// Cosines: `Full` is [`cos`](Tile::cos), and `Approximate` is [`cos_approximate`](Tile::cos_approximate).
    cos_with = FunctionMode::cos;
    /// Hyperbolic tangents: `Full` is [`tanh`](Tile::tanh), and `Approximate` is [`tanh_approximate`](Tile::tanh_approximate).
    tanh_with = FunctionMode::tanh;
    /// 2 to the power of each element in a mode: `Full`, `Approximate`, `FlushToZero`, or the tuple of the last two.
    ///
    /// `Full` is [`exp2`](Tile::exp2). The others are one hardware instruction, in which subnormal numbers become zero:
    /// [`exp2_approximate`](Tile::exp2_approximate). All three mean the same.
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
    /// Reciprocals of the square roots in a mode: `Full`, `Approximate`, `FlushToZero`, or the tuple of the last two.
    ///
    /// `Full` is [`rsqrt`](Tile::rsqrt). The others are one hardware instruction, to which subnormal elements are zero:
    /// [`rsqrt_approximate`](Tile::rsqrt_approximate). All three mean the same.
    rsqrt_with = FlushMode::rsqrt;
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// `self * factor + summand`, rounded once in a mode, or a tuple of modes.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 3.0f32);
    ///     assert_eq!(t.fma_with(2.0, 1e-30, TowardPositive).at([0]), 6.0f32.next_up());
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// `factor` and `summand` broadcast. Their elements have the type of this tile.
    #[inline_on_device]
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
