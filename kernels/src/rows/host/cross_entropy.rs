//! Cross-entropy of rows of logits.

use std::format;

use cuda_tiles_host::{Grid, Result, Stream, TensorView, TensorViewMut};

use super::element::LOGITS;
use super::{ALIGNMENT, Matrices, RowElement, check_shapes, refuse};

/// The cross-entropy of each row of logits with its label, `losses = log(sum(exp(logits))) - logits[label]`. The logarithms are results too, for
/// the gradient. All arithmetic is of `f32`.
///
/// A row whose label is `ignored` has the loss 0. **A label that is neither that nor a column has the loss NaN**: a GPU would have to trap to
/// refuse it, which ends its use by the whole process.
///
/// On a GPU the kernels must have been loaded, see [`Device::load`](cuda_tiles_host::Device::load).
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::rows;
///
/// let device = Device::cpu();
/// let logits = Tensor::from_slice(&device, [2, 2], &[5.0_f32, 5.0, 1.0, 7.0])?;
/// let labels = Tensor::from_slice(&device, [2], &[1_i64, -100])?;
/// let (mut losses, mut logarithms) = (Tensor::poisoned(&device, [2])?, Tensor::poisoned(&device, [2])?);
/// rows::cross_entropy(&device.default_stream(), &logits, &labels, -100, &mut losses, &mut logarithms)?;
/// let losses = losses.to_vec()?;
/// assert!((losses[0] - 2_f32.ln()).abs() < 1e-6);
/// assert_eq!(losses[1], 0.0);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Operands`](cuda_tiles_host::Error::Operands) if the shapes do not go together or there are rows and no columns; and the errors
/// of launches, as for rows that do not lie one after the other, and matrices of 2³² elements and more.
pub fn cross_entropy<'t, T: RowElement>(
    stream: &Stream,
    logits: impl Into<TensorView<'t, T, 2>>,
    labels: impl Into<TensorView<'t, i64, 1>>,
    ignored: i64,
    losses: impl Into<TensorViewMut<'t, f32, 1>>,
    logarithms: impl Into<TensorViewMut<'t, f32, 1>>,
) -> Result<()> {
    let (logits, labels, losses, logarithms) =
        (logits.into(), labels.into(), losses.into(), logarithms.into());
    let name = "cross_entropy";
    let [rows, columns] = logits.shape();
    let of_rows =
        [("labels", labels.shape()), ("losses", losses.shape()), ("logarithms", logarithms.shape())];
    check_shapes(name, [rows], &of_rows)?;
    if rows == 0 {
        return Ok(());
    }
    if columns == 0 {
        return refuse(
            name,
            format!("the logits have shape {:?}: a label names one of at least one column", [rows, 0]),
        );
    }
    let matrices = Matrices::new::<T>(stream, [rows, columns], logits.is_aligned(ALIGNMENT));
    T::losses(stream, matrices, (logits, labels, ignored, losses, logarithms))
}

/// The gradient of the logits of [`cross_entropy`], from these, from the logarithms that it has found, and from the gradient `dlosses` of its
/// losses: `(exp(logits - logarithm) - [column = label]) * dloss`. It is 0 in rows whose label is `ignored`, whatever their logits are.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::rows;
///
/// let device = Device::cpu();
/// let logits = Tensor::from_slice(&device, [2, 2], &[5.0_f32, 5.0, 1.0, 7.0])?;
/// let labels = Tensor::from_slice(&device, [2], &[1_i64, -100])?;
/// let (logarithms, dlosses) = (Tensor::full(&device, [2], 5.0 + 2_f32.ln())?, Tensor::full(&device, [2], 8.0_f32)?);
/// let mut dlogits = Tensor::poisoned(&device, [2, 2])?;
/// let stream = device.default_stream();
/// rows::cross_entropy_backward(&stream, &logits, &labels, -100, &logarithms, &dlosses, &mut dlogits)?;
/// let found = dlogits.to_vec()?;
/// assert!(found.iter().zip([4.0, -4.0, 0.0, 0.0]).all(|(found, expected)| (found - expected).abs() < 1e-5));
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// As [`cross_entropy`].
pub fn cross_entropy_backward<'t, T: RowElement>(
    stream: &Stream,
    logits: impl Into<TensorView<'t, T, 2>>,
    labels: impl Into<TensorView<'t, i64, 1>>,
    ignored: i64,
    logarithms: impl Into<TensorView<'t, f32, 1>>,
    dlosses: impl Into<TensorView<'t, f32, 1>>,
    dlogits: impl Into<TensorViewMut<'t, T, 2>>,
) -> Result<()> {
    let (logits, labels, logarithms) = (logits.into(), labels.into(), logarithms.into());
    let (dlosses, dlogits) = (dlosses.into(), dlogits.into());
    let name = "cross_entropy_backward";
    let shape @ [rows, _] = logits.shape();
    let of_rows =
        [("labels", labels.shape()), ("logarithms", logarithms.shape()), ("dlosses", dlosses.shape())];
    check_shapes(name, [rows], &of_rows)?;
    check_shapes(name, shape, &[("dlogits", dlogits.shape())])?;
    if logits.is_empty() {
        return Ok(());
    }
    T::logits_gradient(stream, grid(shape), (logits, labels, ignored, logarithms, dlosses, dlogits))
}

/// [`cross_entropy_backward`], with the gradient in place of the logits: no second matrix of this size is needed.
///
/// # Errors
///
/// As [`cross_entropy`].
pub fn cross_entropy_backward_in_place<'t, T: RowElement>(
    stream: &Stream,
    logits: impl Into<TensorViewMut<'t, T, 2>>,
    labels: impl Into<TensorView<'t, i64, 1>>,
    ignored: i64,
    logarithms: impl Into<TensorView<'t, f32, 1>>,
    dlosses: impl Into<TensorView<'t, f32, 1>>,
) -> Result<()> {
    let (logits, labels) = (logits.into(), labels.into());
    let (logarithms, dlosses) = (logarithms.into(), dlosses.into());
    let shape @ [rows, _] = logits.shape();
    let of_rows =
        [("labels", labels.shape()), ("logarithms", logarithms.shape()), ("dlosses", dlosses.shape())];
    check_shapes("cross_entropy_backward_in_place", [rows], &of_rows)?;
    if logits.is_empty() {
        return Ok(());
    }
    T::logits_gradient_in_place(stream, grid(shape), (logits, labels, ignored, logarithms, dlosses))
}

/// A block for each tile of a row.
fn grid(shape: [usize; 2]) -> Grid {
    Grid::cover(shape, [1, LOGITS])
}
