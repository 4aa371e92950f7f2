//! Products of matrices: every combination of types, shapes that fill tensor cores and shapes that do not, batches, scales, and
//! what is done with sums.

use crate::{Input, Output};
use cuda_tiles::mma::{Multiply, ScaledMultiply};
use cuda_tiles::prelude::*;

/// A matrix that is an operand.
pub type Matrix<T, const M: usize, const N: usize> = Input<T, (D<M>, D<N>)>;
/// A matrix that is a result.
pub type Sums<T, const M: usize, const N: usize> = Output<T, (D<M>, D<N>)>;

/// Kernels that add the product of two tiles to a third.
macro_rules! products {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $m:literal x $k:literal x $n:literal, $instances:tt;)*) => { $(
        /// `a * b + c`.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, instances $instances)]
        pub fn $name<T: MultiplyAccumulate<U, C>, U: Repack, C: Number>(
            cx: Cx,
            a: Matrix<T, $m, $k>,
            b: Matrix<U, $k, $n>,
            c: Matrix<C, $m, $n>,
            sums: Sums<C, $m, $n>,
        ) {
            let sums = sums.partition(cx, shape![$m, $n]);
            let i = cx.bid::<0>();
            let a = a.partition(cx, shape![$m, $k]).load((i, 0));
            let b = b.partition(cx, shape![$k, $n]).load((0, 0));
            let c = c.partition(cx, shape![$m, $n]).load((i, 0));
            sums.store(mma(a, b, c), (i, 0));
        }
    )* };
}
products! {
    product_64_64_32: 128 threads, 4 neighbours, 64 x 64 x 32, (
        <i8, i8, i32>, <i8, u8, i32>, <u8, i8, i32>, <u8, u8, i32>, <f8e4m3, f8e4m3, f16>, <f8e4m3, f8e4m3, f32>,
        <f8e5m2, f8e5m2, f16>, <f8e5m2, f8e5m2, f32>, <f16, f16, f16>, <f16, f16, f32>, <bf16, bf16, f32>,
        <tf32, tf32, f32>, <f32, f32, f32>, <f64, f64, f64>
    );
    // One instruction, or as much as half of one.
    product_16_32_8: 32 threads, 8 neighbours, 16 x 32 x 8, (<i8, u8, i32>, <f8e4m3, f8e4m3, f16>, <f16, f16, f32>);
    product_16_8_8: 32 threads, 1 neighbours, 16 x 8 x 8, (<f16, f16, f16>, <tf32, tf32, f32>, <f64, f64, f64>);
    product_32_4_16: 64 threads, 2 neighbours, 32 x 4 x 16, (<tf32, tf32, f32>, <f64, f64, f64>, <f16, f16, f32>);
    // Too small for tensor cores.
    product_4_2_1: 32 threads, 1 neighbours, 4 x 2 x 1, (<i8, i8, i32>, <f8e5m2, f8e5m2, f16>, <f64, f64, f64>);
    product_1_256_8: 128 threads, 4 neighbours, 1 x 256 x 8, (<f16, f16, f32>, <f32, f32, f32>);
    // Fewer warps than pieces along one side, and warps that hold copies.
    product_256_16_8: 64 threads, 4 neighbours, 256 x 16 x 8, (<f16, f16, f32>);
    product_16_16_256: 256 threads, 8 neighbours, 16 x 16 x 256, (<bf16, bf16, f32>);
    product_16_64_8: 256 threads, 4 neighbours, 16 x 64 x 8, (<i8, i8, i32>, <f64, f64, f64>);
    // Operands larger than the scratch.
    product_128_64_128: 256 threads, 8 neighbours, 128 x 64 x 128, (<f16, f16, f32>, <f8e4m3, f8e4m3, f32>);
    product_64_256_32: 256 threads, 4 neighbours, 64 x 256 x 32, (<f32, f32, f32>, <tf32, tf32, f32>);
    // Warpgroups: operands of either order in shared memory, several blocks of rows, the most columns.
    product_64_32_64: 128 threads, 4 neighbours, 64 x 32 x 64, (
        <i8, i8, i32>, <u8, u8, i32>, <f16, f16, f32>, <bf16, bf16, f32>, <tf32, tf32, f32>
    );
    product_256_32_64: 128 threads, 8 neighbours, 256 x 32 x 64, (<f16, f16, f32>, <i8, i8, i32>);
    product_128_32_256: 256 threads, 2 neighbours, 128 x 32 x 256, (<bf16, bf16, f32>, <tf32, tf32, f32>);
    product_1024_4_8: 256 threads, 4 neighbours, 1024 x 4 x 8, (<tf32, tf32, f32>);
}

/// Kernels whose operands memory holds as their transposes, too.
macro_rules! products_in_place {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $m:literal x $k:literal x $n:literal, $instances:tt;)*) => { $(
        /// `a * b + c`, from each operand and its transpose: `sums_nt` from that of `b`, `sums_tn` from that of `a`.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, instances $instances)]
        pub fn $name<T: MultiplyAccumulate<U, C>, U: Repack, C: Number>(
            cx: Cx,
            a: (Matrix<T, $m, $k>, Matrix<T, $k, $m>),
            b: (Matrix<U, $k, $n>, Matrix<U, $n, $k>),
            c: Matrix<C, $m, $n>,
            sums_nt: Sums<C, $m, $n>,
            sums_tn: Sums<C, $m, $n>,
            sums_tt: Sums<C, $m, $n>,
        ) {
            let [sums_nt, sums_tn, sums_tt] =
                [sums_nt, sums_tn, sums_tt].map(|sums| sums.partition(cx, shape![$m, $n]));
            let i = cx.bid::<0>();
            let ((a, a_transpose), (b, b_transpose)) = (a, b);
            let a = a.partition(cx, shape![$m, $k]).load((i, 0));
            let b = b.partition(cx, shape![$k, $n]).load((0, 0));
            let a_in_place = a_transpose.partition(cx, shape![$k, $m]).load((0, i)).transposed_in_place::<0, 1>();
            let b_in_place = b_transpose.partition(cx, shape![$n, $k]).load((0, 0)).transposed_in_place::<0, 1>();
            let c = c.partition(cx, shape![$m, $n]).load((i, 0));
            sums_nt.store(mma(a, b_in_place, c), (i, 0));
            sums_tn.store(mma(a_in_place, b, c), (i, 0));
            sums_tt.store(mma(a_in_place, b_in_place, c), (i, 0));
        }
    )* };
}
products_in_place! {
    // Warpgroups, which transpose no element of 32 or 8 bits; rows of 32 and of 128 bytes; operands larger than the scratch.
    in_place_64_64_64: 128 threads, 8 neighbours, 64 x 64 x 64, (
        <i8, u8, i32>, <f8e4m3, f8e4m3, f32>, <f16, f16, f16>, <f16, f16, f32>, <bf16, bf16, f32>, <tf32, tf32, f32>, <f32, f32, f32>, <f64, f64, f64>
    );
    in_place_64_16_32: 128 threads, 8 neighbours, 64 x 16 x 32, (<f16, f16, f32>);
    in_place_256_128_64: 256 threads, 4 neighbours, 256 x 128 x 64, (<bf16, bf16, f32>);
    // Warps, of which some hold copies; threads with more and with fewer neighbours than 16 bytes have.
    in_place_16_64_64: 128 threads, 8 neighbours, 16 x 64 x 64, (
        <i8, i8, i32>, <f16, f16, f32>, <bf16, bf16, f32>, <tf32, tf32, f32>, <f64, f64, f64>
    );
    in_place_32_32_32: 64 threads, 2 neighbours, 32 x 32 x 32, (<f16, f16, f32>, <f64, f64, f64>);
    in_place_16_8_8: 32 threads, 1 neighbours, 16 x 8 x 8, (<f16, f16, f16>, <tf32, tf32, f32>);
    // Too small for tensor cores.
    in_place_4_2_8: 32 threads, 4 neighbours, 4 x 2 x 8, (<f16, f16, f32>);
}

/// `a * b + c` for each matrix of a batch, where `transposes` are those of `b`; `b` and one; and the sums with those of the columns of `b`.
#[kernel(threads = 128, min_blocks = 1, instances(<f16>, <bf16>))]
pub fn batch_in_place<T: MultiplyAccumulate<T, f32> + Number + Cast<f32>>(
    cx: Cx,
    a: Input<T, (D<2>, D<16>, D<32>)>,
    transposes: Input<T, (D<2>, D<16>, D<32>)>,
    c: Input<f32, (D<2>, D<16>, D<16>)>,
    sums: Output<f32, (D<2>, D<16>, D<16>)>,
    more: Output<T, (D<2>, D<32>, D<16>)>,
    with_columns: Output<f32, (D<2>, D<16>, D<16>)>,
) {
    let sums = sums.partition(cx, shape![2, 16, 16]);
    let with_columns = with_columns.partition(cx, shape![2, 16, 16]);
    let more = more.partition(cx, shape![2, 32, 16]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![2, 16, 32]).load((i, 0, 0));
    let transposes = transposes.partition(cx, shape![2, 16, 32]).load((i, 0, 0));
    let b = transposes.transposed_in_place::<1, 2>();
    let c = c.partition(cx, shape![2, 16, 16]).load((i, 0, 0));
    let product = mma(a, b, c);
    sums.store(product, (i, 0, 0));
    more.store(b + cx.ones::<T>(shape![2, 32, 16]), (i, 0, 0));
    with_columns.store(product + b.cast::<f32>().sum::<1>(), (i, 0, 0));
}

/// Kernels whose operand A stays in registers for two products.
macro_rules! held_products {
    ($($name:ident: $threads:tt threads, $m:literal x $k:literal x $n:literal, $instances:tt;)*) => { $(
        /// `a * b + c`, by two products of half the columns.
        #[kernel(threads = $threads, min_blocks = 1, instances $instances)]
        pub fn $name<T: MultiplyAccumulate<U, C> + Multiply<T>, U: Repack, C: Number>(
            cx: Cx,
            a: Matrix<T, $m, $k>,
            b: Input<U, (D<$k>, u32)>,
            c: Input<C, (D<$m>, u32)>,
            sums: Output<C, (D<$m>, u32)>,
        ) {
            let sums = sums.partition(cx, shape![$m, $n]);
            let i = cx.bid::<0>();
            let a = a.partition(cx, shape![$m, $k]).load((i, 0)).as_operand_a::<$n>();
            let (b, c) = (b.partition(cx, shape![$k, $n]), c.partition(cx, shape![$m, $n]));
            for j in 0..b.num_tiles(1) {
                sums.store(mma(a, b.load((0, j)), c.load((i, j))), (i, j));
            }
        }
    )* };
}
held_products! {
    held_64_64_32: 128 threads, 64 x 64 x 32, (
        <i8, i8, i32>, <u8, i8, i32>, <f8e4m3, f8e4m3, f32>, <f16, f16, f16>, <f16, f16, f32>, <bf16, bf16, f32>, <tf32, tf32, f32>
    );
    // Two warpgroups; two pieces of rows for each; operands larger than the scratch.
    held_128_64_64: 256 threads, 128 x 64 x 64, (<f16, f16, f32>, <i8, i8, i32>);
    held_256_32_16: 128 threads, 256 x 32 x 16, (<bf16, bf16, f32>, <tf32, tf32, f32>);
    held_64_128_64: 128 threads, 64 x 128 x 64, (<f16, f16, f32>);
    // Warps that hold copies, half of an instruction, and no tensor cores.
    held_16_64_8: 128 threads, 16 x 64 x 8, (<i8, i8, i32>, <f32, f32, f32>, <f64, f64, f64>);
    held_16_8_8: 32 threads, 16 x 8 x 8, (<f16, f16, f16>, <tf32, tf32, f32>);
    held_4_2_4: 32 threads, 4 x 2 x 4, (<f16, f16, f32>);
}

/// `(a b) c`, where the first product is operand A of the second one, for each matrix of a batch.
#[kernel(threads = 128, min_blocks = 1, instances(<f16>, <bf16>))]
pub fn product_of_a_product<T: MultiplyAccumulate<T, f32> + Multiply<T> + Cast<f32>>(
    cx: Cx,
    a: Input<T, (D<2>, D<64>, D<16>)>,
    b: Matrix<T, 16, 64>,
    c: Matrix<T, 64, 32>,
    sums: Output<f32, (D<2>, D<64>, D<32>)>,
) where
    f32: Cast<T>,
{
    let sums = sums.partition(cx, shape![2, 64, 32]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![2, 64, 16]).load((i, 0, 0));
    let b = b.partition(cx, shape![16, 64]).load((0, 0)).expand_dims::<0>();
    let c = c.partition(cx, shape![64, 32]).load((0, 0)).expand_dims::<0>();
    let product = mma(a, b, cx.accumulators::<f32>(shape![2, 64, 64])).cast::<T>();
    sums.store(mma(product, c, cx.accumulators::<f32>(shape![2, 64, 32])), (i, 0, 0));
}

/// Kernels with a batch of each operand.
macro_rules! batches {
    ($($name:ident: $p:literal and $q:literal in $o:literal, $m:literal x $k:literal x $n:literal, $instances:tt;)*) => { $(
        /// `a * b + c` for each matrix of a batch.
        #[kernel(threads = 128, min_blocks = 1, instances $instances)]
        pub fn $name<T: MultiplyAccumulate<T, f32>>(
            cx: Cx,
            a: Input<T, (D<$p>, D<$m>, D<$k>)>,
            b: Input<T, (D<$q>, D<$k>, D<$n>)>,
            c: Input<f32, (D<$o>, D<$m>, D<$n>)>,
            sums: Output<f32, (D<$o>, D<$m>, D<$n>)>,
        ) {
            let sums = sums.partition(cx, shape![$o, $m, $n]);
            let i = cx.bid::<0>();
            let a = a.partition(cx, shape![$p, $m, $k]).load((i, 0, 0));
            let b = b.partition(cx, shape![$q, $k, $n]).load((0, 0, 0));
            let c = c.partition(cx, shape![$o, $m, $n]).load((i, 0, 0));
            sums.store(mma(a, b, c), (i, 0, 0));
        }
    )* };
}
batches! {
    batch_of_both: 4 and 4 in 4, 16 x 16 x 32, (<f16>, <f32>);
    batches_of_warpgroups: 1 and 2 in 2, 64 x 32 x 64, (<f16>);
    batch_of_the_left: 4 and 1 in 4, 32 x 16 x 16, (<bf16>);
    batch_of_the_right: 1 and 2 in 2, 8 x 8 x 4, (<f32>);
    batch_of_the_sums: 1 and 1 in 2, 16 x 16 x 8, (<f16>);
}

/// A loop over `k` of any length, and after it, in the rows of `rows` and `columns`, largest sums and sums of sums; and the
/// sums times a column plus a row as `f16`.
#[kernel(threads = 128, min_blocks = 1, grid = 2, instances(<f16>, <tf32>))]
pub fn product_with_epilogue<T: MultiplyAccumulate<T, f32>>(
    cx: Cx,
    a: Span<T, (u32, u32)>,
    b: Span<T, (u32, u32)>,
    scale: Span<f32, (u32, D<1>)>,
    bias: Span<f32, (D<1>, u32)>,
    rows: SpanMut<f32, (D<2>, u32, u32)>,
    columns: SpanMut<f32, (u32, u32)>,
    results: SpanMut<f16, (u32, u32)>,
) {
    let rows = rows.partition(cx, shape![1, 64, 1]);
    let columns = columns.partition(cx, shape![1, 64]);
    let results = results.partition(cx, shape![64, 64]);
    let (row, column) = (cx.bid::<0>(), cx.bid::<1>());
    let (a, b) = (a.partition(cx, shape![64, 32]), b.partition(cx, shape![32, 64]));
    let mut sums = cx.accumulators::<f32>(shape![64, 64]);
    for k in 0..a.num_tiles(1) {
        sums = mma(a.load_masked(Zero, (row, k)), b.load_masked(Zero, (k, column)), sums);
    }
    rows.store_masked(sums.max::<1>().expand_dims::<0>(), (0, row, column));
    rows.store_masked(sums.sum::<1>().expand_dims::<0>(), (1, row, column));
    columns.store_masked(sums.sum::<0>(), (row, column));
    let scale = scale.partition(cx, shape![64, 1]).load_masked(Zero, (row, 0));
    let bias = bias.partition(cx, shape![1, 64]).load_masked(Zero, (0, column));
    results.store_masked((sums * scale + bias).cast::<f16>(), (row, column));
}

/// The product of a matrix that is stored by columns, and what reshapes make of sums.
#[kernel(threads = 64, min_blocks = 1)]
pub fn transposed_product(
    cx: Cx,
    a: Matrix<f16, 32, 16>,
    b: Matrix<f16, 32, 32>,
    sums: Sums<f16, 16, 32>,
    reshaped: Sums<f16, 64, 8>,
    split: Output<f16, (D<2>, D<16>, D<16>)>,
) {
    let sums = sums.partition(cx, shape![16, 32]);
    let reshaped = reshaped.partition(cx, shape![64, 8]);
    let split = split.partition(cx, shape![2, 16, 16]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![32, 16]).load((0, i)).transpose::<0, 1>();
    let b = b.partition(cx, shape![32, 32]).load((0, i));
    let product = matmul(a, b);
    sums.store(product, (0, i));
    reshaped.store(product.reshape(shape![64, 8]), (i, 0));
    split.store(product.reshape(shape![2, 16, 16]), (i, 0, 0));
}

/// Kernels that multiply in blocks with scales.
macro_rules! scaled {
    ($($name:ident: $m:literal x $k:literal x $n:literal, $blocks:literal blocks, $instances:tt;)*) => { $(
        /// `a * b + c` with scales.
        #[kernel(threads = 128, min_blocks = 1, instances $instances)]
        pub fn $name<T: ScaledMultiply<X> + Cast<T>, X: Cast<f32>>(
            cx: Cx,
            a: Matrix<T, $m, $k>,
            a_scale: Matrix<X, $m, $blocks>,
            b: Matrix<T, $k, $n>,
            b_scale: Matrix<X, $blocks, $n>,
            c: Matrix<f32, $m, $n>,
            sums: Sums<f32, $m, $n>,
        ) {
            let sums = sums.partition(cx, shape![$m, $n]);
            let i = cx.bid::<0>();
            let a = a.partition(cx, shape![$m, $k]).load((i, 0));
            let a_scale = a_scale.partition(cx, shape![$m, $blocks]).load((i, 0));
            let b = b.partition(cx, shape![$k, $n]).load((0, 0));
            let b_scale = b_scale.partition(cx, shape![$blocks, $n]).load((0, 0));
            let c = c.partition(cx, shape![$m, $n]).load((i, 0));
            sums.store(scaled_mma(a, a_scale, b, b_scale, c), (i, 0));
        }
    )* };
}
scaled! {
    scaled_by_32: 64 x 64 x 32, 2 blocks, (<f8e4m3, f8e8m0>, <f8e5m2, f8e8m0>);
    small_scaled_by_32: 8 x 32 x 16, 1 blocks, (<f8e4m3, f8e8m0>);
}

/// `a * b + c` of FP4, in blocks of 16 with a scale each, as it lies in memory.
#[kernel(threads = 128, min_blocks = 1, instances(<f8e8m0>, <f8e4m3>, <f8ue5m3>))]
pub fn scaled_by_16<X: Cast<f32>>(
    cx: Cx,
    a: Matrix<f4e2m1x2, 32, 32>,
    a_scale: Matrix<X, 32, 4>,
    b: Matrix<f4e2m1x2, 64, 16>,
    b_scale: Matrix<X, 4, 32>,
    c: Matrix<f32, 32, 32>,
    sums: Sums<f32, 32, 32>,
) where
    f4e2m1: ScaledMultiply<X>,
{
    let sums = sums.partition(cx, shape![32, 32]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![32, 32]).load((i, 0)).unpack();
    let a_scale = a_scale.partition(cx, shape![32, 4]).load((i, 0));
    let b = b.partition(cx, shape![64, 16]).load((0, 0)).unpack();
    let b_scale = b_scale.partition(cx, shape![4, 32]).load((0, 0));
    let c = c.partition(cx, shape![32, 32]).load((i, 0));
    sums.store(scaled_mma(a, a_scale, b, b_scale, c), (i, 0));
}
