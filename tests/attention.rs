//! Attention against sums in `f64`, on every device: any numbers of matrices, queries and keys, and the same bits each time.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Tensor};
use cuda_tiles_kernels::attention::{Attend, attention};
use cuda_tiles_suite::testing::{Random, check_repeated, devices, repeats};

/// An element type of the tests.
trait Value: Attend + Cast<f32> {
    fn of(value: f32) -> Self;
    /// What results may differ by, relative to the largest.
    const TOLERANCE: f64;
}

impl Value for f16 {
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
    const TOLERANCE: f64 = 2e-3;
}

impl Value for bf16 {
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
    const TOLERANCE: f64 = 1.5e-2;
}

/// What attention is asked for.
#[derive(Clone, Copy, Debug)]
struct Problem {
    matrices: usize,
    queries: usize,
    keys: usize,
    head: usize,
    scale: f32,
    causal: bool,
}

/// Attention of one query in `f64`: the weighted values.
fn attention_of(query: &[f32], keys: &[f32], values: &[f32], scale: f32) -> Vec<f64> {
    let head = query.len();
    let dot = |key: &[f32]| query.iter().zip(key).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    let scores: Vec<f64> = keys.chunks(head).map(|key| dot(key) * f64::from(scale)).collect();
    let largest = scores.iter().fold(f64::NEG_INFINITY, |largest, &x| largest.max(x));
    let weights: Vec<f64> = scores.iter().map(|x| (x - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let mut result = vec![0.0; head];
    for (value, weight) in values.chunks(head).zip(&weights) {
        result.iter_mut().zip(value).for_each(|(result, x)| *result += weight / sum * f64::from(*x));
    }
    result
}

/// Numbers between -2 and 2, as elements and as what these are.
fn numbers<T: Value>(random: &mut Random, count: usize) -> (Vec<T>, Vec<f32>) {
    let elements: Vec<T> = (0..count).map(|_| T::of(random.below(4001) as f32 / 1000.0 - 2.0)).collect();
    let values = elements.iter().map(|&x| x.cast()).collect();
    (elements, values)
}

fn check<T: Value>(device: &Device, random: &mut Random, problem: Problem) {
    let Problem { matrices, queries, keys, head, scale, causal } = problem;
    let what = format!("{device}: {problem:?} of {}", std::any::type_name::<T>());
    let ((q, query), (k, key), (v, value)) = (
        numbers::<T>(random, matrices * queries * head),
        numbers::<T>(random, matrices * keys * head),
        numbers::<T>(random, matrices * keys * head),
    );
    let tensor = |rows, elements| Tensor::from_vec(device, [matrices, rows, head], elements).unwrap();
    let (q, k, v) = (tensor(queries, q), tensor(keys, k), tensor(keys, v));
    let mut out = Tensor::poisoned(device, [matrices, queries, head]).unwrap();
    let result = attention(&q, &k, &v, &mut out, scale, causal);
    if keys == 0 || (causal && queries > keys) {
        let told = result.expect_err(&what).to_string();
        assert!(
            told.contains(if keys == 0 { "at least one key" } else { "would see none" }),
            "{what}: {told}"
        );
        return;
    }
    result.unwrap_or_else(|error| panic!("{what}: {error}"));
    let expected: Vec<f64> = (0..matrices * queries)
        .flat_map(|row| {
            let (matrix, i) = (row / queries, row % queries);
            let seen = if causal { keys - queries + i + 1 } else { keys };
            let part = matrix * keys * head..(matrix * keys + seen) * head;
            attention_of(&query[row * head..][..head], &key[part.clone()], &value[part], scale)
        })
        .collect();
    let largest = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let found = out.to_vec().unwrap();
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        let found = f64::from(Cast::<f32>::cast(found));
        let is_close = (found - expected).abs() <= T::TOLERANCE * largest;
        assert!(is_close, "{what}: element {at} is {found} instead of {expected}");
    }
}

#[test]
fn queries_and_keys_at_the_edges_of_tiles() {
    for device in devices() {
        let mut random = Random::new();
        for (head, queries, keys) in
            [(64, 1, 1), (64, 70, 200), (64, 200, 520), (128, 300, 300), (128, 129, 1), (128, 256, 257)]
        {
            for causal in [false, true] {
                let problem = Problem { matrices: 2, queries, keys, head, scale: 0.3, causal };
                check::<f16>(device, &mut random, problem);
                check::<bf16>(device, &mut random, problem);
            }
        }
    }
}

/// A causal mask over many keys has the kernel whose warpgroups take turns.
#[test]
fn causal_masks_over_many_keys() {
    for device in devices() {
        let mut random = Random::new();
        for (queries, keys) in [(1, 2048), (70, 2049), (129, 2047), (200, 2177)] {
            let problem = Problem { matrices: 1, queries, keys, head: 64, scale: 0.3, causal: true };
            check::<f16>(device, &mut random, problem);
            check::<bf16>(device, &mut random, problem);
        }
    }
}

#[test]
fn random_problems() {
    for device in devices() {
        let mut random = Random::new();
        let (count, most) = if device.is_gpu() { (300, 330) } else { (8, 150) };
        for _ in 0..count {
            let (batch, heads) = (random.among(&[0, 1, 1, 2]), random.among(&[1, 1, 3, 5]));
            let [first, second] = [random.size(most), random.size(most)];
            let causal = random.below(2) == 0;
            // Mostly as many keys as a causal mask wants.
            let (queries, keys) = if causal && random.below(8) > 0 {
                (first.min(second), first.max(second))
            } else {
                (first, second)
            };
            let scale = random.among(&[0.125, 0.3, 1.0, 0.01]);
            let problem = Problem {
                matrices: batch * heads,
                queries,
                keys,
                head: random.among(&[64, 128]),
                scale,
                causal,
            };
            if random.below(2) == 0 {
                check::<f16>(device, &mut random, problem);
            } else {
                check::<bf16>(device, &mut random, problem);
            }
        }
    }
}

fn check_stable<T: Value<Bits: PartialEq>>(
    device: &Device,
    [matrices, queries, keys, head]: [usize; 4],
    causal: bool,
) {
    let mut random = Random::new();
    let mut tensor = |rows| {
        let elements = numbers::<T>(&mut random, matrices * rows * head).0;
        Tensor::from_vec(device, [matrices, rows, head], elements).unwrap()
    };
    let (q, k, v) = (tensor(queries), tensor(keys), tensor(keys));
    check_repeated(repeats(device, 1000), || {
        let mut out = Tensor::<T, 3>::poisoned(device, [matrices, queries, head]).unwrap();
        attention(&q, &k, &v, &mut out, 0.3, causal).unwrap();
        out.to_vec().unwrap()
    });
}

/// A thousand launches, each to the bit like the first.
#[test]
fn launches_repeat_to_the_bit() {
    for device in devices() {
        let rows = if device.is_gpu() { 700 } else { 140 };
        check_stable::<f16>(device, [3, rows - 5, rows, 128], true);
        check_stable::<bf16>(device, [2, rows, rows / 2 + 3, 64], false);
    }
}
