//! What is read from tensors, and what is written there.

use super::Machine;
use super::tile::{Tile, common_shape, coordinates, number_of};
use crate::check::view_steps;
use crate::element::Element;
use crate::number;
use crate::operations;
use crate::program::{Binary, Index, Padding, Update, View};
use crate::scalar::Scalar::{self, Known, Unknown};

impl Machine<'_> {
    pub(super) fn load(
        &self,
        argument: usize,
        view: &View,
        shape: &[usize],
        padding: Option<Padding>,
        index: &[Index],
    ) -> Tile {
        let element = self.program.arguments[argument].element;
        let (index, steps) = (self.index(index), view_steps(view, shape));
        let padding = padding.map_or(0, |padding| padding_bits(element, padding));
        Tile::new(element, shape, |at| self.read(argument, &placed(&index, &steps, at), Known(padding)))
    }

    pub(super) fn gather(&self, operands: &[Tile], argument: usize) -> Tile {
        let tensor = &self.program.arguments[argument];
        let rank = tensor.extents.len();
        let indices: Vec<&Tile> = operands[..rank].iter().collect();
        let (padding, mask) = (&operands[rank], &operands[rank + 1]);
        Tile::new(tensor.element, &common_shape(&indices), |at| {
            let place: Option<Vec<i64>> =
                indices.iter().map(|tile| place(tile.element, tile.spread(at))).collect();
            match (mask.spread(at), place) {
                (Known(0), _) => padding.spread(at),
                (Known(_), Some(place)) => self.read(argument, &place, padding.spread(at)),
                _ => Unknown,
            }
        })
    }

    pub(super) fn gather_rows(
        &self,
        rows: &Tile,
        argument: usize,
        axis: usize,
        shape: &[usize],
        padding: Padding,
        index: &[Index],
    ) -> Tile {
        let element = self.program.arguments[argument].element;
        let index = self.index(index);
        let padding = Known(padding_bits(element, padding));
        Tile::new(element, shape, |at| {
            let Some(row) = place(rows.element, rows.values[at[axis]]) else { return Unknown };
            let place: Vec<i64> = (0..at.len())
                .map(|other| if other == axis { row } else { index[other] + at[other] as i64 })
                .collect();
            self.read(argument, &place, padding)
        })
    }

    pub(super) fn store(&mut self, tile: &Tile, argument: usize, index: &[Index]) {
        let tensor = &self.program.arguments[argument];
        let value = tile.converted(tensor.element);
        for (number, value) in self.places(&value, argument, index) {
            if let Some(number) = number {
                self.tensors[argument][number] = value;
            }
        }
    }

    pub(super) fn update(&mut self, tile: &Tile, argument: usize, update: Update, index: &[Index]) {
        for (number, value) in self.places(tile, argument, index) {
            self.update_element(argument, update, number, value);
        }
    }

    pub(super) fn update_elements(&mut self, values: &Tile, indices: &Tile, argument: usize, update: Update) {
        for (number, &index) in indices.values.iter().enumerate() {
            let at = coordinates(&indices.shape, number);
            match place(indices.element, index) {
                Some(place) => {
                    let number = self.element(argument, &[place]);
                    self.update_element(argument, update, number, values.spread(&at));
                }
                // It may be any element that changes.
                None => self.tensors[argument].fill(Unknown),
            }
        }
    }

    fn update_element(&mut self, argument: usize, update: Update, number: Option<usize>, value: Scalar) {
        let Some(number) = number else { return };
        let binary = match update {
            Update::Add => Binary::Add,
            Update::Sub => Binary::Sub,
            Update::Max => Binary::Maximum,
            Update::Min => Binary::Minimum,
            Update::And => Binary::And,
            Update::Or => Binary::Or,
            Update::Xor => Binary::Xor,
        };
        let element = self.program.arguments[argument].element;
        let before = self.tensors[argument][number];
        self.tensors[argument][number] = operations::binary(binary, element, element, before, value);
    }

    /// The element at these coordinates of a tensor, or the padding if they lie outside.
    fn read(&self, argument: usize, coordinates: &[i64], padding: Scalar) -> Scalar {
        self.element(argument, coordinates).map_or(padding, |number| self.tensors[argument][number])
    }

    /// The elements that broadcasting a tile to a tensor's partition makes, each with its number in the tensor.
    fn places(&self, tile: &Tile, argument: usize, index: &[Index]) -> Vec<(Option<usize>, Scalar)> {
        let shape = &self.program.arguments[argument].tile;
        let index = self.index(index);
        (0..shape.iter().product())
            .map(|number| {
                let at = coordinates(shape, number);
                (self.element(argument, &placed(&index, shape, &at)), tile.spread(&at))
            })
            .collect()
    }

    fn index(&self, index: &[Index]) -> Vec<i64> {
        let block = |axis: usize| self.block[axis] as i64;
        index
            .iter()
            .map(|&number| match number {
                Index::Block(axis) => block(axis),
                Index::Constant(value) => value,
                Index::Counter(counter, offset) => {
                    let trip = self
                        .counters
                        .iter()
                        .rev()
                        .find(|entry| entry.0 == counter)
                        .map_or(0, |entry| entry.1);
                    trip as i64 + offset
                }
                Index::Computed(axis, factor, offset) => block(axis) * factor + offset,
            })
            .collect()
    }

    /// The number of the element of a tensor at these coordinates, if it lies inside.
    fn element(&self, argument: usize, coordinates: &[i64]) -> Option<usize> {
        let shape = self.program.arguments[argument].shape();
        let inside = shape.iter().zip(coordinates).all(|(&length, &at)| 0 <= at && at < length as i64);
        let at: Vec<usize> = coordinates.iter().map(|&at| at as usize).collect();
        inside.then(|| number_of(&shape, &at))
    }
}

/// The coordinates in a tensor of an element of the tile with this index.
fn placed(index: &[i64], steps: &[usize], at: &[usize]) -> Vec<i64> {
    (0..at.len()).map(|axis| index[axis] * steps[axis] as i64 + at[axis] as i64).collect()
}

/// The bits of a padding.
fn padding_bits(element: Element, padding: Padding) -> u64 {
    match padding {
        Padding::Zero => 0,
        Padding::NegativeZero => number::sign(element),
        Padding::PositiveInfinity => number::infinity(element),
        Padding::NegativeInfinity => number::infinity(element) | number::sign(element),
        Padding::Nan => number::nan(element),
    }
}

/// An index as a coordinate; what is too large for one lies outside.
pub(super) fn place(element: Element, index: Scalar) -> Option<i64> {
    index.integer(element).map(|value| value.clamp(-1, i128::from(i32::MAX)) as i64)
}
