//! Streams that somebody else captures into a graph: PyTorch, for instance, while it calls a function of ours on its own stream.
//!
//! What such a stream is given does not run, but is noted by the driver. Whoever captures keeps the memory for as long as the graph is launched.
//! Asking the stream whether it is done, or letting it wait for others, breaks the capture; and in most modes of capture threads must not do what
//! might wait for all streams.

use cudarc::driver::sys::{self, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus};

use super::GpuStream;

impl GpuStream {
    /// Whether somebody captures the stream, or, of the default stream, one that it would wait for. The GPU's context must be the calling thread's
    /// current one.
    pub(super) fn is_captured(&self) -> bool {
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream is alive: it has an owner, or whoever made `self` vouches for it. The result is written.
        let asked = unsafe { sys::cuStreamIsCapturing(self.handle(), &mut status) };
        match asked {
            CUresult::CUDA_SUCCESS => status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
            other => other == CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        }
    }
}

/// While it lives, its thread may do what streams that are captured could be in the way of. It is for work that has nothing to do with them:
/// loading code, and copies on a stream of our own.
pub(super) struct Relaxed {
    mode_before: CUstreamCaptureMode,
}

impl Relaxed {
    pub(super) fn new() -> Self {
        let mut mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        exchange(&mut mode);
        Self { mode_before: mode }
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        exchange(&mut self.mode_before);
    }
}

/// Exchanges the mode with the thread's. Where the driver refuses, what the mode is for will fail and say so.
fn exchange(mode: &mut CUstreamCaptureMode) {
    // SAFETY: the driver was initialised when the GPU was opened, and swaps a valid mode for another one.
    let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(mode) };
}
