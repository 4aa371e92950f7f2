//! What is computed element by element, and conversions.

use super::tile::{Tile, common_shape};
use crate::check::mixed;
use crate::element::Element;
use crate::functions;
use crate::number::{self, Rounding};
use crate::operations;
use crate::program::{Binary, Function, ShortFloat, Unary};
use crate::scalar::Scalar::{Known, Unknown};

pub(super) fn unary(unary: Unary, tile: &Tile) -> Tile {
    let element = match unary {
        Unary::IsNan | Unary::IsInfinite | Unary::LogicalNot => Element::Bool,
        _ => tile.element,
    };
    let result = tile.map(element, |value| operations::unary(unary, tile.element, value));
    if unary == Unary::Flatten { result.reshaped(&[tile.values.len()]) } else { result }
}

pub(super) fn function(function: Function, tile: &Tile) -> Tile {
    tile.map(tile.element, |value| functions::apply(function, tile.element, value))
}

pub(super) fn powi(tile: &Tile, exponent: i32) -> Tile {
    tile.map(tile.element, |value| operations::powi(tile.element, value, exponent))
}

pub(super) fn sqrt_rounded(rounding: Rounding, tile: &Tile) -> Tile {
    tile.map(tile.element, |value| operations::sqrt_rounded(tile.element, rounding, value))
}

pub(super) fn binary(binary: Binary, a: &Tile, b: &Tile) -> Tile {
    let apart = matches!(
        binary,
        Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::RotateLeft
            | Binary::RotateRight
            | Binary::LogicalAnd
            | Binary::LogicalOr
            | Binary::LogicalXor
            | Binary::CopySign
    );
    let shape = common_shape(&[a, b]);
    if apart {
        let result = operations::binary_result(binary, a.element);
        return Tile::new(result, &shape, |at| {
            operations::binary(binary, a.element, b.element, a.spread(at), b.spread(at))
        });
    }
    let (a, b) = promoted(a, b);
    let common = a.element;
    Tile::new(operations::binary_result(binary, common), &shape, |at| {
        operations::binary(binary, common, common, a.spread(at), b.spread(at))
    })
}

pub(super) fn rounded(binary: Binary, rounding: Rounding, a: &Tile, b: &Tile) -> Tile {
    let (a, b) = promoted(a, b);
    Tile::new(a.element, &common_shape(&[&a, &b]), |at| {
        operations::rounded(binary, a.element, rounding, a.spread(at), b.spread(at))
    })
}

pub(super) fn div_rem(floored: bool, a: &Tile, b: &Tile) -> Vec<Tile> {
    let (a, b) = promoted(a, b);
    let shape = common_shape(&[&a, &b]);
    let one = |which: usize| {
        Tile::new(a.element, &shape, |at| {
            operations::div_rem(a.element, floored, a.spread(at), b.spread(at))[which]
        })
    };
    vec![one(0), one(1)]
}

/// Both tiles in their common type.
fn promoted(a: &Tile, b: &Tile) -> (Tile, Tile) {
    let common = a.element.promote(b.element).expect("a common type");
    (a.converted(common), b.converted(common))
}

pub(super) fn fma(rounding: Option<Rounding>, operands: &[Tile]) -> Tile {
    let [a, b, c] = [&operands[0], &operands[1], &operands[2]];
    let rounding = rounding.unwrap_or(Rounding::NearestEven);
    Tile::new(a.element, &common_shape(&[a, b, c]), |at| {
        operations::fma(a.element, rounding, a.spread(at), b.spread(at), c.spread(at))
    })
}

pub(super) fn clamp(operands: &[Tile]) -> Tile {
    let [a, b, c] = [&operands[0], &operands[1], &operands[2]];
    Tile::new(a.element, &common_shape(&[a, b, c]), |at| {
        operations::clamp(a.element, a.spread(at), b.spread(at), c.spread(at))
    })
}

pub(super) fn select(operands: &[Tile]) -> Tile {
    let [a, b, c] = [&operands[0], &operands[1], &operands[2]];
    Tile::new(b.element, &common_shape(&[a, b, c]), |at| {
        operations::select(b.element, a.spread(at), b.spread(at), c.spread(at))
    })
}

pub(super) fn cast_rounded(tile: &Tile, element: Element, rounding: Rounding) -> Tile {
    tile.map(element, |value| operations::cast_rounded(tile.element, element, value, rounding))
}

pub(super) fn bitcast(tile: &Tile, element: Element) -> Tile {
    tile.map(element, |value| operations::bitcast(tile.element, element, value))
}

pub(super) fn cast_through(tile: &Tile, short: ShortFloat) -> Tile {
    tile.map(tile.element, |value| operations::cast_through(tile.element, short, value))
}

pub(super) fn promote_mixed(a: &Tile, b: &Tile) -> Vec<Tile> {
    let element = mixed(a.element, b.element);
    vec![a.converted(element), b.converted(element)]
}

/// The bits along an axis, the low ones first, cut up anew.
pub(super) fn repack(tile: &Tile, element: Element, axis: usize) -> Tile {
    let (from, to) = (tile.element.bits() as usize, element.bits() as usize);
    let mut shape = tile.shape.clone();
    shape[axis] = shape[axis] * from / to;
    Tile::new(element, &shape, |at| {
        let mut bits = 0u64;
        for k in 0..to {
            let bit = at[axis] * to + k;
            let mut source = at.to_vec();
            source[axis] = bit / from;
            match tile.at(&source) {
                Known(word) if !number::is_nan(tile.element, word) => bits |= (word >> (bit % from) & 1) << k,
                _ => return Unknown,
            }
        }
        Known(bits)
    })
}
