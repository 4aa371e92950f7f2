//! A ring of stages in shared memory, with the mbarriers of each stage.

use crate::arch::barriers::PRODUCER_WARP;
use crate::arch::running::Run;
use crate::arch::shared;
use crate::arch::threads::{self, Address};
use crate::memory::shared::{CLASSES, SharedMemory};
use crate::memory::shared_tile::ALIGNMENT;
use crate::memory::stage_layout::StageLayout;
use core::marker::PhantomData;

/// The number of stages that fits a multiprocessor's shared memory beside its other users, at most 12.
pub const AUTOMATIC: usize = 0;

/// The number of stages with which two blocks fit a multiprocessor's shared memory, each beside the ring's other users, at most 12.
///
/// One block then multiplies while the other stores its tile.
pub const TWO_BLOCKS: usize = usize::MAX;

/// The shared memory that an automatic ring leaves free on GPUs of each class: for its barriers, and for scratch of tile
/// operations or, on GPUs with TMA, two epilogue buffers of two warpgroups.
const SPARE_BYTES: [usize; 3] = [17 * 1024, 17 * 1024, 33 * 1024];
/// The most stages of an automatic ring: more do not help.
const MOST_AUTOMATIC: usize = 12;
/// The most stages of a ring.
const MOST_STAGES: usize = 16;
/// The bytes that a ring has once: barriers `ended` and `counted`, word `failed`, and a word `count` for each block of a cluster.
const BYTES_ONCE: usize = 24 + MOST_CONSUMERS * 4;
/// The most blocks that share a ring, in a CTA or in a cluster.
const MOST_CONSUMERS: usize = 4;

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
    /// The number of stages in use, from 2 to `HERE`: a constant, unless the ring [has rounds](Self::with_rounds_of).
    pub(crate) stages: u32,
    /// The run of the block that owns the memory; zero-sized on a GPU.
    run: Run,
    layout: PhantomData<(P, *const ())>,
}

impl<P: StageLayout, const STAGES: usize> Ring<P, STAGES> {
    /// The number of stages on GPUs of each class.
    pub const STAGES: [usize; 3] = [Self::stages(0), Self::stages(1), Self::stages(2)];

    const fn stages(class: usize) -> usize {
        let blocks = match STAGES {
            AUTOMATIC => 1,
            TWO_BLOCKS => 2,
            _ => {
                assert!(STAGES <= MOST_STAGES, "a ring has at most 16 stages");
                return STAGES;
            }
        };
        let stages = (CLASSES[class] as usize - SPARE_BYTES[class]) / blocks / P::ROOMS[class];
        if stages < 2 {
            2
        } else if stages > MOST_AUTOMATIC {
            MOST_AUTOMATIC
        } else {
            stages
        }
    }

    /// The bytes of the ring: its stages, a barrier `full` of 8 bytes for each stage, what the ring has once, and what each block has.
    const fn bytes(class: usize) -> u32 {
        let stages = Self::stages(class);
        (stages * (P::ROOMS[class] + 8) + BYTES_ONCE + MOST_CONSUMERS * Self::bytes_of_block(stages))
            .next_multiple_of(ALIGNMENT) as u32
    }

    /// The bytes that each of the blocks has: a barrier `empty` for each stage, `closed` and `turn`.
    const fn bytes_of_block(stages: usize) -> usize {
        stages * 8 + 16
    }

    /// The number of stages on the target.
    pub(crate) const HERE: usize = Self::STAGES[shared::BUDGET_CLASS];

    /// The ring, which uses a multiple of `steps` of its stages, and how many k loops of `steps` steps they hold: a round.
    ///
    /// Step `k` of each loop then has a stage that had step `k` of a loop of the round before. So an operand that all k loops of a block share
    /// is loaded in the first round alone, and [stays](super::LoadTile::kept) after that.
    ///
    /// There is no round if the ring has too few stages for it, or `steps` is zero, or the target has no TMA. The ring is then as it was.
    /// The CPU has no rounds.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `y = x w` for rows of any length and up to 64 columns: if the rows have up to four k steps, `w` stays in shared memory.
    /// #[kernel(threads = 128, producer = 32)]
    /// pub fn linear(
    ///     roles: WarpRoles,
    ///     x: TmaLoad<f16, Shape2<64, 64>>,
    ///     w: TmaLoad<f16, Shape2<64, 64>>,
    ///     y: TmaStore<f16, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 64>>, SharedTile<f16, Shape2<64, 64>>), 4>,
    ///     #[shared] buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let steps = x.tile_counts().1;
    ///     let (ring, round) = ring.with_rounds_of(steps);
    ///     let tiles = roles.tile_indices(RowMajor, y.tile_counts()).enumerate();
    ///     let loads = tiles.flat_map(move |(number, [_, i, _])| {
    ///         let is_kept = round.is_some_and(|round| number as u32 >= round);
    ///         (0..steps).map(move |k| (x.tile(i, k), w.tile(k, 0).kept(is_kept)))
    ///     });
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         let mut buffer = buffer;
    ///         for tile in y.schedule(cx, RowMajor) {
    ///             let acc = consumer.k_loop(steps).accumulate(|acc, (x, w)| acc.mma(x, w));
    ///             tile.store(&mut buffer, acc.cast());
    ///         }
    ///     });
    /// }
    /// ```
    #[inline_on_device]
    pub fn with_rounds_of(self, steps: u32) -> (Self, Option<u32>) {
        // Producer and consumers must agree on the number of stages. They do: a ring is a value of the kernel's code before the roles part,
        // which all threads of a CTA run alike, and `pipeline` takes it for both.
        let all = const { Self::HERE as u32 };
        let loops = if PRODUCER_WARP && steps > 0 { all / steps } else { 0 };
        if loops * steps < 2 { (self, None) } else { (Self { stages: loops * steps, ..self }, Some(loops)) }
    }

    /// The same ring, for the producer warp.
    #[inline_on_device]
    pub(crate) fn alias(&self) -> Self {
        Self { address: self.address, stages: self.stages, run: self.run, layout: PhantomData }
    }

    /// Panics unless this thread runs the block that owns the ring.
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn assert_current(&self) {
        self.run.assert_current("a ring");
    }

    /// The address of stage `slot`.
    #[inline_on_device]
    pub(crate) fn stage(&self, slot: u32) -> Address {
        threads::offset(self.address, slot as usize * const { P::ROOM })
    }

    /// The barrier `full` of stage `slot`: its phase completes when the producer's bytes have arrived.
    #[inline_on_device]
    pub(crate) fn full(&self, slot: u32) -> Address {
        threads::offset(self.address, const { Self::HERE * P::ROOM } + slot as usize * 8)
    }

    /// The barrier that completes when the producer has ended and all its copies have arrived.
    #[inline_on_device]
    pub(crate) fn ended(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 8) })
    }

    /// A word that is not 0 after a consumer has failed: the number of the error text.
    #[inline_on_device]
    pub(crate) fn failed(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 8) + 8 })
    }

    /// A word for the number of stages that the producer of block `block` of a cluster has filled.
    #[inline_on_device]
    pub(crate) fn count(&self, block: u32) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 8) + 24 } + block as usize * 4)
    }

    /// The barrier that completes when the other producers of a cluster have stored their [counts](Self::count).
    #[inline_on_device]
    pub(crate) fn counted(&self) -> Address {
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 8) + 16 })
    }

    /// The address `offset` bytes behind the first of what block `consumer` of those that share the producer has.
    #[inline_on_device]
    fn of_block(&self, consumer: u32, offset: usize) -> Address {
        let own = consumer as usize * const { Self::bytes_of_block(Self::HERE) };
        threads::offset(self.address, const { Self::HERE * (P::ROOM + 8) + BYTES_ONCE } + own + offset)
    }

    /// The barrier `empty` of stage `slot`: its phase completes when all warps of block `consumer` have released the stage.
    #[inline_on_device]
    pub(crate) fn empty(&self, consumer: u32, slot: u32) -> Address {
        self.of_block(consumer, slot as usize * 8)
    }

    /// The barrier that completes when no warp of block `consumer` waits for a stage any more.
    #[inline_on_device]
    pub(crate) fn closed(&self, consumer: u32) -> Address {
        self.of_block(consumer, const { Self::HERE * 8 })
    }

    /// The barrier of which each phase completes when the block before block `consumer` has passed its turn.
    #[inline_on_device]
    pub(crate) fn turn(&self, consumer: u32) -> Address {
        self.of_block(consumer, const { Self::HERE * 8 + 8 })
    }
}

// SAFETY: the memory at the address has room for the stages, then for a barrier `full` for each stage, for `ended` and a word, and for
// the barriers of each block, as `bytes` counts.
unsafe impl<P: StageLayout, const STAGES: usize> SharedMemory for Ring<P, STAGES> {
    const BYTES: [u32; 3] = [Self::bytes(0), Self::bytes(1), Self::bytes(2)];
    const BEYOND: [u32; 3] = [0, 0, P::BEYOND.next_multiple_of(ALIGNMENT) as u32];
    type Storage = ([P::Storage; MOST_STAGES], [u8; ALIGNMENT]);
    #[inline_on_device]
    unsafe fn new(address: Address) -> Self {
        Self { address, stages: const { Self::HERE as u32 }, run: Run::current(), layout: PhantomData }
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
    #[inline_on_device]
    pub(crate) fn advance(&mut self, stages: usize) {
        self.slot += 1;
        if self.slot == stages as u32 {
            self.slot = 0;
            self.round ^= 1;
        }
    }
}
