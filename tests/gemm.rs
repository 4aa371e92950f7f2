//! Products of matrices against sums in `f64`, on every device: random sizes, element types, strides, scales, biases and
//! plans.

use std::ops::Range;

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Graph, Result, Tensor, TensorView, TensorViewMut};
use cuda_tiles_kernels::gemm::{Activation, Bits, Decomposition, Gemm, Loads, Multiply, Plan, gemm, kernels};
use cuda_tiles_suite::testing::{Random, check_repeated, devices, repeats};

/// An element type of the tests.
trait Value: Element {
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
struct Matrices<T> {
    tensor: Tensor<T, 3>,
    shape: [usize; 3],
    transposed: bool,
    first: usize,
}

impl<T: Value> Matrices<T> {
    /// `batches` matrices of random elements: row by row or column by column, with or without padding, and beginning anywhere.
    fn random(
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
    fn random_in_lines(
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
    fn random_in(
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

    fn view(&self) -> TensorView<'_, T, 3> {
        let view = self.tensor.view().slice(2, self.first..self.first + self.right()).unwrap();
        if self.transposed { view.permute([0, 2, 1]).unwrap() } else { view }
    }

    fn view_mut(&mut self) -> TensorViewMut<'_, T, 3> {
        let range = self.first..self.first + self.right();
        let view = self.tensor.view_mut().slice(2, range).unwrap();
        if self.transposed { view.permute([0, 2, 1]).unwrap() } else { view }
    }

    fn values(&self) -> Vec<f64> {
        self.view().to_vec().unwrap().into_iter().map(Value::to_f64).collect()
    }
}

fn activated(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::None => x,
        Activation::Relu => x.max(0.0),
        Activation::Gelu => x / 2.0 * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x * x * x)).tanh()),
        Activation::Silu => x / (1.0 + (-x).exp()),
    }
}

/// What a test asks of a product.
#[derive(Debug, Clone, Copy)]
struct Wish {
    sizes: [usize; 4],
    transposed: [bool; 2],
    alpha: f32,
    beta: f32,
    has_bias: bool,
    activation: Activation,
    fast: bool,
}

impl Wish {
    fn random(random: &mut Random, most: usize) -> Self {
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
trait Scale: Number {
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
fn check<T, U, O>(device: &Device, random: &mut Random, wish: Wish)
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
fn check_by<T, U, O>(
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
fn any(device: &Device, random: &mut Random, most: usize) {
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

#[test]
fn random_products() {
    for device in devices() {
        let mut random = Random::new();
        let (count, most) = if device.is_gpu() { (300, 700) } else { (40, 150) };
        for _ in 0..count {
            any(device, &mut random, most);
        }
    }
}

/// The stream-K plan, if there is one.
fn with_last_wave(_random: &mut Random, plans: &[Plan]) -> Option<Plan> {
    plans.iter().copied().find(|plan| plan.decomposition == Decomposition::StreamK)
}

#[test]
fn last_waves_are_cut_evenly() {
    for device in devices() {
        let mut random = Random::new();
        let (count, most) = if device.is_gpu() { (20, 900) } else { (3, 300) };
        for _ in 0..count {
            let mut wish = || Wish::random(&mut random, most);
            let wishes = [wish(), wish(), wish(), wish(), wish(), wish()];
            check_by::<f16, f16, f16>(device, &mut random, wishes[0], with_last_wave);
            check_by::<bf16, bf16, f32>(device, &mut random, wishes[1], with_last_wave);
            check_by::<tf32, tf32, f32>(device, &mut random, wishes[2], with_last_wave);
            check_by::<f8e4m3, f8e4m3, bf16>(device, &mut random, wishes[3], with_last_wave);
            check_by::<i8, i8, i32>(device, &mut random, wishes[4], with_last_wave);
            check_by::<u8, i8, i32>(device, &mut random, wishes[5], with_last_wave);
        }
    }
}

/// Stream-K behind full waves, of one matrix and of several, against data-parallel products. The sums are exact.
#[test]
fn whole_waves_come_before_the_last_one() {
    for device in devices() {
        let mut random = Random::new();
        let blocks = device.multiprocessors() as usize;
        if blocks == 1 {
            // All waves are full.
            continue;
        }
        for batches in [1, 3] {
            // Tiles for one wave and about half of the next.
            let rows = (blocks * 3 / 2 + 1).div_ceil(batches);
            let rows = if (rows * batches).is_multiple_of(blocks) { rows + 1 } else { rows };
            let [m, n, k] = [rows * 128 - 5, 200, 300];
            let a = Matrices::<i8>::random(device, &mut random, [batches, m, k], false);
            let b = Matrices::<i8>::random(device, &mut random, [1, k, n], true);
            let [whole, last_wave] =
                [Decomposition::DataParallel, Decomposition::StreamK].map(|decomposition| {
                    let mut c = Tensor::<i32, 3>::poisoned(device, [batches, m, n]).unwrap();
                    let plan = Plan { loads: Loads::Tma, rows: 128, columns: 256, decomposition };
                    Gemm::new().plan(plan).multiply(a.view(), b.view(), &mut c).unwrap();
                    c.to_vec().unwrap()
                });
            assert!(whole == last_wave, "{device}: {batches} x {m} x {n} of i8");
            // Where rows do not begin at multiples of 128 bytes, clusters take the place of these waves.
            let (x, y) = (
                Matrices::<f16>::random_in_lines(device, &mut random, [batches, m, k], true),
                Matrices::<f16>::random_in_lines(device, &mut random, [batches, k, n], false),
            );
            let [whole, last_wave] =
                [Decomposition::DataParallel, Decomposition::StreamK].map(|decomposition| {
                    let mut c = Tensor::<f16, 3>::poisoned(device, [batches, m, n]).unwrap();
                    let plan = Plan { loads: Loads::Tma, rows: 128, columns: 256, decomposition };
                    let gemm = Gemm::new().plan(plan).alpha(0.5).activation(Activation::Relu);
                    gemm.multiply(x.view(), y.view(), &mut c).unwrap();
                    c.to_vec().unwrap()
                });
            let differ = whole.iter().zip(&last_wave).position(|(x, y)| x.to_bits() != y.to_bits());
            assert_eq!(differ, None, "{device}: {batches} x {m} x {n} of f16");
        }
    }
}

/// A thousand products, each to the bit like the first, though the order of sums would show.
#[test]
fn products_repeat_to_the_bit() {
    let mut random = Random::new();
    for device in devices() {
        let mut operand = |rows: usize, columns: usize| {
            let fractions =
                (0..rows * columns).map(|_| f16::from_f32(random.below(2000) as f32 / 1000.0 - 1.0));
            Tensor::from_vec(device, [rows, columns], fractions.collect()).unwrap()
        };
        let larger = if device.is_gpu() { 900 } else { 200 };
        let mut stream_k = 0;
        for [rows, depth, columns] in [[300, 1000, 260], [20, 2100, 130], [larger, 1300, larger]] {
            let (a, b) = (operand(rows, depth), operand(depth, columns));
            let times = repeats(device, 1000);
            let c = Tensor::<f16, 2>::zeros(device, [rows, columns]).unwrap();
            let (_, plans) = Gemm::<f16, f32>::new().plans(&a, &b, &c).unwrap();
            let last_wave = plans.into_iter().find(|plan| plan.decomposition == Decomposition::StreamK);
            stream_k += last_wave.iter().count();
            for plan in [None].into_iter().chain(last_wave.map(Some)) {
                check_repeated(times, || {
                    let mut c = Tensor::<f16, 2>::poisoned(device, [rows, columns]).unwrap();
                    let gemm = Gemm::new();
                    plan.into_iter().fold(gemm, Gemm::plan).multiply(&a, &b, &mut c).unwrap();
                    c.to_vec().unwrap()
                });
            }
        }
        assert!(stream_k > 0, "{device}: no plan with stream-K");
    }
}

/// Multiplies as wished by each plan that `is_wanted`, and returns these plans.
fn check_plans<T, U, O>(
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
fn check_whole_plans<T, U, O>(device: &Device, random: &mut Random, wish: Wish)
where
    T: Value + Multiply<U, O, Sum: Scale>,
    U: Value + Element<Bits: Bits>,
    O: Value,
{
    check_plans::<T, U, O>(device, random, wish, |plan| plan.decomposition == Decomposition::DataParallel);
}

/// Threads copy operands ahead by 4 bytes or more: elements of 16 bits where rows have even lengths, those of 64 bits always. Tiles are whole, and
/// reach over the edges of both operands.
#[test]
fn threads_copy_rows_of_even_lengths_ahead() {
    for device in devices() {
        let mut random = Random::new();
        let mut tiles = Vec::new();
        for order in 0..4 {
            for sizes in [[1, 10, 262, 450], [1, 300, 30, 262], [2, 130, 66, 126]] {
                let wish = Wish {
                    sizes,
                    transposed: [order & 1 == 1, order & 2 == 2],
                    ..Wish::random(&mut random, 100)
                };
                let by_threads = |plan: &Plan| plan.loads == Loads::Threads;
                tiles.extend(check_plans::<f16, f16, f16>(device, &mut random, wish, by_threads));
                check_plans::<bf16, bf16, f32>(device, &mut random, wish, by_threads);
                let [batches, m, n, k] = sizes;
                let odd = Wish { sizes: [batches, m + 1, n + 1, k + 1], ..wish };
                check_plans::<f64, f64, f64>(device, &mut random, odd, by_threads);
            }
        }
        for [rows, columns] in [[128, 64], [16, 128]] {
            assert!(
                tiles.iter().any(|plan| [plan.rows, plan.columns] == [rows, columns]),
                "{device}: {rows} x {columns}"
            );
        }
    }
}

/// Each block stores many tiles, of which the last panels or all but one lie outside the result: a panel must not be written while the
/// store of an earlier one still reads its memory.
#[test]
fn many_tiles_of_few_columns_are_stored_whole() {
    for device in devices() {
        let mut random = Random::new();
        let rows = if device.is_gpu() { 40_000 } else { 300 };
        for columns in [16, 44, 112, 272] {
            let wish = Wish { sizes: [1, rows, columns, 24], ..Wish::random(&mut random, 100) };
            let wish = Wish { transposed: [false, false], has_bias: false, beta: 0.0, ..wish };
            check_whole_plans::<f16, f16, f16>(device, &mut random, wish);
        }
    }
}

/// Blocks that have many tiles of a thin product load its small operand in the first ones alone, if all its k steps have stages.
#[test]
fn a_small_operand_stays_for_many_tiles() {
    for device in devices() {
        let mut random = Random::new();
        for steps in [1, 2, 3, 5, 7, 8] {
            // More tiles for each block than there are stages.
            let tiles =
                if device.is_gpu() { device.multiprocessors() as usize * 2 * (8 / steps + 1) } else { 4 };
            let (long, short) = (64 * tiles + 24, 1 + random.below(24));
            let [m, n] = if random.below(2) == 0 { [long, short] } else { [short, long] };
            // A k step is 128 bytes.
            let mut wish = |bytes| Wish {
                sizes: [1, m, n, (128 * steps - random.below(8)) / bytes],
                beta: 0.0,
                ..Wish::random(&mut random, 100)
            };
            let wishes = [wish(2), wish(4), wish(1)];
            check_whole_plans::<f16, f16, f16>(device, &mut random, wishes[0]);
            match random.below(3) {
                0 => check_whole_plans::<tf32, tf32, f32>(device, &mut random, wishes[1]),
                1 => check_whole_plans::<f8e4m3, f8e4m3, bf16>(device, &mut random, wishes[2]),
                _ => check_whole_plans::<i8, i8, i32>(device, &mut random, wishes[2]),
            }
        }
    }
}

#[test]
fn few_rows_have_tiles_of_their_own() {
    for device in devices() {
        let mut random = Random::new();
        for rows in [1, 5, 16, 17, 32, 33, 64] {
            let wish = Wish { sizes: [1, rows, 300, 520], ..Wish::random(&mut random, 100) };
            let wish = Wish { transposed: [false, wish.transposed[1]], ..wish };
            check::<f16, f16, f16>(device, &mut random, wish);
            check::<bf16, bf16, f32>(device, &mut random, wish);
            check::<f8e4m3, f8e4m3, bf16>(device, &mut random, wish);
            check::<i8, i8, i32>(device, &mut random, wish);
        }
    }
}

/// Sums of these numbers are exact in any order, whatever the plans.
#[test]
fn groups_are_their_products_side_by_side_and_in_graphs() {
    for device in devices() {
        let mut random = Random::new();
        let most = if device.is_gpu() { 1500 } else { 150 };
        let mut matrices = |shapes: &[[usize; 2]]| -> Vec<Tensor<f16, 2>> {
            let matrix = |&[rows, columns]: &[usize; 2]| {
                let elements =
                    (0..rows * columns).map(|_| f16::from_f32(random.below(3) as f32 - 1.0)).collect();
                Tensor::from_vec(device, [rows, columns], elements).unwrap()
            };
            shapes.iter().map(matrix).collect()
        };
        let mut size = Random::new();
        // More products than streams, one of them empty.
        let mut sizes: Vec<[usize; 3]> = (0..6).map(|_| [0; 3].map(|_| 1 + size.below(most))).collect();
        sizes.push([0, 8, 8]);
        let a = matrices(&sizes.iter().map(|&[m, _, k]| [m, k]).collect::<Vec<_>>());
        let b = matrices(&sizes.iter().map(|&[_, n, k]| [k, n]).collect::<Vec<_>>());
        let poisoned = || -> Vec<Tensor<f32, 2>> {
            sizes.iter().map(|&[m, n, _]| Tensor::poisoned(device, [m, n]).unwrap()).collect()
        };
        let (mut expected, mut together) = (poisoned(), poisoned());
        for ((a, b), c) in a.iter().zip(&b).zip(&mut expected) {
            gemm(a, b, c).unwrap();
        }
        Gemm::new().multiply_all(a.iter().zip(&b).zip(&mut together).map(|((a, b), c)| (a, b, c))).unwrap();
        let mut graph = Graph::capture(device, (a, b, poisoned()), |stream, (a, b, c)| {
            assert!(stream.is_capturing());
            let products = a.iter().zip(&*b).zip(c).map(|((a, b), c)| (a, b, c));
            Gemm::new().on(stream).multiply_all(products)
        })
        .unwrap();
        graph.launch().unwrap();
        let (_, _, captured) = graph.into_operands();
        for (at, expected) in expected.iter().enumerate() {
            let expected = expected.to_vec().unwrap();
            assert!(together[at].to_vec().unwrap() == expected, "{device}, {:?}", sizes[at]);
            assert!(captured[at].to_vec().unwrap() == expected, "{device}, {:?}, in a graph", sizes[at]);
        }
    }
}

#[test]
fn products_of_a_vector_have_kernels_of_their_own() {
    for device in devices() {
        let mut random = Random::new();
        for round in 0..60 {
            let mut wish = Wish::random(&mut random, if device.is_gpu() { 3000 } else { 400 });
            // The row of `a` or the column of `b` is the vector.
            wish.sizes[1 + round % 2] = 1;
            let vector = |random: &mut Random, plans: &[Plan]| {
                let plans: Vec<Plan> =
                    plans.iter().copied().filter(|plan| plan.loads == Loads::Vector).collect();
                Some(random.among(&plans))
            };
            match random.below(4) {
                0 => check_by::<f16, f16, f16>(device, &mut random, wish, vector),
                1 => check_by::<f16, f16, f32>(device, &mut random, wish, vector),
                2 => check_by::<bf16, bf16, bf16>(device, &mut random, wish, vector),
                _ => check_by::<bf16, bf16, f32>(device, &mut random, wish, vector),
            }
        }
    }
}

#[test]
fn empty_products_are_legal() {
    for device in devices() {
        let tensor = |shape| Tensor::<f32, 2>::full(device, shape, 2.0).unwrap();
        let half = |shape| Tensor::<f16, 2>::full(device, shape, f16::from_f32(1.0)).unwrap();
        let mut nothing = tensor([0, 3]);
        gemm(&half([0, 4]), &half([4, 3]), &mut nothing).unwrap();
        gemm(&half([3, 4]), &half([4, 0]), &mut tensor([3, 0])).unwrap();
        // Sums of nothing are zero.
        let mut c = tensor([3, 5]);
        Gemm::new().beta(0.5).multiply(&half([3, 0]), &half([0, 5]), &mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), [1.0; 15]);
        gemm(&half([3, 0]), &half([0, 5]), &mut c).unwrap();
        assert_eq!(c.to_vec().unwrap(), [0.0; 15]);
    }
}

#[test]
fn what_was_poison_is_not_read_without_beta() {
    for device in devices() {
        let a = Tensor::full(device, [70, 40], f16::from_f32(0.5)).unwrap();
        let mut c = Tensor::<f16, 2>::poisoned(device, [70, 70]).unwrap();
        gemm(&a, a.view().transpose(), &mut c).unwrap();
        assert!(c.to_vec().unwrap().into_iter().all(|x| x.to_f32() == 10.0));
    }
}

#[test]
fn bits_that_tf32_lacks_are_rounded_by_copy_engines_and_cut_off_elsewhere() {
    let kernel = kernels::gemm_nt::<tf32, tf32, f32, f32, 128, 128, 32, false>();
    for device in devices() {
        let image = device.image_of(kernel.description()).unwrap();
        let has_engine = image.is_some_and(|image| image.capability().0 >= 9);
        let mut random = Random::new();
        // From 0.5 to 2, as they lie in memory of `f32`.
        let bits: Vec<u32> = (0..152 * 24).map(|_| 0x3f00_0000 + random.below(1 << 24) as u32).collect();
        let transposed: Vec<u32> = (0..bits.len()).map(|at| bits[at % 152 * 24 + at / 152]).collect();
        let elements = |bits: &[u32]| bits.iter().map(|&bits| tf32::from_bits(bits)).collect();
        let a = Tensor::from_vec(device, [152, 24], elements(&bits)).unwrap();
        let a_transposed = Tensor::from_vec(device, [24, 152], elements(&transposed)).unwrap();
        let identity = (0..24 * 24).map(|at| tf32::from_f32(f32::from(at % 25 == 0))).collect();
        let identity = Tensor::from_vec(device, [24, 24], identity).unwrap();
        let rounded: Vec<f32> = bits.iter().map(|&x| tf32::from_f32(f32::from_bits(x)).to_f32()).collect();
        let cut_off: Vec<f32> = bits.iter().map(|&x| f32::from_bits(x & !0x1fff)).collect();
        for a in [a.view(), a_transposed.view().transpose()] {
            for b in [identity.view(), identity.view().transpose()] {
                let c = Tensor::<f32, 2>::poisoned(device, [152, 24]).unwrap();
                let (_, plans) = Gemm::<f32, f32>::new().plans(a, b, &c).unwrap();
                let by_engine = |plan: &Plan| matches!(plan.loads, Loads::Tma | Loads::Cluster);
                // Every storage has kernels of both kinds, where there is `wgmma`.
                assert!(plans.iter().any(|plan| !by_engine(plan)));
                assert!(plans.iter().any(by_engine) || !has_engine, "{device}: {plans:?}");
                for plan in plans {
                    let mut c = Tensor::<f32, 2>::poisoned(device, [152, 24]).unwrap();
                    Gemm::new().plan(plan).multiply(a, b, &mut c).unwrap();
                    let expected = if has_engine && by_engine(&plan) { &rounded } else { &cut_off };
                    assert_eq!(c.to_vec().unwrap(), *expected, "{device}: {plan}");
                }
            }
        }
    }
}

#[test]
fn operands_that_do_not_go_together_are_refused() {
    let device = Device::cpu();
    let half = |shape: [usize; 2]| Tensor::<f16, 2>::full(&device, shape, f16::from_f32(1.0)).unwrap();
    let message = |result: Result<()>| result.unwrap_err().to_string();
    let (a, b, mut c) = (half([3, 4]), half([5, 6]), half([3, 6]));
    assert_eq!(
        message(gemm(&a, &b, &mut c)),
        "gemm: a matrix of 3 x 4 cannot be multiplied by one of 5 x 6: the columns of the first are as many as the rows of \
         the second"
    );
    assert_eq!(
        message(gemm(&a, &half([4, 5]), &mut c)),
        "gemm: the product of matrices of 3 x 4 and 4 x 5 has 3 x 5 elements, but the result has 3 x 6"
    );
    let bias = Tensor::<f16, 1>::full(&device, [4], f16::from_f32(1.0)).unwrap();
    assert_eq!(
        message(Gemm::new().bias(&bias).multiply(&a, &half([4, 6]), &mut c)),
        "gemm: the bias has 4 elements, but the result has 6 columns"
    );
    let mut transposed = half([6, 3]);
    let told = message(gemm(&a, &half([4, 6]), transposed.view_mut().transpose()));
    assert!(told.starts_with("gemm: the columns of the result are not neighbours in memory: "), "{told}");
    let three = Tensor::<f16, 3>::full(&device, [3, 3, 4], f16::from_f32(1.0)).unwrap();
    let mut two = Tensor::<f16, 3>::full(&device, [2, 3, 6], f16::from_f32(1.0)).unwrap();
    assert_eq!(
        message(gemm(&three, &half([4, 6]), &mut two)),
        "gemm: the result is a batch of 2 matrices, and the first factor of 3: a factor has as many, or one for all"
    );
    let decomposition = Decomposition::DataParallel;
    let plan = Plan { loads: Loads::Tma, rows: 128, columns: 512, decomposition };
    let told = message(Gemm::new().plan(plan).multiply(&a, &half([4, 6]), &mut c));
    assert!(
        told.starts_with("gemm: there is no kernel for the plan `tiles of 128 x 512, loaded by TMA, cut: 0`"),
        "{told}"
    );
}
