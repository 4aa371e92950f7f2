//! Parts of spans, spans with their axes in another order, padded mappings, facts.

use cuda_tiles::prelude::*;
use cuda_tiles::span::{Exclusive, Mapping, ReadOnly};

/// Transposes `x` by a transposed load into `loaded`, and by a transposed store into `stored`.
#[kernel(
    threads = 128, min_blocks = 1,
    grid = 2,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn transposed<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32)>,
    loaded: SpanMut<T, (u32, u32)>,
    stored: SpanMut<T, (u32, u32)>,
) {
    let loaded = loaded.partition(cx, shape![16, 32]);
    let stored = stored.permute(OrderF).partition(cx, shape![32, 16]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let tile = x.transpose::<0, 1>().partition(cx, shape![16, 32]).load_masked(Zero, (j, i));
    loaded.store_masked(tile, (j, i));
    let tile = x.partition(cx, shape![32, 16]).load_masked(Zero, (i, j));
    stored.store_masked(tile, (i, j));
}

/// Transposes a matrix whose tiles are whole.
#[kernel(threads = 256, min_blocks = 1, grid = 2, instances(<f16>, <f32>))]
pub fn transposed_whole<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (Mult<u32, 64>, Mult<u32, 64>)>,
    y: SpanMut<T, (Mult<u32, 64>, Mult<u32, 64>)>,
) {
    let y = y.partition(cx, shape![64, 64]);
    let index = (cx.bid::<0>(), cx.bid::<1>());
    let x = x.permute(axes![1, 0]).partition(cx, shape![64, 64]);
    y.store(x.load(index), index);
}

/// Permutes three axes cyclically, by the load and by the store, which together permute them the other way.
#[kernel(threads = 64, min_blocks = 1, grid = 3, instances(<u8>, <f16>, <f32>, <i64>))]
pub fn permuted_3<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32, u32)>,
    y: SpanMut<T, (u32, u32, u32)>,
    z: SpanMut<T, (u32, u32, u32)>,
) {
    let y = y.partition(cx, shape![8, 2, 4]);
    let z = z.permute(axes![1, 2, 0]).partition(cx, shape![8, 2, 4]);
    let index = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    let tile = x.permute(axes![2, 0, 1]).partition(cx, shape![8, 2, 4]).load_masked(Zero, index);
    y.store_masked(tile, index);
    z.store_masked(tile, index);
}

/// Swaps the outer and the inner two axes of a tensor of rank 4.
#[kernel(threads = 128, min_blocks = 1, vector = 8, grid = 2, instances(<i16>, <f32>))]
pub fn permuted_4<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Span<T, (u32, u32, u32, u32)>,
    y: SpanMut<T, (u32, u32, u32, u32)>,
) {
    let x = x.permute(axes![2, 3, 0, 1]).partition(cx, shape![2, 16, 2, 8]);
    let y = y.partition(cx, shape![2, 16, 2, 8]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    for k in 0..x.num_tiles(2) {
        for l in 0..x.num_tiles(3) {
            y.store_masked(x.load_masked(Zero, (i, j, k, l)), (i, j, k, l));
        }
    }
}

/// Copies between padded and pitched mappings.
#[kernel(
    threads = 64, min_blocks = 1,
    grid = 2,
    instances(
        <f32, PaddedRight<8>, PaddedLeft<4>>, <f32, PaddedLeft<8>, PaddedRight<16>>, <f16, PaddedRight<3>, Pitched<8>>,
        <u8, Pitched<8>, PitchedLeft>, <f64, PitchedLeft, PaddedRight<5>>
    )
)]
pub fn copy_padded<T, M, O>(
    cx: Cx,
    x: TensorSpan<T, (u32, u32), ReadOnly, M>,
    y: TensorSpan<T, (u32, u32), Exclusive, O>,
) where
    T: Promote<T, Output = T>,
    M: Mapping,
    O: Mapping,
{
    let (x, y) = (x.partition(cx, shape![8, 32]), y.partition(cx, shape![8, 32]));
    let index = (cx.bid::<0>(), cx.bid::<1>());
    y.store_masked(x.load_masked(Zero, index), index);
}

/// The sum of a span of any mapping: a helper that takes parts of tensors.
fn sum_of<B: Block, M: Mapping>(cx: Cx<B>, x: TensorSpan<i32, (u32, u32), ReadOnly, M>) -> i32 {
    let x = x.partition(cx, shape![4, 16]);
    let mut sum = cx.zeros::<i32>(shape![4, 16]);
    for i in 0..x.num_tiles(0) {
        for j in 0..x.num_tiles(1) {
            sum += x.load_masked(Zero, (i, j));
        }
    }
    sum.sum::<ALL>().item()
}

/// Sums of parts of `x`: a slice of rows, of columns, of both, the halves at row `at`, the rows of a reshaped span, a
/// single row and a single column with an axis put in, a transposed slice; and lengths.
#[kernel(threads = 64, min_blocks = 1)]
pub fn sums_of_parts(
    cx: Cx,
    x: Span<i32, (u32, u32)>,
    cube: Span<i32, (D<3>, u32, D<6>), Left>,
    sums: SpanMut<i32, (u32, D<16>)>,
    at: u32,
    to: u32,
) {
    let (low, high) = x.split_at::<0>(at);
    let cell = cube.index::<1>(at).index::<0>(2).insert_axis::<0>().slice::<0>(..).slice::<1>(1..4);
    let sums = sums.partition(cx, shape![1, 1]);
    let i = cx.bid::<0>();
    let mut k = 0_u32;
    let mut take = |sum: i32| {
        sums.store(cx.full(shape![1, 1], sum), (i, k));
        k += 1;
    };
    take(sum_of(cx, x.slice::<0>(at..to)));
    take(sum_of(cx, x.slice::<1>(at..to)));
    take(sum_of(cx, x.slice::<0>(at..).slice::<1>(..=to)));
    take(sum_of(cx, low));
    take(sum_of(cx, high));
    take(sum_of(cx, x.reshape((x.extent(1), x.extent(0))).slice::<1>(at..to)));
    take(sum_of(cx, x.index::<0>(at).insert_axis::<1>().slice::<1>(..)));
    take(sum_of(cx, x.index::<1>(at).insert_axis::<0>().slice::<0>(..)));
    take(sum_of(cx, x.transpose::<0, 1>().slice::<1>(at..to)));
    take(sum_of(cx, cube.slice::<0>(1..).index::<2>(5)));
    take(sum_of(cx, cell.slice::<1>(..)));
    take(x.slice::<0>(at..at).is_empty() as i32);
    take(x.slice::<1>(at..to).size() as i32);
    take(x.extents_equal(&x.transpose::<0, 1>()) as i32);
    take(x.strides_equal(&x.slice::<0>(at..)) as i32);
    take(low.extents().0 as i32);
}

/// Fills parts of `y` with numbers: the rows and columns between static bounds, and what a slice and a half leave.
#[kernel(threads = 32, min_blocks = 1)]
pub fn fill_parts(cx: Cx, y: SpanMut<i32, (u32, u32)>, at: u32) {
    // SAFETY: every block splits at the argument `at`.
    let (low, high) = unsafe { y.split_at::<0>(at) };
    let low = low.narrow::<0, 1, 2>().narrow::<1, 3, 9>().partition(cx, shape![1, 16]);
    // SAFETY: every block takes the same slice.
    let high = unsafe { high.slice::<1>(at..) }.partition(cx, shape![1, 8]);
    let i = cx.bid::<0>();
    low.store_masked(cx.full(shape![1, 16], 1), (i, 0));
    for j in 0..high.num_tiles(1) {
        high.store_masked(cx.full(shape![1, 8], 2), (i, j));
    }
}

/// `y = x * factor + shift`, where the types say what is known of the numbers.
#[kernel(threads = 32, min_blocks = 1)]
pub fn with_facts(
    cx: Cx,
    x: Span<i32, (Bounded<u32, 1, 4096>,), Right, Aligned<16>>,
    y: SpanMut<i32, (Bounded<u32, 1, 4096>,)>,
    factor: Divisible<i32, 16>,
    shift: Bounded<i64, -8, 8>,
) {
    let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
    let i = cx.bid::<0>();
    y.store_masked(x.load_masked(Zero, i) * (*factor / 16) + *shift as i32, i);
}
