//! Whole quotients and remainders of integers and floats.
//!
//! | | quotient rounded | remainder |
//! |---|---|---|
//! | `a / b`, `a % b`, [`div_rem`](Tile::div_rem) | toward zero (of floats not at all) | has the sign of `a` |
//! | [`floor_div`](Tile::floor_div), [`modulo`](Tile::modulo), [`divmod`](Tile::divmod) | down | has the sign of `b` |
//! | [`ceil_div`](Tile::ceil_div) | up | |
//!
//! Every pair of integers has a result: by zero quotients are 0 and remainders are the dividend; the least signed integer
//! by -1 is itself, with the remainder 0. Division by a constant becomes multiplication.

use super::Operand;
use super::operand::{Combined, Fetch, Promoted};
use crate::element::{Cast, Element, Number, Promote};
use crate::layout::Layout;
use crate::registers::Registers;
use crate::shape::Shape;
use crate::tile::{Spread, Tile};

macro_rules! one_result {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline_on_device]
            pub fn $name<R: Operand<T, S, L>>(self, other: R) -> Combined<T, S, L, R>
            where
                T: Promote<R::Element, Output: Number>,
            {
                other.combine(self, |a, b| Number::$name(Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b)))
            }
        )* }
    };
}
one_result! {
    /// Quotients rounded down.
    ///
    /// Of floats it is the floor of `self / other`. Integers divided by zero give 0.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], -7);
    ///     assert_eq!((t.floor_div(2).at([0]), (t / 2).at([0]), t.ceil_div(2).at([0])), (-4, -3, -3));
    /// });
    /// ```
    floor_div;
    /// Quotients rounded up.
    ///
    /// Of floats it is the ceiling of `self / other`. Integers divided by zero give 0. [`floor_div`](Self::floor_div) has an example.
    #[doc(alias("cdiv"))]
    ceil_div;
    /// Remainders with the sign of `other`: Python's `%`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], -7);
    ///     assert_eq!((t.modulo(3).at([0]), (t % 3).at([0])), (2, -1));
    ///     assert_eq!(cx.full(shape![4], -0.5f32).modulo(2.0).at([0]), 1.5);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// The remainder of floats is `self % other`, plus `other` where their signs differ, rounded once. A zero has the sign of `other`. By zero
    /// it is NaN. Of integers it is `self` by zero.
    modulo;
}

macro_rules! two_results {
    ($($(#[$attribute:meta])* $name:ident;)*) => {
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline_on_device]
            pub fn $name<R: Operand<T, S, L>>(self, other: R) -> (Combined<T, S, L, R>, Combined<T, S, L, R>)
            where
                T: Promote<R::Element, Output: Number>,
            {
                let left = Spread::<T, S, L, R::Shape, R::Layout>::new(self);
                let right = other.prepare::<R::Shape, R::Layout>();
                let both = Registers::<_, <R::Layout as Layout>::Registers<R::Shape>>::from_fn(|i| {
                    Number::$name(Cast::<Promoted<T, S, L, R>>::cast(left.get(i)), T::promote(right.get(i)))
                });
                (Tile::from_registers_fn(|i| both.get(i).0), Tile::from_registers_fn(|i| both.get(i).1))
            }
        )* }
    };
}
two_results! {
    /// Quotients cut off to whole numbers, and the remainders `self % other`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (quotient, rest) = cx.full(shape![4], -7.5f32).div_rem(2.0);
    ///     assert_eq!((quotient.at([0]), rest.at([0])), (-3.0, -1.5));
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// The remainder of floats is exact. So is the quotient below 2²² of f32 and 2⁵¹ of f64, and larger ones err by at most 2 ulp. Quotients and
    /// remainders of f16 and bf16 are rounded from f32. By zero the quotient is that of `/`, and the remainder is NaN.
    div_rem;
    /// Quotients rounded down to whole numbers, and the remainders of [`modulo`](Tile::modulo): Python's `divmod`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (quotient, rest) = cx.full(shape![4], -7).divmod(2);
    ///     assert_eq!((quotient.at([0]), rest.at([0])), (-4, 1));
    ///     // A tenth is a little more than 1/10 in binary, so that it fits nine times into one.
    ///     let one = cx.full(shape![4], 1.0f64);
    ///     assert_eq!((one.divmod(0.1).0.at([0]), one.floor_div(0.1).at([0])), (9.0, 10.0));
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// Quotients of floats are as exact as those of [`div_rem`](Tile::div_rem). They fit the remainder. [`floor_div`](Tile::floor_div) need not
    /// fit it, since it is the floor of a quotient that is already rounded.
    divmod;
}
