//! Shared memory, by 32-bit addresses in the shared window (PTX ISA, "Shared State Space").

use core::arch::asm;

/// Which of the sizes of shared memory the target has: see `stream::shared::CLASSES`. A target has the features of those
/// before it. The launch knows the same by the target's name (`Image::shared_class` of cuda-tiles-host).
pub const BUDGET_CLASS: usize = if cfg!(any(
    target_feature = "sm_90a",
    target_feature = "sm_100a",
    all(target_feature = "sm_100", not(target_feature = "sm_101"), not(target_feature = "sm_120")),
)) {
    2
} else if cfg!(any(
    all(target_feature = "sm_80", not(target_feature = "sm_86")),
    all(target_feature = "sm_87", not(target_feature = "sm_89")),
)) {
    1
} else {
    0
};

/// The shared-window address of the memory that the launch has asked for, aligned to 1024 bytes (CUDA C++ Programming Guide,
/// "`__shared__`": the launch determines the size of an external array).
#[inline(always)]
pub fn dynamic() -> u32 {
    let address: u32;
    // SAFETY: `mov` of a variable's name yields its address; the comment has the builder declare it.
    unsafe {
        asm!(
            "mov.u32 {0}, cuda_tiles_dynamic; //@cuda-tiles declares .extern .shared .align 1024 .b8 cuda_tiles_dynamic[]",
            out(reg32) address,
            options(pure, nomem, nostack)
        );
    }
    address
}

/// The most bytes that [`scratch`] offers.
pub const SCRATCH_BYTES: usize = 16384;

/// The address of a scratch, which the comment has the builder declare.
macro_rules! scratch {
    ($name:ident, $alignment:literal, $bytes:literal) => {{
        let address: u32;
        // SAFETY: `mov` of a variable's name yields its address in its state space (PTX ISA, "mov").
        unsafe {
            asm!(
                concat!(
                    "mov.u32 {0}, ", stringify!($name), "; //@cuda-tiles declares .shared .align ", $alignment, " .b8 ",
                    stringify!($name), "[", $bytes, "]"
                ),
                out(reg32) address,
                options(pure, nomem, nostack)
            );
        }
        address
    }};
}

/// The shared-window address of at least `BYTES` bytes, the same at every call with the same size class. It is aligned to 16
/// bytes; for more than 1024 bytes, to 1024.
#[inline(always)]
pub fn scratch<const BYTES: usize>() -> u32 {
    // Each of the three is allocated only to the kernels that use it: a small one costs no occupancy. Those that hold operands of
    // warpgroups are aligned to the widest swizzle.
    if BYTES <= 1024 {
        scratch!(cuda_tiles_scratch_small, 16, 1024)
    } else if BYTES <= 4096 {
        scratch!(cuda_tiles_scratch_medium, 1024, 4096)
    } else {
        scratch!(cuda_tiles_scratch_large, 1024, 16384)
    }
}

/// [`scratch`] for a size that the compiler knows, though not as a parameter.
#[inline(always)]
pub fn scratch_of(bytes: usize) -> u32 {
    match bytes {
        ..=1024 => scratch::<1024>(),
        1025..=4096 => scratch::<4096>(),
        _ => scratch::<SCRATCH_BYTES>(),
    }
}

macro_rules! access {
    ($store:ident, $load:ident, $type:ty, $bits:literal, $class:ident) => {
        #[doc = concat!("`st.shared.b", $bits, "`.")]
        ///
        /// # Safety
        /// `address` lies in shared memory of this block, naturally aligned, with no concurrent access.
        #[inline(always)]
        pub unsafe fn $store(address: u32, value: $type) {
            // SAFETY: the caller vouches for the address.
            unsafe {
                asm!(concat!("st.shared.b", $bits, " [{0}], {1};"), in(reg32) address, in($class) value, options(nostack))
            }
        }

        #[doc = concat!("`ld.shared.b", $bits, "`.")]
        ///
        /// # Safety
        /// `address` lies in shared memory of this block, naturally aligned, with no concurrent store.
        #[inline(always)]
        pub unsafe fn $load(address: u32) -> $type {
            let value;
            // SAFETY: the caller vouches for the address. Not `pure`: the contents change between barriers.
            unsafe {
                asm!(concat!("ld.shared.b", $bits, " {0}, [{1}];"), out($class) value, in(reg32) address, options(readonly, nostack))
            }
            value
        }
    };
}
access!(store_u16, load_u16, u16, "16", reg16);
access!(store_u32, load_u32, u32, "32", reg32);
access!(store_u64, load_u64, u64, "64", reg64);

/// `st.shared.b8`.
///
/// # Safety
/// As for [`store_u16`].
#[inline(always)]
pub unsafe fn store_u8(address: u32, value: u8) {
    // SAFETY: the caller vouches for the address; `b8` stores the low byte of a wider register (PTX ISA,
    // "Operand Size Exceeding Instruction-Type Size").
    unsafe {
        asm!("st.shared.b8 [{0}], {1};", in(reg32) address, in(reg16) u16::from(value), options(nostack))
    }
}

/// `ld.shared.b8`.
///
/// # Safety
/// As for [`load_u16`].
#[inline(always)]
pub unsafe fn load_u8(address: u32) -> u8 {
    let value: u16;
    // SAFETY: the caller vouches for the address; `b8` loads zero-extend into a wider register.
    unsafe {
        asm!("ld.shared.b8 {0}, [{1}];", out(reg16) value, in(reg32) address, options(readonly, nostack))
    }
    value as u8
}

/// `red.shared.add.u32`: adds to a number in shared memory (PTX ISA, "red").
///
/// # Safety
/// `address` lies in shared memory of this block, aligned to 4 bytes, with no concurrent access but by this function.
#[inline(always)]
pub unsafe fn add_u32(address: u32, value: u32) {
    // SAFETY: the caller vouches for the address.
    unsafe { asm!("red.shared.add.u32 [{0}], {1};", in(reg32) address, in(reg32) value, options(nostack)) }
}
