//! Exchanges through shared memory, by brute force: slots are a bijection, and no access of a warp meets a bank twice.

extern crate std;

use super::super::bits::{
    aligned_bits, broadcast_bits, joined_bits, part_bits, permuted_bits, repeated_bits,
};
use super::super::exchange::{Exchange, Side, together, without_lowest};
use super::super::map::{BitMap, FlatBits, LinearMap, Plan};
use super::{blocks, element, registers, shapes};
use crate::shape::ShapeDescription;
use std::vec;
use std::vec::Vec;

/// All orders of `rank` axes.
fn orders(rank: usize) -> Vec<[usize; 4]> {
    let mut orders = vec![];
    for number in 0..4usize.pow(rank as u32) {
        let order: Vec<usize> = (0..rank).map(|k| number / 4usize.pow(k as u32) % 4).collect();
        if (0..rank).all(|axis| order.contains(&axis)) {
            let mut whole = [0, 1, 2, 3];
            whole[..rank].copy_from_slice(&order);
            orders.push(whole);
        }
    }
    orders
}

/// The number of different words that the lanes of a warp touch in the worst bank, at 4 bytes a bank; an access of 8 bytes
/// is that of two half warps.
fn steps(slots: &[usize], size: u32) -> usize {
    let group = if size == 3 { 16 } else { 32 };
    let worst = slots.chunks(group).map(|slots| {
        let mut words: Vec<usize> = slots.iter().map(|slot| (slot << size) / 4.max(1 << size)).collect();
        words.sort_unstable();
        words.dedup();
        let banks = if size == 3 { 16 } else { 32 };
        (0..banks).map(|bank| words.iter().filter(|&word| word % banks == bank).count()).max().unwrap_or(0)
    });
    worst.max().unwrap_or(0)
}

/// The slot of what register `register` of thread `thread` holds or wants.
fn slot(side: &Side, thread: usize, register: usize) -> usize {
    let (varying, fixed) = side.slot(side.of_thread(thread), register);
    varying + fixed
}

/// Checks an exchange of a tile of `2^bits` elements in all sizes of elements, alone and together.
fn assert_exchange(from: &LinearMap, to: &LinearMap, flat: &FlatBits, bits: u32, threads: u32) {
    assert_exchange_at(from, to, flat, 0, bits, threads);
}

/// The same where `offset` is added to the flat index.
fn assert_exchange_at(
    from: &LinearMap,
    to: &LinearMap,
    flat: &FlatBits,
    offset: usize,
    bits: u32,
    threads: u32,
) {
    assert_slots(from, to, flat, offset, bits, threads);
    let runs = together(from, to, flat, offset, 1);
    if runs > 0 {
        let (from, to) = (from.without(0, runs), to.without(0, runs));
        assert_slots(&from, &to, &without_lowest(flat, runs), offset >> runs, bits - runs, threads);
    }
}

/// Checks where the elements, or runs of them, lie.
fn assert_slots(from: &LinearMap, to: &LinearMap, flat: &FlatBits, offset: usize, bits: u32, threads: u32) {
    for size in 0..=3 {
        let exchange = Exchange::new(from, to, flat, offset, bits, size);
        let context = || std::format!("2^{bits} elements of 2^{size} bytes, 2^{threads} threads, {flat:?}");
        let mut slots = vec![usize::MAX; 1 << bits];
        for thread in (0..1usize << threads).filter(|thread| thread & from.replicas == 0) {
            for register in 0..registers(from) {
                let slot = slot(&exchange.write, thread, register);
                assert_eq!(slots[slot], usize::MAX, "{}: slot {slot} is written twice", context());
                slots[slot] = element(from, thread, register);
            }
        }
        let wanted = BitMap::new(flat);
        for thread in 0..1usize << threads {
            for register in 0..registers(to) {
                let thread_part = exchange.read.of_thread(thread) ^ exchange.slot(offset);
                let (varying, fixed) = exchange.read.slot(thread_part, register);
                let element = wanted.apply(element(to, thread, register)) ^ offset;
                assert_eq!(slots[varying + fixed], element, "{}, offset {offset}", context());
                assert_eq!(varying + fixed, exchange.slot(element), "{}, offset {offset}", context());
            }
        }
        for warp in (0..1usize << threads).step_by(32) {
            let lanes = warp..(warp + 32).min(1 << threads);
            let writing: Vec<usize> = lanes
                .clone()
                .filter(|thread| thread & from.replicas == 0)
                .map(|thread| exchange.write.of_thread(thread))
                .collect();
            let reading: Vec<usize> = lanes.map(|thread| exchange.read.of_thread(thread)).collect();
            assert!(steps(&writing, size) <= 1, "{}: conflicts of writes in warp {warp}", context());
            assert!(steps(&reading, size) <= 1, "{}: conflicts of reads in warp {warp}", context());
        }
    }
}

/// Checks a plan that stays in registers.
fn assert_plan_at(from: &LinearMap, to: &LinearMap, flat: &FlatBits, offset: usize, threads: u32) -> bool {
    let plan = Plan::new(from, to, flat, offset, 0);
    if plan.in_registers {
        let wanted = BitMap::new(flat);
        for thread in 0..1usize << threads {
            for register in 0..registers(to) {
                let held = plan.register.apply(register) ^ plan.register_offset;
                let element_wanted = wanted.apply(element(to, thread, register)) ^ offset;
                assert_eq!(element(from, thread, held), element_wanted, "offset {offset}, {flat:?}");
            }
        }
    }
    plan.in_registers
}

/// Blocks of a few sizes, for the tests that have shapes and axes to go through as well.
fn some_blocks() -> [(u32, u32); 5] {
    [(0, 0), (2, 5), (0, 6), (4, 7), (2, 8)]
}

#[test]
fn parts_and_flips_read_what_they_name() {
    for (vector, threads) in some_blocks() {
        for shape in shapes() {
            let map = LinearMap::blocked(shape.bits(), vector, threads);
            for axis in 0..shape.rank {
                let same = aligned_bits(&shape, &shape);
                let flipped = ((1 << shape.log[axis]) - 1) << shape.low_bit(axis);
                assert_plan_at(&map, &map, &same, flipped, threads);
                assert_exchange_at(&map, &map, &same, flipped, shape.bits(), threads);
                for log in 0..shape.log[axis] {
                    let mut part = shape;
                    part.log[axis] = log;
                    let to = LinearMap::blocked(part.bits(), vector, threads);
                    let flat = aligned_bits(&shape, &part);
                    let variable = part_bits(&shape, &part);
                    for offset in [variable, variable & (variable >> 1)] {
                        assert_plan_at(&map, &to, &flat, offset, threads);
                        assert_exchange_at(&map, &to, &flat, offset, shape.bits(), threads);
                    }
                }
            }
        }
    }
}

#[test]
fn joins_and_repetitions_read_what_they_name() {
    for (vector, threads) in some_blocks() {
        for shape in shapes().iter().filter(|shape| shape.bits() < 12) {
            let map = LinearMap::blocked(shape.bits(), vector, threads);
            let both = map.doubled(shape.bits());
            for axis in 0..shape.rank {
                let mut longer = *shape;
                longer.log[axis] += 1;
                let to = LinearMap::blocked(longer.bits(), vector, threads);
                for (from, flat) in [
                    (both, joined_bits(shape, &longer, axis)),
                    (map, aligned_bits(shape, &longer)),
                    (map, repeated_bits(shape, &longer, axis)),
                ] {
                    let bits = from.register_bits() as u32 + threads - from.replicas.count_ones();
                    assert_plan_at(&from, &to, &flat, 0, threads);
                    assert_exchange(&from, &to, &flat, bits, threads);
                }
            }
        }
    }
}

/// The halves of a tile whose highest bit is in the threads' registers, and its joining, cost nothing.
#[test]
fn bits_of_registers_move_in_registers() {
    let shape = ShapeDescription { rank: 2, log: [6, 6, 0, 0] };
    let half = ShapeDescription { rank: 2, log: [5, 6, 0, 0] };
    let (map, half_map) = (LinearMap::blocked(12, 2, 8), LinearMap::blocked(11, 2, 8));
    assert!(assert_plan_at(&map, &half_map, &aligned_bits(&shape, &half), 1 << 11, 8));
    assert!(assert_plan_at(&half_map.doubled(11), &map, &joined_bits(&half, &shape, 0), 0, 8));
    let rows = ShapeDescription { rank: 2, log: [10, 2, 0, 0] };
    assert!(assert_plan_at(&map, &map, &aligned_bits(&rows, &rows), 3, 8));
}

#[test]
fn permutations_meet_no_bank_twice() {
    for (vector, threads) in blocks().filter(|(_, threads)| *threads != 10) {
        for shape in shapes() {
            for order in orders(shape.rank) {
                let mut permuted = shape;
                for (axis, &from) in order.iter().enumerate().take(shape.rank) {
                    permuted.log[axis] = shape.log[from];
                }
                let map = LinearMap::blocked(shape.bits(), vector, threads);
                let flat = permuted_bits(&shape, &permuted, order);
                assert_exchange(&map, &map, &flat, shape.bits(), threads);
            }
        }
    }
}

#[test]
fn large_transposes_meet_no_bank_twice() {
    for (vector, threads) in [(0, 10), (2, 8), (3, 7), (4, 5)] {
        for log in [[6, 6], [7, 6], [6, 8], [7, 7]] {
            let shape = ShapeDescription { rank: 2, log: [log[0], log[1], 0, 0] };
            let transposed = ShapeDescription { rank: 2, log: [log[1], log[0], 0, 0] };
            let map = LinearMap::blocked(shape.bits(), vector, threads);
            let flat = permuted_bits(&shape, &transposed, [1, 0, 2, 3]);
            assert_exchange(&map, &map, &flat, shape.bits(), threads);
        }
    }
}

#[test]
fn broadcasts_meet_no_bank_twice() {
    for (vector, threads) in blocks().filter(|(vector, threads)| vector % 2 == 0 && *threads != 10) {
        for shape in shapes() {
            let to = LinearMap::blocked(shape.bits(), vector, threads);
            for axis in 0..shape.rank {
                let mut thin = shape;
                thin.log[axis] = 0;
                let flat = broadcast_bits(&thin, &shape);
                let from = LinearMap::blocked(thin.bits(), vector, threads);
                assert_exchange(&from, &to, &flat, thin.bits(), threads);
                let left = to.without(shape.low_bit(axis), shape.log[axis]);
                assert_exchange(&from, &left, &broadcast_bits(&thin, &thin), thin.bits(), threads);
            }
        }
    }
}
