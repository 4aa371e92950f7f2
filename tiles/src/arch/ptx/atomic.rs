//! Atomic loads and stores of global memory, for every order and scope (PTX ISA, "Memory Consistency Model").

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
