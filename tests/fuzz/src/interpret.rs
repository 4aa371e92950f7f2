//! Runs a program, one element after the other.

use crate::check::{broadcast, check, mixed, view_steps};
use crate::data;
use crate::element::Element;
use crate::functions;
use crate::number::{self, Rounding};
use crate::operations::{self, cast};
use crate::philox;
use crate::program::{
    Argument, Binary, Constant, Index, Operand, Operation, Padding, Program, Reduction, Statement, Step,
    Unary, Update,
};
use crate::reduce;
use crate::scalar::Scalar::{self, Known, Unknown};

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

/// The coordinates of the element with a row-major number.
pub fn coordinates(shape: &[usize], number: usize) -> Vec<usize> {
    let mut rest = number;
    let mut coordinates = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        coordinates[axis] = rest % shape[axis];
        rest /= shape[axis];
    }
    coordinates
}

/// The row-major number of the element at these coordinates.
pub fn number_of(shape: &[usize], coordinates: &[usize]) -> usize {
    shape.iter().zip(coordinates).fold(0, |number, (&length, &coordinate)| number * length + coordinate)
}

impl Tile {
    fn new(element: Element, shape: &[usize], value: impl FnMut(&[usize]) -> Scalar) -> Self {
        let mut value = value;
        let length = shape.iter().product();
        let values = (0..length).map(|number| value(&coordinates(shape, number))).collect();
        Self { element, shape: shape.to_vec(), values }
    }

    fn at(&self, coordinates: &[usize]) -> Scalar {
        self.values[number_of(&self.shape, coordinates)]
    }

    /// The element that broadcasting puts at these coordinates of a larger shape.
    fn spread(&self, coordinates: &[usize]) -> Scalar {
        let missing = coordinates.len() - self.shape.len();
        let own: Vec<usize> = self
            .shape
            .iter()
            .enumerate()
            .map(|(axis, &length)| if length == 1 { 0 } else { coordinates[missing + axis] })
            .collect();
        self.at(&own)
    }

    fn converted(&self, element: Element) -> Self {
        let values = self.values.iter().map(|&value| cast(self.element, element, value)).collect();
        Self { element, shape: self.shape.clone(), values }
    }

    fn map(&self, element: Element, function: impl Fn(Scalar) -> Scalar) -> Self {
        Self {
            element,
            shape: self.shape.clone(),
            values: self.values.iter().map(|&value| function(value)).collect(),
        }
    }

    fn reshaped(&self, shape: &[usize]) -> Self {
        Self { element: self.element, shape: shape.to_vec(), values: self.values.clone() }
    }
}

fn common_shape(tiles: &[&Tile]) -> Vec<usize> {
    tiles
        .iter()
        .fold(Vec::new(), |shape, tile| broadcast(&shape, &tile.shape).expect("shapes that broadcast"))
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

    #[allow(clippy::too_many_lines, reason = "one line or a few for each operation")]
    fn step(&mut self, step: &Step, tiles: &[Option<Tile>]) -> Vec<Tile> {
        let operands: Vec<Tile> = step.operands.iter().map(|operand| self.operand(operand, tiles)).collect();
        let shapes = |tiles: &[&Tile]| common_shape(tiles);
        match &step.operation {
            Operation::Full { shape } => {
                vec![Tile::new(operands[0].element, shape, |_| operands[0].values[0])]
            }
            Operation::Iota { element, shape } => {
                vec![Tile::new(*element, shape, |at| Known(number_of(shape, at) as u64))]
            }
            Operation::Coordinate { axis, shape } => vec![Tile::new(Element::U32, shape, |at| {
                Known(axis.map_or_else(|| number_of(shape, at), |axis| at[axis]) as u64)
            })],
            Operation::Eye { element, length } => vec![Tile::new(*element, &[*length, *length], |at| {
                Known(data::constant(*element, f64::from(u8::from(at[0] == at[1]))))
            })],
            Operation::Arange { element, shape, start, step } => vec![Tile::new(*element, shape, |at| {
                let number = cast(Element::U32, *element, Known(number_of(shape, at) as u64));
                let product = operations::binary(Binary::Mul, *element, *element, number, Known(*step));
                operations::binary(Binary::Add, *element, *element, Known(*start), product)
            })],
            Operation::Philox { draw, shape, seed, stream, offset } => {
                vec![philox::draw(*draw, shape, *seed, *stream, *offset)]
            }
            Operation::Unary(unary) => {
                let tile = &operands[0];
                let element = match unary {
                    Unary::IsNan | Unary::IsInfinite | Unary::LogicalNot => Element::Bool,
                    _ => tile.element,
                };
                let result = tile.map(element, |value| operations::unary(*unary, tile.element, value));
                vec![if *unary == Unary::Flatten { result.reshaped(&[tile.values.len()]) } else { result }]
            }
            Operation::Function(function) => {
                let element = operands[0].element;
                vec![operands[0].map(element, |value| functions::apply(*function, element, value))]
            }
            Operation::Binary(binary) => vec![elementwise(*binary, &operands[0], &operands[1])],
            Operation::Rounded(binary, rounding) => {
                let element = operands[0].element.promote(operands[1].element).expect("a common type");
                let (a, b) = (operands[0].converted(element), operands[1].converted(element));
                vec![Tile::new(element, &shapes(&[&a, &b]), |at| {
                    operations::rounded(*binary, element, *rounding, a.spread(at), b.spread(at))
                })]
            }
            Operation::Fma(rounding) => {
                let element = operands[0].element;
                let [a, b, c] = [&operands[0], &operands[1], &operands[2]];
                let rounding = rounding.unwrap_or(Rounding::NearestEven);
                vec![Tile::new(element, &shapes(&[a, b, c]), |at| {
                    operations::fma(element, rounding, a.spread(at), b.spread(at), c.spread(at))
                })]
            }
            Operation::SqrtRounded(rounding) => {
                let element = operands[0].element;
                vec![operands[0].map(element, |value| operations::sqrt_rounded(element, *rounding, value))]
            }
            Operation::Clamp => {
                let [a, b, c] = [&operands[0], &operands[1], &operands[2]];
                vec![Tile::new(a.element, &shapes(&[a, b, c]), |at| {
                    operations::clamp(a.element, a.spread(at), b.spread(at), c.spread(at))
                })]
            }
            Operation::Select => {
                let [a, b, c] = [&operands[0], &operands[1], &operands[2]];
                vec![Tile::new(b.element, &shapes(&[a, b, c]), |at| {
                    operations::select(b.element, a.spread(at), b.spread(at), c.spread(at))
                })]
            }
            Operation::Powi(exponent) => {
                let element = operands[0].element;
                vec![operands[0].map(element, |value| operations::powi(element, value, *exponent))]
            }
            Operation::Cast(element) => vec![operands[0].converted(*element)],
            Operation::CastRounded(element, rounding) => {
                let from = operands[0].element;
                vec![
                    operands[0]
                        .map(*element, |value| operations::cast_rounded(from, *element, value, *rounding)),
                ]
            }
            Operation::Bitcast(element) => {
                let from = operands[0].element;
                vec![operands[0].map(*element, |value| operations::bitcast(from, *element, value))]
            }
            Operation::CastThrough(short) => {
                let element = operands[0].element;
                vec![operands[0].map(element, |value| operations::cast_through(element, *short, value))]
            }
            Operation::DivRem { floored } => {
                let element = operands[0].element.promote(operands[1].element).expect("a common type");
                let (a, b) = (operands[0].converted(element), operands[1].converted(element));
                let shape = shapes(&[&a, &b]);
                let one = |which: usize| {
                    Tile::new(element, &shape, |at| {
                        operations::div_rem(element, *floored, a.spread(at), b.spread(at))[which]
                    })
                };
                vec![one(0), one(1)]
            }
            Operation::PromoteMixed => {
                let element = mixed(operands[0].element, operands[1].element);
                operands.iter().map(|tile| tile.converted(element)).collect()
            }
            Operation::Reduce { by, axis } => vec![reduced(*by, &operands[0], *axis)],
            Operation::ReduceOver { by, axes } => {
                // One axis after the other is what several at once may be.
                let tile = &operands[0];
                let rest: Vec<usize> = (0..tile.shape.len()).filter(|axis| !axes.contains(axis)).collect();
                let order: Vec<usize> = rest.iter().chain(axes).copied().collect();
                let moved = permuted(tile, &order);
                let outer: usize = rest.iter().map(|&axis| tile.shape[axis]).product();
                let inner: usize = axes.iter().map(|&axis| tile.shape[axis]).product();
                let flat = reduced(*by, &moved.reshaped(&[outer, inner]), Some(1));
                let mut shape = tile.shape.clone();
                axes.iter().for_each(|&axis| shape[axis] = 1);
                vec![flat.reshaped(&shape)]
            }
            Operation::Scan { by, axis, exclusive, backward } => {
                let tile = &operands[0];
                vec![along(tile, tile.element, *axis, |row| {
                    reduce::scan(*by, tile.element, row, *exclusive, *backward)
                })]
            }
            Operation::Sort { axis, descending } => {
                let tile = &operands[0];
                vec![along(tile, tile.element, *axis, |row| reduce::sort(tile.element, row, *descending).0)]
            }
            Operation::Argsort { axis, descending } => {
                let tile = &operands[0];
                vec![along(tile, Element::U32, *axis, |row| reduce::sort(tile.element, row, *descending).1)]
            }
            Operation::TopK { axis, count } => {
                let tile = &operands[0];
                let keep = |tile: Tile| sliced(&tile, *axis, 0, *count);
                vec![
                    keep(along(tile, tile.element, Some(*axis), |row| {
                        reduce::sort(tile.element, row, true).0
                    })),
                    keep(along(tile, Element::U32, Some(*axis), |row| {
                        reduce::sort(tile.element, row, true).1
                    })),
                ]
            }
            Operation::Reshape { shape } => vec![operands[0].reshaped(shape)],
            Operation::Broadcast { shape } => {
                vec![Tile::new(operands[0].element, shape, |at| operands[0].spread(at))]
            }
            Operation::ExpandDims { axis } => {
                let mut shape = operands[0].shape.clone();
                shape.insert(*axis, 1);
                vec![operands[0].reshaped(&shape)]
            }
            Operation::Squeeze { axis } => {
                let mut shape = operands[0].shape.clone();
                shape.remove(*axis);
                vec![operands[0].reshaped(&shape)]
            }
            Operation::Permute { axes } => vec![permuted(&operands[0], axes)],
            Operation::Transpose { first, second } => {
                let mut axes: Vec<usize> = (0..operands[0].shape.len()).collect();
                axes.swap(*first, *second);
                vec![permuted(&operands[0], &axes)]
            }
            Operation::Flip { axis } => {
                let tile = &operands[0];
                vec![along(tile, tile.element, *axis, |row| row.iter().rev().copied().collect())]
            }
            Operation::Roll { axis, shift } => {
                let tile = &operands[0];
                vec![along(tile, tile.element, *axis, |row| {
                    let length = row.len() as i64;
                    (0..length).map(|k| row[(k - i64::from(*shift)).rem_euclid(length) as usize]).collect()
                })]
            }
            Operation::Split { axis } => {
                let half = operands[0].shape[*axis] / 2;
                vec![sliced(&operands[0], *axis, 0, half), sliced(&operands[0], *axis, half, half)]
            }
            Operation::Slice { axis, start, length, .. } => {
                vec![sliced(&operands[0], *axis, *start, *length)]
            }
            Operation::Extract { shape, index } => vec![Tile::new(operands[0].element, shape, |at| {
                let from: Vec<usize> =
                    (0..at.len()).map(|axis| index[axis] * shape[axis] + at[axis]).collect();
                operands[0].at(&from)
            })],
            Operation::Insert { index } => {
                let (whole, part) = (&operands[0], &operands[1]);
                vec![Tile::new(whole.element, &whole.shape, |at| {
                    let inside = (0..at.len()).all(|axis| at[axis] / part.shape[axis] == index[axis]);
                    let within: Vec<usize> = (0..at.len()).map(|axis| at[axis] % part.shape[axis]).collect();
                    if inside { part.at(&within) } else { whole.at(at) }
                })]
            }
            Operation::Cat { axis } => {
                let mut shape = operands[0].shape.clone();
                let length = shape[*axis];
                shape[*axis] *= 2;
                vec![Tile::new(operands[0].element, &shape, |at| {
                    let mut from = at.to_vec();
                    from[*axis] %= length;
                    operands[at[*axis] / length].at(&from)
                })]
            }
            Operation::Stack { axis } => {
                let mut shape = operands[0].shape.clone();
                shape.insert(*axis, 2);
                vec![Tile::new(operands[0].element, &shape, |at| {
                    let mut from = at.to_vec();
                    let which = from.remove(*axis);
                    operands[which].at(&from)
                })]
            }
            Operation::Repeat { axis, times } => {
                let mut shape = operands[0].shape.clone();
                shape[*axis] *= times;
                vec![Tile::new(operands[0].element, &shape, |at| {
                    let mut from = at.to_vec();
                    from[*axis] /= times;
                    operands[0].at(&from)
                })]
            }
            Operation::TileAlong { axis, times } => {
                let mut shape = operands[0].shape.clone();
                let length = shape[*axis];
                shape[*axis] *= times;
                vec![Tile::new(operands[0].element, &shape, |at| {
                    let mut from = at.to_vec();
                    from[*axis] %= length;
                    operands[0].at(&from)
                })]
            }
            Operation::Take { axis } => {
                let mut shape = operands[0].shape.clone();
                shape[*axis] = operands[1].shape[0];
                vec![Tile::new(operands[0].element, &shape, |at| {
                    pick(
                        &operands[0],
                        *axis,
                        at,
                        operands[1].element,
                        operands[1].values[at[*axis]],
                        operands[2].values[0],
                    )
                })]
            }
            Operation::TakeAlongAxis { axis } => {
                vec![Tile::new(operands[0].element, &operands[1].shape, |at| {
                    pick(
                        &operands[0],
                        *axis,
                        at,
                        operands[1].element,
                        operands[1].at(at),
                        operands[2].values[0],
                    )
                })]
            }
            Operation::Diagonal => {
                let length = operands[0].shape[0];
                vec![Tile::new(operands[0].element, &[length], |at| operands[0].at(&[at[0], at[0]]))]
            }
            Operation::OneHot { element, axis, classes } => {
                let mut shape = operands[0].shape.clone();
                shape.insert(*axis, *classes);
                vec![Tile::new(*element, &shape, |at| {
                    let mut from = at.to_vec();
                    let class = from.remove(*axis);
                    match operands[0].at(&from).integer(operands[0].element) {
                        Some(value) => {
                            Known(data::constant(*element, f64::from(u8::from(value == class as i128))))
                        }
                        None => Unknown,
                    }
                })]
            }
            Operation::Histogram { bins } => {
                let known: Option<Vec<i128>> =
                    operands[0].values.iter().map(|value| value.integer(operands[0].element)).collect();
                vec![Tile::new(Element::U32, &[*bins], |at| match &known {
                    Some(values) => {
                        Known(values.iter().filter(|&&value| value == at[0] as i128).count() as u64)
                    }
                    None => Unknown,
                })]
            }
            Operation::Repack { element, axis } => vec![repacked(&operands[0], *element, *axis)],
            Operation::Mma => {
                let [a, b, c] = [&operands[0], &operands[1], &operands[2]];
                let length = a.shape[1];
                vec![Tile::new(c.element, &c.shape, |at| {
                    let pairs: Vec<[Scalar; 2]> =
                        (0..length).map(|k| [a.at(&[at[0], k]), b.at(&[k, at[1]])]).collect();
                    reduce::product([a.element, b.element], c.element, &pairs, c.at(at))
                })]
            }
            Operation::Load { argument, view, shape, padding, index } => {
                let element = self.program.arguments[*argument].element;
                let (index, steps) = (self.index(index), view_steps(view, shape));
                let padding = padding.map_or(0, |padding| padding_bits(element, padding));
                vec![Tile::new(element, shape, |at| {
                    let place: Vec<i64> = (0..at.len())
                        .map(|axis| index[axis] * steps[axis] as i64 + at[axis] as i64)
                        .collect();
                    self.element(*argument, &place)
                        .map_or(Known(padding), |number| self.tensors[*argument][number])
                })]
            }
            Operation::Gather { argument } => {
                let tensor = &self.program.arguments[*argument];
                let rank = tensor.extents.len();
                let indices: Vec<&Tile> = operands[..rank].iter().collect();
                let (padding, mask) = (&operands[rank], &operands[rank + 1]);
                vec![Tile::new(tensor.element, &shapes(&indices), |at| {
                    let place: Option<Vec<i64>> =
                        indices.iter().map(|tile| place(tile.element, tile.spread(at))).collect();
                    match (mask.spread(at), place) {
                        (Known(0), _) => padding.spread(at),
                        (Known(_), Some(place)) => self
                            .element(*argument, &place)
                            .map_or(padding.spread(at), |number| self.tensors[*argument][number]),
                        _ => Unknown,
                    }
                })]
            }
            Operation::GatherRows { argument, axis, shape, padding, index } => {
                let element = self.program.arguments[*argument].element;
                let index = self.index(index);
                let padding = Known(padding_bits(element, *padding));
                vec![Tile::new(element, shape, |at| {
                    let row = place(operands[0].element, operands[0].values[at[*axis]]);
                    let Some(row) = row else { return Unknown };
                    let place: Vec<i64> = (0..at.len())
                        .map(|other| if other == *axis { row } else { index[other] + at[other] as i64 })
                        .collect();
                    self.element(*argument, &place).map_or(padding, |number| self.tensors[*argument][number])
                })]
            }
            Operation::Store { argument, index, .. } => {
                let tensor = &self.program.arguments[*argument];
                let value = operands[0].converted(tensor.element);
                let index = self.index(index);
                let tile = Tile::new(tensor.element, &tensor.tile, |at| value.spread(at));
                for (number, &value) in tile.values.iter().enumerate() {
                    let at = coordinates(&tile.shape, number);
                    let place: Vec<i64> = (0..at.len())
                        .map(|axis| index[axis] * tile.shape[axis] as i64 + at[axis] as i64)
                        .collect();
                    if let Some(number) = self.element(*argument, &place) {
                        self.tensors[*argument][number] = value;
                    }
                }
                Vec::new()
            }
            Operation::Update { argument, update, index } => {
                let tensor = &self.program.arguments[*argument];
                let index = self.index(index);
                let tile = Tile::new(tensor.element, &tensor.tile, |at| operands[0].spread(at));
                for (number, &value) in tile.values.iter().enumerate() {
                    let at = coordinates(&tile.shape, number);
                    let place: Vec<i64> = (0..at.len())
                        .map(|axis| index[axis] * tile.shape[axis] as i64 + at[axis] as i64)
                        .collect();
                    self.update(*argument, *update, self.element(*argument, &place), value);
                }
                Vec::new()
            }
            Operation::UpdateElements { argument, update } => {
                for number in 0..operands[1].values.len() {
                    let at = coordinates(&operands[1].shape, number);
                    match place(operands[1].element, operands[1].values[number]) {
                        Some(place) => {
                            self.update(
                                *argument,
                                *update,
                                self.element(*argument, &[place]),
                                operands[0].spread(&at),
                            );
                        }
                        // It may be any element that changes.
                        None => self.tensors[*argument].fill(Unknown),
                    }
                }
                Vec::new()
            }
        }
    }

    fn update(&mut self, argument: usize, update: Update, number: Option<usize>, value: Scalar) {
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

/// The bits of a padding.
pub fn padding_bits(element: Element, padding: Padding) -> u64 {
    match padding {
        Padding::Zero => 0,
        Padding::NegativeZero => number::sign(element),
        Padding::PositiveInfinity => number::infinity(element),
        Padding::NegativeInfinity => number::infinity(element) | number::sign(element),
        Padding::Nan => number::nan(element),
    }
}

/// An index as a coordinate; what is too large for one lies outside.
fn place(element: Element, index: Scalar) -> Option<i64> {
    index.integer(element).map(|value| value.clamp(-1, i128::from(i32::MAX)) as i64)
}

fn pick(tile: &Tile, axis: usize, at: &[usize], element: Element, index: Scalar, padding: Scalar) -> Scalar {
    match place(element, index) {
        None => Unknown,
        Some(index) if index < 0 || index >= tile.shape[axis] as i64 => padding,
        Some(index) => {
            let mut from = at.to_vec();
            from[axis] = index as usize;
            tile.at(&from)
        }
    }
}

fn elementwise(binary: Binary, a: &Tile, b: &Tile) -> Tile {
    let apart = matches!(
        binary,
        Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::RotateLeft
            | Binary::RotateRight
            | Binary::LogicalAnd
            | Binary::LogicalOr
            | Binary::LogicalXor
            | Binary::CopySign
    );
    let shape = common_shape(&[a, b]);
    if apart {
        let result = operations::binary_result(binary, a.element);
        return Tile::new(result, &shape, |at| {
            operations::binary(binary, a.element, b.element, a.spread(at), b.spread(at))
        });
    }
    let common = a.element.promote(b.element).expect("a common type");
    let (a, b) = (a.converted(common), b.converted(common));
    Tile::new(operations::binary_result(binary, common), &shape, |at| {
        operations::binary(binary, common, common, a.spread(at), b.spread(at))
    })
}

fn permuted(tile: &Tile, axes: &[usize]) -> Tile {
    let shape: Vec<usize> = axes.iter().map(|&axis| tile.shape[axis]).collect();
    Tile::new(tile.element, &shape, |at| {
        let mut from = vec![0; at.len()];
        for (position, &axis) in axes.iter().enumerate() {
            from[axis] = at[position];
        }
        tile.at(&from)
    })
}

fn sliced(tile: &Tile, axis: usize, start: usize, length: usize) -> Tile {
    let mut shape = tile.shape.clone();
    shape[axis] = length;
    Tile::new(tile.element, &shape, |at| {
        let mut from = at.to_vec();
        from[axis] += start;
        tile.at(&from)
    })
}

/// The tile that `function` makes of each row along an axis, or of all elements.
fn along(
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

fn reduced(by: Reduction, tile: &Tile, axis: Option<usize>) -> Tile {
    let element = match by {
        Reduction::Count | Reduction::Argmax | Reduction::Argmin => Element::U32,
        _ => tile.element,
    };
    let rows = along(tile, element, axis, |row| vec![reduce::reduce(by, tile.element, row); row.len()]);
    match axis {
        Some(axis) => sliced(&rows, axis, 0, 1),
        None => Tile { element, shape: Vec::new(), values: vec![rows.values[0]] },
    }
}

/// The bits along an axis, the low ones first, cut up anew.
fn repacked(tile: &Tile, element: Element, axis: usize) -> Tile {
    let (from, to) = (tile.element.bits() as usize, element.bits() as usize);
    let mut shape = tile.shape.clone();
    shape[axis] = shape[axis] * from / to;
    Tile::new(element, &shape, |at| {
        let mut bits = 0u64;
        for k in 0..to {
            let bit = at[axis] * to + k;
            let mut source = at.to_vec();
            source[axis] = bit / from;
            match tile.at(&source) {
                Known(word) if !number::is_nan(tile.element, word) => bits |= (word >> (bit % from) & 1) << k,
                _ => return Unknown,
            }
        }
        Known(bits)
    })
}
