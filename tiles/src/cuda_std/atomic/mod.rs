//! Atomic floats, and [functions](mid) for each operation, type and scope.
//!
//! Integers need nothing of this module: `core::sync::atomic` works on a GPU too, with the scope of the whole system. (With `cuda_std` it did
//! not.)

pub mod mid;

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

/// Who sees that an operation is one.
mod scope {
    pub(super) const BLOCK: u8 = 0;
    pub(super) const DEVICE: u8 = 1;
    pub(super) const SYSTEM: u8 = 2;
}

macro_rules! floats {
    ($($(#[$attribute:meta])* $name:ident($float:ident, $bits:ident, $bytes:literal) $($unsafety:ident)?:
        $add:ident $sub:ident $and:ident $or:ident $xor:ident $load:ident $store:ident;)*) => { $(
        $(#[$attribute])*
        ///
        #[doc = concat!("It lies in memory as an `", stringify!($float), "` does.")]
        #[repr(C, align($bytes))]
        pub struct $name {
            value: UnsafeCell<$float>,
        }

        // SAFETY: threads access it by atomic operations alone.
        unsafe impl Sync for $name {}

        impl $name {
            /// This number.
            pub const fn new(v: $float) -> Self {
                Self { value: UnsafeCell::new(v) }
            }

            /// The number, of one that no other thread has.
            pub fn into_inner(self) -> $float {
                self.value.into_inner()
            }

            floats! { $name $float $($unsafety)?:
                /// Adds: the value before.
                fetch_add = $add;
                /// Subtracts, by adding the negated number: the value before.
                fetch_sub = $sub;
                /// The bits that both have: the value before.
                fetch_and = $and;
                /// The bits that any has: the value before.
                fetch_or = $or;
                /// The bits that one has: the value before.
                fetch_xor = $xor;
            }

            floats! { @access $float $bits $load $store $($unsafety)? }
        }
    )* };
    ($name:ident $float:ident: $($(#[$attribute:meta])* $method:ident = $function:ident;)*) => { $(
        $(#[$attribute])*
        #[inline_on_device]
        pub fn $method(&self, val: $float, order: Ordering) -> $float {
            // SAFETY: the number is valid, aligned, and accessed by atomic operations alone.
            unsafe { mid::$function(self.value.get(), order, val) }
        }
    )* };
    ($name:ident $float:ident unsafe: $($(#[$attribute:meta])* $method:ident = $function:ident;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        ///
        /// Threads of other blocks do not access it meanwhile.
        #[inline_on_device]
        pub unsafe fn $method(&self, val: $float, order: Ordering) -> $float {
            // SAFETY: the number is valid and aligned; the caller vouches for the other accesses.
            unsafe { mid::$function(self.value.get(), order, val) }
        }
    )* };
    (@access $float:ident $bits:ident $load:ident $store:ident) => {
        /// The number.
        ///
        /// # Panics
        ///
        /// If the order is a release.
        #[inline_on_device]
        pub fn load(&self, order: Ordering) -> $float {
            // SAFETY: the number is valid, aligned, and accessed by atomic operations alone; its bits have its size.
            $float::from_bits(unsafe { mid::$load(self.value.get().cast::<$bits>(), order) })
        }

        /// Replaces the number.
        ///
        /// # Panics
        ///
        /// If the order is an acquire.
        #[inline_on_device]
        pub fn store(&self, val: $float, order: Ordering) {
            // SAFETY: as for the load.
            unsafe { mid::$store(self.value.get().cast::<$bits>(), order, val.to_bits()) }
        }
    };
    (@access $float:ident $bits:ident $load:ident $store:ident unsafe) => {
        /// The number.
        ///
        /// # Panics
        ///
        /// If the order is a release.
        ///
        /// # Safety
        ///
        /// Threads of other blocks do not change it meanwhile.
        #[inline_on_device]
        pub unsafe fn load(&self, order: Ordering) -> $float {
            // SAFETY: the number is valid and aligned, and its bits have its size; the caller vouches for the other accesses.
            $float::from_bits(unsafe { mid::$load(self.value.get().cast::<$bits>(), order) })
        }

        /// Replaces the number.
        ///
        /// # Panics
        ///
        /// If the order is an acquire.
        ///
        /// # Safety
        ///
        /// Threads of other blocks do not access it meanwhile.
        #[inline_on_device]
        pub unsafe fn store(&self, val: $float, order: Ordering) {
            // SAFETY: as for the load.
            unsafe { mid::$store(self.value.get().cast::<$bits>(), order, val.to_bits()) }
        }
    };
}
floats! {
    /// An `f32` that all threads of the device may change.
    ///
    /// ```
    /// use core::sync::atomic::Ordering;
    /// use cuda_tiles::cuda_std::{atomic::AtomicF32, cpu, thread};
    ///
    /// let sum = AtomicF32::new(0.0);
    /// // SAFETY: the number is atomic.
    /// unsafe { cpu::launch(2, 10, 0, || _ = sum.fetch_add(thread::index_1d() as f32, Ordering::Relaxed)) };
    /// assert_eq!(sum.into_inner(), 190.0);
    /// ```
    AtomicF32(f32, u32, 4):
        atomic_fetch_add_f32_device atomic_fetch_sub_f32_device atomic_fetch_and_f32_device atomic_fetch_or_f32_device
        atomic_fetch_xor_f32_device atomic_load_32_device atomic_store_32_device;
    /// An `f64` that all threads of the device may change.
    AtomicF64(f64, u64, 8):
        atomic_fetch_add_f64_device atomic_fetch_sub_f64_device atomic_fetch_and_f64_device atomic_fetch_or_f64_device
        atomic_fetch_xor_f64_device atomic_load_64_device atomic_store_64_device;
    /// An `f32` that the threads of one block may change.
    BlockAtomicF32(f32, u32, 4) unsafe:
        atomic_fetch_add_f32_block atomic_fetch_sub_f32_block atomic_fetch_and_f32_block atomic_fetch_or_f32_block
        atomic_fetch_xor_f32_block atomic_load_32_block atomic_store_32_block;
    /// An `f64` that the threads of one block may change.
    BlockAtomicF64(f64, u64, 8) unsafe:
        atomic_fetch_add_f64_block atomic_fetch_sub_f64_block atomic_fetch_and_f64_block atomic_fetch_or_f64_block
        atomic_fetch_xor_f64_block atomic_load_64_block atomic_store_64_block;
    /// An `f32` that the whole system may change.
    SystemAtomicF32(f32, u32, 4):
        atomic_fetch_add_f32_system atomic_fetch_sub_f32_system atomic_fetch_and_f32_system atomic_fetch_or_f32_system
        atomic_fetch_xor_f32_system atomic_load_32_system atomic_store_32_system;
    /// An `f64` that the whole system may change.
    SystemAtomicF64(f64, u64, 8):
        atomic_fetch_add_f64_system atomic_fetch_sub_f64_system atomic_fetch_and_f64_system atomic_fetch_or_f64_system
        atomic_fetch_xor_f64_system atomic_load_64_system atomic_store_64_system;
}
