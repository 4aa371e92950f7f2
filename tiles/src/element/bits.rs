//! Untyped values of 1, 2, 4 and 8 bytes, and how they travel: through shared memory, between lanes, to and
//! from global memory.

use crate::arch;
use crate::sealed::Sealed;

/// An untyped value of 1, 2, 4 or 8 bytes: every bit pattern is valid.
pub trait Bits:
    Sealed + Copy + PartialEq + core::fmt::Debug + Send + Sync + 'static + SameSize<Self> + sealed::Transport
{
}

/// Bits of the same number: of two elements between which a bitcast converts.
#[diagnostic::on_unimplemented(
    message = "a bitcast keeps the size of elements: from `{Self}` to `{Other}` it cannot go",
    label = "an element type of another size",
    note = "`bitcast` reads the same bits as another type of the same size; `.cast::<...>()` converts values"
)]
pub trait SameSize<Other: Sealed>: Sealed {
    /// The same bits.
    fn same(self) -> Other;
}

pub(crate) mod sealed {
    /// How the bits of one element travel. Implementations are one instruction each.
    pub trait Transport: Copy {
        /// The value whose 32-bit words are `word` of this one's; narrow values are extended by zeros.
        fn words(self, word: impl Fn(u32) -> u32) -> Self;
        /// # Safety
        /// As the stores of `arch::shared`.
        unsafe fn store_shared(self, address: u32);
        /// # Safety
        /// As the loads of `arch::shared`.
        unsafe fn load_shared(address: u32) -> Self;
        /// # Safety
        /// `address` is valid for an atomic read, naturally aligned.
        unsafe fn load_atomic<const ORDER: u8, const SCOPE: u8>(address: *const u8) -> Self;
        /// # Safety
        /// `address` is valid for an atomic write, naturally aligned.
        unsafe fn store_atomic<const ORDER: u8, const SCOPE: u8>(self, address: *mut u8);
    }
}

macro_rules! bits {
    ($($type:ty, $store:ident, $load:ident, $load_atomic:ident, $store_atomic:ident, |$value:ident, $word:ident| $words:expr;)*) => { $(
        impl Bits for $type {}
        impl SameSize<$type> for $type {
            #[inline_on_device]
            fn same(self) -> $type {
                self
            }
        }
        impl sealed::Transport for $type {
            #[inline_on_device]
            fn words(self, $word: impl Fn(u32) -> u32) -> Self {
                let $value = self;
                $words
            }
            #[inline_on_device]
            unsafe fn store_shared(self, address: u32) {
                // SAFETY: the same contract.
                unsafe { arch::shared::$store(address, self) }
            }
            #[inline_on_device]
            unsafe fn load_shared(address: u32) -> Self {
                // SAFETY: the same contract.
                unsafe { arch::shared::$load(address) }
            }
            #[inline_on_device]
            unsafe fn load_atomic<const ORDER: u8, const SCOPE: u8>(address: *const u8) -> Self {
                // SAFETY: the same contract.
                unsafe { arch::atomic::$load_atomic::<ORDER, SCOPE>(address) }
            }
            #[inline_on_device]
            unsafe fn store_atomic<const ORDER: u8, const SCOPE: u8>(self, address: *mut u8) {
                // SAFETY: the same contract.
                unsafe { arch::atomic::$store_atomic::<ORDER, SCOPE>(address, self) }
            }
        }
    )* };
}
bits! {
    u8, store_u8, load_u8, load_1, store_1, |value, word| word(u32::from(value)) as u8;
    u16, store_u16, load_u16, load_2, store_2, |value, word| word(u32::from(value)) as u16;
    u32, store_u32, load_u32, load_4, store_4, |value, word| word(value);
    u64, store_u64, load_u64, load_8, store_8, |value, word| {
        let (low, high) = (word(value as u32), word((value >> 32) as u32));
        u64::from(high) << 32 | u64::from(low)
    };
}
