//! The layout of the buffer through which a module on a GPU speaks to the host, and the texts of failures. All numbers are little-endian.
//!
//! A failure has a place of its own, which the first block that fails fills and no other: behind [`FAILED`] lie its line,
//! its block, its file as length and bytes, and the text by number. Printed messages lie in a ring of words. Each begins with a header, its
//! length in words, which is written last; the host takes messages in order as far as headers are there, clears them
//! and counts the words in [`TAKEN`].

use core::fmt::{self, Write};

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
/// The most numbers of a list in it: one for each axis.
pub const LONGEST_LIST: usize = 4;
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
pub const TEXTS: [&str; 15] = [
    "a check failed",
    " of tile {[]} reaches outside the tensor: tiles of {[]} in a tensor of {[]}; use the masked form for edge tiles",
    "index {} is not below dimension {} of the tile, {}",
    "assertion failed, element {[]} is false",
    "axis {} of a span of rank {}",
    "index {} is not below the length of the shared memory, {}",
    " of window {[]} reaches outside the tensor: windows of {[]} in a tensor of {[]}; use the masked form for edge windows",
    " of a gathered tile reaches outside the tensor: a tile of {[]} gathered along axis {} of a tensor of {[]}; use the masked form for indices that may lie outside",
    ": the producer of the pipeline has ended; the consumers wait for more stages than the producer has loads: let both count the same tiles",
    ": all stages of the ring are held; release one before the wait for the next, or take a ring of more stages",
    ": an older stage is still held; release stages in the order of their waits",
    ": stages are still held; release them before a k loop begins",
    "the kernel is not for this GPU: the `targets` of its attribute leave the GPU out",
    ": the tensor has no element {[]}, its extents are {[]}",
    ": the list has {} items, none of number {}",
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
/// The producer of a pipeline has ended: there are no more stages.
pub const PRODUCER_ENDED: usize = 8;
/// Guards hold all stages of a ring.
pub const STAGES_HELD: usize = 9;
/// Stages were released in another order.
pub const RELEASE_ORDER: usize = 10;
/// A k loop began while guards hold stages.
pub const GUARDS_HELD: usize = 11;
/// A kernel is not for the target that its code was compiled for.
pub const TARGETS: usize = 12;
/// A gathered tile is not inside its tensor: tile, axis, extents.
pub const GATHERED: usize = 7;
/// An element is not in its tensor: index, extents.
pub const OUTSIDE: usize = 13;
/// An item is not in its list: the list's length, index.
pub const ITEM: usize = 14;
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

/// The message of a failure: `{}` is the next number, and `{[]}` a list, whose length is the number before it.
pub struct Report<'a> {
    /// The operation.
    pub operation: &'a str,
    /// What went wrong with it.
    pub text: &'a str,
    /// The numbers.
    pub numbers: &'a [u64],
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut numbers = self.numbers.iter().copied();
        let mut next = || numbers.next().unwrap_or(0);
        formatter.write_str(self.operation)?;
        let mut pieces = self.text.split('{');
        formatter.write_str(pieces.next().unwrap_or_default())?;
        for piece in pieces {
            if let Some(text) = piece.strip_prefix("[]}") {
                formatter.write_char('[')?;
                for i in 0..next().min(LONGEST_LIST as u64) {
                    let separator = if i > 0 { ", " } else { "" };
                    write!(formatter, "{separator}{}", next() as i64)?;
                }
                write!(formatter, "]{text}")?;
            } else {
                write!(formatter, "{}{}", next() as i64, piece.trim_start_matches('}'))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::ToString;

    #[test]
    fn reports_have_lists() {
        let report = Report { operation: "load", text: " of tile {[]} in {}", numbers: &[2, 5, 6, 7] };
        assert_eq!(report.to_string(), "load of tile [5, 6] in 7");
    }
}
