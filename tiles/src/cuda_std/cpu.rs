//! Launches of thread-level kernels on the CPU, for tests on a machine without a GPU. `cuda_std` has none.
//!
//! Blocks run one after the other. The threads of a block run one after the other, too, up to the first barrier or shuffle; there
//! they wait for each other, as on a GPU, each on a thread of the system. A block that waits for threads which do not come is a
//! panic with a list of who waits where.
//!
//! What it cannot do: a thread that spins until another one writes memory waits forever if that one has yet to begin. So do blocks
//! that wait for later blocks.
//!
//! What it does not show: races. Threads run in another order on a GPU, and at the same time.

use crate::arch::team;

/// The size of a grid or of a block, along one, two or three axes.
///
/// ```
/// use cuda_tiles::cuda_std::cpu::Size;
/// assert_eq!(Size::from((3, 2)), Size { x: 3, y: 2, z: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Along `x`.
    pub x: u32,
    /// Along `y`.
    pub y: u32,
    /// Along `z`.
    pub z: u32,
}

impl From<u32> for Size {
    fn from(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }
}

impl From<(u32, u32)> for Size {
    fn from((x, y): (u32, u32)) -> Self {
        Self { x, y, z: 1 }
    }
}

impl From<(u32, u32, u32)> for Size {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self { x, y, z }
    }
}

/// Runs a kernel for each thread of a grid: `launch!(kernel<<<grid, block, shared_bytes, stream>>>(arguments))` is
/// `launch(grid, block, shared_bytes, || kernel(arguments))`.
///
/// [The module](super) has an example.
///
/// # Panics
///
/// If no GPU has grids or blocks of this size, if a thread panics, and if threads wait for others that do not come.
///
/// # Safety
///
/// What a launch on a GPU demands: pointers are valid for what the kernel does with them, and its threads, which run at the same
/// time, do not race. `kernel` may be called so, whatever it has captured.
#[track_caller]
pub unsafe fn launch(grid: impl Into<Size>, block: impl Into<Size>, shared_bytes: usize, kernel: impl Fn()) {
    let [blocks, threads] = [grid.into(), block.into()].map(|Size { x, y, z }| [x, y, z]);
    // SAFETY: the same contract.
    unsafe { team::launch(team::Grid { blocks, threads, shared_bytes }, &kernel) }
}
