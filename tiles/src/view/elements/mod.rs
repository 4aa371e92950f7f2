//! Elements of a tensor by their indices: gather, scatter, and atomic operations that give what was there before.

mod atomic;
mod index;
mod one_element;
mod plain;

pub use index::{ElementIndex, IndexEntry, IndexShape, NumberEntry, TileEntry};

use crate::element::Element;
use crate::shape::MAXIMUM_RANK;
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::view::element_wise::Target;
use index::Positions;

/// The elements of a tensor that an index names, by register of the common shape.
struct Chosen<T: Element, E: Extents, P> {
    first: *mut T::Bits,
    lengths: [u64; MAXIMUM_RANK],
    strides: [E::Offset; MAXIMUM_RANK],
    positions: P,
}

impl<T: Element, E: Extents, P: Positions> Chosen<T, E, P> {
    /// # Panics
    /// If the span is not of the block that this thread runs.
    #[inline_on_device]
    #[track_caller]
    fn new<A: Access, M: Mapping, G: Alignment>(span: &TensorSpan<T, E, A, M, G>, positions: P) -> Self {
        span.assert_lent();
        Self { first: span.pointer, lengths: span.extents.get(), strides: span.strides(), positions }
    }

    /// Where register `i`'s element is, and whether that is inside the tensor.
    #[inline_on_device]
    fn target(&self, i: usize) -> Target<T> {
        let position = self.positions.get(i);
        let mut inside = true;
        let mut offset = E::Offset::from_u64(0);
        let mut axis = 0;
        while axis < E::RANK {
            inside &= position[axis] < self.lengths[axis];
            offset = offset.plus(E::Offset::from_u64(position[axis]).times(self.strides[axis]));
            axis += 1;
        }
        (self.first.wrapping_add(offset.to_u64() as usize), inside)
    }
}
