//! The gradients of attention against sums in `f64`, on every device: any numbers of matrices, queries and keys, shared keys, and the same bits
//! each time.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Error, Tensor};
use cuda_tiles_kernels::attention::{Attend, attention_backward, attention_with_logarithms};
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
    const TOLERANCE: f64 = 3e-3;
}

impl Value for bf16 {
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
    const TOLERANCE: f64 = 2e-2;
}

/// What gradients are asked for.
#[derive(Clone, Copy, Debug)]
struct Problem {
    /// Matrices of keys, and of queries for each of them.
    matrices: usize,
    group: usize,
    queries: usize,
    keys: usize,
    head: usize,
    scale: f32,
    causal: bool,
}

/// The results in `f64`: of attention, logarithms, and gradients of queries, keys and values.
struct Expected {
    results: Vec<f64>,
    logarithms: Vec<f64>,
    gradients: [Vec<f64>; 3],
}

/// By the definition, query after query: with the weights `p` of a query, the gradient of its scores is `p (dp - sum(p dp))`. The sum is
/// `dout out`, of the results `out` that the gradients are asked for: how these were rounded is part of the question.
fn expected(problem: Problem, [q, k, v, dout, out]: [&[f64]; 5]) -> Expected {
    let Problem { matrices, group, queries, keys, head, scale, causal } = problem;
    let (of_queries, of_keys) = (matrices * group * queries * head, matrices * keys * head);
    let (mut dq, mut dk, mut dv) = (vec![0.0; of_queries], vec![0.0; of_keys], vec![0.0; of_keys]);
    let (mut results, mut logarithms) = (vec![0.0; of_queries], Vec::new());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let add = |to: &mut [f64], factor: f64, x: &[f64]| {
        to.iter_mut().zip(x).for_each(|(to, x)| *to += factor * x);
    };
    for row in 0..matrices * group * queries {
        let (first, query) = (row / queries / group * keys, row % queries);
        let seen = if causal { keys - queries + query + 1 } else { keys };
        let at = row * head..(row + 1) * head;
        let of = |key: usize| (first + key) * head..(first + key + 1) * head;
        let scores: Vec<f64> =
            (0..seen).map(|key| dot(&q[at.clone()], &k[of(key)]) * f64::from(scale)).collect();
        let largest = scores.iter().fold(f64::NEG_INFINITY, |largest, &x| largest.max(x));
        let logarithm = largest + scores.iter().map(|x| (x - largest).exp()).sum::<f64>().ln();
        let weights: Vec<f64> = scores.iter().map(|x| (x - logarithm).exp()).collect();
        let by_weights: Vec<f64> = (0..seen).map(|key| dot(&dout[at.clone()], &v[of(key)])).collect();
        let mean = dot(&dout[at.clone()], &out[at.clone()]);
        for key in 0..seen {
            let by_score = weights[key] * (by_weights[key] - mean) * f64::from(scale);
            add(&mut results[at.clone()], weights[key], &v[of(key)]);
            add(&mut dv[of(key)], weights[key], &dout[at.clone()]);
            add(&mut dk[of(key)], by_score, &q[at.clone()]);
            add(&mut dq[at.clone()], by_score, &k[of(key)]);
        }
        logarithms.push(logarithm);
    }
    Expected { results, logarithms, gradients: [dq, dk, dv] }
}

/// Numbers between -1 and 1, as elements and as what these are.
fn numbers<T: Value>(random: &mut Random, count: usize) -> (Vec<T>, Vec<f64>) {
    let elements: Vec<T> = (0..count).map(|_| T::of(random.below(2001) as f32 / 1000.0 - 1.0)).collect();
    let values = elements.iter().map(|&x| f64::from(Cast::<f32>::cast(x))).collect();
    (elements, values)
}

/// The elements of a tensor.
fn wide<T: Value>(tensor: &Tensor<T, 3>) -> Vec<f64> {
    tensor.to_vec().unwrap().into_iter().map(|x| f64::from(Cast::<f32>::cast(x))).collect()
}

fn check<T: Value>(device: &Device, random: &mut Random, problem: Problem) {
    let Problem { matrices, group, queries, keys, head, scale, causal } = problem;
    let what = format!("{device}: {problem:?} of {}", std::any::type_name::<T>());
    let (of_queries, of_keys) = ([matrices * group, queries, head], [matrices, keys, head]);
    let mut random_tensor = |shape: [usize; 3]| {
        let (elements, values) = numbers::<T>(random, shape.iter().product());
        (Tensor::from_vec(device, shape, elements).unwrap(), values)
    };
    let ((q, query), (k, key)) = (random_tensor(of_queries), random_tensor(of_keys));
    let ((v, value), (dout, by_result)) = (random_tensor(of_keys), random_tensor(of_queries));
    let stream = device.default_stream();
    let mut out = Tensor::poisoned(device, of_queries).unwrap();
    let mut logarithms = Tensor::poisoned(device, [matrices * group, queries]).unwrap();
    attention_with_logarithms(&stream, &q, &k, &v, &mut out, &mut logarithms, scale, causal).expect(&what);
    let mut gradients =
        [of_queries, of_keys, of_keys].map(|shape| Tensor::<T, 3>::poisoned(device, shape).unwrap());
    let [dq, dk, dv] = &mut gradients;
    attention_backward(&stream, &q, &k, &v, &out, &logarithms, &dout, dq, dk, dv, scale, causal)
        .expect(&what);
    let result = wide(&out);
    let expected = expected(problem, [&query, &key, &value, &by_result, &result]);
    for (found, wanted) in logarithms.to_vec().unwrap().into_iter().zip(&expected.logarithms) {
        assert!(
            (f64::from(found) - wanted).abs() < 1e-3,
            "{what}: a logarithm is {found} instead of {wanted}"
        );
    }
    let compare = |name: &str, found: &[f64], wanted: &[f64]| {
        let largest = wanted.iter().fold(0.05_f64, |largest, x| largest.max(x.abs()));
        assert_eq!(found.len(), wanted.len());
        for (at, (found, wanted)) in found.iter().zip(wanted).enumerate() {
            let is_close = (found - wanted).abs() <= T::TOLERANCE * largest;
            assert!(is_close, "{what}: element {at} of {name} is {found} instead of {wanted}");
        }
    };
    compare("out", &result, &expected.results);
    for (name, (found, wanted)) in
        ["dq", "dk", "dv"].into_iter().zip(gradients.iter().zip(&expected.gradients))
    {
        compare(name, &wide(found), wanted);
    }
}

#[test]
fn queries_and_keys_at_the_edges_of_tiles() {
    for device in devices() {
        let mut random = Random::new();
        for (head, queries, keys) in [(64, 1, 1), (64, 70, 130), (128, 129, 129), (128, 64, 192)] {
            for (causal, group) in [(false, 1), (true, 2)] {
                let problem = Problem { matrices: 2, group, queries, keys, head, scale: 0.3, causal };
                check::<f16>(device, &mut random, problem);
                check::<bf16>(device, &mut random, problem);
            }
        }
    }
}

#[test]
fn random_problems() {
    for device in devices() {
        let mut random = Random::new();
        let (count, most) = if device.is_gpu() { (200, 400) } else { (6, 100) };
        for _ in 0..count {
            let causal = random.below(2) == 0;
            let [first, second] = [random.size(most), random.size(most)];
            let (queries, keys) =
                if causal { (first.min(second), first.max(second)) } else { (first, second) };
            let problem = Problem {
                matrices: random.among(&[1, 2, 3]),
                group: random.among(&[1, 1, 3]),
                queries,
                keys: keys.max(1),
                head: random.among(&[64, 128]),
                scale: random.among(&[0.125, 0.3, 1.0, 0.01]),
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

/// Launches, each to the bit like the first: no sum depends on the order of blocks.
#[test]
fn launches_repeat_to_the_bit() {
    for device in devices() {
        let rows = if device.is_gpu() { 700 } else { 100 };
        let (mut random, stream) = (Random::new(), device.default_stream());
        let mut tensor = |shape: [usize; 3]| {
            Tensor::from_vec(device, shape, numbers::<f16>(&mut random, shape.iter().product()).0).unwrap()
        };
        let (q, k, v) = (tensor([4, rows, 64]), tensor([2, rows, 64]), tensor([2, rows, 64]));
        let (out, dout) = (tensor([4, rows, 64]), tensor([4, rows, 64]));
        let logarithms = Tensor::full(device, [4, rows], 3.0_f32).unwrap();
        check_repeated(repeats(device, 300), || {
            let mut gradients =
                [4, 2, 2].map(|matrices| Tensor::<f16, 3>::poisoned(device, [matrices, rows, 64]).unwrap());
            let [dq, dk, dv] = &mut gradients;
            attention_backward(&stream, &q, &k, &v, &out, &logarithms, &dout, dq, dk, dv, 0.1, true).unwrap();
            gradients.iter().flat_map(|gradient| gradient.to_vec().unwrap()).collect()
        });
    }
}

/// Keys that no query sees have no gradient.
#[test]
fn without_queries_the_gradients_of_keys_are_zero() {
    for device in devices() {
        let stream = device.default_stream();
        let none = || Tensor::<f16, 3>::zeros(device, [2, 0, 64]).unwrap();
        let keys = Tensor::full(device, [2, 3, 64], f16::ONE).unwrap();
        let logarithms = Tensor::<f32, 2>::zeros(device, [2, 0]).unwrap();
        let [mut dk, mut dv] = [0; 2].map(|_| Tensor::<f16, 3>::poisoned(device, [2, 3, 64]).unwrap());
        attention_backward(
            &stream,
            &none(),
            &keys,
            &keys,
            &none(),
            &logarithms,
            &none(),
            &mut none(),
            &mut dk,
            &mut dv,
            0.1,
            false,
        )
        .unwrap();
        assert_eq!(
            (dk.to_vec().unwrap(), dv.to_vec().unwrap()),
            (vec![f16::ZERO; 384], vec![f16::ZERO; 384])
        );
    }
}

#[test]
fn operands_that_do_not_go_together_are_refused() {
    let device = Device::cpu();
    let stream = device.default_stream();
    let of = |shape| Tensor::<f16, 3>::zeros(&device, shape).unwrap();
    let (q, k, logarithms) = (of([2, 5, 64]), of([1, 7, 64]), Tensor::zeros(&device, [2, 5]).unwrap());
    let (mut dq, mut dk, mut dv) = (of([2, 5, 64]), of([2, 7, 64]), of([1, 7, 64]));
    let error =
        attention_backward(&stream, &q, &k, &k, &q, &logarithms, &q, &mut dq, &mut dk, &mut dv, 0.1, true);
    let Err(Error::Operands { operation: "attention_backward", problem }) = error else {
        panic!("{error:?}")
    };
    assert!(problem.contains("`dk` has shape [2, 7, 64]"), "{problem}");
}
