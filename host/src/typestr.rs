//! NumPy's names of element types: `<f4` is a little-endian float of four bytes.

use std::fmt;

use crate::sealed::Sealed;
use cuda_tiles::element::{Element, f16};

/// An element type that NumPy has itself: all but those of fewer than 16 bits, `bf16` and `tf32`. Those go there as their bits:
/// [`TensorView::bitcast`](crate::TensorView::bitcast).
pub trait NumpyElement: Element + Sealed {
    /// The type's name, without byte order.
    const TYPE: &'static str;
}

macro_rules! numpy_types {
    ($($type:ty: $name:literal;)*) => { $(
        impl NumpyElement for $type {
            const TYPE: &'static str = $name;
        }
    )* };
}
numpy_types! {
    bool: "b1";
    i8: "i1";
    i16: "i2";
    i32: "i4";
    i64: "i8";
    u8: "u1";
    u16: "u2";
    u32: "u4";
    u64: "u8";
    f16: "f2";
    f32: "f4";
    f64: "f8";
}

/// The type of an array's elements, as a `typestr` says it: byte order, kind and bytes of an element.
///
/// ```
/// use cuda_tiles_host::TypeStr;
///
/// let halves: TypeStr = "<f2".parse()?;
/// assert_eq!((halves.kind(), halves.bytes()), ('f', 2));
/// assert_eq!("c16".parse::<TypeStr>().unwrap_err().to_string(), "`c16` is no type of NumPy: byte order `c` is none of < > | =");
/// # Ok::<(), cuda_tiles_host::TypeStrError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeStr {
    is_swapped: bool,
    kind: char,
    bytes: usize,
}

/// Why a text is no `typestr`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{typestr}` is no type of NumPy: {problem}")]
pub struct TypeStrError {
    typestr: String,
    problem: String,
}

/// The longest text of a type that an error repeats.
const LONGEST: usize = 60;

impl TypeStr {
    /// The type of `T`, in this machine's byte order.
    pub fn of<T: NumpyElement>() -> Self {
        let kind = T::TYPE.chars().next().unwrap_or('V');
        Self { is_swapped: false, kind, bytes: size_of::<T>() }
    }

    /// The kind of number: `b` bool, `i` signed, `u` unsigned, `f` float, `c` complex, `m` and `M` times, `O` objects, `S`, `U` and `V`
    /// bytes and text.
    pub fn kind(self) -> char {
        self.kind
    }

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        self.bytes
    }

    /// Whether the bytes of each element are in the other order than this machine's.
    pub fn is_swapped(self) -> bool {
        self.is_swapped
    }

    /// Whether the elements are `T`, in whichever byte order.
    pub fn is<T: NumpyElement>(self) -> bool {
        Self { is_swapped: false, ..self } == Self::of::<T>()
    }
}

impl std::str::FromStr for TypeStr {
    type Err = TypeStrError;

    fn from_str(typestr: &str) -> Result<Self, TypeStrError> {
        let refuse = |problem: String| {
            let typestr = typestr.chars().take(LONGEST).collect();
            Err(TypeStrError { typestr, problem })
        };
        let mut characters = typestr.chars();
        let (Some(order), Some(kind)) = (characters.next(), characters.next()) else {
            return refuse("it has fewer than three characters".to_owned());
        };
        if !"<>|=".contains(order) {
            return refuse(format!("byte order `{order}` is none of < > | ="));
        }
        if !"biufcmMOSUV".contains(kind) {
            return refuse(format!("kind `{kind}` is none of b i u f c m M O S U V"));
        }
        let digits = characters.as_str();
        let bytes = match digits.parse::<usize>() {
            Ok(bytes) if digits.bytes().all(|digit| digit.is_ascii_digit()) => bytes,
            _ => {
                return refuse(format!(
                    "`{}` is no number of bytes",
                    digits.chars().take(LONGEST).collect::<String>()
                ));
            }
        };
        let foreign = if cfg!(target_endian = "little") { '>' } else { '<' };
        if order == '|' && bytes > 1 && "iufc".contains(kind) {
            return refuse(format!("numbers of {bytes} bytes have a byte order, < or >"));
        }
        Ok(Self { is_swapped: order == foreign && bytes > 1, kind, bytes })
    }
}

impl fmt::Display for TypeStr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_order = self.bytes > 1 && "iufcmMU".contains(self.kind);
        let order = match (has_order, self.is_swapped == cfg!(target_endian = "big")) {
            (false, _) => '|',
            (true, true) => '<',
            (true, false) => '>',
        };
        write!(formatter, "{order}{}{}", self.kind, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for name in ["|b1", "|i1", "|u1", "<i2", ">i2", "<u8", "<f2", ">f8", "<c16", "|V2", "|S5"] {
            assert_eq!(name.parse::<TypeStr>().unwrap().to_string(), name);
        }
        assert_eq!("=f4".parse(), Ok(TypeStr::of::<f32>()));
        assert_eq!("<u1".parse(), Ok(TypeStr::of::<u8>()));
        assert_eq!(TypeStr::of::<f16>().to_string(), "<f2");
        assert!(">i8".parse::<TypeStr>().unwrap().is::<i64>() && !TypeStr::of::<i64>().is::<u64>());
    }

    #[test]
    fn what_is_no_type_is_refused() {
        for (text, problem) in [
            ("", "fewer than three characters"),
            ("<", "fewer than three characters"),
            ("f4", "byte order `f` is none of"),
            ("<q4", "kind `q` is none of"),
            ("<f", "`` is no number of bytes"),
            ("<f+4", "`+4` is no number of bytes"),
            ("<f99999999999999999999999", "is no number of bytes"),
            ("|f4", "numbers of 4 bytes have a byte order"),
            ("<é4", "kind `é` is none of"),
        ] {
            let message = text.parse::<TypeStr>().unwrap_err().to_string();
            assert!(message.contains(problem), "{message}");
        }
    }
}
