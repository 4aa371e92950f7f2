//! Blocks of a cluster: the barrier that they share, and the shared memory of each other (PTX ISA, "Cluster of Cooperative Thread Arrays").

use super::threads::Address;
use core::arch::asm;

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.barrier.cluster.arrive"]
    fn barrier_cluster_arrive();
    #[link_name = "llvm.nvvm.barrier.cluster.wait"]
    fn barrier_cluster_wait();
}

/// `barrier.cluster.arrive` and `barrier.cluster.wait`: waits for all threads of the cluster that have not exited, and makes their earlier
/// memory accesses visible to each other.
///
/// # Safety
/// Every thread of the cluster's blocks executes it once, or exits.
#[inline(always)]
pub unsafe fn barrier() {
    // SAFETY: the empty asm has no effect; the caller vouches for the threads. Without `.aligned` the threads of a warp need not have
    // converged.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        barrier_cluster_arrive();
        barrier_cluster_wait();
    }
}

/// `mapa`: the address, in the window of the cluster, of what lies at `address` in the shared memory of block `block` of the cluster.
#[inline(always)]
pub fn address_in(block: u32, address: Address) -> Address {
    let mapped;
    // SAFETY: the instruction is arithmetic.
    unsafe {
        asm!(
            "mapa.shared::cluster.u32 {0}, {1}, {2};",
            out(reg32) mapped, in(reg32) address, in(reg32) block, options(pure, nomem, nostack)
        )
    };
    mapped
}

/// `mbarrier.arrive` at a barrier of any block of the cluster: this thread arrives; its earlier accesses are done.
///
/// The scope is that of the block. *Measured* on an H200: `.release.cluster` is a fence of the whole GPU in each k step, and takes 60 %
/// more time.
///
/// # Safety
/// `barrier` is the [`address_in`] a block whose threads have not all ended, of a barrier that was initialised before a [`barrier`].
#[inline(always)]
pub unsafe fn arrive(barrier: Address) {
    // SAFETY: the caller vouches for the barrier.
    unsafe { asm!("mbarrier.arrive.shared::cluster.b64 _, [{0}];", in(reg32) barrier, options(nostack)) }
}

/// `mbarrier.arrive.release.cluster`: as [`arrive`], and this thread's earlier stores can be seen by threads of the cluster for which
/// [`test_wait`] is true.
///
/// # Safety
/// As for [`arrive`].
#[inline(always)]
pub unsafe fn arrive_releasing(barrier: Address) {
    // SAFETY: the caller vouches for the barrier.
    unsafe {
        asm!("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{0}];", in(reg32) barrier, options(nostack))
    }
}

/// `mbarrier.test_wait.parity.acquire.cluster` on a barrier of this block: whether the phase of this parity is complete. What threads of the
/// cluster stored before they [arrived](arrive_releasing) can then be seen.
///
/// # Safety
/// `barrier` was initialised.
#[inline(always)]
pub unsafe fn test_wait(barrier: Address, parity: u32) -> bool {
    let done: u32;
    // SAFETY: the caller vouches for the barrier.
    unsafe {
        asm!(
            "{{ .reg .pred done; mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 done, [{barrier}], {parity}; \
             selp.u32 {done}, 1, 0, done; }}",
            done = out(reg32) done, barrier = in(reg32) barrier, parity = in(reg32) parity, options(nostack)
        )
    };
    done != 0
}

/// `st.shared::cluster.u32`: stores a word in the shared memory of any block of the cluster.
///
/// # Safety
/// `address` is the [`address_in`] a block whose threads have not all ended, aligned to 4, and nobody else accesses the word.
#[inline(always)]
pub unsafe fn store(address: Address, value: u32) {
    // SAFETY: the caller vouches for the address.
    unsafe {
        asm!("st.shared::cluster.u32 [{0}], {1};", in(reg32) address, in(reg32) value, options(nostack))
    }
}
