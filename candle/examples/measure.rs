//! How long our operations take next to candle's own, in one process on one GPU, in turns.
//!
//!     cargo run --release --example measure --features cuda,gemm
//!
//! Each line is a shape: the time of candle's operation divided by ours, and both times. A time is that of many calls behind one another,
//! divided by their number: the smallest of several such.

use std::time::Instant;

use candle_core::{D, DType, Device, Result, Tensor, Var};

/// Calls behind one another.
const CALLS: u32 = 30;

/// Measurements of each.
const TURNS: usize = 7;

/// Seconds of a call.
fn seconds(device: &Device, call: &dyn Fn() -> Result<Tensor>) -> Result<f64> {
    device.synchronize()?;
    let start = Instant::now();
    for _ in 0..CALLS {
        call()?;
    }
    device.synchronize()?;
    Ok(start.elapsed().as_secs_f64() / f64::from(CALLS))
}

/// Prints a line.
fn compare(
    device: &Device,
    what: &str,
    ours: &dyn Fn() -> Result<Tensor>,
    theirs: &dyn Fn() -> Result<Tensor>,
) -> Result<()> {
    // The first calls load kernels, and candle's pool takes memory.
    let (found, expected) = (ours()?.to_dtype(DType::F32)?, theirs()?.to_dtype(DType::F32)?);
    let difference = (found - &expected)?.abs()?.flatten_all()?.max(0)?.to_scalar::<f32>()?;
    let largest = expected.abs()?.flatten_all()?.max(0)?.to_scalar::<f32>()?;
    let mut times = [f64::INFINITY; 2];
    for _ in 0..TURNS {
        for (time, call) in times.iter_mut().zip([ours, theirs]) {
            *time = time.min(seconds(device, call)?);
        }
    }
    let [our, their] = times.map(|time| time * 1e6);
    println!(
        "{what:<60} {:>6.2}   ours {our:>9.1} us, candle {their:>9.1} us, differ by {:.1e}",
        their / our,
        difference / largest
    );
    Ok(())
}

/// Attention as candle's models compute it without the crate of flash-attention.
fn attention(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    mask: &Tensor,
    scale: f64,
    softmax: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let (batch, heads, _, head) = q.dims4()?;
    let (_, key_heads, keys, _) = k.dims4()?;
    let repeated = |x: &Tensor| {
        if heads == key_heads {
            return Ok(x.clone());
        }
        let x = x.unsqueeze(2)?.expand((batch, key_heads, heads / key_heads, keys, head))?;
        x.reshape((batch, heads, keys, head))
    };
    let scores = (q.matmul(&repeated(k)?.t()?)? * scale)?.broadcast_add(mask)?;
    softmax(&scores)?.matmul(&repeated(v)?)
}

fn main() -> Result<()> {
    let device = if cfg!(feature = "cuda") { Device::new_cuda(0)? } else { Device::Cpu };
    let tensor = |shape: &[usize], dtype| Tensor::randn(0.0_f32, 1.0, shape, &device)?.to_dtype(dtype);
    // The CPU only shows that the program works.
    let shrunk = |rows: usize| if device.is_cuda() { rows } else { 2 };
    for dtype in [DType::F32, DType::F16] {
        for (rows, columns) in [(65_536, 768), (65_536, 1024), (16_384, 4096), (8192, 8192)] {
            let x = tensor(&[shrunk(rows), columns], dtype)?;
            let (weight, bias) = (tensor(&[columns], dtype)?, tensor(&[columns], dtype)?);
            compare(
                &device,
                &format!("softmax {dtype:?} {rows} x {columns}"),
                &|| cuda_tiles_candle::softmax_last_dim(&x),
                &|| candle_nn::ops::softmax_last_dim(&x),
            )?;
            compare(
                &device,
                &format!("layer norm {dtype:?} {rows} x {columns}"),
                &|| cuda_tiles_candle::layer_norm(&x, &weight, &bias, 1e-5),
                &|| candle_nn::ops::layer_norm(&x, &weight, &bias, 1e-5),
            )?;
            compare(
                &device,
                &format!("RMS norm {dtype:?} {rows} x {columns}"),
                &|| cuda_tiles_candle::rms_norm(&x, &weight, 1e-5),
                &|| candle_nn::ops::rms_norm(&x, &weight, 1e-5),
            )?;
        }
    }
    for (batch, heads, key_heads, queries, keys, head) in [
        (4, 32, 32, 2048, 2048, 64),
        (4, 16, 16, 2048, 2048, 128),
        (1, 32, 8, 2048, 2048, 128),
        (16, 32, 8, 1, 2048, 128),
    ] {
        let (batch, queries) = if device.is_cuda() { (batch, queries) } else { (1, 3) };
        let q = tensor(&[batch, heads, queries, head], DType::F16)?;
        let k = tensor(&[batch, key_heads, keys, head], DType::F16)?;
        let v = tensor(&[batch, key_heads, keys, head], DType::F16)?;
        let hides = |i: usize| if i % keys > i / keys + keys - queries { f32::NEG_INFINITY } else { 0.0 };
        let mask = Tensor::from_iter((0..queries * keys).map(hides), &device)?.reshape((queries, keys))?;
        let (mask, scale) = (mask.to_dtype(DType::F16)?, 1.0 / (head as f64).sqrt());
        compare(
            &device,
            &format!("causal attention F16 {batch} x {heads}/{key_heads} x {queries}/{keys} x {head}"),
            &|| cuda_tiles_candle::attention(&q, &k, &v, scale as f32, true),
            &|| attention(&q, &k, &v, &mask, scale, candle_nn::ops::softmax_last_dim),
        )?;
        if queries == 1 {
            continue;
        }
        let weights = tensor(&[batch, heads, queries, head], DType::F16)?;
        let operands = [Var::from_tensor(&q)?, Var::from_tensor(&k)?, Var::from_tensor(&v)?];
        let gradients = |attention: &dyn Fn(&[Var; 3]) -> Result<Tensor>| {
            let gradients = (attention(&operands)? * &weights)?.backward()?;
            Ok(gradients.get(&operands[0]).expect("it is a variable").clone())
        };
        compare(
            &device,
            &format!("causal attention and gradients F16 {batch} x {heads}/{key_heads} x {queries} x {head}"),
            &|| gradients(&|[q, k, v]| cuda_tiles_candle::attention(q, k, v, scale as f32, true)),
            &|| {
                // candle's fused softmax has no gradient.
                let softmax = |x: &Tensor| candle_nn::ops::softmax(x, D::Minus1);
                gradients(&|[q, k, v]| attention(q, k, v, &mask, scale, softmax))
            },
        )?;
    }
    #[cfg(feature = "gemm")]
    for (rows, columns, results) in
        [(4096, 4096, 4096), (8192, 2048, 8192), (16, 4096, 4096), (1, 4096, 14336)]
    {
        use cuda_tiles_candle::{Activation, linear};
        let x = tensor(&[shrunk(rows), columns], DType::F16)?;
        let weight = (tensor(&[results, columns], DType::F16)? * (1.0 / (columns as f64).sqrt()))?;
        let bias = tensor(&[results], DType::F16)?;
        let theirs = candle_nn::Linear::new(weight.clone(), Some(bias.clone()));
        compare(
            &device,
            &format!("gelu(linear) F16 {rows} x {columns} to {results}"),
            &|| linear(&x, &weight, Some(&bias), Activation::Gelu),
            &|| candle_nn::Module::forward(&theirs, &x)?.gelu(),
        )?;
    }
    let x = tensor(&[shrunk(4096), 4096], DType::F32)?;
    let gradient = tensor(&[shrunk(4096), 4096], DType::F32)?;
    let (x, weight) = (Var::from_tensor(&x)?, Var::ones(4096, DType::F32, &device)?);
    let gradients = |norm: &dyn Fn(&Tensor, &Tensor) -> Result<Tensor>| {
        let gradients = (norm(&x, &weight)? * &gradient)?.backward()?;
        Ok(gradients.get(&x).expect("it is a variable").clone())
    };
    compare(
        &device,
        "RMS norm and its gradients F32 4096 x 4096",
        &|| gradients(&|x, weight| cuda_tiles_candle::rms_norm(x, weight, 1e-5)),
        &|| gradients(&|x, weight| candle_nn::ops::rms_norm_slow(x, weight, 1e-5)),
    )?;
    compare(
        &device,
        "softmax and its gradient F32 4096 x 4096",
        &|| gradients(&|x, _| cuda_tiles_candle::softmax_last_dim(x)),
        &|| gradients(&|x, _| candle_nn::ops::softmax(x, D::Minus1)),
    )
}
