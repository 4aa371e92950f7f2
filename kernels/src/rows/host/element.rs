//! The element types of the operations, and their instances.

use cuda_tiles::element::{Element, bf16, f16};
use cuda_tiles_host::{Grid, Launch, Result, Stream, TensorView, TensorViewMut};

use crate::rows::kernels::cross_entropy::{
    cross_entropy_gradient, cross_entropy_gradient_in_place, cross_entropy_losses,
};
use crate::rows::kernels::norm_gradients::{norm_gradient, norm_weight_gradient_parts, sum_of_parts};
use crate::rows::kernels::norms::{layer_norm_rows, rms_norm_rows};
use crate::rows::kernels::softmax::{softmax_gradient, softmax_rows};

/// The columns of a tile of logits.
pub(super) const LOGITS: usize = 4096;

/// A matrix, or what belongs to its rows or columns, to be read.
type In<'t, T, const RANK: usize> = TensorView<'t, T, RANK>;
/// The same, to be written.
type Out<'t, T, const RANK: usize> = TensorViewMut<'t, T, RANK>;

mod sealed {
    pub trait Sealed {}
}

/// Launches the first instance whose tile, of so many rows and columns, is as wide as a row of the matrix, else the last.
macro_rules! launch {
    (
        $kernel:ident $type:ident [$(<$rows:literal, $columns:literal>)* else <$one:literal, $most:literal>]
        $stream:ident $shape:ident $arguments:ident
    ) => {{
        let [rows, columns] = $shape;
        $(if columns <= $columns {
            return $kernel::<$type, $rows, $columns>().launch_on($stream, rows.div_ceil($rows), $arguments);
        })*
        $kernel::<$type, $one, $most>().launch_on($stream, rows.div_ceil($one), $arguments)
    }};
}

/// Defines the trait, with a method for each kernel, and implements it. A method is given the blocks and the arguments of the kernel, or in place
/// of the blocks the shape of the matrix. The instances of these kernels are those for `f32`, and for types of 16 bits.
macro_rules! row_elements {
    (
        by shape: { $($by_shape:ident: $by_shape_kernel:ident { f32: $wide:tt, half: $half:tt } ($($shape_argument:ty),*);)* }
        by grid: $by_grid:tt
    ) => {
        row_elements!(@trait { $($by_shape($($shape_argument),*);)* } $by_grid);
        row_elements!(@impl f32 { $($by_shape: $by_shape_kernel $wide ($($shape_argument),*);)* } $by_grid);
        row_elements!(@impl f16 { $($by_shape: $by_shape_kernel $half ($($shape_argument),*);)* } $by_grid);
        row_elements!(@impl bf16 { $($by_shape: $by_shape_kernel $half ($($shape_argument),*);)* } $by_grid);
    };
    (
        @trait
        { $($by_shape:ident($($shape_argument:ty),*);)* }
        { $($by_grid:ident: $by_grid_kernel:ident($($grid_argument:ty),*);)* }
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
    };
    (
        @impl $type:ident
        { $($by_shape:ident: $by_shape_kernel:ident $instances:tt ($($shape_argument:ty),*);)* }
        { $($by_grid:ident: $by_grid_kernel:ident($($grid_argument:ty),*);)* }
    ) => {
        impl sealed::Sealed for $type {}
        impl RowElement for $type {
            $(
                fn $by_shape(stream: &Stream, shape: [usize; 2], arguments: ($($shape_argument,)*)) -> Result<()> {
                    launch!($by_shape_kernel $type $instances stream shape arguments)
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
    by shape: {
        softmax: softmax_rows {
            f32: [<2, 1024> else <1, 4096>], half: [<4, 1024> <2, 4096> else <1, 8192>]
        } (In<'_, Self, 2>, Out<'_, Self, 2>);
        softmax_gradient: softmax_gradient {
            f32: [<4, 1024> else <1, 4096>], half: [<4, 1024> else <1, 4096>]
        } (In<'_, Self, 2>, In<'_, Self, 2>, Out<'_, Self, 2>);
        rms_norm: rms_norm_rows {
            f32: [<4, 1024> else <1, 4096>], half: [<8, 1024> <2, 4096> else <1, 8192>]
        } (In<'_, Self, 2>, In<'_, Self, 1>, f32, Out<'_, Self, 2>, Out<'_, f32, 1>);
        layer_norm: layer_norm_rows {
            f32: [<2, 1024> else <1, 4096>], half: [<4, 1024> else <1, 4096>]
        } (
            In<'_, Self, 2>, In<'_, Self, 1>, In<'_, Self, 1>, f32, Out<'_, Self, 2>, Out<'_, f32, 1>, Out<'_, f32, 1>
        );
        norm_gradient: norm_gradient {
            f32: [<2, 1024> else <1, 2048>], half: [<2, 1024> else <1, 4096>]
        } (
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
