//! Launches whose arguments are resolved: what a kernel is called with.

use cuda_tiles::launch::{BlockPosition, Kernel, Parameters};

use crate::parameters::EntryParameters;

/// A kernel and what it is called with. It is the same type for all kernels: otherwise all that launches would be compiled for each.
pub(crate) trait Prepared: Send + Sync {
    /// Runs one block on the CPU.
    ///
    /// # Safety
    /// As [`Kernel::run_block`], and the kernel's own contract is met.
    unsafe fn run_block(&self, position: BlockPosition);

    /// The parameters of the kernel's entry on a GPU.
    fn parameters(&self) -> EntryParameters;

    /// The same, for launches later on.
    fn boxed(&self) -> Box<dyn Prepared>;
}

/// A kernel with the parts of its arguments.
pub(crate) struct Work<P: Parameters> {
    pub(crate) kernel: Kernel<P>,
    pub(crate) parts: P::Parts,
}

impl<P: Parameters> Prepared for Work<P> {
    unsafe fn run_block(&self, position: BlockPosition) {
        // SAFETY: passed on to the caller.
        unsafe { self.kernel.run_block(position, &self.parts) }
    }

    fn parameters(&self) -> EntryParameters {
        EntryParameters::new::<P>(&self.parts)
    }

    fn boxed(&self) -> Box<dyn Prepared> {
        Box::new(Self { kernel: self.kernel, parts: self.parts })
    }
}
