//! The scan of a tile in registers.
//!
//! Each thread scans its neighbouring elements along the axis; the lanes of a warp scan the threads' totals by doubling
//! distances (W. D. Hillis, G. L. Steele, "Data parallel algorithms", 1986); the warps' totals meet in shared memory, where
//! each warp scans all of them at once; then every element takes what lies before its thread. Two barriers in all.
//!
//! "Coordinate" means that along the axis in the direction of the scan: a backward scan is a forward one in mirrored
//! registers, lanes and warps. "Group" means a thread's neighbouring elements along the axis, named by its first register.

use super::ScanForm;
use crate::arch;
use crate::context::barrier;
use crate::layout::{Block, Blocked, Layout, Scan, ScanPlan};
use crate::ops::accumulate;
use crate::ops::warp_exchange::WarpExchange;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Axis;
use core::marker::PhantomData;

/// The registers of a tile of shape `S`.
type Of<S, B> = <Blocked<B> as Layout>::Registers<S>;

/// Scans values given by register; `combine` is associative. Each thread combines its own elements one after the other.
#[inline_on_device]
pub(in crate::ops) fn scan<V: WarpExchange, S: Axis<A>, B: Block, F: ScanForm, const A: usize>(
    values: Registers<V, Of<S, B>>,
    identity: V,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Of<S, B>> {
    scan_from::<V, S, B, F, A>(one_after_the_other::<V, S, B, F, A>(values, &combine), identity, combine)
}

/// The same for sums and products of floats, with an error that grows slowly where one thread holds the whole tile.
#[inline_on_device]
pub(super) fn running<V: WarpExchange, S: Axis<A>, B: Block, F: ScanForm, const A: usize>(
    values: Registers<V, Of<S, B>>,
    identity: V,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Of<S, B>> {
    if arch::TILES_IN_REGISTERS {
        return scan::<V, S, B, F, A>(values, identity, combine);
    }
    let mut own = values;
    let axis = const { Scan::<S, B, A>::PLAN.near };
    accumulate::running(own.as_mut_slice(), axis, F::BACKWARD, &combine);
    scan_from::<V, S, B, F, A>(own, identity, combine)
}

/// The scans of each thread's neighbouring elements.
#[inline_on_device]
fn one_after_the_other<V: WarpExchange, S: Axis<A>, B: Block, F: ScanForm, const A: usize>(
    values: Registers<V, Of<S, B>>,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Of<S, B>> {
    let plan = const { &Scan::<S, B, A>::PLAN };
    let registers = const { if F::BACKWARD { plan_mask(&Scan::<S, B, A>::PLAN) } else { 0 } };
    let near = const { Scan::<S, B, A>::PLAN.near.mask() };
    let mut own = values;
    <Of<S, B>>::unroll(0, 1, &mut |i| {
        if i & near != 0 {
            let so_far = own.get((i - (1 << plan.near.first)) ^ registers);
            own.set(i ^ registers, combine(so_far, own.get(i ^ registers)));
        }
    });
    own
}

/// Scans `own`, the scans of each thread's neighbouring elements.
#[inline_on_device]
fn scan_from<V: WarpExchange, S: Axis<A>, B: Block, F: ScanForm, const A: usize>(
    own: Registers<V, Of<S, B>>,
    identity: V,
    combine: impl Fn(V, V) -> V,
) -> Registers<V, Of<S, B>> {
    let plan = const { &Scan::<S, B, A>::PLAN };
    let registers = const { if F::BACKWARD { plan_mask(&Scan::<S, B, A>::PLAN) } else { 0 } };
    let near = const { Scan::<S, B, A>::PLAN.near.mask() };
    let step = 1 << plan.near.first;
    let place = Coordinates::<S, B, F, A>::here();
    let across = const { has_before(&Scan::<S, B, A>::PLAN) };
    // What lies before a group within its warp, in the group's first register, and within the block in the second.
    let (mut in_warp, mut totals) = (own, own);
    if plan.lane.count != 0 {
        <Of<S, B>>::unroll(0, 1, &mut |i| {
            if i & near == 0 {
                let total = place.scan_lanes(own.get((i | near) ^ registers), plan.lane.count, &combine);
                totals.set(i, total);
                in_warp.set(i, place.of_previous_lane(total));
            }
        });
    } else {
        <Of<S, B>>::unroll(0, 1, &mut |i| {
            if i & near == 0 {
                totals.set(i, own.get((i | near) ^ registers));
            }
        });
    }
    let before = if plan.warp.count != 0 {
        if const { is_cooperative(&Scan::<S, B, A>::PLAN) } {
            place.before_by_lanes(totals, &combine)
        } else {
            place.before_by_threads(totals, &combine)
        }
    } else if plan.far.count != 0 {
        place.before_in_warp(totals, &combine)
    } else {
        totals
    };
    // Everything before each group.
    let mut prefix = in_warp;
    if across {
        <Of<S, B>>::unroll(0, 1, &mut |i| {
            if i & near == 0 && (plan.far.of(i) != 0 || place.warp != 0) {
                let before = before.get(i);
                prefix.set(i, if place.lane != 0 { combine(before, in_warp.get(i)) } else { before });
            }
        });
    }
    let mut result = own;
    <Of<S, B>>::unroll(0, 1, &mut |i| {
        let group = i & !near;
        let is_first = plan.far.of(i) == 0 && place.warp == 0 && place.lane == 0;
        let value = if F::EXCLUSIVE && i & near == 0 {
            if is_first { identity } else { prefix.get(group) }
        } else {
            let own = own.get((if F::EXCLUSIVE { i - step } else { i }) ^ registers);
            if is_first { own } else { combine(prefix.get(group), own) }
        };
        result.set(i ^ registers, value);
    });
    result
}

/// The register bits of the axis.
const fn plan_mask(plan: &ScanPlan) -> usize {
    plan.near.mask() | plan.far.mask()
}

/// Whether anything lies before a group but in its own warp.
const fn has_before(plan: &ScanPlan) -> bool {
    plan.warp.count != 0 || plan.far.count != 0
}

/// Whether the lanes along the axis are at least as many as the warps along it.
const fn is_cooperative(plan: &ScanPlan) -> bool {
    plan.lane.count >= plan.warp.count
}

/// This thread's coordinates along the axis.
struct Coordinates<S, B, F, const A: usize> {
    thread: usize,
    /// Of the lane among those along the axis.
    lane: usize,
    /// Of the warp among those along the axis.
    warp: usize,
    scan: PhantomData<(S, B, F)>,
}

impl<S: Axis<A>, B: Block, F: ScanForm, const A: usize> Coordinates<S, B, F, A> {
    #[inline_on_device]
    fn here() -> Self {
        let plan = const { &Scan::<S, B, A>::PLAN };
        let thread = arch::execution::thread();
        let mirrored = |coordinate: usize, values: usize| {
            if F::BACKWARD { coordinate ^ (values - 1) } else { coordinate }
        };
        Self {
            thread,
            lane: mirrored(plan.lane.of(thread & 31), plan.lane.values()),
            warp: mirrored(plan.warp.of(thread >> 5), plan.warp.values()),
            scan: PhantomData,
        }
    }

    /// The value of the lane whose coordinate is lower by `distance`; any value where there is none.
    #[inline_on_device]
    fn shifted<V: WarpExchange>(&self, value: V, distance: u32) -> V {
        let distance = distance << const { Scan::<S, B, A>::PLAN.lane.first };
        value.words(|word| {
            // SAFETY: tile operations run on all threads of the block alike.
            unsafe {
                if F::BACKWARD {
                    arch::execution::shift_down(word, distance)
                } else {
                    arch::execution::shift_up(word, distance)
                }
            }
        })
    }

    #[inline_on_device]
    fn of_previous_lane<V: WarpExchange>(&self, value: V) -> V {
        self.shifted(value, 1)
    }

    /// The value of the lane with this coordinate and the same other bits.
    #[inline_on_device]
    fn of_lane<V: WarpExchange>(&self, value: V, coordinate: usize) -> V {
        let field = const { &Scan::<S, B, A>::PLAN.lane };
        let place = if F::BACKWARD { coordinate ^ (field.values() - 1) } else { coordinate };
        let lane = (self.thread & !field.mask() | place << field.first) as u32;
        // SAFETY: tile operations run on all threads of the block alike.
        value.words(|word| unsafe { arch::execution::from_lane(word, lane) })
    }

    /// Scans one value a lane, over runs of `2^bits` coordinates.
    #[inline_on_device]
    fn scan_lanes<V: WarpExchange>(&self, mut value: V, bits: u32, combine: impl Fn(V, V) -> V) -> V {
        let coordinate = self.lane & ((1 << bits) - 1);
        let mut bit = 0;
        while bit < bits {
            let earlier = self.shifted(value, 1 << bit);
            if coordinate >= 1 << bit {
                value = combine(earlier, value);
            }
            bit += 1;
        }
        value
    }

    /// What lies before each group, but in its own warp: nothing for the first, where the value means nothing. Here the
    /// axis stays within the warp and registers.
    #[inline_on_device]
    fn before_in_warp<V: WarpExchange>(
        &self,
        totals: Registers<V, Of<S, B>>,
        combine: impl Fn(V, V) -> V,
    ) -> Registers<V, Of<S, B>> {
        let plan = const { &Scan::<S, B, A>::PLAN };
        // The sum so far, in the first register along the axis.
        let (mut before, mut so_far) = (totals, totals);
        <Of<S, B>>::unroll(0, 1, &mut |i| {
            if i & plan.near.mask() == 0 {
                let total = totals.get(i);
                let total =
                    if plan.lane.count == 0 { total } else { self.of_lane(total, plan.lane.values() - 1) };
                let row = i & !plan.far.mask();
                if plan.far.of(i) == 0 {
                    so_far.set(row, total);
                } else {
                    before.set(i, so_far.get(row));
                    so_far.set(row, combine(so_far.get(row), total));
                }
            }
        });
        before
    }

    /// The same where the axis goes on from warp to warp, and has more warps than lanes: each thread folds the totals
    /// of its row.
    #[inline_on_device]
    fn before_by_threads<V: WarpExchange>(
        &self,
        totals: Registers<V, Of<S, B>>,
        combine: impl Fn(V, V) -> V,
    ) -> Registers<V, Of<S, B>> {
        let plan = const { &Scan::<S, B, A>::PLAN };
        let (mut before, mut so_far) = (totals, totals);
        self.in_rounds(&totals, |i, address| {
            let row = i & !plan.far.mask();
            let far = plan.far.of(i);
            // SAFETY: `in_rounds` gives the address of the totals of the warps, all of them written.
            let total = |warp: usize| unsafe { V::load(address + (warp * V::BYTES) as u32) };
            let mut sum = if far == 0 { total(0) } else { so_far.get(row) };
            // What lies before this warp: the sum so far when the loop comes to it.
            let mut own = sum;
            let mut warp = u32::from(far == 0);
            // A loop at run time: unrolled, all totals would be loaded at once, into too many registers.
            while warp < arch::execution::opaque(plan.warp.values() as u32) {
                let is_own = warp as usize == self.warp;
                own = if is_own { sum } else { own };
                sum = combine(sum, total(warp as usize));
                warp += 1;
            }
            before.set(i, own);
            so_far.set(row, sum);
        });
        before
    }

    /// The same with as many lanes as warps along the axis or more: the lanes scan the totals of some warps together.
    #[inline_on_device]
    fn before_by_lanes<V: WarpExchange>(
        &self,
        totals: Registers<V, Of<S, B>>,
        combine: impl Fn(V, V) -> V,
    ) -> Registers<V, Of<S, B>> {
        let plan = const { &Scan::<S, B, A>::PLAN };
        // Totals of all warps for this many steps along the far registers are one value a lane.
        let steps = const { Rounds::new::<V, S, B, A>().steps_a_scan(&Scan::<S, B, A>::PLAN) };
        let warps = plan.warp.values();
        let bits = (steps * warps).ilog2();
        let (mut before, mut so_far, mut scanned) = (totals, totals, totals);
        self.in_rounds(&totals, |i, address| {
            let row = i & !plan.far.mask();
            let far = plan.far.of(i);
            let first = i - ((far % steps) << plan.far.first);
            if far % steps == 0 {
                let coordinate = self.lane & ((1 << bits) - 1);
                // SAFETY: `in_rounds` gives the address of the totals of the warps at step `far`, and the round
                // holds those of the next steps behind them.
                let total = unsafe { V::load(address + (coordinate * V::BYTES) as u32) };
                let mut sums = self.scan_lanes(total, bits, &combine);
                if far != 0 {
                    sums = combine(so_far.get(row), sums);
                }
                let earlier = self.shifted(sums, 1);
                let earlier = if coordinate == 0 { so_far.get(row) } else { earlier };
                scanned.set(first, earlier);
                if far + steps < plan.far.values() {
                    so_far.set(row, self.of_lane(sums, (1 << bits) - 1));
                }
            }
            before.set(i, self.of_lane(scanned.get(first), far % steps * warps + self.warp));
        });
        before
    }

    /// Lets `visit` see each group with the address of its warps' totals, in order of the warps. In the same round
    /// the totals of the far steps of the group's row lie one behind the other.
    #[inline_on_device]
    fn in_rounds<V: WarpExchange>(&self, totals: &Registers<V, Of<S, B>>, mut visit: impl FnMut(usize, u32)) {
        let plan = const { &Scan::<S, B, A>::PLAN };
        let rounds = const { &Rounds::new::<V, S, B, A>() };
        let address = arch::shared::scratch_of(const { Rounds::new::<V, S, B, A>().bytes });
        let lane_row = self.thread & 31 & ((1 << plan.lane.first) - 1);
        let row = lane_row | plan.warp.others(self.thread >> 5) << plan.lane.first;
        let own = address + (row * rounds.totals * V::BYTES) as u32;
        let place = |group: usize| {
            let in_round = group % rounds.groups;
            let value = in_round / rounds.steps * rounds.rows * rounds.totals
                + in_round % rounds.steps * plan.warp.values();
            own + (value * V::BYTES) as u32
        };
        let mut round = 0;
        while round * rounds.groups < rounds.all {
            // SAFETY: tile operations run on all threads of the block alike.
            unsafe { barrier::<B>() };
            if self.lane == plan.lane.values() - 1 {
                <Of<S, B>>::unroll(0, 1, &mut |i| {
                    if i & plan.near.mask() == 0 && group(plan, i) / rounds.groups == round {
                        let address = place(group(plan, i)) + (self.warp * V::BYTES) as u32;
                        // SAFETY: the scratch holds the groups of a round by the choice of `Rounds`; the last lane
                        // along the axis is the only writer of its warp and row, between two barriers.
                        unsafe { totals.get(i).store(address) }
                    }
                });
            }
            // SAFETY: as above.
            unsafe { barrier::<B>() };
            <Of<S, B>>::unroll(0, 1, &mut |i| {
                if i & plan.near.mask() == 0 && group(plan, i) / rounds.groups == round {
                    visit(i, place(group(plan, i)));
                }
            });
            round += 1;
        }
    }
}

/// The number of a group: far steps count fastest.
#[inline_on_device]
const fn group(plan: &ScanPlan, register: usize) -> usize {
    let low = register & ((1 << plan.near.first) - 1);
    let high = register >> (plan.far.first + plan.far.count);
    (high << plan.near.first | low) * plan.far.values() + plan.far.of(register)
}

/// How totals go through the scratch: as many groups at once as fit.
struct Rounds {
    /// Groups of a thread.
    all: usize,
    /// Groups of a thread in a round.
    groups: usize,
    /// Far steps of a row in a round.
    steps: usize,
    /// Rows that the threads of the block have for one register.
    rows: usize,
    /// Totals of a row in a round.
    totals: usize,
    /// Bytes of a round.
    bytes: usize,
}

impl Rounds {
    const fn new<V: WarpExchange, S: Axis<A>, B: Block, const A: usize>() -> Self {
        let plan = &Scan::<S, B, A>::PLAN;
        let rows = 1 << (plan.lane.first + plan.warps - plan.warp.count);
        let all = <Of<S, B> as PowerOfTwo>::COUNT / plan.near.values();
        let one = rows * plan.warp.values() * V::BYTES;
        assert!(
            one <= arch::shared::SCRATCH_BYTES,
            "a scan of values of this size by this block needs more shared scratch memory than there is: fewer threads"
        );
        let most = arch::shared::SCRATCH_BYTES / one;
        let groups = if all < most { all } else { most };
        let steps = if groups < plan.far.values() { groups } else { plan.far.values() };
        Self { all, groups, steps, rows, totals: steps * plan.warp.values(), bytes: groups * one }
    }

    /// Far steps whose totals the lanes along the axis scan at once.
    const fn steps_a_scan(&self, plan: &ScanPlan) -> usize {
        let most = plan.lane.values() / plan.warp.values();
        if self.steps < most { self.steps } else { most }
    }
}
