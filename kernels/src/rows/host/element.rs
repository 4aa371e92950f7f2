//! The element types of the operations, and their instances.

use cuda_tiles::element::{Element, bf16, f16};
use cuda_tiles_host::{Grid, Launch, Result, Stream, TensorView, TensorViewMut};

use crate::rows::kernels::cross_entropy::{
    cross_entropy_gradient, cross_entropy_gradient_in_place, cross_entropy_losses,
};
use crate::rows::kernels::norm_gradients::{norm_gradient, norm_weight_gradient_parts, sum_of_parts};
use crate::rows::kernels::norms::{layer_norm_rows, rms_norm_rows};
use crate::rows::kernels::softmax::{softmax_gradient, softmax_rows};

/// The columns of the instances for short rows.
const SHORT: usize = 1024;
/// The columns of a tile of logits.
pub(super) const LOGITS: usize = 8192;

/// A matrix, or what belongs to its rows or columns, to be read.
type In<'t, T, const RANK: usize> = TensorView<'t, T, RANK>;
/// The same, to be written.
type Out<'t, T, const RANK: usize> = TensorViewMut<'t, T, RANK>;

mod sealed {
    pub trait Sealed {}
}

/// Defines the trait, with a method for each kernel, and implements it. A method is given the blocks, or for kernels with an instance for
/// short rows the shape of the matrix, and the arguments of the kernel. In angle brackets: the rows of a block of short rows, and the columns of a
/// tile of others.
macro_rules! row_elements {
    (
        types: $types:tt
        by shape: { $($by_shape:ident: $by_shape_kernel:ident<$rows:literal, $long:literal>($($shape_argument:ty),*);)* }
        by grid: { $($by_grid:ident: $by_grid_kernel:ident($($grid_argument:ty),*);)* }
    ) => {
        /// Element types that have kernels on rows: `f32`, `f16` and `bf16`.
        #[diagnostic::on_unimplemented(
            message = "there are no kernels on rows of `{Self}`",
            label = "expected `f32`, `f16` or `bf16`"
        )]
        pub trait RowElement: Element + sealed::Sealed {
            $(
                #[doc(hidden)]
                fn $by_shape(stream: &Stream, shape: [usize; 2], arguments: ($($shape_argument,)*)) -> Result<()>;
            )*
            $(
                #[doc(hidden)]
                fn $by_grid(stream: &Stream, grid: Grid, arguments: ($($grid_argument,)*)) -> Result<()>;
            )*
        }
        row_elements!(@types $types { $($by_shape: $by_shape_kernel<$rows, $long>($($shape_argument),*);)* }
            { $($by_grid: $by_grid_kernel($($grid_argument),*);)* });
    };
    (@types [$($type:ident)*] $by_shape:tt $by_grid:tt) => { $(
        impl sealed::Sealed for $type {}
        row_elements!(@impl $type $by_shape $by_grid);
    )* };
    (
        @impl $type:ident
        { $($by_shape:ident: $by_shape_kernel:ident<$rows:literal, $long:literal>($($shape_argument:ty),*);)* }
        { $($by_grid:ident: $by_grid_kernel:ident($($grid_argument:ty),*);)* }
    ) => {
        impl RowElement for $type {
            $(
                fn $by_shape(
                    stream: &Stream,
                    [rows, columns]: [usize; 2],
                    arguments: ($($shape_argument,)*),
                ) -> Result<()> {
                    if columns <= SHORT {
                        let blocks = rows.div_ceil($rows);
                        $by_shape_kernel::<$type, $rows, SHORT>().launch_on(stream, blocks, arguments)
                    } else {
                        $by_shape_kernel::<$type, 1, $long>().launch_on(stream, rows, arguments)
                    }
                }
            )*
            $(
                fn $by_grid(stream: &Stream, grid: Grid, arguments: ($($grid_argument,)*)) -> Result<()> {
                    $by_grid_kernel::<$type>().launch_on(stream, grid, arguments)
                }
            )*
        }
    };
}

row_elements! {
    types: [f32 f16 bf16]
    by shape: {
        softmax: softmax_rows<8, 8192>(In<'_, Self, 2>, Out<'_, Self, 2>);
        softmax_gradient: softmax_gradient<4, 4096>(In<'_, Self, 2>, In<'_, Self, 2>, Out<'_, Self, 2>);
        rms_norm: rms_norm_rows<8, 8192>(In<'_, Self, 2>, In<'_, Self, 1>, f32, Out<'_, Self, 2>, Out<'_, f32, 1>);
        layer_norm: layer_norm_rows<4, 8192>(
            In<'_, Self, 2>, In<'_, Self, 1>, In<'_, Self, 1>, f32, Out<'_, Self, 2>, Out<'_, f32, 1>, Out<'_, f32, 1>
        );
        norm_gradient: norm_gradient<4, 4096>(
            In<'_, Self, 2>, In<'_, Self, 1>, In<'_, f32, 1>, In<'_, f32, 1>, In<'_, Self, 2>, Out<'_, Self, 2>
        );
    }
    by grid: {
        weight_gradient_parts: norm_weight_gradient_parts(
            In<'_, Self, 2>, In<'_, f32, 1>, In<'_, f32, 1>, In<'_, Self, 2>, Out<'_, f32, 2>, Out<'_, f32, 2>
        );
        sum_of_parts: sum_of_parts(In<'_, f32, 2>, Out<'_, Self, 1>);
        losses: cross_entropy_losses(In<'_, Self, 2>, In<'_, i64, 1>, i64, Out<'_, f32, 1>, Out<'_, f32, 1>);
        logits_gradient: cross_entropy_gradient(
            In<'_, Self, 2>, In<'_, i64, 1>, i64, In<'_, f32, 1>, In<'_, f32, 1>, Out<'_, Self, 2>
        );
        logits_gradient_in_place: cross_entropy_gradient_in_place(
            Out<'_, Self, 2>, In<'_, i64, 1>, i64, In<'_, f32, 1>, In<'_, f32, 1>
        );
    }
}
