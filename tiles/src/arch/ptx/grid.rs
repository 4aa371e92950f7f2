//! Where a thread is in its block and its grid, and what a whole block or grid does: for thread-level kernels, whose launch
//! chooses the size of the block.

use core::arch::asm;
use core::arch::nvptx::{
    _block_dim_x, _block_dim_y, _block_dim_z, _block_idx_x, _block_idx_y, _block_idx_z, _grid_dim_x,
    _grid_dim_y, _grid_dim_z, _thread_idx_x, _thread_idx_y, _thread_idx_z,
};

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn barrier_cta_sync_aligned_all(barrier: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.popc.aligned.all"]
    fn barrier_cta_red_popc_aligned_all(barrier: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.all"]
    fn barrier_cta_red_and_aligned_all(barrier: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.barrier.cta.red.or.aligned.all"]
    fn barrier_cta_red_or_aligned_all(barrier: u32, predicate: bool) -> bool;
}

macro_rules! positions {
    ($($(#[$attribute:meta])* $name:ident = $x:ident $y:ident $z:ident;)*) => { $(
        $(#[$attribute])*
        #[inline(always)]
        pub fn $name(axis: usize) -> u32 {
            // SAFETY: reading a special register has no precondition (PTX ISA, "Special Registers").
            unsafe {
                (match axis {
                    0 => $x(),
                    1 => $y(),
                    _ => $z(),
                }) as u32
            }
        }
    )* };
}
positions! {
    /// `%tid` along `axis`.
    thread_index = _thread_idx_x _thread_idx_y _thread_idx_z;
    /// `%ntid` along `axis`.
    block_size = _block_dim_x _block_dim_y _block_dim_z;
    /// `%ctaid` along `axis`.
    block_index = _block_idx_x _block_idx_y _block_idx_z;
    /// `%nctaid` along `axis`.
    grid_size = _grid_dim_x _grid_dim_y _grid_dim_z;
}

/// `bar.sync 0`: waits for all threads of the block that have not ended, and makes their earlier memory accesses visible to each
/// other (PTX ISA, "bar, barrier").
///
/// # Safety
/// Every thread of the block that has not ended executes this same call.
#[inline(always)]
pub unsafe fn barrier() {
    // SAFETY: the empty asm has no effect; the caller vouches for convergence.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        barrier_cta_sync_aligned_all(0)
    }
}

macro_rules! reductions {
    ($($(#[$attribute:meta])* $name:ident = $intrinsic:ident -> $result:ty;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// As for [`barrier`].
        #[inline(always)]
        pub unsafe fn $name(predicate: bool) -> $result {
            // SAFETY: as for `barrier`.
            unsafe {
                asm!("", options(nomem, nostack, preserves_flags));
                $intrinsic(0, predicate)
            }
        }
    )* };
}
reductions! {
    /// `bar.red.popc`: a barrier, and for how many threads the predicate is true.
    barrier_count = barrier_cta_red_popc_aligned_all -> u32;
    /// `bar.red.and`: a barrier, and whether the predicate is true for all threads.
    barrier_all = barrier_cta_red_and_aligned_all -> bool;
    /// `bar.red.or`: a barrier, and whether the predicate is true for any thread.
    barrier_any = barrier_cta_red_or_aligned_all -> bool;
}

/// `nanosleep`: suspends the thread for up to twice this many nanoseconds (PTX ISA, "nanosleep").
#[inline(always)]
pub fn sleep(nanoseconds: u32) {
    // SAFETY: the instruction has no precondition.
    unsafe { asm!("nanosleep.u32 {0};", in(reg32) nanoseconds, options(nomem, nostack)) }
}

/// `%clock64`: the cycles of the multiprocessor (PTX ISA, "Special Registers: %clock64").
#[inline(always)]
pub fn clock() -> u64 {
    let cycles;
    // SAFETY: reading a special register has no precondition. Not `pure`: each read gives another number.
    unsafe { asm!("mov.u64 {0}, %clock64;", out(reg64) cycles, options(nomem, nostack)) }
    cycles
}

/// `%globaltimer`: nanoseconds, the same on all multiprocessors. It advances by steps of up to a microsecond (PTX ISA, "Special Registers:
/// %globaltimer").
#[inline(always)]
pub fn nanoseconds() -> u64 {
    let time;
    // SAFETY: as above.
    unsafe { asm!("mov.u64 {0}, %globaltimer;", out(reg64) time, options(nomem, nostack)) }
    time
}

/// `brkpt`: suspends the grid for a debugger (PTX ISA, "brkpt").
#[inline(always)]
pub fn breakpoint() {
    // SAFETY: the instruction has no precondition.
    unsafe { asm!("brkpt;", options(nostack)) }
}

/// `pmevent`: triggers the performance monitor event `EVENT`, below 16 (PTX ISA, "pmevent").
#[inline(always)]
pub fn profiler_event<const EVENT: u32>() {
    // SAFETY: the instruction has no precondition but for the range, which the assembler checks.
    unsafe { asm!("pmevent {0};", const EVENT, options(nomem, nostack)) }
}
