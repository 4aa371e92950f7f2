//! Relaxed atomic access to memory. The CPU has one scope for all: the whole system.

use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering, fence};

macro_rules! accesses {
    ($($load:ident $store:ident $type:ty, $atomic:ident;)*) => { $(
        /// Loads.
        ///
        /// # Safety
        /// `address` is valid for reads and writes, naturally aligned, and accessed concurrently by atomic operations only.
        #[inline]
        pub unsafe fn $load<const SCOPE: u8>(address: *const $type) -> $type {
            // SAFETY: the same contract.
            unsafe { $atomic::from_ptr(address.cast_mut()) }.load(Ordering::Relaxed)
        }

        /// Stores.
        ///
        /// # Safety
        /// As for the load.
        #[inline]
        pub unsafe fn $store<const SCOPE: u8>(address: *mut $type, value: $type) {
            // SAFETY: the same contract.
            unsafe { $atomic::from_ptr(address) }.store(value, Ordering::Relaxed)
        }
    )* };
}
accesses! {
    load_u32 store_u32 u32, AtomicU32;
    load_u64 store_u64 u64, AtomicU64;
}

macro_rules! updates {
    ($($name:ident $type:ty, $atomic:ident $function:ident;)*) => { $(
        /// Reads, changes and writes: the value before.
        ///
        /// # Safety
        /// As for the load.
        #[inline]
        pub unsafe fn $name<const SCOPE: u8>(address: *mut $type, value: $type) -> $type {
            // SAFETY: the same contract.
            unsafe { $atomic::from_ptr(address) }.$function(value, Ordering::Relaxed)
        }
    )* };
}
updates! {
    add_u32 u32, AtomicU32 fetch_add;
    add_u64 u64, AtomicU64 fetch_add;
    and_u32 u32, AtomicU32 fetch_and;
    and_u64 u64, AtomicU64 fetch_and;
    or_u32 u32, AtomicU32 fetch_or;
    or_u64 u64, AtomicU64 fetch_or;
    xor_u32 u32, AtomicU32 fetch_xor;
    xor_u64 u64, AtomicU64 fetch_xor;
    exchange_u32 u32, AtomicU32 swap;
    exchange_u64 u64, AtomicU64 swap;
    min_u32 u32, AtomicU32 fetch_min;
    min_u64 u64, AtomicU64 fetch_min;
    min_i32 i32, AtomicI32 fetch_min;
    min_i64 i64, AtomicI64 fetch_min;
    max_u32 u32, AtomicU32 fetch_max;
    max_u64 u64, AtomicU64 fetch_max;
    max_i32 i32, AtomicI32 fetch_max;
    max_i64 i64, AtomicI64 fetch_max;
}

macro_rules! add_floats {
    ($($name:ident $type:ident, $atomic:ident;)*) => { $(
        /// Adds: the value before.
        ///
        /// # Safety
        /// As for the load.
        #[inline]
        pub unsafe fn $name<const SCOPE: u8>(address: *mut $type, value: $type) -> $type {
            // SAFETY: the same contract; a float has the size and alignment of its bits.
            let element = unsafe { $atomic::from_ptr(address.cast()) };
            let add = |bits| Some(($type::from_bits(bits) + value).to_bits());
            let (Ok(before) | Err(before)) = element.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
            $type::from_bits(before)
        }
    )* };
}
add_floats! {
    add_f32 f32, AtomicU32;
    add_f64 f64, AtomicU64;
}

/// Orders what is before it and what is behind it, as a release and an acquire.
#[inline]
pub fn fence_acquire_release<const SCOPE: u8>() {
    fence(Ordering::AcqRel);
}

/// Orders all that all threads do.
#[inline]
pub fn fence_sequential<const SCOPE: u8>() {
    fence(Ordering::SeqCst);
}
