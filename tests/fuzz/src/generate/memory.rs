//! Steps that read and write tensors, and the tensors.

use super::{Generator, operands_of};
use crate::check::{LARGEST_TILE, view_steps};
use crate::data::Fill;
use crate::element::Element;
use crate::program::{
    Access, Argument, Binary, Constant, Extent, ExtentKind, Index, Mapping, Operand, Operation, Padding,
    Statement, TileType, Update, Variable, View,
};

/// The most tensors of a kernel.
const MOST_ARGUMENTS: usize = 10;
impl Generator {
    pub(super) fn load(&mut self, element: Element, body: &mut Vec<Statement>) -> bool {
        let rank = self.random.choose(&[1, 1, 2, 2, 2, 3, 4]);
        let most = self.random.choose(&[64, 256, 256, 1024]);
        let shape = self.shape(rank, most);
        self.load_shape(element, &shape, body)
    }

    pub(super) fn load_shape(
        &mut self,
        element: Element,
        shape: &[usize],
        body: &mut Vec<Statement>,
    ) -> bool {
        let view = match self.random.below(6) {
            0 => View::Window,
            1 => View::Strided(
                shape.iter().map(|&length| self.random.between(1, length as i64 + 2) as usize).collect(),
            ),
            _ => View::Partition,
        };
        let steps = view_steps(&view, shape);
        let whole = self.random.once_in(3);
        let mut index = Vec::new();
        let mut lengths = Vec::new();
        for axis in 0..shape.len() {
            let (number, last) = self.any_index(!whole && view == View::Window);
            index.push(number);
            let reach = (last.max(0) as usize) * steps[axis] + shape[axis];
            let missing = if whole || self.random.once_in(2) {
                0
            } else {
                self.random.below(reach.min(2 * shape[axis]))
            };
            lengths.push((reach - missing).max(1));
        }
        if lengths.iter().product::<usize>() > 4 * LARGEST_TILE {
            return false;
        }
        let fill = self.fill();
        let Some(argument) = self.argument(Access::Read, element, &lengths, fill) else { return false };
        let padding = if whole {
            None
        } else if element.is_float() {
            Some(self.random.choose(&[
                Padding::Zero,
                Padding::Zero,
                Padding::NegativeZero,
                Padding::PositiveInfinity,
                Padding::NegativeInfinity,
                Padding::Nan,
            ]))
        } else {
            Some(Padding::Zero)
        };
        let operation = Operation::Load { argument, view, shape: shape.to_vec(), padding, index };
        let added = self.add(operation, Vec::new(), 1, body);
        if !added {
            self.program.arguments.pop();
        }
        added
    }

    /// A vector of indices, loaded from a tensor of them.
    pub(super) fn indices(
        &mut self,
        length: usize,
        limit: usize,
        body: &mut Vec<Statement>,
    ) -> Option<Variable> {
        let element = self.random.choose(&Element::INTEGERS);
        let fill = Fill::Indices(self.random.bits(), limit.min(120));
        let argument = self.argument(Access::Read, element, &[length], fill)?;
        let operation = Operation::Load {
            argument,
            view: View::Partition,
            shape: vec![length],
            padding: None,
            index: vec![Index::Constant(0)],
        };
        self.add(operation, Vec::new(), 1, body).then(|| self.next - 1)
    }

    pub(super) fn gather(&mut self, body: &mut Vec<Statement>) -> bool {
        let element = self.random.choose(&Element::ALL);
        let rank = 1 + self.random.below(2);
        let lengths: Vec<usize> = (0..rank).map(|_| 1 + self.random.below(24)).collect();
        let fill = self.fill();
        if self.random.once_in(2) && rank == 2 {
            let shape = [1 << self.random.below(5), 1 << self.random.below(5)];
            let axis = self.random.below(2);
            let Some(rows) = self.indices(shape[axis], lengths[axis], body) else { return false };
            let Some(argument) = self.argument(Access::Read, element, &lengths, fill) else { return false };
            let start = self.random.between(-3, 5);
            let operation = Operation::GatherRows {
                argument,
                axis,
                shape: shape.to_vec(),
                padding: Padding::Zero,
                index: vec![Index::Constant(start); 2],
            };
            return self.add(operation, vec![Operand::Tile(rows)], 1, body);
        }
        let count = 1 << self.random.below(6);
        let mut operands = Vec::new();
        for (axis, &length) in lengths.iter().enumerate() {
            let Some(index) = self.indices(count, length, body) else { return false };
            if axis == 0
                && rank == 2
                && self.random.once_in(2)
                && !self.add(Operation::ExpandDims { axis: 1 }, vec![Operand::Tile(index)], 1, body)
            {
                return false;
            }
            operands.push(Operand::Tile(self.next - 1));
        }
        let Some(argument) = self.argument(Access::Read, element, &lengths, fill) else { return false };
        operands.push(self.number(element));
        operands.push(Operand::Constant(Constant { element: Element::Bool, bits: 1 }));
        self.add(Operation::Gather { argument }, operands, 1, body)
    }

    /// A tensor of which all blocks update the same elements.
    pub(super) fn update(&mut self, body: &mut Vec<Statement>) {
        let element = self.random.choose(&[Element::I32, Element::U32, Element::I64, Element::U64]);
        let update = self.random.choose(Update::ALL);
        let Some((value, tile)) = self.tile(|tile| tile.element == element && !tile.shape.is_empty()) else {
            return;
        };
        let fill = Fill::Small(self.random.bits());
        if tile.shape.len() == 1 && self.random.once_in(2) {
            let Some(index) = self.indices(tile.shape[0], 20, body) else { return };
            let length = 1 + self.random.below(20);
            let Some(argument) = self.argument(Access::Atomic, element, &[length], fill) else { return };
            let operands = vec![Operand::Tile(value), Operand::Tile(index)];
            self.add(Operation::UpdateElements { argument, update }, operands, 0, body);
            return;
        }
        let (index, lengths): (Vec<Index>, Vec<usize>) = tile
            .shape
            .iter()
            .map(|&length| {
                let (index, last) = self.any_index(false);
                (index, (last as usize + 1) * length - self.random.below(length))
            })
            .unzip();
        let Some(argument) = self.argument(Access::Atomic, element, &lengths, fill) else { return };
        self.program.arguments[argument].tile = tile.shape.clone();
        self.add(Operation::Update { argument, update, index }, vec![Operand::Tile(value)], 0, body);
    }

    /// Stores what nothing has used, and some of the rest.
    pub(super) fn stores(&mut self, body: &mut Vec<Statement>) {
        let mut used = Vec::new();
        operands_of(body, &mut used);
        let mut wanted: Vec<(Variable, TileType)> =
            self.tiles.iter().filter(|(variable, _)| !used.contains(variable)).cloned().collect();
        while wanted.len() > 6 {
            wanted.remove(0);
        }
        if wanted.is_empty() || self.random.once_in(3) {
            wanted.push(self.any_tile());
        }
        for (variable, tile) in wanted {
            self.store(variable, &tile, body);
        }
    }

    fn store(&mut self, variable: Variable, tile: &TileType, body: &mut Vec<Statement>) {
        let grid = self.program.grid.len();
        // An axis for each of the grid's, and those of the tile.
        let mut shape = tile.shape.clone();
        while shape.len() < grid {
            shape.insert(0, 1);
        }
        let element = match self.random.below(4) {
            0 => self.random.choose(&Element::ALL),
            _ => tile.element,
        };
        let element = if tile.element.promote(element) == Some(element) { element } else { tile.element };
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        for position in (1..axes.len()).rev() {
            axes.swap(position, self.random.below(position + 1));
        }
        let mut index = vec![Index::Constant(0); shape.len()];
        let mut lengths = shape.clone();
        let masked = self.random.once_in(2);
        for axis in 0..grid {
            index[axes[axis]] = Index::Block(axis);
            lengths[axes[axis]] = self.program.grid[axis] * shape[axes[axis]];
        }
        for (axis, length) in lengths.iter_mut().enumerate() {
            if masked {
                *length -= self.random.below(shape[axis].min(*length));
            }
            if self.random.once_in(5) {
                *length += self.random.below(5);
            }
        }
        let again = self.random.once_in(4);
        let fill = if again { self.fill() } else { Fill::Poison };
        let Some(argument) = self.argument(Access::Write, element, &lengths, fill) else { return };
        self.program.arguments[argument].tile = shape.clone();
        let store = |masked: bool| Operation::Store { argument, masked, index: index.clone() };
        if again && element.is_number() {
            // What is there before, and what was just stored, both by other threads.
            let padding = if masked { Some(Padding::Zero) } else { None };
            let load =
                Operation::Load { argument, view: View::Partition, shape, padding, index: index.clone() };
            if self.add(load, Vec::new(), 1, body) {
                let own = self.next - 1;
                let sum = vec![Operand::Tile(own), Operand::Tile(variable)];
                if tile.element.is_number() && self.add(Operation::Binary(Binary::Maximum), sum, 1, body) {
                    let result = self.next - 1;
                    self.add(store(masked), vec![Operand::Tile(result)], 0, body);
                    return;
                }
            }
        }
        self.add(store(masked), vec![Operand::Tile(variable)], 0, body);
    }

    /// The tile's index along an axis, and how far it reaches at most.
    fn any_index(&mut self, signed: bool) -> (Index, i64) {
        let axis = self.random.below(self.program.grid.len());
        let blocks = self.program.grid[axis] as i64;
        match (self.random.below(5), self.counters.last().copied()) {
            (0..=2, Some((counter, trips))) => (Index::Counter(counter, 0), trips as i64 - 1),
            (0, None) => (Index::Constant(self.random.between(0, 2)), 2),
            (3, _) if signed => {
                let (factor, offset) = (self.random.between(-3, 5), self.random.between(-5, 5));
                (Index::Computed(axis, factor, offset), (blocks - 1) * factor.max(0) + offset.max(0))
            }
            (4, _) if signed => (Index::Constant(self.random.between(-6, 9)), 9),
            _ => (Index::Block(axis), blocks - 1),
        }
    }

    /// A tensor of these lengths.
    fn argument(&mut self, access: Access, element: Element, shape: &[usize], fill: Fill) -> Option<usize> {
        // Room for a few results stays.
        let most = if access == Access::Read { MOST_ARGUMENTS - 3 } else { MOST_ARGUMENTS };
        if self.program.arguments.len() >= most {
            return None;
        }
        let extents = shape
            .iter()
            .map(|&length| {
                let kind = match self.random.below(6) {
                    0 => ExtentKind::Static,
                    1 => ExtentKind::Wide,
                    2 => {
                        let multiples: Vec<usize> =
                            [2, 4, 8, 16].into_iter().filter(|multiple| length % multiple == 0).collect();
                        if multiples.is_empty() {
                            ExtentKind::Dynamic
                        } else {
                            ExtentKind::Multiple(self.random.choose(&multiples))
                        }
                    }
                    _ => ExtentKind::Dynamic,
                };
                Extent { length, kind }
            })
            .collect();
        let mapping = match self.random.below(10) {
            0 => Mapping::Left,
            1 => Mapping::PaddedRight(self.random.choose(&[4, 8, 16])),
            2 => Mapping::PaddedLeft(self.random.choose(&[4, 8])),
            3 => Mapping::Pitched,
            4 => Mapping::PitchedLeft,
            5 => Mapping::Strided,
            _ => Mapping::Right,
        };
        let offset = if self.random.once_in(3) { self.random.below(17) } else { 0 };
        self.program.arguments.push(Argument {
            access,
            element,
            extents,
            mapping,
            offset,
            fill,
            tile: Vec::new(),
        });
        Some(self.program.arguments.len() - 1)
    }

    fn fill(&mut self) -> Fill {
        let seed = self.random.bits();
        match self.random.below(9) {
            0..=3 => Fill::Small(seed),
            4..=5 => Fill::Digits(seed),
            6 => Fill::Wide(seed),
            7 => Fill::Special(seed),
            _ => Fill::Counting,
        }
    }
}
