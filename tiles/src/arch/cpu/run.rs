//! Running one block on the CPU without a launch: for examples and for tests of helpers on tiles.

use crate::arch::execution::Place;
use crate::context::Cx;
use crate::element::Element;
use crate::launch::BlockPosition;
use crate::layout::Cta;
use crate::span::{Exclusive, Extents, Natural, ReadOnly, Right, TensorSpan};
use crate::stream::shared::ALIGNMENT;
use crate::stream::{SharedMemory, Split};
use core::mem::MaybeUninit;

/// The block of the CPU: one thread.
pub type CpuBlock = Cta<1, 4, 1>;

/// The token of the block at `position`.
///
/// # Safety
/// As for [`Cx::new`].
#[doc(hidden)]
pub unsafe fn context<B: crate::layout::Block>(position: BlockPosition) -> Cx<B> {
    // SAFETY: the same contract.
    unsafe { Cx::new(Place::new(position.index, position.count, position.partitions)) }
}

/// The token, before its roles part, of the block at `position`.
///
/// # Safety
/// As for [`Split::new`].
#[doc(hidden)]
pub unsafe fn split<B: crate::layout::Block>(position: BlockPosition) -> Split<B> {
    // SAFETY: the same contract.
    unsafe { Split::new(Place::new(position.index, position.count, position.partitions)) }
}

/// A shared argument's memory, on the stack of its block.
#[doc(hidden)]
#[repr(C, align(1024))]
pub struct Room<M: SharedMemory>(MaybeUninit<M::Storage>);

/// Memory of which nothing is known, as on the device.
#[doc(hidden)]
pub const fn room<M: SharedMemory>() -> Room<M> {
    const { assert!(align_of::<Room<M>>() == ALIGNMENT as usize) };
    Room(MaybeUninit::uninit())
}

/// The argument whose memory this is.
///
/// # Safety
/// The memory is used by nothing else as long as the argument.
#[doc(hidden)]
pub unsafe fn in_room<M: SharedMemory>(room: &mut Room<M>) -> M {
    // SAFETY: the memory is aligned as its type and as large as the storage; the block has one thread.
    unsafe { M::new(room.0.as_mut_ptr().cast()) }
}

/// Runs `body` as the only block of a grid.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| assert_eq!(cx.ones::<f32, _>(shape![16]).sum::<0>().item(), 16.0));
/// ```
pub fn block<R>(body: impl FnOnce(Cx<CpuBlock>) -> R) -> R {
    // SAFETY: a grid of one block of one thread, which is this one.
    body(unsafe { context(BlockPosition { index: [0; 3], count: [1; 3], partitions: None }) })
}

fn row_major<const R: usize>(lengths: [u64; R]) -> [i64; R] {
    let mut strides = [1; R];
    for axis in (1..R).rev() {
        strides[axis - 1] = strides[axis] * lengths[axis] as i64;
    }
    strides
}

/// Runs `body` as the only block of a grid, with `elements` as a row-major tensor of these axis lengths.
///
/// # Panics
/// If the lengths do not multiply to the number of elements, or do not fit the extents `E`.
pub fn block_on<T: Element, E: Extents, const R: usize, U>(
    elements: &[T],
    lengths: [u64; R],
    body: impl FnOnce(Cx<CpuBlock>, TensorSpan<T, E, ReadOnly, Right, Natural>) -> U,
) -> U {
    assert_eq!(
        lengths.iter().product::<u64>(),
        elements.len() as u64,
        "the axis lengths multiply to the elements"
    );
    let pointer = elements.as_ptr().cast_mut().cast();
    // SAFETY: the slice is valid and unchanging for the call, and a read-only span never writes. An element's bits
    // have its size and alignment.
    let span = unsafe { TensorSpan::try_from_parts(pointer, &lengths, &row_major(lengths)) };
    block(|cx| body(cx, span.unwrap_or_else(|error| panic!("the tensor does not fit the span: {error}"))))
}

/// Runs `body` as the only block of a grid, with `elements` as a writable row-major tensor of these axis lengths.
///
/// # Panics
/// If the lengths do not multiply to the number of elements, or do not fit the extents `E`.
pub fn block_on_mut<T: Element, E: Extents, const R: usize, U>(
    elements: &mut [T],
    lengths: [u64; R],
    body: impl FnOnce(Cx<CpuBlock>, TensorSpan<T, E, Exclusive, Right, Natural>) -> U,
) -> U {
    assert_eq!(
        lengths.iter().product::<u64>(),
        elements.len() as u64,
        "the axis lengths multiply to the elements"
    );
    let pointer = elements.as_mut_ptr().cast();
    // SAFETY: the slice is valid and borrowed exclusively for the call; stores write valid elements.
    let span = unsafe { TensorSpan::try_from_parts(pointer, &lengths, &row_major(lengths)) };
    block(|cx| body(cx, span.unwrap_or_else(|error| panic!("the tensor does not fit the span: {error}"))))
}
