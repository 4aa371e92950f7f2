//! Running one block on the CPU without a launch: for examples and for tests of helpers on tiles.

use crate::arch::execution::Place;
use crate::arch::running;
use crate::context::Cx;
use crate::element::Element;
use crate::launch::BlockPosition;
use crate::layout::Cta;
use crate::memory::SharedMemory;
use crate::memory::shared::ALIGNMENT;
use crate::span::{Exclusive, Extents, Natural, ReadOnly, Right, TensorSpan};
use core::mem::MaybeUninit;

/// The block of the CPU: one thread.
pub type CpuBlock = Cta<1, 4, 1>;

#[doc(hidden)]
pub use crate::arch::messages::set_printer;

/// Says that the kernel which this thread runs is an `unsafe fn`.
///
/// # Safety
/// Its author vouches for what its blocks own.
#[doc(hidden)]
pub unsafe fn vouch() {
    crate::arch::order::vouch();
}

/// The place at `position`, of the block that this thread has entered.
#[doc(hidden)]
pub fn place(position: BlockPosition) -> Place {
    Place::new(position.index, position.count, position.partitions)
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
/// cuda_tiles::cpu::block(|cx| assert_eq!(cx.ones::<f32>(shape![16]).sum::<0>().item(), 16.0));
/// ```
///
/// Its tiles lie on the stack of this thread, which is a few MiB unless it was made with more.
///
/// What the block is given ends with it: a span, a view or an index that `body` leaves behind is of no use elsewhere.
pub fn block<R>(body: impl FnOnce(Cx<CpuBlock>) -> R) -> R {
    let _entered = running::enter();
    // SAFETY: a grid of one block of one thread, which is this one.
    body(unsafe { Cx::new(place(BlockPosition { index: [0; 3], count: [1; 3], partitions: None })) })
}

/// The strides of a row-major tensor of these axis lengths, which has so many elements.
#[track_caller]
fn row_major<const R: usize>(lengths: [u64; R], elements: usize) -> [i64; R] {
    let size = match lengths.contains(&0) {
        true => Some(0),
        false => lengths.iter().try_fold(1_u64, |size, &length| size.checked_mul(length)),
    };
    assert!(
        size == Some(elements as u64),
        "a tensor with axes of {lengths:?} has another number of elements than the {elements} that it was given"
    );
    let mut strides = [1_i64; R];
    for axis in (1..R).rev() {
        let stride = i64::try_from(lengths[axis]).ok().and_then(|length| strides[axis].checked_mul(length));
        strides[axis - 1] =
            stride.unwrap_or_else(|| panic!("a tensor with axes of {lengths:?} has strides beyond 2^63"));
    }
    strides
}

/// Runs `body` as the only block of a grid, with `elements` as a row-major tensor of these axis lengths.
///
/// ```
/// use cuda_tiles::prelude::*;
/// let sum = cuda_tiles::cpu::block_on(&[1, 2, 3, 4], [4], |cx, span: Span<i32, (u32,)>| {
///     span.partition(cx, shape![4]).load(0).sum::<0>().item()
/// });
/// assert_eq!(sum, 10);
/// ```
///
/// # Panics
///
/// If the lengths do not multiply to the number of elements, or do not fit the extents `E`.
#[track_caller]
pub fn block_on<T: Element, E: Extents, const R: usize, U>(
    elements: &[T],
    lengths: [u64; R],
    body: impl FnOnce(Cx<CpuBlock>, TensorSpan<T, E, ReadOnly, Right, Natural>) -> U,
) -> U {
    let strides = row_major(lengths, elements.len());
    block(|cx| {
        let pointer = elements.as_ptr().cast_mut().cast();
        // SAFETY: the slice is valid and unchanging for the call, to the end of which the span belongs to this block; a
        // read-only span never writes. An element's bits have its size and alignment.
        let span = unsafe { TensorSpan::try_from_parts(pointer, &lengths, &strides) };
        body(cx, span.unwrap_or_else(|error| panic!("the tensor does not fit the span: {error}")))
    })
}

/// Runs `body` as the only block of a grid, with `elements` as a writable row-major tensor of these axis lengths.
///
/// ```
/// use cuda_tiles::prelude::*;
/// let mut numbers = [1, 2, 3, 4];
/// cuda_tiles::cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<i32, (u32,)>| {
///     let view = span.partition(cx, shape![4]);
///     view.store(view.load(cx.bid::<0>()) * 2, cx.bid::<0>());
/// });
/// assert_eq!(numbers, [2, 4, 6, 8]);
/// ```
///
/// # Panics
///
/// If the lengths do not multiply to the number of elements, or do not fit the extents `E`.
#[track_caller]
pub fn block_on_mut<T: Element, E: Extents, const R: usize, U>(
    elements: &mut [T],
    lengths: [u64; R],
    body: impl FnOnce(Cx<CpuBlock>, TensorSpan<T, E, Exclusive, Right, Natural>) -> U,
) -> U {
    let strides = row_major(lengths, elements.len());
    block(|cx| {
        let pointer = elements.as_mut_ptr().cast();
        // SAFETY: the slice is valid and borrowed exclusively for the call, to the end of which the span belongs to this
        // block; stores write valid elements.
        let span = unsafe { TensorSpan::try_from_parts(pointer, &lengths, &strides) };
        body(cx, span.unwrap_or_else(|error| panic!("the tensor does not fit the span: {error}")))
    })
}
