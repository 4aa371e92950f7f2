//! Makes programs out of seeds: well typed, small, and of every family of operations.

mod creation;
mod elementwise;
mod memory;
mod movement;
mod reduction;

use crate::check::{broadcast, types_within};
use crate::data::constant;
use crate::element::Element;
use crate::program::{
    Binary, Carried, Constant, Operand, Operation, Program, Repeat, Statement, Step, TileType, Variable,
};
use crate::random::Random;

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
