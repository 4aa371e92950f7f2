//! What an exported function can have as parameters.

use cuda_tiles_host::{TensorView, TensorViewMut};

use crate::arguments::{Access, Arguments};
use crate::error::{Exception, Problem};
use crate::tensor::HeldView;
use crate::value::Value;
use cuda_tiles_host::dlpack::DlpackElement;

/// A type that a parameter of an exported function can have.
///
/// | parameter | argument in Python |
/// |---|---|
/// | [`TensorView<T, RANK>`] | a tensor or an array of any strides, to be read |
/// | [`TensorViewMut<T, RANK>`] | the same, to be written; no two indices share an element |
/// | `i8` to `i64`, `u8` to `u64`, `usize` | `int`, in the range of the type |
/// | `f32`, `f64` | `float` or `int` |
/// | `bool` | `bool` |
/// | `&str` | `str` |
/// | `Option` of these | `None`, or the same |
///
/// `T` is a [`DlpackElement`], and `RANK` at most 6. PyTorch's tensors and everything else that has `__dlpack__` is a tensor: arrays of
/// NumPy, CuPy and JAX.
#[diagnostic::on_unimplemented(
    message = "a parameter of an exported function cannot be a `{Self}`",
    note = "parameters are `TensorView`, `TensorViewMut`, integers, `f32`, `f64`, `bool`, `&str`, and `Option` of these",
    note = "a `Tensor` could be kept after the call, and then its memory is gone: take a view"
)]
pub trait Parameter {
    /// What is kept of the argument during the call.
    #[doc(hidden)]
    type Held;
    /// What the function is given.
    #[doc(hidden)]
    type Lent<'held>;

    /// Checks the argument at a position. Only this crate makes [`Arguments`].
    #[doc(hidden)]
    fn hold(arguments: &mut Arguments<'_>, position: usize) -> Result<Self::Held, Exception>;

    /// Lends the argument to the function.
    #[doc(hidden)]
    fn lend(held: &mut Self::Held) -> Self::Lent<'_>;
}

impl<T: DlpackElement, const RANK: usize> Parameter for TensorView<'_, T, RANK> {
    type Held = HeldView<T, RANK>;
    type Lent<'held> = TensorView<'held, T, RANK>;

    fn hold(arguments: &mut Arguments<'_>, position: usize) -> Result<Self::Held, Exception> {
        HeldView::hold(arguments, position, Access::Read)
    }

    fn lend(held: &mut Self::Held) -> Self::Lent<'_> {
        held.view()
    }
}

impl<T: DlpackElement, const RANK: usize> Parameter for TensorViewMut<'_, T, RANK> {
    type Held = HeldView<T, RANK>;
    type Lent<'held> = TensorViewMut<'held, T, RANK>;

    fn hold(arguments: &mut Arguments<'_>, position: usize) -> Result<Self::Held, Exception> {
        HeldView::hold(arguments, position, Access::Write)
    }

    fn lend(held: &mut Self::Held) -> Self::Lent<'_> {
        held.view_mut()
    }
}

impl<P: Parameter> Parameter for Option<P> {
    type Held = Option<P::Held>;
    type Lent<'held> = Option<P::Lent<'held>>;

    fn hold(arguments: &mut Arguments<'_>, position: usize) -> Result<Self::Held, Exception> {
        match arguments.value(position) {
            Value::None => Ok(None),
            _ => P::hold(arguments, position).map(Some),
        }
    }

    fn lend(held: &mut Self::Held) -> Self::Lent<'_> {
        held.as_mut().map(P::lend)
    }
}

impl Parameter for &str {
    type Held = String;
    type Lent<'held> = &'held str;

    fn hold(arguments: &mut Arguments<'_>, position: usize) -> Result<Self::Held, Exception> {
        let Value::Text(text) = arguments.value(position) else {
            return Err(arguments.expected(position, "a str"));
        };
        match std::str::from_utf8(text) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(arguments.refused(position, Problem::NotUtf8)),
        }
    }

    fn lend(held: &mut Self::Held) -> Self::Lent<'_> {
        held
    }
}

/// Numbers, which a function is given by value.
macro_rules! by_value {
    ($($type:ident)* : |$arguments:ident, $position:ident| $hold:expr) => { $(
        impl Parameter for $type {
            type Held = $type;
            type Lent<'held> = $type;

            fn hold($arguments: &mut Arguments<'_>, $position: usize) -> Result<Self::Held, Exception> {
                $hold
            }

            fn lend(held: &mut Self::Held) -> Self::Lent<'_> {
                *held
            }
        }
    )* };
}

by_value! { i8 i16 i32 u8 u16 u32 u64 usize: |arguments, position| match *arguments.value(position) {
    Value::Int(value) => value.try_into().map_err(|_| {
        let wanted = std::any::type_name::<Self>();
        arguments.refused(position, Problem::Range { value, wanted })
    }),
    _ => Err(arguments.expected(position, "an int")),
} }

by_value! { i64: |arguments, position| match *arguments.value(position) {
    Value::Int(value) => Ok(value),
    _ => Err(arguments.expected(position, "an int")),
} }

by_value! { f32 f64: |arguments, position| match *arguments.value(position) {
    Value::Float(value) => Ok(value as Self),
    Value::Int(value) => Ok(value as Self),
    _ => Err(arguments.expected(position, "a float")),
} }

by_value! { bool: |arguments, position| match *arguments.value(position) {
    Value::Bool(value) => Ok(value),
    _ => Err(arguments.expected(position, "a bool")),
} }
