//! Normalisations of rows.

use std::format;

use cuda_tiles_host::{Grid, Result, Stream, TensorView, TensorViewMut, workspace};

use super::{ALIGNMENT, Matrices, RowElement, check_shapes, refuse};

/// The rows and columns of a block that sums gradients of weights.
const PART: [usize; 2] = [8, 1024];
/// The columns of a block that sums the parts.
const PART_COLUMNS: usize = 32;
/// How many blocks of a GPU's multiprocessor sum gradients of weights.
const BLOCKS_FOR_PARTS: usize = 2;

/// `y = x * r * weight` with `r = 1 / sqrt(mean(x²) + epsilon)` of each row: RMS normalisation (B. Zhang and R. Sennrich, "Root Mean Square
/// Layer Normalization", 2019). `r` is a result too, for the gradient. All arithmetic is of `f32`.
///
/// On a GPU the kernels must have been loaded, see [`Device::load`](cuda_tiles_host::Device::load).
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::rows;
///
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, [1, 2], &[7.0_f32, 1.0])?;
/// let weight = Tensor::from_slice(&device, [2], &[1.0_f32, 10.0])?;
/// let (mut y, mut r) = (Tensor::poisoned(&device, [1, 2])?, Tensor::poisoned(&device, [1])?);
/// rows::rms_norm(&device.default_stream(), &x, &weight, 0.0, &mut y, &mut r)?;
/// assert_eq!((y.to_vec()?, r.to_vec()?), (vec![1.4, 2.0], vec![0.2]));
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Operands`](cuda_tiles_host::Error::Operands) if the shapes do not go together or `epsilon` is negative; and the errors of
/// launches, as for rows that do not lie one after the other, and matrices of 2³² elements and more.
pub fn rms_norm<'t, T: RowElement>(
    stream: &Stream,
    x: impl Into<TensorView<'t, T, 2>>,
    weight: impl Into<TensorView<'t, T, 1>>,
    epsilon: f32,
    y: impl Into<TensorViewMut<'t, T, 2>>,
    reciprocal_deviation: impl Into<TensorViewMut<'t, f32, 1>>,
) -> Result<()> {
    let (x, weight, y, reciprocal_deviation) =
        (x.into(), weight.into(), y.into(), reciprocal_deviation.into());
    let name = "rms_norm";
    let shape @ [rows, columns] = x.shape();
    check_epsilon(name, epsilon)?;
    check_shapes(name, shape, &[("y", y.shape())])?;
    check_shapes(name, [columns], &[("weight", weight.shape())])?;
    check_shapes(name, [rows], &[("reciprocal_deviation", reciprocal_deviation.shape())])?;
    if x.is_empty() {
        return Ok(());
    }
    let are_aligned = x.is_aligned(ALIGNMENT) && weight.is_aligned(ALIGNMENT) && y.is_aligned(ALIGNMENT);
    T::rms_norm(
        stream,
        Matrices::new::<T>(stream, shape, are_aligned),
        (x, weight, epsilon, y, reciprocal_deviation),
    )
}

/// `y = (x - mean) * r * weight + bias` with `r = 1 / sqrt(variance + epsilon)` of each row: layer normalisation (J. Ba, J. Kiros, G. Hinton,
/// "Layer Normalization", 2016). Mean and `r` are results too, for the gradient. All arithmetic is of `f32`.
///
/// On a GPU the kernels must have been loaded, see [`Device::load`](cuda_tiles_host::Device::load).
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::rows;
///
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, [1, 2], &[2.0_f32, 6.0])?;
/// let (weight, bias) = (Tensor::full(&device, [2], 10.0_f32)?, Tensor::full(&device, [2], 1.0_f32)?);
/// let mut y = Tensor::poisoned(&device, [1, 2])?;
/// let (mut mean, mut r) = (Tensor::poisoned(&device, [1])?, Tensor::poisoned(&device, [1])?);
/// rows::layer_norm(&device.default_stream(), &x, &weight, &bias, 0.0, &mut y, &mut mean, &mut r)?;
/// assert_eq!((y.to_vec()?, mean.to_vec()?, r.to_vec()?), (vec![-9.0, 11.0], vec![4.0], vec![0.5]));
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// As [`rms_norm`].
#[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
pub fn layer_norm<'t, T: RowElement>(
    stream: &Stream,
    x: impl Into<TensorView<'t, T, 2>>,
    weight: impl Into<TensorView<'t, T, 1>>,
    bias: impl Into<TensorView<'t, T, 1>>,
    epsilon: f32,
    y: impl Into<TensorViewMut<'t, T, 2>>,
    mean: impl Into<TensorViewMut<'t, f32, 1>>,
    reciprocal_deviation: impl Into<TensorViewMut<'t, f32, 1>>,
) -> Result<()> {
    let (x, weight, bias, y) = (x.into(), weight.into(), bias.into(), y.into());
    let (mean, reciprocal_deviation) = (mean.into(), reciprocal_deviation.into());
    let name = "layer_norm";
    let shape @ [rows, columns] = x.shape();
    check_epsilon(name, epsilon)?;
    check_shapes(name, shape, &[("y", y.shape())])?;
    check_shapes(name, [columns], &[("weight", weight.shape()), ("bias", bias.shape())])?;
    let of_rows = [("mean", mean.shape()), ("reciprocal_deviation", reciprocal_deviation.shape())];
    check_shapes(name, [rows], &of_rows)?;
    if x.is_empty() {
        return Ok(());
    }
    let are_aligned = x.is_aligned(ALIGNMENT)
        && weight.is_aligned(ALIGNMENT)
        && bias.is_aligned(ALIGNMENT)
        && y.is_aligned(ALIGNMENT);
    T::layer_norm(
        stream,
        Matrices::new::<T>(stream, shape, are_aligned),
        (x, weight, bias, epsilon, y, mean, reciprocal_deviation),
    )
}

/// The gradients `dx` and `dweight` of the operands of [`rms_norm`], from these, from the `r` that it has found, and from the gradient `dy` of
/// its result. The same arguments give the same bits. Sums of parts take memory for the time of the call, see
/// [`workspace`](cuda_tiles_host::workspace).
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::rows;
///
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, [1, 2], &[7.0_f32, 1.0])?;
/// let weight = Tensor::full(&device, [2], 1.0_f32)?;
/// let r = Tensor::full(&device, [1], 0.2_f32)?;
/// // A gradient along x: y does not depend on the length of x.
/// let dy = Tensor::from_slice(&device, [1, 2], &[7.0_f32, 1.0])?;
/// let (mut dx, mut dweight) = (Tensor::poisoned(&device, [1, 2])?, Tensor::poisoned(&device, [2])?);
/// rows::rms_norm_backward(&device.default_stream(), &x, &weight, &r, &dy, &mut dx, &mut dweight)?;
/// assert!(dx.to_vec()?.iter().all(|dx| dx.abs() < 1e-6));
/// assert_eq!(dweight.to_vec()?, [7.0 * 7.0 * 0.2, 0.2]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// As [`rms_norm`].
pub fn rms_norm_backward<'t, T: RowElement>(
    stream: &Stream,
    x: impl Into<TensorView<'t, T, 2>>,
    weight: impl Into<TensorView<'t, T, 1>>,
    reciprocal_deviation: impl Into<TensorView<'t, f32, 1>>,
    dy: impl Into<TensorView<'t, T, 2>>,
    dx: impl Into<TensorViewMut<'t, T, 2>>,
    dweight: impl Into<TensorViewMut<'t, T, 1>>,
) -> Result<()> {
    let saved = Saved { mean: None, reciprocal_deviation: reciprocal_deviation.into() };
    let name = "rms_norm_backward";
    backward(name, stream, x.into(), weight.into(), saved, dy.into(), dx.into(), dweight.into(), None)
}

/// The gradients `dx`, `dweight` and `dbias` of the operands of [`layer_norm`], from these, from the mean and the `r` that it has found,
/// and from the gradient `dy` of its result. Otherwise as [`rms_norm_backward`].
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::rows;
///
/// let device = Device::cpu();
/// let x = Tensor::from_slice(&device, [1, 2], &[2.0_f32, 6.0])?;
/// let weight = Tensor::full(&device, [2], 10.0_f32)?;
/// let (mean, r) = (Tensor::full(&device, [1], 4.0_f32)?, Tensor::full(&device, [1], 0.5_f32)?);
/// // A gradient that is the same for all columns: y does not depend on what is added to x.
/// let dy = Tensor::full(&device, [1, 2], 3.0_f32)?;
/// let mut dx = Tensor::poisoned(&device, [1, 2])?;
/// let (mut dweight, mut dbias) = (Tensor::poisoned(&device, [2])?, Tensor::poisoned(&device, [2])?);
/// let stream = device.default_stream();
/// rows::layer_norm_backward(&stream, &x, &weight, &mean, &r, &dy, &mut dx, &mut dweight, &mut dbias)?;
/// assert_eq!((dx.to_vec()?, dweight.to_vec()?, dbias.to_vec()?), (vec![0.0; 2], vec![-3.0, 3.0], vec![3.0; 2]));
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
///
/// As [`rms_norm`].
#[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
pub fn layer_norm_backward<'t, T: RowElement>(
    stream: &Stream,
    x: impl Into<TensorView<'t, T, 2>>,
    weight: impl Into<TensorView<'t, T, 1>>,
    mean: impl Into<TensorView<'t, f32, 1>>,
    reciprocal_deviation: impl Into<TensorView<'t, f32, 1>>,
    dy: impl Into<TensorView<'t, T, 2>>,
    dx: impl Into<TensorViewMut<'t, T, 2>>,
    dweight: impl Into<TensorViewMut<'t, T, 1>>,
    dbias: impl Into<TensorViewMut<'t, T, 1>>,
) -> Result<()> {
    let saved = Saved { mean: Some(mean.into()), reciprocal_deviation: reciprocal_deviation.into() };
    let (name, dbias) = ("layer_norm_backward", Some(dbias.into()));
    backward(name, stream, x.into(), weight.into(), saved, dy.into(), dx.into(), dweight.into(), dbias)
}

/// What a normalisation has found of each row.
struct Saved<'t> {
    /// None for RMS normalisation.
    mean: Option<TensorView<'t, f32, 1>>,
    reciprocal_deviation: TensorView<'t, f32, 1>,
}

/// The gradients of both normalisations. `dbias` is there if the mean is.
#[allow(clippy::too_many_arguments, reason = "that many operands has the operation")]
fn backward<T: RowElement>(
    name: &'static str,
    stream: &Stream,
    x: TensorView<'_, T, 2>,
    weight: TensorView<'_, T, 1>,
    Saved { mean, reciprocal_deviation }: Saved<'_>,
    dy: TensorView<'_, T, 2>,
    dx: TensorViewMut<'_, T, 2>,
    mut dweight: TensorViewMut<'_, T, 1>,
    dbias: Option<TensorViewMut<'_, T, 1>>,
) -> Result<()> {
    let shape @ [rows, columns] = x.shape();
    check_shapes(name, shape, &[("dy", dy.shape()), ("dx", dx.shape())])?;
    check_shapes(name, [columns], &[("weight", weight.shape()), ("dweight", dweight.shape())])?;
    check_shapes(name, [rows], &[("reciprocal_deviation", reciprocal_deviation.shape())])?;
    if let Some(mean) = &mean {
        check_shapes(name, [rows], &[("mean", mean.shape())])?;
    }
    if let Some(dbias) = &dbias {
        check_shapes(name, [columns], &[("dbias", dbias.shape())])?;
    }
    if columns == 0 {
        return Ok(());
    }
    if rows == 0 {
        dweight.fill(T::ZERO)?;
        return dbias.map_or(Ok(()), |mut dbias| dbias.fill(T::ZERO));
    }
    // Without elements a mean counts as zero.
    let mean = match mean {
        Some(mean) => mean,
        None => reciprocal_deviation.slice(0, 0..0)?,
    };
    let are_aligned = x.is_aligned(ALIGNMENT)
        && weight.is_aligned(ALIGNMENT)
        && dy.is_aligned(ALIGNMENT)
        && dx.is_aligned(ALIGNMENT);
    let matrices = Matrices::new::<T>(stream, shape, are_aligned);
    let multiprocessors = stream.device().multiprocessors() as usize;
    let sums = (dweight, dbias);
    if let (true, Some(one_pass)) = (matrices.in_vectors, T::one_pass(columns)) {
        let blocks = (multiprocessors * one_pass.blocks).min(rows.div_ceil(one_pass.rows));
        return by_parts(stream, [blocks, columns], sums, |weight_parts, bias_parts| {
            let arguments = (x, weight, mean, reciprocal_deviation, dy, dx, weight_parts, bias_parts);
            T::norm_gradients(stream, columns, blocks, arguments)
        });
    }
    T::norm_gradient(stream, matrices, (x, weight, mean, reciprocal_deviation, dy, dx))?;
    let column_tiles = columns.div_ceil(PART[1]);
    let parts = (multiprocessors * BLOCKS_FOR_PARTS).div_ceil(column_tiles).min(rows.div_ceil(PART[0]));
    by_parts(stream, [parts, columns], sums, |weight_parts, bias_parts| {
        let arguments = (x, mean, reciprocal_deviation, dy, weight_parts, bias_parts);
        T::weight_gradient_parts(stream, Grid::from((parts, column_tiles)), arguments)
    })
}

/// The sums over all rows: of parts, of this shape, that `make` makes. Without `dbias` its parts have no elements.
fn by_parts<T: RowElement>(
    stream: &Stream,
    shape @ [_, columns]: [usize; 2],
    (dweight, dbias): (TensorViewMut<'_, T, 1>, Option<TensorViewMut<'_, T, 1>>),
    make: impl FnOnce(TensorViewMut<'_, f32, 2>, TensorViewMut<'_, f32, 2>) -> Result<()>,
) -> Result<()> {
    let bias_shape = if dbias.is_some() { shape } else { [0, columns] };
    workspace(stream, shape, |mut weight_parts| {
        workspace(stream, bias_shape, |mut bias_parts| {
            make(weight_parts.reborrow(), bias_parts.reborrow())?;
            let sum = |dbias: TensorViewMut<'_, T, 1>| {
                let arguments = (weight_parts.as_view(), bias_parts.as_view(), dweight, dbias);
                T::sum_of_parts(stream, Grid::cover([columns], [PART_COLUMNS]), arguments)
            };
            match dbias {
                Some(dbias) => sum(dbias),
                None => workspace(stream, [0], sum),
            }
        })
    })
}

/// Refuses what may be under no root.
fn check_epsilon(operation: &'static str, epsilon: f32) -> Result<()> {
    if epsilon >= 0.0 {
        return Ok(());
    }
    refuse(operation, format!("epsilon is zero or positive, and not {epsilon}"))
}
