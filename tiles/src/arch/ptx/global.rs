//! Global memory: plain loads and stores of 1 to 16 bytes (PTX ISA, "ld", "ld.global.nc", "st").
//!
//! A load whose predicate is false leaves the given value in place, without a branch.
//!
//! Pointers are generic addresses; one of global memory is also its address in the global window (PTX ISA, "Generic
//! Addressing": a generic address maps to global memory unless it falls within another window).

use core::arch::asm;

macro_rules! scalar {
    ($load:ident, $load_constant:ident, $load_if:ident, $load_constant_if:ident, $store:ident, $store_if:ident, $type:ty, $register:ty, $suffix:literal, $class:ident) => {
        #[doc = concat!("`ld.global.", $suffix, "`.")]
        ///
        /// # Safety
        /// `address` is valid for the read and naturally aligned.
        #[inline(always)]
        pub unsafe fn $load(address: *const u8) -> $type {
            let value: $register;
            // SAFETY: the caller vouches for the address. Not `pure`: the block's own stores change it.
            unsafe { asm!(concat!("ld.global.", $suffix, " {0}, [{1}];"), out($class) value, in(reg64) address, options(readonly, nostack)) }
            value as $type
        }

        #[doc = concat!("`ld.global.nc.", $suffix, "`: through the read-only cache.")]
        ///
        /// # Safety
        /// As above, and nothing writes this memory while the kernel runs.
        #[inline(always)]
        pub unsafe fn $load_constant(address: *const u8) -> $type {
            let value: $register;
            // SAFETY: the caller vouches for the address and its constancy, which makes the read `pure`.
            unsafe { asm!(concat!("ld.global.nc.", $suffix, " {0}, [{1}];"), out($class) value, in(reg64) address, options(pure, readonly, nostack)) }
            value as $type
        }

        #[doc = concat!("`@condition ld.global.", $suffix, "`.")]
        ///
        /// # Safety
        /// Where `condition` holds: as for the unconditional load.
        #[inline(always)]
        pub unsafe fn $load_if(condition: bool, address: *const u8, otherwise: $type) -> $type {
            let mut value = otherwise as $register;
            // SAFETY: a predicated-off instruction has no effect; else the caller vouches for the address.
            unsafe {
                asm!("{{ .reg .pred enabled; setp.ne.u32 enabled, {2}, 0;", concat!("@enabled ld.global.", $suffix, " {0}, [{1}]; }}"),
                    inout($class) value, in(reg64) address, in(reg32) u32::from(condition), options(readonly, nostack))
            }
            value as $type
        }

        #[doc = concat!("`@condition ld.global.nc.", $suffix, "`.")]
        ///
        /// # Safety
        /// Where `condition` holds: as for the unconditional load.
        #[inline(always)]
        pub unsafe fn $load_constant_if(condition: bool, address: *const u8, otherwise: $type) -> $type {
            let mut value = otherwise as $register;
            // SAFETY: as above, and the memory is constant.
            unsafe {
                asm!("{{ .reg .pred enabled; setp.ne.u32 enabled, {2}, 0;", concat!("@enabled ld.global.nc.", $suffix, " {0}, [{1}]; }}"),
                    inout($class) value, in(reg64) address, in(reg32) u32::from(condition), options(pure, readonly, nostack))
            }
            value as $type
        }

        #[doc = concat!("`@condition st.global.", $suffix, "`.")]
        ///
        /// # Safety
        /// Where `condition` holds, `address` is valid for the write, naturally aligned and not accessed
        /// concurrently.
        #[inline(always)]
        pub unsafe fn $store_if(condition: bool, address: *mut u8, value: $type) {
            // SAFETY: a predicated-off instruction has no effect; else the caller vouches for the address.
            unsafe {
                asm!("{{ .reg .pred enabled; setp.ne.u32 enabled, {2}, 0;", concat!("@enabled st.global.", $suffix, " [{1}], {0}; }}"),
                    in($class) value as $register, in(reg64) address, in(reg32) u32::from(condition), options(nostack))
            }
        }

        #[doc = concat!("`st.global.", $suffix, "`.")]
        ///
        /// # Safety
        /// `address` is valid for the write, naturally aligned and not accessed concurrently.
        #[inline(always)]
        pub unsafe fn $store(address: *mut u8, value: $type) {
            // SAFETY: the caller vouches for the address.
            unsafe { asm!(concat!("st.global.", $suffix, " [{1}], {0};"), in($class) value as $register, in(reg64) address, options(nostack)) }
        }
    };
}
scalar!(load_1, load_constant_1, load_1_if, load_constant_1_if, store_1, store_1_if, u8, u16, "b8", reg16);
scalar!(load_2, load_constant_2, load_2_if, load_constant_2_if, store_2, store_2_if, u16, u16, "b16", reg16);
scalar!(load_4, load_constant_4, load_4_if, load_constant_4_if, store_4, store_4_if, u32, u32, "b32", reg32);

macro_rules! vector {
    ($load:ident, $load_constant:ident, $load_if:ident, $load_constant_if:ident, $store:ident, $store_if:ident, $count:literal, $operands:literal, $($word:ident $index:literal)*) => {
        #[doc = concat!("`ld.global.v", $count, ".b32`.")]
        ///
        /// # Safety
        /// `address` is valid for the read and aligned to its size.
        #[inline(always)]
        pub unsafe fn $load(address: *const u8) -> [u32; $count] {
            $(let $word: u32;)*
            // SAFETY: the caller vouches for the address. Not `pure`: the block's own stores change it.
            unsafe { asm!(concat!("ld.global.v", $count, ".b32 ", $operands, ", [{address}];"), $($word = out(reg32) $word,)* address = in(reg64) address, options(readonly, nostack)) }
            [$($word),*]
        }

        #[doc = concat!("`ld.global.nc.v", $count, ".b32`.")]
        ///
        /// # Safety
        /// As above, and nothing writes this memory while the kernel runs.
        #[inline(always)]
        pub unsafe fn $load_constant(address: *const u8) -> [u32; $count] {
            $(let $word: u32;)*
            // SAFETY: the caller vouches for the address and its constancy.
            unsafe { asm!(concat!("ld.global.nc.v", $count, ".b32 ", $operands, ", [{address}];"), $($word = out(reg32) $word,)* address = in(reg64) address, options(pure, readonly, nostack)) }
            [$($word),*]
        }

        #[doc = concat!("`@condition ld.global.v", $count, ".b32`.")]
        ///
        /// # Safety
        /// Where `condition` holds: as for the unconditional load.
        #[inline(always)]
        pub unsafe fn $load_if(condition: bool, address: *const u8, otherwise: [u32; $count]) -> [u32; $count] {
            let [$(mut $word),*] = otherwise;
            // SAFETY: a predicated-off instruction has no effect; else the caller vouches for the address.
            unsafe {
                asm!("{{ .reg .pred enabled; setp.ne.u32 enabled, {condition}, 0;", concat!("@enabled ld.global.v", $count, ".b32 ", $operands, ", [{address}]; }}"),
                    $($word = inout(reg32) $word,)* address = in(reg64) address, condition = in(reg32) u32::from(condition), options(readonly, nostack))
            }
            [$($word),*]
        }

        #[doc = concat!("`@condition ld.global.nc.v", $count, ".b32`.")]
        ///
        /// # Safety
        /// Where `condition` holds: as for the unconditional load.
        #[inline(always)]
        pub unsafe fn $load_constant_if(condition: bool, address: *const u8, otherwise: [u32; $count]) -> [u32; $count] {
            let [$(mut $word),*] = otherwise;
            // SAFETY: as above, and the memory is constant.
            unsafe {
                asm!("{{ .reg .pred enabled; setp.ne.u32 enabled, {condition}, 0;", concat!("@enabled ld.global.nc.v", $count, ".b32 ", $operands, ", [{address}]; }}"),
                    $($word = inout(reg32) $word,)* address = in(reg64) address, condition = in(reg32) u32::from(condition), options(pure, readonly, nostack))
            }
            [$($word),*]
        }

        #[doc = concat!("`@condition st.global.v", $count, ".b32`.")]
        ///
        /// # Safety
        /// Where `condition` holds, `address` is valid for the write, aligned to its size and not accessed
        /// concurrently.
        #[inline(always)]
        pub unsafe fn $store_if(condition: bool, address: *mut u8, value: [u32; $count]) {
            // SAFETY: a predicated-off instruction has no effect; else the caller vouches for the address.
            unsafe {
                asm!("{{ .reg .pred enabled; setp.ne.u32 enabled, {condition}, 0;", concat!("@enabled st.global.v", $count, ".b32 [{address}], ", $operands, "; }}"),
                    $($word = in(reg32) value[$index],)* address = in(reg64) address, condition = in(reg32) u32::from(condition), options(nostack))
            }
        }

        #[doc = concat!("`st.global.v", $count, ".b32`.")]
        ///
        /// # Safety
        /// `address` is valid for the write, aligned to its size and not accessed concurrently.
        #[inline(always)]
        pub unsafe fn $store(address: *mut u8, value: [u32; $count]) {
            // SAFETY: the caller vouches for the address.
            unsafe { asm!(concat!("st.global.v", $count, ".b32 [{address}], ", $operands, ";"), $($word = in(reg32) value[$index],)* address = in(reg64) address, options(nostack)) }
        }
    };
}
vector!(load_8, load_constant_8, load_8_if, load_constant_8_if, store_8, store_8_if, 2, "{{{w0}, {w1}}}", w0 0 w1 1);
vector!(load_16, load_constant_16, load_16_if, load_constant_16_if, store_16, store_16_if, 4, "{{{w0}, {w1}, {w2}, {w3}}}", w0 0 w1 1 w2 2 w3 3);
