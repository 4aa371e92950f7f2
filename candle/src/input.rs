//! Operands: candle's tensors as views for kernels.

use std::marker::PhantomData;

use candle_core::{CpuStorage, DType, Layout, backend::BackendStorage};
use cuda_tiles_host::{Stream, Tensor, TensorView};

#[cfg(feature = "cuda")]
use candle_core::CudaStorage;
#[cfg(feature = "cuda")]
use candle_core::cuda_backend::cudarc::driver::{CudaStream, DevicePtr, SyncOnDrop};

use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::{axes, flattened, reach};

/// An operand of an operation, of any type, shape and strides.
#[derive(Clone, Copy)]
pub struct Input<'call> {
    storage: Storage<'call>,
    layout: &'call Layout,
    /// The stream of the call, which is the one in `storage`.
    stream: &'call Stream,
}

/// The memory of one of candle's tensors.
#[derive(Clone, Copy)]
enum Storage<'call> {
    Cpu(&'call CpuStorage),
    #[cfg(feature = "cuda")]
    Cuda(&'call CudaStorage, &'call CudaStream),
}

impl<'call> Input<'call> {
    pub(crate) fn of_cpu(storage: &'call CpuStorage, layout: &'call Layout, stream: &'call Stream) -> Self {
        Self { storage: Storage::Cpu(storage), layout, stream }
    }

    /// An operand on a GPU, which launches on this stream use: candle's, and the same as ours.
    #[cfg(feature = "cuda")]
    pub(crate) fn of_cuda(
        storage: &'call CudaStorage,
        layout: &'call Layout,
        theirs: &'call CudaStream,
        stream: &'call Stream,
    ) -> Self {
        Self { storage: Storage::Cuda(storage, theirs), layout, stream }
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        match self.storage {
            Storage::Cpu(storage) => storage.dtype(),
            #[cfg(feature = "cuda")]
            Storage::Cuda(storage, _) => storage.dtype(),
        }
    }

    /// The extents of the axes.
    pub fn dims(&self) -> &'call [usize] {
        self.layout.dims()
    }

    /// Shape, strides and offset, in candle's words.
    pub fn layout(&self) -> &'call Layout {
        self.layout
    }

    /// Holds the memory of a tensor of `T` for launches on the stream of the call, which are given before the result is dropped.
    ///
    /// # Errors
    /// [`Error::ElementType`] if the elements have another type.
    pub fn hold<T: Element>(&self) -> Result<Held<'call, T>> {
        if self.dtype() != T::DTYPE {
            return Err(Error::ElementType { found: self.dtype(), wanted: T::DTYPE });
        }
        match self.storage {
            Storage::Cpu(storage) => {
                let elements = T::cpu_storage_as_slice(storage)?;
                let range = self.range(elements.len())?;
                let len = range.len();
                let first = elements[range].as_ptr().cast_mut();
                // SAFETY: the slice has so many elements, which live and are not written to as long as `'call`; the result is only read.
                unsafe { self.held(first, len, Use::default()) }
            }
            #[cfg(feature = "cuda")]
            Storage::Cuda(storage, stream) => {
                let slice = storage.as_cuda_slice::<T>()?;
                let range = self.range(slice.len())?;
                let (address, used) = slice.device_ptr(stream);
                let first = (address as *mut T).wrapping_add(range.start);
                // SAFETY: the slice has so many elements from there, which live as long as `'call`, and of which others are told by `used` when
                // the launches on the stream are done with them; the result is only read.
                unsafe { self.held(first, range.len(), Use { _until: Some(used), _call: PhantomData }) }
            }
        }
    }

    /// The positions from the first to behind the last element, in memory of `len` elements.
    fn range(&self, len: usize) -> Result<std::ops::Range<usize>> {
        let start = self.layout.start_offset();
        let end = reach(self.layout).and_then(|reach| start.checked_add(reach));
        match end {
            // Where there are no elements the offset may be anywhere.
            Some(end) if end == start => Ok(0..0),
            Some(end) if end <= len => Ok(start..end),
            _ => Err(Error::Layout {
                shape: self.dims().to_vec(),
                strides: self.layout.stride().to_vec(),
                len,
            }),
        }
    }

    /// # Safety
    /// As of [`Tensor::borrowed`], for as long as `'call`, but that `first` may be null if `len` is 0.
    unsafe fn held<T: Element>(&self, first: *mut T, len: usize, used: Use<'call>) -> Result<Held<'call, T>> {
        let first = if len == 0 { std::ptr::dangling_mut() } else { first };
        // SAFETY: passed on to the caller; without elements any address that is aligned will do.
        let memory = unsafe { Tensor::borrowed(self.stream, first, [len])? };
        Ok(Held { memory, _used: used, layout: self.layout })
    }
}

/// The use of an operand by launches: its end tells candle's memory.
#[derive(Default)]
struct Use<'call> {
    #[cfg(feature = "cuda")]
    _until: Option<SyncOnDrop<'call>>,
    _call: PhantomData<&'call ()>,
}

/// An operand of elements of `T`, held for launches. Its views are arguments of kernels.
pub struct Held<'call, T> {
    // Dropped before the end of the use is told.
    memory: Tensor<T, 1>,
    _used: Use<'call>,
    layout: &'call Layout,
}

impl<T: Element> Held<'_, T> {
    /// The tensor as it is, with its own strides.
    ///
    /// # Errors
    /// [`Error::Rank`] if it has another number of axes.
    pub fn view<const RANK: usize>(&self) -> Result<TensorView<'_, T, RANK>> {
        let (shape, strides) = axes(self.layout)?;
        Ok(self.memory.view().strided(0, shape, strides)?)
    }

    /// The tensor with its leading axes as one: a matrix of all rows for `RANK` 2, a batch of matrices for `RANK` 3. Leading axes of extent
    /// 1 are added where it has fewer.
    ///
    /// # Errors
    /// [`Error::Axes`] if the strides do not let the leading axes be one.
    pub fn flattened<const RANK: usize>(&self) -> Result<TensorView<'_, T, RANK>> {
        let (shape, strides) = flattened(self.layout)?;
        Ok(self.memory.view().strided(0, shape, strides)?)
    }
}
