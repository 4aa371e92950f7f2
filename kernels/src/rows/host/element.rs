//! The element types of the operations, and their instances.

use cuda_tiles::element::{Element, bf16, f16};
use cuda_tiles_host::{Grid, Launch, Result, Stream, TensorView, TensorViewMut};

use super::Matrices;
use crate::rows::kernels::cross_entropy::{
    cross_entropy_gradient, cross_entropy_gradient_in_place, cross_entropy_losses,
};
use crate::rows::kernels::norm_gradients::{
    norm_gradient, norm_gradients_of_rows, norm_weight_gradient_parts, sum_of_parts,
};
use crate::rows::kernels::norms::{layer_norm_long_rows, layer_norm_rows, rms_norm_long_rows, rms_norm_rows};
use crate::rows::kernels::softmax::{
    softmax_gradient, softmax_gradient_of_long_rows, softmax_long_rows, softmax_rows,
};
use crate::rows::kernels::{Anywhere, InVectors};

/// The columns of a tile of logits.
pub(super) const LOGITS: usize = 4096;

/// A matrix, or what belongs to its rows or columns, to be read.
type In<'t, T, const RANK: usize> = TensorView<'t, T, RANK>;
/// The same, to be written.
type Out<'t, T, const RANK: usize> = TensorViewMut<'t, T, RANK>;

/// The arguments of kernels.
type Softmax<'t, T> = (In<'t, T, 2>, Out<'t, T, 2>);
type SoftmaxGradient<'t, T> = (In<'t, T, 2>, In<'t, T, 2>, Out<'t, T, 2>);
type RmsNorm<'t, T> = (In<'t, T, 2>, In<'t, T, 1>, f32, Out<'t, T, 2>, Out<'t, f32, 1>);
type LayerNorm<'t, T> =
    (In<'t, T, 2>, In<'t, T, 1>, In<'t, T, 1>, f32, Out<'t, T, 2>, Out<'t, f32, 1>, Out<'t, f32, 1>);
type NormGradient<'t, T> =
    (In<'t, T, 2>, In<'t, T, 1>, In<'t, f32, 1>, In<'t, f32, 1>, In<'t, T, 2>, Out<'t, T, 2>);
type NormGradients<'t, T> = (
    In<'t, T, 2>,
    In<'t, T, 1>,
    In<'t, f32, 1>,
    In<'t, f32, 1>,
    In<'t, T, 2>,
    Out<'t, T, 2>,
    Out<'t, f32, 2>,
    Out<'t, f32, 2>,
);
type WeightGradientParts<'t, T> =
    (In<'t, T, 2>, In<'t, f32, 1>, In<'t, f32, 1>, In<'t, T, 2>, Out<'t, f32, 2>, Out<'t, f32, 2>);
type SumOfParts<'t, T> = (In<'t, f32, 2>, In<'t, f32, 2>, Out<'t, T, 1>, Out<'t, T, 1>);
type Losses<'t, T> = (In<'t, T, 2>, In<'t, i64, 1>, i64, Out<'t, f32, 1>, Out<'t, f32, 1>);
type LogitsGradient<'t, T> =
    (In<'t, T, 2>, In<'t, i64, 1>, i64, In<'t, f32, 1>, In<'t, f32, 1>, Out<'t, T, 2>);
type LogitsGradientInPlace<'t, T> = (Out<'t, T, 2>, In<'t, i64, 1>, i64, In<'t, f32, 1>, In<'t, f32, 1>);

/// How a kernel has all gradients of a normalisation in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnePass {
    /// Rows that a block takes at a time.
    pub(super) rows: usize,
    /// Blocks that a GPU's multiprocessor holds.
    pub(super) blocks: usize,
}

mod sealed {
    pub trait Sealed {}
}

/// Element types that have kernels on rows: `f32`, `f16` and `bf16`.
#[diagnostic::on_unimplemented(
    message = "there are no kernels on rows of `{Self}`",
    label = "expected `f32`, `f16` or `bf16`"
)]
pub trait RowElement: Element + sealed::Sealed {
    #[doc(hidden)]
    fn softmax(stream: &Stream, matrices: Matrices, arguments: Softmax<'_, Self>) -> Result<()>;
    #[doc(hidden)]
    fn softmax_gradient(
        stream: &Stream,
        matrices: Matrices,
        arguments: SoftmaxGradient<'_, Self>,
    ) -> Result<()>;
    #[doc(hidden)]
    fn rms_norm(stream: &Stream, matrices: Matrices, arguments: RmsNorm<'_, Self>) -> Result<()>;
    #[doc(hidden)]
    fn layer_norm(stream: &Stream, matrices: Matrices, arguments: LayerNorm<'_, Self>) -> Result<()>;
    #[doc(hidden)]
    fn norm_gradient(stream: &Stream, matrices: Matrices, arguments: NormGradient<'_, Self>) -> Result<()>;
    #[doc(hidden)]
    fn losses(stream: &Stream, matrices: Matrices, arguments: Losses<'_, Self>) -> Result<()>;
    /// How rows of so many columns that lie in vectors have all gradients of a normalisation in one pass, if they do.
    #[doc(hidden)]
    fn one_pass(columns: usize) -> Option<OnePass>;
    #[doc(hidden)]
    fn norm_gradients(
        stream: &Stream,
        columns: usize,
        blocks: usize,
        arguments: NormGradients<'_, Self>,
    ) -> Result<()>;
    #[doc(hidden)]
    fn weight_gradient_parts(
        stream: &Stream,
        grid: Grid,
        arguments: WeightGradientParts<'_, Self>,
    ) -> Result<()>;
    #[doc(hidden)]
    fn sum_of_parts(stream: &Stream, grid: Grid, arguments: SumOfParts<'_, Self>) -> Result<()>;
    #[doc(hidden)]
    fn logits_gradient(stream: &Stream, grid: Grid, arguments: LogitsGradient<'_, Self>) -> Result<()>;
    #[doc(hidden)]
    fn logits_gradient_in_place(
        stream: &Stream,
        grid: Grid,
        arguments: LogitsGradientInPlace<'_, Self>,
    ) -> Result<()>;
}

/// Implements the trait.
///
/// A kernel has instances `<rows of a block, columns of a tile>` for rows of up to four tiles, of which the first that is wide enough is
/// taken, and a kernel for longer rows. In one pass, a kernel has instances for rows of a tile, with the blocks that a multiprocessor
/// holds.
macro_rules! row_element {
    (
        $type:ident in one pass: [$(<$one_rows:literal, $one_columns:literal> $one_blocks:literal)*]
        $($name:ident($arguments:ident): $kernel:ident {
            in vectors: [$(<$rows:literal, $quarter:literal>)*],
            anywhere: [$(<$any_rows:literal, $any_quarter:literal>)*],
            longer: $long:ident [$($parameter:literal),*]
        })*
    ) => {
        impl sealed::Sealed for $type {}
        impl RowElement for $type {
            $(
                fn $name(stream: &Stream, matrices: Matrices, arguments: $arguments<'_, Self>) -> Result<()> {
                    let Matrices { rows, in_vectors, .. } = matrices;
                    if in_vectors {
                        $(if matrices.columns <= 4 * $quarter {
                            return $kernel::<$type, InVectors, $rows, $quarter>()
                                .launch_on(stream, rows.div_ceil($rows), arguments);
                        })*
                        return $long::<$type, InVectors, $($parameter),*>().launch_on(stream, rows, arguments);
                    }
                    $(if matrices.columns <= 4 * $any_quarter {
                        return $kernel::<$type, Anywhere, $any_rows, $any_quarter>()
                            .launch_on(stream, rows.div_ceil($any_rows), arguments);
                    })*
                    $long::<$type, Anywhere, $($parameter),*>().launch_on(stream, rows, arguments)
                }
            )*
            fn one_pass(columns: usize) -> Option<OnePass> {
                $(if columns <= $one_columns {
                    return Some(OnePass { rows: $one_rows, blocks: $one_blocks });
                })*
                None
            }
            fn norm_gradients(
                stream: &Stream,
                columns: usize,
                blocks: usize,
                arguments: NormGradients<'_, Self>,
            ) -> Result<()> {
                $(if columns <= $one_columns {
                    return norm_gradients_of_rows::<$type, InVectors, $one_rows, $one_columns>()
                        .launch_on(stream, blocks, arguments);
                })*
                unreachable!("`one_pass` says which rows have a kernel")
            }
            fn weight_gradient_parts(
                stream: &Stream,
                grid: Grid,
                arguments: WeightGradientParts<'_, Self>,
            ) -> Result<()> {
                norm_weight_gradient_parts::<$type>().launch_on(stream, grid, arguments)
            }
            fn sum_of_parts(stream: &Stream, grid: Grid, arguments: SumOfParts<'_, Self>) -> Result<()> {
                sum_of_parts::<$type>().launch_on(stream, grid, arguments)
            }
            fn logits_gradient(stream: &Stream, grid: Grid, arguments: LogitsGradient<'_, Self>) -> Result<()> {
                cross_entropy_gradient::<$type>().launch_on(stream, grid, arguments)
            }
            fn logits_gradient_in_place(
                stream: &Stream,
                grid: Grid,
                arguments: LogitsGradientInPlace<'_, Self>,
            ) -> Result<()> {
                cross_entropy_gradient_in_place::<$type>().launch_on(stream, grid, arguments)
            }
        }
    };
}

row_element! {
    f32 in one pass: [<16, 64> 4 <4, 256> 6 <1, 1024> 6 <1, 4096> 2 <1, 8192> 1]
    softmax(Softmax): softmax_rows {
        in vectors: [<64, 16> <32, 32> <16, 64> <1, 256> <1, 1024> <1, 2048> <1, 4096>],
        anywhere: [<1, 256>],
        longer: softmax_long_rows [8192, 4, 512, 4]
    }
    softmax_gradient(SoftmaxGradient): softmax_gradient {
        in vectors: [<64, 16> <32, 32> <16, 64> <4, 256> <1, 1024> <1, 2048> <1, 4096>],
        anywhere: [<4, 256>],
        longer: softmax_gradient_of_long_rows [8192]
    }
    rms_norm(RmsNorm): rms_norm_rows {
        in vectors: [<64, 16> <32, 32> <16, 64> <1, 256> <1, 1024> <1, 2048> <1, 4096>],
        anywhere: [<1, 256>],
        longer: rms_norm_long_rows [4096]
    }
    layer_norm(LayerNorm): layer_norm_rows {
        in vectors: [<64, 16> <32, 32> <16, 64> <4, 256> <1, 1024> <1, 2048> <1, 4096>],
        anywhere: [<4, 256>],
        longer: layer_norm_long_rows [4096]
    }
    norm_gradient(NormGradient): norm_gradient { in vectors: [], anywhere: [], longer: norm_gradient [2048] }
    losses(Losses): cross_entropy_losses {
        in vectors: [],
        anywhere: [],
        longer: cross_entropy_losses [8192, 4, 512, 4]
    }
}

macro_rules! row_elements_of_16_bits {
    ($($type:ident)*) => { $(
        row_element! {
            $type in one pass: [<16, 64> 4 <4, 256> 6 <1, 1024> 6 <1, 4096> 2 <1, 8192> 1]
            softmax(Softmax): softmax_rows {
                in vectors: [<64, 16> <32, 32> <16, 64> <1, 256> <1, 1024> <1, 2048> <1, 4096>],
                anywhere: [<1, 256>],
                longer: softmax_long_rows [16384, 4, 512, 8]
            }
            softmax_gradient(SoftmaxGradient): softmax_gradient {
                in vectors: [<64, 16> <32, 32> <16, 64> <4, 256> <1, 1024> <1, 2048> <1, 4096> <1, 8192>],
                anywhere: [<4, 256>],
                longer: softmax_gradient_of_long_rows [16384]
            }
            rms_norm(RmsNorm): rms_norm_rows {
                in vectors: [<64, 16> <32, 32> <16, 64> <1, 256> <1, 1024> <1, 2048> <1, 4096>],
                anywhere: [<1, 256>],
                longer: rms_norm_long_rows [8192]
            }
            layer_norm(LayerNorm): layer_norm_rows {
                in vectors: [<64, 16> <32, 32> <16, 64> <4, 256> <1, 1024> <1, 2048> <1, 4096>],
                anywhere: [<4, 256>],
                longer: layer_norm_long_rows [8192]
            }
            norm_gradient(NormGradient): norm_gradient { in vectors: [], anywhere: [], longer: norm_gradient [4096] }
            losses(Losses): cross_entropy_losses {
                in vectors: [],
                anywhere: [],
                longer: cross_entropy_losses [16384, 4, 512, 8]
            }
        }
    )* };
}
row_elements_of_16_bits!(f16 bf16);
