//! Tiles of a view that are copied to shared memory instead of registers.

use super::index::TileIndex;
use super::located::{InMemory, Located};
use super::ownership::TakesNames;
use super::traversal::Traversal;
use super::{PartitionView, TiledView};
use crate::element::Element;
use crate::layout::{Block, Cta};
use crate::memory::span_tile::{AnyWidth, SpanTile, Width};
use crate::shape::{ALL, Dimension, OfRank, PADDED_VIEW, Shape, is_padded};
use crate::span::access::ReadOnly;
use crate::span::extents::OffsetInteger;
use crate::span::{Alignment, Extents, Mapping, TensorSpan};
use core::marker::PhantomData;

impl<T: Element, E: Extents, M: Mapping, G: Alignment> TensorSpan<T, E, ReadOnly, M, G> {
    /// Tile `index` of the span cut into tiles of `shape`, for the loads of a [pipeline](crate::pipeline::WarpRoles::pipeline).
    ///
    /// It is the tile of [`partition`](Self::partition) with this index. The producer has no views, which belong to the consumers. Nothing is
    /// loaded yet. The tile may lie partly or wholly outside the tensor: elements outside are zero.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `c = a b`, for matrices of any size whose rows begin anywhere.
    /// #[kernel(threads = 128, producer = 128)]
    /// pub fn product(
    ///     roles: WarpRoles,
    ///     a: Span<f64, (u32, u32)>,
    ///     b: Span<f64, (u32, u32)>,
    ///     c: TmaStore<f64, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(SharedTile<f64, Shape2<64, 16>>, SharedTile<f64, Shape2<16, 64>>), 4>,
    ///     #[shared] mut buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let steps = a.extent(1).div_ceil(16);
    ///     let loads = roles.tile_indices(RowMajor, c.tile_counts()).flat_map(move |[_, i, j]| {
    ///         (0..steps).map(move |k| (a.tile(shape![64, 16], (i, k)), b.tile(shape![16, 64], (k, j))))
    ///     });
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         for tile in c.schedule(cx, RowMajor) {
    ///             let acc = consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(a, b));
    ///             tile.store(&mut buffer, acc);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// As [`TiledView::tile`].
    #[inline_on_device]
    #[track_caller]
    pub fn tile<R, C, I>(&self, shape: (R, C), index: I) -> SpanTile<T, (R, C)>
    where
        R: Dimension,
        C: Dimension,
        (R, C): Shape + OfRank<E::Rank>,
        I: TileIndex<E::Rank>,
        ReadOnly: TakesNames<I::Naming, ()>,
    {
        const { assert!(!is_padded::<(R, C)>(ALL), "{}", PADDED_VIEW) };
        let _ = shape;
        // The tile does not depend on the block.
        PartitionView::<Self, (R, C), Cta<128>>::of_item(*self).tile(index)
    }
}

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
        let width = if self.copies_at_once(&located, 16) {
            Width::Chunks
        } else if self.copies_at_once(&located, SpanTile::<T, (R, C)>::WORD_BYTES) {
            Width::Words
        } else {
            Width::Elements
        };
        SpanTile {
            tensor: self.span.pointer.cast::<u8>().cast_const(),
            origin: located.origin.cast::<u8>().cast_const(),
            missing: [located.missing[0].to_u64() as u32, located.missing[1].to_u64() as u32],
            inside: [reach(0), reach(1)],
            pitch: located.strides[0].to_u64() as usize * size,
            step: located.strides[1].to_u64() as usize * size,
            width: AnyWidth::new(width),
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
