//! Operations on two element types: every pair that has a common type.

use crate::arithmetic::TILE;
use crate::{Operand, Row};
use cuda_tiles::prelude::*;

/// `a * b` in the common type of both, and whether `a < b` there.
#[kernel(
    threads = 128, min_blocks = 1,
    vector = 2,
    instances(
        <bool, i8>, <bool, i16>, <bool, i32>, <bool, i64>, <bool, u8>, <bool, u16>, <bool, u32>, <bool, u64>, <bool, f16>, <bool, bf16>, <bool, f32>, <bool, f64>,
        <i8, bool>, <i8, i8>, <i8, i16>, <i8, i32>, <i8, i64>, <i8, f16>, <i8, bf16>, <i8, f32>, <i8, f64>,
        <i16, bool>, <i16, i8>, <i16, i16>, <i16, i32>, <i16, i64>, <i16, f16>, <i16, bf16>, <i16, f32>, <i16, f64>,
        <i32, bool>, <i32, i8>, <i32, i16>, <i32, i32>, <i32, i64>, <i32, f16>, <i32, bf16>, <i32, f32>, <i32, f64>,
        <i64, bool>, <i64, i8>, <i64, i16>, <i64, i32>, <i64, i64>, <i64, f16>, <i64, bf16>, <i64, f32>, <i64, f64>,
        <u8, bool>, <u8, u8>, <u8, u16>, <u8, u32>, <u8, u64>, <u8, f16>, <u8, bf16>, <u8, f32>, <u8, f64>,
        <u16, bool>, <u16, u8>, <u16, u16>, <u16, u32>, <u16, u64>, <u16, f16>, <u16, bf16>, <u16, f32>, <u16, f64>,
        <u32, bool>, <u32, u8>, <u32, u16>, <u32, u32>, <u32, u64>, <u32, f16>, <u32, bf16>, <u32, f32>, <u32, f64>,
        <u64, bool>, <u64, u8>, <u64, u16>, <u64, u32>, <u64, u64>, <u64, f16>, <u64, bf16>, <u64, f32>, <u64, f64>,
        <f16, bool>, <f16, i8>, <f16, i16>, <f16, i32>, <f16, i64>, <f16, u8>, <f16, u16>, <f16, u32>, <f16, u64>, <f16, f16>, <f16, f32>, <f16, f64>,
        <bf16, bool>, <bf16, i8>, <bf16, i16>, <bf16, i32>, <bf16, i64>, <bf16, u8>, <bf16, u16>, <bf16, u32>, <bf16, u64>, <bf16, bf16>, <bf16, f32>, <bf16, f64>,
        <f32, bool>, <f32, i8>, <f32, i16>, <f32, i32>, <f32, i64>, <f32, u8>, <f32, u16>, <f32, u32>, <f32, u64>, <f32, f16>, <f32, bf16>, <f32, f32>, <f32, f64>,
        <f64, bool>, <f64, i8>, <f64, i16>, <f64, i32>, <f64, i64>, <f64, u8>, <f64, u16>, <f64, u32>, <f64, u64>, <f64, f16>, <f64, bf16>, <f64, f32>, <f64, f64>
    )
)]
pub fn promotion<T, U>(
    cx: Cx,
    a: Operand<T>,
    b: Operand<U>,
    products: Row<<T as Promote<U>>::Output>,
    less: Row<bool>,
) where
    T: Promote<U, Output: Number>,
    U: Element,
{
    let products = products.partition(cx, shape![TILE]);
    let less = less.partition(cx, shape![TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    products.store_masked(a * b, i);
    less.store_masked(a.lt(b), i);
}

/// Stores `x` into a tensor of a wider type.
#[kernel(
    threads = 128, min_blocks = 1,
    vector = 2,
    instances(<bool, f16>, <i8, i64>, <u16, u32>, <i64, bf16>, <f16, f64>, <bf16, f32>, <u8, f32>)
)]
pub fn widening_store<T, U>(cx: Cx, x: Operand<T>, y: Row<U>)
where
    T: Promote<U, Output = U> + Cast<U>,
    U: Element,
{
    let y = y.partition(cx, shape![TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    y.store_masked(x, i);
}
