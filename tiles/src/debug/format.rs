//! Texts with `{}`, filled with tiles and scalars where the text is shown: on the host.
//!
//! The language is that of `std::fmt`: `{}`, `{:?}`, `{:8.3}`, `{:>+10}`, `{:#010x}`, with arguments in order. Numbers
//! look as `std` writes them. The pieces of a text are found at compile time too, to count them.

use crate::element::{Cast, bf16, f16, i4};
use crate::sealed::Sealed;
use crate::shape::{MAXIMUM_RANK, ShapeDescription};
use core::fmt::{self, Write};

/// What a text is filled with: the elements of a tile, or one number.
pub trait Value: Sealed {
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
    /// The letter of the notation; 0 for none.
    notation: u8,
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
            notation: 0,
        };
        let mut at = begin;
        if at == end {
            return Some(result);
        }
        if text[at] != b':' {
            return None;
        }
        at += 1;
        if at < end {
            let (fill, next) = character(text, at);
            if next < end && matches!(text[next], b'<' | b'^' | b'>') {
                result.fill = fill;
                at = next;
            }
        }
        if at < end && matches!(text[at], b'<' | b'^' | b'>') {
            result.align = Some(text[at]);
            at += 1;
        }
        if at < end && matches!(text[at], b'+' | b'-') {
            // `-` is a flag that means nothing, as in `std`.
            result.plus = text[at] == b'+';
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
        (result.width, at) = match count(text, at, end) {
            Some(width) => width,
            None => return None,
        };
        if at < end && text[at] == b'.' {
            let digits = at + 1;
            match count(text, digits, end) {
                Some((precision, next)) if next > digits => (result.precision, at) = (Some(precision), next),
                _ => return None,
            }
        }
        if at < end && matches!(text[at], b'?' | b'x' | b'X' | b'o' | b'b' | b'e' | b'E') {
            result.notation = text[at];
            at += 1;
        }
        if at < end && text[at] == b'?' && matches!(result.notation, b'x' | b'X') {
            // `{:x?}`: numbers with a fraction have no such digits, and are written as by `{:?}`.
            result.notation = if result.notation == b'x' { DEBUG_HEX } else { DEBUG_UPPER_HEX };
            at += 1;
        }
        if at == end { Some(result) } else { None }
    }
}

/// The notation of `{:x?}`.
const DEBUG_HEX: u8 = b'd';
/// The notation of `{:X?}`.
const DEBUG_UPPER_HEX: u8 = b'D';

/// The character of a valid text that begins at byte `at`, and where it ends.
const fn character(text: &[u8], at: usize) -> (char, usize) {
    let first = text[at] as u32;
    let (mut code, following) = match first {
        0..0x80 => (first, 0),
        0x80..0xe0 => (first & 0x1f, 1),
        0xe0..0xf0 => (first & 0x0f, 2),
        _ => (first & 0x07, 3),
    };
    let (mut next, end) = (at + 1, at + 1 + following);
    while next < end {
        code = code << 6 | (text[next] & 0x3f) as u32;
        next += 1;
    }
    match char::from_u32(code) {
        Some(character) => (character, end),
        None => (char::REPLACEMENT_CHARACTER, end),
    }
}

/// The number at byte `at`, 0 if there are no digits, and where it ends; `None` if it is larger than `std` takes.
const fn count(text: &[u8], at: usize, end: usize) -> Option<(usize, usize)> {
    let (mut number, mut at) = (0, at);
    while at < end && text[at].is_ascii_digit() {
        number = 10 * number + (text[at] - b'0') as usize;
        if number > u16::MAX as usize {
            return None;
        }
        at += 1;
    }
    Some((number, at))
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

/// Counts characters.
struct Measure(usize);

impl Write for Measure {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.chars().count();
        Ok(())
    }
}

/// One element, with padding. Zeros between sign and digits are `std`'s, any other padding is not: its fill is part of the
/// text of a format, which has to be known when `std` is called.
fn show_element(kind: u32, bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
    if specification.zeros && kind != BOOL {
        return unpadded(kind, bits, specification, to);
    }
    let without_width = Specification { width: 0, ..specification };
    let mut measure = Measure(0);
    unpadded(kind, bits, without_width, &mut measure)?;
    let room = specification.width.saturating_sub(measure.0);
    let (before, after) = match specification.align {
        Some(b'<') => (0, room),
        Some(b'^') => (room / 2, room - room / 2),
        None if kind == BOOL => (0, room),
        _ => (room, 0),
    };
    (0..before).try_for_each(|_| to.write_char(specification.fill))?;
    unpadded(kind, bits, without_width, to)?;
    (0..after).try_for_each(|_| to.write_char(specification.fill))
}

/// A number in a notation, with the flags and the precision that bear on it, and zeros up to the width.
macro_rules! notation {
    ($value:expr, $specification:ident, $to:ident, $notation:literal) => {
        if $specification.plus {
            write!($to, concat!("{:+0width$", $notation, "}"), $value, width = $specification.width)
        } else {
            write!($to, concat!("{:0width$", $notation, "}"), $value, width = $specification.width)
        }
    };
    (alternate $value:expr, $specification:ident, $to:ident, $notation:literal) => {
        match ($specification.plus, $specification.alternate) {
            (true, true) => {
                write!($to, concat!("{:+#0width$", $notation, "}"), $value, width = $specification.width)
            }
            (false, true) => {
                write!($to, concat!("{:#0width$", $notation, "}"), $value, width = $specification.width)
            }
            (_, false) => notation!($value, $specification, $to, $notation),
        }
    };
    (precise $value:expr, $specification:ident, $to:ident, $notation:literal) => {
        match ($specification.plus, $specification.precision) {
            (true, Some(precision)) => write!(
                $to,
                concat!("{:+0width$.precision$", $notation, "}"),
                $value,
                width = $specification.width,
                precision = precision
            ),
            (false, Some(precision)) => write!(
                $to,
                concat!("{:0width$.precision$", $notation, "}"),
                $value,
                width = $specification.width,
                precision = precision
            ),
            (_, None) => notation!($value, $specification, $to, $notation),
        }
    };
}

/// Digits of bits, in the notations that have a radix.
fn digits(bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
    match specification.notation {
        b'o' => notation!(alternate bits, specification, to, "o"),
        b'b' => notation!(alternate bits, specification, to, "b"),
        b'X' | DEBUG_UPPER_HEX => notation!(alternate bits, specification, to, "X"),
        _ => notation!(alternate bits, specification, to, "x"),
    }
}

/// A value in the notations that have none.
macro_rules! show_number {
    (integer $value:expr, $bits:expr, $specification:ident, $to:ident) => {
        match $specification.notation {
            b'e' => notation!(precise $value, $specification, $to, "e"),
            b'E' => notation!(precise $value, $specification, $to, "E"),
            0 | b'?' => notation!($value, $specification, $to, ""),
            _ => digits($bits, $specification, $to),
        }
    };
    (float $value:expr, $bits:expr, $specification:ident, $to:ident) => {
        match $specification.notation {
            b'e' => notation!(precise $value, $specification, $to, "e"),
            b'E' => notation!(precise $value, $specification, $to, "E"),
            0 => notation!(precise $value, $specification, $to, ""),
            b'?' | DEBUG_HEX | DEBUG_UPPER_HEX => notation!(precise $value, $specification, $to, "?"),
            _ => digits($bits, $specification, $to),
        }
    };
}

fn show_signed(value: i64, bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
    show_number!(integer value, bits, specification, to)
}

fn show_unsigned(value: u64, bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
    show_number!(integer value, bits, specification, to)
}

fn show_f32(value: f32, bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
    show_number!(float value, bits, specification, to)
}

fn show_f64(value: f64, bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
    show_number!(float value, bits, specification, to)
}

/// The code of `bool`.
const BOOL: u32 = 1;

/// The element types that texts know, with the codes by which they travel.
macro_rules! kinds {
    ($($code:literal $name:literal $show:ident |$bits:ident: $type:ident| $value:expr;)*) => {
        /// The code of the element type with this name; 0, whose elements are shown as their bits, for any other.
        pub const fn kind(name: &str) -> u32 {
            $(
                if equal(name, $name) {
                    return $code;
                }
            )*
            if equal(name, "bool") { BOOL } else { 0 }
        }

        /// An element without a fill. Zeros alone bring it to the specification's width.
        fn unpadded(kind: u32, bits: u64, specification: Specification, to: &mut dyn Write) -> fmt::Result {
            match kind {
                BOOL => {
                    let text = if bits != 0 { "true" } else { "false" };
                    // The precision of a text is its greatest length.
                    to.write_str(&text[..specification.precision.unwrap_or(5).min(text.len())])
                }
                $( $code => {
                    let $bits = bits as $type;
                    $show($value, $bits.into(), specification, to)
                } )*
                _ => digits(bits, Specification { alternate: true, ..specification }, to),
            }
        }
    };
}
kinds! {
    2 "i8" show_signed |bits: u8| i64::from(bits as i8);
    3 "i16" show_signed |bits: u16| i64::from(bits as i16);
    4 "i32" show_signed |bits: u32| i64::from(bits as i32);
    5 "i64" show_signed |bits: u64| bits as i64;
    6 "u8" show_unsigned |bits: u8| u64::from(bits);
    7 "u16" show_unsigned |bits: u16| u64::from(bits);
    8 "u32" show_unsigned |bits: u32| u64::from(bits);
    9 "u64" show_unsigned |bits: u64| bits;
    10 "f16" show_f32 |bits: u16| Cast::<f32>::cast(f16::from_bits(bits));
    11 "bf16" show_f32 |bits: u16| Cast::<f32>::cast(bf16::from_bits(bits));
    12 "f32" show_f32 |bits: u32| f32::from_bits(bits);
    13 "f64" show_f64 |bits: u64| f64::from_bits(bits);
    14 "i4" show_signed |bits: u8| i64::from(i4::from_bits(bits).to_i8());
    15 "u4" show_unsigned |bits: u8| u64::from(bits);
}

const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

#[cfg(test)]
mod tests;
