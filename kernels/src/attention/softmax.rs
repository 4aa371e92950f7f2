//! The online softmax: the softmax of rows of scores that arrive block by block.
//!
//! Two numbers for each row are enough (M. Milakov and N. Gimelshein, "Online normalizer calculation for softmax", 2018): the
//! maximum `m` of its scores and the sum `l` of their weights. A new block of scores `S` gives
//!
//! ```text
//! m' = max(m, rowmax(S))
//! P  = exp(S - m')            the weights of the block
//! f  = exp(m - m')            the factor that replaces m by m' in earlier weights
//! l' = f l + rowsum(P)
//! ```
//!
//! Values that the weights multiply are summed alike: `O' = f O + P V`. After the last block `O / l` is `softmax(S) V` over all
//! blocks (T. Dao, D. Y. Fu, S. Ermon, A. Rudra, C. Ré, "FlashAttention: Fast and Memory-Efficient Exact Attention with
//! IO-Awareness", 2022). The result is exact: `m` cancels out, whichever number it is. It only keeps `exp` within the range of
//! floats.
//!
//! GPUs compute powers of two. Scores are therefore multiplied by a scale that includes log2 e, and `exp` is `exp2`.

use cuda_tiles::prelude::*;

/// [`OnlineSoftmax::update_lazily`] lets a weight grow to this power of two before it takes a new maximum.
const SLACK: f32 = 8.0;
/// 1 / log2 e.
const LN_2: f32 = core::f32::consts::LN_2;
/// A finite number below all maxima: rows without a visible key begin with it. With -∞ the difference of two maxima would be NaN.
const LOWEST: f32 = -1e30;

/// The scores of a block of queries and a block of keys, or their weights.
type Scores<B, const ROWS: usize, const KEYS: usize> = Tile<f32, Shape2<ROWS, KEYS>, Accumulators<B>>;
/// A number for each row of scores.
type Rows<B, const ROWS: usize, const KEYS: usize> = Reduced<f32, Shape2<ROWS, KEYS>, Accumulators<B>, 1>;

/// The state of the softmax of `ROWS` rows between two blocks of scores. The module has the formulas.
pub(super) struct OnlineSoftmax<B: Block, const ROWS: usize, const KEYS: usize>
where
    D<ROWS>: Dimension,
    D<KEYS>: Dimension,
{
    /// `m`, of scaled scores.
    maximum: Rows<B, ROWS, KEYS>,
    /// `l`.
    sum: PartialSum<f32, Shape2<ROWS, KEYS>, Accumulators<B>, 1>,
    scale: f32,
}

impl<B: Block, const ROWS: usize, const KEYS: usize> OnlineSoftmax<B, ROWS, KEYS>
where
    D<ROWS>: Dimension,
    D<KEYS>: Dimension,
{
    /// The state before the first block: `m` is below all scores, and `l` is zero.
    #[inline_on_device]
    pub(super) fn empty(cx: Cx<B>, scale: f32) -> Self {
        let sum = cx.zero_accumulator::<f32>(shape![ROWS, KEYS]).finish().partial_sum::<1>();
        Self { maximum: sum.finish() + LOWEST, sum, scale }
    }

    /// The state after the first block, and the weights of this block: `m = rowmax(S)`, `P = exp(S - m)`, `l = rowsum(P)`.
    #[inline_on_device]
    pub(super) fn first(scores: Scores<B, ROWS, KEYS>, scale: f32) -> (Self, Scores<B, ROWS, KEYS>) {
        let maximum = scores.max::<1>().maximum(LOWEST) * scale;
        let weights = scores.fma(scale, -maximum).exp2_with(FlushToZero);
        (Self { maximum, sum: weights.partial_sum::<1>(), scale }, weights)
    }

    /// `rowmax(S)`, the part of an update that precedes all others. It does not change the state.
    #[inline_on_device]
    pub(super) fn row_maximum(&self, scores: Scores<B, ROWS, KEYS>) -> Rows<B, ROWS, KEYS> {
        scores.max::<1>() * self.scale
    }

    /// Adds a block of scores, whose [`row_maximum`](Self::row_maximum) is `highest`. Returns its weights `P`, and the factor `f`
    /// for earlier sums.
    #[inline_on_device]
    pub(super) fn update(
        &mut self,
        scores: Scores<B, ROWS, KEYS>,
        highest: Rows<B, ROWS, KEYS>,
    ) -> (Scores<B, ROWS, KEYS>, Rows<B, ROWS, KEYS>) {
        self.replace_maximum(scores, self.maximum.maximum(highest))
    }

    /// [`update`](Self::update), in which most factors are 1, so that most steps need not rescale earlier sums:
    /// `m' = rowmax(S)` where this exceeds `m` by more than [`SLACK`], else `m' = m`.
    ///
    /// Weights then grow up to `2^SLACK`, for which floats have room. This is the conditional rescaling of FlashAttention-4
    /// (T. Zadouri, M. Hoehnerbach, J. Shah, T. Liu, V. Thakkar, T. Dao, 2026).
    #[inline_on_device]
    pub(super) fn update_lazily(
        &mut self,
        scores: Scores<B, ROWS, KEYS>,
        highest: Rows<B, ROWS, KEYS>,
    ) -> (Scores<B, ROWS, KEYS>, Rows<B, ROWS, KEYS>) {
        let next = highest.gt(self.maximum + SLACK).select(highest, self.maximum);
        self.replace_maximum(scores, next)
    }

    /// The update with `next` as `m'`.
    #[inline_on_device]
    fn replace_maximum(
        &mut self,
        scores: Scores<B, ROWS, KEYS>,
        next: Rows<B, ROWS, KEYS>,
    ) -> (Scores<B, ROWS, KEYS>, Rows<B, ROWS, KEYS>) {
        let factor = (self.maximum - next).exp2_with(FlushToZero);
        let weights = scores.fma(self.scale, -next).exp2_with(FlushToZero);
        self.sum = self.sum * factor + weights.partial_sum::<1>();
        self.maximum = next;
        (weights, factor)
    }

    /// `m ln 2 + log(l)`: the logarithm of each row's sum of exponentials, without the factor log2 e of the scale.
    #[inline_on_device]
    pub(super) fn logarithms(&self) -> Rows<B, ROWS, KEYS> {
        (self.maximum + self.sum.finish().log2()) * LN_2
    }

    /// `O / l`: the output of all blocks.
    #[inline_on_device]
    pub(super) fn finish<const HEAD: usize>(
        self,
        output: Tile<f32, Shape2<ROWS, HEAD>, Accumulators<B>>,
    ) -> Tile<f32, Shape2<ROWS, HEAD>, Accumulators<B>>
    where
        D<HEAD>: Dimension,
    {
        output * self.sum.finish().reciprocal()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = 8;
    const BLOCKS: usize = 6;

    /// The scores of a row, from far below to far above those of the first block. In a row of the first block all are hidden.
    fn score(row: usize, column: usize, block: usize) -> f32 {
        if row == 0 && block == 0 {
            return f32::NEG_INFINITY;
        }
        let growth = [0.0, 1.5, 7.0, 30.0, -20.0, 300.0, -0.5, 0.0][row];
        growth * block as f32 + ((row * 5 + column * 3 + block * 7) % 11) as f32 * 0.25
    }

    /// Compares sums of `(block + 1) * weight` over all blocks, divided by the sum of all weights of the row, with sums in `f64`.
    fn check(lazy: bool) {
        let scale = 0.75;
        cuda_tiles::cpu::block(|cx| {
            let scores = |block| {
                let (row, column) =
                    (cx.coordinate::<0>(shape![SIDE, SIDE]), cx.coordinate::<1>(shape![SIDE, SIDE]));
                let scores = (row * SIDE as u32 + column)
                    .map(move |at| score(at as usize / SIDE, at as usize % SIDE, block));
                Accumulator::from_tile(scores).finish()
            };
            let (mut softmax, weights) = OnlineSoftmax::<_, SIDE, SIDE>::first(scores(0), scale);
            let mut output = weights;
            for block in 1..BLOCKS {
                let scores = scores(block);
                let highest = softmax.row_maximum(scores);
                let (weights, factor) = if lazy {
                    softmax.update_lazily(scores, highest)
                } else {
                    softmax.update(scores, highest)
                };
                output = output * factor + weights * (block + 1) as f32;
            }
            let output = softmax.finish(output);
            for (row, column) in (0..SIDE * SIDE).map(|at| (at / SIDE, at % SIDE)) {
                let scaled = |column, block| f64::from(score(row, column, block) * scale);
                let all = || (0..SIDE * BLOCKS).map(|at| scaled(at / BLOCKS, at % BLOCKS));
                let highest = all().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = all().map(|x| (x - highest).exp2()).sum();
                let expected: f64 =
                    (0..BLOCKS).map(|j| (j + 1) as f64 * (scaled(column, j) - highest).exp2() / sum).sum();
                let found = f64::from(output.at([row as u32, column as u32]));
                assert!((found - expected).abs() < 1e-5, "{row}, {column}: {found} instead of {expected}");
            }
        });
    }

    #[test]
    fn updates_give_the_softmax_of_all_blocks() {
        check(false);
    }

    #[test]
    fn lazy_updates_give_the_softmax_of_all_blocks() {
        check(true);
    }
}
