//! Blocks that go different ways with one writable tensor: what of it is right, and what the CPU refuses.

use cuda_tiles::prelude::*;

/// Each block stores and changes its rows by several forms of an index that name its tiles in one way, and the tiles of a second tensor,
/// whose rows and columns are swapped, in another one.
#[kernel(threads = 32, min_blocks = 1, grid = 2)]
pub fn one_naming(cx: Cx, x: SpanMut<i32, (u32, u32)>, y: SpanMut<i32, (u32, u32)>) {
    let (x, y) = (x.partition(cx, shape![4, 8]), y.transpose::<0, 1>().partition(cx, shape![4, 8]));
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let tile = cx.iota::<i32, _>(shape![4, 8]) + (*i * 1000 + *j * 100) as i32;
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

/// Block 0 takes tiles of 64 elements, the others of 32: block 1 would store into the tile of block 0.
#[kernel(threads = 32, min_blocks = 1)]
pub fn two_shapes(cx: Cx, y: SpanMut<f32, (u32,)>) {
    let i = cx.bid::<0>();
    if *i == 0 {
        y.partition(cx, shape![64]).store_masked(cx.zeros::<f32, _>(shape![64]), i);
    } else {
        y.partition(cx, shape![32]).store_masked(cx.ones::<f32, _>(shape![32]), i);
    }
}

/// Block 0 takes rows, the others columns.
#[kernel(threads = 32, min_blocks = 1)]
pub fn rows_and_columns(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    let i = cx.bid::<0>();
    if *i == 0 {
        y.partition(cx, shape![1, 8]).store_masked(cx.zeros::<f32, _>(shape![1, 8]), (i, 0));
    } else {
        y.transpose::<0, 1>()
            .partition(cx, shape![1, 8])
            .store_masked(cx.ones::<f32, _>(shape![1, 8]), (i, 0));
    }
}

/// All blocks have one shape of tiles, whose index has the block's at another place in block 0.
#[kernel(threads = 32, min_blocks = 1)]
pub fn two_places(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    let i = cx.bid::<0>();
    if *i == 0 {
        y.partition(cx, shape![4, 4]).store_masked(cx.zeros::<f32, _>(shape![4, 4]), (i, 1));
    } else {
        y.partition(cx, shape![4, 4]).store_masked(cx.ones::<f32, _>(shape![4, 4]), (0, i));
    }
}

/// Block 0 starts one element later.
#[kernel(threads = 32, min_blocks = 1)]
pub fn two_starts(cx: Cx, y: SpanMut<f32, (u32,)>) {
    let i = cx.bid::<0>();
    if *i == 0 {
        y.narrow::<0, 1, 63>().partition(cx, shape![32]).store_masked(cx.zeros::<f32, _>(shape![32]), i);
    } else {
        y.narrow::<0, 0, 63>().partition(cx, shape![32]).store_masked(cx.ones::<f32, _>(shape![32]), i);
    }
}

/// Block 0 cuts at steps, the others side by side.
#[kernel(threads = 32, min_blocks = 1)]
pub fn two_walks(cx: Cx, y: SpanMut<f32, (u32,)>) {
    let i = cx.bid::<0>();
    if *i == 0 {
        y.strided(cx, shape![32], steps![40]).store_masked(cx.zeros::<f32, _>(shape![32]), i);
    } else {
        y.partition(cx, shape![32]).store_masked(cx.ones::<f32, _>(shape![32]), i);
    }
}

/// Block 0 has 8 rows of 4, the others 4 rows of 8.
#[kernel(threads = 32, min_blocks = 1)]
pub fn two_extents(cx: Cx, y: SpanMut<f32, (u32,)>) {
    let i = cx.bid::<0>();
    if *i == 0 {
        y.reshape((8_u32, D::<4>))
            .partition(cx, shape![1, 4])
            .store(cx.zeros::<f32, _>(shape![1, 4]), (i, 0));
    } else {
        y.reshape((4_u32, D::<8>)).partition(cx, shape![1, 4]).store(cx.ones::<f32, _>(shape![1, 4]), (i, 0));
    }
}

/// Block 0 deals the tiles out row by row, the others column by column.
#[kernel(threads = 32, min_blocks = 1)]
pub fn two_orders(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    if *cx.bid::<0>() == 0 {
        let tiles = y.partition(cx, shape![4, 4]).deal(cx, RowMajor);
        tiles.tiles().for_each(|tile| tile.store_masked(cx.zeros::<f32, _>(shape![4, 4])));
    } else {
        let tiles = y.partition(cx, shape![4, 4]).deal(cx, Swizzled::<2>);
        tiles.tiles().for_each(|tile| tile.store_masked(cx.ones::<f32, _>(shape![4, 4])));
    }
}
