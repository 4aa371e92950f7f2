//! Global memory of a GPU, with an account of the streams that use it.
//!
//! # Why safe code cannot race
//! A buffer may be used on any stream. Each use is entered in the buffer's account *before* the work is given to the stream: a read waits
//! for the last writer's stream, unless an earlier one has done so, a write for the last writer's and all readers' since. Waiting means an
//! event recorded on the other stream at that moment, so it covers the use in question and everything given to that stream up to now. As
//! long as only one stream uses a buffer, which is the common case, nothing is recorded at all. Freeing is a write: the memory is given
//! back after the last use. Memory that belongs to somebody else is given back to its owner's stream in the same way, and an owner that was
//! handed over ends when that stream has come there. Rust's borrow rules order the entries: a write needs `&mut`, so the call that entered
//! an earlier read has returned, with the work given to its stream.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::{result, sys};

use super::release;
use super::{Gpu, GpuPinned, GpuStream};
use crate::access::Access;
use crate::error::{Error, Result};
use crate::owner::Owner;

/// Empty buffers have an address too: not null, and aligned for all.
const EMPTY: sys::CUdeviceptr = 256;

/// A buffer in the global memory of a GPU.
pub(crate) struct GpuMemory {
    gpu: &'static Gpu,
    address: sys::CUdeviceptr,
    bytes: usize,
    origin: Origin,
    users: Mutex<Users>,
}

/// Whose memory a buffer is.
enum Origin {
    /// Our own.
    Own,
    /// That of a graph which somebody captures with this stream: allocated and freed in the graph.
    Captured(GpuStream),
    /// Somebody else's.
    Lent(Lender),
}

/// Somebody else, whose memory a buffer is.
struct Lender {
    /// The stream on which they use it before and after.
    stream: GpuStream,
    /// What is dropped when the memory is not used any more.
    owner: Option<Owner>,
    /// Whether the stream was being captured when the memory was lent, so that it has been given no use of the memory that it runs itself.
    in_capture: bool,
}

/// The streams that work on a buffer may still be under way on.
struct Users {
    writer: GpuStream,
    readers: Vec<GpuStream>,
}

impl GpuMemory {
    /// Allocates a buffer whose bytes are all `fill`.
    pub(crate) fn filled(gpu: &'static Gpu, bytes: usize, fill: u8) -> Result<Self> {
        let memory = Self::allocate(gpu, bytes)?;
        if bytes > 0 {
            // SAFETY: the buffer is this long, and nothing but its allocation on the same stream precedes.
            let filled = unsafe {
                result::memset_d8_async(memory.address, fill, bytes, gpu.default_stream().handle())
            };
            gpu.check("filling memory", filled)?;
        }
        Ok(memory)
    }

    /// Allocates a buffer with a copy of the host's bytes.
    pub(crate) fn copied(gpu: &'static Gpu, source: &[u8]) -> Result<Self> {
        let memory = Self::allocate(gpu, source.len())?;
        memory.write(0, source)?;
        Ok(memory)
    }

    /// Allocates a buffer and lets the GPU's default stream copy another GPU's to it.
    pub(crate) fn copy_of(gpu: &'static Gpu, source: &Self) -> Result<Self> {
        let memory = Self::allocate(gpu, source.bytes)?;
        memory.copy_from(gpu.default_stream(), 0, source, 0, source.bytes)?;
        Ok(memory)
    }

    fn allocate(gpu: &'static Gpu, bytes: usize) -> Result<Self> {
        gpu.bind()?;
        let stream = gpu.default_stream();
        let allocated = match bytes {
            0 => Ok(EMPTY),
            // SAFETY: allocating changes nothing that exists.
            _ if gpu.context.has_async_alloc() => unsafe { result::malloc_async(stream.handle(), bytes) },
            // SAFETY: as above.
            _ => unsafe { result::malloc_sync(bytes) },
        };
        let address = match allocated {
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                return Err(Error::OutOfMemory { device: gpu.to_string(), bytes });
            }
            other => gpu.check("allocating memory", other)?,
        };
        // The allocation is ordered on the default stream: other streams have to wait for it as for a write.
        let users = Mutex::new(Users { writer: stream.clone(), readers: Vec::new() });
        Ok(Self { gpu, address, bytes, origin: Origin::Own, users })
    }

    /// Allocates a buffer in the graph that somebody captures with this stream, and fills it there if a value is given. The graph frees it where
    /// the result is dropped. `None` if nobody captures the stream, or the GPU cannot allocate in the order of streams.
    ///
    /// # Panics
    /// If there are no bytes.
    pub(crate) fn captured(
        gpu: &'static Gpu,
        stream: &GpuStream,
        bytes: usize,
        fill: Option<u8>,
    ) -> Result<Option<Self>> {
        assert!(bytes > 0, "an allocation of nothing");
        gpu.bind()?;
        if !stream.is_captured() || !gpu.context.has_async_alloc() {
            return Ok(None);
        }
        // SAFETY: allocating changes nothing that exists.
        let allocated = unsafe { result::malloc_async(stream.handle(), bytes) };
        let address = gpu.check("allocating memory in a graph", allocated)?;
        let users = Mutex::new(Users { writer: stream.clone(), readers: Vec::new() });
        let memory = Self { gpu, address, bytes, origin: Origin::Captured(stream.clone()), users };
        if let Some(fill) = fill {
            // SAFETY: the buffer is this long, and nothing but its allocation on the same stream precedes.
            let filled = unsafe { result::memset_d8_async(address, fill, bytes, stream.handle()) };
            gpu.check("filling memory", filled)?;
        }
        Ok(Some(memory))
    }

    /// Memory that belongs to somebody else, who uses it on a stream of this GPU before the result is made and after it
    /// is dropped. `owner` is dropped once all work given to streams with the memory is done.
    ///
    /// # Safety
    /// There are `bytes` bytes at the address, which nobody else uses as long as the result or work given to a stream
    /// with it does.
    pub(crate) unsafe fn foreign(
        gpu: &'static Gpu,
        lender: &GpuStream,
        address: *mut u8,
        bytes: usize,
        owner: Option<Owner>,
    ) -> Self {
        let users = Mutex::new(Users { writer: lender.clone(), readers: Vec::new() });
        let in_capture = owner.is_some() && gpu.bind().is_ok() && lender.is_captured();
        let origin = Origin::Lent(Lender { stream: lender.clone(), owner, in_capture });
        Self { gpu, address: address as sys::CUdeviceptr, bytes, origin, users }
    }

    /// The GPU that the buffer belongs to.
    pub(crate) fn gpu(&self) -> &'static Gpu {
        self.gpu
    }

    /// Length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The buffer's address on the GPU.
    pub(crate) fn address(&self) -> *mut u8 {
        self.address as *mut u8
    }

    /// Enters a use on a stream that is about to be given work on the buffer, and lets the stream wait for earlier uses
    /// on other streams.
    pub(crate) fn enter(&self, stream: &GpuStream, access: Access) -> Result<()> {
        // Nobody can use what is empty. A wait for another stream would be for nothing.
        if self.bytes == 0 {
            return Ok(());
        }
        let mut users = self.users();
        // A stream that reads has waited for the last writer: the next one will forget the readers.
        if access == Access::Read && users.readers.iter().any(|reader| reader.is(stream)) {
            return Ok(());
        }
        stream.follow(self.gpu, &users.writer)?;
        match access {
            Access::Read => users.readers.push(stream.clone()),
            Access::Write => {
                for reader in &users.readers {
                    stream.follow(self.gpu, reader)?;
                }
                users.readers.clear();
                if !users.writer.is(stream) {
                    users.writer = stream.clone();
                }
            }
        }
        Ok(())
    }

    /// Copies the host's bytes to the buffer, from byte `offset`, and waits for the copy.
    ///
    /// # Panics
    /// If they do not fit.
    pub(crate) fn write(&self, offset: usize, source: &[u8]) -> Result<()> {
        assert!(offset + source.len() <= self.bytes, "copy beyond the end of a buffer");
        if source.is_empty() {
            return Ok(());
        }
        self.gpu.bind()?;
        let stream = self.gpu.default_stream();
        self.enter(stream, Access::Write)?;
        // SAFETY: the range is inside the buffer, the use is entered, and `source` outlives the copy, which is waited
        // for below.
        let copied =
            unsafe { result::memcpy_htod_async(self.address + offset as u64, source, stream.handle()) };
        self.gpu.check("copying to the GPU", copied)?;
        stream.synchronize(self.gpu)
    }

    /// Copies `bytes` bytes from byte `offset` of the buffer to the host, and waits for the copy.
    ///
    /// # Safety
    /// `target` is valid for writes of `bytes` bytes.
    ///
    /// # Panics
    /// If the range is not inside the buffer.
    pub(crate) unsafe fn read(&self, offset: usize, target: *mut u8, bytes: usize) -> Result<()> {
        assert!(offset + bytes <= self.bytes, "copy beyond the end of a buffer");
        if bytes == 0 {
            return Ok(());
        }
        self.gpu.bind()?;
        let stream = self.gpu.default_stream();
        self.enter(stream, Access::Read)?;
        let source = self.address + offset as u64;
        // SAFETY: the range is inside the buffer, the use is entered, the caller vouches for `target`, and the copy is
        // waited for below.
        let copied =
            unsafe { sys::cuMemcpyDtoHAsync_v2(target.cast::<c_void>(), source, bytes, stream.handle()) };
        self.gpu.check("copying from the GPU", copied.result())?;
        stream.synchronize(self.gpu)
    }

    /// Lets a stream copy bytes of another buffer, of this GPU or of another one, to this one. The stream is one of either GPU's.
    ///
    /// # Panics
    /// If the bytes are not inside both buffers.
    pub(crate) fn copy_from(
        &self,
        stream: &GpuStream,
        offset: usize,
        source: &Self,
        source_offset: usize,
        bytes: usize,
    ) -> Result<()> {
        let inside = |buffer: &Self, offset: usize| offset <= buffer.bytes && bytes <= buffer.bytes - offset;
        assert!(inside(self, offset) && inside(source, source_offset), "copy beyond the end of a buffer");
        if bytes == 0 {
            return Ok(());
        }
        source.enter(stream, Access::Read)?;
        self.enter(stream, Access::Write)?;
        let (target, from) = (self.address + offset as u64, source.address + source_offset as u64);
        let (own, other) = (&self.gpu.context, &source.gpu.context);
        let copied = stream.bind().and_then(|()| {
            let handle = stream.handle();
            // SAFETY: the ranges are inside the buffers, the use of both is entered, and the contexts are those of the buffers' GPUs.
            unsafe {
                match std::ptr::eq(self.gpu, source.gpu) {
                    true => result::memcpy_dtod_async(target, from, bytes, handle),
                    false => {
                        result::memcpy_peer_async(own.cu_ctx(), target, other.cu_ctx(), from, bytes, handle)
                    }
                }
            }
        });
        self.gpu.check("copying between buffers", copied)
    }

    /// Lets a stream copy the whole of a pinned buffer to this one.
    ///
    /// # Panics
    /// If they differ in length.
    pub(crate) fn write_pinned(&self, stream: &GpuStream, source: &GpuPinned) -> Result<()> {
        assert_eq!(self.bytes, source.bytes(), "copy between buffers of different length");
        self.enter(stream, Access::Write)?;
        source.enter(stream, |address| {
            // SAFETY: both buffers have this length, and the use of both is entered.
            unsafe { sys::cuMemcpyHtoDAsync_v2(self.address, address, self.bytes, stream.handle()) }
        })
    }

    /// Lets a stream copy the whole of this buffer to a pinned one.
    ///
    /// # Panics
    /// If they differ in length.
    pub(crate) fn read_pinned(&self, stream: &GpuStream, target: &GpuPinned) -> Result<()> {
        assert_eq!(self.bytes, target.bytes(), "copy between buffers of different length");
        self.enter(stream, Access::Read)?;
        target.enter(stream, |address| {
            // SAFETY: both buffers have this length, and the use of both is entered; the target's owner lent it
            // mutably, so nothing else on the host uses it now, and later uses wait.
            unsafe { sys::cuMemcpyDtoHAsync_v2(address, self.address, self.bytes, stream.handle()) }
        })
    }

    /// Whether all streams that have used the buffer are done with all that they were given.
    fn is_unused(&self) -> bool {
        self.users().streams().all(GpuStream::is_idle)
    }

    /// Whether somebody captures a stream that has used the buffer.
    fn is_in_capture(&self) -> bool {
        self.users().streams().any(GpuStream::is_captured)
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees memory that is ours, once all its users are done: in the order of the stream, or at once.
    fn free(&mut self) {
        let stream = self.gpu.default_stream();
        // After a trap every call fails, this one too, and there is nothing left to free. Memory that a stream has used which somebody captures
        // stays: their graph has its address.
        if self.gpu.bind().and_then(|()| self.enter(stream, Access::Write)).is_err() {
            return;
        }
        // SAFETY: the buffer came from the matching allocation function and is not used again; the default stream
        // waits for all its users, or the caller does.
        let freed = unsafe {
            if self.gpu.context.has_async_alloc() {
                result::free_async(self.address, stream.handle())
            } else {
                stream.finish().and_then(|()| result::free_sync(self.address))
            }
        };
        self.gpu.context.record_err(freed);
    }

    /// Gives memory back to somebody else, behind all its uses.
    fn give_back(&mut self, lender: Lender) {
        let Lender { stream, owner, in_capture } = lender;
        match owner {
            // No stream can be asked, nor has anything to be waited for: the graph's launches are the business of who captures it. Uses
            // before the capture are over when the whole GPU is.
            Some(owner) if self.is_in_capture() => match in_capture {
                true => owner.end(),
                false => release::later(self.gpu, owner),
            },
            Some(owner) if self.is_unused() => owner.end(),
            owner => {
                let ordered = self.gpu.bind().and_then(|()| self.enter(&stream, Access::Write));
                if let Some(owner) = owner {
                    release::behind(self.gpu, &stream, ordered, owner);
                }
            }
        }
    }
}

impl Users {
    fn streams(&self) -> impl Iterator<Item = &GpuStream> {
        self.readers.iter().chain([&self.writer])
    }
}

impl Drop for GpuMemory {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        match std::mem::replace(&mut self.origin, Origin::Own) {
            Origin::Own => self.free(),
            Origin::Lent(lender) => self.give_back(lender),
            Origin::Captured(stream) => {
                if self.enter(&stream, Access::Write).is_ok() {
                    // SAFETY: the buffer was allocated on this stream, which comes behind all its users, and is not used again.
                    // It fails where the capture was broken off: then there is no memory.
                    let _ = unsafe { result::free_async(self.address, stream.handle()) };
                }
            }
        }
    }
}
