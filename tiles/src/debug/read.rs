//! Messages of a GPU, as the host reads them.

use super::format::{Message, Report, Value};
use super::print::described;
use super::protocol;
use crate::shape::ShapeDescription;
use core::fmt;

/// A message, by its words behind the header.
pub struct Record<'a>(pub &'a [u32]);

/// An argument of a message: its description and its elements.
struct Argument<'a> {
    kind: u32,
    shape: ShapeDescription,
    elements: &'a [u32],
}

impl Value for Argument<'_> {
    fn kind(&self) -> u32 {
        self.kind
    }
    fn shape(&self) -> ShapeDescription {
        self.shape
    }
    fn bits(&self, flat: usize) -> u64 {
        let word = |i: usize| u64::from(self.elements.get(i).copied().unwrap_or(0));
        if self.elements.len() > 1 << self.shape.bits() {
            word(2 * flat + 1) << 32 | word(2 * flat)
        } else {
            word(flat)
        }
    }
}

impl Record<'_> {
    fn word(&self, i: usize) -> u32 {
        self.0.get(i).copied().unwrap_or(0)
    }

    /// The block that wrote it.
    pub fn block(&self) -> [u32; 3] {
        [self.word(0), self.word(1), self.word(2)]
    }

    /// Its arguments, and the bytes of its text.
    fn parts(&self) -> (&[u32], impl Iterator<Item = u8>) {
        let bytes = self.word(4) as usize;
        let begin = protocol::HEAD_WORDS as usize - 1;
        let (text, arguments) =
            self.0.get(begin..).and_then(|rest| rest.split_at_checked(bytes.div_ceil(4))).unwrap_or_default();
        (arguments, text.iter().flat_map(|word| word.to_le_bytes()).take(bytes))
    }

    /// Copies the text to `to`, and gives its length there.
    pub fn text<'b>(&self, to: &'b mut [u8]) -> &'b str {
        let mut length = 0;
        for (target, byte) in to.iter_mut().zip(self.parts().1) {
            *target = byte;
            length += 1;
        }
        core::str::from_utf8(&to[..length]).unwrap_or_default()
    }

    /// The message with this text, which is its own.
    pub fn show(&self, text: &str, to: &mut dyn fmt::Write) -> fmt::Result {
        let arguments = self.parts().0;
        let hand = |number: usize, take: &mut dyn FnMut(&dyn Value)| {
            let mut rest = arguments;
            for i in 0..=number {
                let Some((&word, behind)) = rest.split_first() else { return };
                let (kind, shape, wide) = described(word);
                let length = (1usize << shape.bits()) << u32::from(wide);
                let Some((elements, behind)) = behind.split_at_checked(length) else { return };
                rest = behind;
                if i == number {
                    take(&Argument { kind, shape, elements });
                }
            }
        };
        write!(to, "{}", Message { text, arguments: &hand })
    }
}

/// The failure that the words in front of the ring report, if there is one.
pub struct Failure<'a>(&'a [u8]);

impl<'a> Failure<'a> {
    /// Reads the buffer's bytes in front of the ring.
    pub fn read(buffer: &'a [u8]) -> Option<Self> {
        let failure = Self(buffer);
        (failure.word(protocol::FAILED) != 0).then_some(failure)
    }

    fn word(&self, offset: usize) -> u32 {
        let bytes = self.0.get(offset..offset + 4).and_then(|bytes| bytes.try_into().ok());
        u32::from_le_bytes(bytes.unwrap_or_default())
    }

    /// The block that failed.
    pub fn block(&self) -> [u32; 3] {
        [0, 4, 8].map(|offset| self.word(protocol::BLOCK + offset))
    }

    /// The source file.
    pub fn file(&self) -> &'a str {
        let length = self.word(protocol::FILE) as usize;
        let bytes = self.0.get(protocol::FILE + 4..protocol::FILE + 4 + length).unwrap_or_default();
        core::str::from_utf8(bytes).unwrap_or_default()
    }

    /// The line in it.
    pub fn line(&self) -> u32 {
        self.word(protocol::LINE)
    }

    /// What went wrong, with the text of an assertion if the block has sent one.
    pub fn show(&self, assertion: Option<&str>, to: &mut dyn fmt::Write) -> fmt::Result {
        let mut numbers = [0; protocol::MOST_NUMBERS];
        for (i, number) in numbers.iter_mut().enumerate() {
            let offset = protocol::NUMBERS + 8 * i;
            *number = u64::from(self.word(offset)) | u64::from(self.word(offset + 4)) << 32;
        }
        let room = protocol::OPERATION..protocol::OPERATION + protocol::OPERATION_BYTES;
        let operation = core::str::from_utf8(self.0.get(room).unwrap_or_default()).unwrap_or_default();
        let operation = operation.trim_end_matches('\0');
        let text = self.word(protocol::TEXT) as usize;
        let known = protocol::TEXTS.get(text).unwrap_or(&protocol::TEXTS[protocol::A_CHECK]);
        write!(to, "{}", Report { operation, text: known, numbers: &numbers })?;
        match assertion {
            Some(assertion) if text == protocol::ASSERTED => write!(to, ": {assertion}"),
            _ => Ok(()),
        }
    }
}
