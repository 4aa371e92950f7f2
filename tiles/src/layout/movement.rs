//! Which element of a tile each element of a result is, as types, and the constant plans that follow from it.

use super::bits;
use super::exchange::{Exchange, together, without_lowest};
use super::map::{FlatBits, LinearMap, Plan};
use super::{Layout, Map};
use crate::arch;
use crate::element::Element;
use crate::registers::{PowerOfTwo, Product};
use crate::sealed::{Sealed, sealed};
use crate::shape::{Axis, AxisOrder, Shape};
use core::marker::PhantomData;
use typenum::U2;

/// How the flat index of an element of the result, of shape `To`, gives the flat index in the operand, of shape `S`.
pub trait Movement<S: Shape, To: Shape>: Sealed + 'static {
    /// For each bit of the result's flat index the bit of the operand's.
    const BITS: FlatBits;
    /// What is added (exclusive or) to the operand's flat index.
    const OFFSET: usize = 0;
    /// The bits of the operand's flat index to which something is added (exclusive or) that is known at run time only.
    const VARIABLE: usize = 0;
}

macro_rules! movements {
    ($($(#[$attribute:meta])* $name:ident [$($generics:tt)*] [$($arguments:ident)*] $($bound:path)?, |$from:ident, $to:ident| $bits:expr $(=> $constant:ident = $value:expr)?;)*) => { $(
        $(#[$attribute])*
        pub struct $name<$($generics)*>;
        sealed! { [$($generics)*] $name<$($arguments),*>; }
        impl<S: Shape $(+ $bound)?, To: Shape, $($generics)*> Movement<S, To> for $name<$($arguments),*> {
            const BITS: FlatBits = {
                let ($from, $to) = (&S::DESCRIPTION, &To::DESCRIPTION);
                $bits
            };
            $(const $constant: usize = {
                let ($from, $to) = (&S::DESCRIPTION, &To::DESCRIPTION);
                $value
            };)?
        }
    )* };
}
movements! {
    /// Broadcasting by NumPy's rules, or another layout for the same elements.
    Broadcasting [] [], |from, to| bits::broadcast_bits(from, to);
    /// The same elements in row-major order under another shape.
    Renaming [] [], |from, _to| bits::same_bits(from);
    /// The part of the tile that begins at `START` of axis `A`, a multiple of the part's length.
    Part [const A: usize, const START: usize] [A START], |from, to| bits::aligned_bits(from, to) => OFFSET = (START & !((1 << to.log[A]) - 1)) << from.low_bit(A);
    /// The upper half along axis `A`.
    UpperHalf [const A: usize] [A], |from, to| bits::aligned_bits(from, to) => OFFSET = bits::part_bits(from, to);
    /// A part of the tile: which one is known at run time.
    Extraction [] [], |from, to| bits::aligned_bits(from, to) => VARIABLE = bits::part_bits(from, to);
    /// The tile over and over again.
    Tiling [] [], |from, to| bits::aligned_bits(from, to);
    /// Each element over and over again, along axis `A`.
    Repetition [const A: usize] [A], |from, to| bits::repeated_bits(from, to, A);
    /// Two tiles joined along axis `A`.
    Joining [const A: usize] [A], |from, to| bits::joined_bits(from, to, A);
    /// Two tiles along a new axis `A`.
    Stacking [const A: usize] [A], |from, to| bits::stacked_bits(from, to, A);
    /// The same along a new axis `A`.
    Insertion [const A: usize] [A], |from, to| bits::inserted_bits(from, to, A);
    /// A vector along axis `A`, the same for all other coordinates.
    Along [const A: usize] [A], |_from, to| bits::along_bits(to, A);
}

/// The elements along axis `A` in reverse.
pub struct Flip<const A: usize>;

impl<S: Axis<A>, const A: usize> Movement<S, S> for Flip<A> {
    const BITS: FlatBits = bits::aligned_bits(&S::DESCRIPTION, &S::DESCRIPTION);
    const OFFSET: usize = (<S::Length as PowerOfTwo>::COUNT - 1) << <S::Inner as PowerOfTwo>::LOG;
}

/// The axes in the order `O`.
pub struct Permuting<O>(PhantomData<O>);

impl<S: Shape, To: Shape, O: AxisOrder<S, Permuted = To> + 'static> Movement<S, To> for Permuting<O> {
    const BITS: FlatBits = bits::permuted_bits(&S::DESCRIPTION, &To::DESCRIPTION, O::AXES);
}

/// An operand as the threads hold it.
pub trait Source: Sealed + 'static {
    /// The shape of a tile of it.
    type Shape: Shape;
    /// The number of elements.
    type Count: PowerOfTwo;
    /// The number of registers.
    type Registers: PowerOfTwo;
    /// Which element is where.
    const MAP: LinearMap;
}

/// One tile of shape `S` in layout `L`.
pub struct Single<S, L>(PhantomData<(S, L)>);

impl<S: Shape, L: Layout> Source for Single<S, L> {
    type Shape = S;
    type Count = S::Count;
    type Registers = L::Registers<S>;
    const MAP: LinearMap = Map::<L, S>::MAP;
}

/// Two tiles of shape `S` in layout `L`, one after the other.
pub struct Pair<S, L>(PhantomData<(S, L)>);

impl<S: Shape, L: Layout> Source for Pair<S, L> {
    type Shape = S;
    type Count = Product<S::Count, U2>;
    type Registers = Product<L::Registers<S>, U2>;
    const MAP: LinearMap = Map::<L, S>::MAP.doubled(<S::Count as PowerOfTwo>::LOG);
}

/// The plan for a source that becomes a tile of shape `To` and layout `M` by the movement `V`.
pub(crate) struct Conversion<X, To, M, V>(PhantomData<(X, To, M, V)>);

impl<X: Source, To: Shape, M: Layout, V: Movement<X::Shape, To>> Conversion<X, To, M, V> {
    /// Which registers hold what is wanted.
    pub(crate) const PLAN: Plan = Plan::new(&X::MAP, &Map::<M, To>::MAP, &V::BITS, V::OFFSET, V::VARIABLE);
    /// Whether every register stays what it is.
    pub(crate) const IDENTITY: bool = Self::PLAN.in_registers
        && Self::PLAN.register_offset == 0
        && <X::Count as PowerOfTwo>::COUNT == To::LEN
        && <X::Registers as PowerOfTwo>::COUNT == <M::Registers<To> as PowerOfTwo>::COUNT
        && Self::PLAN.register.is_identity(<M::Registers<To> as PowerOfTwo>::LOG);
}

/// The way of such a conversion through shared memory, for elements of type `T`: of neighbours together, or of each element alone.
pub(crate) struct Passage<T, X, To, M, V, const NEIGHBOURS: bool>(PhantomData<(T, X, To, M, V)>);

impl<T: Element, X: Source, To: Shape, M: Layout, V: Movement<X::Shape, To>, const NEIGHBOURS: bool>
    Passage<T, X, To, M, V, NEIGHBOURS>
{
    /// Base-2 logarithm of the elements that travel together: neighbours that stay neighbours in registers, up to a word of 4 bytes.
    pub(crate) const TOGETHER: u32 = if NEIGHBOURS {
        together(&X::MAP, &Map::<M, To>::MAP, &V::BITS, V::OFFSET | V::VARIABLE, size_of::<T::Bits>())
    } else {
        0
    };
    /// Where those lie that travel together.
    ///
    /// The compiler computes this for dead code, too, which is all code that asks for it where a block is one thread.
    pub(crate) const EXCHANGE: Exchange = if arch::TILES_IN_REGISTERS {
        Exchange::new(
            &X::MAP.without(0, Self::TOGETHER),
            &Map::<M, To>::MAP.without(0, Self::TOGETHER),
            &without_lowest(&V::BITS, Self::TOGETHER),
            (V::OFFSET | V::VARIABLE) >> Self::TOGETHER,
            <X::Count as PowerOfTwo>::LOG - Self::TOGETHER,
            size_of::<T::Bits>().ilog2() + Self::TOGETHER,
        )
    } else {
        Exchange::NONE
    };
}

sealed! {
    [const A: usize] Flip<A>;
    [O] Permuting<O>;
    [S, L] Single<S, L>;
    [S, L] Pair<S, L>;
}
