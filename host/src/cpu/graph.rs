//! What a graph does on the CPU: the launches and copies that were recorded, one after the other.

use crate::error::Result;
use crate::prepared::Prepared;

/// One operation of a graph.
pub(crate) enum CpuOperation {
    /// Runs all blocks of a kernel.
    Launch {
        /// Name of the kernel.
        kernel: &'static str,
        grid: [u32; 3],
        work: Box<dyn Prepared>,
    },
    /// Copies bytes between two buffers.
    Copy { source: *const u8, target: *mut u8, bytes: usize },
}

// SAFETY: the addresses belong to no thread. Who may follow them, and when, says `run`.
unsafe impl Send for CpuOperation {}
// SAFETY: as above; a shared operation is only read.
unsafe impl Sync for CpuOperation {}

impl CpuOperation {
    /// Does what was recorded.
    ///
    /// # Safety
    /// The buffers whose addresses were recorded exist. Nobody else uses those that the operation writes, and nobody else writes those
    /// that it reads. The launch was checked, and the kernel's own contract is met.
    pub(crate) unsafe fn run(&self) -> Result<()> {
        match self {
            Self::Launch { kernel, grid, work } => {
                // SAFETY: `run` calls it once for each block of the grid; the rest is passed on to the caller.
                super::run(kernel, *grid, &|position| unsafe { work.run_block(position) })
            }
            &Self::Copy { source, target, bytes } => {
                // SAFETY: the buffers are different ones of this length, and the caller vouches for their use.
                unsafe { source.copy_to_nonoverlapping(target, bytes) };
                Ok(())
            }
        }
    }
}
