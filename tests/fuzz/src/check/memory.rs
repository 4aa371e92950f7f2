//! The types of what is read from tensors, and what may be read and written there.

use super::{Checker, Given, Problem, Results, broadcast, broadcasts_to, one, require, require_axis};
use crate::element::Element;
use crate::program::{Access, Argument, Index, Operation, Padding, Program, Statement, Update, View};

impl Checker<'_> {
    pub(super) fn load(
        &self,
        given: &Given<'_>,
        argument: usize,
        view: &View,
        shape: &[usize],
        padding: Option<Padding>,
        index: &[Index],
    ) -> Results {
        given.count(0)?;
        let tensor = self.tensor(argument)?;
        let extents = tensor.shape();
        require(shape.len() == extents.len(), "a tile of the tensor's rank")?;
        self.check_index(index, extents.len())?;
        match tensor.access {
            Access::Read => {}
            Access::Write => require(
                *view == View::Partition
                    && shape == tensor.tile
                    && self.owned(index)
                    && same_place(self.program, argument, index),
                "a tile of the block's own",
            )?,
            Access::Atomic => return Err("an atomic tensor is only updated".into()),
        }
        if let View::Strided(steps) = view {
            require(
                steps.len() == shape.len() && steps.iter().all(|&step| step > 0),
                "a step for each axis",
            )?;
        }
        match padding {
            None => {
                let steps = view_steps(view, shape);
                require(self.inside(&extents, shape, &steps, index), "tiles that lie inside")?;
            }
            Some(Padding::Zero) => {}
            Some(_) => require(tensor.element.is_float(), "a float for the padding")?,
        }
        one(tensor.element, shape.to_vec())
    }

    pub(super) fn gather(&self, given: &Given<'_>, argument: usize) -> Results {
        let tensor = self.tensor(argument)?;
        require(tensor.access == Access::Read, "a tensor to read")?;
        // Indices, the padding, the mask.
        let rank = tensor.extents.len();
        given.count(rank + 2)?;
        let (indices, rest) = given.types.split_at(rank);
        require(given.is_tile(0), "the first index is a tile")?;
        let mut shape = Vec::new();
        for (position, index) in indices.iter().enumerate() {
            require(given.is_tile(position) && index.element.is_integer(), "tiles of integers")?;
            shape = broadcast(&shape, &index.shape).ok_or("shapes that broadcast")?;
        }
        require(rest[0].element == tensor.element, "a padding of the type")?;
        require(rest[1].element == Element::Bool, "a mask")?;
        for operand in rest {
            require(broadcasts_to(&operand.shape, &shape), "shapes that broadcast")?;
        }
        one(tensor.element, shape)
    }

    pub(super) fn gather_rows(
        &self,
        given: &Given<'_>,
        argument: usize,
        axis: usize,
        shape: &[usize],
        padding: Padding,
        index: &[Index],
    ) -> Results {
        given.count(1)?;
        let tensor = self.tensor(argument)?;
        require(tensor.access == Access::Read && tensor.extents.len() > 1, "a tensor to read")?;
        require(shape.len() == tensor.extents.len(), "a tile of the tensor's rank")?;
        require_axis(axis, shape)?;
        self.check_index(index, shape.len())?;
        let rows = given.tile()?;
        require(rows.element.is_integer() && rows.shape == [shape[axis]], "a vector of indices")?;
        require(padding == Padding::Zero || tensor.element.is_float(), "a float for the padding")?;
        one(tensor.element, shape.to_vec())
    }

    pub(super) fn store(&self, given: &Given<'_>, argument: usize, masked: bool, index: &[Index]) -> Results {
        let tile = given.only_tile()?;
        let tensor = self.tensor(argument)?;
        require(tensor.access == Access::Write, "a tensor to write")?;
        self.check_index(index, tensor.extents.len())?;
        require(self.owned(index) && same_place(self.program, argument, index), "a tile of the block's own")?;
        require(broadcasts_to(&tile.shape, &tensor.tile), "a shape that broadcasts")?;
        require(tile.element.promote(tensor.element) == Some(tensor.element), "a type that is not wider")?;
        if !masked {
            require(
                self.inside(&tensor.shape(), &tensor.tile, &tensor.tile, index),
                "tiles that lie inside",
            )?;
        }
        Ok(Vec::new())
    }

    pub(super) fn update(
        &self,
        given: &Given<'_>,
        argument: usize,
        update: Update,
        index: &[Index],
    ) -> Results {
        let tile = given.only_tile()?;
        let tensor = self.tensor(argument)?;
        require(tensor.access == Access::Atomic, "an atomic tensor")?;
        self.check_index(index, tensor.extents.len())?;
        require(broadcasts_to(&tile.shape, &tensor.tile), "a shape that broadcasts")?;
        require(tile.element == tensor.element, "the tensor's type")?;
        updates(self.program, argument, update)?;
        Ok(Vec::new())
    }

    pub(super) fn update_elements(&self, given: &Given<'_>, argument: usize, update: Update) -> Results {
        let tensor = self.tensor(argument)?;
        require(tensor.access == Access::Atomic && tensor.extents.len() == 1, "an atomic vector")?;
        given.count(2)?;
        require(given.is_tile(0) && given.is_tile(1), "values and indices")?;
        let (values, indices) = (&given.types[0], &given.types[1]);
        require(values.element == tensor.element && indices.element.is_integer(), "the tensor's type")?;
        require(broadcasts_to(&values.shape, &indices.shape), "a shape that broadcasts")?;
        updates(self.program, argument, update)?;
        Ok(Vec::new())
    }

    fn tensor(&self, argument: usize) -> Result<&Argument, Problem> {
        Ok(self.program.arguments.get(argument).ok_or("a tensor that there is")?)
    }

    /// Whether a tile's index, in whole tiles, lies in a tensor for all blocks and trips.
    fn inside(&self, extents: &[usize], shape: &[usize], steps: &[usize], index: &[Index]) -> bool {
        (0..index.len()).all(|axis| {
            let (low, high) = self.index_range(index[axis]);
            low >= 0 && high * steps[axis] as i64 + shape[axis] as i64 <= extents[axis] as i64
        })
    }

    fn index_range(&self, index: Index) -> (i64, i64) {
        match index {
            Index::Constant(value) => (value, value),
            Index::Block(axis) => (0, self.program.grid.get(axis).map_or(0, |&blocks| blocks as i64 - 1)),
            Index::Counter(counter, offset) => {
                let trips =
                    self.counters.iter().find(|entry| entry.0 == counter).map_or(1, |entry| entry.1 as i64);
                (offset, trips - 1 + offset)
            }
            Index::Computed(axis, factor, offset) => {
                let last = self.program.grid.get(axis).map_or(0, |&blocks| blocks as i64 - 1) * factor;
                (offset + last.min(0), offset + last.max(0))
            }
        }
    }

    fn check_index(&self, index: &[Index], rank: usize) -> Result<(), Problem> {
        if index.len() != rank {
            return Err("an index of the tensor's rank".into());
        }
        for &number in index {
            match number {
                Index::Block(axis) | Index::Computed(axis, _, _) if axis >= self.program.grid.len() => {
                    return Err("an axis of the grid".into());
                }
                Index::Counter(counter, _) if !self.counters.iter().any(|entry| entry.0 == counter) => {
                    return Err("the counter of a loop around".into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether an index names tiles of this block alone: it has every block index, each alone on its axis.
    fn owned(&self, index: &[Index]) -> bool {
        (0..self.program.grid.len()).all(|axis| index.contains(&Index::Block(axis)))
    }
}

/// Elements between the starts of neighbouring tiles.
pub(crate) fn view_steps(view: &View, shape: &[usize]) -> Vec<usize> {
    match view {
        View::Partition => shape.to_vec(),
        View::Strided(steps) => steps.clone(),
        View::Window => vec![1; shape.len()],
    }
}

/// Whether the block's indices stand where those of the tensor's first access stand.
fn same_place(program: &Program, argument: usize, index: &[Index]) -> bool {
    fn first(statements: &[Statement], argument: usize) -> Option<Vec<Index>> {
        statements.iter().find_map(|statement| match statement {
            Statement::Repeat(repeat) => first(&repeat.body, argument),
            Statement::Step(step) => match &step.operation {
                Operation::Store { argument: of, index, .. }
                | Operation::Load { argument: of, index, .. }
                    if *of == argument =>
                {
                    Some(index.clone())
                }
                _ => None,
            },
        })
    }
    let kinds = |index: &[Index]| -> Vec<Option<usize>> {
        index
            .iter()
            .map(|number| match number {
                Index::Block(axis) => Some(*axis),
                _ => None,
            })
            .collect()
    };
    first(&program.body, argument).is_none_or(|first| kinds(&first) == kinds(index))
}

/// Whether updates of a tensor give the same in whatever order they come: all of one kind.
fn updates(program: &Program, argument: usize, update: Update) -> Result<(), Problem> {
    fn all(statements: &[Statement], argument: usize, update: Update) -> bool {
        statements.iter().all(|statement| match statement {
            Statement::Repeat(repeat) => all(&repeat.body, argument, update),
            Statement::Step(step) => match &step.operation {
                Operation::Update { argument: of, update: other, .. }
                | Operation::UpdateElements { argument: of, update: other }
                    if *of == argument =>
                {
                    *other == update
                        || matches!((other, update), (Update::Add, Update::Sub) | (Update::Sub, Update::Add))
                }
                _ => true,
            },
        })
    }
    let element = program.arguments[argument].element;
    if !matches!(element, Element::I32 | Element::U32 | Element::I64 | Element::U64) {
        return Err("integers that memory updates".into());
    }
    if all(&program.body, argument, update) { Ok(()) } else { Err("updates of one kind".into()) }
}
