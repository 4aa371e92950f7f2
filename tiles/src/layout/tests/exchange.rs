//! Exchanges through shared memory, by brute force: slots are a bijection, and no access of a warp meets a bank twice.

extern crate std;

use super::super::exchange::{Exchange, Side};
use super::super::map::{BitMap, FlatBits, LinearMap, broadcast_bits, permuted_bits};
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

/// Checks an exchange of a tile of `2^bits` elements in all sizes of elements.
fn assert_exchange(from: &LinearMap, to: &LinearMap, flat: &FlatBits, bits: u32, threads: u32) {
    for size in 0..=3 {
        let exchange = Exchange::new(from, to, flat, bits, size);
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
                let slot = slot(&exchange.read, thread, register);
                assert_eq!(slots[slot], wanted.apply(element(to, thread, register)), "{}", context());
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

#[test]
fn permutations_meet_no_bank_twice() {
    for (vector, threads) in blocks().filter(|(_, threads)| *threads != 10) {
        for shape in shapes() {
            for order in orders(shape.rank) {
                let mut permuted = shape;
                for axis in 0..shape.rank {
                    permuted.log[axis] = shape.log[order[axis]];
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
