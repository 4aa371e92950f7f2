//! Filters of images, with overlapping tiles.
//!
//! An image is a tensor of planes, rows and columns. The filtered image is smaller by the filter's reach on every side. So the caller
//! gives the original a border (the example `picture` repeats the outermost pixels). For each tap of the filter a kernel loads a window of
//! the original, one element further each time. Neighbouring windows come from the cache.

use cuda_tiles::prelude::*;

/// Rows and columns of a block's tile.
pub const TILE: [usize; 2] = [16, 64];

/// The number of elements that [`blur_rows`] and [`blur_columns`] read on each side of an element, along their axis.
pub const BLUR_REACH: usize = 4;
/// The number of elements that [`sobel`] reads on every side of an element.
pub const SOBEL_REACH: usize = 1;
/// The number of elements that [`median`] reads on every side of an element.
pub const MEDIAN_REACH: usize = 2;

/// The binomial coefficients of 8. Their sum is 256, and they are nearly a Gaussian of standard deviation 1.4.
const WEIGHTS: [f32; 2 * BLUR_REACH + 1] = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0, 1.0];

/// The first pass of a blur: each element becomes a weighted mean of its row's elements around it.
#[kernel(threads = 256, grid = 3)]
pub fn blur_rows(cx: Cx, x: Span<u8, (u32, u32, u32)>, y: SpanMut<f32, (u32, u32, u32)>) {
    let y = y.partition(cx, shape![1, 16, 64]);
    let (plane, i, j) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    let x = x.window(cx, shape![1, 16, 64]);
    let mut sum = cx.zeros::<f32>(shape![1, 16, 64]);
    for (tap, weight) in (0..).zip(WEIGHTS) {
        sum += x.load_masked(Zero, (*plane, i * 16, j * 64 + tap)).cast::<f32>() * weight;
    }
    y.store_masked(sum / 256.0, (plane, i, j));
}

/// The second pass of a blur: each element becomes a weighted mean of its column's elements around it.
#[kernel(threads = 256, grid = 3)]
pub fn blur_columns(cx: Cx, x: Span<f32, (u32, u32, u32)>, y: SpanMut<u8, (u32, u32, u32)>) {
    let y = y.partition(cx, shape![1, 16, 64]);
    let (plane, i, j) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    let x = x.window(cx, shape![1, 16, 64]);
    let mut sum = cx.zeros::<f32>(shape![1, 16, 64]);
    for (tap, weight) in (0..).zip(WEIGHTS) {
        sum += x.load_masked(Zero, (*plane, i * 16 + tap, j * 64)) * weight;
    }
    y.store_masked((sum / 256.0 + 0.5).cast::<u8>(), (plane, i, j));
}

/// The magnitude of the gradient, by Sobel's two masks of 3 x 3.
#[kernel(threads = 256, grid = 3)]
pub fn sobel(cx: Cx, x: Span<u8, (u32, u32, u32)>, y: SpanMut<u8, (u32, u32, u32)>) {
    let y = y.partition(cx, shape![1, 16, 64]);
    let (plane, i, j) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    let x = x.window(cx, shape![1, 16, 64]);
    let at =
        |row: u32, column: u32| x.load_masked(Zero, (*plane, i * 16 + row, j * 64 + column)).cast::<f32>();
    let across = at(0, 2) + at(1, 2) * 2.0 + at(2, 2) - at(0, 0) - at(1, 0) * 2.0 - at(2, 0);
    let down = at(2, 0) + at(2, 1) * 2.0 + at(2, 2) - at(0, 0) - at(0, 1) * 2.0 - at(0, 2);
    let magnitude = (across * across + down * down).sqrt();
    y.store_masked((magnitude + 0.5).cast::<u8>(), (plane, i, j));
}

/// Sorts pairs of tiles element by element, one pair after the other.
macro_rules! sort_pairs {
    ($tiles:ident: $($low:literal $high:literal),*) => { $(
        ($tiles[$low], $tiles[$high]) = ($tiles[$low].minimum($tiles[$high]), $tiles[$low].maximum($tiles[$high]));
    )* };
}

/// The median of the 25 elements around each element, which removes specks and keeps edges.
///
/// The network of 99 exchanges comes from N. Devillard, "Fast median search: an ANSI C implementation" (1998).
#[kernel(threads = 256, grid = 3)]
pub fn median(cx: Cx, x: Span<u8, (u32, u32, u32)>, y: SpanMut<u8, (u32, u32, u32)>) {
    let y = y.partition(cx, shape![1, 16, 64]);
    let (plane, i, j) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    let x = x.window(cx, shape![1, 16, 64]);
    let at = |tap: u32| x.load_masked(Zero, (*plane, i * 16 + tap / 5, j * 64 + tap % 5));
    let mut t = [
        at(0),
        at(1),
        at(2),
        at(3),
        at(4),
        at(5),
        at(6),
        at(7),
        at(8),
        at(9),
        at(10),
        at(11),
        at(12),
        at(13),
        at(14),
        at(15),
        at(16),
        at(17),
        at(18),
        at(19),
        at(20),
        at(21),
        at(22),
        at(23),
        at(24),
    ];
    sort_pairs!(t: 0 1, 3 4, 2 4, 2 3, 6 7, 5 7, 5 6, 9 10, 8 10, 8 9, 12 13, 11 13, 11 12, 15 16, 14 16, 14 15,
        18 19, 17 19, 17 18, 21 22, 20 22, 20 21, 23 24, 2 5, 3 6, 0 6, 0 3, 4 7, 1 7, 1 4, 11 14, 8 14, 8 11,
        12 15, 9 15, 9 12, 13 16, 10 16, 10 13, 20 23, 17 23, 17 20, 21 24, 18 24, 18 21, 19 22, 8 17, 9 18,
        0 18, 0 9, 10 19, 1 19, 1 10, 11 20, 2 20, 2 11, 12 21, 3 21, 3 12, 13 22, 4 22, 4 13, 14 23, 5 23,
        5 14, 15 24, 6 24, 6 15, 7 16, 7 19, 13 21, 15 23, 7 13, 7 15, 1 9, 3 11, 5 17, 11 17, 9 17, 4 10,
        6 12, 7 14, 4 6, 4 7, 12 14, 10 14, 6 7, 10 12, 6 10, 6 17, 12 17, 7 17, 7 10, 12 18, 7 12, 10 18,
        12 20, 10 20, 10 12);
    y.store_masked(t[12], (plane, i, j));
}
