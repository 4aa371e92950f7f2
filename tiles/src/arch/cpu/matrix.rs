//! The CPU has no tensor cores: a block of one thread multiplies matrices by loops. None of the instructions' stand-ins is ever
//! called.

/// Whether four warps multiply together by `wgmma`.
pub const WARPGROUPS: bool = false;

/// Whether warps multiply FP8 without converting it.
pub const FP8_PRODUCTS: bool = true;

/// The same as a type: [`U2`](typenum::U2) if so, [`U1`](typenum::U1) if not.
pub type Arrangement = typenum::U1;

/// `a * b + sum`, rounded twice. Not every processor has an instruction that rounds once; without it, rounding once would take
/// a hundred instructions.
#[inline]
pub fn multiply_add_f32(left: f32, right: f32, sum: f32) -> f32 {
    left * right + sum
}

/// `a * b + sum`, rounded twice.
#[inline]
pub fn multiply_add_f64(left: f64, right: f64, sum: f64) -> f64 {
    left * right + sum
}

macro_rules! products {
    ($($name:ident [$($operand:ident: $type:ty),*] -> $result:ty;)*) => { $(
        /// A multiplication of a warp's fragments, or a load or store of them.
        ///
        /// # Safety
        /// Never called.
        pub unsafe fn $name($($operand: $type),*) -> $result {
            unreachable!("a block of one thread has no tensor cores")
        }
    )* };
}
products! {
    f16_f32 [_left: [u32; 4], _right: [u32; 2], _sums: [f32; 4]] -> [f32; 4];
    bf16_f32 [_left: [u32; 4], _right: [u32; 2], _sums: [f32; 4]] -> [f32; 4];
    tf32_f32 [_left: [u32; 4], _right: [u32; 2], _sums: [f32; 4]] -> [f32; 4];
    e4m3_f32 [_left: [u32; 4], _right: [u32; 2], _sums: [f32; 4]] -> [f32; 4];
    e5m2_f32 [_left: [u32; 4], _right: [u32; 2], _sums: [f32; 4]] -> [f32; 4];
    s8_s8 [_left: [u32; 4], _right: [u32; 2], _sums: [i32; 4]] -> [i32; 4];
    s8_u8 [_left: [u32; 4], _right: [u32; 2], _sums: [i32; 4]] -> [i32; 4];
    u8_s8 [_left: [u32; 4], _right: [u32; 2], _sums: [i32; 4]] -> [i32; 4];
    u8_u8 [_left: [u32; 4], _right: [u32; 2], _sums: [i32; 4]] -> [i32; 4];
    f16_f16 [_left: [u32; 4], _right: [u32; 2], _sums: [u32; 2]] -> [u32; 2];
    e4m3_f16 [_left: [u32; 4], _right: [u32; 2], _sums: [u32; 2]] -> [u32; 2];
    e5m2_f16 [_left: [u32; 4], _right: [u32; 2], _sums: [u32; 2]] -> [u32; 2];
    f64_by_4 [_left: [f64; 2], _right: f64, _sums: [f64; 4]] -> [f64; 4];
    f64_by_16 [_left: [f64; 8], _right: [f64; 4], _sums: [f64; 4]] -> [f64; 4];
    load_matrix [_address: u32] -> [u32; 1];
    load_matrix_transposed [_address: u32] -> [u32; 1];
    load_matrices_2 [_address: u32] -> [u32; 2];
    load_matrices_2_transposed [_address: u32] -> [u32; 2];
    load_matrices_4 [_address: u32] -> [u32; 4];
    load_matrices_4_transposed [_address: u32] -> [u32; 4];
    store_matrices_4 [_address: u32, _values: [u32; 4]] -> ();
    store_matrices_4_transposed [_address: u32, _values: [u32; 4]] -> ();
    store_words [_address: u32, _words: [u32; 4]] -> ();
}

/// Whether `stmatrix` exists.
pub const STORES_MATRICES: bool = false;
