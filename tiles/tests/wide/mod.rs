//! What the accuracy tests share: errors in ulp, operands, and references in double-double arithmetic (about 100 bits).

#![allow(dead_code, reason = "each test program uses some of it")]

pub(crate) mod functions;

/// The distance of two neighbouring f32 around `x`, as an f64.
pub(crate) fn ulp_f32(x: f64) -> f64 {
    let exponent = (x.abs().to_bits() >> 52) as i32 - 1023;
    2f64.powi(exponent.max(-126) - 23)
}

/// The distance of `value` from `reference` in ulp. Infinity counts as 2¹²⁸, the first power of two that is
/// not an f32, so that overflowing a little too early or too late is an error of a few ulp, and overflowing
/// wrongly one of many.
pub(crate) fn error_f32(value: f32, reference: f64) -> f64 {
    let limit = 2f64.powi(128);
    if value.is_nan() || reference.is_nan() {
        return if value.is_nan() && reference.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let (value, reference) = ((value as f64).clamp(-limit, limit), reference.clamp(-limit, limit));
    if value == reference { 0.0 } else { (value - reference).abs() / ulp_f32(reference) }
}

/// Keeps the largest error and where it was.
pub(crate) struct Worst<X> {
    pub(crate) error: f64,
    pub(crate) operand: X,
}

impl<X: Copy + std::fmt::LowerExp> Worst<X> {
    pub(crate) fn new(operand: X) -> Self {
        Worst { error: 0.0, operand }
    }

    pub(crate) fn record(&mut self, error: f64, operand: X) {
        if error > self.error || error.is_nan() {
            *self = Worst { error, operand };
        }
    }

    pub(crate) fn assert_within(&self, bound: f64, name: &str) {
        println!("{name}: at most {:.3} ulp, at {:e}", self.error, self.operand);
        assert!(
            self.error <= bound,
            "{name}({:e}) is {} ulp off, more than {bound}",
            self.operand,
            self.error
        );
    }
}

/// An unevaluated sum of two f64 (T. J. Dekker, "A floating-point technique for extending the available
/// precision", 1971).
#[derive(Clone, Copy)]
pub(crate) struct Wide(pub(crate) f64, pub(crate) f64);

impl Wide {
    pub(crate) const LN_2: Wide = Wide(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);

    pub(crate) fn of_sum(a: f64, b: f64) -> Wide {
        let sum = a + b;
        let part = sum - a;
        Wide(sum, (a - (sum - part)) + (b - part))
    }

    pub(crate) fn of_product(a: f64, b: f64) -> Wide {
        let product = a * b;
        Wide(product, a.mul_add(b, -product))
    }

    pub(crate) fn scale(self, factor: f64) -> Wide {
        Wide(self.0 * factor, self.1 * factor)
    }
}

impl From<f64> for Wide {
    fn from(x: f64) -> Wide {
        Wide(x, 0.0)
    }
}

impl std::ops::Add for Wide {
    type Output = Wide;
    fn add(self, other: Wide) -> Wide {
        let Wide(high, error) = Wide::of_sum(self.0, other.0);
        let Wide(low, low_error) = Wide::of_sum(self.1, other.1);
        let Wide(high, error) = Wide::of_sum(high, error + low);
        Wide::of_sum(high, error + low_error)
    }
}

impl std::ops::Neg for Wide {
    type Output = Wide;
    fn neg(self) -> Wide {
        Wide(-self.0, -self.1)
    }
}

impl std::ops::Mul for Wide {
    type Output = Wide;
    fn mul(self, other: Wide) -> Wide {
        let Wide(high, error) = Wide::of_product(self.0, other.0);
        Wide::of_sum(high, error + (self.0 * other.1 + self.1 * other.0))
    }
}

impl std::ops::Div for Wide {
    type Output = Wide;
    fn div(self, other: Wide) -> Wide {
        let first = self.0 / other.0;
        let rest = self + -(other * first.into());
        let second = rest.0 / other.0;
        let rest = rest + -(other * second.into());
        Wide::of_sum(first, second) + (rest.0 / other.0).into()
    }
}

/// `e^x - 1` times a power of two that is returned with it: `(value, power)`, with `e^x = (value + 1) ·
/// 2^power`.
pub(crate) fn wide_exp_minus_one(x: Wide) -> (Wide, i32) {
    let power = (x.0 / std::f64::consts::LN_2).round();
    // A third part of ln 2 keeps 100 bits below a power of up to 1100.
    let r = x + -(Wide::LN_2 * power.into()) + (power * -5.707_708_438_416_212e-34).into();
    const HALVINGS: i32 = 6;
    let r = r.scale(0.5f64.powi(HALVINGS));
    let mut sum = Wide(0.0, 0.0);
    for degree in (1..=14).rev() {
        sum = (sum + 1.0.into()) * r / (degree as f64).into();
    }
    for _ in 0..HALVINGS {
        // (1 + s)² - 1
        sum = sum * sum + sum.scale(2.0);
    }
    (sum, power as i32)
}

/// Sine and cosine of |x| below 10⁵, from their power series.
pub(crate) fn wide_sine_and_cosine(x: f64) -> (Wide, Wide) {
    let quotient = (x * std::f64::consts::FRAC_2_PI).round();
    let parts = [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];
    let mut r = Wide::from(x);
    for part in parts {
        r = r + -Wide::of_product(quotient, part);
    }
    let square = r * r;
    let (mut sine, mut cosine) = (Wide(1.0, 0.0), Wide(1.0, 0.0));
    for term in (1..=14).rev() {
        let even = (2 * term) as f64;
        sine = Wide(1.0, 0.0) + -(sine * square / (even * (even + 1.0)).into());
        cosine = Wide(1.0, 0.0) + -(cosine * square / (even * (even - 1.0)).into());
    }
    let sine = sine * r;
    match (quotient as i64).rem_euclid(4) {
        0 => (sine, cosine),
        1 => (cosine, -sine),
        2 => (-sine, -cosine),
        _ => (-cosine, sine),
    }
}

/// The distance of `value` from `reference · 2^power` in ulp, for finite values.
pub(crate) fn error_f64(value: f64, reference: Wide, power: i32) -> f64 {
    // In two steps: 2^power alone may leave the range.
    let (half, rest) = (power / 2, power - power / 2);
    let rounded = reference.0 * 2f64.powi(half) * 2f64.powi(rest);
    let exponent = ((rounded.abs().to_bits() >> 52) as i32).max(1) - 1075;
    let ulp_in_reference = 2f64.powi((exponent - power).max(-1000));
    let difference = reference + -Wide::from(value * 2f64.powi(-rest) * 2f64.powi(-half));
    difference.0.abs() / ulp_in_reference
}

/// Evenly spread operands: `count` from `low` to `high`, with irregular last bits.
pub(crate) fn operands(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
    let step = (high - low) / count as f64;
    (0..count).map(move |index| low + step * (index as f64 + std::f64::consts::FRAC_1_PI))
}

/// `count` operands with magnitudes spread evenly over the exponents from `low` to `high`.
pub(crate) fn magnitudes(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
    let step = ((high.to_bits() - low.to_bits()) / count as u64) | 1;
    (0..count as u64).map(move |index| f64::from_bits(low.to_bits() + index * step))
}
