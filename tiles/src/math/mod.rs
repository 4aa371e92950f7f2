//! Elementary functions of f32 and f64.
//!
//! Tile operations call [`single`] and [`double`]. Most functions have one algorithm for f32 and f64 and for both back ends, in
//! `portable`. It is made of sums, products, quotients, roots and fused multiply-adds, each rounded once, so that a result has
//! the same bits on the CPU and on the device.
//!
//! The exponentials, logarithms and trigonometric functions in the first lines of the table differ. On the CPU they come from
//! the `libm` crate, which is faster (f32 exponentials from `wide`, which is faster still). On the device they come from
//! `device`, since `libm` would need tables, arrays in local memory and calls. One constant of the back end chooses,
//! `HAS_LIBM`. All algorithms are ordinary Rust over `arch::float`, and are tested on the CPU.
//!
//! Every function follows C's Annex F and IEEE 754 for special values. NaN gives NaN, and a value outside the domain gives NaN.
//! Zeros keep their sign where the function is odd. Subnormal operands and results are kept. The exceptions are those of the
//! standards: `pow(1, y)` and `pow(x, 0)` are 1, and `hypot(∞, y)` is ∞, also of NaN.
//!
//! # Errors
//!
//! The largest errors in units in the last place (ulp) of the result, from sweeps over all numbers and regions where a
//! function bends, against references of 53 (f32) and about 100 bits (f64); a stated bound is the measured one rounded up.
//! f16 and bf16 compute in f32 and round once: half a unit of the narrow type and less than a thousandth, tested for every
//! number.
//!
//! | function | f32 | f64 | same bits everywhere |
//! |---|---|---|---|
//! | `exp`, `exp2` | 2, 2.1 | 1 | |
//! | `log`, `log2` | 1, 1.1 | 1 | |
//! | `sin`, `cos`, `tan` | 2, 2, 3.1 | 1, 1, 2.5 | |
//! | `tanh` | 2 | 2 | f64 |
//! | `sqrt`, `reciprocal` | 0.5 | 0.5 | yes |
//! | `rsqrt` | 2 | 1 | f64 |
//! | `exp10`, `expm1` | 1, 1.2 | 1, 1.2 | yes |
//! | `log10`, `log1p` | 0.6, 1.4 | 0.6, 1.4 | yes |
//! | `asin`, `acos`, `atan`, `atan2` | 2.2, 1.2, 1.5, 1.7 | 2.2, 1.2, 1.5, 1.7 | yes |
//! | `sinh`, `cosh` | 1.8, 1.2 | 1.8, 1.2 | yes |
//! | `asinh`, `acosh`, `atanh` | 2, 2.1, 2.2 | 2, 2.1, 2.2 | yes |
//! | `erf`, `erfc` | 1.1, 4 | 1.1, 4 | yes |
//! | `pow`, `powi` | 1, 2 | 1, 2 | yes |
//! | `cbrt`, `hypot` | 0.6, 1 | 0.6, 1 | yes |
//! | `sigmoid`, `silu`, `softplus` | 2.5, 3.2, 1.8 | 2.5, 3.2, 1.8 | yes |
//! | `gelu`, `gelu_tanh` | 5, 3.5 | 5, 3.5 | yes |
//!
//! `tests/math_accuracy.rs` and `tests/function_accuracy.rs` check the bounds, `tests/function_special_values.rs` the special
//! values. The device's own f32 functions keep theirs for each of the 2³² operands on an H200, where the approximate
//! instructions inside them err as the hardware does; its f64 functions gave the CPU's bits there.
//!
//! The activation functions, whose results fade toward zero, keep their relative accuracy there. The functions named
//! `approximate` are one or two instructions of the hardware; each states its own error.
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
mod wide;
