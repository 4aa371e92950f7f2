//! Turns of the blocks that share a producer: ping-pong scheduling.
//!
//! J. Shah, G. Bikshandi, Y. Zhang, V. Thakkar, P. Ramani, T. Dao, "FlashAttention-3: Fast and Accurate Attention with Asynchrony and
//! Low-precision", 2024, section 3.1. They use named barriers (PTX ISA, "bar, barrier"), at which a block waits for ever if another one
//! does not arrive. Here a turn is an order of preference, which no memory access rests on, and mbarriers carry it (PTX ISA, "mbarrier"),
//! as in CUTLASS (`OrderedSequenceBarrier`).
//!
//! # The protocol
//!
//! Each block has a barrier `turn`. Its phase n completes when all warps of the block before have passed their turn n; before the
//! first block stands the last one, whose turns count from one less. To begin a turn, a block waits for a phase of its own `turn`. To pass
//! it, its warps arrive at the `turn` of the next block.
//!
//! # Why no block waits for ever
//!
//! - A block that has ended passes no turn. Its end is known: its warps have arrived at `closed`. The block behind it then goes on, and
//!   from then on takes its turns without waiting. So blocks may take different numbers of turns.
//! - A block may wait for a stage that another block cannot release before its turn, which the first one has not passed. Each wait
//!   therefore has an end: the hardware ends each try (PTX ISA, "mbarrier.test_wait, mbarrier.try_wait"), and after [`MOST_CYCLES`] a block
//!   goes on as above.
//! - A phase is never undone. A block that takes its turns without waiting still passes them, and arriving waits for nobody.

use crate::arch::barriers::{self, PRODUCER_WARP};
use crate::arch::{execution, threads};
use crate::layout::Block;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::consumer::Consumer;
use crate::pipeline::producer::StageLoad;

/// The cycles after which a block waits no longer: two milliseconds, where a turn takes a microsecond.
const MOST_CYCLES: u32 = 1 << 22;

impl<P, F, B, const STAGES: usize> Consumer<'_, P, F, B, STAGES>
where
    P: StageLayout,
    F: Iterator<Item: StageLoad<P>>,
    B: Block,
{
    /// Whether there is another block to take turns with.
    const TAKES_TURNS: bool = PRODUCER_WARP && B::CONSUMERS > 1;

    /// Runs `body` when it is this block's turn among the blocks that share its producer, and then passes the turn to the next block.
    ///
    /// In its turn a block starts multiplications, and behind it computes on their results: then one block's multiplications run
    /// while the others compute. This is ping-pong scheduling (FlashAttention-3, section 3.1). A turn changes the time of `body` alone, and
    /// no results. It is no lock: a block goes on after some milliseconds, or if the block before it has ended. Where a block has a
    /// producer for itself, and on the CPU, `body` runs at once.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// type Square = SharedTile<f16, Shape2<64, 64>>;
    ///
    /// /// `y = exp(x w)`, three tiles of rows at a time, which share the producer and the tile of `w`.
    /// #[kernel(threads = 128, consumers = 3, producer = 128, targets = warpgroups)]
    /// pub fn powers(
    ///     roles: WarpRoles,
    ///     x: TmaLoad<f16, Shape2<64, 64>>,
    ///     w: TmaLoad<f16, Shape2<64, 64>>,
    ///     y: TmaStore<f32, Shape2<64, 64>>,
    ///     #[shared] rows: Ring<(Square, Square, Square), 2>,
    ///     #[shared] weights: Ring<Square, 4>,
    ///     #[shared] mut buffer: EpilogueBuffer<3>,
    /// ) {
    ///     let tiles = roles.tile_indices(RowMajor, y.tile_counts());
    ///     // The index of the first block's tile; those of the others lie below.
    ///     let of_rows = tiles.clone().map(move |[_, i, _]| (x.tile(i, 0), x.tile(i + 1, 0), x.tile(i + 2, 0)));
    ///     let of_weights = tiles.map(move |[_, _, j]| w.tile(0, j));
    ///     roles.pipelines((rows, weights), (of_rows, of_weights), move |cx, (mut rows, mut weights)| {
    ///         let tiles = y.schedule(cx, RowMajor);
    ///         let own = cx.consumer();
    ///         for tile in tiles {
    ///             let (x, w) = (rows.wait(), weights.wait());
    ///             let product = weights.in_turn(|weights| {
    ///                 weights.start(cx.zero_accumulator(shape![64, 64]), w, |acc, w| {
    ///                     let (first, second, third) = x.tiles();
    ///                     acc.mma([first, second, third][own as usize], w);
    ///                 })
    ///             });
    ///             let product = product.finish(&mut weights);
    ///             rows.release(x);
    ///             tile.store(&mut buffer, product.exp());
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// `mbarrier.try_wait` and `mbarrier.arrive` (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
    #[inline_on_device]
    #[doc(alias("ping_pong", "OrderedSequenceBarrier", "warp_scheduler_barrier_sync"))]
    pub fn in_turn<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> R {
        if const { Self::TAKES_TURNS } {
            self.take_turn();
        }
        let result = body(self);
        if const { Self::TAKES_TURNS } {
            self.pass_turn();
        }
        result
    }

    /// Waits for this block's turn, unless nobody passes it.
    #[inline_on_device]
    fn take_turn(&mut self) {
        if !self.out_of_turn {
            let turn = self.ring.turn(self.number);
            // SAFETY: the pipeline initialised the barriers.
            unsafe {
                if !barriers::try_wait(turn, self.turn) {
                    let begun = barriers::clock();
                    let before = if self.number == 0 { const { B::CONSUMERS - 1 } } else { self.number - 1 };
                    while !barriers::try_wait(turn, self.turn) {
                        let waited = barriers::clock().wrapping_sub(begun);
                        if waited > MOST_CYCLES || barriers::test_wait(self.ring.closed(before), 0) {
                            self.out_of_turn = true;
                            break;
                        }
                    }
                }
            }
        }
        self.turn ^= 1;
        // SAFETY: all lanes are here. They may have tried different numbers of times, and go on together.
        unsafe { threads::warp_barrier() };
    }

    /// Arrives for this warp at the next block's `turn`.
    #[inline_on_device]
    fn pass_turn(&mut self) {
        let next = if self.number == const { B::CONSUMERS - 1 } { 0 } else { self.number + 1 };
        // SAFETY: the pipeline initialised the barrier, which counts arrivals of warps. An arrival more or less in a phase changes the
        // time of a turn alone.
        unsafe {
            if threads::lane(execution::thread() as u32) == 0 {
                barriers::arrive(self.ring.turn(next));
            }
        }
    }
}
