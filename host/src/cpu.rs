//! The CPU back end: runs the blocks of a kernel as ordinary Rust code, in parallel.
//!
//! One thread runs a whole block and holds its tiles on its stack, so the threads are this crate's own, with large
//! stacks. The environment variable `RAYON_NUM_THREADS` sets their number.

mod graph;
mod memory;
mod panic;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use cuda_tiles::launch::{BlockPosition, Partitions};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};
use crate::{printer, slow};

pub(crate) use graph::CpuOperation;
pub(crate) use memory::{HostMemory, host_memory};

/// Stack of a kernel thread, in bytes: tiles live there, dozens of them in a large kernel, each up to a few megabytes.
/// It is address space; memory is taken only as far as a kernel uses it. How much a kernel needs, the compiler alone knows: what
/// overflows meets the guard page below the stack.
const STACK: usize = 256 << 20;

/// A thread takes its share of the blocks in about this many portions, so that slow blocks even out.
const PORTIONS: u64 = 16;

/// The threads that run kernels.
fn pool() -> Result<&'static ThreadPool> {
    static POOL: OnceLock<Result<ThreadPool, String>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        // An overflow of the stack ends the process, and Rust's last words name the thread: they are to say what it was about.
        let name = |index| format!("cuda-tiles-{index}, with {} MiB for the tiles of a block", STACK >> 20);
        ThreadPoolBuilder::new()
            .stack_size(STACK)
            .thread_name(name)
            .build()
            .map_err(|error| error.to_string())
    });
    pool.as_ref().map_err(|reason| Error::Threads { reason: reason.clone() })
}

/// Copies bytes by all threads that run kernels.
///
/// # Panics
/// If the lengths differ.
pub(crate) fn copy(source: &[u8], target: &mut [u8]) -> Result<()> {
    assert_eq!(source.len(), target.len(), "copy between buffers of different length");
    let pool = pool()?;
    let piece = source.len().div_ceil(pool.current_num_threads()).max(1);
    let pieces = target.par_chunks_mut(piece).zip(source.par_chunks(piece));
    pool.install(|| pieces.for_each(|(target, source)| target.copy_from_slice(source)));
    Ok(())
}

/// How many threads run kernels.
pub(crate) fn threads() -> usize {
    pool().map_or(1, ThreadPool::current_num_threads)
}

/// A launch's record of how its blocks cut writable tensors, which is used again by later launches.
struct Record(&'static Partitions);

/// The records that no launch uses. There are as many as ever ran at the same time.
static RECORDS: Mutex<Vec<&'static Partitions>> = Mutex::new(Vec::new());

impl Record {
    fn new() -> Self {
        let free = RECORDS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self(free.unwrap_or_else(|| Box::leak(Box::new(Partitions::new()))))
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.0.clear();
        RECORDS.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// Code that runs a block of a kernel. Its type is the same for all kernels: otherwise all that runs blocks would be compiled for each.
pub(crate) type RunBlock<'a> = &'a (dyn Fn(BlockPosition) + Sync);

/// Runs `block` once for each block of the grid.
///
/// # Errors
/// [`Error::Panicked`] if a block panics: blocks that have not begun are left out then, and of those that panicked the
/// first one of the grid is reported.
pub(crate) fn run(kernel: &'static str, grid: [u32; 3], block: RunBlock<'_>) -> Result<()> {
    slow::watch(kernel, || run_all(kernel, grid, block))
}

fn run_all(kernel: &'static str, grid: [u32; 3], block: RunBlock<'_>) -> Result<()> {
    printer::listen();
    let pool = pool()?;
    let total: u64 = grid.into_iter().map(u64::from).product();
    let workers = (pool.current_num_threads() as u64).min(total);
    let portion = (total / (workers.max(1) * PORTIONS)).max(1);
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let first_failure = Mutex::new(None::<(u64, String)>);
    let record = Record::new();
    let partitions = Some(record.0);

    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let begin = next.fetch_add(portion, Ordering::Relaxed);
            if begin >= total {
                break;
            }
            for index in begin..total.min(begin + portion) {
                let position = BlockPosition { index: unravel(index, grid), count: grid, partitions };
                if let Err(message) = panic::catch(|| block(position)) {
                    failed.store(true, Ordering::Relaxed);
                    let mut first = first_failure.lock().unwrap_or_else(PoisonError::into_inner);
                    if first.as_ref().is_none_or(|&(other, _)| index < other) {
                        *first = Some((index, message));
                    }
                    return;
                }
            }
        }
    };
    pool.scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));

    match first_failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some((index, message)) => Err(Error::Panicked { kernel, block: unravel(index, grid), message }),
    }
}

/// The index of the block that has this number, counted along x first.
fn unravel(number: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x), u64::from(y));
    [number % x, number / x % y, number / x / y].map(|index| index as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn each_block_runs_once_at_its_own_position() {
        for grid in [[1, 1, 1], [7, 1, 1], [5, 3, 2], [1000, 3, 1]] {
            let runs: Vec<AtomicU32> = (0..grid.iter().product()).map(|_| AtomicU32::new(0)).collect();
            run("count", grid, &|position| {
                assert_eq!(position.count, grid);
                let [x, y, z] = position.index;
                runs[((z * grid[1] + y) * grid[0] + x) as usize].fetch_add(1, Ordering::Relaxed);
            })
            .unwrap();
            assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1), "{grid:?}");
        }
    }

    #[test]
    fn no_blocks_is_no_work() {
        run("nothing", [0, 1, 1], &|_| panic!("there is no block to run")).unwrap();
    }

    #[test]
    fn a_panic_becomes_an_error_and_the_threads_live_on() {
        for _ in 0..3 {
            let error =
                run("fail", [4, 3, 1], &|position| assert_ne!(position.index, [2, 1, 0])).unwrap_err();
            let Error::Panicked { kernel: "fail", block: [2, 1, 0], message } = error else {
                panic!("{error:?}")
            };
            assert!(message.contains("assertion `left != right` failed"), "{message}");
            assert!(message.contains("cpu.rs:"), "{message}");
        }
        run("succeed", [4, 3, 1], &|_| ()).unwrap();
    }

    #[test]
    #[ignore = "ends the process: `an_overflow_of_the_stack_says_whose_it_is` runs it in another one"]
    fn overflow() {
        _ = run("too_large", [1, 1, 1], &|_| _ = std::hint::black_box([1_u8; STACK + (64 << 20)]));
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn an_overflow_of_the_stack_says_whose_it_is() {
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let output = again.args(["--ignored", "--exact", "cpu::tests::overflow"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(
            text.contains("with 256 MiB for the tiles of a block") && text.contains("overflowed its stack"),
            "{text}"
        );
    }

    #[test]
    fn a_block_has_a_large_stack() {
        run("large", [2, 1, 1], &|position| {
            let tile = std::hint::black_box([position.index[0] as u8; 64 << 20]);
            assert_eq!(tile[tile.len() - 1], position.index[0] as u8);
        })
        .unwrap();
    }
}
