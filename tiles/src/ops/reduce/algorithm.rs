//! The reduction of a tile in registers: first within threads, then between the lanes of a warp, then between warps.

use crate::arch;
use crate::context::barrier;
use crate::layout::{Block, Layout, Reduction, ReductionPlan, Slice};
use crate::ops::accumulate;
use crate::ops::warp_exchange::WarpExchange;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Axis;

/// The registers that a reduction leaves.
pub(in crate::ops) type Left<S, L, const A: usize> =
    <Slice<L, S, A> as Layout>::Registers<<S as Axis<A>>::Reduced>;

/// Reduces values given by register number, after `begin` of the first of each thread; `combine` is associative and
/// commutative.
#[inline_on_device]
pub(in crate::ops) fn reduce<V: WarpExchange, S: Axis<A>, L: Layout, const A: usize>(
    value: impl Fn(usize) -> V,
    begin: impl Fn(V) -> V,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Left<S, L, A>> {
    between_threads::<V, S, L, A>(within_threads::<V, S, L, A>(value, begin, &combine), combine)
}

/// The first step of a reduction: each thread combines its own elements.
#[inline_on_device]
pub(super) fn within_threads<V: Copy + 'static, S: Axis<A>, L: Layout, const A: usize>(
    value: impl Fn(usize) -> V,
    begin: impl Fn(V) -> V,
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
                None => begin(value(i)),
                Some(so_far) => combine(so_far, value(i)),
            }),
        );
    });
    Registers::<V, Left<S, L, A>>::from_fn(|i| match left.get(i) {
        Some(value) => value,
        // Every register of the result has an operand register (its bits are a subset).
        None => arch::execution::fail(|text| text.write_str("a reduction left a register empty")),
    })
}

/// The other steps of a reduction: between the lanes of a warp, then between warps.
#[inline_on_device]
pub(super) fn between_threads<V: WarpExchange, S: Axis<A>, L: Layout, const A: usize>(
    mut left: Registers<V, Left<S, L, A>>,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Left<S, L, A>> {
    let plan = const { &Reduction::<S, L, A>::PLAN };
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

/// Adds up or multiplies, after `begin` of each element, with an error that grows slowly where one thread holds the whole
/// tile; `combine` is associative and commutative.
#[inline_on_device]
pub(super) fn total<T: Copy + 'static, V: WarpExchange, S: Axis<A>, L: Layout, const A: usize>(
    values: &Registers<T, L::Registers<S>>,
    begin: impl Fn(T) -> V,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Left<S, L, A>> {
    between_threads::<V, S, L, A>(
        within_threads_accurately::<T, V, S, L, A>(values, begin, &combine),
        combine,
    )
}

/// The first step of [`total`]: each thread adds up its own elements.
#[inline_on_device]
pub(super) fn within_threads_accurately<
    T: Copy + 'static,
    V: Copy + 'static,
    S: Axis<A>,
    L: Layout,
    const A: usize,
>(
    values: &Registers<T, L::Registers<S>>,
    begin: impl Fn(T) -> V,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Left<S, L, A>> {
    if arch::TILES_IN_REGISTERS {
        return within_threads::<V, S, L, A>(|i| begin(values.get(i)), |first| first, combine);
    }
    let plan = const { &Reduction::<S, L, A>::PLAN };
    let mut left = Registers::from_fn(|_| begin(values.get(0)));
    accumulate::total(values.as_slice(), plan.registers, &plan.register, left.as_mut_slice(), begin, combine);
    left
}

/// The part of a reduction between warps: each warp's results go to shared memory, and every thread folds those of
/// its own rows, in as many rounds as the scratch needs.
#[inline_on_device]
fn across_warps<V: WarpExchange, S: Axis<A>, L: Layout, const A: usize>(
    left: Registers<V, Left<S, L, A>>,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Left<S, L, A>> {
    let plan = const { &Reduction::<S, L, A>::PLAN };
    let threads = const { <<L::Block as Block>::Threads as PowerOfTwo>::COUNT };
    // Registers that a round takes, so that one value for each group of combined lanes and register fits the scratch.
    let at_once = const {
        let most = arch::shared::SCRATCH_BYTES / register_bytes::<V, S, L, A>();
        assert!(
            most != 0,
            "a reduction of values of this size by this block needs more shared scratch memory than there is: fewer threads"
        );
        let count = <Left<S, L, A> as PowerOfTwo>::COUNT;
        if count < most { count } else { most }
    };
    let lanes = plan.lanes as usize;
    let warps = (plan.warps as usize) << 5;
    // Lanes that combined hold copies: one of each group writes, packed densely.
    let address = arch::shared::scratch_of(at_once * const { register_bytes::<V, S, L, A>() });
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
        unsafe { barrier::<L::Block>() };
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
        unsafe { barrier::<L::Block>() };
        <Left<S, L, A>>::unroll(0, 1, &mut |i| {
            if i / at_once == round {
                let own = thread & !warps;
                let value = if const { by_lanes(&Reduction::<S, L, A>::PLAN) } {
                    let other = nth(thread & 31, warps);
                    // SAFETY: every slot of this round was written before the barrier.
                    let mut value = unsafe { V::load(slot(own | other, i)) };
                    let mut lane_mask = 1;
                    while lane_mask < 1 << warps.count_ones() {
                        // SAFETY: tile operations run on all threads of the block alike.
                        value = combine(value, unsafe { value.exchange(lane_mask) });
                        lane_mask <<= 1;
                    }
                    value
                } else {
                    // SAFETY: as above.
                    let mut value = unsafe { V::load(slot(own, i)) };
                    let mut other = 32;
                    while other < threads {
                        if other & !warps == 0 {
                            // SAFETY: as above.
                            value = combine(value, unsafe { V::load(slot(own | other, i)) });
                        }
                        other += 32;
                    }
                    value
                };
                result.set(i, value);
            }
        });
        round += 1;
    }
    result
}

/// Bytes of scratch that the values of one register need.
const fn register_bytes<V: WarpExchange, S: Axis<A>, L: Layout, const A: usize>() -> usize {
    (<<L::Block as Block>::Threads as PowerOfTwo>::COUNT >> Reduction::<S, L, A>::PLAN.lanes.count_ones())
        * V::BYTES
}

/// The bits of `lane` that are not in `gone`, moved together.
#[inline_on_device]
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

/// Whether the lanes of a warp fold the results of the warps, one each, in place of every thread folding them all: they
/// are copies of each other, and so many results that it pays.
const fn by_lanes(plan: &ReductionPlan) -> bool {
    plan.lanes == 31 && plan.warps.count_ones() >= 3
}

/// The bits of `number` spread over the bits of `mask`, from the lowest on.
#[inline_on_device]
const fn nth(number: usize, mask: usize) -> usize {
    let (mut spread, mut place, mut bit) = (0, 0, 0);
    while bit < usize::BITS {
        if mask >> bit & 1 == 1 {
            spread |= (number >> place & 1) << bit;
            place += 1;
        }
        bit += 1;
    }
    spread
}
