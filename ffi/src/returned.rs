//! What an exported function can return.

use crate::abi::Any;
use crate::error::{Exception, Problem};

/// A type that an exported function can return: nothing, a number or a `bool`, and a `Result` of these whose error becomes an
/// [`Exception`].
///
/// Tensors are not returned: the caller makes them and passes them as [`TensorViewMut`](crate::TensorViewMut), so that they come from the
/// caller's allocator.
#[diagnostic::on_unimplemented(
    message = "an exported function cannot return a `{Self}`",
    note = "it returns nothing, an integer, `f32`, `f64` or `bool`, or a `Result` of these with `cuda_tiles_host::Error` or `Exception`",
    note = "results that are tensors are parameters: `out: TensorViewMut<f32, 2>`"
)]
pub trait Returned {
    /// The result, or what is raised.
    #[doc(hidden)]
    fn into_any(self) -> Result<Any, Raised>;
}

/// Why there is no result.
#[doc(hidden)]
pub enum Raised {
    /// What the function has returned.
    Exception(Exception),
    /// The result is greater than Python's side can take.
    TooGreat(u64),
}

impl Raised {
    /// The exception of a function.
    #[doc(hidden)]
    pub fn of(self, function: &crate::error::Function) -> Exception {
        match self {
            Self::Exception(exception) => exception,
            Self::TooGreat(value) => Problem::Result { value }.of(function),
        }
    }
}

impl Returned for () {
    fn into_any(self) -> Result<Any, Raised> {
        Ok(Any::none())
    }
}

impl<R: Returned, E: Into<Exception>> Returned for Result<R, E> {
    fn into_any(self) -> Result<Any, Raised> {
        self.map_err(|error| Raised::Exception(error.into()))?.into_any()
    }
}

macro_rules! returned {
    ($($type:ident)* : |$value:ident| $any:expr) => { $(
        impl Returned for $type {
            fn into_any(self) -> Result<Any, Raised> {
                let $value = self;
                $any
            }
        }
    )* };
}

returned! { i8 i16 i32 u8 u16 u32: |value| Ok(Any::int(value.into())) }
returned! { i64: |value| Ok(Any::int(value)) }
returned! { u64 usize: |value| i64::try_from(value).map(Any::int).map_err(|_| Raised::TooGreat(value as u64)) }
returned! { f32: |value| Ok(Any::float(value.into())) }
returned! { f64: |value| Ok(Any::float(value)) }
returned! { bool: |value| Ok(Any::bool(value)) }
