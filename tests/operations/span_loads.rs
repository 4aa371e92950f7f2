//! Pipelines of tiles of spans: producer threads copy them from any place in memory.

use super::{Matrices, Whole, describe, devices, size, sizes};
use crate::test_values::Random;
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};
use cuda_tiles_test_streams::spans::{
    linear_of_span, product_of_span_and_operand, product_of_spans, sum_of_tiles,
};

/// A matrix in memory that has other elements around it.
struct Placed<T: Element> {
    memory: Tensor<T, 1>,
    from: usize,
    shape: [usize; 2],
    pitch: usize,
}

impl<T: Whole> Placed<T> {
    /// Begins at a random element, with some elements between its rows.
    fn new(device: &Device, random: &mut Random, matrix: &Matrices) -> Self {
        let [_, rows, columns] = matrix.shape;
        let around = [0, 1, 2, 3, 4, 8, 16];
        let [from, gap] = [0; 2].map(|_| around[random.below(7) as usize]);
        let pitch = columns + gap;
        let mut elements = vec![T::of(1); from + rows * pitch];
        for (row, numbers) in matrix.numbers.chunks(columns.max(1)).enumerate() {
            for (column, &number) in numbers.iter().enumerate() {
                elements[from + row * pitch + column] = T::of(number);
            }
        }
        let memory = Tensor::from_slice(device, [elements.len()], &elements).unwrap();
        Self { memory, from, shape: [rows, columns], pitch }
    }

    fn view(&self) -> cuda_tiles_host::TensorView<'_, T, 2> {
        self.memory.view().strided(self.from, self.shape, [self.pitch, 1]).unwrap()
    }

    fn place(&self) -> String {
        format!("element {} with a pitch of {}", self.from, self.pitch)
    }
}

type OfSpans<T, C> =
    Kernel<(Span<T, (u32, u32), Pitched>, Span<T, (u32, u32), Pitched>, TmaStore<C, Shape2<64, 64>>)>;

fn check_products<T: Whole, C: Whole>(kernel: &OfSpans<T, C>) {
    for device in devices() {
        let mut random = Random::new(401);
        for [rows, columns, depth] in sizes(device, &mut random) {
            let a = Matrices::random(&mut random, [1, rows, depth], -1);
            let b = Matrices::random(&mut random, [1, columns, depth], -1);
            let expected = a.times(&b.transposed());
            let a = Placed::<T>::new(device, &mut random, &a);
            let b = Placed::<T>::new(device, &mut random, &b);
            let mut c = Tensor::poisoned(device, expected.shape).unwrap();
            let blocks = 1 + random.below(7) as u32;
            kernel.launch(device, blocks, (a.view(), b.view(), &mut c)).unwrap();
            let (name, of_a, of_b) = (kernel.description().name, a.place(), b.place());
            let sizes = format!("{rows} x {columns}, sums of {depth}, {blocks} blocks");
            expected.check(&c, &format!("{name} on {}: {sizes}, A at {of_a}, B at {of_b}", describe(device)));
        }
    }
}

#[test]
fn products_of_tiles_that_producer_threads_copy() {
    check_products(product_of_spans::<f16, f32, 64>());
    check_products(product_of_spans::<bf16, f32, 64>());
    check_products(product_of_spans::<tf32, f32, 32>());
    check_products(product_of_spans::<i8, i32, 64>());
    check_products(product_of_spans::<f8e4m3, f32, 64>());
    check_products(product_of_spans::<f64, f64, 16>());
}

#[test]
fn stages_that_producer_threads_and_tma_fill() {
    for device in devices() {
        let mut random = Random::new(402);
        for [rows, columns, depth] in sizes(device, &mut random) {
            let a = Matrices::random(&mut random, [1, rows, depth], -1);
            let b = Matrices::random(&mut random, [1, depth, columns], -1);
            let expected = a.times(&b);
            let (a, b) = (Placed::<f16>::new(device, &mut random, &a), b.padded::<f16>(device));
            let mut c = Tensor::poisoned(device, expected.shape).unwrap();
            product_of_span_and_operand.launch(device, 3, (a.view(), &b, &mut c)).unwrap();
            let what = format!("{rows} x {columns}, sums of {depth}, A at {}", a.place());
            expected.check(&c, &format!("{what} on {}", describe(device)));
        }
    }
}

#[test]
fn a_ring_of_tma_beside_a_ring_of_producer_threads() {
    for device in devices() {
        let mut random = Random::new(403);
        for _ in 0..if device.is_gpu() { 30 } else { 5 } {
            let (rows, depth, columns) =
                (size(&mut random, 700), size(&mut random, 64), size(&mut random, 64));
            let x = Matrices::random(&mut random, [1, rows, depth], -1);
            let w = Matrices::random(&mut random, [1, depth, columns], -1);
            let expected = x.times(&w);
            let (x, w) = (Placed::<f16>::new(device, &mut random, &x), w.padded::<f16>(device));
            let mut y = Tensor::poisoned(device, expected.shape).unwrap();
            let blocks = 1 + random.below(9) as u32;
            linear_of_span.launch(device, blocks, (x.view(), &w, &mut y)).unwrap();
            let what = format!("{rows} x {columns}, sums of {depth}, x at {}", x.place());
            expected.check(&y, &format!("{what} on {}, {blocks} blocks", describe(device)));
        }
    }
}

fn check_sums<T: Whole>(kernel: &Kernel<(Span<T, (u32, u32), Pitched>, TmaStore<f32, Shape2<64, 16>>, u32)>) {
    for device in devices() {
        let mut random = Random::new(404);
        let x = Matrices::random(&mut random, [1, 20 * 64 - 5, 8], -1);
        for count in [0, 1, 2, 3, 19, 20] {
            let placed = Placed::<T>::new(device, &mut random, &x);
            let mut y = Tensor::poisoned(device, [1, 64, 8]).unwrap();
            kernel.launch(device, 1, (placed.view(), &mut y, count as u32)).unwrap();
            let number = |row, j| if row < x.shape[1] { x.at(0, row, j) } else { 0 };
            let sum = |_, i, j| (0..count).map(|tile| number(tile * 64 + i, j)).sum();
            let what = format!("{count} tiles at {} on {}", placed.place(), describe(device));
            Matrices::filled([1, 64, 8], sum).check(&y, &what);
        }
    }
}

#[test]
fn producer_threads_with_loads_left_are_left_alone() {
    check_sums(sum_of_tiles::<f32>());
    check_sums(sum_of_tiles::<f16>());
}
