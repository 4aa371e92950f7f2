//! Exchanges between threads in reductions, scans and sorts: elements, and tuples of them.

use crate::arch;
use crate::element::Element;
use crate::element::bits_transport::Transport;

/// An element, or a tuple of up to four.
pub trait WarpExchange: Copy + 'static {
    /// Bytes in shared memory; a multiple of [`WarpExchange::ALIGNMENT`].
    const BYTES: usize;
    /// The alignment in shared memory, in bytes.
    const ALIGNMENT: usize;
    /// The value whose 32-bit words are `word` of this value's words.
    fn words(self, word: impl Fn(u32) -> u32 + Copy) -> Self;
    /// # Safety
    /// `address` has room for `BYTES` bytes in shared memory, aligned to `ALIGNMENT`, with no concurrent access.
    unsafe fn store(self, address: u32);
    /// # Safety
    /// As `store`: `address` has a stored value.
    unsafe fn load(address: u32) -> Self;
    /// `left` if `condition`, else `right`, part by part: the compiler would copy whole tuples through memory.
    fn select(condition: bool, left: Self, right: Self) -> Self;

    /// The value of the lane whose number differs by `lane_mask`.
    ///
    /// # Safety
    /// All lanes of the warp execute the same call.
    #[inline_on_device]
    unsafe fn exchange(self, lane_mask: u32) -> Self {
        // SAFETY: the same contract.
        self.words(|word| unsafe { arch::execution::exchange(word, lane_mask) })
    }
}

impl<T: Element> WarpExchange for T {
    const BYTES: usize = size_of::<T::Bits>();
    const ALIGNMENT: usize = size_of::<T::Bits>();
    #[inline_on_device]
    fn words(self, word: impl Fn(u32) -> u32 + Copy) -> Self {
        T::from_bits(self.to_bits().words(word))
    }
    #[inline_on_device]
    fn select(condition: bool, left: Self, right: Self) -> Self {
        if condition { left } else { right }
    }
    #[inline_on_device]
    unsafe fn store(self, address: u32) {
        // SAFETY: the same contract.
        unsafe { self.to_bits().store_shared(address) }
    }
    #[inline_on_device]
    unsafe fn load(address: u32) -> Self {
        // SAFETY: the same contract.
        T::from_bits(unsafe { T::Bits::load_shared(address) })
    }
}

/// Where the parts of a tuple lie: each naturally aligned, one after the other.
const fn places<const N: usize>(sizes: [(usize, usize); N]) -> ([u32; N], usize, usize) {
    let (mut places, mut end, mut alignment) = ([0; N], 0usize, 1usize);
    let mut part = 0;
    while part < N {
        let (bytes, aligned) = sizes[part];
        end = end.next_multiple_of(aligned);
        places[part] = end as u32;
        end += bytes;
        if aligned > alignment {
            alignment = aligned;
        }
        part += 1;
    }
    // A power of two, so that scratch memory divides into whole values.
    (places, end.next_power_of_two(), alignment)
}

macro_rules! tuples {
    ($($count:literal: $($part:ident $number:tt)*;)*) => { $(
        impl<$($part: WarpExchange),*> WarpExchange for ($($part,)*) {
            const BYTES: usize = places::<$count>([$(($part::BYTES, $part::ALIGNMENT)),*]).1;
            const ALIGNMENT: usize = places::<$count>([$(($part::BYTES, $part::ALIGNMENT)),*]).2;
            #[inline_on_device]
            fn words(self, word: impl Fn(u32) -> u32 + Copy) -> Self {
                ($(self.$number.words(word),)*)
            }
            #[inline_on_device]
            fn select(condition: bool, left: Self, right: Self) -> Self {
                ($($part::select(condition, left.$number, right.$number),)*)
            }
            #[inline_on_device]
            unsafe fn store(self, address: u32) {
                let places = const { places::<$count>([$(($part::BYTES, $part::ALIGNMENT)),*]).0 };
                // SAFETY: the same contract; the parts lie beside each other.
                unsafe { $(self.$number.store(address + places[$number]);)* }
            }
            #[inline_on_device]
            unsafe fn load(address: u32) -> Self {
                let places = const { places::<$count>([$(($part::BYTES, $part::ALIGNMENT)),*]).0 };
                // SAFETY: the same contract.
                unsafe { ($($part::load(address + places[$number]),)*) }
            }
        }
    )* };
}
tuples! {
    1: A 0;
    2: A 0 B 1;
    3: A 0 B 1 C 2;
    4: A 0 B 1 C 2 E 3;
}
