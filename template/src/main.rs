//! Launches the kernels of `kernels/`, on the GPU if there is one, else on the CPU.

use cuda_tiles_host::{Device, Grid, Launch, Result, Tensor};

// The PTX that the build script made, as `KERNELS`.
cuda_tiles_host::include_kernels!("kernels");

/// `a * x + y`, computed on the device.
fn axpy(device: &Device, a: f32, x: &[f32], y: &[f32]) -> Result<Vec<f32>> {
    let x = Tensor::from_slice(device, [x.len()], x)?;
    let mut y = Tensor::from_slice(device, [y.len()], y)?;
    kernels::axpy.launch(device, Grid::cover(y.shape(), [kernels::TILE]), (a, &x, &mut y))?;
    y.to_vec()
}

fn main() -> Result<()> {
    let device = Device::auto()?;
    device.load(&KERNELS)?;
    println!("running on {device}");

    let y = axpy(&device, 2.0, &[1.0; 10_000], &[0.5; 10_000])?;
    println!("2 * 1 + 0.5 = {}", y[9_999]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs wherever you are: on the GPU if there is one, else on the CPU. `CUDA_TILES_DEVICE=cpu` chooses.
    #[test]
    fn axpy_takes_a_length_that_is_no_multiple_of_the_tile() {
        let device = Device::auto().unwrap();
        device.load(&KERNELS).unwrap();
        let x: Vec<f32> = (0..10_001).map(|i| i as f32).collect();
        let y = axpy(&device, 0.5, &x, &vec![1.0; x.len()]).unwrap();
        let expected: Vec<f32> = x.iter().map(|x| x * 0.5 + 1.0).collect();
        assert_eq!(y, expected);
    }
}
