//! The host's side of attention: the choice of a kernel, and its launch.

use std::format;
use std::string::String;

use cuda_tiles::element::{Element, bf16, f16};
use cuda_tiles_host::{Error, Launch, Result, Stream, TensorView, TensorViewMut};

use super::kernels::{attention as attention_by_warpgroups, attention_by_warps};
use super::ping_pong::attention_ping_pong;

/// log2 e: the exponential of a GPU is a power of two.
const LOG2_E: f32 = core::f32::consts::LOG2_E;

/// The arguments of attention: queries, keys, values, results, and the scale.
type Operands<'t, T> =
    (TensorView<'t, T, 3>, TensorView<'t, T, 3>, TensorView<'t, T, 3>, TensorViewMut<'t, T, 3>, f32);

mod sealed {
    pub trait Sealed {}
}

/// Element types that have a kernel of [`attention`]: `f16` and `bf16`.
#[diagnostic::on_unimplemented(
    message = "there is no attention of `{Self}`",
    label = "expected `f16` or `bf16`"
)]
pub trait Attend: Element + sealed::Sealed {
    /// Launches the kernel for heads of 64 or 128 columns.
    #[doc(hidden)]
    fn launch(stream: &Stream, head: usize, causal: bool, operands: Operands<'_, Self>) -> Result<()>;
}

/// The number of blocks that share `rows` rows of `matrices` matrices in tiles of `side` rows.
fn blocks(most: u32, matrices: usize, rows: usize, side: usize) -> u32 {
    (most as usize).min(matrices * rows.div_ceil(side)) as u32
}

/// With a causal mask over fewer keys, heads of 64 have the kernel of 128 rows: the 192 rows of three blocks take as many steps as the
/// last of them needs. *Measured* on an H200 (driver 580.159.04), batch 16, 32 heads, 1024 keys: 341 TFLOP/s, and 294 in turns; batch 4,
/// 4096 keys: 452 and 481. There is no measurement between.
const KEYS_FOR_TURNS: usize = 2048;

macro_rules! launch {
    ($by_warpgroups:expr, $rows:literal, $by_warps:expr, $stream:ident, $operands:ident) => {{
        let device = $stream.device();
        let [matrices, rows, _] = $operands.0.shape();
        let by_warpgroups = $by_warpgroups;
        if device.supports(by_warpgroups.description())? {
            by_warpgroups.launch_on(
                $stream,
                blocks(device.multiprocessors(), matrices, rows, $rows),
                $operands,
            )
        } else {
            let blocks = blocks(device.multiprocessors() * 8, matrices, rows, 16);
            $by_warps.launch_on($stream, blocks, $operands)
        }
    }};
}
macro_rules! attend {
    ($($type:ident)*) => { $(
        impl sealed::Sealed for $type {}
        impl Attend for $type {
            fn launch(stream: &Stream, head: usize, causal: bool, operands: Operands<'_, Self>) -> Result<()> {
                let [_, keys, _] = operands.1.shape();
                match (head, causal) {
                    (64, false) => launch!(
                        attention_ping_pong::<$type, false>(), 192, attention_by_warps::<$type, 16, 64, false>(), stream, operands
                    ),
                    (64, true) if keys >= KEYS_FOR_TURNS => launch!(
                        attention_ping_pong::<$type, true>(), 192, attention_by_warps::<$type, 16, 64, true>(), stream, operands
                    ),
                    (64, true) => launch!(
                        attention_by_warpgroups::<$type, 128, 64, true>(), 128, attention_by_warps::<$type, 16, 64, true>(), stream, operands
                    ),
                    (_, false) => launch!(
                        attention_by_warpgroups::<$type, 128, 128, false>(), 128, attention_by_warps::<$type, 16, 128, false>(), stream, operands
                    ),
                    (_, true) => launch!(
                        attention_by_warpgroups::<$type, 128, 128, true>(), 128, attention_by_warps::<$type, 16, 128, true>(), stream, operands
                    ),
                }
            }
        }
    )* };
}

attend!(f16 bf16);

/// `out = softmax(q k' * scale) v` for each matrix of a batch, on the default stream of the device.
///
/// The tensors, or views of tensors, have axes (batch and heads, rows, columns of a head): `q` and `out` have a row for each query, `k` and `v` for
/// each key. With `causal` the last query sees all keys, and each query before it one key less. On a GPU the kernels must have
/// been loaded, see [`Device::load`](cuda_tiles_host::Device::load).
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::attention::attention;
///
/// let device = Device::cpu();
/// let (q, k) = (Tensor::full(&device, [1, 3, 64], f16::ONE)?, Tensor::full(&device, [1, 3, 64], f16::ONE)?);
/// // All keys are alike: a query gets the mean of the values that it sees.
/// let v: Vec<f16> = (0..3 * 64).map(|i| f16::from_f32((i / 64) as f32)).collect();
/// let v = Tensor::from_vec(&device, [1, 3, 64], v)?;
/// let mut out = Tensor::poisoned(&device, [1, 3, 64])?;
/// attention(&q, &k, &v, &mut out, 0.125, true)?;
/// let firsts: Vec<f32> = out.to_vec()?.chunks(64).map(|row| row[0].to_f32()).collect();
/// assert_eq!(firsts, [0.0, 0.5, 1.0]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Operands`] if the shapes do not go together, a head has neither 64 nor 128 columns, there is no key, `scale` is not
/// positive or, with `causal`, there are more queries than keys; and the errors of launches.
pub fn attention<'t, T: Attend>(
    q: impl Into<TensorView<'t, T, 3>>,
    k: impl Into<TensorView<'t, T, 3>>,
    v: impl Into<TensorView<'t, T, 3>>,
    out: impl Into<TensorViewMut<'t, T, 3>>,
    scale: f32,
    causal: bool,
) -> Result<()> {
    let q = q.into();
    attention_on(&q.device().default_stream(), q, k, v, out, scale, causal)
}

/// [`attention`] on a stream.
///
/// # Errors
/// As [`attention`].
pub fn attention_on<'t, T: Attend>(
    stream: &Stream,
    q: impl Into<TensorView<'t, T, 3>>,
    k: impl Into<TensorView<'t, T, 3>>,
    v: impl Into<TensorView<'t, T, 3>>,
    out: impl Into<TensorViewMut<'t, T, 3>>,
    scale: f32,
    causal: bool,
) -> Result<()> {
    let (q, k, v, out) = (q.into(), k.into(), v.into(), out.into());
    check([q.shape(), k.shape(), v.shape(), out.shape()], scale, causal)
        .map_err(|problem| Error::Operands { operation: "attention", problem })?;
    if out.is_empty() {
        return Ok(());
    }
    let [_, _, head] = q.shape();
    T::launch(stream, head, causal, (q, k, v, out, scale * LOG2_E))
}

/// The problem with the operands, if there is one.
fn check([q, k, v, out]: [[usize; 3]; 4], scale: f32, causal: bool) -> Result<(), String> {
    let [_, queries, head] = q;
    let [_, keys, _] = k;
    if q != out {
        return Err(format!("the queries have shape {q:?}, the results {out:?}: they have one"));
    }
    if k != v || k[0] != q[0] || k[2] != head {
        return Err(format!(
            "the queries have shape {q:?}, the keys {k:?}, the values {v:?}: they agree in the batch and in a head's columns, keys and \
             values also in their number"
        ));
    }
    if head != 64 && head != 128 {
        return Err(format!("there are kernels for heads of 64 and 128 columns, and these have {head}"));
    }
    if keys == 0 {
        return Err("a softmax is over at least one key".into());
    }
    if scale.is_nan() || scale <= 0.0 {
        return Err(format!("the scale is positive, and not {scale}"));
    }
    if causal && queries > keys {
        return Err(format!(
            "with a causal mask the first of {queries} queries would see none of {keys} keys: there are at least as many keys as queries"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_that_do_not_go_together_are_told_why() {
        let shapes =
            |queries, keys, head| [[2, queries, head], [2, keys, head], [2, keys, head], [2, queries, head]];
        assert_eq!(check(shapes(5, 7, 64), 1.0, true), Ok(()));
        assert_eq!(check(shapes(7, 5, 128), 1.0, false), Ok(()));
        for (found, text) in [
            (check(shapes(7, 5, 64), 1.0, true), "would see none of 5 keys"),
            (check(shapes(7, 5, 32), 1.0, false), "these have 32"),
            (check(shapes(7, 0, 64), 1.0, false), "at least one key"),
            (check(shapes(7, 5, 64), 0.0, false), "the scale is positive, and not 0"),
            (check([[2, 7, 64], [1, 5, 64], [1, 5, 64], [2, 7, 64]], 1.0, false), "they agree in the batch"),
            (check([[2, 7, 64], [2, 5, 64], [2, 5, 64], [2, 8, 64]], 1.0, false), "they have one"),
        ] {
            let found = found.unwrap_err();
            assert!(found.contains(text), "{found}");
        }
    }
}
