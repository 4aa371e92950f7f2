//! Arguments that are made of others arrive as they were passed.

use crate::devices::devices;
use crate::failures::Failures;
use crate::generator::Random;
use cuda_tiles_host::{Grid, Launch, Tensor, TensorView, bf16, f16};
use cuda_tiles_test_kernels::arguments as kernels;

#[test]
fn structs_tuples_and_arrays_arrive_part_by_part() {
    let mut failures = Failures::new::<f32>("a struct of arguments");
    let mut random = Random::new(1401);
    for device in devices() {
        for length in [1_usize, 255, 256, 1000] {
            let x: Vec<f16> =
                (0..2 * length).map(|_| f16::from_f32((random.below(64) as f32) - 32.0)).collect();
            let y: Vec<f32> = (0..length).map(|_| random.below(100) as f32).collect();
            let numbers: [u32; 8] = std::array::from_fn(|_| random.below(50) as u32);
            let [tiny, half, wide, a, b, c, first, last] = numbers;
            let factor = f16::from_f32(half as f32 / 2.0);
            let few = [a, b, c].map(|number| -(number as i16));
            let stored = Tensor::from_slice(device, [2 * length], &x).unwrap();
            let singles: Vec<f32> = x.iter().map(|x| x.to_f32()).collect();
            let stored_singles = Tensor::from_slice(device, [2 * length], &singles).unwrap();
            let y_stored = Tensor::from_slice(device, [length], &y).unwrap();
            for (adds, single) in [(false, false), (true, true)] {
                let numbers = (tiny as u8, factor, adds, f64::from(wide), few);
                let mut z = Tensor::poisoned(device, [length]).unwrap();
                let grid = Grid::cover([length], [256]);
                // Every other element.
                if single {
                    let x = stored_singles.view().strided(0, [length], [2]).unwrap();
                    let line = (&mut z, (x, &y_stored), numbers);
                    kernels::line::<f32>()
                        .launch(device, grid, (first as u8, line, u64::from(last)))
                        .unwrap();
                } else {
                    let x = stored.view().strided(0, [length], [2]).unwrap();
                    let line = (&mut z, (x, &y_stored), numbers);
                    kernels::line::<f16>()
                        .launch(device, grid, (first as u8, line, u64::from(last)))
                        .unwrap();
                }
                let sum =
                    (wide + first + last) as f32 - (a + b + c) as f32 + if adds { tiny as f32 } else { 0.0 };
                failures.exact(device, &format!("{length} elements"), &z.to_vec().unwrap(), |i| {
                    singles[2 * i] * factor.to_f32() + y[i] + sum
                });
            }
        }
    }
}

#[test]
fn lists_of_writable_tensors_are_written_each_by_its_blocks() {
    let mut failures = Failures::new::<f32>("a list of writable tensors");
    let mut random = Random::new(1402);
    for device in devices() {
        for count in 1..=7 {
            let shapes: Vec<[usize; 2]> =
                (0..count).map(|_| [random.below(40) as usize, 1 + random.below(90) as usize]).collect();
            let mut fresh = |shape: &[usize; 2]| -> Vec<f32> {
                (0..shape[0] * shape[1]).map(|_| random.below(64) as f32).collect()
            };
            let before: Vec<Vec<f32>> = shapes.iter().map(&mut fresh).collect();
            let slopes: Vec<Vec<f32>> = shapes.iter().map(&mut fresh).collect();
            let mut parameters: Vec<_> = shapes
                .iter()
                .zip(&before)
                .map(|(shape, values)| Tensor::from_slice(device, *shape, values).unwrap())
                .collect();
            let gradients: Vec<_> = shapes
                .iter()
                .zip(&slopes)
                .map(|(shape, values)| {
                    let values: Vec<_> = values.iter().map(|x| bf16::from_f32(*x)).collect();
                    Tensor::from_slice(device, *shape, &values).unwrap()
                })
                .collect();
            let rates: Vec<f32> = (0..count).map(|k| 0.5 * k as f32).collect();
            let written: Vec<_> = parameters.iter_mut().collect();
            let read: Vec<TensorView<'_, bf16, 2>> = gradients.iter().map(Tensor::view).collect();
            kernels::descend.launch(device, (5, count as u32), (written, read, rates)).unwrap();
            for (k, tensor) in parameters.iter().enumerate() {
                let what = format!("matrix {k} of {count}, {:?}", shapes[k]);
                failures.exact(device, &what, &tensor.to_vec().unwrap(), |i| {
                    before[k][i] - slopes[k][i] * 0.5 * k as f32
                });
            }
        }
    }
}

#[test]
fn items_are_chosen_by_numbers_that_only_the_device_knows() {
    let mut failures = Failures::new::<i32>("items of a list");
    let mut random = Random::new(1403);
    for device in devices() {
        for count in [1_usize, 2, 17, 32] {
            let vectors: Vec<_> =
                (0..count).map(|k| Tensor::full(device, [10 + 7 * k], 1_i32 << (k % 20)).unwrap()).collect();
            let chosen: Vec<u32> = (0..50).map(|_| random.below(count as u64) as u32).collect();
            let numbers = Tensor::from_slice(device, [50], &chosen).unwrap();
            let mut sums = Tensor::poisoned(device, [300]).unwrap();
            let list: Vec<_> = vectors.iter().collect();
            kernels::sum_chosen
                .launch(device, Grid::cover([300], [64]), (list, &numbers, &mut sums))
                .unwrap();
            failures.exact(device, &format!("{count} items"), &sums.to_vec().unwrap(), |i| {
                let reaches = |k: &&u32| i < 10 + 7 * **k as usize;
                chosen.iter().filter(reaches).map(|k| 1_i32 << (k % 20)).sum()
            });
        }
    }
}
