//! Integers of four bits: conversions from and to them, pairs in memory and ragged edges of them, and what they are for, a product with
//! weights of few bits.

use crate::arithmetic::TILE;
use crate::{Operand, Row, Rows};
use cuda_tiles::element::{Classify, Pair};
use cuda_tiles::prelude::*;

/// `x` cast to the integers of four bits, in pairs.
#[kernel(
    threads = 64, min_blocks = 1,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>, <tf32>, <f8e4m3>,
        <f8e5m2>, <f8e8m0>, <f8ue5m3>
    )
)]
pub fn to_four_bits<T: Cast<i4> + Cast<u4>>(cx: Cx, x: Operand<T>, signed: Row<i4x2>, unsigned: Row<u4x2>) {
    let signed = signed.partition(cx, shape![TILE / 2]);
    let unsigned = unsigned.partition(cx, shape![TILE / 2]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load(i);
    signed.store(x.cast::<i4>().pack(), i);
    unsigned.store(x.cast::<u4>().pack(), i);
}

/// The numbers of pairs cast to other types, and what they are: rows of `bytes` are `i8`, `u8` and e4m3, those of `tests` as bool, whether
/// NaN and whether equal to itself, those of `pairs` the numbers packed again, and paired in place.
#[kernel(threads = 64, min_blocks = 1, vector = 8, instances(<i4x2>, <u4x2>))]
pub fn from_four_bits<P>(
    cx: Cx,
    x: Operand<P>,
    singles: Row<f32>,
    doubles: Row<f64>,
    halves: Row<f16>,
    brains: Row<bf16>,
    words: Row<i32>,
    bytes: Rows<u8, 3>,
    tests: Rows<bool, 3>,
    pairs: Rows<P, 2>,
) where
    P: Pair + Promote<P, Output = P>,
    P::Number:
        Cast<f32> + Cast<f64> + Cast<f16> + Cast<bf16> + Cast<i32> + Cast<i8> + Cast<u8> + Cast<f8e4m3>,
    P::Number: Cast<bool> + Classify + Promote<P::Number, Output = P::Number>,
{
    let singles = singles.partition(cx, shape![TILE]);
    let doubles = doubles.partition(cx, shape![TILE]);
    let halves = halves.partition(cx, shape![TILE]);
    let brains = brains.partition(cx, shape![TILE]);
    let words = words.partition(cx, shape![TILE]);
    let bytes = bytes.partition(cx, shape![1, TILE]);
    let tests = tests.partition(cx, shape![1, TILE]);
    let pairs = pairs.partition(cx, shape![1, TILE / 2]);
    let i = cx.bid::<0>();
    let in_pairs = x.partition(cx, shape![TILE / 2]).load(i);
    let x = in_pairs.unpack();
    singles.store(x.cast::<f32>(), i);
    doubles.store(x.cast::<f64>(), i);
    halves.store(x.cast::<f16>(), i);
    brains.store(x.cast::<bf16>(), i);
    words.store(x.cast::<i32>(), i);
    bytes.store(x.cast::<i8>().bitcast::<u8>(), (0, i));
    bytes.store(x.cast::<u8>(), (1, i));
    bytes.store(x.cast::<f8e4m3>().bitcast::<u8>(), (2, i));
    tests.store(x.cast::<bool>(), (0, i));
    tests.store(x.is_nan(), (1, i));
    tests.store(x.eq(x), (2, i));
    pairs.store(x.pack(), (0, i));
    pairs.store(in_pairs.low().pair_with(in_pairs.high()), (1, i));
}

/// Rows of any length, as numbers twice as many, and back.
#[kernel(threads = 32, min_blocks = 1, instances(<i4x2>, <u4x2>))]
pub fn ragged<P>(cx: Cx, x: Span<P, (u32, u32)>, y: SpanMut<i8, (u32, u32)>, z: SpanMut<P, (u32, u32)>)
where
    P: Pair + Promote<P, Output = P>,
    P::Number: Cast<i8>,
{
    let y = y.partition(cx, shape![4, 64]);
    let z = z.partition(cx, shape![4, 32]);
    let i = cx.bid::<0>();
    let view = x.partition(cx, shape![4, 32]);
    for j in 0..view.num_tiles(1) {
        let numbers = view.load_masked(Zero, (i, j)).unpack();
        y.store_masked(numbers.cast::<i8>(), (i, j));
        z.store_masked(numbers.pack(), (i, j));
    }
}
