//! Facts about numbers as types, checked where a number comes from: at launch, or by a test in the kernel.
//!
//! What `assume_divisible` and `assume_bounded` promise in CUDA Tile C++, where a false promise is undefined behaviour,
//! is an argument type here: [`Divisible`] and [`Bounded`] are refused at launch when they do not hold. The compiler
//! knows the fact wherever the number is used.

use super::extents::{Extent, ExtentError};
use crate::arch;
use crate::element::Integer;
use crate::launch::{Fingerprint, Parameter, Parts, Single};
use crate::sealed::{Sealed, sealed};
use core::fmt;
use core::hint::assert_unchecked;
use core::ops::Deref;

/// Why a number does not have the fact that a kernel's parameter states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactError {
    /// It is not divisible.
    NotDivisible {
        /// The number.
        found: i128,
        /// Of what it should be a multiple.
        by: u64,
    },
    /// It is out of bounds.
    OutOfBounds {
        /// The number.
        found: i128,
        /// The least.
        least: i64,
        /// The greatest.
        greatest: i64,
    },
}

impl fmt::Display for FactError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDivisible { found, by } => {
                write!(formatter, "it is {found}, but the kernel is compiled for multiples of {by}")
            }
            Self::OutOfBounds { found, least, greatest } => {
                write!(formatter, "it is {found}, but the kernel is compiled for {least} to {greatest}")
            }
        }
    }
}

impl core::error::Error for FactError {}

/// A number with a fact: what a kernel's parameter of such a type is made from.
pub trait Fact: Sealed + Copy + Deref<Target = Self::Number> {
    /// The number's type.
    type Number: Integer;
    /// The number with the fact.
    ///
    /// # Errors
    /// If it does not have it.
    fn try_new(number: Self::Number) -> Result<Self, FactError>;
}

/// The number's value, whatever its type.
#[inline_on_device]
fn wide<T: Integer + Into<i128>>(number: T) -> i128 {
    number.into()
}

/// A scalar that is a multiple of `K`, checked at launch.
///
/// As a kernel's parameter it takes the plain number: `kernel.launch(&device, 1, (..., 48_u32))`. It reads as the number.
///
/// ```
/// use cuda_tiles::prelude::*;
/// #[kernel]
/// fn scale_rows(cx: Cx, y: SpanMut<i32, (u32,)>, stride: Divisible<u32, 16>) {
///     let y = y.partition(cx, shape![64]);
///     let i = cx.bid::<0>();
///     y.store_masked(y.load_masked(Zero, i) * (*stride / 16) as i32, i);
/// }
/// cuda_tiles::cpu::block(|_| assert_eq!(*Divisible::<i32, 16>::new(-48), -48));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
#[doc(alias("assume_divisible", "assume_divisible_by", "multiple_of"))]
pub struct Divisible<T, const K: u64>(T);

impl<T: Integer + Into<i128>, const K: u64> Divisible<T, K> {
    /// The number, which must be a multiple of `K`.
    ///
    /// [`Divisible`] has an example.
    ///
    /// # Panics
    ///
    /// If it is not (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn new(number: T) -> Self {
        const { Self::is_legal() };
        if !Self::holds(number) {
            arch::execution::fail(|text| write!(text, "{} is not a multiple of {K}", wide(number)));
        }
        Self(number)
    }

    /// The number, with the caller's word for the fact: CUDA Tile C++'s `assume_divisible`.
    ///
    /// # Safety
    ///
    /// The number is a multiple of `K`.
    #[inline_on_device]
    pub unsafe fn new_unchecked(number: T) -> Self {
        const { Self::is_legal() };
        Self(number)
    }

    const fn is_legal() {
        assert!(K > 0 && K < 1 << 31, "Divisible<_, K> needs a K from 1 to 2147483647");
    }

    #[inline_on_device]
    fn holds(number: T) -> bool {
        if size_of::<T>() <= 4 { wide(number) as i64 % K as i64 == 0 } else { wide(number) % K as i128 == 0 }
    }
}

impl<T: Integer + Into<i128>, const K: u64> Fact for Divisible<T, K> {
    type Number = T;
    fn try_new(number: T) -> Result<Self, FactError> {
        const { Self::is_legal() };
        if Self::holds(number) {
            Ok(Self(number))
        } else {
            Err(FactError::NotDivisible { found: wide(number), by: K })
        }
    }
}

impl<T: Integer + Into<i128>, const K: u64> Deref for Divisible<T, K> {
    type Target = T;
    #[inline_on_device]
    fn deref(&self) -> &T {
        // SAFETY: checked where the number was made.
        unsafe { assert_unchecked(!K.is_power_of_two() || wide(self.0) as u64 & (K - 1) == 0) };
        &self.0
    }
}

/// A scalar or an extent from `LOW` to `HIGH`, both included, checked at launch.
///
/// ```
/// use cuda_tiles::prelude::*;
/// #[kernel]
/// fn shift(cx: Cx, y: SpanMut<i32, (Bounded<u32, 1, 4096>,)>, by: Bounded<i32, -8, 8>) {
///     let y = y.partition(cx, shape![64]);
///     let i = cx.bid::<0>();
///     y.store_masked(y.load_masked(Zero, i) + *by, i);
/// }
/// cuda_tiles::cpu::block(|_| assert_eq!(*Bounded::<i32, -8, 8>::new(-8), -8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
#[doc(alias("assume_bounded", "assume_bounds"))]
pub struct Bounded<T, const LOW: i64, const HIGH: i64>(T);

impl<T: Integer + Into<i128>, const LOW: i64, const HIGH: i64> Bounded<T, LOW, HIGH> {
    /// The number, which must lie within the bounds.
    ///
    /// [`Bounded`] has an example.
    ///
    /// # Panics
    ///
    /// If it does not (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn new(number: T) -> Self {
        const { Self::is_legal() };
        if !Self::holds(number) {
            arch::execution::fail(|text| write!(text, "{} is not within {LOW} to {HIGH}", wide(number)));
        }
        Self(number)
    }

    /// The number, with the caller's word for the fact: CUDA Tile C++'s `assume_bounded`.
    ///
    /// # Safety
    ///
    /// The number lies within the bounds.
    #[inline_on_device]
    pub unsafe fn new_unchecked(number: T) -> Self {
        const { Self::is_legal() };
        Self(number)
    }

    const fn is_legal() {
        assert!(LOW <= HIGH, "Bounded<_, LOW, HIGH> needs LOW <= HIGH");
    }

    #[inline_on_device]
    fn holds(number: T) -> bool {
        (LOW as i128..=HIGH as i128).contains(&wide(number))
    }
}

impl<T: Integer + Into<i128>, const LOW: i64, const HIGH: i64> Fact for Bounded<T, LOW, HIGH> {
    type Number = T;
    fn try_new(number: T) -> Result<Self, FactError> {
        const { Self::is_legal() };
        if Self::holds(number) {
            Ok(Self(number))
        } else {
            Err(FactError::OutOfBounds { found: wide(number), least: LOW, greatest: HIGH })
        }
    }
}

impl<T: Integer + Into<i128>, const LOW: i64, const HIGH: i64> Deref for Bounded<T, LOW, HIGH> {
    type Target = T;
    #[inline_on_device]
    fn deref(&self) -> &T {
        // SAFETY: checked where the number was made.
        unsafe { assert_unchecked(Self::holds(self.0)) };
        &self.0
    }
}

/// What a launch relies on, besides the type of number.
const fn bounds<const LOW: i64, const HIGH: i64>() -> Fingerprint {
    Fingerprint::EMPTY.word("Bounded").number(LOW as u64).number(HIGH as u64)
}

macro_rules! scalars {
    ($([$($parameter:tt)*] $fact:ty, $facts:expr;)*) => { $(
        // SAFETY: a scalar is its bits; only a value that has the fact is taken apart.
        #[diagnostic::do_not_recommend]
        unsafe impl<T: Integer + Into<i128>, $($parameter)*> Parameter for $fact {
            type First = T::Bits;
            type Second = ();
            type Third = ();
            type Form = Single;
            const FINGERPRINT: Fingerprint = $facts.word(T::NAME);
            #[inline_on_device]
            fn into_parts(self) -> Parts<Self> {
                Parts { first: self.0.to_bits(), second: (), third: () }
            }
            #[inline_on_device]
            unsafe fn from_parts(parts: Parts<Self>) -> Self {
                Self(T::from_bits(parts.first))
            }
        }
    )* };
}
scalars! {
    [const K: u64] Divisible<T, K>, Fingerprint::EMPTY.word("Divisible").number(K);
    [const LOW: i64, const HIGH: i64] Bounded<T, LOW, HIGH>, bounds::<LOW, HIGH>();
}

// SAFETY: the length is the number inside, which was checked to lie within the bounds.
unsafe impl<T, const LOW: i64, const HIGH: i64> Extent for Bounded<T, LOW, HIGH>
where
    T: Extent + Integer + Into<i128>,
{
    type Offset = T::Offset;
    const MULTIPLE: u64 = 1;
    const STATIC: Option<u64> = None;
    const FINGERPRINT: Fingerprint = bounds::<LOW, HIGH>().then(<T as Extent>::FINGERPRINT);
    #[inline_on_device]
    fn get(self) -> u64 {
        Extent::get(*self)
    }
    fn try_new(length: u64) -> Result<Self, ExtentError> {
        const { assert!(LOW >= 0, "a length is not negative") };
        let number = T::try_new(length)?;
        if Self::holds(number) {
            Ok(Self(number))
        } else {
            Err(ExtentError::OutOfBounds { least: LOW as u64, greatest: HIGH as u64 })
        }
    }
}

sealed! {
    [T, const K: u64] Divisible<T, K>;
    [T, const LOW: i64, const HIGH: i64] Bounded<T, LOW, HIGH>;
}
