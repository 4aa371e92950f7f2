//! The tiles that a block copies ahead: of spans, and of tensor-map operands.

use crate::arch::threads::{self, Address};
use crate::element::Element;
use crate::layout::Block;
use crate::memory::shared_tile::SharedTile;
use crate::memory::span_tile::SpanTile;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::producer::{LoadTile, PlaceInCluster, StageLoad, ThreadsOfBlock};
use crate::sealed::Sealed;
use crate::shape::Dimension;

/// Tiles that a block copies ahead into stages of layout `P`: a [`SpanTile`] or a [`LoadTile`] for a [`SharedTile`] of the same element
/// type and shape, or a tuple of such tiles for a tuple.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fill a stage `{P}` of the ring",
    label = "not the tiles that the stages of the ring have room for",
    note = "for each `SharedTile<T, S>` of the ring there is one tile of the same element type and shape: `|k| (a.tile((i, k)), b.tile((k, j)))`"
)]
pub trait CopyAhead<P: StageLayout>: Sealed + Copy {
    /// Whether TMA copies all of the tiles, where there is TMA.
    #[doc(hidden)]
    const BY_TMA: bool;

    /// Starts to copy the tiles to `target`. Each thread of the block copies its part, by `cp.async` or by ordinary stores.
    ///
    /// # Safety
    /// All threads of the block execute this same call. There is room for the stage at `target`. Nobody accesses it before all threads
    /// have waited for their copies.
    #[doc(hidden)]
    unsafe fn copy_by_threads<B: Block>(self, target: Address);

    /// Copies the tiles to `target` by TMA. Their bytes count towards the barrier `full`.
    ///
    /// # Safety
    /// [`BY_TMA`](Self::BY_TMA), on a target that has it. There is room for the stage at `target`. Nobody accesses it before the barrier's
    /// phase is complete.
    #[doc(hidden)]
    unsafe fn copy_by_tma<B: Block>(self, target: Address, full: Address);

    /// The bytes that [`copy_by_tma`](Self::copy_by_tma) copies.
    #[doc(hidden)]
    fn bytes_by_tma<B: Block>(&self) -> u32;
}

impl<T: Element, R: Dimension, C: Dimension> CopyAhead<SharedTile<T, (R, C)>> for LoadTile<T, (R, C)> {
    const BY_TMA: bool = true;

    #[inline_on_device]
    unsafe fn copy_by_threads<B: Block>(self, target: Address) {
        // SAFETY: the same contract.
        unsafe {
            if self.are_whole::<B>() {
                Self::copy_from::<B>(self.start::<B>(target));
            } else {
                self.copy_with_edges::<B>(target);
            }
        }
    }

    #[inline_on_device]
    unsafe fn copy_by_tma<B: Block>(self, target: Address, full: Address) {
        // SAFETY: the same contract.
        unsafe { StageLoad::copy_by_tma::<B>(self, target, full, PlaceInCluster::ALONE) }
    }

    #[inline_on_device]
    fn bytes_by_tma<B: Block>(&self) -> u32 {
        StageLoad::bytes_by_tma::<B>(self)
    }
}

impl<T: Element, R: Dimension, C: Dimension> CopyAhead<SharedTile<T, (R, C)>> for SpanTile<T, (R, C)> {
    const BY_TMA: bool = false;

    #[inline_on_device]
    #[track_caller]
    unsafe fn copy_by_threads<B: Block>(self, target: Address) {
        // SAFETY: the same contract.
        unsafe { self.copy_by::<ThreadsOfBlock<B>>(target) }
    }

    #[inline_on_device]
    unsafe fn copy_by_tma<B: Block>(self, _target: Address, _full: Address) {}

    #[inline_on_device]
    fn bytes_by_tma<B: Block>(&self) -> u32 {
        0
    }
}

macro_rules! tuples {
    ($($($stage:ident $tile:ident $index:tt)*;)*) => { $(
        impl<$($stage: StageLayout, $tile: CopyAhead<$stage>),*> CopyAhead<($($stage,)*)> for ($($tile,)*) {
            const BY_TMA: bool = true $(&& $tile::BY_TMA)*;
            #[inline_on_device]
            #[track_caller]
            unsafe fn copy_by_threads<BL: Block>(self, target: Address) {
                let mut next = 0;
                $(
                    // SAFETY: the tiles of a stage lie one behind the other.
                    unsafe { self.$index.copy_by_threads::<BL>(threads::offset(target, next)) };
                    next += $stage::ROOM;
                )*
                let _ = next;
            }
            #[inline_on_device]
            unsafe fn copy_by_tma<BL: Block>(self, target: Address, full: Address) {
                let mut next = 0;
                $(
                    // SAFETY: as above.
                    unsafe { self.$index.copy_by_tma::<BL>(threads::offset(target, next), full) };
                    next += $stage::ROOM;
                )*
                let _ = next;
            }
            #[inline_on_device]
            fn bytes_by_tma<BL: Block>(&self) -> u32 {
                0 $(+ self.$index.bytes_by_tma::<BL>())*
            }
        }
    )* };
}
tuples! { A X 0; A X 0 B Y 1; A X 0 B Y 1 C Z 2; A X 0 B Y 1 C Z 2 E W 3; }
