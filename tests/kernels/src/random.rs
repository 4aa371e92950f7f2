//! Random numbers of every type and distribution, in groups that registers hold whole and in others.

use crate::{Output, Row};
use cuda_tiles::prelude::*;

/// Rows of bits: `u32`, and the halves of `u64`.
#[kernel(threads = 64, min_blocks = 1)]
pub fn random_bits(cx: Cx, seed: u64, stream: u64, offset: u64, words: Row<u32>, wide: Row<u64>) {
    let words = words.partition(cx, shape![256]);
    let wide = wide.partition(cx, shape![256]);
    let i = cx.bid::<0>();
    let random = Philox::new(cx, seed, stream);
    let first = offset.wrapping_add(u64::from(*i) * 256);
    words.store_masked(random.bits::<u32>(shape![256], first), i);
    wide.store_masked(random.bits::<u64>(shape![256], first), i);
}

/// Kernels for floats: uniform with zero, uniform with one, normal.
macro_rules! floats {
    ($($name:ident: $threads:literal threads, $vector:literal neighbours, $tile:literal a tile, $instances:tt;)*) => { $(
        /// Rows uniform with zero, uniform with one, normal.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, instances $instances)]
        pub fn $name<T: cuda_tiles::random::RandomFloat>(
            cx: Cx,
            seed: u64,
            stream: u64,
            offset: u64,
            results: Output<T, (D<3>, Mult<u32, { crate::MULTIPLE }>)>,
        ) {
            let results = results.partition(cx, shape![1, $tile]);
            let i = cx.bid::<0>();
            let random = Philox::new(cx, seed, stream);
            let first = offset.wrapping_add(u64::from(*i) * $tile);
            let shape = shape![1, $tile];
            results.store_masked(random.uniform::<T>(shape, first), (0, i));
            results.store_masked(random.uniform_above_zero::<T>(shape, first), (1, i));
            results.store_masked(random.normal::<T>(shape, first), (2, i));
        }
    )* };
}
floats! {
    random_floats: 128 threads, 4 neighbours, 512 a tile, (<f16>, <bf16>, <f32>, <f64>);
    random_floats_apart: 32 threads, 1 neighbours, 64 a tile, (<f32>, <f64>);
}

/// Integers from `first` to `last`.
#[kernel(threads = 64, min_blocks = 1, instances(<i32>, <u32>, <i64>, <u64>))]
pub fn random_range<T: cuda_tiles::random::RandomInteger + cuda_tiles::launch::Parameter>(
    cx: Cx,
    seed: u64,
    offset: u64,
    first: T,
    last: T,
    results: Row<T>,
) {
    let results = results.partition(cx, shape![128]);
    let i = cx.bid::<0>();
    let start = offset + u64::from(*i) * 128;
    let tile = Philox::new(cx, seed, 3).uniform_range(shape![128], start, first..=last);
    results.store_masked(tile, i);
}

/// Whether to keep an element, with the given probability.
#[kernel(threads = 64, min_blocks = 1, vector = 8)]
pub fn random_mask(cx: Cx, seed: u64, keep: f32, results: Row<bool>) {
    let results = results.partition(cx, shape![1024]);
    let i = cx.bid::<0>();
    let tile = Philox::new(cx, seed, 0).bernoulli(shape![1024], u64::from(*i) * 1024, keep);
    results.store_masked(tile, i);
}
