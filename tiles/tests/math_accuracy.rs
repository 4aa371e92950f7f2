//! The elementary functions keep the error bounds that they state, for both back ends: what the CPU uses
//! (`math::single`, `math::double`) and the device's algorithms (`math::device`), which run here on the CPU's
//! exact versions of the device's instructions.
//!
//! The reference for f32 is the standard library's f64 function, whose error is invisible after rounding to
//! f32. The reference for f64 is computed here in double-double arithmetic (about 100 bits); only sine,
//! cosine and tangent of numbers beyond 10⁵ are compared with the standard library's f64 functions, to which
//! one ulp is allowed.

mod wide;

use cuda_tiles::math::{device, double, single};
use wide::{
    Wide, Worst, error_f32, error_f64, magnitudes, operands, wide_exp_minus_one, wide_sine_and_cosine,
};

/// Sweeps f32: every 4099th bit pattern (a prime: all exponents, both signs, all kinds of significands), and
/// every 97th of those with magnitudes from 2⁻⁴ to 2⁷, where the functions bend.
fn sweep_f32(name: &str, bound: f64, function: fn(f32) -> f32, reference: fn(f64) -> f64) {
    let mut worst = Worst::new(0f32);
    let mut check = |bits: u32| {
        let x = f32::from_bits(bits);
        worst.record(error_f32(function(x), reference(x as f64)), x);
    };
    (0..=u32::MAX).step_by(4099).for_each(&mut check);
    let (low, high) = (0.0625f32.to_bits(), 128f32.to_bits());
    for sign in [0, 0x8000_0000] {
        (low..high).step_by(97).for_each(|bits| check(bits | sign));
    }
    worst.assert_within(bound, name);
}

/// Makes one test for each f32 function: the CPU's and the device's version.
macro_rules! single_precision {
    ($($name:ident: $bound:literal;)*) => {$(
        #[test]
        fn $name() {
            let name = stringify!($name);
            sweep_f32(&format!("single::{name}"), $bound, single::$name, reference::$name);
            sweep_f32(&format!("device::single::{name}"), $bound, device::single::$name, reference::$name);
        }
    )*};
}

mod reference {
    pub(super) fn exp(x: f64) -> f64 {
        x.exp()
    }
    pub(super) fn exp2(x: f64) -> f64 {
        x.exp2()
    }
    pub(super) fn log(x: f64) -> f64 {
        x.ln()
    }
    pub(super) fn log2(x: f64) -> f64 {
        x.log2()
    }
    pub(super) fn sin(x: f64) -> f64 {
        x.sin()
    }
    pub(super) fn cos(x: f64) -> f64 {
        x.cos()
    }
    pub(super) fn tan(x: f64) -> f64 {
        x.tan()
    }
    pub(super) fn tanh(x: f64) -> f64 {
        x.tanh()
    }
}

mod f32_within_the_stated_bound {
    use super::*;

    single_precision! {
        exp: 2.0;
        exp2: 2.1;
        log: 1.0;
        log2: 1.1;
        sin: 2.0;
        cos: 2.0;
        tan: 3.1;
        tanh: 2.0;
    }

    #[test]
    fn exponentials_of_the_cpu() {
        sweep_f32("single::exp", 0.51, single::exp, reference::exp);
        sweep_f32("single::exp2", 0.51, single::exp2, reference::exp2);
    }

    #[test]
    fn roots() {
        sweep_f32("single::sqrt", 0.5, single::sqrt, f64::sqrt);
        sweep_f32("single::rsqrt", 2.0, single::rsqrt, |x| 1.0 / x.sqrt());
    }
}

#[test]
fn f32_sine_is_accurate_for_every_large_magnitude() {
    // The multiples of π/2 that f32 comes closest to are where a reduction with too few bits fails.
    for (index, start) in (0..8).map(|index| (index, 105_000f32.to_bits() + index * 509)) {
        let mut worst = Worst::new(0f32);
        for bits in (start..f32::MAX.to_bits()).step_by(4093) {
            let x = f32::from_bits(bits);
            worst.record(error_f32(device::single::sin(x), (x as f64).sin()), x);
            worst.record(error_f32(device::single::cos(-x), (x as f64).cos()), x);
        }
        worst.assert_within(2.0, &format!("sine and cosine of large f32, sweep {index}"));
    }
}

const COUNT: u32 = 100_000;

#[test]
fn f64_exponentials_within_the_stated_bound() {
    for (name, exp, exp2, tanh) in [
        (
            "double",
            double::exp as fn(f64) -> f64,
            double::exp2 as fn(f64) -> f64,
            double::tanh as fn(f64) -> f64,
        ),
        ("device::double", device::double::exp, device::double::exp2, device::double::tanh),
    ] {
        let [mut exp_worst, mut exp2_worst, mut tanh_worst] = [(); 3].map(|()| Worst::new(0f64));
        for x in operands(-745.0, 709.7, COUNT).chain(operands(-2.0, 2.0, COUNT)) {
            let (minus_one, power) = wide_exp_minus_one(x.into());
            exp_worst.record(error_f64(exp(x), minus_one + 1.0.into(), power), x);
        }
        for x in operands(-1074.0, 1023.9, COUNT).chain(operands(-2.0, 2.0, COUNT)) {
            let (minus_one, power) = wide_exp_minus_one(Wide::LN_2 * x.into());
            exp2_worst.record(error_f64(exp2(x), minus_one + 1.0.into(), power), x);
        }
        for x in operands(-22.0, 22.0, COUNT).chain(magnitudes(1e-5, 1.0, COUNT)) {
            let (minus_one, power) = wide_exp_minus_one(Wide::from(2.0 * x));
            let scale = 2f64.powi(power);
            let t = minus_one.scale(scale) + (scale - 1.0).into();
            tanh_worst.record(error_f64(tanh(x), t / (t + 2.0.into()), 0), x);
        }
        exp_worst.assert_within(1.0, &format!("{name}::exp"));
        exp2_worst.assert_within(1.0, &format!("{name}::exp2"));
        tanh_worst.assert_within(2.0, &format!("{name}::tanh"));
    }
}

#[test]
fn f64_logarithms_within_the_stated_bound() {
    for (name, log, log2) in [
        ("double", double::log as fn(f64) -> f64, double::log2 as fn(f64) -> f64),
        ("device::double", device::double::log, device::double::log2),
    ] {
        let [mut log_worst, mut log2_worst] = [(); 2].map(|()| Worst::new(0f64));
        for x in magnitudes(f64::MIN_POSITIVE, f64::MAX, COUNT).chain(operands(0.5, 2.0, COUNT)) {
            // With y close to log x, log x = y + log(x / e^y), and the latter logarithm is its operand less
            // one.
            let correction = |y: f64, scaled: Wide| {
                let (minus_one, power) = wide_exp_minus_one(scaled);
                let significand = x * 2f64.powi(-power / 2) * 2f64.powi(-power - -power / 2);
                ((Wide::from(significand) / (minus_one + 1.0.into())) + (-1.0).into()).0 / y.abs()
            };
            let ulp = |y: f64| 2f64.powi((y.abs().to_bits() >> 52) as i32 - 1075) / y.abs();
            let y = log(x);
            log_worst.record(correction(y, y.into()).abs() / ulp(y), x);
            let y = log2(x);
            let error = correction(y, Wide::LN_2 * y.into()) / std::f64::consts::LN_2;
            log2_worst.record(error.abs() / ulp(y), x);
        }
        log_worst.assert_within(1.0, &format!("{name}::log"));
        log2_worst.assert_within(1.0, &format!("{name}::log2"));
    }
}

#[test]
fn f64_trigonometric_functions_within_the_stated_bound() {
    type Function = fn(f64) -> f64;
    let versions: [(&str, [Function; 3]); 2] = [
        ("double", [double::sin, double::cos, double::tan]),
        ("device::double", [device::double::sin, device::double::cos, device::double::tan]),
    ];
    for (name, [sin, cos, tan]) in versions {
        let [mut sin_worst, mut cos_worst, mut tan_worst] = [(); 3].map(|()| Worst::new(0f64));
        let near_multiples = (1..COUNT).map(|n| n as f64 * std::f64::consts::FRAC_PI_2);
        for x in operands(-100.0, 100.0, COUNT).chain(magnitudes(1e-8, 1e5, COUNT)).chain(near_multiples) {
            let (sine, cosine) = wide_sine_and_cosine(x);
            sin_worst.record(error_f64(sin(x), sine, 0), x);
            cos_worst.record(error_f64(cos(x), cosine, 0), x);
            tan_worst.record(error_f64(tan(x), sine / cosine, 0), x);
        }
        let library = 1.0;
        for x in magnitudes(1e5, f64::MAX, 4 * COUNT) {
            sin_worst.record(error_f64(sin(-x), (-x).sin().into(), 0) - library, x);
            cos_worst.record(error_f64(cos(-x), (-x).cos().into(), 0) - library, x);
            tan_worst.record(error_f64(tan(-x), (-x).tan().into(), 0) - library, x);
        }
        sin_worst.assert_within(1.0, &format!("{name}::sin"));
        cos_worst.assert_within(1.0, &format!("{name}::cos"));
        tan_worst.assert_within(2.5, &format!("{name}::tan"));
    }
}

#[test]
fn f64_operands_next_to_multiples_of_a_quarter_turn() {
    // The f64 closest to a multiple of π/2, relative to its size (J.-M. Muller, "Elementary Functions", 3rd
    // edition, section 11.3), and its cosine, computed with 1200 bits.
    let x = 6_381_956_970_095_103.0 * 2f64.powi(797);
    assert_eq!(device::double::cos(x), -4.687_165_924_254_628e-19);
    assert_eq!(device::double::sin(x), 1.0);
    // The same for f32.
    let x = 16_367_173.0 * 2f32.powi(72);
    assert_eq!(device::single::cos(x), (x as f64).cos() as f32);
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

/// Special values are exact, in every version.
macro_rules! special_values {
    ($test:ident, $type:ident, $($module:tt)+) => {
        #[test]
        fn $test() {
            use $($module)+::{cos, exp, exp2, log, log2, sin, tan, tanh};
            const INFINITY: $type = $type::INFINITY;
            const NAN: $type = $type::NAN;
            const TINY: $type = $type::from_bits(1);
            for function in [cos, exp, exp2, log, log2, sin, tan, tanh] {
                assert_same!(function(NAN), NAN);
                assert_same!(function(-NAN), NAN);
            }
            for exponential in [exp, exp2] {
                assert_same!(exponential(0.0), 1.0 as $type);
                assert_same!(exponential(-0.0), 1.0 as $type);
                assert_same!(exponential(TINY), 1.0 as $type);
                assert_same!(exponential(INFINITY), INFINITY);
                assert_same!(exponential(-INFINITY), 0.0 as $type);
                assert_same!(exponential($type::MAX), INFINITY);
                assert_same!(exponential($type::MIN), 0.0 as $type);
            }
            for power in [$type::MIN_EXP - 1, $type::MAX_EXP - 1, -3, 10] {
                assert_same!(exp2(power as $type), (2.0 as $type).powi(power));
                assert_same!(log2((2.0 as $type).powi(power)), power as $type);
            }
            assert_same!(exp2(($type::MIN_EXP - $type::MANTISSA_DIGITS as i32) as $type), TINY);
            assert_same!(exp2($type::MAX_EXP as $type), INFINITY);
            for logarithm in [log, log2] {
                assert_same!(logarithm(0.0), -INFINITY);
                assert_same!(logarithm(-0.0), -INFINITY);
                assert_same!(logarithm(1.0), 0.0 as $type);
                assert_same!(logarithm(INFINITY), INFINITY);
                assert_same!(logarithm(-INFINITY), NAN);
                assert_same!(logarithm(-1.0), NAN);
                assert_same!(logarithm(-TINY), NAN);
            }
            assert_same!(log2(TINY), ($type::MIN_EXP - $type::MANTISSA_DIGITS as i32) as $type);
            for odd in [sin, tan, tanh] {
                for x in [0.0, TINY, $type::MIN_POSITIVE] {
                    assert_same!(odd(x), x);
                    assert_same!(odd(-x), -x);
                }
            }
            for periodic in [sin, cos, tan] {
                assert_same!(periodic(INFINITY), NAN);
                assert_same!(periodic(-INFINITY), NAN);
            }
            assert_same!(cos(0.0), 1.0 as $type);
            assert_same!(cos(-TINY), 1.0 as $type);
            for x in [INFINITY, $type::MAX, 100.0] {
                assert_same!(tanh(x), 1.0 as $type);
                assert_same!(tanh(-x), -1.0 as $type);
            }
        }
    };
}

special_values!(f32_special_values, f32, cuda_tiles::math::single);
special_values!(f32_special_values_on_the_device, f32, cuda_tiles::math::device::single);
special_values!(f64_special_values, f64, cuda_tiles::math::double);
special_values!(f64_special_values_on_the_device, f64, cuda_tiles::math::device::double);

#[test]
fn roots_and_integer_parts_of_special_values() {
    for (x, root, reciprocal) in [
        (0f32, 0f32, f32::INFINITY),
        (-0.0, -0.0, f32::NEG_INFINITY),
        (-1.0, f32::NAN, f32::NAN),
        (f32::INFINITY, f32::INFINITY, 0.0),
        (f32::NAN, f32::NAN, f32::NAN),
        (0.25, 0.5, 2.0),
    ] {
        assert_same!(single::sqrt(x), root);
        assert_same!(single::rsqrt(x), reciprocal);
        assert_same!(double::sqrt(x as f64), root as f64);
        assert_same!(double::rsqrt(x as f64), reciprocal as f64);
    }
    for (x, floor, ceil) in
        [(1.5f32, 1f32, 2f32), (-1.5, -2.0, -1.0), (-0.0, -0.0, -0.0), (-0.5, -1.0, -0.0), (1e10, 1e10, 1e10)]
    {
        assert_same!(single::floor(x), floor);
        assert_same!(single::ceil(x), ceil);
        assert_same!(double::floor(x as f64), floor as f64);
        assert_same!(double::ceil(x as f64), ceil as f64);
    }
}

#[test]
fn approximate_functions_keep_their_stated_bounds() {
    let relative = |value: f32, exact: f64| ((value as f64 - exact) / exact).abs();
    for x in operands(-80.0, 80.0, COUNT).map(|x| x as f32) {
        let wide = x as f64;
        let unit = 2f64.powi(-22);
        assert!(
            relative(single::exp_approximate(x), wide.exp()) < unit + wide.abs() * 2f64.powi(-23),
            "exp({x})"
        );
        assert!(relative(single::exp2_approximate(x), wide.exp2()) < unit, "exp2({x})");
        assert!(relative(single::tanh_approximate(x), wide.tanh()) < 2f64.powi(-11), "tanh({x})");
        assert!(relative(single::reciprocal_approximate(x), 1.0 / wide) < unit, "1 / {x}");
        assert!(relative(single::divide_approximate(3.0, x), 3.0 / wide) < unit, "3 / {x}");
        assert!((single::sin_approximate(x) as f64 - wide.sin()).abs() < 2f64.powi(-20), "sin({x})");
        assert!((single::cos_approximate(x) as f64 - wide.cos()).abs() < 2f64.powi(-20), "cos({x})");
        let growing = 2.0 * unit + wide.abs() * unit;
        if x > -87.0 {
            assert!(
                relative(single::sigmoid_approximate(x), double::sigmoid(wide)) < growing,
                "sigmoid({x})"
            );
        }
        let error = (single::softplus_approximate(x) as f64 - double::softplus(wide)).abs();
        assert!(error < 2.0 * unit + double::softplus(wide) * unit, "softplus({x})");
        let (x, wide) = (x.abs(), wide.abs());
        assert!(relative(single::sqrt_approximate(x), wide.sqrt()) < unit, "sqrt({x})");
        assert!(
            (single::log_approximate(x) as f64 - wide.ln()).abs() < unit * wide.ln().abs().max(0.5) * 2.0,
            "log({x})"
        );
        assert!(
            (single::log2_approximate(x) as f64 - wide.log2()).abs() < unit * wide.log2().abs().max(1.0),
            "log2({x})"
        );
        assert!(relative(single::rsqrt_approximate(x), 1.0 / wide.sqrt()) < unit, "1 / sqrt({x})");
    }
    for x in operands(-80.0, 80.0, COUNT).chain(operands(-10.0, 10.0, COUNT)).map(|x| x as f32) {
        let wide = x as f64;
        let error = (single::gelu_tanh_approximate(x) as f64 - double::gelu_tanh(wide)).abs();
        assert!(error <= (2.5e-4 * wide).max(-2e-3).abs(), "gelu_tanh({x}): {error}");
        let error = (single::silu_approximate(x) as f64 - double::silu(wide)).abs();
        assert!(error <= (2.5e-4 * wide).max(-8e-3).abs(), "silu({x}): {error}");
    }
    for unit in [single::silu_approximate, single::gelu_tanh_approximate] {
        assert_same!(unit(f32::NEG_INFINITY), -0f32);
        assert_same!(unit(f32::INFINITY), f32::INFINITY);
        assert_same!(unit(f32::NAN), f32::NAN);
    }
    assert_same!(single::sigmoid_approximate(f32::NEG_INFINITY), 0f32);
    assert_same!(single::softplus_approximate(f32::NEG_INFINITY), 0f32);
    assert_same!(single::softplus_approximate(f32::INFINITY), f32::INFINITY);
    assert_same!(single::softplus_approximate(f32::NAN), f32::NAN);
    assert_same!(single::exp_approximate(-90.0), 0f32);
    assert_same!(single::exp2_approximate(-127.0), 0f32);
    assert_same!(single::reciprocal_approximate(1e-39), f32::INFINITY);
    assert_same!(single::rsqrt_approximate(-1e-39), f32::NEG_INFINITY);
}
