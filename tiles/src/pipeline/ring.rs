//! A ring of stages in shared memory.

use crate::arch::running::Run;
use crate::arch::shared;
use crate::arch::threads::{self, Address};
use crate::memory::shared::{CLASSES, SharedMemory};
use crate::memory::shared_tile::ALIGNMENT;
use crate::memory::shared_tile::StageLayout;
use core::marker::PhantomData;

/// As many stages as fit the shared memory of a multiprocessor beside what its other users need, at most 8.
pub const AUTOMATIC: usize = 0;

/// What an automatic ring leaves to others on GPUs of each class: its barriers, and scratch of tile operations or, where there
/// is a copy engine, two output buffers of two warpgroups.
const SPARE_BYTES: [usize; 3] = [17 * 1024, 17 * 1024, 33 * 1024];
/// The most stages that an automatic ring has: more are of no use.
const MOST_AUTOMATIC: usize = 8;
/// The most stages that a ring can have.
const MOST_STAGES: usize = 16;

/// `STAGES` stages in shared memory, each with room for a message `P`: a [`SharedTile`](super::SharedTile) tile or a tuple of them.
///
/// A kernel asks for one as an argument, `#[shared] ring: Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, 256>>), 4>`,
/// and hands it to [`WarpRoles::pipeline`](super::WarpRoles::pipeline). More stages hide more of the memory's latency. KLoop need two, of
/// which one is filled while the other is used; one is enough for a message that stays. Without a number, as many are
/// taken as the GPU has shared memory for.
pub struct Ring<P, const STAGES: usize = AUTOMATIC> {
    pub(crate) address: Address,
    /// The run of the block whose memory it is; of no size on a GPU.
    run: Run,
    message: PhantomData<(P, *const ())>,
}

impl<P: StageLayout, const STAGES: usize> Ring<P, STAGES> {
    /// The number of stages on GPUs of each class.
    pub const STAGES: [usize; 3] = [Self::stages(0), Self::stages(1), Self::stages(2)];

    const fn stages(class: usize) -> usize {
        if STAGES != AUTOMATIC {
            assert!(STAGES <= MOST_STAGES, "a ring has at most 16 stages");
            return STAGES;
        }
        let stages = (CLASSES[class] as usize - SPARE_BYTES[class]) / P::ROOM;
        if stages < 2 {
            2
        } else if stages > MOST_AUTOMATIC {
            MOST_AUTOMATIC
        } else {
            stages
        }
    }

    /// Stages and what belongs to them, in bytes: two barriers of 8 bytes each; two barriers more, and a word.
    const fn bytes(class: usize) -> u32 {
        let stages = Self::stages(class);
        (stages * P::ROOM + stages * 16 + 20).next_multiple_of(ALIGNMENT) as u32
    }

    /// The number of stages on the target.
    pub(crate) const HERE: usize = Self::STAGES[shared::BUDGET_CLASS];

    /// The same ring, for the sender.
    #[inline(always)]
    pub(crate) fn alias(&self) -> Self {
        Self { address: self.address, run: self.run, message: PhantomData }
    }

    /// Panics unless this thread runs the block whose memory the ring is.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn assert_current(&self) {
        self.run.assert_current("a ring");
    }

    /// Where the stage `slot` lies.
    #[inline(always)]
    pub(crate) fn stage(&self, slot: u32) -> Address {
        threads::offset(self.address, slot as usize * const { P::ROOM })
    }

    /// The barrier that is complete when the stage `slot` is full.
    #[inline(always)]
    pub(crate) fn full(&self, slot: u32) -> Address {
        threads::offset(self.address, const { Self::HERE * P::ROOM } + slot as usize * 8)
    }

    /// The barrier that is complete when all warps have released the stage `slot`.
    #[inline(always)]
    pub(crate) fn empty(&self, slot: u32) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 8) } + slot as usize * 8)
    }

    /// The barrier that is complete when the feed has ended and all its messages are there.
    #[inline(always)]
    pub(crate) fn ended(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 16) })
    }

    /// The barrier that is complete when no warp receives any more.
    #[inline(always)]
    pub(crate) fn closed(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 16) + 8 })
    }

    /// The word that is not 0 when a consumer has failed: the number of a text about it.
    #[inline(always)]
    pub(crate) fn failed(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 16) + 16 })
    }
}

// SAFETY: the address has room for the stages, then for a full and an empty barrier each, two barriers more and a word, as
// `bytes` counts.
unsafe impl<P: StageLayout, const STAGES: usize> SharedMemory for Ring<P, STAGES> {
    const BYTES: [u32; 3] = [Self::bytes(0), Self::bytes(1), Self::bytes(2)];
    type Storage = ([P::Storage; MOST_STAGES], [u8; ALIGNMENT]);
    #[inline(always)]
    unsafe fn new(address: Address) -> Self {
        Self { address, run: Run::current(), message: PhantomData }
    }
}

/// A place in the sequence of messages: which stage, and in which round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) slot: u32,
    /// The parity of the round.
    pub(crate) round: u32,
}

impl Position {
    pub(crate) const FIRST: Self = Self { slot: 0, round: 0 };

    /// The place of the next message in a ring of `stages`.
    #[inline(always)]
    pub(crate) fn advance(&mut self, stages: usize) {
        self.slot += 1;
        if self.slot == stages as u32 {
            self.slot = 0;
            self.round ^= 1;
        }
    }
}
