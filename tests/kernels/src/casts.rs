//! Conversions between all pairs of element types, and reading bits as another type.

use crate::arithmetic::TILE;
use crate::{Operand, Row, Rows};
use cuda_tiles::prelude::*;

/// `x` cast to all types; results of one width share an output, as bits.
///
/// Rows of `bytes`: bool, i8, u8. Of `halves`: i16, u16, f16, bf16. Of `words`: i32, u32, f32. Of `doubles`: i64, u64,
/// f64.
#[kernel(
    threads = 128, min_blocks = 1,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn casts<T>(
    cx: Cx,
    x: Operand<T>,
    bytes: Rows<u8, 3>,
    halves: Rows<u16, 4>,
    words: Rows<u32, 3>,
    doubles: Rows<u64, 3>,
) where
    T: Cast<bool> + Cast<i8> + Cast<i16> + Cast<i32> + Cast<i64>,
    T: Cast<u8> + Cast<u16> + Cast<u32> + Cast<u64>,
    T: Cast<f16> + Cast<bf16> + Cast<f32> + Cast<f64>,
{
    let bytes = bytes.partition(cx, shape![1, TILE]);
    let halves = halves.partition(cx, shape![1, TILE]);
    let words = words.partition(cx, shape![1, TILE]);
    let doubles = doubles.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    bytes.store_masked(x.cast::<bool>().bitcast::<u8>(), (0, i));
    bytes.store_masked(x.cast::<i8>().bitcast::<u8>(), (1, i));
    bytes.store_masked(x.cast::<u8>(), (2, i));
    halves.store_masked(x.cast::<i16>().bitcast::<u16>(), (0, i));
    halves.store_masked(x.cast::<u16>(), (1, i));
    halves.store_masked(x.cast::<f16>().bitcast::<u16>(), (2, i));
    halves.store_masked(x.cast::<bf16>().bitcast::<u16>(), (3, i));
    words.store_masked(x.cast::<i32>().bitcast::<u32>(), (0, i));
    words.store_masked(x.cast::<u32>(), (1, i));
    words.store_masked(x.cast::<f32>().bitcast::<u32>(), (2, i));
    doubles.store_masked(x.cast::<i64>().bitcast::<u64>(), (0, i));
    doubles.store_masked(x.cast::<u64>(), (1, i));
    doubles.store_masked(x.cast::<f64>().bitcast::<u64>(), (2, i));
}

/// `x` as unsigned numbers of 16, 32 and 64 bits, and these as floats. Assemblers have converted such numbers as signed ones.
#[kernel(threads = 256, min_blocks = 1, instances(<i8>, <i16>))]
pub fn unsigned_to_floats<T: Cast<u16> + Cast<u32> + Cast<u64>>(
    cx: Cx,
    x: Operand<T>,
    singles: Rows<f32, 3>,
    doubles: Rows<f64, 3>,
) {
    let singles = singles.partition(cx, shape![1, TILE]);
    let doubles = doubles.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    singles.store_masked(x.cast::<u16>().cast::<f32>(), (0, i));
    singles.store_masked(x.cast::<u32>().cast::<f32>(), (1, i));
    singles.store_masked(x.cast::<u64>().cast::<f32>(), (2, i));
    doubles.store_masked(x.cast::<u16>().cast::<f64>(), (0, i));
    doubles.store_masked(x.cast::<u32>().cast::<f64>(), (1, i));
    doubles.store_masked(x.cast::<u64>().cast::<f64>(), (2, i));
}

/// 8, 11, 14, ... as bytes that wrap, eight of a thread in one word. Assemblers have mixed up the words' upper halves.
#[kernel(threads = 256, vector = 8, min_blocks = 1)]
pub fn progression(cx: Cx, results: Row<f16>) {
    let results = results.partition(cx, shape![TILE]);
    results.store_masked(cx.arange(shape![TILE], 8_i8, 3_i8).cast::<f16>(), cx.bid::<0>());
}

/// Reads the bits of `T` as `U`.
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 8,
    instances(
        <u8, bool>, <u8, i8>, <bool, i8>, <i8, bool>,
        <u16, i16>, <u16, f16>, <u16, bf16>, <i16, f16>, <f16, bf16>, <bf16, i16>,
        <u32, i32>, <u32, f32>, <i32, f32>, <f32, i32>,
        <u64, i64>, <u64, f64>, <i64, f64>, <f64, i64>
    )
)]
pub fn bitcast<T: Element, U: Element<Bits = T::Bits> + Promote<U, Output = U>>(
    cx: Cx,
    x: Operand<T>,
    results: Row<U>,
) {
    let results = results.partition(cx, shape![TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.bitcast::<U>(), i);
}
