//! The CPU has no clusters: a block has its producer for itself. None of these functions is ever called.

use super::threads::Address;

macro_rules! never {
    ($($name:ident ($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => { $(
        /// For GPUs.
        ///
        /// # Safety
        /// Never called.
        pub unsafe fn $name($(_: $type),*) $(-> $result)? {
            unreachable!("the CPU has no clusters")
        }
    )* };
}
never! {
    barrier();
    arrive(barrier: Address);
    arrive_releasing(barrier: Address);
    test_wait(barrier: Address, parity: u32) -> bool;
    store(address: Address, value: u32);
}

/// The address itself.
pub fn address_in(_block: u32, address: Address) -> Address {
    address
}
