//! The rings of a pipeline: each has loads, a producer warp and a consumer of its own.

use crate::arch::barriers;
use crate::layout::Block;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::consumer::Consumer;
use crate::pipeline::consumer::progress::Progress;
use crate::pipeline::producer::{Arrivals, ProducerSafe, ProducersOfRing, StageLoad};
use crate::pipeline::ring::Ring;

/// A tuple of one to three [`Ring`]s that a tuple of as many loads fills, for
/// [`WarpRoles::pipelines`](super::WarpRoles::pipelines).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be filled by the loads `{Loads}`",
    label = "expected a tuple of one to three rings, and as many loads",
    note = "`roles.pipelines((ring_of_a, ring_of_b), (a.row(i), b.column(j)), |cx, (mut a, mut b)| ...)`"
)]
pub trait Rings<Loads>: Sized {
    /// The consumers, one for each ring. Their lifetimes differ for the closure that takes them. A stage can therefore be
    /// released to its own ring alone.
    type Receivers<'a, 'b, 'c, B: Block>;
    /// The number of rings.
    const COUNT: u32;
    /// Whether producer threads copy tiles of one of the rings.
    #[doc(hidden)]
    const BY_THREADS: bool;

    /// The same rings, for the producer warps.
    #[doc(hidden)]
    fn aliases(&self) -> Self;
    /// The consumers of block `number` of those that share the producers. With `loads`, they copy for themselves.
    #[doc(hidden)]
    fn consumers<'s, B: Block>(
        self,
        loads: Option<Loads>,
        number: u32,
        progress: &'s Progress,
    ) -> Self::Receivers<'s, 's, 's, B>;
    /// Initialises the barriers and words of all rings, for `producers` producers, and `consumers` blocks of `warps` warps.
    ///
    /// # Safety
    /// One thread calls it, before any other thread uses the rings.
    #[doc(hidden)]
    unsafe fn initialise<B: Block>(&self, producers: u32, consumers: u32, warps: u32);
    /// Arrives for this warp at the barriers that block `consumer`, its own, does not wait any more.
    ///
    /// # Safety
    /// One lane of each consumer warp calls it, once, on initialised rings.
    #[doc(hidden)]
    unsafe fn close<B: Block>(&self, consumer: u32);
    /// Copies the loads of ring `number` into its stages, as the producer of the block in this row and column of a cluster.
    ///
    /// # Safety
    /// One thread of the CTA calls it for each number, on rings initialised for the blocks of a group of `B`. TMA copies all tiles.
    #[doc(hidden)]
    unsafe fn produce<B: Block>(&self, number: u32, loads: Loads, block: [u32; 2]);
    /// As [`produce`](Self::produce), by producer warp `number`. All producer warps copy for a ring that is the only one, if threads copy its
    /// tiles.
    ///
    /// # Safety
    /// All lanes of each producer warp call it, on rings initialised for the blocks of a group of `B`.
    #[doc(hidden)]
    unsafe fn produce_by_threads<B: Block>(&self, number: u32, loads: Loads);
}

macro_rules! rings {
    ($($count:literal: $($stage:ident $loads:ident $stages:ident $number:tt $lifetime:lifetime),*;)*) => { $(
        impl<$($stage: StageLayout, $loads: IntoIterator<Item: StageLoad<$stage>> + ProducerSafe, const $stages: usize),*> Rings<($($loads,)*)>
            for ($(Ring<$stage, $stages>,)*)
        {
            type Receivers<'a, 'b, 'c, B: Block> = ($(Consumer<$lifetime, $stage, $loads::IntoIter, B, $stages>,)*);
            const COUNT: u32 = $count;
            const BY_THREADS: bool = false $(|| <$loads::Item as StageLoad<$stage>>::BY_THREADS)*;

            #[inline_on_device]
            fn aliases(&self) -> Self {
                ($(self.$number.alias(),)*)
            }

            #[inline_on_device]
            fn consumers<'s, B: Block>(
                self,
                loads: Option<($($loads,)*)>,
                number: u32,
                progress: &'s Progress,
            ) -> Self::Receivers<'s, 's, 's, B> {
                match loads {
                    Some(loads) => ($(Consumer::new(self.$number, Some(loads.$number.into_iter()), number, progress),)*),
                    None => ($(Consumer::new(self.$number, None, number, progress),)*),
                }
            }

            #[inline_on_device]
            unsafe fn initialise<B: Block>(&self, producers: u32, consumers: u32, warps: u32) {
                $({
                    let arrivals = if const { !<$loads::Item as StageLoad<$stage>>::BY_THREADS } {
                        Arrivals::of_tma(producers)
                    } else {
                        const { Arrivals::of_threads::<ProducersOfRing<B, $count>>() }
                    };
                    // SAFETY: the same contract.
                    unsafe { self.$number.initialise(arrivals, producers, consumers, warps) };
                })*
            }

            #[inline_on_device]
            unsafe fn close<B: Block>(&self, consumer: u32) {
                // SAFETY: the same contract.
                $(unsafe { self.$number.close::<B>(consumer) };)*
            }

            #[inline_on_device]
            #[track_caller]
            unsafe fn produce<B: Block>(&self, number: u32, loads: ($($loads,)*), block: [u32; 2]) {
                $(
                    if number == $number {
                        // SAFETY: the same contract.
                        unsafe { self.$number.produce::<B, _>(loads.$number.into_iter(), block) }
                    }
                )*
            }

            #[inline_on_device]
            #[track_caller]
            unsafe fn produce_by_threads<B: Block>(&self, number: u32, loads: ($($loads,)*)) {
                $(
                    // SAFETY: the same contract.
                    unsafe {
                        if const { !<$loads::Item as StageLoad<$stage>>::BY_THREADS } {
                            if number == $number && barriers::elect_sync() {
                                self.$number.produce::<B, _>(loads.$number.into_iter(), [0, 0]);
                            }
                        } else if const { $count == 1 } || number == $number {
                            self.$number.produce_by_threads::<B, ProducersOfRing<B, $count>, _>(loads.$number.into_iter());
                        }
                    }
                )*
            }
        }
    )* };
}
rings! {
    1: P F STAGES 0 'a;
    2: P F STAGES 0 'a, Q G MORE_STAGES 1 'b;
    3: P F STAGES 0 'a, Q G MORE_STAGES 1 'b, R H OTHER_STAGES 2 'c;
}
