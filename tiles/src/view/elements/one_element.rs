//! One element of a tensor, as a number.

use super::Chosen;
use crate::arch::messages::Failure;
use crate::element::Element;
use crate::protocol::OUTSIDE;
use crate::span::{Alignment, Extents, Mapping, ReadOnly, TensorSpan};
use crate::view::index::TileIndex;
use crate::view::transfer::{self, Cache};

impl<T: Element, E: Extents, M: Mapping, G: Alignment> TensorSpan<T, E, ReadOnly, M, G> {
    /// The element at `index`, the same on every thread.
    ///
    /// It is for numbers that decide what a kernel does: lengths of sequences, offsets, numbers of pages. A producer may read it, too. Here
    /// a table says where the pages of each sequence lie, and the producer streams them:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// type Page = Shape2<16, 64>;
    ///
    /// /// The sums of all tokens of each sequence, whose pages lie anywhere in a cache. The blocks share the sequences.
    /// #[kernel(threads = 128, producer = 32)]
    /// fn sums_of_tokens(
    ///     roles: WarpRoles,
    ///     cache: TmaLoad<f16, Page>,
    ///     table: Span<u32, (u32, u32)>,
    ///     tokens: Span<u32, (u32,)>,
    ///     sums: SpanMut<f32, (u32, D<64>)>,
    ///     #[shared] ring: Ring<SharedTile<f16, Page>, 4>,
    /// ) {
    ///     let sequences = tokens.extent(0);
    ///     if sequences == 0 {
    ///         return;
    ///     }
    ///     let loads = roles.tile_indices(RowMajor, [1, sequences, 1]).flat_map(move |[_, sequence, _]| {
    ///         let pages = tokens.item(sequence).div_ceil(16);
    ///         (0..pages).map(move |k| cache.tile(table.item((sequence, k)), 0))
    ///     });
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         let sums = sums.partition(cx, shape![1, 64]);
    ///         for sequence in cx.tiles::<0>(sequences) {
    ///             let (mut sum, mut left) = (cx.zeros::<f32>(shape![16, 64]), tokens.item(sequence));
    ///             consumer.k_loop(left.div_ceil(16)).for_each(|page| {
    ///                 let page = page.load(cx).cast::<f32>();
    ///                 sum += page.coordinates::<0>().lt(left).select(page, 0.0);
    ///                 left -= left.min(16);
    ///             });
    ///             sums.store(sum.sum::<0>().reshape(shape![1, 64]), (sequence, 0));
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If the index lies outside the tensor (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// All threads that ask load the same element by `ld.global.nc` (PTX ISA, "Data Movement and Conversion Instructions: ld.global.nc").
    #[inline_on_device]
    #[track_caller]
    pub fn item<I: TileIndex<E::Rank>>(&self, index: I) -> T {
        let (address, inside) = Chosen::new(self, index.get()).target(0);
        if !inside {
            let (signed, lengths) = (index.signed(), self.extents.get());
            let mut failure = Failure::new("Span::item", OUTSIDE);
            failure.list(E::RANK, |axis| signed[axis] as u64);
            failure.list(E::RANK, |axis| lengths[axis]);
            failure.end()
        }
        let mut element = T::ZERO;
        // SAFETY: the element lies inside the tensor, which is lent to this block, and nothing writes a read-only span during the kernel.
        unsafe { transfer::load(address, 1, Cache::Constant, None, T::ZERO, |_, loaded| element = loaded) };
        element
    }
}
