//! Shared memory and thread-level code.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Random, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles::simt::SharedSum;
use cuda_tiles_host::{Launch, Tensor};
use cuda_tiles_test_kernels::simt as kernels;
use cuda_tiles_test_kernels::{MULTIPLE, Operand, Output};

#[test]
fn histograms_count_every_byte() {
    const BLOCKS: usize = 3;
    let mut random = Random::new(5);
    // One bin is hit by half of all bytes.
    let bytes: Vec<u8> =
        (0..1024 * 17).map(|_| if random.below(2) == 0 { 77 } else { random.bits() as u8 }).collect();
    let mut expected = [0u32; 256];
    bytes.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
    for device in devices() {
        let x = Tensor::from_slice(device, [bytes.len()], &bytes).unwrap();
        let mut counts = Tensor::poisoned(device, [BLOCKS, 256]).unwrap();
        kernels::histogram.launch(device, BLOCKS as u32, (&x, &mut counts)).unwrap();
        let counts = counts.to_vec().unwrap();
        let sums: Vec<u32> = (0..256).map(|bin| counts.iter().skip(bin).step_by(256).sum()).collect();
        assert_eq!(sums, expected, "{device}");
    }
}

fn check_sums<T: Reference + SharedSum>(
    kernel: &Kernel<(Operand<u32>, Operand<T>, Output<T, (D<3>, D<64>)>)>,
) {
    let mut failures = Failures::new::<T>("shared_sums");
    let mut random = Random::new(31);
    // Small whole numbers, whose sums are exact in any order; and numbers of bins that are not there.
    let bins: Vec<u32> =
        (0..64).map(|i| if i % 9 == 0 { 64 + i } else { random.below(8) as u32 * 7 }).collect();
    let values: Vec<T> = (0..64).map(|_| T::small(random.below(100) as i8 - 50)).collect();
    for device in devices() {
        let on_device = Tensor::from_slice(device, [64], &bins).unwrap();
        let x = Tensor::from_slice(device, [64], &values).unwrap();
        let mut results = Tensor::poisoned(device, [3, 64]).unwrap();
        kernel.launch(device, 1, (&on_device, &x, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        failures.exact(device, "sums by bin", &results[..64], |i| {
            let hits = (0..64).filter(|&k| bins[k] as usize == i);
            hits.fold(T::ZERO, |sum, k| T::plus(T::plus(sum, values[k]), T::small(1)))
        });
        failures.exact(device, "gather", &results[64..128], |i| values[bins[i] as usize & 63]);
        failures.exact(device, "there and back", &results[128..], |i| values[i]);
    }
}

#[test]
fn shared_memory_adds_and_keeps() {
    check_sums::<i32>(kernels::shared_sums::<i32>());
    check_sums::<u32>(kernels::shared_sums::<u32>());
    check_sums::<i64>(kernels::shared_sums::<i64>());
    check_sums::<u64>(kernels::shared_sums::<u64>());
    check_sums::<f32>(kernels::shared_sums::<f32>());
    check_sums::<f64>(kernels::shared_sums::<f64>());
}

fn check_rotation<T: Reference>(kernel: &Kernel<(Output<T, (Mult<u32, MULTIPLE>,)>,)>) {
    let mut failures = Failures::new::<T>("rotate_by_threads");
    let values: Vec<T> = random_values(9, 256);
    for device in devices() {
        let mut x = Tensor::from_slice(device, [256], &values).unwrap();
        kernel.launch(device, 2, (&mut x,)).unwrap();
        failures.exact(device, "the right neighbour", &x.to_vec().unwrap(), |i| {
            values[i / 128 * 128 + (i + 1) % 128]
        });
    }
}

#[test]
fn threads_exchange_elements_of_every_size() {
    check_rotation::<u8>(kernels::rotate_by_threads::<u8>());
    check_rotation::<f16>(kernels::rotate_by_threads::<f16>());
    check_rotation::<i32>(kernels::rotate_by_threads::<i32>());
    check_rotation::<f64>(kernels::rotate_by_threads::<f64>());
}

#[test]
fn threads_know_their_place() {
    for device in devices() {
        let mut results = Tensor::poisoned(device, [4, 2]).unwrap();
        kernels::threads.launch(device, 2, (&mut results,)).unwrap();
        let count: u32 = if device.is_gpu() { 64 } else { 1 };
        let expected = [count * (count - 1) / 2, count, count, count];
        assert_eq!(results.to_vec().unwrap(), expected.map(|x| [x, x]).concat(), "{device}");
    }
}

#[test]
fn kernels_may_hold_assembly() {
    let values: Vec<u32> = random_values(3, 112);
    for device in devices() {
        let mut x = Tensor::from_slice(device, [112], &values).unwrap();
        kernels::raw_ptx.launch(device, 2, (&mut x,)).unwrap();
        assert!(x.to_vec().unwrap().iter().zip(&values).all(|(x, y)| *x == y.reverse_bits()), "{device}");
    }
}
