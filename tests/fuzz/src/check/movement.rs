//! The types of tiles whose elements come from other places of tiles, or that indices make.

use super::{Given, Problem, Results, broadcasts_to, one, require, require_axis, require_axis_or_all};
use crate::element::Element;

pub(super) fn reshape(given: &Given<'_>, shape: &[usize]) -> Results {
    let tile = given.only_tile()?;
    require(shape.iter().product::<usize>() == tile.len(), "as many elements")?;
    one(tile.element, shape.to_vec())
}

pub(super) fn broadcast_to(given: &Given<'_>, shape: &[usize]) -> Results {
    let tile = given.only_tile()?;
    require(broadcasts_to(&tile.shape, shape), "a shape to broadcast to")?;
    one(tile.element, shape.to_vec())
}

pub(super) fn expand_dims(given: &Given<'_>, axis: usize) -> Results {
    let tile = given.only_tile()?;
    require(axis <= tile.shape.len() && tile.shape.len() < 4, "a place for an axis")?;
    let mut shape = tile.shape.clone();
    shape.insert(axis, 1);
    one(tile.element, shape)
}

pub(super) fn squeeze(given: &Given<'_>, axis: usize) -> Results {
    let tile = given.only_tile()?;
    require_axis(axis, &tile.shape)?;
    require(tile.shape[axis] == 1, "an axis of length 1")?;
    let mut shape = tile.shape.clone();
    shape.remove(axis);
    one(tile.element, shape)
}

pub(super) fn permute(given: &Given<'_>, axes: &[usize]) -> Results {
    let tile = given.only_tile()?;
    require(axes.len() == tile.shape.len() && axes.len() >= 2, "as many axes")?;
    require((0..axes.len()).all(|axis| axes.contains(&axis)), "each axis once")?;
    one(tile.element, axes.iter().map(|&axis| tile.shape[axis]).collect())
}

pub(super) fn transpose(given: &Given<'_>, first: usize, second: usize) -> Results {
    let tile = given.only_tile()?;
    require_axis(first.max(second), &tile.shape)?;
    require(first != second, "two axes")?;
    let mut shape = tile.shape.clone();
    shape.swap(first, second);
    one(tile.element, shape)
}

/// Of flips and rolls.
pub(super) fn turn(given: &Given<'_>, axis: Option<usize>) -> Results {
    let tile = given.only_tile()?;
    require_axis_or_all(axis, &tile.shape)?;
    Ok(vec![tile.clone()])
}

pub(super) fn split(given: &Given<'_>, axis: usize) -> Results {
    let tile = given.only_tile()?;
    require_axis(axis, &tile.shape)?;
    require(tile.shape[axis] > 1, "an axis that has halves")?;
    let mut half = tile.clone();
    half.shape[axis] /= 2;
    Ok(vec![half.clone(), half])
}

pub(super) fn slice(given: &Given<'_>, axis: usize, start: usize, length: usize) -> Results {
    let tile = given.only_tile()?;
    require_axis(axis, &tile.shape)?;
    require(start + length <= tile.shape[axis], "a range of the axis")?;
    let mut part = tile.clone();
    part.shape[axis] = length;
    Ok(vec![part])
}

pub(super) fn extract(given: &Given<'_>, shape: &[usize], index: &[usize]) -> Results {
    let tile = given.only_tile()?;
    part_of(&tile.shape, shape, index)?;
    one(tile.element, shape.to_vec())
}

pub(super) fn insert(given: &Given<'_>, index: &[usize]) -> Results {
    given.count(2)?;
    let tile = given.tile()?;
    require(given.is_tile(1) && given.types[1].element == tile.element, "a tile of the same type")?;
    part_of(&tile.shape, &given.types[1].shape, index)?;
    Ok(vec![tile.clone()])
}

fn part_of(whole: &[usize], part: &[usize], index: &[usize]) -> Result<(), Problem> {
    let fits = whole.len() == part.len()
        && index.len() == part.len()
        && !part.is_empty()
        && (0..part.len())
            .all(|axis| part[axis] <= whole[axis] && (index[axis] + 1) * part[axis] <= whole[axis]);
    if fits { Ok(()) } else { Err("a part of the tile".into()) }
}

pub(super) fn cat(given: &Given<'_>, axis: usize) -> Results {
    given.count(2)?;
    let tile = given.tile()?;
    require(given.is_tile(1) && given.types[1] == *tile, "two tiles of one type")?;
    require_axis(axis, &tile.shape)?;
    let mut both = tile.clone();
    both.shape[axis] *= 2;
    Ok(vec![both])
}

pub(super) fn stack(given: &Given<'_>, axis: usize) -> Results {
    given.count(2)?;
    let tile = given.tile()?;
    require(
        given.is_tile(1) && given.types[1] == *tile && axis <= tile.shape.len(),
        "two tiles of one type",
    )?;
    let mut both = tile.clone();
    both.shape.insert(axis, 2);
    Ok(vec![both])
}

/// Of repetitions of each element, and of the whole axis.
pub(super) fn repeat(given: &Given<'_>, axis: usize, times: usize) -> Results {
    let tile = given.only_tile()?;
    require_axis(axis, &tile.shape)?;
    let mut longer = tile.clone();
    longer.shape[axis] *= times;
    Ok(vec![longer])
}

pub(super) fn take(given: &Given<'_>, axis: usize) -> Results {
    given.count(3)?;
    let tile = given.tile()?;
    let (indices, padding) = (&given.types[1], &given.types[2]);
    require(
        given.is_tile(1) && indices.element.is_integer() && indices.shape.len() == 1,
        "a vector of indices",
    )?;
    require(!given.is_tile(2) && padding.element == tile.element, "a padding of the type")?;
    require_axis(axis, &tile.shape)?;
    let mut taken = tile.clone();
    taken.shape[axis] = indices.shape[0];
    Ok(vec![taken])
}

pub(super) fn take_along_axis(given: &Given<'_>, axis: usize) -> Results {
    given.count(3)?;
    let tile = given.tile()?;
    let (indices, padding) = (&given.types[1], &given.types[2]);
    require(given.is_tile(1) && indices.element.is_integer(), "a tile of indices")?;
    require(!given.is_tile(2) && padding.element == tile.element, "a padding of the type")?;
    require_axis(axis, &tile.shape)?;
    require(indices.shape.len() == tile.shape.len(), "as many axes")?;
    let fits = (0..tile.shape.len()).all(|other| other == axis || tile.shape[other] == indices.shape[other]);
    require(fits, "the tile's dimensions")?;
    one(tile.element, indices.shape.clone())
}

pub(super) fn diagonal(given: &Given<'_>) -> Results {
    let tile = given.only_tile()?;
    require(tile.shape.len() == 2 && tile.shape[0] == tile.shape[1], "a square matrix")?;
    one(tile.element, vec![tile.shape[0]])
}

pub(super) fn one_hot(given: &Given<'_>, element: Element, axis: usize, classes: usize) -> Results {
    let tile = given.only_tile()?;
    require(tile.element.is_integer() && element.is_number(), "integers")?;
    require(axis <= tile.shape.len(), "a place for an axis")?;
    let mut shape = tile.shape.clone();
    shape.insert(axis, classes);
    one(element, shape)
}

pub(super) fn histogram(given: &Given<'_>, bins: usize) -> Results {
    let tile = given.only_tile()?;
    require(tile.element.is_integer(), "integers")?;
    one(Element::U32, vec![bins])
}
