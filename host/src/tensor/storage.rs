//! The memory behind a tensor, whichever device it is on.

use std::ops::Range;
use std::sync::Arc;

use crate::access::Access;
use crate::cpu::{self, HostMemory, host_memory};
use crate::device::Device;
use crate::error::{ArgumentError, Error, Result};
use crate::gpu::GpuMemory;
use crate::owner::Owner;
use crate::pinned::{Pinned, PinnedMemory};
use crate::recording::{Identity, Recording, check_free, not_while_recording};
use crate::stream::Stream;

/// Memory is filled in pieces of at most so many bytes.
const FILL_BYTES: usize = 4 << 20;

/// Bytes on one device.
pub(crate) enum Storage {
    /// Memory of the host.
    Cpu(HostMemory),
    /// Global memory of a GPU.
    Gpu(GpuMemory),
}

impl Storage {
    /// Allocates `bytes` bytes that are all `fill`.
    pub(crate) fn filled(device: &Device, bytes: usize, fill: u8) -> Result<Self> {
        if let Some(gpu) = device.as_gpu() {
            return Ok(Self::Gpu(GpuMemory::filled(gpu, bytes, fill)?));
        }
        let mut memory = host_memory(bytes)?;
        if fill != 0 {
            memory.bytes_mut().fill(fill);
        }
        Ok(Self::Cpu(memory))
    }

    /// Allocates a copy of these bytes.
    pub(crate) fn copied(device: &Device, source: &[u8]) -> Result<Self> {
        if let Some(gpu) = device.as_gpu() {
            return Ok(Self::Gpu(GpuMemory::copied(gpu, source)?));
        }
        let mut memory = host_memory(source.len())?;
        memory.bytes_mut().copy_from_slice(source);
        Ok(Self::Cpu(memory))
    }

    /// Allocates memory in the graph that somebody captures with this stream, as [`GpuMemory::captured`] does. `None` if nobody does.
    pub(crate) fn captured(stream: &Stream, bytes: usize, fill: Option<u8>) -> Result<Option<Self>> {
        match stream.as_gpu() {
            Some((gpu, stream)) => Ok(GpuMemory::captured(gpu, stream, bytes, fill)?.map(Self::Gpu)),
            None => Ok(None),
        }
    }

    /// Memory of a stream's device that belongs to somebody else, who uses it on that stream before and after. `owner` is
    /// dropped once all work given to streams with the memory is done.
    ///
    /// # Safety
    /// The address is not null. There are `bytes` initialised bytes, not more than `isize::MAX`, which nobody else uses
    /// as long as the result or work given to a stream with it does.
    pub(crate) unsafe fn foreign(
        lender: &Stream,
        address: *mut u8,
        bytes: usize,
        owner: Option<Owner>,
    ) -> Self {
        match lender.as_gpu() {
            // SAFETY: passed on to the caller; work on the CPU is done when it is given.
            None => Self::Cpu(unsafe { HostMemory::foreign(address, bytes, owner) }),
            Some((gpu, lender)) => {
                // SAFETY: passed on to the caller.
                Self::Gpu(unsafe { GpuMemory::foreign(gpu, lender, address, bytes, owner) })
            }
        }
    }

    /// The device that has the memory.
    pub(crate) fn device(&self) -> Device {
        match self {
            Self::Cpu(_) => Device::cpu(),
            Self::Gpu(memory) => Device::of_gpu(memory.gpu()),
        }
    }

    /// Where the memory begins.
    pub(crate) fn address(&self) -> *mut u8 {
        match self {
            Self::Cpu(memory) => memory.address(),
            Self::Gpu(memory) => memory.address(),
        }
    }

    /// Which memory it is.
    pub(crate) fn identity(&self) -> Identity {
        match self {
            Self::Cpu(memory) => Identity { number: memory.number(), bytes: memory.bytes().len() },
            Self::Gpu(memory) => Identity { number: memory.address() as usize, bytes: memory.bytes() },
        }
    }

    /// Copies bytes from the host, and waits for the copy.
    ///
    /// # Panics
    /// If they reach over the end.
    pub(crate) fn write(&mut self, offset: usize, source: &[u8]) -> Result<()> {
        check_free(|| self.identity())?;
        match self {
            Self::Cpu(memory) => memory.bytes_mut()[offset..offset + source.len()].copy_from_slice(source),
            Self::Gpu(memory) => memory.write(offset, source)?,
        }
        Ok(())
    }

    /// Repeats a pattern in a range of bytes that it divides, and waits for the copies.
    ///
    /// # Panics
    /// If the range reaches over the end.
    pub(crate) fn fill(&mut self, range: Range<usize>, pattern: &[u8]) -> Result<()> {
        // The host needs no room for a copy of the whole.
        let most = FILL_BYTES - FILL_BYTES % pattern.len();
        let piece = pattern.repeat(range.len().min(most) / pattern.len());
        let mut start = range.start;
        while start < range.end {
            let bytes = piece.len().min(range.end - start);
            self.write(start, &piece[..bytes])?;
            start += bytes;
        }
        Ok(())
    }

    /// A copy of this memory on another device. The caller does not wait if both are GPUs.
    pub(crate) fn copy_to(&self, device: &Device) -> Result<Self> {
        check_free(|| self.identity())?;
        match (self, device.as_gpu()) {
            (Self::Cpu(memory), _) => Self::copied(device, memory.bytes()),
            (Self::Gpu(memory), Some(gpu)) => Ok(Self::Gpu(GpuMemory::copy_of(gpu, memory)?)),
            (Self::Gpu(memory), None) => {
                let bytes = memory.bytes();
                let copy = host_memory(bytes)?;
                // SAFETY: the copy is memory of its own, and as long.
                unsafe { memory.read(0, copy.address(), bytes)? };
                Ok(Self::Cpu(copy))
            }
        }
    }

    /// Lets a stream copy bytes of another buffer, from byte `source_offset` on, to this one, from byte `offset` on. The stream is one of
    /// the device of either buffer. The buffers are on GPUs, or both on the CPU.
    ///
    /// # Panics
    /// If the bytes are not inside both buffers.
    pub(crate) fn copy_from(
        &mut self,
        stream: &Stream,
        offset: usize,
        source: &Self,
        source_offset: usize,
        bytes: usize,
    ) -> Result<()> {
        let wrong = |what, found: Device| {
            let (found, expected) = (found.short_name(), stream.device().short_name());
            Err(Error::WrongDevice { what, found, other: "stream", expected })
        };
        let devices = [self.device(), source.device()];
        match stream.recording() {
            None => {
                check_free(|| self.identity())?;
                check_free(|| source.identity())?;
            }
            Some(recording) if devices.iter().all(|device| *device == stream.device()) => {
                assert!(source_offset + bytes <= source.identity().bytes, "copy beyond the end of a buffer");
                assert!(offset + bytes <= self.identity().bytes, "copy beyond the end of a buffer");
                recording.enter(source.identity(), Access::Read)?;
                recording.enter(self.identity(), Access::Write)?;
                let from = source.address().wrapping_add(source_offset);
                return recording.copy(from, self.address().wrapping_add(offset), bytes);
            }
            Some(_) => return Err(not_while_recording("copying between devices")),
        }
        match (self, source, stream.as_gpu()) {
            (Self::Cpu(target), Self::Cpu(source), None) => {
                let source = &source.bytes()[source_offset..source_offset + bytes];
                cpu::copy(source, &mut target.bytes_mut()[offset..offset + bytes])
            }
            (Self::Gpu(target), Self::Gpu(source), Some((gpu, stream)))
                if [target.gpu(), source.gpu()].iter().any(|own| own.ordinal() == gpu.ordinal()) =>
            {
                target.copy_from(stream, offset, source, source_offset, bytes)
            }
            (Self::Gpu(_), source @ Self::Cpu(_), Some(_)) => wrong("the source of a copy", source.device()),
            (target, ..) => wrong("the target of a copy", target.device()),
        }
    }

    /// Copies bytes to the host, and waits for the copy.
    ///
    /// # Safety
    /// `target` is valid for writes of `bytes` bytes.
    ///
    /// # Panics
    /// If they reach over the end.
    pub(crate) unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        check_free(|| self.identity())?;
        match self {
            Self::Cpu(memory) => {
                let source = &memory.bytes()[offset..offset + bytes];
                // SAFETY: the caller vouches for `target`, which is no part of this buffer: it can be written to.
                unsafe { target.copy_from_nonoverlapping(source.as_ptr(), bytes) };
                Ok(())
            }
            // SAFETY: the caller vouches for `target`.
            Self::Gpu(memory) => unsafe { memory.read(offset, target, bytes) },
        }
    }

    /// The address for a kernel on `stream`, which from here on may read the memory.
    pub(crate) fn lend(&self, stream: &Stream) -> Result<*mut u8, ArgumentError> {
        self.enter(stream, Access::Read)
    }

    /// The address for a kernel on `stream`, which from here on may write to the memory.
    pub(crate) fn lend_mut(&mut self, stream: &Stream) -> Result<*mut u8, ArgumentError> {
        self.enter(stream, Access::Write)
    }

    /// The same for a kernel that updates the memory atomically, which not every GPU can do in the memory of another one.
    pub(crate) fn lend_for_updates(&mut self, stream: &Stream) -> Result<*mut u8, ArgumentError> {
        let address = self.lend_mut(stream)?;
        match (&*self, stream.as_gpu()) {
            (Self::Gpu(memory), Some((gpu, _))) if !gpu.reaches(memory.gpu(), true) => {
                let (tensor, launch) = (memory.gpu().to_string(), gpu.to_string());
                Err(ArgumentError::NoPeerUpdates { tensor, launch })
            }
            _ => Ok(address),
        }
    }

    fn enter(&self, stream: &Stream, access: Access) -> Result<*mut u8, ArgumentError> {
        match stream.recording() {
            None => check_free(|| self.identity())?,
            Some(recording) if self.device() == stream.device() => {
                recording.enter(self.identity(), access)?;
                return Ok(self.address());
            }
            Some(_) => {}
        }
        match (self, stream.as_gpu()) {
            (Self::Cpu(memory), None) => Ok(memory.address()),
            (Self::Gpu(memory), Some((gpu, stream))) if gpu.reaches(memory.gpu(), false) => {
                memory.enter(stream, access)?;
                Ok(memory.address())
            }
            _ => Err(ArgumentError::WrongDevice {
                tensor: self.device().short_name(),
                launch: stream.device().short_name(),
            }),
        }
    }

    /// Lets `stream` copy the whole of a pinned buffer of this length to this memory.
    pub(crate) fn write_pinned(&mut self, stream: &Stream, source: &Pinned) -> Result<()> {
        if let Some(recording) = self.recording_with(stream, source)? {
            recording.enter(source.identity(), Access::Read)?;
            recording.enter(self.identity(), Access::Write)?;
            return recording.copy(source.address(), self.address(), self.identity().bytes);
        }
        match (self, &source.memory, stream.as_gpu()) {
            (Self::Cpu(memory), PinnedMemory::Cpu(source), None) => {
                memory.bytes_mut().copy_from_slice(source.bytes());
                Ok(())
            }
            (Self::Gpu(memory), PinnedMemory::Gpu(source), Some((gpu, stream)))
                if memory.gpu().ordinal() == gpu.ordinal() && source.gpu().ordinal() == gpu.ordinal() =>
            {
                memory.write_pinned(stream, source)
            }
            (memory, ..) => Err(memory.not_all_on(stream, source)),
        }
    }

    /// Lets `stream` copy the whole of this memory to a pinned buffer of this length.
    pub(crate) fn read_pinned(&self, stream: &Stream, target: &mut Pinned) -> Result<()> {
        if let Some(recording) = self.recording_with(stream, target)? {
            recording.enter(self.identity(), Access::Read)?;
            recording.enter(target.identity(), Access::Write)?;
            return recording.copy(self.address(), target.address(), self.identity().bytes);
        }
        match (self, &mut target.memory, stream.as_gpu()) {
            (Self::Cpu(memory), PinnedMemory::Cpu(target), None) => {
                target.bytes_mut().copy_from_slice(memory.bytes());
                Ok(())
            }
            (Self::Gpu(memory), PinnedMemory::Gpu(target), Some((gpu, stream)))
                if memory.gpu().ordinal() == gpu.ordinal() && target.gpu().ordinal() == gpu.ordinal() =>
            {
                memory.read_pinned(stream, target)
            }
            _ => Err(self.not_all_on(stream, target)),
        }
    }

    /// The graph that is to have a copy between this memory and a pinned buffer: if the stream records one, and all are of one device.
    fn recording_with<'stream>(
        &self,
        stream: &'stream Stream,
        pinned: &Pinned,
    ) -> Result<Option<&'stream Arc<Recording>>> {
        if stream.recording().is_none() {
            check_free(|| self.identity())?;
            check_free(|| pinned.identity())?;
        }
        let devices = [self.device(), pinned.device()];
        Ok(stream.recording().filter(|_| devices.iter().all(|device| *device == stream.device())))
    }

    /// The error for a copy between things of different devices: which of them is not on the stream's device.
    fn not_all_on(&self, stream: &Stream, pinned: &Pinned) -> Error {
        let (what, found) = match self.device() == stream.device() {
            true => ("the pinned buffer", pinned.device()),
            false => ("the tensor", self.device()),
        };
        let expected = stream.device().short_name();
        Error::WrongDevice { what, found: found.short_name(), other: "stream", expected }
    }
}

/// An empty vector with room for so many elements.
pub(crate) fn host_vec<T>(len: usize) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    match elements.try_reserve_exact(len) {
        Ok(()) => Ok(elements),
        Err(_) => Err(Error::OutOfMemory {
            device: "the CPU".to_owned(),
            bytes: len.saturating_mul(size_of::<T>()),
        }),
    }
}
