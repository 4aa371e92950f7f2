//! Maxima and sums of exponentials of rows that are longer than a tile.

use cuda_tiles::prelude::*;

use super::{PerRow, Tiles};

/// The maximum `m` of each row, and the sum of `exp(x - m)` over the row, in one pass: M. Milakov and N. Gimelshein, "Online normalizer
/// calculation for softmax", 2018. Sums for an earlier maximum are scaled to the next one.
///
/// The maximum is at least the lowest finite number, so that a tile that is -∞ throughout adds nothing. The maximum of a tile is one for a
/// row and not one for each element, which would take a second exponential for each: the special-function units would bound the pass.
#[inline(always)]
pub(super) fn exponentials<B: Block, T: Float + Cast<f32>, const R: usize, const N: usize>(
    x: Tiles<T, B, R, N>,
    row: u32,
) -> (PerRow<B, R, N>, PerRow<B, R, N>)
where
    D<R>: Dimension,
    D<N>: Dimension,
{
    let tile = x.load_masked(NegativeInfinity, (row, 0)).cast::<f32>();
    let mut maximum = tile.max::<1>().maximum(f32::MIN);
    let mut sums = (tile - maximum).exp_approximate();
    for column in 1..x.num_tiles(1) {
        let tile = x.load_masked(NegativeInfinity, (row, column)).cast::<f32>();
        let next = tile.max::<1>().maximum(maximum);
        sums = sums * (maximum - next).exp_approximate() + (tile - next).exp_approximate();
        maximum = next;
    }
    (maximum, sums.sum::<1>())
}
