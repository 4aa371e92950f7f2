//! Floats as bits: what number they are, and which float a number is rounded to.

use crate::element::Element;

/// How a number is rounded that a float cannot hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs, reason = "the variants are named as the library's modes are")]
pub enum Rounding {
    NearestEven,
    TowardZero,
    TowardNegative,
    TowardPositive,
}

impl Rounding {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::NearestEven, Self::TowardZero, Self::TowardNegative, Self::TowardPositive];

    /// Its name in the library.
    pub fn name(self) -> &'static str {
        match self {
            Self::NearestEven => "NearestEven",
            Self::TowardZero => "TowardZero",
            Self::TowardNegative => "TowardNegative",
            Self::TowardPositive => "TowardPositive",
        }
    }
}

/// Bits of the fraction and of the exponent.
fn format(element: Element) -> (u32, u32) {
    match element {
        Element::F16 => (10, 5),
        Element::Bf16 => (7, 8),
        Element::F32 => (23, 8),
        Element::F64 => (52, 11),
        _ => panic!("{element:?} is not a float"),
    }
}

/// How many bits the significand has, the leading one included.
pub fn precision(element: Element) -> i32 {
    format(element).0 as i32 + 1
}

/// The exponent of the least positive number, as a power of two.
pub fn least_exponent(element: Element) -> i32 {
    let (fraction, exponent) = format(element);
    2 - (1 << (exponent - 1)) - fraction as i32
}

/// The largest finite number.
pub fn largest(element: Element) -> f64 {
    decode(element, infinity(element) - 1)
}

/// The bits of infinity.
pub fn infinity(element: Element) -> u64 {
    let (fraction, exponent) = format(element);
    ((1 << exponent) - 1) << fraction
}

/// The bits of a NaN.
pub fn nan(element: Element) -> u64 {
    infinity(element) | 1 << (format(element).0 - 1)
}

/// The bit of the sign.
pub fn sign(element: Element) -> u64 {
    1 << (element.bits() - 1)
}

/// Whether these bits are a NaN.
pub fn is_nan(element: Element, bits: u64) -> bool {
    element.is_float() && bits & !sign(element) > infinity(element)
}

/// 2 to a power, also where the result is subnormal.
pub fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        ..-1074 => 0.0,
        -1074..-1022 => f64::from_bits(1 << (exponent + 1074)),
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        _ => f64::INFINITY,
    }
}

/// The number that these bits are.
pub fn decode(element: Element, bits: u64) -> f64 {
    if element == Element::F64 {
        return f64::from_bits(bits);
    }
    let (fraction, exponent) = format(element);
    let magnitude = bits & !sign(element);
    let value = if magnitude > infinity(element) {
        f64::NAN
    } else if magnitude == infinity(element) {
        f64::INFINITY
    } else {
        let digits = magnitude & ((1 << fraction) - 1);
        match magnitude >> fraction {
            0 => digits as f64 * power_of_two(least_exponent(element)),
            field => {
                let leading = digits | 1 << fraction;
                leading as f64 * power_of_two(field as i32 - (1 << (exponent - 1)) + 1 - fraction as i32)
            }
        }
    };
    if bits & sign(element) != 0 { -value } else { value }
}

/// The bits of `value`, which the element type holds exactly, or of the number that it is rounded to.
pub fn encode(element: Element, value: f64, rounding: Rounding) -> u64 {
    if value.is_nan() {
        return nan(element);
    }
    let negative = value.is_sign_negative();
    if value.is_infinite() {
        return infinity(element) | if negative { sign(element) } else { 0 };
    }
    let bits = value.abs().to_bits();
    let (field, digits) = (bits >> 52, bits & ((1 << 52) - 1));
    let (significand, exponent) =
        if field == 0 { (digits, -1074) } else { (digits | 1 << 52, field as i32 - 1075) };
    round(element, negative, u128::from(significand), exponent, rounding)
}

/// The bits of `significand` times 2 to the power `exponent`, rounded once.
pub fn round(element: Element, negative: bool, significand: u128, exponent: i32, rounding: Rounding) -> u64 {
    let signed = |bits: u64| bits | if negative { sign(element) } else { 0 };
    if significand == 0 {
        return signed(0);
    }
    let (fraction, width) = format(element);
    let bias = (1 << (width - 1)) - 1;
    // The exponent of the last digit that is kept.
    let highest = exponent + 127 - significand.leading_zeros() as i32;
    let last = (highest - fraction as i32).max(least_exponent(element));
    let mut kept = if last <= exponent { significand << (exponent - last).min(127) } else { 0 };
    if last > exponent {
        let cut = (last - exponent) as u32;
        kept = if cut > 127 { 0 } else { significand >> cut };
        let rest = if cut > 127 { significand } else { significand & ((1 << cut) - 1) };
        let half = if cut > 127 { u128::MAX } else { 1 << (cut - 1) };
        let up = match rounding {
            Rounding::NearestEven => rest > half || rest == half && kept & 1 == 1,
            Rounding::TowardZero => false,
            Rounding::TowardNegative => negative && rest != 0,
            Rounding::TowardPositive => !negative && rest != 0,
        };
        kept += u128::from(up);
    }
    // A carry into the next power of two makes the field of the exponent one larger by itself.
    let normal = kept >= 1 << fraction;
    let field = if normal { (last + fraction as i32 + bias) as u64 } else { 0 };
    let bits = if normal { (field << fraction) + (kept as u64 - (1 << fraction)) } else { kept as u64 };
    if bits >= infinity(element) {
        let away = match rounding {
            Rounding::NearestEven => true,
            Rounding::TowardZero => false,
            Rounding::TowardNegative => negative,
            Rounding::TowardPositive => !negative,
        };
        return signed(if away { infinity(element) } else { infinity(element) - 1 });
    }
    signed(bits)
}

/// `value` rounded to the nearest number of the element type.
pub fn nearest(element: Element, value: f64) -> f64 {
    match element {
        Element::F64 => value,
        Element::F32 => f64::from(value as f32),
        _ => decode(element, encode(element, value, Rounding::NearestEven)),
    }
}

/// `value` rounded to nearest, ties to even, with so many digits, the last of them not below 2 to the power `least`.
pub fn with_digits(value: f64, digits: i32, least: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(-1022);
    let unit = power_of_two((exponent + 1 - digits).max(least));
    // Division by a power of two is exact here: `f64` has digits and exponents to spare.
    (value / unit).round_ties_even() * unit
}

/// The nearest float to an integer.
pub fn from_integer(element: Element, value: i128, rounding: Rounding) -> u64 {
    round(element, value < 0, value.unsigned_abs(), 0, rounding)
}

/// The distance of neighbouring numbers of the element type near `value`.
pub fn unit_in_the_last_place(element: Element, value: f64) -> f64 {
    let value = value.abs();
    if !value.is_finite() {
        return 0.0;
    }
    let field = (value.to_bits() >> 52) as i32;
    let exponent = if field == 0 { -1074 } else { field - 1075 };
    // `exponent` is that of the last of 53 digits.
    power_of_two((exponent + 53 - precision(element)).max(least_exponent(element)))
}

/// The exact sum of a product and a number, as the nearest `f64` that is odd where it is not exact: rounding it to a shorter
/// format then rounds once.
pub fn fused_odd(a: f64, b: f64, c: f64) -> f64 {
    // Factors of at most 24 bits: the product is exact.
    let product = a * b;
    let sum = product + c;
    if !sum.is_finite() || !product.is_finite() {
        return sum;
    }
    let part = sum - product;
    let error = (product - (sum - part)) + (c - part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    // The exact sum lies on the side of the error: the odd neighbour there.
    let away = (error > 0.0) == (sum > 0.0);
    if sum == 0.0 { error } else { f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 }) }
}
