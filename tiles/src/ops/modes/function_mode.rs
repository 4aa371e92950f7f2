//! The modes of mathematical functions: how accurate they are, and whether subnormal numbers count.

use super::{Approximate, FlushToZero, Full};
use crate::element::{ApproximateFloat, Element, Float};
use crate::sealed::Sealed;

/// A mode of exponentials, logarithms, trigonometric and hyperbolic functions of elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "this function of `{T}` has no mode `{Self}`",
    label = "not a mode of this function of `{T}`",
    note = "floats have `Full`, which is the default, and those with approximate instructions `Approximate`",
    note = "the function is not rounded correctly: only `sqrt` and arithmetic have modes of rounding"
)]
pub trait FunctionMode<T: Element>: Sealed + Copy + Send + Sync + 'static {
    /// e to the power `value`.
    fn exp(value: T) -> T;
    /// Natural logarithm.
    fn log(value: T) -> T;
    /// Base-2 logarithm.
    fn log2(value: T) -> T;
    /// Sine of an angle in radians.
    fn sin(value: T) -> T;
    /// Cosine of an angle in radians.
    fn cos(value: T) -> T;
    /// Hyperbolic tangent.
    fn tanh(value: T) -> T;
}

/// A mode of powers of two and of reciprocal square roots of elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "this function of `{T}` has no mode `{Self}`",
    label = "not a mode of this function of `{T}`",
    note = "floats have `Full`, which is the default, and those with approximate instructions `Approximate`",
    note = "f32 has also `FlushToZero`, alone or in a tuple with `Approximate`; the function is not rounded correctly, and has no modes of rounding"
)]
pub trait FlushMode<T: Element>: Sealed + Copy + Send + Sync + 'static {
    /// 2 to the power `value`.
    fn exp2(value: T) -> T;
    /// Reciprocal of the square root.
    fn rsqrt(value: T) -> T;
}

macro_rules! modes {
    ($($class:ident, $mode:ty: $trait:ident { $($name:ident = $function:ident;)* })*) => { $(
        impl<T: $class> $trait<T> for $mode {
            $(
                #[inline_on_device]
                fn $name(value: T) -> T {
                    $class::$function(value)
                }
            )*
        }
    )* };
}
modes! {
    Float, (): FunctionMode { exp = exp; log = log; log2 = log2; sin = sin; cos = cos; tanh = tanh; }
    Float, Full: FunctionMode { exp = exp; log = log; log2 = log2; sin = sin; cos = cos; tanh = tanh; }
    ApproximateFloat, Approximate: FunctionMode {
        exp = exp_approximate;
        log = log_approximate;
        log2 = log2_approximate;
        sin = sin_approximate;
        cos = cos_approximate;
        tanh = tanh_approximate;
    }
    Float, (): FlushMode { exp2 = exp2; rsqrt = rsqrt; }
    Float, Full: FlushMode { exp2 = exp2; rsqrt = rsqrt; }
    ApproximateFloat, Approximate: FlushMode { exp2 = exp2_approximate; rsqrt = rsqrt_approximate; }
}

/// The instructions that flush are as accurate as those that do not.
impl FlushMode<f32> for FlushToZero {
    #[inline_on_device]
    fn exp2(value: f32) -> f32 {
        value.exp2_approximate()
    }
    #[inline_on_device]
    fn rsqrt(value: f32) -> f32 {
        value.rsqrt_approximate()
    }
}

/// They are the approximate ones, whatever they are called.
macro_rules! both {
    ($($mode:ty),*) => { $(
        impl FlushMode<f32> for $mode {
            #[inline_on_device]
            fn exp2(value: f32) -> f32 {
                FlushToZero::exp2(value)
            }
            #[inline_on_device]
            fn rsqrt(value: f32) -> f32 {
                FlushToZero::rsqrt(value)
            }
        }
    )* };
}
both!((Approximate, FlushToZero), (FlushToZero, Approximate));
