//! Which types results have, and which programs are ones that compile.

use crate::element::Element;
use crate::functions;
use crate::number::Rounding;
use crate::operations::binary_result;
use crate::program::{
    Access, Binary, Draw, Index, Operand, Operation, Padding, Program, Reduction, Repeat, Statement, Step,
    TileType, Unary, Update, Variable, View,
};
use std::collections::BTreeMap;

/// The most elements of a tile.
pub const LARGEST_TILE: usize = 4096;

/// The most bytes that a thread holds of a tile.
pub const LARGEST_SHARE: usize = 256;

/// What is wrong with a program.
pub type Problem = String;

/// The types of all tiles.
pub type Types = Vec<Option<TileType>>;

/// The shape that two shapes broadcast to, by NumPy's rules.
pub fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |shape: &[usize], axis: usize| {
        let missing = rank - shape.len();
        if axis < missing { 1 } else { shape[axis - missing] }
    };
    (0..rank)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (a, b) if a == b => Some(a),
            (1, b) => Some(b),
            (a, 1) => Some(a),
            _ => None,
        })
        .collect()
}

/// Checks a program and finds the types of its tiles.
///
/// # Errors
/// If it would not compile, or would fail when it runs.
pub fn check(program: &Program) -> Result<Types, Problem> {
    types_within(program, &[])
}

/// [`check`] of what stands in loops, each with its number and its trips.
///
/// # Errors
/// As [`check`].
pub fn types_within(program: &Program, counters: &[(usize, usize)]) -> Result<Types, Problem> {
    let mut checker = Checker::new(program, counters);
    for argument in &program.arguments {
        if argument.extents.len() > 4 || argument.extents.is_empty() || argument.is_empty() {
            return Err("a rank from 1 to 4, and elements".into());
        }
    }
    if program.blocks.is_some_and(|blocks| blocks == 0 || program.grid.is_empty()) {
        return Err("blocks that take the tiles".into());
    }
    checker.statements(&program.body)?;
    Ok(checker.types)
}

/// The element types of all tiles, those within loops included.
///
/// # Errors
/// As [`check`].
pub fn elements_of(program: &Program) -> Result<BTreeMap<Variable, Element>, Problem> {
    let mut checker = Checker::new(program, &[]);
    checker.statements(&program.body)?;
    Ok(checker.elements)
}

struct Checker<'a> {
    program: &'a Program,
    types: Types,
    elements: BTreeMap<Variable, Element>,
    counters: Vec<(usize, usize)>,
}

impl<'a> Checker<'a> {
    fn new(program: &'a Program, counters: &[(usize, usize)]) -> Self {
        Self { program, types: Vec::new(), elements: BTreeMap::new(), counters: counters.to_vec() }
    }

    fn statements(&mut self, statements: &[Statement]) -> Result<(), Problem> {
        for statement in statements {
            match statement {
                Statement::Step(step) => self.step(step)?,
                Statement::Repeat(repeat) => self.repeat(repeat)?,
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), Problem> {
        let operands =
            step.operands.iter().map(|operand| self.operand(operand)).collect::<Result<Vec<_>, _>>()?;
        let results = self.results(&step.operation, &operands, &step.operands)?;
        if results.len() != step.results.len() {
            return Err("as many results as the operation has".into());
        }
        for (&variable, result) in step.results.iter().zip(results) {
            self.define(variable, result)?;
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &Repeat) -> Result<(), Problem> {
        if repeat.trips == 0 {
            return Err("a loop that runs".into());
        }
        for carried in &repeat.carried {
            let initial = self.tile(carried.initial)?;
            self.define(carried.variable, initial)?;
        }
        let outer = self.types.clone();
        self.counters.push((repeat.counter, repeat.trips));
        self.statements(&repeat.body)?;
        self.counters.pop();
        for carried in &repeat.carried {
            if self.tile(carried.next)? != self.tile(carried.variable)? {
                return Err("a tile carried by a loop keeps its type".into());
            }
        }
        // What the body defines is unknown behind the loop.
        for (variable, slot) in self.types.iter_mut().enumerate() {
            if outer.get(variable).is_none_or(Option::is_none) {
                *slot = None;
            }
        }
        Ok(())
    }

    fn define(&mut self, variable: Variable, tile: TileType) -> Result<(), Problem> {
        if variable >= self.types.len() {
            self.types.resize(variable + 1, None);
        }
        let share = tile.len().div_ceil(self.program.threads).max(1) * tile.element.bytes();
        if tile.len() > LARGEST_TILE || share > LARGEST_SHARE || tile.shape.len() > 4 {
            return Err("a tile that registers hold".into());
        }
        if !tile.shape.iter().all(|length| length.is_power_of_two()) {
            return Err("dimensions are powers of two".into());
        }
        self.elements.insert(variable, tile.element);
        self.types[variable] = Some(tile);
        Ok(())
    }

    fn tile(&self, variable: Variable) -> Result<TileType, Problem> {
        self.types.get(variable).cloned().flatten().ok_or_else(|| format!("tile {variable} is not defined"))
    }

    /// The type of an operand; a number has no shape.
    fn operand(&self, operand: &Operand) -> Result<TileType, Problem> {
        match *operand {
            Operand::Tile(variable) => self.tile(variable),
            Operand::Constant(constant) => Ok(TileType { element: constant.element, shape: Vec::new() }),
            Operand::Parameter(number) => match self.program.parameters.get(number) {
                Some(constant) => Ok(TileType { element: constant.element, shape: Vec::new() }),
                None => Err("a parameter that there is".into()),
            },
        }
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

    #[allow(clippy::too_many_lines, reason = "one line or a few for each operation")]
    fn results(
        &self,
        operation: &Operation,
        types: &[TileType],
        operands: &[Operand],
    ) -> Result<Vec<TileType>, Problem> {
        let fail = |what: &str| Err(what.to_owned());
        let require = |condition: bool, what: &str| if condition { Ok(()) } else { Err(what.to_owned()) };
        let is_tile = |position: usize| matches!(operands.get(position), Some(Operand::Tile(_)));
        let count = |wanted: usize| require(types.len() == wanted, "the operation's number of operands");
        let one = |element: Element, shape: Vec<usize>| Ok(vec![TileType { element, shape }]);
        let axis_below = |axis: usize, shape: &[usize]| require(axis < shape.len(), "an axis that there is");
        let axis_or_all = |axis: Option<usize>, shape: &[usize]| {
            require(axis.is_none_or(|axis| axis < shape.len()), "an axis that there is")
        };
        // All operations but creations have a tile first; operators take a number there, too.
        let tile = || -> Result<&TileType, Problem> {
            require(is_tile(0), "the first operand is a tile")?;
            Ok(&types[0])
        };
        match operation {
            Operation::Full { shape } => {
                count(1)?;
                require(!is_tile(0), "a tile is full of a number")?;
                one(types[0].element, shape.clone())
            }
            Operation::Iota { element, shape } => {
                let last = shape.iter().product::<usize>() as i128 - 1;
                require(element.is_integer() && last <= element.range().1, "numbers that the type holds")?;
                one(*element, shape.clone())
            }
            Operation::Coordinate { axis, shape } => {
                axis_or_all(*axis, shape)?;
                one(Element::U32, shape.clone())
            }
            Operation::Eye { element, length } => {
                require(element.is_number(), "a number")?;
                one(*element, vec![*length, *length])
            }
            Operation::Arange { element, shape, .. } => {
                require(element.is_number(), "a number")?;
                one(*element, shape.clone())
            }
            Operation::Philox { draw, shape, .. } => match draw {
                Draw::Bits(element) => {
                    require(matches!(element, Element::U32 | Element::U64), "bits of u32 or u64")?;
                    one(*element, shape.clone())
                }
                Draw::Uniform(element) | Draw::UniformAboveZero(element) => {
                    require(element.is_float(), "a float")?;
                    one(*element, shape.clone())
                }
                Draw::Range(element, first, last) => {
                    use Element::{I32, I64, U32, U64};
                    require(matches!(element, I32 | I64 | U32 | U64), "an integer of 32 or 64 bits")?;
                    require(element.integer(*first) <= element.integer(*last), "a range that is not empty")?;
                    one(*element, shape.clone())
                }
                Draw::Bernoulli(_) => one(Element::Bool, shape.clone()),
            },
            Operation::Unary(unary) => {
                count(1)?;
                let tile = tile()?;
                unary_type(*unary, tile)
            }
            Operation::Function(function) => {
                count(1)?;
                let tile = tile()?;
                require(functions::is_for(*function, tile.element), "a float")?;
                one(tile.element, tile.shape.clone())
            }
            Operation::Binary(binary) => {
                count(2)?;
                self.binary_type(*binary, types, [is_tile(0), is_tile(1)])
            }
            Operation::Rounded(binary, _) => {
                count(2)?;
                tile()?;
                require(
                    matches!(binary, Binary::Add | Binary::Sub | Binary::Mul),
                    "an operation that rounds",
                )?;
                let results = self.binary_type(*binary, types, [true, is_tile(1)])?;
                require(
                    matches!(results[0].element, Element::F16 | Element::Bf16 | Element::F32),
                    "a short float",
                )?;
                Ok(results)
            }
            Operation::Fma(rounding) => {
                count(3)?;
                let element = tile()?.element;
                require(
                    element.is_float() && types.iter().all(|tile| tile.element == element),
                    "floats of one type",
                )?;
                let directed = rounding.is_none_or(|rounding| rounding == Rounding::NearestEven);
                require(directed || element != Element::F64, "a short float")?;
                let first = broadcast(&types[0].shape, &types[1].shape).ok_or("shapes that broadcast")?;
                one(element, broadcast(&first, &types[2].shape).ok_or("shapes that broadcast")?)
            }
            Operation::SqrtRounded(_) => {
                let tile = tile()?;
                require(tile.element.is_float() && tile.element != Element::F64, "a short float")?;
                one(tile.element, tile.shape.clone())
            }
            Operation::Clamp => {
                count(3)?;
                let element = tile()?.element;
                require(
                    element.is_number() && types.iter().all(|tile| tile.element == element),
                    "numbers of one type",
                )?;
                let first = broadcast(&types[0].shape, &types[1].shape).ok_or("shapes that broadcast")?;
                one(element, broadcast(&first, &types[2].shape).ok_or("shapes that broadcast")?)
            }
            Operation::Select => {
                count(3)?;
                require(tile()?.element == Element::Bool, "a condition")?;
                require(
                    is_tile(1) || is_tile(2) || types[1].element == types[2].element,
                    "choices of one type",
                )?;
                require(types[1].element == types[2].element, "choices of one type")?;
                let first = broadcast(&types[0].shape, &types[1].shape).ok_or("shapes that broadcast")?;
                one(types[1].element, broadcast(&first, &types[2].shape).ok_or("shapes that broadcast")?)
            }
            Operation::Powi(_) => {
                count(1)?;
                let tile = tile()?;
                require(tile.element.is_float(), "a float")?;
                one(tile.element, tile.shape.clone())
            }
            Operation::Cast(element) => {
                count(1)?;
                one(*element, tile()?.shape.clone())
            }
            Operation::CastRounded(element, rounding) => {
                count(1)?;
                let tile = tile()?;
                require(cast_with(tile.element, *element, *rounding), "a conversion that has the mode")?;
                one(*element, tile.shape.clone())
            }
            Operation::Bitcast(element) => {
                count(1)?;
                let tile = tile()?;
                require(
                    element.bytes() == tile.element.bytes()
                        && *element != Element::Bool
                        && tile.element != Element::Bool,
                    "a type of the same size",
                )?;
                one(*element, tile.shape.clone())
            }
            Operation::CastThrough(_) => {
                count(1)?;
                let tile = tile()?;
                require(tile.element.is_float(), "a float")?;
                Ok(vec![tile.clone()])
            }
            Operation::DivRem { .. } => {
                count(2)?;
                tile()?;
                let result = self.binary_type(Binary::Div, types, [true, is_tile(1)])?.remove(0);
                require(result.element.is_integer(), "integers")?;
                Ok(vec![result.clone(), result])
            }
            Operation::PromoteMixed => {
                count(2)?;
                require(is_tile(0) && is_tile(1), "two tiles")?;
                let (a, b) = (types[0].element, types[1].element);
                require(a.is_integer() && b.is_integer(), "integers")?;
                let common = mixed(a, b);
                Ok(types.iter().map(|tile| TileType { element: common, shape: tile.shape.clone() }).collect())
            }
            Operation::Reduce { by, axis } => {
                count(1)?;
                let tile = tile()?;
                axis_or_all(*axis, &tile.shape)?;
                let element = reduced(*by, tile.element).ok_or("a reduction of the type")?;
                let shape = match axis {
                    Some(axis) => {
                        let mut shape = tile.shape.clone();
                        shape[*axis] = 1;
                        shape
                    }
                    None => Vec::new(),
                };
                one(element, shape)
            }
            Operation::ReduceOver { by, axes } => {
                count(1)?;
                let tile = tile()?;
                require(
                    matches!(
                        by,
                        Reduction::Sum
                            | Reduction::Prod
                            | Reduction::Max
                            | Reduction::Min
                            | Reduction::Any
                            | Reduction::All
                    ),
                    "a reduction over axes",
                )?;
                let element = reduced(*by, tile.element).ok_or("a reduction of the type")?;
                let mut shape = tile.shape.clone();
                for (position, &axis) in axes.iter().enumerate() {
                    axis_below(axis, &shape)?;
                    require(!axes[..position].contains(&axis), "each axis once")?;
                    shape[axis] = 1;
                }
                require(!axes.is_empty(), "an axis")?;
                one(element, shape)
            }
            Operation::Scan { axis, .. } => {
                count(1)?;
                let tile = tile()?;
                axis_or_all(*axis, &tile.shape)?;
                require(tile.element.is_number(), "a number")?;
                Ok(vec![tile.clone()])
            }
            Operation::Sort { axis, .. } => {
                count(1)?;
                let tile = tile()?;
                axis_or_all(*axis, &tile.shape)?;
                Ok(vec![tile.clone()])
            }
            Operation::Argsort { axis, .. } => {
                count(1)?;
                let tile = tile()?;
                axis_or_all(*axis, &tile.shape)?;
                one(Element::U32, tile.shape.clone())
            }
            Operation::TopK { axis, count: wanted } => {
                count(1)?;
                let tile = tile()?;
                axis_below(*axis, &tile.shape)?;
                require(*wanted <= tile.shape[*axis], "not more than there are")?;
                let mut shape = tile.shape.clone();
                shape[*axis] = *wanted;
                Ok(vec![
                    TileType { element: tile.element, shape: shape.clone() },
                    TileType { element: Element::U32, shape },
                ])
            }
            Operation::Reshape { shape } => {
                count(1)?;
                let tile = tile()?;
                require(shape.iter().product::<usize>() == tile.len(), "as many elements")?;
                one(tile.element, shape.clone())
            }
            Operation::Broadcast { shape } => {
                count(1)?;
                let tile = tile()?;
                require(broadcast(&tile.shape, shape).as_ref() == Some(shape), "a shape to broadcast to")?;
                one(tile.element, shape.clone())
            }
            Operation::ExpandDims { axis } => {
                count(1)?;
                let tile = tile()?;
                require(*axis <= tile.shape.len() && tile.shape.len() < 4, "a place for an axis")?;
                let mut shape = tile.shape.clone();
                shape.insert(*axis, 1);
                one(tile.element, shape)
            }
            Operation::Squeeze { axis } => {
                count(1)?;
                let tile = tile()?;
                axis_below(*axis, &tile.shape)?;
                require(tile.shape[*axis] == 1, "an axis of length 1")?;
                let mut shape = tile.shape.clone();
                shape.remove(*axis);
                one(tile.element, shape)
            }
            Operation::Permute { axes } => {
                count(1)?;
                let tile = tile()?;
                require(axes.len() == tile.shape.len() && axes.len() >= 2, "as many axes")?;
                require((0..axes.len()).all(|axis| axes.contains(&axis)), "each axis once")?;
                one(tile.element, axes.iter().map(|&axis| tile.shape[axis]).collect())
            }
            Operation::Transpose { first, second } => {
                count(1)?;
                let tile = tile()?;
                axis_below(*first.max(second), &tile.shape)?;
                require(first != second, "two axes")?;
                let mut shape = tile.shape.clone();
                shape.swap(*first, *second);
                one(tile.element, shape)
            }
            Operation::Flip { axis } | Operation::Roll { axis, .. } => {
                count(1)?;
                let tile = tile()?;
                axis_or_all(*axis, &tile.shape)?;
                Ok(vec![tile.clone()])
            }
            Operation::Split { axis } => {
                count(1)?;
                let tile = tile()?;
                axis_below(*axis, &tile.shape)?;
                require(tile.shape[*axis] > 1, "an axis that has halves")?;
                let mut half = tile.clone();
                half.shape[*axis] /= 2;
                Ok(vec![half.clone(), half])
            }
            Operation::Slice { axis, start, length, .. } => {
                count(1)?;
                let tile = tile()?;
                axis_below(*axis, &tile.shape)?;
                require(start + length <= tile.shape[*axis], "a range of the axis")?;
                let mut part = tile.clone();
                part.shape[*axis] = *length;
                Ok(vec![part])
            }
            Operation::Extract { shape, index } => {
                count(1)?;
                let tile = tile()?;
                part_of(&tile.shape, shape, index)?;
                one(tile.element, shape.clone())
            }
            Operation::Insert { index } => {
                count(2)?;
                let tile = tile()?;
                require(is_tile(1) && types[1].element == tile.element, "a tile of the same type")?;
                part_of(&tile.shape, &types[1].shape, index)?;
                Ok(vec![tile.clone()])
            }
            Operation::Cat { axis } => {
                count(2)?;
                let tile = tile()?;
                require(is_tile(1) && types[1] == *tile, "two tiles of one type")?;
                axis_below(*axis, &tile.shape)?;
                let mut both = tile.clone();
                both.shape[*axis] *= 2;
                Ok(vec![both])
            }
            Operation::Stack { axis } => {
                count(2)?;
                let tile = tile()?;
                require(
                    is_tile(1) && types[1] == *tile && *axis <= tile.shape.len(),
                    "two tiles of one type",
                )?;
                let mut both = tile.clone();
                both.shape.insert(*axis, 2);
                Ok(vec![both])
            }
            Operation::Repeat { axis, times } | Operation::TileAlong { axis, times } => {
                count(1)?;
                let tile = tile()?;
                axis_below(*axis, &tile.shape)?;
                let mut longer = tile.clone();
                longer.shape[*axis] *= times;
                Ok(vec![longer])
            }
            Operation::Take { axis } => {
                count(3)?;
                let tile = tile()?;
                require(
                    is_tile(1) && types[1].element.is_integer() && types[1].shape.len() == 1,
                    "a vector of indices",
                )?;
                require(!is_tile(2) && types[2].element == tile.element, "a padding of the type")?;
                axis_below(*axis, &tile.shape)?;
                let mut taken = tile.clone();
                taken.shape[*axis] = types[1].shape[0];
                Ok(vec![taken])
            }
            Operation::TakeAlongAxis { axis } => {
                count(3)?;
                let tile = tile()?;
                require(is_tile(1) && types[1].element.is_integer(), "a tile of indices")?;
                require(!is_tile(2) && types[2].element == tile.element, "a padding of the type")?;
                axis_below(*axis, &tile.shape)?;
                require(types[1].shape.len() == tile.shape.len(), "as many axes")?;
                let fits = (0..tile.shape.len())
                    .all(|other| other == *axis || tile.shape[other] == types[1].shape[other]);
                require(fits, "the tile's dimensions")?;
                one(tile.element, types[1].shape.clone())
            }
            Operation::Diagonal => {
                count(1)?;
                let tile = tile()?;
                require(tile.shape.len() == 2 && tile.shape[0] == tile.shape[1], "a square matrix")?;
                one(tile.element, vec![tile.shape[0]])
            }
            Operation::OneHot { element, axis, classes } => {
                count(1)?;
                let tile = tile()?;
                require(tile.element.is_integer() && element.is_number(), "integers")?;
                require(*axis <= tile.shape.len(), "a place for an axis")?;
                let mut shape = tile.shape.clone();
                shape.insert(*axis, *classes);
                one(*element, shape)
            }
            Operation::Histogram { bins } => {
                count(1)?;
                let tile = tile()?;
                require(tile.element.is_integer(), "integers")?;
                one(Element::U32, vec![*bins])
            }
            Operation::Repack { element, axis } => {
                count(1)?;
                let tile = tile()?;
                axis_below(*axis, &tile.shape)?;
                let bits = tile.shape[*axis] * tile.element.bits() as usize;
                require(bits >= 8 && bits >= element.bits() as usize, "whole elements")?;
                let mut shape = tile.shape.clone();
                shape[*axis] = bits / element.bits() as usize;
                one(*element, shape)
            }
            Operation::Mma => {
                count(3)?;
                require((0..3).all(is_tile), "three tiles")?;
                require(types.iter().all(|tile| tile.shape.len() == 2), "matrices")?;
                let (a, b, c) = (&types[0], &types[1], &types[2]);
                let fits = a.shape[1] == b.shape[0] && a.shape[0] == c.shape[0] && b.shape[1] == c.shape[1];
                require(fits, "matrices that multiply")?;
                use Element::{Bf16, F16, F32, F64, I8, I32, U8};
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
            Operation::Load { argument, view, shape, padding, index } => {
                count(0)?;
                let tensor = self.program.arguments.get(*argument).ok_or("a tensor that there is")?;
                let extents = tensor.shape();
                require(shape.len() == extents.len(), "a tile of the tensor's rank")?;
                self.check_index(index, extents.len())?;
                match tensor.access {
                    Access::Read => {}
                    Access::Write => require(
                        *view == View::Partition
                            && *shape == tensor.tile
                            && self.owned(index)
                            && same_place(self.program, *argument, index),
                        "a tile of the block's own",
                    )?,
                    Access::Atomic => return fail("an atomic tensor is only updated"),
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
                one(tensor.element, shape.clone())
            }
            Operation::Gather { argument } => {
                let tensor = self.program.arguments.get(*argument).ok_or("a tensor that there is")?;
                require(tensor.access == Access::Read, "a tensor to read")?;
                // Indices, the padding, the mask.
                count(tensor.extents.len() + 2)?;
                let (indices, rest) = types.split_at(tensor.extents.len());
                require(is_tile(0), "the first index is a tile")?;
                let mut shape = Vec::new();
                for (position, index) in indices.iter().enumerate() {
                    require(is_tile(position) && index.element.is_integer(), "tiles of integers")?;
                    shape = broadcast(&shape, &index.shape).ok_or("shapes that broadcast")?;
                }
                require(rest[0].element == tensor.element, "a padding of the type")?;
                require(rest[1].element == Element::Bool, "a mask")?;
                for operand in rest {
                    require(
                        broadcast(&shape, &operand.shape).as_ref() == Some(&shape),
                        "shapes that broadcast",
                    )?;
                }
                one(tensor.element, shape)
            }
            Operation::GatherRows { argument, axis, shape, padding, index } => {
                count(1)?;
                let tensor = self.program.arguments.get(*argument).ok_or("a tensor that there is")?;
                require(tensor.access == Access::Read && tensor.extents.len() > 1, "a tensor to read")?;
                require(shape.len() == tensor.extents.len(), "a tile of the tensor's rank")?;
                axis_below(*axis, shape)?;
                self.check_index(index, shape.len())?;
                let rows = tile()?;
                require(rows.element.is_integer() && rows.shape == [shape[*axis]], "a vector of indices")?;
                require(*padding == Padding::Zero || tensor.element.is_float(), "a float for the padding")?;
                one(tensor.element, shape.clone())
            }
            Operation::Store { argument, masked, index } => {
                count(1)?;
                let tile = tile()?;
                let tensor = self.program.arguments.get(*argument).ok_or("a tensor that there is")?;
                require(tensor.access == Access::Write, "a tensor to write")?;
                self.check_index(index, tensor.extents.len())?;
                require(
                    self.owned(index) && same_place(self.program, *argument, index),
                    "a tile of the block's own",
                )?;
                require(
                    broadcast(&tile.shape, &tensor.tile).as_ref() == Some(&tensor.tile),
                    "a shape that broadcasts",
                )?;
                require(
                    tile.element.promote(tensor.element) == Some(tensor.element),
                    "a type that is not wider",
                )?;
                if !masked {
                    require(
                        self.inside(&tensor.shape(), &tensor.tile, &tensor.tile, index),
                        "tiles that lie inside",
                    )?;
                }
                Ok(Vec::new())
            }
            Operation::Update { argument, update, index } => {
                count(1)?;
                let tile = tile()?;
                let tensor = self.program.arguments.get(*argument).ok_or("a tensor that there is")?;
                require(tensor.access == Access::Atomic, "an atomic tensor")?;
                self.check_index(index, tensor.extents.len())?;
                require(
                    broadcast(&tile.shape, &tensor.tile).as_ref() == Some(&tensor.tile),
                    "a shape that broadcasts",
                )?;
                require(tile.element == tensor.element, "the tensor's type")?;
                updates(self.program, *argument, *update)?;
                Ok(Vec::new())
            }
            Operation::UpdateElements { argument, update } => {
                let tensor = self.program.arguments.get(*argument).ok_or("a tensor that there is")?;
                require(tensor.access == Access::Atomic && tensor.extents.len() == 1, "an atomic vector")?;
                count(2)?;
                require(is_tile(0) && is_tile(1), "values and indices")?;
                require(
                    types[0].element == tensor.element && types[1].element.is_integer(),
                    "the tensor's type",
                )?;
                require(
                    broadcast(&types[1].shape, &types[0].shape).as_ref() == Some(&types[1].shape),
                    "a shape that broadcasts",
                )?;
                updates(self.program, *argument, *update)?;
                Ok(Vec::new())
            }
        }
    }

    fn binary_type(
        &self,
        binary: Binary,
        types: &[TileType],
        tiles: [bool; 2],
    ) -> Result<Vec<TileType>, Problem> {
        use Binary::*;
        let require = |condition: bool, what: &str| if condition { Ok(()) } else { Err(what.to_owned()) };
        let (a, b) = (types[0].element, types[1].element);
        require(tiles[0] || tiles[1], "a tile")?;
        if !tiles[0] {
            require(matches!(binary, Add | Sub | Mul | Div | Rem | And | Or | Xor) && a == b, "an operator")?;
        }
        let shape = broadcast(&types[0].shape, &types[1].shape).ok_or("shapes that broadcast")?;
        let one = |element: Element| Ok(vec![TileType { element, shape: shape.clone() }]);
        match binary {
            ShiftLeft | ShiftRight | RotateLeft | RotateRight => {
                require(a.is_integer() && b.is_integer(), "integers")?;
                require(tiles[1] || b == Element::U32, "an amount of u32")?;
                return one(a);
            }
            LogicalAnd | LogicalOr | LogicalXor => {
                require(tiles[1] || a == b, "a number of the tile's type")?;
                return one(Element::Bool);
            }
            CopySign => {
                require(a == b && a.is_float(), "floats of one type")?;
                return one(a);
            }
            _ => {}
        }
        require(tiles[0] && tiles[1] || a == b, "a number of the tile's type")?;
        let common = a.promote(b).ok_or("a common type")?;
        let fits = match binary {
            Equal | NotEqual => true,
            And | Or | Xor => !common.is_float(),
            MulHi | SaturatingAdd | SaturatingSub | SaturatingMul | AbsDiff => common.is_integer(),
            // References of two operands are those of `f64`.
            Atan2 | Hypot | Pow => common.is_float() && common != Element::F64,
            _ => common.is_number(),
        };
        require(fits, "an operation of the type")?;
        one(binary_result(binary, common))
    }
}

fn unary_type(unary: Unary, tile: &TileType) -> Result<Vec<TileType>, Problem> {
    use Unary::*;
    let element = tile.element;
    let fits = match unary {
        Neg | Abs | Sign => element.is_number(),
        Not => !element.is_float(),
        CountOnes | LeadingZeros | TrailingZeros | ReverseBits => element.is_integer(),
        IsNan | IsInfinite => element.is_number(),
        Sqrt | Reciprocal | Floor | Ceil | Trunc | RoundEven => element.is_float(),
        Flatten => !tile.shape.is_empty(),
        LogicalNot | Blocked => true,
    };
    if !fits {
        return Err("an operation of the type".into());
    }
    let element = match unary {
        IsNan | IsInfinite | LogicalNot => Element::Bool,
        _ => element,
    };
    let shape = if unary == Flatten { vec![tile.len()] } else { tile.shape.clone() };
    Ok(vec![TileType { element, shape }])
}

/// Between which floats a cast has a mode, in which this crate knows it.
fn cast_with(from: Element, to: Element, rounding: Rounding) -> bool {
    use Element::{Bf16, F16, F32, F64};
    match (from, to) {
        (F16 | Bf16, F32 | F64) | (F32, F64) | (F64, F32) | (Bf16, F16) => true,
        (F16 | F32 | F64, F16 | Bf16) => matches!(rounding, Rounding::NearestEven | Rounding::TowardZero),
        _ => false,
    }
}

/// The common type of two integers of any signedness by the rules of C++.
pub fn mixed(a: Element, b: Element) -> Element {
    match a.promote(b) {
        Some(common) => common,
        None => {
            let (signed, unsigned) = if a.is_signed() { (a, b) } else { (b, a) };
            if signed.bytes() > unsigned.bytes() { signed } else { unsigned }
        }
    }
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

/// Elements between the starts of neighbouring tiles.
pub fn view_steps(view: &View, shape: &[usize]) -> Vec<usize> {
    match view {
        View::Partition => shape.to_vec(),
        View::Strided(steps) => steps.clone(),
        View::Window => vec![1; shape.len()],
    }
}

fn part_of(whole: &[usize], part: &[usize], index: &[usize]) -> Result<(), Problem> {
    let fits = whole.len() == part.len()
        && index.len() == part.len()
        && !part.is_empty()
        && (0..part.len())
            .all(|axis| part[axis] <= whole[axis] && (index[axis] + 1) * part[axis] <= whole[axis]);
    if fits { Ok(()) } else { Err("a part of the tile".into()) }
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
