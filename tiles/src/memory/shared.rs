//! Shared memory as an argument of kernels.
//!
//! The launch does not pass an argument marked `#[shared]`. `#[kernel]` lays such arguments out one behind the other in dynamic
//! shared memory, and states the sum of their sizes; the launch asks the GPU for as much. A size may differ between targets:
//! [`CLASSES`] has the limits of a block.

use crate::arch::shared;
use crate::arch::threads;
pub use crate::arch::threads::Address;

/// The shared memory, in bytes, that a block can have on targets of each class: 99 KiB on `sm_86`, `sm_89` and `sm_120`,
/// 163 KiB on `sm_80` and `sm_87`, 227 KiB on `sm_90` and `sm_100` (CUDA C++ Programming Guide, "Compute Capabilities").
pub const CLASSES: [u32; 3] = [99 * 1024, 163 * 1024, 227 * 1024];

/// The alignment of each argument in shared memory, in bytes: TMA's widest swizzle needs it.
pub const ALIGNMENT: u32 = 1024;

/// A type whose values stand for memory that all threads of a block share: an argument marked `#[shared]`.
///
/// # Safety
/// `new` claims no more than `BYTES` bytes of the class that the code is compiled for, on the CPU no more than `Storage`
/// has.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not memory that a block shares",
    label = "marked `#[shared]`",
    note = "`#[shared]` is for the rings and epilogue buffers of pipelines; what the launch passes has no mark, and other shared memory is `cx.shared::<T, N>(..)`"
)]
pub unsafe trait SharedMemory: Sized {
    /// Its size in bytes on targets of each of the [`CLASSES`], a multiple of [`ALIGNMENT`].
    const BYTES: [u32; 3];
    /// How many bytes behind its own it may read, whatever they are: other memory of the block.
    const BEYOND: [u32; 3] = [0; 3];
    /// The memory that replaces it on the CPU.
    type Storage;
    /// The value for memory at `address`.
    ///
    /// # Safety
    /// `address` is aligned to [`ALIGNMENT`]. The memory belongs to all threads of the block, and nothing else uses it as long
    /// as the value exists. All threads make the value for it once.
    unsafe fn new(address: Address) -> Self;
}

/// The offset behind arguments of these sizes that lie one behind the other, for each class. The next argument begins there.
///
/// # Panics
/// If a size is not a multiple of [`ALIGNMENT`].
pub const fn offset(sizes: &[[u32; 3]]) -> [u32; 3] {
    let mut sum = [0; 3];
    let mut argument = 0;
    while argument < sizes.len() {
        let mut class = 0;
        while class < 3 {
            assert!(
                sizes[argument][class].is_multiple_of(ALIGNMENT),
                "the size of memory that a block shares is a multiple of 1024 bytes"
            );
            sum[class] += sizes[argument][class];
            class += 1;
        }
        argument += 1;
    }
    sum
}

/// The size of a block's memory, for each class: of arguments that lie one behind the other, with what each may read
/// [beyond](SharedMemory::BEYOND) its own.
///
/// # Panics
/// If a size is not a multiple of [`ALIGNMENT`], or no GPU has as much for a block.
pub const fn total(sizes: &[[u32; 3]], beyond: &[[u32; 3]]) -> [u32; 3] {
    let mut sum = offset(sizes);
    let (mut ends, mut argument) = ([0; 3], 0);
    while argument < sizes.len() {
        let mut class = 0;
        while class < 3 {
            ends[class] += sizes[argument][class];
            let reached = ends[class] + beyond[argument][class];
            sum[class] = if reached > sum[class] { reached } else { sum[class] };
            class += 1;
        }
        argument += 1;
    }
    let mut most = 0;
    while most < 3 && sum[most] > CLASSES[most] {
        most += 1;
    }
    assert!(
        most < 3,
        "a block has at most 227 KiB of shared memory: take a ring of fewer stages, or smaller tiles"
    );
    sum
}

/// An argument at an offset in the block's dynamic shared memory, on the device.
///
/// # Safety
/// The entry of a kernel calls it on all threads of the block, once for each argument, with offsets at which no two overlap
/// within the memory that the launch asks for.
#[doc(hidden)]
#[inline_on_device]
pub unsafe fn at<M: SharedMemory>(offset: [u32; 3]) -> M {
    // SAFETY: the caller's contract; dynamic shared memory is aligned to `ALIGNMENT`, of which the offset is a multiple.
    unsafe { M::new(threads::offset(shared::dynamic(), offset[shared::BUDGET_CLASS] as usize)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_lie_one_behind_the_other() {
        let sizes = [[1024, 2048, 4096], [0, 1024, 1024]];
        assert_eq!(offset(&sizes[..0]), [0; 3]);
        assert_eq!(offset(&sizes[..1]), [1024, 2048, 4096]);
        assert_eq!(total(&sizes, &[[0; 3]; 2]), [1024, 3072, 5120]);
        // Some GPUs have as much.
        assert_eq!(total(&[[100 << 10, 200 << 10, 227 << 10]], &[[0; 3]]), [100 << 10, 200 << 10, 227 << 10]);
    }

    #[test]
    fn reads_behind_an_argument_stay_in_the_blocks_memory() {
        let sizes = [[1024, 2048, 4096], [0, 1024, 1024]];
        assert_eq!(total(&sizes, &[[0, 0, 512], [0; 3]]), [1024, 3072, 5120]);
        assert_eq!(total(&sizes, &[[0, 0, 2048], [0; 3]]), [1024, 3072, 6144]);
        assert_eq!(total(&sizes, &[[0; 3], [0, 0, 1024]]), [1024, 3072, 6144]);
    }

    #[test]
    #[should_panic(expected = "at most 227 KiB of shared memory")]
    fn more_than_any_block_has_is_refused() {
        total(&[[200 << 10; 3], [28 << 10; 3]], &[[0; 3]; 2]);
    }

    #[test]
    #[should_panic(expected = "a multiple of 1024 bytes")]
    fn sizes_that_break_the_alignment_are_refused() {
        offset(&[[1024, 1024, 1000]]);
    }
}
