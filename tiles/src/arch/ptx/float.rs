//! Floating-point instructions of the device: one PTX instruction a function.
//!
//! `+ - * /` on `f32` and `f64`, conversions between the two and conversions *from* integers are not here:
//! for these rustc emits `add.rn`, `mul.rn`, `div.rn` or `cvt.rn` by itself, and the optimizer can fold them.
//! Here is what Rust has no operator for in `no_std` code. Every instruction exists for `sm_80` and PTX 7.0
//! or later.
//!
//! 16-bit formats travel as their bits in a `u16`, and pairs as a `u32` with the first value in the low half.
//!
//! `arch/cpu/float.rs` has the same functions with the same meaning. Where the ISA promises only an error
//! bound (the functions named `approximate`) the two differ by that bound; everything else is equal to the
//! bit, except for the payload of a NaN.

/// Whether the elementary functions of [`crate::math`] come from the `libm` crate. Not here: its code needs
/// volatile writes, tables and arrays, which become local memory on the device.
pub const HAS_LIBM: bool = false;

/// Defines functions that consist of one instruction with register operands only.
macro_rules! instructions {
    ($(
        $(#[$attribute:meta])*
        $name:ident($($operand:ident: $type:ty => $class:ident),*) -> $result:ty => $result_class:ident =
            $template:expr;
    )*) => {$(
        $(#[$attribute])*
        #[inline(always)]
        pub fn $name($($operand: $type),*) -> $result {
            let result: $result;
            // SAFETY: the instruction reads its operand registers and writes its result register; it touches
            // no memory, no stack and no state, and it is defined for every operand value.
            unsafe {
                core::arch::asm!(
                    $template,
                    out($result_class) result,
                    $(in($class) $operand,)*
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            result
        }
    )*};
}
pub(super) use instructions;

instructions! {
    /// `a * b + c`, rounded once to nearest even.
    fma_f32(a: f32 => reg32, b: f32 => reg32, c: f32 => reg32) -> f32 => reg32 = "fma.rn.f32 {}, {}, {}, {};";
    /// `a * b + c`, rounded once toward negative infinity.
    fma_round_down_f32(a: f32 => reg32, b: f32 => reg32, c: f32 => reg32) -> f32 => reg32 =
        "fma.rm.f32 {}, {}, {}, {};";
    /// `a * b + c`, rounded once to nearest even and clamped to `[0, 1]`; a NaN becomes 0.
    fma_saturating_f32(a: f32 => reg32, b: f32 => reg32, c: f32 => reg32) -> f32 => reg32 =
        "fma.rn.sat.f32 {}, {}, {}, {};";
    /// `a * b + c`, rounded once to nearest even.
    fma_f64(a: f64 => reg64, b: f64 => reg64, c: f64 => reg64) -> f64 => reg64 = "fma.rn.f64 {}, {}, {}, {};";

    /// Square root, correctly rounded.
    sqrt_f32(x: f32 => reg32) -> f32 => reg32 = "sqrt.rn.f32 {}, {};";
    /// Square root, correctly rounded.
    sqrt_f64(x: f64 => reg64) -> f64 => reg64 = "sqrt.rn.f64 {}, {};";
    /// `x` to the next integer below.
    floor_f32(x: f32 => reg32) -> f32 => reg32 = "cvt.rmi.f32.f32 {}, {};";
    /// `x` to the next integer below.
    floor_f64(x: f64 => reg64) -> f64 => reg64 = "cvt.rmi.f64.f64 {}, {};";
    /// `x` to the next integer above.
    ceil_f32(x: f32 => reg32) -> f32 => reg32 = "cvt.rpi.f32.f32 {}, {};";
    /// `x` to the next integer above.
    ceil_f64(x: f64 => reg64) -> f64 => reg64 = "cvt.rpi.f64.f64 {}, {};";
    /// `x` without its fraction.
    truncate_f32(x: f32 => reg32) -> f32 => reg32 = "cvt.rzi.f32.f32 {}, {};";
    /// `x` without its fraction.
    truncate_f64(x: f64 => reg64) -> f64 => reg64 = "cvt.rzi.f64.f64 {}, {};";
    /// `x` to the nearest integer, halves to the even one.
    round_even_f32(x: f32 => reg32) -> f32 => reg32 = "cvt.rni.f32.f32 {}, {};";
    /// `x` to the nearest integer, halves to the even one.
    round_even_f64(x: f64 => reg64) -> f64 => reg64 = "cvt.rni.f64.f64 {}, {};";
}

instructions! {
    /// The smaller one; a NaN gives way to a number, and −0 is smaller than +0.
    min_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "min.f32 {}, {}, {};";
    /// The larger one; a NaN gives way to a number, and +0 is larger than −0.
    max_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "max.f32 {}, {}, {};";
    /// The smaller one, or NaN if there is a NaN; −0 is smaller than +0.
    min_nan_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "min.NaN.f32 {}, {}, {};";
    /// The larger one, or NaN if there is a NaN; +0 is larger than −0.
    max_nan_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "max.NaN.f32 {}, {}, {};";
    /// The smaller one; a NaN gives way to a number, and −0 is smaller than +0.
    min_f64(a: f64 => reg64, b: f64 => reg64) -> f64 => reg64 = "min.f64 {}, {}, {};";
    /// The larger one; a NaN gives way to a number, and +0 is larger than −0.
    max_f64(a: f64 => reg64, b: f64 => reg64) -> f64 => reg64 = "max.f64 {}, {}, {};";
}

/// The smaller one, or NaN if there is a NaN; −0 is smaller than +0. (PTX has no `min.NaN.f64`.)
#[inline(always)]
pub fn min_nan_f64(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { min_f64(a, b) }
}

/// The larger one, or NaN if there is a NaN; +0 is larger than −0. (PTX has no `max.NaN.f64`.)
#[inline(always)]
pub fn max_nan_f64(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { max_f64(a, b) }
}

instructions! {
    /// `2^x` with a relative error below 2⁻²²; subnormal operands and results are kept.
    exp2_approximate_f32(x: f32 => reg32) -> f32 => reg32 = "ex2.approx.f32 {}, {};";
    /// `2^x` with a relative error below 2⁻²²; subnormal operands and results become zero.
    exp2_approximate_flush_f32(x: f32 => reg32) -> f32 => reg32 = "ex2.approx.ftz.f32 {}, {};";
    /// `log2(x)`, absolute error below 2⁻²² for x in (0.5, 2), else relative error below 2⁻²²; subnormal
    /// operands are kept.
    log2_approximate_f32(x: f32 => reg32) -> f32 => reg32 = "lg2.approx.f32 {}, {};";
    /// `sin(x)`, absolute error below 2⁻²⁰ in [−2π, 2π], growing with |x| beyond.
    sin_approximate_f32(x: f32 => reg32) -> f32 => reg32 = "sin.approx.f32 {}, {};";
    /// `cos(x)`, absolute error below 2⁻²⁰ in [−2π, 2π], growing with |x| beyond.
    cos_approximate_f32(x: f32 => reg32) -> f32 => reg32 = "cos.approx.f32 {}, {};";
    /// `tanh(x)` with a relative error below 2⁻¹¹.
    tanh_approximate_f32(x: f32 => reg32) -> f32 => reg32 = "tanh.approx.f32 {}, {};";
    /// `1 / sqrt(x)` with a relative error below 2⁻²²·⁹; subnormal operands are kept.
    rsqrt_approximate_f32(x: f32 => reg32) -> f32 => reg32 = "rsqrt.approx.f32 {}, {};";
    /// `1 / sqrt(x)` with a relative error below 2⁻²²·⁹; subnormal operands count as zero.
    rsqrt_approximate_flush_f32(x: f32 => reg32) -> f32 => reg32 = "rsqrt.approx.ftz.f32 {}, {};";
    /// `sqrt(x)` with a relative error below 2⁻²³; subnormal operands are kept.
    sqrt_approximate_f32(x: f32 => reg32) -> f32 => reg32 = "sqrt.approx.f32 {}, {};";
    /// `1 / x` within 1 ulp; subnormal operands and results are kept.
    reciprocal_approximate_f32(x: f32 => reg32) -> f32 => reg32 = "rcp.approx.f32 {}, {};";
    /// `1 / x` within 1 ulp; subnormal operands and results become zero.
    reciprocal_approximate_flush_f32(x: f32 => reg32) -> f32 => reg32 = "rcp.approx.ftz.f32 {}, {};";
    /// `a / b` within 2 ulp for |b| in [2⁻¹²⁶, 2¹²⁶]. For larger |b| the result is 0, or NaN if `a` is
    /// infinite.
    divide_approximate_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "div.approx.f32 {}, {}, {};";
    /// `a / b` within 2 ulp for all operands.
    divide_full_f32(a: f32 => reg32, b: f32 => reg32) -> f32 => reg32 = "div.full.f32 {}, {}, {};";
}

instructions! {
    /// `2^x` of an f16 with a relative error below 2⁻⁹·⁹.
    exp2_approximate_f16(x: u16 => reg16) -> u16 => reg16 = "ex2.approx.f16 {}, {};";
    /// `2^x` of an f16 pair with a relative error below 2⁻⁹·⁹.
    exp2_approximate_f16x2(x: u32 => reg32) -> u32 => reg32 = "ex2.approx.f16x2 {}, {};";
    /// `tanh(x)` of an f16 with an absolute error below 2⁻¹⁰·⁹⁸⁷.
    tanh_approximate_f16(x: u16 => reg16) -> u16 => reg16 = "tanh.approx.f16 {}, {};";
    /// `tanh(x)` of an f16 pair with an absolute error below 2⁻¹⁰·⁹⁸⁷.
    tanh_approximate_f16x2(x: u32 => reg32) -> u32 => reg32 = "tanh.approx.f16x2 {}, {};";
}

// bf16 has instructions of its own from `sm_90` on.
#[cfg(target_feature = "sm_90")]
instructions! {
    /// `2^x` of a bf16 with a relative error below 2⁻⁷; subnormal operands and results become zero.
    exp2_approximate_bf16(x: u16 => reg16) -> u16 => reg16 = "ex2.approx.ftz.bf16 {}, {};";
    /// `2^x` of a bf16 pair with a relative error below 2⁻⁷; subnormal operands and results become zero.
    exp2_approximate_bf16x2(x: u32 => reg32) -> u32 => reg32 = "ex2.approx.ftz.bf16x2 {}, {};";
    /// `tanh(x)` of a bf16 with an absolute error below 2⁻⁸.
    tanh_approximate_bf16(x: u16 => reg16) -> u16 => reg16 = "tanh.approx.bf16 {}, {};";
    /// `tanh(x)` of a bf16 pair with an absolute error below 2⁻⁸.
    tanh_approximate_bf16x2(x: u32 => reg32) -> u32 => reg32 = "tanh.approx.bf16x2 {}, {};";
}

/// Before `sm_90` bf16 goes through f32.
#[cfg(not(target_feature = "sm_90"))]
mod through_f32 {
    use super::*;

    /// `2^x` of a bf16; subnormal operands and results become zero.
    #[inline(always)]
    pub fn exp2_approximate_bf16(x: u16) -> u16 {
        f32_to_bf16(exp2_approximate_flush_f32(bf16_to_f32(x)))
    }

    /// `2^x` of a bf16 pair; subnormal operands and results become zero.
    #[inline(always)]
    pub fn exp2_approximate_bf16x2(x: u32) -> u32 {
        let [low, high] = [x as u16, (x >> 16) as u16].map(|x| exp2_approximate_flush_f32(bf16_to_f32(x)));
        f32_pair_to_bf16x2(high, low)
    }

    /// `tanh(x)` of a bf16.
    #[inline(always)]
    pub fn tanh_approximate_bf16(x: u16) -> u16 {
        f32_to_bf16(tanh_approximate_f32(bf16_to_f32(x)))
    }

    /// `tanh(x)` of a bf16 pair.
    #[inline(always)]
    pub fn tanh_approximate_bf16x2(x: u32) -> u32 {
        let [low, high] = [x as u16, (x >> 16) as u16].map(|x| tanh_approximate_f32(bf16_to_f32(x)));
        f32_pair_to_bf16x2(high, low)
    }
}
#[cfg(not(target_feature = "sm_90"))]
pub use through_f32::*;

instructions! {
    /// An f16 as an f32, exactly.
    f16_to_f32(x: u16 => reg16) -> f32 => reg32 = "cvt.f32.f16 {}, {};";
    /// An f16 as an f64, exactly.
    f16_to_f64(x: u16 => reg16) -> f64 => reg64 = "cvt.f64.f16 {}, {};";
    /// The f16 nearest to `x`, ties to even.
    f32_to_f16(x: f32 => reg32) -> u16 => reg16 = "cvt.rn.f16.f32 {}, {};";
    /// The f16 nearest to `x`, ties to even, in one rounding.
    f64_to_f16(x: f64 => reg64) -> u16 => reg16 = "cvt.rn.f16.f64 {}, {};";
    /// The bf16 nearest to `x`, ties to even.
    f32_to_bf16(x: f32 => reg32) -> u16 => reg16 = "cvt.rn.bf16.f32 {}, {};";
    /// Two f32 as a pair of f16, ties to even. The instruction takes the high half first, so `high` comes
    /// first here too.
    f32_pair_to_f16x2(high: f32 => reg32, low: f32 => reg32) -> u32 => reg32 = "cvt.rn.f16x2.f32 {}, {}, {};";
    /// Two f32 as a pair of bf16, ties to even, `high` first.
    f32_pair_to_bf16x2(high: f32 => reg32, low: f32 => reg32) -> u32 => reg32 =
        "cvt.rn.bf16x2.f32 {}, {}, {};";

    /// Truncates; saturates at the limits of the type; NaN becomes 0. The meaning of Rust's `as`, in one
    /// instruction instead of six.
    f32_to_i32(x: f32 => reg32) -> i32 => reg32 = "cvt.rzi.s32.f32 {}, {};";
    /// Truncates; saturates at the limits of the type; NaN becomes 0.
    f32_to_u32(x: f32 => reg32) -> u32 => reg32 = "cvt.rzi.u32.f32 {}, {};";
}

/// An f32's upper half is a bf16: a bf16 as an f32, exactly.
#[inline(always)]
pub fn bf16_to_f32(x: u16) -> f32 {
    f32::from_bits((x as u32) << 16)
}

/// The bf16 nearest to `x`, ties to even, in one rounding: through an f32 rounded to odd, whose lowest bit
/// records whether anything was cut off (S. Boldo, G. Melquiond, "When double rounding is odd", 2005).
#[inline(always)]
pub fn f64_to_bf16(x: f64) -> u16 {
    let truncated = f64_to_f32_toward_zero(x);
    let inexact = truncated as f64 != x && !x.is_nan();
    f32_to_bf16(f32::from_bits(truncated.to_bits() | inexact as u32))
}

instructions! {
    /// The f32 next to `x` on the side of zero.
    f64_to_f32_toward_zero(x: f64 => reg64) -> f32 => reg32 = "cvt.rz.f32.f64 {}, {};";
}

/// Truncates; saturates at the limits of the type; NaN becomes 0.
#[inline(always)]
pub fn f32_to_i64(x: f32) -> i64 {
    x as i64
}

/// Truncates; saturates at the limits of the type; NaN becomes 0.
#[inline(always)]
pub fn f32_to_u64(x: f32) -> u64 {
    x as u64
}

/// Truncates; saturates at the limits of the type; NaN becomes 0.
#[inline(always)]
pub fn f64_to_i32(x: f64) -> i32 {
    x as i32
}

/// Truncates; saturates at the limits of the type; NaN becomes 0.
#[inline(always)]
pub fn f64_to_u32(x: f64) -> u32 {
    x as u32
}

/// Truncates; saturates at the limits of the type; NaN becomes 0.
#[inline(always)]
pub fn f64_to_i64(x: f64) -> i64 {
    x as i64
}

/// Truncates; saturates at the limits of the type; NaN becomes 0.
#[inline(always)]
pub fn f64_to_u64(x: f64) -> u64 {
    x as u64
}

instructions! {
    /// `a + b` of f16, rounded once.
    add_f16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "add.rn.f16 {}, {}, {};";
    /// `a - b` of f16, rounded once.
    subtract_f16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "sub.rn.f16 {}, {}, {};";
    /// `a * b` of f16, rounded once.
    multiply_f16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "mul.rn.f16 {}, {}, {};";
    /// `a * b + c` of f16, rounded once.
    fma_f16(a: u16 => reg16, b: u16 => reg16, c: u16 => reg16) -> u16 => reg16 = "fma.rn.f16 {}, {}, {}, {};";
    /// The smaller f16; a NaN gives way to a number, and −0 is smaller than +0.
    min_f16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "min.f16 {}, {}, {};";
    /// The larger f16; a NaN gives way to a number, and +0 is larger than −0.
    max_f16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "max.f16 {}, {}, {};";
    /// The smaller f16, or NaN if there is a NaN.
    min_nan_f16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "min.NaN.f16 {}, {}, {};";
    /// The larger f16, or NaN if there is a NaN.
    max_nan_f16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "max.NaN.f16 {}, {}, {};";

    /// `a * b + c` of bf16, rounded once.
    fma_bf16(a: u16 => reg16, b: u16 => reg16, c: u16 => reg16) -> u16 => reg16 =
        "fma.rn.bf16 {}, {}, {}, {};";
    /// The smaller bf16; a NaN gives way to a number, and −0 is smaller than +0.
    min_bf16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "min.bf16 {}, {}, {};";
    /// The larger bf16; a NaN gives way to a number, and +0 is larger than −0.
    max_bf16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "max.bf16 {}, {}, {};";
    /// The smaller bf16, or NaN if there is a NaN.
    min_nan_bf16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "min.NaN.bf16 {}, {}, {};";
    /// The larger bf16, or NaN if there is a NaN.
    max_nan_bf16(a: u16 => reg16, b: u16 => reg16) -> u16 => reg16 = "max.NaN.bf16 {}, {}, {};";
}

instructions! {
    /// `a + b` of two f16 pairs.
    add_f16x2(a: u32 => reg32, b: u32 => reg32) -> u32 => reg32 = "add.rn.f16x2 {}, {}, {};";
    /// `a - b` of two f16 pairs.
    subtract_f16x2(a: u32 => reg32, b: u32 => reg32) -> u32 => reg32 = "sub.rn.f16x2 {}, {}, {};";
    /// `a * b` of two f16 pairs.
    multiply_f16x2(a: u32 => reg32, b: u32 => reg32) -> u32 => reg32 = "mul.rn.f16x2 {}, {}, {};";
    /// `a * b + c` of three f16 pairs.
    fma_f16x2(a: u32 => reg32, b: u32 => reg32, c: u32 => reg32) -> u32 => reg32 =
        "fma.rn.f16x2 {}, {}, {}, {};";
    /// The smaller ones of two f16 pairs; a NaN gives way to a number.
    min_f16x2(a: u32 => reg32, b: u32 => reg32) -> u32 => reg32 = "min.f16x2 {}, {}, {};";
    /// The larger ones of two f16 pairs; a NaN gives way to a number.
    max_f16x2(a: u32 => reg32, b: u32 => reg32) -> u32 => reg32 = "max.f16x2 {}, {}, {};";
    /// `a * b + c` of three bf16 pairs.
    fma_bf16x2(a: u32 => reg32, b: u32 => reg32, c: u32 => reg32) -> u32 => reg32 =
        "fma.rn.bf16x2 {}, {}, {}, {};";
    /// The smaller ones of two bf16 pairs; a NaN gives way to a number.
    min_bf16x2(a: u32 => reg32, b: u32 => reg32) -> u32 => reg32 = "min.bf16x2 {}, {}, {};";
    /// The larger ones of two bf16 pairs; a NaN gives way to a number.
    max_bf16x2(a: u32 => reg32, b: u32 => reg32) -> u32 => reg32 = "max.bf16x2 {}, {}, {};";
}

/// 1, −1 and −0 as bf16. `sm_80` has no other bf16 arithmetic than the fused multiply-add, with which these
/// give the sum, the difference and the product, each rounded once: `a * 1 + b`, `b * -1 + a` and `a * b +
/// -0` (−0 is what leaves a product of −0 as it is).
const BF16_ONE: u16 = 0x3f80;
const BF16_MINUS_ONE: u16 = 0xbf80;
const BF16_MINUS_ZERO: u16 = 0x8000;

/// `a + b` of bf16, rounded once.
#[inline(always)]
pub fn add_bf16(a: u16, b: u16) -> u16 {
    fma_bf16(a, BF16_ONE, b)
}

/// `a - b` of bf16, rounded once.
#[inline(always)]
pub fn subtract_bf16(a: u16, b: u16) -> u16 {
    fma_bf16(b, BF16_MINUS_ONE, a)
}

/// `a * b` of bf16, rounded once.
#[inline(always)]
pub fn multiply_bf16(a: u16, b: u16) -> u16 {
    fma_bf16(a, b, BF16_MINUS_ZERO)
}

/// The same value in both halves of a pair.
const fn pair(x: u16) -> u32 {
    (x as u32) << 16 | x as u32
}

/// `a + b` of two bf16 pairs.
#[inline(always)]
pub fn add_bf16x2(a: u32, b: u32) -> u32 {
    fma_bf16x2(a, pair(BF16_ONE), b)
}

/// `a - b` of two bf16 pairs.
#[inline(always)]
pub fn subtract_bf16x2(a: u32, b: u32) -> u32 {
    fma_bf16x2(b, pair(BF16_MINUS_ONE), a)
}

/// `a * b` of two bf16 pairs.
#[inline(always)]
pub fn multiply_bf16x2(a: u32, b: u32) -> u32 {
    fma_bf16x2(a, b, pair(BF16_MINUS_ZERO))
}
