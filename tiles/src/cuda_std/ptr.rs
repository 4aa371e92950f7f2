//! Spaces of memory, and pointers into them.
//!
//! The CPU has one space, and calls it global: there conversions give the pointer as it is.

use crate::arch::spaces;

/// A space of a GPU's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressSpace {
    /// Memory of the device.
    Global,
    /// Memory of a block.
    Shared,
    /// Memory of the device that kernels only read.
    Constant,
    /// Memory of a thread.
    Local,
}

macro_rules! of_space {
    ($space:ident, $pointer:ident, $global:ident $shared:ident $constant:ident $local:ident) => {
        match $space {
            AddressSpace::Global => spaces::$global($pointer.cast()),
            AddressSpace::Shared => spaces::$shared($pointer.cast()),
            AddressSpace::Constant => spaces::$constant($pointer.cast()),
            AddressSpace::Local => spaces::$local($pointer.cast()),
        }
    };
}

/// Whether a generic pointer, as all of Rust's are, points into a space.
///
/// ```
/// use cuda_tiles::cuda_std::ptr::{AddressSpace, is_in_address_space};
/// // SAFETY: the pointer is that of a number.
/// assert!(unsafe { is_in_address_space(&1, AddressSpace::Global) });
/// ```
///
/// # Safety
///
/// None is needed here; `cuda_std` demands a pointer that is valid.
///
/// # On a GPU
///
/// `isspacep` (PTX ISA, "Data Movement and Conversion Instructions: isspacep").
#[inline_on_device]
pub unsafe fn is_in_address_space<T>(ptr: *const T, address_space: AddressSpace) -> bool {
    of_space!(address_space, ptr, is_global is_shared is_constant is_local)
}

/// The address in a space's own window, for inline assembly, of a generic pointer.
///
/// # Safety
///
/// The pointer is valid, and points into the space. The result is not for Rust's own accesses.
///
/// # On a GPU
///
/// `cvta.to` (PTX ISA, "Data Movement and Conversion Instructions: cvta").
#[inline_on_device]
pub unsafe fn convert_generic_to_specific_address_space<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    of_space!(address_space, ptr, to_global to_shared to_constant to_local).cast()
}

/// The generic pointer of an address in a space's own window.
///
/// # Safety
///
/// The address is valid in the space.
///
/// # On a GPU
///
/// `cvta` (PTX ISA, "Data Movement and Conversion Instructions: cvta").
#[inline_on_device]
pub unsafe fn convert_specific_address_space_to_generic<T>(
    ptr: *const T,
    address_space: AddressSpace,
) -> *const T {
    of_space!(address_space, ptr, from_global from_shared from_constant from_local).cast()
}
