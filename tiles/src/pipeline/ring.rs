//! A ring of stages in shared memory, with the mbarriers of each stage.

use crate::arch::running::Run;
use crate::arch::shared;
use crate::arch::threads::{self, Address};
use crate::memory::shared::{CLASSES, SharedMemory};
use crate::memory::shared_tile::ALIGNMENT;
use crate::memory::stage_layout::StageLayout;
use core::marker::PhantomData;

/// The number of stages that fits a multiprocessor's shared memory beside its other users, at most 8.
pub const AUTOMATIC: usize = 0;

/// The shared memory that an automatic ring leaves free on GPUs of each class: for its barriers, and for scratch of tile
/// operations or, on GPUs with TMA, two epilogue buffers of two warpgroups.
const SPARE_BYTES: [usize; 3] = [17 * 1024, 17 * 1024, 33 * 1024];
/// The most stages of an automatic ring: more do not help.
const MOST_AUTOMATIC: usize = 8;
/// The most stages of a ring.
const MOST_STAGES: usize = 16;

/// A ring of `STAGES` stages in shared memory, each with room for the tiles of `P`: a [`SharedTile`](crate::memory::SharedTile)
/// or a tuple of them.
///
/// A kernel takes a ring as an argument,
/// `#[shared] ring: Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, 256>>), 4>`, and passes it to
/// [`WarpRoles::pipeline`](super::WarpRoles::pipeline).
///
/// More stages hide more memory latency. A k loop needs two: the producer fills one while the consumers read the other. One
/// stage is enough for tiles that stay. Without a number, the ring has as many stages as the GPU's shared memory has room for.
#[doc(alias("load_pipelined", "num_stages", "PipelineTmaAsync"))]
pub struct Ring<P, const STAGES: usize = AUTOMATIC> {
    pub(crate) address: Address,
    /// The run of the block that owns the memory; zero-sized on a GPU.
    run: Run,
    layout: PhantomData<(P, *const ())>,
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

    /// The bytes of the ring: its stages, two barriers of 8 bytes for each stage, two more barriers, and a word.
    const fn bytes(class: usize) -> u32 {
        let stages = Self::stages(class);
        (stages * P::ROOM + stages * 16 + 20).next_multiple_of(ALIGNMENT) as u32
    }

    /// The number of stages on the target.
    pub(crate) const HERE: usize = Self::STAGES[shared::BUDGET_CLASS];

    /// The same ring, for the producer warp.
    #[inline(always)]
    pub(crate) fn alias(&self) -> Self {
        Self { address: self.address, run: self.run, layout: PhantomData }
    }

    /// Panics unless this thread runs the block that owns the ring.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn assert_current(&self) {
        self.run.assert_current("a ring");
    }

    /// The address of stage `slot`.
    #[inline(always)]
    pub(crate) fn stage(&self, slot: u32) -> Address {
        threads::offset(self.address, slot as usize * const { P::ROOM })
    }

    /// The barrier `full` of stage `slot`: its phase completes when the producer's bytes have arrived.
    #[inline(always)]
    pub(crate) fn full(&self, slot: u32) -> Address {
        threads::offset(self.address, const { Self::HERE * P::ROOM } + slot as usize * 8)
    }

    /// The barrier `empty` of stage `slot`: its phase completes when all consumer warps have released the stage.
    #[inline(always)]
    pub(crate) fn empty(&self, slot: u32) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 8) } + slot as usize * 8)
    }

    /// The barrier that completes when the producer has ended and all its copies have arrived.
    #[inline(always)]
    pub(crate) fn ended(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 16) })
    }

    /// The barrier that completes when no consumer warp waits for a stage any more.
    #[inline(always)]
    pub(crate) fn closed(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 16) + 8 })
    }

    /// A word that is not 0 after a consumer has failed: the number of the error text.
    #[inline(always)]
    pub(crate) fn failed(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 16) + 16 })
    }
}

// SAFETY: the memory at the address has room for the stages, then for a full and an empty barrier for each stage, for two more
// barriers and for a word, as `bytes` counts.
unsafe impl<P: StageLayout, const STAGES: usize> SharedMemory for Ring<P, STAGES> {
    const BYTES: [u32; 3] = [Self::bytes(0), Self::bytes(1), Self::bytes(2)];
    type Storage = ([P::Storage; MOST_STAGES], [u8; ALIGNMENT]);
    #[inline(always)]
    unsafe fn new(address: Address) -> Self {
        Self { address, run: Run::current(), layout: PhantomData }
    }
}

/// A position in the sequence of stages: a slot of the ring, and the parity of the round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) slot: u32,
    /// The parity of the round.
    pub(crate) round: u32,
}

impl Position {
    pub(crate) const FIRST: Self = Self { slot: 0, round: 0 };

    /// Moves to the next stage in a ring of `stages`.
    #[inline(always)]
    pub(crate) fn advance(&mut self, stages: usize) {
        self.slot += 1;
        if self.slot == stages as u32 {
            self.slot = 0;
            self.round ^= 1;
        }
    }
}
