//! Gradients of our operations against those of the same functions in candle's own ones.

use candle_core::{D, DType, Result, Tensor, Var};
use cuda_tiles_candle::{attention, layer_norm, rms_norm, softmax_last_dim};

use crate::{ROW_TYPES, assert_close, devices, normal};

/// Compares the gradients of two functions of the same variables, the second one in `f64` or `f32`, weighted by random numbers.
fn compare(
    what: &str,
    inputs: &[Tensor],
    tolerance: f64,
    ours: impl Fn(&[Tensor]) -> Result<Tensor>,
    theirs: impl Fn(&[Tensor]) -> Result<Tensor>,
) -> Result<()> {
    let vars = |dtype: Option<DType>| -> Result<Vec<Var>> {
        inputs.iter().map(|x| Var::from_tensor(&x.to_dtype(dtype.unwrap_or(x.dtype()))?)).collect()
    };
    let tensors = |vars: &[Var]| vars.iter().map(|var| var.as_tensor().clone()).collect::<Vec<_>>();
    let (our_vars, their_vars) = (vars(None)?, vars(Some(DType::F32))?);
    let our_result = ours(&tensors(&our_vars))?;
    let weights = normal(our_result.device(), our_result.dims(), our_result.dtype())?;
    let our_gradients = (our_result * &weights)?.backward()?;
    let their_gradients = (theirs(&tensors(&their_vars))? * weights.to_dtype(DType::F32)?)?.backward()?;
    for (k, (our_var, their_var)) in our_vars.iter().zip(&their_vars).enumerate() {
        let (found, expected) =
            (our_gradients.get(our_var).unwrap(), their_gradients.get(their_var).unwrap());
        assert_eq!(found.dtype(), inputs[k].dtype());
        assert_close(&format!("{what}, input {k}"), found, expected, tolerance);
    }
    Ok(())
}

const SHAPES: [&[usize]; 5] = [&[9], &[3, 5, 17], &[7, 1000], &[2, 8192], &[2, 9001]];

#[test]
fn of_softmax() -> Result<()> {
    for device in devices() {
        for (dtype, tolerance) in ROW_TYPES {
            for shape in SHAPES {
                let x = normal(&device, shape, dtype)?;
                let what = format!("{device:?} {dtype:?} {shape:?}");
                compare(
                    &what,
                    &[x],
                    4.0 * tolerance,
                    |x| softmax_last_dim(&x[0]),
                    |x| candle_nn::ops::softmax(&x[0], D::Minus1),
                )?;
            }
        }
    }
    Ok(())
}

#[test]
fn of_norms() -> Result<()> {
    for device in devices() {
        for (dtype, tolerance) in ROW_TYPES {
            for shape in SHAPES {
                let columns = &shape[shape.len() - 1..];
                let tensors = [
                    normal(&device, shape, dtype)?,
                    normal(&device, columns, dtype)?,
                    normal(&device, columns, dtype)?,
                ];
                let what = format!("{device:?} {dtype:?} {shape:?}");
                let tolerance = 10.0 * tolerance;
                let slow = |x: &[Tensor]| candle_nn::ops::layer_norm_slow(&x[0], &x[1], &x[2], 1e-5);
                compare(&what, &tensors, tolerance, |x| layer_norm(&x[0], &x[1], &x[2], 1e-5), slow)?;
                let slow = |x: &[Tensor]| candle_nn::ops::rms_norm_slow(&x[0], &x[1], 1e-5);
                compare(&what, &tensors[..2], tolerance, |x| rms_norm(&x[0], &x[1], 1e-5), slow)?;
            }
        }
    }
    Ok(())
}

/// Attention of candle's own operations, with as many queries of one head of keys as there are.
fn composed_attention(x: &[Tensor], scale: f64, causal: bool) -> Result<Tensor> {
    let ((batch, heads, queries, _), (_, key_heads, keys, head)) = (x[0].dims4()?, x[1].dims4()?);
    let repeated = |x: &Tensor| {
        let x = x.unsqueeze(2)?.broadcast_as((batch, key_heads, heads / key_heads, keys, head))?;
        x.contiguous()?.reshape((batch, heads, keys, head))
    };
    let mut scores = (x[0].contiguous()?.matmul(&repeated(&x[1])?.t()?)? * scale)?;
    if causal {
        let hides = |i: usize| if i % keys > i / keys + keys - queries { f32::NEG_INFINITY } else { 0.0 };
        let mask = Tensor::from_iter((0..queries * keys).map(hides), x[0].device())?;
        scores = scores.broadcast_add(&mask.reshape((queries, keys))?)?;
    }
    candle_nn::ops::softmax(&scores, D::Minus1)?.matmul(&repeated(&x[2])?)
}

#[test]
fn of_attention() -> Result<()> {
    // Batch, heads of queries, heads of keys, queries, keys, columns.
    let mut shapes =
        vec![[2, 4, 2, 6, 9, 64], [1, 3, 3, 65, 65, 64], [1, 2, 1, 5, 70, 128], [2, 2, 2, 1, 33, 128]];
    for device in devices() {
        if device.is_cuda() {
            shapes.extend([[2, 6, 2, 300, 413, 64], [1, 8, 2, 257, 257, 128]]);
        }
        for (dtype, tolerance) in [(DType::F16, 6e-3), (DType::BF16, 4e-2)] {
            for [batch, heads, key_heads, queries, keys, head] in shapes.iter().copied() {
                let tensor = |heads, rows| normal(&device, &[batch, heads, rows, head], dtype);
                let tensors = [tensor(heads, queries)?, tensor(key_heads, keys)?, tensor(key_heads, keys)?];
                let scale = 1.0 / (head as f64).sqrt();
                for causal in [false, true] {
                    let ours = |x: &[Tensor]| attention(&x[0], &x[1], &x[2], scale as f32, causal);
                    let theirs = |x: &[Tensor]| composed_attention(x, scale, causal);
                    let what = format!(
                        "{device:?} {dtype:?} {batch} x {heads}/{key_heads} x {queries}/{keys} x {head}, causal: {causal}"
                    );
                    compare(&what, &tensors, tolerance, ours, theirs)?;
                }
            }
        }
    }
    Ok(())
}

/// Operands that are views, of which some are copied, and one that has no gradient; the gradient of the result is a view as well.
#[test]
fn of_attention_of_views() -> Result<()> {
    for device in devices() {
        // Axes (batch, rows, heads, columns), as a projection makes them.
        let q = normal(&device, &[2, 7, 4, 64], DType::F16)?;
        let (cache, v) =
            (normal(&device, &[2, 2, 20, 64], DType::F16)?, normal(&device, &[2, 2, 11, 64], DType::F16)?);
        let views = |x: &[Tensor], v: &Tensor| -> Result<[Tensor; 3]> {
            Ok([x[0].transpose(1, 2)?, x[1].narrow(2, 3, 11)?, v.clone()])
        };
        let ours = |x: &[Tensor]| {
            let [q, k, v] = views(x, &v)?;
            attention(&q, &k, &v, 0.125, true)?.transpose(1, 2)
        };
        let theirs = |x: &[Tensor]| {
            let v = v.to_dtype(DType::F32)?;
            composed_attention(&views(x, &v)?, 0.125, true)?.transpose(1, 2)
        };
        compare(&format!("{device:?}"), &[q, cache], 6e-3, ours, theirs)?;
    }
    Ok(())
}

#[cfg(feature = "gemm")]
#[test]
fn of_linear() -> Result<()> {
    use cuda_tiles_candle::{Activation, linear};

    for device in devices() {
        let tensors = [
            normal(&device, &[2, 5, 24], DType::F16)?,
            normal(&device, &[9, 24], DType::F16)?,
            normal(&device, &[9], DType::F16)?,
        ];
        for activation in [Activation::None, Activation::Relu, Activation::Gelu, Activation::Silu] {
            let theirs = |x: &[Tensor]| {
                let sum = x[0].broadcast_matmul(&x[1].t()?)?;
                let sum = if x.len() == 3 { sum.broadcast_add(&x[2])? } else { sum };
                match activation {
                    Activation::Relu => sum.relu(),
                    Activation::Gelu => sum.gelu(),
                    Activation::Silu => sum.silu(),
                    _ => Ok(sum),
                }
            };
            for count in [3, 2] {
                let ours = |x: &[Tensor]| linear(&x[0], &x[1], x.get(2), activation);
                compare(&format!("{device:?} {activation:?}"), &tensors[..count], 5e-3, ours, theirs)?;
            }
        }
    }
    Ok(())
}
