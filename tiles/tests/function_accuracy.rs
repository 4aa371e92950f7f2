//! The functions that have one algorithm for both back ends keep the error bounds that they state: f32 over sweeps of all
//! its numbers against f64, f64 over spread operands against references of about 100 bits.

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
