//! Atomic reads-modifies-writes: by tiles of indices, through views and through pointers; every operation, order and scope.

use cuda_tiles::prelude::*;
use scope::{Block, Device, System};

/// Stores results as rows of a view.
macro_rules! store_rows {
    ($view:ident at $i:ident: $($row:literal: $result:expr;)*) => { $( $view.store_masked($result, ($row, $i)); )* };
}

/// Sums and extrema of each element of a row with that of `value`. `elements` is changed by indices, of which those of the
/// last tile reach outside, `views` through a view, `pointers` through pointers; `before` gets the elements before, of
/// `elements` in rows 0 to 7, of `pointers` from 8 on.
///
/// Rows: add, sub, min, max, by indices and pointers masked to even columns from row 4 on, by views whole up to row 3.
#[kernel(threads = 64, min_blocks = 1, vector = 2, instances(<i32>, <u32>, <i64>, <u64>, <f16>, <bf16>, <f32>, <f64>))]
pub fn sums_and_extrema<T: AtomicAdd + AtomicMinMax>(
    cx: Cx,
    value: Span<T, (u32,)>,
    elements: SpanAtomic<T, (D<8>, u32)>,
    views: SpanAtomic<T, (D<8>, u32)>,
    pointers: SpanAtomic<T, (D<8>, u32)>,
    before: SpanMut<T, (D<16>, u32)>,
) {
    let before = before.partition(cx, shape![1, 64]);
    let i = cx.bid::<0>();
    let value = value.partition(cx, shape![64]).load_masked(Zero, i);
    let j = cx.iota::<i32>(shape![64]) + *i as i32 * 64;
    let even = (j % 2).eq(0);
    store_rows! { before at i:
        0: elements.atomic_add(value, (0, j), Relaxed, Device);
        1: elements.atomic_sub(value, (1, j), Acquire, Device);
        2: elements.atomic_min(value, (2, j), Release, Device);
        3: elements.atomic_max(value, (3, j), AcquireRelease, Device);
        4: elements.atomic_add_masked(value, (4, j), even, Relaxed, System);
        5: elements.atomic_sub_masked(value, (5, j), even, Acquire, System);
        6: elements.atomic_min_masked(value, (6, j), even, Release, System);
        7: elements.atomic_max_masked(value, (7, j), even, AcquireRelease, System);
    }
    let inside = j.lt(pointers.extent(1) as i32);
    let columns = cx.full(shape![64], pointers.pointer()).offset(j);
    let row = |k: i64| columns.offset(k * i64::from(pointers.extent(1)));
    // SAFETY: the pointers are those of the elements of row `k` where `inside` is true, which this block alone touches,
    // by atomic operations.
    unsafe {
        store_rows! { before at i:
            8: row(0).atomic_add_masked(value, inside, Relaxed, Block);
            9: row(1).atomic_sub_masked(value, inside, Acquire, Block);
            10: row(2).atomic_min_masked(value, inside, Release, Device);
            11: row(3).atomic_max_masked(value, inside, AcquireRelease, System);
            12: row(4).atomic_add_masked(value, inside & even, Release, Block);
            13: row(5).atomic_sub_masked(value, inside & even, AcquireRelease, Block);
            14: row(6).atomic_min_masked(value, inside & even, Relaxed, Block);
            15: row(7).atomic_max_masked(value, inside & even, Relaxed, Device);
        }
    }
    let views = views.partition(cx, shape![1, 64]);
    views.atomic_add_masked(value, (4, i), Relaxed, Device);
    views.atomic_sub_masked(value, (5, i), Acquire, System);
    views.atomic_min_masked(value, (6, i), Release, Device);
    views.atomic_max_masked(value, (7, i), AcquireRelease, System);
    if *i + 1 < views.num_tiles(1) {
        views.atomic_add(value, (0, i), Relaxed, Device);
        views.atomic_sub(value, (1, i), Relaxed, System);
        views.atomic_min(value, (2, i), Relaxed, Device);
        views.atomic_max(value, (3, i), Relaxed, System);
    }
}

/// Logic of each element of a row with that of `value`, as in [`sums_and_extrema`].
///
/// Rows: and, or, xor, by indices and pointers masked to even columns from row 3 on, by views whole up to row 2.
#[kernel(threads = 128, min_blocks = 1, vector = 2, instances(<i32>, <u32>, <i64>, <u64>))]
pub fn logical_updates<T: AtomicLogical>(
    cx: Cx,
    value: Span<T, (u32,)>,
    elements: SpanAtomic<T, (D<6>, u32)>,
    views: SpanAtomic<T, (D<6>, u32)>,
    pointers: SpanAtomic<T, (D<6>, u32)>,
    before: SpanMut<T, (D<12>, u32)>,
) {
    let before = before.partition(cx, shape![1, 64]);
    let i = cx.bid::<0>();
    let value = value.partition(cx, shape![64]).load_masked(Zero, i);
    let j = cx.iota::<u32>(shape![64]) + *i * 64;
    let even = (j % 2).eq(0);
    store_rows! { before at i:
        0: elements.atomic_and(value, (0, j), Relaxed, Device);
        1: elements.atomic_or(value, (1, j), Relaxed, System);
        2: elements.atomic_xor(value, (2, j), AcquireRelease, Device);
        3: elements.atomic_and_masked(value, (3, j), even, Relaxed, Device);
        4: elements.atomic_or_masked(value, (4, j), even, Relaxed, System);
        5: elements.atomic_xor_masked(value, (5, j), even, Relaxed, Device);
    }
    let inside = j.lt(pointers.extent(1));
    let columns = cx.full(shape![64], pointers.pointer()).offset(j);
    let row = |k: i64| columns.offset(k * i64::from(pointers.extent(1)));
    // SAFETY: as in `sums_and_extrema`.
    unsafe {
        store_rows! { before at i:
            6: row(0).atomic_and_masked(value, inside, Relaxed, Block);
            7: row(1).atomic_or_masked(value, inside, Relaxed, Block);
            8: row(2).atomic_xor_masked(value, inside, Relaxed, Block);
            9: row(3).atomic_and_masked(value, inside & even, Relaxed, Device);
            10: row(4).atomic_or_masked(value, inside & even, Relaxed, Device);
            11: row(5).atomic_xor_masked(value, inside & even, Relaxed, System);
        }
    }
    let views = views.partition(cx, shape![1, 64]);
    views.atomic_and_masked(value, (3, i), Relaxed, Device);
    views.atomic_or_masked(value, (4, i), Relaxed, Device);
    views.atomic_xor_masked(value, (5, i), Relaxed, System);
    if *i + 1 < views.num_tiles(1) {
        views.atomic_and(value, (0, i), Relaxed, Device);
        views.atomic_or(value, (1, i), Relaxed, Device);
        views.atomic_xor(value, (2, i), Relaxed, System);
    }
}

/// Exchanges of each element of a row with that of `value`, compare-exchanges where it has the bits of `expected`; results
/// as in [`sums_and_extrema`].
///
/// Rows: exchange, compare-exchange, and both masked to even columns; `before` has those of indices, then of pointers.
#[kernel(threads = 32, min_blocks = 1, vector = 4, instances(<i32>, <u32>, <i64>, <u64>, <f32>, <f64>))]
pub fn exchanges<T: AtomicExchange + Promote<T, Output = T>>(
    cx: Cx,
    value: Span<T, (u32,)>,
    expected: Span<T, (u32,)>,
    elements: SpanAtomic<T, (D<4>, u32)>,
    pointers: SpanAtomic<T, (D<4>, u32)>,
    before: SpanMut<T, (D<8>, u32)>,
) {
    let before = before.partition(cx, shape![1, 64]);
    let i = cx.bid::<0>();
    let value = value.partition(cx, shape![64]).load_masked(Zero, i);
    let expected = expected.partition(cx, shape![64]).load_masked(Zero, i);
    let j = cx.iota::<i64>(shape![64]) + i64::from(*i) * 64;
    let even = (j % 2).eq(0);
    store_rows! { before at i:
        0: elements.atomic_exchange(value, (0, j), AcquireRelease, Device);
        1: elements.atomic_compare_exchange(expected, value, (1, j), AcquireRelease, Device);
        2: elements.atomic_exchange_masked(value, (2, j), even, Relaxed, System);
        3: elements.atomic_compare_exchange_masked(expected, value, (3, j), even, Relaxed, System);
    }
    let inside = j.lt(i64::from(pointers.extent(1)));
    let columns = cx.full(shape![64], pointers.pointer()).offset(j);
    let row = |k: i64| columns.offset(k * i64::from(pointers.extent(1)));
    // SAFETY: as in `sums_and_extrema`.
    unsafe {
        store_rows! { before at i:
            4: row(0).atomic_exchange_masked(value, inside, Relaxed, Block);
            5: row(1).atomic_compare_exchange_masked(expected, value, inside, Relaxed, Block);
            6: row(2).atomic_exchange_masked(value, inside & even, Release, Device);
            7: row(3).atomic_compare_exchange_masked(expected, value, inside & even, Acquire, Device);
        }
    }
}

/// What updates find at the 8 columns `j`, of which some are outside: exchange, compare-exchange, add, sub, min, max.
#[kernel(threads = 64, min_blocks = 1, vector = 2, instances(<i32>, <u64>, <f32>, <f64>))]
pub fn outside<T: AtomicExchange + AtomicAdd + AtomicMinMax + Promote<T, Output = T>>(
    cx: Cx,
    value: T,
    expected: T,
    j: Span<i32, (u32,)>,
    x: SpanAtomic<T, (D<6>, u32)>,
    found: SpanMut<T, (D<6>, u32)>,
) {
    let found = found.partition(cx, shape![1, 8]);
    let own = cx.bid::<0>();
    let j = j.partition(cx, shape![8]).load(own);
    store_rows! { found at own:
        0: x.atomic_exchange(value, (0, j), Relaxed, Device);
        1: x.atomic_compare_exchange(expected, value, (1, j), Acquire, System);
        2: x.atomic_add(value, (2, j), Release, Device);
        3: x.atomic_sub(value, (3, j), AcquireRelease, Device);
        4: x.atomic_min(value, (4, j), Relaxed, System);
        5: x.atomic_max(value, (5, j), Relaxed, Device);
    }
}

/// Changes a block's own tiles of writable tensors, at block scope: row `k` of `x` by operation `k`, whole tiles, then masked.
///
/// Rows: add, sub, min, max, and, or, xor.
#[kernel(threads = 32, min_blocks = 1, vector = 4, instances(<i32>, <u64>))]
pub fn own_changes<T: AtomicAdd + AtomicMinMax + AtomicLogical>(
    cx: Cx,
    value: Span<T, (u32,)>,
    x: SpanMut<T, (D<7>, u32)>,
    y: SpanMut<T, (D<7>, u32)>,
) {
    let (x, y) = (x.partition(cx, shape![1, 64]), y.partition(cx, shape![1, 64]));
    let i = cx.bid::<0>();
    let value = value.partition(cx, shape![64]).load_masked(Zero, i);
    y.atomic_add_masked(value, (0, i), Relaxed, Block);
    y.atomic_sub_masked(value, (1, i), Release, Block);
    y.atomic_min_masked(value, (2, i), Acquire, Block);
    y.atomic_max_masked(value, (3, i), AcquireRelease, Block);
    y.atomic_and_masked(value, (4, i), Relaxed, Block);
    y.atomic_or_masked(value, (5, i), Relaxed, Block);
    y.atomic_xor_masked(value, (6, i), Relaxed, Block);
    if *i + 1 < x.num_tiles(1) {
        x.atomic_add(value, (0, i), Relaxed, Block);
        x.atomic_sub(value, (1, i), Relaxed, Block);
        x.atomic_min(value, (2, i), Relaxed, Block);
        x.atomic_max(value, (3, i), Relaxed, Block);
        x.atomic_and(value, (4, i), Relaxed, Block);
        x.atomic_or(value, (5, i), Relaxed, Block);
        x.atomic_xor(value, (6, i), Relaxed, Block);
    }
}

/// All blocks change the same few elements: row 0 of `totals` counts, row 1 sums up the values, row 2 counts down, rows 3
/// and 4 keep the least and the greatest. `claims` goes to the first block that asks; `winners` counts who got one.
///
/// The value of block `b` for column `c` is `b + c`; the tile has fewer elements than the block has threads.
#[kernel(threads = 128, min_blocks = 1, instances(<i32>, <u32>, <i64>, <u64>, <f16>, <bf16>, <f32>, <f64>))]
pub fn contended<T: AtomicAdd + AtomicMinMax>(
    cx: Cx,
    totals: SpanAtomic<T, (D<5>, D<16>)>,
    claims: SpanAtomic<u32, (D<16>,)>,
    winners: SpanAtomic<u32, (D<16>,)>,
) where
    u32: Cast<T>,
{
    let c = cx.iota::<u32>(shape![16]);
    let value = (c + *cx.bid::<0>()).cast::<T>();
    let one = cx.ones::<T>(shape![16]);
    let _ = totals.atomic_add(one, (0, c), Relaxed, Device);
    let _ = totals.atomic_sub(one, (2, c), Relaxed, Device);
    let _ = totals.atomic_min(value, (3, c), Relaxed, Device);
    let rows = totals.partition(cx, shape![1, 16]);
    rows.atomic_add(value, (1, 0), Relaxed, Device);
    rows.atomic_max(value, (4, 0), Relaxed, Device);
    let before = claims.atomic_compare_exchange(0, *cx.bid::<0>() + 1, c, AcquireRelease, Device);
    let _ = winners.atomic_add_masked(1, c, before.eq(0), Relaxed, Device);
}

/// Counts the values of `x`; an index may occur many times in one tile. `sums` adds up what the additions found before.
#[kernel(threads = 256, min_blocks = 1, vector = 4)]
pub fn counts_of_bytes(
    cx: Cx,
    x: Span<u8, (u32,)>,
    counts: SpanAtomic<u32, (D<256>,)>,
    sums: SpanAtomic<u64, (D<256>,)>,
) {
    let x = x.partition(cx, shape![1024]);
    let i = cx.bid::<0>();
    let bins = x.load(i);
    let before = counts.atomic_add(1, bins, Relaxed, Device);
    let _ = sums.atomic_add(before, bins, Relaxed, Device);
}

/// Each block stores its tile, then takes a ticket, releasing and acquiring; who takes the last one sees all tiles.
#[kernel(threads = 128, min_blocks = 1)]
pub fn last_block(
    cx: Cx,
    partial: SpanAtomic<u32, (u32, D<256>)>,
    ticket: SpanAtomic<u32, (D<1>,)>,
    total: SpanMut<u32, (u32, D<256>)>,
) {
    let total = total.partition(cx, shape![1, 256]);
    let i = cx.bid::<0>();
    let partial = partial.partition(cx, shape![1, 256]);
    partial.atomic_store(cx.iota::<u32>(shape![256]) + *i, (i, 0), Relaxed, Device);
    let before = ticket.atomic_add(1, cx.scalar(0u32), AcquireRelease, Device).item();
    if before + 1 == cx.num_blocks(0) {
        let mut sum = cx.zeros::<u32>(shape![1, 256]);
        for k in 0..cx.num_blocks(0) {
            sum += partial.atomic_load((k, 0), Relaxed, Device);
        }
        total.store(sum, (i, 0));
    }
}
