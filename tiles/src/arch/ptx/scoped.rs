//! Relaxed atomic access to memory of any space (PTX ISA, "atom", "ld", "st", "membar, fence"), which fences order.
//!
//! `atomic` is for global memory. Scopes are 0 for the block, 1 for the device, 2 for the system.

use core::arch::asm;

macro_rules! accesses {
    ($($load:ident $store:ident $type:ty, $bits:literal, $class:ident;)*) => { $(
        #[doc = concat!("`ld.relaxed.{scope}.b", $bits, "`.")]
        ///
        /// # Safety
        /// `address` is valid for reads, naturally aligned, and written concurrently by atomic operations only.
        #[inline(always)]
        pub unsafe fn $load<const SCOPE: u8>(address: *const $type) -> $type {
            let value;
            // SAFETY: the caller vouches for the address.
            unsafe {
                match SCOPE {
                    0 => asm!(concat!("ld.relaxed.cta.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                    1 => asm!(concat!("ld.relaxed.gpu.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                    _ => asm!(concat!("ld.relaxed.sys.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                }
            }
            value
        }

        #[doc = concat!("`st.relaxed.{scope}.b", $bits, "`.")]
        ///
        /// # Safety
        /// `address` is valid for writes, naturally aligned, and accessed concurrently by atomic operations only.
        #[inline(always)]
        pub unsafe fn $store<const SCOPE: u8>(address: *mut $type, value: $type) {
            // SAFETY: the caller vouches for the address.
            unsafe {
                match SCOPE {
                    0 => asm!(concat!("st.relaxed.cta.b", $bits, " [{0}], {1};"), in(reg64) address, in($class) value, options(nostack)),
                    1 => asm!(concat!("st.relaxed.gpu.b", $bits, " [{0}], {1};"), in(reg64) address, in($class) value, options(nostack)),
                    _ => asm!(concat!("st.relaxed.sys.b", $bits, " [{0}], {1};"), in(reg64) address, in($class) value, options(nostack)),
                }
            }
        }
    )* };
}
accesses! {
    load_u32 store_u32 u32, "32", reg32;
    load_u64 store_u64 u64, "64", reg64;
}

macro_rules! updates {
    ($($name:ident $type:ty, $operation:literal $class:ident;)*) => { $(
        #[doc = concat!("`atom.relaxed.{scope}.", $operation, "`: the value before.")]
        ///
        /// # Safety
        /// `address` is valid for reads and writes, naturally aligned, and accessed concurrently by atomic operations only.
        #[inline(always)]
        pub unsafe fn $name<const SCOPE: u8>(address: *mut $type, value: $type) -> $type {
            let before;
            // SAFETY: the caller vouches for the address.
            unsafe {
                match SCOPE {
                    0 => asm!(concat!("atom.relaxed.cta.", $operation, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                    1 => asm!(concat!("atom.relaxed.gpu.", $operation, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                    _ => asm!(concat!("atom.relaxed.sys.", $operation, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                }
            }
            before
        }
    )* };
}
updates! {
    add_u32 u32, "add.u32" reg32;
    add_u64 u64, "add.u64" reg64;
    add_f32 f32, "add.f32" reg32;
    add_f64 f64, "add.f64" reg64;
    and_u32 u32, "and.b32" reg32;
    and_u64 u64, "and.b64" reg64;
    or_u32 u32, "or.b32" reg32;
    or_u64 u64, "or.b64" reg64;
    xor_u32 u32, "xor.b32" reg32;
    xor_u64 u64, "xor.b64" reg64;
    exchange_u32 u32, "exch.b32" reg32;
    exchange_u64 u64, "exch.b64" reg64;
    min_u32 u32, "min.u32" reg32;
    min_u64 u64, "min.u64" reg64;
    min_i32 i32, "min.s32" reg32;
    min_i64 i64, "min.s64" reg64;
    max_u32 u32, "max.u32" reg32;
    max_u64 u64, "max.u64" reg64;
    max_i32 i32, "max.s32" reg32;
    max_i64 i64, "max.s64" reg64;
}

macro_rules! fences {
    ($($name:ident $semantics:literal;)*) => { $(
        #[doc = concat!("`fence.", $semantics, ".{scope}`.")]
        #[inline(always)]
        pub fn $name<const SCOPE: u8>() {
            // SAFETY: a fence has no precondition.
            unsafe {
                match SCOPE {
                    0 => asm!(concat!("fence.", $semantics, ".cta;"), options(nostack)),
                    1 => asm!(concat!("fence.", $semantics, ".gpu;"), options(nostack)),
                    _ => asm!(concat!("fence.", $semantics, ".sys;"), options(nostack)),
                }
            }
        }
    )* };
}
fences! {
    fence_acquire_release "acq_rel";
    fence_sequential "sc";
}
