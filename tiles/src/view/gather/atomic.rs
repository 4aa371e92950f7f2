//! Atomic loads and stores of gathered tiles.

use super::index::GatherIndex;
use super::rows::{GatherScatterView, GatheredPart};
use crate::element::{Cast, Element, FitsElement, Promote};
use crate::layout::{Block, Blocked, Join, Layout};
use crate::shape::{Broadcast, FitsShape, Shape};
use crate::span::access::Concurrent;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use crate::view::memory_order::{ReadOrder, Scope, WriteOrder, assert_shared_scope};
use crate::view::{Padding, element_wise};

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block>
    GatherScatterView<TensorSpan<T, E, A, M, G>, S, B>
{
    /// Loads the elements of the tile at `index` atomically; it must lie wholly inside the tensor with all its slices.
    ///
    /// # Panics
    /// If it does not (on the device: traps).
    #[inline(always)]
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

    /// Loads the elements of the tile at `index` atomically, with `padding` in place of those outside the tensor.
    #[inline(always)]
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

    /// Stores the elements of `value` atomically as the tile at `index`, which must lie wholly inside the tensor with all
    /// its slices. Which of several values for one element stays is unspecified.
    ///
    /// # Panics
    /// If it does not lie inside (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn atomic_store<U, R, L, I, O, C>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
    where
        A: Concurrent,
        U: Promote<T, Output: FitsElement<T>> + Cast<T>,
        R: Shape + Broadcast<S, Output: FitsShape<S>>,
        L: Layout<Block = B> + Join<Blocked<B>>,
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

    /// Stores atomically those elements of `value` as the tile at `index` that lie inside the tensor.
    #[inline(always)]
    #[track_caller]
    pub fn atomic_store_masked<U, R, L, I, O, C>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
    where
        A: Concurrent,
        U: Promote<T, Output: FitsElement<T>> + Cast<T>,
        R: Shape + Broadcast<S, Output: FitsShape<S>>,
        L: Layout<Block = B> + Join<Blocked<B>>,
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
