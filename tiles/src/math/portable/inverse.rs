//! Inverse trigonometric functions.

use super::real::{Pair, Real};
use super::series::Series;

/// `|arcsin x|` for |x| up to 1/2.
#[inline_on_device]
fn small_asin<R: Series>(x: R, square: R) -> R {
    (x * square).fma(R::asin_series(square), x)
}

/// π/2 as a sum.
#[inline_on_device]
fn quarter_turn<R: Real>() -> Pair<R> {
    Pair { high: R::HALF * R::PI.high, low: R::HALF * R::PI.low }
}

/// Arc sine. Beyond 1/2 it is `π/2 - 2 arcsin √((1 - |x|) / 2)`.
#[inline_on_device]
pub fn asin<R: Series>(x: R) -> R {
    let magnitude = x.abs();
    let far = magnitude > R::HALF;
    let square = if far { (R::ONE - magnitude) * R::HALF } else { magnitude * magnitude };
    let angle = small_asin(if far { square.sqrt() } else { magnitude }, square);
    let right = quarter_turn::<R>();
    let complement = right.high.plus_smaller(-R::TWO * angle);
    (if far { complement.high + (complement.low + right.low) } else { angle }).with_sign_of(x)
}

/// Arc cosine: `π/2 - arcsin x`, `2 arcsin √((1 - x) / 2)` above 1/2, and π less that below -1/2.
#[inline_on_device]
pub fn acos<R: Series>(x: R) -> R {
    let magnitude = x.abs();
    let far = magnitude > R::HALF;
    let square = if far { (R::ONE - magnitude) * R::HALF } else { magnitude * magnitude };
    let angle = small_asin(if far { square.sqrt() } else { x }, square);
    let (base, part) = if far { (R::PI, R::TWO * angle) } else { (quarter_turn(), angle) };
    let complement = base.high.plus_smaller(-part);
    if far && x > R::ZERO { part } else { complement.high + (complement.low + base.low) }
}

/// The angle whose tangent is `numerator / denominator`, both not negative; `upper` says that it is to be taken from π.
#[inline_on_device]
fn angle<R: Series>(numerator: R, denominator: R, upper: bool) -> R {
    let steep = numerator > denominator;
    let (small, large) = if steep { (denominator, numerator) } else { (numerator, denominator) };
    // Zero over zero, and infinity over infinity, which counts as a point of the diagonal.
    let equal = small == large;
    let quotient = if equal { R::ZERO } else { small / large };
    let square = quotient * quotient;
    let angle = (quotient * square).fma(R::atan_series(square), quotient);
    let angle = if equal && large > R::ZERO { R::HALF * R::HALF * R::PI.high } else { angle };
    // The quotient's reciprocal turns the angle to π/2 less it, and `upper` what results to π less that.
    let base = if steep { quarter_turn() } else { R::PI };
    let turned = base.high.plus_smaller(if steep && upper { angle } else { -angle });
    if steep || upper { turned.high + (turned.low + base.low) } else { angle }
}

/// Arc tangent.
#[inline_on_device]
pub fn atan<R: Series>(x: R) -> R {
    angle(x.abs(), R::ONE, false).with_sign_of(x)
}

/// The angle of the point `(x, y)`, between -π and π.
#[inline_on_device]
pub fn atan2<R: Series>(y: R, x: R) -> R {
    angle(y.abs(), x.abs(), x.is_negative()).with_sign_of(y)
}
