//! Streams of work and the events that mark points in them.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::device::Device;
use crate::error::{Error, Result};
use crate::gpu::{Gpu, GpuEvent, GpuStream};
use crate::recording::{Recording, not_while_recording};

/// A queue of work on a device: launches and copies given to it run one after the other, and beside those of other
/// streams. Clones are the same queue.
///
/// Giving work to a stream does not wait for it. Tensors keep count of the streams that use them, so that a tensor used
/// on two streams is safe without any further care; [`Stream::wait`] is for order that has to do with other things, such
/// as timing. On the CPU work is done at once, and a stream is always empty.
///
/// ```
/// use cuda_tiles_host::Device;
///
/// let device = Device::auto()?;
/// let stream = device.stream()?;
/// let start = stream.record_event()?;
/// // ... launches on the stream ...
/// let end = stream.record_event()?;
/// println!("{:?}", end.elapsed_since(&start)?);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Cpu,
    Gpu(&'static Gpu, GpuStream),
    /// Notes what it is given, for a graph.
    Recording(Arc<Recording>),
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Self> {
        let kind = match device.as_gpu() {
            None => Kind::Cpu,
            Some(gpu) => Kind::Gpu(gpu, gpu.new_stream()?),
        };
        Ok(Self { kind })
    }

    /// The stream for work whose stream is not named.
    pub(crate) fn default_of(device: &Device) -> Self {
        let kind = match device.as_gpu() {
            None => Kind::Cpu,
            Some(gpu) => Kind::Gpu(gpu, gpu.default_stream().clone()),
        };
        Self { kind }
    }

    /// A stream that records a graph.
    pub(crate) fn of_recording(recording: Arc<Recording>) -> Self {
        Self { kind: Kind::Recording(recording) }
    }

    /// A stream of a GPU.
    #[cfg(feature = "cudarc")]
    pub(crate) fn of_gpu(gpu: &'static Gpu, stream: GpuStream) -> Self {
        Self { kind: Kind::Gpu(gpu, stream) }
    }

    /// A stream of a GPU's primary context that belongs to somebody else. On the CPU the handle means nothing.
    ///
    /// # Safety
    /// As [`Device::borrow_stream`].
    pub(crate) unsafe fn borrowed(device: &Device, handle: *mut c_void) -> Self {
        let kind = match device.as_gpu() {
            None => Kind::Cpu,
            // SAFETY: passed on to the caller.
            Some(gpu) => Kind::Gpu(gpu, unsafe { gpu.borrowed_stream(handle) }),
        };
        Self { kind }
    }

    /// The device that the stream's work runs on.
    pub fn device(&self) -> Device {
        match &self.kind {
            Kind::Cpu => Device::cpu(),
            Kind::Gpu(gpu, _) => Device::of_gpu(gpu),
            Kind::Recording(recording) => recording.gpu().map_or_else(Device::cpu, Device::of_gpu),
        }
    }

    /// Waits until all work given to the stream is done.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU; [`Error::Graph`] of a stream that captures a [`Graph`](crate::Graph).
    pub fn synchronize(&self) -> Result<()> {
        match &self.kind {
            Kind::Cpu => Ok(()),
            Kind::Gpu(gpu, stream) => stream.synchronize(gpu),
            Kind::Recording(_) => Err(not_while_recording("waiting for a stream")),
        }
    }

    /// Marks the end of the work given to the stream so far.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU; [`Error::Graph`] of a stream that captures a [`Graph`](crate::Graph).
    pub fn record_event(&self) -> Result<Event> {
        let point = match &self.kind {
            Kind::Cpu => Point::Cpu(Instant::now()),
            Kind::Gpu(gpu, stream) => Point::Gpu(gpu, stream.record(gpu)?),
            Kind::Recording(_) => return Err(not_while_recording("recording an event")),
        };
        Ok(Event { point })
    }

    /// Lets work given to this stream from now on wait for an event of any stream, of any device. The caller does not
    /// wait, unless this stream is the CPU's.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU; [`Error::Graph`] of a stream that captures a [`Graph`](crate::Graph).
    pub fn wait(&self, event: &Event) -> Result<()> {
        match (&self.kind, &event.point) {
            (Kind::Recording(_), _) => Err(not_while_recording("waiting for an event")),
            (_, Point::Cpu(_)) => Ok(()),
            (Kind::Cpu, Point::Gpu(..)) => event.synchronize(),
            (Kind::Gpu(gpu, stream), Point::Gpu(_, event)) => stream.wait(gpu, event),
        }
    }

    /// The driver's handle, a `CUstream`, for other libraries that are to use this stream: the counterpart of
    /// [`Device::borrow_stream`]. Null for the default stream, and on the CPU. It is valid as long as the stream or a clone of it exists.
    ///
    /// A stream that captures a [`Graph`](crate::Graph) is none of the driver's, and has the handle of the default stream: what other libraries
    /// are asked for is not captured.
    pub fn handle(&self) -> *mut c_void {
        match &self.kind {
            Kind::Cpu | Kind::Recording(_) => std::ptr::null_mut(),
            Kind::Gpu(_, stream) => stream.raw_handle(),
        }
    }

    /// Whether the stream captures a [`Graph`](crate::Graph): what it is given is noted, and runs with the graph. Such a stream waits for
    /// nothing and has no events.
    #[doc(alias("cudaStreamIsCapturing", "cuStreamIsCapturing", "is_current_stream_capturing"))]
    pub fn is_capturing(&self) -> bool {
        self.recording().is_some()
    }

    /// The GPU and its stream, if it is one's. What does not ask whether the stream [records](Self::recording) takes the GPU's default
    /// stream for it.
    pub(crate) fn as_gpu(&self) -> Option<(&'static Gpu, &GpuStream)> {
        match &self.kind {
            Kind::Cpu => None,
            Kind::Gpu(gpu, stream) => Some((gpu, stream)),
            Kind::Recording(recording) => recording.gpu().map(|gpu| (gpu, gpu.default_stream())),
        }
    }

    /// The graph that the stream records, if it does.
    pub(crate) fn recording(&self) -> Option<&Arc<Recording>> {
        match &self.kind {
            Kind::Recording(recording) => Some(recording),
            _ => None,
        }
    }
}

/// A point in the work of a [`Stream`], made by [`Stream::record_event`].
pub struct Event {
    point: Point,
}

enum Point {
    Cpu(Instant),
    Gpu(&'static Gpu, GpuEvent),
}

impl Event {
    /// Waits until the work before the event is done.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU.
    pub fn synchronize(&self) -> Result<()> {
        match &self.point {
            Point::Cpu(_) => Ok(()),
            Point::Gpu(gpu, event) => event.synchronize(gpu),
        }
    }

    /// Whether the work before the event is done. Does not wait.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU.
    #[doc(alias("cuEventQuery"))]
    pub fn is_done(&self) -> Result<bool> {
        match &self.point {
            Point::Cpu(_) => Ok(true),
            Point::Gpu(gpu, event) => event.is_done(gpu),
        }
    }

    /// The time from an earlier event of the same device to this one, to about half a microsecond on a GPU. Waits for
    /// both. Zero if `start` is the later one.
    ///
    /// # Errors
    /// [`Error::WrongDevice`] if the events belong to different devices; [`Error::Trapped`] if a kernel went wrong on
    /// the GPU.
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration> {
        match (&self.point, &start.point) {
            (Point::Cpu(end), Point::Cpu(start)) => Ok(end.saturating_duration_since(*start)),
            (Point::Gpu(gpu, end), Point::Gpu(other, start)) if gpu.ordinal() == other.ordinal() => {
                end.elapsed_since(gpu, start)
            }
            _ => Err(Error::WrongDevice {
                what: "the event at the start",
                found: start.device().short_name(),
                other: "event at the end",
                expected: self.device().short_name(),
            }),
        }
    }

    fn device(&self) -> Device {
        match self.point {
            Point::Cpu(_) => Device::cpu(),
            Point::Gpu(gpu, _) => Device::of_gpu(gpu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_the_cpu_measure_time() {
        let stream = Device::cpu().stream().unwrap();
        let start = stream.record_event().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let end = stream.record_event().unwrap();
        stream.wait(&end).unwrap();
        end.synchronize().unwrap();
        assert!(end.is_done().unwrap());
        assert!(end.elapsed_since(&start).unwrap() >= Duration::from_millis(2));
        assert_eq!(start.elapsed_since(&end).unwrap(), Duration::ZERO);
    }

    #[test]
    fn a_stream_of_the_cpu_is_always_empty() {
        let stream = Device::cpu().stream().unwrap();
        stream.synchronize().unwrap();
        assert_eq!(stream.device(), Device::cpu());
    }
}
