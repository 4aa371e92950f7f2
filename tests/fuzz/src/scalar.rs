//! What one element may be, and how operations carry that on.

use crate::element::Element;
use crate::number::{self, Rounding};

/// What one element may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Just these bits; any NaN for a NaN.
    Known(u64),
    /// A float from `low` to `high`, both of the element type. Zeros have either sign.
    Range {
        /// The least number.
        low: f64,
        /// The greatest number.
        high: f64,
        /// Whether every device has the same bits.
        same: bool,
    },
    /// Anything.
    Unknown,
}

use Scalar::{Known, Range, Unknown};

impl Scalar {
    /// A `bool`.
    pub fn truth(value: bool) -> Self {
        Known(u64::from(value))
    }

    /// The integer, if it is known.
    pub fn integer(self, element: Element) -> Option<i128> {
        match self {
            Known(bits) => Some(element.integer(bits)),
            _ => None,
        }
    }

    /// The least and the greatest number that a float may be; `None` where it may be a NaN.
    pub fn bounds(self, element: Element) -> Option<(f64, f64)> {
        match self {
            Known(bits) if number::is_nan(element, bits) => None,
            Known(bits) => Some((number::decode(element, bits), number::decode(element, bits))),
            Range { low, high, .. } => Some((low, high)),
            Unknown => None,
        }
    }

    /// Whether it is surely a NaN.
    pub fn is_nan(self, element: Element) -> bool {
        matches!(self, Known(bits) if number::is_nan(element, bits))
    }

    /// Whether every device has the same bits.
    pub fn same(self) -> bool {
        matches!(self, Known(_) | Range { same: true, .. })
    }

    /// A float between two numbers of the element type.
    pub fn between(element: Element, low: f64, high: f64, same: bool) -> Self {
        if low.is_nan() || high.is_nan() {
            return Unknown;
        }
        let (low, high) = (low.min(high), low.max(high));
        if low == high && low != 0.0 {
            return Known(number::encode(element, low, Rounding::NearestEven));
        }
        Range { low, high, same }
    }

    /// A float of the element type that lies between two real numbers.
    pub fn around(element: Element, low: f64, high: f64, same: bool) -> Self {
        if low.is_nan() || high.is_nan() {
            return Unknown;
        }
        let largest = number::largest(element);
        // What is beyond the largest number may have become infinite.
        let least = if low < -largest { Rounding::TowardNegative } else { Rounding::TowardPositive };
        let greatest = if high > largest { Rounding::TowardPositive } else { Rounding::TowardNegative };
        let low = number::decode(element, number::encode(element, low, least));
        let high = number::decode(element, number::encode(element, high, greatest));
        if low > high { Unknown } else { Self::between(element, low, high, same) }
    }

    /// Whether an element that has these bits may be this.
    pub fn admits(self, element: Element, bits: u64) -> bool {
        match self {
            Known(expected) => {
                bits == expected || number::is_nan(element, expected) && number::is_nan(element, bits)
            }
            Range { low, high, .. } => {
                let value = number::decode(element, bits);
                low <= value && value <= high
            }
            Unknown => true,
        }
    }

    /// Whether two devices may have these bits, of which each may be this: both are NaN, or zeros.
    pub fn admits_both(self, element: Element, first: u64, second: u64) -> bool {
        let nan = number::is_nan(element, first) && number::is_nan(element, second);
        nan || element.is_float() && (first | second) & !number::sign(element) == 0
    }

    /// What it may be, for people.
    pub fn describe(self, element: Element) -> String {
        match self {
            Known(bits) => describe(element, bits),
            Range { low, high, .. } => format!("{low:e} to {high:e}"),
            Unknown => "anything".to_owned(),
        }
    }
}

/// An element that has these bits, for people.
pub fn describe(element: Element, bits: u64) -> String {
    match element {
        Element::Bool => (bits != 0).to_string(),
        _ if element.is_float() => format!("{:e} ({bits:#x})", number::decode(element, bits)),
        _ => element.integer(bits).to_string(),
    }
}

/// A function of floats that is exact but for one rounding, which `function` has done, and that rises or falls along each of its
/// operands between the bounds of these.
pub fn monotone(element: Element, operands: &[Scalar], function: impl Fn(&[f64]) -> u64) -> Scalar {
    monotone_to(element, element, operands, function)
}

/// [`monotone`] where results have another type than operands.
pub fn monotone_to(
    from: Element,
    to: Element,
    operands: &[Scalar],
    function: impl Fn(&[f64]) -> u64,
) -> Scalar {
    if let Some(values) = known(from, operands) {
        return Known(function(&values));
    }
    // A NaN among the operands, and something uncertain: whether it is a NaN then depends on the function.
    let Some(bounds) = operands.iter().map(|scalar| scalar.bounds(from)).collect::<Option<Vec<_>>>() else {
        return Unknown;
    };
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for corner in 0..1usize << operands.len() {
        let values: Vec<f64> = bounds
            .iter()
            .enumerate()
            .map(|(position, &(low, high))| if corner >> position & 1 == 0 { low } else { high })
            .collect();
        let value = number::decode(to, function(&values));
        if value.is_nan() {
            return Unknown;
        }
        (low, high) = (low.min(value), high.max(value));
    }
    Scalar::between(to, low, high, operands.iter().all(|scalar| scalar.same()))
}

/// The operands, if all are known.
pub fn known(element: Element, operands: &[Scalar]) -> Option<Vec<f64>> {
    operands
        .iter()
        .map(|scalar| match scalar {
            Known(bits) => Some(number::decode(element, *bits)),
            _ => None,
        })
        .collect()
}
