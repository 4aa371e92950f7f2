//! The host's side of attention: the choice of a kernel, and its launch.

use std::format;
use std::string::String;

use cuda_tiles::element::{Element, bf16, f16};
use cuda_tiles_host::{Error, Launch, Result, Stream, Tensor, TensorView, TensorViewMut};

use super::gradients::launch::{self as gradients, GradientOperands};
use super::kernels::{attention as attention_by_warpgroups, attention_by_warps};
use super::ping_pong::{attention_in_pairs, attention_ping_pong};

/// log2 e: the exponential of a GPU is a power of two.
pub(super) const LOG2_E: f32 = core::f32::consts::LOG2_E;

/// The operands of attention.
pub struct Operands<'t, T: Element> {
    q: TensorView<'t, T, 3>,
    k: TensorView<'t, T, 3>,
    v: TensorView<'t, T, 3>,
    out: TensorViewMut<'t, T, 3>,
    /// A column for each matrix of queries, or nothing.
    logarithms: TensorViewMut<'t, f32, 3>,
    /// With the factor log2 e.
    scale: f32,
    /// Matrices of queries for each of keys.
    group: u32,
}

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
    /// Launches the kernels of the gradients.
    #[doc(hidden)]
    fn launch_gradients(stream: &Stream, causal: bool, operands: GradientOperands<'_, Self>) -> Result<()>;
}

/// The number of blocks that share `rows` rows of `matrices` matrices in tiles of `side` rows.
fn blocks(most: u32, matrices: usize, rows: usize, side: usize) -> u32 {
    (most as usize).min(matrices * rows.div_ceil(side)) as u32
}

/// With a causal mask over fewer keys, heads of 64 have the kernel of two blocks: three take as many steps as the last of them needs, with
/// 1024 keys a third more. *Measured* on an H200 (driver 580.159.04), batch 4, 32 heads, 1024 keys: 293 TFLOP/s; batch 4, 4096 keys: 441,
/// and 483 of three. There is no measurement between.
const KEYS_FOR_THREE: usize = 2048;

/// Launches a kernel by warpgroups with tiles of so many rows, where there are some, else the one by warps.
macro_rules! launch {
    ($by_warpgroups:expr, $rows:literal, $arguments:ident, $by_warps:expr, $stream:ident, $operands:ident) => {{
        let device = $stream.device();
        let Operands { q, k, v, out, logarithms, scale, group } = $operands;
        let [matrices, rows, _] = q.shape();
        let by_warpgroups = $by_warpgroups;
        if device.supports(by_warpgroups.description())? {
            let blocks = blocks(device.multiprocessors(), matrices, rows, $rows);
            by_warpgroups.launch_on($stream, blocks, $arguments!(q, k, v, out, logarithms, scale, group))
        } else {
            let blocks = blocks(device.multiprocessors() * 8, matrices, rows, 16);
            $by_warps.launch_on($stream, blocks, (q, k, v, out, logarithms, scale, group))
        }
    }};
}
/// The arguments of a kernel that stores logarithms.
macro_rules! with_logarithms {
    ($q:ident, $k:ident, $v:ident, $out:ident, $logarithms:ident, $scale:ident, $group:ident) => {
        ($q, $k, $v, $out, $logarithms, $scale, $group)
    };
}
/// The arguments of a kernel that does not.
macro_rules! without_logarithms {
    ($q:ident, $k:ident, $v:ident, $out:ident, $logarithms:ident, $scale:ident, $group:ident) => {
        ($q, $k, $v, $out, $scale, $group)
    };
}
macro_rules! attend {
    ($($type:ident)*) => { $(
        impl sealed::Sealed for $type {}
        impl Attend for $type {
            fn launch(stream: &Stream, head: usize, causal: bool, operands: Operands<'_, Self>) -> Result<()> {
                let [_, keys, _] = operands.k.shape();
                // Three blocks store no logarithms.
                let by_three = operands.logarithms.is_empty() && (!causal || keys >= KEYS_FOR_THREE);
                match (head, causal) {
                    (64, false) if by_three => launch!(
                        attention_ping_pong::<$type, false>(), 192, without_logarithms,
                        attention_by_warps::<$type, 16, 64, false>(), stream, operands
                    ),
                    (64, true) if by_three => launch!(
                        attention_ping_pong::<$type, true>(), 192, without_logarithms,
                        attention_by_warps::<$type, 16, 64, true>(), stream, operands
                    ),
                    (64, false) => launch!(
                        attention_in_pairs::<$type, false>(), 128, with_logarithms,
                        attention_by_warps::<$type, 16, 64, false>(), stream, operands
                    ),
                    (64, true) => launch!(
                        attention_in_pairs::<$type, true>(), 128, with_logarithms,
                        attention_by_warps::<$type, 16, 64, true>(), stream, operands
                    ),
                    (_, false) => launch!(
                        attention_by_warpgroups::<$type, 128, 128, false>(), 128, with_logarithms,
                        attention_by_warps::<$type, 16, 128, false>(), stream, operands
                    ),
                    (_, true) => launch!(
                        attention_by_warpgroups::<$type, 128, 128, true>(), 128, with_logarithms,
                        attention_by_warps::<$type, 16, 128, true>(), stream, operands
                    ),
                }
            }

            fn launch_gradients(stream: &Stream, causal: bool, operands: GradientOperands<'_, Self>) -> Result<()> {
                let [_, _, head] = operands.q.shape();
                match (head, causal) {
                    (64, false) => gradients::launch!($type, 64, false, stream, operands),
                    (64, true) => gradients::launch!($type, 64, true, stream, operands),
                    (_, false) => gradients::launch!($type, 128, false, stream, operands),
                    (_, true) => gradients::launch!($type, 128, true, stream, operands),
                }
            }
        }
    )* };
}

attend!(f16 bf16);

/// `out = softmax(q k' * scale) v` for each matrix of a batch, on the default stream of the device.
///
/// The tensors, or views of tensors, have axes (batch and heads, rows, columns of a head): `q` and `out` have a row for each query, `k` and
/// `v` for each key. With `causal` the last query sees all keys, and each query before it one key less. There may be fewer matrices of keys
/// than of queries, each for as many neighbours (grouped queries). On a GPU the kernels must have been loaded, see
/// [`Device::load`](cuda_tiles_host::Device::load).
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
    check([q.shape(), k.shape(), v.shape(), out.shape()], scale, causal).map_err(refused)?;
    if out.is_empty() {
        return Ok(());
    }
    let mut none = Tensor::<f32, 3>::zeros(&stream.device(), [0, 0, 1])?;
    let (logarithms, scale, group) = (none.view_mut(), scale * LOG2_E, group_of(q, k));
    launch(stream, Operands { q, k, v, out, logarithms, scale, group }, causal)
}

/// [`attention_on`] a stream, which also writes what [`attention_backward`](super::attention_backward) needs: `logarithms` has a number for
/// each query of each matrix, `log(sum(exp(q k' * scale)))` over the keys that it sees.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::attention::attention_with_logarithms;
///
/// let device = Device::cpu();
/// let ones = Tensor::full(&device, [1, 2, 64], f16::ONE)?;
/// let mut out = Tensor::poisoned(&device, [1, 2, 64])?;
/// let mut logarithms = Tensor::poisoned(&device, [1, 2])?;
/// attention_with_logarithms(&device.default_stream(), &ones, &ones, &ones, &mut out, &mut logarithms, 0.125, true)?;
/// // The second query sees one key more.
/// let logarithms = logarithms.to_vec()?;
/// assert!((logarithms[0] - 8.0).abs() < 1e-5 && (logarithms[1] - logarithms[0] - 2.0_f32.ln()).abs() < 1e-5);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
/// As [`attention`], and if `logarithms` has not that shape.
#[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
pub fn attention_with_logarithms<'t, T: Attend>(
    stream: &Stream,
    q: impl Into<TensorView<'t, T, 3>>,
    k: impl Into<TensorView<'t, T, 3>>,
    v: impl Into<TensorView<'t, T, 3>>,
    out: impl Into<TensorViewMut<'t, T, 3>>,
    logarithms: impl Into<TensorViewMut<'t, f32, 2>>,
    scale: f32,
    causal: bool,
) -> Result<()> {
    let (q, k, v, out, logarithms) = (q.into(), k.into(), v.into(), out.into(), logarithms.into());
    check([q.shape(), k.shape(), v.shape(), out.shape()], scale, causal)
        .and_then(|()| check_logarithms(q.shape(), logarithms.shape()))
        .map_err(refused)?;
    if out.is_empty() {
        return Ok(());
    }
    let ([matrices, queries], [matrix, query]) = (logarithms.shape(), logarithms.strides());
    let logarithms = logarithms.strided(0, [matrices, queries, 1], [matrix, query, 1])?;
    let (scale, group) = (scale * LOG2_E, group_of(q, k));
    launch(stream, Operands { q, k, v, out, logarithms, scale, group }, causal)
}

fn launch<T: Attend>(stream: &Stream, operands: Operands<'_, T>, causal: bool) -> Result<()> {
    let [_, _, head] = operands.q.shape();
    T::launch(stream, head, causal, operands)
}

/// The error that operands of attention do not go together.
fn refused(problem: String) -> Error {
    Error::Operands { operation: "attention", problem }
}

/// The matrices of queries for each matrix of keys.
pub(super) fn group_of<T: Element>(q: TensorView<'_, T, 3>, k: TensorView<'_, T, 3>) -> u32 {
    (q.shape()[0] / k.shape()[0].max(1)) as u32
}

/// The problem with the shape of the logarithms, if there is one.
pub(super) fn check_logarithms(
    [matrices, queries, _]: [usize; 3],
    found: [usize; 2],
) -> core::result::Result<(), String> {
    if found == [matrices, queries] {
        return Ok(());
    }
    Err(format!(
        "the logarithms have shape {found:?}, and {matrices} matrices of {queries} queries want one for each query"
    ))
}

/// The problem with the operands, if there is one.
pub(super) fn check(
    [q, k, v, out]: [[usize; 3]; 4],
    scale: f32,
    causal: bool,
) -> core::result::Result<(), String> {
    let [matrices, queries, head] = q;
    let [key_matrices, keys, _] = k;
    if q != out {
        return Err(format!("the queries have shape {q:?}, the results {out:?}: they have one"));
    }
    if k != v || k[2] != head {
        return Err(format!(
            "the queries have shape {q:?}, the keys {k:?}, the values {v:?}: they agree in a head's columns, keys and values also in their \
             number"
        ));
    }
    if key_matrices != matrices && (key_matrices == 0 || !matrices.is_multiple_of(key_matrices)) {
        return Err(format!(
            "the queries have shape {q:?}, the keys {k:?}: the matrices of queries are as many as those of keys, or a multiple"
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
        assert_eq!(check([[6, 7, 64], [2, 7, 64], [2, 7, 64], [6, 7, 64]], 1.0, true), Ok(()));
        assert_eq!(check_logarithms([2, 7, 64], [2, 7]), Ok(()));
        for (found, text) in [
            (check(shapes(7, 5, 64), 1.0, true), "would see none of 5 keys"),
            (check(shapes(7, 5, 32), 1.0, false), "these have 32"),
            (check(shapes(7, 0, 64), 1.0, false), "at least one key"),
            (check(shapes(7, 5, 64), 0.0, false), "the scale is positive, and not 0"),
            (
                check([[2, 7, 64], [2, 5, 64], [2, 6, 64], [2, 7, 64]], 1.0, false),
                "values also in their number",
            ),
            (check([[3, 7, 64], [2, 5, 64], [2, 5, 64], [3, 7, 64]], 1.0, false), "or a multiple"),
            (check_logarithms([2, 7, 64], [2, 5]), "one for each query"),
            (check([[2, 7, 64], [2, 5, 64], [2, 5, 64], [2, 8, 64]], 1.0, false), "they have one"),
        ] {
            let found = found.unwrap_err();
            assert!(found.contains(text), "{found}");
        }
    }
}
