//! Runs a program, one element after the other.

mod creation;
mod elementwise;
mod memory;
mod movement;
mod reduction;
mod tile;

use crate::check::check;
use crate::data;
use crate::philox;
use crate::program::{Argument, Constant, Operand, Operation, Program, Statement, Step};
use crate::scalar::Scalar::{self, Known};

pub use tile::Tile;

/// What the memory of each tensor may hold after the launch, what lies around the tensors included.
///
/// # Panics
/// If the program is not one that compiles.
pub fn run(program: &Program) -> Vec<Vec<Scalar>> {
    check(program).expect("the program is one that compiles");
    let tensors =
        program.arguments.iter().map(|argument| data::elements(argument).into_iter().map(Known).collect());
    let mut machine =
        Machine { program, tensors: tensors.collect(), block: Vec::new(), counters: Vec::new() };
    let blocks: usize = program.grid.iter().product();
    for number in 0..blocks {
        // The first axis changes fastest; no result depends on the order.
        let mut rest = number;
        machine.block = program
            .grid
            .iter()
            .map(|&length| {
                let index = rest % length;
                rest /= length;
                index
            })
            .collect();
        let mut tiles = Vec::new();
        machine.statements(&program.body, &mut tiles);
    }
    let place = |argument: &Argument, values: &[Scalar]| {
        let mut memory: Vec<Scalar> = around(argument).into_iter().map(Known).collect();
        for (number, &value) in values.iter().enumerate() {
            memory[argument.place(number)] = value;
        }
        memory
    };
    program.arguments.iter().zip(&machine.tensors).map(|(argument, values)| place(argument, values)).collect()
}

/// The memory of a tensor before the launch, without the tensor itself.
fn around(argument: &Argument) -> Vec<u64> {
    vec![data::poison(argument.element); argument.memory()]
}

/// The memory of a tensor before the launch.
pub fn memory(argument: &Argument) -> Vec<u64> {
    let mut memory = around(argument);
    for (number, bits) in data::elements(argument).into_iter().enumerate() {
        memory[argument.place(number)] = bits;
    }
    memory
}

struct Machine<'a> {
    program: &'a Program,
    tensors: Vec<Vec<Scalar>>,
    block: Vec<usize>,
    counters: Vec<(usize, usize)>,
}

impl Machine<'_> {
    fn statements(&mut self, statements: &[Statement], tiles: &mut Vec<Option<Tile>>) {
        for statement in statements {
            match statement {
                Statement::Step(step) => {
                    let results = self.step(step, tiles);
                    for (&variable, tile) in step.results.iter().zip(results) {
                        set(tiles, variable, tile);
                    }
                }
                Statement::Repeat(repeat) => {
                    for carried in &repeat.carried {
                        let initial = get(tiles, carried.initial);
                        set(tiles, carried.variable, initial);
                    }
                    for trip in 0..repeat.trips {
                        self.counters.push((repeat.counter, trip));
                        self.statements(&repeat.body, tiles);
                        self.counters.pop();
                        let next: Vec<Tile> =
                            repeat.carried.iter().map(|carried| get(tiles, carried.next)).collect();
                        for (carried, tile) in repeat.carried.iter().zip(next) {
                            set(tiles, carried.variable, tile);
                        }
                    }
                }
            }
        }
    }

    fn operand(&self, operand: &Operand, tiles: &[Option<Tile>]) -> Tile {
        let number = |constant: Constant| Tile {
            element: constant.element,
            shape: Vec::new(),
            values: vec![Known(constant.bits)],
        };
        match *operand {
            Operand::Tile(variable) => get(tiles, variable),
            Operand::Constant(constant) => number(constant),
            Operand::Parameter(parameter) => number(self.program.parameters[parameter]),
        }
    }

    fn step(&mut self, step: &Step, tiles: &[Option<Tile>]) -> Vec<Tile> {
        let operands: Vec<Tile> = step.operands.iter().map(|operand| self.operand(operand, tiles)).collect();
        self.results(&step.operation, &operands)
    }

    /// What an operation makes of its operands. Each operation's meaning is that of its family.
    fn results(&mut self, operation: &Operation, operands: &[Tile]) -> Vec<Tile> {
        match operation {
            Operation::Full { shape } => vec![creation::full(&operands[0], shape)],
            Operation::Iota { element, shape } => vec![creation::iota(*element, shape)],
            Operation::Coordinate { axis, shape } => vec![creation::coordinate(*axis, shape)],
            Operation::Eye { element, length } => vec![creation::eye(*element, *length)],
            Operation::Arange { element, shape, start, step } => {
                vec![creation::arange(*element, shape, *start, *step)]
            }
            Operation::Philox { draw, shape, seed, stream, offset } => {
                vec![philox::draw(*draw, shape, *seed, *stream, *offset)]
            }

            Operation::Unary(unary) => vec![elementwise::unary(*unary, &operands[0])],
            Operation::Function(function) => vec![elementwise::function(*function, &operands[0])],
            Operation::Binary(binary) => vec![elementwise::binary(*binary, &operands[0], &operands[1])],
            Operation::Rounded(binary, rounding) => {
                vec![elementwise::rounded(*binary, *rounding, &operands[0], &operands[1])]
            }
            Operation::Fma(rounding) => vec![elementwise::fma(*rounding, operands)],
            Operation::SqrtRounded(rounding) => vec![elementwise::sqrt_rounded(*rounding, &operands[0])],
            Operation::Clamp => vec![elementwise::clamp(operands)],
            Operation::Select => vec![elementwise::select(operands)],
            Operation::Powi(exponent) => vec![elementwise::powi(&operands[0], *exponent)],
            Operation::DivRem { floored } => elementwise::div_rem(*floored, &operands[0], &operands[1]),
            Operation::Cast(element) => vec![operands[0].converted(*element)],
            Operation::CastRounded(element, rounding) => {
                vec![elementwise::cast_rounded(&operands[0], *element, *rounding)]
            }
            Operation::Bitcast(element) => vec![elementwise::bitcast(&operands[0], *element)],
            Operation::CastThrough(short) => vec![elementwise::cast_through(&operands[0], *short)],
            Operation::PromoteMixed => elementwise::promote_mixed(&operands[0], &operands[1]),
            Operation::Repack { element, axis } => vec![elementwise::repack(&operands[0], *element, *axis)],

            Operation::Reduce { by, axis } => vec![reduction::reduce(*by, &operands[0], *axis)],
            Operation::ReduceOver { by, axes } => vec![reduction::reduce_over(*by, &operands[0], axes)],
            Operation::Scan { by, axis, exclusive, backward } => {
                vec![reduction::scan(*by, &operands[0], *axis, *exclusive, *backward)]
            }
            Operation::Sort { axis, descending } => vec![reduction::sort(&operands[0], *axis, *descending)],
            Operation::Argsort { axis, descending } => {
                vec![reduction::argsort(&operands[0], *axis, *descending)]
            }
            Operation::TopK { axis, count } => reduction::top_k(&operands[0], *axis, *count),
            Operation::Mma => vec![reduction::mma(operands)],

            Operation::Reshape { shape } => vec![operands[0].reshaped(shape)],
            Operation::Broadcast { shape } => vec![movement::broadcast_to(&operands[0], shape)],
            Operation::ExpandDims { axis } => vec![movement::expand_dims(&operands[0], *axis)],
            Operation::Squeeze { axis } => vec![movement::squeeze(&operands[0], *axis)],
            Operation::Permute { axes } => vec![movement::permute(&operands[0], axes)],
            Operation::Transpose { first, second } => {
                vec![movement::transpose(&operands[0], *first, *second)]
            }
            Operation::Flip { axis } => vec![movement::flip(&operands[0], *axis)],
            Operation::Roll { axis, shift } => vec![movement::roll(&operands[0], *axis, *shift)],
            Operation::Split { axis } => movement::split(&operands[0], *axis),
            Operation::Slice { axis, start, length, .. } => {
                vec![movement::slice(&operands[0], *axis, *start, *length)]
            }
            Operation::Extract { shape, index } => vec![movement::extract(&operands[0], shape, index)],
            Operation::Insert { index } => vec![movement::insert(&operands[0], &operands[1], index)],
            Operation::Cat { axis } => vec![movement::cat(operands, *axis)],
            Operation::Stack { axis } => vec![movement::stack(operands, *axis)],
            Operation::Repeat { axis, times } => vec![movement::repeat(&operands[0], *axis, *times)],
            Operation::TileAlong { axis, times } => vec![movement::tile_along(&operands[0], *axis, *times)],
            Operation::Take { axis } => vec![movement::take(operands, *axis)],
            Operation::TakeAlongAxis { axis } => vec![movement::take_along_axis(operands, *axis)],
            Operation::Diagonal => vec![movement::diagonal(&operands[0])],
            Operation::OneHot { element, axis, classes } => {
                vec![movement::one_hot(&operands[0], *element, *axis, *classes)]
            }
            Operation::Histogram { bins } => vec![movement::histogram(&operands[0], *bins)],

            Operation::Load { argument, view, shape, padding, index } => {
                vec![self.load(*argument, view, shape, *padding, index)]
            }
            Operation::Gather { argument } => vec![self.gather(operands, *argument)],
            Operation::GatherRows { argument, axis, shape, padding, index } => {
                vec![self.gather_rows(&operands[0], *argument, *axis, shape, *padding, index)]
            }
            Operation::Store { argument, index, .. } => {
                self.store(&operands[0], *argument, index);
                Vec::new()
            }
            Operation::Update { argument, update, index } => {
                self.update(&operands[0], *argument, *update, index);
                Vec::new()
            }
            Operation::UpdateElements { argument, update } => {
                self.update_elements(&operands[0], &operands[1], *argument, *update);
                Vec::new()
            }
        }
    }
}

fn get(tiles: &[Option<Tile>], variable: usize) -> Tile {
    tiles[variable].clone().expect("the tile is defined")
}

fn set(tiles: &mut Vec<Option<Tile>>, variable: usize, tile: Tile) {
    if variable >= tiles.len() {
        tiles.resize(variable + 1, None);
    }
    tiles[variable] = Some(tile);
}
