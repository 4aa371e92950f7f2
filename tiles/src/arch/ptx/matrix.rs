//! Tensor cores: multiplications of small matrices by a warp, and the loads and stores of their fragments.
//!
//! The PTX ISA lays down which lane holds which element of a fragment ("Matrix multiply-accumulate operation using mma
//! instruction"); `layout::matrix` has it as data. Where an architecture lacks an instruction, others compute the same product:
//! f16 represents FP8 exactly.

#[cfg(not(all(target_feature = "sm_89", target_feature = "ptx87")))]
use super::convert::{e4m3x2_to_f16x2, e5m2x2_to_f16x2};
use core::arch::asm;

/// Whether four warps multiply together by `wgmma`, and hold accumulators in its layout.
pub const WARPGROUPS: bool = cfg!(target_feature = "sm_90a");

/// The same as a type: [`U2`](typenum::U2) if so, [`U1`](typenum::U1) if not.
#[cfg(target_feature = "sm_90a")]
pub type Arrangement = typenum::U2;
/// The same as a type: [`U2`](typenum::U2) if so, [`U1`](typenum::U1) if not.
#[cfg(not(target_feature = "sm_90a"))]
pub type Arrangement = typenum::U1;

/// `a * b + sum`, rounded once.
pub use super::float::{fma_f32 as multiply_add_f32, fma_f64 as multiply_add_f64};

/// Multiplications of fragments of four and two registers, with four accumulators.
macro_rules! products {
    ($($(#[$attribute:meta])* $name:ident -> $sum:ty: $shape:literal $types:literal;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// All 32 lanes of the warp execute this same call.
        #[inline(always)]
        pub unsafe fn $name(left: [u32; 4], right: [u32; 2], sums: [$sum; 4]) -> [$sum; 4] {
            let [mut s0, mut s1, mut s2, mut s3] = sums;
            // SAFETY: the instruction reads and writes registers alone. The caller vouches for convergence. Since the asm is
            // not `pure`, it stays where the caller put it.
            unsafe {
                asm!(
                    concat!("mma.sync.aligned.", $shape, ".row.col.", $types, " {{{0}, {1}, {2}, {3}}}, {{{4}, {5}, {6}, {7}}}, {{{8}, {9}}}, {{{0}, {1}, {2}, {3}}};"),
                    inout(reg32) s0, inout(reg32) s1, inout(reg32) s2, inout(reg32) s3,
                    in(reg32) left[0], in(reg32) left[1], in(reg32) left[2], in(reg32) left[3],
                    in(reg32) right[0], in(reg32) right[1],
                    options(nomem, nostack, preserves_flags)
                );
            }
            [s0, s1, s2, s3]
        }
    )* };
}
products! {
    /// `mma.m16n8k16` of f16 (PTX ISA, "mma").
    f16_f32 -> f32: "m16n8k16" "f32.f16.f16.f32";
    /// `mma.m16n8k16` of bf16.
    bf16_f32 -> f32: "m16n8k16" "f32.bf16.bf16.f32";
    /// `mma.m16n8k8` of TF32, whose low 13 bits are ignored.
    tf32_f32 -> f32: "m16n8k8" "f32.tf32.tf32.f32";
    /// `mma.m16n8k32` of signed bytes, wrapping.
    s8_s8 -> i32: "m16n8k32" "s32.s8.s8.s32";
    /// `mma.m16n8k32` of signed and unsigned bytes, wrapping.
    s8_u8 -> i32: "m16n8k32" "s32.s8.u8.s32";
    /// `mma.m16n8k32` of unsigned and signed bytes, wrapping.
    u8_s8 -> i32: "m16n8k32" "s32.u8.s8.s32";
    /// `mma.m16n8k32` of unsigned bytes, wrapping.
    u8_u8 -> i32: "m16n8k32" "s32.u8.u8.s32";
}

/// Whether warps multiply FP8 without converting it to f16.
pub const FP8_PRODUCTS: bool = cfg!(all(target_feature = "sm_89", target_feature = "ptx84"));

// PTX before 8.4 has no multiplication of FP8. Hopper and data centre Blackwell convert to f16 themselves.
#[cfg(all(target_feature = "sm_89", target_feature = "ptx84"))]
products! {
    /// `mma.m16n8k32` of E4M3.
    e4m3_f32 -> f32: "m16n8k32" "f32.e4m3.e4m3.f32";
    /// `mma.m16n8k32` of E5M2.
    e5m2_f32 -> f32: "m16n8k32" "f32.e5m2.e5m2.f32";
}

/// Multiplications of fragments of four and two registers, with accumulators in pairs of f16.
macro_rules! products_to_pairs {
    ($($(#[$attribute:meta])* $name:ident: $shape:literal $types:literal;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// All 32 lanes of the warp execute this same call.
        #[inline(always)]
        pub unsafe fn $name(left: [u32; 4], right: [u32; 2], sums: [u32; 2]) -> [u32; 2] {
            let [mut s0, mut s1] = sums;
            // SAFETY: as above.
            unsafe {
                asm!(
                    concat!("mma.sync.aligned.", $shape, ".row.col.", $types, " {{{0}, {1}}}, {{{2}, {3}, {4}, {5}}}, {{{6}, {7}}}, {{{0}, {1}}};"),
                    inout(reg32) s0, inout(reg32) s1,
                    in(reg32) left[0], in(reg32) left[1], in(reg32) left[2], in(reg32) left[3],
                    in(reg32) right[0], in(reg32) right[1],
                    options(nomem, nostack, preserves_flags)
                );
            }
            [s0, s1]
        }
    )* };
}
products_to_pairs! {
    /// `mma.m16n8k16` of f16, accumulating in f16.
    f16_f16: "m16n8k16" "f16.f16.f16.f16";
}
#[cfg(all(target_feature = "sm_89", target_feature = "ptx87"))]
products_to_pairs! {
    /// `mma.m16n8k32` of E4M3, accumulating in f16.
    e4m3_f16: "m16n8k32" "f16.e4m3.e4m3.f16";
    /// `mma.m16n8k32` of E5M2, accumulating in f16.
    e5m2_f16: "m16n8k32" "f16.e5m2.e5m2.f16";
}

/// The low and the high pairs of FP8 in each register, as pairs of f16. A lane that holds elements `k` to `k + 3` of 16 gives
/// the elements that it would hold of two times 8 in another order. The order is the same for both operands.
#[cfg(not(all(target_feature = "sm_89", target_feature = "ptx87")))]
macro_rules! products_in_f16 {
    ($($(#[$attribute:meta])* $name:ident -> [$sum:ty; $count:literal] = $product:ident, $convert:ident;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// All 32 lanes of the warp execute this same call.
        #[inline(always)]
        pub unsafe fn $name(left: [u32; 4], right: [u32; 2], mut sums: [$sum; $count]) -> [$sum; $count] {
            let low = |word: u32| $convert(word as u16);
            let high = |word: u32| $convert((word >> 16) as u16);
            let [l0, l1, l2, l3] = left;
            let [r0, r1] = right;
            // SAFETY: the same contract.
            unsafe {
                sums = $product([low(l0), low(l1), high(l0), high(l1)], [low(r0), high(r0)], sums);
                $product([low(l2), low(l3), high(l2), high(l3)], [low(r1), high(r1)], sums)
            }
        }
    )* };
}
#[cfg(not(all(target_feature = "sm_89", target_feature = "ptx84")))]
products_in_f16! {
    /// The multiplication of E4M3, 16 rows by 8 columns by 32, as f16.
    e4m3_f32 -> [f32; 4] = f16_f32, e4m3x2_to_f16x2;
    /// The multiplication of E5M2, 16 rows by 8 columns by 32, as f16.
    e5m2_f32 -> [f32; 4] = f16_f32, e5m2x2_to_f16x2;
}
#[cfg(not(all(target_feature = "sm_89", target_feature = "ptx87")))]
products_in_f16! {
    /// The multiplication of E4M3, 16 rows by 8 columns by 32, accumulating in f16.
    e4m3_f16 -> [u32; 2] = f16_f16, e4m3x2_to_f16x2;
    /// The multiplication of E5M2, 16 rows by 8 columns by 32, accumulating in f16.
    e5m2_f16 -> [u32; 2] = f16_f16, e5m2x2_to_f16x2;
}

/// `mma.m16n8k4` of f64 (PTX ISA, "mma"); before `sm_90` two `mma.m8n8k4`.
///
/// # Safety
/// All 32 lanes of the warp execute this same call.
#[inline(always)]
pub unsafe fn f64_by_4(left: [f64; 2], right: f64, sums: [f64; 4]) -> [f64; 4] {
    let [mut s0, mut s1, mut s2, mut s3] = sums;
    // SAFETY: as above.
    #[cfg(target_feature = "sm_90")]
    unsafe {
        asm!(
            "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {{{0}, {1}, {2}, {3}}}, {{{4}, {5}}}, {{{6}}}, {{{0}, {1}, {2}, {3}}};",
            inout(reg64) s0, inout(reg64) s1, inout(reg64) s2, inout(reg64) s3,
            in(reg64) left[0], in(reg64) left[1], in(reg64) right,
            options(nomem, nostack, preserves_flags)
        );
    }
    // SAFETY: as above.
    #[cfg(not(target_feature = "sm_90"))]
    unsafe {
        asm!(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{{0}, {1}}}, {{{4}}}, {{{6}}}, {{{0}, {1}}};",
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{{2}, {3}}}, {{{5}}}, {{{6}}}, {{{2}, {3}}};",
            inout(reg64) s0, inout(reg64) s1, inout(reg64) s2, inout(reg64) s3,
            in(reg64) left[0], in(reg64) left[1], in(reg64) right,
            options(nomem, nostack, preserves_flags)
        );
    }
    [s0, s1, s2, s3]
}

/// `mma.m16n8k16` of f64 (PTX ISA, "mma"); before `sm_90` eight `mma.m8n8k4`.
///
/// # Safety
/// All 32 lanes of the warp execute this same call.
#[inline(always)]
pub unsafe fn f64_by_16(left: [f64; 8], right: [f64; 4], mut sums: [f64; 4]) -> [f64; 4] {
    // SAFETY: as above.
    #[cfg(target_feature = "sm_90")]
    unsafe {
        let [s0, s1, s2, s3] = &mut sums;
        asm!(
            "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {{{0}, {1}, {2}, {3}}}, {{{4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}}}, {{{12}, {13}, {14}, {15}}}, {{{0}, {1}, {2}, {3}}};",
            inout(reg64) *s0, inout(reg64) *s1, inout(reg64) *s2, inout(reg64) *s3,
            in(reg64) left[0], in(reg64) left[1], in(reg64) left[2], in(reg64) left[3],
            in(reg64) left[4], in(reg64) left[5], in(reg64) left[6], in(reg64) left[7],
            in(reg64) right[0], in(reg64) right[1], in(reg64) right[2], in(reg64) right[3],
            options(nomem, nostack, preserves_flags)
        );
    }
    // SAFETY: the same contract.
    #[cfg(not(target_feature = "sm_90"))]
    unsafe {
        sums = f64_by_4([left[0], left[1]], right[0], sums);
        sums = f64_by_4([left[2], left[3]], right[1], sums);
        sums = f64_by_4([left[4], left[5]], right[2], sums);
        sums = f64_by_4([left[6], left[7]], right[3], sums);
    }
    sums
}

macro_rules! fragment_loads {
    ($($(#[$attribute:meta])* $name:ident, $transposed:ident -> $count:literal: $number:literal, $registers:literal, $address:literal, $($register:ident)*;)*) => { $(
        fragment_loads!(@one $(#[$attribute])* $name $count, concat!("ldmatrix.sync.aligned.m8n8.", $number, ".shared.b16 {{", $registers, "}}, [", $address, "];"), $($register)*);
        fragment_loads!(@one $(#[$attribute])* ///
            /// Each of them transposed.
            $transposed $count, concat!("ldmatrix.sync.aligned.m8n8.", $number, ".trans.shared.b16 {{", $registers, "}}, [", $address, "];"), $($register)*);
    )* };
    (@one $(#[$attribute:meta])* $name:ident $count:literal, $template:expr, $($register:ident)*) => {
        $(#[$attribute])*
        ///
        /// # Safety
        /// All 32 lanes of the warp execute this same call. The address of each lane whose row is loaded lies in shared memory
        /// of this block: 16 bytes, aligned to 16, with no concurrent store.
        #[inline(always)]
        pub unsafe fn $name(address: u32) -> [u32; $count] {
            $(let $register;)*
            // SAFETY: the caller vouches for address and convergence. Not `pure`: the contents change between barriers.
            unsafe { asm!($template, $(out(reg32) $register,)* in(reg32) address, options(readonly, nostack, preserves_flags)) }
            [$($register),*]
        }
    };
}
fragment_loads! {
    /// `ldmatrix.x1`: eight rows of 16 bytes, at the addresses of lanes 0 to 7. A lane gets four bytes of row `lane / 4` (PTX
    /// ISA, "ldmatrix").
    load_matrix, load_matrix_transposed -> 1: "x1", "{0}", "{1}", r0;
    /// `ldmatrix.x2`: two such matrices, at the addresses of lanes 0 to 15.
    load_matrices_2, load_matrices_2_transposed -> 2: "x2", "{0}, {1}", "{2}", r0 r1;
    /// `ldmatrix.x4`: four such matrices, at the addresses of all lanes.
    load_matrices_4, load_matrices_4_transposed -> 4: "x4", "{0}, {1}, {2}, {3}", "{4}", r0 r1 r2 r3;
}

/// Whether `stmatrix` exists: from `sm_90` on.
pub const STORES_MATRICES: bool = cfg!(target_feature = "sm_90");

macro_rules! fragment_stores {
    ($($(#[$attribute:meta])* $name:ident $modifier:literal;)*) => { $(
        $(#[$attribute])*
        ///
        /// # Safety
        /// [`STORES_MATRICES`]. All 32 lanes of the warp execute this same call. The address of each lane lies in shared memory of this
        /// block: 16 bytes, aligned to 16, with no concurrent access.
        #[inline(always)]
        pub unsafe fn $name(address: u32, [a, b, c, d]: [u32; 4]) {
            // SAFETY: the caller vouches for address and convergence.
            #[cfg(target_feature = "sm_90")]
            unsafe {
                asm!(concat!("stmatrix.sync.aligned.m8n8.x4", $modifier, ".shared.b16 [{0}], {{{1}, {2}, {3}, {4}}};"), in(reg32) address, in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d, options(nostack, preserves_flags))
            }
            #[cfg(not(target_feature = "sm_90"))]
            {
                let _ = (address, a, b, c, d);
                super::execution::trap()
            }
        }
    )* };
}
fragment_stores! {
    /// `stmatrix.x4`: the reverse of [`load_matrices_4`] (PTX ISA, "stmatrix").
    store_matrices_4 "";
    /// `stmatrix.x4.trans`: stores the transposes of these matrices, the reverse of [`load_matrices_4_transposed`].
    store_matrices_4_transposed ".trans";
}

/// `st.shared.v4.b32`.
///
/// # Safety
/// `address` lies in shared memory of this block, aligned to 16 bytes, with no concurrent access.
#[inline(always)]
pub unsafe fn store_words(address: u32, [a, b, c, d]: [u32; 4]) {
    // SAFETY: the caller vouches for the address.
    unsafe {
        asm!("st.shared.v4.b32 [{0}], {{{1}, {2}, {3}, {4}}};", in(reg32) address, in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d, options(nostack))
    }
}
