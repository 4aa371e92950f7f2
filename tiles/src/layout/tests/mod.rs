//! The layouts of the device, by brute force on the CPU: every register of every thread of every block size.

extern crate std;

mod exchange;
mod matrix;
mod scan;

use super::bits::broadcast_bits;
use super::map::{BitMap, LinearMap, Plan, ReductionPlan};
use super::{Blocked, Cta, Layout, Map, Slice};
use crate::registers::PowerOfTwo;
use crate::shape::{ALL, Shape, Shape1, Shape2, Shape3, Shape4, ShapeDescription};
use std::vec;
use std::vec::Vec;

/// Base-2 logarithms of the threads of a block: the CPU's, and some of the device's.
const THREADS: [u32; 5] = [0, 5, 6, 8, 10];
/// Base-2 logarithms of the piece length.
const VECTORS: [u32; 5] = [0, 1, 2, 3, 4];

/// Shapes of rank 0 to 3 with dimensions of 1, 2, 8 and 64 elements, up to 2^12 elements.
fn shapes() -> Vec<ShapeDescription> {
    let mut shapes = vec![ShapeDescription { rank: 0, log: [0; 4] }];
    let mut longest = shapes.clone();
    for rank in 1..=3 {
        longest = longest
            .iter()
            .flat_map(|shape| {
                [0, 1, 3, 6].map(|log| {
                    let mut longer = ShapeDescription { rank, ..*shape };
                    longer.log[rank - 1] = log;
                    longer
                })
            })
            .collect();
        shapes.extend(longest.iter().filter(|shape| shape.bits() <= 12));
    }
    shapes
}

/// All block geometries.
fn blocks() -> impl Iterator<Item = (u32, u32)> {
    THREADS.into_iter().flat_map(|threads| VECTORS.map(|vector| (vector, threads)))
}

/// The element in register `register` of thread `thread`.
fn element(map: &LinearMap, thread: usize, register: usize) -> usize {
    map.of_thread.apply(thread) | map.of_register.apply(register)
}

/// The number of registers.
fn registers(map: &LinearMap) -> usize {
    1 << map.register_bits()
}

/// The flat index of `flat` after the axis with `low` bits below it and `count` of its own is reduced to size 1.
fn projected(flat: usize, low: u32, count: u32) -> usize {
    (flat & ((1 << low) - 1)) | (flat >> (low + count) << low)
}

/// The axes of a shape as (bits below, own bits), and all of it as one axis.
fn axes(shape: &ShapeDescription) -> Vec<(u32, u32)> {
    let single = (0..shape.rank).map(|axis| (shape.low_bit(axis), shape.log[axis]));
    single.chain([(0, shape.bits())]).collect()
}

/// A number that stands for an element, such that sums of them tell multisets of elements apart.
fn weight(flat: usize) -> u64 {
    (flat as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[test]
fn blocked_is_row_major_pieces_dealt_out_to_threads() {
    for (vector, threads) in blocks() {
        for bits in 0..=13 {
            let map = LinearMap::blocked(bits, vector, threads);
            let (size, piece, count) = (1usize << bits, 1usize << vector, 1usize << threads);
            for thread in 0..count {
                for register in 0..registers(&map) {
                    let expected = register / piece * piece * count + thread * piece + register % piece;
                    assert_eq!(
                        element(&map, thread, register),
                        expected % size,
                        "thread {thread}, register {register} of a tile of 2^{bits}, block ({vector}, {threads})"
                    );
                }
            }
        }
    }
}

/// Of the threads that are no copies, each element has one holder.
fn assert_bijection(map: &LinearMap, bits: u32, threads: u32) {
    let mut holders = vec![0u8; 1 << bits];
    for thread in (0..1usize << threads).filter(|thread| thread & map.replicas == 0) {
        for register in 0..registers(map) {
            holders[element(map, thread, register)] += 1;
        }
    }
    assert!(holders.iter().all(|&count| count == 1), "holders {holders:?} of a tile of 2^{bits}");
}

#[test]
fn every_element_has_one_holder_also_after_reductions() {
    for (vector, threads) in blocks() {
        for shape in shapes() {
            let map = LinearMap::blocked(shape.bits(), vector, threads);
            assert_bijection(&map, shape.bits(), threads);
            for (low, count) in axes(&shape) {
                let left = map.without(low, count);
                let bits = shape.bits() - count;
                assert_bijection(&left, bits, threads);
                for (low, count) in [(0, bits / 2), (bits / 2, bits - bits / 2)] {
                    assert_bijection(&left.without(low, count), bits - count, threads);
                }
            }
        }
    }
}

#[test]
fn a_reduction_leaves_each_thread_the_results_of_its_own_rows() {
    for (vector, threads) in blocks() {
        for shape in shapes() {
            let map = LinearMap::blocked(shape.bits(), vector, threads);
            for (low, count) in axes(&shape) {
                let left = map.without(low, count);
                for thread in 0..1usize << threads {
                    let mut before: Vec<usize> = (0..registers(&map))
                        .map(|register| projected(element(&map, thread, register), low, count))
                        .collect();
                    let mut after: Vec<usize> =
                        (0..registers(&left)).map(|register| element(&left, thread, register)).collect();
                    before.sort_unstable();
                    before.dedup();
                    after.sort_unstable();
                    assert_eq!(before, after, "{shape:?} without {count} bits from {low}, thread {thread}");
                }
            }
        }
    }
}

/// Runs a reduction plan on weights as a device would, and compares every register of every thread.
fn assert_reduces(map: &LinearMap, bits: u32, low: u32, count: u32, threads: u32) {
    let plan = ReductionPlan::new(map, low, count);
    let left = map.without(low, count);
    let mut expected = vec![0u64; 1 << (bits - count)];
    for flat in 0..1usize << bits {
        let sum = &mut expected[projected(flat, low, count)];
        *sum = sum.wrapping_add(weight(flat));
    }
    let mut values: Vec<Vec<u64>> = (0..1usize << threads)
        .map(|thread| {
            let mut sums = vec![0u64; registers(&left)];
            for register in 0..registers(map) {
                let sum = &mut sums[plan.register.apply(register)];
                *sum = sum.wrapping_add(weight(element(map, thread, register)));
            }
            sums
        })
        .collect();
    let exchanged = plan.lanes as usize | (plan.warps as usize) << 5;
    for bit in (0..threads).filter(|bit| exchanged >> bit & 1 == 1) {
        values = (0..values.len())
            .map(|thread| {
                let (own, other) = (&values[thread], &values[thread ^ 1 << bit]);
                own.iter().zip(other).map(|(a, b)| a.wrapping_add(*b)).collect()
            })
            .collect();
    }
    for (thread, own) in values.iter().enumerate() {
        for (register, value) in own.iter().enumerate() {
            assert_eq!(
                *value,
                expected[element(&left, thread, register)],
                "2^{bits} elements over {count} bits from {low}, thread {thread}, register {register}"
            );
        }
    }
}

#[test]
fn reductions_take_every_element_of_the_axis_once() {
    for (vector, threads) in blocks() {
        for shape in shapes() {
            let map = LinearMap::blocked(shape.bits(), vector, threads);
            for (low, count) in axes(&shape) {
                assert_reduces(&map, shape.bits(), low, count, threads);
                let (left, bits) = (map.without(low, count), shape.bits() - count);
                assert_reduces(&left, bits, 0, bits / 2, threads);
                assert_reduces(&left, bits, bits / 2, bits - bits / 2, threads);
            }
        }
    }
}

/// The shapes that broadcast to `to`: trailing dimensions of it, each as it is or 1.
fn operands(to: &ShapeDescription) -> Vec<ShapeDescription> {
    let mut operands = Vec::new();
    for rank in 0..=to.rank {
        for kept in 0..1u32 << rank {
            let mut from = ShapeDescription { rank, log: [0; 4] };
            for axis in 0..rank {
                if kept >> axis & 1 == 1 {
                    from.log[axis] = to.log[axis + to.rank - rank];
                }
            }
            if !operands.contains(&from) {
                operands.push(from);
            }
        }
    }
    operands
}

/// The operand's element that the result's element `flat` wants, by coordinates.
fn wanted(from: &ShapeDescription, to: &ShapeDescription, flat: usize) -> usize {
    (0..from.rank).fold(0, |sum, axis| {
        let coordinate = to.coordinate(flat, axis + to.rank - from.rank) % (1 << from.log[axis]);
        sum << from.log[axis] | coordinate
    })
}

/// A plan names the right elements, and if it stays in registers, registers that hold them.
fn assert_plan(plan: &Plan, maps: [&LinearMap; 2], shapes: [&ShapeDescription; 2], threads: u32) {
    let ([from, to], [from_shape, to_shape]) = (maps, shapes);
    let bits = BitMap::new(&broadcast_bits(from_shape, to_shape));
    for flat in 0..1usize << to_shape.bits() {
        assert_eq!(bits.apply(flat), wanted(from_shape, to_shape, flat), "{from_shape:?} as {to_shape:?}");
    }
    if !plan.in_registers {
        return;
    }
    for thread in 0..1usize << threads {
        for register in 0..registers(to) {
            assert_eq!(
                element(from, thread, plan.register.apply(register)),
                wanted(from_shape, to_shape, element(to, thread, register)),
                "{from_shape:?} as {to_shape:?}: thread {thread}, register {register}"
            );
        }
    }
}

#[test]
fn plans_give_the_right_elements() {
    for (vector, threads) in blocks().filter(|(vector, _)| vector % 2 == 0) {
        for to_shape in shapes() {
            let to = LinearMap::blocked(to_shape.bits(), vector, threads);
            for from_shape in operands(&to_shape) {
                let from = LinearMap::blocked(from_shape.bits(), vector, threads);
                let plan = Plan::new(&from, &to, &broadcast_bits(&from_shape, &to_shape), 0, 0);
                assert_plan(&plan, [&from, &to], [&from_shape, &to_shape], threads);
                if from_shape == to_shape {
                    assert!(plan.in_registers, "{to_shape:?} moves to itself");
                }
            }
        }
    }
}

#[test]
fn results_of_reductions_broadcast_back_in_registers() {
    for (vector, threads) in blocks() {
        for shape in shapes() {
            let map = LinearMap::blocked(shape.bits(), vector, threads);
            for axis in 0..shape.rank {
                let mut reduced = shape;
                reduced.log[axis] = 0;
                let left = map.without(shape.low_bit(axis), shape.log[axis]);
                let plan = Plan::new(&left, &map, &broadcast_bits(&reduced, &shape), 0, 0);
                assert!(plan.in_registers, "{shape:?} over axis {axis}, block ({vector}, {threads})");
                assert_plan(&plan, [&left, &map], [&reduced, &shape], threads);
            }
        }
    }
}

/// The type-level register count of `L` for `S`, checked against the map, and the map's bijection.
fn count<L: Layout, S: Shape>() -> usize {
    let () = Map::<L, S>::COUNTS_AGREE;
    let threads = <<L::Block as super::Block>::Threads as PowerOfTwo>::LOG;
    assert_bijection(&Map::<L, S>::MAP, S::DESCRIPTION.bits(), threads);
    <L::Registers<S> as PowerOfTwo>::COUNT
}

#[test]
fn register_counts_of_types_and_maps_agree() {
    macro_rules! blocks {
        ($($threads:literal $vector:literal),*) => { $({
            type B = Blocked<Cta<$threads, $vector>>;
            let expected = |len: usize| (len / $threads).max(len.min($vector));
            assert_eq!(count::<B, ()>(), 1);
            assert_eq!(count::<B, Shape1<8>>(), expected(8));
            assert_eq!(count::<B, Shape2<64, 128>>(), expected(8192));
            assert_eq!(count::<B, Shape3<2, 1, 4096>>(), expected(8192));
            assert_eq!(count::<B, Shape4<2, 4, 8, 16>>(), expected(1024));
            // Reduced, reduced twice, and other sizes in the layout of a reduction's result.
            count::<Slice<B, Shape2<64, 128>, 0>, Shape2<1, 128>>();
            count::<Slice<B, Shape2<64, 128>, 1>, Shape2<64, 1>>();
            count::<Slice<B, Shape2<64, 128>, ALL>, ()>();
            count::<Slice<B, Shape2<64, 128>, 1>, Shape2<64, 128>>();
            count::<Slice<B, Shape2<64, 128>, 1>, Shape1<64>>();
            count::<Slice<Slice<B, Shape3<8, 16, 32>, 1>, Shape3<8, 1, 32>, 0>, Shape3<1, 1, 32>>();
            count::<Slice<Slice<B, Shape3<8, 16, 32>, 1>, Shape3<8, 1, 32>, 2>, Shape3<8, 1, 1>>();
            count::<Slice<Slice<B, Shape3<8, 16, 32>, 2>, Shape3<8, 16, 1>, 0>, Shape3<1, 16, 1>>();
            count::<Slice<Slice<B, Shape4<2, 8, 4, 64>, 1>, Shape4<2, 1, 4, 64>, 3>, Shape4<2, 1, 4, 1>>();
            count::<Slice<Slice<B, Shape2<64, 128>, 0>, Shape2<64, 128>, 1>, Shape2<64, 1>>();
        })* };
    }
    blocks!(1 4, 32 1, 32 16, 64 2, 128 4, 256 4, 256 8, 512 1, 1024 4, 1024 16);
}
