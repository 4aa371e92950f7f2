//! The layouts of tensor cores: against the tables of the PTX ISA, and against the types that count their registers.

use super::{assert_bijection, assert_plan, assert_reduces, blocks, element, operands, registers, shapes};
use crate::arch::matrix::WARPGROUPS;
use crate::layout::bits::broadcast_bits;
use crate::layout::map::{LinearMap, Plan};
use crate::layout::matrix::{WarpColumns, WarpRows};
use crate::layout::matrix_part::{MatrixPart, matrix, warps};
use crate::layout::{
    Accumulators, Blocked, Cta, Join, Layout, Map, OperandALayout, OperandBLayout, Slice,
    TransposedAccumulators, TransposedBlocked,
};
use crate::registers::PowerOfTwo;
use crate::shape::{ALL, Shape, Shape1, Shape2, Shape3, ShapeDescription};
use typenum::{U1, U2, U4, U8, U16, U32, U64, U128, U256, U512, U1024};

const THREADS: [u32; 6] = [0, 5, 6, 7, 8, 10];
const VECTOR: u32 = 3;

fn shape(log: &[u32]) -> ShapeDescription {
    let mut shape = ShapeDescription { rank: log.len(), log: [0; 4] };
    shape.log[..log.len()].copy_from_slice(log);
    shape
}

/// Shapes of accumulators, too small ones among them.
fn accumulators() -> impl Iterator<Item = ShapeDescription> {
    let matrices = (0..=8).flat_map(|m| (0..=8).map(move |n| (m, n))).filter(|(m, n)| m + n <= 13);
    matrices.flat_map(|(m, n)| [shape(&[m, n]), shape(&[1, m, n])])
}

fn accumulator_map(shape: &ShapeDescription, threads: u32, warpgroups: bool) -> LinearMap {
    MatrixPart::Accumulators.map(shape, VECTOR, threads, warpgroups)
}

fn geometries() -> impl Iterator<Item = (ShapeDescription, u32, bool)> {
    accumulators().flat_map(|shape| {
        THREADS.into_iter().flat_map(move |threads| [false, true].map(|groups| (shape, threads, groups)))
    })
}

#[test]
fn every_accumulator_has_one_holder() {
    for (shape, threads, groups) in geometries() {
        assert_bijection(&accumulator_map(&shape, threads, groups), shape.bits(), threads);
    }
}

/// Demands that threads hold by `turned`, in matrices of `2^m` rows and `2^n` columns, the transposes of what they hold by `map`.
fn assert_transposes(turned: &LinearMap, map: &LinearMap, (m, n): (u32, u32), threads: u32) {
    assert_eq!(registers(turned), registers(map));
    for thread in 0..1 << threads {
        for register in 0..registers(map) {
            let (here, there) = (element(turned, thread, register), element(map, thread, register));
            let (row, column) = (here >> n & ((1 << m) - 1), here & ((1 << n) - 1));
            assert_eq!(there, here >> (m + n) << (m + n) | column << m | row, "2^{m} x 2^{n}");
        }
    }
}

#[test]
fn threads_hold_the_transposes_of_their_vectors() {
    for shape in shapes() {
        for (vector, threads) in blocks() {
            let turned = MatrixPart::TransposedBlocked.map(&shape, vector, threads, false);
            assert_bijection(&turned, shape.bits(), threads);
            // A block of one thread has one layout.
            if threads > 0 {
                let map = LinearMap::blocked(shape.bits(), vector, threads);
                assert_transposes(&turned, &map, matrix(&shape), threads);
            }
        }
    }
}

#[test]
fn threads_hold_the_transposes_of_their_accumulators() {
    for (shape, threads, groups) in geometries() {
        let turned = MatrixPart::TransposedAccumulators.map(&shape, VECTOR, threads, groups);
        assert_bijection(&turned, shape.bits(), threads);
        let (m, n) = (shape.log[shape.rank - 2], shape.log[shape.rank - 1]);
        if n < 4 || m < 3 || threads < 5 {
            continue;
        }
        let mut transposed = shape;
        (transposed.log[shape.rank - 2], transposed.log[shape.rank - 1]) = (n, m);
        let map = accumulator_map(&transposed, threads, groups);
        assert_transposes(&turned, &map, (m, n), threads);
    }
}

#[test]
fn every_element_of_an_operand_has_one_holder() {
    for (shape, threads, groups) in geometries().filter(|(shape, ..)| shape.rank == 2) {
        for bytes in 0..=3 {
            for k in 0..=7 {
                let [m, n] = [shape.log[0], shape.log[1]];
                let (left, right) = (self::shape(&[m, k]), self::shape(&[1, k, n]));
                let map = MatrixPart::A { bytes, columns: n }.map(&left, VECTOR, threads, groups);
                assert_bijection(&map, left.bits(), threads);
                let map = MatrixPart::B { bytes, rows: m }.map(&right, VECTOR, threads, groups);
                assert_bijection(&map, right.bits(), threads);
            }
        }
    }
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type": accumulator `c_i` of a lane.
#[test]
fn one_warp_holds_the_fragment_of_one_instruction() {
    for groups in [false, true] {
        let map = accumulator_map(&shape(&[4, 3]), 5, groups);
        assert_eq!(registers(&map), 4);
        for lane in 0..32 {
            for i in 0..4 {
                let row = lane / 4 + if i < 2 { 0 } else { 8 };
                let column = lane % 4 * 2 + (i & 1);
                assert_eq!(element(&map, lane, i), row * 8 + column);
            }
        }
    }
}

/// PTX ISA, "Matrix Fragments for wgmma.mma_async.m64nNk16": accumulator `d_i` of a thread of a warpgroup, where there
/// are no more warpgroups than pieces of 64 rows.
#[test]
fn warpgroups_hold_the_fragments_of_one_instruction() {
    for (m, threads) in [(6, 7), (7, 7), (7, 8), (8, 8), (8, 9)] {
        for n in 3..=8 {
            let map = accumulator_map(&shape(&[m, n]), threads, true);
            let groups = 1 << (threads - 7);
            let each = (1 << n) / 2;
            for thread in 0..1usize << threads {
                let (group, lane, warp) = (thread / 128, thread % 32, thread / 32 % 4);
                for register in 0..registers(&map) {
                    let (instruction, i) = (register / each, register % each);
                    let row = 64 * (group + groups * instruction) + 16 * warp + lane / 4 + 8 * (i / 2 % 2);
                    let column = i / 4 * 8 + lane % 4 * 2 + (i & 1);
                    assert_eq!(element(&map, thread, register), (row << n) + column);
                }
            }
        }
    }
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k8" (f32), "mma.m16n8k16 with floating point type" (f16, f64) and "mma.m16n8k32"
/// (8 bits): element `a_i` and `b_i` of a lane.
#[test]
fn one_warp_holds_the_operands_of_one_instruction() {
    for (bytes, k) in [(0, 5), (1, 4), (2, 3)] {
        let word = 4 >> bytes;
        let left = MatrixPart::A { bytes, columns: 3 }.map(&shape(&[4, k]), VECTOR, 5, false);
        let right = MatrixPart::B { bytes, rows: 4 }.map(&shape(&[k, 3]), VECTOR, 5, false);
        assert_eq!((registers(&left), registers(&right)), (4 * word, 2 * word));
        for lane in 0..32 {
            for i in 0..4 * word {
                let row = lane / 4 + i / word % 2 * 8;
                let depth = lane % 4 * word + i % word + i / word / 2 * 4 * word;
                assert_eq!(element(&left, lane, i), (row << k) + depth);
            }
            for i in 0..2 * word {
                let depth = lane % 4 * word + i % word + i / word * 4 * word;
                assert_eq!(element(&right, lane, i), depth * 8 + lane / 4);
            }
        }
    }
    let left = MatrixPart::A { bytes: 3, columns: 3 }.map(&shape(&[4, 4]), VECTOR, 5, false);
    let right = MatrixPart::B { bytes: 3, rows: 4 }.map(&shape(&[4, 3]), VECTOR, 5, false);
    for lane in 0..32 {
        for i in 0..8 {
            assert_eq!(element(&left, lane, i), (lane / 4 + 8 * (i % 2)) * 16 + i / 2 * 4 + lane % 4);
        }
        for i in 0..4 {
            assert_eq!(element(&right, lane, i), (i * 4 + lane % 4) * 8 + lane / 4);
        }
    }
}

/// Each thread holds the rows of the left operand and the columns of the right one that its accumulators want, in lane
/// groups that the instruction combines.
#[test]
fn operands_lie_on_the_warps_of_their_accumulators() {
    for (shape, threads, groups) in geometries().filter(|(shape, ..)| shape.rank == 2) {
        let [m, n] = [shape.log[0], shape.log[1]];
        let k = 5;
        if warps(m, n, threads, groups).is_none() {
            continue;
        }
        let map = accumulator_map(&shape, threads, groups);
        let left = MatrixPart::A { bytes: 1, columns: n }.map(&self::shape(&[m, k]), 0, threads, groups);
        let right = MatrixPart::B { bytes: 1, rows: m }.map(&self::shape(&[k, n]), 0, threads, groups);
        for warp in 0..1usize << (threads - 5) {
            let all = |map: &LinearMap, part: &dyn Fn(usize) -> usize| {
                let mut parts: super::Vec<usize> = (0..32)
                    .flat_map(|lane| (0..registers(map)).map(move |register| (lane, register)))
                    .map(|(lane, register)| part(element(map, warp * 32 + lane, register)))
                    .collect();
                parts.sort_unstable();
                parts.dedup();
                parts
            };
            assert_eq!(all(&map, &|flat| flat >> n), all(&left, &|flat| flat >> k));
            assert_eq!(all(&map, &|flat| flat % (1 << n)), all(&right, &|flat| flat % (1 << n)));
        }
    }
}

#[test]
fn accumulators_reduce_and_broadcast_back() {
    for (shape, threads, groups) in geometries() {
        let map = accumulator_map(&shape, threads, groups);
        for axis in 0..shape.rank {
            let (low, count) = (shape.low_bit(axis), shape.log[axis]);
            assert_reduces(&map, shape.bits(), low, count, threads);
            let left = map.without(low, count);
            let mut reduced = shape;
            reduced.log[axis] = 0;
            let plan = Plan::new(&left, &map, &broadcast_bits(&reduced, &shape), 0, 0);
            assert!(plan.in_registers, "{shape:?} over axis {axis}, 2^{threads} threads");
            assert_plan(&plan, [&left, &map], [&reduced, &shape], threads);
            let (left, bits) = (map.without(low, count), shape.bits() - count);
            assert_reduces(&left, bits, 0, bits / 2, threads);
        }
    }
}

#[test]
fn plans_of_blocked_operands_give_the_right_elements() {
    for (to_shape, threads, groups) in geometries().filter(|(shape, ..)| shape.bits() <= 10) {
        let to = accumulator_map(&to_shape, threads, groups);
        for from_shape in operands(&to_shape) {
            let from = LinearMap::blocked(from_shape.bits(), VECTOR, threads);
            let plan = Plan::new(&from, &to, &broadcast_bits(&from_shape, &to_shape), 0, 0);
            assert_plan(&plan, [&from, &to], [&from_shape, &to_shape], threads);
        }
    }
}

#[test]
fn types_arrange_warps_as_the_map_does() {
    fn check<G: PowerOfTwo, M: PowerOfTwo, N: PowerOfTwo, W: PowerOfTwo>() {
        let (rows, columns) = warps(M::LOG, N::LOG, W::LOG + 5, G::COUNT == 2).expect("large enough");
        assert_eq!(
            (<WarpRows<G, M, N, W> as PowerOfTwo>::LOG, <WarpColumns<G, M, N, W> as PowerOfTwo>::LOG),
            (rows, columns),
            "{} warps for {} x {}",
            W::COUNT,
            M::COUNT,
            N::COUNT
        );
    }
    macro_rules! each {
        ($([$m:ty, $n:ty])*) => { $(
            each!(@ $m, $n: U1 U2 U4 U8 U16 U32);
        )* };
        (@ $m:ty, $n:ty: $($w:ident)*) => { $(
            check::<U1, $m, $n, $w>();
            check::<U2, $m, $n, $w>();
        )* };
    }
    each!([U16, U8] [U16, U256] [U32, U8] [U32, U64] [U64, U16] [U64, U64] [U64, U256] [U128, U8] [U128, U128] [U128, U256]
        [U256, U128] [U256, U8] [U512, U16] [U1024, U8] [U1024, U1024]);
}

/// The registers of `L` for `S`, as the types count them, against the map.
fn counts_agree<L: Layout, S: Shape>() {
    assert_eq!(
        registers(&Map::<L, S>::MAP),
        <L::Registers<S> as PowerOfTwo>::COUNT,
        "{:?} in {:?}",
        S::DESCRIPTION,
        L::DESCRIPTION
    );
}

/// The same within any range of bits.
fn ranges_agree<L: Layout, S: Shape>() {
    let map = &Map::<L, S>::MAP;
    // Numbers, and no function of types: there are some six thousand combinations, each of which would be compiled.
    macro_rules! ranges {
        ($($low:ident: $($high:ident)*;)*) => { [$($(
            ([$low::LOG, $high::LOG], <L::RegistersWithin<S, $low, $high> as PowerOfTwo>::COUNT),
        )*)*] };
    }
    let ranges: &[([u32; 2], usize)] = &const {
        ranges! {
        U1: U1 U2 U4 U8 U16 U32 U64 U128 U256 U512 U1024;
        U2: U2 U4 U8 U16 U32 U64 U128 U256 U512 U1024;
        U4: U8 U32 U128 U512 U1024;
        U8: U8 U16 U32 U64 U128 U256 U512 U1024;
        U16: U32 U64 U128 U512 U1024;
        U32: U64 U128 U1024;
        U64: U128 U256 U512 U1024;
        U256: U512 U1024;
        U512: U1024;
        }
    };
    for &([low, high], found) in ranges {
        let bits = map.register[..map.register_bits()].iter();
        let count = bits.filter(|&&bit| (low as i8..high as i8).contains(&bit)).count();
        if 1 << high <= S::LEN {
            assert_eq!(
                found,
                1 << count,
                "bits {low} to {high} of {:?} in {:?}",
                S::DESCRIPTION,
                L::DESCRIPTION
            );
        }
    }
}

#[test]
fn register_counts_of_types_and_maps_agree() {
    const { assert!(!WARPGROUPS, "the CPU's arrangement is tested here; the other differs by `warps` alone") };
    macro_rules! blocks {
        ($check:ident: $($threads:literal $vector:literal),*) => { $({
            type B = Cta<$threads, $vector>;
            type A = Accumulators<B>;
            $check::<A, ()>();
            $check::<A, Shape1<64>>();
            $check::<A, Shape2<8, 64>>();
            $check::<A, Shape2<64, 4>>();
            $check::<A, Shape2<16, 8>>();
            $check::<A, Shape2<64, 32>>();
            $check::<A, Shape2<128, 128>>();
            $check::<A, Shape3<4, 32, 16>>();
            type T = TransposedAccumulators<B>;
            $check::<T, Shape1<64>>();
            $check::<T, Shape2<8, 64>>();
            $check::<T, Shape2<64, 16>>();
            $check::<T, Shape2<32, 128>>();
            $check::<T, Shape3<4, 32, 16>>();
            $check::<Slice<T, Shape2<128, 64>, 0>, Shape2<1, 64>>();
            $check::<Slice<T, Shape2<128, 64>, 1>, Shape2<128, 1>>();
            $check::<Slice<T, Shape3<4, 32, 16>, 0>, Shape3<1, 32, 16>>();
            type I = TransposedBlocked<B>;
            $check::<I, ()>();
            $check::<I, Shape1<64>>();
            $check::<I, Shape2<64, 16>>();
            $check::<I, Shape3<4, 8, 32>>();
            $check::<Slice<I, Shape2<32, 64>, 0>, Shape2<1, 64>>();
            $check::<Slice<I, Shape2<32, 64>, 1>, Shape2<32, 1>>();
            $check::<Slice<I, Shape3<4, 32, 16>, 0>, Shape3<1, 32, 16>>();
            $check::<OperandALayout<B, U2, U64>, Shape2<64, 32>>();
            $check::<OperandALayout<B, U1, U8>, Shape2<128, 64>>();
            $check::<OperandALayout<B, U4, U128>, Shape2<32, 4>>();
            $check::<OperandALayout<B, U8, U16>, Shape3<2, 16, 16>>();
            $check::<OperandALayout<B, U2, U16>, Shape2<64, 4>>();
            $check::<OperandBLayout<B, U2, U64>, Shape2<32, 64>>();
            $check::<OperandBLayout<B, U1, U16>, Shape2<64, 128>>();
            $check::<OperandBLayout<B, U4, U128>, Shape2<4, 32>>();
            $check::<OperandBLayout<B, U8, U32>, Shape3<2, 16, 8>>();
            $check::<OperandBLayout<B, U2, U8>, Shape2<32, 64>>();
            $check::<Slice<A, Shape2<128, 128>, 0>, Shape2<1, 128>>();
            $check::<Slice<A, Shape2<128, 128>, 1>, Shape2<128, 1>>();
            $check::<Slice<A, Shape2<64, 32>, ALL>, ()>();
            $check::<Slice<A, Shape3<4, 32, 16>, 2>, Shape3<4, 32, 1>>();
            $check::<Slice<Slice<A, Shape3<4, 32, 16>, 2>, Shape3<4, 32, 1>, 1>, Shape3<4, 1, 1>>();
            $check::<Slice<Slice<A, Shape3<4, 32, 16>, 0>, Shape3<1, 32, 16>, 2>, Shape3<1, 32, 1>>();
        })* };
    }
    blocks!(counts_agree: 1 4, 32 1, 32 16, 64 2, 128 4, 256 4, 256 8, 512 1, 1024 4);
    // The compiler takes a second for 350 ranges of bits in a layout, of which each block has fourteen hundred.
    blocks!(ranges_agree: 1 4, 32 16, 128 4, 512 1);
}

#[test]
fn accumulators_stay_where_they_are_in_operations_with_others() {
    fn joined<L: Join<M>, M: Layout>() -> core::any::TypeId {
        core::any::TypeId::of::<L::Output>()
    }
    type B = Cta<128>;
    type A = Accumulators<B>;
    type Rows = Slice<A, Shape2<64, 64>, 1>;
    type Loaded = Slice<Blocked<B>, Shape2<64, 64>, 1>;
    let accumulators = core::any::TypeId::of::<A>();
    for output in [
        joined::<A, A>(),
        joined::<A, Blocked<B>>(),
        joined::<Blocked<B>, A>(),
        joined::<A, Rows>(),
        joined::<Rows, A>(),
        joined::<A, Loaded>(),
        joined::<Loaded, A>(),
    ] {
        assert_eq!(output, accumulators);
    }
}
