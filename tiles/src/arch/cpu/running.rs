//! Which block a thread runs, so that what belongs to a block is used by this block alone.
//!
//! On a GPU nothing outlives its block but what it stored. On the CPU a block is a call within a program that goes on: safe
//! code can return a span from it, leave one in a variable of the thread, or run another block in its midst. Tokens,
//! block indices, spans, streamed matrices and rings therefore carry the run of the block that they were made for, and
//! whatever rests on them asks whether it is the one that the thread is in.

extern crate std;

use core::any::TypeId;
use core::cell::{Cell, RefCell};
use core::marker::PhantomData;
use core::panic::Location;
use core::sync::atomic::{AtomicU64, Ordering};
use std::vec::Vec;

/// One run of a block: no other run in this process has the same, whatever its launch or its thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Run(u64);

/// What is known of the block that a thread runs.
#[derive(Clone, Copy)]
pub(super) struct Running {
    run: Run,
    /// What the block has learnt that other blocks of its launch do not know.
    pub(super) learnt: Option<&'static str>,
    /// Whether the producer of a pipeline runs.
    pub(super) in_producer: bool,
    /// Writable tensors that it has cut.
    pub(super) cuts: usize,
    /// Whether the kernel is an `unsafe fn`, whose author vouches for the order in which it does things.
    pub(super) is_vouched: bool,
}

impl Running {
    const fn new(run: Run) -> Self {
        Self { run, learnt: None, in_producer: false, cuts: 0, is_vouched: false }
    }

    /// What is known of the block that this thread runs.
    #[inline]
    pub(super) fn get() -> Self {
        RUNNING.get()
    }

    /// Changes what is known of it. Outside of all blocks nothing is, since there no block ends that would take it along.
    #[inline]
    pub(super) fn update(change: impl FnOnce(&mut Self)) {
        let mut running = RUNNING.get();
        if running.run != Run::NONE {
            change(&mut running);
            RUNNING.set(running);
        }
    }
}

std::thread_local! {
    static RUNNING: Cell<Running> = const { Cell::new(Running::new(Run::NONE)) };
    /// The number of this thread's next run, if its lower half is not zero.
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

impl Run {
    /// Outside of all blocks, where unsafe code alone makes anything that carries a run.
    const NONE: Self = Self(0);

    /// A run that has not been before. Threads take their numbers 2^32 at a time, so that blocks do not wait for each other.
    fn new() -> Self {
        static RANGES: AtomicU64 = AtomicU64::new(0);
        let next = match NEXT.get() {
            used_up if used_up as u32 == 0 => RANGES.fetch_add(1, Ordering::Relaxed) << 32 | 1,
            next => next,
        };
        NEXT.set(next + 1);
        Self(next)
    }

    /// The run that this thread is in.
    #[inline]
    pub fn current() -> Self {
        RUNNING.get().run
    }

    /// Panics unless this thread is in this very run; `what` says what was used, for the message.
    #[inline]
    #[track_caller]
    pub fn assert_current(self, what: &'static str) {
        if self != Self::current() {
            outside(what);
        }
    }

    /// As [`assert_current`](Self::assert_current), for what names memory: what was made outside of all blocks passes, since
    /// the unsafe code that made it vouches for its use.
    #[inline]
    #[track_caller]
    pub fn assert_lent(self, what: &'static str) {
        if self != Self::current() && self != Self::NONE {
            outside(what);
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn outside(what: &'static str) -> ! {
    super::messages::fail(|text| {
        write!(
            text,
            "{what} was used outside of the block that it belongs to: nothing that a kernel is given outlives its block, \
             or helps another one"
        )
    })
}

/// A thread's being in a run; at the end of this value it is where it was before, in the block around it if there is one.
pub struct Entered {
    outer: Running,
    // Not `Send`: it ends on its own thread.
    local: PhantomData<*const ()>,
}

/// Enters a run of a block.
pub fn enter() -> Entered {
    Entered { outer: RUNNING.replace(Running::new(Run::new())), local: PhantomData }
}

impl Drop for Entered {
    fn drop(&mut self) {
        RUNNING.set(self.outer);
    }
}

/// A call that has shared memory: where it stands, and for which types it was compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Site {
    run: Run,
    place: &'static Location<'static>,
    body: TypeId,
}

std::thread_local! {
    /// The calls with shared memory that this thread is in.
    static OPEN: RefCell<Vec<Site>> = const { RefCell::new(Vec::new()) };
}

/// A call's being under way.
pub struct OpenShared(PhantomData<*const ()>);

/// Begins a call with shared memory, whose body is an `F`.
///
/// # Panics
/// If it is under way in the same block.
#[track_caller]
pub fn open_shared<F>() -> OpenShared {
    let site = Site { run: Run::current(), place: Location::caller(), body: type_id::<F>() };
    let is_again = OPEN.with_borrow_mut(|open| {
        let is_again = open.contains(&site);
        open.push(site);
        is_again
    });
    let open = OpenShared(PhantomData);
    if is_again {
        super::messages::fail(|text| {
            text.write_str(
                "shared memory was asked for again by a call that still has it, by recursion: on a GPU both would have the same \
                 memory; end the closure of `cx.shared` first, or pass its memory on",
            )
        });
    }
    open
}

impl Drop for OpenShared {
    fn drop(&mut self) {
        OPEN.with_borrow_mut(Vec::pop);
    }
}

/// A number of the type `T`, of which lifetimes are no part, as they are none of machine code.
fn type_id<T>() -> TypeId {
    trait Identified {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Identified for PhantomData<T> {
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let of_any_lifetime: &dyn Identified = &PhantomData::<T>;
    // SAFETY: both are pointers to a value and its table, whatever the lifetimes in the value's type; it has no bytes, and
    // the one function in the table uses none.
    let identified =
        unsafe { core::mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(of_any_lifetime) };
    identified.id()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn a_run_ends_where_it_began() {
        assert!(Run::current() == Run::NONE);
        let outer = enter();
        let own = Run::current();
        assert!(own != Run::NONE);
        {
            let _inner = enter();
            assert!(Run::current() != own);
        }
        assert!(Run::current() == own);
        let panicked = catch_unwind(|| {
            let _inner = enter();
            panic!("in a block");
        });
        assert!(panicked.is_err() && Run::current() == own);
        drop(outer);
        assert!(Run::current() == Run::NONE);
    }

    #[test]
    fn no_two_runs_are_the_same() {
        let runs = || (0..100).map(|_| Run::new().0).collect::<Vec<_>>();
        let mut all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(runs)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 400);
        // At the end of a thread's numbers it takes others.
        NEXT.set((7 << 32) - 1);
        assert_eq!(Run::new().0, (7 << 32) - 1);
        assert_eq!(Run::new().0 as u32, 1);
    }

    #[test]
    fn what_is_lent_passes_in_its_own_run_alone() {
        let passes = |run: Run| catch_unwind(|| run.assert_lent("a span")).is_ok();
        let first = {
            let _block = enter();
            assert!(passes(Run::current()));
            Run::current()
        };
        assert!(!passes(first) && passes(Run::NONE));
        let _block = enter();
        assert!(!passes(first) && passes(Run::NONE));
        assert!(catch_unwind(|| Run::NONE.assert_current("a token")).is_err());
    }
}
