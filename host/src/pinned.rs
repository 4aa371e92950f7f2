//! Buffers of the host that a GPU copies to and from while the host goes on.

use std::fmt;
use std::marker::PhantomData;

use cuda_tiles::element::Element;

use crate::cpu::{HostMemory, host_memory};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gpu::GpuPinned;
use crate::recording::{Identity, check_free};
use crate::size::byte_count;

/// A buffer of `T` in page-locked memory of the host, between which and a GPU copies are asynchronous:
/// [`Tensor::copy_from_pinned`](crate::Tensor::copy_from_pinned) and
/// [`Tensor::copy_to_pinned`](crate::Tensor::copy_to_pinned).
///
/// Looking into the buffer waits for the copies under way. For the CPU it is ordinary memory.
///
/// ```
/// use cuda_tiles_host::{Device, PinnedBuffer, Tensor};
///
/// let device = Device::auto()?;
/// let stream = device.stream()?;
/// let input = PinnedBuffer::from_slice(&device, &[1.0_f32, 2.0, 3.0])?;
/// let mut output = PinnedBuffer::zeros(&device, 3)?;
/// let mut tensor = Tensor::zeros(&device, [3])?;
/// tensor.copy_from_pinned(&stream, &input)?;
/// tensor.copy_to_pinned(&stream, &mut output)?;
/// assert_eq!(output.as_slice()?, [1.0, 2.0, 3.0]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
pub struct PinnedBuffer<T> {
    pub(crate) pinned: Pinned,
    len: usize,
    element: PhantomData<T>,
}

/// The bytes of a pinned buffer.
pub(crate) struct Pinned {
    pub(crate) memory: PinnedMemory,
}

pub(crate) enum PinnedMemory {
    Cpu(HostMemory),
    Gpu(GpuPinned),
}

impl Pinned {
    /// The device that copies to and from the buffer.
    pub(crate) fn device(&self) -> Device {
        match &self.memory {
            PinnedMemory::Cpu(_) => Device::cpu(),
            PinnedMemory::Gpu(memory) => Device::of_gpu(memory.gpu()),
        }
    }

    /// Which memory it is.
    pub(crate) fn identity(&self) -> Identity {
        match &self.memory {
            PinnedMemory::Cpu(memory) => Identity { number: memory.number(), bytes: memory.bytes().len() },
            PinnedMemory::Gpu(memory) => {
                Identity { number: memory.address() as usize, bytes: memory.bytes() }
            }
        }
    }

    /// Where the memory begins. Copies may be under way.
    pub(crate) fn address(&self) -> *mut u8 {
        match &self.memory {
            PinnedMemory::Cpu(memory) => memory.address(),
            PinnedMemory::Gpu(memory) => memory.address(),
        }
    }

    /// The first byte, once no copy is under way.
    fn settled(&self) -> Result<*mut u8> {
        check_free(|| self.identity())?;
        match &self.memory {
            PinnedMemory::Cpu(memory) => Ok(memory.address()),
            PinnedMemory::Gpu(memory) => memory.settled(),
        }
    }
}

impl<T: Element> PinnedBuffer<T> {
    /// A buffer of zeros, for copies from and to the given device.
    ///
    /// # Errors
    /// [`Error::TooLarge`] or [`Error::OutOfMemory`].
    pub fn zeros(device: &Device, len: usize) -> Result<Self> {
        let bytes = byte_count::<T, 1>([len])?;
        let memory = match device.as_gpu() {
            None => PinnedMemory::Cpu(host_memory(bytes)?),
            Some(gpu) => PinnedMemory::Gpu(GpuPinned::zeroed(gpu, bytes)?),
        };
        Ok(Self { pinned: Pinned { memory }, len, element: PhantomData })
    }

    /// A buffer with a copy of these values, for copies from and to the given device.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn from_slice(device: &Device, values: &[T]) -> Result<Self> {
        let mut buffer = Self::zeros(device, values.len())?;
        buffer.as_mut_slice()?.copy_from_slice(values);
        Ok(buffer)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device that copies to and from the buffer.
    pub fn device(&self) -> Device {
        self.pinned.device()
    }

    /// The elements. Waits for the copies under way.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU.
    pub fn as_slice(&self) -> Result<&[T]> {
        let address = self.pinned.settled()?;
        // SAFETY: the buffer has room for `len` elements at an address aligned for any of them, all bytes are initialised
        // and came from elements or are zero, and no copy that writes is under way: one that begins later needs a
        // mutable borrow.
        Ok(unsafe { std::slice::from_raw_parts(address.cast(), self.len) })
    }

    /// The elements, to be changed. Waits for the copies under way.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        let address = self.pinned.settled()?;
        // SAFETY: as above; no copy at all is under way, and a new one needs a borrow.
        Ok(unsafe { std::slice::from_raw_parts_mut(address.cast(), self.len) })
    }

    /// The error for a copy between this buffer and a tensor of another length.
    pub(crate) fn check_len<const RANK: usize>(&self, shape: [usize; RANK], len: usize) -> Result<()> {
        match self.len == len {
            true => Ok(()),
            false => Err(Error::Length { shape: shape.into(), expected: len, found: self.len }),
        }
    }
}

impl<T> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PinnedBuffer of {} elements for {}", self.len, self.pinned.device().short_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Tensor;

    #[test]
    fn lengths_must_agree() {
        let device = Device::cpu();
        let stream = device.stream().unwrap();
        let buffer = PinnedBuffer::<u8>::zeros(&device, 5).unwrap();
        let mut tensor = Tensor::<u8, 2>::zeros(&device, [2, 3]).unwrap();
        let message = tensor.copy_from_pinned(&stream, &buffer).unwrap_err().to_string();
        assert_eq!(message, "a tensor of shape [2, 3] has 6 elements, but 5 were given");
    }

    #[test]
    fn empty_buffers_are_legal() {
        let mut buffer = PinnedBuffer::<cuda_tiles::element::f16>::zeros(&Device::cpu(), 0).unwrap();
        assert!(buffer.as_slice().unwrap().is_empty());
        assert!(buffer.as_mut_slice().unwrap().is_empty());
    }
}
