//! Remainders of floats, exact, with the sign of the dividend.
//!
//! Long division, one bit of the quotient a step: as many steps as the exponents differ. The same code serves both back
//! ends, because `libm::fmod` checks for what cannot happen, which on the device would be calls.

use super::{double as math_double, single as math_single};

macro_rules! remainders {
    ($($(#[$attribute:meta])* $name:ident: $type:ident, $bits:ident, $digits:literal, $infinity:literal;)*) => { $(
        $(#[$attribute])*
        #[inline_on_device]
        pub(crate) fn $name(dividend: $type, divisor: $type) -> $type {
            const HIGHEST: $bits = 1 << ($digits - 1);
            const SIGN: $bits = 1 << ($bits::BITS - 1);
            let sign = dividend.to_bits() & SIGN;
            let (left, right) = (dividend.to_bits() & !SIGN, divisor.to_bits() & !SIGN);
            if left >= $infinity || right > $infinity || right == 0 {
                return $type::NAN;
            }
            if left < right {
                return dividend;
            }
            // A significand with its highest bit set, and the exponent that goes with it; a subnormal's may be negative.
            let split = |magnitude: $bits| {
                let exponent = (magnitude >> ($digits - 1)) as i32;
                if exponent > 0 {
                    return (magnitude & (HIGHEST - 1) | HIGHEST, exponent);
                }
                let missing = magnitude.leading_zeros() - ($bits::BITS - $digits);
                (magnitude << missing, 1 - missing as i32)
            };
            let ((mut rest, exponent), (divisor, least)) = (split(left), split(right));
            let mut steps = exponent - least;
            loop {
                rest = if rest >= divisor { rest - divisor } else { rest };
                if steps == 0 {
                    break;
                }
                rest <<= 1;
                steps -= 1;
            }
            if rest == 0 {
                return $type::from_bits(sign);
            }
            let missing = rest.leading_zeros() - ($bits::BITS - $digits);
            let exponent = least - missing as i32;
            let significand = rest << missing;
            $type::from_bits(sign | if exponent > 0 {
                (exponent as $bits) << ($digits - 1) | (significand & (HIGHEST - 1))
            } else {
                // The rest is a multiple of the divisor's lowest bit, so that the shift loses nothing.
                significand >> (1 - exponent)
            })
        }
    )* };
}

/// The whole quotient that goes with a remainder, as CPython and NumPy compute it: `(dividend - remainder) / divisor` is
/// whole but for two roundings, hence exact while these stay below one half.
macro_rules! quotients {
    ($($name:ident: $type:ident, $remainder:ident, $module:ident;)*) => { $(
        /// The quotient rounded to a whole number and its remainder. `floored` rounds down, and the remainder has the sign of
        /// the divisor; else the quotient is cut off, and the remainder has the sign of the dividend.
        #[inline_on_device]
        pub(crate) fn $name(dividend: $type, divisor: $type, floored: bool) -> ($type, $type) {
            let cut = $remainder(dividend, divisor);
            let opposite = cut.is_sign_negative() != divisor.is_sign_negative();
            let (rest, below) = match (floored && opposite, cut == 0.0) {
                (false, _) => (cut, 0.0),
                (true, true) => (-cut, 0.0),
                (true, false) => (cut + divisor, 1.0),
            };
            // A zero divisor leaves NaN, and its quotient is the infinity that division gives.
            let ratio = dividend / divisor;
            let whole = $module::round_even((dividend - cut) / divisor - below);
            let quotient = if divisor == 0.0 {
                ratio
            } else if whole == 0.0 {
                if ratio.is_sign_negative() { -0.0 } else { 0.0 }
            } else {
                whole
            };
            (quotient, rest)
        }
    )* };
}
quotients! {
    single_divmod: f32, single, math_single;
    double_divmod: f64, double, math_double;
}

remainders! {
    /// `dividend % divisor`.
    single: f32, u32, 24, 0x7f80_0000;
    /// `dividend % divisor`.
    double: f64, u64, 53, 0x7ff0_0000_0000_0000;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Odd multipliers walk through all bits.
    fn walk() -> impl Iterator<Item = (u64, u64)> {
        let mut state = 1u64;
        core::iter::repeat_with(move || {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            (state, state.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        })
    }

    #[test]
    fn remainders_are_those_of_the_standard_operator() {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        let special =
            [0.0, -0.0, 1.0, -3.0, 0.1, f64::INFINITY, f64::NAN, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e-310];
        let pairs = special.iter().flat_map(|&a| special.iter().map(move |&b| (a, b)));
        let random = walk().take(20_000).map(|(a, b)| (f64::from_bits(a), f64::from_bits(b)));
        for (a, b) in pairs.chain(random) {
            assert!(same(double(a, b), a % b), "{a:e} % {b:e}: {:e}", double(a, b));
            let (c, d) = (f32::from_bits(a.to_bits() as u32), f32::from_bits(b.to_bits() as u32));
            for (a, b) in [(a as f32, b as f32), (c, d)] {
                assert!(same(single(a, b).into(), (a % b).into()), "{a:e} % {b:e}: {:e}", single(a, b));
            }
        }
    }
}
