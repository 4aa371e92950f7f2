//! Makes programs out of seeds: well typed, small, and of every family of operations.

use crate::check::{LARGEST_TILE, broadcast, types_within, view_steps};
use crate::data::{Fill, constant};
use crate::element::Element;
use crate::number::Rounding;
use crate::program::{
    Access, Argument, Binary, Carried, Constant, Draw, Extent, ExtentKind, Function, Index, Mapping, Operand,
    Operation, Padding, Program, Reduction, Repeat, Scan, ShortFloat, Statement, Step, TileType, Unary,
    Update, Variable, View,
};
use crate::random::Random;

/// The most tensors of a kernel.
const MOST_ARGUMENTS: usize = 10;

/// The most numbers that are passed: a launch has at most 12 arguments.
const MOST_PARAMETERS: usize = 2;

/// Makes the program of a seed.
pub fn generate(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let threads = random.choose(&[32, 64, 128, 128, 256]);
    let grid = match random.below(4) {
        0 => vec![random.between(1, 3) as usize, random.between(1, 3) as usize],
        _ => vec![random.between(1, 5) as usize],
    };
    let mut program = Program {
        seed,
        threads,
        vector: random.choose(&[1, 2, 4, 4, 8]),
        blocks: None,
        grid,
        arguments: Vec::new(),
        parameters: Vec::new(),
        body: Vec::new(),
    };
    if random.once_in(5) {
        program.blocks = Some(1 + random.below(program.grid[0]));
    }
    let mut generator = Generator { random, program, tiles: Vec::new(), next: 0, counters: Vec::new() };
    generator.make();
    generator.program
}

struct Generator {
    random: Random,
    program: Program,
    /// The tiles that can be named here.
    tiles: Vec<(Variable, TileType)>,
    next: Variable,
    counters: Vec<(usize, usize)>,
}

impl Generator {
    fn make(&mut self) {
        let mut body = Vec::new();
        let favourite = self.random.choose(&Element::ALL);
        for position in 0..2 + self.random.below(2) {
            let element = if position == 0 || self.random.once_in(2) {
                favourite
            } else {
                self.random.choose(&Element::ALL)
            };
            self.load(element, &mut body);
        }
        while self.tiles.is_empty() {
            self.load(favourite, &mut body);
        }
        let operations = 3 + self.random.below(12);
        self.operations(operations, &mut body);
        if self.random.once_in(3) {
            self.repeat(&mut body);
            let more = self.random.below(4);
            self.operations(more, &mut body);
        }
        if self.random.once_in(8) {
            self.update(&mut body);
        }
        self.stores(&mut body);
        self.program.body = body;
    }

    fn operations(&mut self, count: usize, body: &mut Vec<Statement>) {
        for _ in 0..count {
            // Most proposals that do not fit are seen at once; some find no operand.
            for _ in 0..40 {
                if self.operation(body) {
                    break;
                }
            }
        }
    }

    /// Adds a step, if the program is one that compiles with it.
    fn add(
        &mut self,
        operation: Operation,
        operands: Vec<Operand>,
        results: usize,
        body: &mut Vec<Statement>,
    ) -> bool {
        let results: Vec<Variable> = (self.next..self.next + results).collect();
        let step = Step { results: results.clone(), operation, operands };
        let Some(types) = self.types_of(&step) else { return false };
        self.next += results.len();
        body.push(Statement::Step(step));
        self.tiles.extend(results.into_iter().zip(types));
        true
    }

    /// The types of the step's results, if it compiles behind what there is.
    fn types_of(&self, step: &Step) -> Option<Vec<TileType>> {
        // The tiles that can be named, as if they were filled.
        let mut trial = self.program.clone();
        trial.body = Vec::new();
        for (variable, tile) in &self.tiles {
            let operands = vec![Operand::Constant(Constant { element: tile.element, bits: 0 })];
            let operation = Operation::Full { shape: tile.shape.clone() };
            trial.body.push(Statement::Step(Step { results: vec![*variable], operation, operands }));
        }
        trial.body.push(Statement::Step(step.clone()));
        let types = types_within(&trial, &self.counters).ok()?;
        step.results.iter().map(|&variable| types.get(variable).cloned().flatten()).collect()
    }

    fn tile(&mut self, fits: impl Fn(&TileType) -> bool) -> Option<(Variable, TileType)> {
        let all: Vec<usize> = (0..self.tiles.len()).filter(|&number| fits(&self.tiles[number].1)).collect();
        // New tiles twice as often: long chains find more than wide ones.
        let half = all.len() / 2;
        let number = match all.len() {
            0 => return None,
            _ if self.random.once_in(2) => all[half + self.random.below(all.len() - half)],
            length => all[self.random.below(length)],
        };
        Some(self.tiles[number].clone())
    }

    fn any_tile(&mut self) -> (Variable, TileType) {
        self.tile(|_| true).expect("a kernel begins with loads")
    }

    fn number(&mut self, element: Element) -> Operand {
        let bits = match self.random.below(5) {
            0 if element.is_integer() => element.wrap(i128::from(self.random.bits())),
            0 if element.is_float() => constant(element, self.random.between(-4000, 4000) as f64 / 257.0),
            _ => constant(element, self.random.choose(&[1.0, 2.0, 3.0, 0.5, 7.0, 0.0, -1.0, 10.0])),
        };
        let constant = Constant { element, bits };
        if self.random.once_in(3) && self.program.parameters.len() < MOST_PARAMETERS {
            self.program.parameters.push(constant);
            return Operand::Parameter(self.program.parameters.len() - 1);
        }
        Operand::Constant(constant)
    }

    /// A shape that broadcasts with another one, of at most so many elements.
    fn shape(&mut self, rank: usize, most: usize) -> Vec<usize> {
        let mut shape = vec![1; rank];
        let total = (self.random.between(3, most.ilog2() as i64)) as u32;
        for _ in 0..total {
            let axis = self.random.below(rank);
            shape[axis] *= 2;
        }
        shape
    }

    fn axis(&mut self, tile: &TileType) -> Option<usize> {
        if tile.shape.is_empty() || self.random.once_in(5) {
            None
        } else {
            Some(self.random.below(tile.shape.len()))
        }
    }

    #[allow(clippy::too_many_lines, reason = "one line or a few for each family")]
    fn operation(&mut self, body: &mut Vec<Statement>) -> bool {
        match self.random.below(40) {
            0..=8 => self.binary(body),
            9..=11 => self.unary(body),
            12..=13 => self.function(body),
            14..=16 => self.conversion(body),
            17..=20 => self.reduction(body),
            21..=22 => self.scan_or_sort(body),
            23..=29 => self.movement(body),
            30..=31 => self.pick(body),
            32..=33 => self.creation(body),
            34..=35 => self.ternary(body),
            36 => self.product(body),
            37 => self.gather(body),
            _ => {
                let element = self.random.choose(&Element::ALL);
                self.load(element, body)
            }
        }
    }

    fn binary(&mut self, body: &mut Vec<Statement>) -> bool {
        use Binary::*;
        const COMMON: [Binary; 12] =
            [Add, Sub, Mul, Div, Rem, Minimum, Maximum, And, Or, Xor, ShiftLeft, ShiftRight];
        let binary = if self.random.once_in(2) {
            self.random.choose(&COMMON)
        } else {
            self.random.choose(Binary::ALL)
        };
        let (a, tile) = self.any_tile();
        let shift = matches!(binary, ShiftLeft | ShiftRight | RotateLeft | RotateRight);
        let b = match self.random.below(3) {
            0 => {
                let element = if shift { Element::U32 } else { tile.element };
                self.number(element)
            }
            _ => match self.tile(|other| {
                broadcast(&other.shape, &tile.shape).is_some()
                    && (shift || other.element.promote(tile.element).is_some())
            }) {
                Some((b, _)) => Operand::Tile(b),
                None => return false,
            },
        };
        let mut operands = vec![Operand::Tile(a), b];
        if binary.is_operator() && !shift && !matches!(b, Operand::Tile(_)) && self.random.once_in(3) {
            operands.swap(0, 1);
        }
        if self.random.once_in(12) {
            let rounding = self.random.choose(&Rounding::ALL);
            return self.add(Operation::Rounded(binary, rounding), operands, 1, body);
        }
        if matches!(binary, Div | Rem) && self.random.once_in(4) {
            let floored = self.random.once_in(2);
            return self.add(Operation::DivRem { floored }, operands, 2, body);
        }
        self.add(Operation::Binary(binary), operands, 1, body)
    }

    fn unary(&mut self, body: &mut Vec<Statement>) -> bool {
        let unary = self.random.choose(Unary::ALL);
        let (a, _) = self.any_tile();
        self.add(Operation::Unary(unary), vec![Operand::Tile(a)], 1, body)
    }

    fn function(&mut self, body: &mut Vec<Statement>) -> bool {
        let Some((a, _)) = self.tile(|tile| tile.element.is_float()) else { return false };
        let operation = match self.random.below(10) {
            0 => Operation::Powi(self.random.between(-3, 5) as i32),
            1 => Operation::SqrtRounded(self.random.choose(&Rounding::ALL)),
            _ => Operation::Function(self.random.choose(Function::ALL)),
        };
        self.add(operation, vec![Operand::Tile(a)], 1, body)
    }

    fn conversion(&mut self, body: &mut Vec<Statement>) -> bool {
        let (a, tile) = self.any_tile();
        let to = self.random.choose(&Element::ALL);
        let operation = match self.random.below(7) {
            0 => Operation::Bitcast(to),
            6 => Operation::CastThrough(self.random.choose(&ShortFloat::ALL)),
            1 => Operation::CastRounded(to, self.random.choose(&Rounding::ALL)),
            2 if !tile.shape.is_empty() => {
                Operation::Repack { element: to, axis: self.random.below(tile.shape.len()) }
            }
            3 => {
                let Some((b, _)) = self.tile(|other| other.element.is_integer()) else { return false };
                return self.add(Operation::PromoteMixed, vec![Operand::Tile(a), Operand::Tile(b)], 2, body);
            }
            _ => Operation::Cast(to),
        };
        self.add(operation, vec![Operand::Tile(a)], 1, body)
    }

    fn reduction(&mut self, body: &mut Vec<Statement>) -> bool {
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

    fn scan_or_sort(&mut self, body: &mut Vec<Statement>) -> bool {
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

    #[allow(clippy::too_many_lines, reason = "one line or a few for each movement")]
    fn movement(&mut self, body: &mut Vec<Statement>) -> bool {
        let (a, tile) = self.any_tile();
        let rank = tile.shape.len();
        let (one, length) = (vec![Operand::Tile(a)], tile.len());
        if rank == 0 {
            let shape = self.shape(2, 256);
            return self.add(Operation::Broadcast { shape }, one, 1, body);
        }
        let axis = self.random.below(rank);
        match self.random.below(17) {
            0 => {
                let rank = 1 + self.random.below(4);
                let mut shape = vec![1; rank];
                for _ in 0..length.ilog2() {
                    let axis = self.random.below(rank);
                    shape[axis] *= 2;
                }
                self.add(Operation::Reshape { shape }, one, 1, body)
            }
            1 => {
                let mut shape = tile.shape.clone();
                for length in &mut shape {
                    if *length == 1 && self.random.once_in(2) {
                        *length = 1 << self.random.below(5);
                    }
                }
                if rank < 4 && self.random.once_in(2) {
                    shape.insert(0, 1 << self.random.below(4));
                }
                self.add(Operation::Broadcast { shape }, one, 1, body)
            }
            2 => {
                let axis = self.random.below(rank + 1);
                self.add(Operation::ExpandDims { axis }, one, 1, body)
            }
            3 => self.add(Operation::Squeeze { axis }, one, 1, body),
            4..=5 => {
                let mut axes: Vec<usize> = (0..rank).collect();
                for position in (1..rank).rev() {
                    axes.swap(position, self.random.below(position + 1));
                }
                self.add(Operation::Permute { axes }, one, 1, body)
            }
            6 => self.add(Operation::Transpose { first: axis, second: (axis + 1) % rank }, one, 1, body),
            7 => {
                let axis = self.axis(&tile);
                self.add(Operation::Flip { axis }, one, 1, body)
            }
            8..=9 => {
                let (axis, shift) = (self.axis(&tile), self.random.between(-40, 40) as i32);
                self.add(Operation::Roll { axis, shift }, one, 1, body)
            }
            10 => self.add(Operation::Split { axis }, one, 2, body),
            11 => {
                let part = 1 << self.random.below(tile.shape[axis].ilog2() as usize + 1);
                let start = self.random.below(tile.shape[axis] - part + 1);
                let dynamic = self.random.once_in(2);
                self.add(Operation::Slice { axis, start, length: part, dynamic }, one, 1, body)
            }
            12 => {
                let (shape, index) = self.part(&tile.shape);
                self.add(Operation::Extract { shape, index }, one, 1, body)
            }
            13 => {
                let (shape, index) = self.part(&tile.shape);
                if !self.add(Operation::Extract { shape, index }, one, 1, body) {
                    return false;
                }
                let (part, part_type) = self.tiles.last().cloned().expect("it was just added");
                let index = (0..rank)
                    .map(|axis| self.random.below(tile.shape[axis] / part_type.shape[axis]))
                    .collect();
                self.add(Operation::Insert { index }, vec![Operand::Tile(a), Operand::Tile(part)], 1, body)
            }
            14 => {
                let Some((b, _)) = self.tile(|other| *other == tile) else { return false };
                let operation = if self.random.once_in(2) {
                    Operation::Cat { axis }
                } else {
                    Operation::Stack { axis: self.random.below(rank + 1) }
                };
                self.add(operation, vec![Operand::Tile(a), Operand::Tile(b)], 1, body)
            }
            15 => {
                let times = 1 << self.random.below(3);
                let operation = if self.random.once_in(2) {
                    Operation::Repeat { axis, times }
                } else {
                    Operation::TileAlong { axis, times }
                };
                self.add(operation, one, 1, body)
            }
            _ => self.add(Operation::Diagonal, one, 1, body),
        }
    }

    fn part(&mut self, shape: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let part: Vec<usize> = shape
            .iter()
            .map(|length| length >> self.random.below(length.ilog2().min(2) as usize + 1))
            .collect();
        let index = shape.iter().zip(&part).map(|(whole, part)| self.random.below(whole / part)).collect();
        (part, index)
    }

    fn pick(&mut self, body: &mut Vec<Statement>) -> bool {
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

    /// A vector of indices, loaded from a tensor of them.
    fn indices(&mut self, length: usize, limit: usize, body: &mut Vec<Statement>) -> Option<Variable> {
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

    fn creation(&mut self, body: &mut Vec<Statement>) -> bool {
        let rank = 1 + self.random.below(3);
        let shape = self.shape(rank, 512);
        let element = self.random.choose(&Element::NUMBERS);
        let operation = match self.random.below(7) {
            0 => {
                let number = self.number(element);
                return self.add(Operation::Full { shape }, vec![number], 1, body);
            }
            1 => Operation::Iota { element, shape },
            2 => Operation::Coordinate {
                axis: if self.random.once_in(4) { None } else { Some(self.random.below(rank)) },
                shape,
            },
            3 => Operation::Eye { element, length: 1 << self.random.below(6) },
            4 => {
                let start = constant(element, self.random.between(-9, 9) as f64);
                let step = constant(element, self.random.choose(&[1.0, -1.0, 0.5, 3.0]));
                Operation::Arange { element, shape, start, step }
            }
            _ => {
                let float = self.random.choose(&Element::FLOATS);
                let draw = match self.random.below(6) {
                    0 => Draw::Bits(Element::U32),
                    1 => Draw::Bits(Element::U64),
                    2 => Draw::Uniform(float),
                    3 => Draw::UniformAboveZero(float),
                    4 => Draw::Bernoulli(self.random.bits() as u8),
                    _ => self.range(),
                };
                let (seed, stream, offset) =
                    (self.random.bits(), self.random.bits(), self.random.bits() >> self.random.below(64));
                Operation::Philox { draw, shape, seed, stream, offset }
            }
        };
        self.add(operation, Vec::new(), 1, body)
    }

    fn range(&mut self) -> Draw {
        let element = self.random.choose(&[Element::I32, Element::I64, Element::U32, Element::U64]);
        let ends = [i128::from(self.random.bits()), i128::from(self.random.between(-9, 9))]
            .map(|end| element.wrap(end));
        let [first, last] =
            if element.integer(ends[0]) <= element.integer(ends[1]) { ends } else { [ends[1], ends[0]] };
        Draw::Range(element, first, last)
    }

    fn ternary(&mut self, body: &mut Vec<Statement>) -> bool {
        let select = self.random.once_in(2);
        let first = if select {
            self.tile(|tile| tile.element == Element::Bool)
        } else {
            self.tile(|tile| tile.element.is_number())
        };
        let Some((a, tile)) = first else { return false };
        let fits = |other: &TileType| broadcast(&other.shape, &tile.shape).is_some();
        let element = if select { self.any_tile().1.element } else { tile.element };
        let mut operands = vec![Operand::Tile(a)];
        for _ in 0..2 {
            let other = if self.random.once_in(3) {
                None
            } else {
                self.tile(|other| fits(other) && other.element == element)
            };
            operands.push(match other {
                Some((b, _)) => Operand::Tile(b),
                None => self.number(element),
            });
        }
        let operation = if select {
            Operation::Select
        } else if tile.element.is_float() && self.random.once_in(2) {
            let rounding = self.random.choose(&Rounding::ALL);
            Operation::Fma(if self.random.once_in(3) { Some(rounding) } else { None })
        } else {
            Operation::Clamp
        };
        self.add(operation, operands, 1, body)
    }

    fn product(&mut self, body: &mut Vec<Statement>) -> bool {
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

    fn load(&mut self, element: Element, body: &mut Vec<Statement>) -> bool {
        let rank = self.random.choose(&[1, 1, 2, 2, 2, 3, 4]);
        let most = self.random.choose(&[64, 256, 256, 1024]);
        let shape = self.shape(rank, most);
        self.load_shape(element, &shape, body)
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

    fn load_shape(&mut self, element: Element, shape: &[usize], body: &mut Vec<Statement>) -> bool {
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

    fn gather(&mut self, body: &mut Vec<Statement>) -> bool {
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

    fn repeat(&mut self, body: &mut Vec<Statement>) {
        let (counter, trips) = (self.counters.len(), 1 + self.random.below(4));
        let carried_count = 1 + self.random.below(2);
        let before = self.tiles.clone();
        let mut carried = Vec::new();
        for _ in 0..carried_count {
            let (initial, tile) = self.any_tile();
            carried.push(Carried { variable: self.next, initial, next: self.next });
            self.tiles.push((self.next, tile));
            self.next += 1;
        }
        let mut inner = Vec::new();
        self.counters.push((counter, trips));
        let element = self.random.choose(&Element::ALL);
        self.load(element, &mut inner);
        let count = 1 + self.random.below(5);
        self.operations(count, &mut inner);
        for change in &mut carried {
            change.next = self.next_of(change.variable, &before, &mut inner);
        }
        self.counters.pop();
        let kept: Vec<(Variable, TileType)> = self
            .tiles
            .iter()
            .filter(|(variable, _)| {
                before.iter().any(|(other, _)| other == variable)
                    || carried.iter().any(|change| change.variable == *variable)
            })
            .cloned()
            .collect();
        self.tiles = kept;
        body.push(Statement::Repeat(Repeat { counter, trips, carried, body: inner }));
    }

    /// What a carried tile becomes: combined with one that the loop makes, so that every trip counts.
    fn next_of(
        &mut self,
        variable: Variable,
        before: &[(Variable, TileType)],
        inner: &mut Vec<Statement>,
    ) -> Variable {
        let tile = self.tiles.iter().find(|(other, _)| *other == variable).expect("it is carried").1.clone();
        let fits = |other: &TileType| {
            other.element.promote(tile.element) == Some(tile.element)
                && broadcast(&other.shape, &tile.shape).as_ref() == Some(&tile.shape)
        };
        let made: Vec<(Variable, TileType)> = self
            .tiles
            .iter()
            .filter(|(other, made)| {
                *other != variable && fits(made) && before.iter().all(|(outer, _)| outer != other)
            })
            .cloned()
            .collect();
        if made.is_empty() {
            return variable;
        }
        let (other, _) = self.random.choose(&made);
        let binary = match tile.element {
            Element::Bool => self.random.choose(&[Binary::Xor, Binary::And, Binary::Or]),
            element if element.is_float() => {
                self.random.choose(&[Binary::Add, Binary::Sub, Binary::Minimum, Binary::Maximum])
            }
            _ => self.random.choose(&[Binary::Add, Binary::Mul, Binary::Xor, Binary::Maximum]),
        };
        let operands = vec![Operand::Tile(variable), Operand::Tile(other)];
        if self.add(Operation::Binary(binary), operands, 1, inner) { self.next - 1 } else { variable }
    }

    /// A tensor of which all blocks update the same elements.
    fn update(&mut self, body: &mut Vec<Statement>) {
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
    fn stores(&mut self, body: &mut Vec<Statement>) {
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
}

/// All tiles that statements take.
pub fn operands_of(statements: &[Statement], used: &mut Vec<Variable>) {
    for statement in statements {
        match statement {
            Statement::Step(step) => used.extend(step.operands.iter().filter_map(|operand| match operand {
                Operand::Tile(variable) => Some(*variable),
                _ => None,
            })),
            Statement::Repeat(repeat) => {
                used.extend(repeat.carried.iter().flat_map(|carried| [carried.initial, carried.next]));
                operands_of(&repeat.body, used);
            }
        }
    }
}
