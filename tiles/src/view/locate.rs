//! Where a tile of a view lies.

use super::TiledView;
use super::index::TileIndex;
use super::located::{InMemory, Located, reach};
use super::traversal::Traversal;
use crate::arch;
use crate::element::Element;
use crate::layout::Block;
use crate::shape::{MAXIMUM_RANK, Shape};
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};

impl<T, E, A, M, G, S, B, W, N> TiledView<TensorSpan<T, E, A, M, G>, S, B, W, N>
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
    #[inline_on_device]
    pub(super) fn vectors_are_whole() -> bool {
        E::RANK == 0 || Self::STARTS_AT_VECTORS && E::MULTIPLES[Self::FASTEST] % Self::VECTOR as u64 == 0
    }

    /// Whether rows may start anywhere, so that misaligned ones deserve their own path.
    #[inline_on_device]
    pub(super) fn rows_start_anywhere() -> bool {
        !Self::STARTS_AT_VECTORS || !Self::rows_are_vectors()
    }

    /// Whether neighbouring rows lie whole vectors apart, whatever the extents.
    #[inline_on_device]
    fn rows_are_vectors() -> bool {
        E::RANK <= 1 || M::pitch_multiple(E::MULTIPLES[Self::FASTEST]) % Self::VECTOR as u64 == 0
    }

    /// Whether every vector of every tile is aligned, as types say.
    #[inline_on_device]
    pub(super) fn vectors_are_aligned() -> bool {
        !Self::rows_start_anywhere() && G::BYTES.is_multiple_of(Self::VECTOR * size_of::<T::Bits>())
    }

    /// Finds tile `index`. An index beyond the view finds a tile with nothing of the tensor in it.
    ///
    /// # Panics
    /// If the view is not of the block that this thread runs, or, where access rests on its being the block's own, the index.
    #[inline_on_device]
    #[track_caller]
    pub(super) fn locate<I: TileIndex<E::Rank>>(&self, index: I) -> Located<T, E> {
        self.span.assert_lent();
        if A::OWNED {
            index.assert_current();
        }
        if const { W::SIGNED } { self.locate_window(index.signed()) } else { self.locate_tile(index.get()) }
    }

    #[inline_on_device]
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
    #[inline_on_device]
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

    /// Whether tiles have more than one row, so that the strides decide whether their vectors are aligned.
    const SEVERAL_ROWS: bool = {
        let (mut several, mut axis) = (false, 0);
        while axis < S::DESCRIPTION.rank {
            several |= axis != Self::FASTEST && S::DESCRIPTION.log[axis] > 0;
            axis += 1;
        }
        several
    };

    /// Whether no vector of a tile crosses the end of a row: the tile lies inside the tensor, or rows are whole vectors.
    #[inline_on_device]
    pub(super) fn has_whole_vectors(&self, located: &Located<T, E>) -> bool {
        Self::vectors_are_whole()
            || located.whole
            || Self::STARTS_AT_VECTORS
                && self.span.extents.get()[Self::FASTEST].is_multiple_of(Self::VECTOR as u64)
    }

    /// Whether every vector of the tile is aligned: the first element is, and so is every row.
    ///
    /// Where tiles of several rows start at whole vectors, the answer is the same for all tiles of the span: a loop asks once.
    #[inline_on_device]
    fn is_aligned(&self, origin: *mut T::Bits, strides: &[E::Offset; MAXIMUM_RANK]) -> bool {
        let bytes = Self::VECTOR * size_of::<T::Bits>();
        if Self::VECTOR == 1 {
            return true;
        }
        let of_span = const { Self::STARTS_AT_VECTORS && Self::SEVERAL_ROWS };
        let first = if of_span || !Self::rows_start_anywhere() {
            G::BYTES % bytes == 0 || self.span.pointer.addr().is_multiple_of(bytes)
        } else {
            origin.addr().is_multiple_of(bytes)
        };
        let mut rows = true;
        if !Self::rows_are_vectors() {
            let lengths = self.span.extents.get();
            let mut axis = 0;
            while axis < E::RANK {
                if axis != Self::FASTEST && (of_span || S::DESCRIPTION.log[axis] > 0) {
                    // Along an axis of one element nothing steps.
                    rows &= strides[axis].to_u64() % Self::VECTOR as u64 == 0 || lengths[axis] == 1;
                }
                axis += 1;
            }
        }
        first & rows
    }
}
