//! Comparisons and selection.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Value, for_types, pairs, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::arithmetic::TILE;
use cuda_tiles_test_kernels::compare as kernels;
use cuda_tiles_test_kernels::{Input, Operand, Output, Rows};
use std::cmp::Ordering::{Equal, Greater, Less};

type Comparisons<T> = Kernel<(Operand<T>, Operand<T>, T, Rows<bool, 13>)>;

fn check_comparisons<T: Reference>(kernel: &Comparisons<T>) {
    let (a, b) = pairs::<T, T>(11, 500);
    let n = a.len();
    let expected: [(&str, fn(T, T) -> bool); 6] = [
        ("eq", |a, b| T::order(a, b) == Some(Equal)),
        ("ne", |a, b| T::order(a, b) != Some(Equal)),
        ("lt", |a, b| T::order(a, b) == Some(Less)),
        ("le", |a, b| matches!(T::order(a, b), Some(Less | Equal))),
        ("gt", |a, b| T::order(a, b) == Some(Greater)),
        ("ge", |a, b| matches!(T::order(a, b), Some(Greater | Equal))),
    ];
    let mut failures = Failures::new::<T>("comparisons");
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        for &s in T::SPECIAL {
            let mut results = Tensor::poisoned(device, [13, n]).unwrap();
            kernel.launch(device, Grid::cover([n], [TILE]), (&left, &right, s, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            for (k, got) in results.chunks(n).take(12).enumerate() {
                let (name, compare) = expected[k % 6];
                failures.verify(device, name, got, |i, value| {
                    let other = if k < 6 { b[i] } else { s };
                    let expected = compare(a[i], other);
                    (value != expected).then(|| format!("{expected} of {:?} and {other:?}", a[i]))
                });
            }
            failures.exact(device, "is_nan", &results[12 * n..], |i| a[i].not_a_number());
        }
    }
}

#[test]
fn detail_23_comparisons_also_of_nan() {
    for_types!(check_comparisons, kernels::comparisons: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

/// What `eq ne lt le gt ge` are.
fn by_order<T: Ord>() -> [(&'static str, fn(&T, &T) -> bool); 6] {
    [("eq", T::eq), ("ne", T::ne), ("lt", T::lt), ("le", T::le), ("gt", T::gt), ("ge", T::ge)]
}

#[test]
fn bools_are_ordered() {
    let (a, b) = pairs::<bool, bool>(12, 33);
    let n = a.len();
    assert!(n <= TILE && !a[0]);
    let first = a.iter().position(|&value| value).expect("a true element");
    let mut failures = Failures::new::<bool>("order_of_bools");
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        let mut results = Tensor::poisoned(device, [10, n]).unwrap();
        kernels::order_of_bools.launch(device, 1, (&left, &right, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        for ((name, compare), got) in by_order().iter().zip(results.chunks(n)) {
            failures.exact(device, name, got, |i| compare(&a[i], &b[i]));
        }
        let rest: Vec<_> = results.chunks(n).skip(6).collect();
        failures.exact(device, "minimum", rest[0], |i| a[i] && b[i]);
        failures.exact(device, "maximum", rest[1], |i| a[i] || b[i]);
        failures.exact(device, "cummax", rest[2], |i| i >= first);
        failures.exact(device, "min, max, argmax", rest[3], |i| if i < 2 { i == 1 } else { i == first });
    }
}

#[test]
fn pointers_compare_by_their_addresses() {
    let (a, b) = pairs::<u64, u64>(16, 65);
    let n = a.len();
    let mut failures = Failures::new::<u64>("order_of_pointers");
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        let mut results = Tensor::poisoned(device, [6, n]).unwrap();
        kernels::order_of_pointers
            .launch(device, Grid::cover([n], [TILE]), (&left, &right, &mut results))
            .unwrap();
        let results = results.to_vec().unwrap();
        for ((name, compare), got) in by_order().iter().zip(results.chunks(n)) {
            failures.exact(device, name, got, |i| compare(&a[i], &b[i]));
        }
    }
}

type Select<T> =
    Kernel<(Input<bool, (D<32>, D<16>)>, Input<T, (D<32>,)>, Input<T, (D<16>,)>, Output<T, (D<32>, D<16>)>)>;

fn check_select<T: Value>(kernel: &Select<T>) {
    let condition = random_values::<bool>(13, 512);
    let (a, b) = (random_values::<T>(14, 32), random_values::<T>(15, 16));
    let mut failures = Failures::new::<T>("select");
    for device in devices() {
        let conditions = Tensor::from_slice(device, [32, 16], &condition).unwrap();
        let column = Tensor::from_slice(device, [32], &a).unwrap();
        let row = Tensor::from_slice(device, [16], &b).unwrap();
        let mut results = Tensor::poisoned(device, [32, 16]).unwrap();
        kernel.launch(device, 1, (&conditions, &column, &row, &mut results)).unwrap();
        failures.exact(device, "select", &results.to_vec().unwrap(), |i| {
            if condition[i] { a[i / 16] } else { b[i % 16] }
        });
    }
}

#[test]
fn selection_broadcasts_all_three() {
    for_types!(check_select, kernels::select: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}
