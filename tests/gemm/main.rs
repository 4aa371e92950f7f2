//! Products of matrices against sums in `f64`, on every device: random sizes, element types, strides, scales, biases and
//! plans.

mod plans;
mod reference;

use std::collections::HashSet;

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Graph, Result, Tensor, TensorView};
use cuda_tiles_kernels::gemm::{Activation, Decomposition, Gemm, Loads, Multiply, Plan, gemm, kernels};
use cuda_tiles_suite::testing::{Random, check_repeated, devices, repeats};

use reference::{Wish, any, check, check_by};

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

/// A column of neighbours in memory is the row of the transposed product. Other columns, and those with a bias, are not.
#[test]
fn results_of_one_column() {
    for device in devices() {
        let mut random = Random::new();
        let (count, most) = if device.is_gpu() { (100, 3000) } else { (30, 150) };
        for _ in 0..count {
            let mut wish = Wish::random(&mut random, most);
            wish.sizes[2] = 1;
            match random.below(6) {
                0 => check::<f16, f16, f16>(device, &mut random, wish),
                1 => check::<bf16, bf16, f32>(device, &mut random, wish),
                2 => check::<tf32, tf32, f32>(device, &mut random, wish),
                3 => check::<f8e4m3, f8e4m3, bf16>(device, &mut random, wish),
                4 => check::<u8, i8, i32>(device, &mut random, wish),
                _ => check::<f64, f64, f64>(device, &mut random, wish),
            }
        }
        let zeros = |shape| Tensor::<f16, 2>::zeros(device, shape).unwrap();
        let (a, b, c) = (zeros([96, 64]), zeros([64, 1]), zeros([96, 3]));
        let bias = Tensor::<f16, 1>::zeros(device, [1]).unwrap();
        let sides = |gemm: Gemm<'_, f16, f32>, c: TensorView<'_, f16, 2>| {
            let (_, plans) = gemm.plans::<f16, f16>(&a, &b, c).unwrap();
            let of_vectors = plans.into_iter().filter(|plan| plan.loads == Loads::Vector);
            of_vectors.map(|plan| if plan.rows == 1 { "row" } else { "column" }).collect::<HashSet<_>>()
        };
        let neighbours = || c.view().strided(0, [96, 1], [1, 1]).unwrap();
        assert_eq!(sides(Gemm::new(), neighbours()), HashSet::from(["row"]));
        assert_eq!(sides(Gemm::new().bias(&bias), neighbours()), HashSet::from(["column"]));
        assert_eq!(sides(Gemm::new(), c.view().slice(1, 1..2).unwrap()), HashSet::from(["column"]));
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
        let (count, most) = if device.is_gpu() { (300, 3000) } else { (60, 400) };
        for round in 0..count {
            let mut wish = Wish::random(&mut random, most);
            // The row of `a` or the column of `b` is the vector.
            wish.sizes[1 + round % 2] = 1;
            let vector = |random: &mut Random, plans: &[Plan]| {
                let plans: Vec<Plan> =
                    plans.iter().copied().filter(|plan| plan.loads == Loads::Vector).collect();
                Some(random.among(&plans))
            };
            match random.below(6) {
                0 => check_by::<f16, f16, f16>(device, &mut random, wish, vector),
                1 => check_by::<f16, f16, f32>(device, &mut random, wish, vector),
                2 => check_by::<bf16, bf16, bf16>(device, &mut random, wish, vector),
                3 => check_by::<bf16, bf16, f32>(device, &mut random, wish, vector),
                4 => check_by::<tf32, tf32, f32>(device, &mut random, wish, vector),
                _ => check_by::<f64, f64, f64>(device, &mut random, wish, vector),
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
        for (a, a_is_k_major) in [(a.view(), true), (a_transposed.view().transpose(), false)] {
            for (b, b_is_k_major) in [(identity.view(), false), (identity.view().transpose(), true)] {
                let c = Tensor::<f32, 2>::poisoned(device, [152, 24]).unwrap();
                let (_, plans) = Gemm::<f32, f32>::new().plans(a, b, &c).unwrap();
                let by_engine = |plan: &Plan| matches!(plan.loads, Loads::Tma | Loads::Cluster(_));
                // Every storage has kernels of both kinds, where there is `wgmma`; on the CPU K-major operands have those by threads.
                let has_threads = image.is_some() || a_is_k_major && b_is_k_major;
                assert!(plans.iter().any(|plan| !by_engine(plan)) || !has_threads, "{device}: {plans:?}");
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

/// Activations of sums that are infinite, no numbers, or so large that their squares are, by every plan.
#[test]
fn activations_know_infinity() {
    const SUMS: [f32; 6] = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 3e38, -3e38, 0.0];
    const EXPECTED: [f32; 6] = [f32::INFINITY, 0.0, f32::NAN, 3e38, 0.0, 0.0];
    fn check<O: Element + Cast<f32>>(device: &Device, activation: Activation)
    where
        bf16: Multiply<bf16, O, Sum = f32>,
    {
        let a = Tensor::from_vec(device, [6, 1], SUMS.map(bf16::from_f32).to_vec()).unwrap();
        let b = Tensor::from_vec(device, [1, 8], vec![bf16::from_f32(1.0); 8]).unwrap();
        let gemm = || Gemm::<O, f32>::new().activation(activation);
        let (_, plans) = gemm().plans(&a, &b, &Tensor::<O, 2>::poisoned(device, [6, 8]).unwrap()).unwrap();
        for plan in plans {
            let mut c = Tensor::<O, 2>::poisoned(device, [6, 8]).unwrap();
            gemm().plan(plan).multiply(&a, &b, &mut c).unwrap();
            for (at, found) in c.to_vec().unwrap().into_iter().map(Cast::<f32>::cast).enumerate() {
                let expected = EXPECTED[at / 8];
                // Rounding to `bf16`.
                let is_right = found == expected || (found / expected - 1.0).abs() < 0.01;
                assert!(
                    is_right || found.is_nan() && expected.is_nan(),
                    "{device}: {activation:?}, {plan}: {found}, not {expected}"
                );
            }
        }
    }
    for device in devices() {
        for activation in [Activation::Gelu, Activation::Silu] {
            check::<bf16>(device, activation);
            check::<f32>(device, activation);
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
    // Kernels of this tile store no partial sums, though their results have the type of partial sums.
    let wide = |shape| Tensor::<f64, 2>::full(&device, shape, 1.0).unwrap();
    let plan = Plan { loads: Loads::Tma, rows: 256, columns: 64, decomposition: Decomposition::SplitK(2) };
    let told =
        message(Gemm::new().plan(plan).multiply(&wide([256, 64]), &wide([64, 64]), &mut wide([256, 64])));
    assert!(
        told.starts_with("gemm: there is no kernel for the plan `tiles of 256 x 64, loaded by TMA"),
        "{told}"
    );
}
