//! Steps that make tiles of numbers.

use super::Generator;
use crate::data::constant;
use crate::element::Element;
use crate::program::{Draw, Operation, Statement};

impl Generator {
    pub(super) fn creation(&mut self, body: &mut Vec<Statement>) -> bool {
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
}
