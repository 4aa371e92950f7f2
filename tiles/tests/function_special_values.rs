//! Special values of the functions that have one algorithm for both back ends are exact: C's Annex F, and limits for the
//! functions that C does not have.

/// Whether two floats are the same to the bit, or both NaN.
macro_rules! assert_same {
    ($value:expr, $expected:expr) => {
        let (value, expected) = ($value, $expected);
        assert!(
            value.to_bits() == expected.to_bits() || (value.is_nan() && expected.is_nan()),
            "{} is {value:e}, not {expected:e}",
            stringify!($value)
        );
    };
}

/// The special values of C's Annex F, and what follows from limits for the functions that C does not have.
macro_rules! special_values {
    ($test:ident, $type:ident, $module:ident, $whole_powers_of_ten:literal) => {
        mod $test {
            use cuda_tiles::math::$module::*;
            const INFINITY: $type = $type::INFINITY;
            const NAN: $type = $type::NAN;
            const TINY: $type = $type::from_bits(1);
            const MAX: $type = $type::MAX;
            use core::$type::consts::{FRAC_PI_2, FRAC_PI_4, PI};

            #[test]
            fn of_one_number() {
                type Function = fn($type) -> $type;
                let all: [Function; 22] = [
                    asin, acos, atan, sinh, cosh, asinh, acosh, atanh, log10, log1p, expm1, exp10, erf, erfc,
                    cbrt, reciprocal, sigmoid, silu, softplus, gelu, gelu_tanh, tanh,
                ];
                for function in all {
                    assert_same!(function(NAN), NAN);
                    assert_same!(function(-NAN), NAN);
                }
                let odd: [Function; 9] = [asin, atan, sinh, asinh, atanh, log1p, expm1, cbrt, tanh];
                for function in odd {
                    assert_same!(function(0.0), 0.0 as $type);
                    assert_same!(function(-0.0), -0.0 as $type);
                }
                // The derivative at zero is one.
                let identities: [Function; 7] = [asin, atan, sinh, asinh, atanh, log1p, expm1];
                for function in identities {
                    for x in [TINY, -TINY, $type::MIN_POSITIVE, -$type::MIN_POSITIVE] {
                        assert_same!(function(x), x);
                    }
                }
                for (x, angle) in
                    [(1.0, FRAC_PI_2), (-1.0, -FRAC_PI_2), (INFINITY, NAN), (-INFINITY, NAN), (MAX, NAN)]
                {
                    assert_same!(asin(x), angle);
                }
                assert_same!(asin((1.0 as $type).next_up()), NAN);
                for (x, angle) in [
                    (1.0, 0.0),
                    (-1.0, PI),
                    (0.0, FRAC_PI_2),
                    (-0.0, FRAC_PI_2),
                    (TINY, FRAC_PI_2),
                    (INFINITY, NAN),
                    (-INFINITY, NAN),
                    (2.0, NAN),
                    (-2.0, NAN),
                ] {
                    assert_same!(acos(x), angle);
                }
                for (x, angle) in [(INFINITY, FRAC_PI_2), (MAX, FRAC_PI_2), (1.0, FRAC_PI_4)] {
                    assert_same!(atan(x), angle);
                    assert_same!(atan(-x), -angle);
                }
                for x in [INFINITY, MAX] {
                    assert_same!(sinh(x), INFINITY);
                    assert_same!(sinh(-x), -INFINITY);
                    assert_same!(cosh(x), INFINITY);
                    assert_same!(cosh(-x), INFINITY);
                }
                assert_same!(cosh(0.0), 1.0 as $type);
                assert_same!(cosh(-TINY), 1.0 as $type);
                assert_same!(asinh(INFINITY), INFINITY);
                assert_same!(asinh(-INFINITY), -INFINITY);
                assert!(asinh(MAX).is_finite() && acosh(MAX).is_finite());
                for (x, value) in [
                    (1.0, 0.0),
                    (INFINITY, INFINITY),
                    (-INFINITY, NAN),
                    (0.5, NAN),
                    (-1.0, NAN),
                    (-MAX, NAN),
                    (0.0, NAN),
                ] {
                    assert_same!(acosh(x), value);
                }
                for (x, value) in [
                    (1.0, INFINITY),
                    (-1.0, -INFINITY),
                    (1.5, NAN),
                    (-1.5, NAN),
                    (INFINITY, NAN),
                    (-INFINITY, NAN),
                ] {
                    assert_same!(atanh(x), value);
                }
                for (x, value) in [
                    (0.0, -INFINITY),
                    (-0.0, -INFINITY),
                    (1.0, 0.0),
                    (INFINITY, INFINITY),
                    (-INFINITY, NAN),
                    (-1.0, NAN),
                    (-TINY, NAN),
                ] {
                    assert_same!(log10(x), value);
                }
                for (x, value) in
                    [(-1.0, -INFINITY), (INFINITY, INFINITY), (-INFINITY, NAN), (-1.5, NAN), (-MAX, NAN)]
                {
                    assert_same!(log1p(x), value);
                }
                assert!(log1p(MAX).is_finite());
                for (x, value) in [(INFINITY, INFINITY), (MAX, INFINITY), (-INFINITY, -1.0), (-MAX, -1.0)] {
                    assert_same!(expm1(x), value);
                }
                for (x, value) in [
                    (0.0, 1.0),
                    (-0.0, 1.0),
                    (TINY, 1.0),
                    (INFINITY, INFINITY),
                    (-INFINITY, 0.0),
                    (MAX, INFINITY),
                    (-MAX, 0.0),
                ] {
                    assert_same!(exp10(x), value);
                }
                let mut power: $type = 1.0;
                for k in 0..=$whole_powers_of_ten {
                    assert_same!(exp10(k as $type), power);
                    assert_same!(log10(power), k as $type);
                    power *= 10.0;
                }
                for (x, value) in [(0.0, 0.0), (INFINITY, 1.0), (MAX, 1.0), (7.0, 1.0)] {
                    assert_same!(erf(x), value as $type);
                    assert_same!(erf(-x), -value as $type);
                    assert_same!(erfc(-x), (1.0 + value) as $type);
                }
                assert_same!(erfc(INFINITY), 0.0 as $type);
                assert_same!(erfc(MAX), 0.0 as $type);
                for x in [8.0, 27.0, 1000.0] {
                    let root = (x as f64).cbrt().round() as $type;
                    assert_same!(cbrt(x), root);
                    assert_same!(cbrt(-x), -root);
                }
                assert_same!(cbrt(INFINITY), INFINITY);
                assert_same!(cbrt(-INFINITY), -INFINITY);
                for (x, value) in
                    [(INFINITY, 0.0), (-INFINITY, -0.0), (0.0, INFINITY), (-0.0, -INFINITY), (4.0, 0.25)]
                {
                    assert_same!(reciprocal(x), value);
                }
                for (x, value) in [(INFINITY, 1.0), (MAX, 1.0), (0.0, 0.5), (-INFINITY, 0.0), (-MAX, 0.0)] {
                    assert_same!(sigmoid(x), value as $type);
                }
                let units: [Function; 3] = [silu, gelu, gelu_tanh];
                for unit in units {
                    for (x, value) in [
                        (INFINITY, INFINITY),
                        (MAX, MAX),
                        (0.0, 0.0),
                        (-0.0, -0.0),
                        (-INFINITY, -0.0),
                        (-MAX, -0.0),
                    ] {
                        assert_same!(unit(x), value);
                    }
                }
                for (x, value) in [(INFINITY, INFINITY), (MAX, MAX), (-INFINITY, 0.0), (-MAX, 0.0)] {
                    assert_same!(softplus(x), value);
                }
            }

            #[test]
            fn of_the_angle_of_a_point() {
                for (y, x, angle) in [
                    (0.0, 0.0, 0.0),
                    (0.0, -0.0, PI),
                    (0.0, -1.0, PI),
                    (0.0, 1.0, 0.0),
                    (1.0, 0.0, FRAC_PI_2),
                    (1.0, -0.0, FRAC_PI_2),
                    (TINY, 0.0, FRAC_PI_2),
                    (1.0, -INFINITY, PI),
                    (1.0, INFINITY, 0.0),
                    (INFINITY, 1.0, FRAC_PI_2),
                    (INFINITY, -1.0, FRAC_PI_2),
                    (INFINITY, INFINITY, FRAC_PI_4),
                    (INFINITY, -INFINITY, 3.0 * FRAC_PI_4),
                    (0.0, INFINITY, 0.0),
                    (0.0, -INFINITY, PI),
                    (TINY, 1.0, TINY),
                    (TINY, MAX, 0.0),
                    (MAX, TINY, FRAC_PI_2),
                    (2.0, 2.0, FRAC_PI_4),
                ] {
                    assert_same!(atan2(y, x), angle);
                    assert_same!(atan2(-y, x), -angle);
                }
                for x in [NAN, 0.0, -1.0, INFINITY, -INFINITY] {
                    assert_same!(atan2(NAN, x), NAN);
                    assert_same!(atan2(x, NAN), NAN);
                }
            }

            #[test]
            fn of_the_length() {
                for (x, y, length) in [
                    (3.0, 4.0, 5.0),
                    (0.0, -0.0, 0.0),
                    (-0.0, -0.0, 0.0),
                    (INFINITY, NAN, INFINITY),
                    (-INFINITY, NAN, INFINITY),
                    (INFINITY, 1.0, INFINITY),
                    (NAN, 1.0, NAN),
                    (NAN, 0.0, NAN),
                    (MAX, 0.0, MAX),
                    (TINY, 0.0, TINY),
                    (MAX, MAX, INFINITY),
                    (-3.0 * TINY, 4.0 * TINY, 5.0 * TINY),
                    (MAX, TINY, MAX),
                ] {
                    assert_same!(hypot(x, y), length);
                    assert_same!(hypot(y, x), length);
                }
            }

            /// C's Annex F.9.4.4, line by line.
            #[test]
            fn of_powers() {
                let most_odd = (1u64 << ($type::MANTISSA_DIGITS - 1)) as $type + 1.0;
                for odd in [1.0, 3.0, 5.0, most_odd] {
                    assert_same!(pow(0.0, -odd), INFINITY);
                    assert_same!(pow(-0.0, -odd), -INFINITY);
                    assert_same!(pow(0.0, odd), 0.0 as $type);
                    assert_same!(pow(-0.0, odd), -0.0 as $type);
                    assert_same!(pow(-INFINITY, -odd), -0.0 as $type);
                    assert_same!(pow(-INFINITY, odd), -INFINITY);
                    assert_same!(pow(-1.0, odd), -1.0 as $type);
                }
                for other in [2.0, 4.0, 0.5, 1.5, TINY, MAX] {
                    for zero in [0.0, -0.0] {
                        assert_same!(pow(zero, -other), INFINITY);
                        assert_same!(pow(zero, other), 0.0 as $type);
                    }
                    assert_same!(pow(-INFINITY, -other), 0.0 as $type);
                    assert_same!(pow(-INFINITY, other), INFINITY);
                }
                for zero in [0.0, -0.0] {
                    assert_same!(pow(zero, -INFINITY), INFINITY);
                    assert_same!(pow(zero, INFINITY), 0.0 as $type);
                }
                assert_same!(pow(-1.0, INFINITY), 1.0 as $type);
                assert_same!(pow(-1.0, -INFINITY), 1.0 as $type);
                for any in [0.0, -0.0, 1.0, -2.5, TINY, MAX, INFINITY, -INFINITY, NAN] {
                    assert_same!(pow(1.0, any), 1.0 as $type);
                    assert_same!(pow(any, 0.0), 1.0 as $type);
                    assert_same!(pow(any, -0.0), 1.0 as $type);
                    assert_same!(powi(any, 0), 1.0 as $type);
                }
                for x in [-1.0, -2.5, -TINY, -MAX] {
                    for fraction in [0.5, -0.5, 1.5, -TINY] {
                        assert_same!(pow(x, fraction), NAN);
                    }
                }
                for less in [0.5, -0.5, TINY, -0.999] {
                    assert_same!(pow(less, -INFINITY), INFINITY);
                    assert_same!(pow(less, INFINITY), 0.0 as $type);
                }
                for more in [2.0, -2.0, MAX, -1.001, INFINITY, -INFINITY] {
                    assert_same!(pow(more, -INFINITY), 0.0 as $type);
                    assert_same!(pow(more, INFINITY), INFINITY);
                }
                for positive in [0.5, 1.0, 2.0, TINY, MAX] {
                    assert_same!(pow(INFINITY, -positive), 0.0 as $type);
                    assert_same!(pow(INFINITY, positive), INFINITY);
                }
                for x in [0.5, 2.0, -1.0, -MAX, INFINITY] {
                    assert_same!(pow(NAN, x), NAN);
                    assert_same!(pow(x, NAN), NAN);
                }
                // Overflow and underflow keep the sign; whole powers of small numbers are exact.
                assert_same!(pow(-MAX, 3.0), -INFINITY);
                assert_same!(pow(-MAX, -3.0), -0.0 as $type);
                assert_same!(
                    pow(2.0, $type::MAX_EXP as $type - 1.0),
                    (2.0 as $type).powi($type::MAX_EXP - 1)
                );
                assert_same!(pow(2.0, $type::MIN_EXP as $type - $type::MANTISSA_DIGITS as $type), TINY);
                for base in 2..=9 {
                    for exponent in 1..=7 {
                        let power = (base as i64).pow(exponent) as $type;
                        assert_same!(pow(base as $type, exponent as $type), power);
                        assert_same!(
                            pow(-(base as $type), exponent as $type),
                            if exponent % 2 == 1 { -power } else { power }
                        );
                        assert_same!(powi(base as $type, exponent as i32), power);
                    }
                }
            }

            /// Whole powers are powers, also for exponents that the type has not.
            #[test]
            fn of_whole_powers() {
                let base = (1.0 as $type).next_up();
                for n in [
                    i32::MIN,
                    i32::MIN + 1,
                    -(1 << 24) - 1,
                    -2,
                    5,
                    6,
                    65_537,
                    (1 << 24) + 1,
                    i32::MAX - 1,
                    i32::MAX,
                ] {
                    let odd = n % 2 != 0;
                    assert_same!(powi(-1.0, n), if odd { -1.0 } else { 1.0 as $type });
                    assert_same!(
                        powi(-0.0, n),
                        match (n < 0, odd) {
                            (true, true) => -INFINITY,
                            (true, false) => INFINITY,
                            (false, true) => -0.0,
                            (false, false) => 0.0 as $type,
                        }
                    );
                    assert_same!(powi(NAN, n), NAN);
                    assert_same!(powi(-base, n), if odd { -powi(base, n) } else { powi(base, n) });
                    let exact = (n as f64 * (base as f64 - 1.0).ln_1p()).exp();
                    if exact < $type::MAX as f64 && exact > $type::MIN_POSITIVE as f64 {
                        assert!(
                            ((powi(base, n) as f64 - exact) / exact).abs() < $type::EPSILON as f64,
                            "{n}"
                        );
                    }
                }
                for (n, x) in [(1, -7.5), (2, 56.25), (3, -421.875), (4, 3164.0625), (-1, -1.0 / 7.5)] {
                    assert_same!(powi(-7.5, n), x as $type);
                }
            }
        }
    };
}

special_values!(special_values_of_f32, f32, single, 10);
special_values!(special_values_of_f64, f64, double, 22);
