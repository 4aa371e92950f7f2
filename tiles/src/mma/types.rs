//! Which element types multiply, and to what: for each combination the instruction, and the arithmetic that serves without.

use crate::arch::matrix as machine;
use crate::element::{Cast, Element, Number, Repack, Word, bf16, f8e4m3, f8e5m2, f16, tf32};
use crate::registers::PowerOfTwo;
use typenum::{U1, U2, U4, U8};

/// Elements that [`mma`](super::mma) multiplies by elements `U`, to sums of type `C`.
///
/// | `Self` and `U` | `C` | on tensor cores |
/// |---|---|---|
/// | `i8`, `u8`, also mixed | `i32`, wrapping | yes |
/// | [`f8e4m3`], or [`f8e5m2`] | `f16`, `f32` | by FP8 instructions, or in `f16`, in which FP8 is exact |
/// | [`f16`](struct@f16) | `f16`, `f32` | yes |
/// | [`bf16`] | `f32` | yes |
/// | [`tf32`] | `f32` | yes |
/// | `f32` | `f32` | no: `f32` is never cut down to TF32 unless you `cast` it |
/// | `f64` | `f64` | yes |
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` and `{U}` do not multiply to sums of `{C}`",
    label = "no such product of matrices",
    note = "i8 and u8 multiply to i32; f16, or f8e4m3, or f8e5m2, to f16 or f32; bf16, or tf32, or f32, to f32; f64 to f64; other than i8 and u8, both matrices have the same type: `.cast::<...>()` one of them"
)]
pub trait MultiplyAccumulate<U: Repack, C: Element>: ProductOf<U, C> {}

/// What a combination of types consists of. Apart from [`MultiplyAccumulate`], so that its functions do not come into scope with
/// that.
pub trait ProductOf<U: Repack, C: Element>: Repack {
    /// Bytes of an element.
    type Bytes: PowerOfTwo;
    /// A register of a fragment.
    type Word: Word;
    /// How many elements it has.
    type Packed: PowerOfTwo;
    /// The type of sums outside of tensor cores.
    type Wide: Number;
    /// Whether tensor cores multiply these types.
    const TENSOR_CORES: bool;
    /// Registers of `k` in one instruction.
    const UNITS: usize;
    /// An element of the left matrix.
    fn widen_left(self) -> Self::Wide;
    /// An element of the right matrix.
    fn widen_right(right: U) -> Self::Wide;
    /// A sum.
    fn widen_sum(sum: C) -> Self::Wide;
    /// A sum, rounded once.
    fn narrow(sum: Self::Wide) -> C;
    /// `left * right + sum`.
    fn multiply_add(left: Self::Wide, right: Self::Wide, sum: Self::Wide) -> Self::Wide;
    /// The elements `part(0)`, `part(1)`, ... of the left matrix as a register.
    fn left_word(part: impl Fn(usize) -> Self) -> Self::Word;
    /// The same of the right matrix.
    fn right_word(part: impl Fn(usize) -> U) -> Self::Word;
    /// The product of fragments with `units` registers of `k`, 1 or [`UNITS`](Self::UNITS), or for f64 any number between; the
    /// others are zero.
    ///
    /// # Safety
    /// All 32 lanes of the warp execute this same call.
    unsafe fn multiply(left: [Self::Word; 8], right: [Self::Word; 4], units: usize, sums: [C; 4]) -> [C; 4];
}

/// Elements as a register, the first one lowest.
#[inline(always)]
pub(crate) fn pack<T: Repack, W: Word, N: PowerOfTwo>(part: impl Fn(usize) -> T) -> W {
    let mut word = 0;
    N::unroll(0, 1, &mut |i| word |= part(i).to_bits().widen() << (8 * size_of::<T::Bits>() * i));
    W::narrow(word)
}

/// Sums of f16 as pairs, and back.
#[inline(always)]
fn in_pairs(sums: [f16; 4], product: impl FnOnce([u32; 2]) -> [u32; 2]) -> [f16; 4] {
    let pair = |low: f16, high: f16| u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16;
    let [low, high] = product([pair(sums[0], sums[1]), pair(sums[2], sums[3])]);
    let half = |bits: u32| f16::from_bits(bits as u16);
    [half(low), half(low >> 16), half(high), half(high >> 16)]
}

macro_rules! combinations {
    ($(
        $left:ident $right:ident $sum:ident: $bytes:ident bytes, $packed:ident in $word:ident, $units:literal units, tensor cores $served:literal,
        wide $wide:ident $multiply_add:expr, |$l:ident, $r:ident, $u:ident, $s:ident| $product:expr;
    )*) => { $(
        impl MultiplyAccumulate<$right, $sum> for $left {}
        impl ProductOf<$right, $sum> for $left {
            type Bytes = $bytes;
            type Word = $word;
            type Packed = $packed;
            type Wide = $wide;
            const TENSOR_CORES: bool = $served;
            const UNITS: usize = $units;
            #[inline(always)]
            fn widen_left(self) -> $wide {
                self.cast()
            }
            #[inline(always)]
            fn widen_right(right: $right) -> $wide {
                right.cast()
            }
            #[inline(always)]
            fn widen_sum(sum: $sum) -> $wide {
                sum.cast()
            }
            #[inline(always)]
            fn narrow(sum: $wide) -> $sum {
                sum.cast()
            }
            #[inline(always)]
            fn multiply_add(left: $wide, right: $wide, sum: $wide) -> $wide {
                $multiply_add(left, right, sum)
            }
            #[inline(always)]
            fn left_word(part: impl Fn(usize) -> Self) -> $word {
                pack::<Self, $word, $packed>(part)
            }
            #[inline(always)]
            fn right_word(part: impl Fn(usize) -> $right) -> $word {
                pack::<$right, $word, $packed>(part)
            }
            #[inline(always)]
            #[allow(unused_unsafe, reason = "f32 has no instruction")]
            unsafe fn multiply($l: [$word; 8], $r: [$word; 4], $u: usize, $s: [$sum; 4]) -> [$sum; 4] {
                // SAFETY: the same contract.
                unsafe { $product }
            }
        }
    )* };
}

/// `left * right + sum`, wrapping.
#[inline(always)]
fn multiply_add_i32(left: i32, right: i32, sum: i32) -> i32 {
    sum.wrapping_add(left.wrapping_mul(right))
}

/// The combinations whose registers have 32 bits: one instruction with sums as they are.
macro_rules! in_words {
    ($($left:ident $right:ident $sum:ident: $bytes:ident $packed:ident, $wide:ident $multiply_add:path, $product:ident;)*) => {
        combinations! { $(
            $left $right $sum: $bytes bytes, $packed in u32, 2 units, tensor cores true, wide $wide $multiply_add,
            |left, right, _units, sums| machine::$product([left[0], left[1], left[2], left[3]], [right[0], right[1]], sums);
        )* }
    };
}
in_words! {
    i8 i8 i32: U1 U4, i32 multiply_add_i32, s8_s8;
    i8 u8 i32: U1 U4, i32 multiply_add_i32, s8_u8;
    u8 i8 i32: U1 U4, i32 multiply_add_i32, u8_s8;
    u8 u8 i32: U1 U4, i32 multiply_add_i32, u8_u8;
    f8e4m3 f8e4m3 f32: U1 U4, f32 machine::multiply_add_f32, e4m3_f32;
    f8e5m2 f8e5m2 f32: U1 U4, f32 machine::multiply_add_f32, e5m2_f32;
    f16 f16 f32: U2 U2, f32 machine::multiply_add_f32, f16_f32;
    bf16 bf16 f32: U2 U2, f32 machine::multiply_add_f32, bf16_f32;
    tf32 tf32 f32: U4 U1, f32 machine::multiply_add_f32, tf32_f32;
}

/// The same with sums in pairs.
macro_rules! to_pairs {
    ($($element:ident: $bytes:ident $packed:ident, $product:ident;)*) => {
        combinations! { $(
            $element $element f16: $bytes bytes, $packed in u32, 2 units, tensor cores true, wide f32 machine::multiply_add_f32,
            |left, right, _units, sums| {
                in_pairs(sums, |sums| machine::$product([left[0], left[1], left[2], left[3]], [right[0], right[1]], sums))
            };
        )* }
    };
}
to_pairs! {
    f8e4m3: U1 U4, e4m3_f16;
    f8e5m2: U1 U4, e5m2_f16;
    f16: U2 U2, f16_f16;
}

combinations! {
    f32 f32 f32: U4 bytes, U1 in u32, 2 units, tensor cores false, wide f32 machine::multiply_add_f32,
        |_left, _right, _units, sums| sums;
    f64 f64 f64: U8 bytes, U1 in u64, 4 units, tensor cores true, wide f64 machine::multiply_add_f64,
        |left, right, units, sums| {
            let (left, right) = (left.map(f64::from_bits), right.map(f64::from_bits));
            if units == 4 {
                machine::f64_by_16(left, right, sums)
            } else {
                let sums = machine::f64_by_4([left[0], left[1]], right[0], sums);
                if units == 1 { sums } else { machine::f64_by_4([left[2], left[3]], right[1], sums) }
            }
        };
}

/// Elements that [`matmul`](super::matmul) multiplies by elements `U`.
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` and `{U}` have no product of matrices",
    label = "no such product of matrices",
    note = "i8 and u8 multiply with each other; f16, bf16, tf32, f32, f64, f8e4m3 and f8e5m2 each with themselves: `.cast::<...>()` one of the tiles"
)]
pub trait Multiply<U: Repack>: MultiplyAccumulate<U, Self::Sum> {
    /// The type of the product.
    type Sum: Number;
}

macro_rules! sums {
    ($($left:ident $right:ident $sum:ident;)*) => { $(
        impl Multiply<$right> for $left {
            type Sum = $sum;
        }
    )* };
}
sums! {
    i8 i8 i32;
    i8 u8 i32;
    u8 i8 i32;
    u8 u8 i32;
    f8e4m3 f8e4m3 f16;
    f8e5m2 f8e5m2 f16;
    f16 f16 f16;
    bf16 bf16 f32;
    tf32 tf32 f32;
    f32 f32 f32;
    f64 f64 f64;
}
