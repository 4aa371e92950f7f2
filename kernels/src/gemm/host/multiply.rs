//! Which products there are, and the kernels for each.

use cuda_tiles::element::{Element, bf16, f8e4m3, f8e5m2, f16, tf32};
use cuda_tiles::launch::Description;
use cuda_tiles_host::{Error, Grid, Launch, Result, Stream, TensorView, TensorViewMut};

use super::packing::Bits;
use super::plan::{Form, Stored};
use crate::gemm::epilogue::Sum;
use crate::gemm::kernels::{gemm_nn, gemm_nt, gemm_tn, gemm_tt};
use crate::gemm::narrow::{gemm_narrow_nn, gemm_narrow_nt};
use crate::gemm::parts::sum_parts;
use crate::gemm::turned::gemm_swap_ab_nn;
use crate::gemm::work::Portion;

/// What a kernel of products is passed: factors as they are stored, and what happens to the sums.
pub(super) struct Operands<'c, T: Element, U: Element, O: Element, C> {
    pub(super) a: TensorView<'c, T, 3>,
    pub(super) b: TensorView<'c, U, 3>,
    pub(super) c: TensorViewMut<'c, O, 3>,
    pub(super) bias: TensorView<'c, O, 1>,
    pub(super) scales: [C; 2],
    pub(super) activation: u32,
    pub(super) portion: Portion,
}

/// The arguments of the second pass over parts.
pub struct Parts<'c, C: Element, O: Element> {
    pub(super) parts: TensorView<'c, C, 3>,
    pub(super) c: TensorViewMut<'c, O, 3>,
    pub(super) bias: TensorView<'c, O, 1>,
    pub(super) scales: [C; 2],
    pub(super) activation: u32,
    /// `splits`, `whole` and `steps` of the kernel.
    pub(super) cut: [u32; 3],
}

/// One of the kernels.
pub struct Candidate<T: Element, U: Element, O: Element, C> {
    pub(super) form: Form,
    pub(super) description: fn() -> &'static Description,
    pub(super) launch: fn(&Stream, u32, Operands<'_, T, U, O, C>) -> Result<()>,
}

mod sealed {
    pub trait Sealed<U, O> {}
}

/// Elements whose products with elements `U` are stored as `O`.
///
/// | `Self` and `U` | summed up in | `O` |
/// |---|---|---|
/// | `f16` | `f32` | `f16`, `f32` |
/// | `bf16` | `f32` | `bf16`, `f32` |
/// | `tf32` | `f32` | `f32` |
/// | `f8e4m3` | `f32` | `f16`, `bf16`, `f32` |
/// | `f8e5m2` | `f32` | `f16`, `bf16` |
/// | `i8`, or `u8` with `i8` | `i32` | `i32` |
/// | `f64` | `f64` | `f64` |
///
/// ```compile_fail,E0277
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::gemm::gemm;
///
/// let device = Device::cpu();
/// let (a, b) = (Tensor::<f16, 2>::zeros(&device, [4, 4])?, Tensor::<bf16, 2>::zeros(&device, [4, 4])?);
/// gemm(&a, &b, &mut Tensor::<f32, 2>::zeros(&device, [4, 4])?)?;
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "there is no kernel that multiplies matrices of `{Self}` and `{U}` to one of `{O}`",
    label = "no such product",
    note = "f16 gives f16 or f32, bf16 gives bf16 or f32, tf32 gives f32, f8e4m3 gives f16, bf16 or f32, f8e5m2 gives f16 or bf16, \
            i8 (also u8 with i8) gives i32, and f64 gives f64; f32 is multiplied as tf32 if you convert it"
)]
pub trait Multiply<U: Element<Bits: Bits>, O: Element>: Element<Bits: Bits> + sealed::Sealed<U, O> {
    /// What products are summed up in, and the type of `alpha` and `beta`.
    type Sum: Sum;
    /// The kernels that store `c`.
    #[doc(hidden)]
    const DIRECT: &'static [Candidate<Self, U, O, Self::Sum>];
    /// The kernels that store parts of the sums, for a second pass.
    #[doc(hidden)]
    const PARTS: &'static [Candidate<Self, U, Self::Sum, Self::Sum>];
    /// The second pass.
    #[doc(hidden)]
    fn sum_parts(stream: &Stream, arguments: Parts<'_, Self::Sum, O>) -> Result<()>;
}

/// One kernel as a candidate. Its parameters are all types and sizes or, behind `narrow`, one type of the factors and no columns.
macro_rules! candidate {
    ($left:ident $right:ident $sum:ident $result:ident: $kernel:ident $a:ident $b:ident $rows:literal $columns:literal $depth:literal $precise:literal, $($parameters:tt)*) => {
        Candidate {
            form: Form {
                a: Stored::$a,
                b: Stored::$b,
                rows: $rows,
                columns: $columns,
                depth: $depth,
                // Of 8-bit floats alone tensor cores sum up less than all bits.
                fast: size_of::<$left>() == 1 && size_of::<$sum>() == 4 && !is_integer::<$left>() && $precise == 0,
                // Of 32-bit elements that lie across, warps load one by one.
                by_warpgroups: size_of::<$left>() == 4
                    && (matches!(Stored::$a, Stored::Columns) || matches!(Stored::$b, Stored::Rows)),
            },
            description: || $kernel::<$($parameters)*>().description(),
            launch: |stream, blocks, operands| {
                let Operands { a, b, c, bias, scales: [alpha, beta], activation, portion } = operands;
                let Portion { splits, whole, batches } = portion;
                let arguments = (a, b, c, bias, alpha, beta, activation, splits, whole, batches);
                $kernel::<$($parameters)*>().launch_on(stream, blocks, arguments)
            },
        }
    };
}

/// The candidates of a list: kernels with the orders of their factors, rows, columns and depth of a tile, and 1 for precise sums.
macro_rules! candidates {
    (@ [$($done:tt)*] $left:ident $right:ident $sum:ident $result:ident:) => { &[$($done)*] };
    (@ [$($done:tt)*] $left:ident $right:ident $sum:ident $result:ident:
        gemm_narrow_nt $rows:literal $depth:literal $precise:literal; $($rest:tt)*) => {
        candidates!(@ [$($done)* candidate!(
            $left $right $sum $result: gemm_narrow_nt Rows Columns $rows 64 $depth $precise,
            $left, $sum, $result, $rows, $depth, $precise
        ),] $left $right $sum $result: $($rest)*)
    };
    (@ [$($done:tt)*] $left:ident $right:ident $sum:ident $result:ident:
        gemm_narrow_nn $rows:literal $depth:literal; $($rest:tt)*) => {
        candidates!(@ [$($done)* candidate!(
            $left $right $sum $result: gemm_narrow_nn Rows Rows $rows 64 $depth 0,
            $left, $sum, $result, $rows, $depth
        ),] $left $right $sum $result: $($rest)*)
    };
    (@ [$($done:tt)*] $left:ident $right:ident $sum:ident $result:ident:
        gemm_swap_ab_nn $rows:literal x $columns:literal $depth:literal; $($rest:tt)*) => {
        candidates!(@ [$($done)* candidate!(
            $left $right $sum $result: gemm_swap_ab_nn Rows Rows $rows $columns $depth 0,
            $left, $sum, $result, $rows, $columns, $depth
        ),] $left $right $sum $result: $($rest)*)
    };
    (@ [$($done:tt)*] $left:ident $right:ident $sum:ident $result:ident:
        $kernel:ident $a:ident $b:ident $columns:literal $depth:literal $precise:literal; $($rest:tt)*) => {
        candidates!(@ [$($done)* candidate!(
            $left $right $sum $result: $kernel $a $b 128 $columns $depth $precise,
            $left, $right, $sum, $result, 128, $columns, $depth, $precise
        ),] $left $right $sum $result: $($rest)*)
    };
    (@ [$($done:tt)*] $left:ident $right:ident $sum:ident $result:ident:
        $kernel:ident $a:ident $b:ident $rows:literal x $columns:literal $depth:literal $precise:literal; $($rest:tt)*) => {
        candidates!(@ [$($done)* candidate!(
            $left $right $sum $result: $kernel $a $b $rows $columns $depth $precise,
            $left, $right, $sum, $result, $rows, $columns, $depth, $precise
        ),] $left $right $sum $result: $($rest)*)
    };
}

macro_rules! products {
    ($($left:ident $right:ident $sum:ident $result:ident: direct { $($direct:tt)* } parts $($pass:ident)? { $($parts:tt)* })*) => { $(
        impl sealed::Sealed<$right, $result> for $left {}
        impl Multiply<$right, $result> for $left {
            type Sum = $sum;
            const DIRECT: &'static [Candidate<$left, $right, $result, $sum>] =
                candidates!(@ [] $left $right $sum $result: $($direct)*);
            const PARTS: &'static [Candidate<$left, $right, $sum, $sum>] =
                candidates!(@ [] $left $right $sum $sum: $($parts)*);
            #[allow(unused_variables, reason = "f64 has no parts")]
            fn sum_parts(stream: &Stream, arguments: Parts<'_, $sum, $result>) -> Result<()> {
                $(return second_pass!($pass, $sum, $result, stream, arguments);)?
                #[allow(unreachable_code, reason = "where there is a second pass")]
                Err(Error::Operands { operation: "gemm", problem: "products of these types have no parts".into() })
            }
        }
    )* };
}

macro_rules! second_pass {
    (passes, $sum:ident, $result:ident, $stream:ident, $arguments:ident) => {{
        let Parts { parts, c, bias, scales: [alpha, beta], activation, cut: [splits, whole, steps] } =
            $arguments;
        let [batches, rows, columns] = c.shape();
        let grid = Grid::cover([columns, rows, batches], [128, 16, 1]);
        let arguments = (parts, c, bias, alpha, beta, activation, splits, whole, steps);
        sum_parts::<$sum, $result>().launch_on($stream, grid, arguments)
    }};
}

/// Whether the type is one of integers.
const fn is_integer<T: KindOf>() -> bool {
    T::INTEGER
}

/// What an element type is, for constants.
trait KindOf {
    const INTEGER: bool;
}

macro_rules! kinds {
    ($($type:ident $integer:literal)*) => { $(
        impl KindOf for $type {
            const INTEGER: bool = $integer;
        }
    )* };
}
kinds!(f16 false bf16 false tf32 false f8e4m3 false f8e5m2 false f64 false i8 true u8 true);

macro_rules! halves {
    ($($half:ident)*) => { $(
        products! {
            $half $half f32 $half:
                direct {
                    gemm_nt Rows Columns 256 64 0; gemm_nt Rows Columns 128 64 0; gemm_nn Rows Rows 256 64 0;
                    gemm_nn Rows Rows 128 64 0; gemm_tn Columns Rows 256 64 0; gemm_tn Columns Rows 128 64 0;
                    gemm_tt Columns Columns 256 64 0;
                    gemm_narrow_nt 16 64 0; gemm_narrow_nt 32 64 0; gemm_narrow_nt 64 64 0;
                    gemm_narrow_nn 16 64; gemm_narrow_nn 32 64; gemm_narrow_nn 64 64;
                }
                parts passes {
                    gemm_nt Rows Columns 256 64 0; gemm_nn Rows Rows 256 64 0; gemm_tn Columns Rows 256 64 0;
                    gemm_narrow_nt 16 64 0; gemm_narrow_nt 32 64 0; gemm_narrow_nt 64 64 0;
                    gemm_narrow_nn 16 64; gemm_narrow_nn 32 64; gemm_narrow_nn 64 64;
                }
            $half $half f32 f32:
                direct {
                    gemm_nt Rows Columns 256 64 0; gemm_nn Rows Rows 256 64 0; gemm_tn Columns Rows 256 64 0;
                    gemm_narrow_nt 16 64 0; gemm_narrow_nt 32 64 0; gemm_narrow_nt 64 64 0;
                    gemm_narrow_nn 16 64; gemm_narrow_nn 32 64; gemm_narrow_nn 64 64;
                }
                parts passes {
                    gemm_nt Rows Columns 256 64 0; gemm_nn Rows Rows 256 64 0; gemm_tn Columns Rows 256 64 0;
                    gemm_narrow_nt 16 64 0; gemm_narrow_nt 32 64 0; gemm_narrow_nt 64 64 0;
                    gemm_narrow_nn 16 64; gemm_narrow_nn 32 64; gemm_narrow_nn 64 64;
                }
        }
    )* };
}
halves!(f16 bf16);

macro_rules! of_f8e4m3 {
    ($($result:ident)*) => { products! { $(
        f8e4m3 f8e4m3 f32 $result:
            direct {
                gemm_nt Rows Columns 256 128 0; gemm_nt Rows Columns 256 128 1; gemm_nt Rows Columns 128 128 1;
                gemm_narrow_nt 16 128 1; gemm_narrow_nt 64 128 1;
            }
            parts passes {
                gemm_nt Rows Columns 256 128 0; gemm_nt Rows Columns 256 128 1; gemm_nt Rows Columns 128 128 1;
                gemm_narrow_nt 16 128 1; gemm_narrow_nt 64 128 1;
            }
    )* } };
}
of_f8e4m3!(f16 bf16 f32);

products! {
    tf32 tf32 f32 f32:
        direct {
            gemm_nt Rows Columns 256 32 0; gemm_nt Rows Columns 128 32 0;
            gemm_swap_ab_nn 256 x 128 32; gemm_swap_ab_nn 128 x 128 32;
            gemm_tt Columns Columns 256 32 0; gemm_tt Columns Columns 128 32 0;
            gemm_narrow_nt 16 32 0; gemm_narrow_nt 64 32 0;
            gemm_narrow_nn 16 32; gemm_narrow_nn 64 32;
        }
        parts passes {
            gemm_nt Rows Columns 256 32 0; gemm_nt Rows Columns 128 32 0;
            gemm_swap_ab_nn 256 x 128 32; gemm_swap_ab_nn 128 x 128 32;
            gemm_tt Columns Columns 256 32 0; gemm_tt Columns Columns 128 32 0;
            gemm_narrow_nt 16 32 0; gemm_narrow_nt 64 32 0;
            gemm_narrow_nn 16 32; gemm_narrow_nn 64 32;
        }
    f8e5m2 f8e5m2 f32 f16:
        direct { gemm_nt Rows Columns 256 128 0; gemm_nt Rows Columns 256 128 1; gemm_nt Rows Columns 128 128 1; }
        parts {}
    f8e5m2 f8e5m2 f32 bf16:
        direct { gemm_nt Rows Columns 256 128 0; gemm_nt Rows Columns 256 128 1; gemm_nt Rows Columns 128 128 1; }
        parts {}
    i8 i8 i32 i32:
        direct {
            gemm_nt Rows Columns 256 128 0; gemm_nt Rows Columns 128 128 0;
            gemm_narrow_nt 16 128 0; gemm_narrow_nt 64 128 0;
        }
        parts passes {
            gemm_nt Rows Columns 256 128 0; gemm_nt Rows Columns 128 128 0;
            gemm_narrow_nt 16 128 0; gemm_narrow_nt 64 128 0;
        }
    u8 i8 i32 i32:
        direct { gemm_nt Rows Columns 128 128 0; }
        parts passes { gemm_nt Rows Columns 128 128 0; }
    f64 f64 f64 f64:
        direct {
            gemm_nn Rows Rows 256 x 64 16 0; gemm_nt Rows Columns 256 x 64 16 0;
            gemm_tn Columns Rows 256 x 64 16 0; gemm_tt Columns Columns 256 x 64 16 0;
            gemm_nn Rows Rows 256 x 32 16 0; gemm_nt Rows Columns 256 x 32 16 0;
            gemm_tn Columns Rows 256 x 32 16 0; gemm_tt Columns Columns 256 x 32 16 0;
        }
        parts {}
}
