//! Elementary functions of f32 and f64.
//!
//! [`single`] and [`double`] are what tile operations call. On the CPU they come from the `libm` crate; on
//! the device from `device`, because `libm` there would need tables, arrays in local memory and calls. The
//! device's algorithms are ordinary Rust over `arch::float`: they compile and are tested on the CPU too, and
//! which of the two is used is one constant of the back end (`HAS_LIBM`).
//!
//! Every function follows IEEE 754 for special values: NaN gives NaN, a value outside the domain gives NaN,
//! zeros keep their sign where the function is odd, subnormal operands and results are kept. Each function
//! states its largest error in units in the last place (ulp) of the result; `tests/math_accuracy.rs` checks
//! the bounds of both back ends' algorithms.

#[doc(hidden)]
pub mod device;
pub mod double;
pub mod single;
