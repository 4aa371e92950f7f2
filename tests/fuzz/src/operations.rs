//! Operations on single elements.

use crate::element::Element;
use crate::functions;
use crate::number::{self, Rounding, decode, encode};
use crate::program::{Binary, ShortFloat, Unary};
use crate::scalar::{
    Scalar::{self, Known, Range, Unknown},
    monotone, monotone_to,
};

/// Converts an element: integers wrap, floats to integers are cut off and saturate, everything rounds to nearest.
pub fn cast(from: Element, to: Element, scalar: Scalar) -> Scalar {
    cast_rounded(from, to, scalar, Rounding::NearestEven)
}

/// Converts an element; a float that the target type does not hold is rounded in this direction.
pub fn cast_rounded(from: Element, to: Element, scalar: Scalar, rounding: Rounding) -> Scalar {
    if from == to {
        return scalar;
    }
    match (from.is_float(), to.is_float()) {
        (true, true) => monotone_to(from, to, &[scalar], |x| encode(to, x[0], rounding)),
        (false, true) => match scalar.integer(from) {
            Some(value) => Known(number::from_integer(to, value, rounding)),
            None => Unknown,
        },
        (false, false) => match scalar.integer(from) {
            Some(value) => Known(to.wrap(value)),
            None => Unknown,
        },
        (true, false) => match scalar.bounds(from) {
            None if scalar.is_nan(from) => Known(u64::from(to == Element::Bool)),
            None => Unknown,
            Some((low, high)) if to == Element::Bool => match (low == high, low > 0.0 || high < 0.0) {
                (true, _) => Known(u64::from(low != 0.0)),
                (false, true) => Known(1),
                (false, false) => Unknown,
            },
            Some((low, high)) => {
                let (low, high) = (saturated(to, low), saturated(to, high));
                if low == high { Known(low) } else { Unknown }
            }
        },
    }
}

fn saturated(to: Element, value: f64) -> u64 {
    let (least, greatest) = to.range();
    to.wrap((value.trunc() as i128).clamp(least, greatest))
}

/// Converts an element to a short float and back: to nearest, and of 8 bits never beyond the greatest number.
pub fn cast_through(element: Element, short: ShortFloat, scalar: Scalar) -> Scalar {
    let (digits, least, largest) = match short {
        ShortFloat::F8e4m3 => (4, -9, 448.0),
        ShortFloat::F8e5m2 => (3, -16, 57344.0),
        ShortFloat::Tf32 => (11, -136, f64::INFINITY),
    };
    monotone(element, &[scalar], |x| {
        if x[0].is_nan() {
            return number::nan(element);
        }
        let rounded = number::with_digits(x[0], digits, least);
        // Beyond the largest number of the type's exponents tf32 is infinite, as other floats are.
        let beyond = short == ShortFloat::Tf32 && rounded.abs() >= number::power_of_two(128);
        let rounded = if beyond { f64::INFINITY.copysign(rounded) } else { rounded };
        encode(element, rounded.clamp(-largest, largest), Rounding::NearestEven)
    })
}

/// Reads the bits as another type of the same size.
pub fn bitcast(from: Element, to: Element, scalar: Scalar) -> Scalar {
    match scalar {
        _ if from == to => scalar,
        // The payload of a NaN is nobody's promise.
        Known(bits) if !number::is_nan(from, bits) => Known(bits),
        _ => Unknown,
    }
}

/// The result type of a binary operation on elements of a common type.
pub fn binary_result(binary: Binary, common: Element) -> Element {
    use Binary::*;
    match binary {
        Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | LogicalAnd | LogicalOr
        | LogicalXor => Element::Bool,
        AbsDiff => common.unsigned(),
        _ => common,
    }
}

/// A binary operation of two elements of one type; of shifts and rotations the second one is of type `right`.
pub fn binary(binary: Binary, element: Element, right: Element, a: Scalar, b: Scalar) -> Scalar {
    use Binary::*;
    match binary {
        LogicalAnd | LogicalOr | LogicalXor => {
            let (a, b) = (cast(element, Element::Bool, a), cast(right, Element::Bool, b));
            match (binary, a, b) {
                (LogicalAnd, Known(0), _) | (LogicalAnd, _, Known(0)) => Known(0),
                (LogicalOr, Known(1), _) | (LogicalOr, _, Known(1)) => Known(1),
                (LogicalXor, Known(a), Known(b)) => Known(a ^ b),
                (_, Known(a), Known(b)) => Known(if binary == LogicalAnd { a & b } else { a | b }),
                _ => Unknown,
            }
        }
        _ if element.is_float() => float_binary(binary, element, a, b),
        _ => match (a.integer(element), b.integer(right)) {
            (Some(a), Some(b)) => Known(integer_binary(binary, element, a, b)),
            _ => Unknown,
        },
    }
}

fn integer_binary(binary: Binary, element: Element, a: i128, b: i128) -> u64 {
    use Binary::*;
    let (least, greatest) = element.range();
    let width = i128::from(element.bits());
    let truth = u64::from;
    let value = match binary {
        Add => a + b,
        Sub => a - b,
        Mul => a.wrapping_mul(b),
        Div => {
            if b == 0 {
                0
            } else {
                a / b
            }
        }
        Rem => {
            if b == 0 {
                a
            } else {
                a % b
            }
        }
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        ShiftLeft => {
            if (0..width).contains(&b) {
                a << b
            } else {
                0
            }
        }
        ShiftRight => {
            if (0..width).contains(&b) {
                a >> b
            } else if a < 0 {
                -1
            } else {
                0
            }
        }
        Minimum | MinimumNan => a.min(b),
        Maximum | MaximumNan => a.max(b),
        FloorDiv => {
            if b == 0 {
                0
            } else {
                a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)
            }
        }
        CeilDiv => {
            if b == 0 {
                0
            } else {
                -(-a).div_euclid(b) + i128::from(b < 0 && (-a).rem_euclid(b) != 0)
            }
        }
        Modulo => match b {
            0 => a,
            _ => {
                let rest = a.rem_euclid(b);
                if b < 0 && rest != 0 { rest + b } else { rest }
            }
        },
        MulHi => match element {
            Element::U64 => ((a as u128 * b as u128) >> 64) as i128,
            _ => (a * b) >> element.bits(),
        },
        SaturatingAdd => (a + b).clamp(least, greatest),
        SaturatingSub => (a - b).clamp(least, greatest),
        SaturatingMul => a.checked_mul(b).unwrap_or(greatest).clamp(least, greatest),
        AbsDiff => return element.unsigned().wrap((a - b).abs()),
        RotateLeft | RotateRight => {
            let amount = (if binary == RotateLeft { b } else { -b }).rem_euclid(width) as u32;
            let bits = element.wrap(a);
            let around = if amount == 0 { 0 } else { bits >> (width as u32 - amount) };
            i128::from(bits << amount | around)
        }
        Equal => return truth(a == b),
        NotEqual => return truth(a != b),
        Less => return truth(a < b),
        LessEqual => return truth(a <= b),
        Greater => return truth(a > b),
        GreaterEqual => return truth(a >= b),
        LogicalAnd | LogicalOr | LogicalXor | CopySign | Atan2 | Hypot | Pow => {
            panic!("{} is not of integers", binary.name())
        }
    };
    element.wrap(value)
}

/// The result of `+ - * /` of two numbers of the element type.
fn arithmetic(binary: Binary, element: Element, rounding: Rounding, a: f64, b: f64) -> u64 {
    // Of floats of at most 24 bits the result of `f64`, rounded once more, is as if rounded once: 53 is at least 2 * 24 + 2.
    let value = match binary {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        _ => a / b,
    };
    encode(element, value, rounding)
}

/// `+ - *` in a direction, of floats of at most 24 bits.
///
/// # Panics
/// If it is `f64`.
pub fn rounded(binary: Binary, element: Element, rounding: Rounding, a: Scalar, b: Scalar) -> Scalar {
    assert!(element != Element::F64, "directed rounding of f64 has no reference");
    monotone(element, &[a, b], |x| {
        if rounding == Rounding::NearestEven {
            return arithmetic(binary, element, rounding, x[0], x[1]);
        }
        let fused = match binary {
            Binary::Add => number::fused_odd(x[0], 1.0, x[1]),
            Binary::Sub => number::fused_odd(x[0], 1.0, -x[1]),
            _ => x[0] * x[1],
        };
        // A sum of numbers that cancel is +0, and -0 where it is rounded down.
        let cancels = binary != Binary::Mul && fused == 0.0 && (x[0] != 0.0 || x[1] != 0.0);
        let zeros = binary != Binary::Mul && x[0] == 0.0 && x[1] == 0.0;
        if cancels || zeros && fused.is_sign_positive() && differ(binary, x[0], x[1]) {
            return if rounding == Rounding::TowardNegative { number::sign(element) } else { 0 };
        }
        encode(element, fused, rounding)
    })
}

/// Whether the two zeros of a sum or difference have different signs.
fn differ(binary: Binary, a: f64, b: f64) -> bool {
    let b = if binary == Binary::Sub { -b } else { b };
    a.is_sign_negative() != b.is_sign_negative()
}

/// Whether the smaller or the larger one of two floats is the first: -0 is smaller than +0.
fn below(a: f64, b: f64) -> bool {
    a < b || a == b && a.is_sign_negative()
}

fn extremum(element: Element, largest: bool, propagate: bool, a: f64, b: f64) -> u64 {
    let value = match (a.is_nan(), b.is_nan()) {
        (true, true) => f64::NAN,
        (true, false) | (false, true) if propagate => f64::NAN,
        (true, false) => b,
        (false, true) => a,
        _ => {
            if below(a, b) != largest {
                a
            } else {
                b
            }
        }
    };
    encode(element, value, Rounding::NearestEven)
}

fn float_binary(binary: Binary, element: Element, a: Scalar, b: Scalar) -> Scalar {
    use Binary::*;
    let contains_zero = |scalar: Scalar| {
        !matches!(scalar, Known(_))
            && scalar.bounds(element).is_none_or(|(low, high)| low <= 0.0 && high >= 0.0)
    };
    match binary {
        Add | Sub | Mul => {
            monotone(element, &[a, b], |x| arithmetic(binary, element, Rounding::NearestEven, x[0], x[1]))
        }
        Div if contains_zero(b) => Unknown,
        Div => monotone(element, &[a, b], |x| arithmetic(binary, element, Rounding::NearestEven, x[0], x[1])),
        FloorDiv | CeilDiv if contains_zero(b) => Unknown,
        FloorDiv | CeilDiv => monotone(element, &[a, b], |x| {
            let quotient = decode(element, arithmetic(Div, element, Rounding::NearestEven, x[0], x[1]));
            let whole = if binary == FloorDiv { quotient.floor() } else { quotient.ceil() };
            encode(element, whole, Rounding::NearestEven)
        }),
        Rem | Modulo => match (a, b) {
            (Known(a), Known(b)) => Known(remainder(binary, element, decode(element, a), decode(element, b))),
            _ => Unknown,
        },
        Minimum | Maximum | MinimumNan | MaximumNan => {
            let (largest, propagate) =
                (matches!(binary, Maximum | MaximumNan), matches!(binary, MinimumNan | MaximumNan));
            match (a.is_nan(element), b.is_nan(element)) {
                (true, false) if b.bounds(element).is_some() => {
                    if propagate {
                        a
                    } else {
                        b
                    }
                }
                (false, true) if a.bounds(element).is_some() => {
                    if propagate {
                        b
                    } else {
                        a
                    }
                }
                _ => monotone(element, &[a, b], |x| extremum(element, largest, propagate, x[0], x[1])),
            }
        }
        Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual => compare(binary, element, a, b),
        CopySign => match (a, b) {
            (Known(a), Known(b)) if !number::is_nan(element, b) && !number::is_nan(element, a) => {
                let sign = number::sign(element);
                Known(a & !sign | b & sign)
            }
            (Known(a), _) if number::is_nan(element, a) => Known(a),
            _ => Unknown,
        },
        Atan2 => functions::apply_two(element, [a, b], 1.7, true, f64::atan2),
        Hypot => functions::apply_two(element, [a, b], 1.0, true, f64::hypot),
        Pow => functions::apply_two(element, [a, b], 1.0, true, f64::powf),
        _ => panic!("{} is not of floats", binary.name()),
    }
}

/// The remainder with the sign of `a`, or for `modulo` with that of `b`, rounded once.
fn remainder(binary: Binary, element: Element, a: f64, b: f64) -> u64 {
    let rest = a % b;
    if binary == Binary::Rem || rest.is_nan() {
        return encode(element, rest, Rounding::NearestEven);
    }
    if rest == 0.0 {
        return encode(element, 0f64.copysign(b), Rounding::NearestEven);
    }
    let value = if (rest < 0.0) != (b < 0.0) { rest + b } else { rest };
    encode(element, value, Rounding::NearestEven)
}

fn compare(binary: Binary, element: Element, a: Scalar, b: Scalar) -> Scalar {
    use Binary::*;
    if a.is_nan(element) || b.is_nan(element) {
        return Scalar::truth(binary == NotEqual);
    }
    let (Some((a, a_high)), Some((b, b_high))) = (a.bounds(element), b.bounds(element)) else {
        return Unknown;
    };
    let (less, greater) = (a_high < b, a > b_high);
    let (at_most, at_least) = (a_high <= b, a >= b_high);
    let equal = a == a_high && b == b_high && a == b;
    let decided = |yes: bool, no: bool| {
        if yes {
            Known(1)
        } else if no {
            Known(0)
        } else {
            Unknown
        }
    };
    match binary {
        Equal => decided(equal, less || greater),
        NotEqual => decided(less || greater, equal),
        Less => decided(less, at_least),
        LessEqual => decided(at_most, greater),
        Greater => decided(greater, at_most),
        _ => decided(at_least, less),
    }
}

/// `a * b + c`, rounded once.
pub fn fma(element: Element, rounding: Rounding, a: Scalar, b: Scalar, c: Scalar) -> Scalar {
    monotone(element, &[a, b, c], |x| match element {
        Element::F64 => x[0].mul_add(x[1], x[2]).to_bits(),
        _ => encode(element, number::fused_odd(x[0], x[1], x[2]), rounding),
    })
}

/// A unary operation, and the type of its result.
pub fn unary(unary: Unary, element: Element, a: Scalar) -> Scalar {
    use Unary::*;
    match unary {
        Flatten | Blocked => a,
        LogicalNot => match cast(element, Element::Bool, a) {
            Known(truth) => Known(1 - truth),
            _ => Unknown,
        },
        IsNan | IsInfinite if !element.is_float() => Known(0),
        IsNan => match a {
            Unknown => Unknown,
            _ => Scalar::truth(a.is_nan(element)),
        },
        IsInfinite => match a {
            Known(bits) => Scalar::truth(decode(element, bits).is_infinite()),
            Range { low, high, .. } if low.is_finite() && high.is_finite() => Known(0),
            _ => Unknown,
        },
        _ if element.is_float() => float_unary(unary, element, a),
        _ => match a.integer(element) {
            Some(value) => Known(integer_unary(unary, element, value)),
            None => Unknown,
        },
    }
}

fn integer_unary(unary: Unary, element: Element, a: i128) -> u64 {
    use Unary::*;
    let bits = element.wrap(a);
    let unused = 64 - element.bits();
    let value = match unary {
        Neg => -a,
        Not => {
            if element == Element::Bool {
                1 - a
            } else {
                !a
            }
        }
        Abs => a.abs(),
        Sign => a.signum(),
        CountOnes => i128::from(bits.count_ones()),
        LeadingZeros => i128::from(bits.leading_zeros() - unused),
        TrailingZeros => i128::from(bits.trailing_zeros().min(element.bits())),
        ReverseBits => i128::from(bits.reverse_bits() >> unused),
        _ => panic!("{} is not of integers", unary.name()),
    };
    element.wrap(value)
}

fn float_unary(unary: Unary, element: Element, a: Scalar) -> Scalar {
    use Unary::*;
    let exact = |function: fn(f64) -> f64| {
        monotone(element, &[a], |x| encode(element, function(x[0]), Rounding::NearestEven))
    };
    match unary {
        Neg => exact(|x| -x),
        Abs => match a.bounds(element) {
            Some((low, high)) if low < 0.0 && high > 0.0 => {
                Scalar::between(element, 0.0, high.max(-low), a.same())
            }
            _ => exact(f64::abs),
        },
        Sign => match a.bounds(element) {
            Some((low, high)) if low != high && low <= 0.0 && high >= 0.0 => Unknown,
            _ => exact(|x| if x == 0.0 { x } else { x.signum() }),
        },
        // Of at most 24 bits, one more rounding changes nothing: see `arithmetic`.
        Sqrt => exact(f64::sqrt),
        Reciprocal => match a {
            Range { low, high, .. } if low <= 0.0 && high >= 0.0 => Unknown,
            _ => exact(|x| 1.0 / x),
        },
        Floor => exact(f64::floor),
        Ceil => exact(f64::ceil),
        Trunc => exact(f64::trunc),
        RoundEven => exact(f64::round_ties_even),
        _ => panic!("{} is not of floats", unary.name()),
    }
}

/// The square root in a direction, of floats of at most 24 bits.
pub fn sqrt_rounded(element: Element, rounding: Rounding, a: Scalar) -> Scalar {
    monotone(element, &[a], |x| {
        let root = x[0].sqrt();
        // The side on which the root of `f64` lies, as the odd neighbour.
        let rest = (-root).mul_add(root, x[0]);
        let odd = if rest == 0.0 || !rest.is_finite() || root.to_bits() & 1 == 1 {
            root
        } else if rest > 0.0 {
            f64::from_bits(root.to_bits() + 1)
        } else {
            f64::from_bits(root.to_bits() - 1)
        };
        encode(element, odd, rounding)
    })
}

/// An element moved into a range; where the range is empty, its upper end.
pub fn clamp(element: Element, value: Scalar, low: Scalar, high: Scalar) -> Scalar {
    let raised = select(element, binary(Binary::Less, element, element, value, low), low, value);
    select(element, binary(Binary::Less, element, element, high, raised), high, raised)
}

/// What one of two elements may be, where it is not known which one.
pub fn select(element: Element, condition: Scalar, yes: Scalar, no: Scalar) -> Scalar {
    match condition {
        Known(0) => no,
        Known(_) => yes,
        _ if yes == no => yes,
        _ if !element.is_float() => Unknown,
        _ => match (yes.bounds(element), no.bounds(element)) {
            (Some(a), Some(b)) => Scalar::between(element, a.0.min(b.0), a.1.max(b.1), false),
            _ => Unknown,
        },
    }
}

/// Quotient and remainder of two integers.
pub fn div_rem(element: Element, floored: bool, a: Scalar, b: Scalar) -> [Scalar; 2] {
    let (quotient, rest) =
        if floored { (Binary::FloorDiv, Binary::Modulo) } else { (Binary::Div, Binary::Rem) };
    [binary(quotient, element, element, a, b), binary(rest, element, element, a, b)]
}

/// A float to a whole power.
pub fn powi(element: Element, a: Scalar, exponent: i32) -> Scalar {
    match a {
        Known(bits) => {
            functions::known_value(element, decode(element, bits).powf(f64::from(exponent)), 2.0, true)
        }
        _ => Unknown,
    }
}
