//! What the lanes of a warp that a mask names do together (PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync").

use core::arch::asm;

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(members: u32);
    #[link_name = "llvm.nvvm.activemask"]
    fn activemask() -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_sync_up_i32(members: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_sync_down_i32(members: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx_i32(members: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_sync_bfly_i32(members: u32, value: u32, operand: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.all.sync"]
    fn vote_all_sync(members: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any_sync(members: u32, predicate: bool) -> bool;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(members: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn match_any_sync_i32(members: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i64"]
    fn match_any_sync_i64(members: u32, value: u64) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.add"]
    fn redux_sync_add(value: u32, members: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.min"]
    fn redux_sync_min(value: i32, members: u32) -> i32;
    #[link_name = "llvm.nvvm.redux.sync.umin"]
    fn redux_sync_umin(value: u32, members: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.max"]
    fn redux_sync_max(value: i32, members: u32) -> i32;
    #[link_name = "llvm.nvvm.redux.sync.umax"]
    fn redux_sync_umax(value: u32, members: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.and"]
    fn redux_sync_and(value: u32, members: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.or"]
    fn redux_sync_or(value: u32, members: u32) -> u32;
    #[link_name = "llvm.nvvm.redux.sync.xor"]
    fn redux_sync_xor(value: u32, members: u32) -> u32;
}

/// `%laneid`: the number of the thread in its warp.
#[inline(always)]
pub fn lane() -> u32 {
    let lane;
    // SAFETY: reading a special register has no precondition; its value never changes.
    unsafe { asm!("mov.u32 {0}, %laneid;", out(reg32) lane, options(pure, nomem, nostack, preserves_flags)) }
    lane
}

/// `activemask`: the lanes that execute this instruction together (PTX ISA, "activemask").
#[inline(always)]
pub fn active() -> u32 {
    // SAFETY: the instruction has no precondition.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        activemask()
    }
}

/// `bar.warp.sync`: waits for the members, and makes their earlier memory accesses visible to each other.
///
/// # Safety
/// The lane is a member, and all members execute this call with the same mask.
#[inline(always)]
pub unsafe fn barrier(members: u32) {
    // SAFETY: the empty asm has no effect; the caller vouches for the members.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        bar_warp_sync(members)
    }
}

macro_rules! shuffles {
    ($($(#[$attribute:meta])* $name:ident = $intrinsic:ident;)*) => { $(
        $(#[$attribute])*
        /// `clamp` holds the segment, as the instruction does.
        ///
        /// # Safety
        /// As for [`barrier`].
        #[inline(always)]
        pub unsafe fn $name(members: u32, value: u32, operand: u32, clamp: u32) -> u32 {
            // SAFETY: as for `barrier`.
            unsafe {
                asm!("", options(nomem, nostack, preserves_flags));
                $intrinsic(members, value, operand, clamp)
            }
        }
    )* };
}
shuffles! {
    /// `shfl.sync.up.b32`.
    shuffle_up = shfl_sync_up_i32;
    /// `shfl.sync.down.b32`.
    shuffle_down = shfl_sync_down_i32;
    /// `shfl.sync.idx.b32`.
    shuffle_index = shfl_sync_idx_i32;
    /// `shfl.sync.bfly.b32`.
    shuffle_xor = shfl_sync_bfly_i32;
}

macro_rules! collectives {
    ($($(#[$attribute:meta])* $name:ident($value:ty) -> $result:ty = |$members:ident, $operand:ident| $call:expr;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// As for [`barrier`].
        #[inline(always)]
        pub unsafe fn $name($members: u32, $operand: $value) -> $result {
            // SAFETY: as for `barrier`.
            unsafe {
                asm!("", options(nomem, nostack, preserves_flags));
                $call
            }
        }
    )* };
}
collectives! {
    /// `vote.sync.all.pred`.
    vote_all(bool) -> bool = |members, value| vote_all_sync(members, value);
    /// `vote.sync.any.pred`.
    vote_any(bool) -> bool = |members, value| vote_any_sync(members, value);
    /// `vote.sync.ballot.b32`.
    vote_ballot(bool) -> u32 = |members, value| vote_ballot_sync(members, value);
    /// `match.any.sync.b32`: the members with the same value.
    match_any_32(u32) -> u32 = |members, value| match_any_sync_i32(members, value);
    /// `match.any.sync.b64`: the members with the same value.
    match_any_64(u64) -> u32 = |members, value| match_any_sync_i64(members, value);
    /// `redux.sync.add`, of signed and of unsigned numbers.
    reduce_add(u32) -> u32 = |members, value| redux_sync_add(value, members);
    /// `redux.sync.min.s32`.
    reduce_min_i32(i32) -> i32 = |members, value| redux_sync_min(value, members);
    /// `redux.sync.min.u32`.
    reduce_min_u32(u32) -> u32 = |members, value| redux_sync_umin(value, members);
    /// `redux.sync.max.s32`.
    reduce_max_i32(i32) -> i32 = |members, value| redux_sync_max(value, members);
    /// `redux.sync.max.u32`.
    reduce_max_u32(u32) -> u32 = |members, value| redux_sync_umax(value, members);
    /// `redux.sync.and.b32`.
    reduce_and(u32) -> u32 = |members, value| redux_sync_and(value, members);
    /// `redux.sync.or.b32`.
    reduce_or(u32) -> u32 = |members, value| redux_sync_or(value, members);
    /// `redux.sync.xor.b32`.
    reduce_xor(u32) -> u32 = |members, value| redux_sync_xor(value, members);
}
