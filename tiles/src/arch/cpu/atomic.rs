//! Atomic loads and stores. The CPU has one scope for all: the whole system.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

macro_rules! atomic {
    ($($load:ident $store:ident $type:ty, $atomic:ident;)*) => { $(
        /// Loads; `ORDER` is 0 for relaxed, 1 for acquire.
        ///
        /// # Safety
        /// `address` is valid for the read and naturally aligned.
        #[inline(always)]
        pub unsafe fn $load<const ORDER: u8, const SCOPE: u8>(address: *const u8) -> $type {
            let order = if ORDER == 0 { Ordering::Relaxed } else { Ordering::Acquire };
            // SAFETY: the caller vouches for validity and alignment; concurrent accesses are atomic too.
            unsafe { $atomic::from_ptr(address.cast_mut().cast()) }.load(order)
        }

        /// Stores; `ORDER` is 0 for relaxed, 1 for release.
        ///
        /// # Safety
        /// `address` is valid for the write and naturally aligned.
        #[inline(always)]
        pub unsafe fn $store<const ORDER: u8, const SCOPE: u8>(address: *mut u8, value: $type) {
            let order = if ORDER == 0 { Ordering::Relaxed } else { Ordering::Release };
            // SAFETY: as for the load.
            unsafe { $atomic::from_ptr(address.cast()) }.store(value, order)
        }
    )* };
}
atomic! {
    load_1 store_1 u8, AtomicU8;
    load_2 store_2 u16, AtomicU16;
    load_4 store_4 u32, AtomicU32;
    load_8 store_8 u64, AtomicU64;
}
