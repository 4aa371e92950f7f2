//! Which element of a tile each element of a result is, as types, and the constant plans that follow from it.

use super::exchange::Exchange;
use super::map::{FlatBits, Plan, broadcast_bits, permuted_bits};
use super::{Layout, Map};
use crate::element::Element;
use crate::registers::PowerOfTwo;
use crate::shape::{AxisOrder, Shape};
use core::marker::PhantomData;

/// How the flat index of an element of the result, of shape `To`, is made of bits of the flat index in the operand, of
/// shape `S`.
pub trait Movement<S: Shape, To: Shape>: 'static {
    /// For each bit of the result's flat index the bit of the operand's.
    const BITS: FlatBits;
}

/// Broadcasting by NumPy's rules, or another layout for the same elements.
pub struct Broadcasting;

impl<S: Shape, To: Shape> Movement<S, To> for Broadcasting {
    const BITS: FlatBits = broadcast_bits(&S::DESCRIPTION, &To::DESCRIPTION);
}

/// The axes in the order `O`.
pub(crate) struct Permuting<O>(PhantomData<O>);

impl<S: Shape, To: Shape, O: AxisOrder<S, Permuted = To> + 'static> Movement<S, To> for Permuting<O> {
    const BITS: FlatBits = permuted_bits(&S::DESCRIPTION, &To::DESCRIPTION, O::AXES);
}

/// The plans for a tile of shape `S` and layout `L` that becomes one of shape `To` and layout `M` by the movement `V`.
pub(crate) struct Conversion<S, L, To, M, V>(PhantomData<(S, L, To, M, V)>);

impl<S: Shape, L: Layout, To: Shape, M: Layout, V: Movement<S, To>> Conversion<S, L, To, M, V> {
    /// Which registers hold what is wanted.
    pub(crate) const PLAN: Plan = Plan::new(&Map::<L, S>::MAP, &Map::<M, To>::MAP, &V::BITS);
    /// Whether every register stays what it is.
    pub(crate) const IDENTITY: bool = Self::PLAN.in_registers
        && S::LEN == To::LEN
        && <L::Registers<S> as PowerOfTwo>::COUNT == <M::Registers<To> as PowerOfTwo>::COUNT
        && Self::PLAN.register.is_identity(<M::Registers<To> as PowerOfTwo>::LOG);
}

/// The way of such a conversion through shared memory, for elements of type `T`.
pub(crate) struct Passage<T, S, L, To, M, V>(PhantomData<(T, S, L, To, M, V)>);

impl<T: Element, S: Shape, L: Layout, To: Shape, M: Layout, V: Movement<S, To>> Passage<T, S, L, To, M, V> {
    /// Where the elements lie.
    pub(crate) const EXCHANGE: Exchange = Exchange::new(
        &Map::<L, S>::MAP,
        &Map::<M, To>::MAP,
        &V::BITS,
        <S::Count as PowerOfTwo>::LOG,
        size_of::<T::Bits>().ilog2(),
    );
}
