//! Reductions along one axis or over the whole tile.
//!
//! The axis stays with size 1 (over all axes the result has rank 0), so that results broadcast against the tile
//! they came from; the element type stays too: a sum of `i8` wraps, convert first to widen.
//!
//! Order: each thread folds its own elements in row-major order, lanes of a warp combine in a butterfly, warps in
//! order of their number. For a given block size the order is fixed, hence results are reproducible; between the
//! CPU and a GPU, or two block sizes, float sums and products may differ by rounding.

use super::modes::{NanChoice, NanMode, SuppressNan};
use super::travel::Travel;
use crate::arch;
use crate::element::{Element, Logical, Number};
use crate::layout::{Block, Layout, Map, Reduction, Slice};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::{Axis, Shape};
use crate::tile::Tile;

/// The result of reducing a tile over axis `A`.
pub type Reduced<T, S, L, const A: usize> = Tile<T, <S as Axis<A>>::Reduced, Slice<L, S, A>>;

/// The registers that a reduction leaves.
type Left<S, L, const A: usize> = <Slice<L, S, A> as Layout>::Registers<<S as Axis<A>>::Reduced>;

/// Reduces values given by register number; `combine` is associative and commutative.
#[inline(always)]
fn reduce<V: Travel, S: Axis<A>, L: Layout, const A: usize>(
    value: impl Fn(usize) -> V,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Left<S, L, A>> {
    let plan = const { &Reduction::<S, L, A>::PLAN };
    let mut left = Registers::<Option<V>, Left<S, L, A>>::from_fn(|_| None);
    <L::Registers<S>>::unroll(0, 1, &mut |i| {
        let target = plan.register.apply(i);
        let so_far = left.get(target);
        left.set(
            target,
            Some(match so_far {
                None => value(i),
                Some(so_far) => combine(so_far, value(i)),
            }),
        );
    });
    let mut left = Registers::<V, Left<S, L, A>>::from_fn(|i| match left.get(i) {
        Some(value) => value,
        // Every register of the result has an operand register (its bits are a subset).
        None => arch::execution::fail(|text| text.write_str("a reduction left a register empty")),
    });
    if plan.lanes != 0 {
        <Left<S, L, A>>::unroll(0, 1, &mut |i| {
            let mut value = left.get(i);
            let mut lane_mask = 1;
            while lane_mask < 32 {
                if plan.lanes & lane_mask != 0 {
                    // SAFETY: tile operations run on all threads of the block alike.
                    value = combine(value, unsafe { value.exchange(lane_mask) });
                }
                lane_mask <<= 1;
            }
            left.set(i, value);
        });
    }
    if plan.warps != 0 { across_warps::<V, S, L, A>(left, combine) } else { left }
}

/// The part of a reduction between warps: each warp's results go to shared memory, and every thread folds those of
/// its own rows, in as many rounds as the scratch needs.
#[inline(always)]
fn across_warps<V: Travel, S: Axis<A>, L: Layout, const A: usize>(
    left: Registers<V, Left<S, L, A>>,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Left<S, L, A>> {
    let plan = const { &Reduction::<S, L, A>::PLAN };
    let threads = const { <<L::Block as Block>::Threads as PowerOfTwo>::COUNT };
    // Registers that a round takes, so that one value a thread and register fits the scratch.
    let at_once = const {
        let most =
            arch::shared::SCRATCH_BYTES / (<<L::Block as Block>::Threads as PowerOfTwo>::COUNT * V::BYTES);
        if most == 0 {
            panic!("a reduction of this block needs more shared scratch memory than there is")
        };
        let count = <Left<S, L, A> as PowerOfTwo>::COUNT;
        if count < most { count } else { most }
    };
    let lanes = plan.lanes as usize;
    let warps = (plan.warps as usize) << 5;
    // Lanes that combined hold copies: one of each group writes, packed densely.
    let address = if const { packed_bytes::<V, S, L, A>() <= 1024 } {
        arch::shared::scratch::<1024>()
    } else if const { packed_bytes::<V, S, L, A>() <= 4096 } {
        arch::shared::scratch::<4096>()
    } else {
        arch::shared::scratch::<{ arch::shared::SCRATCH_BYTES }>()
    };
    let thread = arch::execution::thread();
    let slot = |thread: usize, register: usize| {
        let packed = (thread >> 5 << (5 - lanes.count_ones())) | squeeze(thread & 31, lanes);
        let stride = threads >> lanes.count_ones();
        address + ((register % at_once * stride + packed) * V::BYTES) as u32
    };
    let mut result = left;
    let mut round = 0;
    while round * at_once < <Left<S, L, A> as PowerOfTwo>::COUNT {
        // SAFETY: tile operations run on all threads of the block alike.
        unsafe { arch::execution::barrier() };
        if thread & lanes == 0 {
            <Left<S, L, A>>::unroll(0, 1, &mut |i| {
                if i / at_once == round {
                    // SAFETY: the slot lies in the scratch by the choice of `at_once`; one thread of each group of
                    // combined lanes writes it, between two barriers.
                    unsafe { left.get(i).store(slot(thread, i)) }
                }
            });
        }
        // SAFETY: as above.
        unsafe { arch::execution::barrier() };
        <Left<S, L, A>>::unroll(0, 1, &mut |i| {
            if i / at_once == round {
                let own = thread & !warps;
                // SAFETY: every slot of this round was written before the barrier.
                let mut value = unsafe { V::load(slot(own, i)) };
                let mut other = 32;
                while other < threads {
                    if other & !warps == 0 {
                        // SAFETY: as above.
                        value = combine(value, unsafe { V::load(slot(own | other, i)) });
                    }
                    other += 32;
                }
                result.set(i, value);
            }
        });
        round += 1;
    }
    result
}

/// Bytes of scratch that one register needs times those at once.
const fn packed_bytes<V: Travel, S: Axis<A>, L: Layout, const A: usize>() -> usize {
    let plan = &Reduction::<S, L, A>::PLAN;
    let threads = <<L::Block as Block>::Threads as PowerOfTwo>::COUNT;
    (threads >> plan.lanes.count_ones()) * V::BYTES * <Left<S, L, A> as PowerOfTwo>::COUNT
}

/// The bits of `lane` that are not in `gone`, moved together.
#[inline(always)]
const fn squeeze(lane: usize, gone: usize) -> usize {
    let (mut packed, mut place, mut bit) = (0, 0, 0);
    while bit < 5 {
        if gone >> bit & 1 == 0 {
            packed |= (lane >> bit & 1) << place;
            place += 1;
        }
        bit += 1;
    }
    packed
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Combines the elements along axis `A` (or all, with [`ALL`](crate::shape::ALL)) by `combine`.
    ///
    /// `combine` must be associative and commutative, and `identity` change nothing; the order is fixed, see the
    /// [module](self).
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<u32, _>(shape![2, 4]);
    ///     let gcd = t.reduce::<1>(0, |mut a, mut b| {
    ///         while b != 0 { (a, b) = (b, a % b) }
    ///         a
    ///     });
    ///     assert_eq!(gcd.at([0, 0]), 1);
    /// });
    /// ```
    #[inline(always)]
    pub fn reduce<const A: usize>(
        self,
        identity: T,
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Reduced<T, S, L, A>
    where
        S: Axis<A>,
    {
        Tile::from_registers(reduce::<T, S, L, A>(|i| combine(identity, self.registers().get(i)), &combine))
    }

    #[inline(always)]
    fn fold<const A: usize>(self, combine: impl Fn(T, T) -> T) -> Reduced<T, S, L, A>
    where
        S: Axis<A>,
    {
        Tile::from_registers(reduce::<T, S, L, A>(|i| self.registers().get(i), combine))
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Sums along axis `A`; integers wrap.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32, _>(shape![2, 4]).cast::<f32>();
    ///     let centred = t - t.sum::<1>() / 4.0;
    ///     assert_eq!(centred.at([1, 0]), -1.5);
    /// });
    /// ```
    #[inline(always)]
    pub fn sum<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.fold::<A>(Number::add)
    }

    /// Products along axis `A`; integers wrap.
    #[inline(always)]
    pub fn prod<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.fold::<A>(Number::mul)
    }

    /// The largest elements along axis `A`; NaN only where all are.
    #[inline(always)]
    pub fn max<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.max_with::<A, _>(SuppressNan)
    }

    /// The largest elements along axis `A`, in the given NaN mode.
    #[inline(always)]
    pub fn max_with<const A: usize, N: NanMode<T>>(self, _mode: N) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.fold::<A>(N::maximum)
    }

    /// The smallest elements along axis `A`; NaN only where all are.
    #[inline(always)]
    pub fn min<const A: usize>(self) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.min_with::<A, _>(SuppressNan)
    }

    /// The smallest elements along axis `A`, in the given NaN mode.
    #[inline(always)]
    pub fn min_with<const A: usize, N: NanMode<T>>(self, _mode: N) -> Reduced<T, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.fold::<A>(N::minimum)
    }

    /// Where along axis `A` the largest elements are: the first of equal ones. A NaN loses against any number;
    /// among only NaN it is 0.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = (cx.iota::<i32, _>(shape![8]) * 3) % 8;
    ///     assert_eq!(t.argmax::<0>().at([0]), 5);
    /// });
    /// ```
    #[inline(always)]
    pub fn argmax<const A: usize>(self) -> Reduced<u32, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.argmax_with::<A, _>(SuppressNan)
    }

    /// Where along axis `A` the largest elements are; with [`PropagateNan`](super::modes::PropagateNan) the first NaN.
    #[inline(always)]
    pub fn argmax_with<const A: usize, N: NanChoice>(self, _mode: N) -> Reduced<u32, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.locate::<A, N>(|a, b| b.less(a))
    }

    /// Where along axis `A` the smallest elements are: the first of equal ones. A NaN loses against any number.
    #[inline(always)]
    pub fn argmin<const A: usize>(self) -> Reduced<u32, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.argmin_with::<A, _>(SuppressNan)
    }

    /// Where along axis `A` the smallest elements are; with [`PropagateNan`](super::modes::PropagateNan) the first NaN.
    #[inline(always)]
    pub fn argmin_with<const A: usize, N: NanChoice>(self, _mode: N) -> Reduced<u32, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        self.locate::<A, N>(|a, b| a.less(b))
    }

    /// The position of the element that `better` prefers; NaN before or after all others, ties to the lower one.
    #[inline(always)]
    fn locate<const A: usize, N: NanChoice>(self, better: impl Fn(T, T) -> bool) -> Reduced<u32, S, L, A>
    where
        T: Number,
        S: Axis<A>,
    {
        let own = Map::<L, S>::MAP.of_thread.apply(arch::execution::thread());
        let position = |i| {
            let flat = own | const { &Map::<L, S>::MAP }.of_register.apply(i);
            (flat / <S::Inner as PowerOfTwo>::COUNT % <S::Length as PowerOfTwo>::COUNT) as u32
        };
        let located = reduce::<(T, u32), S, L, A>(
            |i| (self.registers().get(i), position(i)),
            |a, b| {
                let (a_nan, b_nan) = (a.0.is_nan(), b.0.is_nan());
                let tie = (a_nan & b_nan) | (!a_nan & !b_nan & !better(a.0, b.0) & !better(b.0, a.0));
                let a_wins = if tie {
                    a.1 < b.1
                } else if a_nan | b_nan {
                    a_nan == N::PROPAGATES
                } else {
                    better(a.0, b.0)
                };
                if a_wins { a } else { b }
            },
        );
        Tile::from_registers_fn(|i| located.get(i).1)
    }
}

impl<S: Shape, L: Layout> Tile<bool, S, L> {
    /// Whether any element along axis `A` is true.
    #[inline(always)]
    pub fn any<const A: usize>(self) -> Reduced<bool, S, L, A>
    where
        S: Axis<A>,
    {
        self.fold::<A>(Logical::or)
    }

    /// Whether all elements along axis `A` are true.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let small = cx.iota::<i32, _>(shape![8]).lt(7);
    ///     assert!(small.any::<0>().at([0]) && !small.all::<ALL>().item());
    /// });
    /// ```
    #[inline(always)]
    pub fn all<const A: usize>(self) -> Reduced<bool, S, L, A>
    where
        S: Axis<A>,
    {
        self.fold::<A>(Logical::and)
    }
}
