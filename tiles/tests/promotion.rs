//! The common types of all pairs of element types, against the rules that the table of `Promote` follows.

mod common;

use common::{Exact, Sample, tile};
use cuda_tiles::element::PromoteMixed;
use cuda_tiles::prelude::*;
use std::marker::PhantomData;

/// What the rules look at.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Class {
    Boolean,
    Signed(u32),
    Unsigned(u32),
    /// The bits of the type; two floats of one width are of different formats.
    Float(u32),
    /// A float without arithmetic, or a pair of them.
    Restricted,
}

use Class::{Boolean, Float as Floating, Restricted, Signed, Unsigned};

/// The common type of two types, by name; `None` where there is none.
fn expected((left, a): (&'static str, Class), (right, b): (&'static str, Class)) -> Option<&'static str> {
    match (a, b) {
        _ if left == right => Some(left),
        (Restricted, _) | (_, Restricted) => None,
        (Boolean, _) => Some(right),
        (_, Boolean) => Some(left),
        (Signed(m), Signed(n)) | (Unsigned(m), Unsigned(n)) => Some(if m > n { left } else { right }),
        (Signed(_), Unsigned(_)) | (Unsigned(_), Signed(_)) => None,
        (Floating(m), Floating(n)) if m == n => None,
        (Floating(m), Floating(n)) => Some(if m > n { left } else { right }),
        (Floating(_), _) => Some(left),
        (_, Floating(_)) => Some(right),
    }
}

/// The floats without arithmetic, as far as these tests need them: finite values, each of which is its own.
macro_rules! restricted {
    ($($type:ident $bits:ident, |$value:ident| $exact:expr, |$number:ident| $of:expr;)*) => { $(
        impl Sample for $type {
            fn special() -> Vec<Self> {
                let finite = |x: &Self| x.exact() != Exact::Real(f64::INFINITY) && x.exact() == x.exact();
                (0..127).map($type::from_bits).filter(finite).collect()
            }
            fn of_bits(bits: u64) -> Self {
                $type::from_bits(bits as $bits)
            }
            fn exact(self) -> Exact {
                let $value = self;
                $exact
            }
            fn of(exact: Exact) -> Self {
                let $number = match exact {
                    Exact::Real(number) => number,
                    Exact::Integer(number) => number as f64,
                };
                $of
            }
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }
        }
    )* };
}
restricted! {
    tf32 u32, |x| Exact::Real(x.to_f32().into()), |x| tf32::from_f32(x as f32);
    f8e4m3 u8, |x| Exact::Real(x.to_f32().into()), |x| f8e4m3::from_f32(x as f32);
    f8e5m2 u8, |x| Exact::Real(x.to_f32().into()), |x| f8e5m2::from_f32(x as f32);
    f8e8m0 u8, |x| Exact::Real(x.to_f32().into()), |x| f8e8m0::from_f32(x as f32);
    f8ue5m3 u8, |x| Exact::Real(x.to_f32().into()), |x| f8ue5m3::from_f32(x as f32);
    f4e2m1 u8, |x| Exact::Real(x.to_f32().into()), |x| f4e2m1::from_f32(x as f32);
    f4e2m1x2 u8, |x| Exact::Integer(x.to_bits().into()), |x| f4e2m1x2::from_bits(x as u8);
    i4 u8, |x| Exact::Integer(x.to_i8().into()), |x| i4::wrapping(x as i8);
    u4 u8, |x| Exact::Integer(x.to_u8().into()), |x| u4::wrapping(x as u8);
    i4x2 u8, |x| Exact::Integer(x.to_bits().into()), |x| i4x2::from_bits(x as u8);
}

/// A pair of types that may or may not have a common one.
struct Pair<T, U>(PhantomData<(T, U)>);

/// The answer for pairs that have one. A method call finds this trait first, without a further reference.
trait HaveCommonType {
    /// The common type's name, after a check that it keeps the values of both sides.
    fn common_type(&self) -> Option<&'static str>;
}

impl<T: Sample + Promote<U, Output: Sample>, U: Sample> HaveCommonType for Pair<T, U> {
    fn common_type(&self) -> Option<&'static str> {
        for value in T::special() {
            let common: T::Output = value.cast();
            assert!(common.same(Sample::of(value.exact())), "{value:?} as {}", T::Output::NAME);
        }
        for value in U::special() {
            assert!(T::promote(value).same(Sample::of(value.exact())), "{value:?} as {}", T::Output::NAME);
        }
        Some(T::Output::NAME)
    }
}

/// The answer for pairs that have none.
trait LackCommonType {
    /// Nothing.
    fn common_type(&self) -> Option<&'static str> {
        None
    }
}

impl<T, U> LackCommonType for &Pair<T, U> {}

macro_rules! all_pairs {
    ($($left:ident $left_class:expr),*; $rights:tt) => { $( all_pairs!(@row $left $left_class; $rights); )* };
    (@row $left:ident $left_class:expr; ($($right:ident $right_class:expr),*)) => { $(
        assert_eq!(
            (&Pair::<$left, $right>(PhantomData)).common_type(),
            expected((stringify!($left), $left_class), (stringify!($right), $right_class)),
            concat!(stringify!($left), " with ", stringify!($right))
        );
    )* };
}

#[test]
fn detail_3_all_pairs_of_element_types() {
    all_pairs! {
        bool Boolean, i8 Signed(8), i16 Signed(16), i32 Signed(32), i64 Signed(64), u8 Unsigned(8), u16 Unsigned(16),
        u32 Unsigned(32), u64 Unsigned(64), f16 Floating(16), bf16 Floating(16), f32 Floating(32), f64 Floating(64), tf32 Restricted, f8e4m3 Restricted,
        f8e5m2 Restricted, f8e8m0 Restricted, f8ue5m3 Restricted, f4e2m1 Restricted, f4e2m1x2 Restricted, i4 Restricted, u4 Restricted,
        i4x2 Restricted;
        (bool Boolean, i8 Signed(8), i16 Signed(16), i32 Signed(32), i64 Signed(64), u8 Unsigned(8), u16 Unsigned(16),
        u32 Unsigned(32), u64 Unsigned(64), f16 Floating(16), bf16 Floating(16), f32 Floating(32), f64 Floating(64), tf32 Restricted, f8e4m3 Restricted,
        f8e5m2 Restricted, f8e8m0 Restricted, f8ue5m3 Restricted, f4e2m1 Restricted, f4e2m1x2 Restricted, i4 Restricted, u4 Restricted,
        i4x2 Restricted)
    }
}

/// The rules themselves, by the cells of the peers' table that people ask about.
#[test]
fn detail_4_the_rules_say_what_the_peers_say() {
    assert_eq!(expected(("i64", Signed(64)), ("f16", Floating(16))), Some("f16"));
    assert_eq!(expected(("bool", Boolean), ("u8", Unsigned(8))), Some("u8"));
    assert_eq!(expected(("i64", Signed(64)), ("u8", Unsigned(8))), None);
    assert_eq!(expected(("f16", Floating(16)), ("bf16", Floating(16))), None);
    assert_eq!(expected(("bf16", Floating(16)), ("f32", Floating(32))), Some("f32"));
}

/// C++'s rule by its words: the unsigned type where it is as wide as the signed one or wider, else the signed one.
#[test]
fn detail_2_mixed_signedness_on_demand() {
    fn name<T: PromoteMixed<U, Output: Sample> + Sample, U: Sample + Cast<T::Output>>() -> &'static str {
        for (a, b) in T::special().into_iter().zip(U::special()) {
            let (left, right) = tile(&[a], shape![1]).promote_mixed(tile(&[b], shape![1]));
            assert!(left.item().same(Sample::of(a.exact())) && right.item().same(Sample::of(b.exact())));
        }
        T::Output::NAME
    }
    macro_rules! pairs {
        ($($left:ident)*; $rights:tt) => { $( pairs!(@row $left $rights); )* };
        (@row $left:ident ($($right:ident)*)) => { $( {
            let wider = if $left::BITS >= $right::BITS { stringify!($left) } else { stringify!($right) };
            let signed = |bits: u32, name: &'static str| (bits, name.starts_with('i'));
            let (a, b) = (signed($left::BITS, stringify!($left)), signed($right::BITS, stringify!($right)));
            let expected = match (a, b) {
                ((m, true), (n, false)) if n >= m => stringify!($right),
                ((m, false), (n, true)) if m >= n => stringify!($left),
                _ => wider,
            };
            assert_eq!(name::<$left, $right>(), expected, concat!(stringify!($left), " with ", stringify!($right)));
        } )* };
    }
    pairs!(i8 i16 i32 i64 u8 u16 u32 u64; (i8 i16 i32 i64 u8 u16 u32 u64));
    // Without that, nothing is widened: i8 and i8 give i8.
    cuda_tiles::cpu::block(|cx| {
        assert_eq!((cx.full(shape![2], 100i8) + cx.full(shape![2], 100i8)).at([0]), -56)
    });
}

/// Tiles promote like their elements.
#[test]
fn tiles_promote() {
    cuda_tiles::cpu::block(|cx| {
        let (bytes, halves) = (cx.full(shape![2], -3i8), cx.full(shape![2], f16::from_f32(0.5)));
        assert_eq!((bytes * halves).at([1]).exact(), Exact::Real(-1.5));
        assert_eq!((bytes + cx.full(shape![2], 1000i64)).at([0]), 997);
        assert_eq!((cx.full(shape![2], true) + cx.full(shape![2], 41u16)).at([0]), 42);
        assert!(bytes.lt(halves).at([0]));
    });
}

#[test]
fn detail_11_bitwise_operations_promote() {
    cuda_tiles::cpu::block(|cx| {
        let (yes, narrow, wide) =
            (cx.full(shape![4], true), cx.full(shape![4], -2i32), cx.full(shape![4], 0x1_0000_0003i64));
        let bytes: Tile<i8, _, _> = yes & cx.full(shape![4], 7i8);
        let words: Tile<i64, _, _> = narrow & wide;
        let unsigned: Tile<u32, _, _> = yes ^ cx.full(shape![4], 6u32);
        assert_eq!((bytes.at([0]), words.at([0]), unsigned.at([0])), (1, 0x1_0000_0002, 7));
    });
}
