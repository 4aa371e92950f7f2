//! Products with weights of four bits, against plain Rust.

use super::devices;
use crate::test_values::Random;
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_streams::weights::{GROUP, product_with_integers, quantised};

type Quantised<T> = Kernel<(Span<T, (u32, u32)>, SpanMut<i4x2, (u32, u32)>, SpanMut<T, (u32, u32)>)>;
type Product<T> =
    Kernel<(Span<T, (u32, u32)>, Span<i4x2, (u32, u32)>, Span<T, (u32, u32)>, SpanMut<T, (u32, u32)>)>;

/// Element `k` of a row of pairs.
fn weight(pairs: &[i4x2], k: usize) -> f64 {
    let pair = pairs[k / GROUP * (GROUP / 2) + k % (GROUP / 2)];
    let half = if k % GROUP < GROUP / 2 { pair.low() } else { pair.high() };
    half.to_i8().into()
}

/// Random weights are quantised within half a step, and multiplied as these integers and scales say, within the rounding of the result.
fn check<T>(quantised: &Quantised<T>, product: &Product<T>, rounding: f64)
where
    T: Element + Cast<f64>,
    f64: Cast<T>,
{
    let mut random = Random::new(501);
    for [tokens, outputs, depth] in [[1, 64, 128], [16, 128, 256], [17, 65, 1024], [3, 200, 384], [40, 8, 0]]
    {
        let mut numbers =
            |count: usize| -> Vec<T> { (0..count).map(|_| Cast::cast(random.unit() * 2.0 - 1.0)).collect() };
        let (x, mut weights) = (numbers(tokens * depth), numbers(outputs * depth));
        // A group of zeros has a scale of zero.
        weights.iter_mut().take(GROUP.min(depth)).for_each(|weight| *weight = T::ZERO);
        let groups = depth / GROUP;
        for device in devices() {
            let place = format!("{} of {tokens} x {outputs} x {depth} on {device}", T::NAME);
            let activations = Tensor::from_slice(device, [tokens, depth], &x).unwrap();
            let floats = Tensor::from_slice(device, [outputs, depth], &weights).unwrap();
            let mut integers = Tensor::poisoned(device, [outputs, depth / 2]).unwrap();
            let mut scales = Tensor::<T, 2>::poisoned(device, [outputs, groups]).unwrap();
            let mut y = Tensor::<T, 2>::poisoned(device, [tokens, outputs]).unwrap();
            let grid = Grid::cover([outputs, groups], [16, 1]);
            quantised.launch(device, grid, (&floats, &mut integers, &mut scales)).unwrap();
            let grid = Grid::cover([tokens, outputs], [16, 64]);
            product.launch(device, grid, (&activations, &integers, &scales, &mut y)).unwrap();
            let pairs = integers.to_vec().unwrap();
            let scales: Vec<f64> = scales.to_vec().unwrap().into_iter().map(Cast::cast).collect();
            let scaled = |j: usize, k: usize| {
                weight(&pairs[j * depth / 2..][..depth / 2], k) * scales[j * groups + k / GROUP]
            };
            for j in 0..outputs {
                for k in 0..depth {
                    let (exact, scale): (f64, _) =
                        (weights[j * depth + k].cast(), scales[j * groups + k / GROUP]);
                    // The greatest magnitude is 7 scales, but for the rounding of the scale.
                    let error = (scaled(j, k) - exact).abs();
                    assert!(
                        error <= (0.5 + 7.0 * rounding) * scale,
                        "{place}: weight {j}, {k} is off by {error}"
                    );
                }
            }
            for (i, got) in y.to_vec().unwrap().into_iter().enumerate() {
                let (token, j) = (i / outputs, i % outputs);
                let products = (0..depth).map(|k| {
                    let x: f64 = x[token * depth + k].cast();
                    x * scaled(j, k)
                });
                let (sum, sizes) = products.fold((0.0, 0.0), |(sum, sizes), x| (sum + x, sizes + x.abs()));
                // Tensor cores add with some 22 bits.
                let (got, bound): (f64, _) =
                    (got.cast(), sum.abs() * rounding + sizes * 2f64.powi(-20) + 1e-7);
                assert!((got - sum).abs() <= bound, "{place}: {token}, {j} is {got}, expected {sum}");
            }
        }
    }
}

#[test]
fn weights_of_four_bits() {
    check::<f16>(quantised::<f16>(), product_with_integers::<f16>(), 2f64.powi(-11));
    check::<bf16>(quantised::<bf16>(), product_with_integers::<bf16>(), 2f64.powi(-8));
}
