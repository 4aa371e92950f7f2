//! Cross-entropy of rows of logits and a label for each, and its gradient.
//!
//! With `l = log(sum(exp(x)))` of a row, its loss is `l - x[label]`, and the gradient of that `exp(x - l)`, less one at the label. Rows whose
//! label is `ignored` have the loss 0 and the gradient 0. A label that is neither that nor a column has the loss NaN and the gradient NaN:
//! a kernel cannot refuse it, and to trap would end the use of the GPU by the whole process.

use cuda_tiles::prelude::*;

use super::exponentials::exponentials;
use super::{Anywhere, InVectors, Placement, Rows};

/// The losses, and `l` of each row, because the gradient needs it. Each block takes a row, in tiles of `N` columns, which are `G` groups of `W`
/// threads' vectors of `V`.
#[kernel(
    threads = 512,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 8192, 4, 512, 4>,
        <f32, Anywhere, 8192, 4, 512, 4>,
        <f16, InVectors, 16384, 4, 512, 8> with(vector = 8),
        <f16, Anywhere, 16384, 4, 512, 8> with(vector = 8),
        <bf16, InVectors, 16384, 4, 512, 8> with(vector = 8),
        <bf16, Anywhere, 16384, 4, 512, 8> with(vector = 8),
    )
)]
pub fn cross_entropy_losses<
    B: Block,
    T: Float + Cast<f32>,
    P: Placement,
    const N: usize,
    const G: usize,
    const W: usize,
    const V: usize,
>(
    cx: Cx<B>,
    logits: Rows<T, P>,
    labels: Span<i64, (u32,)>,
    ignored: i64,
    losses: SpanMut<f32, (u32,)>,
    logarithms: SpanMut<f32, (u32,)>,
) where
    D<N>: Dimension,
    D<G>: Dimension,
    D<W>: Dimension,
    D<V>: Dimension,
{
    let (losses, logarithms) = (losses.partition(cx, shape![1]), logarithms.partition(cx, shape![1]));
    let row = cx.bid::<0>();
    let label = labels.partition(cx, shape![1]).load(row);
    let chosen = logits.gather_masked(T::NAN, (*row, label), true).cast::<f32>();
    let (maximum, sum) = exponentials::<B, T, P, N, G, W, V>(logits.partition(cx, shape![1, N]), *row);
    let logarithm = cx.full(shape![1], sum).log() + maximum;
    losses.store(label.eq(ignored).select(0.0, logarithm - chosen), row);
    logarithms.store(logarithm, row);
}

/// The gradient of the logits: that of [`cross_entropy_losses`], times `factors` of the rows. Each block takes a tile of a row.
#[kernel(threads = 256, min_blocks = 4, grid = 2, instances(<f32>, <f16>, <bf16>))]
pub fn cross_entropy_gradient<B: Block, T: Float + Cast<f32>>(
    cx: Cx<B>,
    logits: Span<T, (u32, u32)>,
    labels: Span<i64, (u32,)>,
    ignored: i64,
    logarithms: Span<f32, (u32,)>,
    factors: Span<f32, (u32,)>,
    gradient: SpanMut<T, (u32, u32)>,
) where
    f32: Cast<T>,
{
    let length = logits.extent(1);
    let (logits, gradient) = (logits.partition(cx, shape![1, 4096]), gradient.partition(cx, shape![1, 4096]));
    let (row, column) = (cx.bid::<0>(), cx.bid::<1>());
    let tile = logits.load_masked(NegativeInfinity, (row, column)).cast::<f32>();
    let row_of = Row::of(*row, labels, ignored, logarithms, factors);
    gradient.store_masked(row_of.gradient(cx, tile, *column, length).cast::<T>(), (row, column));
}

/// [`cross_entropy_gradient`] in place of the logits.
#[kernel(threads = 256, min_blocks = 4, grid = 2, instances(<f32>, <f16>, <bf16>))]
pub fn cross_entropy_gradient_in_place<B: Block, T: Float + Cast<f32>>(
    cx: Cx<B>,
    logits: SpanMut<T, (u32, u32)>,
    labels: Span<i64, (u32,)>,
    ignored: i64,
    logarithms: Span<f32, (u32,)>,
    factors: Span<f32, (u32,)>,
) where
    f32: Cast<T>,
{
    let length = logits.extent(1);
    let logits = logits.partition(cx, shape![1, 4096]);
    let (row, column) = (cx.bid::<0>(), cx.bid::<1>());
    let tile = logits.load_masked(NegativeInfinity, (row, column)).cast::<f32>();
    let row_of = Row::of(*row, labels, ignored, logarithms, factors);
    logits.store_masked(row_of.gradient(cx, tile, *column, length).cast::<T>(), (row, column));
}

/// What is known of a row when its gradient is computed.
struct Row {
    label: i64,
    ignored: i64,
    logarithm: f32,
    factor: f32,
}

impl Row {
    #[inline_on_device]
    fn of(
        row: u32,
        labels: Span<i64, (u32,)>,
        ignored: i64,
        logarithms: Span<f32, (u32,)>,
        factors: Span<f32, (u32,)>,
    ) -> Self {
        Self { label: labels.item(row), ignored, logarithm: logarithms.item(row), factor: factors.item(row) }
    }

    /// The gradient of tile `column` of the row, of `length` logits.
    #[inline_on_device]
    fn gradient<B: Block>(
        self,
        cx: Cx<B>,
        tile: Tile<f32, Shape2<1, 4096>, Blocked<B>>,
        column: u32,
        length: u32,
    ) -> Tile<f32, Shape2<1, 4096>, Blocked<B>> {
        if self.label == self.ignored {
            return cx.zeros(shape![1, 4096]);
        }
        let is_column = 0 <= self.label && self.label < i64::from(length);
        let factor = if is_column { self.factor } else { f32::NAN };
        // Within this tile, if it is there.
        let label = (self.label as u32).wrapping_sub(column * 4096);
        let weights = (tile - self.logarithm).exp_approximate();
        weights.coordinates::<1>().eq(label).select(weights - 1.0, weights) * factor
    }
}
