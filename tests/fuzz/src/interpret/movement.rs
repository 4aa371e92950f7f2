//! Tiles whose elements come from other places of tiles, or that indices make.

use super::memory::place;
use super::tile::{Tile, along};
use crate::data;
use crate::element::Element;
use crate::scalar::Scalar::{self, Known, Unknown};

pub(super) fn broadcast_to(tile: &Tile, shape: &[usize]) -> Tile {
    Tile::new(tile.element, shape, |at| tile.spread(at))
}

pub(super) fn expand_dims(tile: &Tile, axis: usize) -> Tile {
    let mut shape = tile.shape.clone();
    shape.insert(axis, 1);
    tile.reshaped(&shape)
}

pub(super) fn squeeze(tile: &Tile, axis: usize) -> Tile {
    let mut shape = tile.shape.clone();
    shape.remove(axis);
    tile.reshaped(&shape)
}

pub(super) fn permute(tile: &Tile, axes: &[usize]) -> Tile {
    let shape: Vec<usize> = axes.iter().map(|&axis| tile.shape[axis]).collect();
    Tile::new(tile.element, &shape, |at| {
        let mut from = vec![0; at.len()];
        for (position, &axis) in axes.iter().enumerate() {
            from[axis] = at[position];
        }
        tile.at(&from)
    })
}

pub(super) fn transpose(tile: &Tile, first: usize, second: usize) -> Tile {
    let mut axes: Vec<usize> = (0..tile.shape.len()).collect();
    axes.swap(first, second);
    permute(tile, &axes)
}

pub(super) fn flip(tile: &Tile, axis: Option<usize>) -> Tile {
    along(tile, tile.element, axis, |row| row.iter().rev().copied().collect())
}

pub(super) fn roll(tile: &Tile, axis: Option<usize>, shift: i32) -> Tile {
    along(tile, tile.element, axis, |row| {
        let length = row.len() as i64;
        (0..length).map(|k| row[(k - i64::from(shift)).rem_euclid(length) as usize]).collect()
    })
}

pub(super) fn split(tile: &Tile, axis: usize) -> Vec<Tile> {
    let half = tile.shape[axis] / 2;
    vec![slice(tile, axis, 0, half), slice(tile, axis, half, half)]
}

pub(super) fn slice(tile: &Tile, axis: usize, start: usize, length: usize) -> Tile {
    let mut shape = tile.shape.clone();
    shape[axis] = length;
    Tile::new(tile.element, &shape, |at| {
        let mut from = at.to_vec();
        from[axis] += start;
        tile.at(&from)
    })
}

pub(super) fn extract(tile: &Tile, shape: &[usize], index: &[usize]) -> Tile {
    Tile::new(tile.element, shape, |at| {
        let from: Vec<usize> = (0..at.len()).map(|axis| index[axis] * shape[axis] + at[axis]).collect();
        tile.at(&from)
    })
}

pub(super) fn insert(whole: &Tile, part: &Tile, index: &[usize]) -> Tile {
    Tile::new(whole.element, &whole.shape, |at| {
        let inside = (0..at.len()).all(|axis| at[axis] / part.shape[axis] == index[axis]);
        let within: Vec<usize> = (0..at.len()).map(|axis| at[axis] % part.shape[axis]).collect();
        if inside { part.at(&within) } else { whole.at(at) }
    })
}

pub(super) fn cat(tiles: &[Tile], axis: usize) -> Tile {
    let mut shape = tiles[0].shape.clone();
    let length = shape[axis];
    shape[axis] *= 2;
    Tile::new(tiles[0].element, &shape, |at| {
        let mut from = at.to_vec();
        from[axis] %= length;
        tiles[at[axis] / length].at(&from)
    })
}

pub(super) fn stack(tiles: &[Tile], axis: usize) -> Tile {
    let mut shape = tiles[0].shape.clone();
    shape.insert(axis, 2);
    Tile::new(tiles[0].element, &shape, |at| {
        let mut from = at.to_vec();
        let which = from.remove(axis);
        tiles[which].at(&from)
    })
}

pub(super) fn repeat(tile: &Tile, axis: usize, times: usize) -> Tile {
    let mut shape = tile.shape.clone();
    shape[axis] *= times;
    Tile::new(tile.element, &shape, |at| {
        let mut from = at.to_vec();
        from[axis] /= times;
        tile.at(&from)
    })
}

pub(super) fn tile_along(tile: &Tile, axis: usize, times: usize) -> Tile {
    let mut shape = tile.shape.clone();
    let length = shape[axis];
    shape[axis] *= times;
    Tile::new(tile.element, &shape, |at| {
        let mut from = at.to_vec();
        from[axis] %= length;
        tile.at(&from)
    })
}

pub(super) fn take(operands: &[Tile], axis: usize) -> Tile {
    let [tile, indices, padding] = [&operands[0], &operands[1], &operands[2]];
    let mut shape = tile.shape.clone();
    shape[axis] = indices.shape[0];
    Tile::new(tile.element, &shape, |at| {
        pick(tile, axis, at, indices.element, indices.values[at[axis]], padding.values[0])
    })
}

pub(super) fn take_along_axis(operands: &[Tile], axis: usize) -> Tile {
    let [tile, indices, padding] = [&operands[0], &operands[1], &operands[2]];
    Tile::new(tile.element, &indices.shape, |at| {
        pick(tile, axis, at, indices.element, indices.at(at), padding.values[0])
    })
}

fn pick(tile: &Tile, axis: usize, at: &[usize], element: Element, index: Scalar, padding: Scalar) -> Scalar {
    match place(element, index) {
        None => Unknown,
        Some(index) if index < 0 || index >= tile.shape[axis] as i64 => padding,
        Some(index) => {
            let mut from = at.to_vec();
            from[axis] = index as usize;
            tile.at(&from)
        }
    }
}

pub(super) fn diagonal(tile: &Tile) -> Tile {
    Tile::new(tile.element, &tile.shape[..1], |at| tile.at(&[at[0], at[0]]))
}

pub(super) fn one_hot(tile: &Tile, element: Element, axis: usize, classes: usize) -> Tile {
    let mut shape = tile.shape.clone();
    shape.insert(axis, classes);
    Tile::new(element, &shape, |at| {
        let mut from = at.to_vec();
        let class = from.remove(axis);
        match tile.at(&from).integer(tile.element) {
            Some(value) => Known(data::constant(element, f64::from(u8::from(value == class as i128)))),
            None => Unknown,
        }
    })
}

pub(super) fn histogram(tile: &Tile, bins: usize) -> Tile {
    let known: Option<Vec<i128>> = tile.values.iter().map(|value| value.integer(tile.element)).collect();
    Tile::new(Element::U32, &[bins], |at| match &known {
        Some(values) => Known(values.iter().filter(|&&value| value == at[0] as i128).count() as u64),
        None => Unknown,
    })
}
