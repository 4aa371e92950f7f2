//! Where a tile lies: what is the same for the whole block, and what this thread's part of it is.

use super::PartitionView;
use super::index::TileIndex;
use crate::arch;
use crate::element::Element;
use crate::layout::{Block, Layout, Map};
use crate::shape::{MAXIMUM_RANK, Shape};
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping};

/// A tile of a view, the same on all threads of the block.
pub(super) struct Located<T: Element, E: Extents> {
    /// The tile's first element.
    pub(super) origin: *mut T::Bits,
    /// How many elements of the tensor there are from the tile's first on, along each axis.
    pub(super) remaining: [E::Offset; MAXIMUM_RANK],
    /// Elements between neighbours along each axis.
    pub(super) strides: [E::Offset; MAXIMUM_RANK],
    /// Whether the whole tile lies inside the tensor.
    pub(super) whole: bool,
    /// Whether the view's vectors are aligned in memory.
    pub(super) aligned: bool,
}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block>
    PartitionView<T, E, A, M, G, S, B>
{
    /// Neighbouring elements that one access moves.
    pub(super) const VECTOR: usize = {
        let last =
            if S::DESCRIPTION.rank == 0 { 1 } else { 1 << S::DESCRIPTION.log[S::DESCRIPTION.rank - 1] };
        let piece = <B::Vector as crate::registers::PowerOfTwo>::COUNT;
        let widest = arch::VECTOR_BYTES / size_of::<T::Bits>();
        let vector = if last < piece { last } else { piece };
        let vector = if vector < widest { vector } else { widest };
        if M::CONTIGUOUS && M::ORDER.fastest(E::RANK) + 1 == E::RANK { vector } else { 1 }
    };

    /// No vector crosses the end of a row, whatever the extents.
    #[inline(always)]
    pub(super) fn vectors_are_whole() -> bool {
        E::RANK == 0 || E::MULTIPLES[E::RANK - 1] % Self::VECTOR as u64 == 0
    }

    /// Finds tile `index`. An index beyond the view finds a tile with nothing of the tensor in it.
    #[inline(always)]
    pub(super) fn locate<I: TileIndex<E::Rank>>(&self, index: I) -> Located<T, E> {
        let (index, lengths, strides) = (index.get(), self.span.extents.get(), self.span.strides());
        let none = E::Offset::from_u64(0);
        let mut remaining = [none; MAXIMUM_RANK];
        let mut offset = none;
        let mut whole = true;
        let mut axis = 0;
        while axis < E::RANK {
            let bits = S::DESCRIPTION.log[axis];
            let length = E::Offset::from_u64(lengths[axis]);
            let tile = E::Offset::from_u64(if index[axis] > E::Offset::GREATEST {
                E::Offset::GREATEST
            } else {
                index[axis]
            });
            let whole_tiles = length.shifted_right(bits);
            whole &= tile < whole_tiles;
            if tile <= whole_tiles {
                let first = tile.shifted_left(bits);
                remaining[axis] = length.minus(first);
                offset = offset.plus(first.times(strides[axis]));
            }
            axis += 1;
        }
        Located {
            origin: self.span.pointer.wrapping_add(offset.to_u64() as usize),
            remaining,
            strides,
            whole,
            aligned: self.is_aligned(&strides),
        }
    }

    /// Whether every vector of every tile is aligned: the first element is, and so is every row.
    #[inline(always)]
    fn is_aligned(&self, strides: &[E::Offset; MAXIMUM_RANK]) -> bool {
        let bytes = Self::VECTOR * size_of::<T::Bits>();
        if Self::VECTOR == 1 {
            return true;
        }
        let base = G::BYTES % bytes == 0 || self.span.pointer.addr().is_multiple_of(bytes);
        let mut rows = true;
        if M::pitch_multiple::<E>() % Self::VECTOR as u64 != 0 {
            let mut axis = 0;
            while axis + 1 < E::RANK {
                rows &= strides[axis].to_u64() % Self::VECTOR as u64 == 0;
                axis += 1;
            }
        }
        base & rows
    }
}

/// This thread's part of a located tile in layout `L`.
pub(super) struct Part<T: Element, E: Extents> {
    /// The element of the thread's register 0.
    first: *mut T::Bits,
    /// How many elements of the tensor there are from that one on, along each axis.
    remaining: [E::Offset; MAXIMUM_RANK],
    strides: [E::Offset; MAXIMUM_RANK],
}

impl<T: Element, E: Extents> Part<T, E> {
    #[inline(always)]
    pub(super) fn new<S: Shape, L: Layout>(located: &Located<T, E>) -> Self {
        let own = Map::<L, S>::MAP.of_thread.apply(arch::execution::thread());
        let mut remaining = located.remaining;
        let mut axis = 0;
        while axis < E::RANK {
            remaining[axis] = remaining[axis]
                .minus_saturating(E::Offset::from_u64(S::DESCRIPTION.coordinate(own, axis) as u64));
            axis += 1;
        }
        let first = element_address::<T, E, S>(located.origin, &located.strides, own);
        Self { first, remaining, strides: located.strides }
    }

    /// The address of register `i`'s element.
    #[inline(always)]
    pub(super) fn address<S: Shape, L: Layout>(&self, i: usize) -> *mut T::Bits {
        element_address::<T, E, S>(
            self.first,
            &self.strides,
            const { &Map::<L, S>::MAP }.of_register.apply(i),
        )
    }

    /// Whether register `i`'s element lies inside the tensor.
    #[inline(always)]
    pub(super) fn contains<S: Shape, L: Layout>(&self, i: usize) -> bool {
        let flat = const { &Map::<L, S>::MAP }.of_register.apply(i);
        let mut inside = true;
        let mut axis = 0;
        while axis < E::RANK {
            inside &=
                E::Offset::from_u64(S::DESCRIPTION.coordinate(flat, axis) as u64) < self.remaining[axis];
            axis += 1;
        }
        inside
    }
}

/// The address `flat` elements of a tile of shape `S` away from `base`, as the strides lay them out. Bits of the flat
/// index that come from the thread and from the register are disjoint, so that their distances add up.
#[inline(always)]
fn element_address<T: Element, E: Extents, S: Shape>(
    base: *mut T::Bits,
    strides: &[E::Offset; MAXIMUM_RANK],
    flat: usize,
) -> *mut T::Bits {
    let mut address = base;
    let mut axis = 0;
    while axis < E::RANK {
        let coordinate = S::DESCRIPTION.coordinate(flat, axis);
        let distance = E::Offset::from_u64(coordinate as u64).times(strides[axis]);
        address = address.wrapping_add(distance.to_u64() as usize);
        axis += 1;
    }
    address
}
