//! Operations on two element types.

use crate::casts::Convert;
use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::value::{pairs, values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::arithmetic::TILE;
use cuda_tiles_test_kernels::promotions as kernels;
use cuda_tiles_test_kernels::{Operand, Row};
use std::cmp::Ordering::Less;

type Promotion<T, U, V> = Kernel<(Operand<T>, Operand<U>, Row<V>, Row<bool>)>;

fn check_promotion<T: Convert, U: Convert, V: Convert + Reference>(kernel: &Promotion<T, U, V>) {
    let (a, b) = pairs::<T, U>(41, 200);
    let n = a.len();
    let mut failures = Failures::new::<(T, U)>("promotion");
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        let mut products = Tensor::poisoned(device, [n]).unwrap();
        let mut less = Tensor::poisoned(device, [n]).unwrap();
        let arguments = (&left, &right, &mut products, &mut less);
        kernel.launch(device, Grid::cover([n], [TILE]), arguments).unwrap();
        let common = |i: usize| (V::convert(a[i].exact()), V::convert(b[i].exact()));
        failures.verify(device, "a * b", &products.to_vec().unwrap(), |i, value| {
            let (left, right) = common(i);
            let expected = V::times(left, right);
            (!value.same(expected)).then(|| format!("{expected:?} of {:?} and {:?}", a[i], b[i]))
        });
        failures.verify(device, "a < b", &less.to_vec().unwrap(), |i, value| {
            let (left, right) = common(i);
            let expected = V::order(left, right) == Some(Less);
            (value != expected).then(|| format!("{expected} of {:?} and {:?}", a[i], b[i]))
        });
    }
}

/// Each type with each other that it goes with, and their common type.
#[test]
#[rustfmt::skip]
fn every_pair_of_types_that_go_together() {
    macro_rules! check {
        ($($left:ident: $($right:ident $common:ident),*;)*) => { $($(
            check_promotion::<$left, $right, $common>(kernels::promotion::<$left, $right>());
        )*)* };
    }
    check! {
        bool: i8 i8, i16 i16, i32 i32, i64 i64, u8 u8, u16 u16, u32 u32, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        i8: bool i8, i8 i8, i16 i16, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        i16: bool i16, i8 i16, i16 i16, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        i32: bool i32, i8 i32, i16 i32, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        i64: bool i64, i8 i64, i16 i64, i32 i64, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        u8: bool u8, u8 u8, u16 u16, u32 u32, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        u16: bool u16, u8 u16, u16 u16, u32 u32, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        u32: bool u32, u8 u32, u16 u32, u32 u32, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        u64: bool u64, u8 u64, u16 u64, u32 u64, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
        f16: bool f16, i8 f16, i16 f16, i32 f16, i64 f16, u8 f16, u16 f16, u32 f16, u64 f16, f16 f16, f32 f32, f64 f64;
        bf16: bool bf16, i8 bf16, i16 bf16, i32 bf16, i64 bf16, u8 bf16, u16 bf16, u32 bf16, u64 bf16, bf16 bf16, f32 f32, f64 f64;
        f32: bool f32, i8 f32, i16 f32, i32 f32, i64 f32, u8 f32, u16 f32, u32 f32, u64 f32, f16 f32, bf16 f32, f32 f32, f64 f64;
        f64: bool f64, i8 f64, i16 f64, i32 f64, i64 f64, u8 f64, u16 f64, u32 f64, u64 f64, f16 f64, bf16 f64, f32 f64, f64 f64;
    }
}

fn check_widening_store<T: Convert, U: Convert>(kernel: &Kernel<(Operand<T>, Row<U>)>) {
    let x = values::<T>(42, 300);
    let n = x.len();
    let mut failures = Failures::new::<(T, U)>("widening_store");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut results = Tensor::poisoned(device, [n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &mut results)).unwrap();
        failures.exact(device, "store", &results.to_vec().unwrap(), |i| U::convert(x[i].exact()));
    }
}

#[test]
fn a_store_converts_to_a_wider_type() {
    check_widening_store(kernels::widening_store::<bool, f16>());
    check_widening_store(kernels::widening_store::<i8, i64>());
    check_widening_store(kernels::widening_store::<u16, u32>());
    check_widening_store(kernels::widening_store::<i64, bf16>());
    check_widening_store(kernels::widening_store::<f16, f64>());
    check_widening_store(kernels::widening_store::<bf16, f32>());
    check_widening_store(kernels::widening_store::<u8, f32>());
}
