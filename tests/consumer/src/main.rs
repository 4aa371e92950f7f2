//! Launches the kernels of `kernels/`, on the GPU if there is one, else on the CPU.

use cuda_tiles_host::{Device, Grid, Launch, Result, Tensor};

cuda_tiles_host::include_kernels!("kernels");

fn main() -> Result<()> {
    let device = Device::auto()?;
    device.load(&KERNELS)?;
    println!("running on {device}");

    let rows = 256;
    let values: Vec<f32> = (0..rows * 1024).map(|i| (i % 1000) as f32 / 100.0).collect();
    let x = Tensor::from_slice(&device, [rows, 1024], &values)?;
    let mut y = Tensor::zeros(&device, [rows, 1024])?;
    kernels::softmax.launch(&device, Grid::cover([rows], [1]), (&x, &mut y))?;

    let first: f32 = y.to_vec()?[..1024].iter().sum();
    println!("the first row of {rows} sums to {first}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The device to test on, with the kernels loaded. `CUDA_TILES_DEVICE` chooses.
    fn device() -> Device {
        let device = Device::auto().unwrap();
        device.load(&KERNELS).unwrap();
        device
    }

    #[test]
    fn softmax_agrees_with_its_definition() {
        let device = device();
        let values: Vec<f32> = (0..3 * 1024).map(|i| ((i * 7919) % 2003) as f32 / 200.0 - 5.0).collect();
        let x = Tensor::from_slice(&device, [3, 1024], &values).unwrap();
        let mut y = Tensor::poisoned(&device, [3, 1024]).unwrap();
        kernels::softmax.launch(&device, 3, (&x, &mut y)).unwrap();

        for (input, output) in values.chunks(1024).zip(y.to_vec().unwrap().chunks(1024)) {
            let sum: f64 = input.iter().map(|&value| f64::from(value).exp()).sum();
            for (&value, &softmax) in input.iter().zip(output) {
                let expected = f64::from(value).exp() / sum;
                assert!((f64::from(softmax) - expected).abs() <= 1e-5 * expected, "{softmax} {expected}");
            }
        }
    }

    #[test]
    fn axpy_takes_a_length_that_is_no_multiple_of_the_tile() {
        let device = device();
        let n = 10_001;
        let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let x = Tensor::from_slice(&device, [n], &values).unwrap();
        let mut y = Tensor::full(&device, [n], 1.0).unwrap();
        kernels::axpy.launch(&device, Grid::cover([n], [4096]), (0.5, &x, &mut y)).unwrap();

        let expected: Vec<f32> = values.iter().map(|value| value * 0.5 + 1.0).collect();
        assert_eq!(y.to_vec().unwrap(), expected);
    }

    #[test]
    fn kernels_of_one_name_are_those_of_their_modules() {
        let device = device();
        let x = Tensor::full(&device, [100], 3.0).unwrap();
        let mut y = Tensor::full(&device, [100], 4.0).unwrap();
        kernels::sum::combine.launch(&device, 1, (&x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [7.0; 100]);
        kernels::product::combine.launch(&device, 1, (&x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [21.0; 100]);
    }

    #[test]
    fn the_code_for_gpus_has_the_kernels_that_the_program_launches() {
        let launched = [
            kernels::softmax.description(),
            kernels::axpy.description(),
            kernels::sum::combine.description(),
            kernels::product::combine.description(),
        ];
        assert_eq!(launched[2].path, "kernels::sum::combine");
        assert_eq!(launched[2].declaration, "fn combine(x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>)");
        for image in KERNELS.images() {
            assert_eq!(image.entries().len(), launched.len());
            for kernel in launched {
                let entry = image.entries().iter().find(|entry| entry.path == kernel.path).unwrap();
                assert_eq!((entry.fingerprint, entry.declaration), (kernel.fingerprint, kernel.declaration));
                assert_eq!(entry.symbol, kernel.path.replace("::", "$"));
            }
        }
    }
}
