//! Arguments that are made of others: tuples, arrays, structs and lists, launched on the CPU, and what each mistake is told.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Grid, Launch, Tensor};

const TILE: usize = 64;

/// A step of gradient descent: `parameters -= rate * gradients`, where `gradients` may be of another type.
#[derive(Parameter)]
struct Step<T: Element> {
    parameters: SpanMut<f32, (u32,)>,
    gradients: Span<T, (u32,)>,
    settings: Settings,
}

#[derive(Parameter)]
struct Settings {
    rate: f32,
    /// Gradients are cut at plus and minus this.
    limit: Limit,
}

/// A tuple struct, of a fact and a number.
#[derive(Parameter)]
struct Limit(Bounded<u32, 0, 1>, f16);

#[kernel(instances(<f32>, <f16>))]
fn descend<B: Block, T: Element + Cast<f32>>(cx: Cx<B>, before: u8, step: Step<T>, after: i64) {
    let Step { parameters, gradients, settings: Settings { rate, limit: Limit(is_limited, limit) } } = step;
    let (parameters, gradients) =
        (parameters.partition(cx, shape![TILE]), gradients.partition(cx, shape![TILE]));
    let i = cx.bid::<0>();
    let gradient = gradients.load_masked(Zero, i).cast::<f32>();
    let limit = if *is_limited == 1 { limit.to_f32() } else { f32::INFINITY };
    let gradient = gradient.minimum(limit).maximum(-limit);
    let own = f32::from(before) + after as f32;
    parameters.store_masked(parameters.load_masked(Zero, i) - gradient * rate + own, i);
}

#[test]
fn a_struct_is_one_argument() {
    let device = Device::cpu();
    let values: Vec<f32> = (0..150).map(|k| k as f32 - 75.0).collect();
    let halves: Vec<_> = values.iter().map(|x| f16::from_f32(*x)).collect();
    let (single, half) = (
        Tensor::from_slice(&device, [150], &values).unwrap(),
        Tensor::from_slice(&device, [150], &halves).unwrap(),
    );
    let limit = (1_u32, f16::from_f32(10.0));
    let expected: Vec<f32> = values.iter().map(|x| 1.0 - x.clamp(-10.0, 10.0) * 0.5 + 3.0 - 2.0).collect();
    for is_half in [false, true] {
        let mut parameters = Tensor::full(&device, [150], 1.0).unwrap();
        let grid = Grid::cover([150], [TILE]);
        if is_half {
            descend::<f16>().launch(&device, grid, (3, (&mut parameters, &half, (0.5, limit)), -2)).unwrap();
        } else {
            descend::<f32>()
                .launch(&device, grid, (3, (&mut parameters, &single, (0.5, limit)), -2))
                .unwrap();
        }
        assert_eq!(parameters.to_vec().unwrap(), expected);
    }
}

#[test]
fn mistakes_are_told_with_the_names_of_fields() {
    let device = Device::cpu();
    let gradients = Tensor::full(&device, [64], 1.0_f32).unwrap();
    let mut parameters = Tensor::full(&device, [64], 1.0_f32).unwrap();
    let step = (&mut parameters, &gradients, (0.5, (2, f16::ONE)));
    let error = descend::<f32>().launch(&device, 1, (3, step, -2)).unwrap_err().to_string();
    assert_eq!(
        error,
        "kernel `descend_f32`, argument 2 (`step`): in field `settings`, in field `limit`, in field `0`, a number does not fit: \
         it is 2, but the kernel is compiled for 0 to 1"
    );
}

#[kernel]
fn add_pairs(cx: Cx, pairs: [(Span<i32, (u32,)>, SpanMut<i32, (u32,)>); 3], of: (u32, [bool; 3])) {
    let (by, chosen) = of;
    let views = pairs.map(|(from, to)| (from.partition(cx, shape![TILE]), to.partition(cx, shape![TILE])));
    let i = cx.bid::<0>();
    for ((from, to), is_chosen) in views.iter().zip(chosen) {
        if is_chosen {
            to.store_masked(from.load_masked(Zero, i) + by as i32, i);
        }
    }
}

#[test]
fn tuples_and_arrays_are_arguments() {
    let device = Device::cpu();
    let from: Vec<_> =
        [10, 64, 100].iter().map(|len| Tensor::full(&device, [*len], *len as i32).unwrap()).collect();
    let mut to: Vec<_> = [10, 64, 100].iter().map(|len| Tensor::full(&device, [*len], -1).unwrap()).collect();
    let [a, b, c] = &mut to[..] else { unreachable!() };
    let pairs = [(&from[0], a), (&from[1], b), (&from[2], c)];
    add_pairs.launch(&device, 2, (pairs, (5_u32, [true, false, true]))).unwrap();
    assert_eq!(to[0].to_vec().unwrap(), [15; 10]);
    assert_eq!(to[1].to_vec().unwrap(), [-1; 64]);
    assert_eq!(to[2].to_vec().unwrap(), [105; 100]);
}

#[kernel]
fn sum_each(cx: Cx, tensors: List<Span<f32, (u32,)>, 8>, scales: List<f32, 8>, sums: SpanMut<f32, (u32,)>) {
    let sums = sums.partition(cx, shape![1]);
    let k = cx.bid::<0>();
    let tensor = tensors.get(*k).partition(cx, shape![TILE]);
    let mut sum = cx.zeros::<f32>(shape![TILE]);
    for i in 0..tensor.num_tiles(0) {
        sum += tensor.load_masked(Zero, i);
    }
    sums.store(sum.sum::<0>().reshape(shape![1]) * scales.get(*k), k);
}

#[test]
fn lists_hold_up_to_their_length() {
    let device = Device::cpu();
    for count in 1..=8 {
        let tensors: Vec<_> =
            (0..count).map(|k| Tensor::full(&device, [k * 37], k as f32).unwrap()).collect();
        let scales: Vec<f32> = (0..count).map(|k| 1.0 + k as f32).collect();
        let mut sums = Tensor::poisoned(&device, [count]).unwrap();
        let list: Vec<_> = tensors.iter().collect();
        sum_each.launch(&device, count as u32, (list, scales, &mut sums)).unwrap();
        let expected: Vec<f32> = (0..count).map(|k| (k * 37 * k * (k + 1)) as f32).collect();
        assert_eq!(sums.to_vec().unwrap(), expected);
    }
}

#[test]
fn mistakes_in_lists_are_told_with_their_places() {
    let device = Device::cpu();
    let tensor = Tensor::full(&device, [64], 1.0_f32).unwrap();
    let mut sums = Tensor::poisoned(&device, [16]).unwrap();
    let mut launch = |given: usize, blocks: u32| {
        let list: Vec<_> = (0..given).map(|_| &tensor).collect();
        sum_each.launch(&device, blocks, (list, [1.0; 8], &mut sums))
    };
    assert_eq!(
        launch(9, 8).unwrap_err().to_string(),
        "kernel `sum_each`, argument 1 (`tensors`): 9 arguments do not fit the kernel's list, which holds 8: launch for 8 \
         at a time"
    );
    let error = launch(3, 4).unwrap_err().to_string();
    assert!(error.contains("List::get: the list has 3 items, none of number 3"), "{error}");

    let every_other = tensor.view().strided(0, [32], [2]).unwrap();
    let list = [tensor.view(), every_other];
    let error = sum_each.launch(&device, 1, (list, [1.0; 2], &mut sums)).unwrap_err().to_string();
    assert!(
        error.starts_with("kernel `sum_each`, argument 1 (`tensors`): in element 1, a tensor of shape"),
        "{error}"
    );
}

#[kernel(grid = 2)]
fn scale_each(cx: Cx, tensors: List<SpanMut<f32, (u32, u32)>, 5>, factors: List<Span<f32, (u32, u32)>, 5>) {
    let tile = shape![4, 16];
    let (tensors, factors) = (tensors.partition(cx, tile), factors.partition(cx, tile));
    let k = cx.bid::<1>();
    for j in 0..tensors.num_tiles(*k, 1) {
        let index = (k, cx.bid::<0>(), j);
        tensors.store_masked(tensors.load_masked(Zero, index) * factors.load_masked(Zero, index), index);
    }
}

#[test]
fn a_list_of_writable_tensors_is_cut_as_one() {
    let device = Device::cpu();
    let shapes = [[9, 40], [4, 16], [0, 3], [17, 1]];
    let values = |k: usize, [rows, columns]: [usize; 2]| -> Vec<f32> {
        (0..rows * columns).map(|i| (i % 23) as f32 + k as f32).collect()
    };
    let of = |(k, shape)| Tensor::from_slice(&device, shape, &values(k, shape)).unwrap();
    let mut tensors: Vec<_> = shapes.into_iter().enumerate().map(of).collect();
    let factors: Vec<_> = shapes.into_iter().enumerate().map(of).collect();
    let (written, read): (Vec<_>, Vec<_>) = (tensors.iter_mut().collect(), factors.iter().collect());
    scale_each.launch(&device, (5, 4), (written, read)).unwrap();
    for (k, (tensor, shape)) in tensors.iter().zip(shapes).enumerate() {
        let expected: Vec<f32> = values(k, shape).iter().map(|x| x * x).collect();
        assert_eq!(tensor.to_vec().unwrap(), expected, "tensor {k}");
    }

    let written: Vec<_> = tensors.iter_mut().collect();
    let read: Vec<_> = factors.iter().take(2).collect();
    let error = scale_each.launch(&device, (5, 4), (written, read)).unwrap_err().to_string();
    assert!(error.contains("load_masked: the list has 2 items, none of number"), "{error}");
}

#[kernel]
fn cut_in_two_ways(cx: Cx, tensors: List<SpanMut<f32, (u32,)>, 2>) {
    if cx.num_blocks(0) == 2 {
        tensors.partition(cx, shape![16]).store_masked(cx.zeros::<f32>(shape![16]), (0, cx.bid::<0>()));
    } else {
        tensors.partition(cx, shape![32]).store_masked(cx.zeros::<f32>(shape![32]), (cx.bid::<0>(), 0));
    }
}

#[test]
fn a_list_may_be_cut_in_any_way_that_all_blocks_share() {
    let device = Device::cpu();
    let mut tensors =
        [Tensor::full(&device, [40], 1.0_f32).unwrap(), Tensor::full(&device, [40], 1.0_f32).unwrap()];
    let zeros = |tensors: &[Tensor<f32, 1>; 2]| {
        tensors.each_ref().map(|t| t.to_vec().unwrap().iter().filter(|x| **x == 0.0).count())
    };
    cut_in_two_ways.launch(&device, 2, (tensors.each_mut(),)).unwrap();
    assert_eq!(zeros(&tensors), [32, 0]);
    cut_in_two_ways.launch(&device, 1, (tensors.each_mut(),)).unwrap();
    assert_eq!(zeros(&tensors), [32, 0]);
}
