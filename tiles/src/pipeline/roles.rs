//! The token of a kernel whose threads have roles.

use crate::arch::execution::Place;
use crate::context::{BlockIndex, Cx};
use crate::layout::Block;
use core::marker::PhantomData;

/// Proof of being inside a kernel with threads that copy, before the roles part: the first argument of a kernel with
/// `producer = 32` or `producer = 128` in its attribute.
///
/// It has no operations on tiles: those are for the threads that hold tiles alone. Copies of the token there are none, since
/// the roles part once.
pub struct WarpRoles<B> {
    place: Place,
    block: PhantomData<B>,
    // Not `Send`: the token must not leave the block that it stands for.
    local: PhantomData<*const ()>,
}

impl<B: Block> WarpRoles<B> {
    /// The token of the block at `place`.
    ///
    /// # Safety
    /// Only the entry of a kernel makes one, once, on all threads of a block of `B::Threads` threads and, where the target has
    /// a copy engine, `B::PRODUCER_THREADS` more behind them, in a grid whose axes beyond `B::GRID_RANK` have length 1; and each
    /// block of the launch makes it for its own place.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(place: Place) -> Self {
        Self { place, block: PhantomData, local: PhantomData }
    }

    /// This block's index along grid axis `AXIS`, with the knowledge that no other block has it: as [`Cx::bid`].
    #[inline(always)]
    pub fn bid<const AXIS: usize>(&self) -> BlockIndex<AXIS> {
        self.context().bid()
    }

    /// The number of blocks along grid axis `axis` (0, 1 or 2).
    #[inline(always)]
    pub fn num_blocks(&self, axis: usize) -> u32 {
        self.place.block_count(axis)
    }

    /// This block's index along grid axis 0, for those who keep it to themselves until it is asked for.
    #[inline(always)]
    pub(crate) fn first_number(&self) -> u32 {
        self.place.block_index(0)
    }

    /// The token of the threads that hold tiles.
    #[inline(always)]
    pub(crate) fn context(&self) -> Cx<B> {
        // SAFETY: this token's contract is that token's, of a block that has threads which copy besides.
        unsafe { Cx::new(self.place) }
    }
}
