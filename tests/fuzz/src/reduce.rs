//! Reductions, scans, sorts and products: what a row of elements becomes, in whatever order it is added up.

use crate::data::constant;
use crate::element::Element;
use crate::number::{self, Rounding, decode, largest, least_exponent, power_of_two, precision};
use crate::operations;
use crate::program::{Binary, Reduction, Scan};
use crate::scalar::Scalar::{self, Known, Unknown};

/// What the elements of a row become.
pub fn reduce(by: Reduction, element: Element, row: &[Scalar]) -> Scalar {
    let fold = |binary: Binary| {
        let mut rest = row.iter().copied();
        let first = rest.next().unwrap_or(Unknown);
        rest.fold(first, |a, b| operations::binary(binary, element, element, a, b))
    };
    match by {
        Reduction::Sum => accumulated(element, row, sum),
        Reduction::Prod => accumulated(element, row, product_of),
        Reduction::Mean => accumulated(element, row, |element, row| {
            let share = Known(constant(element, 1.0 / row.len() as f64));
            operations::binary(Binary::Mul, element, element, sum(element, row), share)
        }),
        Reduction::Max => fold(Binary::Maximum),
        Reduction::Min => fold(Binary::Minimum),
        Reduction::MaxNan => fold(Binary::MaximumNan),
        Reduction::MinNan => fold(Binary::MinimumNan),
        Reduction::BitAnd => fold(Binary::And),
        Reduction::BitOr => fold(Binary::Or),
        Reduction::BitXor => fold(Binary::Xor),
        Reduction::Any => truth(row, 1),
        Reduction::All => truth(row, 0),
        Reduction::Count => {
            let ones: Option<Vec<i128>> = row.iter().map(|value| value.integer(Element::Bool)).collect();
            ones.map_or(Unknown, |ones| Known(ones.iter().sum::<i128>() as u64))
        }
        Reduction::Argmax => position(element, row, true),
        Reduction::Argmin => position(element, row, false),
    }
}

/// What a row becomes in the type that it is added up in: `f16` and `bf16` in `f32`, to be rounded once.
fn accumulated(element: Element, row: &[Scalar], combine: impl Fn(Element, &[Scalar]) -> Scalar) -> Scalar {
    if !matches!(element, Element::F16 | Element::Bf16) {
        return combine(element, row);
    }
    let row: Vec<Scalar> = row.iter().map(|&value| operations::cast(element, Element::F32, value)).collect();
    operations::cast(Element::F32, element, combine(Element::F32, &row))
}

/// Whether one of the truths is `deciding`, which decides, or none.
fn truth(row: &[Scalar], deciding: u64) -> Scalar {
    if row.contains(&Known(deciding)) {
        Known(deciding)
    } else if row.contains(&Unknown) {
        Unknown
    } else {
        Known(1 - deciding)
    }
}

/// The first position of the largest or smallest element; of NaN alone 0.
fn position(element: Element, row: &[Scalar], of_largest: bool) -> Scalar {
    if !element.is_float() {
        let values: Option<Vec<i128>> = row.iter().map(|value| value.integer(element)).collect();
        let Some(values) = values else { return Unknown };
        let best = if of_largest { values.iter().max() } else { values.iter().min() };
        return Known(values.iter().position(|value| Some(value) == best).unwrap_or(0) as u64);
    }
    let mut best: Option<(usize, f64, f64)> = None;
    let mut certain = true;
    for (number, &value) in row.iter().enumerate() {
        if value.is_nan(element) {
            continue;
        }
        let Some((low, high)) = value.bounds(element) else { return Unknown };
        let (low, high) = if of_largest { (low, high) } else { (-high, -low) };
        match best {
            Some((_, best_low, best_high)) => {
                // Surely not better, or surely better; else neither is known.
                if high <= best_low && !(high == best_low && best_low != best_high && high > low) {
                    continue;
                }
                certain &= low > best_high;
                best = Some((number, low.max(best_low), high.max(best_high)));
            }
            None => best = Some((number, low, high)),
        }
    }
    if certain { Known(best.map_or(0, |best| best.0) as u64) } else { Unknown }
}

/// The bounds of all elements, if none may be a NaN or an infinity.
fn finite(element: Element, row: &[Scalar]) -> Option<Vec<(f64, f64)>> {
    let bounds = row.iter().map(|value| value.bounds(element)).collect::<Option<Vec<_>>>()?;
    bounds.iter().all(|(low, high)| low.is_finite() && high.is_finite()).then_some(bounds)
}

/// The power of two of which all the numbers are multiples.
fn common_unit(values: impl Iterator<Item = f64>) -> i32 {
    values
        .filter(|&value| value != 0.0)
        .map(|value| {
            let bits = value.to_bits();
            let (field, digits) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
            let (significand, exponent) =
                if field == 0 { (digits, -1074) } else { (digits | 1 << 52, field as i32 - 1075) };
            exponent + significand.trailing_zeros() as i32
        })
        .min()
        .unwrap_or(0)
}

/// Whether every sum of some of these numbers is a number of the element type.
fn sums_are_exact(element: Element, values: &[f64]) -> bool {
    let unit = common_unit(values.iter().copied());
    let total: f64 = values.iter().map(|value| value.abs()).sum();
    let fits = total <= power_of_two((unit + precision(element)).min(1023)) && total < largest(element);
    unit >= least_exponent(element) && fits
}

/// The sum in any order.
fn sum(element: Element, row: &[Scalar]) -> Scalar {
    if !element.is_float() {
        let values: Option<Vec<i128>> = row.iter().map(|value| value.integer(element)).collect();
        return values.map_or(Unknown, |values| {
            Known(element.wrap(values.iter().fold(0, |sum: i128, value| sum.wrapping_add(*value))))
        });
    }
    if row.len() == 1 {
        return row[0];
    }
    if row.iter().any(|value| value.is_nan(element)) {
        return Known(number::nan(element));
    }
    let Some(bounds) = finite(element, row) else { return sum_with_infinities(element, row) };
    let known =
        bounds.iter().all(|(low, high)| low == high) && row.iter().all(|value| matches!(value, Known(_)));
    let values: Vec<f64> = bounds.iter().map(|bound| bound.0).collect();
    if known && sums_are_exact(element, &values) {
        let total: f64 = values.iter().sum();
        let negative_zero = values.iter().all(|value| *value == 0.0 && value.is_sign_negative());
        let total = if total == 0.0 { if negative_zero { -0.0 } else { 0.0 } } else { total };
        return Known(number::encode(element, total, Rounding::NearestEven));
    }
    uncertain_sum(element, &bounds, 1.0)
}

/// A sum whose every addition may round.
fn uncertain_sum(element: Element, bounds: &[(f64, f64)], roundings: f64) -> Scalar {
    let low: f64 = bounds.iter().map(|bound| bound.0).sum();
    let high: f64 = bounds.iter().map(|bound| bound.1).sum();
    let magnitude: f64 = bounds.iter().map(|(low, high)| low.abs().max(high.abs())).sum();
    if magnitude.is_nan() || magnitude * 1.01 >= largest(element) {
        return Unknown;
    }
    let unit = power_of_two(-precision(element));
    // Each of at most n - 1 additions on the way of an element errs by half a unit of a partial sum, which grow by errors, too.
    let additions = bounds.len() as f64 * roundings;
    let growth = (1.0 + unit).powf(additions);
    // What `f64` errs by, and a unit for results that are subnormal.
    let error = additions * unit * magnitude * growth * 1.0001
        + additions * magnitude * power_of_two(-51)
        + power_of_two(least_exponent(element));
    Scalar::around(element, low - error, high + error, false)
}

/// A sum with an infinity, or with something that may be anything.
fn sum_with_infinities(element: Element, row: &[Scalar]) -> Scalar {
    let Some(bounds) = row.iter().map(|value| value.bounds(element)).collect::<Option<Vec<_>>>() else {
        return Unknown;
    };
    let sure = |infinity: f64| bounds.contains(&(infinity, infinity));
    let possible = |infinity: f64| bounds.iter().any(|bound| bound.0 == infinity || bound.1 == infinity);
    let magnitude: f64 = bounds
        .iter()
        .flat_map(|bound| [bound.0, bound.1])
        .filter(|value| value.is_finite())
        .map(f64::abs)
        .sum();
    let quiet = magnitude * 1.01 < largest(element);
    match (sure(f64::INFINITY), sure(f64::NEG_INFINITY)) {
        (true, true) => Known(number::nan(element)),
        (true, false) if quiet && !possible(f64::NEG_INFINITY) => Known(number::infinity(element)),
        (false, true) if quiet && !possible(f64::INFINITY) => {
            Known(number::infinity(element) | number::sign(element))
        }
        _ => Unknown,
    }
}

/// The product in any order.
fn product_of(element: Element, row: &[Scalar]) -> Scalar {
    if !element.is_float() {
        let values: Option<Vec<i128>> = row.iter().map(|value| value.integer(element)).collect();
        return values.map_or(Unknown, |values| {
            Known(values.iter().fold(element.wrap(1), |product, value| {
                element.wrap(element.integer(product).wrapping_mul(*value))
            }))
        });
    }
    if row.len() == 1 {
        return row[0];
    }
    if row.iter().any(|value| value.is_nan(element)) {
        return Known(number::nan(element));
    }
    let Some(bounds) = finite(element, row) else { return Unknown };
    let zero = row.iter().any(|value| matches!(value, Known(bits) if decode(element, *bits) == 0.0));
    // No partial product may leave the range, in whatever order.
    let logarithms: f64 = bounds
        .iter()
        .filter(|bound| bound.0 != 0.0 || bound.1 != 0.0)
        .map(|(low, high)| low.abs().max(high.abs()).log2().abs())
        .sum();
    let room = f64::from(-least_exponent(element) - precision(element)).min(largest(element).log2()) - 1.0;
    if logarithms > room {
        return Unknown;
    }
    if row.iter().all(|value| matches!(value, Known(_))) {
        let values: Vec<f64> = bounds.iter().map(|bound| bound.0).collect();
        if zero {
            let negative = values.iter().filter(|value| value.is_sign_negative()).count() % 2 == 1;
            return Known(if negative { number::sign(element) } else { 0 });
        }
        // All digits of the factors together, without trailing zeros, are digits of every product.
        let digits: i32 = values
            .iter()
            .map(|&value| (value.abs().log2().floor() as i32) - common_unit(std::iter::once(value)) + 1)
            .map(|digits| if digits == 1 { 0 } else { digits })
            .sum();
        let product: f64 = values.iter().product();
        if digits <= precision(element) {
            return Known(number::encode(element, product, Rounding::NearestEven));
        }
        let error = 1.001 * (values.len() as f64) * power_of_two(-precision(element)) * product.abs();
        return Scalar::around(element, product - error, product + error, false);
    }
    Unknown
}

/// What a running combination of a row is.
pub fn scan(by: Scan, element: Element, row: &[Scalar], exclusive: bool, backward: bool) -> Vec<Scalar> {
    let mut row = row.to_vec();
    if backward {
        row.reverse();
    }
    let reduction = match by {
        Scan::Sum => Reduction::Sum,
        Scan::Prod => Reduction::Prod,
        Scan::Max => Reduction::Max,
        Scan::Min => Reduction::Min,
    };
    let mut results: Vec<Scalar> = (0..row.len())
        .map(|last| match (exclusive, last) {
            (true, 0) => Known(identity(by, element)),
            (true, _) => reduce(reduction, element, &row[..last]),
            (false, _) => reduce(reduction, element, &row[..=last]),
        })
        .collect();
    if backward {
        results.reverse();
    }
    results
}

/// What an exclusive scan begins with.
fn identity(by: Scan, element: Element) -> u64 {
    match by {
        Scan::Sum => 0,
        Scan::Prod => constant(element, 1.0),
        Scan::Max if element.is_float() => number::infinity(element) | number::sign(element),
        Scan::Min if element.is_float() => number::infinity(element),
        Scan::Max => element.wrap(element.range().0),
        Scan::Min => element.wrap(element.range().1),
    }
}

/// A row sorted, and where its elements come from: NaN are the largest, -0 is below +0, equal elements keep their order.
pub fn sort(element: Element, row: &[Scalar], descending: bool) -> (Vec<Scalar>, Vec<Scalar>) {
    let nobody = (vec![Unknown; row.len()], vec![Unknown; row.len()]);
    let bits: Option<Vec<u64>> =
        row.iter().map(|value| if let Known(bits) = value { Some(*bits) } else { None }).collect();
    let Some(bits) = bits else {
        // The k-th of the lower bounds and the k-th of the upper bounds hold the k-th element.
        let Some(bounds) = element.is_float().then(|| finite(element, row)).flatten() else { return nobody };
        let (mut lows, mut highs): (Vec<f64>, Vec<f64>) = bounds.into_iter().unzip();
        lows.sort_by(f64::total_cmp);
        highs.sort_by(f64::total_cmp);
        let mut sorted: Vec<Scalar> =
            lows.iter().zip(&highs).map(|(&low, &high)| Scalar::between(element, low, high, false)).collect();
        if descending {
            sorted.reverse();
        }
        return (sorted, nobody.1);
    };
    let key = |number: usize| -> (bool, i128) {
        let bits = bits[number];
        if !element.is_float() {
            return (false, element.integer(bits));
        }
        let (sign, magnitude) = (bits & number::sign(element), i128::from(bits & !number::sign(element)));
        // -0 is -1, so that it is below +0.
        (number::is_nan(element, bits), if sign != 0 { -magnitude - 1 } else { magnitude })
    };
    let mut order: Vec<usize> = (0..row.len()).collect();
    if descending {
        order.sort_by_key(|&number| std::cmp::Reverse(key(number)));
    } else {
        order.sort_by_key(|&number| key(number));
    }
    let nans = order.iter().filter(|&&number| key(number).0).count();
    let sorted = order.iter().map(|&number| row[number]).collect();
    // Whose NaN comes first depends on payloads.
    let from = order
        .iter()
        .map(|&number| if nans > 1 && key(number).0 { Unknown } else { Known(number as u64) })
        .collect();
    (sorted, from)
}

/// A number plus the products of pairs, in any order.
pub fn product(factors: [Element; 2], element: Element, pairs: &[[Scalar; 2]], start: Scalar) -> Scalar {
    if !element.is_float() {
        let mut sum = match start.integer(element) {
            Some(start) => start,
            None => return Unknown,
        };
        for pair in pairs {
            match (pair[0].integer(factors[0]), pair[1].integer(factors[1])) {
                (Some(a), Some(b)) => sum += a * b,
                _ => return Unknown,
            }
        }
        return Known(element.wrap(sum));
    }
    let known = |element: Element, scalar: Scalar| match scalar {
        Known(bits) => Some(decode(element, bits)).filter(|value| value.is_finite()),
        _ => None,
    };
    let products: Option<Vec<f64>> =
        pairs.iter().map(|pair| Some(known(factors[0], pair[0])? * known(factors[1], pair[1])?)).collect();
    let (Some(mut terms), Some(start)) = (products, known(element, start)) else { return Unknown };
    terms.push(start);
    // Of `f64` the products themselves are rounded.
    let exact_products = element != Element::F64 || sums_are_exact(Element::F32, &terms);
    if exact_products && sums_are_exact(element, &terms) {
        let total: f64 = terms.iter().sum();
        return if total == 0.0 {
            Scalar::between(element, 0.0, 0.0, false)
        } else {
            Known(number::encode(element, total, Rounding::NearestEven))
        };
    }
    let bounds: Vec<(f64, f64)> = terms.iter().map(|&term| (term, term)).collect();
    // Tensor cores cut off where others round, and keep few digits below those of the largest term.
    uncertain_sum(element, &bounds, 4.0)
}
