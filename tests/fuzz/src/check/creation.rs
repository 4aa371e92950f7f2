//! The types of tiles that are made of numbers.

use super::{Given, Results, one, require, require_axis_or_all};
use crate::element::Element;
use crate::program::Draw;

pub(super) fn full(given: &Given<'_>, shape: &[usize]) -> Results {
    given.count(1)?;
    require(!given.is_tile(0), "a tile is full of a number")?;
    one(given.types[0].element, shape.to_vec())
}

pub(super) fn iota(element: Element, shape: &[usize]) -> Results {
    let last = shape.iter().product::<usize>() as i128 - 1;
    require(element.is_integer() && last <= element.range().1, "numbers that the type holds")?;
    one(element, shape.to_vec())
}

pub(super) fn coordinate(axis: Option<usize>, shape: &[usize]) -> Results {
    require_axis_or_all(axis, shape)?;
    one(Element::U32, shape.to_vec())
}

pub(super) fn eye(element: Element, length: usize) -> Results {
    require(element.is_number(), "a number")?;
    one(element, vec![length, length])
}

pub(super) fn arange(element: Element, shape: &[usize]) -> Results {
    require(element.is_number(), "a number")?;
    one(element, shape.to_vec())
}

pub(super) fn philox(draw: Draw, shape: &[usize]) -> Results {
    use Element::{I32, I64, U32, U64};
    let element = match draw {
        Draw::Bits(element) => {
            require(matches!(element, U32 | U64), "bits of u32 or u64")?;
            element
        }
        Draw::Uniform(element) | Draw::UniformAboveZero(element) => {
            require(element.is_float(), "a float")?;
            element
        }
        Draw::Range(element, first, last) => {
            require(matches!(element, I32 | I64 | U32 | U64), "an integer of 32 or 64 bits")?;
            require(element.integer(first) <= element.integer(last), "a range that is not empty")?;
            element
        }
        Draw::Bernoulli(_) => Element::Bool,
    };
    one(element, shape.to_vec())
}
