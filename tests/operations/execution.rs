//! Blocks, grids and scalar arguments.

use crate::devices::devices;
use crate::failures::Failures;
use cuda_tiles::prelude::{bf16, f16};
use cuda_tiles_host::{Launch, Tensor};
use cuda_tiles_test_kernels::execution as kernels;

#[test]
fn blocks_know_their_place() {
    let mut failures = Failures::new::<u32>("positions");
    for device in devices() {
        for [x, y, z] in [[1usize, 1, 1], [5, 3, 2], [2, 7, 4]] {
            let mut results = Tensor::poisoned(device, [6, x, y, z]).unwrap();
            kernels::positions.launch(device, (x as u32, y as u32, z as u32), (&mut results,)).unwrap();
            let n = x * y * z;
            failures.exact(device, &format!("grid {x} x {y} x {z}"), &results.to_vec().unwrap(), |i| {
                let block = i % n;
                [block / (y * z), block / z % y, block % z, x, y, z][i / n] as u32
            });
        }
    }
}

#[test]
fn scalars_of_every_size_arrive() {
    for device in devices() {
        let mut integers = Tensor::poisoned(device, [5, 2]).unwrap();
        let mut floats = Tensor::poisoned(device, [4, 2]).unwrap();
        let (f, g) = (f16::from_f32(0.25), bf16::from_f32(-3.0));
        let arguments = (
            true,
            -100i8,
            60_000u16,
            -2_000_000_000i32,
            1u64 << 62,
            f,
            g,
            1e-30f32,
            -1e300f64,
            &mut integers,
            &mut floats,
        );
        kernels::scalars.launch(device, 2, arguments).unwrap();
        let twice = |values: &[i64]| values.iter().flat_map(|&x| [x, x]).collect::<Vec<_>>();
        assert_eq!(integers.to_vec().unwrap(), twice(&[1, -100, 60_000, -2_000_000_000, 1 << 62]));
        let expected = [0.25, -3.0, f64::from(1e-30f32), -1e300];
        assert_eq!(floats.to_vec().unwrap(), expected.map(|x| [x, x]).concat());
    }
}
