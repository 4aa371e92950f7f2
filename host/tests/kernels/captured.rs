//! Graphs that somebody else captures, who here is the test.

use cuda_tiles_host::Stream;
use cudarc::driver::sys::{self, CUstreamCaptureMode};

/// A graph of the driver's.
pub(crate) struct Captured(sys::CUgraphExec);

impl Captured {
    /// Captures what is given to the stream.
    pub(crate) fn new(stream: &Stream, mode: CUstreamCaptureMode, record: impl FnOnce()) -> Self {
        let (mut graph, mut executable) = (std::ptr::null_mut(), std::ptr::null_mut());
        let handle = stream.handle().cast();
        // SAFETY: the stream is alive, the results are written, and the graph is destroyed once.
        unsafe { sys::cuStreamBeginCapture_v2(handle, mode) }.result().unwrap();
        record();
        // SAFETY: as above.
        unsafe {
            sys::cuStreamEndCapture(handle, &mut graph).result().unwrap();
            sys::cuGraphInstantiateWithFlags(&mut executable, graph, 0).result().unwrap();
            sys::cuGraphDestroy(graph).result().unwrap();
        }
        Self(executable)
    }

    /// Gives the graph to a stream. Its memory is used on this stream alone.
    pub(crate) fn launch(&self, stream: &Stream) {
        // SAFETY: both are alive.
        unsafe { sys::cuGraphLaunch(self.0, stream.handle().cast()) }.result().unwrap();
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        // SAFETY: the graph is not used again.
        let _ = unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}
