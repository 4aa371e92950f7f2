//! What the threads of a warp do together.
//!
//! `cuda_std` 0.2.2 has [`sync_warp`] and [`lane_id`]; the others are of its later, unpublished state.
//!
//! # Masks
//!
//! Bit i of a mask names lane i. The calling lane is named, and all named lanes call the same function with the same mask, and have not
//! ended. On the CPU a call that cannot end is a panic.
//!
//! ```
//! use cuda_tiles::cuda_std::{cpu, warp};
//!
//! // SAFETY: no thread touches memory, and all lanes make the same calls.
//! unsafe {
//!     cpu::launch(1, 32, 0, || {
//!         let lane = warp::lane_id();
//!         let mut sum = lane;
//!         for distance in [16, 8, 4, 2, 1] {
//!             sum += warp::warp_shuffle_xor(u32::MAX, sum, distance, 32).0;
//!         }
//!         assert_eq!(sum, 496);
//!         assert_eq!(warp::warp_reduce(u32::MAX, lane, warp::WarpReductionOp::Add), 496);
//!         assert_eq!(warp::warp_vote_ballot(u32::MAX, lane < 4), 0b1111);
//!         assert_eq!(warp::warp_match_any(u32::MAX, lane / 16), 0xffff << (lane / 16 * 16));
//!     })
//! };
//! ```

use crate::arch::lanes;
use crate::arch::order::reveals_thread;
use crate::sealed::Sealed;
use half::{bf16, f16};

/// The number of lanes.
const LANES: u32 = 32;

/// Waits for the named lanes, and makes their earlier memory accesses visible to each other.
///
/// # Safety
///
/// As for [masks](self#masks).
///
/// # On a GPU
///
/// `bar.warp.sync`.
#[inline_on_device]
#[track_caller]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: the same contract.
    unsafe { lanes::barrier(mask) }
}

/// The number of the thread in its warp, below 32.
#[inline_on_device]
#[track_caller]
pub fn lane_id() -> u32 {
    reveals_thread();
    lanes::lane()
}

/// The lanes that run together just now: on a GPU as the hardware will have it, on the CPU this one.
#[inline_on_device]
#[track_caller]
pub fn activemask() -> u32 {
    reveals_thread();
    lanes::active()
}

/// Whether the predicate is true for all named lanes.
///
/// # Safety
///
/// As for [masks](self#masks).
///
/// # On a GPU
///
/// `vote.sync.all`. [`warp_vote_any`] is `.any`, [`warp_vote_ballot`] `.ballot`.
#[inline_on_device]
#[track_caller]
pub unsafe fn warp_vote_all(mask: u32, predicate: bool) -> bool {
    // SAFETY: the same contract.
    unsafe { lanes::vote_all(mask, predicate) }
}

/// Whether the predicate is true for any named lane.
///
/// # Safety
///
/// As for [masks](self#masks).
#[inline_on_device]
#[track_caller]
pub unsafe fn warp_vote_any(mask: u32, predicate: bool) -> bool {
    // SAFETY: the same contract.
    unsafe { lanes::vote_any(mask, predicate) }
}

/// The named lanes for which the predicate is true.
///
/// # Safety
///
/// As for [masks](self#masks).
#[inline_on_device]
#[track_caller]
pub unsafe fn warp_vote_ballot(mask: u32, predicate: bool) -> u32 {
    // SAFETY: the same contract.
    unsafe { lanes::vote_ballot(mask, predicate) }
}

/// What [`warp_reduce`] does with the values of the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// The sum, which wraps.
    Add,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The bits that all values have.
    And,
    /// The bits that any value has.
    Or,
    /// The bits that an odd number of values has.
    Xor,
}

/// The numbers that [`warp_reduce`] takes: `i32` and `u32`.
pub trait WarpReduceValue: Sealed + Copy {
    /// [`warp_reduce`].
    ///
    /// # Safety
    /// As for [masks](self#masks).
    #[doc(hidden)]
    unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self;
}

macro_rules! reduce {
    ($($type:ident $min:ident $max:ident;)*) => { $(
        impl WarpReduceValue for $type {
            #[inline_on_device]
            #[track_caller]
            unsafe fn reduce(mask: u32, value: Self, op: WarpReductionOp) -> Self {
                // SAFETY: the same contract.
                unsafe {
                    match op {
                        WarpReductionOp::Add => lanes::reduce_add(mask, value as u32) as Self,
                        WarpReductionOp::Min => lanes::$min(mask, value),
                        WarpReductionOp::Max => lanes::$max(mask, value),
                        WarpReductionOp::And => lanes::reduce_and(mask, value as u32) as Self,
                        WarpReductionOp::Or => lanes::reduce_or(mask, value as u32) as Self,
                        WarpReductionOp::Xor => lanes::reduce_xor(mask, value as u32) as Self,
                    }
                }
            }
        }
    )* };
}
reduce! {
    i32 reduce_min_i32 reduce_max_i32;
    u32 reduce_min_u32 reduce_max_u32;
}

/// Combines the values of the named lanes: each gets the result.
///
/// # Safety
///
/// As for [masks](self#masks).
///
/// # On a GPU
///
/// `redux.sync`.
#[inline_on_device]
#[track_caller]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: the same contract.
    unsafe { T::reduce(mask, value, op) }
}

/// The numbers that [`warp_match_any`] takes: integers and floats of 32 and 64 bits. Floats match by their bits.
pub trait WarpMatchValue: Sealed + Copy {
    /// [`warp_match_any`].
    ///
    /// # Safety
    /// As for [masks](self#masks).
    #[doc(hidden)]
    unsafe fn match_any(mask: u32, value: Self) -> u32;
}

macro_rules! matches {
    ($($type:ident $machine:ident |$value:ident| $bits:expr;)*) => { $(
        impl WarpMatchValue for $type {
            #[inline_on_device]
            #[track_caller]
            unsafe fn match_any(mask: u32, $value: Self) -> u32 {
                // SAFETY: the same contract.
                unsafe { lanes::$machine(mask, $bits) }
            }
        }
    )* };
}
matches! {
    i32 match_any_32 |value| value as u32;
    u32 match_any_32 |value| value;
    f32 match_any_32 |value| value.to_bits();
    i64 match_any_64 |value| value as u64;
    u64 match_any_64 |value| value;
    f64 match_any_64 |value| value.to_bits();
}

/// The named lanes that have the same value as this one.
///
/// # Safety
///
/// As for [masks](self#masks).
///
/// # On a GPU
///
/// `match.any.sync`.
#[inline_on_device]
#[track_caller]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: the same contract.
    unsafe { T::match_any(mask, value) }
}

/// The mask, if all named lanes have the same value.
///
/// # Safety
///
/// As for [masks](self#masks).
///
/// # On a GPU
///
/// `match.any.sync`, whose result is compared with the mask.
#[inline_on_device]
#[track_caller]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: the same contract.
    (unsafe { T::match_any(mask, value) } == mask).then_some(mask)
}

/// The numbers that shuffles take: integers of 8 to 128 bits, [`f16`](struct@f16), [`bf16`], `f32` and `f64`.
pub trait WarpShuffleValue: Sealed + Copy {
    /// The number of 32-bit words that are sent.
    #[doc(hidden)]
    const WORDS: u32;
    #[doc(hidden)]
    fn to_wide(self) -> u128;
    #[doc(hidden)]
    fn from_wide(bits: u128) -> Self;
}

macro_rules! shuffle_values {
    ($($type:ident |$value:ident| $to:expr, |$bits:ident| $from:expr;)*) => { $(
        impl WarpShuffleValue for $type {
            const WORDS: u32 = size_of::<Self>().div_ceil(4) as u32;
            #[inline_on_device]
            fn to_wide(self) -> u128 {
                let $value = self;
                $to
            }
            #[inline_on_device]
            fn from_wide($bits: u128) -> Self {
                $from
            }
        }
    )* };
}
shuffle_values! {
    i8 |value| value as u128, |bits| bits as i8;
    i16 |value| value as u128, |bits| bits as i16;
    i32 |value| value as u128, |bits| bits as i32;
    i64 |value| value as u128, |bits| bits as i64;
    i128 |value| value as u128, |bits| bits as i128;
    u8 |value| value.into(), |bits| bits as u8;
    u16 |value| value.into(), |bits| bits as u16;
    u32 |value| value.into(), |bits| bits as u32;
    u64 |value| value.into(), |bits| bits as u64;
    u128 |value| value, |bits| bits;
    f16 |value| value.to_bits().into(), |bits| f16::from_bits(bits as u16);
    bf16 |value| value.to_bits().into(), |bits| bf16::from_bits(bits as u16);
    f32 |value| value.to_bits().into(), |bits| f32::from_bits(bits as u32);
    f64 |value| value.to_bits().into(), |bits| f64::from_bits(bits as u64);
}

/// Sends a value word by word, in segments of `width` lanes; `low` is the lowest bits of the instruction's clamp.
#[inline_on_device]
#[track_caller]
fn by_words<T: WarpShuffleValue>(value: T, width: u32, low: u32, send: impl Fn(u32, u32) -> u32) -> T {
    assert!(
        width.is_power_of_two() && width <= LANES,
        "the width of a shuffle's segments is a power of two, and at most 32"
    );
    let (clamp, bits) = ((LANES - width) << 8 | low, value.to_wide());
    let mut received = 0;
    let mut word = 0;
    while word < T::WORDS {
        received |= u128::from(send((bits >> (32 * word)) as u32, clamp)) << (32 * word);
        word += 1;
    }
    T::from_wide(received)
}

macro_rules! shuffles {
    ($($(#[$attribute:meta])* $name:ident($operand:ident) = $machine:ident, $low:literal, |$lane:ident, $width:ident| $is_inside:expr;)*) => { $(
        $(#[$attribute])*
        ///
        /// The warp is divided into segments of `width` lanes, a power of two up to 32. The second value says whether the lane that was
        /// asked for lies in the segment; if not, the first is the lane's own.
        ///
        /// # Panics
        ///
        /// If `width` is not a power of two, or above 32.
        ///
        /// # Safety
        ///
        /// As for [masks](self#masks). On a GPU the value of a lane that the mask does not name is anything.
        ///
        /// # On a GPU
        ///
        #[doc = concat!("`shfl.sync`, once for each 32 bits of the value.")]
        #[inline_on_device]
        #[track_caller]
        pub unsafe fn $name<T: WarpShuffleValue>(mask: u32, value: T, $operand: u32, $width: u32) -> (T, bool) {
            // SAFETY: the same contract.
            let received = by_words(value, $width, $low, |word, clamp| unsafe { lanes::$machine(mask, word, $operand, clamp) });
            // The instruction takes the lowest bits.
            let ($lane, $operand) = (lanes::lane(), $operand % LANES);
            (received, $is_inside)
        }
    )* };
}
shuffles! {
    /// The value of the lane below by `delta`.
    warp_shuffle_up(delta) = shuffle_up, 0, |lane, width| lane % width >= delta;
    /// The value of the lane above by `delta`.
    warp_shuffle_down(delta) = shuffle_down, 31, |lane, width| lane % width + delta < width;
    /// The value of lane `idx` of the segment, modulo its width.
    warp_shuffle_idx(idx) = shuffle_index, 31, |_lane, width| idx < LANES;
    /// The value of the lane whose number differs by the bits of `lane_mask`.
    warp_shuffle_xor(lane_mask) = shuffle_xor, 31, |lane, width| (lane ^ lane_mask) / width <= lane / width;
}
