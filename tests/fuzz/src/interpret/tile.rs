//! Tiles as the interpreter holds them: all elements, in row-major order.

use crate::check::broadcast;
use crate::element::Element;
use crate::operations::cast;
use crate::scalar::Scalar::{self, Unknown};

/// A tile: its elements in row-major order.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The type.
    pub element: Element,
    /// The dimensions.
    pub shape: Vec<usize>,
    /// The elements.
    pub values: Vec<Scalar>,
}

impl Tile {
    pub(super) fn new(element: Element, shape: &[usize], value: impl FnMut(&[usize]) -> Scalar) -> Self {
        let mut value = value;
        let length = shape.iter().product();
        let values = (0..length).map(|number| value(&coordinates(shape, number))).collect();
        Self { element, shape: shape.to_vec(), values }
    }

    pub(super) fn at(&self, coordinates: &[usize]) -> Scalar {
        self.values[number_of(&self.shape, coordinates)]
    }

    /// The element that broadcasting puts at these coordinates of a larger shape.
    pub(super) fn spread(&self, coordinates: &[usize]) -> Scalar {
        let missing = coordinates.len() - self.shape.len();
        let own: Vec<usize> = self
            .shape
            .iter()
            .enumerate()
            .map(|(axis, &length)| if length == 1 { 0 } else { coordinates[missing + axis] })
            .collect();
        self.at(&own)
    }

    pub(super) fn converted(&self, element: Element) -> Self {
        let values = self.values.iter().map(|&value| cast(self.element, element, value)).collect();
        Self { element, shape: self.shape.clone(), values }
    }

    pub(super) fn map(&self, element: Element, function: impl Fn(Scalar) -> Scalar) -> Self {
        Self {
            element,
            shape: self.shape.clone(),
            values: self.values.iter().map(|&value| function(value)).collect(),
        }
    }

    pub(super) fn reshaped(&self, shape: &[usize]) -> Self {
        Self { element: self.element, shape: shape.to_vec(), values: self.values.clone() }
    }
}

pub(super) fn common_shape(tiles: &[&Tile]) -> Vec<usize> {
    tiles
        .iter()
        .fold(Vec::new(), |shape, tile| broadcast(&shape, &tile.shape).expect("shapes that broadcast"))
}

/// The tile that `function` makes of each row along an axis, or of all elements.
pub(super) fn along(
    tile: &Tile,
    element: Element,
    axis: Option<usize>,
    function: impl Fn(&[Scalar]) -> Vec<Scalar>,
) -> Tile {
    let Some(axis) = axis else {
        return Tile { element, shape: tile.shape.clone(), values: function(&tile.values) };
    };
    let mut result = Tile { element, shape: tile.shape.clone(), values: vec![Unknown; tile.values.len()] };
    let mut outer = tile.shape.clone();
    outer[axis] = 1;
    for number in 0..outer.iter().product() {
        let mut at = coordinates(&outer, number);
        let numbers: Vec<usize> = (0..tile.shape[axis])
            .map(|k| {
                at[axis] = k;
                number_of(&tile.shape, &at)
            })
            .collect();
        let row: Vec<Scalar> = numbers.iter().map(|&number| tile.values[number]).collect();
        for (&number, value) in numbers.iter().zip(function(&row)) {
            result.values[number] = value;
        }
    }
    result
}

/// The coordinates of the element with a row-major number.
pub(super) fn coordinates(shape: &[usize], number: usize) -> Vec<usize> {
    let mut rest = number;
    let mut coordinates = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        coordinates[axis] = rest % shape[axis];
        rest /= shape[axis];
    }
    coordinates
}

/// The row-major number of the element at these coordinates.
pub(super) fn number_of(shape: &[usize], coordinates: &[usize]) -> usize {
    shape.iter().zip(coordinates).fold(0, |number, (&length, &coordinate)| number * length + coordinate)
}
