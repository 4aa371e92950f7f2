//! Steps that compute element by element, and conversions.

use super::Generator;
use crate::check::broadcast;
use crate::element::Element;
use crate::number::Rounding;
use crate::program::{Binary, Function, Operand, Operation, ShortFloat, Statement, TileType, Unary};

impl Generator {
    pub(super) fn binary(&mut self, body: &mut Vec<Statement>) -> bool {
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

    pub(super) fn unary(&mut self, body: &mut Vec<Statement>) -> bool {
        let unary = self.random.choose(Unary::ALL);
        let (a, _) = self.any_tile();
        self.add(Operation::Unary(unary), vec![Operand::Tile(a)], 1, body)
    }

    pub(super) fn function(&mut self, body: &mut Vec<Statement>) -> bool {
        let Some((a, _)) = self.tile(|tile| tile.element.is_float()) else { return false };
        let operation = match self.random.below(10) {
            0 => Operation::Powi(self.random.between(-3, 5) as i32),
            1 => Operation::SqrtRounded(self.random.choose(&Rounding::ALL)),
            _ => Operation::Function(self.random.choose(Function::ALL)),
        };
        self.add(operation, vec![Operand::Tile(a)], 1, body)
    }

    pub(super) fn conversion(&mut self, body: &mut Vec<Statement>) -> bool {
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

    pub(super) fn ternary(&mut self, body: &mut Vec<Statement>) -> bool {
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
}
