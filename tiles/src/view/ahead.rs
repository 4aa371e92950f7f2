//! Tiles of a view that are copied to shared memory instead of registers.

use super::TiledView;
use super::index::TileIndex;
use super::located::{InMemory, Located};
use super::ownership::TakesNames;
use super::traversal::Traversal;
use crate::element::Element;
use crate::layout::Block;
use crate::memory::span_tile::{SpanTile, Width};
use crate::shape::{Dimension, Shape};
use crate::span::access::ReadOnly;
use crate::span::extents::OffsetInteger;
use crate::span::{Alignment, Extents, Mapping, TensorSpan};
use core::marker::PhantomData;

/// Tiles that are copied ahead.
impl<T, E, M, G, R, C, B, W, N> TiledView<TensorSpan<T, E, ReadOnly, M, G>, (R, C), B, W, N>
where
    T: Element,
    E: Extents,
    M: Mapping,
    G: Alignment,
    R: Dimension,
    C: Dimension,
    (R, C): Shape,
    B: Block,
    W: Traversal<(R, C)>,
{
    /// Tile `index`, for [`Ring::copy_ahead`](crate::pipeline::Ring::copy_ahead). Nothing is loaded yet.
    ///
    /// The tile may lie partly or wholly outside the tensor. [`copy_ahead`](crate::pipeline::Ring::copy_ahead) has an example.
    ///
    /// # On a GPU
    ///
    /// Rows that are aligned to 16 bytes are copied by `cp.async` of 16 bytes. Rows that are aligned to 4 bytes are copied by four of 4
    /// bytes, or by two of 8 bytes for elements of 8 bytes (PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy"). Others,
    /// and tiles whose last axis is not the contiguous one, go through registers, element by element.
    #[inline_on_device]
    #[track_caller]
    pub fn tile<I: TileIndex<E::Rank>>(&self, index: I) -> SpanTile<T, (R, C)>
    where
        ReadOnly: TakesNames<I::Naming, N>,
    {
        let located = self.locate(index);
        let size = const { size_of::<T::Bits>() };
        let reach = |axis: usize| {
            let most = 1_u64 << <(R, C)>::DESCRIPTION.log[axis];
            let remaining = located.remaining[axis].to_u64();
            if remaining < most { remaining as u32 } else { most as u32 }
        };
        SpanTile {
            tensor: self.span.pointer.cast::<u8>().cast_const(),
            origin: located.origin.cast::<u8>().cast_const(),
            missing: [located.missing[0].to_u64() as u32, located.missing[1].to_u64() as u32],
            inside: [reach(0), reach(1)],
            pitch: located.strides[0].to_u64() as usize * size,
            step: located.strides[1].to_u64() as usize * size,
            width: if self.copies_at_once(&located, 16) {
                Width::Chunks
            } else if self.copies_at_once(&located, SpanTile::<T, (R, C)>::WORD_BYTES) {
                Width::Words
            } else {
                Width::Elements
            },
            run: self.span.origin.run(),
            element: PhantomData,
        }
    }

    /// Whether `bytes` bytes from each multiple of as many in a row of the tile are neighbours in memory, and aligned.
    #[inline_on_device]
    fn copies_at_once(&self, located: &Located<T, E>, bytes: usize) -> bool {
        let size = const { size_of::<T::Bits>() };
        if const { !M::CONTIGUOUS || InMemory::<(R, C), M>::FASTEST != 1 } || size > bytes {
            return false;
        }
        // Elements are aligned to themselves.
        if size == bytes {
            return true;
        }
        // Tiles that start at multiples in their rows are aligned if the span is: a loop asks once.
        let first = if (W::STEPS[1] as usize * size).is_multiple_of(bytes) && !W::SIGNED {
            G::BYTES.is_multiple_of(bytes) || self.span.pointer.addr().is_multiple_of(bytes)
        } else {
            located.origin.addr().is_multiple_of(bytes)
                && (located.missing[1].to_u64() as usize * size).is_multiple_of(bytes)
        };
        let rows = (M::pitch_multiple(E::MULTIPLES[1]) as usize * size).is_multiple_of(bytes)
            || (located.strides[0].to_u64() as usize * size).is_multiple_of(bytes);
        first & rows
    }
}
