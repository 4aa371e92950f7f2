//! What tensors hold before a launch.

use crate::element::Element;
use crate::number::{self, Rounding};
use crate::program::Argument;
use crate::random::Random;
use serde::{Deserialize, Serialize};

/// How the elements of a tensor are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Fill {
    /// Every bit is one, which shows what a kernel does not write.
    Poison,
    /// All are one.
    Ones,
    /// The row-major numbers, as far as they go.
    Counting,
    /// Small whole numbers and eighths: sums and products of a few are exact.
    Small(u64),
    /// Indices from a few below 0 to a few above the given number.
    Indices(u64, usize),
    /// Numbers of all digits between -4 and 4; integers of all bits.
    Digits(u64),
    /// Numbers of all magnitudes; integers at their limits.
    Wide(u64),
    /// The same with zeros of both signs, infinities and NaN.
    Special(u64),
}

/// The bits of a number.
pub fn constant(element: Element, value: f64) -> u64 {
    match element {
        Element::Bool => u64::from(value != 0.0),
        _ if element.is_float() => number::encode(element, value, Rounding::NearestEven),
        _ => element.wrap(value as i128),
    }
}

/// The bits of all elements, in row-major order.
pub fn elements(argument: &Argument) -> Vec<u64> {
    let element = argument.element;
    let mut random = match argument.fill {
        Fill::Small(seed)
        | Fill::Indices(seed, _)
        | Fill::Digits(seed)
        | Fill::Wide(seed)
        | Fill::Special(seed) => Random::new(seed),
        _ => Random::new(0),
    };
    (0..argument.len()).map(|number| one(element, argument.fill, number, &mut random)).collect()
}

fn one(element: Element, fill: Fill, number: usize, random: &mut Random) -> u64 {
    match fill {
        Fill::Poison => poison(element),
        Fill::Ones => constant(element, 1.0),
        Fill::Counting => constant(element, number as f64),
        Fill::Indices(_, limit) => constant(element, random.between(-2, limit as i64 + 2) as f64),
        _ if element == Element::Bool => random.bits() & 1,
        Fill::Small(_) if element.is_float() => {
            let value = if random.once_in(2) {
                random.between(-4, 4) as f64
            } else {
                random.between(-32, 32) as f64 / 8.0
            };
            constant(element, value)
        }
        Fill::Small(_) => {
            constant(element, random.between(if element.is_signed() { -8 } else { 0 }, 9) as f64)
        }
        Fill::Special(_) if random.once_in(5) => special(element, random),
        Fill::Wide(_) if random.once_in(3) => limit(element, random),
        Fill::Wide(_) | Fill::Special(_) if element.is_float() => {
            let magnitude = random.bits() % number::infinity(element);
            magnitude | if random.once_in(2) { number::sign(element) } else { 0 }
        }
        _ if element.is_float() => {
            let value = (random.bits() >> 11) as f64 / (1u64 << 50) as f64 - 4.0;
            constant(element, value)
        }
        _ => element.wrap(i128::from(random.bits())),
    }
}

/// Every bit is one; of `bool`, which is a byte, the one bit that it may have.
pub fn poison(element: Element) -> u64 {
    element.wrap(-1)
}

fn special(element: Element, random: &mut Random) -> u64 {
    if !element.is_float() {
        return limit(element, random);
    }
    let magnitude = random.choose(&[
        0,
        1,
        number::infinity(element),
        number::infinity(element) - 1,
        number::nan(element),
    ]);
    let negative = random.once_in(2) && !number::is_nan(element, magnitude);
    magnitude | if negative { number::sign(element) } else { 0 }
}

fn limit(element: Element, random: &mut Random) -> u64 {
    if element.is_float() {
        return constant(element, random.choose(&[0.0, 1.0, -1.0, 0.5, -2.0, 3.0]));
    }
    let (least, greatest) = element.range();
    element.wrap(random.choose(&[least, least + 1, -1, 0, 1, 2, greatest - 1, greatest]))
}
