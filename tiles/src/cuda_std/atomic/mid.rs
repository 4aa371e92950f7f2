//! Functions for each operation, type and scope, which take the order as an argument.
//!
//! Their names are made of these: `atomic_fetch_add_f32_device` adds an `f32`, atomically for all threads of the device.
//!
//! The order is a constant in all sensible code. Each function is a relaxed instruction and the fences that the order wants; on a GPU
//! `atom.relaxed`, `ld.relaxed` or `st.relaxed`, and `fence` (PTX ISA, "Release and Acquire Patterns"). The CPU has one scope, the whole
//! system.
//!
//! Pointers may point to memory of any space: global, or shared by the block.
//!
//! ```
//! use core::sync::atomic::Ordering;
//! use cuda_tiles::cuda_std::{atomic::mid::atomic_fetch_add_u32_device, cpu};
//!
//! let mut count = 0;
//! let place = &raw mut count;
//! // SAFETY: all threads access the number by this function alone.
//! unsafe { cpu::launch(2, 100, 0, || _ = atomic_fetch_add_u32_device(place, Ordering::Relaxed, 1)) };
//! assert_eq!(count, 200);
//! ```

use super::scope::{BLOCK, DEVICE, SYSTEM};
use crate::arch::scoped;
use core::sync::atomic::Ordering;

/// Runs an operation between the fences that an order wants.
#[inline_on_device]
fn ordered<const SCOPE: u8, T>(ordering: Ordering, operation: impl FnOnce() -> T) -> T {
    match ordering {
        Ordering::SeqCst => scoped::fence_sequential::<SCOPE>(),
        Ordering::Release | Ordering::AcqRel => scoped::fence_acquire_release::<SCOPE>(),
        _ => {}
    }
    let result = operation();
    if matches!(ordering, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst) {
        scoped::fence_acquire_release::<SCOPE>();
    }
    result
}

macro_rules! fences {
    ($($name:ident $scope:ident $whom:literal;)*) => { $(
        #[doc = concat!("A fence for ", $whom, "; none if the order is relaxed.")]
        #[inline_on_device]
        pub fn $name(ordering: Ordering) {
            match ordering {
                Ordering::SeqCst => scoped::fence_sequential::<$scope>(),
                Ordering::Relaxed => {}
                _ => scoped::fence_acquire_release::<$scope>(),
            }
        }
    )* };
}
fences! {
    block_thread_fence BLOCK "the threads of the block";
    device_thread_fence DEVICE "the threads of the device";
    system_thread_fence SYSTEM "the whole system";
}

macro_rules! accesses {
    ($($load:ident $store:ident $type:ident $machine_load:ident $machine_store:ident $scope:ident;)*) => { $(
        /// Loads.
        ///
        /// # Panics
        /// If the order is a release.
        ///
        /// # Safety
        /// The pointer is valid for reads and writes, aligned, and accessed by other threads with atomic operations alone.
        #[inline_on_device]
        pub unsafe fn $load(ptr: *mut $type, ordering: Ordering) -> $type {
            assert!(!matches!(ordering, Ordering::Release | Ordering::AcqRel), "a load releases nothing");
            // SAFETY: the same contract.
            ordered::<$scope, _>(ordering, || unsafe { scoped::$machine_load::<$scope>(ptr) })
        }

        /// Stores.
        ///
        /// # Panics
        /// If the order is an acquire.
        ///
        /// # Safety
        /// As for the load.
        #[inline_on_device]
        pub unsafe fn $store(ptr: *mut $type, ordering: Ordering, val: $type) {
            assert!(!matches!(ordering, Ordering::Acquire | Ordering::AcqRel), "a store acquires nothing");
            // SAFETY: the same contract.
            ordered::<$scope, _>(ordering, || unsafe { scoped::$machine_store::<$scope>(ptr, val) });
        }
    )* };
}
accesses! {
    atomic_load_32_block atomic_store_32_block u32 load_u32 store_u32 BLOCK;
    atomic_load_32_device atomic_store_32_device u32 load_u32 store_u32 DEVICE;
    atomic_load_32_system atomic_store_32_system u32 load_u32 store_u32 SYSTEM;
    atomic_load_64_block atomic_store_64_block u64 load_u64 store_u64 BLOCK;
    atomic_load_64_device atomic_store_64_device u64 load_u64 store_u64 DEVICE;
    atomic_load_64_system atomic_store_64_system u64 load_u64 store_u64 SYSTEM;
}

/// What an operation is for a type: a type of the machine's that has its size, and how values go there and back.
macro_rules! machine {
    (add f32 $scope:ident $ptr:ident $val:ident) => { scoped::add_f32::<$scope>($ptr, $val) };
    (add f64 $scope:ident $ptr:ident $val:ident) => { scoped::add_f64::<$scope>($ptr, $val) };
    (sub f32 $scope:ident $ptr:ident $val:ident) => { scoped::add_f32::<$scope>($ptr, -$val) };
    (sub f64 $scope:ident $ptr:ident $val:ident) => { scoped::add_f64::<$scope>($ptr, -$val) };
    (sub u32 $scope:ident $ptr:ident $val:ident) => { scoped::add_u32::<$scope>($ptr, $val.wrapping_neg()) };
    (sub u64 $scope:ident $ptr:ident $val:ident) => { scoped::add_u64::<$scope>($ptr, $val.wrapping_neg()) };
    (sub i32 $scope:ident $ptr:ident $val:ident) => { scoped::add_u32::<$scope>($ptr.cast(), $val.wrapping_neg() as u32) as i32 };
    (sub i64 $scope:ident $ptr:ident $val:ident) => { scoped::add_u64::<$scope>($ptr.cast(), $val.wrapping_neg() as u64) as i64 };
    (min $type:ident $scope:ident $ptr:ident $val:ident) => { machine!(@ $type min_u32 min_u64 min_i32 min_i64, $scope $ptr $val) };
    (max $type:ident $scope:ident $ptr:ident $val:ident) => { machine!(@ $type max_u32 max_u64 max_i32 max_i64, $scope $ptr $val) };
    (add $type:ident $scope:ident $ptr:ident $val:ident) => { machine!($type add_u32 add_u64, $scope $ptr $val) };
    (and $type:ident $scope:ident $ptr:ident $val:ident) => { machine!($type and_u32 and_u64, $scope $ptr $val) };
    (or $type:ident $scope:ident $ptr:ident $val:ident) => { machine!($type or_u32 or_u64, $scope $ptr $val) };
    (xor $type:ident $scope:ident $ptr:ident $val:ident) => { machine!($type xor_u32 xor_u64, $scope $ptr $val) };
    (exch $type:ident $scope:ident $ptr:ident $val:ident) => { machine!($type exchange_u32 exchange_u64, $scope $ptr $val) };
    // By the bits of the type.
    (u32 $of_32:ident $of_64:ident, $scope:ident $ptr:ident $val:ident) => { scoped::$of_32::<$scope>($ptr, $val) };
    (u64 $of_32:ident $of_64:ident, $scope:ident $ptr:ident $val:ident) => { scoped::$of_64::<$scope>($ptr, $val) };
    (i32 $of_32:ident $of_64:ident, $scope:ident $ptr:ident $val:ident) => { scoped::$of_32::<$scope>($ptr.cast(), $val as u32) as i32 };
    (i64 $of_32:ident $of_64:ident, $scope:ident $ptr:ident $val:ident) => { scoped::$of_64::<$scope>($ptr.cast(), $val as u64) as i64 };
    (f32 $of_32:ident $of_64:ident, $scope:ident $ptr:ident $val:ident) => { f32::from_bits(scoped::$of_32::<$scope>($ptr.cast(), $val.to_bits())) };
    (f64 $of_32:ident $of_64:ident, $scope:ident $ptr:ident $val:ident) => { f64::from_bits(scoped::$of_64::<$scope>($ptr.cast(), $val.to_bits())) };
    // By the type itself.
    (@ u32 $u32:ident $u64:ident $i32:ident $i64:ident, $scope:ident $ptr:ident $val:ident) => { scoped::$u32::<$scope>($ptr, $val) };
    (@ u64 $u32:ident $u64:ident $i32:ident $i64:ident, $scope:ident $ptr:ident $val:ident) => { scoped::$u64::<$scope>($ptr, $val) };
    (@ i32 $u32:ident $u64:ident $i32:ident $i64:ident, $scope:ident $ptr:ident $val:ident) => { scoped::$i32::<$scope>($ptr, $val) };
    (@ i64 $u32:ident $u64:ident $i32:ident $i64:ident, $scope:ident $ptr:ident $val:ident) => { scoped::$i64::<$scope>($ptr, $val) };
}

macro_rules! updates {
    ($($operation:ident $type:ident: $block:ident $device:ident $system:ident;)*) => { $(
        updates!($operation $type $block BLOCK);
        updates!($operation $type $device DEVICE);
        updates!($operation $type $system SYSTEM);
    )* };
    ($operation:ident $type:ident $name:ident $scope:ident) => {
        #[doc = concat!("The operation `", stringify!($operation), "`: the value before.")]
        ///
        /// # Safety
        /// The pointer is valid for reads and writes, aligned, and accessed by other threads with atomic operations alone.
        #[inline_on_device]
        pub unsafe fn $name(ptr: *mut $type, ordering: Ordering, val: $type) -> $type {
            // SAFETY: the same contract; pointers that are cast point to a type of the same size and alignment.
            ordered::<$scope, _>(ordering, || unsafe { machine!($operation $type $scope ptr val) })
        }
    };
}
#[rustfmt::skip]
updates! {
    and u32: atomic_fetch_and_u32_block atomic_fetch_and_u32_device atomic_fetch_and_u32_system;
    and u64: atomic_fetch_and_u64_block atomic_fetch_and_u64_device atomic_fetch_and_u64_system;
    and i32: atomic_fetch_and_i32_block atomic_fetch_and_i32_device atomic_fetch_and_i32_system;
    and i64: atomic_fetch_and_i64_block atomic_fetch_and_i64_device atomic_fetch_and_i64_system;
    and f32: atomic_fetch_and_f32_block atomic_fetch_and_f32_device atomic_fetch_and_f32_system;
    and f64: atomic_fetch_and_f64_block atomic_fetch_and_f64_device atomic_fetch_and_f64_system;
    or u32: atomic_fetch_or_u32_block atomic_fetch_or_u32_device atomic_fetch_or_u32_system;
    or u64: atomic_fetch_or_u64_block atomic_fetch_or_u64_device atomic_fetch_or_u64_system;
    or i32: atomic_fetch_or_i32_block atomic_fetch_or_i32_device atomic_fetch_or_i32_system;
    or i64: atomic_fetch_or_i64_block atomic_fetch_or_i64_device atomic_fetch_or_i64_system;
    or f32: atomic_fetch_or_f32_block atomic_fetch_or_f32_device atomic_fetch_or_f32_system;
    or f64: atomic_fetch_or_f64_block atomic_fetch_or_f64_device atomic_fetch_or_f64_system;
    xor u32: atomic_fetch_xor_u32_block atomic_fetch_xor_u32_device atomic_fetch_xor_u32_system;
    xor u64: atomic_fetch_xor_u64_block atomic_fetch_xor_u64_device atomic_fetch_xor_u64_system;
    xor i32: atomic_fetch_xor_i32_block atomic_fetch_xor_i32_device atomic_fetch_xor_i32_system;
    xor i64: atomic_fetch_xor_i64_block atomic_fetch_xor_i64_device atomic_fetch_xor_i64_system;
    xor f32: atomic_fetch_xor_f32_block atomic_fetch_xor_f32_device atomic_fetch_xor_f32_system;
    xor f64: atomic_fetch_xor_f64_block atomic_fetch_xor_f64_device atomic_fetch_xor_f64_system;
    add u32: atomic_fetch_add_u32_block atomic_fetch_add_u32_device atomic_fetch_add_u32_system;
    add u64: atomic_fetch_add_u64_block atomic_fetch_add_u64_device atomic_fetch_add_u64_system;
    add i32: atomic_fetch_add_i32_block atomic_fetch_add_i32_device atomic_fetch_add_i32_system;
    add i64: atomic_fetch_add_i64_block atomic_fetch_add_i64_device atomic_fetch_add_i64_system;
    add f32: atomic_fetch_add_f32_block atomic_fetch_add_f32_device atomic_fetch_add_f32_system;
    add f64: atomic_fetch_add_f64_block atomic_fetch_add_f64_device atomic_fetch_add_f64_system;
    sub u32: atomic_fetch_sub_u32_block atomic_fetch_sub_u32_device atomic_fetch_sub_u32_system;
    sub u64: atomic_fetch_sub_u64_block atomic_fetch_sub_u64_device atomic_fetch_sub_u64_system;
    sub i32: atomic_fetch_sub_i32_block atomic_fetch_sub_i32_device atomic_fetch_sub_i32_system;
    sub i64: atomic_fetch_sub_i64_block atomic_fetch_sub_i64_device atomic_fetch_sub_i64_system;
    sub f32: atomic_fetch_sub_f32_block atomic_fetch_sub_f32_device atomic_fetch_sub_f32_system;
    sub f64: atomic_fetch_sub_f64_block atomic_fetch_sub_f64_device atomic_fetch_sub_f64_system;
    exch u32: atomic_fetch_exch_u32_block atomic_fetch_exch_u32_device atomic_fetch_exch_u32_system;
    exch u64: atomic_fetch_exch_u64_block atomic_fetch_exch_u64_device atomic_fetch_exch_u64_system;
    exch i32: atomic_fetch_exch_i32_block atomic_fetch_exch_i32_device atomic_fetch_exch_i32_system;
    exch i64: atomic_fetch_exch_i64_block atomic_fetch_exch_i64_device atomic_fetch_exch_i64_system;
    exch f32: atomic_fetch_exch_f32_block atomic_fetch_exch_f32_device atomic_fetch_exch_f32_system;
    exch f64: atomic_fetch_exch_f64_block atomic_fetch_exch_f64_device atomic_fetch_exch_f64_system;
    min u32: atomic_fetch_min_u32_block atomic_fetch_min_u32_device atomic_fetch_min_u32_system;
    min u64: atomic_fetch_min_u64_block atomic_fetch_min_u64_device atomic_fetch_min_u64_system;
    min i32: atomic_fetch_min_i32_block atomic_fetch_min_i32_device atomic_fetch_min_i32_system;
    min i64: atomic_fetch_min_i64_block atomic_fetch_min_i64_device atomic_fetch_min_i64_system;
    max u32: atomic_fetch_max_u32_block atomic_fetch_max_u32_device atomic_fetch_max_u32_system;
    max u64: atomic_fetch_max_u64_block atomic_fetch_max_u64_device atomic_fetch_max_u64_system;
    max i32: atomic_fetch_max_i32_block atomic_fetch_max_i32_device atomic_fetch_max_i32_system;
    max i64: atomic_fetch_max_i64_block atomic_fetch_max_i64_device atomic_fetch_max_i64_system;
}
