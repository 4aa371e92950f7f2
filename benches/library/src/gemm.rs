//! Matrix products.

use std::ffi::{c_int, c_void};

use cuda_tiles::element::{bf16, f8e4m3, f16, tf32};
use cuda_tiles_host::Stream;
use cuda_tiles_kernels::gemm::{Activation, Decomposition, Gemm, Loads, Plan};

use crate::array::{Array, Code};
use crate::{Result, borrowed, guarded};

/// How to multiply. `benches/matrix.py` has the same structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GemmOptions {
    /// Not 0: 8-bit floats may be summed by the tensor cores alone.
    fast_accumulation: u32,
    /// Not 0: the result is GELU (tanh) of the product plus `bias`, which is otherwise not looked at.
    bias_gelu: u32,
    /// One number for each column.
    bias: Array,
}

/// Calls a macro with the element type of operands and that of the result, for each pair that there are kernels for.
macro_rules! for_types {
    ($a:expr, $c:expr, $work:ident) => {
        match ($a.element(), $c.element()) {
            (f16::CODE, f16::CODE) => $work!(f16, f16),
            (bf16::CODE, bf16::CODE) => $work!(bf16, bf16),
            (tf32::CODE, f32::CODE) => $work!(tf32, f32),
            (f8e4m3::CODE, bf16::CODE) => $work!(f8e4m3, bf16),
            (i8::CODE, i32::CODE) => $work!(i8, i32),
            (f64::CODE, f64::CODE) => $work!(f64, f64),
            _ => return Err("there is no kernel for these element types".into()),
        }
    };
}

/// The product with the activation, for operands whose sums have one.
macro_rules! with_gelu {
    (i8, $product:expr) => {
        $product
    };
    (f64, $product:expr) => {
        $product
    };
    ($operand:ident, $product:expr) => {
        $product.activation(Activation::Gelu)
    };
}

/// `c = a b` of matrices, or of batches of them along the first axis; `b`'s strides say which of its axes is contiguous.
///
/// # Safety
/// The addresses are those of arrays and options, and the arrays, the bias among them if it is asked for, lie on the device
/// that is open, for kernels to use in the order of `stream`, a stream of that device; `c` for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_gemm(
    stream: *mut c_void,
    a: *const Array,
    b: *const Array,
    c: *const Array,
    options: *const GemmOptions,
) -> c_int {
    // SAFETY: the caller vouches for all of it.
    guarded(|| unsafe { product(&borrowed(stream)?, &*a, &*b, &*c, &*options) })
}

/// # Safety
/// As [`ct_gemm`].
unsafe fn product(stream: &Stream, a: &Array, b: &Array, c: &Array, options: &GemmOptions) -> Result<()> {
    macro_rules! work {
        ($operand:ident, $result:ident) => {{
            // SAFETY: the caller vouches for the arrays.
            let (a, b) = unsafe { (a.lend::<$operand>(stream)?, b.lend::<$operand>(stream)?) };
            // SAFETY: as above.
            let mut c = unsafe { c.lend::<$result>(stream)? };
            let product = Gemm::new().on(stream).fast_accumulation(options.fast_accumulation != 0);
            match (c.rank(), options.bias_gelu != 0) {
                (2, false) => product.multiply(a.view::<2>()?, b.view::<2>()?, c.view_mut::<2>()?)?,
                (3, false) => product.multiply(a.view::<3>()?, b.view::<3>()?, c.view_mut::<3>()?)?,
                (2, true) => {
                    // SAFETY: as above.
                    let bias = unsafe { options.bias.lend::<$result>(stream)? };
                    let product = product.bias(bias.view::<1>()?);
                    with_gelu!($operand, product).multiply(
                        a.view::<2>()?,
                        b.view::<2>()?,
                        c.view_mut::<2>()?,
                    )?;
                }
                _ => return Err("there is no kernel for operands of this rank".into()),
            }
        }};
    }
    for_types!(a, c, work);
    Ok(())
}

/// A plan for a product. `benches/products.py` has the same structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProductPlan {
    rows: u32,
    columns: u32,
    /// How the operands are loaded. 0: by TMA. 1: by threads. 2: by threads, a matrix and a vector. 3: by TMA, for clusters.
    loads: u32,
    /// 0: data-parallel. -1: stream-K. More: the number of partial sums.
    cut: i32,
}

impl ProductPlan {
    fn of(plan: &Plan) -> Self {
        let cut = match plan.decomposition {
            Decomposition::DataParallel => 0,
            Decomposition::SplitK(splits) => splits as i32,
            Decomposition::StreamK => -1,
        };
        let loads = match plan.loads {
            Loads::Tma => 0,
            Loads::Threads => 1,
            Loads::Vector => 2,
            Loads::Cluster([rows, columns]) => (10 * rows + columns) as u32,
        };
        Self { rows: plan.rows as u32, columns: plan.columns as u32, loads, cut }
    }

    fn plan(self) -> Plan {
        Plan {
            loads: match self.loads {
                0 => Loads::Tma,
                1 => Loads::Threads,
                2 => Loads::Vector,
                blocks => Loads::Cluster([blocks as usize / 10, blocks as usize % 10]),
            },
            rows: self.rows as usize,
            columns: self.columns as usize,
            decomposition: match self.cut {
                0 => Decomposition::DataParallel,
                -1 => Decomposition::StreamK,
                splits => Decomposition::SplitK(splits as u32),
            },
        }
    }
}

/// Writes the plans for `c = a b` of matrices to `plans`, the chosen one first, and their number to `count`, which says before how many have
/// room.
///
/// # Safety
/// As [`ct_gemm`]. There is room for `count` plans.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_gemm_plans(
    stream: *mut c_void,
    a: *const Array,
    b: *const Array,
    c: *const Array,
    options: *const GemmOptions,
    plans: *mut ProductPlan,
    count: *mut usize,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller vouches for all of it.
        let (stream, a, b, c, options, count) =
            unsafe { (borrowed(stream)?, &*a, &*b, &*c, &*options, &mut *count) };
        macro_rules! work {
            ($operand:ident, $result:ident) => {{
                // SAFETY: as above.
                let (a, b) = unsafe { (a.lend::<$operand>(&stream)?, b.lend::<$operand>(&stream)?) };
                // SAFETY: as above.
                let c = unsafe { c.lend::<$result>(&stream)? };
                let product = Gemm::new().fast_accumulation(options.fast_accumulation != 0);
                let mut found = vec![product.chosen_plan(a.view::<2>()?, b.view::<2>()?, c.view::<2>()?)?];
                found.extend(product.plans(a.view::<2>()?, b.view::<2>()?, c.view::<2>()?)?.1);
                found.truncate(*count);
                *count = found.len();
                for (at, plan) in found.iter().enumerate() {
                    // SAFETY: there is room for this many.
                    unsafe { plans.add(at).write(ProductPlan::of(plan)) };
                }
            }};
        }
        for_types!(a, c, work);
        Ok(())
    })
}

/// As [`ct_gemm`], by a plan, of matrices.
///
/// # Safety
/// As [`ct_gemm`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_gemm_by_plan(
    stream: *mut c_void,
    a: *const Array,
    b: *const Array,
    c: *const Array,
    options: *const GemmOptions,
    plan: *const ProductPlan,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller vouches for all of it.
        let (stream, a, b, c, options, plan) =
            unsafe { (borrowed(stream)?, &*a, &*b, &*c, &*options, &*plan) };
        macro_rules! work {
            ($operand:ident, $result:ident) => {{
                // SAFETY: as above.
                let (a, b) = unsafe { (a.lend::<$operand>(&stream)?, b.lend::<$operand>(&stream)?) };
                // SAFETY: as above.
                let mut c = unsafe { c.lend::<$result>(&stream)? };
                let product = Gemm::new().on(&stream).fast_accumulation(options.fast_accumulation != 0);
                product.plan(plan.plan()).multiply(a.view::<2>()?, b.view::<2>()?, c.view_mut::<2>()?)?;
            }};
        }
        for_types!(a, c, work);
        Ok(())
    })
}

/// `c[i] = a[i] b[i]` of `count` matrices each, of unequal sizes.
///
/// # Safety
/// As [`ct_gemm`], for `count` arrays at each address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_grouped_gemm(
    stream: *mut c_void,
    a: *const Array,
    b: *const Array,
    c: *const Array,
    count: usize,
    options: *const GemmOptions,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller vouches for the arrays.
        let [a, b, c] = unsafe { [a, b, c].map(|first| std::slice::from_raw_parts(first, count)) };
        // SAFETY: as above, and for the stream and the options.
        let (stream, options) = unsafe { (borrowed(stream)?, &*options) };
        macro_rules! work {
            ($operand:ident, $result:ident) => {{
                let mut lent = Vec::new();
                for ((a, b), c) in a.iter().zip(b).zip(c) {
                    // SAFETY: as above.
                    lent.push(unsafe {
                        (
                            a.lend::<$operand>(&stream)?,
                            b.lend::<$operand>(&stream)?,
                            c.lend::<$result>(&stream)?,
                        )
                    });
                }
                let problems: Result<Vec<_>> = lent
                    .iter_mut()
                    .map(|(a, b, c)| Ok((a.view::<2>()?, b.view::<2>()?, c.view_mut::<2>()?)))
                    .collect();
                let product = Gemm::new().on(&stream).fast_accumulation(options.fast_accumulation != 0);
                product.multiply_all(problems?)?;
            }};
        }
        let (Some(a), Some(c)) = (a.first(), c.first()) else { return Ok(()) };
        for_types!(a, c, work);
        Ok(())
    })
}
