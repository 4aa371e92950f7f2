//! Softmax of rows.

use cuda_tiles_host::{Result, Stream, TensorView, TensorViewMut};

use super::{ALIGNMENT, Matrices, RowElement, check_shapes};

/// `y = softmax(x)`, along the rows of a matrix. All arithmetic is of `f32`.
///
/// On a GPU the kernels must have been loaded, see [`Device::load`](cuda_tiles_host::Device::load).
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::rows;
///
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, [2, 2], &[0.0_f32, 0.0, 3.0, f32::NEG_INFINITY])?;
/// let mut y = Tensor::poisoned(&device, [2, 2])?;
/// rows::softmax(&device.default_stream(), &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [0.5, 0.5, 1.0, 0.0]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Operands`](cuda_tiles_host::Error::Operands) if the shapes differ; and the errors of launches, as for rows that do not lie one
/// after the other, and matrices of 2³² elements and more.
pub fn softmax<'t, T: RowElement>(
    stream: &Stream,
    x: impl Into<TensorView<'t, T, 2>>,
    y: impl Into<TensorViewMut<'t, T, 2>>,
) -> Result<()> {
    let (x, y) = (x.into(), y.into());
    let shape = x.shape();
    check_shapes("softmax", shape, &[("y", y.shape())])?;
    if x.is_empty() {
        return Ok(());
    }
    let are_aligned = x.is_aligned(ALIGNMENT) && y.is_aligned(ALIGNMENT);
    T::softmax(stream, Matrices::new::<T>(stream, shape, are_aligned), (x, y))
}

/// The gradient `dx` of the operand of [`softmax`], from its result `y` and the gradient `dy` of that.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::rows;
///
/// let device = Device::cpu();
/// let y = Tensor::from_slice(&device, [1, 2], &[0.5_f32, 0.5])?;
/// let dy = Tensor::from_slice(&device, [1, 2], &[1.0_f32, 0.0])?;
/// let mut dx = Tensor::poisoned(&device, [1, 2])?;
/// rows::softmax_backward(&device.default_stream(), &y, &dy, &mut dx)?;
/// assert_eq!(dx.to_vec()?, [0.25, -0.25]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// As [`softmax`].
pub fn softmax_backward<'t, T: RowElement>(
    stream: &Stream,
    y: impl Into<TensorView<'t, T, 2>>,
    dy: impl Into<TensorView<'t, T, 2>>,
    dx: impl Into<TensorViewMut<'t, T, 2>>,
) -> Result<()> {
    let (y, dy, dx) = (y.into(), dy.into(), dx.into());
    let shape = y.shape();
    check_shapes("softmax_backward", shape, &[("dy", dy.shape()), ("dx", dx.shape())])?;
    if y.is_empty() {
        return Ok(());
    }
    let are_aligned = y.is_aligned(ALIGNMENT) && dy.is_aligned(ALIGNMENT) && dx.is_aligned(ALIGNMENT);
    T::softmax_gradient(stream, Matrices::new::<T>(stream, shape, are_aligned), (y, dy, dx))
}
