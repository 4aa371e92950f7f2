//! Shared memory: of a block, for as long as it runs.
//!
//! ```
//! use cuda_tiles::cuda_std::prelude::*;
//! use cuda_tiles::cuda_std::{cpu, shared_array};
//!
//! #[kernel]
//! pub unsafe fn reverse_array(d: *mut i32, n: usize) {
//!     let s = shared_array![i32; 64];
//!     let t = thread::thread_idx_x() as usize;
//!     unsafe { *s.add(t) = *d.add(t) };
//!     thread::sync_threads();
//!     unsafe { *d.add(t) = *s.add(n - t - 1) };
//! }
//!
//! let mut numbers: Vec<i32> = (0..64).collect();
//! let d = numbers.as_mut_ptr();
//! // SAFETY: there are 64 numbers, as many as threads, and each thread accesses its own.
//! unsafe { cpu::launch(1, 64, 0, || reverse_array(d, 64)) };
//! assert!(numbers.iter().rev().copied().eq(0..64));
//! ```

use crate::arch::spaces;

/// The shared memory that the launch has asked for, in bytes: the third number of `launch!`, aligned to 16 bytes. Each call gives the
/// same.
///
/// ```
/// use cuda_tiles::cuda_std::{cpu, shared, thread};
///
/// // SAFETY: the launch asks for the bytes of 32 numbers, and each thread accesses its own.
/// unsafe {
///     cpu::launch(1, 32, 32 * 4, || {
///         let numbers = shared::dynamic_shared_mem::<u32>();
///         let t = thread::thread_idx_x();
///         numbers.add(t as usize).write(t);
///         assert_eq!(numbers.add(t as usize).read(), t);
///     })
/// };
/// ```
#[inline_on_device]
#[track_caller]
pub fn dynamic_shared_mem<T>() -> *mut T {
    const { assert!(align_of::<T>() <= 16, "the memory that a launch asks for is aligned to 16 bytes") };
    spaces::dynamic_shared().cast()
}

/// The alignment of the memory of `shared_array!`: that of the widest access, or the type's.
#[doc(hidden)]
pub const fn alignment<T>() -> usize {
    if align_of::<T>() > 16 { align_of::<T>() } else { 16 }
}

/// The size of the memory of `shared_array!`.
#[doc(hidden)]
pub const fn bytes<T>(length: usize) -> usize {
    let bytes = size_of::<T>() * length;
    assert!(bytes > 0, "`shared_array!` of no bytes: there is no such variable");
    bytes
}

/// The memory of `shared_array!` on the CPU.
#[cfg(not(target_arch = "nvptx64"))]
#[doc(hidden)]
#[track_caller]
pub fn array<T>(name: &'static str, bytes: usize) -> *mut T {
    let layout = core::alloc::Layout::from_size_align(bytes, alignment::<T>());
    crate::arch::team::memory(name, layout.expect("an array that is larger than memory")).cast()
}
