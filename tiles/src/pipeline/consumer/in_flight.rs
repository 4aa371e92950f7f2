//! Multiplications under way whose stage the consumer still holds.

use crate::arch::warpgroup;
use crate::element::Element;
use crate::layout::{Accumulators, Block};
use crate::memory::reads::Reads;
use crate::memory::stage_layout::StageLayout;
use crate::mma::accumulator::Accumulator;
use crate::pipeline::consumer::{Consumer, StageGuard};
use crate::pipeline::producer::StageLoad;
use crate::shape::Shape;
use crate::tile::Tile;

/// Accumulators with a multiplication under way, and the guard of the stage that it reads, from [`Consumer::start`].
///
/// If dropped instead of finished, it waits for the multiplication, and its stage stays held.
#[must_use = "a multiplication under way is finished by `finish`"]
pub struct InFlight<'r, C: Element, S: Shape, B: Block, P> {
    accumulator: Accumulator<C, S, B>,
    guard: StageGuard<'r, P>,
    /// The number of this multiplication among those that the pipeline has started.
    number: u32,
}

impl<'r, P, F, B, const STAGES: usize> Consumer<'r, P, F, B, STAGES>
where
    P: StageLayout,
    F: Iterator<Item: StageLoad<P>>,
    B: Block,
{
    /// Starts multiplications that read a held stage, by `issue`, and does not wait for them.
    #[inline_on_device]
    pub fn start<C: Element, S: Shape>(
        &mut self,
        mut accumulator: Accumulator<C, S, B>,
        guard: StageGuard<'r, P>,
        issue: impl for<'k> FnOnce(&mut Accumulator<C, S, B>, P::Tiles<'k>),
    ) -> InFlight<'r, C, S, B, P> {
        let reads = Reads::of_step(true);
        // SAFETY: the stage keeps its tiles until its release. `InFlight` keeps the guard until the multiplication is done.
        let stages = unsafe { guard.tiles_for(&reads) };
        self.progress.lend(|| issue(&mut accumulator, stages));
        if Accumulator::<C, S, B>::BY_WARPGROUPS {
            // SAFETY: all threads of the block run this alike.
            unsafe { warpgroup::commit() };
        }
        accumulator.is_committed = true;
        let number = self.progress.count_started();
        InFlight { accumulator, guard, number }
    }
}

impl<'r, C: Element, S: Shape, B: Block, P: StageLayout> InFlight<'r, C, S, B, P> {
    /// Waits for this multiplication, not for those that were started after it, and releases its stage.
    ///
    /// # Panics
    /// If an older stage is still held (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn finish<F: Iterator<Item: StageLoad<P>>, const STAGES: usize>(
        mut self,
        consumer: &mut Consumer<'r, P, F, B, STAGES>,
    ) -> Tile<C, S, Accumulators<B>> {
        if Accumulator::<C, S, B>::BY_WARPGROUPS {
            // Groups retire in order. After this group, at least `started_since` groups were committed. Waiting until at most
            // that many are pending therefore waits for this one.
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
        let is_oldest = consumer.counts_as_oldest(&self.guard);
        consumer.give_back(&self.guard, is_oldest);
        self.accumulator.into_tile()
    }
}
