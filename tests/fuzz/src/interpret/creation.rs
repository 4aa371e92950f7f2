//! Tiles that are made of numbers.

use super::tile::{Tile, number_of};
use crate::data;
use crate::element::Element;
use crate::operations::{self, cast};
use crate::program::Binary;
use crate::scalar::Scalar::Known;

pub(super) fn full(number: &Tile, shape: &[usize]) -> Tile {
    Tile::new(number.element, shape, |_| number.values[0])
}

pub(super) fn iota(element: Element, shape: &[usize]) -> Tile {
    Tile::new(element, shape, |at| Known(number_of(shape, at) as u64))
}

pub(super) fn coordinate(axis: Option<usize>, shape: &[usize]) -> Tile {
    Tile::new(Element::U32, shape, |at| {
        Known(axis.map_or_else(|| number_of(shape, at), |axis| at[axis]) as u64)
    })
}

pub(super) fn eye(element: Element, length: usize) -> Tile {
    Tile::new(element, &[length, length], |at| {
        Known(data::constant(element, f64::from(u8::from(at[0] == at[1]))))
    })
}

pub(super) fn arange(element: Element, shape: &[usize], start: u64, step: u64) -> Tile {
    Tile::new(element, shape, |at| {
        let number = cast(Element::U32, element, Known(number_of(shape, at) as u64));
        let product = operations::binary(Binary::Mul, element, element, number, Known(step));
        operations::binary(Binary::Add, element, element, Known(start), product)
    })
}
