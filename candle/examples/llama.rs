//! A Llama decoder in candle, whose norms, attention and products are candle's own or kernels of cuda-tiles.
//!
//!     cargo run --release --example llama
//!     cargo run --release --example llama --features cuda,gemm
//!
//! The weights are random. The decoder reads a prompt and then writes a few tokens, with a cache of keys and values, once with each set of
//! operations: the numbers behind the prompt must agree, and so do the first tokens. Everything between the operations is candle's in both
//! cases. On a GPU the model has the size of a small one, on the CPU that of a toy.

use std::time::Instant;

use candle_core::{D, DType, Device, Result, Tensor};

/// What differs between the two.
trait Operations {
    const NAME: &'static str;

    fn rms_norm(x: &Tensor, weight: &Tensor) -> Result<Tensor>;

    /// Axes (batch, heads, rows, columns); fewer heads of keys.
    fn attention(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor>;

    fn linear(x: &Tensor, weight: &Tensor) -> Result<Tensor>;

    /// `silu(x weight')`
    fn silu_of_linear(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        Self::linear(x, weight)?.silu()
    }
}

const EPSILON: f32 = 1e-5;

/// candle's own, as `candle_transformers::models::llama` calls them.
struct Candle;

impl Operations for Candle {
    const NAME: &'static str = "candle";

    fn rms_norm(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        candle_nn::ops::rms_norm(&x.contiguous()?, weight, EPSILON)
    }

    fn attention(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        let (batch, heads, queries, head) = q.dims4()?;
        let (_, key_heads, keys, _) = k.dims4()?;
        let repeated = |x: &Tensor| {
            let x = x.unsqueeze(2)?.expand((batch, key_heads, heads / key_heads, keys, head))?;
            x.reshape((batch, heads, keys, head))?.to_dtype(DType::F32)
        };
        let scores =
            (q.contiguous()?.to_dtype(DType::F32)?.matmul(&repeated(k)?.t()?)? / (head as f64).sqrt())?;
        let scores = if queries == 1 {
            scores
        } else {
            let hides = |i: usize| if i % keys > i / keys + keys - queries { f32::NEG_INFINITY } else { 0.0 };
            let mask = Tensor::from_iter((0..queries * keys).map(hides), q.device())?;
            scores.broadcast_add(&mask.reshape((queries, keys))?)?
        };
        candle_nn::ops::softmax_last_dim(&scores)?.matmul(&repeated(v)?)?.to_dtype(q.dtype())
    }

    fn linear(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        x.broadcast_matmul(&weight.t()?)
    }
}

/// Kernels of cuda-tiles.
struct Tiles;

impl Operations for Tiles {
    const NAME: &'static str = "cuda-tiles";

    fn rms_norm(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        cuda_tiles_candle::rms_norm(x, weight, EPSILON)
    }

    fn attention(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
        let scale = 1.0 / (q.dim(D::Minus1)? as f32).sqrt();
        cuda_tiles_candle::attention(q, k, v, scale, true)
    }

    #[cfg(feature = "gemm")]
    fn linear(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        cuda_tiles_candle::linear(x, weight, None, cuda_tiles_candle::Activation::None)
    }

    #[cfg(feature = "gemm")]
    fn silu_of_linear(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        cuda_tiles_candle::linear(x, weight, None, cuda_tiles_candle::Activation::Silu)
    }

    #[cfg(not(feature = "gemm"))]
    fn linear(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
        Candle::linear(x, weight)
    }
}

/// The sizes of a model.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    layers: usize,
    width: usize,
    heads: usize,
    key_heads: usize,
    head: usize,
    inner: usize,
    vocabulary: usize,
    prompt: usize,
    written: usize,
}

const TOY: Sizes = Sizes {
    layers: 2,
    width: 128,
    heads: 4,
    key_heads: 2,
    head: 64,
    inner: 192,
    vocabulary: 97,
    prompt: 7,
    written: 4,
};

const SMALL: Sizes = Sizes {
    layers: 16,
    width: 2048,
    heads: 32,
    key_heads: 8,
    head: 64,
    inner: 8192,
    vocabulary: 32_000,
    prompt: 2048,
    written: 64,
};

/// A layer: attention and a gated product, each behind a norm and added to what came in.
struct Layer {
    attention_norm: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    output: Tensor,
    product_norm: Tensor,
    gate: Tensor,
    up: Tensor,
    down: Tensor,
}

struct Model {
    sizes: Sizes,
    embedding: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    /// Of the rotary embedding, for each position.
    cos: Tensor,
    sin: Tensor,
}

/// Keys and values of a layer, of all tokens so far.
type Cache = Option<(Tensor, Tensor)>;

impl Model {
    fn random(sizes: Sizes, device: &Device) -> Result<Self> {
        let Sizes { layers, width, heads, key_heads, head, inner, vocabulary, prompt, written } = sizes;
        let matrix = |rows: usize, columns: usize| {
            let scale = 1.0 / (columns as f32).sqrt();
            Tensor::randn(0.0, scale, (rows, columns), device)?.to_dtype(DType::BF16)
        };
        let norm = || Tensor::rand(0.5_f32, 1.5, width, device)?.to_dtype(DType::BF16);
        let layer = |_| {
            Ok(Layer {
                attention_norm: norm()?,
                query: matrix(heads * head, width)?,
                key: matrix(key_heads * head, width)?,
                value: matrix(key_heads * head, width)?,
                output: matrix(width, heads * head)?,
                product_norm: norm()?,
                gate: matrix(inner, width)?,
                up: matrix(inner, width)?,
                down: matrix(width, inner)?,
            })
        };
        let angle = |i: usize| {
            let (position, pair) = (i / (head / 2), i % (head / 2));
            position as f32 * 10_000_f32.powf(-2.0 * pair as f32 / head as f32)
        };
        let positions = prompt + written;
        let angles = Tensor::from_iter((0..positions * head / 2).map(angle), device)?;
        let angles = angles.reshape((positions, head / 2))?;
        Ok(Self {
            sizes,
            embedding: matrix(vocabulary, width)?,
            layers: (0..layers).map(layer).collect::<Result<_>>()?,
            norm: norm()?,
            cos: angles.cos()?.to_dtype(DType::BF16)?,
            sin: angles.sin()?.to_dtype(DType::BF16)?,
        })
    }

    /// The numbers for the token behind these, which begin at a position.
    fn forward<O: Operations>(
        &self,
        tokens: &Tensor,
        position: usize,
        caches: &mut [Cache],
    ) -> Result<Tensor> {
        let rows = tokens.dim(0)?;
        let mut x = self.embedding.embedding(tokens)?.unsqueeze(0)?;
        for (layer, cache) in self.layers.iter().zip(caches) {
            let inner = O::rms_norm(&x, &layer.attention_norm)?;
            x = (x + self.attend::<O>(layer, &inner, position, cache)?)?;
            let inner = O::rms_norm(&x, &layer.product_norm)?;
            let gated = (O::silu_of_linear(&inner, &layer.gate)? * O::linear(&inner, &layer.up)?)?;
            x = (x + O::linear(&gated, &layer.down)?)?;
        }
        let last = O::rms_norm(&x.narrow(1, rows - 1, 1)?, &self.norm)?;
        O::linear(&last, &self.embedding)?.flatten_all()?.to_dtype(DType::F32)
    }

    fn attend<O: Operations>(
        &self,
        layer: &Layer,
        x: &Tensor,
        position: usize,
        cache: &mut Cache,
    ) -> Result<Tensor> {
        let Sizes { heads, key_heads, head, .. } = self.sizes;
        let rows = x.dim(1)?;
        let of_heads = |weight: &Tensor, heads| {
            O::linear(x, weight)?.reshape((1, rows, heads, head))?.transpose(1, 2)?.contiguous()
        };
        let (cos, sin) = (self.cos.narrow(0, position, rows)?, self.sin.narrow(0, position, rows)?);
        let rope = |x: Tensor| candle_nn::rotary_emb::rope(&x, &cos, &sin);
        let q = rope(of_heads(&layer.query, heads)?)?;
        let (k, v) = (rope(of_heads(&layer.key, key_heads)?)?, of_heads(&layer.value, key_heads)?);
        let (k, v) = match cache.take() {
            Some((keys, values)) => (Tensor::cat(&[keys, k], 2)?, Tensor::cat(&[values, v], 2)?),
            None => (k, v),
        };
        let y = O::attention(&q, &k, &v)?.transpose(1, 2)?.reshape((1, rows, heads * head))?;
        *cache = Some((k, v));
        O::linear(&y, &layer.output)
    }

    /// The numbers behind the prompt, the tokens that are written, and the seconds for the prompt and for a token.
    fn write<O: Operations>(&self, prompt: &Tensor) -> Result<(Vec<f32>, Vec<u32>, [f64; 2])> {
        let mut caches: Vec<Cache> = self.layers.iter().map(|_| None).collect();
        let start = Instant::now();
        let first = self.forward::<O>(prompt, 0, &mut caches)?;
        let numbers = first.to_vec1()?;
        let (reading, mut next) = (start.elapsed().as_secs_f64(), first);
        let (start, mut tokens) = (Instant::now(), Vec::new());
        for position in self.sizes.prompt..self.sizes.prompt + self.sizes.written {
            let token = next.argmax(0)?;
            tokens.push(token.to_scalar::<u32>()?);
            next = self.forward::<O>(&token.unsqueeze(0)?, position, &mut caches)?;
        }
        next.to_vec1::<f32>()?;
        let writing = start.elapsed().as_secs_f64() / self.sizes.written as f64;
        Ok((numbers, tokens, [reading, writing]))
    }

    /// [`write`](Self::write), the second time where the first one loads kernels; prints the times.
    fn report<O: Operations>(&self, prompt: &Tensor) -> Result<(Vec<f32>, Vec<u32>)> {
        if prompt.device().is_cuda() {
            self.write::<O>(prompt)?;
        }
        let (numbers, tokens, [reading, writing]) = self.write::<O>(prompt)?;
        println!("{:>10}: prompt {:.2} ms, a token {:.3} ms", O::NAME, reading * 1e3, writing * 1e3);
        Ok((numbers, tokens))
    }
}

fn main() -> Result<()> {
    let device = if cfg!(feature = "cuda") { Device::new_cuda(0)? } else { Device::Cpu };
    let sizes = if device.is_cuda() { SMALL } else { TOY };
    let model = Model::random(sizes, &device)?;
    let prompt: Vec<u32> = (0..sizes.prompt).map(|i| (i * i * 31 % sizes.vocabulary) as u32).collect();
    let prompt = Tensor::from_vec(prompt, sizes.prompt, &device)?;
    println!("{sizes:?}");
    let (expected, their_tokens) = model.report::<Candle>(&prompt)?;
    let (found, our_tokens) = model.report::<Tiles>(&prompt)?;
    let largest = expected.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let difference = found.iter().zip(&expected).fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
    let same = our_tokens.iter().zip(&their_tokens).take_while(|(ours, theirs)| ours == theirs).count();
    println!("the numbers behind the prompt differ by {:.4} of the largest", difference / largest);
    println!("of {} tokens, the first {same} are the same", our_tokens.len());
    assert!(difference <= 0.1 * largest, "the operations do not compute the same");
    Ok(())
}
