//! Arguments that are made of others: structs, tuples, arrays and lists, with parts of every size.

use cuda_tiles::prelude::*;

/// `a * x + y`, where everything is in one struct, and elements and numbers have types of several sizes.
#[derive(Parameter)]
pub struct Line<T: Element> {
    /// The result.
    pub z: SpanMut<f32, (u32,)>,
    /// The operands: one with a stride, and one whose length counts in 64 bits.
    pub operands: (Span<T, (u32,), Strided>, Span<f32, (u64,)>),
    /// The numbers.
    pub numbers: Numbers,
}

/// Numbers of all sizes.
#[derive(Parameter)]
pub struct Numbers {
    /// Added.
    pub tiny: u8,
    /// The factor.
    pub half: f16,
    /// Whether `tiny` is added.
    pub adds: bool,
    /// Added.
    pub wide: f64,
    /// Added, three of them.
    pub few: [i16; 3],
}

/// Computes [`Line`].
#[kernel(threads = 64, min_blocks = 1, instances(<f16>, <f32>))]
pub fn line<B: Block, T: Element + Cast<f32>>(cx: Cx<B>, first: u8, line: Line<T>, last: u64) {
    let Line { z, operands: (x, y), numbers } = line;
    let tile = shape![256];
    let (z, x, y) = (z.partition(cx, tile), x.partition(cx, tile), y.partition(cx, tile));
    let [a, b, c] = numbers.few;
    let mut sum = (a + b + c) as f32 + numbers.wide as f32 + f32::from(first) + last as f32;
    if numbers.adds {
        sum += f32::from(numbers.tiny);
    }
    let i = cx.bid::<0>();
    let x = x.load_masked(Zero, i).cast::<f32>();
    z.store_masked(x * numbers.half.to_f32() + y.load_masked(Zero, i) + sum, i);
}

/// A step of gradient descent on many matrices, of which each block of the second grid axis has one.
#[kernel(threads = 64, min_blocks = 1, grid = 2)]
pub fn descend(
    cx: Cx,
    parameters: List<SpanMut<f32, (u32, u32)>, 7>,
    gradients: List<Span<bf16, (u32, u32), Pitched>, 7>,
    rates: List<f32, 7>,
) {
    let tile = shape![8, 32];
    let (parameters, gradients) = (parameters.partition(cx, tile), gradients.partition(cx, tile));
    let k = cx.bid::<1>();
    for j in 0..parameters.num_tiles(*k, 1) {
        let index = (k, cx.bid::<0>(), j);
        let step = gradients.load_masked(Zero, index).cast::<f32>() * rates.get(*k);
        parameters.store_masked(parameters.load_masked(Zero, index) - step, index);
    }
}

/// The sum of the chosen vectors of a list: `chosen` has their numbers.
#[kernel(threads = 32, min_blocks = 1)]
pub fn sum_chosen(
    cx: Cx,
    vectors: List<Span<i32, (u32,)>, 32>,
    chosen: Span<u32, (u32,)>,
    sums: SpanMut<i32, (u32,)>,
) {
    let tile = shape![64];
    let sums = sums.partition(cx, tile);
    let i = cx.bid::<0>();
    let mut sum = cx.zeros::<i32>(tile);
    for k in 0..chosen.extent(0) {
        sum += vectors.get(chosen.item(k)).partition(cx, tile).load_masked(Zero, i);
    }
    sums.store_masked(sum, i);
}
