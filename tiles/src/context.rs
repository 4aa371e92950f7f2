//! The token of a running kernel: which block this is, of what geometry.

use crate::arch::execution::Place;
use crate::layout::Block;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Add, Deref, Div, Mul, Rem, Sub};

/// Proof of being inside a kernel, made by its entry and passed along by value.
///
/// Every thread of the block runs the kernel's function; nothing that safe code can learn differs between
/// them, so that control flow is the same on all threads and operations of the whole block (reductions,
/// exchanges through shared memory) are safe functions. Device statics with interior mutability would break
/// this: kernels must have none.
pub struct Cx<B> {
    place: Place,
    block: PhantomData<B>,
    // Not `Send`: the token must not leave the block that it stands for.
    local: PhantomData<*const ()>,
}

impl<B> Clone for Cx<B> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Cx<B> {}

impl<B: Block> Cx<B> {
    /// The token of the block at `place`.
    ///
    /// # Safety
    /// Only the entry of a kernel makes one, on all threads of a block of `B::Threads` threads, in a grid whose
    /// axes beyond `B::GRID_RANK` have length 1; and each block of the launch makes it for its own place.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(place: Place) -> Self {
        Self { place, block: PhantomData, local: PhantomData }
    }

    /// This block's index along grid axis `AXIS`, with the knowledge that no other block has it.
    ///
    /// Stores through a writable view want an index that contains those of all grid axes.
    #[inline(always)]
    pub fn bid<const AXIS: usize>(self) -> BlockIndex<AXIS> {
        const {
            assert!(
                AXIS < B::GRID_RANK as usize,
                "this kernel tells blocks apart along fewer grid axes: state `grid = 2` or `grid = 3` in #[kernel(...)]"
            )
        };
        BlockIndex::new(self.place.block_index(AXIS))
    }

    /// The number of blocks along grid axis `axis` (0, 1 or 2).
    #[inline(always)]
    pub fn num_blocks(self, axis: usize) -> u32 {
        self.place.block_count(axis)
    }

    /// The tiles that fall to this block when `count` tiles are dealt out along grid axis `AXIS`: the block's own
    /// index, and every number of blocks further.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let tiles: u32 = cx.tiles::<0>(3).map(|i| *i).sum();
    ///     assert_eq!(tiles, 0 + 1 + 2);
    /// });
    /// ```
    #[inline(always)]
    pub fn tiles<const AXIS: usize>(self, count: u32) -> impl Iterator<Item = BlockIndex<AXIS>> {
        let (first, step) = (*self.bid::<AXIS>(), self.num_blocks(AXIS));
        let mut next = Some(first);
        core::iter::from_fn(move || {
            let index = next.filter(|&index| index < count)?;
            next = index.checked_add(step);
            Some(BlockIndex::new(index))
        })
    }
}

/// A tile index along grid axis `AXIS` that belongs to one block alone.
///
/// It reads as a `u32`; arithmetic with it gives plain numbers, which prove nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockIndex<const AXIS: usize> {
    index: u32,
    // Not `Send`: another block must not get hold of it.
    local: PhantomData<*const ()>,
}

impl<const AXIS: usize> BlockIndex<AXIS> {
    #[inline(always)]
    fn new(index: u32) -> Self {
        Self { index, local: PhantomData }
    }
}

impl<const AXIS: usize> Deref for BlockIndex<AXIS> {
    type Target = u32;
    #[inline(always)]
    fn deref(&self) -> &u32 {
        &self.index
    }
}

impl<const AXIS: usize> From<BlockIndex<AXIS>> for u32 {
    #[inline(always)]
    fn from(index: BlockIndex<AXIS>) -> u32 {
        index.index
    }
}

impl<const AXIS: usize> fmt::Debug for BlockIndex<AXIS> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index.fmt(formatter)
    }
}

macro_rules! arithmetic {
    ($($trait:ident $function:ident)*) => { $(
        impl<const AXIS: usize> $trait<u32> for BlockIndex<AXIS> {
            type Output = u32;
            #[inline(always)]
            fn $function(self, other: u32) -> u32 {
                $trait::$function(self.index, other)
            }
        }
        impl<const AXIS: usize> $trait<BlockIndex<AXIS>> for u32 {
            type Output = u32;
            #[inline(always)]
            fn $function(self, other: BlockIndex<AXIS>) -> u32 {
                $trait::$function(self, other.index)
            }
        }
    )* };
}
arithmetic!(Add add Sub sub Mul mul Div div Rem rem);
