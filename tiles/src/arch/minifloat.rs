//! Floating-point formats of eight bits and fewer, by integer arithmetic and exact sums and products of `f32`.
//!
//! What machines without instructions for these formats execute. Nothing here branches, so that on a GPU a
//! conversion stays in registers; everything is `const`, so that it serves constants too. The encodings are those of the Open
//! Compute Project (OCP 8-bit Floating Point Specification 1.0; Microscaling Formats Specification 1.0) and, for
//! UE5M3, of NVIDIA's `cuda_fp8.h`.

/// A format of a sign (perhaps), an exponent and a mantissa, with subnormal numbers.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bits of the mantissa.
    mantissa: u32,
    /// What is added to the exponent of a number.
    bias: u32,
    /// The code of the greatest number.
    greatest: u32,
    /// The least code, of those without a sign, that is no number; all further ones are NaNs.
    special: u32,
    /// Whether that code is infinity.
    has_infinity: bool,
    /// What a NaN becomes.
    nan: u32,
    /// The bit of the sign; 0 where there is none.
    sign: u32,
}

/// FP8 E4M3: no infinity, one NaN of each sign; up to 448. (`e4m3fn`)
pub const E4M3: Format = Format {
    mantissa: 3,
    bias: 7,
    greatest: 0x7e,
    special: 0x7f,
    has_infinity: false,
    nan: 0x7f,
    sign: 0x80,
};
/// FP8 E5M2: infinities and NaNs like IEEE 754; up to 57344.
pub const E5M2: Format = Format {
    mantissa: 2,
    bias: 15,
    greatest: 0x7b,
    special: 0x7c,
    has_infinity: true,
    nan: 0x7f,
    sign: 0x80,
};
/// FP8 UE5M3: no sign, no infinity, one NaN; up to 114688.
pub const UE5M3: Format =
    Format { mantissa: 3, bias: 15, greatest: 0xfe, special: 0xff, has_infinity: false, nan: 0xff, sign: 0 };
/// FP4 E2M1: neither infinity nor NaN; up to 6. A NaN becomes 6.
pub const E2M1: Format =
    Format { mantissa: 1, bias: 1, greatest: 0x7, special: 0x8, has_infinity: false, nan: 0x7, sign: 0x8 };

/// The bits of an infinite `f32`.
const INFINITY: u32 = 0x7f80_0000;
/// The NaN that PTX instructions return for `f32`.
const CANONICAL_NAN: u32 = 0x7fff_ffff;

impl Format {
    /// The code of the number nearest to `x`, ties to even. Beyond the greatest number it is the greatest; a format
    /// without a sign drops that of `x`.
    #[inline_on_device]
    pub const fn encode(self, x: f32) -> u8 {
        self.encode_up_to(self.greatest, x)
    }

    /// The same, but what rounds to more than the greatest number is infinity, or where there is none NaN.
    #[inline_on_device]
    pub const fn encode_unsaturated(self, x: f32) -> u8 {
        self.encode_up_to(self.special, x)
    }

    /// The code of the number nearest to `x`, but none above `greatest`.
    #[inline_on_device]
    const fn encode_up_to(self, greatest: u32, x: f32) -> u8 {
        let magnitude = x.to_bits() & 0x7fff_ffff;
        let shift = 23 - self.mantissa;
        let even = (magnitude >> shift) & 1;
        let rounded = (magnitude + (1 << (shift - 1)) - 1 + even) >> shift;
        let normal = rounded.wrapping_sub((127 - self.bias) << self.mantissa);
        // The sum with a number whose neighbours are as far apart as the subnormal ones rounds to one of these.
        let ruler = (127 + 24 - self.bias - self.mantissa) << 23;
        let subnormal = (f32::from_bits(magnitude) + f32::from_bits(ruler)).to_bits().wrapping_sub(ruler);
        let code = if magnitude < (128 - self.bias) << 23 { subnormal } else { normal };
        let code = if code > greatest { greatest } else { code };
        let sign = if x.to_bits() >> 31 == 0 { 0 } else { self.sign };
        (if magnitude > INFINITY { self.nan } else { code | sign }) as u8
    }

    /// The number with this code, exactly.
    #[inline_on_device]
    pub const fn decode(self, code: u8) -> f32 {
        let code = code as u32;
        let magnitude = code & if self.sign == 0 { 0xff } else { self.sign - 1 };
        let scale = f32::from_bits((127 + 127 - self.bias) << 23);
        // With the exponent of the format `f32` has a subnormal where the format has one.
        let number = (f32::from_bits(magnitude << (23 - self.mantissa)) * scale).to_bits();
        let special = if self.has_infinity && magnitude == self.special { INFINITY } else { CANONICAL_NAN };
        let bits = if magnitude >= self.special { special } else { number };
        f32::from_bits(if code & self.sign == 0 { bits } else { bits | 1 << 31 })
    }
}

/// The least code of E8M0 whose number is not below `|x|`; at most that of 2^127. NaN has code 255.
#[inline_on_device]
pub const fn encode_e8m0_up(x: f32) -> u8 {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    // 2^-127, of code 0, is subnormal as `f32`.
    let code = if magnitude <= 1 << 22 { 0 } else { (magnitude + (1 << 23) - 1) >> 23 };
    let code = if code > 254 { 254 } else { code };
    (if magnitude > INFINITY { 255 } else { code }) as u8
}

/// The greatest code of E8M0 whose number is not above `|x|`, at least that of 2^-127. NaN has code 255.
#[inline_on_device]
pub const fn encode_e8m0_down(x: f32) -> u8 {
    let magnitude = x.to_bits() & 0x7fff_ffff;
    let code = magnitude >> 23;
    let code = if code > 254 { 254 } else { code };
    (if magnitude > INFINITY { 255 } else { code }) as u8
}

/// The power of two with this code of E8M0, exactly.
#[inline_on_device]
pub const fn decode_e8m0(code: u8) -> f32 {
    f32::from_bits(match code {
        0 => 1 << 22,
        255 => CANONICAL_NAN,
        code => (code as u32) << 23,
    })
}

/// The bits of the TF32 nearest to `x`, ties to even.
#[inline_on_device]
pub const fn encode_tf32(x: f32) -> u32 {
    let bits = x.to_bits();
    keep_nan(bits, bits.wrapping_add(0xfff + ((bits >> 13) & 1)))
}

/// The bits of the TF32 nearest to `x`, ties away from zero.
#[inline_on_device]
pub const fn encode_tf32_ties_away(x: f32) -> u32 {
    keep_nan(x.to_bits(), x.to_bits().wrapping_add(0x1000))
}

/// The bits of the TF32 next to `x` on the side of zero.
#[inline_on_device]
pub const fn encode_tf32_toward_zero(x: f32) -> u32 {
    keep_nan(x.to_bits(), x.to_bits())
}

/// The upper 19 bits of `rounded`, unless `bits` are those of a NaN.
#[inline_on_device]
const fn keep_nan(bits: u32, rounded: u32) -> u32 {
    (if bits & 0x7fff_ffff > INFINITY { CANONICAL_NAN } else { rounded }) & !0x1fff
}

/// The bits of the bf16 next to `x` on the side of zero.
#[inline_on_device]
pub const fn encode_bf16_toward_zero(x: f32) -> u16 {
    let bits = x.to_bits();
    (if bits & 0x7fff_ffff > INFINITY { CANONICAL_NAN } else { bits } >> 16) as u16
}

/// FP8 in pairs: one integer with the first value in its low half. Those of `f16` are the back ends', as `f16` is.
pub mod pairs {
    use super::{E4M3, E5M2, Format};

    #[inline_on_device]
    fn encode(format: Format, high: f32, low: f32) -> u16 {
        u16::from(format.encode(high)) << 8 | u16::from(format.encode(low))
    }

    /// Two f32 as a pair of E4M3, ties to even, saturated to the greatest number, `high` first.
    #[inline_on_device]
    pub fn f32_pair_to_e4m3x2(high: f32, low: f32) -> u16 {
        encode(E4M3, high, low)
    }

    /// Two f32 as a pair of E5M2, ties to even, saturated to the greatest number, `high` first.
    #[inline_on_device]
    pub fn f32_pair_to_e5m2x2(high: f32, low: f32) -> u16 {
        encode(E5M2, high, low)
    }

    /// A pair of E4M3 as f32, the low one first, exactly.
    #[inline_on_device]
    pub fn e4m3x2_to_f32_pair(pair: u16) -> [f32; 2] {
        pair.to_le_bytes().map(|code| E4M3.decode(code))
    }

    /// A pair of E5M2 as a pair of f16, exactly: their upper bytes.
    #[inline_on_device]
    pub fn e5m2x2_to_f16x2(pair: u16) -> u32 {
        u32::from(pair & 0xff) << 8 | u32::from(pair & 0xff00) << 16
    }
}
