//! Exponentials of f32 in f64, for CPUs: without branches or fused multiply-adds, so that loops become vector code.

/// `2^x` for `x` in f64, rounded to f32 within 0.51 ulp, by one rounding also of subnormal results; exact for integers.
///
/// With `n` the nearest integer, `2^(x - n)` is a polynomial, least squares of the relative error at Chebyshev nodes (2⁻³⁴·⁵),
/// and `n` goes into the exponent field. Estrin's order of evaluation keeps several of its multiplications in flight.
#[inline_on_device]
fn power_of_two(x: f64) -> f32 {
    /// Adding this rounds to an integer and leaves it in the low bits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    /// Beyond this, in both directions, the result has long left the range of f32.
    const LIMIT: f64 = 160.0;
    const BIAS: u64 = 1023;
    let x = if x > LIMIT { LIMIT } else { x };
    let x = if x < -LIMIT { -LIMIT } else { x };
    let shifted = x + SHIFT;
    let r = x - (shifted - SHIFT);
    let square = r * r;
    let low = 0.999_999_999_961_642_6
        + 0.693_147_180_740_262_5 * r
        + (0.240_226_511_992_306_16 + 0.055_504_103_162_069_045 * r) * square;
    let high = 0.009_618_027_053_955_043
        + 0.001_333_395_165_037_82 * r
        + (0.000_154_693_672_161_711_05 + 1.519_546_331_035_835_1e-5 * r) * square;
    let scale = f64::from_bits(shifted.to_bits().wrapping_add(BIAS) << 52);
    ((low + high * (square * square)) * scale) as f32
}

/// `e^x`, within 0.51 ulp.
#[inline_on_device]
pub(super) fn exp(x: f32) -> f32 {
    power_of_two(f64::from(x) * core::f64::consts::LOG2_E)
}

/// `2^x`, within 0.51 ulp.
#[inline_on_device]
pub(super) fn exp2(x: f32) -> f32 {
    power_of_two(f64::from(x))
}
