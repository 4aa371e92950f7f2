//! Stand-ins for mbarriers and asynchronous copies: a block of one thread copies for itself and waits for nobody.

use super::threads::Address;

/// Whether the block has producer warps.
pub const PRODUCER_WARP: bool = false;

macro_rules! never {
    ($($name:ident $(<const $parameter:ident: $of:ty>)? ($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => { $(
        /// For GPUs.
        ///
        /// # Safety
        /// Never called.
        pub unsafe fn $name $(<const $parameter: $of>)? ($(_: $type),*) $(-> $result)? {
            unreachable!("a block of one thread has nobody to wait for")
        }
    )* };
}
never! {
    initialise(barrier: Address, arrivals: u32);
    invalidate(barrier: Address);
    arrive(barrier: Address);
    arrive_expecting(barrier: Address, bytes: u32);
    arrive_after_copies(barrier: Address);
    try_wait(barrier: Address, parity: u32) -> bool;
    test_wait(barrier: Address, parity: u32) -> bool;
    elect_sync() -> bool;
    setmaxnreg_inc<const REGISTERS: u32>();
    setmaxnreg_dec<const REGISTERS: u32>();
    load_volatile(address: Address) -> u32;
    store_volatile(address: Address, value: u32);
}

/// Nobody is waited for.
pub fn clock() -> u32 {
    0
}

/// Nobody else sees the memory.
pub fn fence_mbarrier_init() {}

/// Nobody else sees the memory.
pub fn fence_proxy_async() {}

/// Copies 16 bytes. All but the first `bytes` become zero.
///
/// # Safety
/// `source` is valid for reads of `bytes` (at most 16) bytes, and `target` for writes of 16 bytes.
#[inline]
pub unsafe fn copy_16(target: Address, source: *const u8, bytes: u32) {
    // SAFETY: the caller vouches for both.
    unsafe {
        target.write_bytes(0, 16);
        target.copy_from_nonoverlapping(source, bytes as usize);
    }
}

/// Copies 4 bytes. All but the first `bytes` become zero.
///
/// # Safety
/// `source` is valid for reads of `bytes` (at most 4) bytes, and `target` for writes of 4 bytes.
#[inline]
pub unsafe fn copy_4(target: Address, source: *const u8, bytes: u32) {
    // SAFETY: the caller vouches for both.
    unsafe {
        target.write_bytes(0, 4);
        target.copy_from_nonoverlapping(source, bytes as usize);
    }
}

/// Copies 8 bytes. All but the first `bytes` become zero.
///
/// # Safety
/// `source` is valid for reads of `bytes` (at most 8) bytes, and `target` for writes of 8 bytes.
#[inline]
pub unsafe fn copy_8(target: Address, source: *const u8, bytes: u32) {
    // SAFETY: the caller vouches for both.
    unsafe {
        target.write_bytes(0, 8);
        target.copy_from_nonoverlapping(source, bytes as usize);
    }
}

/// Copies 16 bytes.
///
/// # Safety
/// `source` is valid for reads, and `target` for writes, of 16 bytes.
#[inline]
pub unsafe fn copy_16_whole(target: Address, source: *const u8) {
    // SAFETY: the caller vouches for both.
    unsafe { target.copy_from_nonoverlapping(source, 16) }
}

/// Does nothing: copies are done at once.
pub fn commit_copies() {}

/// Does nothing: copies are done at once.
pub fn wait_for_copies<const PENDING: usize>() {}

/// For GPUs.
pub fn rest() {}
