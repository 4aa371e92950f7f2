//! Elementary functions of f32 and f64.
//!
//! [`single`] and [`double`] are what tile operations call. On the CPU they come from the `libm` crate; on
//! the device from `device`, because `libm` there would need tables, arrays in local memory and calls. The
//! device's algorithms are ordinary Rust over `arch::float`: they compile and are tested on the CPU too, and
//! which of the two is used is one constant of the back end (`HAS_LIBM`).
//!
//! Every function follows IEEE 754 for special values: NaN gives NaN, a value outside the domain gives NaN,
//! zeros keep their sign where the function is odd, subnormal operands and results are kept.
//!
//! Each function states its largest error in units in the last place (ulp) of the result.
//! `tests/math_accuracy.rs` checks the bounds of both back ends' algorithms. The device's f32 functions keep
//! theirs for each of the 2³² operands on an H200, where the approximate instructions inside them err as the
//! hardware does; its f64 functions gave the CPU's bits there.
//!
//! # Examples
//!
//! ```
//! use cuda_tiles::math::{double, single};
//!
//! assert_eq!(single::exp2(-3.0), 0.125);
//! assert_eq!(single::rsqrt(4.0), 0.5);
//! assert_eq!(double::log2(1024.0), 10.0);
//! // Correct even where neighbouring numbers are many turns apart.
//! assert!((single::sin(1e22) as f64 - (1e22f32 as f64).sin()).abs() < 1e-7);
//! ```

#[doc(hidden)]
pub mod device;
pub mod double;
#[doc(hidden)]
pub mod portable;
pub(crate) mod remainder;
pub mod single;
