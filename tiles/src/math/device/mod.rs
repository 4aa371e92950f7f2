//! The device's algorithms for elementary functions: straight-line arithmetic over `arch::float`,
//! without tables in arrays, local memory, calls or panics. They run on the CPU as well, where
//! `tests/math_accuracy.rs` sweeps them.

pub mod double;
pub mod single;

/// The polynomial with the given coefficients, lowest degree first, by Horner's scheme in fused
/// multiply-adds.
macro_rules! polynomial {
    ($fma:path, $x:expr, $last:expr) => { $last };
    ($fma:path, $x:expr, $first:expr, $($rest:expr),+) => {
        $fma($crate::math::device::polynomial!($fma, $x, $($rest),+), $x, $first)
    };
}
pub(crate) use polynomial;
