//! Operations on kernels, on every device that this build has: the CPU and, with the feature `cuda`, the first GPU.

mod adapter;
mod candle_own;
mod gradients;
mod random;

use candle_core::{DType, Device, Result, Tensor};

/// The devices to test on: with CUDA_TILES_DEVICE=cpu no GPU.
fn devices() -> Vec<Device> {
    let mut devices = vec![Device::Cpu];
    if cfg!(feature = "cuda") && std::env::var_os("CUDA_TILES_DEVICE").is_none_or(|device| device != "cpu") {
        devices.push(Device::new_cuda(0).expect("builds with `cuda` are tested on machines with a GPU"));
    }
    devices
}

/// The element types of kernels for rows, and what results may differ by, relative to the largest.
const ROW_TYPES: [(DType, f64); 3] = [(DType::F32, 2e-6), (DType::F16, 2e-3), (DType::BF16, 1.6e-2)];

/// Fails unless both have one shape and differ by `tolerance` at most, relative to the largest element of `expected`.
#[track_caller]
fn assert_close(what: &str, found: &Tensor, expected: &Tensor, tolerance: f64) {
    let wide = |x: &Tensor| -> Result<Vec<f64>> { x.to_dtype(DType::F64)?.flatten_all()?.to_vec1() };
    assert_eq!(found.shape(), expected.shape(), "{what}");
    let (found, expected) = (wide(found).unwrap(), wide(expected).unwrap());
    let largest = expected.iter().fold(1e-30_f64, |largest, x| largest.max(x.abs()));
    for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let error = (found - expected).abs() / largest;
        assert!(error <= tolerance, "{what}: element {k} is {found} instead of {expected}");
    }
}

/// Numbers of a normal distribution.
fn normal(device: &Device, shape: &[usize], dtype: DType) -> Result<Tensor> {
    Tensor::randn(0.0_f32, 1.0, shape, device)?.to_dtype(dtype)
}
