//! The token of a kernel whose warps have roles.

use crate::arch::execution::Place;
use crate::arch::order;
use crate::context::{BlockIndex, Cx};
use crate::launch::Token;
use crate::layout::Block;
use core::marker::PhantomData;

/// The token of a running block with producer warps, before its warps take their roles.
///
/// It is the first argument of a kernel with `producer = 32`, `64`, `96` or `128` in its attribute. It has no tile operations:
/// these belong to the consumers. It is neither `Copy` nor `Clone`, since the roles split once.
#[doc(alias("warp_specialize"))]
pub struct WarpRoles<B> {
    place: Place,
    block: PhantomData<B>,
    // Not `Send`: the token must not leave its block.
    local: PhantomData<*const ()>,
}

impl<B> crate::launch::sealed::RunningBlock for WarpRoles<B> {}

impl<B: Block> Token<B> for WarpRoles<B> {
    #[inline_on_device]
    unsafe fn new(place: Place) -> Self {
        // SAFETY: the same contract.
        unsafe { Self::new(place) }
    }
}

impl<B: Block> WarpRoles<B> {
    /// The token of the block at `place`.
    ///
    /// # Safety
    /// Only the entry of a kernel makes one, once, on all threads of a block. The block has `B::Threads` threads and, where the
    /// target has TMA, `B::PRODUCER_THREADS` more behind them. The grid's axes beyond `B::GRID_RANK` have length 1. Each block
    /// of the launch passes its own place.
    #[doc(hidden)]
    #[inline_on_device]
    pub unsafe fn new(place: Place) -> Self {
        Self { place, block: PhantomData, local: PhantomData }
    }

    /// This block's index along grid axis `AXIS`, with the knowledge that no other block has it. See [`Cx::bid`].
    #[inline_on_device]
    pub fn bid<const AXIS: usize>(&self) -> BlockIndex<AXIS> {
        const {
            assert!(
                B::CONSUMERS * B::CLUSTER_SIZE == 1,
                "the blocks that share a producer, or whose producers load together, have no index in common: a producer takes the indices of \
                 their tiles from `roles.tile_indices`, and a consumer its own from `cx.bid`"
            )
        };
        self.context().bid()
    }

    /// The index of this block's producer: along the first axis of the grid, blocks that share a producer count as one.
    ///
    /// Without `consumers` and `cluster` in the kernel's attribute it is the block's own index, see [`bid`](Self::bid).
    #[inline_on_device]
    pub fn producer_index(&self) -> u32 {
        order::reveals_index();
        self.context().group()[0]
    }

    /// The number of producers along the first axis of the grid, which the launch states.
    #[inline_on_device]
    pub fn num_producers(&self) -> u32 {
        self.context().group()[1]
    }

    /// The number of blocks along grid axis `axis` (0, 1 or 2).
    #[inline_on_device]
    pub fn num_blocks(&self, axis: usize) -> u32 {
        self.context().num_blocks(axis)
    }

    /// The token of the consumers.
    #[inline_on_device]
    pub(crate) fn context(&self) -> Cx<B> {
        // SAFETY: this token's contract implies that token's: the consumers are the block's first `B::Threads` threads.
        unsafe { Cx::new(self.place) }
    }
}
