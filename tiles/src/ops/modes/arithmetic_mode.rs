//! How sums, products, quotients and square roots are rounded, and whether subnormal numbers count.
//!
//! f32 and f64 have an instruction for each mode. f16 and bf16 compute in f32 and round again in the same direction, which
//! is as good as rounding once: what lies below a number in the coarse format lies below it in the fine one.

use super::{Approximate, FlushToZero, Full, NearestEven, TowardNegative, TowardPositive, TowardZero};
use crate::arch::{float, rounding as machine};
use crate::element::{Cast, Element, Float, Number, bf16, f16};
use crate::math::single;
use crate::sealed::Sealed;

/// A mode of sums, differences and products of elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "sums, differences and products of `{T}` have no mode `{Self}`",
    label = "not a mode of this operation on `{T}`",
    note = "floats have `NearestEven`, `TowardZero`, `TowardNegative` and `TowardPositive`",
    note = "f32 has also `FlushToZero`, alone or in a tuple with one of these; integers have no modes"
)]
pub trait ArithmeticMode<T: Number>: Sealed + Copy + Send + Sync + 'static {
    /// `left + right` in this mode.
    fn add(left: T, right: T) -> T;
    /// `left - right` in this mode.
    fn sub(left: T, right: T) -> T;
    /// `left * right` in this mode.
    fn mul(left: T, right: T) -> T;
    /// `left + right` in this mode, of sums of many elements.
    fn accumulate_sum(left: T::Accumulator, right: T::Accumulator) -> T::Accumulator;
    /// `left * right` in this mode, of products of many elements.
    fn accumulate_product(left: T::Accumulator, right: T::Accumulator) -> T::Accumulator;
    /// A sum or product of many elements, rounded in this mode.
    fn from_accumulator(total: T::Accumulator) -> T;
}

/// The sum of two numbers in a mode.
#[inline_on_device]
pub(crate) fn addition<T: Number, M: ArithmeticMode<T>>(
    _mode: M,
) -> impl Fn(T::Accumulator, T::Accumulator) -> T::Accumulator {
    M::accumulate_sum
}

/// The product of two numbers in a mode.
#[inline_on_device]
pub(crate) fn multiplication<T: Number, M: ArithmeticMode<T>>(
    _mode: M,
) -> impl Fn(T::Accumulator, T::Accumulator) -> T::Accumulator {
    M::accumulate_product
}

/// A mode of the fused multiply-add of elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "the fused multiply-add of `{T}` has no mode `{Self}`",
    label = "not a mode of this operation on `{T}`",
    note = "floats have `NearestEven`, `TowardZero`, `TowardNegative` and `TowardPositive`",
    note = "f32 has also `FlushToZero`, alone or in a tuple with one of these"
)]
pub trait FusedMode<T: Element>: Sealed + Copy + Send + Sync + 'static {
    /// `left * factor + summand` in this mode, rounded once.
    fn fma(left: T, factor: T, summand: T) -> T;
}

/// A mode of quotients of elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "quotients of `{T}` have no mode `{Self}`",
    label = "not a mode of this operation on `{T}`",
    note = "floats have `NearestEven`, `TowardZero`, `TowardNegative` and `TowardPositive`",
    note = "f32 has also `Approximate` and `Full`, and `FlushToZero`, alone or in a tuple with one of these",
    note = "integers have `/`, `floor_div` and `ceil_div`"
)]
pub trait DivisionMode<T: Element>: Sealed + Copy + Send + Sync + 'static {
    /// `left / right` in this mode.
    fn div(left: T, right: T) -> T;
}

/// A mode of square roots of elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "square roots of `{T}` have no mode `{Self}`",
    label = "not a mode of this operation on `{T}`",
    note = "floats have `NearestEven`, `TowardZero`, `TowardNegative` and `TowardPositive`",
    note = "f32 has also `Approximate`, and `FlushToZero`, alone or in a tuple with one of these"
)]
pub trait RootMode<T: Element>: Sealed + Copy + Send + Sync + 'static {
    /// The square root in this mode.
    fn sqrt(value: T) -> T;
}

/// No mode: as the operators do.
impl<T: Number> ArithmeticMode<T> for () {
    #[inline_on_device]
    fn add(left: T, right: T) -> T {
        Number::add(left, right)
    }
    #[inline_on_device]
    fn sub(left: T, right: T) -> T {
        Number::sub(left, right)
    }
    #[inline_on_device]
    fn mul(left: T, right: T) -> T {
        Number::mul(left, right)
    }
    #[inline_on_device]
    fn accumulate_sum(left: T::Accumulator, right: T::Accumulator) -> T::Accumulator {
        Number::add(left, right)
    }
    #[inline_on_device]
    fn accumulate_product(left: T::Accumulator, right: T::Accumulator) -> T::Accumulator {
        Number::mul(left, right)
    }
    #[inline_on_device]
    fn from_accumulator(total: T::Accumulator) -> T {
        T::from_accumulator(total)
    }
}

impl<T: Float> FusedMode<T> for () {
    #[inline_on_device]
    fn fma(left: T, factor: T, summand: T) -> T {
        left.fma(factor, summand)
    }
}

impl<T: Number> DivisionMode<T> for () {
    #[inline_on_device]
    fn div(left: T, right: T) -> T {
        Number::div(left, right)
    }
}

impl<T: Float> RootMode<T> for () {
    #[inline_on_device]
    fn sqrt(value: T) -> T {
        value.sqrt()
    }
}

/// One function of a trait of modes, for each spelling of a mode. Operands and results are of `$type` where nothing else
/// is said.
macro_rules! modes {
    ($type:ident, [$($mode:ty),*]: $($trait:ident { $($name:ident($($operand:ident $(: $given:ident)?),*) $(-> $result:ident)? = $value:expr;)* })*) => {
        modes!(@each $type, [$($mode),*], { $($trait { $($name($($operand $(: $given)?),*) $(-> $result)? = $value;)* })* });
    };
    (@each $type:ident, [], $traits:tt) => {};
    (@each $type:ident, [$mode:ty $(, $more:ty)*], { $($trait:ident { $($name:ident($($operand:ident $(: $given:ident)?),*) $(-> $result:ident)? = $value:expr;)* })* }) => {
        $( impl $trait<$type> for $mode {
            $(
                #[inline_on_device]
                fn $name($($operand: modes!(@type $type $($given)?)),*) -> modes!(@type $type $($result)?) {
                    $value
                }
            )*
        } )*
        modes!(@each $type, [$($more),*], { $($trait { $($name($($operand $(: $given)?),*) $(-> $result)? = $value;)* })* });
    };
    (@type $type:ident) => { $type };
    (@type $type:ident $given:ident) => { $given };
}

/// A mode that is the operators' own.
macro_rules! nearest_even {
    ($($type:ident in $accumulator:ident),*) => { $(
        modes! { $type, [NearestEven]:
            ArithmeticMode {
                add(left, right) = Number::add(left, right);
                sub(left, right) = Number::sub(left, right);
                mul(left, right) = Number::mul(left, right);
                accumulate_sum(left: $accumulator, right: $accumulator) -> $accumulator = Number::add(left, right);
                accumulate_product(left: $accumulator, right: $accumulator) -> $accumulator = Number::mul(left, right);
                from_accumulator(total: $accumulator) = Number::from_accumulator(total);
            }
            FusedMode { fma(left, factor, summand) = Float::fma(left, factor, summand); }
            DivisionMode { div(left, right) = Number::div(left, right); }
            RootMode { sqrt(value) = Float::sqrt(value); }
        }
    )* };
}
nearest_even!(f16 in f32, bf16 in f32, f32 in f32, f64 in f64);

/// A mode for which the machine has instructions.
macro_rules! native {
    ($type:ident, $modes:tt, $module:ident: $add:ident $sub:ident $mul:ident $div:ident $fma:ident $sqrt:ident) => {
        modes! { $type, $modes:
            ArithmeticMode {
                add(left, right) = machine::$module::$add(left, right);
                sub(left, right) = machine::$module::$sub(left, right);
                mul(left, right) = machine::$module::$mul(left, right);
                accumulate_sum(left, right) = machine::$module::$add(left, right);
                accumulate_product(left, right) = machine::$module::$mul(left, right);
                from_accumulator(total) = total;
            }
            FusedMode { fma(left, factor, summand) = machine::$module::$fma(left, factor, summand); }
            DivisionMode { div(left, right) = machine::$module::$div(left, right); }
            RootMode { sqrt(value) = machine::$module::$sqrt(value); }
        }
    };
}

/// A mode of a 16-bit format, through f32.
macro_rules! through_f32 {
    ($type:ident, $mode:ident, $module:ident, $round:ident) => {
        modes! { $type, [$mode]:
            ArithmeticMode {
                add(left, right) = through_f32!(@ $type $module $round add_f32 left right);
                sub(left, right) = through_f32!(@ $type $module $round subtract_f32 left right);
                mul(left, right) = through_f32!(@ $type $module $round multiply_f32 left right);
                accumulate_sum(left: f32, right: f32) -> f32 = machine::$module::add_f32(left, right);
                accumulate_product(left: f32, right: f32) -> f32 = machine::$module::multiply_f32(left, right);
                from_accumulator(total: f32) = $type::from_bits(machine::$module::$round(total));
            }
            FusedMode { fma(left, factor, summand) = through_f32!(@ $type $module $round fma_f32 left factor summand); }
            DivisionMode { div(left, right) = through_f32!(@ $type $module $round divide_f32 left right); }
            RootMode { sqrt(value) = through_f32!(@ $type $module $round sqrt_f32 value); }
        }
    };
    (@ $type:ident $module:ident $round:ident $function:ident $($operand:ident)*) => {
        $type::from_bits(machine::$module::$round(machine::$module::$function($(Cast::<f32>::cast($operand)),*)))
    };
}

macro_rules! directed {
    ($($mode:ident $module:ident;)*) => { $(
        native!(f32, [$mode], $module: add_f32 subtract_f32 multiply_f32 divide_f32 fma_f32 sqrt_f32);
        native!(f64, [$mode], $module: add_f64 subtract_f64 multiply_f64 divide_f64 fma_f64 sqrt_f64);
        through_f32!(f16, $mode, $module, f32_to_f16);
        through_f32!(bf16, $mode, $module, f32_to_bf16);
        native!(f32, [($mode, FlushToZero), (FlushToZero, $mode)], $module:
            add_flush_f32 subtract_flush_f32 multiply_flush_f32 divide_flush_f32 fma_flush_f32 sqrt_flush_f32);
    )* };
}
directed! {
    TowardZero toward_zero;
    TowardNegative toward_negative;
    TowardPositive toward_positive;
}
native!(f32, [FlushToZero, (NearestEven, FlushToZero), (FlushToZero, NearestEven)], nearest_even:
    add_flush_f32 subtract_flush_f32 multiply_flush_f32 divide_flush_f32 fma_flush_f32 sqrt_flush_f32);

modes! { f32, [Approximate]:
    DivisionMode { div(left, right) = single::divide_approximate(left, right); }
    RootMode { sqrt(value) = float::sqrt_approximate_f32(value); }
}
modes! { f32, [(Approximate, FlushToZero), (FlushToZero, Approximate)]:
    DivisionMode { div(left, right) = machine::divide_approximate_flush_f32(left, right); }
    RootMode { sqrt(value) = machine::sqrt_approximate_flush_f32(value); }
}
modes! { f32, [Full]: DivisionMode { div(left, right) = float::divide_full_f32(left, right); } }
modes! { f32, [(Full, FlushToZero), (FlushToZero, Full)]:
    DivisionMode { div(left, right) = machine::divide_full_flush_f32(left, right); }
}
