//! Instructions that round in a given direction, and those that flush subnormal numbers: one PTX instruction a function.
//!
//! `arch/cpu/rounding.rs` has the same functions with the same results, but for the approximate ones.

use super::float::instructions;

macro_rules! rounded {
    ($module:ident, $mode:literal, $how:literal, $to_f16:literal, |$x:ident| $to_bf16:expr) => {
        #[doc = concat!("Rounded ", $how, ".")]
        pub mod $module {
            use super::instructions;

            instructions! {
                /// `a + b`.
                add_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = concat!("add.", $mode, ".f32 {}, {}, {};");
                /// `a - b`.
                subtract_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = concat!("sub.", $mode, ".f32 {}, {}, {};");
                /// `a * b`.
                multiply_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = concat!("mul.", $mode, ".f32 {}, {}, {};");
                /// `a / b`.
                divide_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = concat!("div.", $mode, ".f32 {}, {}, {};");
                /// `a * b + c`, rounded once.
                fma_f32(a: f32 => reg32, b: f32 => reg32, c: f32 => reg32) -> f32 => reg32 = concat!("fma.", $mode, ".f32 {}, {}, {}, {};");
                /// Square root.
                sqrt_f32(x: f32 => reg32) -> f32 => reg32 = concat!("sqrt.", $mode, ".f32 {}, {};");
                /// `a + b`.
                add_f64(a: f64 => reg64, b: f64 => reg64) -> f64 => reg64 = concat!("add.", $mode, ".f64 {}, {}, {};");
                /// `a - b`.
                subtract_f64(a: f64 => reg64, b: f64 => reg64) -> f64 => reg64 = concat!("sub.", $mode, ".f64 {}, {}, {};");
                /// `a * b`.
                multiply_f64(a: f64 => reg64, b: f64 => reg64) -> f64 => reg64 = concat!("mul.", $mode, ".f64 {}, {}, {};");
                /// `a / b`.
                divide_f64(a: f64 => reg64, b: f64 => reg64) -> f64 => reg64 = concat!("div.", $mode, ".f64 {}, {}, {};");
                /// `a * b + c`, rounded once.
                fma_f64(a: f64 => reg64, b: f64 => reg64, c: f64 => reg64) -> f64 => reg64 = concat!("fma.", $mode, ".f64 {}, {}, {}, {};");
                /// Square root.
                sqrt_f64(x: f64 => reg64) -> f64 => reg64 = concat!("sqrt.", $mode, ".f64 {}, {};");
                /// As an f16.
                f32_to_f16(x: f32 => reg32) -> u16 => reg16 = $to_f16;
            }
            rounded!(@flushing $mode);

            /// As a bf16.
            #[inline(always)]
            pub fn f32_to_bf16($x: f32) -> u16 {
                $to_bf16
            }
        }
    };
    (@flushing $mode:literal) => {
        instructions! {
            /// `a + b`; subnormal operands and results become zero.
            add_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = concat!("add.", $mode, ".ftz.f32 {}, {}, {};");
            /// `a - b`; subnormal operands and results become zero.
            subtract_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = concat!("sub.", $mode, ".ftz.f32 {}, {}, {};");
            /// `a * b`; subnormal operands and results become zero.
            multiply_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = concat!("mul.", $mode, ".ftz.f32 {}, {}, {};");
            /// `a / b`; subnormal operands and results become zero.
            divide_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = concat!("div.", $mode, ".ftz.f32 {}, {}, {};");
            /// `a * b + c`, rounded once; subnormal operands and results become zero.
            fma_flush_f32(a: f32 => reg32, b: f32 => reg32, c: f32 => reg32) -> f32 => reg32 = concat!("fma.", $mode, ".ftz.f32 {}, {}, {}, {};");
            /// Square root; subnormal operands count as zero.
            sqrt_flush_f32(x: f32 => reg32) -> f32 => reg32 = concat!("sqrt.", $mode, ".ftz.f32 {}, {};");
        }
    };
}

rounded!(toward_zero, "rz", "toward zero", "cvt.rz.f16.f32 {}, {};", |x| super::cut_bf16(x));
rounded!(toward_negative, "rm", "toward negative infinity", "cvt.rm.f16.f32 {}, {};", |x| {
    super::directed_bf16(x, x.is_sign_negative())
});
rounded!(toward_positive, "rp", "toward positive infinity", "cvt.rp.f16.f32 {}, {};", |x| {
    super::directed_bf16(x, x.is_sign_positive())
});

/// Rounded to nearest, ties to even. Without flushing these are the operators.
pub mod nearest_even {
    use super::instructions;

    rounded!(@flushing "rn");
}

instructions! {
    /// The bf16 next to `x` on the side of zero.
    cut_bf16(x: f32 => reg32) -> u16 => reg16 = "cvt.rz.bf16.f32 {}, {};";
    /// The smaller one; a NaN gives way to a number. Subnormal operands become zero.
    min_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "min.ftz.f32 {}, {}, {};";
    /// The larger one; a NaN gives way to a number. Subnormal operands become zero.
    max_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "max.ftz.f32 {}, {}, {};";
    /// The smaller one, or NaN if there is a NaN. Subnormal operands become zero.
    min_nan_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "min.ftz.NaN.f32 {}, {}, {};";
    /// The larger one, or NaN if there is a NaN. Subnormal operands become zero.
    max_nan_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "max.ftz.NaN.f32 {}, {}, {};";
    /// `a / b` within 2 ulp for |b| in [2⁻¹²⁶, 2¹²⁶]; subnormal operands and results become zero.
    divide_approximate_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "div.approx.ftz.f32 {}, {}, {};";
    /// `a / b` within 2 ulp; subnormal operands and results become zero.
    divide_full_flush_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "div.full.ftz.f32 {}, {}, {};";
    /// `sqrt(x)` with a relative error below 2⁻²³; subnormal operands count as zero.
    sqrt_approximate_flush_f32(x: f32 => reg32) -> f32 => reg32 = "sqrt.approx.ftz.f32 {}, {};";
}

/// The bf16 next to `x`, away from zero if so asked. (PTX rounds to bf16 only to nearest and toward zero.)
#[inline(always)]
fn directed_bf16(x: f32, away: bool) -> u16 {
    let cut = cut_bf16(x);
    // Bits count on over exponents, and from the largest finite number to infinity.
    let inexact = !x.is_nan() && x.to_bits() & 0xffff != 0;
    cut + u16::from(inexact && away)
}
