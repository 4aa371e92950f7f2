//! Where a thread is, and what it does with the others of its block.
//!
//! On the CPU these functions are for threads of [`cpu::launch`](super::cpu::launch), and panic elsewhere.

use super::vector::{Vec2, Vec3};
use crate::arch::order::reveals_thread;
use crate::arch::{grid, scoped};

macro_rules! axes {
    ($($(#[$attribute:meta])* $machine:ident: $all:ident $x:ident $y:ident $z:ident;)*) => { $(
        $(#[$attribute])*
        #[inline_on_device]
        #[track_caller]
        pub fn $all() -> Vec3 {
            Vec3::new($x(), $y(), $z())
        }

        axes!(#[doc = concat!("[`", stringify!($all), "`] along `x`.")] $machine $x 0);
        axes!(#[doc = concat!("[`", stringify!($all), "`] along `y`.")] $machine $y 1);
        axes!(#[doc = concat!("[`", stringify!($all), "`] along `z`.")] $machine $z 2);
    )* };
    ($(#[$attribute:meta])* $machine:ident $name:ident $axis:literal) => {
        $(#[$attribute])*
        #[inline_on_device]
        #[track_caller]
        pub fn $name() -> u32 {
            reveals_thread();
            grid::$machine($axis)
        }
    };
}
axes! {
    /// The index of the thread in its block.
    thread_index: thread_idx thread_idx_x thread_idx_y thread_idx_z;
    /// The index of the thread's block in the grid.
    block_index: block_idx block_idx_x block_idx_y block_idx_z;
    /// How many threads a block has.
    block_size: block_dim block_dim_x block_dim_y block_dim_z;
    /// How many blocks the grid has.
    grid_size: grid_dim grid_dim_x grid_dim_y grid_dim_z;
}

/// The number of the thread in the grid, whatever the axes of blocks and grid are: no other thread of the launch has the same.
///
/// ```
/// use core::sync::atomic::{AtomicU64, Ordering};
/// use cuda_tiles::cuda_std::{cpu, thread};
///
/// let seen = AtomicU64::new(0);
/// // SAFETY: the counter is atomic.
/// unsafe { cpu::launch((2, 3), (4, 1, 2), 0, || _ = seen.fetch_or(1 << thread::index(), Ordering::Relaxed)) };
/// assert_eq!(seen.into_inner(), (1 << 48) - 1);
/// ```
#[inline_on_device]
#[track_caller]
pub fn index() -> u32 {
    let (grid, block, size, thread) = (grid_dim(), block_idx(), block_dim(), thread_idx());
    let block = block.x + block.y * grid.x + block.z * grid.x * grid.y;
    block * size.product() + thread.z * size.x * size.y + thread.y * size.x + thread.x
}

/// The number of the thread along `x`, among all of the grid.
#[inline_on_device]
#[track_caller]
pub fn index_1d() -> u32 {
    thread_idx_x() + block_idx_x() * block_dim_x()
}

/// The numbers of the thread along `x` and `y`, among all of the grid.
#[inline_on_device]
#[track_caller]
pub fn index_2d() -> Vec2 {
    Vec2::new(index_1d(), thread_idx_y() + block_idx_y() * block_dim_y())
}

/// The numbers of the thread along all axes, among all of the grid.
#[inline_on_device]
#[track_caller]
pub fn index_3d() -> Vec3 {
    let Vec2 { x, y } = index_2d();
    Vec3::new(x, y, thread_idx_z() + block_idx_z() * block_dim_z())
}

/// Whether this is the thread with index 0 of the block with index 0.
#[inline_on_device]
#[track_caller]
pub fn first() -> bool {
    block_idx() == Vec3::zero() && thread_idx() == Vec3::zero()
}

/// The number of threads of a warp, which is 32.
#[inline_on_device]
pub fn warp_size() -> u32 {
    32
}

/// Waits for all threads of the block that have not ended, and makes their earlier memory accesses visible to each other.
///
/// All of them call it at the same place. On a GPU the block may otherwise wait forever, or do anything else. The CPU panics with a
/// list of who waits where.
///
/// ```should_panic
/// use cuda_tiles::cuda_std::{cpu, thread};
///
/// // SAFETY: no thread touches memory.
/// unsafe {
///     cpu::launch(1, 64, 0, || match thread::thread_idx_x() {
///         0 => thread::sync_threads(),
///         _ => _ = thread::sync_threads_count(1),
///     })
/// };
/// ```
///
/// # On a GPU
///
/// `bar.sync 0` (PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier").
#[inline_on_device]
#[track_caller]
pub fn sync_threads() {
    reveals_thread();
    // SAFETY: code that gets here is that of an `unsafe fn` which is a kernel: the builder refuses others by the mark, and on the CPU
    // they panic. Its author vouches for what the documentation demands.
    unsafe { grid::barrier() }
}

macro_rules! reductions {
    ($($(#[$attribute:meta])* $name:ident = $machine:ident;)*) => { $(
        $(#[$attribute])*
        ///
        /// What holds of [`sync_threads`] holds of it.
        #[inline_on_device]
        #[track_caller]
        pub fn $name(predicate: u32) -> u32 {
            reveals_thread();
            // SAFETY: as in `sync_threads`.
            unsafe { grid::$machine(predicate != 0) }.into()
        }
    )* };
}
reductions! {
    /// [`sync_threads`], and the number of threads whose predicate is not zero.
    ///
    /// ```
    /// use cuda_tiles::cuda_std::{cpu, thread};
    /// // SAFETY: no thread touches memory.
    /// unsafe { cpu::launch(1, 48, 0, || assert_eq!(thread::sync_threads_count(thread::thread_idx_x() % 2), 24)) };
    /// ```
    sync_threads_count = barrier_count;
    /// [`sync_threads`], and 1 if the predicate of each thread is not zero, else 0.
    sync_threads_and = barrier_all;
    /// [`sync_threads`], and 1 if the predicate of any thread is not zero, else 0.
    sync_threads_or = barrier_any;
}

/// Makes what this thread has written visible to all threads of the grid before what it writes later. It waits for nobody.
#[inline_on_device]
pub fn grid_fence() {
    scoped::fence_sequential::<1>();
}

/// Makes what this thread has written visible to the device before what it writes later. It waits for nobody.
#[inline_on_device]
pub fn device_fence() {
    scoped::fence_sequential::<1>();
}

/// Makes what this thread has written visible to the whole system before what it writes later. It waits for nobody.
#[inline_on_device]
pub fn system_fence() {
    scoped::fence_sequential::<2>();
}

/// Suspends the thread for about `nanos` nanoseconds: for loops that wait.
#[inline_on_device]
pub fn nanosleep(nanos: u32) {
    grid::sleep(nanos);
}
