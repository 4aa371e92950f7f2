//! Where a tile lies: what is the same for the whole block, and what this thread's part of it is.

use super::TiledView;
use super::index::TileIndex;
use super::traversal::Traversal;
use crate::arch;
use crate::element::Element;
use crate::layout::{Block, Layout, Map, Movement};
use crate::sealed::sealed;
use crate::shape::{MAXIMUM_RANK, Shape, ShapeDescription};
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping};
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
#[inline(always)]
pub(super) fn coordinate<X: Ordered>(flat: usize, axis: usize) -> usize {
    (flat >> X::LOW_BITS[axis]) & ((1 << <X::Shape as Shape>::DESCRIPTION.log[axis]) - 1)
}

impl<T, E, A, M, G, S, B, W, N> TiledView<T, E, A, M, G, S, B, W, N>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Traversal<S>,
{
    /// The axis along which elements are neighbours in memory, if any are.
    pub(super) const FASTEST: usize = InMemory::<S, M>::FASTEST;

    /// Neighbouring elements that one access moves.
    pub(super) const VECTOR: usize = {
        let row = if S::DESCRIPTION.rank == 0 { 1 } else { 1 << S::DESCRIPTION.log[Self::FASTEST] };
        let piece = <B::Vector as crate::registers::PowerOfTwo>::COUNT;
        let widest = arch::VECTOR_BYTES / size_of::<T::Bits>();
        let vector = if row < piece { row } else { piece };
        let vector = if vector < widest { vector } else { widest };
        if M::CONTIGUOUS { vector } else { 1 }
    };

    /// Whether tiles start at whole vectors of their row.
    pub(super) const STARTS_AT_VECTORS: bool =
        S::DESCRIPTION.rank == 0 || W::STEPS[Self::FASTEST].is_multiple_of(Self::VECTOR as u64);

    /// No vector crosses the end of a row, whatever the extents.
    #[inline(always)]
    pub(super) fn vectors_are_whole() -> bool {
        E::RANK == 0 || Self::STARTS_AT_VECTORS && E::MULTIPLES[Self::FASTEST] % Self::VECTOR as u64 == 0
    }

    /// Whether rows may start anywhere, so that misaligned ones deserve their own path.
    #[inline(always)]
    pub(super) fn rows_start_anywhere() -> bool {
        !Self::STARTS_AT_VECTORS || !Self::rows_are_vectors()
    }

    /// Whether neighbouring rows lie whole vectors apart, whatever the extents.
    #[inline(always)]
    fn rows_are_vectors() -> bool {
        E::RANK <= 1 || M::pitch_multiple(E::MULTIPLES[Self::FASTEST]) % Self::VECTOR as u64 == 0
    }

    /// Finds tile `index`. An index beyond the view finds a tile with nothing of the tensor in it.
    ///
    /// # Panics
    /// If the view is not of the block that this thread runs, or, where access rests on its being the block's own, the index.
    #[inline(always)]
    #[track_caller]
    pub(super) fn locate<I: TileIndex<E::Rank>>(&self, index: I) -> Located<T, E> {
        self.span.assert_lent();
        if A::OWNED {
            index.assert_current();
        }
        if const { W::SIGNED } { self.locate_window(index.signed()) } else { self.locate_tile(index.get()) }
    }

    #[inline(always)]
    fn locate_tile(&self, index: [u64; MAXIMUM_RANK]) -> Located<T, E> {
        let (lengths, strides) = (self.span.extents.get(), self.span.strides());
        let none = E::Offset::from_u64(0);
        let mut remaining = [none; MAXIMUM_RANK];
        let mut offset = none;
        let mut whole = true;
        let mut axis = 0;
        while axis < E::RANK {
            let length = E::Offset::from_u64(lengths[axis]);
            if W::STEPS[axis] == 1_u64 << S::DESCRIPTION.log[axis] {
                let bits = S::DESCRIPTION.log[axis];
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
            } else {
                let first = index[axis].saturating_mul(W::STEPS[axis]);
                if first < lengths[axis] {
                    let first = E::Offset::from_u64(first);
                    remaining[axis] = length.minus(first);
                    offset = offset.plus(first.times(strides[axis]));
                }
                whole &= remaining[axis].to_u64() >> S::DESCRIPTION.log[axis] != 0;
            }
            axis += 1;
        }
        let origin = self.span.pointer.wrapping_add(offset.to_u64() as usize);
        Located {
            origin,
            missing: [none; MAXIMUM_RANK],
            remaining,
            strides,
            whole,
            aligned: self.is_aligned(origin, &strides),
            wide: false,
        }
    }

    /// Finds the tile whose first element has the coordinates `first`.
    #[inline(always)]
    fn locate_window(&self, first: [i64; MAXIMUM_RANK]) -> Located<T, E> {
        let (lengths, strides) = (self.span.extents.get(), self.span.strides());
        let none = E::Offset::from_u64(0);
        let (mut missing, mut remaining) = ([none; MAXIMUM_RANK], [none; MAXIMUM_RANK]);
        let mut origin = self.span.pointer;
        let mut whole = true;
        let mut axis = 0;
        while axis < E::RANK {
            let size = 1_u64 << S::DESCRIPTION.log[axis];
            if let Some((before, left)) = reach(first[axis], size, lengths[axis]) {
                missing[axis] = E::Offset::from_u64(before);
                remaining[axis] = E::Offset::from_u64(left);
                let distance = (first[axis] as u64).wrapping_mul(strides[axis].to_u64());
                origin = origin.wrapping_add(distance as usize);
            }
            whole &= (missing[axis] == none) & (remaining[axis].to_u64() == size);
            axis += 1;
        }
        let aligned = self.is_aligned(origin, &strides);
        Located { origin, missing, remaining, strides, whole, aligned, wide: true }
    }

    /// Whether every vector of the tile is aligned: the first element is, and so is every row.
    #[inline(always)]
    fn is_aligned(&self, origin: *mut T::Bits, strides: &[E::Offset; MAXIMUM_RANK]) -> bool {
        let bytes = Self::VECTOR * size_of::<T::Bits>();
        if Self::VECTOR == 1 {
            return true;
        }
        let first = if Self::rows_start_anywhere() {
            origin.addr().is_multiple_of(bytes)
        } else {
            G::BYTES % bytes == 0 || self.span.pointer.addr().is_multiple_of(bytes)
        };
        let mut rows = true;
        if !Self::rows_are_vectors() {
            let mut axis = 0;
            while axis < E::RANK {
                if axis != Self::FASTEST && S::DESCRIPTION.log[axis] > 0 {
                    rows &= strides[axis].to_u64() % Self::VECTOR as u64 == 0;
                }
                axis += 1;
            }
        }
        first & rows
    }
}

/// Of `size` elements from element `first` of an axis on: how many lie before the axis, and how many there are up to its
/// end, those before it among them. `None` if none lies inside. Any offset holds both numbers, which are at most `size`.
#[inline(always)]
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
    #[inline(always)]
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
    #[inline(always)]
    pub(super) fn address<X: Ordered, L: Layout>(&self, i: usize) -> *mut T::Bits {
        let flat = const { &Map::<L, X::Shape>::MAP }.of_register.apply(i);
        element_address::<T, E, X>(self.first, &self.strides, flat, self.wide)
    }

    /// Whether register `i`'s element lies inside the tensor.
    #[inline(always)]
    pub(super) fn contains<X: Ordered, L: Layout>(&self, i: usize) -> bool {
        self.contains_but::<X, L>(i, MAXIMUM_RANK)
    }

    /// Whether register `i`'s element lies inside the tensor along all axes but `free`.
    #[inline(always)]
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
    #[inline(always)]
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
#[inline(always)]
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
