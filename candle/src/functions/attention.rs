//! Attention, also with fewer heads of keys than of queries.

use std::sync::OnceLock;

use candle_core::Tensor;
use cuda_tiles::element::{bf16, f16};
use cuda_tiles_kernels::attention::{Attend, attention_backward, attention_on, attention_with_logarithms};

use super::kernels::ready_made;
use super::{by_type, refuse};
use crate::layout::flattened;
use crate::{Apply, Call, Element, Finished, Input, Operation, Result, compute};

/// `softmax(q k' * scale) v`, of `f16` or `bf16`, without the matrix of scores in memory.
///
/// Axes are (batch, heads, rows, columns of a head): 64 or 128 columns. There may be fewer heads of `k` and `v`, each for as many neighbouring
/// heads of `q` (grouped queries). With `causal` the last query sees all keys, and each query before it one key less: what a cache of keys
/// wants.
///
/// Views whose batch and heads lie behind one another at one distance are not copied: tensors as they are made, parts of a cache along its
/// rows, and with a batch of 1 also transposed ones.
///
/// The gradients are kernels as well, without the matrix of scores, and the same bits in every call. Where an operand is a variable, or
/// made of one, the result keeps a number of `f32` for each query for them.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
///
/// let device = Device::Cpu;
/// // Two heads of queries share the keys. All keys are alike: a query gets the mean of the values that it sees.
/// let q = Tensor::ones((1, 2, 3, 64), DType::F16, &device)?;
/// let k = Tensor::ones((1, 1, 3, 64), DType::F16, &device)?;
/// let v = Tensor::new(&[0.0_f32, 1.0, 2.0], &device)?.reshape((1, 1, 3, 1))?.broadcast_as((1, 1, 3, 64))?.to_dtype(DType::F16)?;
/// let y = cuda_tiles_candle::attention(&q, &k, &v, 0.125, true)?.to_dtype(DType::F32)?;
/// assert_eq!(y.narrow(3, 0, 1)?.flatten_all()?.to_vec1::<f32>()?, [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
/// If the shapes do not go together, a head has another number of columns, there is no key, `scale` is not positive or, with `causal`,
/// there are more queries than keys; and the errors of launches.
pub fn attention(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    scale: f32,
    causal: bool,
) -> candle_core::Result<Tensor> {
    let is_tracked = [q, k, v].iter().any(|operand| operand.track_op());
    let attention = Attention { scale, causal, is_tracked, logarithms: OnceLock::new() };
    attention.apply([&streamable(q)?, &streamable(k)?, &streamable(v)?])
}

/// What a load by TMA wants of its address and its strides.
const TMA_BYTES: usize = 16;

/// The tensor, or a copy of it if TMA cannot walk it: columns lie side by side, batch and heads are one axis, and all begins at multiples of 16
/// bytes.
fn streamable(x: &Tensor) -> candle_core::Result<Tensor> {
    let step = TMA_BYTES / x.dtype().size_in_bytes().max(1);
    let is_aligned = match flattened::<3>(x.layout()) {
        Ok((_, [matrix, row, 1])) => {
            [x.layout().start_offset(), matrix, row].iter().all(|at| at.is_multiple_of(step))
        }
        _ => false,
    };
    if is_aligned { Ok(x.clone()) } else { x.force_contiguous() }
}

struct Attention {
    scale: f32,
    causal: bool,
    /// Whether there may be a gradient.
    is_tracked: bool,
    /// What the gradients need: the logarithm of each query's sum of exponentials, of shape (batch and heads, queries) and `f32`.
    logarithms: OnceLock<Tensor>,
}

/// The shapes, checked as far as the kernels do not.
struct Shapes {
    /// Matrices of keys, and of values.
    matrices: usize,
    /// Heads of queries for each head of keys.
    group: usize,
    queries: usize,
    head: usize,
}

impl Shapes {
    fn of(q: Input<'_>, k: Input<'_>, v: Input<'_>) -> Result<Self> {
        let ([batch, heads, queries, head], [key_batch, key_heads, _, _]) = (axes(q)?, axes(k)?);
        if k.dims() != v.dims() {
            let problem = format!("keys have shape {:?}, and values {:?}: they have one", k.dims(), v.dims());
            return refuse("attention", problem);
        }
        if batch != key_batch || key_heads == 0 || !heads.is_multiple_of(key_heads) {
            return refuse(
                "attention",
                format!(
                    "queries have shape {:?}, and keys {:?}: they agree in the batch, and the heads of queries are a multiple of those of keys",
                    q.dims(),
                    k.dims()
                ),
            );
        }
        Ok(Self { matrices: batch * key_heads, group: heads / key_heads, queries, head })
    }
}

fn axes(x: Input<'_>) -> Result<[usize; 4]> {
    match x.dims().try_into() {
        Ok(axes) => Ok(axes),
        Err(_) => refuse(
            "attention",
            format!("axes are (batch, heads, rows, columns), and this is a tensor of shape {:?}", x.dims()),
        ),
    }
}

impl Operation<3> for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn forward(&self, call: &Call<'_>, inputs: [Input<'_>; 3]) -> Result<Finished> {
        by_type!("attention", inputs[0].dtype(); F16 f16, BF16 bf16; T => forward::<T>(self, call, inputs))
    }

    fn backward(
        &self,
        [q, k, v]: [&Tensor; 3],
        out: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 3]> {
        let op = self.name();
        let logarithms = self.logarithms.get().ok_or(candle_core::Error::BackwardNotSupported { op })?;
        let inputs = [q, k, v, out, logarithms, &streamable(gradient)?];
        let gradients = compute(
            inputs,
            |call, inputs| by_type!("attention gradient", q.dtype(); F16 f16, BF16 bf16; T => backward::<T>(self, call, inputs)),
        )?;
        Ok(gradients.map(Some))
    }
}

fn forward<T: Attend + Element>(
    attention: &Attention,
    call: &Call<'_>,
    [q, k, v]: [Input<'_>; 3],
) -> Result<Finished> {
    let Shapes { matrices, group, queries, head } = Shapes::of(q, k, v)?;
    let mut out = call.output::<T>(q.dims())?;
    let (q, k, v) = (q.hold::<T>()?, k.hold::<T>()?, v.hold::<T>()?);
    let (q, k, v) = (q.flattened::<3>()?, k.flattened::<3>()?, v.flattened::<3>()?);
    call.load(&ready_made::KERNELS)?;
    let (scale, causal) = (attention.scale, attention.causal);
    let [matrix, row, column] = q.strides();
    if attention.is_tracked {
        let shape = [matrices * group, queries];
        let mut logarithms = call.output::<f32>((shape[0], shape[1]))?;
        attention_with_logarithms(
            call.stream(),
            q,
            k,
            v,
            out.flattened::<3>()?,
            logarithms.flattened::<2>()?,
            scale,
            causal,
        )?;
        // An operation is applied once, by the function above.
        let _ = attention.logarithms.set(logarithms.finish().into_tensor());
    } else if group > 1 && (queries == 1 || (!causal && matrix == queries * row)) {
        // The queries of all heads of a group see the same keys: they are rows of one matrix.
        let (rows, step) = (group * queries, if queries == 1 { matrix } else { row });
        let q = q.strided(0, [matrices, rows, head], [group * matrix, step, column])?;
        let out = out.elements().strided(0, [matrices, rows, head], [rows * head, head, 1])?;
        attention_on(call.stream(), q, k, v, out, scale, false)?;
    } else {
        attention_on(call.stream(), q, k, v, out.flattened::<3>()?, scale, causal)?;
    }
    Ok(out.finish())
}

fn backward<T: Attend + Element>(
    attention: &Attention,
    call: &Call<'_>,
    [q, k, v, out, logarithms, gradient]: [Input<'_>; 6],
) -> Result<[Finished; 3]> {
    let [mut dq, mut dk, mut dv] =
        [call.output::<T>(q.dims())?, call.output::<T>(k.dims())?, call.output::<T>(v.dims())?];
    let [q, k, v] = [q.hold::<T>()?, k.hold::<T>()?, v.hold::<T>()?];
    let (out, logarithms, gradient) = (out.hold::<T>()?, logarithms.hold()?, gradient.hold::<T>()?);
    call.load(&ready_made::KERNELS)?;
    attention_backward(
        call.stream(),
        q.flattened()?,
        k.flattened()?,
        v.flattened()?,
        out.flattened()?,
        logarithms.view()?,
        gradient.flattened()?,
        dq.flattened()?,
        dk.flattened()?,
        dv.flattened()?,
        attention.scale,
        attention.causal,
    )?;
    Ok([dq.finish(), dk.finish(), dv.finish()])
}
