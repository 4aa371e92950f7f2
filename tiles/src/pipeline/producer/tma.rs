//! The producer warp: it copies by TMA into each stage as soon as the consumers have released it.

use crate::arch::messages::Failure;
use crate::arch::{barriers, cluster};
use crate::layout::Block;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::producer::{PlaceInCluster, StageLoad};
use crate::pipeline::ring::{Position, Ring};
use crate::protocol::{GUARDS_HELD, RELEASE_ORDER};

/// The arrivals that complete a phase of the barriers of a ring.
#[derive(Clone, Copy)]
pub(crate) struct Arrivals {
    /// Of `full`.
    pub(crate) full: u32,
    /// Of `ended`.
    pub(crate) ended: u32,
}

impl Arrivals {
    /// Those of a producer thread in each of so many blocks: one at `full` of each, with its announcement of bytes.
    pub(crate) const fn of_tma(producers: u32) -> Self {
        Self { full: producers, ended: 1 }
    }
}

/// How far a producer has filled a ring.
pub(super) struct Filling {
    pub(super) next: Position,
    /// The number of stages that have been filled at least once.
    pub(super) filled: u32,
    /// The number of loads, modulo 2³², in a cluster.
    count: u32,
}

impl Filling {
    pub(super) const FIRST: Self = Self { next: Position::FIRST, filled: 0, count: 0 };

    /// Moves to the next of so many stages.
    #[inline_on_device]
    pub(super) fn advance(&mut self, stages: u32) {
        self.next.advance(stages as usize);
        self.filled = if self.filled < stages { self.filled + 1 } else { self.filled };
    }
}

/// The number of the block in this row and column of its cluster.
#[inline_on_device]
const fn number_of<B: Block>([row, column]: [u32; 2]) -> u32 {
    row * B::CLUSTER[1] + column
}

/// Calls `body` for each other block of the cluster of the block in this row and column.
#[inline_on_device]
fn others<B: Block>(block: [u32; 2], mut body: impl FnMut(u32)) {
    let own = number_of::<B>(block);
    let mut distance = 1;
    while distance < const { B::CLUSTER_SIZE } {
        body((own + distance) % const { B::CLUSTER_SIZE });
        distance += 1;
    }
}

impl<P: StageLayout, const STAGES: usize> Ring<P, STAGES> {
    /// Initialises the barriers and the word, for `producers` producers, and `consumers` blocks of `warps` warps.
    ///
    /// # Safety
    /// One thread calls it, before any other thread uses the ring.
    #[inline_on_device]
    pub(crate) unsafe fn initialise(&self, arrivals: Arrivals, producers: u32, consumers: u32, warps: u32) {
        let mut slot = 0;
        while slot < Self::HERE as u32 {
            // SAFETY: the memory belongs to the ring. `full` counts an arrival of each producer, with its announcement of bytes;
            // `empty` counts one arrival of each warp of a block.
            unsafe {
                barriers::initialise(self.full(slot), arrivals.full);
                let mut consumer = 0;
                while consumer < consumers {
                    barriers::initialise(self.empty(consumer, slot), warps);
                    consumer += 1;
                }
            }
            slot += 1;
        }
        // SAFETY: as above. `turn` counts one arrival of each warp of the block before.
        unsafe {
            barriers::initialise(self.ended(), arrivals.ended);
            barriers::initialise(self.counted(), (producers - 1).max(1));
            let mut consumer = 0;
            while consumer < consumers {
                barriers::initialise(self.closed(consumer), warps);
                if consumers > 1 {
                    barriers::initialise(self.turn(consumer), warps);
                }
                consumer += 1;
            }
            barriers::store_volatile(self.failed(), 0);
        }
    }

    /// Arrives for this warp at the barrier that block `consumer`, its own, does not wait any more: for each producer of the cluster.
    ///
    /// # Safety
    /// One lane of each consumer warp calls it, once, on initialised barriers.
    #[inline_on_device]
    pub(crate) unsafe fn close<B: Block>(&self, consumer: u32) {
        let closed = self.closed(consumer);
        // SAFETY: the barrier counts one arrival for each warp. The blocks of a cluster end together.
        unsafe {
            if const { B::CLUSTER_SIZE > 1 } {
                let mut block = 0;
                while block < B::CLUSTER_SIZE {
                    cluster::arrive(cluster::address_in(block, closed));
                    block += 1;
                }
            } else {
                barriers::arrive(closed);
            }
        }
    }

    /// Whether none of the `consumers` blocks waits for a stage any more.
    ///
    /// # Safety
    /// The barriers are initialised.
    #[inline_on_device]
    unsafe fn all_closed(&self, consumers: u32) -> bool {
        let mut consumer = 0;
        // SAFETY: the same contract.
        while consumer < consumers && unsafe { barriers::test_wait(self.closed(consumer), 0) } {
            consumer += 1;
        }
        consumer == consumers
    }

    /// Waits until stage `next` is free: until each of the `consumers` blocks has released it or has ended. Returns whether there is
    /// anybody left to fill it for.
    ///
    /// # Safety
    /// The barriers are initialised.
    #[inline_on_device]
    unsafe fn wait_until_free<B: Block>(&self, next: Position, consumers: u32) -> bool {
        if const { B::CLUSTER_SIZE > 1 } {
            // Usually all have released it. *Measured* on an H200 for clusters of four: with a branch behind each barrier, 8-bit floats of
            // 5008^3 in tiles of 128 x 128 take 283 µs in place of 235.
            let (mut consumer, mut is_free) = (0, true);
            while consumer < consumers {
                // SAFETY: the same contract.
                is_free &= unsafe { barriers::test_wait(self.empty(consumer, next.slot), next.round ^ 1) };
                consumer += 1;
            }
            if is_free {
                return true;
            }
        }
        let mut consumer = 0;
        // SAFETY: the same contract.
        unsafe {
            while consumer < consumers {
                while !barriers::try_wait(self.empty(consumer, next.slot), next.round ^ 1) {
                    // A block that has ended reads no stage any more, and releases none.
                    if barriers::test_wait(self.closed(consumer), 0) {
                        if self.all_closed(consumers) {
                            return false;
                        }
                        break;
                    }
                    // The report is made outside the iterator, where the caller's line is known.
                    if self.failure() != 0 {
                        return false;
                    }
                }
                consumer += 1;
            }
        }
        true
    }

    /// The role of a producer warp: copies each load as soon as a stage is free.
    ///
    /// In a cluster each block has a producer. All have the same loads, and each copies its part of them to the blocks that share them.
    ///
    /// # Safety
    /// One thread of the CTA calls it, on barriers initialised for the blocks of a group of `B`. The block has this place in its cluster.
    #[inline_on_device]
    #[track_caller]
    pub(crate) unsafe fn produce<B: Block, F: Iterator<Item: StageLoad<P>>>(
        &self,
        mut loads: F,
        block: [u32; 2],
    ) {
        let consumers = const { B::CONSUMERS * B::CLUSTER_SIZE };
        let mut filling = Filling::FIRST;
        let mut left = None;
        // Internal iteration: the iterator of a `flat_map` becomes a loop within a loop. An iterator can define `all` by itself, and no
        // `try_fold`.
        loads.all(|tiles| {
            // SAFETY: the barriers are initialised. The previous round of a block's `empty` is complete when all its warps have released
            // the stage or, in the first round, from the beginning. A block arrives at `closed` after its last read. The stage then
            // belongs to the producers until the bytes have arrived.
            unsafe {
                if !self.wait_until_free::<B>(filling.next, consumers) {
                    if const { B::CLUSTER_SIZE > 1 } {
                        left = Some(tiles);
                    }
                    return false;
                }
                self.fill::<B, _>(&mut filling, tiles, block);
            }
            true
        });
        // SAFETY: the ring is initialised.
        unsafe { self.report_failure() };
        if const { B::CLUSTER_SIZE > 1 } {
            // SAFETY: the ring is initialised in all blocks, which end together. If another producer has filled more stages, it has found
            // them free. All consumers have ended then, since this one has stopped before the loads' end.
            unsafe {
                let mut missing = self.exchange_counts::<B>(filling.count, block).wrapping_sub(filling.count);
                while missing as i32 > 0 {
                    let Some(tiles) = left.take().or_else(|| loads.next()) else { break };
                    self.fill::<B, _>(&mut filling, tiles, block);
                    missing -= 1;
                }
            }
        }
        // SAFETY: the producer has filled these stages.
        unsafe { self.wait_until_arrived(filling) };
        // SAFETY: the barriers are initialised. The word belongs to the ring.
        unsafe {
            barriers::arrive(self.ended());
            let mut consumer = 0;
            while consumer < consumers {
                // `try_wait` wakes up with the barrier. A pause here would lengthen each launch by half of it.
                while !barriers::try_wait(self.closed(consumer), 0) {
                    self.report_failure();
                }
                consumer += 1;
            }
            self.report_failure();
        }
    }

    /// Waits until the tiles of all stages that the producer has filled have arrived.
    ///
    /// After the end of its threads, the block's memory belongs to another block. No copy may be under way then.
    ///
    /// # Safety
    /// The producer has filled these stages.
    #[inline_on_device]
    pub(super) unsafe fn wait_until_arrived(&self, Filling { next, filled, .. }: Filling) {
        let mut slot = 0;
        while slot < filled {
            // A stage behind the next one was filled in the round before.
            let round = if slot < next.slot { next.round } else { next.round ^ 1 };
            // SAFETY: the producer has filled this stage in this round.
            unsafe { while !barriers::try_wait(self.full(slot), round) {} }
            slot += 1;
        }
    }

    /// Copies `tiles` into the next stage, as far as they are this block's part.
    ///
    /// # Safety
    /// As for [`produce`](Self::produce), and the stage is free in each block of the cluster.
    #[inline_on_device]
    unsafe fn fill<B: Block, I: StageLoad<P>>(&self, filling: &mut Filling, tiles: I, block: [u32; 2]) {
        let (stage, full) = (self.stage(filling.next.slot), self.full(filling.next.slot));
        let tiles = tiles.of_block(block);
        // SAFETY: the same contract. The bytes that other producers of the cluster copy here count, too.
        unsafe {
            others::<B>(block, |other| cluster::arrive(cluster::address_in(other, full)));
            barriers::arrive_expecting(full, tiles.bytes_by_tma::<B>());
            tiles.copy_by_tma::<B>(stage, full, PlaceInCluster { at: block, of: B::CLUSTER });
        }
        filling.advance(self.stages);
        if const { B::CLUSTER_SIZE > 1 } {
            filling.count = filling.count.wrapping_add(1);
        }
    }

    /// Tells the other producers of the cluster how many stages this one has filled, and returns the most that one of them has, this one
    /// included.
    ///
    /// # Safety
    /// The producers of all blocks call it once, on rings initialised in all of them.
    #[inline_on_device]
    #[track_caller]
    unsafe fn exchange_counts<B: Block>(&self, count: u32, block: [u32; 2]) -> u32 {
        let own = number_of::<B>(block);
        let mut most = count;
        // SAFETY: the blocks end together. Each word is of one producer, and the others read it when that producer has arrived.
        unsafe {
            others::<B>(block, |other| {
                cluster::store(cluster::address_in(other, self.count(own)), count);
                cluster::arrive_releasing(cluster::address_in(other, self.counted()));
            });
            while !cluster::test_wait(self.counted(), 0) {
                self.report_failure();
            }
            others::<B>(block, |other| {
                let count = barriers::load_volatile(self.count(other));
                // Counts are modulo 2³², and differ by few.
                if count.wrapping_sub(most) as i32 > 0 {
                    most = count;
                }
            });
        }
        most
    }

    /// The number of the text that says how a consumer has failed; zero if none has.
    ///
    /// # Safety
    /// The ring is initialised.
    #[inline_on_device]
    pub(super) unsafe fn failure(&self) -> usize {
        // SAFETY: the word belongs to the ring.
        unsafe { barriers::load_volatile(self.failed()) as usize }
    }

    /// Ends the kernel if a consumer has failed.
    ///
    /// # Safety
    /// The ring is initialised.
    #[inline_on_device]
    #[track_caller]
    pub(super) unsafe fn report_failure(&self) {
        // SAFETY: the same contract.
        let text = unsafe { self.failure() };
        if text != 0 {
            let operation = match text {
                GUARDS_HELD => "k_loop",
                RELEASE_ORDER => "release",
                _ => "wait",
            };
            Failure::new(operation, text).end()
        }
    }
}
