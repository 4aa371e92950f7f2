//! Rows by their numbers: gathered tiles of every rank, axis, element type, index type, mapping and extent.

use cuda_tiles::prelude::*;
use cuda_tiles::span::{Exclusive, Extents, Mapping, ReadOnly};
use scope::{Device, System};

/// Rows of a table by their numbers, 4 a block: an embedding. The rows are whole vectors.
#[kernel(threads = 128, min_blocks = 1, vector = 8, instances(<u8, i32>, <f16, i32>, <f32, u64>, <f64, i16>))]
pub fn embedding<T: Promote<T, Output = T>, I: Integer + Cast<u64>>(
    cx: Cx,
    table: crate::Input<T, (u32, D<1024>)>,
    rows: crate::Input<I, (Mult<u32, 4>,)>,
    y: crate::Output<T, (Mult<u32, 4>, D<1024>)>,
) {
    let y = y.partition(cx, shape![4, 1024]);
    let i = cx.bid::<0>();
    let rows = rows.partition(cx, shape![4]).load(i);
    let tile = table.gather_scatter_view(cx, shape![4, 1024]).load((rows, 0));
    y.store(tile, (i, 0));
}

/// 8 rows of `x` from column `start` on, and 16 columns from row `start` on, outside elements zero. By one block.
///
/// `results`: rows, columns; the same of `shared`, atomically, relaxed and acquired. The rows go to the same rows of
/// `stored` by plain stores and to `shared` by atomic ones, where they add nothing new: its rows are those of `x`.
#[kernel(
    threads = 64, min_blocks = 1,
    vector = 4,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn gather_rows<T: Promote<T, Output = T>>(
    cx: Cx,
    start: i32,
    rows: Span<i32, (u32,)>,
    columns: Span<i64, (u32,)>,
    x: Span<T, (u32, u32)>,
    shared: SpanAtomic<T, (u32, u32)>,
    stored: SpanMut<T, (u32, u32)>,
    results: SpanMut<T, (D<4>, D<8>, D<16>)>,
) {
    let results = results.partition(cx, shape![1, 8, 16]);
    let own = cx.bid::<0>();
    let rows = rows.partition(cx, shape![8]).load(0);
    let columns = columns.partition(cx, shape![16]).load(0);
    let x = x.gather_scatter_view(cx, shape![8, 16]);
    let shared = shared.gather_scatter_view(cx, shape![8, 16]);
    let stored = stored.gather_scatter_view(cx, shape![8, 16]);
    let tile = x.load_masked(Zero, (rows, start));
    results.store(tile, (0, own, 0));
    results.store(x.load_masked(Zero, (start, columns)), (1, own, 0));
    shared.atomic_store_masked(tile, (rows, start), Relaxed, Device);
    results.store(shared.atomic_load_masked(Zero, (rows, start), Relaxed, Device), (2, own, 0));
    shared.atomic_store_masked(tile, (rows, start), Release, System);
    results.store(shared.atomic_load_masked(Zero, (start, columns), Acquire, System), (3, own, 0));
    // SAFETY: the test gives 8 different rows, and launches one block.
    unsafe { stored.store_masked(tile, (rows, start)) }
}

/// What lies wholly inside: 4 rows of 32 columns by every checked and unchecked access, from `x` to three other tensors.
#[kernel(threads = 32, min_blocks = 1, vector = 8, instances(<u8>, <f16>, <i32>, <f64>))]
pub fn whole_rows<T: Promote<T, Output = T>>(
    cx: Cx,
    start: u32,
    rows: Span<u16, (u32,)>,
    x: Span<T, (u32, u32)>,
    checked: SpanMut<T, (u32, u32)>,
    unchecked: SpanMut<T, (u32, u32)>,
    shared: SpanAtomic<T, (u32, u32)>,
) {
    let index = (rows.partition(cx, shape![4]).load(cx.bid::<0>()), start);
    let x = x.gather_scatter_view(cx, shape![4, 32]);
    let checked = checked.gather_scatter_view(cx, shape![4, 32]);
    let unchecked = unchecked.gather_scatter_view(cx, shape![4, 32]);
    let shared = shared.gather_scatter_view(cx, shape![4, 32]);
    // SAFETY: the test gives every row to one block, and once; the checked accesses show that all lie inside.
    unsafe {
        checked.store(x.load(index), index);
        unchecked.store_unchecked(checked.load_unchecked(index), index);
        shared.atomic_store(unchecked.load_unchecked(index), index, Relaxed, Device);
        checked.store(shared.atomic_load(index, Acquire, Device), index);
    }
}

/// Gathers along each axis of a tensor of rank 3 the slices `step * k - 1`, from element 1 on along the others.
#[kernel(threads = 32, min_blocks = 1, vector = 2, instances(<u8>, <f32>, <i64>))]
pub fn gather_rank_3<T: Promote<T, Output = T>>(
    cx: Cx,
    step: i32,
    x: Span<T, (u32, u32, u32)>,
    results: SpanMut<T, (D<3>, D<64>)>,
) {
    let results = results.partition(cx, shape![1, 64]);
    let own = cx.bid::<0>();
    let x = x.gather_scatter_view(cx, shape![2, 4, 8]);
    let first = cx.iota::<i32>(shape![2]) * step - 1;
    let second = cx.iota::<i32>(shape![4]) * step - 1;
    let third = cx.iota::<i32>(shape![8]) * step - 1;
    results.store(x.load_masked(Zero, (first, 1, 1)).reshape(shape![64]), (0, own));
    results.store(x.load_masked(Zero, (1, second, 1)).reshape(shape![64]), (1, own));
    results.store(x.load_masked(Zero, (1, 1, third)).reshape(shape![64]), (2, own));
}

/// The same of a tensor of rank 4.
#[kernel(threads = 128, min_blocks = 1, vector = 4, instances(<u8>, <f32>, <i64>))]
pub fn gather_rank_4<T: Promote<T, Output = T>>(
    cx: Cx,
    step: i32,
    x: Span<T, (u32, u32, u32, u32)>,
    results: SpanMut<T, (D<4>, D<512>)>,
) {
    let results = results.partition(cx, shape![1, 512]);
    let own = cx.bid::<0>();
    let x = x.gather_scatter_view(cx, shape![2, 4, 8, 8]);
    let first = cx.iota::<i32>(shape![2]) * step - 1;
    let second = cx.iota::<i32>(shape![4]) * step - 1;
    let inner = cx.iota::<i32>(shape![8]) * step - 1;
    results.store(x.load_masked(Zero, (first, 1, 1, 1)).reshape(shape![512]), (0, own));
    results.store(x.load_masked(Zero, (1, second, 1, 1)).reshape(shape![512]), (1, own));
    results.store(x.load_masked(Zero, (1, 1, inner, 1)).reshape(shape![512]), (2, own));
    results.store(x.load_masked(Zero, (1, 1, 1, inner)).reshape(shape![512]), (3, own));
}

/// 32 rows of 4 by indices of type `I`, padded with NaN: as a gathered tile, and element by element.
#[kernel(threads = 64, min_blocks = 1, vector = 4, instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>))]
pub fn index_types<I: Integer + Cast<u64>>(
    cx: Cx,
    rows: Span<I, (D<32>,)>,
    x: Span<f32, (u32, D<4>)>,
    results: SpanMut<f32, (D<2>, D<32>, D<4>)>,
) {
    let results = results.partition(cx, shape![1, 32, 4]);
    let own = cx.bid::<0>();
    let rows = rows.partition(cx, shape![32]).load(0);
    results.store(x.gather_scatter_view(cx, shape![32, 4]).load_masked(Nan, (rows, 0)), (0, own, 0));
    let columns = cx.iota::<u8>(shape![4]);
    results.store(x.gather_masked(f32::NAN, (rows.expand_dims::<1>(), columns), true), (1, own, 0));
}

/// Copies 8 rows from column `start` on between tensors of any mapping and extents, masked.
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 8,
    instances(
        <(u32, u32), Right>, <(u32, u32), Left>, <(u32, u32), Pitched>, <(u32, u32), Strided>, <(u64, u64), Right>,
        <(u32, Mult<u32, 8>), Right>, <(u32, Mult<u32, 8>), Pitched>, <(D<37>, D<48>), Right>
    )
)]
pub fn gather_mapped<E, M>(
    cx: Cx,
    start: u32,
    rows: Span<i32, (u32,)>,
    x: TensorSpan<f16, E, ReadOnly, M>,
    y: TensorSpan<f16, E, Exclusive, M>,
) where
    E: Extents<Rank = shape::Rank<2>>,
    M: Mapping,
{
    let index = (rows.partition(cx, shape![8]).load(0), start);
    let tile = x.gather_scatter_view(cx, shape![8, 32]).load_masked(Zero, index);
    // SAFETY: the test gives 8 different rows, and launches one block.
    unsafe { y.gather_scatter_view(cx, shape![8, 32]).store_masked(tile, index) }
}

/// cuTile's example: columns 2 to 5 of the rows 0 to 3.
#[kernel(threads = 32, min_blocks = 1)]
pub fn documented_example(cx: Cx, x: Span<i32, (D<4>, D<8>)>, y: SpanMut<i32, (u32, D<4>)>) {
    let rows = cx.iota::<i32>(shape![4]);
    let tile = x.gather_scatter_view(cx, shape![4, 4]).load((rows, 2));
    y.partition(cx, shape![4, 4]).store(tile, (cx.bid::<0>(), 0));
}
