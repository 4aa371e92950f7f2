//! What threads do together: barriers, warps, shared memory, atomics.

use core::sync::atomic::{AtomicU32, Ordering};
use cuda_tiles::cuda_std::atomic::mid::{
    atomic_fetch_add_u32_block, atomic_fetch_max_i32_device, atomic_fetch_or_f64_system,
    atomic_fetch_xor_u64_device, atomic_load_32_block, atomic_store_32_block,
};
use cuda_tiles::cuda_std::atomic::{AtomicF32, BlockAtomicF32, SystemAtomicF64};
use cuda_tiles::cuda_std::prelude::*;
use cuda_tiles::cuda_std::shared::dynamic_shared_mem;
use cuda_tiles::cuda_std::vector::Vec3;
use cuda_tiles::cuda_std::warp::{self, WarpReductionOp};
// On the host these functions are `std`'s.
#[cfg(target_os = "cuda")]
use cuda_tiles::cuda_std::GpuFloat;
use cuda_tiles::cuda_std::{misc, ptr, shared_array};

/// The numbers of a block in reverse, by shared memory that the launch asks for.
///
/// # Safety
///
/// There are as many numbers as threads, and the launch asks for as much shared memory.
#[kernel]
pub unsafe fn reverse(numbers: *mut i32) {
    let (i, count) = (thread::thread_idx_x() as usize, thread::block_dim_x() as usize);
    let memory = dynamic_shared_mem::<i32>();
    // SAFETY: threads write their own places, and a barrier is between writes and reads.
    unsafe {
        *memory.add(i) = *numbers.add(i);
        thread::sync_threads();
        *numbers.add(i) = *memory.add(count - 1 - i);
    }
}

/// The sum of a vector: by lanes, by warps, and atomically by blocks.
///
/// # Safety
///
/// Blocks have 256 threads along `x`.
#[kernel]
pub unsafe fn sum(x: &[f32], total: &AtomicF32) {
    let warps = shared_array![f32; 8];
    let stride = (thread::grid_dim_x() * thread::block_dim_x()) as usize;
    let mut sum: f32 = x.iter().skip(thread::index_1d() as usize).step_by(stride).sum();
    // SAFETY: all lanes of all warps get here.
    unsafe {
        for distance in [16, 8, 4, 2, 1] {
            sum += warp::warp_shuffle_down(u32::MAX, sum, distance, 32).0;
        }
        if warp::lane_id() == 0 {
            *warps.add(thread::thread_idx_x() as usize / 32) = sum;
        }
        thread::sync_threads();
        if thread::thread_idx_x() == 0 {
            let sum = (0..8).map(|warp| *warps.add(warp)).sum();
            total.fetch_add(sum, Ordering::Relaxed);
        }
    }
}

/// How many results [`warp_functions`] writes for a thread.
pub const WARP_RESULTS: usize = 24;

/// Each function of warps, once or twice: the results of a thread one behind the other.
///
/// # Safety
///
/// `results` has room for those of each thread. Blocks have whole warps.
#[kernel]
pub unsafe fn warp_functions(results: *mut u64) {
    let lane = warp::lane_id();
    let all = u32::MAX;
    // SAFETY: all lanes of all warps get here; those of the lower half meet among themselves.
    let computed = unsafe {
        warp::sync_warp(all);
        let up = warp::warp_shuffle_up(all, lane as f32, 3, 32);
        let down = warp::warp_shuffle_down(all, lane as i8, 5, 16);
        let index = warp::warp_shuffle_idx(all, u64::from(lane) << 33, 9, 8);
        let xor = warp::warp_shuffle_xor(all, u128::from(lane) << 100, 17, 32);
        let half = if lane < 16 { warp::warp_reduce(0xffff, lane, WarpReductionOp::Add) } else { 0 };
        let signed = lane as i32 - 16;
        [
            u64::from(up.0.to_bits()),
            up.1.into(),
            down.0 as u64,
            down.1.into(),
            index.0,
            index.1.into(),
            (xor.0 >> 100) as u64,
            xor.1.into(),
            half.into(),
            warp::warp_reduce(all, signed, WarpReductionOp::Add) as u64,
            warp::warp_reduce(all, signed, WarpReductionOp::Min) as u64,
            warp::warp_reduce(all, signed, WarpReductionOp::Max) as u64,
            warp::warp_reduce(all, lane, WarpReductionOp::Min).into(),
            warp::warp_reduce(all, lane, WarpReductionOp::Max).into(),
            warp::warp_reduce(all, lane | 64, WarpReductionOp::And).into(),
            warp::warp_reduce(all, lane, WarpReductionOp::Or).into(),
            warp::warp_reduce(all, lane, WarpReductionOp::Xor).into(),
            warp::warp_vote_all(all, lane < 32).into(),
            warp::warp_vote_any(all, lane > 31).into(),
            warp::warp_vote_ballot(all, lane.is_multiple_of(2)).into(),
            warp::warp_match_any(all, lane as f64 / 8.0).into(),
            warp::warp_match_any(all, signed / 20).into(),
            warp::warp_match_all(all, 7_u32).unwrap_or(0).into(),
            warp::warp_match_all(all, lane).unwrap_or(0).into(),
        ]
    };
    let _: [u64; WARP_RESULTS] = computed;
    let first = thread::index() as usize * WARP_RESULTS;
    for (i, result) in computed.into_iter().enumerate() {
        // SAFETY: there is room.
        unsafe { *results.add(first + i) = result };
    }
}

/// What threads add to, each in its own way.
#[repr(C)]
pub struct Counters {
    /// Threads of all blocks, by a block at a time.
    pub threads: AtomicU32,
    /// The highest number of a thread.
    pub highest: i32,
    /// The numbers of all threads, one or the other.
    pub mixed: u64,
    /// A float of which each thread sets bits.
    pub bits: f64,
    /// The sum of halves.
    pub sum: SystemAtomicF64,
}

/// Atomic operations of all scopes, and barriers that count.
///
/// # Safety
///
/// The counters are valid, and nobody else accesses them.
#[kernel]
pub unsafe fn count(counters: *mut Counters) {
    let here = shared_array![u32; 1];
    let halves = shared_array![BlockAtomicF32; 1];
    let number = thread::index();
    let is_first = thread::thread_idx() == Vec3::zero();
    // SAFETY: the counters are accessed atomically; the first thread sets the shared ones in front of a barrier.
    unsafe {
        if is_first {
            atomic_store_32_block(here, Ordering::Release, 0);
            halves.write(BlockAtomicF32::new(0.0));
        }
        thread::sync_threads();
        atomic_fetch_add_u32_block(here, Ordering::AcqRel, 1);
        (*halves).fetch_add(0.5, Ordering::Relaxed);
        atomic_fetch_max_i32_device(&raw mut (*counters).highest, Ordering::SeqCst, number as i32);
        atomic_fetch_xor_u64_device(&raw mut (*counters).mixed, Ordering::Relaxed, number.into());
        atomic_fetch_or_f64_system(
            &raw mut (*counters).bits,
            Ordering::Relaxed,
            f64::from_bits(1 << (number % 52)),
        );
        let odd = thread::sync_threads_count(number % 2);
        let all = thread::sync_threads_and((2 * odd == thread::block_dim().product()).into());
        let any = thread::sync_threads_or(is_first.into());
        assert_eq!((all, any), (1, 1));
        if is_first {
            (*counters).threads.fetch_add(atomic_load_32_block(here, Ordering::Acquire), Ordering::Relaxed);
            (*counters).sum.fetch_add((*halves).load(Ordering::Relaxed).into(), Ordering::Relaxed);
            thread::system_fence();
        }
    }
}

/// Functions of floats, and a few of everything else.
///
/// # Safety
///
/// `y` has room for as many numbers as `x` has.
#[kernel]
pub unsafe fn functions(x: &[f32], y: *mut f32) {
    let i = thread::index_1d() as usize;
    if i < x.len() {
        let (sine, cosine) = x[i].sin_cos();
        let start = misc::clock();
        thread::nanosleep(1);
        let is_later = misc::clock() >= start;
        // SAFETY: the pointers are valid; as in `vecadd`.
        unsafe {
            let is_global = ptr::is_in_address_space(y, ptr::AddressSpace::Global);
            let flags = (u32::from(is_later) + u32::from(is_global)) as f32;
            *y.add(i) = sine.mul_add(sine, cosine * cosine)
                + x[i].exp().ln()
                + x[i].round()
                + x[i].rem_euclid(2.0)
                + flags;
        }
    }
}
