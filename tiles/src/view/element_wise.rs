//! Element-wise access: each element of a tile lies anywhere.
//!
//! For each register of the tile, callers give the address of its element, and whether to touch it. If several threads hold
//! copies of an element, one writes it; every thread reads its own.
//!
//! A barrier of the block follows an acquiring access and precedes a releasing one. The order then holds for all threads of the
//! block, not only for the thread that touched the element.

use super::memory_order::{ReadOrder, Scope, UpdateOrder, WriteOrder};
use super::transfer::{self, Cache};
use crate::arch::{self, order};
use crate::context::{barrier, barrier_all};
use crate::element::Element;
use crate::element::bits_transport::Transport;
use crate::layout::{Block, Layout, Map};
use crate::registers::PowerOfTwo;
use crate::shape::Shape;
use crate::tile::Tile;
use core::time::Duration;

/// The address of a register's element, and whether to touch it.
pub(super) type Target<T> = (*mut <T as Element>::Bits, bool);

/// Loads each element, or takes `otherwise`.
///
/// # Safety
/// Elements to touch are valid for reads, and no other block writes them meanwhile; with [`Cache::Constant`] nothing writes
/// them during the kernel.
#[inline_on_device]
pub(super) unsafe fn load<T: Element, S: Shape, L: Layout>(
    cache: Cache,
    target: impl Fn(usize) -> Target<T>,
    otherwise: impl Fn(usize) -> T,
) -> Tile<T, S, L> {
    Tile::from_registers_fn(|i| {
        let ((address, wanted), mut element) = (target(i), T::ZERO);
        // SAFETY: the caller's contract. One element has 1, 2, 4 or 8 bytes and is aligned to its size.
        unsafe {
            transfer::load(address, 1, cache, Some(wanted), otherwise(i), |_, loaded| element = loaded)
        };
        element
    })
}

/// Stores each element.
///
/// # Safety
/// Elements to touch differ, and are valid for writes. No other block accesses them meanwhile.
#[inline_on_device]
pub(super) unsafe fn store<T: Element, S: Shape, L: Layout>(
    target: impl Fn(usize) -> Target<T>,
    value: impl Fn(usize) -> T,
) {
    originals::<S, L>(1, |i| {
        let (address, wanted) = target(i);
        // SAFETY: the caller's contract. Each element has one thread that stores it.
        unsafe { transfer::store(address, 1, Some(wanted), |_| value(i)) }
    });
}

/// Loads each element atomically, or takes `otherwise`.
///
/// # Safety
/// Elements to touch are valid for reads. Others write them by atomic operations of fitting scope only.
#[inline_on_device]
pub(super) unsafe fn atomic_load<T: Element, S: Shape, L: Layout, O: ReadOrder, C: Scope>(
    target: impl Fn(usize) -> Target<T>,
    otherwise: impl Fn(usize) -> T,
) -> Tile<T, S, L> {
    // SAFETY: the same contract.
    let tile: Tile<T, S, L> = unsafe { read_originals::<T, S, L, O, C>(target, otherwise) };
    if O::NUMBER != 0 {
        // SAFETY: operations on memory run on all threads of the block alike.
        unsafe { barrier::<L::Block>() };
    }
    order::reveals_memory();
    tile.spread_originals()
}

/// Reads each element atomically, or takes `otherwise`, on the threads that hold no copies. The others have anything.
///
/// # Safety
/// As for [`atomic_load`].
#[inline_on_device]
unsafe fn read_originals<T: Element, S: Shape, L: Layout, O: ReadOrder, C: Scope>(
    target: impl Fn(usize) -> Target<T>,
    otherwise: impl Fn(usize) -> T,
) -> Tile<T, S, L> {
    // Each element is read once: threads that read copies for themselves could see different values while others write.
    let own = holds_originals::<S, L>();
    Tile::from_registers_fn(|i| {
        let (address, wanted) = target(i);
        if wanted & own {
            // SAFETY: the caller's contract.
            T::from_bits(unsafe { read::<T, O, C>(address.cast()) })
        } else {
            otherwise(i)
        }
    })
}

/// Whether this thread's elements are no copies of another thread's.
#[inline_on_device]
fn holds_originals<S: Shape, L: Layout>() -> bool {
    arch::execution::thread() & const { Map::<L, S>::MAP.replicas } == 0
}

/// The longest sleep between two looks, in nanoseconds: as long as a look takes.
const LONGEST_SLEEP: u32 = 512;

/// Reads each element atomically, again and again, until `condition` is true of all of them, or `limit` is over.
///
/// # Safety
/// As for [`atomic_load`].
#[inline_on_device]
pub(super) unsafe fn atomic_wait<T: Element, S: Shape, L: Layout, O: ReadOrder, C: Scope>(
    address: impl Fn(usize) -> *mut T::Bits,
    condition: impl Fn(T) -> bool,
    limit: Duration,
) -> Option<Tile<T, S, L>> {
    let limit = limit.as_secs().saturating_mul(1_000_000_000).saturating_add(limit.subsec_nanos().into());
    let begin = arch::grid::nanoseconds();
    let mut sleep = 32;
    loop {
        // Read before the look: a limit of zero is one look, and the last look comes after the limit.
        let is_over = arch::grid::nanoseconds().wrapping_sub(begin) >= limit;
        // SAFETY: the same contract.
        let tile: Tile<T, S, L> =
            unsafe { read_originals::<T, S, L, O, C>(|i| (address(i), true), |_| T::ZERO) };
        let mut is_met = true;
        <L::Registers<S>>::unroll(0, 1, &mut |i| is_met &= condition(tile.registers().get(i)));
        is_met |= !holds_originals::<S, L>();
        order::reveals_memory();
        // The threads' clocks differ: they agree to look again as long as one of them has to.
        // SAFETY: operations on memory run on all threads of the block alike, and so does this loop, as all threads leave it together. The
        // barriers are also those behind an acquiring read.
        if unsafe { barrier_all::<L::Block>(is_met | is_over) } {
            // SAFETY: as above.
            let all = unsafe { barrier_all::<L::Block>(is_met) };
            return all.then(|| tile.spread_originals());
        }
        arch::grid::sleep(sleep);
        sleep = LONGEST_SLEEP.min(2 * sleep);
    }
}

/// Stores each element atomically.
///
/// # Safety
/// Elements to touch are valid for writes. Others access them by atomic operations of fitting scope only.
#[inline_on_device]
pub(super) unsafe fn atomic_store<T: Element, S: Shape, L: Layout, O: WriteOrder, C: Scope>(
    target: impl Fn(usize) -> Target<T>,
    value: impl Fn(usize) -> T,
) {
    if O::NUMBER != 0 {
        // SAFETY: operations on memory run on all threads of the block alike.
        unsafe { barrier::<L::Block>() };
    }
    originals::<S, L>(1, |i| {
        let (address, wanted) = target(i);
        if wanted {
            // SAFETY: the caller's contract.
            unsafe { write::<T, O, C>(value(i), address.cast()) }
        }
    });
}

/// Changes each element to touch by `function(i, address)`, which returns the element before the change. `otherwise` stands for
/// the other elements.
#[inline_on_device]
pub(super) fn update<T: Element, S: Shape, L: Layout, O: UpdateOrder, C: Scope>(
    target: impl Fn(usize) -> Target<T>,
    function: impl Fn(usize, *mut T::Bits) -> T,
    otherwise: impl Fn(usize) -> T,
) -> Tile<T, S, L> {
    let before = ordered::<L::Block, O, C, _>(|| {
        let own = arch::execution::thread() & const { Map::<L, S>::MAP.replicas } == 0;
        Tile::from_registers_fn(|i| {
            let (address, wanted) = target(i);
            if wanted & own { function(i, address) } else { otherwise(i) }
        })
    });
    order::reveals_memory();
    before.spread_originals()
}

/// As [`update`], without a result.
#[inline_on_device]
pub(super) fn change<T: Element, S: Shape, L: Layout, O: UpdateOrder, C: Scope>(
    target: impl Fn(usize) -> Target<T>,
    function: impl Fn(usize, *mut T::Bits) -> T,
) {
    ordered::<L::Block, O, C, _>(|| {
        originals::<S, L>(1, |i| {
            let (address, wanted) = target(i);
            if wanted {
                function(i, address);
            }
        });
    });
}

/// As [`change`], for two neighbours at a time: `function(i, address)` changes the elements of registers `i` and `i + 1`. Both
/// are touched or neither.
#[inline_on_device]
pub(super) fn change_pairs<T: Element, S: Shape, L: Layout, O: UpdateOrder, C: Scope>(
    target: impl Fn(usize) -> Target<T>,
    function: impl Fn(usize, *mut T::Bits),
) {
    ordered::<L::Block, O, C, _>(|| {
        originals::<S, L>(2, |i| {
            let (address, wanted) = target(i);
            if wanted {
                function(i, address);
            }
        });
    });
}

/// Calls `visit` for every `step`th register, in threads that do not hold copies.
#[inline_on_device]
fn originals<S: Shape, L: Layout>(step: usize, mut visit: impl FnMut(usize)) {
    if arch::execution::thread() & const { Map::<L, S>::MAP.replicas } == 0 {
        <L::Registers<S>>::unroll(0, step, &mut visit);
    }
}

/// Runs relaxed atomic operations so that they release or acquire, by one fence in each thread.
#[inline_on_device]
fn ordered<B: Block, O: UpdateOrder, C: Scope, R>(operations: impl FnOnce() -> R) -> R {
    if O::RELEASES {
        // SAFETY: operations on memory run on all threads of the block alike.
        unsafe { barrier::<B>() };
        arch::atomic::fence(C::NUMBER);
    }
    let result = operations();
    if O::ACQUIRES {
        arch::atomic::fence(C::NUMBER);
        // SAFETY: as above.
        unsafe { barrier::<B>() };
    }
    result
}

/// # Safety
/// `address` is valid for an atomic read of `T::Bits`, naturally aligned.
#[inline_on_device]
unsafe fn read<T: Element, O: ReadOrder, C: Scope>(address: *const u8) -> T::Bits {
    // SAFETY: the same contract. Const parameters must be literals: the table is written out.
    unsafe {
        match (O::NUMBER, C::NUMBER) {
            (0, 0) => T::Bits::load_atomic::<0, 0>(address),
            (0, 1) => T::Bits::load_atomic::<0, 1>(address),
            (0, _) => T::Bits::load_atomic::<0, 2>(address),
            (_, 0) => T::Bits::load_atomic::<1, 0>(address),
            (_, 1) => T::Bits::load_atomic::<1, 1>(address),
            (_, _) => T::Bits::load_atomic::<1, 2>(address),
        }
    }
}

/// # Safety
/// `address` is valid for an atomic write of `T::Bits`, naturally aligned.
#[inline_on_device]
unsafe fn write<T: Element, O: WriteOrder, C: Scope>(value: T, address: *mut u8) {
    let bits = value.to_bits();
    // SAFETY: the same contract.
    unsafe {
        match (O::NUMBER, C::NUMBER) {
            (0, 0) => bits.store_atomic::<0, 0>(address),
            (0, 1) => bits.store_atomic::<0, 1>(address),
            (0, _) => bits.store_atomic::<0, 2>(address),
            (_, 0) => bits.store_atomic::<1, 0>(address),
            (_, 1) => bits.store_atomic::<1, 1>(address),
            (_, _) => bits.store_atomic::<1, 2>(address),
        }
    }
}
