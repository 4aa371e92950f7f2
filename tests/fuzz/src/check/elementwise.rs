//! The types of what is computed element by element, and of conversions.

use super::{Given, Problem, Results, broadcast, common_shape, one, require, require_axis};
use crate::element::Element;
use crate::functions;
use crate::number::Rounding;
use crate::operations::binary_result;
use crate::program::{Binary, Function, TileType, Unary};

pub(super) fn unary(given: &Given<'_>, unary: Unary) -> Results {
    use Unary::*;
    let tile = given.only_tile()?;
    let element = tile.element;
    let fits = match unary {
        Neg | Abs | Sign => element.is_number(),
        Not => !element.is_float(),
        CountOnes | LeadingZeros | TrailingZeros | ReverseBits => element.is_integer(),
        IsNan | IsInfinite => element.is_number(),
        Sqrt | Reciprocal | Floor | Ceil | Trunc | RoundEven => element.is_float(),
        Flatten => !tile.shape.is_empty(),
        LogicalNot | Blocked => true,
    };
    require(fits, "an operation of the type")?;
    let element = match unary {
        IsNan | IsInfinite | LogicalNot => Element::Bool,
        _ => element,
    };
    one(element, if unary == Flatten { vec![tile.len()] } else { tile.shape.clone() })
}

pub(super) fn function(given: &Given<'_>, function: Function) -> Results {
    let tile = given.only_tile()?;
    require(functions::is_for(function, tile.element), "a float")?;
    Ok(vec![tile.clone()])
}

pub(super) fn powi(given: &Given<'_>) -> Results {
    let tile = given.only_tile()?;
    require(tile.element.is_float(), "a float")?;
    Ok(vec![tile.clone()])
}

pub(super) fn sqrt_rounded(given: &Given<'_>) -> Results {
    let tile = given.tile()?;
    require(tile.element.is_float() && tile.element != Element::F64, "a short float")?;
    Ok(vec![tile.clone()])
}

pub(super) fn binary(given: &Given<'_>, binary: Binary) -> Results {
    given.count(2)?;
    Ok(vec![binary_type(given, binary)?])
}

pub(super) fn rounded(given: &Given<'_>, binary: Binary) -> Results {
    given.count(2)?;
    given.tile()?;
    require(matches!(binary, Binary::Add | Binary::Sub | Binary::Mul), "an operation that rounds")?;
    let result = binary_type(given, binary)?;
    require(matches!(result.element, Element::F16 | Element::Bf16 | Element::F32), "a short float")?;
    Ok(vec![result])
}

pub(super) fn div_rem(given: &Given<'_>) -> Results {
    given.count(2)?;
    given.tile()?;
    let result = binary_type(given, Binary::Div)?;
    require(result.element.is_integer(), "integers")?;
    Ok(vec![result.clone(), result])
}

/// The type of the only result of an operation that has two operands.
fn binary_type(given: &Given<'_>, binary: Binary) -> Result<TileType, Problem> {
    use Binary::*;
    let types = given.types;
    let tiles = [given.is_tile(0), given.is_tile(1)];
    let (a, b) = (types[0].element, types[1].element);
    require(tiles[0] || tiles[1], "a tile")?;
    if !tiles[0] {
        require(matches!(binary, Add | Sub | Mul | Div | Rem | And | Or | Xor) && a == b, "an operator")?;
    }
    let shape = broadcast(&types[0].shape, &types[1].shape).ok_or("shapes that broadcast")?;
    match binary {
        ShiftLeft | ShiftRight | RotateLeft | RotateRight => {
            require(a.is_integer() && b.is_integer(), "integers")?;
            require(tiles[1] || b == Element::U32, "an amount of u32")?;
            return Ok(TileType { element: a, shape });
        }
        LogicalAnd | LogicalOr | LogicalXor => {
            require(tiles[1] || a == b, "a number of the tile's type")?;
            return Ok(TileType { element: Element::Bool, shape });
        }
        CopySign => {
            require(a == b && a.is_float(), "floats of one type")?;
            return Ok(TileType { element: a, shape });
        }
        _ => {}
    }
    require(tiles[0] && tiles[1] || a == b, "a number of the tile's type")?;
    let common = a.promote(b).ok_or("a common type")?;
    let fits = match binary {
        Equal | NotEqual => true,
        And | Or | Xor => !common.is_float(),
        MulHi | SaturatingAdd | SaturatingSub | SaturatingMul | AbsDiff => common.is_integer(),
        // References of two operands are those of `f64`.
        Atan2 | Hypot | Pow => common.is_float() && common != Element::F64,
        _ => common.is_number(),
    };
    require(fits, "an operation of the type")?;
    Ok(TileType { element: binary_result(binary, common), shape })
}

pub(super) fn fma(given: &Given<'_>, rounding: Option<Rounding>) -> Results {
    given.count(3)?;
    let element = given.tile()?.element;
    require(
        element.is_float() && given.types.iter().all(|tile| tile.element == element),
        "floats of one type",
    )?;
    let nearest = rounding.is_none_or(|rounding| rounding == Rounding::NearestEven);
    require(nearest || element != Element::F64, "a short float")?;
    one(element, common_shape(given.types)?)
}

pub(super) fn clamp(given: &Given<'_>) -> Results {
    given.count(3)?;
    let element = given.tile()?.element;
    require(
        element.is_number() && given.types.iter().all(|tile| tile.element == element),
        "numbers of one type",
    )?;
    one(element, common_shape(given.types)?)
}

pub(super) fn select(given: &Given<'_>) -> Results {
    given.count(3)?;
    require(given.tile()?.element == Element::Bool, "a condition")?;
    require(given.types[1].element == given.types[2].element, "choices of one type")?;
    one(given.types[1].element, common_shape(given.types)?)
}

pub(super) fn cast(given: &Given<'_>, element: Element) -> Results {
    one(element, given.only_tile()?.shape.clone())
}

pub(super) fn cast_rounded(given: &Given<'_>, element: Element, rounding: Rounding) -> Results {
    let tile = given.only_tile()?;
    require(cast_with(tile.element, element, rounding), "a conversion that has the mode")?;
    one(element, tile.shape.clone())
}

pub(super) fn bitcast(given: &Given<'_>, element: Element) -> Results {
    let tile = given.only_tile()?;
    require(
        element.bytes() == tile.element.bytes() && element != Element::Bool && tile.element != Element::Bool,
        "a type of the same size",
    )?;
    one(element, tile.shape.clone())
}

pub(super) fn cast_through(given: &Given<'_>) -> Results {
    let tile = given.only_tile()?;
    require(tile.element.is_float(), "a float")?;
    Ok(vec![tile.clone()])
}

pub(super) fn promote_mixed(given: &Given<'_>) -> Results {
    given.count(2)?;
    require(given.is_tile(0) && given.is_tile(1), "two tiles")?;
    let (a, b) = (given.types[0].element, given.types[1].element);
    require(a.is_integer() && b.is_integer(), "integers")?;
    let element = mixed(a, b);
    Ok(given.types.iter().map(|tile| TileType { element, shape: tile.shape.clone() }).collect())
}

pub(super) fn repack(given: &Given<'_>, element: Element, axis: usize) -> Results {
    let tile = given.only_tile()?;
    require_axis(axis, &tile.shape)?;
    let bits = tile.shape[axis] * tile.element.bits() as usize;
    require(bits >= 8 && bits >= element.bits() as usize, "whole elements")?;
    let mut shape = tile.shape.clone();
    shape[axis] = bits / element.bits() as usize;
    one(element, shape)
}

/// Between which floats a cast has a mode, in which this crate knows it.
fn cast_with(from: Element, to: Element, rounding: Rounding) -> bool {
    use Element::{Bf16, F16, F32, F64};
    match (from, to) {
        (F16 | Bf16, F32 | F64) | (F32, F64) | (F64, F32) | (Bf16, F16) => true,
        (F16 | F32 | F64, F16 | Bf16) => matches!(rounding, Rounding::NearestEven | Rounding::TowardZero),
        _ => false,
    }
}

/// The common type of two integers of any signedness by the rules of C++.
pub(crate) fn mixed(a: Element, b: Element) -> Element {
    match a.promote(b) {
        Some(common) => common,
        None => {
            let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
            if signed.bytes() > unsigned.bytes() { signed } else { unsigned }
        }
    }
}
