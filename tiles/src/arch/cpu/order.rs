//! The order of a block's actions: it cuts writable tensors before it learns anything of its own.
//!
//! Until then all blocks run the same code on the same values, and cut a tensor alike. For a GPU the builder checks this in the
//! code of each kernel. Here each block records what it has learnt, and panics if it then cuts.

use super::messages::fail;
use super::running::Running;

macro_rules! reveals {
    ($($(#[$attribute:meta])* $name:ident = $what:literal;)*) => { $(
        $(#[$attribute])*
        #[inline]
        pub fn $name() {
            Running::update(|running| {
                if !running.in_producer {
                    running.learnt = running.learnt.or(Some($what));
                }
            });
        }
    )* };
}
reveals! {
    /// From here on the block knows its index.
    reveals_index = "read its index (`bid`, `tiles`, `tile_indices`, or its scheduled tiles)";
    /// From here on the block knows contents of memory that other blocks write.
    reveals_memory = "read atomically what other blocks may have written";
    /// From here on the block knows tiles that its producer has chosen.
    reveals_stage = "received tiles from its pipeline";
    /// From here on the block knows contents of shared memory, undefined at first, and sums accumulated in any order.
    reveals_shared = "read shared memory";
}

/// Here a writable tensor is cut into tiles, or a store operand's tiles are scheduled.
///
/// # Panics
/// If the block knows something that other blocks do not.
#[inline]
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
             `window` of writable tensors, and `schedule` of store operands, at the top of the kernel, or declare the kernel as an `unsafe \
             fn` and state why its blocks own different elements"
        )
    })
}

/// From here on the producer of a pipeline runs, which can tell nothing to the kernel around it.
#[inline]
pub fn producer_begins() {
    Running::update(|running| running.in_producer = true);
}

/// Here the producer ends.
#[inline]
pub fn producer_ends() {
    Running::update(|running| running.in_producer = false);
}

/// Here a thread may ask: in a kernel on tiles there is no answer, which is a panic.
#[inline]
pub fn reveals_thread() {}

/// A block has its memory for itself.
#[inline]
pub fn uses_memory_of_cta() {}

/// The author of the running kernel vouches for the order of its actions.
pub fn vouch() {
    Running::update(|running| running.is_vouched = true);
}

/// Counts a cut of the running block, and returns its number, unless the kernel's author vouches for the tiles that its blocks
/// own.
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
        for reveals in [reveals_index, reveals_memory, reveals_stage, reveals_shared] {
            let _block = enter();
            assert!(may_cut());
            reveals();
            assert!(!may_cut());
            let _other = enter();
            assert!(may_cut(), "each block learns for itself");
        }
    }

    #[test]
    fn what_the_producer_learns_stays_with_it() {
        let _block = enter();
        producer_begins();
        reveals_index();
        producer_ends();
        assert!(may_cut());
        reveals_index();
        producer_begins();
        producer_ends();
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
