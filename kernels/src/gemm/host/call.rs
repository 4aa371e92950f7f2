//! The call itself: checks, the plan, packing, launches.

use std::format;
use std::string::String;
use std::vec::Vec;

use cuda_tiles::element::{Element, Number};
use cuda_tiles_host::{Device, Error, Result, Stream, TensorView, TensorViewMut, workspace};

use super::launches::Launches;
use super::matrices::{Matrices, MatricesMut};
use super::multiply::{Candidate, Multiply};
use super::packing::{Bits, streamable};
use super::plan::{Cut, Form, Machine, Plan, Problem, Stored, Tuned};
use crate::gemm::epilogue::{Activation, LARGEST_WITH_BETA};

/// `c = a b`, the product of matrices or of batches of matrices, on the default stream of their device.
///
/// Operands are tensors or views of two axes, or three for batches; in a batch, `a` or `b` may be a single matrix. They may lie
/// in any way: a transposed view is a transposed factor. Those that kernels cannot read as they are, because their rows do not
/// begin at multiples of 16 bytes, or neither rows nor columns are neighbours, or, for types of 8 bits, the axis that is summed over
/// is not contiguous, are first copied to scratch memory; so is one of two factors of `tf32` of which neither has that axis
/// contiguous, and on GPUs before 9.0 any that has not. The columns of `c` are neighbours. Memory of `f32` that is passed as `tf32` is
/// rounded on its way where the GPU has a copy engine, see [`TmaLoad`](cuda_tiles::memory::TmaLoad).
///
/// Which types multiply to which says [`Multiply`]; [`Gemm`] has scales, a bias, activations and the stream. On a GPU the kernels
/// must have been loaded, see [`Device::load`](cuda_tiles_host::Device::load).
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
/// # Errors
/// [`Error::Operands`] if the shapes do not go together or the columns of `c` are not neighbours; those of launches.
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

/// A product with more than [`gemm`] has: `c = activation(alpha a b + beta c + bias)`. `C` is the type of the sums.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::gemm::{Activation, Gemm};
///
/// let device = Device::cpu();
/// let half = |x: f32| f16::from_f32(x);
/// let a = Tensor::full(&device, [5, 7], half(1.0))?;
/// let b = Tensor::full(&device, [7, 2], half(2.0))?;
/// let bias = Tensor::from_slice(&device, [2], &[half(-100.0), half(1.0)])?;
/// let mut c = Tensor::full(&device, [5, 2], half(3.0))?;
/// Gemm::new().alpha(0.5).beta(2.0).bias(&bias).activation(Activation::Relu).multiply(&a, &b, &mut c)?;
/// assert_eq!(c.to_vec()?[..2], [half(0.0), half(14.0)]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
pub struct Gemm<'o, O: Element, C> {
    pub(super) alpha: C,
    pub(super) beta: C,
    bias: Option<TensorView<'o, O, 1>>,
    pub(super) activation: Activation,
    fast_accumulation: bool,
    stream: Option<Stream>,
    plan: Option<Plan>,
}

impl<O: Element, C: Number> Default for Gemm<'_, O, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'o, O: Element, C: Number> Gemm<'o, O, C> {
    /// `c = a b`.
    pub fn new() -> Self {
        Self {
            alpha: C::ONE,
            beta: C::ZERO,
            bias: None,
            activation: Activation::None,
            fast_accumulation: false,
            stream: None,
            plan: None,
        }
    }

    /// A factor of the product.
    pub fn alpha(self, alpha: C) -> Self {
        Self { alpha, ..self }
    }

    /// A factor of what `c` holds before, which is added. With zero, the default, `c` is not read.
    pub fn beta(self, beta: C) -> Self {
        Self { beta, ..self }
    }

    /// A number for each column of `c`, which is added.
    pub fn bias(self, bias: impl Into<TensorView<'o, O, 1>>) -> Self {
        Self { bias: Some(bias.into()), ..self }
    }

    /// Whether sums of products of 8-bit floats may be left to tensor cores, which keep some 14 bits of them on GPUs of compute
    /// capability 9.0. Somewhat faster there; without, every 128 products are added up in `f32`. Other types know no difference.
    pub fn fast_accumulation(self, fast_accumulation: bool) -> Self {
        Self { fast_accumulation, ..self }
    }

    /// The stream to launch on, instead of the device's default one.
    pub fn on(self, stream: &Stream) -> Self {
        Self { stream: Some(stream.clone()), ..self }
    }

    /// The plan to go by, instead of the one that is expected to be the fastest: one of [`plans`](Self::plans).
    pub fn plan(self, plan: Plan) -> Self {
        Self { plan: Some(plan), ..self }
    }
}

impl<O: Element> Gemm<'_, O, f32> {
    /// A function of each element of the result.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }
}

fn refuse<R>(problem: String) -> Result<R> {
    Err(Error::Operands { operation: "gemm", problem })
}

/// How the factor lies, as kernels could read it, and whether they can without a copy. `otherwise` is taken where both ways are
/// the same.
fn stored<T: Element>(x: &TensorView<'_, T, 3>, preferred: Stored) -> Result<(Stored, bool)> {
    let (rows, columns) = (x.is_streamable(), x.permute([0, 2, 1])?.is_streamable());
    Ok(match (rows, columns) {
        (true, true) => (preferred, true),
        (true, false) => (Stored::Rows, true),
        (false, true) => (Stored::Columns, true),
        (false, false) => {
            let [_, down, right] = x.strides();
            let way = if right == 1 {
                Stored::Rows
            } else if down == 1 {
                Stored::Columns
            } else {
                preferred
            };
            (way, false)
        }
    })
}

/// A factor as it is stored in this way.
fn as_stored<T: Element>(x: TensorView<'_, T, 3>, stored: Stored) -> Result<TensorView<'_, T, 3>> {
    match stored {
        Stored::Rows => Ok(x),
        Stored::Columns => x.permute([0, 2, 1]),
    }
}

/// A device as products of some types find it: what it is for them, and the forms of their kernels that are for it.
pub(super) struct Available {
    machine: Machine,
    /// Of the kernels that store the result.
    pub(super) direct: Vec<Form>,
    /// Of those that store parts of the sums.
    parts: Vec<Form>,
}

impl Available {
    fn on<T, U, O>(device: &Device) -> Result<Self>
    where
        T: Multiply<U, O>,
        U: Element<Bits: Bits>,
        O: Element,
    {
        let image = match T::DIRECT.first() {
            Some(candidate) => device.image_of((candidate.description)())?,
            None => None,
        };
        let machine = image.map_or(Machine::Cpu, |image| Machine::Gpu {
            warpgroups: image.arch() == "sm_90a",
            multiprocessors: device.multiprocessors(),
        });
        Ok(Self { machine, direct: forms(T::DIRECT, machine), parts: forms(T::PARTS, machine) })
    }
}

/// The forms of the kernels that are for a machine.
fn forms<T: Element, U: Element, O: Element, C>(
    candidates: &[Candidate<T, U, O, C>],
    machine: Machine,
) -> Vec<Form> {
    candidates.iter().map(|candidate| candidate.form).filter(|form| machine.takes(form)).collect()
}

impl<O: Element, C: Number> Gemm<'_, O, C> {
    /// The product, with how factors are to be stored: as they are where there is a kernel for it.
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
        let ((a, _), (b, _)) = (stored(a, Stored::Rows)?, stored(b, Stored::Columns)?);
        let fast = self.fast_accumulation;
        let beta = self.beta != C::ZERO;
        let problem = Problem { batches, rows, columns, depth, a, b, fast, beta };
        // Where there is no kernel for these ways, one factor is turned, or both are.
        let ways = [
            problem,
            Problem { b: Stored::Columns, ..problem },
            Problem { a: Stored::Rows, ..problem },
            Problem { a: Stored::Rows, b: Stored::Columns, ..problem },
        ];
        match ways.into_iter().find(|problem| problem.has_plan(&available.direct, &available.parts)) {
            Some(problem) => Ok(problem),
            None => refuse("there is no kernel for this product".into()),
        }
    }

    /// The plan for a product.
    fn planned<T, U>(&self, problem: &Problem, device: &Device, available: &Available) -> Result<Plan>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        if let Some(plan) = self.plan {
            return Ok(plan);
        }
        let Available { machine, direct, parts } = available;
        if let Machine::Gpu { warpgroups: true, .. } = machine
            && let Some(plan) = Tuned::plan::<T, U, O>(problem, device)
        {
            return Ok(plan);
        }
        match problem.best(direct, parts, *machine) {
            Some(plan) => Ok(plan),
            None => refuse("there is no kernel for this product".into()),
        }
    }

    /// All plans for a product, for who wants to measure them, and the product's name in files of plans.
    ///
    /// # Errors
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
        let plans = problem.plans(&available.direct, &available.parts, device.multiprocessors());
        Ok((Tuned::name::<T, U, O>(&problem), plans))
    }

    /// Gives the stream the work of the product. See [`gemm`].
    ///
    /// # Errors
    /// [`Error::Operands`] if the shapes do not go together or the columns of `c` are not neighbours; those of launches.
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

    /// The stream for a product.
    pub(super) fn stream_for(&self, c: &TensorViewMut<'_, O, 3>) -> Stream {
        match &self.stream {
            Some(stream) => stream.clone(),
            None => c.device().default_stream(),
        }
    }

    /// Gives this stream the work of a product.
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

    /// Calls `body` with the bias, which is empty where there is none.
    pub(super) fn with_bias<R>(
        &self,
        stream: &Stream,
        body: impl FnOnce(TensorView<'_, O, 1>) -> Result<R>,
    ) -> Result<R> {
        match &self.bias {
            Some(bias) => body(*bias),
            None => workspace::<O, 1, R>(stream, [0], |none| body(none.as_view())),
        }
    }
}

/// The kernel of a plan.
pub(super) fn find<'k, T: Element, U: Element, O: Element, C>(
    candidates: &'k [Candidate<T, U, O, C>],
    problem: &Problem,
    plan: Plan,
) -> Result<&'k Candidate<T, U, O, C>> {
    let serves = |candidate: &&Candidate<T, U, O, C>| {
        let has_beta =
            plan.cut != Cut::None || !problem.beta || plan.rows * plan.columns <= LARGEST_WITH_BETA;
        let form = &candidate.form;
        [form.rows, form.columns] == [plan.rows, plan.columns] && problem.multiplies(form) && has_beta
    };
    match candidates.iter().find(serves) {
        Some(candidate) => Ok(candidate),
        None => no_kernel(plan),
    }
}

/// The refusal of a plan.
pub(super) fn no_kernel<R>(plan: Plan) -> Result<R> {
    refuse(format!("there is no kernel for the plan `{plan}`; `Gemm::plans` has those for a product"))
}
