//! Atomic loads and stores: every order and scope.

use core::time::Duration;
use cuda_tiles::prelude::*;
use scope::{Block, Device, System};

/// Loads of every order and scope, then stores of every order and scope: row `k` of `loaded` gets load `k` of `x`, row
/// `k` of `stored` is written by store `k`. Both shapes of access, whole and masked.
///
/// Rows: relaxed and acquire (release) with device and system scope, whole; then the same, masked.
#[kernel(
    threads = 64, min_blocks = 1,
    vector = 1,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn shared_atomics<T: Promote<T, Output = T>>(
    cx: Cx,
    x: SpanAtomic<T, (u32,)>,
    loaded: SpanMut<T, (D<8>, u32)>,
    stored: SpanAtomic<T, (D<8>, u32)>,
) {
    let loaded = loaded.partition(cx, shape![1, 64]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![64]);
    let stored = stored.partition(cx, shape![1, 64]);
    loaded.store_masked(x.atomic_load_masked(Zero, i, Relaxed, Device), (4, i));
    loaded.store_masked(x.atomic_load_masked(Zero, i, Relaxed, System), (5, i));
    loaded.store_masked(x.atomic_load_masked(Zero, i, Acquire, Device), (6, i));
    loaded.store_masked(x.atomic_load_masked(Zero, i, Acquire, System), (7, i));
    let tile = x.atomic_load_masked(Zero, i, Relaxed, Device);
    stored.atomic_store_masked(tile, (4, i), Relaxed, Device);
    stored.atomic_store_masked(tile, (5, i), Relaxed, System);
    stored.atomic_store_masked(tile, (6, i), Release, Device);
    stored.atomic_store_masked(tile, (7, i), Release, System);
    if *i + 1 < x.num_tiles(0) {
        loaded.store(x.atomic_load(i, Relaxed, Device), (0, i));
        loaded.store(x.atomic_load(i, Relaxed, System), (1, i));
        loaded.store(x.atomic_load(i, Acquire, Device), (2, i));
        loaded.store(x.atomic_load(i, Acquire, System), (3, i));
        stored.atomic_store(tile, (0, i), Relaxed, Device);
        stored.atomic_store(tile, (1, i), Relaxed, System);
        stored.atomic_store(tile, (2, i), Release, Device);
        stored.atomic_store(tile, (3, i), Release, System);
    }
}

/// The same with block scope, on a block's own tiles: rows relaxed and acquire (release), whole; the same, masked.
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 2,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn own_atomics<T: Promote<T, Output = T>>(
    cx: Cx,
    x: SpanMut<T, (u32,)>,
    loaded: SpanMut<T, (D<4>, u32)>,
    stored: SpanMut<T, (D<4>, u32)>,
) {
    let x = x.partition(cx, shape![64]);
    let loaded = loaded.partition(cx, shape![1, 64]);
    let stored = stored.partition(cx, shape![1, 64]);
    let i = cx.bid::<0>();
    let tile = x.atomic_load_masked(Zero, i, Relaxed, Block);
    loaded.store_masked(tile, (2, i));
    loaded.store_masked(x.atomic_load_masked(Zero, i, Acquire, Block), (3, i));
    stored.atomic_store_masked(tile, (2, i), Relaxed, Block);
    stored.atomic_store_masked(tile, (3, i), Release, Block);
    if *i + 1 < x.num_tiles(0) {
        loaded.store(x.atomic_load(i, Relaxed, Block), (0, i));
        loaded.store(x.atomic_load(i, Acquire, Block), (1, i));
        stored.atomic_store(tile, (0, i), Relaxed, Block);
        stored.atomic_store(tile, (1, i), Release, Block);
    }
}

/// Each block writes its tile, releases a flag, and takes the tile of the block before it once that flag is acquired:
/// without the order it could read what was there before. Blocks run in the order of their numbers, or together.
#[kernel(threads = 256, min_blocks = 1)]
pub fn hand_over(
    cx: Cx,
    data: SpanAtomic<i32, (u32,)>,
    flags: SpanAtomic<u32, (u32,)>,
    results: SpanMut<i32, (u32,)>,
) {
    let results = results.partition(cx, shape![1024]);
    let i = cx.bid::<0>();
    let data = data.partition(cx, shape![1024]);
    let flags = flags.partition(cx, shape![1]);
    let own = cx.iota::<i32>(shape![1024]) + *i as i32 * 1024;
    data.atomic_store(own, i, Relaxed, Device);
    flags.atomic_store(cx.scalar(1u32), i, Release, Device);
    let before = i.saturating_sub(1);
    while flags.atomic_load(before, Acquire, Device).item() == 0 {}
    results.store(data.atomic_load(before, Relaxed, Device), i);
}

/// The same as [`hand_over`], where a block waits for a limited time: of `in_time` an element says whether it was enough.
#[kernel(threads = 256, min_blocks = 1)]
pub fn hand_over_in_time(
    cx: Cx,
    data: SpanAtomic<i32, (u32,)>,
    flags: SpanAtomic<u32, (u32,)>,
    results: SpanMut<i32, (u32,)>,
    in_time: SpanMut<bool, (u32,)>,
    milliseconds: u64,
) {
    let results = results.partition(cx, shape![1024]);
    let in_time = in_time.partition(cx, shape![1]);
    let i = cx.bid::<0>();
    let data = data.partition(cx, shape![1024]);
    let flags = flags.partition(cx, shape![1]);
    let own = cx.iota::<i32>(shape![1024]) + *i as i32 * 1024;
    data.atomic_store(own, i, Relaxed, Device);
    flags.atomic_store(cx.scalar(1u32), i, Release, Device);
    let limit = Duration::from_millis(milliseconds);
    let flag = flags.atomic_wait(i.saturating_sub(1), |flag| flag == 1, limit, Acquire, Device);
    in_time.store(cx.scalar(flag.is_some()), i);
    if flag.is_some() {
        results.store(data.atomic_load(i.saturating_sub(1), Relaxed, Device), i);
    }
}

/// Each block waits for a tile of 64 elements to be other than zero: what it saw, where that is so in time.
#[kernel(threads = 32, min_blocks = 1, vector = 2, instances(<bool>, <u16>, <u32>, <f64>))]
pub fn waited_for<T: Promote<T, Output = T> + Comparable>(
    cx: Cx,
    flags: SpanAtomic<T, (u32,)>,
    seen: SpanMut<T, (u32,)>,
    in_time: SpanMut<bool, (D<2>, u32)>,
    microseconds: u64,
) {
    let seen = seen.partition(cx, shape![64]);
    let in_time = in_time.partition(cx, shape![1, 1]);
    let i = cx.bid::<0>();
    let flags = flags.partition(cx, shape![64]);
    let limit = Duration::from_micros(microseconds);
    let found = flags.atomic_wait(i, |flag| flag != T::ZERO, limit, Relaxed, System);
    in_time.store(cx.scalar(found.is_some()).reshape(shape![1, 1]), (0, i));
    if let Some(tile) = found {
        seen.store(tile, i);
    }
    let again = flags.atomic_wait(i, |flag| flag != T::ZERO, Duration::ZERO, Acquire, Device);
    in_time.store(cx.scalar(again.is_some()).reshape(shape![1, 1]), (1, i));
}
