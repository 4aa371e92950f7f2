//! The spaces of memory, and pointers into them (PTX ISA, "State Spaces", "isspacep", "cvta").

use core::arch::asm;

macro_rules! spaces {
    ($($space:literal $is_in:ident $to_space:ident $to_generic:ident;)*) => { $(
        #[doc = concat!("`isspacep.", $space, "`: whether a generic address lies in the space.")]
        #[inline(always)]
        pub fn $is_in(address: *const u8) -> bool {
            let is_in: u32;
            // SAFETY: the instruction looks at the address alone.
            unsafe {
                asm!(
                    concat!("{{ .reg .pred is_in; isspacep.", $space, " is_in, {1}; selp.u32 {0}, 1, 0, is_in; }}"),
                    out(reg32) is_in, in(reg64) address.addr(), options(pure, nomem, nostack)
                )
            }
            is_in != 0
        }

        #[doc = concat!("`cvta.to.", $space, "`: the address in the space's window.")]
        #[inline(always)]
        pub fn $to_space(address: *const u8) -> *const u8 {
            let converted;
            // SAFETY: the instruction computes with the address alone.
            unsafe {
                asm!(concat!("cvta.to.", $space, ".u64 {0}, {1};"), out(reg64) converted, in(reg64) address.addr(), options(pure, nomem, nostack))
            }
            converted
        }

        #[doc = concat!("`cvta.", $space, "`: the generic address.")]
        #[inline(always)]
        pub fn $to_generic(address: *const u8) -> *const u8 {
            let converted;
            // SAFETY: as above.
            unsafe {
                asm!(concat!("cvta.", $space, ".u64 {0}, {1};"), out(reg64) converted, in(reg64) address.addr(), options(pure, nomem, nostack))
            }
            converted
        }
    )* };
}
spaces! {
    "global" is_global to_global from_global;
    "shared" is_shared to_shared from_shared;
    "const" is_constant to_constant from_constant;
    "local" is_local to_local from_local;
}

/// The generic address of the shared memory that the launch has asked for.
#[inline(always)]
pub fn dynamic_shared() -> *mut u8 {
    let address;
    // SAFETY: `mov` of a variable's name yields its address (PTX ISA, "mov"), `cvta` the generic one; the comment has the builder
    // declare it.
    unsafe {
        asm!(
            "mov.u64 {0}, cuda_std_dynamic; cvta.shared.u64 {0}, {0}; //@cuda-tiles declares .extern .shared .align 16 .b8 cuda_std_dynamic[]",
            out(reg64) address,
            options(pure, nomem, nostack)
        );
    }
    address
}
