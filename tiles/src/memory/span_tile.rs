//! A tile of a span on its way to shared memory.

use crate::arch::running::Run;
use crate::element::Element;
use crate::sealed::sealed;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// A tile of a span, identified by its place and not loaded yet, from [`TiledView::tile`](crate::view::TiledView::tile) or
/// [`TensorSpan::tile`](crate::span::TensorSpan::tile).
///
/// [`Ring::copy_ahead`](crate::pipeline::Ring::copy_ahead) copies it to shared memory, and so does the producer of a
/// [pipeline](crate::pipeline::WarpRoles::pipeline). Elements outside the tensor are zero there.
pub struct SpanTile<T: Element, S> {
    /// The tensor's first element.
    pub(crate) tensor: *const u8,
    /// The tile's first element; beyond the tensor where that lies before it.
    pub(crate) origin: *const u8,
    /// Rows and columns of the tile before the tensor.
    pub(crate) missing: [u32; 2],
    /// Rows and columns from the tile's first to the tensor's end, at most the tile's own.
    pub(crate) inside: [u32; 2],
    /// Bytes from a row to the next.
    pub(crate) pitch: usize,
    /// Bytes from a column to the next.
    pub(crate) step: usize,
    /// How many bytes of a row can be copied at once.
    pub(crate) width: AnyWidth,
    /// The run of the block that the span was made for; zero-sized on a GPU.
    pub(crate) run: Run,
    pub(crate) element: PhantomData<(T, S, *const ())>,
}

/// How many bytes of a row can be copied at once: neighbours in memory that are aligned in all rows of the tile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// Chunks of 16 bytes.
    Chunks,
    /// Words: an element, or as many as 4 bytes have.
    Words,
    /// Single elements, that need not be neighbours.
    Elements,
}

/// A [`Width`] with no value to spare: [`Option`] of a tile would keep its own state there, and loops that carry a tile would keep that in
/// local memory.
#[derive(Clone, Copy)]
pub(crate) struct AnyWidth(MaybeUninit<Width>);

impl AnyWidth {
    #[inline_on_device]
    pub(crate) const fn new(width: Width) -> Self {
        Self(MaybeUninit::new(width))
    }

    #[inline_on_device]
    pub(crate) const fn get(self) -> Width {
        // SAFETY: `new` alone makes one, of a width.
        unsafe { self.0.assume_init() }
    }
}

impl<T: Element, S> SpanTile<T, S> {
    /// The bytes of a word. `cp.async` copies 4 bytes at least.
    pub(crate) const WORD_BYTES: usize = {
        let element = size_of::<T::Bits>();
        if element > 4 { element } else { 4 }
    };
}

impl<T: Element, S> Clone for SpanTile<T, S> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, S> Copy for SpanTile<T, S> {}

// SAFETY: it refers to memory that nothing writes while the kernel runs.
unsafe impl<T: Element, S> Send for SpanTile<T, S> {}

sealed! { [T: Element, S] SpanTile<T, S>; }
