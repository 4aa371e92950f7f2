//! Atomic loads and stores through a view: each element is a separate atomic operation.
//!
//! An acquiring load is followed, and a releasing store preceded, by a barrier of the block, so that the order holds
//! for all threads of the block, not only for the one that touched the element.

use super::TiledView;
use super::index::TileIndex;
use super::locate::{Located, Part};
use super::memory_order::{ReadOrder, Scope, WriteOrder};
use super::padding::Padding;
use super::walk::Walk;
use crate::arch;
use crate::element::bits_transport::Transport;
use crate::element::{Cast, Element, FitsElement, Promote};
use crate::layout::{Block, Blocked, Join, Layout, Map};
use crate::registers::PowerOfTwo;
use crate::shape::{Broadcast, FitsShape, Shape};
use crate::span::access::Writable;
use crate::span::{Access, Alignment, Extents, Mapping};
use crate::tile::Tile;

impl<T, E, A, M, G, S, B, W> TiledView<T, E, A, M, G, S, B, W>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Walk<S>,
{
    /// Loads the elements of tile `index` atomically; the tile must lie wholly inside the tensor.
    ///
    /// # Panics
    /// If it does not (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn atomic_load<O: ReadOrder, C: Scope, I: TileIndex<E::Rank>>(
        &self,
        index: I,
        order: O,
        scope: C,
    ) -> Tile<T, S, Blocked<B>> {
        let _ = (order, scope);
        Self::assert_atomic_access::<C, I>();
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("atomic load", index);
        }
        self.load_each::<O, C>(&located, |_, _| true, T::ZERO)
    }

    /// Loads the elements of tile `index` atomically, with `padding` in place of those outside the tensor.
    #[inline(always)]
    pub fn atomic_load_masked<P: Padding<T>, O: ReadOrder, C: Scope, I: TileIndex<E::Rank>>(
        &self,
        padding: P,
        index: I,
        order: O,
        scope: C,
    ) -> Tile<T, S, Blocked<B>> {
        let _ = (padding, order, scope);
        Self::assert_atomic_access::<C, I>();
        let located = self.locate(index);
        self.load_each::<O, C>(&located, |part, i| part.contains::<S, Blocked<B>>(i), P::VALUE)
    }

    #[inline(always)]
    fn load_each<O: ReadOrder, C: Scope>(
        &self,
        located: &Located<T, E>,
        wanted: impl Fn(&Part<T, E>, usize) -> bool,
        padding: T,
    ) -> Tile<T, S, Blocked<B>> {
        let part = Part::new::<S, Blocked<B>>(located);
        let tile = Tile::from_registers_fn(|i| {
            if wanted(&part, i) {
                let address = part.address::<S, Blocked<B>>(i).cast::<u8>();
                // SAFETY: the element lies inside the tensor, whose elements are aligned and valid for the kernel.
                T::from_bits(unsafe { read::<T, O, C>(address) })
            } else {
                padding
            }
        });
        if O::NUMBER != 0 {
            // SAFETY: view operations run on all threads of the block alike.
            unsafe { arch::execution::barrier() };
        }
        tile
    }

    /// An atomic access reaches the tiles of this block, or any tile of a span that is not exclusive; blocks that
    /// share one must be within its scope.
    #[inline(always)]
    fn assert_atomic_access<C: Scope, I: TileIndex<E::Rank>>() {
        Self::assert_owned::<I>();
        const {
            assert!(
                A::CONSTANT || A::OWNED || C::NUMBER != 0,
                "blocks share an atomic span: its accesses have scope::Device or scope::System"
            )
        };
    }
}

impl<T, E, A, M, G, S, B, W> TiledView<T, E, A, M, G, S, B, W>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Walk<S>,
{
    /// Stores the elements of `value` atomically as tile `index`, which must lie wholly inside the tensor.
    ///
    /// # Panics
    /// If it does not (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn atomic_store<U, R, L, O, C, I>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
    where
        A: Writable,
        U: Promote<T, Output: FitsElement<T>> + Cast<T>,
        R: Shape + Broadcast<S, Output: FitsShape<S>>,
        L: Layout<Block = B> + Join<Blocked<B>>,
        O: WriteOrder,
        C: Scope,
        I: TileIndex<E::Rank>,
    {
        let _ = (order, scope);
        Self::assert_atomic_access::<C, I>();
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("atomic store", index);
        }
        self.store_each::<O, C>(value.cast::<T>().spread(), &located, |_, _| true);
    }

    /// Stores atomically those elements of `value` as tile `index` that lie inside the tensor.
    #[inline(always)]
    pub fn atomic_store_masked<U, R, L, O, C, I>(&self, value: Tile<U, R, L>, index: I, order: O, scope: C)
    where
        A: Writable,
        U: Promote<T, Output: FitsElement<T>> + Cast<T>,
        R: Shape + Broadcast<S, Output: FitsShape<S>>,
        L: Layout<Block = B> + Join<Blocked<B>>,
        O: WriteOrder,
        C: Scope,
        I: TileIndex<E::Rank>,
    {
        let _ = (order, scope);
        Self::assert_atomic_access::<C, I>();
        let located = self.locate(index);
        self.store_each::<O, C>(value.cast::<T>().spread(), &located, |part, i| {
            part.contains::<S, Blocked<B>>(i)
        });
    }

    #[inline(always)]
    fn store_each<O: WriteOrder, C: Scope>(
        &self,
        value: Tile<T, S, Blocked<B>>,
        located: &Located<T, E>,
        wanted: impl Fn(&Part<T, E>, usize) -> bool,
    ) {
        let part = Part::new::<S, Blocked<B>>(located);
        if O::NUMBER != 0 {
            // SAFETY: view operations run on all threads of the block alike.
            unsafe { arch::execution::barrier() };
        }
        if arch::execution::thread() & const { Map::<Blocked<B>, S>::MAP.replicas } != 0 {
            return;
        }
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, 1, &mut |i| {
            if wanted(&part, i) {
                let address = part.address::<S, Blocked<B>>(i).cast::<u8>();
                // SAFETY: as for loads; the span is writable.
                unsafe { write::<T, O, C>(value.registers().get(i), address) }
            }
        });
    }
}

/// # Safety
/// `address` is valid for an atomic read of `T::Bits`, naturally aligned.
#[inline(always)]
unsafe fn read<T: Element, O: ReadOrder, C: Scope>(address: *const u8) -> T::Bits {
    // SAFETY: the same contract. Const parameters must be literals: the table is written out.
    unsafe {
        match (O::NUMBER, C::NUMBER) {
            (0, 0) => T::Bits::load_atomic::<0, 0>(address),
            (0, 1) => T::Bits::load_atomic::<0, 1>(address),
            (0, _) => T::Bits::load_atomic::<0, 2>(address),
            (_, 0) => T::Bits::load_atomic::<1, 0>(address),
            (_, 1) => T::Bits::load_atomic::<1, 1>(address),
            (_, _) => T::Bits::load_atomic::<1, 2>(address),
        }
    }
}

/// # Safety
/// `address` is valid for an atomic write of `T::Bits`, naturally aligned.
#[inline(always)]
unsafe fn write<T: Element, O: WriteOrder, C: Scope>(value: T, address: *mut u8) {
    let bits = value.to_bits();
    // SAFETY: the same contract.
    unsafe {
        match (O::NUMBER, C::NUMBER) {
            (0, 0) => bits.store_atomic::<0, 0>(address),
            (0, 1) => bits.store_atomic::<0, 1>(address),
            (0, _) => bits.store_atomic::<0, 2>(address),
            (_, 0) => bits.store_atomic::<1, 0>(address),
            (_, 1) => bits.store_atomic::<1, 1>(address),
            (_, _) => bits.store_atomic::<1, 2>(address),
        }
    }
}
