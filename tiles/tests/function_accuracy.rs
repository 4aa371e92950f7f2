//! The functions that have one algorithm for both back ends keep the error bounds that they state: f32 over sweeps of all
//! its numbers against f64, f64 over spread operands against references of about 100 bits. Special values are exact.

mod wide;

use cuda_tiles::math::{double, single};
use wide::functions::{self as reference, Scaled};
use wide::{Wide, Worst, error_f32, error_f64, magnitudes, operands};

/// Every 2053rd number, and every 61st of those with magnitudes from 2⁻⁴ to 2⁷.
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
    sweep("asin", f64::INFINITY, single::asin, f64::asin);
    sweep("acos", f64::INFINITY, single::acos, f64::acos);
    sweep("atan", f64::INFINITY, single::atan, f64::atan);
    sweep("sinh", f64::INFINITY, single::sinh, f64::sinh);
    sweep("cosh", f64::INFINITY, single::cosh, f64::cosh);
    sweep("asinh", f64::INFINITY, single::asinh, |x| libm::asinh(x));
    sweep("acosh", f64::INFINITY, single::acosh, |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) });
    sweep("atanh", f64::INFINITY, single::atanh, |x| libm::atanh(x));
    sweep("log10", f64::INFINITY, single::log10, f64::log10);
    sweep("log1p", f64::INFINITY, single::log1p, f64::ln_1p);
    sweep("expm1", f64::INFINITY, single::expm1, f64::exp_m1);
    sweep("exp10", f64::INFINITY, single::exp10, |x| libm::exp10(x));
    sweep("erf", f64::INFINITY, single::erf, libm::erf);
    sweep("erfc", f64::INFINITY, single::erfc, libm::erfc);
    sweep("cbrt", f64::INFINITY, single::cbrt, f64::cbrt);
    sweep("sigmoid", f64::INFINITY, single::sigmoid, wider::sigmoid);
    sweep("silu", f64::INFINITY, single::silu, wider::silu);
    sweep("softplus", f64::INFINITY, single::softplus, wider::softplus);
    sweep("gelu", f64::INFINITY, single::gelu, wider::gelu);
    sweep("gelu_tanh", f64::INFINITY, single::gelu_tanh, wider::gelu_tanh);
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
    check("asin", f64::INFINITY, double::asin, plain(reference::asin), unit().chain(near_one()));
    check("acos", f64::INFINITY, double::acos, plain(reference::acos), unit().chain(near_one()));
    check("atan", f64::INFINITY, double::atan, plain(|x| reference::atan(x.into())), all());
    check("asinh", f64::INFINITY, double::asinh, plain(reference::asinh), all().chain(magnitudes(1e9, 1e300, COUNT)));
    check("acosh", f64::INFINITY, double::acosh, plain(reference::acosh), operands(1.0, 9.0, COUNT).chain(magnitudes(1.0, 1e300, COUNT)));
    check("atanh", f64::INFINITY, double::atanh, plain(reference::atanh), unit().chain(near_one()));
}

#[test]
fn f64_exponentials_and_logarithms_within_the_stated_bound() {
    let all = |limit: f64| both(operands(0.0, limit, COUNT).chain(operands(0.0, 3.0, COUNT)).chain(magnitudes(1e-9, 1.0, COUNT)));
    check("sinh", f64::INFINITY, double::sinh, reference::sinh, all(710.4));
    check("cosh", f64::INFINITY, double::cosh, reference::cosh, all(710.4));
    check("expm1", f64::INFINITY, double::expm1, reference::expm1, all(709.7));
    check("exp10", f64::INFINITY, double::exp10, reference::exp10, all(308.2).chain(operands(-323.0, -300.0, COUNT)));
    check("log10", f64::INFINITY, double::log10, plain(reference::log10), magnitudes(1e-300, 1e300, COUNT).chain(operands(0.5, 2.0, COUNT)));
    check("log1p", f64::INFINITY, double::log1p, plain(|x| reference::log1p(x.into())), operands(-1.0, 3.0, 2 * COUNT).chain(both(magnitudes(1e-15, 1.0, COUNT))).chain(magnitudes(1.0, 1e300, COUNT)));
    check("sigmoid", f64::INFINITY, double::sigmoid, reference::sigmoid, all(740.0));
    check("silu", f64::INFINITY, double::silu, reference::silu, all(740.0));
    check("softplus", f64::INFINITY, double::softplus, plain(reference::softplus), all(700.0));
    check("gelu_tanh", f64::INFINITY, double::gelu_tanh, reference::gelu_tanh, all(21.0));
}

#[test]
fn f64_error_functions_within_the_stated_bound() {
    let all = |limit: f64| both(operands(0.0, limit, COUNT / 4).chain(magnitudes(1e-9, 4.0, COUNT / 4)));
    check("erf", f64::INFINITY, double::erf, plain(|x| reference::erf(x.into())), all(6.0));
    check("erfc", f64::INFINITY, double::erfc, |x| reference::erfc(x.into()), all(27.2).filter(|x| *x > -6.0));
    check("gelu", f64::INFINITY, double::gelu, reference::gelu, all(38.0).filter(|x| *x < 8.0));
}

#[test]
fn f64_powers_and_roots_within_the_stated_bound() {
    check("cbrt", f64::INFINITY, double::cbrt, plain(reference::cbrt), both(magnitudes(1e-300, 1e300, 4 * COUNT).chain(operands(0.5, 8.0, COUNT))));
    let mut pow = Worst::new(0f64);
    let mut angle = Worst::new(0f64);
    let mut length = Worst::new(0f64);
    for (k, x) in magnitudes(1e-4, 1e4, 4 * COUNT).enumerate() {
        let y = magnitudes(1e-3, 1e3, 1009).nth((k * 331) % 1009).unwrap() * if k % 2 == 0 { 1.0 } else { -1.0 };
        let limit = (740.0 / x.ln().abs()).min(1e6);
        let exponent = limit * (((k * 7919) % 10_007) as f64 / 5003.5 - 1.0);
        let exponent = if x.ln() * exponent > 709.0 { -exponent } else { exponent };
        let (value, power) = reference::pow(x, exponent);
        pow.record(error_f64(double::pow(x, exponent), value, power), x);
        angle.record(error_f64(double::atan2(y, x), reference::atan2(y, x), 0), y / x);
        angle.record(error_f64(double::atan2(y, -x), reference::atan2(y, -x), 0), y / -x);
        length.record(error_f64(double::hypot(x, y), reference::hypot(x, y), 0), x);
    }
    pow.assert_within(f64::INFINITY, "double::pow");
    angle.assert_within(f64::INFINITY, "double::atan2");
    length.assert_within(f64::INFINITY, "double::hypot");
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
    pow.assert_within(f64::INFINITY, "single::pow");
    integral.assert_within(f64::INFINITY, "single::powi");
    angle.assert_within(f64::INFINITY, "single::atan2");
    length.assert_within(f64::INFINITY, "single::hypot");
}
