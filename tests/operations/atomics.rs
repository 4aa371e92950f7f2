//! Atomic loads and stores, with every order and scope.

use crate::devices::devices;
use crate::failures::Failures;
use crate::test_values::{Value, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::atomics as kernels;
use std::time::{Duration, Instant};

/// Elements: three tiles and a part of one.
const LEN: usize = 64 * 3 + 21;

/// Row `k` of a kernel with `rows` rows: the first half of them is written by whole tiles only.
fn expected<T: Value>(x: &[T], before: &[T], rows: usize, i: usize) -> T {
    let (k, element) = (i / LEN, i % LEN);
    let whole = LEN / 64 * 64;
    if k < rows / 2 && element >= whole { before[i] } else { x[element] }
}

type Shared<T> = Kernel<(SpanAtomic<T, (u32,)>, SpanMut<T, (D<8>, u32)>, SpanAtomic<T, (D<8>, u32)>)>;

fn check_shared<T: Value>(kernel: &Shared<T>) {
    let x = random_values::<T>(101, LEN);
    let before = random_values::<T>(102, 8 * LEN);
    let mut failures = Failures::new::<T>("shared_atomics");
    for device in devices() {
        let mut operand = Tensor::from_slice(device, [LEN], &x).unwrap();
        let mut loaded = Tensor::from_slice(device, [8, LEN], &before).unwrap();
        let mut stored = Tensor::from_slice(device, [8, LEN], &before).unwrap();
        let arguments = (&mut operand, &mut loaded, &mut stored);
        kernel.launch(device, Grid::cover([LEN], [64]), arguments).unwrap();
        failures.exact(device, "loads", &loaded.to_vec().unwrap(), |i| expected(&x, &before, 8, i));
        failures.exact(device, "stores", &stored.to_vec().unwrap(), |i| expected(&x, &before, 8, i));
        failures.exact(device, "the operand", &operand.to_vec().unwrap(), |i| x[i]);
    }
}

#[test]
fn between_blocks() {
    for_types!(check_shared, kernels::shared_atomics: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type Own<T> = Kernel<(SpanMut<T, (u32,)>, SpanMut<T, (D<4>, u32)>, SpanMut<T, (D<4>, u32)>)>;

fn check_own<T: Value>(kernel: &Own<T>) {
    let x = random_values::<T>(103, LEN);
    let before = random_values::<T>(104, 4 * LEN);
    let mut failures = Failures::new::<T>("own_atomics");
    for device in devices() {
        let mut operand = Tensor::from_slice(device, [LEN], &x).unwrap();
        let mut loaded = Tensor::from_slice(device, [4, LEN], &before).unwrap();
        let mut stored = Tensor::from_slice(device, [4, LEN], &before).unwrap();
        let arguments = (&mut operand, &mut loaded, &mut stored);
        kernel.launch(device, Grid::cover([LEN], [64]), arguments).unwrap();
        failures.exact(device, "loads", &loaded.to_vec().unwrap(), |i| expected(&x, &before, 4, i));
        failures.exact(device, "stores", &stored.to_vec().unwrap(), |i| expected(&x, &before, 4, i));
    }
}

#[test]
fn within_a_block() {
    for_types!(check_own, kernels::own_atomics: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

/// Few enough blocks that a GPU runs all of them at once.
#[test]
fn a_release_hands_data_to_an_acquire() {
    const BLOCKS: usize = 16;
    let mut failures = Failures::new::<i32>("hand_over");
    for device in devices() {
        for _ in 0..50 {
            let mut data = Tensor::poisoned(device, [BLOCKS * 1024]).unwrap();
            let mut flags = Tensor::zeros(device, [BLOCKS]).unwrap();
            let mut results = Tensor::poisoned(device, [BLOCKS * 1024]).unwrap();
            kernels::hand_over.launch(device, BLOCKS as u32, (&mut data, &mut flags, &mut results)).unwrap();
            failures.exact(device, "what was handed over", &results.to_vec().unwrap(), |i| {
                i.checked_sub(1024).unwrap_or(i) as i32
            });
        }
    }
}

/// The same, where blocks wait for so long that only a block that never comes is too late.
#[test]
fn a_wait_ends_when_the_flag_is_there() {
    const BLOCKS: usize = 16;
    let mut failures = Failures::new::<i32>("hand_over_in_time");
    for device in devices() {
        for _ in 0..20 {
            let mut data = Tensor::poisoned(device, [BLOCKS * 1024]).unwrap();
            let mut flags = Tensor::zeros(device, [BLOCKS]).unwrap();
            let mut results = Tensor::poisoned(device, [BLOCKS * 1024]).unwrap();
            let mut in_time = Tensor::poisoned(device, [BLOCKS]).unwrap();
            let arguments = (&mut data, &mut flags, &mut results, &mut in_time, 20_000);
            kernels::hand_over_in_time.launch(device, BLOCKS as u32, arguments).unwrap();
            failures.exact(device, "whether in time", &in_time.to_vec().unwrap(), |_| true);
            failures.exact(device, "what was handed over", &results.to_vec().unwrap(), |i| {
                i.checked_sub(1024).unwrap_or(i) as i32
            });
        }
    }
}

type WaitedFor<T> = Kernel<(SpanAtomic<T, (u32,)>, SpanMut<T, (u32,)>, SpanMut<bool, (D<2>, u32)>, u64)>;

/// Three tiles: all flags are there, one is missing, all are missing. A missing one takes the time of the limit, and no more than that.
fn check_waited_for<T: Value>(kernel: &WaitedFor<T>) {
    const MICROSECONDS: u64 = 3000;
    let flag = |i: usize| if i < 64 || (i < 128 && i != 99) { T::small(1) } else { T::ZERO };
    let mut failures = Failures::new::<T>("waited_for");
    for device in devices() {
        let mut flags = Tensor::from_slice(device, [192], &(0..192).map(flag).collect::<Vec<_>>()).unwrap();
        let mut seen = Tensor::zeros(device, [192]).unwrap();
        let mut in_time = Tensor::poisoned(device, [2, 3]).unwrap();
        let begin = Instant::now();
        kernel.launch(device, 3, (&mut flags, &mut seen, &mut in_time, MICROSECONDS)).unwrap();
        let in_time = in_time.to_vec().unwrap();
        let took = begin.elapsed();
        failures.exact(device, "whether in time", &in_time, |i| i % 3 == 0);
        failures.exact(device, "what was seen", &seen.to_vec().unwrap(), |i| {
            if i < 64 { flag(i) } else { T::ZERO }
        });
        assert!(took >= Duration::from_micros(MICROSECONDS), "{took:?}");
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn a_wait_in_vain_ends_with_its_limit() {
    for_types!(check_waited_for, kernels::waited_for: bool u16 u32 f64);
}
