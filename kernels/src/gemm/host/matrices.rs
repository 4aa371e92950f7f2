//! Operands of two axes (a matrix) and of three axes (a batch), which the rest of the host's side sees as batches.

use cuda_tiles::element::Element;
use cuda_tiles_host::{Result, Tensor, TensorView, TensorViewMut};

/// An operand that a product reads: `&tensor` or a view.
///
/// # Shapes
///
/// A matrix has two axes, rows and columns. A batch has three axes, matrices, rows and columns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of a product of matrices of `{T}`",
    label = "expected `&tensor` or a view of two axes or three",
    note = "a transposed operand is a transposed view: `a.view().transpose()`"
)]
pub trait Matrices<'t, T: Element> {
    /// The operand as a batch.
    ///
    /// # Errors
    ///
    /// None at present.
    #[doc(hidden)]
    fn matrices(self) -> Result<TensorView<'t, T, 3>>;
}

/// The result that a product writes: `&mut tensor` or a writable view.
///
/// # Shapes
///
/// A matrix has two axes, rows and columns. A batch has three axes, matrices, rows and columns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take a product of matrices of `{T}`",
    label = "expected `&mut tensor` or a writable view of two axes or three"
)]
pub trait MatricesMut<'t, T: Element> {
    /// The operand as a batch.
    ///
    /// # Errors
    ///
    /// None at present.
    #[doc(hidden)]
    fn matrices(self) -> Result<TensorViewMut<'t, T, 3>>;
}

macro_rules! operands {
    ($trait:ident: $view:ident $(&$mutable:ident)?, $method:ident) => {
        impl<'t, T: Element> $trait<'t, T> for $view<'t, T, 3> {
            fn matrices(self) -> Result<$view<'t, T, 3>> {
                Ok(self)
            }
        }

        impl<'t, T: Element> $trait<'t, T> for $view<'t, T, 2> {
            fn matrices(self) -> Result<$view<'t, T, 3>> {
                let ([rows, columns], [down, right]) = (self.shape(), self.strides());
                // There is one matrix, so that the stride between matrices does not matter.
                self.strided(0, [1, rows, columns], [down, down, right])
            }
        }

        impl<'t, T: Element> $trait<'t, T> for &'t $($mutable)? Tensor<T, 3> {
            fn matrices(self) -> Result<$view<'t, T, 3>> {
                Ok(self.$method())
            }
        }

        impl<'t, T: Element> $trait<'t, T> for &'t $($mutable)? Tensor<T, 2> {
            fn matrices(self) -> Result<$view<'t, T, 3>> {
                $trait::matrices(self.$method())
            }
        }
    };
}
operands!(Matrices: TensorView, view);
operands!(MatricesMut: TensorViewMut &mut, view_mut);
