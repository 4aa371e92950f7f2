//! Elements by their indices and by pointers: gather, scatter, masks and paddings.

use cuda_tiles::prelude::*;
use scope::{Block, Device, System};

/// The elements of `x` at the rows `i` and columns `j`, 16 by 8 of them, by one block.
///
/// `results`: all, zero outside; padded with `padding` where `i` is odd; padded with the column's number as far as that
/// converts, by a mask of one element for each column; those of row 1; those of row 1 loaded atomically; without checks,
/// where they lie inside; those of row 1 in odd columns loaded atomically, `padding` elsewhere. `stored` and `shared` get the
/// first result at the same places, then `padding` where `i` is odd.
#[kernel(
    threads = 64, min_blocks = 1,
    vector = 2,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn gather_scatter<T: Promote<T, Output = T>>(
    cx: Cx,
    padding: T,
    i: Span<i32, (u32,)>,
    j: Span<i32, (u32,)>,
    x: Span<T, (u32, u32)>,
    stored: SpanMut<T, (u32, u32)>,
    shared: SpanAtomic<T, (u32, u32)>,
    results: SpanMut<T, (D<7>, D<16>, D<8>)>,
) where
    i32: Cast<T>,
{
    let results = results.partition(cx, shape![1, 16, 8]);
    let own = cx.bid::<0>();
    let i = i.partition(cx, shape![16]).load(0).expand_dims::<1>();
    let j = j.partition(cx, shape![8]).load(0);
    let odd = (i & 1).ne(0);
    let all = x.gather((i, j));
    results.store(all, (0, own, 0));
    results.store(x.gather_masked(padding, (i, j), !odd), (1, own, 0));
    results.store(x.gather_masked(j.cast::<T>(), (i, j), j.gt(2)), (2, own, 0));
    results.store(x.gather((1, j)), (3, own, 0));
    shared.atomic_scatter(all, (i, j), Relaxed, Device);
    results.store(shared.atomic_gather((1, j), Acquire, System), (4, own, 0));
    let of_odd_columns = shared.atomic_gather_masked(padding, (1, j), (j & 1).ne(0), Relaxed, Device);
    results.store(of_odd_columns, (6, own, 0));
    shared.atomic_scatter_masked(padding, (i, j), odd, Release, System);
    let inside = i.ge(0) & i.lt(x.extent(0) as i32) & j.ge(0) & j.lt(x.extent(1) as i32);
    // SAFETY: the test gives different rows and columns, and launches one block; the mask says what lies inside.
    unsafe {
        results.store(x.gather_masked_unchecked(padding, (i, j), inside), (5, own, 0));
        stored.scatter_masked(all, (i, j), !odd);
        stored.scatter_masked_unchecked(padding, (i, j), odd & inside);
    }
}

/// Reverses vectors: by a bare tile of indices, without checks, and through a pointer; `order` gets how pointers compare.
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 4,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn reverse<T: Promote<T, Output = T>>(
    cx: Cx,
    padding: T,
    x: Span<T, (u32,)>,
    indexed: SpanMut<T, (u32,)>,
    pointed: SpanMut<T, (u32,)>,
    shared: SpanAtomic<T, (u32,)>,
    order: SpanMut<i64, (D<3>, u32)>,
) {
    let order = order.partition(cx, shape![1, 64]);
    let own = cx.bid::<0>();
    let k = cx.iota::<i64>(shape![64]) + i64::from(*own) * 64;
    let last = i64::from(x.extent(0)) - 1;
    let inside = k.le(last);
    let mirrored = last - k;
    let from = cx.full(shape![64], x.pointer()).offset(mirrored);
    let to = cx.full(shape![64], pointed.pointer()).offset(k);
    let shared = cx.full(shape![1, 64], shared.pointer()).offset(k);
    // SAFETY: each block has its own elements; those of `k` and of `mirrored` lie inside where `inside` is true.
    unsafe {
        indexed.scatter(x.gather(mirrored), k);
        to.store_masked(from.load_masked(padding, inside), inside);
        shared.atomic_store_masked(to.load_masked(padding, inside), inside, Release, Device);
        let again = shared.atomic_load_masked(padding, inside, Acquire, Block);
        shared.atomic_store_masked(again, inside, Relaxed, System);
        if *own + 1 < cx.num_blocks(0) {
            indexed.scatter_unchecked(x.gather_unchecked(mirrored), k);
            to.store(from.load());
            shared.atomic_store(shared.atomic_load(Relaxed, Device), Relaxed, Device);
        }
    }
    order.store_masked(from.offset_from(x.pointer()), (0, own));
    order.store_masked(from.eq(x.pointer()).cast::<i64>(), (1, own));
    order.store_masked(from.bitcast::<u64>().gt(x.pointer().address()).cast::<i64>(), (2, own));
}

/// Elements of tensors of rank 3 and 4 at indices that broadcast together, some of them numbers.
#[kernel(threads = 128, min_blocks = 1, vector = 1, instances(<u16>, <f32>, <i64>))]
pub fn gather_ranks<T: Promote<T, Output = T>>(
    cx: Cx,
    step: i32,
    x: Span<T, (u32, u32, u32)>,
    y: Span<T, (u32, u32, u32, u32)>,
    results: SpanMut<T, (D<3>, D<4>, D<2>, D<8>)>,
) {
    let results = results.partition(cx, shape![1, 4, 2, 8]);
    let own = cx.bid::<0>();
    let a = cx.iota::<i32>(shape![4, 1, 1]) * step - 1;
    let b = cx.iota::<i8>(shape![2, 1]);
    let c = cx.iota::<u64>(shape![8]);
    results.store(x.gather((a, b, c)), (0, own, 0, 0));
    results.store(y.gather((a, 2, b, c)), (1, own, 0, 0));
    results.store(y.gather((c, b, a, c)), (2, own, 0, 0));
}
