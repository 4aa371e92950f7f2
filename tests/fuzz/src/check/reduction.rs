//! The types of reductions, scans, sorts and products.

use super::{Given, Results, one, require, require_axis, require_axis_or_all};
use crate::element::Element;
use crate::program::{Reduction, TileType};

pub(super) fn reduce(given: &Given<'_>, by: Reduction, axis: Option<usize>) -> Results {
    let tile = given.only_tile()?;
    require_axis_or_all(axis, &tile.shape)?;
    let element = reduced(by, tile.element).ok_or("a reduction of the type")?;
    let shape = match axis {
        Some(axis) => {
            let mut shape = tile.shape.clone();
            shape[axis] = 1;
            shape
        }
        None => Vec::new(),
    };
    one(element, shape)
}

pub(super) fn reduce_over(given: &Given<'_>, by: Reduction, axes: &[usize]) -> Results {
    use Reduction::{All, Any, Max, Min, Prod, Sum};
    let tile = given.only_tile()?;
    require(matches!(by, Sum | Prod | Max | Min | Any | All), "a reduction over axes")?;
    let element = reduced(by, tile.element).ok_or("a reduction of the type")?;
    let mut shape = tile.shape.clone();
    for (position, &axis) in axes.iter().enumerate() {
        require_axis(axis, &shape)?;
        require(!axes[..position].contains(&axis), "each axis once")?;
        shape[axis] = 1;
    }
    require(!axes.is_empty(), "an axis")?;
    one(element, shape)
}

pub(super) fn scan(given: &Given<'_>, axis: Option<usize>) -> Results {
    let tile = given.only_tile()?;
    require_axis_or_all(axis, &tile.shape)?;
    require(tile.element.is_number(), "a number")?;
    Ok(vec![tile.clone()])
}

pub(super) fn sort(given: &Given<'_>, axis: Option<usize>) -> Results {
    let tile = given.only_tile()?;
    require_axis_or_all(axis, &tile.shape)?;
    Ok(vec![tile.clone()])
}

pub(super) fn argsort(given: &Given<'_>, axis: Option<usize>) -> Results {
    let tile = given.only_tile()?;
    require_axis_or_all(axis, &tile.shape)?;
    one(Element::U32, tile.shape.clone())
}

pub(super) fn top_k(given: &Given<'_>, axis: usize, wanted: usize) -> Results {
    let tile = given.only_tile()?;
    require_axis(axis, &tile.shape)?;
    require(wanted <= tile.shape[axis], "not more than there are")?;
    let mut shape = tile.shape.clone();
    shape[axis] = wanted;
    Ok(vec![
        TileType { element: tile.element, shape: shape.clone() },
        TileType { element: Element::U32, shape },
    ])
}

pub(super) fn mma(given: &Given<'_>) -> Results {
    use Element::{Bf16, F16, F32, F64, I8, I32, U8};
    given.count(3)?;
    require((0..3).all(|position| given.is_tile(position)), "three tiles")?;
    require(given.types.iter().all(|tile| tile.shape.len() == 2), "matrices")?;
    let (a, b, c) = (&given.types[0], &given.types[1], &given.types[2]);
    let fits = a.shape[1] == b.shape[0] && a.shape[0] == c.shape[0] && b.shape[1] == c.shape[1];
    require(fits, "matrices that multiply")?;
    let combination = matches!(
        (a.element, b.element, c.element),
        (I8 | U8, I8 | U8, I32)
            | (F16, F16, F16 | F32)
            | (Bf16, Bf16, F32)
            | (F32, F32, F32)
            | (F64, F64, F64)
    );
    require(combination, "types that multiply")?;
    Ok(vec![c.clone()])
}

/// The type of a reduction's results, where there is one.
fn reduced(by: Reduction, element: Element) -> Option<Element> {
    use Reduction::*;
    match by {
        Sum | Prod | Max | Min | MaxNan | MinNan => element.is_number().then_some(element),
        BitAnd | BitOr | BitXor => (!element.is_float()).then_some(element),
        Any | All => (element == Element::Bool).then_some(element),
        Count => (element == Element::Bool).then_some(Element::U32),
        Mean => element.is_float().then_some(element),
        Argmax | Argmin => element.is_number().then_some(Element::U32),
    }
}
