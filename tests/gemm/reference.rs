//! Random matrices, what is asked of their product, and its check against sums in `f64`.

use std::ops::Range;

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Tensor, TensorView, TensorViewMut};
use cuda_tiles_kernels::gemm::{Activation, Bits, Decomposition, Gemm, Multiply, Plan};
use cuda_tiles_suite::testing::Random;

/// An element type of the tests.
pub(crate) trait Value: Element {
    /// Small numbers, about a third of them zero, all of which the type has.
    fn of(number: usize) -> Self;
    fn to_f64(self) -> f64;
    /// The relative error of rounding to the type.
    const ROUNDING: f64;
}

macro_rules! values {
    ($($type:ident $rounding:literal $of:expr, $to:expr;)*) => { $(
        impl Value for $type {
            const ROUNDING: f64 = $rounding;
            fn of(number: usize) -> Self {
                let number = (number % 33) as f32 - 16.0;
                ($of)(number)
            }
            fn to_f64(self) -> f64 {
                ($to)(self)
            }
        }
    )* };
}
values! {
    f16 0.0005 |x| f16::from_f32(x / 8.0), |x: f16| x.to_f64();
    bf16 0.004 |x| bf16::from_f32(x / 8.0), |x: bf16| x.to_f64();
    tf32 0.0 |x| tf32::from_f32(x / 8.0), |x: tf32| f64::from(x.to_f32());
    f8e4m3 0.0 |x: f32| f8e4m3::from_f32(x / 8.0), |x: f8e4m3| f64::from(x.to_f32());
    f8e5m2 0.0 |x: f32| f8e5m2::from_f32((x / 4.0).round() / 2.0), |x: f8e5m2| f64::from(x.to_f32());
    f32 1e-7 |x| x / 8.0, f64::from;
    f64 1e-15 |x: f32| f64::from(x) / 8.0, |x| x;
    i8 0.0 |x: f32| x as i8 * 7, f64::from;
    u8 0.0 |x: f32| (x + 16.0) as u8 * 7, f64::from;
    i32 0.0 |x: f32| x as i32, f64::from;
}

/// Matrices that lie in some way: a tensor, and what of it they are.
pub(crate) struct Matrices<T> {
    tensor: Tensor<T, 3>,
    shape: [usize; 3],
    transposed: bool,
    first: usize,
}

impl<T: Value> Matrices<T> {
    /// `batches` matrices of random elements: row by row or column by column, with or without padding, and beginning anywhere.
    pub(crate) fn random(
        device: &Device,
        random: &mut Random,
        [batches, rows, columns]: [usize; 3],
        transposed: bool,
    ) -> Self {
        let first = if random.below(4) == 0 { random.below(9) } else { 0 };
        let right = if transposed { rows } else { columns };
        let width = match random.below(3) {
            0 => right + first,
            1 => (right + first).next_multiple_of(16),
            _ => right + first + random.below(20),
        };
        Self::random_in(device, random, [batches, rows, columns], transposed, first..width)
    }

    /// The rows in memory begin at multiples of 128 elements.
    pub(crate) fn random_in_lines(
        device: &Device,
        random: &mut Random,
        [batches, rows, columns]: [usize; 3],
        transposed: bool,
    ) -> Self {
        let right = if transposed { rows } else { columns };
        let width = right.next_multiple_of(128);
        Self::random_in(device, random, [batches, rows, columns], transposed, 0..width)
    }

    /// The rows in memory have `places.end` elements, and those in use begin at `places.start`.
    pub(crate) fn random_in(
        device: &Device,
        random: &mut Random,
        [batches, rows, columns]: [usize; 3],
        transposed: bool,
        places: Range<usize>,
    ) -> Self {
        let down = if transposed { columns } else { rows };
        let Range { start: first, end: width } = places;
        let values: Vec<T> = (0..batches * down * width).map(|_| T::of(random.below(1 << 20))).collect();
        let tensor = Tensor::from_vec(device, [batches, down, width], values).unwrap();
        Self { tensor, shape: [batches, rows, columns], transposed, first }
    }

    fn right(&self) -> usize {
        if self.transposed { self.shape[1] } else { self.shape[2] }
    }

    pub(crate) fn view(&self) -> TensorView<'_, T, 3> {
        let view = self.tensor.view().slice(2, self.first..self.first + self.right()).unwrap();
        if self.transposed { view.permute([0, 2, 1]).unwrap() } else { view }
    }

    pub(crate) fn view_mut(&mut self) -> TensorViewMut<'_, T, 3> {
        let range = self.first..self.first + self.right();
        let view = self.tensor.view_mut().slice(2, range).unwrap();
        if self.transposed { view.permute([0, 2, 1]).unwrap() } else { view }
    }

    pub(crate) fn values(&self) -> Vec<f64> {
        self.view().to_vec().unwrap().into_iter().map(Value::to_f64).collect()
    }
}

pub(crate) fn activated(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::None => x,
        Activation::Relu => x.max(0.0),
        Activation::Gelu => x / 2.0 * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x * x * x)).tanh()),
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

/// What a test asks of a product.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) sizes: [usize; 4],
    pub(crate) transposed: [bool; 2],
    pub(crate) alpha: f32,
    pub(crate) beta: f32,
    pub(crate) has_bias: bool,
    pub(crate) activation: Activation,
    pub(crate) fast: bool,
}

impl Wish {
    pub(crate) fn random(random: &mut Random, most: usize) -> Self {
        Self {
            sizes: [random.among(&[1, 1, 1, 2, 3]), random.size(most), random.size(most), random.size(most)],
            transposed: [random.below(2) == 0, random.below(2) == 0],
            alpha: random.among(&[1.0, 1.0, 0.5, -2.0]),
            beta: random.among(&[0.0, 0.0, 1.0, -0.5]),
            has_bias: random.below(2) == 0,
            activation: random.among(&[
                Activation::None,
                Activation::None,
                Activation::Relu,
                Activation::Gelu,
                Activation::Silu,
            ]),
            fast: random.below(2) == 0,
        }
    }
}

/// A type of sums, and how it takes a wish.
pub(crate) trait Scale: Number {
    fn of(x: f32) -> Self;
    fn activate<O: Element>(gemm: Gemm<'_, O, Self>, activation: Activation) -> Gemm<'_, O, Self>;
    const HAS_ACTIVATIONS: bool = false;
}

impl Scale for f32 {
    const HAS_ACTIVATIONS: bool = true;
    fn of(x: f32) -> Self {
        x
    }
    fn activate<O: Element>(gemm: Gemm<'_, O, Self>, activation: Activation) -> Gemm<'_, O, Self> {
        gemm.activation(activation)
    }
}

macro_rules! plain_scales {
    ($($type:ident)*) => { $(
        impl Scale for $type {
            fn of(x: f32) -> Self {
                x as $type
            }
            fn activate<O: Element>(gemm: Gemm<'_, O, Self>, _activation: Activation) -> Gemm<'_, O, Self> {
                gemm
            }
        }
    )* };
}
plain_scales!(f64 i32);

/// Multiplies as wished, by the usual plan or by any, and compares with sums in `f64`.
pub(crate) fn check<T, U, O>(device: &Device, random: &mut Random, wish: Wish)
where
    T: Value + Multiply<U, O, Sum: Scale>,
    U: Value + Element<Bits: Bits>,
    O: Value,
{
    check_by::<T, U, O>(device, random, wish, |random, plans| match random.below(2) {
        0 => Some(random.among(plans)),
        _ => None,
    });
}

/// Multiplies as wished, by the plan that `choose` picks or the usual one, and compares with sums in `f64`.
pub(crate) fn check_by<T, U, O>(
    device: &Device,
    random: &mut Random,
    wish: Wish,
    choose: impl FnOnce(&mut Random, &[Plan]) -> Option<Plan>,
) where
    T: Value + Multiply<U, O, Sum: Scale>,
    U: Value + Element<Bits: Bits>,
    O: Value,
{
    let [batches, m, n, k] = wish.sizes;
    let (a_batches, b_batches) = (random.among(&[1, batches]), random.among(&[1, batches]));
    let a = Matrices::<T>::random(device, random, [a_batches, m, k], wish.transposed[0]);
    let b = Matrices::<U>::random(device, random, [b_batches, k, n], wish.transposed[1]);
    let mut c = Matrices::<O>::random(device, random, [batches, m, n], false);
    let bias: Vec<O> = (0..n).map(|_| O::of(random.below(1 << 20))).collect();
    let bias = Tensor::from_vec(device, [n], bias).unwrap();
    let before = c.values();
    let (alpha, beta) = (<T::Sum as Scale>::of(wish.alpha), <T::Sum as Scale>::of(wish.beta));

    let mut call =
        T::Sum::activate(Gemm::new(), wish.activation).alpha(alpha).beta(beta).fast_accumulation(wish.fast);
    if wish.has_bias {
        call = call.bias(&bias);
    }
    let (_, plans) = call.plans::<T, U>(a.view(), b.view(), c.view()).unwrap();
    let plan = choose(random, &plans);
    if let Some(plan) = plan {
        call = call.plan(plan);
    }
    let what = format!(
        "{device}: {} x {} to {}, {wish:?}, {plan:?}, strides {:?} {:?} {:?}",
        std::any::type_name::<T>(),
        std::any::type_name::<U>(),
        std::any::type_name::<O>(),
        a.view().strides(),
        b.view().strides(),
        c.view().strides()
    );
    let outside = |c: &Matrices<O>| -> Vec<f64> {
        let all = c.tensor.to_vec().unwrap().into_iter().map(Value::to_f64).collect::<Vec<_>>();
        let width = c.tensor.shape()[2];
        let inside = |at: usize| (c.first..c.first + n).contains(&(at % width.max(1)));
        all.into_iter().enumerate().filter(|&(at, _)| !inside(at)).map(|(_, x)| x).collect()
    };
    let untouched = outside(&c);
    call.multiply(a.view(), b.view(), c.view_mut()).unwrap_or_else(|error| panic!("{what}: {error}"));

    let (x, y, bias) = (a.values(), b.values(), bias.to_vec().unwrap());
    let found = c.values();
    let (alpha, beta) = if O::ROUNDING == 0.0 {
        (f64::from(wish.alpha as i32), f64::from(wish.beta as i32))
    } else {
        (f64::from(wish.alpha), f64::from(wish.beta))
    };
    let sum_rounding = if wish.fast && size_of::<T>() == 1 { 2e-3 } else { 1e-6 };
    for batch in 0..batches {
        let (x, y) = (&x[batch % a_batches * m * k..], &y[batch % b_batches * k * n..]);
        for i in 0..m {
            for j in 0..n {
                let at = (batch * m + i) * n + j;
                let products = (0..k).map(|l| x[i * k + l] * y[l * n + j]);
                let (sum, magnitude) = products.fold((0.0, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
                let added = beta * before[at] + if wish.has_bias { bias[j].to_f64() } else { 0.0 };
                let exact = alpha * sum + added;
                let activation = if T::Sum::HAS_ACTIVATIONS { wish.activation } else { Activation::None };
                let expected = activated(exact, activation);
                let magnitude = alpha.abs() * magnitude + (beta * before[at]).abs() + added.abs();
                // For results of 16 bits, as the approximate functions state.
                let approximation = match activation {
                    Activation::Gelu if size_of::<O>() <= 2 => (2.5e-4 * exact).max(-2e-3).abs(),
                    Activation::Silu if size_of::<O>() <= 2 => (2.5e-4 * exact).max(-8e-3).abs(),
                    _ => 0.0,
                };
                let tolerance = if O::ROUNDING == 0.0 {
                    0.0
                } else {
                    1.2 * sum_rounding * magnitude + O::ROUNDING * expected.abs() + approximation + 1e-6
                };
                let error = (found[at] - expected).abs();
                let overflows = expected.abs() > 60_000.0 && size_of::<O>() == 2;
                assert!(
                    error <= tolerance || overflows,
                    "{what}: [{batch}, {i}, {j}] is {} instead of {expected}",
                    found[at]
                );
            }
        }
    }
    assert_eq!(outside(&c), untouched, "{what}: wrote beside the result");
}

/// A random product of random types.
pub(crate) fn any(device: &Device, random: &mut Random, most: usize) {
    let wish = Wish::random(random, most);
    match random.below(13) {
        0 => check::<f16, f16, f16>(device, random, wish),
        1 => check::<f16, f16, f32>(device, random, wish),
        2 => check::<bf16, bf16, bf16>(device, random, wish),
        3 => check::<bf16, bf16, f32>(device, random, wish),
        4 => check::<tf32, tf32, f32>(device, random, wish),
        5 => check::<f8e4m3, f8e4m3, f16>(device, random, wish),
        6 => check::<f8e4m3, f8e4m3, bf16>(device, random, wish),
        7 => check::<f8e4m3, f8e4m3, f32>(device, random, wish),
        8 => check::<f8e5m2, f8e5m2, f16>(device, random, wish),
        9 => check::<f8e5m2, f8e5m2, bf16>(device, random, wish),
        10 => check::<i8, i8, i32>(device, random, wish),
        11 => check::<u8, i8, i32>(device, random, wish),
        _ => check::<f64, f64, f64>(device, random, wish),
    }
}

/// Multiplies as wished by each plan that `is_wanted`, and returns these plans.
pub(crate) fn check_plans<T, U, O>(
    device: &Device,
    random: &mut Random,
    wish: Wish,
    is_wanted: impl Fn(&Plan) -> bool,
) -> Vec<Plan>
where
    T: Value + Multiply<U, O, Sum: Scale>,
    U: Value + Element<Bits: Bits>,
    O: Value,
{
    let mut checked = Vec::new();
    for number in 0.. {
        let mut nth = None;
        check_by::<T, U, O>(device, random, wish, |_, plans| {
            nth = plans.iter().copied().filter(&is_wanted).nth(number);
            nth
        });
        let Some(plan) = nth else { break };
        checked.push(plan);
    }
    checked
}

/// Multiplies as wished by each data-parallel plan.
pub(crate) fn check_whole_plans<T, U, O>(device: &Device, random: &mut Random, wish: Wish)
where
    T: Value + Multiply<U, O, Sum: Scale>,
    U: Value + Element<Bits: Bits>,
    O: Value,
{
    check_plans::<T, U, O>(device, random, wish, |plan| plan.decomposition == Decomposition::DataParallel);
}
