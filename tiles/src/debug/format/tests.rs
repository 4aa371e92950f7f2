//! Texts, and numbers against what `std` makes of them.

extern crate std;

use super::*;
use proptest::prelude::*;
use std::fmt::{Binary, Debug, Display, LowerExp, LowerHex, Octal, UpperExp, UpperHex};
use std::string::{String, ToString};

struct Tile(u32, ShapeDescription, fn(usize) -> u64);
crate::sealed::sealed! { [] Tile; }

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

fn shown(text: &str, value: &dyn Value) -> String {
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
    assert_eq!(shown("{} {:#x}", &Tile(14, SCALAR, |_| 0xd)), "-3 0xd");
    assert_eq!(shown("{}", &Tile(15, SCALAR, |_| 0xd)), "13");
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
    for (text, count) in
        [("", 0), ("{}", 1), ("{{}}", 0), ("a {:?} b {:>8.3e}", 2), ("{{{}}}", 1), ("{:é^9x?}", 1)]
    {
        assert_eq!(places(text), count, "{text}");
    }
    let malformed = [
        "{",
        "}",
        "{:q}",
        "{0}",
        "{name}",
        "{:65536}",
        "{:.65536}",
        "{:99999999999999999999999}",
        "{:.}",
        "{:x!}",
    ];
    for text in malformed {
        assert_eq!(places(text), usize::MAX, "{text}");
    }
}

/// Compares one value in each notation given, with each alignment, sign and flag, with what `std` writes.
macro_rules! compare {
    ($value:ident $bits:ident $kind:ident $width:ident $precision:ident; $($notation:literal)*) => {
        $( compare!(@align $value $bits $kind $width $precision $notation; "" "*<" "é^" ">" "0<"); )*
    };
    (@align $value:ident $bits:ident $kind:ident $width:ident $precision:ident $notation:literal; $($align:literal)*) => {
        $(
            compare!(@flags $value $bits $kind $width $precision $notation $align;
                "" "+" "-" "#" "0" "+#" "+0" "-#0" "#0" "+#0");
        )*
    };
    (@flags $value:ident $bits:ident $kind:ident $width:ident $precision:ident $notation:literal $align:literal; $($flags:literal)*) => {
        $( {
            let width = if $width > 0 { $width.to_string() } else { String::new() };
            let expected = std::format!(concat!("{:", $align, $flags, "width$", $notation, "}"), $value, width = $width);
            let text = std::format!("{{:{}{}{width}{}}}", $align, $flags, $notation);
            agree(&text, &Number($kind, $bits), &expected)?;
            let expected = std::format!(
                concat!("{:", $align, $flags, "width$.precision$", $notation, "}"),
                $value, width = $width, precision = $precision
            );
            let text = std::format!("{{:{}{}{width}.{}{}}}", $align, $flags, $precision, $notation);
            agree(&text, &Number($kind, $bits), &expected)?;
        } )*
    };
}

/// A number of the type with this code.
struct Number(u32, u64);
crate::sealed::sealed! { [] Number; }

impl Value for Number {
    fn kind(&self) -> u32 {
        self.0
    }
    fn shape(&self) -> ShapeDescription {
        SCALAR
    }
    fn bits(&self, _: usize) -> u64 {
        self.1
    }
}

fn agree(text: &str, number: &Number, expected: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(shown(text, number), expected, "{} of {:#x}", text, number.1);
    Ok(())
}

trait Integer: Display + Debug + LowerExp + UpperExp + LowerHex + UpperHex + Octal + Binary {}
impl<T: Display + Debug + LowerExp + UpperExp + LowerHex + UpperHex + Octal + Binary> Integer for T {}
trait Float: Display + Debug + LowerExp + UpperExp {}
impl<T: Display + Debug + LowerExp + UpperExp> Float for T {}

fn integer(
    value: &dyn Integer,
    bits: u64,
    kind: u32,
    width: usize,
    precision: usize,
) -> Result<(), TestCaseError> {
    compare!(value bits kind width precision; "" "?" "x" "X" "o" "b" "e" "E" "x?" "X?");
    Ok(())
}

fn float(
    value: &dyn Float,
    bits: u64,
    kind: u32,
    width: usize,
    precision: usize,
) -> Result<(), TestCaseError> {
    compare!(value bits kind width precision; "" "?" "e" "E" "x?" "X?");
    Ok(())
}

/// Bits of all lengths, and of numbers of particular interest.
fn bits() -> impl Strategy<Value = u64> {
    let special = prop::sample::select(std::vec![
        0.0,
        -0.0,
        1.0,
        -1.5,
        1e16,
        1e-7,
        123456.78,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        5e-324
    ]);
    prop_oneof![
        2 => (any::<u64>(), 0_u32..64).prop_map(|(bits, less)| bits >> less),
        1 => (any::<u64>(), 0_u32..64).prop_map(|(bits, less)| !(bits >> less)),
        1 => special.clone().prop_map(f64::to_bits),
        1 => special.clone().prop_map(|x| (x as f32).to_bits().into()),
        1 => special.clone().prop_map(|x| f16::from_f64(x).to_bits().into()),
        1 => special.prop_map(|x| bf16::from_f64(x).to_bits().into()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(50),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn numbers_look_as_std_writes_them(bits in bits(), width in 0_usize..40, precision in 0_usize..20) {
        integer(&(bits as i8), bits as u8 as u64, 2, width, precision)?;
        integer(&(bits as i16), bits as u16 as u64, 3, width, precision)?;
        integer(&(bits as i32), bits as u32 as u64, 4, width, precision)?;
        integer(&(bits as i64), bits, 5, width, precision)?;
        integer(&(bits as u8), bits as u8 as u64, 6, width, precision)?;
        integer(&(bits as u16), bits as u16 as u64, 7, width, precision)?;
        integer(&(bits as u32), bits as u32 as u64, 8, width, precision)?;
        integer(&bits, bits, 9, width, precision)?;
        float(&f16::from_bits(bits as u16).to_f32(), bits as u16 as u64, 10, width, precision)?;
        float(&bf16::from_bits(bits as u16).to_f32(), bits as u16 as u64, 11, width, precision)?;
        float(&f32::from_bits(bits as u32), bits as u32 as u64, 12, width, precision)?;
        float(&f64::from_bits(bits), bits, 13, width, precision)?;
        let (value, bits, kind) = (bits % 2 == 1, bits % 2, 1);
        compare!(value bits kind width precision; "" "?");
    }

    #[test]
    fn any_text_is_shown(text in "[{}:<^>+\\-#0-9.?xXobeEé ]{0,12}", bits in any::<u64>(), kind in 0_u32..16) {
        // Whether it is well formed or not, nothing overflows, and what is no place stays.
        let counted = places(&text);
        let found = shown(&text, &Number(kind, bits));
        if counted == 0 {
            prop_assert_eq!(found, text.replace("{{", "{").replace("}}", "}"));
        }
    }
}
