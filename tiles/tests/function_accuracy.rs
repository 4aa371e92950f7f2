//! The functions that have one algorithm for both back ends keep the error bounds that they state: f32 over sweeps of all
//! its numbers against f64, f64 over spread operands against references of about 100 bits. Special values are exact.

mod wide;

use cuda_tiles::math::{double, single};
use cuda_tiles::prelude::{Cast, Float, bf16, f16};
use wide::functions::{self as reference, Scaled};
use wide::{Wide, Worst, error_f32, error_f64, magnitudes, operands};

/// Every 4099th bit pattern (a prime: all exponents, both signs, all kinds of significands), and every 97th of those with
/// magnitudes from 2⁻⁴ to 2⁷, where the functions bend.
fn sweep(name: &str, bound: f64, function: fn(f32) -> f32, reference: impl Fn(f64) -> f64) {
    let mut worst = Worst::new(0f32);
    let mut check = |bits: u32| {
        let x = f32::from_bits(bits);
        worst.record(error_f32(function(x), reference(f64::from(x))), x);
    };
    (0..=u32::MAX).step_by(4099).for_each(&mut check);
    let (low, high) = (0.0625f32.to_bits(), 128f32.to_bits());
    for sign in [0, 0x8000_0000] {
        (low..high).step_by(97).for_each(|bits| check(bits | sign));
    }
    worst.assert_within(bound, &format!("single::{name}"));
}

/// The reference in f64, exact enough for f32.
mod wider {
    pub(super) fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }
    pub(super) fn silu(x: f64) -> f64 {
        if x < -700.0 { -0.0 } else { x / (1.0 + (-x).exp()) }
    }
    pub(super) fn gelu(x: f64) -> f64 {
        let tail = libm::erfc(x.abs() * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
        if x < -50.0 {
            -0.0
        } else if x < 0.0 {
            x * tail
        } else {
            x * (1.0 - tail)
        }
    }
    pub(super) fn gelu_tanh(x: f64) -> f64 {
        let w = (8.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
        if w < -700.0 { -0.0 } else { x / (1.0 + (-w).exp()) }
    }
    pub(super) fn softplus(x: f64) -> f64 {
        x.max(0.0) + (-x.abs()).exp().ln_1p()
    }
}

#[test]
fn f32_functions_within_the_stated_bound() {
    sweep("asin", 2.2, single::asin, f64::asin);
    sweep("acos", 1.2, single::acos, f64::acos);
    sweep("atan", 1.5, single::atan, f64::atan);
    sweep("sinh", 1.8, single::sinh, f64::sinh);
    sweep("cosh", 1.2, single::cosh, f64::cosh);
    sweep("asinh", 2.0, single::asinh, libm::asinh);
    sweep("acosh", 2.1, single::acosh, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) });
    sweep("atanh", 2.2, single::atanh, libm::atanh);
    sweep("log10", 0.6, single::log10, f64::log10);
    sweep("log1p", 1.4, single::log1p, f64::ln_1p);
    sweep("expm1", 1.2, single::expm1, f64::exp_m1);
    sweep("exp10", 1.0, single::exp10, libm::exp10);
    sweep("erf", 1.1, single::erf, libm::erf);
    sweep("erfc", 4.0, single::erfc, libm::erfc);
    sweep("cbrt", 0.6, single::cbrt, f64::cbrt);
    sweep("sigmoid", 2.5, single::sigmoid, wider::sigmoid);
    sweep("silu", 3.2, single::silu, wider::silu);
    sweep("softplus", 1.8, single::softplus, wider::softplus);
    sweep("gelu", 5.0, single::gelu, wider::gelu);
    sweep("gelu_tanh", 3.5, single::gelu_tanh, wider::gelu_tanh);
}

const COUNT: u32 = 20_000;

/// The largest error of an f64 function over the given operands.
fn check(
    name: &str,
    bound: f64,
    function: impl Fn(f64) -> f64,
    reference: impl Fn(f64) -> Scaled,
    operands: impl Iterator<Item = f64>,
) {
    let mut worst = Worst::new(0f64);
    for x in operands {
        let (value, power) = reference(x);
        worst.record(error_f64(function(x), value, power), x);
    }
    worst.assert_within(bound, &format!("double::{name}"));
}

/// A reference without a power of two.
fn plain(function: impl Fn(f64) -> Wide) -> impl Fn(f64) -> Scaled {
    move |x| (function(x), 0)
}

/// Both signs.
fn both(positive: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    positive.flat_map(|x| [x, -x])
}

#[test]
fn f64_inverse_functions_within_the_stated_bound() {
    let unit = || both(operands(0.0, 1.0, COUNT).chain(magnitudes(1e-9, 1.0, COUNT)));
    let all = || both(magnitudes(1e-9, 1e9, COUNT).chain(operands(0.0, 4.0, COUNT)));
    let near_one = || (1..2000).map(|k| 1.0 - f64::from(k) * f64::EPSILON);
    check("asin", 2.2, double::asin, plain(reference::asin), unit().chain(near_one()));
    check("acos", 1.2, double::acos, plain(reference::acos), unit().chain(near_one()));
    check("atan", 1.5, double::atan, plain(|x| reference::atan(x.into())), all());
    check("asinh", 2.0, double::asinh, plain(reference::asinh), all().chain(magnitudes(1e9, 1e300, COUNT)));
    check(
        "acosh",
        2.1,
        double::acosh,
        plain(reference::acosh),
        operands(1.0, 9.0, COUNT).chain(magnitudes(1.0, 1e300, COUNT)),
    );
    check("atanh", 2.2, double::atanh, plain(reference::atanh), unit().chain(near_one()));
}

#[test]
fn f64_exponentials_and_logarithms_within_the_stated_bound() {
    let all = |limit: f64| {
        both(operands(0.0, limit, COUNT).chain(operands(0.0, 3.0, COUNT)).chain(magnitudes(1e-9, 1.0, COUNT)))
    };
    check("sinh", 1.8, double::sinh, reference::sinh, all(710.4));
    check("cosh", 1.2, double::cosh, reference::cosh, all(710.4));
    check("expm1", 1.2, double::expm1, reference::expm1, all(709.7));
    check("exp10", 1.0, double::exp10, reference::exp10, all(308.2).chain(operands(-323.0, -300.0, COUNT)));
    check(
        "log10",
        0.6,
        double::log10,
        plain(reference::log10),
        magnitudes(1e-300, 1e300, COUNT).chain(operands(0.5, 2.0, COUNT)),
    );
    check(
        "log1p",
        1.4,
        double::log1p,
        plain(|x| reference::log1p(x.into())),
        operands(-1.0, 3.0, 2 * COUNT)
            .chain(both(magnitudes(1e-15, 1.0, COUNT)))
            .chain(magnitudes(1.0, 1e300, COUNT)),
    );
    check("sigmoid", 2.5, double::sigmoid, reference::sigmoid, all(740.0));
    check("silu", 3.2, double::silu, reference::silu, all(740.0));
    check("softplus", 1.8, double::softplus, plain(reference::softplus), all(700.0));
    check("gelu_tanh", 3.5, double::gelu_tanh, reference::gelu_tanh, all(21.0));
}

#[test]
fn f64_error_functions_within_the_stated_bound() {
    let all = |limit: f64| both(operands(0.0, limit, COUNT / 4).chain(magnitudes(1e-9, 4.0, COUNT / 4)));
    check("erf", 1.1, double::erf, plain(|x| reference::erf(x.into())), all(6.0));
    check("erfc", 4.0, double::erfc, |x| reference::erfc(x.into()), all(27.2).filter(|x| *x > -6.0));
    check("gelu", 5.0, double::gelu, reference::gelu, all(38.0).filter(|x| *x < 8.0));
}

#[test]
fn f64_powers_and_roots_within_the_stated_bound() {
    check(
        "cbrt",
        0.6,
        double::cbrt,
        plain(reference::cbrt),
        both(magnitudes(1e-300, 1e300, 4 * COUNT).chain(operands(0.5, 8.0, COUNT))),
    );
    let [mut pow, mut integral] = [(); 2].map(|()| Worst::new(0f64));
    let mut angle = Worst::new(0f64);
    let mut length = Worst::new(0f64);
    for (k, x) in magnitudes(1e-4, 1e4, 4 * COUNT).enumerate() {
        let y =
            magnitudes(1e-3, 1e3, 1009).nth((k * 331) % 1009).unwrap() * if k % 2 == 0 { 1.0 } else { -1.0 };
        let limit = (740.0 / x.ln().abs()).min(1e6);
        let exponent = limit * (((k * 7919) % 10_007) as f64 / 5003.5 - 1.0);
        let exponent = if x.ln() * exponent > 709.0 { -exponent } else { exponent };
        let (value, power) = reference::pow(x, exponent);
        pow.record(error_f64(double::pow(x, exponent), value, power), x);
        let near_one = 1.0 + (x - 1.0) / 1e4;
        let n = (exponent * x.ln() / near_one.ln()) as i32;
        let (value, power) = reference::pow(near_one, n.into());
        integral.record(error_f64(double::powi(near_one, n), value, power), near_one);
        angle.record(error_f64(double::atan2(y, x), reference::atan2(y, x), 0), y / x);
        angle.record(error_f64(double::atan2(y, -x), reference::atan2(y, -x), 0), y / -x);
        length.record(error_f64(double::hypot(x, y), reference::hypot(x, y), 0), x);
    }
    pow.assert_within(1.0, "double::pow");
    integral.assert_within(2.0, "double::powi");
    angle.assert_within(1.7, "double::atan2");
    length.assert_within(1.0, "double::hypot");
}

#[test]
fn f32_functions_of_two_numbers_within_the_stated_bound() {
    let [mut pow, mut angle, mut length, mut integral] = [(); 4].map(|()| Worst::new(0f32));
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        (state >> 32) as u32
    };
    for _ in 0..400_000 {
        let (x, y) = (f32::from_bits(random()), f32::from_bits(random()));
        angle.record(error_f32(single::atan2(y, x), f64::from(y).atan2(x.into())), x);
        length.record(error_f32(single::hypot(x, y), f64::from(x).hypot(y.into())), x);
        let x = x.abs();
        let limit = 104.0 / f64::from(x).ln().abs();
        let exponent = (limit * (f64::from(random()) / 2f64.powi(31) - 1.0)) as f32;
        pow.record(error_f32(single::pow(x, exponent), f64::from(x).powf(exponent.into())), x);
        let near_one = 1.0 + (random() as f32 / 2f32.powi(32) - 0.5) * 2f32.powi(-((random() % 30) as i32));
        let limit = 104.0 / f64::from(near_one).ln().abs();
        let n = (limit * (f64::from(random()) / 2f64.powi(31) - 1.0)) as i32;
        integral.record(error_f32(single::powi(near_one, n), f64::from(near_one).powf(n.into())), near_one);
        let (x, y) = (near_one, near_one * (random() as f32 / 2f32.powi(31) - 1.0));
        angle.record(error_f32(single::atan2(y, x), f64::from(y).atan2(x.into())), x);
        length.record(error_f32(single::hypot(x, y), f64::from(x).hypot(y.into())), x);
    }
    pow.assert_within(1.0, "single::pow");
    integral.assert_within(2.0, "single::powi");
    angle.assert_within(1.7, "single::atan2");
    length.assert_within(1.0, "single::hypot");
}

/// A 16-bit format: its significant bits, and the base-2 logarithms of its least number and of the first power of two that
/// is infinite.
struct Format {
    digits: i32,
    least: i32,
    limit: i32,
}

/// Every number of a 16-bit type: computed in f32 and rounded once, a function is off by half a unit and what f32 adds.
fn every_number<T: Float<Bits = u16> + Cast<f64>>(
    format: &Format,
    name: &str,
    function: fn(T) -> T,
    reference: fn(f64) -> f64,
) {
    let limit = 2f64.powi(format.limit);
    let mut worst = Worst::new(0f64);
    for bits in 0..=u16::MAX {
        let x = T::from_bits(bits);
        let (value, exact): (f64, f64) = (function(x).cast(), reference(x.cast()));
        if value.is_nan() || exact.is_nan() {
            assert!(value.is_nan() && exact.is_nan(), "{name}({x:?}) is {value}, not {exact}");
            continue;
        }
        assert!(value != 0.0 || exact != 0.0 || value.to_bits() == exact.to_bits(), "the zero {name}({x:?})");
        let (value, exact) = (value.clamp(-limit, limit), exact.clamp(-limit, limit));
        let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
        let unit = 2f64.powi((exponent + 1 - format.digits).max(format.least));
        worst.record((value - exact).abs() / unit, x.cast());
    }
    worst.assert_within(0.501, &format!("{}::{name}", T::NAME));
}

/// One test for all functions of a 16-bit type.
macro_rules! sixteen_bits {
    ($test:ident, $type:ident, $format:expr, $($name:ident)*) => {
        #[test]
        fn $test() {
            $( every_number::<$type>(&$format, stringify!($name), Float::$name, double::$name); )*
        }
    };
}
sixteen_bits! {
    every_f16_is_rounded_once, f16, Format { digits: 11, least: -24, limit: 16 },
    exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    sqrt rsqrt cbrt reciprocal erf erfc sigmoid silu softplus gelu gelu_tanh
}
sixteen_bits! {
    every_bf16_is_rounded_once, bf16, Format { digits: 8, least: -133, limit: 128 },
    exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    sqrt rsqrt cbrt reciprocal erf erfc sigmoid silu softplus gelu gelu_tanh
}

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
