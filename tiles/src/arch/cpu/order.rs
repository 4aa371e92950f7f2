//! The order in which a block does things: it cuts writable tensors before it learns anything of its own.
//!
//! Until then all blocks run the same code on the same values, so that they cut a tensor alike. For a GPU the builder checks this
//! in the code of each kernel; here each block notes what it has learnt, and panics where it is too late to cut.

use super::execution::fail;
use super::running::Running;

macro_rules! reveals {
    ($($(#[$attribute:meta])* $name:ident = $what:literal;)*) => { $(
        $(#[$attribute])*
        #[inline(always)]
        pub fn $name() {
            Running::update(|running| {
                if !running.feeds {
                    running.learnt = running.learnt.or(Some($what));
                }
            });
        }
    )* };
}
reveals! {
    /// From here on the block knows its index.
    reveals_index = "read its index (`bid`, `tiles`, `indices`, or the tiles that it was dealt)";
    /// From here on it knows what is in memory that other blocks write.
    reveals_memory = "read atomically what other blocks may have written";
    /// From here on it knows tiles that its feed has chosen.
    reveals_message = "received tiles from its pipeline";
    /// From here on it knows what is in shared memory, which at first is anything, and sums that came about in any order.
    reveals_shared = "read shared memory";
}

/// Here a writable tensor is cut into tiles, or a sink's tiles get their order.
///
/// # Panics
/// If the block knows what others do not.
#[inline(always)]
#[track_caller]
pub fn cuts() {
    let running = Running::get();
    if let Some(learnt) = running.learnt.filter(|_| !running.is_vouched) {
        late(learnt);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn late(learnt: &'static str) -> ! {
    fail(|text| {
        write!(
            text,
            "a writable tensor is cut into tiles after this block has {learnt}: blocks may know different things by then, and \
             cut the tensor in different ways, so that two of them own the same elements; call `partition`, `strided` and \
             `window` of writable tensors, and `deal` of sinks, at the top of the kernel, or declare the kernel as an `unsafe \
             fn` and state why its blocks own different elements"
        )
    })
}

/// From here on the feed of a pipeline runs, which can tell nothing to the kernel around it.
#[inline(always)]
pub fn feeds() {
    Running::update(|running| running.feeds = true);
}

/// Here it ends.
#[inline(always)]
pub fn fed() {
    Running::update(|running| running.feeds = false);
}

/// The author of the running kernel vouches for its order.
pub fn vouch() {
    Running::update(|running| running.is_vouched = true);
}

/// Counts a cut of the running block: its number, unless the kernel's author vouches for what its blocks own.
pub(super) fn number_of_cut() -> Option<usize> {
    let running = Running::get();
    Running::update(|running| running.cuts += 1);
    (!running.is_vouched).then_some(running.cuts)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::super::running::enter;
    use super::*;
    use std::panic::catch_unwind;

    fn may_cut() -> bool {
        catch_unwind(cuts).is_ok()
    }

    #[test]
    fn a_block_cuts_before_it_learns() {
        for reveals in [reveals_index, reveals_memory, reveals_message, reveals_shared] {
            let _block = enter();
            assert!(may_cut());
            reveals();
            assert!(!may_cut());
            let _other = enter();
            assert!(may_cut(), "each block learns for itself");
        }
    }

    #[test]
    fn what_a_feed_learns_it_keeps() {
        let _block = enter();
        feeds();
        reveals_index();
        fed();
        assert!(may_cut());
        reveals_index();
        feeds();
        fed();
        assert!(!may_cut());
    }

    #[test]
    fn outside_of_all_blocks_nothing_is_learnt() {
        reveals_index();
        assert!(may_cut());
        assert_eq!([number_of_cut(), number_of_cut()], [Some(0), Some(0)]);
    }

    #[test]
    fn an_author_may_vouch() {
        let _block = enter();
        assert_eq!([number_of_cut(), number_of_cut()], [Some(0), Some(1)]);
        vouch();
        reveals_index();
        assert!(may_cut() && number_of_cut().is_none());
    }
}
