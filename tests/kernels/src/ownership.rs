//! Blocks that go different ways with one writable tensor, as they may once it is cut.

use cuda_tiles::prelude::*;

/// Each block stores and changes its rows by several forms of an index that name its tiles in one way, and the tiles of a second tensor,
/// whose rows and columns are swapped, in another one.
#[kernel(threads = 32, min_blocks = 1, grid = 2)]
pub fn one_naming(cx: Cx, x: SpanMut<i32, (u32, u32)>, y: SpanMut<i32, (u32, u32)>) {
    let (x, y) = (x.partition(cx, shape![4, 8]), y.transpose::<0, 1>().partition(cx, shape![4, 8]));
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let tile = cx.iota::<i32>(shape![4, 8]) + (*i * 1000 + *j * 100) as i32;
    if *i < *j {
        x.store_masked(tile, (i, j));
    } else {
        x.store_masked(tile + 1, (i, j));
    }
    x.atomic_add_masked(x.load_masked(Zero, (i, j)), (i, j), Relaxed, scope::Block);
    y.store_masked(tile, (j, i));
}

/// A block with an odd index names tiles by another type of number than an even one, which is the same naming.
#[kernel(threads = 32, min_blocks = 1)]
pub fn one_naming_of_integers(cx: Cx, x: SpanMut<i32, (u32, u32)>) {
    let x = x.partition(cx, shape![1, 4]);
    let i = cx.bid::<0>();
    if i.is_multiple_of(2) {
        x.store(cx.full(shape![1, 4], 2 * *i as i32), (i, 0_u64));
    } else {
        x.store(cx.full(shape![1, 4], 3 * *i as i32), (i, 0_i32));
    }
}
