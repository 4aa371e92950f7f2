//! Where a thread is in its block and its grid, and what a whole block does.

extern crate std;

use super::team;
use core::time::Duration;

macro_rules! positions {
    ($($(#[$attribute:meta])* $name:ident = |$position:ident| $axes:expr;)*) => { $(
        $(#[$attribute])*
        #[track_caller]
        pub fn $name(axis: usize) -> u32 {
            let $position = team::position();
            $axes[axis]
        }
    )* };
}
positions! {
    /// The thread's index along `axis`.
    thread_index = |position| position.thread;
    /// The threads of the block along `axis`.
    block_size = |position| position.grid.threads;
    /// The block's index along `axis`.
    block_index = |position| position.block;
    /// The blocks of the grid along `axis`.
    grid_size = |position| position.grid.blocks;
}

/// Waits for all threads of the block that have not ended.
///
/// # Safety
/// None needed here; on a GPU every thread of the block that has not ended must execute the same call.
#[track_caller]
pub unsafe fn barrier() {
    team::meet(None, "sync_threads", 0);
}

/// A barrier, and for how many threads the predicate is true.
///
/// # Safety
/// As above.
#[track_caller]
pub unsafe fn barrier_count(predicate: bool) -> u32 {
    let all = team::meet(None, "sync_threads_count", predicate.into());
    all.iter().flatten().filter(|&&predicate| predicate != 0).count() as u32
}

/// A barrier, and whether the predicate is true for all threads.
///
/// # Safety
/// As above.
#[track_caller]
pub unsafe fn barrier_all(predicate: bool) -> bool {
    team::meet(None, "sync_threads_and", predicate.into()).iter().flatten().all(|&predicate| predicate != 0)
}

/// A barrier, and whether the predicate is true for any thread.
///
/// # Safety
/// As above.
#[track_caller]
pub unsafe fn barrier_any(predicate: bool) -> bool {
    team::meet(None, "sync_threads_or", predicate.into()).iter().flatten().any(|&predicate| predicate != 0)
}

/// Suspends the thread.
pub fn sleep(nanoseconds: u32) {
    std::thread::sleep(Duration::from_nanos(nanoseconds.into()));
}

/// Nanoseconds since the first call: a CPU's cycles.
pub fn clock() -> u64 {
    nanoseconds()
}

/// Nanoseconds since the first call.
pub fn nanoseconds() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}

/// Does nothing: debuggers of the CPU have breakpoints of their own.
pub fn breakpoint() {}

/// Does nothing: the CPU counts no such events.
pub fn profiler_event<const EVENT: u32>() {}
