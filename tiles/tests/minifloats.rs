//! The floats without arithmetic, against their definitions in exact arithmetic: all codes, and numbers at and between
//! all neighbours.

mod common;

use common::formats::{Definition, E2M1, E4M3, E5M2, UE5M3};
use common::{elements, tile};
use cuda_tiles::prelude::*;

macro_rules! check_format {
    ($test:ident, $type:ident, $definition:expr, $codes:literal) => {
        #[test]
        fn $test() {
            let definition: Definition = $definition;
            for code in 0..$codes {
                let (value, expected) = ($type::from_bits(code as u8), definition.value(code));
                let found = f64::from(value.to_f32());
                assert!(
                    found == expected || (found.is_nan() && expected.is_nan()),
                    "{code:#x}: {found}, expected {expected}"
                );
                assert_eq!(found.is_sign_negative(), expected.is_sign_negative(), "{code:#x}");
                // Every way out of the type goes by the same value.
                let (wide, half): (f64, f16) = (value.cast(), value.cast());
                assert!(wide.to_bits() == expected.to_bits() || expected.is_nan(), "{code:#x} as f64");
                assert!(
                    half.to_bits() == f16::from_f64(expected).to_bits() || expected.is_nan(),
                    "{code:#x} as f16"
                );
                let brain: bf16 = value.cast();
                assert!(
                    brain.to_bits() == bf16::from_f64(expected).to_bits() || expected.is_nan(),
                    "{code:#x} as bf16"
                );
                if !expected.is_nan() && !expected.is_infinite() {
                    assert_eq!($type::from_f32(value.to_f32()).to_bits() as u32, code, "{code:#x} and back");
                    assert_eq!(Cast::<i32>::cast(value), expected.trunc() as i32, "{code:#x} as i32");
                }
            }
            for x in definition.trials() {
                let expected = definition.nearest(f64::from(x)) as u8;
                assert_eq!($type::from_f32(x).to_bits(), expected, "{x:e}");
                assert_eq!(Cast::<$type>::cast(x).to_bits(), expected, "cast of {x:e}");
                assert_eq!(
                    <f32 as Cast<$type>>::cast_pair(1.0, x)[1].to_bits(),
                    expected,
                    "{x:e} as the second of a pair"
                );
                // Doubles that `f32` would round to a middle between two numbers.
                for wide in
                    [f64::from(x).next_up(), f64::from(x).next_down()].into_iter().filter(|x| x.is_finite())
                {
                    let expected = definition.nearest(wide) as u8;
                    assert_eq!(Cast::<$type>::cast(wide).to_bits(), expected, "{wide:e}");
                }
                let half = f16::from_f32(x);
                if half.is_finite() {
                    let expected = definition.nearest(half.to_f64()) as u8;
                    assert_eq!(Cast::<$type>::cast(half).to_bits(), expected, "{half:e} of f16");
                }
                let brain = bf16::from_f32(x);
                if brain.is_finite() {
                    let expected = definition.nearest(brain.to_f64()) as u8;
                    assert_eq!(Cast::<$type>::cast(brain).to_bits(), expected, "{brain:e} of bf16");
                }
            }
            for x in
                (-1000..1000).chain([i64::MIN, i64::MAX, 1 << 24, (1 << 24) + 1, 57343, 57345, 61440, 114687])
            {
                let expected = definition.nearest(x as f64) as u8;
                assert_eq!(Cast::<$type>::cast(x).to_bits(), expected, "{x} of i64");
                assert_eq!(
                    Cast::<$type>::cast(x as i32).to_bits(),
                    definition.nearest(f64::from(x as i32)) as u8
                );
                assert_eq!(
                    Cast::<$type>::cast(x as i16).to_bits(),
                    definition.nearest(f64::from(x as i16)) as u8
                );
            }
        }
    };
}
check_format!(e4m3, f8e4m3, E4M3, 256);
check_format!(e5m2, f8e5m2, E5M2, 256);
check_format!(ue5m3, f8ue5m3, UE5M3, 256);
check_format!(e2m1, f4e2m1, E2M1, 16);

/// Beyond the greatest number, from where the next one would be nearer.
#[test]
fn unsaturated_overflow() {
    macro_rules! check {
        ($($type:ident $definition:ident $beyond:literal;)*) => { $(
            for x in $definition.trials() {
                let code: $type = CastWith::<$type, Unsaturated>::cast_with(x);
                if x.abs() < $beyond {
                    assert_eq!(u32::from(code.to_bits()), $definition.nearest(x.into()), "{x:e}");
                } else {
                    let value = $definition.value(code.to_bits().into());
                    assert!(!value.is_finite(), "{x:e} is {value:e}");
                    assert!(value.is_nan() || value.is_sign_negative() == x.is_sign_negative());
                }
                let (wide, half): ($type, $type) = (
                    CastWith::<_, Unsaturated>::cast_with(f64::from(x)),
                    CastWith::<_, Unsaturated>::cast_with(bf16::from_f32(x)),
                );
                assert_eq!(wide.to_bits(), code.to_bits());
                assert!(half.to_bits() == code.to_bits() || bf16::from_f32(x).to_f32() != x);
            }
        )* };
    }
    // The greatest numbers are 448, 57344 and 114688; a tie goes to the even code, beyond the first and the last ones that is
    // the greatest itself.
    check! {
        f8e4m3 E4M3 464.00003;
        f8e5m2 E5M2 61440.0;
        f8ue5m3 UE5M3 118784.01;
    }
    assert_eq!(CastWith::<f8e4m3, Unsaturated>::cast_with(f32::NAN).to_bits(), 0x7f);
}

/// What becomes of a NaN.
#[test]
fn nans() {
    assert_eq!(f8e4m3::from_f32(f32::NAN).to_bits(), 0x7f);
    assert_eq!(f8e5m2::from_f32(-f32::NAN).to_bits(), 0x7f);
    assert_eq!(f8ue5m3::from_f32(f32::NAN).to_bits(), 0xff);
    assert_eq!(f8e8m0::from_f32(f32::NAN).to_bits(), 0xff);
    assert_eq!(f4e2m1::from_f32(-f32::NAN).to_bits(), 0x7);
    assert!(tf32::from_f32(f32::from_bits(0x7f80_0001)).to_f32().is_nan());
    assert!(Cast::<bool>::cast(f8e4m3::NAN) && Cast::<bool>::cast(f8e8m0::MIN_POSITIVE));
    assert_eq!(Cast::<i32>::cast(f8e5m2::NAN), 0);
}

/// All powers of two, and what lies between them.
#[test]
fn e8m0() {
    for code in 0..=254u8 {
        let value = f8e8m0::from_bits(code);
        let expected = 2f64.powi(i32::from(code) - 127);
        assert_eq!(f64::from(value.to_f32()), expected);
        assert_eq!(Cast::<bf16>::cast(value).to_f64(), expected);
        let x = value.to_f32();
        for x in [x, -x] {
            let (down, up): (f8e8m0, f8e8m0) =
                (CastWith::<_, TowardZero>::cast_with(x), CastWith::<_, TowardPositive>::cast_with(x));
            assert_eq!((down.to_bits(), up.to_bits()), (code, code), "{x:e}");
        }
        let next = (code + 1).min(254);
        for x in [f64::from(x) * 1.5, f64::from(x).next_up(), f64::from(x.next_up())] {
            let (down, up): (f8e8m0, f8e8m0) =
                (CastWith::<_, TowardZero>::cast_with(x), CastWith::<_, TowardPositive>::cast_with(x));
            assert_eq!((down.to_bits(), up.to_bits()), (code, next), "{x:e}");
            assert!(code == 254 || f8e8m0::from_f32((x as f32).max(f32::from_bits(1))).to_bits() >= code);
        }
    }
    for x in [0.0, 1e-45, -1e-300] {
        assert_eq!(CastWith::<f8e8m0, TowardPositive>::cast_with(x).to_bits(), 0);
        assert_eq!(CastWith::<f8e8m0, TowardZero>::cast_with(x).to_bits(), 0);
    }
    assert_eq!(CastWith::<f8e8m0, TowardPositive>::cast_with(f32::INFINITY).to_bits(), 254);
    assert_eq!(CastWith::<f8e8m0, TowardZero>::cast_with(f64::NAN).to_bits(), 255);
}

/// The three roundings of `f32` to TF32, with the middle between two numbers, and of wider integers.
#[test]
fn detail_13_tf32_keeps_ten_bits() {
    let bits = |x: f32| {
        let (even, zero, away): (tf32, tf32, tf32) =
            (x.cast(), CastWith::<_, TowardZero>::cast_with(x), CastWith::<_, TiesAway>::cast_with(x));
        [even, zero, away].map(|x| x.to_bits() >> 13)
    };
    let one = 1.0f32.to_bits() >> 13;
    assert_eq!(bits(f32::from_bits((one << 13) + 0xfff)), [one, one, one]);
    assert_eq!(bits(f32::from_bits((one << 13) + 0x1000)), [one, one, one + 1]);
    assert_eq!(bits(f32::from_bits((one << 13) + 0x1001)), [one + 1, one, one + 1]);
    assert_eq!(bits(f32::from_bits((one << 13) + 0x3000)), [one + 2, one + 1, one + 2]);
    assert_eq!(bits(-f32::MAX), [0xff80_0000 >> 13, 0xff7f_e000 >> 13, 0xff80_0000 >> 13]);
    assert_eq!(bits(f32::INFINITY), [0x7f80_0000 >> 13; 3]);
    // 2^40 + 2^29 + 1: beyond a middle by less than f32 can tell.
    assert_eq!(
        Cast::<tf32>::cast((1i64 << 40) + (1 << 29) + 1).to_f32(),
        2f32.powi(40) * (1.0 + 2f32.powi(-10))
    );
    assert_eq!(Cast::<tf32>::cast(-(1i64 << 40) - (1 << 29)).to_f32(), -2f32.powi(40));
    assert_eq!(
        Cast::<tf32>::cast(f64::from(1.0f32 + 2f32.powi(-11)).next_up()).to_f32(),
        1.0 + 2f32.powi(-10)
    );
    assert_eq!(Cast::<f64>::cast(tf32::from_bits(0x3f80_1fff)), 1.0, "the low bits are not part of it");
    assert_eq!(tf32::from_bits(0x3f80_1fff), tf32::from_f32(1.0));
}

/// Directed roundings against the neighbours that enclose a number.
#[test]
fn directed_roundings_enclose() {
    let mut values =
        vec![0.1f64, 1.0, 65504.0, 65519.9, 65520.0, 1e9, 1e39, 1e300, 1e-5, 6e-8, 2e-8, 1e-46, 1e-300];
    values.extend((0..400).map(|k| 1.7f64.powi(k - 200)));
    for x in values.iter().flat_map(|&x| [x, -x]) {
        let down: f32 = CastWith::<_, TowardNegative>::cast_with(x);
        let up: f32 = CastWith::<_, TowardPositive>::cast_with(x);
        let zero: f32 = CastWith::<_, TowardZero>::cast_with(x);
        assert!(f64::from(down) <= x && x <= f64::from(up), "{x:e}");
        assert!(down == up || down.next_up() == up || (down, up) == (-0.0, 0.0), "{x:e}: {down:e} {up:e}");
        assert_eq!(zero, if x > 0.0 { down } else { up });
        let half: f16 = CastWith::<_, TowardZero>::cast_with(x);
        let (near, next) = (half.to_f64(), f16::from_bits(half.to_bits() + 1).to_f64());
        assert!(
            near.abs() <= x.abs() && (x.abs() < next.abs() || half.to_bits() & 0x7fff == 0x7bff),
            "{x:e}"
        );
        let brain: bf16 = CastWith::<_, TowardZero>::cast_with(x);
        let (near, next) = (brain.to_f64(), bf16::from_bits(brain.to_bits() + 1).to_f64());
        assert!(
            near.abs() <= x.abs() && (x.abs() < next.abs() || brain.to_bits() & 0x7fff == 0x7f7f),
            "{x:e}"
        );
    }
}

/// Every `bf16` to `f16` in all modes: the nearest, and the neighbours on either side.
#[test]
fn bf16_to_f16_in_all_modes() {
    for bits in 0..=u16::MAX {
        let value = bf16::from_bits(bits);
        let x = value.to_f64();
        let even: f16 = CastWith::<_, NearestEven>::cast_with(value);
        let zero: f16 = CastWith::<_, TowardZero>::cast_with(value);
        let down: f16 = CastWith::<_, TowardNegative>::cast_with(value);
        let up: f16 = CastWith::<_, TowardPositive>::cast_with(value);
        let away: f16 = CastWith::<_, TiesAway>::cast_with(value);
        if x.is_nan() {
            assert!([even, zero, down, up, away].iter().all(|x| x.is_nan()));
            continue;
        }
        assert!(down.to_f64() <= x && x <= up.to_f64(), "{x:e}");
        assert_eq!(zero, if x > 0.0 { down } else { up }, "{x:e}");
        if x.is_infinite() {
            assert!([even, zero, down, up, away].iter().all(|y| y.to_f64() == x));
            continue;
        }
        assert!(
            down == up
                || up.to_bits().abs_diff(down.to_bits()) == 1
                || (down.to_bits() & 0x7fff == 0 || up.to_bits() & 0x7fff == 0),
            "{x:e}"
        );
        assert_eq!(even.to_bits(), f16::from_f64(x).to_bits(), "{x:e}");
        let number = |half: f16| if half.is_infinite() { 65536f64.copysign(x) } else { half.to_f64() };
        let (near, far) = ((number(zero) - x).abs(), (number(if x > 0.0 { up } else { down }) - x).abs());
        let expected = if near < far {
            zero
        } else if x > 0.0 {
            up
        } else {
            down
        };
        assert_eq!(away, expected, "{x:e}");
    }
}

#[test]
fn detail_12_constants() {
    const ONE_AND_A_HALF: f8e4m3 = f8e4m3::constant(1.5);
    assert_eq!(ONE_AND_A_HALF.to_f32(), 1.5);
    assert_eq!(f8e5m2::constant(f32::NEG_INFINITY).to_bits(), 0xfc);
    assert_eq!(f8e8m0::constant(0.25).to_bits(), 125);
    assert_eq!(f4e2m1::constant(0.7).to_f32(), 0.5);
    for wrong in [
        || f32::from(f8e8m0::constant(-1.0)),
        || f32::from(f8e8m0::constant(3.0)),
        || f32::from(f8e8m0::constant(0.0)),
        || f32::from(f8ue5m3::constant(-0.5)),
        || f32::from(f8e4m3::constant(f32::INFINITY)),
        || f32::from(f8e4m3::constant(449.0)),
        || f32::from(f4e2m1::constant(f32::NAN)),
        || f32::from(f4e2m1::constant(6.5)),
        || f32::from(tf32::constant(f32::MAX)),
    ] as [fn() -> f32; 9]
    {
        assert!(std::panic::catch_unwind(wrong).is_err());
    }
}

/// Each step of the lattice keeps every value.
#[test]
fn detail_9_widening_is_exact() {
    macro_rules! steps {
        ($($from:ident to $($to:ident)*;)*) => { $($(
            for code in 0..=255u16 {
                let value = $from::from_bits((code * 257) as _);
                let (narrow, wide): (f64, f64) = (value.cast(), Cast::<$to>::cast(value).cast());
                let same = narrow.to_bits() == wide.to_bits() || (narrow.is_nan() && wide.is_nan());
                assert!(same, concat!(stringify!($from), " as ", stringify!($to), ": {:?}"), value);
                let down: $to = CastWith::<$to, TowardNegative>::cast_with(value);
                assert!(down == Cast::<$to>::cast(value) || narrow.is_nan());
            }
        )*)* };
    }
    steps! {
        f4e2m1 to f8e4m3 f8e5m2 f16 bf16 tf32 f32 f64;
        f8e4m3 to f16 bf16 tf32 f32 f64;
        f8e5m2 to f16 bf16 tf32 f32 f64;
        f8e8m0 to bf16 tf32 f32 f64;
        f8ue5m3 to bf16 tf32 f32 f64;
        f16 to tf32 f32 f64;
        bf16 to tf32 f32 f64;
    }
}

/// A `bool` is a byte for `bitcast`, and a bit for `repack`.
#[test]
fn detail_10_bool_in_bytes_and_bits() {
    let t = tile(&[0u8, 1, 2, 255, 0, 0, 128, 0], shape![8]);
    let truth = t.bitcast::<bool>();
    assert_eq!(elements(truth.bitcast::<u8>()), [0, 1, 1, 1, 0, 0, 1, 0]);
    assert_eq!(elements(truth.repack::<u8, 0>()), [0b0100_1110]);
}

#[test]
fn values_in_words() {
    assert_eq!(format!("{} {:?}", f8e4m3::from_f32(-1.25), f8e5m2::INFINITY), "-1.25 inf");
    assert_eq!(f4e2m1x2::from_bits(0x91).to_string(), "[0.5, -0.5]");
    assert!(f8e4m3::from_bits(0x80) == f8e4m3::ZERO && f8e4m3::NAN != f8e4m3::NAN);
    assert!(f8e5m2::MAX < f8e5m2::INFINITY && f8e4m3::MIN_POSITIVE > f8e4m3::ZERO);
    assert_eq!(f8e4m3::MIN_POSITIVE.to_f32(), 2f32.powi(-9));
}

/// Every pair of widths, along every axis, there and back.
#[test]
fn repacking() {
    let bytes: Vec<u8> = (0..64).map(|k: u8| k.wrapping_mul(37) ^ 0xa5).collect();
    let t = tile(&bytes, shape![2, 16, 2]);
    // Along axis 1 four bytes at distance 2 make a word.
    let words = elements(t.repack::<u32, 1>());
    let at = |i: usize, j: usize, k: usize| bytes[(i * 16 + j) * 2 + k];
    for (flat, word) in words.iter().enumerate() {
        let (i, j, k) = (flat / 8, flat / 2 % 4, flat % 2);
        assert_eq!(*word, u32::from_le_bytes([0, 1, 2, 3].map(|b| at(i, 4 * j + b, k))));
    }
    assert_eq!(elements(t.repack::<u64, 1>().repack::<u16, 1>().repack::<i8, 1>().repack::<u8, 1>()), bytes);
    assert_eq!(elements(t.repack::<u16, 2>().repack::<bool, 2>().repack::<u8, 2>()), bytes);
    assert_eq!(elements(t.repack::<f4e2m1, 0>().repack::<u8, 0>()), bytes);
    assert_eq!(
        elements(t.repack::<bool, 2>())[..16],
        [
            true, false, true, false, false, true, false, true, false, false, false, false, false, false,
            false, true
        ]
        .map(|b| b)[..16]
    );
    assert_eq!(elements(t.pack_to_bytes()), bytes);
    let doubles: Vec<u64> =
        bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes"))).collect();
    let unpacked = tile(&bytes, shape![64]).unpack_from_bytes::<f64>();
    assert_eq!(elements(unpacked.bitcast::<u64>()), doubles);
    let nibbles = elements(tile(&bytes, shape![2, 32]).bitcast::<f4e2m1x2>().unpack());
    let expected: Vec<u8> = bytes.iter().flat_map(|b| [b & 15, b >> 4]).collect();
    assert_eq!(nibbles.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), expected);
}
