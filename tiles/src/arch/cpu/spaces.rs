//! The spaces of memory, of which the CPU has one.

use super::team;

macro_rules! spaces {
    ($($is_in:ident $to_space:ident $to_generic:ident $answer:literal;)*) => { $(
        /// Whether the address lies in the space: all memory is global.
        #[inline]
        pub fn $is_in(_address: *const u8) -> bool {
            $answer
        }

        /// The address.
        #[inline]
        pub fn $to_space(address: *const u8) -> *const u8 {
            address
        }

        /// The address.
        #[inline]
        pub fn $to_generic(address: *const u8) -> *const u8 {
            address
        }
    )* };
}
spaces! {
    is_global to_global from_global true;
    is_shared to_shared from_shared false;
    is_constant to_constant from_constant false;
    is_local to_local from_local false;
}

/// The address of the shared memory that the launch has asked for.
#[track_caller]
pub fn dynamic_shared() -> *mut u8 {
    team::dynamic_memory()
}
