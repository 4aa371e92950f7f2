//! Streams that somebody else captures into a graph: PyTorch, for instance, while it calls a function of ours on its own stream.
//!
//! What such a stream is given does not run, but is noted by the driver. Whoever captures keeps the memory for as long as the graph is
//! launched. Asking the stream whether it is done, or letting it wait for others, breaks the capture; and in most modes of capture threads
//! must not do what might wait for all streams.

use cudarc::driver::sys::{self, CUresult, CUstreamCaptureMode, CUstreamCaptureStatus};

/// Whether somebody captures a stream, or, of the default stream, one that it would wait for.
///
/// # Safety
/// The stream is alive, and its context is the calling thread's current one.
pub(super) unsafe fn is_captured(stream: sys::CUstream) -> bool {
    let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
    // SAFETY: passed on to the caller. The result is written.
    match unsafe { sys::cuStreamIsCapturing(stream, &mut status) } {
        CUresult::CUDA_SUCCESS => status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE,
        other => other == CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
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
