//! What the lanes of a warp that a mask names do together.

use super::team::{self, Contributions, LANES};

/// The number of the thread in its warp.
#[track_caller]
pub fn lane() -> u32 {
    team::position().number % LANES
}

/// The lanes that execute this together: here a thread runs by itself.
#[track_caller]
pub fn active() -> u32 {
    1 << lane()
}

/// Waits for the members.
///
/// # Safety
/// None needed here; on a GPU the lane must be a member, and all members execute this call with the same mask.
#[track_caller]
pub unsafe fn barrier(members: u32) {
    team::meet(Some(members), "sync_warp", 0);
}

/// The value of the lane at `source`, or the lane's own if it is not among those who have met.
fn of(all: &Contributions, source: u32) -> u32 {
    all[source as usize].unwrap_or_default() as u32
}

macro_rules! shuffles {
    ($($(#[$attribute:meta])* $name:ident $call:literal |$lane:ident, $operand:ident, $first:ident, $last:ident| $source:expr, $is_inside:expr;)*) => { $(
        $(#[$attribute])*
        /// `clamp` holds the segment, as the instruction does (PTX ISA, "shfl.sync").
        ///
        /// # Safety
        /// As above.
        #[track_caller]
        pub unsafe fn $name(members: u32, value: u32, $operand: u32, clamp: u32) -> u32 {
            let $lane = lane();
            let segment = clamp >> 8 & 31;
            let ($first, $last) = ($lane & segment, $lane & segment | clamp & 31 & !segment);
            let all = team::meet(Some(members), $call, value.into());
            let $operand = $operand & 31;
            if $is_inside { of(&all, $source) } else { value }
        }
    )* };
}
shuffles! {
    /// The value of the lane below by `operand`, or the own one at the segment's begin.
    shuffle_up "warp_shuffle_up" |lane, operand, first, _last| lane - operand, lane >= first + operand;
    /// The value of the lane above by `operand`, or the own one at the segment's end.
    shuffle_down "warp_shuffle_down" |lane, operand, _first, last| lane + operand, lane + operand <= last;
    /// The value of lane `operand` of the segment.
    shuffle_index "warp_shuffle_idx" |_lane, operand, first, last| first | operand & (last - first), true;
    /// The value of the lane whose number differs by `operand`, or the own one if it is behind the segment.
    shuffle_xor "warp_shuffle_xor" |lane, operand, _first, last| lane ^ operand, lane ^ operand <= last;
}

/// The lanes for whose value `is_meant` holds, as bits.
fn lanes(all: &Contributions, is_meant: impl Fn(u64) -> bool) -> u32 {
    let bits = all.iter().enumerate().filter(|(_, value)| value.is_some_and(&is_meant));
    bits.fold(0, |lanes, (lane, _)| lanes | 1 << lane)
}

macro_rules! collectives {
    ($($(#[$attribute:meta])* $name:ident($value:ty) -> $result:ty = $call:literal |$members:ident, $own:ident, $all:ident| $body:expr;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// As above.
        #[track_caller]
        pub unsafe fn $name($members: u32, $own: $value) -> $result {
            let $all = team::meet(Some($members), $call, $own as u64);
            $body
        }
    )* };
}
/// The values of those who have met, combined.
fn reduce<T>(all: &Contributions, from: impl Fn(u64) -> T, combine: impl Fn(T, T) -> T) -> T {
    all.iter().flatten().map(|&value| from(value)).reduce(combine).expect("this lane is among them")
}
collectives! {
    /// Whether the predicate is true for all members.
    vote_all(bool) -> bool = "warp_vote_all" |members, value, all| lanes(&all, |value| value != 0) == members;
    /// Whether the predicate is true for any member.
    vote_any(bool) -> bool = "warp_vote_any" |members, value, all| lanes(&all, |value| value != 0) != 0;
    /// The members for which the predicate is true.
    vote_ballot(bool) -> u32 = "warp_vote_ballot" |members, value, all| lanes(&all, |value| value != 0);
    /// The members with the same value.
    match_any_32(u32) -> u32 = "warp_match" |members, own, all| lanes(&all, |value| value == u64::from(own));
    /// The members with the same value.
    match_any_64(u64) -> u32 = "warp_match" |members, own, all| lanes(&all, |value| value == own);
    /// The sum, of signed and of unsigned numbers.
    reduce_add(u32) -> u32 = "warp_reduce" |members, own, all| reduce(&all, |value| value as u32, u32::wrapping_add);
    /// The smallest value.
    reduce_min_i32(i32) -> i32 = "warp_reduce" |members, own, all| reduce(&all, |value| value as i32, i32::min);
    /// The smallest value.
    reduce_min_u32(u32) -> u32 = "warp_reduce" |members, own, all| reduce(&all, |value| value as u32, u32::min);
    /// The largest value.
    reduce_max_i32(i32) -> i32 = "warp_reduce" |members, own, all| reduce(&all, |value| value as i32, i32::max);
    /// The largest value.
    reduce_max_u32(u32) -> u32 = "warp_reduce" |members, own, all| reduce(&all, |value| value as u32, u32::max);
    /// The bits that all have.
    reduce_and(u32) -> u32 = "warp_reduce" |members, own, all| reduce(&all, |value| value as u32, |a, b| a & b);
    /// The bits that any has.
    reduce_or(u32) -> u32 = "warp_reduce" |members, own, all| reduce(&all, |value| value as u32, |a, b| a | b);
    /// The bits that an odd number has.
    reduce_xor(u32) -> u32 = "warp_reduce" |members, own, all| reduce(&all, |value| value as u32, |a, b| a ^ b);
}
