//! The calls `gemm` and `Gemm::multiply`: they check the shapes, choose a plan, pack operands and launch.

use std::any::TypeId;
use std::collections::HashMap;
use std::format;
use std::string::String;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::vec::Vec;

use cuda_tiles::element::Element;
use cuda_tiles_host::{Device, Result, Stream, TensorView, TensorViewMut};

use super::launches::Launches;
use super::matrices::{Matrices, MatricesMut};
use super::model;
use super::multiply::{Factors, Multiply};
use super::options::Gemm;
use super::packing::{
    Bits, LINE_BYTES, MOST_ELEMENTS, has_crowded_rows, has_crowded_steps, reach, streamable,
};
use super::plan::{Decomposition, Loads, Machine, Major, Plan, Problem};
use super::selection::{Available, refuse};
use super::tuned::Tuned;
use super::vector::TRANSPOSED;
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
/// A matrix times a vector (GEMV in BLAS) is a product whose result has one column or one row. For `f16`, `bf16`, `tf32` and `f64` it has
/// kernels of its own.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::gemm::gemm;
///
/// let device = Device::cpu();
/// let matrix = Tensor::from_slice(&device, [2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let vector = Tensor::from_slice(&device, [3], &[1.0, 0.5, 2.0])?;
/// let mut result = Tensor::<f64, 2>::poisoned(&device, [2, 1])?;
/// gemm(&matrix, vector.view().strided(0, [3, 1], [1, 1])?, &mut result)?;
/// assert_eq!(result.to_vec()?, [8.0, 18.5]);
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
/// `c` is row-major, with any padding between rows. `a` and `b` may have any strides: for a transposed operand pass a transposed view. For
/// plans that load by TMA, an operand is first packed (copied to scratch memory):
///
/// * if its rows do not begin at multiples of 16 bytes;
/// * if it has rows of less than 128 bytes, which so many tiles load that they would wait for each other;
/// * if it is K-major and small, and as many tiles load its rows of up to 512 bytes, which do not begin at multiples of 32 bytes;
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
/// with TMA round the elements, see [`TmaLoad`](cuda_tiles::memory::TmaLoad). Kernels for results of one row or one column, which need no tensor
/// cores, multiply all bits of such elements.
#[doc(alias("cublasGemmEx", "gemv", "matmul", "sgemm", "dgemm"))]
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

/// The bytes of all elements of an operand.
fn bytes_of<T: Element>(x: &TensorView<'_, T, 3>) -> usize {
    x.len() * size_of::<T::Bits>()
}

/// The plans that were chosen, by the types of a product, the problem, the machine and its name. The choice takes longer than a small product.
type Chosen = HashMap<(TypeId, Problem, Machine, String), Plan>;

/// The most plans that are kept.
const MOST_CHOSEN: usize = 4096;

fn chosen() -> MutexGuard<'static, Chosen> {
    static CHOSEN: OnceLock<Mutex<Chosen>> = OnceLock::new();
    CHOSEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads load pieces of so many bytes where rows begin at multiples of them, and of two elements where these have more.
const PIECE_BYTES: usize = 8;

/// The most bytes that a thread copies ahead at once.
const CHUNK_BYTES: usize = 16;

/// Threads copy words of so many bytes ahead.
const WORD_BYTES: usize = 4;

/// The greatest power of two that divides `pitch`, in bytes, up to [`LINE_BYTES`].
fn alignment(pitch: usize) -> usize {
    1 << pitch.trailing_zeros().min(LINE_BYTES.trailing_zeros())
}

/// How an operand lies in memory.
#[derive(Clone, Copy)]
struct Storage {
    /// Whether TMA reads it row-major, and whether column-major.
    read_by_tma: [bool; 2],
    /// The bytes, up to a line's, at whose multiples its rows begin, read row-major, and read column-major.
    row_alignment: [usize; 2],
    /// Whether threads load its elements one by one: its rows, as it lies in memory, do not begin at such pieces as [`PIECE_BYTES`] says.
    one_by_one: bool,
    /// Whether threads copy it ahead by less than [`CHUNK_BYTES`] at once.
    beside_chunks: bool,
    /// Whether its rows, as it lies in memory, begin at multiples of [`WORD_BYTES`].
    in_words: bool,
    /// The axis along which elements are neighbours.
    in_place: Option<Major>,
    is_huge: bool,
}

impl Storage {
    fn of<T: Element>(x: &TensorView<'_, T, 3>) -> Result<Self> {
        let [across, down, right] = x.strides();
        let [batches, rows, columns] = x.shape();
        let in_place = if right == 1 || columns <= 1 {
            Some(Major::Row)
        } else if down == 1 || rows <= 1 {
            Some(Major::Column)
        } else {
            None
        };
        let pitch = in_place.map(|major| if major == Major::Row { down } else { right });
        let bytes = size_of::<T::Bits>();
        let begin_beside = |piece: usize| pitch.is_none_or(|pitch| !(pitch * bytes).is_multiple_of(piece));
        let in_words = |step: usize| (step * bytes).is_multiple_of(WORD_BYTES);
        Ok(Self {
            read_by_tma: [x.is_streamable(), x.permute([0, 2, 1])?.is_streamable()],
            row_alignment: [down, right].map(|pitch| alignment(pitch * bytes)),
            one_by_one: begin_beside(PIECE_BYTES.max(2 * bytes)),
            beside_chunks: begin_beside(CHUNK_BYTES),
            in_words: x.is_aligned(WORD_BYTES)
                && pitch.is_some_and(in_words)
                // The distance from a matrix to the next does not matter if there is one.
                && (batches <= 1 || in_words(across)),
            in_place,
            is_huge: reach(x.shape(), x.strides()) > MOST_ELEMENTS,
        })
    }

    fn is_read_by_tma(self, major: Major) -> bool {
        self.read_by_tma[major as usize]
    }

    /// The majorness for kernels that TMA feeds. `preferred` decides if both are equally good.
    fn major_or(self, preferred: Major) -> Major {
        match self.read_by_tma {
            [true, true] => preferred,
            [true, false] => Major::Row,
            [false, true] => Major::Column,
            [false, false] => self.in_place.unwrap_or(preferred),
        }
    }
}

/// An operand in its storage: transposed if it is column-major.
fn as_stored<T: Element>(x: TensorView<'_, T, 3>, major: Major) -> Result<TensorView<'_, T, 3>> {
    match major {
        Major::Row => Ok(x),
        Major::Column => x.permute([0, 2, 1]),
    }
}

/// What is computed for a product: the product itself, or its transpose.
struct Computed<'t, T: Element, U: Element> {
    a: TensorView<'t, T, 3>,
    b: TensorView<'t, U, 3>,
    /// Whether the result is the transpose.
    is_transposed: bool,
    /// What the device has for it.
    available: Available,
    problem: Problem,
}

impl<O: Element, C: Sum> Gemm<'_, O, C> {
    /// The factors of the product `c' = b' a'` if `c`, of this shape and these strides, is one column of neighbours in memory: of its
    /// transpose, which is one row, tiles of few rows waste less. A bias belongs to a column, and stays with it.
    fn factors_of_row<'t, T, U>(
        &self,
        a: TensorView<'t, T, 3>,
        b: TensorView<'t, U, 3>,
        ([_, rows, columns], [_, down, _]): ([usize; 3], [usize; 3]),
    ) -> Result<Factors<'t, T, U>>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let ([_, a_rows, depth], [_, b_rows, b_columns]) = (a.shape(), b.shape());
        let fits = [a_rows, depth, b_columns] == [rows, b_rows, columns];
        if fits && columns == 1 && rows > 1 && down == 1 && self.bias.is_none() {
            T::transposed_factors(a, b)
        } else {
            Ok(None)
        }
    }

    /// The problem, with the storage of the operands. This is their present storage if it has a kernel.
    fn problem<T, U>(
        &self,
        a: &TensorView<'_, T, 3>,
        b: &TensorView<'_, U, 3>,
        (c, c_strides): ([usize; 3], [usize; 3]),
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
        let (a_storage, b_storage) = (Storage::of(a)?, Storage::of(b)?);
        let (a_major, b_major) = (a_storage.major_or(Major::Row), b_storage.major_or(Major::Column));
        let problem = Problem {
            batches,
            rows,
            columns,
            depth,
            a: a_major,
            b: b_major,
            packed_bytes: [0; 2],
            row_alignment: [1; 2],
            in_place: a_storage.in_place.zip(b_storage.in_place).map(|(a, b)| [a, b]),
            one_by_one: [a_storage, b_storage].map(|storage| storage.one_by_one),
            beside_chunks: [a_storage, b_storage].map(|storage| storage.beside_chunks),
            in_words: [a_storage, b_storage].map(|storage| storage.in_words),
            is_huge: a_storage.is_huge || b_storage.is_huge || reach(c, c_strides) > MOST_ELEMENTS,
            fast: self.fast_accumulation && available.direct.iter().any(|config| config.fast),
            beta: self.beta != C::ZERO,
            element_bytes: [size_of::<T::Bits>(), size_of::<O::Bits>()],
        };
        let [a_alignment, b_alignment] = [a_storage, b_storage].map(|storage| storage.row_alignment);
        // Whether all tiles wait for the rows of operand A and of operand B in these storages.
        let waits_for_a = |major| match major {
            Major::Row => has_crowded_steps::<T>([rows, depth], a_alignment[Major::Row as usize], columns),
            Major::Column => {
                has_crowded_rows::<T>([rows, depth], a_alignment[Major::Column as usize], columns)
            }
        };
        let waits_for_b = |major| match major {
            Major::Row => has_crowded_rows::<U>([columns, depth], b_alignment[Major::Row as usize], rows),
            Major::Column => {
                has_crowded_steps::<U>([columns, depth], b_alignment[Major::Column as usize], rows)
            }
        };
        let packs_few_rows = problem.packs_few_rows(&available.direct);
        let packed = |[a_major, b_major]: [Major; 2]| {
            let bytes = [
                if a_storage.is_read_by_tma(a_major) { 0 } else { bytes_of(a) },
                if b_storage.is_read_by_tma(b_major) { 0 } else { bytes_of(b) },
            ];
            // Copies of rows that are long enough to matter begin at lines.
            let row_alignment = [
                if bytes[0] > 0 { LINE_BYTES } else { a_alignment[a_major as usize] },
                if bytes[1] > 0 { LINE_BYTES } else { b_alignment[b_major as usize] },
            ];
            Problem { a: a_major, b: b_major, packed_bytes: bytes, row_alignment, ..problem }
        };
        // If TMA feeds no kernel for the storage of the operands, or tiles wait for one, it is packed as its transpose, or both are.
        let majors = [Major::Row, Major::Column];
        let storages = majors.iter().flat_map(|&a| majors.map(|b| [a, b]));
        let storages = storages.filter(|&[a, _]| a == Major::Row || !packs_few_rows);
        let mut problems: Vec<Problem> = storages.map(packed).collect();
        problems.sort_by_key(|&Problem { a, b, packed_bytes: [of_a, of_b], .. }| {
            let waits_for = [of_a == 0 && waits_for_a(a), of_b == 0 && waits_for_b(b)];
            let others = [a != a_major, b != b_major];
            let count = |of: [bool; 2]| of.into_iter().filter(|&is| is).count();
            (count(waits_for), of_a + of_b, count(others))
        });
        let find = |is_wanted: fn(Loads) -> bool| {
            let mut problems = problems.iter().copied();
            problems.find(|problem| problem.loads(&available.direct, &available.partial_sums).any(is_wanted))
        };
        // Threads read the present storage, whatever TMA reads.
        match find(Loads::is_by_tma).or_else(|| find(|_| true)) {
            Some(problem) => Ok(problem),
            None => refuse("there is no kernel for this product".into()),
        }
    }

    /// What is computed for a product whose result has this shape and these strides.
    fn computed<'t, T, U>(
        &self,
        device: &Device,
        a: TensorView<'t, T, 3>,
        b: TensorView<'t, U, 3>,
        (shape, strides): ([usize; 3], [usize; 3]),
    ) -> Result<Computed<'t, T, U>>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let transposed = self.factors_of_row(a, b, (shape, strides))?;
        let is_transposed = transposed.is_some();
        let (a, b) = transposed.unwrap_or((a, b));
        let of_c = |of: [usize; 3]| if is_transposed { TRANSPOSED.map(|axis| of[axis]) } else { of };
        let available = Available::on::<T, U, O>(device)?;
        let problem = self.problem::<T, U>(&a, &b, (of_c(shape), of_c(strides)), &available)?;
        Ok(Computed { a, b, is_transposed, available, problem })
    }

    /// The plan for one of `together` products that share the GPU: the caller's, the tuned plan, or the plan with the least estimated time.
    fn planned<T, U>(
        &self,
        problem: &Problem,
        device: &Device,
        available: &Available,
        together: u32,
    ) -> Result<Plan>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        if let Some(plan) = self.plan {
            return Ok(plan);
        }
        let machine = available.machine.share(together);
        let key = (TypeId::of::<(T, U, O)>(), *problem, machine, String::from(device.name()));
        if let Some(plan) = chosen().get(&key) {
            return Ok(*plan);
        }
        let measured = match machine {
            Machine::Gpu { wgmma: true, .. } if together == 1 => Tuned::plan::<T, U, O>(problem, device),
            _ => None,
        };
        let estimated = || {
            let mut plans =
                problem.plans(&available.direct, &available.partial_sums, device.multiprocessors());
            // Stream-K divides the work among all multiprocessors. Other products have some of them.
            plans.retain(|plan| together == 1 || plan.decomposition != Decomposition::StreamK);
            model::fastest(problem, plans, machine)
        };
        let Some(plan) = measured.or_else(estimated) else {
            return refuse("there is no kernel for this product".into());
        };
        let mut chosen = chosen();
        if chosen.len() >= MOST_CHOSEN {
            chosen.clear();
        }
        chosen.insert(key, plan);
        Ok(plan)
    }

    /// Returns the product's name in tuning files and all plans for the product, for measurements.
    ///
    /// A result that is one column of neighbours in memory, without a bias, is computed as the row of the transposed product, and has that
    /// product's name and plans.
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
        let Computed { available, problem, .. } =
            self.computed::<T, U>(&device, a, b, (c.shape(), c.strides()))?;
        let plans = problem.plans(&available.direct, &available.partial_sums, device.multiprocessors());
        Ok((Tuned::name::<T, U, O>(&problem), plans))
    }

    /// Returns the plan that [`multiply`](Self::multiply) follows for these operands.
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply).
    pub fn chosen_plan<'t, T, U>(
        &self,
        a: impl Matrices<'t, T>,
        b: impl Matrices<'t, U>,
        c: impl Matrices<'t, O>,
    ) -> Result<Plan>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let (a, b, c) = (a.matrices()?, b.matrices()?, c.matrices()?);
        let device = c.device();
        let Computed { available, problem, .. } =
            self.computed::<T, U>(&device, a, b, (c.shape(), c.strides()))?;
        self.planned::<T, U>(&problem, &device, &available, 1)
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
        self.multiply_on(&self.stream_for(&c), 1, a, b, c)
    }

    /// Launches one of `together` products that share the GPU on this stream.
    pub(super) fn multiply_on<T, U>(
        &self,
        stream: &Stream,
        together: u32,
        a: TensorView<'_, T, 3>,
        b: TensorView<'_, U, 3>,
        c: TensorViewMut<'_, O, 3>,
    ) -> Result<()>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let device = stream.device();
        let Computed { a, b, is_transposed, available, problem } =
            self.computed::<T, U>(&device, a, b, (c.shape(), c.strides()))?;
        let c = if is_transposed { c.permute(TRANSPOSED)? } else { c };
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
        let plan = self.planned::<T, U>(&problem, &device, &available, together)?;
        let (a, b) = match (plan.loads, problem.in_place) {
            (Loads::Vector, _) => {
                return Launches { gemm: self, stream, problem: &problem, plan, a, b }.run(&available, c);
            }
            (Loads::Threads, Some([a_major, b_major])) => {
                let (a, b) = (as_stored(a, a_major)?, as_stored(b, b_major)?);
                return Launches { gemm: self, stream, problem: &problem, plan, a, b }.run(&available, c);
            }
            _ => (as_stored(a, problem.a)?, as_stored(b, problem.b)?),
        };
        streamable(stream, a, |a| {
            streamable(stream, b, |b| {
                Launches { gemm: self, stream, problem: &problem, plan, a, b }.run(&available, c)
            })
        })
    }
}
