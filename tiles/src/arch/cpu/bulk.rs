//! The CPU has no TMA. None of these functions is ever called.

use super::threads::Address;

macro_rules! never {
    ($($name:ident ($($type:ty),*);)*) => { $(
        /// For GPUs.
        ///
        /// # Safety
        /// Never called.
        pub unsafe fn $name($(_: $type),*) {
            unreachable!("the CPU has no TMA")
        }
    )* };
}
never! {
    prefetch_map(*const u8);
    load(Address, *const u8, Address, [u32; 3]);
    load_multicast(Address, *const u8, Address, [u32; 3], u16);
    store(*const u8, Address, [u32; 3]);
}

/// For GPUs.
pub fn commit_stores() {}

/// For GPUs.
pub fn wait_for_reads<const PENDING: usize>() {}
