//! Operations on rows, forward and backward, against `f64`: rows that are shorter than a tile, as long, longer, and of many tiles.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Tensor};
use cuda_tiles_kernels::rows::{self, RowElement};
use cuda_tiles_suite::testing::devices;

use crate::{assert_close, random};

/// Several blocks of short rows with one that is not full; lengths around those of tiles; many tiles; rows in vectors and others.
const SHAPES: [[usize; 2]; 15] = [
    [1, 1],
    [70, 64],
    [19, 100],
    [33, 128],
    [33, 256],
    [9, 1000],
    [9, 1024],
    [2, 1025],
    [3, 4096],
    [2, 4099],
    [2, 8192],
    [2, 12_296],
    [2, 16_384],
    [2, 17_001],
    [2, 33_000],
];
const EPSILON: f32 = 1e-5;

/// What tests need of an element type: its tensors, and how exact results are relative to the largest.
trait Tested: RowElement {
    const TOLERANCE: f64;
    fn rounded(value: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! tested {
    ($($type:ident $tolerance:literal $rounded:expr, $wide:expr;)*) => { $(
        impl Tested for $type {
            const TOLERANCE: f64 = $tolerance;
            fn rounded(value: f64) -> Self {
                $rounded(value)
            }
            fn wide(self) -> f64 {
                $wide(self)
            }
        }
    )* };
}
tested! {
    f32 1e-5 |value| value as f32, f64::from;
    f16 2e-3 f16::from_f64, f16::to_f64;
    bf16 1e-2 bf16::from_f64, bf16::to_f64;
}

/// Runs a test for each type on each device.
fn for_all(test: [fn(&Device); 3]) {
    for device in devices() {
        test.iter().for_each(|test| test(device));
    }
}

/// Random numbers as elements, and what these are exactly.
fn operand<T: Tested>(count: usize) -> (Vec<T>, Vec<f64>) {
    let elements: Vec<T> = random(count).into_iter().map(|value| T::rounded(value.into())).collect();
    let wide = elements.iter().map(|element| element.wide()).collect();
    (elements, wide)
}

fn tensor<T: Tested, const RANK: usize>(
    device: &Device,
    shape: [usize; RANK],
    values: &[T],
) -> Tensor<T, RANK> {
    Tensor::from_slice(device, shape, values).unwrap()
}

fn room<T: Element, const RANK: usize>(device: &Device, shape: [usize; RANK]) -> Tensor<T, RANK> {
    Tensor::poisoned(device, shape).unwrap()
}

#[track_caller]
fn check<T: Tested, const RANK: usize>(device: &Device, found: &Tensor<T, RANK>, expected: &[f64]) {
    assert_close(device, found.to_vec().unwrap().into_iter().map(T::wide), expected, T::TOLERANCE);
}

fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.sum()
}

fn mean(values: impl Iterator<Item = f64>, columns: usize) -> f64 {
    sum(values) / columns as f64
}

fn softmax(x: &[f64]) -> Vec<f64> {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = sum(x.iter().map(|x| (x - largest).exp()));
    x.iter().map(|x| (x - largest).exp() / total).collect()
}

fn softmax_gradient(y: &[f64], dy: &[f64]) -> Vec<f64> {
    let along = sum(y.iter().zip(dy).map(|(y, dy)| y * dy));
    y.iter().zip(dy).map(|(y, dy)| y * (dy - along)).collect()
}

/// A normalised row before its weight, and the reciprocal deviation.
fn normalised(x: &[f64], centred: bool) -> (Vec<f64>, f64) {
    let centre = if centred { mean(x.iter().copied(), x.len()) } else { 0.0 };
    let scale = 1.0 / (mean(x.iter().map(|x| (x - centre).powi(2)), x.len()) + f64::from(EPSILON)).sqrt();
    (x.iter().map(|x| (x - centre) * scale).collect(), scale)
}

/// The gradient of a row, from that of its normalised form.
fn norm_gradient(x: &[f64], g: &[f64], centred: bool) -> Vec<f64> {
    let (n, scale) = normalised(x, centred);
    let g_mean = if centred { mean(g.iter().copied(), g.len()) } else { 0.0 };
    let product = mean(g.iter().zip(&n).map(|(g, n)| g * n), g.len());
    g.iter().zip(&n).map(|(g, n)| scale * (g - g_mean - n * product)).collect()
}

/// The references' own gradients are those of the references: central differences of `sum(dy * f(x))`.
#[test]
fn closed_forms_are_the_slopes() {
    let (_, x) = operand::<f32>(17);
    let (_, dy) = operand::<f32>(17);
    let slopes = |f: &dyn Fn(&[f64]) -> Vec<f64>| -> Vec<f64> {
        let loss = |x: &[f64]| sum(f(x).iter().zip(&dy).map(|(y, dy)| y * dy));
        let moved = |k: usize, by: f64| {
            let mut x = x.clone();
            x[k] += by;
            loss(&x)
        };
        (0..x.len()).map(|k| (moved(k, 1e-5) - moved(k, -1e-5)) / 2e-5).collect()
    };
    let device = Device::cpu();
    let closed = softmax_gradient(&softmax(&x), &dy);
    assert_close(&device, slopes(&softmax).into_iter(), &closed, 1e-6);
    for centred in [false, true] {
        let closed = norm_gradient(&x, &dy, centred);
        assert_close(&device, slopes(&|x| normalised(x, centred).0).into_iter(), &closed, 1e-6);
    }
    // The logarithm of the sum of exponentials, whose gradient is softmax: the one of cross-entropy but for the label.
    let logarithm = |x: &[f64]| vec![sum(x.iter().map(|x| x.exp())).ln() / dy[0]; 1];
    assert_close(&device, slopes(&logarithm).into_iter(), &softmax(&x), 1e-6);
}

fn softmax_and_gradient<T: Tested>(device: &Device) {
    let stream = device.default_stream();
    for shape @ [rows, columns] in SHAPES {
        let ((x, wide), (dy, dwide)) = (operand::<T>(rows * columns), operand::<T>(rows * columns));
        let mut y = room(device, shape);
        rows::softmax(&stream, &tensor(device, shape, &x), &mut y).unwrap();
        check(device, &y, &wide.chunks(columns).flat_map(softmax).collect::<Vec<_>>());
        // From the rounded result, as the kernel has it.
        let rounded: Vec<f64> = y.to_vec().unwrap().into_iter().map(T::wide).collect();
        let expected: Vec<f64> = rounded
            .chunks(columns)
            .zip(dwide.chunks(columns))
            .flat_map(|(y, dy)| softmax_gradient(y, dy))
            .collect();
        let mut dx = room(device, shape);
        rows::softmax_backward(&stream, &y, &tensor(device, shape, &dy), &mut dx).unwrap();
        // Of a row of one element the gradient is a difference of equal numbers.
        if columns > 1 {
            check(device, &dx, &expected);
        }
    }
}

#[test]
fn softmax_of_rows() {
    for_all([softmax_and_gradient::<f32>, softmax_and_gradient::<f16>, softmax_and_gradient::<bf16>]);
}

/// Without their maximum the exponentials would be infinite, or all zero; whole tiles are -∞.
#[test]
fn softmax_of_extreme_rows() {
    for device in devices() {
        for columns in [100, 17_001] {
            let row = |at: usize| move |k: usize| [k as f64 * 0.01 - 300.0, 3e4, -3e4 + (k % 7) as f64][at];
            let mut x: Vec<f64> = (0..3).flat_map(|at| (0..columns).map(row(at))).collect();
            x[..columns / 2 + 1].fill(f64::NEG_INFINITY);
            let expected: Vec<f64> = x.chunks(columns).flat_map(softmax).collect();
            let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            let mut y = room(device, [3, columns]);
            rows::softmax(&device.default_stream(), &tensor(device, [3, columns], &x), &mut y).unwrap();
            assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 1e-3);
        }
    }
}

fn norms_and_gradients<T: Tested>(device: &Device) {
    let stream = device.default_stream();
    for (shape @ [rows, columns], centred) in
        SHAPES.into_iter().flat_map(|shape| [(shape, false), (shape, true)])
    {
        let ((x, wide), (dy, dwide)) = (operand::<T>(rows * columns), operand::<T>(rows * columns));
        let ((weight, weights), (bias, biases)) = (operand::<T>(columns), operand::<T>(columns));
        let biases = if centred { biases } else { vec![0.0; columns] };
        let (x, dy) = (tensor(device, shape, &x), tensor(device, shape, &dy));
        let (weight, bias) = (tensor(device, [columns], &weight), tensor(device, [columns], &bias));
        let (mut y, mut dx) = (room(device, shape), room(device, shape));
        let (mut dweight, mut dbias) = (room(device, [columns]), room(device, [columns]));
        let (mut centre, mut scale) = (room(device, [rows]), room(device, [rows]));
        if centred {
            rows::layer_norm(&stream, &x, &weight, &bias, EPSILON, &mut y, &mut centre, &mut scale).unwrap();
            rows::layer_norm_backward(
                &stream,
                &x,
                &weight,
                &centre,
                &scale,
                &dy,
                &mut dx,
                &mut dweight,
                &mut dbias,
            )
            .unwrap();
            // Means are near zero, and as exact as sums of numbers up to 2 are.
            let centres = centre.to_vec().unwrap().into_iter().zip(wide.chunks(columns));
            centres.for_each(|(found, row)| {
                let expected = mean(row.iter().copied(), columns);
                assert!(
                    (f64::from(found) - expected).abs() < 1e-5,
                    "{device}: {found} instead of {expected}"
                );
            });
        } else {
            rows::rms_norm(&stream, &x, &weight, EPSILON, &mut y, &mut scale).unwrap();
            rows::rms_norm_backward(&stream, &x, &weight, &scale, &dy, &mut dx, &mut dweight).unwrap();
        }
        let (mut results, mut scales, mut gradients) = (Vec::new(), Vec::new(), Vec::new());
        let (mut of_weights, mut of_biases) = (vec![0.0; columns], vec![0.0; columns]);
        for (x, dy) in wide.chunks(columns).zip(dwide.chunks(columns)) {
            let (n, scale) = normalised(x, centred);
            scales.push(scale);
            results.extend((0..columns).map(|k| n[k] * weights[k] + biases[k]));
            let g: Vec<f64> = dy.iter().zip(&weights).map(|(dy, weight)| dy * weight).collect();
            gradients.extend(norm_gradient(x, &g, centred));
            (0..columns).for_each(|k| {
                of_weights[k] += dy[k] * n[k];
                of_biases[k] += dy[k];
            });
        }
        check(device, &scale, &scales);
        check(device, &y, &results);
        // Of a row of one element the gradients are differences of equal numbers.
        if columns > 1 {
            check(device, &dx, &gradients);
            check(device, &dweight, &of_weights);
        }
        if centred {
            check(device, &dbias, &of_biases);
        }
    }
}

#[test]
fn norms_of_rows() {
    for_all([norms_and_gradients::<f32>, norms_and_gradients::<f16>, norms_and_gradients::<bf16>]);
}

/// The variance of rows far from zero is no difference of large sums. In one row the first tile has another mean than the others.
#[test]
fn layer_norm_of_rows_far_from_zero() {
    for device in devices() {
        // The second is shorter than a tile of the kernel for long rows.
        for columns in [1000, 1029, 20_001] {
            let mut x: Vec<f32> = random(2 * columns).into_iter().map(|x| x + 1000.0).collect();
            x[columns..columns + columns / 3].iter_mut().for_each(|x| *x -= 900.0);
            let wide: Vec<f64> = x.iter().map(|&x| x.into()).collect();
            let expected: Vec<f64> = wide.chunks(columns).flat_map(|x| normalised(x, true).0).collect();
            let (ones, zeros) = (vec![1.0_f32; columns], vec![0.0_f32; columns]);
            let mut y = room(device, [2, columns]);
            rows::layer_norm(
                &device.default_stream(),
                &tensor(device, [2, columns], &x),
                &tensor(device, [columns], &ones),
                &tensor(device, [columns], &zeros),
                EPSILON,
                &mut y,
                &mut room(device, [2]),
                &mut room(device, [2]),
            )
            .unwrap();
            // A mean of 1000 has an error of 6e-5 in f32.
            assert_close(device, y.to_vec().unwrap().into_iter().map(f64::from), &expected, 2e-4);
        }
    }
}

/// More rows than one pass of all blocks takes, and sums that repeat.
#[test]
fn gradients_of_weights_of_many_rows() {
    // By parts of columns, and in one pass.
    for (device, columns) in devices().iter().flat_map(|device| [(device, 70), (device, 72)]) {
        let (rows, shape) = (5003, [5003, columns]);
        let ((x, wide), (dy, dwide)) = (operand::<f32>(rows * columns), operand::<f32>(rows * columns));
        let (weight, scale) = (vec![1.0_f32; columns], random(rows));
        let mut expected = vec![0.0; columns];
        for (at, (x, dy)) in wide.iter().zip(&dwide).enumerate() {
            expected[at % columns] += x * dy * f64::from(scale[at / columns]);
        }
        let (x, dy) = (tensor(device, shape, &x), tensor(device, shape, &dy));
        let (weight, scale) = (tensor(device, [columns], &weight), tensor(device, [rows], &scale));
        let (mut dx, mut dweight) = (room(device, shape), room::<f32, 1>(device, [columns]));
        let mut once = || {
            let stream = device.default_stream();
            rows::rms_norm_backward(&stream, &x, &weight, &scale, &dy, &mut dx, &mut dweight).unwrap();
            dweight.to_vec().unwrap()
        };
        let first = once();
        assert_eq!(first, once());
        assert_close(device, first.into_iter().map(f64::from), &expected, 1e-5);
    }
}

fn cross_entropy_and_gradient<T: Tested>(device: &Device) {
    const IGNORED: i64 = -100;
    let stream = device.default_stream();
    for shape @ [rows, columns] in SHAPES {
        let (logits, wide) = operand::<T>(rows * columns);
        // Of the first row the last column, of the second the first. Then one is ignored.
        let label =
            |row: usize| if row == 2 { IGNORED } else { ((columns - 1) * (row + 1) % columns) as i64 };
        let labels: Vec<i64> = (0..rows).map(label).collect();
        let factors = random(rows);
        let (mut expected, mut sums, mut gradients) = (Vec::new(), Vec::new(), Vec::new());
        for ((x, &label), &factor) in wide.chunks(columns).zip(&labels).zip(&factors) {
            let logarithm = sum(x.iter().map(|x| x.exp())).ln();
            sums.push(logarithm);
            if label == IGNORED {
                expected.push(0.0);
                gradients.extend(vec![0.0; columns]);
            } else {
                expected.push(logarithm - x[label as usize]);
                let chosen = |k| if k as i64 == label { 1.0 } else { 0.0 };
                gradients
                    .extend((0..columns).map(|k| ((x[k] - logarithm).exp() - chosen(k)) * f64::from(factor)));
            }
        }
        let mut logits = tensor(device, shape, &logits);
        let labels = Tensor::from_slice(device, [rows], &labels).unwrap();
        let factors = tensor(device, [rows], &factors);
        let (mut losses, mut logarithms) = (room(device, [rows]), room(device, [rows]));
        rows::cross_entropy(&stream, &logits, &labels, IGNORED, &mut losses, &mut logarithms).unwrap();
        assert_close(device, logarithms.to_vec().unwrap().into_iter().map(f64::from), &sums, 1e-5);
        let close = |(found, expected): (f32, &f64)| (f64::from(found) - expected).abs() < 1e-4;
        assert!(losses.to_vec().unwrap().into_iter().zip(&expected).all(close), "{device}: {shape:?}");
        let mut dlogits = room(device, shape);
        rows::cross_entropy_backward(&stream, &logits, &labels, IGNORED, &logarithms, &factors, &mut dlogits)
            .unwrap();
        let close = |(found, expected): (T, &f64)| (found.wide() - expected).abs() < T::TOLERANCE;
        let found = dlogits.to_vec().unwrap();
        assert!(found.iter().copied().zip(&gradients).all(close), "{device}: {shape:?}");
        rows::cross_entropy_backward_in_place(&stream, &mut logits, &labels, IGNORED, &logarithms, &factors)
            .unwrap();
        let bits = |tensor: &[T]| tensor.iter().map(|x| x.wide().to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&logits.to_vec().unwrap()), bits(&found), "{device}: {shape:?}");
    }
}

#[test]
fn cross_entropy_of_rows() {
    for_all([
        cross_entropy_and_gradient::<f32>,
        cross_entropy_and_gradient::<f16>,
        cross_entropy_and_gradient::<bf16>,
    ]);
}

/// Labels that are no column, hidden logits, and rows that are ignored whatever is in them.
#[test]
fn labels_and_logits_that_are_special() {
    const SHAPE: [usize; 2] = [5, 9000];
    for device in devices() {
        let stream = device.default_stream();
        let mut logits = random(SHAPE[0] * SHAPE[1]);
        logits[..8500].fill(f32::NEG_INFINITY);
        logits[4 * 9000..].fill(f32::NAN);
        let labels = Tensor::from_slice(device, [5], &[8999, 9000, -1, 1_i64 << 40, 7]).unwrap();
        let mut logits = tensor(device, SHAPE, &logits);
        let ones = Tensor::full(device, [5], 1.0_f32).unwrap();
        let (mut losses, mut logarithms) = (room(device, [5]), room(device, [5]));
        rows::cross_entropy(&stream, &logits, &labels, 7, &mut losses, &mut logarithms).unwrap();
        let losses = losses.to_vec().unwrap();
        assert!(
            losses[0].is_finite() && losses[1..4].iter().all(|loss| loss.is_nan()),
            "{device}: {losses:?}"
        );
        assert_eq!(losses[4], 0.0);
        rows::cross_entropy_backward_in_place(&stream, &mut logits, &labels, 7, &logarithms, &ones).unwrap();
        let found = logits.to_vec().unwrap();
        let (first, others) = found.split_at(9000);
        assert!(first[..8500].iter().all(|&x| x == 0.0) && first[8500..].iter().all(|x| x.is_finite()));
        assert!(
            others[..3 * 9000].iter().all(|x| x.is_nan()) && others[3 * 9000..].iter().all(|&x| x == 0.0)
        );
    }
}

#[test]
fn operands_that_do_not_go_together_are_told_why() {
    let device = Device::cpu();
    let stream = device.default_stream();
    let (x, weight) = (room::<f32, 2>(&device, [2, 3]), room::<f32, 1>(&device, [3]));
    let (mut y, mut deviation) = (room::<f32, 2>(&device, [2, 3]), room::<f32, 1>(&device, [2]));
    let mut told = |weight: &Tensor<f32, 1>, epsilon, y: &mut Tensor<f32, 2>| {
        rows::rms_norm(&stream, &x, weight, epsilon, y, &mut deviation).unwrap_err().to_string()
    };
    assert_eq!(told(&weight, -1.0, &mut y), "rms_norm: epsilon is zero or positive, and not -1");
    assert!(told(&weight, f32::NAN, &mut y).contains("not NaN"));
    let expected = "rms_norm: `weight` has shape [2], and the rows of the operation want [3]";
    assert_eq!(told(&room(&device, [2]), 0.0, &mut y), expected);
    assert!(told(&weight, 0.0, &mut room(&device, [3, 2])).contains("`y` has shape [3, 2]"));
    // Nothing to do, but for the sums over no rows.
    let (none, mut dweight) = (room::<f32, 2>(&device, [0, 3]), room::<f32, 1>(&device, [3]));
    let of_rows = room::<f32, 1>(&device, [0]);
    let mut dx = room(&device, [0, 3]);
    rows::rms_norm_backward(&stream, &none, &weight, &of_rows, &none, &mut dx, &mut dweight).unwrap();
    assert_eq!(dweight.to_vec().unwrap(), [0.0; 3]);
    let (labels, no_logits) = (room::<i64, 1>(&device, [2]), room::<f32, 2>(&device, [2, 0]));
    let error = rows::cross_entropy(
        &stream,
        &no_logits,
        &labels,
        0,
        &mut room(&device, [2]),
        &mut room(&device, [2]),
    );
    assert!(error.unwrap_err().to_string().contains("one of at least one column"));
}
