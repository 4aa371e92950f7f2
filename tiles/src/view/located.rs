//! A tile that has been located: what is the same for the whole block, and what this thread's part of it is.

use crate::arch;
use crate::element::Element;
use crate::layout::{Layout, Map, Movement};
use crate::sealed::sealed;
use crate::shape::{MAXIMUM_RANK, Shape, ShapeDescription};
use crate::span::extents::OffsetInteger;
use crate::span::{Extents, Mapping};
use core::marker::PhantomData;

/// A tile of a view, the same on all threads of the block.
pub(super) struct Located<T: Element, E: Extents> {
    /// The tile's first element; beyond the tensor where that lies before it.
    pub(super) origin: *mut T::Bits,
    /// How many elements of the tile lie before the tensor along each axis.
    pub(super) missing: [E::Offset; MAXIMUM_RANK],
    /// How many elements there are from the tile's first to the tensor's end, along each axis.
    pub(super) remaining: [E::Offset; MAXIMUM_RANK],
    /// Elements between neighbours along each axis.
    pub(super) strides: [E::Offset; MAXIMUM_RANK],
    /// Whether the whole tile lies inside the tensor.
    pub(super) whole: bool,
    /// Whether the view's vectors are aligned in memory.
    pub(super) aligned: bool,
    /// Whether distances take 64 bits: the tile may start before the tensor. Known at compile time.
    pub(super) wide: bool,
}

impl<T: Element, E: Extents> Located<T, E> {
    /// The row along `axis` that begins with the element of this flat index: its address, and which of its elements lie inside the tensor,
    /// those from the first number to below the second. Beyond the tile's end the tensor may go on.
    #[inline_on_device]
    pub(super) fn row<X: Ordered>(&self, flat: usize, axis: usize) -> (*mut T::Bits, (i32, i32)) {
        let mut inside = true;
        let mut other = 0;
        while other < E::RANK {
            if other != axis {
                let coordinate = E::Offset::from_u64(coordinate::<X>(flat, other) as u64);
                inside &= coordinate < self.remaining[other];
                inside &= !self.wide || coordinate >= self.missing[other];
            }
            other += 1;
        }
        let remaining = self.remaining[axis].to_u64().min(1 << 30) as i32;
        let (start, stop) = (self.missing[axis].to_u64() as i32, if inside { remaining } else { 0 });
        (element_address::<T, E, X>(self.origin, &self.strides, flat, self.wide), (start, stop))
    }
}

/// The elements of a tile in a certain order, each with its flat index.
pub(super) trait Ordered {
    /// The tile's shape.
    type Shape: Shape;
    /// The bits of the flat index below those of each axis.
    const LOW_BITS: [u32; MAXIMUM_RANK];
}

impl<S: Shape> Ordered for S {
    type Shape = S;
    const LOW_BITS: [u32; MAXIMUM_RANK] = {
        let own = &S::DESCRIPTION;
        [own.low_bit(0), own.low_bit(1), own.low_bit(2), own.low_bit(3)]
    };
}

/// The elements of a tile of shape `S` in the order in which mapping `M` lays them out. Where the memory order is the
/// tile's own, or helps no access, it is the tile's own.
pub(super) struct InMemory<S, M>(PhantomData<(S, M)>);

impl<S: Shape, M: Mapping> InMemory<S, M> {
    const AXES: [usize; MAXIMUM_RANK] = M::ORDER.axes(S::DESCRIPTION.rank);
    /// The axis along which vectors lie.
    pub(super) const FASTEST: usize = M::ORDER.fastest(S::DESCRIPTION.rank);
    /// Whether the order differs from the tile's own.
    pub(super) const REORDERED: bool = {
        let (mut differs, mut axis) = (false, 0);
        while axis < MAXIMUM_RANK {
            differs |= Self::AXES[axis] != axis;
            axis += 1;
        }
        differs && M::CONTIGUOUS && S::DESCRIPTION.log[Self::FASTEST] > 0
    };
}

impl<S: Shape, M: Mapping> Ordered for InMemory<S, M> {
    type Shape = S;
    const LOW_BITS: [u32; MAXIMUM_RANK] = {
        let mut low = S::LOW_BITS;
        if Self::REORDERED {
            let (mut bits, mut k) = (0, S::DESCRIPTION.rank);
            while k > 0 {
                k -= 1;
                let axis = Self::AXES[k];
                low[axis] = bits;
                bits += S::DESCRIPTION.log[axis];
            }
        }
        low
    };
}

/// From memory order to the tile's own.
pub(super) struct FromMemory<M>(PhantomData<M>);
/// From the tile's own order to that of memory.
pub(super) struct IntoMemory<M>(PhantomData<M>);

sealed! {
    [M] FromMemory<M>;
    [M] IntoMemory<M>;
}

impl<S: Shape, M: Mapping> Movement<S, S> for FromMemory<M> {
    const BITS: [i8; 24] = bits(&S::DESCRIPTION, S::LOW_BITS, InMemory::<S, M>::LOW_BITS);
}

impl<S: Shape, M: Mapping> Movement<S, S> for IntoMemory<M> {
    const BITS: [i8; 24] = bits(&S::DESCRIPTION, InMemory::<S, M>::LOW_BITS, S::LOW_BITS);
}

/// For each bit of the flat index in the order `to` the one in the order `from`.
const fn bits(shape: &ShapeDescription, to: [u32; MAXIMUM_RANK], from: [u32; MAXIMUM_RANK]) -> [i8; 24] {
    let mut bits = [-1; 24];
    let mut axis = 0;
    while axis < shape.rank {
        let mut bit = 0;
        while bit < shape.log[axis] {
            bits[(to[axis] + bit) as usize] = (from[axis] + bit) as i8;
            bit += 1;
        }
        axis += 1;
    }
    bits
}

/// The coordinate along `axis` of the element with flat index `flat` in the order `X`.
#[inline_on_device]
pub(super) const fn coordinate<X: Ordered>(flat: usize, axis: usize) -> usize {
    (flat >> X::LOW_BITS[axis]) & ((1 << <X::Shape as Shape>::DESCRIPTION.log[axis]) - 1)
}

/// Of `size` elements from element `first` of an axis on: how many lie before the axis, and how many there are up to its
/// end, those before it among them. `None` if none lies inside. Any offset holds both numbers, which are at most `size`.
#[inline_on_device]
pub(super) fn reach(first: i64, size: u64, length: u64) -> Option<(u64, u64)> {
    let before = if first < 0 { first.unsigned_abs() } else { 0 };
    let after = if first < 0 { 0 } else { first as u64 };
    if before >= size || after >= length {
        return None;
    }
    let left = (length - after).saturating_add(before);
    Some((before, if left < size { left } else { size }))
}

/// This thread's part of a located tile in layout `L`, in the order `X`.
pub(super) struct Part<T: Element, E: Extents> {
    /// The element of the thread's register 0.
    first: *mut T::Bits,
    /// Where the tensor starts from that one on along each axis, if the tile may start before it.
    starts: [i32; MAXIMUM_RANK],
    /// How many elements there are from that one to the tensor's end, along each axis.
    remaining: [E::Offset; MAXIMUM_RANK],
    strides: [E::Offset; MAXIMUM_RANK],
    wide: bool,
}

impl<T: Element, E: Extents> Part<T, E> {
    #[inline_on_device]
    pub(super) fn new<X: Ordered, L: Layout>(located: &Located<T, E>) -> Self {
        let own = Map::<L, X::Shape>::MAP.of_thread.apply(arch::execution::thread());
        let (mut starts, mut remaining) = ([0; MAXIMUM_RANK], located.remaining);
        let mut axis = 0;
        while axis < E::RANK {
            let coordinate = coordinate::<X>(own, axis);
            starts[axis] = located.missing[axis].to_u64() as i32 - coordinate as i32;
            remaining[axis] = remaining[axis].minus_saturating(E::Offset::from_u64(coordinate as u64));
            axis += 1;
        }
        let first = element_address::<T, E, X>(located.origin, &located.strides, own, located.wide);
        Self { first, starts, remaining, strides: located.strides, wide: located.wide }
    }

    /// The address of register `i`'s element.
    #[inline_on_device]
    pub(super) fn address<X: Ordered, L: Layout>(&self, i: usize) -> *mut T::Bits {
        let flat = const { &Map::<L, X::Shape>::MAP }.of_register.apply(i);
        element_address::<T, E, X>(self.first, &self.strides, flat, self.wide)
    }

    /// Whether register `i`'s element lies inside the tensor.
    #[inline_on_device]
    pub(super) fn contains<X: Ordered, L: Layout>(&self, i: usize) -> bool {
        self.contains_but::<X, L>(i, MAXIMUM_RANK)
    }

    /// Whether register `i`'s element lies inside the tensor along all axes but `free`.
    #[inline_on_device]
    fn contains_but<X: Ordered, L: Layout>(&self, i: usize, free: usize) -> bool {
        let flat = const { &Map::<L, X::Shape>::MAP }.of_register.apply(i);
        let mut inside = true;
        let mut axis = 0;
        while axis < E::RANK {
            if axis != free {
                let coordinate = coordinate::<X>(flat, axis);
                inside &= E::Offset::from_u64(coordinate as u64) < self.remaining[axis];
                if self.wide {
                    inside &= coordinate as i32 >= self.starts[axis];
                }
            }
            axis += 1;
        }
        inside
    }

    /// Which of the elements from register `i`'s on along axis `axis` lie inside the tensor: those from the first number to
    /// below the second. Beyond the tile's ends in memory the tensor may go on, and the numbers say so.
    #[inline_on_device]
    pub(super) fn inside_along<X: Ordered, L: Layout>(&self, i: usize, axis: usize) -> (i32, i32) {
        let flat = const { &Map::<L, X::Shape>::MAP }.of_register.apply(i);
        let coordinate = coordinate::<X>(flat, axis) as i32;
        // A coordinate is below 2^24: what lies farther away is as good as anywhere.
        let remaining = self.remaining[axis].to_u64();
        let stop = if !self.contains_but::<X, L>(i, axis) {
            0
        } else if remaining < 1 << 30 {
            remaining as i32
        } else {
            1 << 30
        };
        let start = if self.wide { self.starts[axis] - coordinate } else { -(1 << 30) };
        (start, stop - coordinate)
    }
}

/// The address `flat` elements of a tile in the order `X` away from `base`, as the strides lay them out. Bits of the flat
/// index that come from the thread and from the register are disjoint, so that their distances add up.
#[inline_on_device]
fn element_address<T: Element, E: Extents, X: Ordered>(
    base: *mut T::Bits,
    strides: &[E::Offset; MAXIMUM_RANK],
    flat: usize,
    wide: bool,
) -> *mut T::Bits {
    let mut address = base;
    let mut axis = 0;
    while axis < E::RANK {
        let coordinate = coordinate::<X>(flat, axis) as u64;
        // A tile that starts before the tensor has elements inside it whose distance from the start no offset holds.
        let distance = if wide {
            coordinate.wrapping_mul(strides[axis].to_u64())
        } else {
            E::Offset::from_u64(coordinate).times(strides[axis]).to_u64()
        };
        address = address.wrapping_add(distance as usize);
        axis += 1;
    }
    address
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::cpu::CpuBlock;
    use crate::layout::Blocked;
    use crate::shape::Shape3;
    use crate::span::Right;

    type Order = InMemory<Shape3<2, 4, 8>, Right>;

    /// The row of an element has the address and the elements inside the tensor that the part of a thread says.
    #[test]
    fn a_row_is_that_of_the_elements_of_a_part() {
        let base = std::ptr::without_provenance_mut::<u16>(0x1000);
        for wide in [false, true] {
            for missing in if wide { 0..3 } else { 0..1 } {
                for remaining in 0..9 {
                    let located = Located::<u16, (u32, u32, u32)> {
                        origin: base,
                        missing: [0, missing, missing, 0],
                        remaining: [2, remaining, remaining + 1, 0],
                        strides: [1000, 37, 1, 0],
                        whole: false,
                        aligned: false,
                        wide,
                    };
                    let part = Part::new::<Order, Blocked<CpuBlock>>(&located);
                    for first in (0..2 * 4 * 8).step_by(8) {
                        let (address, (start, stop)) = located.row::<Order>(first, 2);
                        assert_eq!(address, part.address::<Order, Blocked<CpuBlock>>(first));
                        for column in 0..8 {
                            let inside = start <= column && column < stop;
                            let expected = part.contains::<Order, Blocked<CpuBlock>>(first + column as usize);
                            assert_eq!(
                                inside, expected,
                                "column {column} of row {first}, {missing}, {remaining}"
                            );
                        }
                    }
                }
            }
        }
    }
}
