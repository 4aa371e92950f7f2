//! TMA: tiles between global and shared memory, described by tensor maps (PTX ISA, "cp.async.bulk.tensor").

use super::threads::Address;
use core::arch::asm;

/// `prefetch.tensormap`: announces a use of the map.
///
/// # Safety
/// `map` is the address of a tensor map in global memory.
#[inline(always)]
pub unsafe fn prefetch_map(map: *const u8) {
    // SAFETY: the caller vouches for the map.
    unsafe { asm!("prefetch.tensormap [{0}];", in(reg64) map, options(nostack)) }
}

/// The state space of a copy's target. Versions of PTX before 8.6 say that the target may be another block of the cluster. On
/// GPUs without clusters, the assembler makes a call for it.
#[cfg(target_feature = "ptx86")]
macro_rules! own_memory {
    () => {
        "shared::cta"
    };
}
#[cfg(not(target_feature = "ptx86"))]
macro_rules! own_memory {
    () => {
        "shared::cluster"
    };
}

/// `cp.async.bulk.tensor`: copies the map's box at column `x`, row `y`, matrix `z` to shared memory. Elements outside the
/// tensor become zero. The bytes of the whole box count towards the phase of `barrier`.
///
/// # Safety
/// `map` is a tensor map of rank 3 in global memory. Column `x` is a multiple of 16 bytes: TMA calls others an illegal
/// instruction (*measured*; the PTX ISA does not say so). `target` has room for the box, aligned to 128 bytes, and nobody
/// accesses it before the phase is complete. `barrier` was initialised.
#[inline(always)]
pub unsafe fn load(target: Address, map: *const u8, barrier: Address, [x, y, z]: [u32; 3]) {
    // SAFETY: the caller vouches for the operands.
    unsafe {
        asm!(
            concat!(
                "cp.async.bulk.tensor.3d.", own_memory!(),
                ".global.mbarrier::complete_tx::bytes [{target}], [{map}, {{{x}, {y}, {z}}}], [{barrier}];",
            ),
            target = in(reg32) target, map = in(reg64) map, barrier = in(reg32) barrier,
            x = in(reg32) x, y = in(reg32) y, z = in(reg32) z, options(nostack)
        )
    }
}

/// `cp.async.bulk.tensor.multicast::cluster`: as [`load`], to the same place in the shared memory of each block of the cluster whose bit
/// in `blocks` is set. The bytes count towards the barrier at the same place in each of them.
///
/// # Safety
/// As for [`load`], in each of these blocks, whose threads have not all ended.
#[inline(always)]
pub unsafe fn load_multicast(
    target: Address,
    map: *const u8,
    barrier: Address,
    [x, y, z]: [u32; 3],
    blocks: u16,
) {
    // SAFETY: the caller vouches for the operands. The addresses are this block's, which are addresses in the window of the cluster.
    unsafe {
        asm!(
            "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
             [{target}], [{map}, {{{x}, {y}, {z}}}], [{barrier}], {blocks};",
            target = in(reg32) target, map = in(reg64) map, barrier = in(reg32) barrier,
            x = in(reg32) x, y = in(reg32) y, z = in(reg32) z, blocks = in(reg16) blocks, options(nostack)
        )
    }
}

/// `cp.async.bulk.tensor`: copies the map's box from shared memory to column `x`, row `y`, matrix `z`, except for elements
/// outside the tensor.
///
/// # Safety
/// `map` is a tensor map of rank 3 in global memory; nobody else accesses the tensor's box. Column `x` is a multiple of 16
/// bytes, as for [`load`]. `source` holds the box, aligned to 128 bytes, behind a proxy fence, and stays as it is until
/// [`wait_for_reads`] says so.
#[inline(always)]
pub unsafe fn store(map: *const u8, source: Address, [x, y, z]: [u32; 3]) {
    // SAFETY: the caller vouches for the operands.
    unsafe {
        asm!(
            "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [{map}, {{{x}, {y}, {z}}}], [{source}];",
            map = in(reg64) map, source = in(reg32) source, x = in(reg32) x, y = in(reg32) y, z = in(reg32) z, options(nostack)
        )
    }
}

/// `cp.async.bulk.commit_group`: this thread's stores since the last commit are a group.
#[inline(always)]
pub fn commit_stores() {
    // SAFETY: no precondition.
    unsafe { asm!("cp.async.bulk.commit_group;", options(nostack)) }
}

/// `cp.async.bulk.wait_group.read`: waits until all but the last `PENDING` groups of this thread's stores have read their
/// source.
#[inline(always)]
pub fn wait_for_reads<const PENDING: usize>() {
    // SAFETY: no precondition.
    unsafe { asm!("cp.async.bulk.wait_group.read {0};", const PENDING, options(nostack)) }
}
