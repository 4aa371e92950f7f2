//! Addresses of fragments in shared memory, by brute force on the CPU: `ldmatrix` would load the elements that the operands'
//! layouts name.

extern crate std;

use super::Plan;
use crate::layout::MatrixPart;
use crate::layout::map::LinearMap;
use crate::memory::swizzle::{SwizzledAddress, SwizzledMatrix};
use crate::mma::staging::Part;
use std::vec;
use std::vec::Vec;

/// Shared memory: for each byte its element, and the byte's number in the element.
struct Memory(Vec<Option<(usize, usize)>>);

impl Memory {
    /// Memory with a matrix of `2^bits` elements, each in a place of its own.
    fn filled(stage: &SwizzledMatrix, part: &Part, bits: u32, size: usize) -> Self {
        let mut memory = vec![None; size << bits];
        for flat in 0..1 << bits {
            let offset = part.offset(stage, size, flat);
            for byte in 0..size {
                assert_eq!(memory[offset + byte].replace((flat, byte)), None, "{stage:?}, {part:?}");
            }
        }
        Self(memory)
    }

    /// The element that begins at `offset`.
    fn element(&self, offset: usize) -> usize {
        let (flat, byte) = self.0[offset].expect("filled");
        assert_eq!(byte, 0);
        flat
    }

    /// The elements of the 32-bit register that lane `lane` gets of matrix `matrix`, whose rows are at the addresses that lanes
    /// give (PTX ISA, "ldmatrix").
    fn loaded(
        &self,
        address: &dyn Fn(usize) -> usize,
        matrix: usize,
        lane: usize,
        size: usize,
        transposed: bool,
    ) -> Vec<usize> {
        let row = |row: usize| address(matrix * 8 + row);
        if transposed {
            assert_eq!(size, 2);
            return (0..2).map(|k| self.element(row(lane % 4 * 2 + k) + lane / 4 * 2)).collect();
        }
        (0..4 / size).map(|k| self.element(row(lane / 4) + lane % 4 * 4 + k * size)).collect()
    }

    /// Whether eight rows of 16 bytes that are read at once lie in different banks.
    fn assert_no_conflict(address: &dyn Fn(usize) -> usize, matrix: usize) {
        let mut pieces: Vec<usize> = (0..8).map(|row| address(matrix * 8 + row) / 16 % 8).collect();
        pieces.sort_unstable();
        assert_eq!(pieces, (0..8).collect::<Vec<_>>());
    }
}

fn element(map: &LinearMap, thread: usize, register: usize) -> usize {
    map.of_thread.apply(thread) | map.of_register.apply(register)
}

fn shape(log: [u32; 2]) -> crate::shape::ShapeDescription {
    crate::shape::ShapeDescription { rank: 2, log: [log[0], log[1], 0, 0] }
}

/// Plans of all kinds: of accumulators with few and many rows and columns, with warps along either, and of every size of
/// elements.
fn plans() -> impl Iterator<Item = (Plan, u32, bool)> {
    let acc = [(4, 3), (4, 6), (6, 4), (7, 7), (8, 3), (6, 8), (5, 5)];
    acc.into_iter().flat_map(|(rows, columns)| {
        [5, 8].into_iter().flat_map(move |threads| {
            [false, true].into_iter().flat_map(move |groups| {
                let warps = crate::layout::warps(rows, columns, threads, groups).expect("large enough");
                [
                    (0, [false, true]),
                    (1, [false, true]),
                    (1, [true, false]),
                    (2, [false, true]),
                    (3, [true, true]),
                    (3, [false, false]),
                ]
                .into_iter()
                .flat_map(move |(size, by_columns)| {
                    (2..=6)
                        .filter_map(move |depth| Plan::with(rows, columns, depth, size, warps, by_columns))
                        .map(move |plan| (plan, threads, groups))
                })
            })
        })
    })
}

#[test]
fn fragments_of_a_are_those_of_the_layout() {
    for (plan, threads, groups) in plans() {
        let (size, packed) = (1usize << plan.size, if plan.size < 2 { 4 >> plan.size } else { 1 });
        let a = Part::new(plan.rows, plan.depth, plan.depth, true, plan.a_by_columns);
        let memory = Memory::filled(&plan.a(), &a, plan.rows + plan.depth, size);
        let layout = MatrixPart::A { bytes: plan.size, columns: plan.columns };
        let map = layout.map(&shape([plan.rows, plan.depth]), 0, threads, groups);
        let all = 1 << (plan.depth - plan.unit);
        for warp in 0..1usize << (threads - 5) {
            for tile in 0..1usize << (plan.rows - 4 - plan.down) {
                for first in (0..all).step_by(plan.units) {
                    let at = |lane: usize, half: usize, unit: usize| {
                        let own = plan.own(warp * 32 + lane).0;
                        let place = SwizzledAddress { stage: 0, own, touched: plan.a_touched() };
                        place.at(plan.a_offset(tile << plan.down, half, first + unit, 0, 0)) as usize
                    };
                    for matrix in 0..2 * plan.units {
                        let (half, unit) = (matrix % 2, matrix / 2);
                        if plan.size != 3 {
                            Memory::assert_no_conflict(&|lane| at(lane, 0, 0), matrix);
                        }
                        for lane in 0..32 {
                            let found = if plan.size == 3 {
                                vec![memory.element(at(lane, half, unit))]
                            } else {
                                memory.loaded(&|lane| at(lane, 0, 0), matrix, lane, size, plan.a_by_columns)
                            };
                            let word = half + 2 * (first + unit + all * tile);
                            let wanted: Vec<usize> = (0..packed)
                                .map(|k| element(&map, warp * 32 + lane, word * packed + k))
                                .collect();
                            assert_eq!(found, wanted, "{plan:?}, warp {warp}, lane {lane}, matrix {matrix}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn fragments_of_b_are_those_of_the_layout() {
    for (plan, threads, groups) in plans() {
        let (size, packed) = (1usize << plan.size, if plan.size < 2 { 4 >> plan.size } else { 1 });
        let b = Part::new(plan.depth, plan.columns, plan.depth, false, plan.b_by_columns);
        let memory = Memory::filled(&plan.b(), &b, plan.depth + plan.columns, size);
        let layout = MatrixPart::B { bytes: plan.size, rows: plan.rows };
        let map = layout.map(&shape([plan.depth, plan.columns]), 0, threads, groups);
        let all = 1 << (plan.depth - plan.unit);
        let (units, tiles) = plan.b_group();
        for warp in 0..1usize << (threads - 5) {
            for tile in (0..1usize << (plan.columns - 3 - plan.across)).step_by(tiles) {
                for first in (0..all).step_by(units) {
                    let at = |lane: usize, unit: usize| {
                        let own = plan.own(warp * 32 + lane).1;
                        let place = SwizzledAddress { stage: 0, own, touched: plan.b_touched() };
                        place.at(plan.b_offset(tile << plan.across, first + unit, 0, 0)) as usize
                    };
                    for matrix in 0..units * tiles {
                        if plan.size != 3 {
                            Memory::assert_no_conflict(&|lane| at(lane, 0), matrix);
                        }
                        for lane in 0..32 {
                            let found = if plan.size == 3 {
                                vec![memory.element(at(lane, matrix))]
                            } else {
                                memory.loaded(&|lane| at(lane, 0), matrix, lane, size, !plan.b_by_columns)
                            };
                            let word = first + matrix % units + all * (tile + matrix / units);
                            let wanted: Vec<usize> = (0..packed)
                                .map(|k| element(&map, warp * 32 + lane, word * packed + k))
                                .collect();
                            assert_eq!(found, wanted, "{plan:?}, warp {warp}, lane {lane}, matrix {matrix}");
                        }
                    }
                }
            }
        }
    }
}
