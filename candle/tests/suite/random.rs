//! Our operations against candle's, in `f64` or `f32`, on random numbers of many shapes.

use candle_core::{D, DType, Device, Result, Tensor};
use cuda_tiles_candle::{attention, layer_norm, rms_norm, softmax_last_dim};

use crate::{ROW_TYPES, assert_close, devices, normal};

const SHAPES: [&[usize]; 8] =
    [&[1], &[7, 1], &[3, 5, 17], &[2, 1000], &[5, 1025], &[2, 2049], &[3, 8192], &[2, 9001]];

#[test]
fn softmax_of_any_shape() -> Result<()> {
    for device in devices() {
        for (dtype, tolerance) in ROW_TYPES {
            for shape in SHAPES {
                let x = (normal(&device, shape, dtype)? * 4.0)?;
                let expected = candle_nn::ops::softmax(&x.to_dtype(DType::F64)?, D::Minus1)?;
                let what = format!("{device:?} {dtype:?} {shape:?}");
                assert_close(&what, &softmax_last_dim(&x)?, &expected, 2.0 * tolerance);
            }
        }
    }
    Ok(())
}

#[test]
fn norms_of_any_shape() -> Result<()> {
    for device in devices() {
        for (dtype, tolerance) in ROW_TYPES {
            for shape in SHAPES {
                // Far from zero, where a variance by squares would be wrong.
                let x = (normal(&device, shape, dtype)? + 3.0)?;
                let columns = [x.dim(D::Minus1)?];
                let (weight, bias) = (normal(&device, &columns, dtype)?, normal(&device, &columns, dtype)?);
                let wide = |x: &Tensor| x.to_dtype(DType::F64);
                let what = format!("{device:?} {dtype:?} {shape:?}");
                let expected = (wide(&x)?
                    .broadcast_div(&(wide(&x)?.sqr()?.mean_keepdim(D::Minus1)? + 1e-5)?.sqrt()?))?
                .broadcast_mul(&wide(&weight)?)?;
                assert_close(&what, &rms_norm(&x, &weight, 1e-5)?, &expected, 2.0 * tolerance);
                let distance = wide(&x)?.broadcast_sub(&wide(&x)?.mean_keepdim(D::Minus1)?)?;
                let expected = distance
                    .broadcast_div(&(distance.sqr()?.mean_keepdim(D::Minus1)? + 1e-5)?.sqrt()?)?
                    .broadcast_mul(&wide(&weight)?)?
                    .broadcast_add(&wide(&bias)?)?;
                assert_close(&what, &layer_norm(&x, &weight, &bias, 1e-5)?, &expected, 4.0 * tolerance);
            }
        }
        let (x, weight) =
            (Tensor::zeros((2, 5), DType::F32, &device)?, Tensor::zeros(4, DType::F32, &device)?);
        let told = rms_norm(&x, &weight, 1e-5).unwrap_err().to_string();
        assert!(told.contains("`weight` has shape [4], and the rows of the operation want [5]"), "{told}");
        let told = layer_norm(&x, &x.get(0)?, &weight, 1e-5).unwrap_err().to_string();
        assert!(told.contains("`bias` has shape [4], and the rows of the operation want [5]"), "{told}");
        let told = rms_norm(&x.to_dtype(DType::F64)?, &weight, 1e-5).unwrap_err().to_string();
        assert!(told.contains("no kernel for elements of F64"), "{told}");
    }
    Ok(())
}

/// Rows with gaps between, columns, and parts of tensors.
#[test]
fn rows_of_views() -> Result<()> {
    for device in devices() {
        let whole = normal(&device, &[4, 6, 40], DType::F32)?;
        for x in [whole.narrow(2, 3, 30)?, whole.narrow(0, 1, 2)?, whole.t()?, whole.narrow(1, 1, 1)?] {
            let expected = candle_nn::ops::softmax(&x.contiguous()?, D::Minus1)?;
            assert_close(&format!("{device:?} {:?}", x.layout()), &softmax_last_dim(&x)?, &expected, 1e-6);
        }
    }
    Ok(())
}

/// Attention by candle's own operations, in `f32`.
fn attention_of(q: &Tensor, k: &Tensor, v: &Tensor, scale: f32, causal: bool) -> Result<Tensor> {
    let wide = |x: &Tensor| x.to_dtype(DType::F32)?.contiguous();
    let (heads, keys) = (q.dim(1)?, k.dim(2)?);
    let repeated = |x: &Tensor| -> Result<Tensor> {
        let (batch, key_heads, keys, head) = x.dims4()?;
        let group = heads / key_heads;
        let x = wide(x)?.reshape((batch, key_heads, 1, keys, head))?;
        x.broadcast_as((batch, key_heads, group, keys, head))?
            .contiguous()?
            .reshape((batch, heads, keys, head))
    };
    let mut scores = (wide(q)?.matmul(&repeated(k)?.t()?)? * f64::from(scale))?;
    if causal {
        let queries = q.dim(2)?;
        let hides = |i: usize| if i % keys > i / keys + keys - queries { f32::NEG_INFINITY } else { 0.0 };
        let mask = Tensor::from_iter((0..queries * keys).map(hides), q.device())?.reshape((queries, keys))?;
        scores = scores.broadcast_add(&mask)?;
    }
    candle_nn::ops::softmax(&scores, D::Minus1)?.matmul(&repeated(v)?)
}

#[test]
fn attention_of_any_shape() -> Result<()> {
    for device in devices() {
        for (dtype, tolerance) in [(DType::F16, 3e-3), (DType::BF16, 2e-2)] {
            // Batch, heads, heads of keys, queries, keys, columns.
            for [batch, heads, key_heads, queries, keys, head] in [
                [1, 1, 1, 1, 1, 64],
                [2, 4, 4, 33, 33, 64],
                [2, 4, 2, 17, 40, 64],
                [1, 6, 2, 1, 50, 128],
                [2, 6, 1, 9, 9, 128],
                [1, 2, 2, 130, 200, 64],
            ] {
                let q = normal(&device, &[batch, heads, queries, head], dtype)?;
                let k = normal(&device, &[batch, key_heads, keys, head], dtype)?;
                let v = normal(&device, &[batch, key_heads, keys, head], dtype)?;
                for causal in [false, true] {
                    let what = format!("{device:?} {:?} {:?} {causal}", q.shape(), k.shape());
                    let found = attention(&q, &k, &v, 0.11, causal)?;
                    let expected = attention_of(&q, &k, &v, 0.11, causal)?;
                    assert_close(&what, &found, &expected, tolerance);
                }
            }
        }
    }
    Ok(())
}

/// As models have them: queries transposed from (batch, rows, heads, columns), keys and values in a cache with room for more.
#[test]
fn attention_of_views() -> Result<()> {
    for device in devices() {
        for batch in [1, 2] {
            let q = normal(&device, &[batch, 5, 4, 64], DType::F16)?.transpose(1, 2)?;
            let cache = || normal(&device, &[batch, 2, 32, 64], DType::F16)?.narrow(2, 3, 20);
            let (k, v) = (cache()?, cache()?);
            for causal in [false, true] {
                let found = attention(&q, &k, &v, 0.125, causal)?;
                let expected = attention_of(&q, &k, &v, 0.125, causal)?;
                assert_close(&format!("{device:?} {batch} {causal}"), &found, &expected, 3e-3);
            }
        }
    }
    Ok(())
}

#[test]
fn attention_tells_what_is_wrong() -> Result<()> {
    let tensor = |shape: (usize, usize, usize, usize)| Tensor::zeros(shape, DType::F16, &Device::Cpu);
    let told = |q, k, causal| -> Result<String> {
        let (q, k) = (tensor(q)?, tensor(k)?);
        Ok(attention(&q, &k, &k, 1.0, causal).unwrap_err().to_string())
    };
    for (text, told) in [
        ("multiple of those of keys", told((1, 3, 4, 64), (1, 2, 4, 64), false)?),
        ("agree in the batch", told((2, 2, 4, 64), (1, 2, 4, 64), false)?),
        ("these have 32", told((1, 2, 4, 32), (1, 2, 4, 32), false)?),
        ("would see none", told((1, 2, 5, 64), (1, 2, 4, 64), true)?),
    ] {
        assert!(told.contains(text), "{told}");
    }
    let wide = tensor((1, 1, 1, 64))?.to_dtype(DType::F32)?;
    let told = attention(&wide, &wide, &wide, 1.0, false).unwrap_err().to_string();
    assert!(told.contains("no kernel for elements of F32, but for [F16, BF16]"), "{told}");
    Ok(())
}

#[cfg(feature = "gemm")]
#[test]
fn linear_of_any_shape() -> Result<()> {
    use cuda_tiles_candle::{Activation, linear};

    for device in devices() {
        for (dtype, tolerance) in [(DType::F16, 2e-3), (DType::BF16, 1.6e-2), (DType::F64, 1e-12)] {
            for (shape, results) in
                [(vec![1, 8], 8), (vec![2, 3, 100], 33), (vec![70], 5), (vec![65, 129], 66)]
            {
                let x = normal(&device, &shape, dtype)?;
                let columns = x.dim(D::Minus1)?;
                // A weight as checkpoints have it, and one that is a transposed view.
                let weight = normal(&device, &[results, columns], dtype)?;
                let transposed = normal(&device, &[columns, results], dtype)?.t()?;
                let bias = normal(&device, &[results], dtype)?;
                let activations = [Activation::None, Activation::Relu, Activation::Gelu, Activation::Silu];
                for activation in activations.into_iter().take(if dtype == DType::F64 { 1 } else { 4 }) {
                    for (weight, bias) in [(&weight, Some(&bias)), (&transposed, None)] {
                        let wide = |x: &Tensor| x.to_dtype(DType::F64);
                        let rows = wide(&x)?.reshape(((), columns))?;
                        let mut sum = rows.matmul(&wide(weight)?.t()?)?;
                        if let Some(bias) = bias {
                            sum = sum.broadcast_add(&wide(bias)?)?;
                        }
                        let expected = match activation {
                            Activation::Relu => sum.relu()?,
                            Activation::Gelu => sum.gelu()?,
                            Activation::Silu => sum.silu()?,
                            _ => sum,
                        };
                        let found = linear(&x, weight, bias, activation)?;
                        let what = format!("{device:?} {dtype:?} {shape:?} {results} {activation:?}");
                        assert_eq!(found.dims()[..shape.len() - 1], shape[..shape.len() - 1]);
                        assert_close(&what, &found.reshape(expected.shape())?, &expected, tolerance);
                    }
                }
            }
        }
    }
    Ok(())
}
