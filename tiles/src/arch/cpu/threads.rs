//! A block of one thread, which is a warp of one lane: shuffles give its own value, and shared memory is its own.

use super::running;

/// Lanes of a warp.
pub const LANES: u32 = 1;

/// The number of a thread of the block in its warp.
#[inline]
pub fn lane(_thread: u32) -> u32 {
    0
}

/// The lane's own value.
///
/// # Safety
/// None needed here; on a GPU all lanes of the warp must execute the same call.
pub unsafe fn shuffle(value: u32, _lane: u32) -> u32 {
    value
}

/// The lane's own value.
///
/// # Safety
/// As above.
pub unsafe fn shuffle_up(value: u32, _delta: u32) -> u32 {
    value
}

/// The lane's own value.
///
/// # Safety
/// As above.
pub unsafe fn shuffle_down(value: u32, _delta: u32) -> u32 {
    value
}

/// The lane's own predicate as the lowest bit.
///
/// # Safety
/// As above.
pub unsafe fn ballot(predicate: bool) -> u32 {
    u32::from(predicate)
}

/// Waits for nobody.
///
/// # Safety
/// As above.
pub unsafe fn warp_barrier() {}

/// An address in shared memory: of the block's own.
pub type Address = *mut u8;

/// Memory aligned as a GPU's.
#[repr(C, align(16))]
struct Aligned<T>(T);

/// Runs `body` with `N` values in memory, which here are `initial`.
///
/// On a GPU the memory is that of the place in the code, so that a place that is reached again while its memory is in use, by
/// recursion, has the same: here that is a panic.
///
/// # Safety
/// None needed here; on a GPU all threads of the block must execute the same call.
#[track_caller]
pub unsafe fn with_shared<T: Copy, const N: usize, F: FnOnce(Address) -> R, R>(initial: T, body: F) -> R {
    let _open = running::open_shared::<F>();
    let mut memory = Aligned([initial; N]);
    body(core::ptr::from_mut(&mut memory).cast())
}

/// For GPUs.
pub fn word(_address: Address) -> u32 {
    unreachable!("the CPU has no descriptors of shared memory")
}

/// The address.
#[inline]
pub fn rematerialise(address: Address) -> Address {
    address
}

/// The address `bytes` further.
#[inline]
pub fn offset(address: Address, bytes: usize) -> Address {
    address.wrapping_add(bytes)
}

macro_rules! access {
    ($($load:ident $store:ident $type:ty;)*) => { $(
        /// Reads.
        ///
        /// # Safety
        /// `address` lies in memory of [`with_shared`], naturally aligned.
        #[inline]
        pub unsafe fn $load(address: Address) -> $type {
            // SAFETY: the caller vouches for the address.
            unsafe { address.cast::<$type>().read() }
        }

        /// Writes.
        ///
        /// # Safety
        /// As for reads.
        #[inline]
        pub unsafe fn $store(address: Address, value: $type) {
            // SAFETY: the caller vouches for the address.
            unsafe { address.cast::<$type>().write(value) }
        }
    )* };
}
access! {
    load_1 store_1 u8;
    load_2 store_2 u16;
    load_4 store_4 u32;
    load_8 store_8 u64;
    load_16 store_16 [u32; 4];
}

macro_rules! atomics {
    ($($name:ident $type:ty, |$old:ident, $value:ident| $sum:expr;)*) => { $(
        /// Adds, and gives the old value; there is nobody to be atomic against.
        ///
        /// # Safety
        /// As for reads.
        #[inline]
        pub unsafe fn $name(address: Address, $value: $type) -> $type {
            let target = address.cast::<$type>();
            // SAFETY: the caller vouches for the address.
            unsafe {
                let $old = target.read();
                target.write($sum);
                $old
            }
        }
    )* };
}
atomics! {
    add_u32 u32, |old, value| old.wrapping_add(value);
    add_u64 u64, |old, value| old.wrapping_add(value);
    add_f32 f32, |old, value| old + value;
    add_f64 f64, |old, value| old + value;
}
