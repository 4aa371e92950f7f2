//! The header of a `.npy` file: a dictionary in Python's notation, of which NumPy writes only one form.

use super::super::error::{FileError, quoted};
use super::super::load::{stored_bytes, to_usize};
use super::super::source::Source;
use crate::typestr::TypeStr;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest dictionary that is read, in bytes. NumPy itself takes 10000 characters without being asked.
const LONGEST: u64 = 1 << 20;

/// More axes than NumPy has.
const MOST_AXES: usize = 64;

/// Where the elements of a file written by us start is a multiple of so many bytes, as NumPy has it.
const ALIGNMENT: usize = 64;

/// What a header says, once it is known that the file has it.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) element: TypeStr,
    pub(super) is_fortran: bool,
    pub(super) shape: Vec<usize>,
    /// The first byte of the elements.
    pub(super) offset: u64,
}

impl Header {
    pub(super) fn read(source: &Source) -> Result<Self, FileError> {
        let refuse = |offset, problem: String| Err(source.malformed(offset, None, problem));
        let mut start = [0; 8];
        if source.len() < start.len() as u64 {
            return refuse(source.len(), format!("the file ends at byte {}, within the magic", source.len()));
        }
        source.read_at(0, &mut start)?;
        if start[..6] != *MAGIC {
            return refuse(0, "it does not begin with \\x93NUMPY: it is no .npy file".to_owned());
        }
        let length_bytes = match start[6..] {
            [1, _] => 2,
            [2 | 3, _] => 4,
            [major, minor] => {
                return refuse(6, format!("version {major}.{minor} is not known; 1.0 to 3.0 are"));
            }
            _ => 2,
        };
        let mut length = [0; 4];
        let text_start = 8 + length_bytes as u64;
        if source.len() < text_start {
            return refuse(
                source.len(),
                format!("the file ends at byte {}, within the header's length", source.len()),
            );
        }
        source.read_at(8, &mut length[..length_bytes])?;
        let length = u64::from(u32::from_le_bytes(length));
        let offset = text_start + length;
        if offset > source.len() || length > LONGEST {
            let there = source.len() - text_start;
            return refuse(
                8,
                format!("the header claims {length} bytes, and {there} follow (at most {LONGEST} are read)"),
            );
        }
        let text = source.bytes(text_start..offset)?;
        let dictionary = match Parser::new(&text).dictionary() {
            Ok(dictionary) => dictionary,
            Err((at, problem)) => return refuse(text_start + at as u64, problem),
        };
        let Dictionary { descr, is_fortran, shape } = dictionary;
        let element: TypeStr = match descr.parse() {
            Ok(element) => element,
            Err(error) => return refuse(text_start, format!("descr: {error}")),
        };
        let claimed = stored_bytes(&shape, 8).and_then(|count| count.checked_mul(element.bytes() as u64));
        let there = source.len() - offset;
        if claimed != Some(there) {
            let claimed = claimed.map_or("more than can be counted".to_owned(), |bytes| bytes.to_string());
            let problem = format!("shape {shape:?} of {element} takes {claimed} bytes, and {there} follow");
            return refuse(offset, problem);
        }
        Ok(Self { element, is_fortran, shape: to_usize(&shape)?, offset })
    }
}

/// The bytes in front of the elements, in version 1.0, which every NumPy reads.
pub(super) fn text(element: TypeStr, shape: &[usize]) -> Vec<u8> {
    let axes: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    // A tuple of one has a comma, longer ones need none.
    let axes = if shape.len() == 1 { axes.trim_end() } else { axes.trim_end_matches(", ") };
    let dictionary = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': ({axes}), }}");
    let start = MAGIC.len() + 4;
    let total = (start + dictionary.len() + 1).next_multiple_of(ALIGNMENT);
    let length = u16::try_from(total - start).expect("a shape has few axes");
    let mut bytes = Vec::with_capacity(total);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(dictionary.as_bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The entries of the dictionary.
#[derive(Debug, PartialEq)]
struct Dictionary {
    descr: String,
    is_fortran: bool,
    shape: Vec<u64>,
}

/// Where the text is not as it should be, and why.
type Refusal = (usize, String);

struct Parser<'text> {
    text: &'text [u8],
    at: usize,
}

impl<'text> Parser<'text> {
    fn new(text: &'text [u8]) -> Self {
        Self { text, at: 0 }
    }

    fn dictionary(mut self) -> Result<Dictionary, Refusal> {
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.accept(b'}') {
            self.skip_space();
            let at = self.at;
            let key = self.string()?;
            self.expect(b':')?;
            let is_new = match &*key {
                "descr" => descr.replace(self.descr()?).is_none(),
                "fortran_order" => is_fortran.replace(self.boolean()?).is_none(),
                "shape" => shape.replace(self.shape()?).is_none(),
                _ => return Err((at, format!("{} is none of descr, fortran_order, shape", quoted(&key)))),
            };
            if !is_new {
                return Err((at, format!("{} stands there twice", quoted(&key))));
            }
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        self.skip_space();
        if self.at < self.text.len() {
            return Err((self.at, "something follows the dictionary".to_owned()));
        }
        let missing = |key: &str| (0, format!("the dictionary has no `{key}`"));
        Ok(Dictionary {
            descr: descr.ok_or_else(|| missing("descr"))?,
            is_fortran: is_fortran.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }

    fn descr(&mut self) -> Result<String, Refusal> {
        self.skip_space();
        match self.text.get(self.at) {
            Some(b'[') => {
                Err((self.at, "the elements have several fields: save each field as an array".to_owned()))
            }
            _ => self.string(),
        }
    }

    fn boolean(&mut self) -> Result<bool, Refusal> {
        self.skip_space();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err((self.at, "True or False is expected".to_owned()))
    }

    fn shape(&mut self) -> Result<Vec<u64>, Refusal> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while !self.accept(b')') {
            if shape.len() == MOST_AXES {
                return Err((self.at, format!("the shape has more than {MOST_AXES} axes")));
            }
            shape.push(self.extent()?);
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn extent(&mut self) -> Result<u64, Refusal> {
        self.skip_space();
        let start = self.at;
        let digits = self.text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        let extent =
            std::str::from_utf8(&self.text[start..self.at]).ok().and_then(|digits| digits.parse().ok());
        // Python 2 wrote long integers so.
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        extent.ok_or_else(|| (start, "an extent is no number from 0 to 2^64 - 1".to_owned()))
    }

    /// A text without escapes: NumPy's keys and types have none.
    fn string(&mut self) -> Result<String, Refusal> {
        self.skip_space();
        let start = self.at;
        let quote = match self.text.get(start) {
            Some(&quote @ (b'\'' | b'"')) => quote,
            _ => return Err((start, "a text in quotes is expected".to_owned())),
        };
        let rest = &self.text[start + 1..];
        let Some(length) = rest.iter().position(|&byte| byte == quote || byte == b'\\') else {
            return Err((start, "a text does not end".to_owned()));
        };
        if rest[length] == b'\\' {
            return Err((start + 1 + length, "a text has an escape".to_owned()));
        }
        self.at = start + length + 2;
        let text = std::str::from_utf8(&rest[..length]);
        text.map(str::to_owned).map_err(|_| (start, "a text is not UTF-8".to_owned()))
    }

    fn expect(&mut self, byte: u8) -> Result<(), Refusal> {
        match self.accept(byte) {
            true => Ok(()),
            false => Err((self.at, format!("`{}` is expected", byte as char))),
        }
    }

    /// Goes on behind this byte, if it is the next one.
    fn accept(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn skip_space(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }
}
