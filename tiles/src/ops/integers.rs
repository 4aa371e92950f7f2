//! Operations of integers alone: high products, saturating arithmetic, and bits as bits.

use super::Operand;
use super::operand::{Combined, Promoted};
use crate::element::{Cast, Element, Integer, Promote};
use crate::layout::{Join, Layout};
use crate::sealed::Sealed;
use crate::shape::{Broadcast, Shape};
use crate::tile::Tile;

macro_rules! binary {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        /// Both sides are promoted to their common type.
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
            $(
                $(#[$attribute])*
                #[inline_on_device]
                pub fn $name<R: Operand<T, S, L>>(
                    self,
                    other: R,
                ) -> Combined<T, S, L, R>
                where
                    T: Promote<R::Element, Output: Integer>,
                {
                    other.combine(self, |a, b| Integer::$name(Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b)))
                }
            )*

            /// Distances, as unsigned integers of the same width, which always hold them.
            ///
            /// ```
            /// use cuda_tiles::prelude::*;
            /// cuda_tiles::cpu::block(|cx| {
            ///     assert_eq!(cx.full(shape![4], -100i8).abs_diff(100).at([0]), 200u8);
            /// });
            /// ```
            #[inline_on_device]
            pub fn abs_diff<R: Operand<T, S, L>>(
                self,
                other: R,
            ) -> Tile<<Promoted<T, S, L, R> as Integer>::Unsigned, R::Shape, R::Layout>
            where
                T: Promote<R::Element, Output: Integer>,
            {
                other.combine(self, |a, b| Integer::abs_diff(Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b)))
            }
        }
    };
}
binary! {
    /// The upper halves of the products in twice the width, of signed and unsigned integers.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.full(shape![4], 1u32 << 31).mul_hi(6).at([0]), 3);
    ///     assert_eq!(cx.full(shape![4], -1i64).mul_hi(5).at([0]), -1);
    /// });
    /// ```
    #[doc(alias("mulhii", "umulhi"))]
    mul_hi;
    /// Sums, clamped to the range of the type.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 100i8);
    ///     assert_eq!((t.saturating_add(100).at([0]), (t + 100).at([0])), (127, -56));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The operand broadcasts, and both sides are promoted to their common type.
    saturating_add;
    /// Differences, clamped to the range of the type: see [`saturating_add`](Self::saturating_add).
    saturating_sub;
    /// Products, clamped to the range of the type: see [`saturating_add`](Self::saturating_add).
    saturating_mul;
}

macro_rules! unary {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline_on_device]
            pub fn $name(self) -> Self
            where
                T: Integer,
            {
                Tile::from_registers_fn(|i| Integer::$name(self.registers().get(i)))
            }
        )* }
    };
}
unary! {
    /// The number of bits of each element that are 1 (population count).
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 0b1101_0000u8);
    ///     assert_eq!((t.count_ones().at([0]), t.leading_zeros().at([0]), t.trailing_zeros().at([0])), (3, 0, 4));
    ///     assert_eq!((t.reverse_bits().at([0]), t.rotate_left(2).at([0])), (0b0000_1011, 0b0100_0011));
    /// });
    /// ```
    count_ones;
    /// The number of bits above the highest 1; of 0 it is the width.
    ///
    /// [`count_ones`](Self::count_ones) has an example.
    leading_zeros;
    /// The number of bits below the lowest 1; of 0 it is the width.
    ///
    /// [`count_ones`](Self::count_ones) has an example.
    trailing_zeros;
    /// The bits in the opposite order.
    ///
    /// [`count_ones`](Self::count_ones) has an example.
    reverse_bits;
}

/// An amount to rotate bits by: a tile of any integer type whose shape broadcasts, or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an amount to rotate by",
    label = "expected a tile of integers or a `u32`"
)]
pub trait Amount<S: Shape, L: Layout>: Sealed {
    /// The common shape.
    type Shape: Shape;
    /// The common layout.
    type Layout: Layout;
    /// `function` of the values and these amounts.
    #[doc(hidden)]
    fn apply<T: Integer>(
        self,
        values: Tile<T, S, L>,
        function: impl Fn(T, u32) -> T,
    ) -> Tile<T, Self::Shape, Self::Layout>;
}

impl<S: Shape, L: Layout> Amount<S, L> for u32 {
    type Shape = S;
    type Layout = L;
    #[inline_on_device]
    fn apply<T: Integer>(self, values: Tile<T, S, L>, function: impl Fn(T, u32) -> T) -> Tile<T, S, L> {
        Tile::from_registers_fn(|i| function(values.registers().get(i), self))
    }
}

impl<U, R, M, S, L> Amount<S, L> for Tile<U, R, M>
where
    U: Integer,
    R: Shape,
    M: Layout,
    S: Shape + Broadcast<R>,
    L: Layout + Join<M>,
{
    type Shape = <S as Broadcast<R>>::Output;
    type Layout = <L as Join<M>>::Output;
    #[inline_on_device]
    fn apply<T: Integer>(
        self,
        values: Tile<T, S, L>,
        function: impl Fn(T, u32) -> T,
    ) -> Tile<T, Self::Shape, Self::Layout> {
        Operand::<T, S, L>::combine(self, values, |value, amount| function(value, amount.to_rotation()))
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The bits moved up by `amount`, modulo the width; those that leave at the top come in at the bottom.
    ///
    /// A negative amount moves down. The amount is a `u32`, or a tile of integers, which broadcasts.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 0x81_u8);
    ///     assert_eq!((t.rotate_left(1).at([0]), t.rotate_right(1).at([0])), (0x03, 0xc0));
    ///     assert_eq!(t.rotate_left(cx.tile_of([0, 1, 8, -1])).at([3]), 0xc0);
    /// });
    /// ```
    #[inline_on_device]
    pub fn rotate_left<A: Amount<S, L>>(self, amount: A) -> Tile<T, A::Shape, A::Layout>
    where
        T: Integer,
    {
        amount.apply(self, Integer::rotate_left)
    }

    /// The bits moved down by `amount`, modulo the width; those that leave at the bottom come in at the top.
    ///
    /// A negative amount moves up. [`rotate_left`](Self::rotate_left) has an example.
    #[inline_on_device]
    pub fn rotate_right<A: Amount<S, L>>(self, amount: A) -> Tile<T, A::Shape, A::Layout>
    where
        T: Integer,
    {
        amount.apply(self, Integer::rotate_right)
    }
}
