//! Kernels that print and assert.

use cuda_tiles::prelude::*;

/// Prints tiles of several types and ranks, and numbers.
#[kernel(threads = 64, min_blocks = 1, vector = 2)]
pub fn print_all(cx: Cx, number: f32, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    let y = y.partition(cx, shape![4]);
    let i = cx.bid::<0>();
    let t = x.partition(cx, shape![4]).load_masked(Zero, i);
    tile_print!(cx, "block {} of {}: {:?} and {:.2}", i, cx.num_blocks(0), t, number);
    let wide = cx.iota::<i64>(shape![2, 2]) - 2;
    tile_print!(cx, "{{{}}} {:+} {:#x}", wide, cx.iota::<u8>(shape![1, 2, 1]), 0xdead_beef_u32);
    tile_print!(cx, "{} {:e} {}", t.gt(1.0), t.cast::<f64>().sum::<0>(), t.cast::<f16>().sum::<0>().item());
    tile_print!(cx, "no arguments");
    y.store_masked(t, i);
}

/// Prints more than there is room for, and goes on.
#[kernel(threads = 128, min_blocks = 1)]
pub fn print_too_much(cx: Cx, y: SpanMut<u32, (u32,)>) {
    let y = y.partition(cx, shape![1]);
    let i = cx.bid::<0>();
    for _ in 0..64 {
        tile_print!(cx, "{}", cx.iota::<u32>(shape![8192]));
    }
    y.store(cx.scalar(*i), i);
}

/// Demands that elements are below a limit.
#[kernel(threads = 128, min_blocks = 1)]
pub fn assert_below(cx: Cx, limit: f32, x: Span<f32, (u32, u32)>, y: SpanMut<f32, (u32, u32)>) {
    let y = y.partition(cx, shape![8, 16]);
    let i = (cx.bid::<0>(), 0);
    let t = x.partition(cx, shape![8, 16]).load_masked(Zero, i);
    tile_assert!(cx, t.lt(limit), "{} is the limit, the greatest is {:.1}", limit, t.max::<ALL>().item());
    y.store_masked(t, i);
}

/// Demands it without a message.
#[kernel(threads = 32, min_blocks = 1)]
pub fn assert_plain(cx: Cx, limit: u32) {
    tile_assert!(cx, cx.num_blocks(0) <= limit);
}
