//! Atomic access to memory. The CPU has one scope for all: the whole system.

use super::float;
use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

macro_rules! atomic {
    ($($load:ident $store:ident $type:ty, $atomic:ident;)*) => { $(
        /// Loads; `ORDER` is 0 for relaxed, 1 for acquire.
        ///
        /// # Safety
        /// `address` is valid for the read and naturally aligned.
        #[inline]
        pub unsafe fn $load<const ORDER: u8, const SCOPE: u8>(address: *const u8) -> $type {
            let order = if ORDER == 0 { Ordering::Relaxed } else { Ordering::Acquire };
            // SAFETY: the caller vouches for validity and alignment; concurrent accesses are atomic too.
            unsafe { $atomic::from_ptr(address.cast_mut().cast()) }.load(order)
        }

        /// Stores; `ORDER` is 0 for relaxed, 1 for release.
        ///
        /// # Safety
        /// `address` is valid for the write and naturally aligned.
        #[inline]
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

macro_rules! exchange {
    ($($name:ident $type:ty, $atomic:ident;)*) => { $(
        /// A relaxed exchange: the value before.
        ///
        /// # Safety
        /// `address` is valid for reads and writes, naturally aligned, and accessed concurrently by atomic operations only.
        #[inline]
        pub unsafe fn $name(address: *mut u8, value: $type, _scope: u8) -> $type {
            // SAFETY: the caller vouches for validity, alignment, and that concurrent accesses are atomic.
            unsafe { $atomic::from_ptr(address.cast()) }.swap(value, Ordering::Relaxed)
        }
    )* };
}
exchange! {
    exchange_4 u32, AtomicU32;
    exchange_8 u64, AtomicU64;
}

macro_rules! update {
    ($($name:ident $type:ty, $atomic:ident $function:ident;)*) => { $(
        /// A relaxed read-modify-write: the value before, wanted or not.
        ///
        /// # Safety
        /// As for an exchange.
        #[inline]
        pub unsafe fn $name<const WANTED: bool>(address: *mut u8, value: $type, _scope: u8) -> $type {
            // SAFETY: the same contract.
            unsafe { $atomic::from_ptr(address.cast()) }.$function(value as _, Ordering::Relaxed) as $type
        }
    )* };
}
update! {
    add_4 u32, AtomicU32 fetch_add;
    add_8 u64, AtomicU64 fetch_add;
    min_i32 u32, AtomicI32 fetch_min;
    min_i64 u64, AtomicI64 fetch_min;
    min_u32 u32, AtomicU32 fetch_min;
    min_u64 u64, AtomicU64 fetch_min;
    max_i32 u32, AtomicI32 fetch_max;
    max_i64 u64, AtomicI64 fetch_max;
    max_u32 u32, AtomicU32 fetch_max;
    max_u64 u64, AtomicU64 fetch_max;
    and_4 u32, AtomicU32 fetch_and;
    and_8 u64, AtomicU64 fetch_and;
    or_4 u32, AtomicU32 fetch_or;
    or_8 u64, AtomicU64 fetch_or;
    xor_4 u32, AtomicU32 fetch_xor;
    xor_8 u64, AtomicU64 fetch_xor;
}

macro_rules! add_floats {
    ($($name:ident $type:ty, $atomic:ident, $add:expr;)*) => { $(
        /// A relaxed addition of floats, given by their bits: the value before, wanted or not.
        ///
        /// # Safety
        /// As for an exchange.
        #[inline]
        pub unsafe fn $name<const WANTED: bool>(address: *mut u8, value: $type, _scope: u8) -> $type {
            // SAFETY: the same contract.
            let element = unsafe { $atomic::from_ptr(address.cast()) };
            let mut before = element.load(Ordering::Relaxed);
            while let Err(found) =
                element.compare_exchange_weak(before, $add(before, value), Ordering::Relaxed, Ordering::Relaxed)
            {
                before = found;
            }
            before
        }
    )* };
}
add_floats! {
    add_f16 u16, AtomicU16, float::add_f16;
    add_bf16 u16, AtomicU16, float::add_bf16;
    add_f32 u32, AtomicU32, |a, b| (f32::from_bits(a) + f32::from_bits(b)).to_bits();
    add_f64 u64, AtomicU64, |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits();
}

macro_rules! add_pair {
    ($($name:ident $one:ident;)*) => { $(
        /// Adds two neighbouring floats, each atomically, the lower half to the first.
        ///
        /// # Safety
        /// As for an exchange, of both.
        #[inline]
        pub unsafe fn $name(address: *mut u8, values: u32, scope: u8) {
            // SAFETY: the same contract.
            unsafe {
                $one::<false>(address, values as u16, scope);
                $one::<false>(address.add(2), (values >> 16) as u16, scope);
            }
        }
    )* };
}
add_pair! {
    add_pair_f16 add_f16;
    add_pair_bf16 add_bf16;
}

/// Whether [`add_bf16`] and [`add_pair_bf16`] exist.
pub const ADDS_BF16: bool = true;

macro_rules! compare_exchange {
    ($($name:ident $type:ty, $atomic:ident;)*) => { $(
        /// Stores `desired` where it finds `expected`, relaxed: the value before.
        ///
        /// # Safety
        /// As for an exchange.
        #[inline]
        pub unsafe fn $name(address: *mut u8, expected: $type, desired: $type, _scope: u8) -> $type {
            // SAFETY: the same contract.
            let element = unsafe { $atomic::from_ptr(address.cast()) };
            let (Ok(before) | Err(before)) =
                element.compare_exchange(expected, desired, Ordering::Relaxed, Ordering::Relaxed);
            before
        }
    )* };
}
compare_exchange! {
    compare_exchange_2 u16, AtomicU16;
    compare_exchange_4 u32, AtomicU32;
    compare_exchange_8 u64, AtomicU64;
}

/// Makes relaxed atomic writes after it release, and relaxed atomic reads before it acquire.
#[inline]
pub fn fence(_scope: u8) {
    core::sync::atomic::fence(Ordering::AcqRel);
}
