//! Threads, blocks, barriers and the exchange of registers within a warp.

use super::partitions::{Noted, WORDS};
use super::running::Run;
use core::arch::asm;
use core::arch::nvptx::{
    _block_idx_x, _block_idx_y, _block_idx_z, _grid_dim_x, _grid_dim_y, _grid_dim_z, _thread_idx_x,
    _thread_idx_y,
};

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn barrier_cta_sync_aligned_all(barrier: u32);
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.count"]
    fn barrier_cta_sync_aligned_count(barrier: u32, threads: u32);
    #[link_name = "llvm.nvvm.barrier.cta.red.and.aligned.count"]
    fn barrier_cta_red_and_aligned_count(barrier: u32, threads: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_sync_bfly_i32(members: u32, value: u32, lane_mask: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_sync_up_i32(members: u32, value: u32, distance: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_sync_down_i32(members: u32, value: u32, distance: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx_i32(members: u32, value: u32, lane: u32, clamp: u32) -> u32;
}

pub use super::messages::fail;

/// A block's place in the grid: on the device the special registers have it.
#[derive(Clone, Copy)]
pub struct Place;

impl Place {
    /// The run of the block.
    #[inline(always)]
    pub fn run(self) -> Run {
        Run
    }

    /// Does nothing: on the device there is no record.
    #[inline(always)]
    pub fn note(self, _words: &[u64; WORDS]) -> Noted {
        Noted::Same
    }

    /// `%ctaid` along `axis`.
    #[inline(always)]
    pub fn block_index(self, axis: usize) -> u32 {
        // SAFETY: reading a special register has no precondition (PTX ISA, "Special Registers: %ctaid").
        unsafe {
            (match axis {
                0 => _block_idx_x(),
                1 => _block_idx_y(),
                _ => _block_idx_z(),
            }) as u32
        }
    }

    /// The number of the block among the `consumers` blocks of its CTA.
    #[inline(always)]
    pub fn consumer(self, _consumers: u32) -> u32 {
        consumer()
    }

    /// `%ctaid.x`: the index of the CTA, of `consumers` blocks.
    #[inline(always)]
    pub fn cta_index(self, _consumers: u32) -> u32 {
        self.block_index(0)
    }

    /// `%nctaid.x`: the number of CTAs of `consumers` blocks.
    #[inline(always)]
    pub fn cta_count(self, _consumers: u32) -> u32 {
        self.block_count(0)
    }

    /// `%nctaid` along `axis`.
    #[inline(always)]
    pub fn block_count(self, axis: usize) -> u32 {
        // SAFETY: as above ("Special Registers: %nctaid").
        unsafe {
            (match axis {
                0 => _grid_dim_x(),
                1 => _grid_dim_y(),
                _ => _grid_dim_z(),
            }) as u32
        }
    }
}

/// `%tid.x`: the number of the thread in its block. The blocks of a CTA differ in `%tid.y`.
#[inline(always)]
pub fn thread() -> usize {
    // SAFETY: reading a special register has no precondition.
    unsafe { _thread_idx_x() as usize }
}

/// `%tid.y`: the number of this thread's block among those of its CTA; for producer threads, the number of these blocks.
#[inline(always)]
pub fn consumer() -> u32 {
    // SAFETY: reading a special register has no precondition. Blocks of a CTA that has several are whole warps, whose threads have the
    // same number. Library calls outside of a branch on the thread's number run on all lanes of a warp alike: from lane 0 the assembler
    // knows that the number is the warp's.
    unsafe { from_lane(_thread_idx_y() as u32, 0) }
}

/// `bar.sync 0, threads`: waits for this many threads of the block and makes their earlier memory accesses visible to each
/// other (PTX ISA, "bar, barrier").
///
/// # Safety
/// As for [`named_barrier`].
#[inline(always)]
pub unsafe fn barrier(threads: u32) {
    // SAFETY: the same contract.
    unsafe { named_barrier(0, threads) }
}

/// `bar.sync`: waits for this many threads at one of the block's sixteen barriers and makes their earlier memory accesses
/// visible to each other (PTX ISA, "bar, barrier").
///
/// # Safety
/// `barrier` is below 16, and `threads` a multiple of 32. These threads form whole warps and execute this same call. No others
/// arrive at this barrier before it is complete.
#[inline(always)]
pub unsafe fn named_barrier(barrier: u32, threads: u32) {
    // SAFETY: the empty asm has no effect; the caller vouches for convergence.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        barrier_cta_sync_aligned_count(barrier, threads);
    }
}

/// `bar.red.and 0, threads`: [`barrier`], and whether the predicate is true for all of these threads (PTX ISA, "bar, barrier").
///
/// # Safety
/// As for [`named_barrier`].
#[inline(always)]
pub unsafe fn barrier_all(threads: u32, predicate: bool) -> bool {
    // SAFETY: as in `named_barrier`.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        barrier_cta_red_and_aligned_count(0, threads, predicate)
    }
}

/// `bar.sync 0`: waits for all threads of the block, producers included (PTX ISA, "bar, barrier").
///
/// # Safety
/// Every thread of the block executes this same call.
#[inline(always)]
pub unsafe fn barrier_of_all() {
    // SAFETY: the empty asm has no effect; the caller vouches for convergence.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        barrier_cta_sync_aligned_all(0);
    }
}

/// `shfl.sync.bfly.b32`: the value of the lane whose number differs from this one's by `lane_mask` (PTX ISA,
/// "shfl.sync").
///
/// # Safety
/// All 32 lanes of the warp execute this same call.
#[inline(always)]
pub unsafe fn exchange(value: u32, lane_mask: u32) -> u32 {
    // SAFETY: the empty asm has no effect; the caller vouches for the members named by the full mask. The
    // clamp 31 makes the warp one segment.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        shfl_sync_bfly_i32(u32::MAX, value, lane_mask, 31)
    }
}

/// `shfl.sync.up.b32`: the value of the lane whose number is lower by `distance`; this lane's own value if there is none.
///
/// # Safety
/// As for [`exchange`].
#[inline(always)]
pub unsafe fn shift_up(value: u32, distance: u32) -> u32 {
    // SAFETY: as in `exchange`. The clamp 0 makes the warp one segment.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        shfl_sync_up_i32(u32::MAX, value, distance, 0)
    }
}

/// `shfl.sync.down.b32`: the value of the lane whose number is higher by `distance`; this lane's own value if there is none.
///
/// # Safety
/// As for [`exchange`].
#[inline(always)]
pub unsafe fn shift_down(value: u32, distance: u32) -> u32 {
    // SAFETY: as in `exchange`.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        shfl_sync_down_i32(u32::MAX, value, distance, 31)
    }
}

/// `shfl.sync.idx.b32`: the value of lane `lane` modulo 32.
///
/// # Safety
/// As for [`exchange`].
#[inline(always)]
pub unsafe fn from_lane(value: u32, lane: u32) -> u32 {
    // SAFETY: as in `exchange`.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        shfl_sync_idx_i32(u32::MAX, value, lane, 31)
    }
}

/// The same value, hidden from the optimiser: a loop up to it is not unrolled.
#[inline(always)]
pub fn opaque(mut value: u32) -> u32 {
    // SAFETY: the empty asm leaves the register as it is.
    unsafe { asm!("/* {0} */", inout(reg32) value, options(pure, nomem, nostack, preserves_flags)) };
    value
}

/// The lower half and the upper one, which the optimiser does not take for parts of the value.
#[inline(always)]
pub fn halves(value: u32) -> [u16; 2] {
    let (lower, upper): (u16, u16);
    // SAFETY: registers alone are read and written.
    unsafe {
        asm!(
            "mov.b32 {{{0}, {1}}}, {2};",
            out(reg16) lower, out(reg16) upper, in(reg32) value,
            options(pure, nomem, nostack, preserves_flags)
        )
    };
    [lower, upper]
}

/// The same value, which the optimiser must take for a different one each time. Results computed from it are computed behind
/// this place, and take no register before it.
#[inline(always)]
pub fn rematerialise(mut value: u32) -> u32 {
    // SAFETY: the empty asm leaves the register as it is. Not `pure`: it stays where it is.
    unsafe { asm!("/* {0} */", inout(reg32) value, options(nomem, nostack, preserves_flags)) };
    value
}

/// [`rematerialise`] for a pointer.
#[allow(clippy::pointers_in_nomem_asm_block, reason = "nothing is read or written through it")]
#[inline(always)]
pub fn anew_pointer<T>(mut pointer: *const T) -> *const T {
    // SAFETY: as above.
    unsafe { asm!("/* {0} */", inout(reg64) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// `griddepcontrol.wait`: waits until the grids that this one depends on have ended and their writes are visible (PTX ISA,
/// "griddepcontrol"). Programmatic dependent launch (PDL); does nothing before `sm_90`, where a grid starts only after them.
#[inline(always)]
pub fn wait_for_dependencies() {
    // SAFETY: the instruction has no operands and no precondition. Not `nomem`: accesses stay behind it.
    #[cfg(target_feature = "sm_90")]
    unsafe {
        asm!("griddepcontrol.wait;", options(nostack))
    }
}

/// `griddepcontrol.launch_dependents`: the grids that depend on this one may start once all its blocks have called it or ended
/// (PTX ISA, "griddepcontrol"). Programmatic dependent launch (PDL); does nothing before `sm_90`.
#[inline(always)]
pub fn launch_dependents() {
    // SAFETY: as above.
    #[cfg(target_feature = "sm_90")]
    unsafe {
        asm!("griddepcontrol.launch_dependents;", options(nostack))
    }
}

/// `trap`: ends the kernel; the driver reports a launch failure for the whole context (PTX ISA, "trap").
#[inline(always)]
pub fn trap() -> ! {
    // SAFETY: `trap` does not return.
    unsafe { asm!("trap;", options(noreturn, nostack)) }
}
