//! Maxima and sums of exponentials of rows that are longer than a tile.

use cuda_tiles::prelude::*;

use super::{Placement, Rows};

/// The maximum `m` of a row, and the sum of `exp(x - m)` over the row, in one pass: M. Milakov and N. Gimelshein, "Online normalizer
/// calculation for softmax", 2018. Sums for an earlier maximum are scaled to the next one.
///
/// A tile is `G` groups of `W` threads' vectors of `V` elements. Each of the `W` threads has a maximum and a sum of its own, so that
/// threads exchange nothing before the end of the row. The maximum of a thread is one for its part of a tile and not one for each element,
/// which would take a second exponential for each: the special-function units would bound the pass.
///
/// A maximum is at least the lowest finite number, so that a part that is -∞ throughout adds nothing.
#[inline_on_device]
pub(super) fn exponentials<
    B: Block,
    T: Float + Cast<f32>,
    P: Placement,
    const N: usize,
    const G: usize,
    const W: usize,
    const V: usize,
>(
    x: PartitionView<Rows<T, P>, Shape2<1, N>, B>,
    row: u32,
) -> (f32, f32)
where
    D<N>: Dimension,
    D<G>: Dimension,
    D<W>: Dimension,
    D<V>: Dimension,
{
    let load = |column| x.load_masked(NegativeInfinity, (row, column)).cast::<f32>().reshape(shape![G, W, V]);
    let tile = load(0);
    let mut maxima = tile.max::<2>().max::<0>().maximum(f32::MIN);
    let mut sums = (tile - maxima).exp_approximate().sum::<2>().sum::<0>();
    for column in 1..x.num_tiles(1) {
        let tile = load(column);
        let next = tile.max::<2>().max::<0>().maximum(maxima);
        let own = (tile - next).exp_approximate().sum::<2>().sum::<0>();
        sums = sums * (maxima - next).exp_approximate() + own;
        maxima = next;
    }
    let maximum = maxima.max::<1>();
    let sum = (sums * (maxima - maximum).exp_approximate()).sum::<1>();
    (maximum.reshape(shape![]).item(), sum.reshape(shape![]).item())
}
