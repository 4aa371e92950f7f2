//! The layout of the buffer through which a module on a GPU speaks to the host. All numbers are little-endian.
//!
//! A failure has a place of its own, which the first block that fails fills and no other: behind [`FAILED`] lie its line,
//! its block, its file as length and bytes, and the text by number. Printed messages lie in a ring of words. Each begins with a header, its
//! length in words, which is written last; the host takes messages in order as far as headers are there, clears them
//! and counts the words in [`TAKEN`].

/// One if a failure has been written, 4 bytes.
pub const FAILED: usize = 0;
/// One if messages found no room, 4 bytes.
pub const LOST: usize = 4;
/// How many words of the ring the host has taken, modulo 2³²; 4 bytes, written by the host.
pub const TAKEN: usize = 8;
/// The line of a failure, 4 bytes.
pub const LINE: usize = 12;
/// The index of the block that failed, 12 bytes.
pub const BLOCK: usize = 16;
/// The numbers of its message, 8 bytes each.
pub const NUMBERS: usize = 32;
/// The most numbers of a message.
pub const MOST_NUMBERS: usize = 16;
/// The file of a failure: its length and its bytes.
pub const FILE: usize = NUMBERS + 8 * MOST_NUMBERS;
/// The most bytes of a file's name.
pub const FILE_BYTES: usize = 252;
/// What the failed operation is called, in words of 8 bytes; zeros fill the last ones.
pub const OPERATION: usize = FILE + 4 + FILE_BYTES;
/// The most bytes of that.
pub const OPERATION_BYTES: usize = 24;
/// The number of the text in [`TEXTS`], 4 bytes.
pub const TEXT: usize = OPERATION + OPERATION_BYTES;
/// One if the failure is an assertion's whose message found room, 4 bytes; behind it, the position of that message, 4 bytes.
pub const MESSAGE: usize = TEXT + 4;

/// What can have gone wrong, behind the operation. `{}` is the next number of the failure, which has a sign, and `{[]}` a list:
/// its length and its numbers. A GPU sends the number of a text, since copying texts would be code in every kernel.
pub const TEXTS: [&str; 12] = [
    "a check failed",
    " of tile {[]} reaches outside the tensor: tiles of {[]} in a tensor of {[]}; use the masked form for edge tiles",
    "index {} is not below dimension {} of the tile, {}",
    "assertion failed, element {[]} is false",
    "axis {} of a span of rank {}",
    "index {} is not below the length of the shared memory, {}",
    " of window {[]} reaches outside the tensor: windows of {[]} in a tensor of {[]}; use the masked form for edge windows",
    " of a gathered tile reaches outside the tensor: a tile of {[]} gathered along axis {} of a tensor of {[]}; use the masked form for indices that may lie outside",
    ": the feed of the pipeline has ended; the kernel receives more messages than the feed has tiles for: let both count the same tiles",
    ": all stages of the ring are held; release one before the next is received, or take a ring of more stages",
    ": a message that was received before is still held; release messages in the order in which they were received",
    ": messages are held that were received before; release them before the next ones are lent step by step",
];
/// The number of a text about anything else.
pub const A_CHECK: usize = 0;
/// A tile is not inside its tensor: index, tile, extents.
pub const BOUNDS: usize = 1;
/// An element is not in its tile: index, axis, length.
pub const ELEMENT: usize = 2;
/// A span has fewer axes: axis, rank.
pub const SPAN_AXIS: usize = 4;
/// An element is not in shared memory: index, length.
pub const SHARED: usize = 5;
/// A window is not inside its tensor: its first element, tile, extents.
pub const WINDOW: usize = 6;
/// A pipeline has no more messages.
pub const ENDED_FEED: usize = 8;
/// A pipeline has no stage for the next message.
pub const HELD_STAGES: usize = 9;
/// Stages were released in another order.
pub const ORDER_OF_STAGES: usize = 10;
/// Steps were begun while messages are held.
pub const HELD_MESSAGES: usize = 11;
/// A gathered tile is not inside its tensor: tile, axis, extents.
pub const GATHERED: usize = 7;
/// An assertion does not hold: the element's index. Its own text is the message that [`MESSAGE`] tells of.
pub const ASSERTED: usize = 3;

/// The ring.
pub const RING: usize = 4096;
/// Its words, a power of two.
pub const RING_WORDS: u32 = 1 << 18;
/// Bytes of the buffer.
pub const BYTES: usize = RING + 4 * RING_WORDS as usize;

/// In a header: the message says why an assertion failed. It stays in the ring for the report: the kernel is about to trap.
pub const ASSERTION: u32 = 1 << 31;
/// Words of a message before its text: header, bytes of the text. Behind the text come the arguments.
pub const HEAD_WORDS: u32 = 2;

const _: () = assert!(MESSAGE + 8 <= RING && OPERATION.is_multiple_of(8));
const _: () = assert!(RING_WORDS.is_power_of_two() && FILE.is_multiple_of(4));
