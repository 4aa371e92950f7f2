//! What one thread of a warp can do: shuffles, votes, and shared memory of its own address.

use core::arch::asm;

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_sync_idx_i32(members: u32, value: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_sync_up_i32(members: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_sync_down_i32(members: u32, value: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot_sync(members: u32, predicate: bool) -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp_sync(members: u32);
}

/// Lanes of a warp.
pub const LANES: u32 = 32;

/// The number of a thread of the block in its warp.
#[inline(always)]
pub fn lane(thread: u32) -> u32 {
    thread % LANES
}

macro_rules! shuffles {
    ($($(#[$attribute:meta])* $name:ident = $intrinsic:ident, $clamp:literal;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// All 32 lanes of the warp execute this same call.
        #[inline(always)]
        pub unsafe fn $name(value: u32, operand: u32) -> u32 {
            // SAFETY: the empty asm has no effect; the caller vouches for the members named by the full mask.
            unsafe {
                asm!("", options(nomem, nostack, preserves_flags));
                $intrinsic(u32::MAX, value, operand, $clamp)
            }
        }
    )* };
}
shuffles! {
    /// `shfl.sync.idx.b32`: the value of lane `operand` modulo 32 (PTX ISA, "shfl.sync").
    shuffle = shfl_sync_idx_i32, 31;
    /// `shfl.sync.up.b32`: the value of the lane `operand` below; the lowest lanes keep their own.
    shuffle_up = shfl_sync_up_i32, 0;
    /// `shfl.sync.down.b32`: the value of the lane `operand` above; the highest lanes keep their own.
    shuffle_down = shfl_sync_down_i32, 31;
}

/// `vote.sync.ballot.b32`: the lanes whose predicate is true, as bits (PTX ISA, "vote.sync").
///
/// # Safety
/// All 32 lanes of the warp execute this same call.
#[inline(always)]
pub unsafe fn ballot(predicate: bool) -> u32 {
    // SAFETY: as for the shuffles.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        vote_ballot_sync(u32::MAX, predicate)
    }
}

/// `bar.warp.sync`: waits for all lanes, and makes their earlier memory accesses visible to each other (PTX ISA,
/// "bar.warp.sync").
///
/// # Safety
/// All 32 lanes of the warp execute this same call.
#[inline(always)]
pub unsafe fn warp_barrier() {
    // SAFETY: as for the shuffles.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        bar_warp_sync(u32::MAX)
    }
}

/// An address in shared memory: in the shared window.
pub type Address = u32;

/// Runs `body` with `N` values in shared memory, of which nothing is known; aligned to 16 bytes.
///
/// Each place in the program that calls it has memory of its own, for all its calls.
///
/// # Safety
/// All threads of the block execute this same call.
#[inline(always)]
pub unsafe fn with_shared<T: Copy, const N: usize, F: FnOnce(Address) -> R, R>(_initial: T, body: F) -> R {
    let address;
    // SAFETY: a variable that is declared in a scope of its own is static (PTX ISA, "Variable Declarations"); `mov` yields its
    // address. Not `pure`: two calls must not be merged.
    unsafe {
        asm!(
            "{{ .shared .align 16 .b8 memory[{bytes}]; mov.u32 {address}, memory; }}",
            bytes = const N * size_of::<T>(),
            address = out(reg32) address,
            options(nomem, nostack),
        )
    }
    body(address)
}

/// The address as the number that descriptors hold.
#[inline(always)]
pub fn word(address: Address) -> u32 {
    address
}

/// [`super::execution::rematerialise`] for an address.
#[inline(always)]
pub fn rematerialise(address: Address) -> Address {
    super::execution::rematerialise(address)
}

/// The address `bytes` further.
#[inline(always)]
pub fn offset(address: Address, bytes: usize) -> Address {
    address.wrapping_add(bytes as u32)
}

macro_rules! access {
    ($load:ident, $store:ident, $type:ty, $register:ty, $bits:literal, $class:ident) => {
        #[doc = concat!("`ld.shared.b", $bits, "`.")]
        ///
        /// # Safety
        /// `address` lies in shared memory of this block, naturally aligned, with no concurrent store.
        #[inline(always)]
        pub unsafe fn $load(address: Address) -> $type {
            let value: $register;
            // SAFETY: the caller vouches for the address. Not `pure`: the contents change between barriers.
            unsafe { asm!(concat!("ld.shared.b", $bits, " {0}, [{1}];"), out($class) value, in(reg32) address, options(readonly, nostack)) }
            value as $type
        }

        #[doc = concat!("`st.shared.b", $bits, "`.")]
        ///
        /// # Safety
        /// `address` lies in shared memory of this block, naturally aligned, with no concurrent access.
        #[inline(always)]
        pub unsafe fn $store(address: Address, value: $type) {
            // SAFETY: the caller vouches for the address.
            unsafe { asm!(concat!("st.shared.b", $bits, " [{0}], {1};"), in(reg32) address, in($class) value as $register, options(nostack)) }
        }
    };
}
access!(load_1, store_1, u8, u16, "8", reg16);
access!(load_2, store_2, u16, u16, "16", reg16);
access!(load_4, store_4, u32, u32, "32", reg32);
access!(load_8, store_8, u64, u64, "64", reg64);

/// `ld.shared.v4.b32`.
///
/// # Safety
/// `address` lies in shared memory of this block, at a multiple of 16 bytes, with no concurrent store.
#[inline(always)]
pub unsafe fn load_16(address: Address) -> [u32; 4] {
    let (a, b, c, d);
    // SAFETY: the caller vouches for the address. Not `pure`: the contents change between barriers.
    unsafe {
        asm!("ld.shared.v4.b32 {{{0}, {1}, {2}, {3}}}, [{4}];", out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
            in(reg32) address, options(readonly, nostack))
    }
    [a, b, c, d]
}

macro_rules! atomics {
    ($($name:ident $type:ty, $operation:literal, $class:ident;)*) => { $(
        #[doc = concat!("`atom.shared.", $operation, "`: gives the old value (PTX ISA, \"atom\").")]
        ///
        /// # Safety
        /// `address` lies in shared memory of this block, naturally aligned, with atomic accesses of this size alone.
        #[inline(always)]
        pub unsafe fn $name(address: Address, value: $type) -> $type {
            let old;
            // SAFETY: the caller vouches for the address.
            unsafe { asm!(concat!("atom.shared.", $operation, " {0}, [{1}], {2};"), out($class) old, in(reg32) address, in($class) value, options(nostack)) }
            old
        }
    )* };
}
atomics! {
    add_u32 u32, "add.u32", reg32;
    add_u64 u64, "add.u64", reg64;
    add_f32 f32, "add.f32", reg32;
    add_f64 f64, "add.f64", reg64;
}
