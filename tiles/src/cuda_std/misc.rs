//! Debuggers, profilers and clocks.

use crate::arch::grid;
use crate::arch::order::reveals_thread;

/// Stops the grid for a debugger; without one a GPU ends the kernel with an error. The CPU goes on.
#[inline_on_device]
pub fn breakpoint() {
    grid::breakpoint();
}

/// Counts an event of this number for profilers, once for each warp. The CPU counts none.
///
/// # Panics
///
/// If the number is above 7.
#[inline_on_device]
pub fn profiler_counter(counter: u32) {
    match counter {
        0 => grid::profiler_event::<0>(),
        1 => grid::profiler_event::<1>(),
        2 => grid::profiler_event::<2>(),
        3 => grid::profiler_event::<3>(),
        4 => grid::profiler_event::<4>(),
        5 => grid::profiler_event::<5>(),
        6 => grid::profiler_event::<6>(),
        7 => grid::profiler_event::<7>(),
        _ => panic!("the counters of a profiler have the numbers 0 to 7"),
    }
}

/// The cycles that the thread's multiprocessor has counted; on the CPU nanoseconds.
///
/// ```
/// use cuda_tiles::cuda_std::misc::clock;
/// let start = clock();
/// assert!(clock() >= start);
/// ```
#[inline_on_device]
pub fn clock() -> u64 {
    reveals_thread();
    grid::clock()
}
