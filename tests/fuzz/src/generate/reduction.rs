//! Steps that reduce, scan, sort and multiply.

use super::Generator;
use crate::element::Element;
use crate::program::{Operand, Operation, Reduction, Scan, Statement};

impl Generator {
    pub(super) fn reduction(&mut self, body: &mut Vec<Statement>) -> bool {
        let by = self.random.choose(Reduction::ALL);
        let (a, tile) = self.any_tile();
        let operation = if self.random.once_in(4) && tile.shape.len() > 1 {
            let mut axes: Vec<usize> = (0..tile.shape.len()).collect();
            let first = self.random.below(axes.len());
            axes.rotate_left(first);
            axes.truncate(1 + self.random.below(tile.shape.len()));
            Operation::ReduceOver { by, axes }
        } else {
            Operation::Reduce { by, axis: self.axis(&tile) }
        };
        self.add(operation, vec![Operand::Tile(a)], 1, body)
    }

    pub(super) fn scan_or_sort(&mut self, body: &mut Vec<Statement>) -> bool {
        let Some((a, tile)) = self.tile(|tile| tile.len() <= 1024) else { return false };
        let axis = self.axis(&tile);
        let operation = match self.random.below(6) {
            0 => Operation::Sort { axis, descending: self.random.once_in(2) },
            1 => Operation::Argsort { axis, descending: self.random.once_in(2) },
            2 => {
                let Some(axis) = axis else { return false };
                let count = 1 << self.random.below(tile.shape[axis].ilog2() as usize + 1);
                return self.add(Operation::TopK { axis, count }, vec![Operand::Tile(a)], 2, body);
            }
            _ => Operation::Scan {
                by: self.random.choose(Scan::ALL),
                axis,
                exclusive: self.random.once_in(2),
                backward: self.random.once_in(2),
            },
        };
        self.add(operation, vec![Operand::Tile(a)], 1, body)
    }

    pub(super) fn product(&mut self, body: &mut Vec<Statement>) -> bool {
        use Element::{Bf16, F16, F32, F64, I8, I32, U8};
        let (a, b, c) = self.random.choose(&[
            (I8, I8, I32),
            (U8, I8, I32),
            (F16, F16, F16),
            (F16, F16, F32),
            (Bf16, Bf16, F32),
            (F32, F32, F32),
            (F64, F64, F64),
        ]);
        let mut length = || self.random.choose(&[1, 2, 4, 8, 16, 16, 32, 32, 64]);
        let (m, k, n) = (length(), length(), length());
        let mut tiles = Vec::new();
        for (element, shape) in [(a, [m, k]), (b, [k, n]), (c, [m, n])] {
            match self.tile(|tile| tile.element == element && tile.shape == shape) {
                Some((tile, _)) => tiles.push(Operand::Tile(tile)),
                None => {
                    if !self.load_shape(element, &shape, body) {
                        return false;
                    }
                    tiles.push(Operand::Tile(self.next - 1));
                }
            }
        }
        self.add(Operation::Mma, tiles, 1, body)
    }
}
