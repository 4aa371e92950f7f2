//! The calls `gemm` and `Gemm::multiply`: they check the shapes, choose a plan, pack operands and launch.

use std::format;
use std::string::String;
use std::vec::Vec;

use cuda_tiles::element::Element;
use cuda_tiles_host::{Device, Result, Stream, TensorView, TensorViewMut};

use super::launches::Launches;
use super::matrices::{Matrices, MatricesMut};
use super::multiply::Multiply;
use super::options::Gemm;
use super::packing::{Bits, streamable};
use super::plan::{Machine, Major, Plan, Problem, Tuned};
use super::selection::{Available, refuse};
use crate::gemm::epilogue::Sum;

/// `c = a b`: multiplies matrices or batches of matrices, on the default stream of their device.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::gemm::gemm;
///
/// let device = Device::cpu();
/// let a = Tensor::from_slice(&device, [2, 3], &[1_i8, 2, 3, 4, 5, 6])?;
/// let b = Tensor::from_slice(&device, [2, 3], &[1_i8, 0, 1, 0, 1, 0])?;
/// let mut c = Tensor::poisoned(&device, [2, 2])?;
/// gemm(&a, b.view().transpose(), &mut c)?;
/// assert_eq!(c.to_vec()?, [4, 2, 10, 5]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// [`Multiply`] lists the element types. [`Gemm`] adds scales, a bias, an activation and the choice of the stream.
///
/// # Shapes
///
/// `a` is M x K, `b` is K x N, and `c` is M x N. Operands are tensors or views of two axes, or of three axes for batches. `a` or `b` may be
/// one matrix for the whole batch.
///
/// # Storage
///
/// `c` is row-major, with any padding between rows. `a` and `b` may have any strides: for a transposed operand pass a transposed view. An
/// operand is first packed (copied to scratch memory):
///
/// * if its rows do not begin at multiples of 16 bytes;
/// * if neither its rows nor its columns are contiguous;
/// * if it has elements of 8 bits and is not K-major;
/// * if it has elements of `tf32` and is not K-major, on GPUs before compute capability 9.0. On later GPUs one of `a` and `b` is packed if
///   both are MN-major.
///
/// # Errors
///
/// [`Error::Operands`] if the shapes do not fit or `c` is not row-major. Also the errors of launches.
///
/// # On a GPU
///
/// The kernels must have been loaded, see [`Device::load`](cuda_tiles_host::Device::load). If memory of `f32` is passed as `tf32`, GPUs
/// with TMA round the elements, see [`TmaLoad`](cuda_tiles::memory::TmaLoad).
pub fn gemm<'t, T, U, O>(
    a: impl Matrices<'t, T>,
    b: impl Matrices<'t, U>,
    c: impl MatricesMut<'t, O>,
) -> Result<()>
where
    T: Multiply<U, O>,
    U: Element<Bits: Bits>,
    O: Element,
{
    Gemm::new().multiply(a, b, c)
}

/// The majorness in which kernels read an operand, and whether they read it without a copy. `preferred` decides if both majornesses are
/// equally good.
fn major<T: Element>(x: &TensorView<'_, T, 3>, preferred: Major) -> Result<(Major, bool)> {
    let (rows, columns) = (x.is_streamable(), x.permute([0, 2, 1])?.is_streamable());
    Ok(match (rows, columns) {
        (true, true) => (preferred, true),
        (true, false) => (Major::Row, true),
        (false, true) => (Major::Column, true),
        (false, false) => {
            let [_, down, right] = x.strides();
            let major = if right == 1 {
                Major::Row
            } else if down == 1 {
                Major::Column
            } else {
                preferred
            };
            (major, false)
        }
    })
}

/// An operand in its storage: transposed if it is column-major.
fn as_stored<T: Element>(x: TensorView<'_, T, 3>, major: Major) -> Result<TensorView<'_, T, 3>> {
    match major {
        Major::Row => Ok(x),
        Major::Column => x.permute([0, 2, 1]),
    }
}

impl<O: Element, C: Sum> Gemm<'_, O, C> {
    /// The problem, with the storage of the operands. This is their present storage if it has a kernel.
    fn problem<T, U>(
        &self,
        a: &TensorView<'_, T, 3>,
        b: &TensorView<'_, U, 3>,
        c: [usize; 3],
        available: &Available,
    ) -> Result<Problem>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let ([a_batches, rows, depth], [b_batches, b_rows, columns]) = (a.shape(), b.shape());
        let [batches, c_rows, c_columns] = c;
        if depth != b_rows {
            return refuse(format!(
                "a matrix of {rows} x {depth} cannot be multiplied by one of {b_rows} x {columns}: the columns of the first \
                 are as many as the rows of the second"
            ));
        }
        if [rows, columns] != [c_rows, c_columns] {
            return refuse(format!(
                "the product of matrices of {rows} x {depth} and {depth} x {columns} has {rows} x {columns} elements, but \
                 the result has {c_rows} x {c_columns}"
            ));
        }
        for (name, found) in [("first", a_batches), ("second", b_batches)] {
            if found != batches && found != 1 {
                return refuse(format!(
                    "the result is a batch of {batches} matrices, and the {name} factor of {found}: a factor has as many, \
                     or one for all"
                ));
            }
        }
        if let Some(bias) = &self.bias
            && bias.len() != columns
        {
            return refuse(format!(
                "the bias has {} elements, but the result has {columns} columns",
                bias.len()
            ));
        }
        let ((a, _), (b, _)) = (major(a, Major::Row)?, major(b, Major::Column)?);
        let fast = self.fast_accumulation;
        let beta = self.beta != C::ZERO;
        let problem = Problem { batches, rows, columns, depth, a, b, fast, beta };
        // If there is no kernel for this storage, one operand is packed as its transpose, or both are.
        let storages = [
            problem,
            Problem { b: Major::Column, ..problem },
            Problem { a: Major::Row, ..problem },
            Problem { a: Major::Row, b: Major::Column, ..problem },
        ];
        match storages
            .into_iter()
            .find(|problem| problem.has_plan(&available.direct, &available.partial_sums))
        {
            Some(problem) => Ok(problem),
            None => refuse("there is no kernel for this product".into()),
        }
    }

    /// The plan for a product: the caller's, the tuned plan, or the plan with the least estimated time.
    fn planned<T, U>(&self, problem: &Problem, device: &Device, available: &Available) -> Result<Plan>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        if let Some(plan) = self.plan {
            return Ok(plan);
        }
        let Available { machine, direct, partial_sums } = available;
        if let Machine::Gpu { wgmma: true, .. } = machine
            && let Some(plan) = Tuned::plan::<T, U, O>(problem, device)
        {
            return Ok(plan);
        }
        match problem.best(direct, partial_sums, *machine) {
            Some(plan) => Ok(plan),
            None => refuse("there is no kernel for this product".into()),
        }
    }

    /// Returns the product's name in tuning files and all plans for the product, for measurements.
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply).
    pub fn plans<'t, T, U>(
        &self,
        a: impl Matrices<'t, T>,
        b: impl Matrices<'t, U>,
        c: impl Matrices<'t, O>,
    ) -> Result<(String, Vec<Plan>)>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let (a, b, c) = (a.matrices()?, b.matrices()?, c.matrices()?);
        let device = c.device();
        let available = Available::on::<T, U, O>(&device)?;
        let problem = self.problem::<T, U>(&a, &b, c.shape(), &available)?;
        let plans = problem.plans(&available.direct, &available.partial_sums, device.multiprocessors());
        Ok((Tuned::name::<T, U, O>(&problem), plans))
    }

    /// Launches the product. See [`gemm`] for shapes and storage.
    ///
    /// # Errors
    ///
    /// [`Error::Operands`] if the shapes do not fit, `c` is not row-major, or no kernel can follow the plan. Also the errors of launches.
    pub fn multiply<'t, T, U>(
        &self,
        a: impl Matrices<'t, T>,
        b: impl Matrices<'t, U>,
        c: impl MatricesMut<'t, O>,
    ) -> Result<()>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let (a, b, c) = (a.matrices()?, b.matrices()?, c.matrices()?);
        self.multiply_on(&self.stream_for(&c), a, b, c)
    }

    /// Launches a product on this stream.
    pub(super) fn multiply_on<T, U>(
        &self,
        stream: &Stream,
        a: TensorView<'_, T, 3>,
        b: TensorView<'_, U, 3>,
        c: TensorViewMut<'_, O, 3>,
    ) -> Result<()>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let device = stream.device();
        let available = Available::on::<T, U, O>(&device)?;
        let problem = self.problem::<T, U>(&a, &b, c.shape(), &available)?;
        if c.is_empty() {
            return Ok(());
        }
        if c.strides()[2] != 1 && c.shape()[2] > 1 {
            return refuse(
                "the columns of the result are not neighbours in memory: for a transposed result, multiply the transposed \
                 factors in the other order"
                    .into(),
            );
        }
        let plan = self.planned::<T, U>(&problem, &device, &available)?;
        streamable(stream, as_stored(a, problem.a)?, |a| {
            streamable(stream, as_stored(b, problem.b)?, |b| {
                Launches { gemm: self, stream, problem: &problem, plan, a, b }.run(&available, c)
            })
        })
    }
}
