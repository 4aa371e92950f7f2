//! Products of matrices, against sums in f64.
//!
//! Whole numbers that are small enough are exact in every type and order: these agree to the bit. Random numbers agree within
//! a bound that any order of sums keeps, and that a tensor core keeps which cuts off instead of rounding.

use crate::devices::devices;
use crate::failures::Failures;
use crate::test_values::{Random, Value};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};
use cuda_tiles_test_kernels::matrix::{self as kernels, Matrix, Sums};
use cuda_tiles_test_kernels::{Input, Output};

/// Elements of matrices.
trait Entry: Element {
    /// The nearest number.
    fn of(value: f64) -> Self;
    /// The value.
    fn exact(self) -> f64;
}

macro_rules! entries {
    ($($type:ident: |$value:ident| $of:expr;)*) => { $(
        impl Entry for $type {
            fn of($value: f64) -> Self {
                $of
            }
            fn exact(self) -> f64 {
                Cast::<f64>::cast(self)
            }
        }
    )* };
}
entries! {
    i8: |value| value as i8;
    u8: |value| value.abs() as u8;
    i32: |value| value as i32;
    f8e4m3: |value| f8e4m3::from_f32(value as f32);
    f8e5m2: |value| f8e5m2::from_f32(value as f32);
    f4e2m1: |value| f4e2m1::from_f32(value as f32);
    f16: |value| f16::from_f64(value);
    bf16: |value| bf16::from_f64(value);
    tf32: |value| tf32::from_bits((value as f32).to_bits());
    f32: |value| value as f32;
    f64: |value| value;
}

/// What the matrices hold.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Numbers {
    /// Whole numbers from -4 to 4.
    Whole,
    /// Numbers of all signs from 1/16 to 16.
    Random,
}

impl Numbers {
    fn make<T: Entry>(self, random: &mut Random, count: usize) -> Vec<T> {
        (0..count)
            .map(|_| match self {
                Self::Whole => T::of(random.below(9) as f64 - 4.0),
                Self::Random => T::of(random.unit() * 2f64.powi(random.below(8) as i32 - 3)),
            })
            .collect()
    }
}

/// A product: the batches of the operands and of the accumulators, rows, `k` and columns.
#[derive(Clone, Copy, Debug)]
struct Product {
    batches: [usize; 3],
    rows: usize,
    depth: usize,
    columns: usize,
}

impl Product {
    /// Of matrices without a batch.
    fn new(rows: usize, depth: usize, columns: usize) -> Self {
        Self { batches: [1; 3], rows, depth, columns }
    }

    /// For each sum its value in f64, and the sum of magnitudes.
    fn expected(&self, a: &[f64], b: &[f64], c: &[f64]) -> Vec<(f64, f64)> {
        let Self { batches, rows, depth, columns } = *self;
        (0..batches[2] * rows * columns)
            .map(|i| {
                let (batch, row, column) = (i / (rows * columns), i / columns % rows, i % columns);
                let a = &a[(batch % batches[0] * rows + row) * depth..][..depth];
                let b = &b[batch % batches[1] * depth * columns..][..depth * columns];
                (0..depth).fold((c[i], c[i].abs()), |(sum, size), k| {
                    let term = a[k] * b[k * columns + column];
                    (sum + term, size + term.abs())
                })
            })
            .collect()
    }
}

fn exact<T: Entry>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|x| x.exact()).collect()
}

/// What a sum of `terms` may differ by: sums of `f16` that are rounded after each step, sums of `f32` that cut off, sums of `f64`
/// that are rounded.
fn bound<C: Entry>(terms: usize, (sum, size): (f64, f64)) -> f64 {
    let terms = terms as f64 + 2.0;
    match C::NAME {
        "i32" => 0.0,
        "f16" => terms * 2f64.powi(-11) * size + 2f64.powi(-24),
        "f64" => terms * 2f64.powi(-53) * size,
        _ => terms * 2f64.powi(-22) * size + 2f64.powi(-24) * sum.abs(),
    }
}

/// Demands sums as they are expected, to the bit where they are of whole numbers.
fn verify<C: Entry + Value>(
    failures: &mut Failures,
    device: &Device,
    numbers: Numbers,
    got: &[C],
    expected: &[(f64, f64)],
    terms: usize,
) {
    let label = format!("sums of {numbers:?} numbers");
    if numbers == Numbers::Whole {
        return failures.exact(device, &label, got, |i| C::of(expected[i].0));
    }
    failures.verify(device, &label, got, |i, sum| {
        let (exact, bound) = (expected[i].0, bound::<C>(terms, expected[i]));
        let close = (sum.exact() - exact).abs() <= bound;
        (!close).then(|| format!("{exact} within {bound}"))
    });
}

impl Product {
    /// Demands sums of whole and of random numbers as they are expected, on all devices. `sums` gives those of operands A and B and of
    /// accumulators, computed in one way or several.
    fn check<T: Entry, U: Entry, C: Entry + Value>(
        &self,
        mut failures: Failures,
        seed: u64,
        sums: impl Fn(&Device, &[T], &[U], &[C]) -> Vec<Vec<C>>,
    ) {
        let Self { batches: [of_a, of_b, of_c], rows, depth, columns } = *self;
        let mut random = Random::new(seed);
        for numbers in [Numbers::Whole, Numbers::Random] {
            let a = numbers.make::<T>(&mut random, of_a * rows * depth);
            let b = numbers.make::<U>(&mut random, of_b * depth * columns);
            let c = numbers.make::<C>(&mut random, of_c * rows * columns);
            let expected = self.expected(&exact(&a), &exact(&b), &exact(&c));
            for device in devices() {
                for sums in sums(device, &a, &b, &c) {
                    verify(&mut failures, device, numbers, &sums, &expected, depth);
                }
            }
        }
    }
}

type Products<T, U, C, const M: usize, const K: usize, const N: usize> =
    Kernel<(Matrix<T, M, K>, Matrix<U, K, N>, Matrix<C, M, N>, Sums<C, M, N>)>;

fn check_product<T, U, C, const M: usize, const K: usize, const N: usize>(kernel: &Products<T, U, C, M, K, N>)
where
    T: Entry,
    U: Entry,
    C: Entry + Value,
{
    let failures = Failures::new::<(T, U, C)>(kernel.description().name);
    Product::new(M, K, N).check(failures, 81, |device, a: &[T], b: &[U], c: &[C]| {
        let a = Tensor::from_slice(device, [M, K], a).unwrap();
        let b = Tensor::from_slice(device, [K, N], b).unwrap();
        let c = Tensor::from_slice(device, [M, N], c).unwrap();
        let mut sums = Tensor::poisoned(device, [M, N]).unwrap();
        kernel.launch(device, 1, (&a, &b, &c, &mut sums)).unwrap();
        vec![sums.to_vec().unwrap()]
    });
}

#[test]
fn detail_38_products_of_every_combination_of_types() {
    check_product(kernels::product_64_64_32::<i8, i8, i32>());
    check_product(kernels::product_64_64_32::<i8, u8, i32>());
    check_product(kernels::product_64_64_32::<u8, i8, i32>());
    check_product(kernels::product_64_64_32::<u8, u8, i32>());
    check_product(kernels::product_64_64_32::<f8e4m3, f8e4m3, f16>());
    check_product(kernels::product_64_64_32::<f8e4m3, f8e4m3, f32>());
    check_product(kernels::product_64_64_32::<f8e5m2, f8e5m2, f16>());
    check_product(kernels::product_64_64_32::<f8e5m2, f8e5m2, f32>());
    check_product(kernels::product_64_64_32::<f16, f16, f16>());
    check_product(kernels::product_64_64_32::<f16, f16, f32>());
    check_product(kernels::product_64_64_32::<bf16, bf16, f32>());
    check_product(kernels::product_64_64_32::<tf32, tf32, f32>());
    check_product(kernels::product_64_64_32::<f32, f32, f32>());
    check_product(kernels::product_64_64_32::<f64, f64, f64>());
}

#[test]
fn products_of_every_shape() {
    check_product(kernels::product_16_32_8::<i8, u8, i32>());
    check_product(kernels::product_16_32_8::<f8e4m3, f8e4m3, f16>());
    check_product(kernels::product_16_32_8::<f16, f16, f32>());
    check_product(kernels::product_16_8_8::<f16, f16, f16>());
    check_product(kernels::product_16_8_8::<tf32, tf32, f32>());
    check_product(kernels::product_16_8_8::<f64, f64, f64>());
    check_product(kernels::product_32_4_16::<tf32, tf32, f32>());
    check_product(kernels::product_32_4_16::<f64, f64, f64>());
    check_product(kernels::product_32_4_16::<f16, f16, f32>());
    check_product(kernels::product_4_2_1::<i8, i8, i32>());
    check_product(kernels::product_4_2_1::<f8e5m2, f8e5m2, f16>());
    check_product(kernels::product_4_2_1::<f64, f64, f64>());
    check_product(kernels::product_1_256_8::<f16, f16, f32>());
    check_product(kernels::product_1_256_8::<f32, f32, f32>());
    check_product(kernels::product_256_16_8::<f16, f16, f32>());
    check_product(kernels::product_16_16_256::<bf16, bf16, f32>());
    check_product(kernels::product_16_64_8::<i8, i8, i32>());
    check_product(kernels::product_16_64_8::<f64, f64, f64>());
    check_product(kernels::product_128_64_128::<f16, f16, f32>());
    check_product(kernels::product_128_64_128::<f8e4m3, f8e4m3, f32>());
    check_product(kernels::product_64_256_32::<f32, f32, f32>());
    check_product(kernels::product_64_256_32::<tf32, tf32, f32>());
    check_product(kernels::product_64_32_64::<i8, i8, i32>());
    check_product(kernels::product_64_32_64::<u8, u8, i32>());
    check_product(kernels::product_64_32_64::<f16, f16, f32>());
    check_product(kernels::product_64_32_64::<bf16, bf16, f32>());
    check_product(kernels::product_64_32_64::<tf32, tf32, f32>());
    check_product(kernels::product_256_32_64::<f16, f16, f32>());
    check_product(kernels::product_256_32_64::<i8, i8, i32>());
    check_product(kernels::product_128_32_256::<bf16, bf16, f32>());
    check_product(kernels::product_128_32_256::<tf32, tf32, f32>());
    check_product(kernels::product_1024_4_8::<tf32, tf32, f32>());
}

type InPlace<T, U, C, const M: usize, const K: usize, const N: usize> = Kernel<(
    (Matrix<T, M, K>, Matrix<T, K, M>),
    (Matrix<U, K, N>, Matrix<U, N, K>),
    Matrix<C, M, N>,
    Sums<C, M, N>,
    Sums<C, M, N>,
    Sums<C, M, N>,
)>;

/// The transpose of a matrix with so many columns.
fn transpose<T: Copy>(matrix: &[T], columns: usize) -> Vec<T> {
    let rows = matrix.len() / columns;
    (0..matrix.len()).map(|i| matrix[i % rows * columns + i / rows]).collect()
}

fn check_in_place<T, U, C, const M: usize, const K: usize, const N: usize>(kernel: &InPlace<T, U, C, M, K, N>)
where
    T: Entry,
    U: Entry,
    C: Entry + Value,
{
    let failures = Failures::new::<(T, U, C)>(kernel.description().name);
    Product::new(M, K, N).check(failures, 83, |device, a: &[T], b: &[U], c: &[C]| {
        let a_transpose = Tensor::from_slice(device, [K, M], &transpose(a, K)).unwrap();
        let b_transpose = Tensor::from_slice(device, [N, K], &transpose(b, N)).unwrap();
        let a = Tensor::from_slice(device, [M, K], a).unwrap();
        let b = Tensor::from_slice(device, [K, N], b).unwrap();
        let c = Tensor::from_slice(device, [M, N], c).unwrap();
        let [mut nt, mut tn, mut tt] = [(); 3].map(|()| Tensor::poisoned(device, [M, N]).unwrap());
        let (a, b) = ((&a, &a_transpose), (&b, &b_transpose));
        kernel.launch(device, 1, (a, b, &c, &mut nt, &mut tn, &mut tt)).unwrap();
        [nt, tn, tt].map(|sums| sums.to_vec().unwrap()).into()
    });
}

#[test]
fn transposes_that_stay_in_place() {
    check_in_place(kernels::in_place_64_64_64::<i8, u8, i32>());
    check_in_place(kernels::in_place_64_64_64::<f8e4m3, f8e4m3, f32>());
    check_in_place(kernels::in_place_64_64_64::<f16, f16, f16>());
    check_in_place(kernels::in_place_64_64_64::<f16, f16, f32>());
    check_in_place(kernels::in_place_64_64_64::<bf16, bf16, f32>());
    check_in_place(kernels::in_place_64_64_64::<tf32, tf32, f32>());
    check_in_place(kernels::in_place_64_64_64::<f32, f32, f32>());
    check_in_place(kernels::in_place_64_64_64::<f64, f64, f64>());
    check_in_place(kernels::in_place_64_16_32::<f16, f16, f32>());
    check_in_place(kernels::in_place_256_128_64::<bf16, bf16, f32>());
    check_in_place(kernels::in_place_16_64_64::<i8, i8, i32>());
    check_in_place(kernels::in_place_16_64_64::<f16, f16, f32>());
    check_in_place(kernels::in_place_16_64_64::<bf16, bf16, f32>());
    check_in_place(kernels::in_place_16_64_64::<tf32, tf32, f32>());
    check_in_place(kernels::in_place_16_64_64::<f64, f64, f64>());
    check_in_place(kernels::in_place_32_32_32::<f16, f16, f32>());
    check_in_place(kernels::in_place_32_32_32::<f64, f64, f64>());
    check_in_place(kernels::in_place_16_8_8::<f16, f16, f16>());
    check_in_place(kernels::in_place_16_8_8::<tf32, tf32, f32>());
    check_in_place(kernels::in_place_4_2_8::<f16, f16, f32>());
}

fn check_batch_in_place<T: Entry + Value>(
    kernel: &Kernel<(
        Input<T, (D<2>, D<16>, D<32>)>,
        Input<T, (D<2>, D<16>, D<32>)>,
        Input<f32, (D<2>, D<16>, D<16>)>,
        Output<f32, (D<2>, D<16>, D<16>)>,
        Output<T, (D<2>, D<32>, D<16>)>,
        Output<f32, (D<2>, D<16>, D<16>)>,
    )>,
) {
    let mut failures = Failures::new::<T>("batch_in_place");
    let mut random = Random::new(84);
    let (a, transposes) =
        (Numbers::Whole.make::<T>(&mut random, 1024), Numbers::Whole.make::<T>(&mut random, 1024));
    let c = Numbers::Whole.make::<f32>(&mut random, 512);
    let b: Vec<f64> = transposes.chunks(512).flat_map(|matrix| exact(&transpose(matrix, 32))).collect();
    let product = Product { batches: [2; 3], rows: 16, depth: 32, columns: 16 };
    let expected = product.expected(&exact(&a), &b, &exact(&c));
    let column_sum = |i: usize| (0..32).map(|k| b[i / 256 * 512 + k * 16 + i % 16]).sum::<f64>();
    for device in devices() {
        let a = Tensor::from_slice(device, [2, 16, 32], &a).unwrap();
        let transposes = Tensor::from_slice(device, [2, 16, 32], &transposes).unwrap();
        let c = Tensor::from_slice(device, [2, 16, 16], &c).unwrap();
        let (mut sums, mut more, mut with_columns) = (
            Tensor::poisoned(device, [2, 16, 16]).unwrap(),
            Tensor::poisoned(device, [2, 32, 16]).unwrap(),
            Tensor::poisoned(device, [2, 16, 16]).unwrap(),
        );
        kernel.launch(device, 1, (&a, &transposes, &c, &mut sums, &mut more, &mut with_columns)).unwrap();
        let of = |i: usize| f32::of(expected[i].0);
        failures.exact(device, "sums", &sums.to_vec().unwrap(), of);
        failures.exact(device, "transposes and one", &more.to_vec().unwrap(), |i| T::of(b[i] + 1.0));
        failures.exact(device, "sums and sums of columns", &with_columns.to_vec().unwrap(), |i| {
            f32::of(expected[i].0 + column_sum(i))
        });
    }
}

#[test]
fn transposes_in_place_are_tiles_like_others() {
    check_batch_in_place(kernels::batch_in_place::<f16>());
    check_batch_in_place(kernels::batch_in_place::<bf16>());
}

type HeldProducts<T, U, C, const M: usize, const K: usize> =
    Kernel<(Matrix<T, M, K>, Input<U, (D<K>, u32)>, Input<C, (D<M>, u32)>, Output<C, (D<M>, u32)>)>;

fn check_held<T, U, C, const M: usize, const K: usize>(kernel: &HeldProducts<T, U, C, M, K>, columns: usize)
where
    T: Entry,
    U: Entry,
    C: Entry + Value,
{
    let failures = Failures::new::<(T, U, C)>(kernel.description().name);
    let columns = 2 * columns;
    Product::new(M, K, columns).check(failures, 87, |device, a: &[T], b: &[U], c: &[C]| {
        let a = Tensor::from_slice(device, [M, K], a).unwrap();
        let b = Tensor::from_slice(device, [K, columns], b).unwrap();
        let c = Tensor::from_slice(device, [M, columns], c).unwrap();
        let mut sums = Tensor::poisoned(device, [M, columns]).unwrap();
        kernel.launch(device, 1, (&a, &b, &c, &mut sums)).unwrap();
        vec![sums.to_vec().unwrap()]
    });
}

#[test]
fn operands_that_stay_in_registers() {
    check_held(kernels::held_64_64_32::<i8, i8, i32>(), 32);
    check_held(kernels::held_64_64_32::<u8, i8, i32>(), 32);
    check_held(kernels::held_64_64_32::<f8e4m3, f8e4m3, f32>(), 32);
    check_held(kernels::held_64_64_32::<f16, f16, f16>(), 32);
    check_held(kernels::held_64_64_32::<f16, f16, f32>(), 32);
    check_held(kernels::held_64_64_32::<bf16, bf16, f32>(), 32);
    check_held(kernels::held_64_64_32::<tf32, tf32, f32>(), 32);
    check_held(kernels::held_128_64_64::<f16, f16, f32>(), 64);
    check_held(kernels::held_128_64_64::<i8, i8, i32>(), 64);
    check_held(kernels::held_256_32_16::<bf16, bf16, f32>(), 16);
    check_held(kernels::held_256_32_16::<tf32, tf32, f32>(), 16);
    check_held(kernels::held_64_128_64::<f16, f16, f32>(), 64);
    check_held(kernels::held_16_64_8::<i8, i8, i32>(), 8);
    check_held(kernels::held_16_64_8::<f32, f32, f32>(), 8);
    check_held(kernels::held_16_64_8::<f64, f64, f64>(), 8);
    check_held(kernels::held_16_8_8::<f16, f16, f16>(), 8);
    check_held(kernels::held_16_8_8::<tf32, tf32, f32>(), 8);
    check_held(kernels::held_4_2_4::<f16, f16, f32>(), 4);
}

type ProductOfAProduct<T> = Kernel<(
    Input<T, (D<2>, D<64>, D<16>)>,
    Matrix<T, 16, 64>,
    Matrix<T, 64, 32>,
    Output<f32, (D<2>, D<64>, D<32>)>,
)>;

/// Whole numbers, whose sums 16-bit floats have: the products of either type are exact.
fn check_product_of_a_product<T: Entry>(kernel: &ProductOfAProduct<T>) {
    let mut failures = Failures::new::<T>("product_of_a_product");
    let mut random = Random::new(88);
    let mut signs =
        |count: usize| (0..count).map(|_| T::of(random.below(3) as f64 - 1.0)).collect::<Vec<_>>();
    let (a, b, c) = (signs(2 * 64 * 16), signs(16 * 64), signs(64 * 32));
    let first = Product { batches: [2, 1, 2], ..Product::new(64, 16, 64) };
    let sums = first.expected(&exact(&a), &exact(&b), &[0.0; 2 * 64 * 64]);
    let sums: Vec<f64> = sums.into_iter().map(|(sum, _)| sum).collect();
    let second = Product { batches: [2, 1, 2], ..Product::new(64, 64, 32) };
    let expected = second.expected(&sums, &exact(&c), &[0.0; 2 * 64 * 32]);
    for device in devices() {
        let a = Tensor::from_slice(device, [2, 64, 16], &a).unwrap();
        let b = Tensor::from_slice(device, [16, 64], &b).unwrap();
        let c = Tensor::from_slice(device, [64, 32], &c).unwrap();
        let mut sums = Tensor::poisoned(device, [2, 64, 32]).unwrap();
        kernel.launch(device, 1, (&a, &b, &c, &mut sums)).unwrap();
        failures.exact(device, "sums", &sums.to_vec().unwrap(), |i| expected[i].0 as f32);
    }
}

#[test]
fn accumulators_are_operands() {
    check_product_of_a_product(kernels::product_of_a_product::<f16>());
    check_product_of_a_product(kernels::product_of_a_product::<bf16>());
}

/// Random bits: NaN and infinities, which reach the sums of their rows and columns.
#[test]
fn special_values_reach_their_sums() {
    let kernel = kernels::product_64_64_32::<f16, f16, f32>();
    let mut failures = Failures::new::<f16>("special values");
    let mut random = Random::new(82);
    let mut a = Numbers::Whole.make::<f16>(&mut random, 64 * 64);
    let mut b = Numbers::Whole.make::<f16>(&mut random, 64 * 32);
    let c = Numbers::Whole.make::<f32>(&mut random, 64 * 32);
    for special in [f16::NAN, f16::INFINITY, f16::NEG_INFINITY, f16::INFINITY] {
        a[random.below(64 * 64) as usize] = special;
        b[random.below(64 * 32) as usize] = special;
    }
    let expected = Product::new(64, 64, 32).expected(&exact(&a), &exact(&b), &exact(&c));
    for device in devices() {
        let a = Tensor::from_slice(device, [64, 64], &a).unwrap();
        let b = Tensor::from_slice(device, [64, 32], &b).unwrap();
        let c = Tensor::from_slice(device, [64, 32], &c).unwrap();
        let mut sums = Tensor::poisoned(device, [64, 32]).unwrap();
        kernel.launch(device, 1, (&a, &b, &c, &mut sums)).unwrap();
        failures.exact(device, "sums", &sums.to_vec().unwrap(), |i| expected[i].0 as f32);
    }
}

type Batches<
    T,
    const P: usize,
    const Q: usize,
    const O: usize,
    const M: usize,
    const K: usize,
    const N: usize,
> = Kernel<(
    Input<T, (D<P>, D<M>, D<K>)>,
    Input<T, (D<Q>, D<K>, D<N>)>,
    Input<f32, (D<O>, D<M>, D<N>)>,
    Output<f32, (D<O>, D<M>, D<N>)>,
)>;

fn check_batches<
    T,
    const P: usize,
    const Q: usize,
    const O: usize,
    const M: usize,
    const K: usize,
    const N: usize,
>(
    kernel: &Batches<T, P, Q, O, M, K, N>,
) where
    T: Entry,
{
    let failures = Failures::new::<T>(kernel.description().name);
    let product = Product { batches: [P, Q, O], ..Product::new(M, K, N) };
    product.check(failures, 83, |device, a: &[T], b: &[T], c: &[f32]| {
        let a = Tensor::from_slice(device, [P, M, K], a).unwrap();
        let b = Tensor::from_slice(device, [Q, K, N], b).unwrap();
        let c = Tensor::from_slice(device, [O, M, N], c).unwrap();
        let mut sums = Tensor::poisoned(device, [O, M, N]).unwrap();
        kernel.launch(device, 1, (&a, &b, &c, &mut sums)).unwrap();
        vec![sums.to_vec().unwrap()]
    });
}

#[test]
fn products_of_batches() {
    check_batches(kernels::batch_of_both::<f16>());
    check_batches(kernels::batch_of_both::<f32>());
    check_batches(kernels::batches_of_warpgroups::<f16>());
    check_batches(kernels::batch_of_the_left::<bf16>());
    check_batches(kernels::batch_of_the_right::<f32>());
    check_batches(kernels::batch_of_the_sums::<f16>());
}

type Epilogue<T> = Kernel<(
    Span<T, (u32, u32)>,
    Span<T, (u32, u32)>,
    Span<f32, (u32, D<1>)>,
    Span<f32, (D<1>, u32)>,
    SpanMut<f32, (D<2>, u32, u32)>,
    SpanMut<f32, (u32, u32)>,
    SpanMut<f16, (u32, u32)>,
)>;

fn check_epilogue<T: Entry>(kernel: &Epilogue<T>, [m, k, n]: [usize; 3]) {
    let mut failures = Failures::new::<T>("product_with_epilogue");
    let mut random = Random::new(84);
    let (a, b) = (Numbers::Whole.make::<T>(&mut random, m * k), Numbers::Whole.make::<T>(&mut random, k * n));
    let scale = Numbers::Whole.make::<f32>(&mut random, m);
    let bias = Numbers::Whole.make::<f32>(&mut random, n);
    let sums = Product::new(m, k, n).expected(&exact(&a), &exact(&b), &vec![0.0; m * n]);
    let (down, across) = (m.div_ceil(64), n.div_ceil(64));
    // The sums of a tile, of which those beyond the matrix are zero.
    let tile_row = |row: usize, tile: usize| {
        (tile * 64..(tile + 1) * 64)
            .map(|column| if column < n { sums[row * n + column].0 } else { 0.0 })
            .collect::<Vec<_>>()
    };
    for device in devices() {
        let operands = (
            Tensor::from_slice(device, [m, k], &a).unwrap(),
            Tensor::from_slice(device, [k, n], &b).unwrap(),
            Tensor::from_slice(device, [m, 1], &scale).unwrap(),
            Tensor::from_slice(device, [1, n], &bias).unwrap(),
        );
        let mut rows = Tensor::poisoned(device, [2, m, across]).unwrap();
        let mut columns = Tensor::poisoned(device, [down, n]).unwrap();
        let mut results = Tensor::poisoned(device, [m, n]).unwrap();
        let grid = (down as u32, across as u32);
        let arguments =
            (&operands.0, &operands.1, &operands.2, &operands.3, &mut rows, &mut columns, &mut results);
        kernel.launch(device, grid, arguments).unwrap();
        let (rows, columns) = (rows.to_vec().unwrap(), columns.to_vec().unwrap());
        let (largest, totals) = rows.split_at(m * across);
        failures.exact(device, "largest sums of rows", largest, |i| {
            tile_row(i / across, i % across).into_iter().fold(f64::NEG_INFINITY, f64::max) as f32
        });
        failures.exact(device, "sums of rows", totals, |i| {
            tile_row(i / across, i % across).into_iter().sum::<f64>() as f32
        });
        failures.exact(device, "sums of columns", &columns, |i| {
            let rows = i / n * 64..m.min((i / n + 1) * 64);
            rows.map(|row| sums[row * n + i % n].0).sum::<f64>() as f32
        });
        failures.exact(device, "scaled sums", &results.to_vec().unwrap(), |i| {
            f16::of(sums[i].0 * f64::from(scale[i / n]) + f64::from(bias[i % n]))
        });
    }
}

#[test]
fn sums_are_tiles_like_others() {
    check_epilogue(kernels::product_with_epilogue::<f16>(), [128, 96, 64]);
    check_epilogue(kernels::product_with_epilogue::<f16>(), [70, 50, 90]);
    check_epilogue(kernels::product_with_epilogue::<tf32>(), [64, 64, 128]);
    check_epilogue(kernels::product_with_epilogue::<tf32>(), [33, 7, 65]);
}

#[test]
fn transposed_operands_and_reshaped_sums() {
    let kernel = &kernels::transposed_product;
    let mut failures = Failures::new::<f16>("transposed_product");
    let mut random = Random::new(85);
    let (a, b) =
        (Numbers::Whole.make::<f16>(&mut random, 512), Numbers::Whole.make::<f16>(&mut random, 1024));
    let expected = Product::new(16, 32, 32).expected(&exact(&transpose(&a, 16)), &exact(&b), &[0.0; 512]);
    for device in devices() {
        let a = Tensor::from_slice(device, [32, 16], &a).unwrap();
        let b = Tensor::from_slice(device, [32, 32], &b).unwrap();
        let mut sums = Tensor::poisoned(device, [16, 32]).unwrap();
        let mut reshaped = Tensor::poisoned(device, [64, 8]).unwrap();
        let mut split = Tensor::poisoned(device, [2, 16, 16]).unwrap();
        kernel.launch(device, 1, (&a, &b, &mut sums, &mut reshaped, &mut split)).unwrap();
        let results =
            [("sums", sums.to_vec()), ("as 64 x 8", reshaped.to_vec()), ("as 2 x 16 x 16", split.to_vec())];
        for (name, got) in results {
            failures.exact(device, name, &got.unwrap(), |i| f16::of(expected[i].0));
        }
    }
}

type Scaled<T, X, const M: usize, const K: usize, const N: usize, const J: usize> = Kernel<(
    Matrix<T, M, K>,
    Matrix<X, M, J>,
    Matrix<T, K, N>,
    Matrix<X, J, N>,
    Matrix<f32, M, N>,
    Sums<f32, M, N>,
)>;

/// The operands with their scales: element `i` of an operand of `columns` columns has scale `scale(row, column)`.
fn with_scales<X: Cast<f32>>(
    x: &[f64],
    columns: usize,
    scales: &[X],
    scale: impl Fn(usize, usize) -> usize,
) -> Vec<f64> {
    let value = |i: usize| f64::from(Cast::<f32>::cast(scales[scale(i / columns, i % columns)]));
    x.iter().enumerate().map(|(i, x)| x * value(i)).collect()
}

fn check_scaled<T, X, const M: usize, const K: usize, const N: usize, const J: usize>(
    kernel: &Scaled<T, X, M, K, N, J>,
    scale: fn(&mut Random) -> X,
) where
    T: Entry,
    X: Cast<f32>,
{
    let mut failures = Failures::new::<(T, X)>(kernel.description().name);
    let mut random = Random::new(86);
    for numbers in [Numbers::Whole, Numbers::Random] {
        let (a, b) = (numbers.make::<T>(&mut random, M * K), numbers.make::<T>(&mut random, K * N));
        let a_scale: Vec<X> = (0..M * J).map(|_| scale(&mut random)).collect();
        let b_scale: Vec<X> = (0..J * N).map(|_| scale(&mut random)).collect();
        let c = numbers.make::<f32>(&mut random, M * N);
        let left = with_scales(&exact(&a), K, &a_scale, |row, k| row * J + k * J / K);
        let right = with_scales(&exact(&b), N, &b_scale, |k, column| k * J / K * N + column);
        let expected = Product::new(M, K, N).expected(&left, &right, &exact(&c));
        for device in devices() {
            let a = Tensor::from_slice(device, [M, K], &a).unwrap();
            let a_scale = Tensor::from_slice(device, [M, J], &a_scale).unwrap();
            let b = Tensor::from_slice(device, [K, N], &b).unwrap();
            let b_scale = Tensor::from_slice(device, [J, N], &b_scale).unwrap();
            let c = Tensor::from_slice(device, [M, N], &c).unwrap();
            let mut sums = Tensor::poisoned(device, [M, N]).unwrap();
            kernel.launch(device, 1, (&a, &a_scale, &b, &b_scale, &c, &mut sums)).unwrap();
            verify(&mut failures, device, numbers, &sums.to_vec().unwrap(), &expected, K);
        }
    }
}

/// A power of two from 1/4 to 4.
fn power(random: &mut Random) -> f8e8m0 {
    f8e8m0::from_bits(125 + random.below(5) as u8)
}

#[test]
fn detail_39_products_with_scales() {
    check_scaled(kernels::scaled_by_32::<f8e4m3, f8e8m0>(), power);
    check_scaled(kernels::scaled_by_32::<f8e5m2, f8e8m0>(), power);
    check_scaled(kernels::small_scaled_by_32::<f8e4m3, f8e8m0>(), power);
}

type ScaledFp4<X> = Kernel<(
    Matrix<f4e2m1x2, 32, 32>,
    Matrix<X, 32, 4>,
    Matrix<f4e2m1x2, 64, 16>,
    Matrix<X, 4, 32>,
    Matrix<f32, 32, 32>,
    Sums<f32, 32, 32>,
)>;

fn check_scaled_fp4<X: Cast<f32>>(kernel: &ScaledFp4<X>, scale: fn(&mut Random) -> X) {
    const LENGTHS: (usize, usize, usize, usize) = (32, 64, 32, 4);
    let (m, k, n, blocks) = LENGTHS;
    let mut failures = Failures::new::<X>("scaled_by_16");
    let mut random = Random::new(87);
    let [a, b] = [m * k, k * n].map(|count| Numbers::Whole.make::<f4e2m1>(&mut random, count));
    let pairs = |x: &[f4e2m1]| x.chunks(2).map(|pair| f4e2m1x2::new(pair[0], pair[1])).collect::<Vec<_>>();
    let a_scale: Vec<X> = (0..m * blocks).map(|_| scale(&mut random)).collect();
    let b_scale: Vec<X> = (0..blocks * n).map(|_| scale(&mut random)).collect();
    let c = Numbers::Whole.make::<f32>(&mut random, m * n);
    let left = with_scales(&exact(&a), k, &a_scale, |row, k| row * 4 + k / 16);
    let right = with_scales(&exact(&b), n, &b_scale, |k, column| k / 16 * 32 + column);
    let expected = Product::new(m, k, n).expected(&left, &right, &exact(&c));
    for device in devices() {
        let a = Tensor::from_slice(device, [m, k / 2], &pairs(&a)).unwrap();
        let a_scale = Tensor::from_slice(device, [m, blocks], &a_scale).unwrap();
        let b = Tensor::from_slice(device, [k, n / 2], &pairs(&b)).unwrap();
        let b_scale = Tensor::from_slice(device, [blocks, n], &b_scale).unwrap();
        let c = Tensor::from_slice(device, [m, n], &c).unwrap();
        let mut sums = Tensor::poisoned(device, [m, n]).unwrap();
        kernel.launch(device, 1, (&a, &a_scale, &b, &b_scale, &c, &mut sums)).unwrap();
        verify(&mut failures, device, Numbers::Whole, &sums.to_vec().unwrap(), &expected, k);
    }
}

#[test]
fn products_of_fp4_with_scales() {
    check_scaled_fp4(kernels::scaled_by_16::<f8e8m0>(), power);
    check_scaled_fp4(kernels::scaled_by_16::<f8e4m3>(), |random| f8e4m3::from_f32(random.below(5) as f32));
    check_scaled_fp4(kernels::scaled_by_16::<f8ue5m3>(), |random| f8ue5m3::from_f32(random.below(5) as f32));
}
