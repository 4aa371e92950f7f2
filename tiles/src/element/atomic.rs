//! Reads-modifies-writes of one element in memory that other threads change too.
//!
//! | operations | element types |
//! |---|---|
//! | exchange, compare-exchange | integers of 32 and 64 bits, `f32`, `f64` |
//! | add, sub | the same, [`f16`](struct@f16), [`bf16`] |
//! | min, max | the same, [`f16`](struct@f16), [`bf16`] |
//! | and, or, xor | integers of 32 and 64 bits |
//!
//! Operations that compute are told whether the element before is wanted. If it is not, a GPU need not wait for it, and gives
//! anything.
//!
//! A compare-exchange of floats compares bits: -0 is not +0, and a NaN is itself.
//!
//! Integer sums wrap. Float sums round to nearest even, each by itself. A GPU may take subnormal `f32` for zero while adding
//! (PTX ISA, "Parallel Synchronization and Communication Instructions: atom"); the CPU does not.
//!
//! Minimum and maximum of floats are those of [`Number`]: a NaN loses, and -0 is smaller than +0. They are loops of
//! compare-exchange, as GPUs have no such instruction. So are sums of `bf16` before `sm_90`.
//!
//! Sums of `f16` and `bf16` are one instruction where a view adds two neighbours. Else they are loops of the assembler's.

use super::{Comparable, Element, Integer, Number, bf16, f16};
use crate::arch::atomic as machine;

/// Elements that can be exchanged atomically: integers of 32 and 64 bits, `f32`, `f64`.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no atomic exchange",
    label = "expected i32, i64, u32, u64, f32 or f64",
    note = "atomic exchange and compare-exchange are for elements of 32 and 64 bits"
)]
pub trait AtomicExchange: Element {
    /// Stores `self`: the element before.
    ///
    /// # Safety
    /// `address` is that of an element, valid for reads and writes, and accessed concurrently by atomic operations only.
    #[doc(hidden)]
    unsafe fn atomic_exchange(self, address: *mut Self::Bits, scope: u8) -> Self;
    /// Stores `self` where the element has the bits of `expected`: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    #[doc(hidden)]
    unsafe fn atomic_compare_exchange(self, address: *mut Self::Bits, expected: Self, scope: u8) -> Self;
}

/// Numbers that can be added atomically: integers of 32 and 64 bits, and floats.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no atomic addition",
    label = "expected i32, i64, u32, u64, f16, bf16, f32 or f64",
    note = "atomic add and sub are for integers of 32 and 64 bits and for floats"
)]
pub trait AtomicAdd: Number {
    /// Whether two neighbours that lie at a multiple of their size are added by one instruction, where single ones
    /// are loops: `f16` and `bf16`.
    #[doc(hidden)]
    const IN_PAIRS: bool = false;
    /// Adds to two neighbours, each atomically.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`], of both, at an address that is a multiple of their size.
    #[doc(hidden)]
    #[inline_on_device]
    unsafe fn atomic_add_pair(values: [Self; 2], address: *mut Self::Bits, scope: u8) {
        let [first, second] = values;
        // SAFETY: the same contract, for each.
        unsafe {
            first.atomic_add::<false>(address, scope);
            second.atomic_add::<false>(address.add(1), scope);
        }
    }
    /// Adds `self`: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    #[doc(hidden)]
    unsafe fn atomic_add<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self;
    /// Subtracts `self`: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    #[doc(hidden)]
    #[inline_on_device]
    unsafe fn atomic_sub<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self {
        // SAFETY: the same contract. Adding the negated number is subtracting, to the bit.
        unsafe { Number::neg(self).atomic_add::<WANTED>(address, scope) }
    }
}

/// Numbers with atomic minimum and maximum: integers of 32 and 64 bits, and floats.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no atomic minimum and maximum",
    label = "expected i32, i64, u32, u64, f16, bf16, f32 or f64",
    note = "atomic min and max are for integers of 32 and 64 bits and for floats"
)]
pub trait AtomicMinMax: Number {
    /// Stores the smaller one: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    #[doc(hidden)]
    unsafe fn atomic_min<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self;
    /// Stores the larger one: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    #[doc(hidden)]
    unsafe fn atomic_max<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self;
}

/// Integers with atomic logic: those of 32 and 64 bits.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` have no atomic bitwise operations",
    label = "expected i32, i64, u32 or u64",
    note = "atomic and, or, xor are for integers of 32 and 64 bits"
)]
pub trait AtomicLogical: Integer {
    /// Stores the bits that both have: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    #[doc(hidden)]
    unsafe fn atomic_and<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self;
    /// Stores the bits that either has: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    #[doc(hidden)]
    unsafe fn atomic_or<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self;
    /// Stores the bits that one of both has: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    #[doc(hidden)]
    unsafe fn atomic_xor<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self;
}

/// A method that is one instruction on the element's bits.
macro_rules! instruction {
    ($name:ident, $instruction:ident) => {
        #[inline_on_device]
        unsafe fn $name<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self {
            // SAFETY: the same contract.
            Self::from_bits(unsafe { machine::$instruction::<WANTED>(address.cast(), self.to_bits(), scope) })
        }
    };
}

macro_rules! exchanges {
    ($($type:ty: $exchange:ident $compare_exchange:ident;)*) => { $(
        impl AtomicExchange for $type {
            #[inline_on_device]
            unsafe fn atomic_exchange(self, address: *mut Self::Bits, scope: u8) -> Self {
                // SAFETY: the same contract.
                Self::from_bits(unsafe { machine::$exchange(address.cast(), self.to_bits(), scope) })
            }
            #[inline_on_device]
            unsafe fn atomic_compare_exchange(self, address: *mut Self::Bits, expected: Self, scope: u8) -> Self {
                let (expected, desired) = (expected.to_bits(), self.to_bits());
                // SAFETY: the same contract.
                Self::from_bits(unsafe { machine::$compare_exchange(address.cast(), expected, desired, scope) })
            }
        }
    )* };
}
exchanges! {
    i32: exchange_4 compare_exchange_4;
    u32: exchange_4 compare_exchange_4;
    f32: exchange_4 compare_exchange_4;
    i64: exchange_8 compare_exchange_8;
    u64: exchange_8 compare_exchange_8;
    f64: exchange_8 compare_exchange_8;
}

macro_rules! integers {
    ($($type:ty: $add:ident $min:ident $max:ident $and:ident $or:ident $xor:ident;)*) => { $(
        impl AtomicAdd for $type {
            instruction!(atomic_add, $add);
        }
        impl AtomicMinMax for $type {
            instruction!(atomic_min, $min);
            instruction!(atomic_max, $max);
        }
        impl AtomicLogical for $type {
            instruction!(atomic_and, $and);
            instruction!(atomic_or, $or);
            instruction!(atomic_xor, $xor);
        }
    )* };
}
integers! {
    i32: add_4 min_i32 max_i32 and_4 or_4 xor_4;
    u32: add_4 min_u32 max_u32 and_4 or_4 xor_4;
    i64: add_8 min_i64 max_i64 and_8 or_8 xor_8;
    u64: add_8 min_u64 max_u64 and_8 or_8 xor_8;
}

macro_rules! floats {
    ($($type:ident: $load:ident $compare_exchange:ident, $add:ident $exists:expr $(, $add_pair:ident)?;)*) => { $(
        impl AtomicAdd for $type {
            $( floats!(@pair $add_pair $exists); )?
            #[inline_on_device]
            unsafe fn atomic_add<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self {
                // SAFETY: the same contract, of the instruction where it exists.
                unsafe {
                    if $exists {
                        Self::from_bits(machine::$add::<WANTED>(address.cast(), self.to_bits(), scope))
                    } else {
                        self.update(address, scope, Number::add)
                    }
                }
            }
        }
        impl AtomicMinMax for $type {
            #[inline_on_device]
            unsafe fn atomic_min<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self {
                // SAFETY: the same contract.
                unsafe { self.update(address, scope, Comparable::minimum) }
            }
            #[inline_on_device]
            unsafe fn atomic_max<const WANTED: bool>(self, address: *mut Self::Bits, scope: u8) -> Self {
                // SAFETY: the same contract.
                unsafe { self.update(address, scope, Comparable::maximum) }
            }
        }
        impl Update for $type {
            #[inline_on_device]
            unsafe fn update(self, address: *mut Self::Bits, scope: u8, function: impl Fn(Self, Self) -> Self) -> Self {
                let address = address.cast();
                // SAFETY: the same contract. The widest scope serves the first look, which need not be right.
                let mut before = unsafe { machine::$load::<0, 2>(address) };
                loop {
                    let desired = function(Self::from_bits(before), self).to_bits();
                    // SAFETY: the same contract.
                    let found = unsafe { machine::$compare_exchange(address, before, desired, scope) };
                    if found == before {
                        return Self::from_bits(before);
                    }
                    before = found;
                }
            }
        }
    )* };
    (@pair $add_pair:ident $exists:expr) => {
        const IN_PAIRS: bool = $exists;
        #[inline_on_device]
        unsafe fn atomic_add_pair([first, second]: [Self; 2], address: *mut Self::Bits, scope: u8) {
            let values = u32::from(second.to_bits()) << 16 | u32::from(first.to_bits());
            // SAFETY: the same contract; it is called where `IN_PAIRS` says that the instruction exists.
            unsafe { machine::$add_pair(address.cast(), values, scope) }
        }
    };
}
floats! {
    f16: load_2 compare_exchange_2, add_f16 true, add_pair_f16;
    bf16: load_2 compare_exchange_2, add_bf16 machine::ADDS_BF16, add_pair_bf16;
    f32: load_4 compare_exchange_4, add_f32 true;
    f64: load_8 compare_exchange_8, add_f64 true;
}

/// Floats that are updated by compare-exchange, again and again until nobody comes in between.
trait Update: Element {
    /// Stores `function(element, self)`: the element before.
    ///
    /// # Safety
    /// As for [`AtomicExchange::atomic_exchange`].
    unsafe fn update(
        self,
        address: *mut Self::Bits,
        scope: u8,
        function: impl Fn(Self, Self) -> Self,
    ) -> Self;
}
