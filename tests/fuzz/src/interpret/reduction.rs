//! Reductions, scans, sorts and products: what becomes of the rows of tiles.

use super::movement::{permute, slice};
use super::tile::{Tile, along};
use crate::element::Element;
use crate::program::{Reduction, Scan};
use crate::reduce;
use crate::scalar::Scalar;

pub(super) fn reduce(by: Reduction, tile: &Tile, axis: Option<usize>) -> Tile {
    let element = match by {
        Reduction::Count | Reduction::Argmax | Reduction::Argmin => Element::U32,
        _ => tile.element,
    };
    let rows = along(tile, element, axis, |row| vec![reduce::reduce(by, tile.element, row); row.len()]);
    match axis {
        Some(axis) => slice(&rows, axis, 0, 1),
        None => Tile { element, shape: Vec::new(), values: vec![rows.values[0]] },
    }
}

pub(super) fn reduce_over(by: Reduction, tile: &Tile, axes: &[usize]) -> Tile {
    // One axis after the other is what several at once may be.
    let rest: Vec<usize> = (0..tile.shape.len()).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = rest.iter().chain(axes).copied().collect();
    let moved = permute(tile, &order);
    let outer: usize = rest.iter().map(|&axis| tile.shape[axis]).product();
    let inner: usize = axes.iter().map(|&axis| tile.shape[axis]).product();
    let flat = reduce(by, &moved.reshaped(&[outer, inner]), Some(1));
    let mut shape = tile.shape.clone();
    axes.iter().for_each(|&axis| shape[axis] = 1);
    flat.reshaped(&shape)
}

pub(super) fn scan(by: Scan, tile: &Tile, axis: Option<usize>, exclusive: bool, backward: bool) -> Tile {
    along(tile, tile.element, axis, |row| reduce::scan(by, tile.element, row, exclusive, backward))
}

pub(super) fn sort(tile: &Tile, axis: Option<usize>, descending: bool) -> Tile {
    along(tile, tile.element, axis, |row| reduce::sort(tile.element, row, descending).0)
}

pub(super) fn argsort(tile: &Tile, axis: Option<usize>, descending: bool) -> Tile {
    along(tile, Element::U32, axis, |row| reduce::sort(tile.element, row, descending).1)
}

pub(super) fn top_k(tile: &Tile, axis: usize, count: usize) -> Vec<Tile> {
    [sort(tile, Some(axis), true), argsort(tile, Some(axis), true)]
        .iter()
        .map(|sorted| slice(sorted, axis, 0, count))
        .collect()
}

pub(super) fn mma(operands: &[Tile]) -> Tile {
    let [a, b, c] = [&operands[0], &operands[1], &operands[2]];
    let length = a.shape[1];
    Tile::new(c.element, &c.shape, |at| {
        let pairs: Vec<[Scalar; 2]> = (0..length).map(|k| [a.at(&[at[0], k]), b.at(&[k, at[1]])]).collect();
        reduce::product([a.element, b.element], c.element, &pairs, c.at(at))
    })
}
