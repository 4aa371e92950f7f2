//! The combinations of element types that multiply: the instruction of each, and the arithmetic without tensor cores.

use crate::arch::matrix as machine;
use crate::arch::matrix::WARPGROUPS;
use crate::arch::warpgroup;
use crate::element::{Cast, Element, Number, Repack, Word, bf16, f8e4m3, f8e5m2, f16, tf32};
use crate::registers::PowerOfTwo;
use typenum::{U1, U2, U4, U8};

/// Element types that [`mma`](super::mma) multiplies by elements `U`, accumulating in `C`.
///
/// | `Self` and `U` | `C` | on tensor cores |
/// |---|---|---|
/// | `i8`, `u8`, also mixed | `i32`, wrapping | yes |
/// | [`f8e4m3`], or [`f8e5m2`] | `f16`, `f32` | by FP8 instructions, or as `f16`, which represents FP8 exactly |
/// | [`f16`](struct@f16) | `f16`, `f32` | yes |
/// | [`bf16`] | `f32` | yes |
/// | [`tf32`] | `f32` | yes |
/// | `f32` | `f32` | no: `f32` is never rounded to TF32 unless you `cast` it |
/// | `f64` | `f64` | yes |
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` and `{U}` are not accumulated in `{C}` by `mma`",
    label = "no such multiplication of matrices",
    note = "i8 and u8 accumulate in i32; f16, or f8e4m3, or f8e5m2, in f16 or f32; bf16, or tf32, or f32, in f32; f64 in f64; other than i8 and u8, both matrices have the same type: `.cast::<...>()` one of them"
)]
pub trait MultiplyAccumulate<U: Repack, C: Element>: ProductOf<U, C> {}

/// The parts of a combination of types. They are separate from [`MultiplyAccumulate`], so that importing that trait does not
/// bring these functions into scope.
pub trait ProductOf<U: Repack, C: Element>: Repack {
    /// Bytes of an element.
    type Bytes: PowerOfTwo;
    /// A register of a fragment.
    type Word: Word;
    /// The number of elements in a register.
    type Packed: PowerOfTwo;
    /// The type of accumulators without tensor cores.
    type Wide: Number;
    /// Whether tensor cores multiply these types.
    const TENSOR_CORES: bool;
    /// Registers of `k` in one instruction.
    const UNITS: usize;
    /// An element of A, widened.
    fn widen_a(self) -> Self::Wide;
    /// An element of B, widened.
    fn widen_b(b: U) -> Self::Wide;
    /// An accumulator, widened.
    fn widen_accumulator(sum: C) -> Self::Wide;
    /// An accumulator, rounded once.
    fn narrow(sum: Self::Wide) -> C;
    /// `a * b + sum`.
    fn multiply_add(a: Self::Wide, b: Self::Wide, sum: Self::Wide) -> Self::Wide;
    /// The elements `part(0)`, `part(1)`, ... of A as a register.
    fn word_of_a(part: impl Fn(usize) -> Self) -> Self::Word;
    /// The elements `part(0)`, `part(1)`, ... of B as a register.
    fn word_of_b(part: impl Fn(usize) -> U) -> Self::Word;
    /// Whether warpgroups multiply these types, and accumulate in all the bits of `C`.
    const BY_WARPGROUPS: bool = false;
    /// The product of two operands in shared memory, by a warpgroup.
    ///
    /// # Safety
    /// As for `arch::warpgroup::f16_f32::shared`.
    unsafe fn multiply_shared<const TA: i32, const TB: i32>(
        _columns: usize,
        _acc: *mut u32,
        _add: u32,
        _a: u64,
        _b: u64,
    ) {
    }
    /// The product of an operand A in registers and an operand B in shared memory, by a warpgroup.
    ///
    /// # Safety
    /// As for `arch::warpgroup::f16_f32::registers`.
    unsafe fn multiply_registers<const TB: i32>(
        _columns: usize,
        _acc: *mut u32,
        _add: u32,
        _a: [u32; 4],
        _b: u64,
    ) {
    }
    /// The product of fragments with `units` registers of `k`, added to `acc`. `units` is 1 or [`UNITS`](Self::UNITS), or for
    /// f64 any number between; the other registers are zero.
    ///
    /// # Safety
    /// All 32 lanes of the warp execute this same call.
    unsafe fn multiply(a: [Self::Word; 8], b: [Self::Word; 4], units: usize, acc: [C; 4]) -> [C; 4];
}

/// Elements as a register, the first element in the lowest bits.
#[inline_on_device]
pub(crate) fn pack<T: Repack, W: Word, N: PowerOfTwo>(part: impl Fn(usize) -> T) -> W {
    let mut word = 0;
    N::unroll(0, 1, &mut |i| word |= part(i).to_bits().widen() << (8 * size_of::<T::Bits>() * i));
    W::narrow(word)
}

/// Runs a multiplication whose f16 accumulators come in pairs.
#[inline_on_device]
fn in_pairs(acc: [f16; 4], product: impl FnOnce([u32; 2]) -> [u32; 2]) -> [f16; 4] {
    let pair = |low: f16, high: f16| u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16;
    let [low, high] = product([pair(acc[0], acc[1]), pair(acc[2], acc[3])]);
    let half = |bits: u32| f16::from_bits(bits as u16);
    [half(low), half(low >> 16), half(high), half(high >> 16)]
}

macro_rules! combinations {
    ($(
        $a:ident $b:ident $sum:ident: $bytes:ident bytes, $packed:ident in $word:ident, $units:literal units, tensor cores $served:literal,
        wide $wide:ident $multiply_add:expr, |$l:ident, $r:ident, $u:ident, $s:ident| $product:expr
        $(, warpgroups $instruction:ident exact $exact:literal)?;
    )*) => { $(
        impl MultiplyAccumulate<$b, $sum> for $a {}
        impl ProductOf<$b, $sum> for $a {
            type Bytes = $bytes;
            type Word = $word;
            type Packed = $packed;
            type Wide = $wide;
            const TENSOR_CORES: bool = $served;
            const UNITS: usize = $units;
            #[inline_on_device]
            fn widen_a(self) -> $wide {
                self.cast()
            }
            #[inline_on_device]
            fn widen_b(b: $b) -> $wide {
                b.cast()
            }
            #[inline_on_device]
            fn widen_accumulator(sum: $sum) -> $wide {
                sum.cast()
            }
            #[inline_on_device]
            fn narrow(sum: $wide) -> $sum {
                sum.cast()
            }
            #[inline_on_device]
            fn multiply_add(a: $wide, b: $wide, sum: $wide) -> $wide {
                $multiply_add(a, b, sum)
            }
            #[inline_on_device]
            fn word_of_a(part: impl Fn(usize) -> Self) -> $word {
                pack::<Self, $word, $packed>(part)
            }
            #[inline_on_device]
            fn word_of_b(part: impl Fn(usize) -> $b) -> $word {
                pack::<$b, $word, $packed>(part)
            }
            $(
                const BY_WARPGROUPS: bool = WARPGROUPS && $exact;
                #[inline_on_device]
                unsafe fn multiply_shared<const TA: i32, const TB: i32>(columns: usize, acc: *mut u32, add: u32, a: u64, b: u64) {
                    // SAFETY: the same contract.
                    unsafe { warpgroup::$instruction::shared::<TA, TB>(columns, acc, add, a, b) }
                }
                #[inline_on_device]
                unsafe fn multiply_registers<const TB: i32>(columns: usize, acc: *mut u32, add: u32, a: [u32; 4], b: u64) {
                    // SAFETY: the same contract.
                    unsafe { warpgroup::$instruction::registers::<TB>(columns, acc, add, a, b) }
                }
            )?
            #[inline_on_device]
            #[allow(unused_unsafe, reason = "f32 has no instruction")]
            unsafe fn multiply($l: [$word; 8], $r: [$word; 4], $u: usize, $s: [$sum; 4]) -> [$sum; 4] {
                // SAFETY: the same contract.
                unsafe { $product }
            }
        }
    )* };
}

/// `a * b + sum`, wrapping.
#[inline_on_device]
fn multiply_add_i32(a: i32, b: i32, sum: i32) -> i32 {
    sum.wrapping_add(a.wrapping_mul(b))
}

/// The combinations whose registers have 32 bits and whose accumulators come one by one.
macro_rules! in_words {
    ($($a:ident $b:ident $sum:ident: $bytes:ident $packed:ident, $wide:ident $multiply_add:path, $product:ident
        $(, warpgroups $instruction:ident exact $exact:literal)?;)*) => {
        combinations! { $(
            $a $b $sum: $bytes bytes, $packed in u32, 2 units, tensor cores true, wide $wide $multiply_add,
            |a, b, _units, acc| machine::$product([a[0], a[1], a[2], a[3]], [b[0], b[1]], acc)
            $(, warpgroups $instruction exact $exact)?;
        )* }
    };
}
in_words! {
    i8 i8 i32: U1 U4, i32 multiply_add_i32, s8_s8, warpgroups i8_i8 exact true;
    i8 u8 i32: U1 U4, i32 multiply_add_i32, s8_u8;
    u8 i8 i32: U1 U4, i32 multiply_add_i32, u8_s8;
    u8 u8 i32: U1 U4, i32 multiply_add_i32, u8_u8, warpgroups u8_u8 exact true;
    f8e4m3 f8e4m3 f32: U1 U4, f32 machine::multiply_add_f32, e4m3_f32, warpgroups e4m3_f32 exact false;
    f8e5m2 f8e5m2 f32: U1 U4, f32 machine::multiply_add_f32, e5m2_f32, warpgroups e5m2_f32 exact false;
    f16 f16 f32: U2 U2, f32 machine::multiply_add_f32, f16_f32, warpgroups f16_f32 exact true;
    bf16 bf16 f32: U2 U2, f32 machine::multiply_add_f32, bf16_f32, warpgroups bf16_f32 exact true;
    tf32 tf32 f32: U4 U1, f32 machine::multiply_add_f32, tf32_f32, warpgroups tf32_f32 exact true;
}

/// The combinations whose accumulators come in pairs.
macro_rules! to_pairs {
    ($($element:ident: $bytes:ident $packed:ident, $product:ident;)*) => {
        combinations! { $(
            $element $element f16: $bytes bytes, $packed in u32, 2 units, tensor cores true, wide f32 machine::multiply_add_f32,
            |a, b, _units, acc| {
                in_pairs(acc, |acc| machine::$product([a[0], a[1], a[2], a[3]], [b[0], b[1]], acc))
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
        |_a, _b, _units, acc| acc;
    f64 f64 f64: U8 bytes, U1 in u64, 4 units, tensor cores true, wide f64 machine::multiply_add_f64,
        |a, b, units, acc| {
            let (a, b) = (a.map(f64::from_bits), b.map(f64::from_bits));
            if units == 4 {
                machine::f64_by_16(a, b, acc)
            } else {
                let acc = machine::f64_by_4([a[0], a[1]], b[0], acc);
                if units == 1 { acc } else { machine::f64_by_4([a[2], a[3]], b[1], acc) }
            }
        };
}

/// Elements that [`matmul`](super::matmul) multiplies by elements `U`.
#[diagnostic::on_unimplemented(
    message = "`matmul` does not multiply tiles of `{Self}` and `{U}`",
    label = "no such multiplication of matrices",
    note = "i8 and u8 multiply with each other; f16, bf16, tf32, f32, f64, f8e4m3 and f8e5m2 each with themselves: `.cast::<...>()` one of the tiles"
)]
pub trait Multiply<U: Repack>: MultiplyAccumulate<U, Self::Sum> {
    /// The type of the product.
    type Sum: Number;
}

macro_rules! sum_types {
    ($($a:ident $b:ident $sum:ident;)*) => { $(
        impl Multiply<$b> for $a {
            type Sum = $sum;
        }
    )* };
}
sum_types! {
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
