//! Who may touch a span's elements, and how its first element is aligned.

use crate::sealed::{Sealed, sealed};

/// Who may touch a span's elements.
///
/// # Safety
/// The constants are true of every access that spans of this mode offer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an access mode of a span",
    label = "expected ReadOnly, Exclusive or Atomic"
)]
pub unsafe trait Access: Sealed + Copy + Send + Sync + 'static {
    /// Nothing writes the memory while the kernel runs: loads go through the read-only cache.
    const CONSTANT: bool;
    /// Plain loads and stores are the owning block's alone: their tile index must contain the block's.
    const OWNED: bool;
    /// The name in messages.
    const NAME: &'static str;
}

/// Access modes whose spans may exist more than once.
pub trait Shareable: Access {}

/// Access modes that can write.
#[diagnostic::on_unimplemented(
    message = "this span is read-only",
    label = "cannot store through a read-only span",
    note = "declare the kernel's argument as `SpanMut<...>` and pass `&mut tensor`"
)]
pub trait Writable: Access {}

/// Access modes by which all blocks reach all elements, atomically.
#[diagnostic::on_unimplemented(
    message = "this span is not shared by atomic operations",
    label = "blocks reach any element of an atomic span only",
    note = "declare the kernel's argument as `SpanAtomic<...>` and pass `&mut tensor`; a block's own tiles of a `SpanMut` have \
            atomic operations through `partition`"
)]
pub trait Concurrent: Writable {}

/// The kernel reads; nothing writes. From `&tensor`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOnly;

/// The kernel writes (and may read) tiles, each of which belongs to one block. From `&mut tensor`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exclusive;

/// All blocks may touch all elements, atomically. From `&mut tensor`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Atomic;

// SAFETY: a span of this mode offers no access that writes.
unsafe impl Access for ReadOnly {
    const CONSTANT: bool = true;
    const OWNED: bool = false;
    const NAME: &'static str = "read-only";
}
// SAFETY: plain access is checked to be to the tiles of the block.
unsafe impl Access for Exclusive {
    const CONSTANT: bool = false;
    const OWNED: bool = true;
    const NAME: &'static str = "writable";
}
// SAFETY: a span of this mode offers atomic access only.
unsafe impl Access for Atomic {
    const CONSTANT: bool = false;
    const OWNED: bool = false;
    const NAME: &'static str = "atomic";
}
impl Shareable for ReadOnly {}
impl Shareable for Atomic {}
impl Writable for Exclusive {}
impl Writable for Atomic {}
impl Concurrent for Atomic {}

/// The alignment of a span's first element.
///
/// # Safety
/// `BYTES` divides what `bytes` gives for every element type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an alignment of a span",
    label = "expected Natural or Aligned<16>"
)]
pub unsafe trait Alignment: Sealed + Copy + Send + Sync + 'static {
    /// Bytes of which the first element's address is a multiple, known at compile time.
    fn bytes<T>() -> usize;
    /// The same as a constant, at least 1.
    const BYTES: usize;
}

/// Aligned for its element type; wider access is decided at run time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Natural;

/// Aligned to `BYTES` bytes, checked at launch: spares the path for unaligned tensors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aligned<const BYTES: usize>;

// SAFETY: every element is aligned to one byte.
unsafe impl Alignment for Natural {
    fn bytes<T>() -> usize {
        align_of::<T>()
    }
    const BYTES: usize = 1;
}

// SAFETY: both numbers are the same, or the element demands more.
unsafe impl<const BYTES: usize> Alignment for Aligned<BYTES> {
    fn bytes<T>() -> usize {
        const { assert!(BYTES.is_power_of_two(), "an alignment is a power of two") };
        if BYTES > align_of::<T>() { BYTES } else { align_of::<T>() }
    }
    const BYTES: usize = BYTES;
}

sealed! {
    [] ReadOnly;
    [] Exclusive;
    [] Atomic;
    [] Natural;
    [const BYTES: usize] Aligned<BYTES>;
}
