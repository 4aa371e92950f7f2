//! mbarriers, which count arrivals and bytes in shared memory (PTX ISA, "mbarrier"); asynchronous copies by threads
//! ("cp.async"); and the registers of warp roles.

use super::threads::Address;
use core::arch::asm;

#[repr(C)]
struct Elected {
    lane: u32,
    is_this: bool,
}

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.elect.sync"]
    fn elect(members: u32) -> Elected;
    #[link_name = "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"]
    fn inc(registers: u32);
    #[link_name = "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"]
    fn dec(registers: u32);
    #[link_name = "llvm.nvvm.fence.mbarrier_init.release.cluster"]
    fn mbarrier_init_release();
    #[link_name = "llvm.nvvm.fence.proxy.async.shared_cta"]
    fn fence_proxy_async_shared();
}

/// Whether the block has producer warps, which copy by TMA. Elsewhere the consumers copy for themselves.
pub const PRODUCER_WARP: bool = cfg!(target_feature = "sm_90");

/// `mbarrier.init`: a phase is complete when `arrivals` threads have arrived and all expected bytes have been copied.
///
/// # Safety
/// `barrier` is the address of 8 bytes of shared memory, aligned to 8, with no other use.
#[inline(always)]
pub unsafe fn initialise(barrier: Address, arrivals: u32) {
    // SAFETY: the caller vouches for the memory.
    unsafe {
        asm!("mbarrier.init.shared.b64 [{0}], {1};", in(reg32) barrier, in(reg32) arrivals, options(nostack))
    }
}

/// `mbarrier.inval`: the memory is no barrier any more.
///
/// # Safety
/// `barrier` was initialised, and no thread or copy uses it any more.
#[inline(always)]
pub unsafe fn invalidate(barrier: Address) {
    // SAFETY: the caller vouches for the barrier.
    unsafe { asm!("mbarrier.inval.shared.b64 [{0}];", in(reg32) barrier, options(nostack)) }
}

/// `fence.mbarrier_init`: TMA sees the barriers that this thread has initialised.
#[inline(always)]
pub fn fence_mbarrier_init() {
    // SAFETY: a fence has no precondition.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        mbarrier_init_release();
    }
}

/// `fence.proxy.async`: TMA and the tensor cores see this thread's earlier writes to shared memory.
#[inline(always)]
pub fn fence_proxy_async() {
    // SAFETY: a fence has no precondition.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        fence_proxy_async_shared();
    }
}

/// `mbarrier.arrive`: this thread arrives; its earlier accesses are done.
///
/// # Safety
/// `barrier` was initialised.
#[inline(always)]
pub unsafe fn arrive(barrier: Address) {
    // SAFETY: the caller vouches for the barrier.
    unsafe { asm!("mbarrier.arrive.shared::cta.b64 _, [{0}];", in(reg32) barrier, options(nostack)) }
}

/// `mbarrier.arrive.expect_tx`: this thread arrives, and the phase also waits for `bytes` to be copied.
///
/// # Safety
/// `barrier` was initialised. Copies of `bytes` bytes in all report to it.
#[inline(always)]
pub unsafe fn arrive_expecting(barrier: Address, bytes: u32) {
    // SAFETY: the caller vouches for the barrier.
    unsafe {
        asm!("mbarrier.arrive.expect_tx.shared::cta.b64 _, [{0}], {1};", in(reg32) barrier, in(reg32) bytes, options(nostack))
    }
}

/// `cp.async.mbarrier.arrive.noinc`: this thread arrives when all its copies by `cp.async` have arrived. The barrier counts this arrival
/// (PTX ISA, "cp.async.mbarrier.arrive").
///
/// # Safety
/// `barrier` was initialised.
#[inline(always)]
pub unsafe fn arrive_after_copies(barrier: Address) {
    // SAFETY: the caller vouches for the barrier.
    unsafe { asm!("cp.async.mbarrier.arrive.noinc.shared.b64 [{0}];", in(reg32) barrier, options(nostack)) }
}

macro_rules! phase_waits {
    ($($(#[$attribute:meta])* $name:ident $instruction:literal;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// `barrier` was initialised.
        #[inline(always)]
        pub unsafe fn $name(barrier: Address, parity: u32) -> bool {
            let done: u32;
            // SAFETY: the caller vouches for the barrier. Not `nomem`: later accesses see the data that the phase brought.
            unsafe {
                asm!(
                    concat!(
                        "{{ .reg .pred done; ", $instruction, ".parity.shared::cta.b64 done, [{barrier}], {parity}; ",
                        "selp.u32 {done}, 1, 0, done; }}"
                    ),
                    done = out(reg32) done, barrier = in(reg32) barrier, parity = in(reg32) parity, options(nostack)
                )
            };
            done != 0
        }
    )* };
}
phase_waits! {
    /// `mbarrier.try_wait.parity`: whether the phase of this parity is complete, after a wait whose length the hardware
    /// chooses.
    try_wait "mbarrier.try_wait";
    /// `mbarrier.test_wait.parity`: whether the phase of this parity is complete, without waiting.
    test_wait "mbarrier.test_wait";
}

/// `elect.sync`: true in one lane of the warp.
///
/// # Safety
/// All 32 lanes of the warp execute this same call.
#[inline(always)]
pub unsafe fn elect_sync() -> bool {
    // SAFETY: the empty asm has no effect; the caller vouches for the members.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        elect(u32::MAX).is_this
    }
}

macro_rules! set_registers {
    ($(#[$attribute:meta])* $name:ident = $intrinsic:ident: $($count:literal)*) => {
        $(#[$attribute])*
        ///
        /// # Safety
        /// All threads of the warpgroup execute this same call, in a kernel assembled with a bound on its threads. The block's
        /// registers suffice (PTX ISA, "setmaxnreg").
        #[inline(always)]
        pub unsafe fn $name<const REGISTERS: u32>() {
            // SAFETY: the empty asm has no effect; the caller vouches for the rest. The instruction takes an immediate.
            unsafe {
                asm!("", options(nomem, nostack, preserves_flags));
                match REGISTERS {
                    $($count => $intrinsic($count),)*
                    _ => {}
                }
            }
        }
    };
}
set_registers!(
    /// `setmaxnreg.inc`: each thread may use this many registers from now on.
    setmaxnreg_inc = inc: 152 160 168 176 184 192 200 208 216 224 232 240
);
set_registers!(
    /// `setmaxnreg.dec`: each thread gives back all but this many registers.
    setmaxnreg_dec = dec: 24 32 40 48 56 64
);

/// `cp.async`: copies 16 bytes from global to shared memory. All but the first `bytes` become zero.
///
/// # Safety
/// `source` is valid for reads of `bytes` (at most 16) bytes. `source` and `target` are aligned to 16; nobody else accesses the
/// target.
#[inline(always)]
pub unsafe fn copy_16(target: Address, source: *const u8, bytes: u32) {
    // SAFETY: the caller vouches for both addresses.
    unsafe {
        asm!("cp.async.cg.shared.global [{0}], [{1}], 16, {2};", in(reg32) target, in(reg64) source, in(reg32) bytes, options(nostack))
    }
}

/// `cp.async`: copies 4 bytes from global to shared memory. All but the first `bytes` become zero.
///
/// # Safety
/// `source` is valid for reads of `bytes` (at most 4) bytes. `source` and `target` are aligned to 4; nobody else accesses the target.
#[inline(always)]
pub unsafe fn copy_4(target: Address, source: *const u8, bytes: u32) {
    // SAFETY: the caller vouches for both addresses.
    unsafe {
        asm!("cp.async.ca.shared.global [{0}], [{1}], 4, {2};", in(reg32) target, in(reg64) source, in(reg32) bytes, options(nostack))
    }
}

/// `cp.async`: copies 8 bytes from global to shared memory. All but the first `bytes` become zero.
///
/// # Safety
/// `source` is valid for reads of `bytes` (at most 8) bytes. `source` and `target` are aligned to 8; nobody else accesses the target.
#[inline(always)]
pub unsafe fn copy_8(target: Address, source: *const u8, bytes: u32) {
    // SAFETY: the caller vouches for both addresses.
    unsafe {
        asm!("cp.async.ca.shared.global [{0}], [{1}], 8, {2};", in(reg32) target, in(reg64) source, in(reg32) bytes, options(nostack))
    }
}

/// `cp.async`: copies 16 bytes from global to shared memory, and lets the L2 cache fetch 128.
///
/// # Safety
/// `source` is valid for reads of 16 bytes. `source` and `target` are aligned to 16; nobody else accesses the target's 16
/// bytes.
#[inline(always)]
pub unsafe fn copy_16_whole(target: Address, source: *const u8) {
    // SAFETY: the caller vouches for both addresses.
    unsafe {
        asm!("cp.async.cg.shared.global.L2::128B [{0}], [{1}], 16;", in(reg32) target, in(reg64) source, options(nostack))
    }
}

/// `cp.async.commit_group`: the copies since the last commit are a group.
#[inline(always)]
pub fn commit_copies() {
    // SAFETY: no precondition.
    unsafe { asm!("cp.async.commit_group;", options(nostack)) }
}

/// `cp.async.wait_group`: waits until at most `PENDING` groups of this thread are under way.
#[inline(always)]
pub fn wait_for_copies<const PENDING: usize>() {
    // SAFETY: no precondition. Not `nomem`: later accesses see the copied bytes.
    unsafe { asm!("cp.async.wait_group {0};", const PENDING, options(nostack)) }
}

/// `ld.volatile.shared.u32`: loads a word that another warp may be writing.
///
/// # Safety
/// `address` lies in shared memory of this block, aligned to 4.
#[inline(always)]
pub unsafe fn load_volatile(address: Address) -> u32 {
    let value;
    // SAFETY: the caller vouches for the address.
    unsafe {
        asm!("ld.volatile.shared.u32 {0}, [{1}];", out(reg32) value, in(reg32) address, options(nostack))
    };
    value
}

/// `st.volatile.shared.u32`: stores a word that another warp may be reading.
///
/// # Safety
/// As for [`load_volatile`].
#[inline(always)]
pub unsafe fn store_volatile(address: Address, value: u32) {
    // SAFETY: the caller vouches for the address.
    unsafe {
        asm!("st.volatile.shared.u32 [{0}], {1};", in(reg32) address, in(reg32) value, options(nostack))
    }
}

/// `%clock`: cycles of the multiprocessor, modulo 2³² (PTX ISA, "Special Registers: %clock").
#[inline(always)]
pub fn clock() -> u32 {
    let cycles;
    // SAFETY: reading a special register has no precondition. Not `pure`: it changes.
    unsafe { asm!("mov.u32 {0}, %clock;", out(reg32) cycles, options(nomem, nostack)) };
    cycles
}

/// `nanosleep`: leaves the multiprocessor to others for about a microsecond (PTX ISA, "nanosleep").
#[inline(always)]
pub fn rest() {
    // SAFETY: no precondition.
    unsafe { asm!("nanosleep.u32 1000;", options(nostack)) }
}
