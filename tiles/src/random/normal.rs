//! The normal distribution: G. Box, M. Muller, "A note on the generation of random normal deviates", 1958.
//!
//! Two uniform numbers `u` in (0, 1] and `v` in [0, 1) give two normal ones, `sqrt(-2 log u)` times the cosine and the sine of
//! `v` turns. The angle comes as an integer, so that its reduction to an eighth of a turn is exact, and everything is
//! made of correctly rounded operations: the CPU's results are the GPU's.

use crate::arch::float::{fma_f32, fma_f64, sqrt_f32, sqrt_f64};
use crate::math::device::{double, polynomial, single};

/// The angle of `turn / 2^BITS` turns as (quadrant, offset), with the offset in units of `2^-BITS` turns and at most an
/// eighth of a turn to either side.
#[inline_on_device]
fn reduce<const BITS: u32>(turn: u64) -> (u64, i64) {
    let quadrant = (turn + (1 << (BITS - 3))) >> (BITS - 2);
    (quadrant, turn as i64 - (quadrant << (BITS - 2)) as i64)
}

/// The cosine and sine of an angle, from those of the offset into its quadrant.
#[inline_on_device]
fn turned<T: core::ops::Neg<Output = T> + Copy>(quadrant: u64, cosine: T, sine: T) -> [T; 2] {
    let (x, y) = if quadrant & 1 != 0 { (-sine, cosine) } else { (cosine, sine) };
    if quadrant & 2 != 0 { [-x, -y] } else { [x, y] }
}

/// Two normal numbers; each is within 3 ulp of the exact function of its 24 + 24 bits, and at most 5.77 in magnitude.
#[inline_on_device]
pub(super) fn pair_f32(u: u32, v: u32) -> [f32; 2] {
    const BITS: u32 = 24;
    const UNIT: f32 = 1.0 / (1 << BITS) as f32;
    let u = ((u >> (32 - BITS)) + 1) as f32 * UNIT;
    let radius = sqrt_f32(-2.0 * single::log(u));
    let (quadrant, offset) = reduce::<BITS>(u64::from(v >> (32 - BITS)));
    let angle = offset as i32 as f32 * (core::f32::consts::TAU * UNIT);
    let square = angle * angle;
    // Minimax polynomials on an eighth of a turn, of S. Moshier's Cephes (`sinf.c`).
    let sine = polynomial!(fma_f32, square, -0.166_666_55, 0.008_332_161, -0.000_195_152_96);
    let sine = fma_f32(sine, square * angle, angle);
    let cosine = polynomial!(fma_f32, square, 1.0, -0.5, 0.041_666_646, -0.001_388_731_6, 2.443_315_7e-5);
    turned(quadrant, cosine, sine).map(|x| radius * x)
}

/// Two normal numbers; each is within 3 ulp of the exact function of its 53 + 53 bits, and at most 8.58 in magnitude.
#[inline_on_device]
pub(super) fn pair_f64(u: u64, v: u64) -> [f64; 2] {
    const BITS: u32 = 53;
    const UNIT: f64 = 1.0 / (1u64 << BITS) as f64;
    let u = ((u >> (64 - BITS)) + 1) as f64 * UNIT;
    let radius = sqrt_f64(-2.0 * double::log(u));
    let (quadrant, offset) = reduce::<BITS>(v >> (64 - BITS));
    let angle = offset as f64 * (core::f64::consts::TAU * UNIT);
    let square = angle * angle;
    // The coefficients of FDLIBM's `__kernel_sin` and `__kernel_cos` (Sun Microsystems, 1993).
    let sine = polynomial!(
        fma_f64,
        square,
        -1.666_666_666_666_663_2e-1,
        8.333_333_333_322_49e-3,
        -1.984_126_982_985_795e-4,
        2.755_731_370_707_006_8e-6,
        -2.505_076_025_340_686_3e-8,
        1.589_690_995_211_55e-10
    );
    let sine = fma_f64(sine, square * angle, angle);
    let cosine = polynomial!(
        fma_f64,
        square,
        1.0,
        -0.5,
        4.166_666_666_666_66e-2,
        -1.388_888_888_887_411e-3,
        2.480_158_728_947_673e-5,
        -2.755_731_435_139_066_3e-7,
        2.087_572_321_298_175e-9,
        -1.135_964_755_778_819_5e-11
    );
    turned(quadrant, cosine, sine).map(|x| radius * x)
}
