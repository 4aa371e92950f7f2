//! Threads, blocks, barriers and the exchange of registers within a warp.

use core::arch::asm;
use core::arch::nvptx::{
    _block_idx_x, _block_idx_y, _block_idx_z, _grid_dim_x, _grid_dim_y, _grid_dim_z, _thread_idx_x,
};

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.barrier.cta.sync.aligned.all"]
    fn barrier_cta_sync_aligned_all(barrier: u32);
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_sync_bfly_i32(members: u32, value: u32, lane_mask: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx_i32(members: u32, value: u32, lane: u32, clamp: u32) -> u32;
}

/// What a block knows of its place in the grid: on the device the special registers know it.
#[derive(Clone, Copy)]
pub struct Place;

impl Place {
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

/// `%tid.x`: kernels are launched with one-dimensional blocks.
#[inline(always)]
pub fn thread() -> usize {
    // SAFETY: reading a special register has no precondition.
    unsafe { _thread_idx_x() as usize }
}

/// `bar.sync 0`: waits for all threads of the block and makes their earlier memory accesses visible to each
/// other (PTX ISA, "bar, barrier").
///
/// # Safety
/// Every thread of the block executes this same call.
#[inline(always)]
pub unsafe fn barrier() {
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

/// `shfl.sync.idx.b32`: the value of lane `lane`, below 32 (PTX ISA, "shfl.sync").
///
/// # Safety
/// All 32 lanes of the warp execute this same call.
#[inline(always)]
pub unsafe fn from_lane(value: u32, lane: u32) -> u32 {
    // SAFETY: as for [`exchange`].
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        shfl_sync_idx_i32(u32::MAX, value, lane, 31)
    }
}

/// `trap`: ends the kernel; the driver reports a launch failure for the whole context (PTX ISA, "trap").
#[inline(always)]
pub fn trap() -> ! {
    // SAFETY: `trap` does not return.
    unsafe { asm!("trap;", options(noreturn, nostack)) }
}

/// Ends the kernel because a safe operation was misused. The text serves the CPU; a GPU cannot say it.
#[inline(always)]
pub fn fail(_message: impl FnOnce(&mut dyn core::fmt::Write) -> core::fmt::Result) -> ! {
    trap()
}
