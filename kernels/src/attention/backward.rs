//! The gradients of attention, as a call from the host.

use std::format;
use std::string::String;

use cuda_tiles_host::{Error, Result, Stream, TensorView, TensorViewMut, workspace};

use super::gradients::launch::GradientOperands;
use super::host::{Attend, check, check_logarithms, group_of};

/// The gradients `dq`, `dk` and `dv` of the operands of [`attention`](super::attention), from its result `out`, the logarithms of
/// [`attention_with_logarithms`](super::attention_with_logarithms), and the gradient `dout` of the result.
///
/// `dq` has the shape of `q`, `dk` and `dv` that of `k`: where several matrices of queries share keys, theirs are sums. The results
/// are the same in every launch. On a GPU the kernels must have been loaded, see [`Device::load`](cuda_tiles_host::Device::load).
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::attention::{attention_backward, attention_with_logarithms};
///
/// let device = Device::cpu();
/// let stream = device.default_stream();
/// let ones = Tensor::full(&device, [1, 2, 64], f16::ONE)?;
/// let (mut out, mut logarithms) = (Tensor::poisoned(&device, [1, 2, 64])?, Tensor::poisoned(&device, [1, 2])?);
/// attention_with_logarithms(&stream, &ones, &ones, &ones, &mut out, &mut logarithms, 0.125, true)?;
/// let mut gradients = [0; 3].map(|_| Tensor::poisoned(&device, [1, 2, 64]).unwrap());
/// let [dq, dk, dv] = &mut gradients;
/// attention_backward(&stream, &ones, &ones, &ones, &out, &logarithms, &ones, dq, dk, dv, 0.125, true)?;
/// // The first key is all that the first query sees, and half of what the second one sees.
/// let firsts: Vec<f32> = gradients[2].to_vec()?.chunks(64).map(|row| row[0].to_f32()).collect();
/// assert_eq!(firsts, [1.5, 0.5]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Operands`] if the shapes do not go together, and as [`attention`](super::attention).
#[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
pub fn attention_backward<'t, T: Attend>(
    stream: &Stream,
    q: impl Into<TensorView<'t, T, 3>>,
    k: impl Into<TensorView<'t, T, 3>>,
    v: impl Into<TensorView<'t, T, 3>>,
    out: impl Into<TensorView<'t, T, 3>>,
    logarithms: impl Into<TensorView<'t, f32, 2>>,
    dout: impl Into<TensorView<'t, T, 3>>,
    dq: impl Into<TensorViewMut<'t, T, 3>>,
    dk: impl Into<TensorViewMut<'t, T, 3>>,
    dv: impl Into<TensorViewMut<'t, T, 3>>,
    scale: f32,
    causal: bool,
) -> Result<()> {
    let (q, k, v, out, logarithms) = (q.into(), k.into(), v.into(), out.into(), logarithms.into());
    let (dout, dq, mut dk, mut dv) = (dout.into(), dq.into(), dk.into(), dv.into());
    check([q.shape(), k.shape(), v.shape(), out.shape()], scale, causal)
        .and_then(|()| check_logarithms(q.shape(), logarithms.shape()))
        .and_then(|()| {
            check_gradients([q.shape(), k.shape()], [dout.shape(), dq.shape(), dk.shape(), dv.shape()])
        })
        .map_err(|problem| Error::Operands { operation: "attention_backward", problem })?;
    if q.is_empty() {
        // Keys that no query sees.
        if !dk.is_empty() {
            dk.fill(T::ZERO)?;
            dv.fill(T::ZERO)?;
        }
        return Ok(());
    }
    let [matrices, queries, _] = q.shape();
    // Rows begin at multiples of 16 bytes: tiles of the statistics are streamed.
    workspace(stream, [matrices, 2, queries.next_multiple_of(4)], |statistics| {
        let statistics = statistics.slice(2, 0..queries)?;
        let group = group_of(q, k);
        let operands =
            GradientOperands { q, k, v, out, logarithms, dout, dq, dk, dv, statistics, scale, group };
        T::launch_gradients(stream, causal, operands)
    })
}

/// The problem with the shapes of gradients, if there is one.
fn check_gradients(
    [q, k]: [[usize; 3]; 2],
    [dout, dq, dk, dv]: [[usize; 3]; 4],
) -> core::result::Result<(), String> {
    for (name, found, of, wanted) in [
        ("dout", dout, "results", q),
        ("dq", dq, "queries", q),
        ("dk", dk, "keys", k),
        ("dv", dv, "values", k),
    ] {
        if found != wanted {
            return Err(format!(
                "`{name}` has shape {found:?}, and the {of} have shape {wanted:?}: they have one"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_of_another_shape_are_refused() {
        let (q, k) = ([2, 5, 64], [1, 7, 64]);
        assert_eq!(check_gradients([q, k], [q, q, k, k]), Ok(()));
        for (found, name) in
            [([k, q, k, k], "dout"), ([q, k, k, k], "dq"), ([q, q, q, k], "dk"), ([q, q, k, q], "dv")]
        {
            let problem = check_gradients([q, k], found).unwrap_err();
            assert!(problem.contains(name), "{problem}");
        }
    }
}
