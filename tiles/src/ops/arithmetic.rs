//! The operators `+ - * / % & | ^ << >> - !` of tiles, and `+= -= *= /= %= &= |= ^= <<= >>=`.
//!
//! Shapes broadcast by NumPy's rules and element types promote by [`Promote`]. A scalar on the right takes the
//! tile's element type; one on the left may be any primitive number of that type. For `f16` and `bf16` tiles an
//! `f32` scalar is rounded to the tile's type, so that literals work.
//!
//! `a += b` is `a = a + b`: the result must have the element type and the shape of `a`, to which `b` broadcasts.
//!
//! ```
//! use cuda_tiles::prelude::*;
//! cuda_tiles::cpu::block(|cx| {
//!     let mut t = cx.iota::<i32>(shape![2, 4]).cast::<f32>();
//!     t -= t.mean::<1>();
//!     t *= 2.0;
//!     assert_eq!((t.at([0, 0]), t.at([1, 3])), (-3.0, 3.0));
//! });
//! ```

use super::Operand;
use super::modes::{NanMode, SuppressNan};
use super::operand::{Combined, Fetch, Promoted};
use crate::arch::{TILES_IN_REGISTERS, threads};
use crate::element::{Cast, Comparable, Element, Float, Integer, Logical, Number, Promote, bf16, f16};
use crate::layout::{Join, Layout};
use crate::registers::PowerOfTwo;
use crate::sealed::Sealed;
use crate::shape::{Broadcast, Shape};
use crate::tile::{Spread, Tile};
use core::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul,
    MulAssign, Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

/// A binary operator on promoted elements, for tile and scalar operands.
macro_rules! operators {
    ($class:ident: $($trait:ident $function:ident $element:ident;)*) => { $(
        impl<T, S, L, U, R, M> $trait<Tile<U, R, M>> for Tile<T, S, L>
        where
            T: Promote<U, Output: $class>,
            S: Shape + Broadcast<R>,
            L: Layout + Join<M>,
            U: Element,
            R: Shape,
            M: Layout,
        {
            type Output = Tile<<T as Promote<U>>::Output, <S as Broadcast<R>>::Output, <L as Join<M>>::Output>;
            #[inline_on_device]
            fn $function(self, other: Tile<U, R, M>) -> Self::Output {
                other.combine(self, |a, b| $class::$element(Cast::<<T as Promote<U>>::Output>::cast(a), T::promote(b)))
            }
        }

        impl<T: $class, S: Shape, L: Layout> $trait<T> for Tile<T, S, L> {
            type Output = Self;
            #[inline_on_device]
            fn $function(self, other: T) -> Self {
                Tile::from_registers_fn(|i| $class::$element(self.registers().get(i), other))
            }
        }
    )* };
}
operators! { Number: Add add add; Sub sub sub; Mul mul mul; Div div div; Rem rem rem; }
operators! { Logical: BitAnd bitand and; BitOr bitor or; BitXor bitxor xor; }

/// The same with the scalar on the left.
macro_rules! left_scalars {
    ($class:ident, $types:tt: $($trait:ident $function:ident $element:ident;)*) => { $( left_scalars!(@trait $class $types $trait $function $element); )* };
    (@trait $class:ident ($($type:ident)*) $trait:ident $function:ident $element:ident) => { $(
        impl<S: Shape, L: Layout> $trait<Tile<$type, S, L>> for $type {
            type Output = Tile<$type, S, L>;
            #[inline_on_device]
            fn $function(self, tile: Tile<$type, S, L>) -> Self::Output {
                Tile::from_registers_fn(|i| $class::$element(self, tile.registers().get(i)))
            }
        }
    )* };
}
left_scalars! { Number, (i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64): Add add add; Sub sub sub; Mul mul mul; Div div div; Rem rem rem; }
left_scalars! { Logical, (bool i8 i16 i32 i64 u8 u16 u32 u64): BitAnd bitand and; BitOr bitor or; BitXor bitxor xor; }

/// `f32` scalars with tiles of the 16-bit floats.
macro_rules! literals {
    ($($type:ident)*; $operators:tt) => { $( literals!(@type $type $operators); )* };
    (@type $type:ident ($($trait:ident $function:ident $element:ident;)*)) => { $(
        impl<S: Shape, L: Layout> $trait<f32> for Tile<$type, S, L> {
            type Output = Self;
            #[inline_on_device]
            fn $function(self, other: f32) -> Self {
                $trait::$function(self, Cast::<$type>::cast(other))
            }
        }
        impl<S: Shape, L: Layout> $trait<Tile<$type, S, L>> for f32 {
            type Output = Tile<$type, S, L>;
            #[inline_on_device]
            fn $function(self, tile: Tile<$type, S, L>) -> Self::Output {
                $trait::$function(Cast::<$type>::cast(self), tile)
            }
        }
    )* };
}
literals!(f16 bf16; (Add add add; Sub sub sub; Mul mul mul; Div div div; Rem rem rem;));

/// Shifts keep the left element type; the amount may be any integer type, and a negative amount counts as huge.
macro_rules! shifts {
    ($($trait:ident $function:ident $element:ident;)*) => { $(
        impl<T, S, L, U, R, M> $trait<Tile<U, R, M>> for Tile<T, S, L>
        where
            T: Integer,
            S: Shape + Broadcast<R>,
            L: Layout + Join<M>,
            U: Integer,
            R: Shape,
            M: Layout,
        {
            type Output = Tile<T, <S as Broadcast<R>>::Output, <L as Join<M>>::Output>;
            #[inline_on_device]
            fn $function(self, amount: Tile<U, R, M>) -> Self::Output {
                amount.combine(self, |value, amount| Integer::$element(value, amount.to_amount()))
            }
        }

        impl<T: Integer, S: Shape, L: Layout> $trait<u32> for Tile<T, S, L> {
            type Output = Self;
            #[inline_on_device]
            fn $function(self, amount: u32) -> Self {
                Tile::from_registers_fn(|i| Integer::$element(self.registers().get(i), amount))
            }
        }
    )* };
}
shifts! { Shl shl shl; Shr shr shr; }

/// A result that takes the place of a tile `Tile<T, S, L>`: one of the same elements and shape. If it is laid out otherwise, its elements
/// change their places.
#[diagnostic::on_unimplemented(
    message = "the result of this operation cannot take the place of the tile on the left",
    label = "the result has other elements than `{T}`, or another shape than `{S}`",
    note = "the operand on the right broadcasts to the shape of the tile on the left and is promoted to its type; if it is larger or wider: \
            `let sum = a + b`, or `.cast::<{T}>()` it first"
)]
pub trait Replaces<T: Element, S: Shape, L: Layout>: Sealed {
    /// The tile that takes the place.
    #[doc(hidden)]
    fn replacement(self) -> Tile<T, S, L>;
}

impl<T: Element, S: Shape, L: Layout, M: Layout<Block = L::Block>> Replaces<T, S, L> for Tile<T, S, M> {
    #[inline_on_device]
    fn replacement(self) -> Tile<T, S, L> {
        self.spread()
    }
}

/// `a op= b`: `a = a op b`, where that is a tile as `a` is.
macro_rules! assignments {
    ($($trait:ident $function:ident: $operator:ident $operation:ident;)*) => { $(
        impl<T, S, L, X> $trait<X> for Tile<T, S, L>
        where
            T: Element,
            S: Shape,
            L: Layout,
            Self: $operator<X, Output: Replaces<T, S, L>>,
        {
            #[inline_on_device]
            fn $function(&mut self, other: X) {
                *self = $operator::$operation(*self, other).replacement();
            }
        }
    )* };
}
assignments! {
    AddAssign add_assign: Add add;
    SubAssign sub_assign: Sub sub;
    MulAssign mul_assign: Mul mul;
    DivAssign div_assign: Div div;
    RemAssign rem_assign: Rem rem;
    BitAndAssign bitand_assign: BitAnd bitand;
    BitOrAssign bitor_assign: BitOr bitor;
    BitXorAssign bitxor_assign: BitXor bitxor;
    ShlAssign shl_assign: Shl shl;
    ShrAssign shr_assign: Shr shr;
}

impl<T: Number, S: Shape, L: Layout> Neg for Tile<T, S, L> {
    type Output = Self;
    #[inline_on_device]
    fn neg(self) -> Self {
        Tile::from_registers_fn(|i| Number::neg(self.registers().get(i)))
    }
}

impl<T: Logical, S: Shape, L: Layout> Not for Tile<T, S, L> {
    type Output = Self;
    #[inline_on_device]
    fn not(self) -> Self {
        Tile::from_registers_fn(|i| Logical::not(self.registers().get(i)))
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The smaller elements of both sides.
    ///
    /// A NaN loses against a number, and -0 is smaller than +0.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], f32::NAN);
    ///     assert_eq!(t.minimum(1.0).at([0]), 1.0);
    ///     assert!(t.minimum_with(1.0, PropagateNan).at([0]).is_nan());
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The operand broadcasts, and both sides are promoted to their common type.
    #[inline_on_device]
    #[doc(alias("minf"))]
    pub fn minimum<R: Operand<T, S, L>>(self, other: R) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Comparable>,
    {
        self.minimum_with(other, SuppressNan)
    }

    /// The smaller elements of both sides in a mode, or a tuple of modes.
    ///
    /// [`PropagateNan`](super::modes::PropagateNan) lets a NaN win. [`FlushToZero`](super::modes::FlushToZero) flushes elements of `f32`.
    /// [`minimum`](Self::minimum) has an example.
    #[inline_on_device]
    pub fn minimum_with<R: Operand<T, S, L>, N: NanMode<Promoted<T, S, L, R>>>(
        self,
        other: R,
        _mode: N,
    ) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Comparable>,
    {
        other.combine(self, |a, b| N::minimum(Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b)))
    }

    /// The larger elements of both sides.
    ///
    /// A NaN loses against a number, and +0 is larger than -0. [`minimum`](Self::minimum) has an example.
    #[inline_on_device]
    #[doc(alias("maxf"))]
    pub fn maximum<R: Operand<T, S, L>>(self, other: R) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Comparable>,
    {
        self.maximum_with(other, SuppressNan)
    }

    /// The larger elements of both sides in a mode, or a tuple of modes, as for [`minimum_with`](Self::minimum_with).
    #[inline_on_device]
    pub fn maximum_with<R: Operand<T, S, L>, N: NanMode<Promoted<T, S, L, R>>>(
        self,
        other: R,
        _mode: N,
    ) -> Combined<T, S, L, R>
    where
        T: Promote<R::Element, Output: Comparable>,
    {
        other.combine(self, |a, b| N::maximum(Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b)))
    }

    /// Elements moved into the range from `low` to `high`.
    ///
    /// An element below `low` becomes `low`, and one above `high` becomes `high`. A NaN stays. Where `low` is above `high` the result is
    /// `high`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![8]).clamp(2, 5);
    ///     assert_eq!((t.at([0]), t.at([3]), t.at([7])), (2, 3, 5));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// Both bounds broadcast, and have the type of this tile.
    #[inline_on_device]
    pub fn clamp<B, H>(self, low: B, high: H) -> Tile<T, H::Shape, H::Layout>
    where
        T: Comparable,
        B: Operand<T, S, L, Element = T>,
        H: Operand<T, B::Shape, B::Layout, Element = T>,
    {
        let value = Spread::<T, S, L, H::Shape, H::Layout>::new(self);
        let low = low.prepare::<H::Shape, H::Layout>();
        let high = high.prepare::<H::Shape, H::Layout>();
        Tile::from_registers_fn(|i| {
            let (value, low, high) = (value.get(i), low.get(i), high.get(i));
            let raised = if value.less(low) { low } else { value };
            if high.less(raised) { high } else { raised }
        })
    }

    /// The signs of elements: -1, 0 or 1.
    ///
    /// Zeros keep their sign, and a NaN stays.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.tile_of([-7, 0, 7, i32::MIN]);
    ///     assert_eq!([0, 1, 2, 3].map(|k| t.sign().at([k])), [-1, 0, 1, -1]);
    ///     assert_eq!([0, 1, 2, 3].map(|k| t.abs().at([k])), [7, 0, 7, i32::MIN]);
    /// });
    /// ```
    #[inline_on_device]
    pub fn sign(self) -> Self
    where
        T: Number,
    {
        Tile::from_registers_fn(|i| {
            let value = self.registers().get(i);
            if <T as Element>::ZERO.less(value) {
                T::ONE
            } else if value.less(<T as Element>::ZERO) {
                Number::neg(T::ONE)
            } else {
                value
            }
        })
    }

    /// The magnitudes of this tile with the signs of `sign`, also of zeros and NaN.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.full(shape![4], 2.5f32).copysign(-0.0).at([0]), -2.5);
    /// });
    /// ```
    #[inline_on_device]
    pub fn copysign<R: Operand<T, S, L, Element = T>>(self, sign: R) -> Tile<T, R::Shape, R::Layout>
    where
        T: Float,
    {
        sign.combine(self, Float::copysign)
    }

    /// Magnitudes; the least integer stays as it is.
    ///
    /// [`sign`](Self::sign) has an example.
    #[inline_on_device]
    #[doc(alias("absi"))]
    pub fn abs(self) -> Self
    where
        T: Number,
    {
        Tile::from_registers_fn(|i| Number::abs(self.registers().get(i)))
    }
}

impl<T: Float, S: Shape, L: Layout> Tile<T, S, L> {
    /// `self * factor`, for factors that are mostly 1.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let factor = cx.coordinate::<0>(shape![4, 1]).cast::<f32>().maximum(1.0);
    ///     let t = cx.full(shape![4, 2], 2.0f32).mul_unless_one(factor);
    ///     assert_eq!((t.at([0, 0]), t.at([3, 1])), (2.0, 6.0));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// `factor` broadcasts to the shape of this tile, and has its element type.
    ///
    /// # On a GPU
    ///
    /// A warp votes by `vote.sync.ballot.b32` (PTX ISA, "Parallel Synchronization and Communication Instructions: vote.sync"), and skips the
    /// products if all of its factors are 1.
    #[inline_on_device]
    pub fn mul_unless_one<F: Shape, M: Layout<Block = L::Block>>(self, factor: Tile<T, F, M>) -> Self
    where
        S: Broadcast<F, Output = S>,
    {
        let factors = Spread::<T, F, M, S, L>::new(factor);
        if TILES_IN_REGISTERS {
            let mut changes = false;
            <M::Registers<F>>::unroll(0, 1, &mut |i| changes |= factor.registers().get(i) != T::ONE);
            // SAFETY: all lanes of the warp run this alike. What they branch on is the same for all.
            if unsafe { threads::ballot(changes) } == 0 {
                return self;
            }
        }
        Tile::from_registers_fn(|i| Number::mul(self.registers().get(i), factors.get(i)))
    }
}
