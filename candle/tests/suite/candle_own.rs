//! candle-nn's tests of these operations (`tests/ops.rs` and `tests/layer_norm.rs` of 0.11.1), on ours.

use candle_core::test_utils::to_vec3_round;
use candle_core::{D, DType, Result, Tensor};
use cuda_tiles_candle::{layer_norm, rms_norm, softmax_last_dim};
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::devices;

const DATA: [[[f32; 3]; 2]; 2] = [[[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]], [[2.0, 1.0, 7.0], [8.0, 2.0, 8.0]]];

#[test]
fn softmax() -> Result<()> {
    for device in devices() {
        let tensor = Tensor::new(&DATA, &device)?.log()?;
        let t2 = softmax_last_dim(&tensor)?;
        assert_eq!(
            to_vec3_round(&t2, 4)?,
            [
                // (3, 1, 4) / 8, (1, 5, 9) / 15
                [[0.375, 0.125, 0.5], [0.0667, 0.3333, 0.6]],
                // (2, 1, 7) / 10, (8, 2, 8) / 18
                [[0.2, 0.1, 0.7], [0.4444, 0.1111, 0.4444]]
            ]
        );
        // The other axes, by views of other strides.
        let t1 = softmax_last_dim(&tensor.transpose(1, 2)?)?.transpose(1, 2)?;
        assert_eq!(
            to_vec3_round(&t1, 4)?,
            [
                // 3/4, 1/6, 4/13
                [[0.75, 0.1667, 0.3077], [0.25, 0.8333, 0.6923]],
                // 2/10, 1/3, 7/15
                [[0.2, 0.3333, 0.4667], [0.8, 0.6667, 0.5333]]
            ]
        );
        let t0 = softmax_last_dim(&tensor.transpose(0, 2)?)?.transpose(0, 2)?;
        assert_eq!(
            to_vec3_round(&t0, 4)?,
            [
                // 3/5, 1/2, 4/11
                [[0.6, 0.5, 0.3636], [0.1111, 0.7143, 0.5294]],
                // 2/5, 1/2, 7/11
                [[0.4, 0.5, 0.6364], [0.8889, 0.2857, 0.4706]]
            ]
        );
    }
    Ok(())
}

#[test]
fn softmax_numerical_stability() -> Result<()> {
    for device in devices() {
        let xs = Tensor::new(&[1234_f32, 0.0], &device)?;
        assert_eq!(softmax_last_dim(&xs)?.to_vec1::<f32>()?, [1.0, 0.0]);
    }
    Ok(())
}

#[test]
fn rms_norm_of_few_numbers() -> Result<()> {
    for device in devices() {
        let tensor = Tensor::new(&DATA, &device)?;
        let alpha = Tensor::new(&[1_f32, 2.0, 3.0], &device)?;
        let t = rms_norm(&tensor, &alpha, 1e-5)?;
        assert_eq!(
            to_vec3_round(&t, 4)?,
            [
                [[1.019, 0.6794, 4.0762], [0.1674, 1.6744, 4.521]],
                [[0.4714, 0.4714, 4.9497], [1.206, 0.603, 3.6181]]
            ]
        );
        let t2 = candle_nn::ops::rms_norm_slow(&tensor, &alpha, 1e-5)?;
        let diff = (t - t2)?.abs()?.sum_all()?.to_vec0::<f32>()?;
        assert!(diff < 1e-5, "{diff}");
    }
    Ok(())
}

/// The tensor of candle's larger tests.
fn larger(device: &candle_core::Device) -> Result<Tensor> {
    let (b_size, seq_len, head_dim) = (24, 70, 64);
    let mut rng = StdRng::seed_from_u64(299_792_458);
    let src: Vec<f32> = (0..b_size * seq_len * head_dim).map(|_| rng.random::<f32>()).collect();
    Tensor::new(src, device)?.reshape((b_size, seq_len, head_dim))
}

fn largest_difference(a: &Tensor, b: &Tensor) -> Result<f32> {
    (a - b)?.abs()?.flatten_all()?.max(0)?.to_vec0::<f32>()
}

#[test]
fn rms_norm_of_many_numbers() -> Result<()> {
    for device in devices() {
        let (tensor, alpha) = (larger(&device)?, Tensor::ones(64, DType::F32, &device)?);
        let t = rms_norm(&tensor, &alpha, 1e-5)?;
        let t2 = candle_nn::ops::rms_norm_slow(&tensor, &alpha, 1e-5)?;
        let diff = largest_difference(&t, &t2)?;
        assert!(diff < 1e-5, "{diff}");
    }
    Ok(())
}

#[test]
fn rms_norm_large_magnitude() -> Result<()> {
    for device in devices() {
        let (rows, hidden) = (4_usize, 6912_usize);
        let data: Vec<f32> = (0..rows * hidden)
            .map(|i| {
                let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                sign * ((i as f32 * 0.17).sin().abs() * 7e9)
            })
            .collect();
        let tensor = Tensor::from_vec(data, (rows, hidden), &device)?;
        let alpha = Tensor::ones(hidden, DType::F32, &device)?;
        let found = rms_norm(&tensor, &alpha, 1e-5)?;
        assert!(found.flatten_all()?.to_vec1::<f32>()?.iter().all(|x| x.is_finite()));
        let diff = largest_difference(&found, &candle_nn::ops::rms_norm_slow(&tensor, &alpha, 1e-5)?)?;
        assert!(diff < 5e-3, "{diff}");
    }
    Ok(())
}

#[test]
fn layer_norm_of_few_numbers() -> Result<()> {
    for device in devices() {
        let tensor = Tensor::new(&DATA, &device)?;
        let alpha = Tensor::new(&[1_f32, 2.0, 3.0], &device)?;
        let beta = Tensor::new(&[0.5_f32, 0.0, -0.2], &device)?;
        let t = layer_norm(&tensor, &alpha, &beta, 1e-5)?;
        assert_eq!(
            to_vec3_round(&t, 4)?,
            [
                [[0.7673, -2.6726, 3.0071], [-0.7247, 0.0, 3.4742]],
                [[-0.008, -1.778, 3.991], [1.2071, -2.8284, 1.9213]]
            ]
        );
        let t2 = candle_nn::ops::layer_norm_slow(&tensor, &alpha, &beta, 1e-5)?;
        let diff = (t - t2)?.abs()?.sum_all()?.to_vec0::<f32>()?;
        assert!(diff < 1e-5, "{diff}");
    }
    Ok(())
}

#[test]
fn layer_norm_of_many_numbers() -> Result<()> {
    for device in devices() {
        let tensor = larger(&device)?;
        let (alpha, beta) = (Tensor::ones(64, DType::F32, &device)?, Tensor::zeros(64, DType::F32, &device)?);
        let t = layer_norm(&tensor, &alpha, &beta, 1e-5)?;
        let diff = largest_difference(&t, &candle_nn::ops::layer_norm_slow(&tensor, &alpha, &beta, 1e-5)?)?;
        assert!(diff < 1e-5, "{diff}");
    }
    Ok(())
}

/// The first test of candle-nn's `tests/layer_norm.rs`, which is of the module `LayerNorm`.
#[test]
fn layer_norm_as_of_the_module() -> Result<()> {
    for device in devices() {
        let (w, b) = (Tensor::new(&[3_f32], &device)?, Tensor::new(&[0.5_f32], &device)?);
        let norm = |x: &Tensor| {
            let columns = x.dim(D::Minus1)?;
            layer_norm(x, &w.broadcast_as(columns)?, &b.broadcast_as(columns)?, 1e-8)
        };
        let res = norm(&Tensor::new(&[[[2_f32]]], &device)?)?;
        assert_eq!(res.flatten_all()?.to_vec1::<f32>()?, [0.5]);
        let res = norm(&Tensor::new(&[[[4_f32, 0.0]]], &device)?)?;
        assert_eq!(res.to_vec3::<f32>()?, [[[3.5, -2.5]]]);
        let res = norm(&Tensor::new(&[[[1_f32, 2.0, 3.0], [4.0, 5.0, 6.0], [9.0, 8.0, 7.0]]], &device)?)?;
        assert_eq!(
            to_vec3_round(&res, 4)?,
            [[[-3.1742, 0.5, 4.1742], [-3.1742, 0.5, 4.1742], [4.1742, 0.5, -3.1742]]]
        );
        let mean = (res.sum_keepdim(2)? / 3.0)?;
        assert_eq!(to_vec3_round(&mean, 4)?, [[[0.5], [0.5], [0.5]]]);
        let std = (res.broadcast_sub(&mean)?.sqr()?.sum_keepdim(2)?.sqrt()? / 3.0)?;
        assert_eq!(to_vec3_round(&std, 4)?, [[[1.7321], [1.7321], [1.7321]]]);
    }
    Ok(())
}

/// candle-nn's `tests/sdpa.rs`, `sdpa_full` and `sdpa_vector`, which candle runs on Metal alone.
#[test]
fn scaled_dot_product_attention() -> Result<()> {
    const HEAD: usize = 64;
    let scale = 1.0 / (HEAD as f64).sqrt();
    for device in devices() {
        for rows in [16, 1] {
            let tensor = || Tensor::randn(0.0_f32, 1.0, (4, 3, rows, HEAD), &device)?.to_dtype(DType::F16);
            let (q, k, v) = (tensor()?, tensor()?, tensor()?);
            let wide = |x: &Tensor| x.to_dtype(DType::F32);
            let att = (wide(&q)? * scale)?.matmul(&wide(&k)?.t()?)?;
            let ground_truth = candle_nn::ops::softmax_last_dim(&att)?.matmul(&wide(&v)?)?;
            let found = wide(&cuda_tiles_candle::attention(&q, &k, &v, scale as f32, false)?)?;
            assert_eq!(ground_truth.shape(), found.shape());
            let diff = largest_difference(&found, &ground_truth)?;
            assert!(diff < 5e-3, "{diff}");
        }
    }
    Ok(())
}
