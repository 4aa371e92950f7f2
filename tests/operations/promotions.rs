//! Operations on two element types.

use crate::casts::Convert;
use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{pairs, values};
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

/// Checks a pair of types in both orders. The type on the right is the common one.
macro_rules! check_pairs {
    ([$($lower:ident)*] $higher:tt) => { $( check_pairs!(@row $lower $higher); )* };
    (@row $lower:ident [$($higher:ident)*]) => { $(
        check_promotion::<$lower, $higher, $higher>(kernels::promotion::<$lower, $higher>());
        check_promotion::<$higher, $lower, $higher>(kernels::promotion::<$higher, $lower>());
    )* };
}

/// Checks all pairs of types that are listed from the narrowest to the widest.
macro_rules! check_widths {
    () => {};
    ($narrow:ident $($wider:ident)*) => {
        check_promotion::<$narrow, $narrow, $narrow>(kernels::promotion::<$narrow, $narrow>());
        check_pairs!([$narrow] [$($wider)*]);
        check_widths!($($wider)*);
    };
}

/// The rules of `docs/book/src/semantics.md`, details 2 to 4.
#[test]
fn every_pair_of_types_that_go_together() {
    // `bool` goes to the other type.
    check_pairs!([bool] [i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64]);
    // An integer goes to the float, however short that is.
    check_pairs!([i8 i16 i32 i64 u8 u16 u32 u64] [f16 bf16 f32 f64]);
    // Integers of one signedness go to the wider one, and so do floats. `f16` and `bf16` are equally wide and do not go together.
    check_widths!(i8 i16 i32 i64);
    check_widths!(u8 u16 u32 u64);
    check_widths!(f16 f32 f64);
    check_widths!(bf16);
    check_pairs!([bf16] [f32 f64]);
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
