//! Texts with `{}`, filled with tiles and scalars where the text is shown: on the host.
//!
//! The language is that of `std::fmt`: `{}`, `{:?}`, `{:8.3}`, `{:>+10}`, `{:#x}`, with arguments in order. The pieces of
//! a text are found at compile time too, to count them.

use crate::element::{Cast, bf16, f16};
use crate::shape::{MAXIMUM_RANK, ShapeDescription};
use core::fmt::{self, Write};

/// What a text is filled with: the elements of a tile, or one number.
pub trait Value {
    /// The code of its element type, from [`kind`].
    fn kind(&self) -> u32;
    /// Its shape; rank 0 for a number.
    fn shape(&self) -> ShapeDescription;
    /// The bits of an element, by its row-major number.
    fn bits(&self, flat: usize) -> u64;
}

/// How an element is written: what stands behind the colon of `{:...}`.
#[derive(Clone, Copy)]
struct Specification {
    fill: char,
    align: Option<u8>,
    plus: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    radix: u8,
}

/// A stretch of the text, or a place to fill.
enum Piece<'a> {
    Text(&'a str),
    Place(Specification),
}

impl Specification {
    /// Reads `text` from `begin` to `end`; `None` if it is none.
    const fn parse(text: &[u8], begin: usize, end: usize) -> Option<Self> {
        let mut result = Self {
            fill: ' ',
            align: None,
            plus: false,
            alternate: false,
            zeros: false,
            width: 0,
            precision: None,
            radix: 0,
        };
        let mut at = begin;
        if at == end {
            return Some(result);
        }
        if text[at] != b':' {
            return None;
        }
        at += 1;
        if at + 1 < end && matches!(text[at + 1], b'<' | b'^' | b'>') && text[at].is_ascii() {
            result.fill = text[at] as char;
            at += 1;
        }
        if at < end && matches!(text[at], b'<' | b'^' | b'>') {
            result.align = Some(text[at]);
            at += 1;
        }
        if at < end && text[at] == b'+' {
            result.plus = true;
            at += 1;
        }
        if at < end && text[at] == b'#' {
            result.alternate = true;
            at += 1;
        }
        if at < end && text[at] == b'0' {
            result.zeros = true;
            at += 1;
        }
        while at < end && text[at].is_ascii_digit() {
            result.width = 10 * result.width + (text[at] - b'0') as usize;
            at += 1;
        }
        if at < end && text[at] == b'.' {
            at += 1;
            let mut precision = 0;
            while at < end && text[at].is_ascii_digit() {
                precision = 10 * precision + (text[at] - b'0') as usize;
                at += 1;
            }
            result.precision = Some(precision);
        }
        if at < end && matches!(text[at], b'?' | b'x' | b'X' | b'o' | b'b' | b'e' | b'E') {
            result.radix = text[at];
            at += 1;
        }
        if at == end { Some(result) } else { None }
    }
}

/// The next piece of `text` from byte `from` on, and where it ends; `None` at the end, and an error where the text is
/// malformed.
const fn next_piece(text: &str, from: usize) -> Option<(Result<Option<Specification>, ()>, usize, usize)> {
    let bytes = text.as_bytes();
    if from >= bytes.len() {
        return None;
    }
    let mut end = from;
    while end < bytes.len() && bytes[end] != b'{' && bytes[end] != b'}' {
        end += 1;
    }
    if end > from {
        return Some((Ok(None), end, end));
    }
    if end + 1 < bytes.len() && bytes[end + 1] == bytes[end] {
        // A doubled brace is one.
        return Some((Ok(None), end + 1, end + 2));
    }
    if bytes[end] == b'}' {
        return Some((Err(()), end, end));
    }
    let begin = end + 1;
    while end < bytes.len() && bytes[end] != b'}' {
        end += 1;
    }
    if end == bytes.len() {
        return Some((Err(()), end, end));
    }
    Some((
        match Specification::parse(bytes, begin, end) {
            Some(specification) => Ok(Some(specification)),
            None => Err(()),
        },
        end,
        end + 1,
    ))
}

/// How many arguments a text takes; `usize::MAX` if it is malformed.
pub const fn places(text: &str) -> usize {
    let (mut from, mut places) = (0, 0);
    while let Some((piece, _, next)) = next_piece(text, from) {
        match piece {
            Ok(None) => {}
            Ok(Some(_)) => places += 1,
            Err(()) => return usize::MAX,
        }
        from = next;
    }
    places
}

/// The pieces of a text; what is malformed is left as it is.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut from = 0;
    core::iter::from_fn(move || {
        let begin = from;
        let (piece, end, next) = next_piece(text, from)?;
        from = next;
        Some(match piece {
            Ok(Some(specification)) => Piece::Place(specification),
            Ok(None) => Piece::Text(&text[begin..end]),
            Err(()) => {
                from = text.len();
                Piece::Text(&text[begin..])
            }
        })
    })
}

/// A text and what it is filled with.
pub struct Message<'a> {
    /// The text.
    pub text: &'a str,
    /// Its arguments, by number; those that are missing stay empty.
    pub arguments: &'a dyn Fn(usize, &mut dyn FnMut(&dyn Value)),
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut number = 0;
        for piece in pieces(self.text) {
            match piece {
                Piece::Text(text) => formatter.write_str(text)?,
                Piece::Place(specification) => {
                    let mut result = Ok(());
                    (self.arguments)(number, &mut |value| result = show(value, specification, formatter));
                    result?;
                    number += 1;
                }
            }
        }
        Ok(())
    }
}

/// A value: an element, or all elements of a tile in row-major order, in brackets for each axis.
fn show(value: &dyn Value, specification: Specification, to: &mut dyn Write) -> fmt::Result {
    let shape = value.shape();
    let mut flat = 0;
    while flat < 1 << shape.bits() {
        // An axis begins where the number is a multiple of what its element spans, and ends likewise.
        let inner = |axis: usize| 1usize << (shape.low_bit(axis) + shape.log[axis]);
        if flat > 0 {
            to.write_str(", ")?;
        }
        for axis in 0..shape.rank.min(MAXIMUM_RANK) {
            if flat % inner(axis) == 0 {
                to.write_char('[')?;
            }
        }
        show_element(value.kind(), value.bits(flat), specification, to)?;
        flat += 1;
        for axis in 0..shape.rank.min(MAXIMUM_RANK) {
            if flat % inner(axis) == 0 {
                to.write_char(']')?;
            }
        }
    }
    Ok(())
}

/// Counts characters, and keeps the first.
#[derive(Default)]
struct Measure {
    characters: usize,
    negative: bool,
}

impl Write for Measure {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.negative |= self.characters == 0 && text.starts_with('-');
        self.characters += text.chars().count();
        Ok(())
    }
}

/// Leaves the first characters out.
struct Skip<'a>(usize, &'a mut dyn Write);

impl Write for Skip<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| match self.0 {
            0 => self.1.write_char(character),
            _ => {
                self.0 -= 1;
                Ok(())
            }
        })
    }
}

/// One element, with sign and padding.
fn show_element(kind: u32, bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
    let mut measure = Measure::default();
    digits(kind, bits, specification, &mut measure)?;
    let sign = if measure.negative {
        "-"
    } else if specification.plus {
        "+"
    } else {
        ""
    };
    let length = measure.characters + usize::from(sign == "+");
    let room = specification.width.saturating_sub(length);
    let (before, after) = match specification.align {
        _ if specification.zeros => (0, 0),
        Some(b'<') => (0, room),
        Some(b'^') => (room / 2, room - room / 2),
        _ => (room, 0),
    };
    (0..before).try_for_each(|_| to.write_char(specification.fill))?;
    to.write_str(sign)?;
    if specification.zeros {
        (0..room).try_for_each(|_| to.write_char('0'))?;
    }
    digits(kind, bits, specification, &mut Skip(usize::from(measure.negative), to))?;
    (0..after).try_for_each(|_| to.write_char(specification.fill))
}

/// A number in the radix or notation of the specification.
macro_rules! notation {
    (integer $value:expr, $as_bits:expr, $specification:ident, $to:ident) => {
        match ($specification.radix, $specification.alternate) {
            (b'x', false) => write!($to, "{:x}", $as_bits),
            (b'x', true) => write!($to, "{:#x}", $as_bits),
            (b'X', false) => write!($to, "{:X}", $as_bits),
            (b'X', true) => write!($to, "{:#X}", $as_bits),
            (b'o', false) => write!($to, "{:o}", $as_bits),
            (b'o', true) => write!($to, "{:#o}", $as_bits),
            (b'b', false) => write!($to, "{:b}", $as_bits),
            (b'b', true) => write!($to, "{:#b}", $as_bits),
            (b'e', _) => write!($to, "{:e}", $value),
            (b'E', _) => write!($to, "{:E}", $value),
            _ => write!($to, "{}", $value),
        }
    };
    (float $value:expr, $as_bits:expr, $specification:ident, $to:ident) => {
        match ($specification.radix, $specification.precision) {
            (b'?', None) => write!($to, "{:?}", $value),
            (b'?', Some(precision)) => write!($to, "{:.precision$?}", $value),
            (b'e', None) => write!($to, "{:e}", $value),
            (b'e', Some(precision)) => write!($to, "{:.precision$e}", $value),
            (b'E', None) => write!($to, "{:E}", $value),
            (b'E', Some(precision)) => write!($to, "{:.precision$E}", $value),
            (b'x' | b'X' | b'o' | b'b', _) => notation!(integer $as_bits, $as_bits, $specification, $to),
            (_, None) => write!($to, "{}", $value),
            (_, Some(precision)) => write!($to, "{:.precision$}", $value),
        }
    };
}

/// The element types that texts know, with the codes by which they travel.
macro_rules! kinds {
    ($($code:literal $name:literal $notation:ident |$bits:ident| $value:expr, $width:ident;)*) => {
        /// The code of the element type with this name; 0, whose elements are shown as their bits, for any other.
        pub const fn kind(name: &str) -> u32 {
            $(
                if equal(name, $name) {
                    return $code;
                }
            )*
            if equal(name, "bool") { 1 } else { 0 }
        }

        fn digits(kind: u32, bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
            match kind {
                1 => write!(to, "{}", bits != 0),
                $( $code => {
                    let $bits = bits;
                    notation!($notation $value, bits as $width, specification, to)
                } )*
                _ => write!(to, "{bits:#x}"),
            }
        }
    };
}
kinds! {
    2 "i8" integer |bits| bits as i8, u8;
    3 "i16" integer |bits| bits as i16, u16;
    4 "i32" integer |bits| bits as i32, u32;
    5 "i64" integer |bits| bits as i64, u64;
    6 "u8" integer |bits| bits as u8, u8;
    7 "u16" integer |bits| bits as u16, u16;
    8 "u32" integer |bits| bits as u32, u32;
    9 "u64" integer |bits| bits, u64;
    10 "f16" float |bits| Cast::<f32>::cast(f16::from_bits(bits as u16)), u16;
    11 "bf16" float |bits| Cast::<f32>::cast(bf16::from_bits(bits as u16)), u16;
    12 "f32" float |bits| f32::from_bits(bits as u32), u32;
    13 "f64" float |bits| f64::from_bits(bits), u64;
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

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
                for i in 0..next().min(MAXIMUM_RANK as u64) {
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

    struct Tile(u32, ShapeDescription, fn(usize) -> u64);

    impl Value for Tile {
        fn kind(&self) -> u32 {
            self.0
        }
        fn shape(&self) -> ShapeDescription {
            self.1
        }
        fn bits(&self, flat: usize) -> u64 {
            (self.2)(flat)
        }
    }

    const SCALAR: ShapeDescription = ShapeDescription { rank: 0, log: [0; 4] };

    fn shown(text: &str, value: &Tile) -> std::string::String {
        Message { text, arguments: &|_, take| take(value) }.to_string()
    }

    #[test]
    fn elements_look_as_in_rust() {
        let number = Tile(4, SCALAR, |_| -42i32 as u32 as u64);
        let float = Tile(12, SCALAR, |_| 2.5f32.to_bits().into());
        assert_eq!(shown("{} {:6} {:<6}| {:^7} {:06} {:#x} {:+}", &number), {
            let x = -42i32;
            std::format!("{x} {x:6} {x:<6}| {x:^7} {x:06} {x:#x} {x:+}")
        });
        assert_eq!(shown("{} {:?} {:.3} {:e} {:+08.2} {:*>9}", &float), {
            let x = 2.5f32;
            std::format!("{x} {x:?} {x:.3} {x:e} {x:+08.2} {x:*>9}")
        });
        assert_eq!(shown("{{{}}}", &Tile(1, SCALAR, |_| 1)), "{true}");
        assert_eq!(shown("{}", &Tile(10, SCALAR, |_| 0x3e00)), "1.5");
        assert_eq!(shown("{}", &Tile(99, SCALAR, |_| 0x3e00)), "0x3e00");
    }

    #[test]
    fn tiles_have_brackets_for_each_axis() {
        let tile = Tile(8, ShapeDescription { rank: 2, log: [1, 2, 0, 0] }, |flat| flat as u64);
        assert_eq!(shown("{}", &tile), "[[0, 1, 2, 3], [4, 5, 6, 7]]");
        let tile = Tile(8, ShapeDescription { rank: 3, log: [0, 1, 0, 0] }, |flat| flat as u64);
        assert_eq!(shown("{:2}", &tile), "[[[ 0], [ 1]]]");
    }

    #[test]
    fn places_are_counted() {
        for (text, count) in [("", 0), ("{}", 1), ("{{}}", 0), ("a {:?} b {:>8.3e}", 2), ("{{{}}}", 1)] {
            assert_eq!(places(text), count, "{text}");
        }
        for text in ["{", "}", "{:q}", "{0}", "{name}"] {
            assert_eq!(places(text), usize::MAX, "{text}");
        }
    }

    #[test]
    fn reports_have_lists() {
        let report = Report { operation: "load", text: " of tile {[]} in {}", numbers: &[2, 5, 6, 7] };
        assert_eq!(report.to_string(), "load of tile [5, 6] in 7");
    }
}
