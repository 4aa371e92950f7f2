//! Products under way whose stage the consumer still holds.

use crate::arch::warpgroup;
use crate::element::Element;
use crate::layout::{Accumulators, Block};
use crate::memory::reads::Reads;
use crate::memory::shared_tile::StageLayout;
use crate::mma::accumulator::Accumulator;
use crate::pipeline::consumer::{Consumer, StageGuard};
use crate::pipeline::producer::StageLoad;
use crate::shape::Shape;
use crate::tile::Tile;

/// Accumulators whose product is under way, and the message that it reads, from [`Consumer::start`].
///
/// Dropped instead of finished, it waits for the product, and its message stays held.
#[must_use = "a product under way is finished by `finish`"]
pub struct InFlight<'r, C: Element, S: Shape, B: Block, P> {
    accumulator: Accumulator<C, S, B>,
    held: StageGuard<'r, P>,
    /// The pipeline's count of started products with this one.
    number: u32,
}

impl<'r, P, F, B, const STAGES: usize> Consumer<'r, P, F, B, STAGES>
where
    P: StageLayout,
    F: Iterator<Item: StageLoad<P>>,
    B: Block,
{
    /// Puts products with a held message under way, `issue`, without waiting for them.
    #[inline(always)]
    pub fn start<C: Element, S: Shape>(
        &mut self,
        mut accumulator: Accumulator<C, S, B>,
        held: StageGuard<'r, P>,
        issue: impl for<'k> FnOnce(&mut Accumulator<C, S, B>, P::Tiles<'k>),
    ) -> InFlight<'r, C, S, B, P> {
        let reads = Reads::of_step();
        // SAFETY: the message lies there until it is released, which is after the products: `InFlight` keeps it.
        let stages = unsafe { held.tiles_for(&reads) };
        self.progress.lend(|| issue(&mut accumulator, stages));
        if Accumulator::<C, S, B>::BY_WARPGROUPS {
            // SAFETY: all threads of the block run this alike.
            unsafe { warpgroup::commit() };
        }
        accumulator.is_committed = true;
        let number = self.progress.count_started();
        InFlight { accumulator, held, number }
    }
}

impl<'r, C: Element, S: Shape, B: Block, P: StageLayout> InFlight<'r, C, S, B, P> {
    /// Waits for the product, not for those that were started after it, and releases its message.
    ///
    /// # Panics
    /// If an older message is still held, on targets that have no copy engine (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn finish<F: Iterator<Item: StageLoad<P>>, const STAGES: usize>(
        mut self,
        consumer: &mut Consumer<'r, P, F, B, STAGES>,
    ) -> Tile<C, S, Accumulators<B>> {
        if Accumulator::<C, S, B>::BY_WARPGROUPS {
            // Groups retire in order, and at least as many were committed after this one as were started. Waiting for all
            // but as many is waiting for this one.
            warpgroup::schedule_fence();
            match consumer.progress.started_since(self.number) {
                0 => self.accumulator.pin::<true>(),
                _ => {
                    // SAFETY: all threads of the block run this alike.
                    unsafe { warpgroup::wait::<1>() };
                    self.accumulator.pin::<false>();
                }
            }
        }
        consumer.give_back(self.held.slot());
        self.accumulator.into_tile()
    }
}
