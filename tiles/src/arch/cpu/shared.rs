//! A block of one thread exchanges nothing through shared memory; none of these is ever called.

/// Which of the sizes of shared memory counts: the CPU's memory is as large as any.
pub const BUDGET_CLASS: usize = 2;

/// The memory that a launch has asked for.
pub fn dynamic() -> super::threads::Address {
    unreachable!("on the CPU each shared argument has memory of its own")
}

/// The most bytes that [`scratch`] offers.
pub const SCRATCH_BYTES: usize = 16384;

/// An address of scratch memory.
pub fn scratch<const BYTES: usize>() -> u32 {
    unreachable!("a block of one thread has no shared memory")
}

/// An address of scratch memory.
pub fn scratch_of(_bytes: usize) -> u32 {
    unreachable!("a block of one thread has no shared memory")
}

macro_rules! access {
    ($store:ident, $load:ident, $type:ty) => {
        /// A store to shared memory.
        ///
        /// # Safety
        /// Never called.
        pub unsafe fn $store(_address: u32, _value: $type) {
            unreachable!("a block of one thread has no shared memory")
        }

        /// A load from shared memory.
        ///
        /// # Safety
        /// Never called.
        pub unsafe fn $load(_address: u32) -> $type {
            unreachable!("a block of one thread has no shared memory")
        }
    };
}
access!(store_u8, load_u8, u8);
access!(store_u16, load_u16, u16);
access!(store_u32, load_u32, u32);
access!(store_u64, load_u64, u64);

/// An addition to a number in shared memory.
///
/// # Safety
/// Never called.
pub unsafe fn add_u32(_address: u32, _value: u32) {
    unreachable!("a block of one thread has no shared memory")
}
