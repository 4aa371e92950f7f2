//! Steps that take elements from other places of tiles, or make them of indices.

use super::Generator;
use crate::element::Element;
use crate::program::{Operand, Operation, Statement, TileType, Variable};

impl Generator {
    /// Another shape, another order, a part of a tile, or more of it.
    pub(super) fn movement(&mut self, body: &mut Vec<Statement>) -> bool {
        let (a, tile) = self.any_tile();
        let rank = tile.shape.len();
        let one = vec![Operand::Tile(a)];
        if rank == 0 {
            let shape = self.shape(2, 256);
            return self.add(Operation::Broadcast { shape }, one, 1, body);
        }
        let axis = self.random.below(rank);
        let operation = match self.random.below(17) {
            0 => self.reshape(&tile),
            1 => self.broadcast(&tile),
            2 => Operation::ExpandDims { axis: self.random.below(rank + 1) },
            3 => Operation::Squeeze { axis },
            4..=5 => self.permutation(rank),
            6 => Operation::Transpose { first: axis, second: (axis + 1) % rank },
            7 => Operation::Flip { axis: self.axis(&tile) },
            8..=9 => Operation::Roll { axis: self.axis(&tile), shift: self.random.between(-40, 40) as i32 },
            10 => return self.add(Operation::Split { axis }, one, 2, body),
            11 => self.slice(axis, tile.shape[axis]),
            12 => self.extract(&tile),
            13 => return self.insert(a, &tile, body),
            14 => return self.join(a, &tile, axis, body),
            15 => self.repetition(axis),
            _ => Operation::Diagonal,
        };
        self.add(operation, one, 1, body)
    }

    fn reshape(&mut self, tile: &TileType) -> Operation {
        let rank = 1 + self.random.below(4);
        let mut shape = vec![1; rank];
        for _ in 0..tile.len().ilog2() {
            let axis = self.random.below(rank);
            shape[axis] *= 2;
        }
        Operation::Reshape { shape }
    }

    fn broadcast(&mut self, tile: &TileType) -> Operation {
        let mut shape = tile.shape.clone();
        for length in &mut shape {
            if *length == 1 && self.random.once_in(2) {
                *length = 1 << self.random.below(5);
            }
        }
        if shape.len() < 4 && self.random.once_in(2) {
            shape.insert(0, 1 << self.random.below(4));
        }
        Operation::Broadcast { shape }
    }

    fn permutation(&mut self, rank: usize) -> Operation {
        let mut axes: Vec<usize> = (0..rank).collect();
        for position in (1..rank).rev() {
            axes.swap(position, self.random.below(position + 1));
        }
        Operation::Permute { axes }
    }

    fn slice(&mut self, axis: usize, whole: usize) -> Operation {
        let length = 1 << self.random.below(whole.ilog2() as usize + 1);
        let start = self.random.below(whole - length + 1);
        Operation::Slice { axis, start, length, dynamic: self.random.once_in(2) }
    }

    fn extract(&mut self, tile: &TileType) -> Operation {
        let shape: Vec<usize> = tile
            .shape
            .iter()
            .map(|length| length >> self.random.below(length.ilog2().min(2) as usize + 1))
            .collect();
        let index =
            tile.shape.iter().zip(&shape).map(|(whole, part)| self.random.below(whole / part)).collect();
        Operation::Extract { shape, index }
    }

    /// A part of a tile, put at another place of it.
    fn insert(&mut self, whole: Variable, tile: &TileType, body: &mut Vec<Statement>) -> bool {
        let extract = self.extract(tile);
        if !self.add(extract, vec![Operand::Tile(whole)], 1, body) {
            return false;
        }
        let (part, part_type) = self.tiles.last().cloned().expect("it was just added");
        let index = tile
            .shape
            .iter()
            .zip(&part_type.shape)
            .map(|(whole, part)| self.random.below(whole / part))
            .collect();
        self.add(Operation::Insert { index }, vec![Operand::Tile(whole), Operand::Tile(part)], 1, body)
    }

    /// Two tiles of one type as one.
    fn join(&mut self, a: Variable, tile: &TileType, axis: usize, body: &mut Vec<Statement>) -> bool {
        let Some((b, _)) = self.tile(|other| other == tile) else { return false };
        let operation = if self.random.once_in(2) {
            Operation::Cat { axis }
        } else {
            Operation::Stack { axis: self.random.below(tile.shape.len() + 1) }
        };
        self.add(operation, vec![Operand::Tile(a), Operand::Tile(b)], 1, body)
    }

    fn repetition(&mut self, axis: usize) -> Operation {
        let times = 1 << self.random.below(3);
        if self.random.once_in(2) {
            Operation::Repeat { axis, times }
        } else {
            Operation::TileAlong { axis, times }
        }
    }

    pub(super) fn pick(&mut self, body: &mut Vec<Statement>) -> bool {
        let (a, tile) = self.any_tile();
        match self.random.below(5) {
            0 => {
                let bins = 1 << self.random.below(7);
                self.add(Operation::Histogram { bins }, vec![Operand::Tile(a)], 1, body)
            }
            1 => {
                let (axis, classes) = (self.random.below(tile.shape.len() + 1), 1 << self.random.below(4));
                let element = self.random.choose(&Element::NUMBERS);
                self.add(Operation::OneHot { element, axis, classes }, vec![Operand::Tile(a)], 1, body)
            }
            _ if tile.shape.is_empty() => false,
            2 => {
                let axis = self.random.below(tile.shape.len());
                let Some((index, _)) = self.tile(|other| {
                    other.element.is_integer()
                        && other.shape.len() == tile.shape.len()
                        && (0..tile.shape.len()).all(|k| k == axis || other.shape[k] == tile.shape[k])
                }) else {
                    return false;
                };
                let padding = self.number(tile.element);
                self.add(
                    Operation::TakeAlongAxis { axis },
                    vec![Operand::Tile(a), Operand::Tile(index), padding],
                    1,
                    body,
                )
            }
            _ => {
                let axis = self.random.below(tile.shape.len());
                let length = 1 << self.random.below(6);
                let Some(index) = self.indices(length, tile.shape[axis], body) else { return false };
                let padding = self.number(tile.element);
                self.add(
                    Operation::Take { axis },
                    vec![Operand::Tile(a), Operand::Tile(index), padding],
                    1,
                    body,
                )
            }
        }
    }
}
