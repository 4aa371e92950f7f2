//! The rings of a pipeline, each with its feed, its copying warp and its consumer.

use crate::layout::Block;
use crate::memory::shared_tile::StageLayout;
use crate::pipeline::consumer::Consumer;
use crate::pipeline::consumer::progress::Progress;
use crate::pipeline::producer::{ProducerSafe, StageLoad};
use crate::pipeline::ring::Ring;

/// One to three [`Ring`]s as a tuple, which a tuple of as many feeds fills: what [`WarpRoles::pipelines`](super::WarpRoles::pipelines) takes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be filled by the feeds `{Feeds}`",
    label = "expected a tuple of one to three rings, and as many feeds",
    note = "`roles.pipelines((ring_of_a, ring_of_b), (a.row(i), b.column(j)), |cx, (mut a, mut b)| ...)`"
)]
pub trait Rings<Feeds>: Sized {
    /// The receivers, one for each ring. For whoever gets them no two have the same lifetime, so that a message can only be given
    /// back to its own ring.
    type Receivers<'a, 'b, 'c, B: Block>;
    /// The number of rings.
    const COUNT: u32;

    /// The same rings, for the copying warps.
    #[doc(hidden)]
    fn aliases(&self) -> Self;
    /// The receivers; with feeds, they copy for themselves.
    #[doc(hidden)]
    fn receivers<'s, B: Block>(
        self,
        feeds: Option<Feeds>,
        progress: &'s Progress,
    ) -> Self::Receivers<'s, 's, 's, B>;
    /// Makes the barriers and words of all rings, for so many warps that receive.
    ///
    /// # Safety
    /// One thread calls it, before any other uses the rings.
    #[doc(hidden)]
    unsafe fn initialise(&self, warps: u32);
    /// Says that this warp receives no more.
    ///
    /// # Safety
    /// One lane of each warp that receives calls it, once, on initialised rings.
    #[doc(hidden)]
    unsafe fn close(&self);
    /// Copies what the feed of ring `number` names.
    ///
    /// # Safety
    /// One thread of the block calls it for each number, on initialised rings.
    #[doc(hidden)]
    unsafe fn send(&self, number: u32, feeds: Feeds);
}

macro_rules! rings {
    ($($count:literal: $($message:ident $feed:ident $stages:ident $number:tt $lifetime:lifetime),*;)*) => { $(
        impl<$($message: StageLayout, $feed: IntoIterator<Item: StageLoad<$message>> + ProducerSafe, const $stages: usize),*> Rings<($($feed,)*)>
            for ($(Ring<$message, $stages>,)*)
        {
            type Receivers<'a, 'b, 'c, B: Block> = ($(Consumer<$lifetime, $message, $feed::IntoIter, B, $stages>,)*);
            const COUNT: u32 = $count;

            #[inline(always)]
            fn aliases(&self) -> Self {
                ($(self.$number.alias(),)*)
            }

            #[inline(always)]
            fn receivers<'s, B: Block>(
                self,
                feeds: Option<($($feed,)*)>,
                progress: &'s Progress,
            ) -> Self::Receivers<'s, 's, 's, B> {
                match feeds {
                    Some(feeds) => ($(Consumer::new(self.$number, Some(feeds.$number.into_iter()), progress),)*),
                    None => ($(Consumer::new(self.$number, None, progress),)*),
                }
            }

            #[inline(always)]
            unsafe fn initialise(&self, warps: u32) {
                // SAFETY: the same contract.
                $(unsafe { self.$number.initialise(warps) };)*
            }

            #[inline(always)]
            unsafe fn close(&self) {
                // SAFETY: the same contract.
                $(unsafe { self.$number.close() };)*
            }

            #[inline(always)]
            #[track_caller]
            unsafe fn send(&self, number: u32, feeds: ($($feed,)*)) {
                $(
                    if number == $number {
                        // SAFETY: the same contract.
                        unsafe { self.$number.send(feeds.$number.into_iter()) }
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
