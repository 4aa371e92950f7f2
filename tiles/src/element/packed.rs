//! Neighbouring elements as one word.

use crate::element::Element;

/// Two elements of 16 bits as a word, the first one lowest.
///
/// # Safety
/// The elements have 16 bits.
#[inline_on_device]
pub(crate) unsafe fn packed_pair<T: Element>(low: T, high: T) -> u32 {
    let bits = |x: T| {
        let bits = x.to_bits();
        // SAFETY: the element has 16 bits by the same contract, and any bits are a `u16`.
        u32::from(unsafe { core::ptr::from_ref(&bits).cast::<u16>().read() })
    };
    bits(low) | bits(high) << 16
}
