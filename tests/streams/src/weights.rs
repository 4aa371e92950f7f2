//! Products with weights of four bits and activations of sixteen: W4A16.
//!
//! A group is [`GROUP`] neighbours along a row of the weights, which have one scale. A byte has weight `k` of its group in its low half and
//! weight `k + GROUP / 2` in its high half: both halves of a tile of pairs are operands where they are, and nothing is unpacked.

use cuda_tiles::mma::SharedMma;
use cuda_tiles::prelude::*;

/// Weights of a group.
pub const GROUP: usize = 128;

/// Half a group of activations of 16 rows.
type Activations<T> = SharedTile<T, Shape2<16, { GROUP / 2 }>>;
/// A group of 64 rows of weights.
type Weights = SharedTile<i4x2, Shape2<64, { GROUP / 2 }>>;

/// Weights as integers, and their scales: the largest magnitude of a group becomes 7.
#[kernel(threads = 128, grid = 2, min_blocks = 1, instances(<f16>, <bf16>))]
pub fn quantised<T>(
    cx: Cx,
    weights: Span<T, (u32, u32)>,
    integers: SpanMut<i4x2, (u32, u32)>,
    scales: SpanMut<T, (u32, u32)>,
) where
    T: Cast<f32> + Promote<T, Output = T>,
    f32: Cast<T>,
{
    let weights = weights.partition(cx, shape![16, GROUP / 2]);
    let integers = integers.partition(cx, shape![16, GROUP / 2]);
    let scales = scales.partition(cx, shape![16, 1]);
    let (i, group) = (cx.bid::<0>(), cx.bid::<1>());
    let halves = [0, 1].map(|half| weights.load_masked(Zero, (i, 2 * *group + half)).cast::<f32>());
    let scale = (halves[0].abs().max::<1>().maximum(halves[1].abs().max::<1>()) / 7.0).cast::<T>();
    let divisor = scale.cast::<f32>();
    let [low, high] =
        halves.map(|half| divisor.eq(0.0).select(half, half / divisor).round_even().cast::<i4>());
    integers.store_masked(low.pair_with(high), (i, group));
    scales.store_masked(scale, (i, group));
}

/// `y = x w'`: `x` has a row for each token, `integers` and `scales` one for each output. A block computes 64 outputs of 16 tokens, as
/// `w x'`: the integers become operand A in the registers that they are loaded to. Sums of a group are exact but for the rounding of the
/// accumulators, and then scaled.
#[kernel(threads = 128, grid = 2, min_blocks = 1, instances(<f16>, <bf16>))]
pub fn product_with_integers<T>(
    cx: Cx,
    x: Span<T, (u32, u32)>,
    integers: Span<i4x2, (u32, u32)>,
    scales: Span<T, (u32, u32)>,
    y: SpanMut<T, (u32, u32)>,
    #[shared] mut ring: Ring<(Weights, Activations<T>, Activations<T>), 4>,
) where
    T: SharedMma<T, f32> + Cast<f32> + Promote<T, Output = T>,
    f32: Cast<T>,
    i4: Cast<T>,
{
    let y = y.partition(cx, shape![16, 64]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let x = x.partition(cx, shape![16, GROUP / 2]);
    let integers = integers.partition(cx, shape![64, GROUP / 2]);
    let scales = scales.partition(cx, shape![64, 1]);
    let mut sums = cx.accumulators::<f32>(shape![64, 16]);
    let groups = integers.num_tiles(1);
    // Of a loop that runs once at least, the assembler knows that all products are done behind it.
    if groups > 0 {
        let mut group = 0;
        // The scales of a group are loaded while the group before is multiplied.
        let mut next = scales.load_masked(Zero, (j, 0));
        let tiles = ring
            .copy_ahead(cx, groups, |k| (integers.tile((j, k)), x.tile((i, 2 * k)), x.tile((i, 2 * k + 1))));
        tiles.for_each(|(integers, x_low, x_high)| {
            let scale = next.cast::<f32>();
            group += 1;
            next = scales.load_masked(Zero, (j, group));
            let pairs = integers.load_operand_a(cx);
            let mut products = cx.zero_accumulator::<f32>(shape![64, 16]);
            products.mma(pairs.low().cast::<T>(), x_low.transposed());
            products.mma(pairs.high().cast::<T>(), x_high.transposed());
            sums += products.finish() * scale;
        });
    }
    y.store_masked(sums.transpose::<0, 1>().cast::<T>(), (i, j));
}
