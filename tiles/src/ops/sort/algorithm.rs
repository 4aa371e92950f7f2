//! Batcher's bitonic sorter (K. E. Batcher, "Sorting networks and their applications", 1968) on the bits of a coordinate.
//!
//! Phase `k` merges runs of `2^(k - 1)` into runs of `2^k`, ascending where bit `k` of the coordinate is 0, by comparing
//! elements whose coordinates differ in one bit, from bit `k - 1` down. A bit of the register number compares
//! registers, a bit of the lane needs an exchange between lanes, a bit of the warp one through shared memory.

use crate::arch;
use crate::context::barrier;
use crate::layout::{Block, Blocked, Carrier, Layout, Scan};
use crate::ops::warp_exchange::WarpExchange;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::{Axis, Shape};

/// The registers of a tile of shape `S`.
type Of<S, B> = <Blocked<B> as Layout>::Registers<S>;

/// Sorts values along axis `A` so that of two neighbours the second is not `less` than the first.
#[inline_on_device]
pub(in crate::ops) fn sort<V: WarpExchange, S: Axis<A>, B: Block, const A: usize>(
    mut values: Registers<V, Of<S, B>>,
    less: impl Fn(V, V) -> bool,
) -> Registers<V, Of<S, B>> {
    let plan = const { &Scan::<S, B, A>::PLAN };
    let thread = arch::execution::thread();
    let own = plan.of_thread(thread);
    let mut phase = 1;
    // Phases are a loop at run time: one unrolled would be code in the square of their number.
    while phase <= const { <S::Length as PowerOfTwo>::LOG } {
        let descends = |register: usize| (own | plan.of_register(register)) >> phase & 1 != 0;
        S::Length::bits_downward(&mut |bit| {
            if bit >= phase {
                return;
            }
            match plan.carrier(bit) {
                Carrier::Register(place) => <Of<S, B>>::unroll(0, 1, &mut |i| {
                    if i >> place & 1 == 0 {
                        let (low, high) = (values.get(i), values.get(i | 1 << place));
                        // Equal values stay, whichever way the run goes.
                        let swap = if descends(i) { less(low, high) } else { less(high, low) };
                        values.set(i, V::select(swap, high, low));
                        values.set(i | 1 << place, V::select(swap, low, high));
                    }
                }),
                Carrier::Lane(place) => <Of<S, B>>::unroll(0, 1, &mut |i| {
                    // SAFETY: tile operations run on all threads of the block alike, and `phase` is the same on all.
                    let other = unsafe { values.get(i).exchange(1 << place) };
                    let takes_larger = (thread >> place & 1 != 0) != descends(i);
                    values.set(i, chosen(values.get(i), other, takes_larger, &less));
                }),
                Carrier::Warp(place) => {
                    let others = exchange_warps::<V, S, B>(&values, thread, place);
                    <Of<S, B>>::unroll(0, 1, &mut |i| {
                        let takes_larger = (thread >> (5 + place) & 1 != 0) != descends(i);
                        values.set(i, chosen(values.get(i), others.get(i), takes_larger, &less));
                    });
                }
            }
        });
        phase += 1;
    }
    values
}

/// The larger or the smaller of both; its own for both threads where they are equal.
#[inline_on_device]
fn chosen<V: WarpExchange>(own: V, other: V, larger: bool, less: impl Fn(V, V) -> bool) -> V {
    let swap = if larger { less(own, other) } else { less(other, own) };
    V::select(swap, other, own)
}

/// The registers of the thread whose warp number differs in bit `place`, in as many rounds as the scratch needs.
#[inline_on_device]
fn exchange_warps<V: WarpExchange, S: Shape, B: Block>(
    values: &Registers<V, Of<S, B>>,
    thread: usize,
    place: u32,
) -> Registers<V, Of<S, B>> {
    let threads = const { <B::Threads as PowerOfTwo>::COUNT };
    let at_once = const {
        let most = arch::shared::SCRATCH_BYTES / (<B::Threads as PowerOfTwo>::COUNT * V::BYTES);
        assert!(
            most != 0,
            "a sort of values of this size by this block needs more shared scratch memory than there is: fewer threads"
        );
        let count = <Of<S, B> as PowerOfTwo>::COUNT;
        if count < most { count } else { most }
    };
    let address = arch::shared::scratch_of(at_once * const { <B::Threads as PowerOfTwo>::COUNT * V::BYTES });
    let slot = |thread: usize, i: usize| address + ((i % at_once * threads + thread) * V::BYTES) as u32;
    let mut others = Registers::from_fn(|i| values.get(i));
    let mut round = 0;
    while round * at_once < const { <Of<S, B> as PowerOfTwo>::COUNT } {
        // SAFETY: tile operations run on all threads of the block alike.
        unsafe { barrier::<B>() };
        <Of<S, B>>::unroll(0, 1, &mut |i| {
            if i / at_once == round {
                // SAFETY: the slot lies in the scratch by the choice of `at_once`, and is this thread's own.
                unsafe { values.get(i).store(slot(thread, i)) }
            }
        });
        // SAFETY: as above.
        unsafe { barrier::<B>() };
        <Of<S, B>>::unroll(0, 1, &mut |i| {
            if i / at_once == round {
                // SAFETY: every slot of this round was written before the barrier.
                others.set(i, unsafe { V::load(slot(thread ^ 32 << place, i)) });
            }
        });
        round += 1;
    }
    others
}
