//! Extents of spans: runtime numbers, static numbers and runtime multiples, mixed in one tuple.

use crate::launch::Fingerprint;
use crate::sealed::{Sealed, sealed};
use crate::shape::{D, MAXIMUM_RANK, Rank};
use core::fmt;

/// The integers in which element offsets are computed: `u32`, unless an extent is `u64`.
pub trait OffsetInteger: Sealed + Copy + PartialOrd + Send + Sync + fmt::Debug + 'static {
    /// The greatest offset.
    const GREATEST: u64;
    /// From a number that fits.
    fn from_u64(number: u64) -> Self;
    /// As a 64-bit number.
    fn to_u64(self) -> u64;
    /// Sum; callers guarantee that it fits.
    fn plus(self, other: Self) -> Self;
    /// Difference; callers guarantee that it is not negative.
    fn minus(self, other: Self) -> Self;
    /// Difference, at least 0.
    fn minus_saturating(self, other: Self) -> Self;
    /// Product; callers guarantee that it fits.
    fn times(self, other: Self) -> Self;
    /// Shift left; callers guarantee that it fits.
    fn shifted_left(self, bits: u32) -> Self;
    /// Shift right.
    fn shifted_right(self, bits: u32) -> Self;
    /// The larger type of both.
    type With<Other: OffsetInteger>: OffsetInteger;
}

macro_rules! offset_integer {
    ($($type:ty: $with:ty, $other:ident;)*) => { $(
        impl OffsetInteger for $type {
            const GREATEST: u64 = <$type>::MAX as u64;
            #[inline_on_device]
            fn from_u64(number: u64) -> Self {
                number as $type
            }
            #[inline_on_device]
            fn to_u64(self) -> u64 {
                self as u64
            }
            #[inline_on_device]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline_on_device]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline_on_device]
            fn minus_saturating(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
            #[inline_on_device]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline_on_device]
            fn shifted_left(self, bits: u32) -> Self {
                self << bits
            }
            #[inline_on_device]
            fn shifted_right(self, bits: u32) -> Self {
                self >> bits
            }
            type With<$other: OffsetInteger> = $with;
        }
    )* };
}
offset_integer! {
    u32: Other, Other;
    u64: u64, Other;
}

/// One extent: `u32` or `u64` (runtime), [`D<N>`](D) (static), [`Mult<u32, K>`](Mult) (runtime, a multiple of `K`),
/// [`Bounded<u32, LOW, HIGH>`](super::Bounded) (runtime, within bounds).
///
/// # Safety
/// `get` gives the length that `try_new` accepted, which `MULTIPLE` divides. Types of the same `FINGERPRINT` accept the same
/// lengths and have the same bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extent of a span",
    label = "not an extent",
    note = "extents are u32 or u64 (runtime), D<N> (static), Mult<u32, K> (a multiple of K) or Bounded<u32, LOW, HIGH>"
)]
pub unsafe trait Extent: Sealed + Copy + Send + Sync + 'static {
    /// The integers that hold it, which are an extent of any length themselves.
    type Offset: OffsetInteger + Extent<Offset = Self::Offset>;
    /// A number that divides it.
    const MULTIPLE: u64;
    /// The extent, where it is known at compile time.
    const STATIC: Option<u64>;
    /// What a launch relies on: what is passed, and which lengths are accepted.
    const FINGERPRINT: Fingerprint;
    /// The extent.
    fn get(self) -> u64;
    /// The extent of this length, or why it cannot be.
    ///
    /// # Errors
    /// If the length does not fit the type.
    fn try_new(length: u64) -> Result<Self, ExtentError>;
}

/// Why a length does not fit an extent's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentError {
    /// The kernel wants exactly this length.
    NotEqual(u64),
    /// The kernel wants a multiple of this.
    NotMultiple(u64),
    /// The kernel wants a length within these bounds.
    OutOfBounds {
        /// The least.
        least: u64,
        /// The greatest.
        greatest: u64,
    },
    /// The kernel counts with 32 bits.
    TooLong,
}

impl fmt::Display for ExtentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEqual(wanted) => write!(formatter, "the kernel is compiled for exactly {wanted}"),
            Self::NotMultiple(of) => write!(formatter, "the kernel is compiled for multiples of {of}"),
            Self::OutOfBounds { least, greatest } => {
                write!(formatter, "the kernel is compiled for {least} to {greatest}")
            }
            Self::TooLong => write!(formatter, "the kernel counts it in 32 bits; declare the extent as u64"),
        }
    }
}

// SAFETY: a number is its own length.
unsafe impl Extent for u32 {
    type Offset = u32;
    const STATIC: Option<u64> = None;
    const MULTIPLE: u64 = 1;
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("u32");
    #[inline_on_device]
    fn get(self) -> u64 {
        u64::from(self)
    }
    fn try_new(length: u64) -> Result<Self, ExtentError> {
        u32::try_from(length).map_err(|_| ExtentError::TooLong)
    }
}

// SAFETY: a number is its own length.
unsafe impl Extent for u64 {
    type Offset = u64;
    const STATIC: Option<u64> = None;
    const MULTIPLE: u64 = 1;
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("u64");
    #[inline_on_device]
    fn get(self) -> u64 {
        self
    }
    fn try_new(length: u64) -> Result<Self, ExtentError> {
        Ok(length)
    }
}

// SAFETY: the length is part of the type.
unsafe impl<const N: usize> Extent for D<N> {
    type Offset = u32;
    const STATIC: Option<u64> = Some(N as u64);
    const MULTIPLE: u64 = if N == 0 { 1 << 63 } else { N as u64 };
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("D").number(N as u64);
    #[inline_on_device]
    fn get(self) -> u64 {
        N as u64
    }
    fn try_new(length: u64) -> Result<Self, ExtentError> {
        if length == N as u64 { Ok(Self) } else { Err(ExtentError::NotEqual(N as u64)) }
    }
}

/// A runtime extent that is a multiple of `K`, checked at launch.
///
/// Rows of such a length keep vectors whole, so that masked access needs no path for single elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Mult<I, const K: usize>(I);

impl<I: Extent, const K: usize> Mult<I, K> {
    /// The extent of this length, or `None` if it is no multiple of `K` or does not fit the integer.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// assert!(Mult::<u32, 4>::new(12).is_some());
    /// assert!(Mult::<u32, 4>::new(13).is_none());
    /// ```
    pub fn new(length: u64) -> Option<Self> {
        Self::try_new(length).ok()
    }
}

// SAFETY: the length is that of the number inside, of which `K` was checked to be a divisor.
unsafe impl<I: Extent, const K: usize> Extent for Mult<I, K> {
    type Offset = I::Offset;
    const STATIC: Option<u64> = None;
    const MULTIPLE: u64 = K as u64;
    const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.word("Mult").then(I::FINGERPRINT).number(K as u64);
    #[inline_on_device]
    fn get(self) -> u64 {
        self.0.get()
    }
    fn try_new(length: u64) -> Result<Self, ExtentError> {
        const { assert!(K > 0, "Mult<_, K> needs a positive K") };
        if length.is_multiple_of(K as u64) {
            I::try_new(length).map(Self)
        } else {
            Err(ExtentError::NotMultiple(K as u64))
        }
    }
}

/// The extents of a span: a tuple of at most four [`Extent`]s, slowest axis first.
///
/// # Safety
/// `get` gives the lengths that `try_new` accepted, also after packing and unpacking; `MULTIPLES` divide them. Types of the same
/// `FINGERPRINT` accept the same lengths and are packed in the same way.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are not extents of a span",
    label = "expected a tuple of at most 4 extents",
    note = "for example `(u32, D<1024>)`; a single extent is `(u32,)`"
)]
#[doc(alias("IndexedWithInt64", "ndim", "rank"))]
pub unsafe trait Extents: Sealed + Copy + Send + Sync + 'static {
    /// The number of axes, as a type that tiles and tensors compare with theirs.
    type Rank: Sealed;
    /// The number of axes.
    const RANK: usize;
    /// The integers for offsets: 32 bits unless an extent is `u64`.
    type Offset: OffsetInteger;
    /// A number that divides each extent.
    const MULTIPLES: [u64; MAXIMUM_RANK];
    /// The extents that are known at compile time; 1 beyond the rank.
    const STATIC: [Option<u64>; MAXIMUM_RANK];
    /// How many extents are known at run time only.
    const RANK_DYNAMIC: usize = {
        let (mut count, mut axis) = (0, 0);
        while axis < MAXIMUM_RANK {
            count += Self::STATIC[axis].is_none() as usize;
            axis += 1;
        }
        count
    };
    /// What a launch relies on: that of each extent, in order.
    const FINGERPRINT: Fingerprint;
    /// The extents as a kernel parameter, with a layout that host and device share.
    type Packed: Copy + Send + Sync + 'static;
    /// One offset an axis, as a kernel parameter.
    type Strides: Copy + Send + Sync + 'static;
    /// The extents; 1 beyond the rank.
    fn get(self) -> [u64; MAXIMUM_RANK];
    /// Extents of these lengths.
    ///
    /// # Errors
    /// The axis whose length does not fit, and why.
    fn try_new(lengths: &[u64]) -> Result<Self, (usize, ExtentError)>;
    /// For a kernel parameter.
    fn pack(self) -> Self::Packed;
    /// From a kernel parameter.
    fn unpack(packed: Self::Packed) -> Self;
    /// The strides of these axes.
    fn pack_strides(strides: [u64; MAXIMUM_RANK]) -> Self::Strides;
    /// The strides; 0 beyond the rank.
    fn unpack_strides(strides: Self::Strides) -> [u64; MAXIMUM_RANK];
}

/// Parameters of one kernel argument, in declared order.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Packed<A, B, C, E>(A, B, C, E);

macro_rules! extents {
    ($($rank:literal: $($name:ident $index:tt)*, $packed:ty, ($($pack:expr),*), |$tuple:ident| ($($field:expr),*), $offset:ty;)*) => { $(
        // SAFETY: the lengths are those of the parts, which are packed in order.
        unsafe impl<$($name: Extent),*> Extents for ($($name,)*) {
            type Rank = Rank<$rank>;
            const RANK: usize = $rank;
            type Offset = $offset;
            const MULTIPLES: [u64; MAXIMUM_RANK] = {
                let own: &[u64] = &[$($name::MULTIPLE),*];
                let mut all = [1; MAXIMUM_RANK];
                let mut k = 0;
                while k < own.len() {
                    all[k] = own[k];
                    k += 1;
                }
                all
            };
            const STATIC: [Option<u64>; MAXIMUM_RANK] = {
                let own: &[Option<u64>] = &[$($name::STATIC),*];
                let mut all = [Some(1); MAXIMUM_RANK];
                let mut k = 0;
                while k < own.len() {
                    all[k] = own[k];
                    k += 1;
                }
                all
            };
            const FINGERPRINT: Fingerprint = Fingerprint::EMPTY.number($rank)$(.then($name::FINGERPRINT))*;
            type Packed = $packed;
            type Strides = [$offset; $rank];
            #[inline_on_device]
            fn get(self) -> [u64; MAXIMUM_RANK] {
                #[allow(unused_mut, reason = "rank 0 sets none")]
                let mut all = [1; MAXIMUM_RANK];
                $( all[$index] = self.$index.get(); )*
                all
            }
            fn try_new(lengths: &[u64]) -> Result<Self, (usize, ExtentError)> {
                assert_eq!(lengths.len(), $rank, "one length an axis");
                Ok(($(
                    match $name::try_new(lengths[$index]) {
                        Ok(extent) => extent,
                        Err(error) => return Err(($index, error)),
                    },
                )*))
            }
            #[inline_on_device]
            fn pack(self) -> $packed {
                let $tuple = self;
                Packed($($pack),*)
            }
            #[inline_on_device]
            #[allow(clippy::unused_unit, reason = "the tuple of none")]
            fn unpack($tuple: $packed) -> Self {
                ($($field,)*)
            }
            #[inline_on_device]
            fn pack_strides(strides: [u64; MAXIMUM_RANK]) -> Self::Strides {
                let _ = strides;
                [$( <$offset>::from_u64(strides[$index]) ),*]
            }
            #[inline_on_device]
            fn unpack_strides(strides: Self::Strides) -> [u64; MAXIMUM_RANK] {
                let _ = strides;
                #[allow(unused_mut, reason = "rank 0 sets none")]
                let mut all = [0; MAXIMUM_RANK];
                $( all[$index] = strides[$index].to_u64(); )*
                all
            }
        }
    )* };
}
type Wider<A, B> = <A as OffsetInteger>::With<B>;
extents! {
    0: , Packed<(), (), (), ()>, ((), (), (), ()), |_t| (), u32;
    1: A 0, Packed<A, (), (), ()>, (t.0, (), (), ()), |t| (t.0), A::Offset;
    2: A 0 B 1, Packed<A, B, (), ()>, (t.0, t.1, (), ()), |t| (t.0, t.1), Wider<A::Offset, B::Offset>;
    3: A 0 B 1 C 2, Packed<A, B, C, ()>, (t.0, t.1, t.2, ()), |t| (t.0, t.1, t.2), Wider<A::Offset, Wider<B::Offset, C::Offset>>;
    4: A 0 B 1 C 2 F 3, Packed<A, B, C, F>, (t.0, t.1, t.2, t.3), |t| (t.0, t.1, t.2, t.3), Wider<A::Offset, Wider<B::Offset, Wider<C::Offset, F::Offset>>>;
}

sealed! { [I, const K: usize] Mult<I, K>; }
