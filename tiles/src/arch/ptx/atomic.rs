//! Atomic access to global memory (PTX ISA, "Memory Consistency Model", "atom"): loads and stores of every order, and
//! relaxed reads-modifies-writes, which a fence orders.
//!
//! Scopes are 0 for the block, 1 for the device, 2 for the system.

use core::arch::asm;

macro_rules! atomic {
    ($($load:ident $store:ident $type:ty, $register:ty, $bits:literal, $class:ident;)*) => { $(
        /// `ld.{order}.{scope}.global`.
        ///
        /// `ORDER` is 0 for relaxed, 1 for acquire; `SCOPE` is 0 for the block, 1 for the device, 2 for the system.
        ///
        /// # Safety
        /// `address` is valid for the read and naturally aligned.
        #[inline(always)]
        pub unsafe fn $load<const ORDER: u8, const SCOPE: u8>(address: *const u8) -> $type {
            let value: $register;
            // SAFETY: the caller vouches for the address. Not `pure` nor `readonly`: it orders other accesses.
            unsafe {
                match (ORDER, SCOPE) {
                    (0, 0) => asm!(concat!("ld.relaxed.cta.global.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                    (0, 1) => asm!(concat!("ld.relaxed.gpu.global.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                    (0, 2) => asm!(concat!("ld.relaxed.sys.global.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                    (1, 0) => asm!(concat!("ld.acquire.cta.global.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                    (1, 1) => asm!(concat!("ld.acquire.gpu.global.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                    _ => asm!(concat!("ld.acquire.sys.global.b", $bits, " {0}, [{1}];"), out($class) value, in(reg64) address, options(nostack)),
                }
            }
            value as $type
        }

        /// `st.{order}.{scope}.global`.
        ///
        /// `ORDER` is 0 for relaxed, 1 for release; `SCOPE` as for loads.
        ///
        /// # Safety
        /// `address` is valid for the write and naturally aligned.
        #[inline(always)]
        pub unsafe fn $store<const ORDER: u8, const SCOPE: u8>(address: *mut u8, value: $type) {
            // SAFETY: the caller vouches for the address.
            unsafe {
                match (ORDER, SCOPE) {
                    (0, 0) => asm!(concat!("st.relaxed.cta.global.b", $bits, " [{1}], {0};"), in($class) value as $register, in(reg64) address, options(nostack)),
                    (0, 1) => asm!(concat!("st.relaxed.gpu.global.b", $bits, " [{1}], {0};"), in($class) value as $register, in(reg64) address, options(nostack)),
                    (0, 2) => asm!(concat!("st.relaxed.sys.global.b", $bits, " [{1}], {0};"), in($class) value as $register, in(reg64) address, options(nostack)),
                    (1, 0) => asm!(concat!("st.release.cta.global.b", $bits, " [{1}], {0};"), in($class) value as $register, in(reg64) address, options(nostack)),
                    (1, 1) => asm!(concat!("st.release.gpu.global.b", $bits, " [{1}], {0};"), in($class) value as $register, in(reg64) address, options(nostack)),
                    _ => asm!(concat!("st.release.sys.global.b", $bits, " [{1}], {0};"), in($class) value as $register, in(reg64) address, options(nostack)),
                }
            }
        }
    )* };
}
atomic! {
    load_1 store_1 u8, u16, "8", reg16;
    load_2 store_2 u16, u16, "16", reg16;
    load_4 store_4 u32, u32, "32", reg32;
    load_8 store_8 u64, u64, "64", reg64;
}

macro_rules! update {
    ($($name:ident $type:ty, $operation:literal, $class:ident;)*) => { $(
        #[doc = concat!("`atom.relaxed.{scope}.global.", $operation, "`: the value before; where nobody wants it, `red`, which gives 0.")]
        ///
        /// # Safety
        /// `address` is valid for reads and writes, naturally aligned, and accessed concurrently by atomic operations only.
        #[inline(always)]
        pub unsafe fn $name<const WANTED: bool>(address: *mut u8, value: $type, scope: u8) -> $type {
            let mut before: $type = 0;
            // SAFETY: the caller vouches for the address.
            unsafe {
                match (WANTED, scope) {
                    (false, 0) => asm!(concat!("red.relaxed.cta.global.", $operation, " [{0}], {1};"), in(reg64) address, in($class) value, options(nostack)),
                    (false, 1) => asm!(concat!("red.relaxed.gpu.global.", $operation, " [{0}], {1};"), in(reg64) address, in($class) value, options(nostack)),
                    (false, _) => asm!(concat!("red.relaxed.sys.global.", $operation, " [{0}], {1};"), in(reg64) address, in($class) value, options(nostack)),
                    (true, 0) => asm!(concat!("atom.relaxed.cta.global.", $operation, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                    (true, 1) => asm!(concat!("atom.relaxed.gpu.global.", $operation, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                    (true, _) => asm!(concat!("atom.relaxed.sys.global.", $operation, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                }
            }
            before
        }
    )* };
}
update! {
    add_4 u32, "add.u32", reg32;
    add_8 u64, "add.u64", reg64;
    add_f16 u16, "add.noftz.f16", reg16;
    add_bf16 u16, "add.noftz.bf16", reg16;
    add_f32 u32, "add.f32", reg32;
    add_f64 u64, "add.f64", reg64;
    min_i32 u32, "min.s32", reg32;
    min_i64 u64, "min.s64", reg64;
    min_u32 u32, "min.u32", reg32;
    min_u64 u64, "min.u64", reg64;
    max_i32 u32, "max.s32", reg32;
    max_i64 u64, "max.s64", reg64;
    max_u32 u32, "max.u32", reg32;
    max_u64 u64, "max.u64", reg64;
    and_4 u32, "and.b32", reg32;
    and_8 u64, "and.b64", reg64;
    or_4 u32, "or.b32", reg32;
    or_8 u64, "or.b64", reg64;
    xor_4 u32, "xor.b32", reg32;
    xor_8 u64, "xor.b64", reg64;
}

macro_rules! add_pair {
    ($($name:ident $type:literal;)*) => { $(
        #[doc = concat!("`red.relaxed.{scope}.global.add.noftz.", $type, "`: adds two neighbours, each atomically, the lower half to the first.")]
        ///
        /// # Safety
        /// `address` is aligned to 4 bytes, valid for reads and writes of both, and accessed concurrently by atomic operations only.
        #[inline(always)]
        pub unsafe fn $name(address: *mut u8, values: u32, scope: u8) {
            // SAFETY: the caller vouches for the address.
            unsafe {
                match scope {
                    0 => asm!(concat!("red.relaxed.cta.global.add.noftz.", $type, " [{0}], {1};"), in(reg64) address, in(reg32) values, options(nostack)),
                    1 => asm!(concat!("red.relaxed.gpu.global.add.noftz.", $type, " [{0}], {1};"), in(reg64) address, in(reg32) values, options(nostack)),
                    _ => asm!(concat!("red.relaxed.sys.global.add.noftz.", $type, " [{0}], {1};"), in(reg64) address, in(reg32) values, options(nostack)),
                }
            }
        }
    )* };
}
add_pair! {
    add_pair_f16 "f16x2";
    add_pair_bf16 "bf16x2";
}

/// Whether [`add_bf16`] and [`add_pair_bf16`] exist: from `sm_90` on (PTX ISA, "atom").
pub const ADDS_BF16: bool = cfg!(target_feature = "sm_90");

macro_rules! exchange {
    ($($name:ident $type:ty, $bits:literal, $class:ident;)*) => { $(
        #[doc = concat!("`atom.relaxed.{scope}.global.exch.b", $bits, "`: the value before.")]
        ///
        /// # Safety
        /// `address` is valid for reads and writes, naturally aligned, and accessed concurrently by atomic operations only.
        #[inline(always)]
        pub unsafe fn $name(address: *mut u8, value: $type, scope: u8) -> $type {
            let before: $type;
            // SAFETY: the caller vouches for the address.
            unsafe {
                match scope {
                    0 => asm!(concat!("atom.relaxed.cta.global.exch.b", $bits, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                    1 => asm!(concat!("atom.relaxed.gpu.global.exch.b", $bits, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                    _ => asm!(concat!("atom.relaxed.sys.global.exch.b", $bits, " {0}, [{1}], {2};"), out($class) before, in(reg64) address, in($class) value, options(nostack)),
                }
            }
            before
        }
    )* };
}
exchange! {
    exchange_4 u32, "32", reg32;
    exchange_8 u64, "64", reg64;
}

macro_rules! compare_exchange {
    ($($name:ident $type:ty, $bits:literal, $class:ident;)*) => { $(
        #[doc = concat!("`atom.relaxed.{scope}.global.cas.b", $bits, "`: stores `desired` where it finds `expected`; the value before.")]
        ///
        /// # Safety
        /// `address` is valid for reads and writes, naturally aligned, and accessed concurrently by atomic operations only.
        #[inline(always)]
        pub unsafe fn $name(address: *mut u8, expected: $type, desired: $type, scope: u8) -> $type {
            let before: $type;
            // SAFETY: the caller vouches for the address.
            unsafe {
                match scope {
                    0 => asm!(concat!("atom.relaxed.cta.global.cas.b", $bits, " {0}, [{1}], {2}, {3};"), out($class) before, in(reg64) address, in($class) expected, in($class) desired, options(nostack)),
                    1 => asm!(concat!("atom.relaxed.gpu.global.cas.b", $bits, " {0}, [{1}], {2}, {3};"), out($class) before, in(reg64) address, in($class) expected, in($class) desired, options(nostack)),
                    _ => asm!(concat!("atom.relaxed.sys.global.cas.b", $bits, " {0}, [{1}], {2}, {3};"), out($class) before, in(reg64) address, in($class) expected, in($class) desired, options(nostack)),
                }
            }
            before
        }
    )* };
}
compare_exchange! {
    compare_exchange_2 u16, "16", reg16;
    compare_exchange_4 u32, "32", reg32;
    compare_exchange_8 u64, "64", reg64;
}

/// `fence.acq_rel.{scope}`: makes relaxed atomic writes after it release, and relaxed atomic reads before it acquire
/// (PTX ISA, "Release and Acquire Patterns").
#[inline(always)]
pub fn fence(scope: u8) {
    // SAFETY: a fence has no precondition.
    unsafe {
        match scope {
            0 => asm!("fence.acq_rel.cta;", options(nostack)),
            1 => asm!("fence.acq_rel.gpu;", options(nostack)),
            _ => asm!("fence.acq_rel.sys;", options(nostack)),
        }
    }
}
