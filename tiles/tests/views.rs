//! Partition views on the CPU: loads and stores of every rank, mapping and element size against loops over
//! coordinates, in memory whose every element around the tensor is watched.

mod common;

use common::elements;
use cuda_tiles::cpu::CpuBlock;
use cuda_tiles::launch::BlockPosition;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::OfRank;
use cuda_tiles::span::extents::OffsetInteger;
use cuda_tiles::span::{Access, Atomic, Exclusive, Extents, Mapping, ReadOnly};
use cuda_tiles::view::TileIndex;
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Cases that proptest tries; the interpreter Miri has time for few.
const CASES: u32 = if cfg!(miri) { 1 } else { 64 };

/// The elements that stand before and after the tensor in memory.
const MARGIN: usize = 8;

/// The token of block `index` of many.
fn context(index: u32) -> Cx<CpuBlock> {
    let position = BlockPosition { index: [index, 0, 0], count: [1000, 1, 1], partitions: None };
    // SAFETY: this thread is the whole block, of a grid of rank 1, and no other block runs.
    unsafe { Cx::new(cuda_tiles::cpu::place(position)) }
}

/// An element type whose values the tests number.
trait Numbered: Element {
    /// A number that a few neighbours do not share.
    fn number(i: usize) -> Self;
}

macro_rules! numbered {
    ($($type:ty)*) => { $(
        impl Numbered for $type {
            fn number(i: usize) -> Self {
                (i % 251) as $type
            }
        }
    )* };
}
numbered!(u8 i16 f32 u64);

/// How a tensor lies in memory.
#[derive(Clone, Debug)]
struct Tensor {
    lengths: Vec<u64>,
    strides: Vec<i64>,
    /// Elements of memory before the first.
    start: usize,
}

impl Tensor {
    /// Axes as `order` lists them, the contiguous one first, each with `gaps` more elements between neighbours than
    /// they need.
    fn new(lengths: &[u64], order: &[usize], gaps: &[i64], start: usize) -> Self {
        let mut strides = vec![0; lengths.len()];
        let mut stride = 1;
        for (&axis, gap) in order.iter().zip(gaps) {
            stride += gap;
            strides[axis] = stride;
            stride *= lengths[axis].max(1) as i64;
        }
        Self { lengths: lengths.to_vec(), strides, start }
    }

    /// The element of memory at these coordinates, if they lie inside the tensor.
    fn place(&self, coordinates: &[u64]) -> Option<usize> {
        let inside = coordinates.iter().zip(&self.lengths).all(|(coordinate, length)| coordinate < length);
        let offset: i64 = coordinates
            .iter()
            .zip(&self.strides)
            .map(|(&coordinate, stride)| coordinate as i64 * stride)
            .sum();
        inside.then_some(MARGIN + self.start + offset as usize)
    }

    /// Elements of memory that hold the tensor and its margins.
    fn memory(&self) -> usize {
        let last: u64 = self
            .lengths
            .iter()
            .zip(&self.strides)
            .map(|(length, &stride)| length.saturating_sub(1) * stride as u64)
            .sum();
        2 * MARGIN + self.start + last as usize + 1
    }

    /// The span of the tensor in `memory`.
    fn span<T: Element, E: Extents, A: Access, M: Mapping>(
        &self,
        memory: &mut [T],
    ) -> TensorSpan<T, E, A, M, Natural> {
        assert!(memory.len() >= self.memory());
        let first = memory.as_mut_ptr().wrapping_add(MARGIN + self.start).cast();
        // SAFETY: the memory holds every element, and callers use it through the span alone while they use the span.
        unsafe { TensorSpan::try_from_parts(first, &self.lengths, &self.strides) }
            .expect("the tensor fits the span")
    }
}

/// The coordinates of a tile's elements, in row-major order.
fn coordinates(tile: &[u64], index: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for (size, index) in tile.iter().zip(index) {
        all = all
            .iter()
            .flat_map(|before: &Vec<u64>| {
                (0..*size).map(move |k| before.iter().copied().chain([index * size + k]).collect())
            })
            .collect();
    }
    all
}

/// Loads and stores the tile of `shape` (of the dimensions `tile`) at `numbers`, which `index` makes an index of.
fn assert_tile<T, E, M, S, I>(
    tensor: &Tensor,
    shape: S,
    tile: &[u64],
    numbers: &[u64],
    index: impl Fn(Cx<CpuBlock>) -> I,
) where
    T: Numbered + Number,
    E: Extents,
    M: Mapping,
    S: Shape + OfRank<E::Rank>,
    I: TileIndex<E::Rank>,
{
    let cx = context(numbers.first().copied().unwrap_or(0) as u32);
    let mut memory: Vec<T> = (0..tensor.memory()).map(T::number).collect();
    let before = memory.clone();
    let places: Vec<Option<usize>> =
        coordinates(tile, numbers).iter().map(|place| tensor.place(place)).collect();
    let whole = places.iter().all(Option::is_some);

    // As in a kernel, writable tensors are cut before the block asks for its index; each has memory of its own.
    let (mut masked, mut plain) = (before.clone(), before.clone());
    let masked_view = tensor.span::<T, E, Exclusive, M>(&mut masked).partition(cx, shape);
    let plain_view = tensor.span::<T, E, Exclusive, M>(&mut plain).partition(cx, shape);
    let view = tensor.span::<T, E, ReadOnly, M>(&mut memory).partition(cx, shape);
    let index = index(cx);
    let expected: Vec<T> = places.iter().map(|place| place.map_or(T::ZERO, |place| before[place])).collect();
    assert_eq!(elements(view.load_masked(Zero, index)), expected, "masked load of {tensor:?}");
    for (axis, (length, size)) in tensor.lengths.iter().zip(tile).enumerate() {
        assert_eq!(view.num_tiles(axis).to_u64(), length.div_ceil(*size));
    }
    if whole {
        assert_eq!(elements(view.load(index)), expected, "load of {tensor:?}");
        // SAFETY: the tile lies inside the tensor.
        assert_eq!(elements(unsafe { view.load_unchecked(index) }), expected);
    }

    let stored =
        cuda_tiles::cpu::block(|cx| cx.iota::<u32>(S::default())).map(|i| T::number(100 + i as usize));
    let mut after = before.clone();
    for (i, place) in places.iter().enumerate() {
        if let Some(place) = place {
            after[*place] = T::number(100 + i);
        }
    }
    masked_view.store_masked(stored, index);
    assert_eq!(masked, after, "masked store to {tensor:?}");
    if whole {
        plain_view.store(stored, index);
        let loaded = elements(plain_view.load(index));
        assert_eq!(loaded, elements(stored), "what was stored is loaded");
        assert_eq!(plain, after, "store to {tensor:?}");
    }
}

/// Tests of one rank: the extents' type, the shape, and how numbers make an index.
macro_rules! rank {
    ($name:ident, $rank:literal, $extents:ty, [$($size:literal),*], |$cx:ident, $numbers:ident| $index:expr) => {
        mod $name {
            use super::*;

            /// Elements of type `T` under mapping `M`, with axes in `order`.
            fn check<T: Numbered + Number, M: Mapping>(
                lengths: &[u64],
                (order, gaps, start): (&[usize], &[i64], usize),
                $numbers: &[u64],
            ) {
                let tensor = Tensor::new(&lengths[..$rank], order, gaps, start);
                let tile: &[u64] = &[$($size),*];
                assert_tile::<T, $extents, M, _, _>(&tensor, shape![$($size),*], tile, $numbers, |$cx| $index);
            }

            proptest! {
                #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]
                #[test]
                fn loads_and_stores(
                    lengths in proptest::collection::vec(0..10u64, 4),
                    numbers in proptest::collection::vec(0..3u64, 4),
                    gaps in proptest::collection::vec(0..6i64, 4),
                    order in Just((0..$rank).collect::<Vec<usize>>()).prop_shuffle(),
                    start in 0..5usize,
                ) {
                    let numbers = &numbers[..$rank];
                    let forward: Vec<usize> = (0..$rank).collect();
                    let backward: Vec<usize> = (0..$rank).rev().collect();
                    let mut pitched = gaps.clone();
                    pitched[0] = 0;
                    check::<u8, Right>(&lengths, (&backward, &[0; 4], start), numbers);
                    check::<u64, Right>(&lengths, (&backward, &[0; 4], start), numbers);
                    check::<i16, Left>(&lengths, (&forward, &[0; 4], start), numbers);
                    check::<f32, Pitched>(&lengths, (&backward, &pitched, start), numbers);
                    check::<u8, Strided>(&lengths, (&order, &gaps, start), numbers);
                }
            }
        }
    };
}

rank!(rank_1, 1, (u32,), [4], |cx, _numbers| cx.bid::<0>());
rank!(rank_2, 2, (u32, u32), [2, 4], |cx, numbers| (cx.bid::<0>(), numbers[1] as u32));
rank!(rank_2_long, 2, (u64, u32), [4, 8], |cx, numbers| (cx.bid::<0>(), numbers[1]));
rank!(rank_2_thin, 2, (u32, u64), [8, 1], |cx, numbers| (cx.bid::<0>(), numbers[1] as usize));
rank!(rank_3, 3, (u32, u32, u32), [2, 1, 4], |cx, numbers| (cx.bid::<0>(), numbers[1] as i32, numbers[2]));
rank!(rank_4, 4, (u32, u64, u32, u32), [1, 2, 2, 2], |cx, numbers| (
    cx.bid::<0>(),
    numbers[1],
    numbers[2],
    numbers[3]
));

/// A tensor of rank 0 has one element and one tile, which belongs to no block: plain stores are unsafe.
#[test]
fn rank_0() {
    let tensor = Tensor::new(&[], &[], &[], 2);
    let mut memory: Vec<i16> = (0..tensor.memory()).map(i16::number).collect();
    let cx = context(3);
    let view = tensor.span::<i16, (), ReadOnly, Right>(&mut memory).partition(cx, shape![]);
    assert_eq!(view.load(()).item(), i16::number(MARGIN + 2));
    assert_eq!(view.load_masked(Zero, ()).item(), i16::number(MARGIN + 2));
    let view = tensor.span::<i16, (), Exclusive, Strided>(&mut memory).partition(cx, shape![]);
    // SAFETY: the tile lies inside the tensor, and no other block runs.
    unsafe { view.store_unchecked(cx.scalar(-1i16), ()) };
    let view = tensor.span::<i16, (), Atomic, Pitched>(&mut memory).partition(cx, shape![]);
    assert_eq!(view.atomic_load((), Relaxed, scope::Device).item(), -1);
    view.atomic_store(cx.scalar(-2i16), (), Relaxed, scope::Device);
    let changed: Vec<usize> = (0..memory.len()).filter(|&i| memory[i] != i16::number(i)).collect();
    assert_eq!((changed, memory[MARGIN + 2]), (vec![MARGIN + 2], -2));
}

/// Extents known to the compiler, and multiples, take their own paths for whole vectors.
#[test]
fn static_extents_and_multiples() {
    for (rows, row) in [(4, 0), (4, 1), (3, 1), (0, 0)] {
        for start in [0, 1, 4] {
            let tensor = Tensor::new(&[rows, 8], &[1, 0], &[0; 2], start);
            let index = |cx: Cx<CpuBlock>| (cx.bid::<0>(), 0);
            assert_tile::<f32, (u32, D<8>), Right, _, _>(&tensor, shape![2, 8], &[2, 8], &[row, 0], index);
            assert_tile::<f32, (u32, D<8>), Right, _, _>(&tensor, shape![2, 16], &[2, 16], &[row, 0], index);
            assert_tile::<u8, (u32, Mult<u32, 8>), Right, _, _>(
                &tensor,
                shape![2, 16],
                &[2, 16],
                &[row, 0],
                index,
            );
            assert_tile::<u64, (u64, Mult<u64, 4>), Right, _, _>(
                &tensor,
                shape![2, 4],
                &[2, 4],
                &[row, 0],
                index,
            );
        }
    }
}

/// Every padding of every float, and the one of integers.
#[test]
fn paddings() {
    fn floats<T: Float>(same: impl Fn(T, f64) -> bool) {
        cuda_tiles::cpu::block_on(&[T::ONE; 3], [3], |cx, span: Span<T, (u32,)>| {
            let view = span.partition(cx, shape![4]);
            let padded = |tile: Tile<T, Shape1<4>, Blocked<CpuBlock>>, padding: f64| {
                assert!(same(tile.at([3]), padding), "{:?} is not {padding}", tile.at([3]));
                assert!((0..3).all(|i| same(tile.at([i]), 1.0)));
            };
            padded(view.load_masked(Zero, 0), 0.0);
            padded(view.load_masked(NegativeZero, 0), -0.0);
            padded(view.load_masked(PositiveInfinity, 0), f64::INFINITY);
            padded(view.load_masked(NegativeInfinity, 0), f64::NEG_INFINITY);
            padded(view.load_masked(Nan, 0), f64::NAN);
            assert_eq!(elements(view.load_masked(Zero, 1)), [T::ZERO; 4], "wholly outside");
        });
    }
    fn same(x: f64, padding: f64) -> bool {
        x.to_bits() == padding.to_bits() || (x.is_nan() && padding.is_nan())
    }
    floats(|x: f16, padding| same(x.to_f64(), padding));
    floats(|x: bf16, padding| same(x.to_f64(), padding));
    floats(|x: f32, padding| same(x.into(), padding));
    floats(same);
    cuda_tiles::cpu::block_on(&[true; 3], [3], |cx, span: Span<bool, (u32,)>| {
        assert_eq!(elements(span.partition(cx, shape![4]).load_masked(Zero, 0)), [true, true, true, false]);
    });
}

/// Indices that no tensor has: negative, and beyond what offsets hold.
#[test]
fn indices_far_outside() {
    let numbers = [1.0f32; 16];
    cuda_tiles::cpu::block_on(&numbers, [4, 4], |cx, span: Span<f32, (u32, u32)>| {
        let view = span.partition(cx, shape![2, 2]);
        for row in [u64::MAX, 1 << 32, (1 << 31) + 1, u64::from(u32::MAX), 2] {
            assert_eq!(elements(view.load_masked(Zero, (row, 0))), [0.0; 4]);
            assert_eq!(elements(view.load_masked(Zero, (0, row))), [0.0; 4]);
        }
        assert_eq!(elements(view.load_masked(Zero, (-1, 0))), [0.0; 4]);
        assert_eq!(elements(view.load_masked(Zero, (0, i32::MIN))), [0.0; 4]);
    });
}

/// A tensor of more than 2^32 elements, of which only those of one tile are in memory.
#[test]
fn offsets_beyond_32_bits() {
    let memory: Vec<u16> = (0..64).collect();
    let (rows, columns) = (1u64 << 20, 1u64 << 30);
    let row = (1u64 << 20) - 1;
    // The tile of 1 x 32 at (row, 3) is the second half of the memory.
    let offset = row * columns + 3 * 32;
    let first = memory.as_ptr().wrapping_add(32).wrapping_sub(offset as usize).cast_mut();
    // SAFETY: of all its elements the test reads only those that are in memory.
    let span: Span<u16, (u64, u64)> =
        unsafe { TensorSpan::try_from_parts(first, &[rows, columns], &[columns as i64, 1]) }
            .expect("64-bit offsets hold it");
    let view = span.partition(context(0), shape![1, 32]);
    let expected: Vec<u16> = (32..64).collect();
    assert_eq!(elements(view.load((row, 3))), expected);
    assert_eq!(elements(view.load_masked(Zero, (row, 3))), expected);
    assert_eq!(elements(view.load_masked(Zero, (rows, 3))), [0; 32]);
    assert_eq!(view.num_tiles(1), 1 << 25);
}

/// The text of a panic.
fn panic_text(body: impl FnOnce()) -> String {
    let error = catch_unwind(AssertUnwindSafe(body)).expect_err("it panics");
    *error.downcast::<String>().expect("a formatted text")
}

#[test]
fn plain_access_outside_panics_and_says_why() {
    let mut numbers = [0.0f32; 12];
    cuda_tiles::cpu::block_on(&numbers, [3, 4], |cx, span: Span<f32, (u32, u32)>| {
        let view = span.partition(cx, shape![2, 4]);
        let text = panic_text(|| assert!(view.load((1, 0)).at([0, 0]).is_nan()));
        assert!(
            text.starts_with(
                "load of tile [1, 0] reaches outside the tensor: tiles of [2, 4] in a tensor of [3, 4]"
            ),
            "{text}"
        );
        assert!(text.contains("use the masked form for edge tiles"), "{text}");
        assert!(
            panic_text(|| assert!(view.load((0, -1)).at([0, 0]).is_nan())).contains("load of tile [0, -1]")
        );
    });
    cuda_tiles::cpu::block_on_mut(&mut numbers, [12], |_, span: SpanMut<f32, (u32,)>| {
        let cx = context(1);
        let view = span.partition(cx, shape![8]);
        let text = panic_text(|| view.store(cx.ones::<f32>(shape![8]), cx.bid::<0>()));
        assert!(text.starts_with("store of tile [1] reaches outside the tensor"), "{text}");
    });
    assert_eq!(numbers, [0.0; 12], "nothing was stored");
}

/// Atomic accesses move the same elements as plain ones.
#[test]
fn atomic_loads_and_stores() {
    fn check<T: Numbered + Number>() {
        let mut memory: Vec<T> = (0..40).map(T::number).collect();
        let tensor = Tensor::new(&[3, 5], &[1, 0], &[0, 2], 1);
        let cx = context(0);
        let view = tensor.span::<T, (u32, u32), Atomic, Pitched>(&mut memory).partition(cx, shape![2, 1]);
        let column = elements(view.atomic_load((0, 4), Acquire, scope::System));
        assert_eq!(column, [0, 1].map(|row| T::number(MARGIN + 1 + 7 * row + 4)));
        view.atomic_store_masked(cx.zeros::<T>(shape![2, 1]), (1, 0), Release, scope::Device);
        view.atomic_store(cx.zeros::<T>(shape![2, 1]), (0, 1), Relaxed, scope::Device);
        let masked = elements(view.atomic_load_masked(Zero, (1, 1), Relaxed, scope::Device));
        assert_eq!(masked, [T::number(MARGIN + 1 + 15), T::ZERO]);
        let changed: Vec<usize> = (0..memory.len()).filter(|&i| memory[i] != T::number(i)).collect();
        assert_eq!(changed, [MARGIN + 2, MARGIN + 9, MARGIN + 15]);
    }
    check::<u8>();
    check::<i16>();
    check::<f32>();
    check::<u64>();
}

/// cuTile's `order`: the tensor's axes are put in another order before it is cut into tiles.
#[test]
fn axes_in_any_order() {
    // The 3-dimensional example of cuTile's `load`, `order=(0, 2, 1)`.
    let numbers: Vec<i32> = (0..4 * 4 * 8).collect();
    cuda_tiles::cpu::block_on(&numbers, [4, 4, 8], |cx, span: Span<i32, (u32, D<4>, u32)>| {
        let view = span.permute(axes![0, 2, 1]).partition(cx, shape![2, 4, 2]);
        assert_eq!([view.num_tiles(0), view.num_tiles(1), view.num_tiles(2)], [2, 2, 2]);
        let tile = elements(view.load((1, 1, 0)));
        for (flat, &found) in tile.iter().enumerate() {
            let (a, b, c) = (flat / 8, flat / 2 % 4, flat % 2);
            assert_eq!(found as usize, ((2 + a) * 4 + c) * 8 + 4 + b, "element ({a}, {b}, {c})");
        }
        let reversed = elements(span.permute(OrderF).partition(cx, shape![8, 4, 4]).load((0, 0, 0)));
        let rotated = elements(span.permute(axes![2, 0, 1]).partition(cx, shape![8, 4, 4]).load((0, 0, 0)));
        for (flat, &found) in rotated.iter().enumerate() {
            let (a, b, c) = (flat / 16, flat / 4 % 4, flat % 4);
            assert_eq!(found as usize, (b * 4 + c) * 8 + a);
            assert_eq!(reversed[a * 16 + c * 4 + b], found);
        }
        assert_eq!(elements(span.permute(OrderC).partition(cx, shape![4, 4, 8]).load((0, 0, 0))), numbers);
    });

    // A store through an order, ragged in both axes.
    let mut numbers = vec![-1; 3 * 5];
    cuda_tiles::cpu::block_on_mut(&mut numbers, [3, 5], |cx, span: SpanMut<i32, (u32, u32)>| {
        let view = span.permute(axes![1, 0]).partition(cx, shape![8, 4]);
        view.store_masked(cx.iota::<i32>(shape![8, 4]), (cx.bid::<0>(), 0));
    });
    let expected: Vec<i32> = (0..15).map(|flat| flat % 5 * 4 + flat / 5).collect();
    assert_eq!(numbers, expected);
}
