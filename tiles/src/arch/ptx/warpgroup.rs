//! Multiplication by warpgroups, 64 rows at a time, with operands in shared memory (PTX ISA, "Asynchronous Warpgroup Level
//! Matrix Multiply-Accumulate Instructions").
//!
//! The functions take accumulators as a pointer to the first register; after inlining they are registers. The tensor cores read
//! and write their operands until [`wait`] returns.

use core::arch::asm;

unsafe extern "unadjusted" {
    #[link_name = "llvm.nvvm.wgmma.fence.sync.aligned"]
    fn wgmma_fence();
    #[link_name = "llvm.nvvm.wgmma.commit_group.sync.aligned"]
    fn wgmma_commit_group();
    #[link_name = "llvm.nvvm.wgmma.wait_group.sync.aligned"]
    fn wgmma_wait_group(pending: u64);
}

/// `wgmma.fence`: multiplications may use registers and shared memory that were accessed before.
///
/// # Safety
/// All threads of the warpgroup execute this same call.
#[inline(always)]
pub unsafe fn fence() {
    // SAFETY: the empty asm has no effect; the caller vouches for convergence.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        wgmma_fence();
    }
}

/// `wgmma.commit_group`: the multiplications since the last commit are a group.
///
/// # Safety
/// All threads of the warpgroup execute this same call.
#[inline(always)]
pub unsafe fn commit() {
    // SAFETY: as above.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        wgmma_commit_group();
    }
}

/// `wgmma.wait_group`: waits until at most `PENDING` groups are under way.
///
/// # Safety
/// All threads of the warpgroup execute this same call.
#[inline(always)]
pub unsafe fn wait<const PENDING: u64>() {
    // SAFETY: as above; the instruction takes an immediate.
    unsafe {
        asm!("", options(nomem, nostack, preserves_flags));
        wgmma_wait_group(const { PENDING });
    }
}

/// Calls a macro with the numbers of so many registers, except for the first number, 0.
macro_rules! with_registers {
    (1, $name:ident!($($rest:tt)*)) => { $name!($($rest)* []); };
    (2, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1]); };
    (4, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3]); };
    (8, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7]); };
    (16, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]); };
    (24, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23]); };
    (32, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31]); };
    (40, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]); };
    (48, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47]); };
    (56, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55]); };
    (64, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63]); };
    (72, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71]); };
    (80, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79]); };
    (88, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87]); };
    (96, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95]); };
    (104, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103]); };
    (112, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111]); };
    (120, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119]); };
    (128, $name:ident!($($rest:tt)*)) => { $name!($($rest)* [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127]); };
}

/// A schedule fence: a place in the program that the assembler moves no wait across. Otherwise it moves a wait to the beginning
/// of the basic block, ahead of instructions that should run beside the multiplications.
#[inline(always)]
#[allow(named_asm_labels, reason = "the braces around them make labels local")]
pub fn schedule_fence() {
    // SAFETY: the loop ends at once, since the constant is zero, which the assembler does not know. The constant lies in the constant bank.
    // It therefore costs next to nothing, and is the same for all threads as far as the assembler can tell.
    unsafe {
        asm!(
            "{{ .reg .pred p; .reg .b32 value; ld.const.u32 value, [cuda_tiles_zero]; WAIT: setp.eq.u32 p, value, 0; @p bra HERE; nanosleep.u32 1; bra WAIT; HERE: }} //@cuda-tiles declares .const .align 4 .u32 cuda_tiles_zero",
            options(nostack)
        )
    }
}

macro_rules! pin {
    ($name:ident, [$($index:literal)*]) => {
        #[inline(always)]
        unsafe fn $name<const WAIT: bool>(d: *mut u32) {
            // SAFETY: the caller vouches for the registers and for convergence. The comment names the registers, so that none
            // is read or moved before.
            unsafe {
                if WAIT {
                    asm!(concat!("wgmma.wait_group.sync.aligned 0; // {0}" $(, "{", $index, "}")*), inout(reg32) *d $(, inout(reg32) *d.add($index))*, options(nostack))
                } else {
                    asm!(concat!("// {0}" $(, "{", $index, "}")*), inout(reg32) *d $(, inout(reg32) *d.add($index))*, options(nostack))
                }
            }
        }
    };
}
with_registers!(1, pin!(pin_1,));
with_registers!(2, pin!(pin_2,));
with_registers!(4, pin!(pin_4,));
with_registers!(8, pin!(pin_8,));
with_registers!(16, pin!(pin_16,));
with_registers!(24, pin!(pin_24,));
with_registers!(32, pin!(pin_32,));
with_registers!(40, pin!(pin_40,));
with_registers!(48, pin!(pin_48,));
with_registers!(56, pin!(pin_56,));
with_registers!(64, pin!(pin_64,));
with_registers!(72, pin!(pin_72,));
with_registers!(80, pin!(pin_80,));
with_registers!(88, pin!(pin_88,));
with_registers!(96, pin!(pin_96,));
with_registers!(104, pin!(pin_104,));
with_registers!(112, pin!(pin_112,));
with_registers!(120, pin!(pin_120,));
with_registers!(128, pin!(pin_128,));

macro_rules! undef {
    ($name:ident, [$($index:literal)*]) => {
        #[inline(always)]
        unsafe fn $name(d: *mut u32) {
            // SAFETY: the caller vouches for the registers. The comment names them as outputs, and leaves their contents as
            // they are.
            unsafe { asm!(concat!("// {0}" $(, "{", $index, "}")*), out(reg32) *d $(, out(reg32) *d.add($index))*, options(nomem, nostack)) }
        }
    };
}
with_registers!(1, undef!(undef_1,));
with_registers!(2, undef!(undef_2,));
with_registers!(4, undef!(undef_4,));
with_registers!(8, undef!(undef_8,));
with_registers!(16, undef!(undef_16,));
with_registers!(32, undef!(undef_32,));
with_registers!(64, undef!(undef_64,));
with_registers!(128, undef!(undef_128,));

/// Leaves `count` accumulators undefined, by no instruction.
///
/// # Safety
/// `count` is a power of two, and `d` valid for writing as many registers.
#[inline(always)]
pub unsafe fn undef(count: usize, d: *mut u32) {
    // SAFETY: the same contract; powers of two above 64 are multiples of 128.
    unsafe {
        match count {
            1 => undef_1(d),
            2 => undef_2(d),
            4 => undef_4(d),
            8 => undef_8(d),
            16 => undef_16(d),
            32 => undef_32(d),
            64 => undef_64(d),
            _ => {
                let mut first = 0;
                while first < count {
                    undef_128(d.add(first));
                    first += 128;
                }
            }
        }
    }
}

/// Pins `count` accumulators to this place in the program; with `WAIT`, behind all groups.
///
/// # Safety
/// `count` is a power of two, 24, or a multiple of 8 from 40 to 120, and `d` valid for as many registers. With `WAIT`, all threads of the
/// warpgroup execute this same call.
#[inline(always)]
pub unsafe fn pin<const WAIT: bool>(count: usize, d: *mut u32) {
    // SAFETY: the same contract. All other powers of two are multiples of 128. Several pins wait for the same groups.
    unsafe {
        match count {
            1 => pin_1::<WAIT>(d),
            2 => pin_2::<WAIT>(d),
            4 => pin_4::<WAIT>(d),
            8 => pin_8::<WAIT>(d),
            16 => pin_16::<WAIT>(d),
            24 => pin_24::<WAIT>(d),
            32 => pin_32::<WAIT>(d),
            40 => pin_40::<WAIT>(d),
            48 => pin_48::<WAIT>(d),
            56 => pin_56::<WAIT>(d),
            64 => pin_64::<WAIT>(d),
            72 => pin_72::<WAIT>(d),
            80 => pin_80::<WAIT>(d),
            88 => pin_88::<WAIT>(d),
            96 => pin_96::<WAIT>(d),
            104 => pin_104::<WAIT>(d),
            112 => pin_112::<WAIT>(d),
            120 => pin_120::<WAIT>(d),
            _ => {
                let mut first = 0;
                while first < count {
                    pin_128::<WAIT>(d.add(first));
                    first += 128;
                }
            }
        }
    }
}

/// `wgmma.mma_async` for 64 rows, `N` columns and 32 bytes along the contracted axis, as a function for each `N`, and a
/// function that chooses by `N`.
macro_rules! products {
    ($($(#[$attribute:meta])* $name:ident $from_registers:ident $kind:ident $types:literal;)*) => { $(
        $(#[$attribute])*
        pub mod $name {
            use core::arch::asm;

            with_registers!(4, $kind!(n8, registers_n8, 8, $types,));
            with_registers!(8, $kind!(n16, registers_n16, 16, $types,));
            with_registers!(16, $kind!(n32, registers_n32, 32, $types,));
            with_registers!(24, $kind!(n48, registers_n48, 48, $types,));
            with_registers!(32, $kind!(n64, registers_n64, 64, $types,));
            with_registers!(40, $kind!(n80, registers_n80, 80, $types,));
            with_registers!(48, $kind!(n96, registers_n96, 96, $types,));
            with_registers!(56, $kind!(n112, registers_n112, 112, $types,));
            with_registers!(64, $kind!(n128, registers_n128, 128, $types,));
            with_registers!(72, $kind!(n144, registers_n144, 144, $types,));
            with_registers!(80, $kind!(n160, registers_n160, 160, $types,));
            with_registers!(88, $kind!(n176, registers_n176, 176, $types,));
            with_registers!(96, $kind!(n192, registers_n192, 192, $types,));
            with_registers!(104, $kind!(n208, registers_n208, 208, $types,));
            with_registers!(112, $kind!(n224, registers_n224, 224, $types,));
            with_registers!(120, $kind!(n240, registers_n240, 240, $types,));
            with_registers!(128, $kind!(n256, registers_n256, 256, $types,));

            /// Multiplies the operands in shared memory that the descriptors `a` and `b` describe. The product is added to the
            /// accumulators at `d` or, if `add` is 0, replaces them. `TA` and `TB` are 1 where the operand is MN-major, which
            /// types of 16 bits alone can be.
            ///
            /// # Safety
            /// All threads of the warpgroup execute this same call. Nobody writes the descriptors' operands until the
            /// multiplication is done. `d` is valid for `columns / 2` registers, which nobody touches until then. `columns` is
            /// a power of two from 8 to 256, 48, or a multiple of 16 from 80 to 240.
            #[inline(always)]
            pub unsafe fn shared<const TA: i32, const TB: i32>(columns: usize, d: *mut u32, add: u32, a: u64, b: u64) {
                // SAFETY: the same contract.
                unsafe {
                    match columns {
                        8 => n8::<TA, TB>(d, add, a, b),
                        16 => n16::<TA, TB>(d, add, a, b),
                        32 => n32::<TA, TB>(d, add, a, b),
                        48 => n48::<TA, TB>(d, add, a, b),
                        64 => n64::<TA, TB>(d, add, a, b),
                        80 => n80::<TA, TB>(d, add, a, b),
                        96 => n96::<TA, TB>(d, add, a, b),
                        112 => n112::<TA, TB>(d, add, a, b),
                        128 => n128::<TA, TB>(d, add, a, b),
                        144 => n144::<TA, TB>(d, add, a, b),
                        160 => n160::<TA, TB>(d, add, a, b),
                        176 => n176::<TA, TB>(d, add, a, b),
                        192 => n192::<TA, TB>(d, add, a, b),
                        208 => n208::<TA, TB>(d, add, a, b),
                        224 => n224::<TA, TB>(d, add, a, b),
                        240 => n240::<TA, TB>(d, add, a, b),
                        _ => n256::<TA, TB>(d, add, a, b),
                    }
                }
            }

            /// The same multiplication, with operand A in registers.
            ///
            /// # Safety
            /// As for [`shared`]; `a` is the fragment's registers.
            #[inline(always)]
            pub unsafe fn registers<const TB: i32>(columns: usize, d: *mut u32, add: u32, a: [u32; 4], b: u64) {
                // SAFETY: the same contract.
                unsafe {
                    match columns {
                        8 => registers_n8::<TB>(d, add, a, b),
                        16 => registers_n16::<TB>(d, add, a, b),
                        32 => registers_n32::<TB>(d, add, a, b),
                        48 => registers_n48::<TB>(d, add, a, b),
                        64 => registers_n64::<TB>(d, add, a, b),
                        80 => registers_n80::<TB>(d, add, a, b),
                        96 => registers_n96::<TB>(d, add, a, b),
                        112 => registers_n112::<TB>(d, add, a, b),
                        128 => registers_n128::<TB>(d, add, a, b),
                        144 => registers_n144::<TB>(d, add, a, b),
                        160 => registers_n160::<TB>(d, add, a, b),
                        176 => registers_n176::<TB>(d, add, a, b),
                        192 => registers_n192::<TB>(d, add, a, b),
                        208 => registers_n208::<TB>(d, add, a, b),
                        224 => registers_n224::<TB>(d, add, a, b),
                        240 => registers_n240::<TB>(d, add, a, b),
                        _ => registers_n256::<TB>(d, add, a, b),
                    }
                }
            }
        }
    )* };
}

/// The instruction for one number of columns. Its tail has the operands in which kinds of types differ: signs, and which
/// operands are MN-major. The comment behind the instruction names the parameters that not all kinds have.
macro_rules! instruction {
    ($shared:ident, $registers:ident, $columns:literal, $types:literal, $tail:literal, $registers_tail:literal, [$($index:literal)*]) => {
        #[inline(always)]
        unsafe fn $shared<const TA: i32, const TB: i32>(d: *mut u32, add: u32, a: u64, b: u64) {
            // SAFETY: the contract of the function that chooses by `N`.
            unsafe {
                asm!(
                    concat!("{{ .reg .pred p; setp.ne.b32 p, {add}, 0; wgmma.mma_async.sync.aligned.m64n", $columns, $types, " {{{0}" $(, ",{", $index, "}")*, "}}, {a}, {b}, p", $tail, "; }} // {ta}{tb}"),
                    inout(reg32) *d $(, inout(reg32) *d.add($index))*,
                    a = in(reg64) a, b = in(reg64) b, add = in(reg32) add, ta = const TA, tb = const TB, options(nostack)
                )
            }
        }

        #[inline(always)]
        unsafe fn $registers<const TB: i32>(d: *mut u32, add: u32, a: [u32; 4], b: u64) {
            // SAFETY: the contract of the function that chooses by `N`.
            unsafe {
                asm!(
                    concat!("{{ .reg .pred p; setp.ne.b32 p, {add}, 0; wgmma.mma_async.sync.aligned.m64n", $columns, $types, " {{{0}" $(, ",{", $index, "}")*, "}}, {{{a0},{a1},{a2},{a3}}}, {b}, p", $registers_tail, "; }} // {tb}"),
                    inout(reg32) *d $(, inout(reg32) *d.add($index))*,
                    a0 = in(reg32) a[0], a1 = in(reg32) a[1], a2 = in(reg32) a[2], a3 = in(reg32) a[3], b = in(reg64) b, add = in(reg32) add, tb = const TB, options(nostack)
                )
            }
        }
    };
}

/// Types of 16 bits: both operands K-major or MN-major.
macro_rules! half {
    ($shared:ident, $registers:ident, $columns:literal, $types:literal, $indices:tt) => {
        instruction!($shared, $registers, $columns, $types, ", 1, 1, {ta}, {tb}", ", 1, 1, {tb}", $indices);
    };
}

/// Other floats: both operands K-major.
macro_rules! float {
    ($shared:ident, $registers:ident, $columns:literal, $types:literal, $indices:tt) => {
        instruction!($shared, $registers, $columns, $types, ", 1, 1", ", 1, 1", $indices);
    };
}

/// Integers: both operands K-major, without a choice of signs.
macro_rules! integer {
    ($shared:ident, $registers:ident, $columns:literal, $types:literal, $indices:tt) => {
        instruction!($shared, $registers, $columns, $types, "", "", $indices);
    };
}

products! {
    /// `f16` into `f32`.
    f16_f32 registers half "k16.f32.f16.f16";
    /// `bf16` into `f32`.
    bf16_f32 registers half "k16.f32.bf16.bf16";
    /// `tf32` into `f32`.
    tf32_f32 registers float "k8.f32.tf32.tf32";
    /// `f8e4m3` into `f32`.
    e4m3_f32 registers float "k32.f32.e4m3.e4m3";
    /// `f8e5m2` into `f32`.
    e5m2_f32 registers float "k32.f32.e5m2.e5m2";
    /// `i8` by `i8` into `i32`.
    i8_i8 registers integer "k32.s32.s8.s8";
    /// `u8` by `u8` into `i32`.
    u8_u8 registers integer "k32.s32.u8.u8";
}
