//! The rings of a pipeline: each has loads, a producer warp and a consumer of its own.

use crate::layout::Block;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::consumer::Consumer;
use crate::pipeline::consumer::progress::Progress;
use crate::pipeline::producer::{ProducerSafe, StageLoad};
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

    /// The same rings, for the producer warps.
    #[doc(hidden)]
    fn aliases(&self) -> Self;
    /// The consumers. With `loads`, they copy for themselves.
    #[doc(hidden)]
    fn consumers<'s, B: Block>(
        self,
        loads: Option<Loads>,
        progress: &'s Progress,
    ) -> Self::Receivers<'s, 's, 's, B>;
    /// Initialises the barriers and words of all rings, for `consumers` blocks of `warps` warps.
    ///
    /// # Safety
    /// One thread calls it, before any other thread uses the rings.
    #[doc(hidden)]
    unsafe fn initialise(&self, consumers: u32, warps: u32);
    /// Arrives for this warp at the barriers that block `consumer`, its own, does not wait any more.
    ///
    /// # Safety
    /// One lane of each consumer warp calls it, once, on initialised rings.
    #[doc(hidden)]
    unsafe fn close(&self, consumer: u32);
    /// Copies the loads of ring `number` into its stages.
    ///
    /// # Safety
    /// One thread of the CTA calls it for each number, on rings initialised for `consumers` blocks.
    #[doc(hidden)]
    unsafe fn produce(&self, number: u32, loads: Loads, consumers: u32);
}

macro_rules! rings {
    ($($count:literal: $($stage:ident $loads:ident $stages:ident $number:tt $lifetime:lifetime),*;)*) => { $(
        impl<$($stage: StageLayout, $loads: IntoIterator<Item: StageLoad<$stage>> + ProducerSafe, const $stages: usize),*> Rings<($($loads,)*)>
            for ($(Ring<$stage, $stages>,)*)
        {
            type Receivers<'a, 'b, 'c, B: Block> = ($(Consumer<$lifetime, $stage, $loads::IntoIter, B, $stages>,)*);
            const COUNT: u32 = $count;

            #[inline(always)]
            fn aliases(&self) -> Self {
                ($(self.$number.alias(),)*)
            }

            #[inline(always)]
            fn consumers<'s, B: Block>(
                self,
                loads: Option<($($loads,)*)>,
                progress: &'s Progress,
            ) -> Self::Receivers<'s, 's, 's, B> {
                match loads {
                    Some(loads) => ($(Consumer::new(self.$number, Some(loads.$number.into_iter()), progress),)*),
                    None => ($(Consumer::new(self.$number, None, progress),)*),
                }
            }

            #[inline(always)]
            unsafe fn initialise(&self, consumers: u32, warps: u32) {
                // SAFETY: the same contract.
                $(unsafe { self.$number.initialise(consumers, warps) };)*
            }

            #[inline(always)]
            unsafe fn close(&self, consumer: u32) {
                // SAFETY: the same contract.
                $(unsafe { self.$number.close(consumer) };)*
            }

            #[inline(always)]
            #[track_caller]
            unsafe fn produce(&self, number: u32, loads: ($($loads,)*), consumers: u32) {
                $(
                    if number == $number {
                        // SAFETY: the same contract.
                        unsafe { self.$number.produce(loads.$number.into_iter(), consumers) }
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
