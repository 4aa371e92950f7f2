//! Messages of a GPU, as the host reads them.

use super::format::{Message, Value};
use super::print::described;
use crate::protocol::{self, Report};
use crate::sealed::sealed;
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
    /// Its arguments, and the bytes of its text.
    fn parts(&self) -> (&[u32], impl Iterator<Item = u8>) {
        let bytes = self.0.first().copied().unwrap_or(0) as usize;
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

    /// The position in the ring of the message that goes with it, if there is one.
    pub fn message(&self) -> Option<u32> {
        (self.word(protocol::MESSAGE) != 0).then(|| self.word(protocol::MESSAGE + 4))
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

sealed! { ['a] Argument<'a>; }

#[cfg(test)]
mod tests {
    extern crate std;

    use super::super::format::kind;
    use super::super::print::description;
    use super::*;
    use std::string::String;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn a_record_reads_as_it_was_written() {
        let scalar = ShapeDescription { rank: 0, log: [0; 4] };
        let row = ShapeDescription { rank: 2, log: [0, 1, 0, 0] };
        let text = "a {} b {:?}";
        let mut words = vec![text.len() as u32];
        words.extend(text.as_bytes().chunks(4).map(|bytes| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(word)
        }));
        words.extend([description(kind("i32"), &scalar, 1), -7i32 as u32, description(kind("f64"), &row, 2)]);
        words.extend([1.5f64, -2.0].iter().flat_map(|x| [x.to_bits() as u32, (x.to_bits() >> 32) as u32]));
        let record = Record(&words);
        let mut room = [0; 64];
        let text = record.text(&mut room);
        let mut shown = String::new();
        record.show(text, &mut shown).unwrap();
        assert_eq!(shown, "a -7 b [[1.5, -2.0]]");
        // What is cut off is left out, and nothing else happens.
        for length in 0..words.len() {
            Record(&words[..length]).show(text, &mut shown).unwrap();
        }
    }

    #[test]
    fn a_failure_reads_as_it_was_written() {
        let mut buffer = vec![0u8; protocol::RING];
        assert!(Failure::read(&buffer).is_none());
        let mut put =
            |offset: usize, bytes: &[u8]| buffer[offset..offset + bytes.len()].copy_from_slice(bytes);
        put(protocol::FAILED, &1u32.to_le_bytes());
        put(protocol::LINE, &12u32.to_le_bytes());
        put(protocol::BLOCK, &3u32.to_le_bytes());
        put(protocol::FILE, &8u32.to_le_bytes());
        put(protocol::FILE + 4, b"src/x.rs");
        put(protocol::OPERATION, b"load");
        put(protocol::TEXT, &(protocol::BOUNDS as u32).to_le_bytes());
        let numbers: Vec<u8> =
            [1u64, u64::MAX, 1, 64, 1, 100].iter().flat_map(|number| number.to_le_bytes()).collect();
        put(protocol::NUMBERS, &numbers);
        put(protocol::MESSAGE, &[1, 0, 0, 0, 7, 1, 0, 0]);
        let failure = Failure::read(&buffer).unwrap();
        assert_eq!(failure.message(), Some(0x107));
        assert_eq!((failure.block(), failure.file(), failure.line()), ([3, 0, 0], "src/x.rs", 12));
        let mut shown = String::new();
        failure.show(None, &mut shown).unwrap();
        assert!(
            shown.starts_with(
                "load of tile [-1] reaches outside the tensor: tiles of [64] in a tensor of [100];"
            ),
            "{shown}"
        );
        buffer[protocol::MESSAGE] = 0;
        assert_eq!(Failure::read(&buffer).unwrap().message(), None);
    }
}
