//! Which types results have, and which programs are ones that compile.

mod creation;
mod elementwise;
mod memory;
mod movement;
mod reduction;

use crate::element::Element;
use crate::program::{Operand, Operation, Program, Repeat, Statement, Step, TileType, Variable};
use std::collections::BTreeMap;

pub(crate) use elementwise::mixed;
pub(crate) use memory::view_steps;

/// The most elements of a tile.
pub const LARGEST_TILE: usize = 4096;

/// The most bytes that a thread holds of a tile.
pub const LARGEST_SHARE: usize = 256;

/// What is wrong with a program.
pub type Problem = String;

/// The types of an operation's results, or what is wrong with it.
type Results = Result<Vec<TileType>, Problem>;

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
        let types =
            step.operands.iter().map(|operand| self.operand(operand)).collect::<Result<Vec<_>, _>>()?;
        let results = self.results(&step.operation, &Given { operands: &step.operands, types: &types })?;
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

    /// The types of what an operation makes of its operands. Each operation's rules are those of its family.
    fn results(&self, operation: &Operation, given: &Given<'_>) -> Results {
        match operation {
            Operation::Full { shape } => creation::full(given, shape),
            Operation::Iota { element, shape } => creation::iota(*element, shape),
            Operation::Coordinate { axis, shape } => creation::coordinate(*axis, shape),
            Operation::Eye { element, length } => creation::eye(*element, *length),
            Operation::Arange { element, shape, .. } => creation::arange(*element, shape),
            Operation::Philox { draw, shape, .. } => creation::philox(*draw, shape),

            Operation::Unary(unary) => elementwise::unary(given, *unary),
            Operation::Function(function) => elementwise::function(given, *function),
            Operation::Binary(binary) => elementwise::binary(given, *binary),
            Operation::Rounded(binary, _) => elementwise::rounded(given, *binary),
            Operation::Fma(rounding) => elementwise::fma(given, *rounding),
            Operation::SqrtRounded(_) => elementwise::sqrt_rounded(given),
            Operation::Clamp => elementwise::clamp(given),
            Operation::Select => elementwise::select(given),
            Operation::Powi(_) => elementwise::powi(given),
            Operation::DivRem { .. } => elementwise::div_rem(given),
            Operation::Cast(element) => elementwise::cast(given, *element),
            Operation::CastRounded(element, rounding) => {
                elementwise::cast_rounded(given, *element, *rounding)
            }
            Operation::Bitcast(element) => elementwise::bitcast(given, *element),
            Operation::CastThrough(_) => elementwise::cast_through(given),
            Operation::PromoteMixed => elementwise::promote_mixed(given),
            Operation::Repack { element, axis } => elementwise::repack(given, *element, *axis),

            Operation::Reduce { by, axis } => reduction::reduce(given, *by, *axis),
            Operation::ReduceOver { by, axes } => reduction::reduce_over(given, *by, axes),
            Operation::Scan { axis, .. } => reduction::scan(given, *axis),
            Operation::Sort { axis, .. } => reduction::sort(given, *axis),
            Operation::Argsort { axis, .. } => reduction::argsort(given, *axis),
            Operation::TopK { axis, count } => reduction::top_k(given, *axis, *count),
            Operation::Mma => reduction::mma(given),

            Operation::Reshape { shape } => movement::reshape(given, shape),
            Operation::Broadcast { shape } => movement::broadcast_to(given, shape),
            Operation::ExpandDims { axis } => movement::expand_dims(given, *axis),
            Operation::Squeeze { axis } => movement::squeeze(given, *axis),
            Operation::Permute { axes } => movement::permute(given, axes),
            Operation::Transpose { first, second } => movement::transpose(given, *first, *second),
            Operation::Flip { axis } | Operation::Roll { axis, .. } => movement::turn(given, *axis),
            Operation::Split { axis } => movement::split(given, *axis),
            Operation::Slice { axis, start, length, .. } => movement::slice(given, *axis, *start, *length),
            Operation::Extract { shape, index } => movement::extract(given, shape, index),
            Operation::Insert { index } => movement::insert(given, index),
            Operation::Cat { axis } => movement::cat(given, *axis),
            Operation::Stack { axis } => movement::stack(given, *axis),
            Operation::Repeat { axis, times } | Operation::TileAlong { axis, times } => {
                movement::repeat(given, *axis, *times)
            }
            Operation::Take { axis } => movement::take(given, *axis),
            Operation::TakeAlongAxis { axis } => movement::take_along_axis(given, *axis),
            Operation::Diagonal => movement::diagonal(given),
            Operation::OneHot { element, axis, classes } => {
                movement::one_hot(given, *element, *axis, *classes)
            }
            Operation::Histogram { bins } => movement::histogram(given, *bins),

            Operation::Load { argument, view, shape, padding, index } => {
                self.load(given, *argument, view, shape, *padding, index)
            }
            Operation::Gather { argument } => self.gather(given, *argument),
            Operation::GatherRows { argument, axis, shape, padding, index } => {
                self.gather_rows(given, *argument, *axis, shape, *padding, index)
            }
            Operation::Store { argument, masked, index } => self.store(given, *argument, *masked, index),
            Operation::Update { argument, update, index } => self.update(given, *argument, *update, index),
            Operation::UpdateElements { argument, update } => self.update_elements(given, *argument, *update),
        }
    }
}

/// What an operation is applied to.
struct Given<'a> {
    operands: &'a [Operand],
    /// The type of each operand.
    types: &'a [TileType],
}

impl<'a> Given<'a> {
    fn is_tile(&self, position: usize) -> bool {
        matches!(self.operands.get(position), Some(Operand::Tile(_)))
    }

    /// Requires this number of operands.
    fn count(&self, wanted: usize) -> Result<(), Problem> {
        require(self.types.len() == wanted, "the operation's number of operands")
    }

    /// The first operand: all operations but creations and operators have a tile there.
    fn tile(&self) -> Result<&'a TileType, Problem> {
        require(self.is_tile(0), "the first operand is a tile")?;
        Ok(&self.types[0])
    }

    /// The only operand, a tile.
    fn only_tile(&self) -> Result<&'a TileType, Problem> {
        self.count(1)?;
        self.tile()
    }
}

fn require(condition: bool, what: &str) -> Result<(), Problem> {
    if condition { Ok(()) } else { Err(what.to_owned()) }
}

fn require_axis(axis: usize, shape: &[usize]) -> Result<(), Problem> {
    require(axis < shape.len(), "an axis that there is")
}

fn require_axis_or_all(axis: Option<usize>, shape: &[usize]) -> Result<(), Problem> {
    require(axis.is_none_or(|axis| axis < shape.len()), "an axis that there is")
}

/// A single result.
fn one(element: Element, shape: Vec<usize>) -> Results {
    Ok(vec![TileType { element, shape }])
}

/// The shape that all these tiles broadcast to.
fn common_shape(tiles: &[TileType]) -> Result<Vec<usize>, Problem> {
    let mut shape = Vec::new();
    for tile in tiles {
        shape = broadcast(&shape, &tile.shape).ok_or("shapes that broadcast")?;
    }
    Ok(shape)
}

/// Whether broadcasting makes the first shape the second one.
fn broadcasts_to(from: &[usize], to: &[usize]) -> bool {
    broadcast(from, to).is_some_and(|shape| shape == to)
}
