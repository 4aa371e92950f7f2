//! Atomic loads and stores of gathered tiles.

use super::index::GatherIndex;
use super::rows::{GatherScatterView, GatheredPart};
use crate::element::{Element, StoredAs};
use crate::layout::{Block, Blocked, HeldBy};
use crate::shape::{BroadcastsTo, Shape};
use crate::span::access::Concurrent;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use crate::view::memory_order::{ReadOrder, Scope, WriteOrder, assert_shared_scope};
use crate::view::{Padding, element_wise};

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block>
    GatherScatterView<TensorSpan<T, E, A, M, G>, S, B>
{
    /// Loads the elements of the tile at `index` atomically; they must lie inside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// let mut numbers = [1_u32, 2, 3, 4];
    /// cuda_tiles::cpu::block(|cx| {
    ///     // SAFETY: the array outlives the span, and nothing else uses it meanwhile.
    ///     let span = unsafe { SpanAtomic::<u32, (u32, u32)>::try_from_parts(numbers.as_mut_ptr(), &[2, 2], &[2, 1]) };
    ///     let view = span.unwrap().gather_scatter_view(cx, shape![2, 2]);
    ///     let rows = cx.tile_of([1, 0]);
    ///     let tile = view.atomic_load((rows, 0), Relaxed, scope::Device);
    ///     assert_eq!((tile.at([0, 0]), tile.at([1, 1])), (3, 2));
    ///     view.atomic_store(tile * 10, (rows, 0), Relaxed, scope::Device);
    /// });
    /// assert_eq!(numbers, [10, 20, 30, 40]);
    /// ```
    ///
    /// # Panics
    ///
    /// If an element lies outside (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Blocked`]. Each element is `ld.relaxed.gpu.global`, or `ld.acquire` and a barrier of the block (PTX ISA, "Data
    /// Movement and Conversion Instructions: ld").
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_load<I, O, C>(&self, index: I, order: O, scope: C) -> Tile<T, S, Blocked<B>>
    where
        A: Concurrent,
        I: GatherIndex<S, B>,
        O: ReadOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        self.check::<I>("atomic load", &part);
        // SAFETY: the elements lie inside the tensor, as just checked, to which all blocks have atomic access only.
        unsafe {
            element_wise::atomic_load::<T, S, Blocked<B>, O, C>(
                |i| (part.address::<S, B, I>(i), true),
                |_| T::ZERO,
            )
        }
    }

    /// Loads the elements of the tile at `index` atomically, with `padding` in place of elements outside the tensor.
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_load_masked<P, I, O, C>(
        &self,
        padding: P,
        index: I,
        order: O,
        scope: C,
    ) -> Tile<T, S, Blocked<B>>
    where
        A: Concurrent,
        P: Padding<T>,
        I: GatherIndex<S, B>,
        O: ReadOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (padding, const { P::VALUE }, order, scope);
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        // SAFETY: only elements inside the tensor are touched, to which all blocks have atomic access only.
        unsafe {
            element_wise::atomic_load::<T, S, Blocked<B>, O, C>(
                |i| (part.address::<S, B, I>(i), part.contains::<S, B, I>(i)),
                |_| P::VALUE,
            )
        }
    }

    /// Stores the elements of `value` atomically as the tile at `index`; they must lie inside the tensor.
    ///
    /// Which of several values for one element stays is unspecified. [`atomic_load`](Self::atomic_load) has an example.
    ///
    /// # Panics
    ///
    /// If an element lies outside (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// Each element is `st.relaxed.gpu.global`, or `st.release` after a barrier of the block (PTX ISA, "Data Movement and Conversion
    /// Instructions: st").
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_store<U, R, L, I, O, C>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
    where
        A: Concurrent,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: GatherIndex<S, B>,
        O: WriteOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        self.check::<I>("atomic store", &part);
        let value: Tile<T, S, Blocked<B>> = value.cast::<T>().spread();
        // SAFETY: the elements lie inside the tensor, as just checked, to which all blocks have atomic access only.
        unsafe {
            element_wise::atomic_store::<T, S, Blocked<B>, O, C>(
                |i| (part.address::<S, B, I>(i), true),
                |i| value.registers().get(i),
            )
        }
    }

    /// Stores atomically those elements of `value` that lie inside the tensor, as the tile at `index`.
    #[inline_on_device]
    #[track_caller]
    pub fn atomic_store_masked<U, R, L, I, O, C>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
    where
        A: Concurrent,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: GatherIndex<S, B>,
        O: WriteOrder,
        C: Scope,
    {
        const { assert_shared_scope::<C>() };
        let _ = (order, scope);
        let gathered = self.locate(index);
        let part = GatheredPart::new::<S, B>(&gathered);
        let value: Tile<T, S, Blocked<B>> = value.cast::<T>().spread();
        // SAFETY: only elements inside the tensor are touched, to which all blocks have atomic access only.
        unsafe {
            element_wise::atomic_store::<T, S, Blocked<B>, O, C>(
                |i| (part.address::<S, B, I>(i), part.contains::<S, B, I>(i)),
                |i| value.registers().get(i),
            )
        }
    }
}
