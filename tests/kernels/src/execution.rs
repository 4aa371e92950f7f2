//! Blocks, grids, and what goes wrong.

use cuda_tiles::prelude::*;

/// Block (i, j, k) stores its own index and the grid's size, in this order.
#[kernel(threads = 32, min_blocks = 1, grid = 3)]
pub fn positions(cx: Cx, results: SpanMut<u32, (D<6>, u32, u32, u32)>) {
    let results = results.partition(cx, shape![1, 1, 1, 1]);
    let own = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    results.store(cx.scalar(*own.0), (0, own.0, own.1, own.2));
    results.store(cx.scalar(*own.1), (1, own.0, own.1, own.2));
    results.store(cx.scalar(*own.2), (2, own.0, own.1, own.2));
    results.store(cx.scalar(cx.num_blocks(0)), (3, own.0, own.1, own.2));
    results.store(cx.scalar(cx.num_blocks(1)), (4, own.0, own.1, own.2));
    results.store(cx.scalar(cx.num_blocks(2)), (5, own.0, own.1, own.2));
}

/// Every kind of scalar argument, stored one after the other as 64-bit numbers.
#[kernel(threads = 32, min_blocks = 1)]
#[allow(clippy::too_many_arguments, reason = "one of each element type")]
pub fn scalars(
    cx: Cx,
    a: bool,
    b: i8,
    c: u16,
    d: i32,
    e: u64,
    f: f16,
    g: bf16,
    h: f32,
    k: f64,
    integers: SpanMut<i64, (D<5>, u32)>,
    floats: SpanMut<f64, (D<4>, u32)>,
) {
    let integers = integers.partition(cx, shape![1, 1]);
    let floats = floats.partition(cx, shape![1, 1]);
    let i = cx.bid::<0>();
    integers.store(cx.scalar(a), (0, i));
    integers.store(cx.scalar(b), (1, i));
    integers.store(cx.scalar(c).cast::<i64>(), (2, i));
    integers.store(cx.scalar(d), (3, i));
    integers.store(cx.scalar(e).cast::<i64>(), (4, i));
    floats.store(cx.scalar(f), (0, i));
    floats.store(cx.scalar(g), (1, i));
    floats.store(cx.scalar(h), (2, i));
    floats.store(cx.scalar(k), (3, i));
}

/// Copies tile after tile without masks: wrong where the length is no multiple of 64.
#[kernel(threads = 64, min_blocks = 1)]
pub fn checked_copy(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
    let i = cx.bid::<0>();
    y.store(x.load(i), i);
}

/// Stores without a mask.
#[kernel(threads = 64, min_blocks = 1)]
pub fn checked_store(cx: Cx, y: SpanMut<f32, (u32,)>) {
    y.partition(cx, shape![64]).store(cx.zeros::<f32>(shape![64]), cx.bid::<0>());
}

/// Loads a tile by an index that the caller gives, which may be negative.
#[kernel(threads = 64, min_blocks = 1)]
pub fn load_at(cx: Cx, index: i32, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    y.partition(cx, shape![64]).store(x.partition(cx, shape![64]).load(index), cx.bid::<0>());
}

/// Takes the element of a tile that the caller names.
#[kernel(threads = 64, min_blocks = 1)]
pub fn element_at(cx: Cx, index: u32, y: SpanMut<u32, (u32,)>) {
    let element = cx.iota::<u32>(shape![64]).at([index]);
    y.partition(cx, shape![1]).store(cx.scalar(element), cx.bid::<0>());
}

/// Loads atomically without a mask.
#[kernel(threads = 64, min_blocks = 1)]
pub fn checked_atomic_load(cx: Cx, x: SpanAtomic<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    let y = y.partition(cx, shape![64]);
    let i = cx.bid::<0>();
    let tile = x.partition(cx, shape![64]).atomic_load(i, Relaxed, scope::Device);
    y.store_masked(tile, i);
}

/// Asks for the length of an axis that the tensor does not have.
#[kernel(threads = 64, min_blocks = 1)]
pub fn extent_of(cx: Cx, axis: u32, y: SpanMut<u64, (u32,)>) {
    let length = y.extent(axis as usize);
    y.partition(cx, shape![1]).store(cx.scalar(length), cx.bid::<0>());
}

/// Takes the element of a span that the caller names.
#[kernel(threads = 64, min_blocks = 1)]
pub fn item_at(cx: Cx, row: i32, column: u32, x: Span<u32, (u32, u32)>, y: SpanMut<u32, (u32,)>) {
    y.partition(cx, shape![1]).store(cx.scalar(x.item((row, column))), cx.bid::<0>());
}

/// Loads row `row` from column `start` on by a checked gather.
#[kernel(threads = 32, min_blocks = 1)]
pub fn gather_row(cx: Cx, row: i32, start: i32, x: Span<i32, (u32, u32)>, y: SpanMut<i32, (u32, D<4>)>) {
    let tile = x.gather_scatter_view(cx, shape![1, 4]).load((cx.full(shape![1], row), start));
    y.partition(cx, shape![1, 4]).store(tile, (cx.bid::<0>(), 0));
}
