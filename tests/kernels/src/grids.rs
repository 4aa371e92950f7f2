//! Loops over more tiles than blocks, and launches that overlap.

use cuda_tiles::prelude::*;

/// Persistent kernels that number the tiles of a tensor in tile order. Each block stores its tiles, then loads and stores them
/// again.
macro_rules! scheduled {
    ($($name:ident: $order:expr, $extents:ty, $tile:expr;)*) => { $(
        /// Adds the block's number times 1000 and the turn of its loop to each element.
        #[kernel(threads = 32, min_blocks = 1, vector = 1)]
        pub fn $name(cx: Cx, y: SpanMut<u32, $extents>) {
            let y = y.partition(cx, $tile).schedule(cx, $order);
            for (turn, tile) in y.tiles().enumerate() {
                tile.store_masked(cx.full($tile, *cx.bid::<0>() * 1000 + turn as u32));
            }
            for tile in y.tiles() {
                tile.store_masked(tile.load_masked(Zero) + 1_000_000);
            }
        }
    )* };
}
scheduled! {
    schedule_rows: RowMajor, (u32, u32), shape![2, 4];
    schedule_columns: ColumnMajor, (u32, u32), shape![2, 4];
    schedule_groups: Grouped::<2>, (u32, u32), shape![2, 4];
    schedule_line: Grouped::<2>, (u32,), shape![8];
    schedule_batches: Grouped::<2>, (u32, u32, u32), shape![1, 2, 4];
}

/// Writes the tiles' own indices: a transposed copy of a tensor of tiles by plain numbers.
#[kernel(threads = 32, min_blocks = 1, vector = 1)]
pub fn transpose_scheduled(cx: Cx, x: Span<f32, (u32, u32)>, y: SpanMut<f32, (u32, u32)>) {
    let x = x.partition(cx, shape![1, 16]);
    let y = y.partition(cx, shape![16, 1]);
    let counts = [y.num_tiles(0), y.num_tiles(1)];
    let y = y.schedule(cx, Grouped::<4>);
    // The indices of a scheduled tile, and the same indices as plain numbers.
    for (tile, [i, _]) in y.tiles().zip(cx.indices(Grouped::<4>, counts)) {
        let row = x.load_masked(Zero, (tile.axis::<1>(), i));
        tile.store_masked(row.reshape(shape![16, 1]));
    }
}

/// Copies tile by tile: a scheduled tile is the index of the other view.
#[kernel(threads = 64, min_blocks = 1)]
pub fn copy_scheduled(cx: Cx, x: Span<f32, (u32, u32)>, y: SpanMut<f32, (u32, u32)>) {
    let x = x.partition(cx, shape![4, 16]);
    let y = y.partition(cx, shape![4, 16]).schedule(cx, ColumnMajor);
    for tile in y.tiles() {
        tile.store_masked(x.load_masked(Zero, &tile));
    }
}

/// Sums what a loop in steps counts.
#[kernel(threads = 32, min_blocks = 1)]
pub fn sum_steps(cx: Cx, first: i32, end: i32, step: i32, y: SpanMut<i64, (u32, D<2>)>) {
    let (mut sum, mut count) = (0i64, 0i64);
    for number in steps(first..end, step) {
        sum += i64::from(number);
        count += 1;
    }
    let y = y.partition(cx, shape![1, 1]);
    y.store(cx.scalar(sum), (cx.bid::<0>(), 0));
    y.store(cx.scalar(count), (cx.bid::<0>(), 1));
}

/// Doubles and adds 1, and lets the next one start early, which waits by itself.
#[kernel(threads = 64, min_blocks = 1, dependent)]
pub fn dependent_step(cx: Cx, x: SpanMut<u32, (u32,)>) {
    cx.launch_dependents();
    let x = x.partition(cx, shape![64]);
    // From the other end, so that blocks of one launch meet what other blocks of the last one have written.
    let i = cx.bid::<0>();
    x.store_masked(x.load_masked(Zero, i) * 2 + 1, i);
}

/// The same from another block's tile: `y` from `x` in reverse order of tiles.
///
/// # Safety
/// None beyond a safe kernel's: it waits before it touches memory.
#[kernel(threads = 64, min_blocks = 1, dependent = early)]
pub unsafe fn dependent_copy(cx: Cx, x: Span<u32, (u32,)>, y: SpanMut<u32, (u32,)>) {
    let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
    let i = cx.bid::<0>();
    let from = cx.num_blocks(0) - 1 - i;
    cx.wait_for_dependencies();
    y.store_masked(x.load_masked(Zero, from) + 1, i);
    cx.launch_dependents();
}
