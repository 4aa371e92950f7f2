//! Results: memory of candle's, written by kernels.

use candle_core::op::BackpropOp;
use candle_core::{CpuStorage, Shape, Storage};
use cuda_tiles_host::{Stream, Tensor, TensorViewMut};

#[cfg(feature = "cuda")]
use candle_core::cuda_backend::cudarc::driver::{CudaSlice, DevicePtrMut};
#[cfg(feature = "cuda")]
use candle_core::{CudaDevice, CudaStorage};

use crate::element::Element;
#[cfg(feature = "cuda")]
use crate::error::Error;
use crate::error::Result;
use crate::place::Place;

/// A result of elements of `T`, to be written by launches on the stream of the [call](crate::Call) that made it.
pub struct Output<T: Element> {
    // Dropped before the memory that it borrows.
    tensor: Tensor<T, 1>,
    memory: Memory<T>,
    shape: Shape,
}

/// Memory that becomes candle's.
enum Memory<T> {
    Cpu(Vec<T>),
    #[cfg(feature = "cuda")]
    Cuda(CudaSlice<T>, CudaDevice),
}

/// A result as candle stores it: what [`Operation::forward`](crate::Operation::forward) returns.
pub struct Finished {
    memory: Stored,
    shape: Shape,
}

enum Stored {
    Cpu(CpuStorage),
    #[cfg(feature = "cuda")]
    Cuda(CudaStorage),
}

impl<T: Element> Output<T> {
    pub(crate) fn new(stream: &Stream, place: Place<'_>, shape: Shape) -> Result<Self> {
        let len = shape.elem_count();
        let (memory, address) = match place {
            Place::Cpu(_) => {
                let mut elements = vec![T::from_f64(0.0); len];
                let address = elements.as_mut_ptr();
                (Memory::Cpu(elements), address)
            }
            #[cfg(feature = "cuda")]
            Place::Cuda(device) => {
                // The driver refuses to allocate nothing.
                // SAFETY: whatever bits are there are elements of each of these types, and kernels alone see them.
                let mut slice = unsafe { device.alloc::<T>(len.max(1))? };
                let stream = device.cuda_stream();
                let (address, allocated) = slice.device_ptr_mut(&stream);
                let address = address as *mut T;
                drop(allocated);
                (Memory::Cuda(slice, device.clone()), address)
            }
        };
        let address = if len == 0 { std::ptr::dangling_mut() } else { address };
        // SAFETY: the memory has so many elements, which stay where they are when it moves. `memory` keeps them longer than the tensor, and
        // nobody else has them before `finish`, which ends the tensor.
        let tensor = unsafe { Tensor::borrowed(stream, address, [len])? };
        Ok(Self { tensor, memory, shape })
    }

    /// The result with its leading axes as one, as [`Held::flattened`](crate::Held::flattened) has it. It is row-major.
    ///
    /// # Errors
    /// [`Error::Host`](crate::Error::Host), which no shape that fits into memory has.
    pub fn flattened<const RANK: usize>(&mut self) -> Result<TensorViewMut<'_, T, RANK>> {
        let dims = self.shape.dims();
        let (shape, strides) = crate::layout::flattened(&candle_core::Layout::contiguous(dims))?;
        Ok(self.tensor.view_mut().strided(0, shape, strides)?)
    }

    /// Whether there is nothing to compute.
    pub fn is_empty(&self) -> bool {
        self.tensor.is_empty()
    }

    /// The elements, one after the other.
    pub fn elements(&mut self) -> TensorViewMut<'_, T, 1> {
        self.tensor.view_mut()
    }

    /// Hands the result to candle. Launches that write it have been given to the stream.
    pub fn finish(self) -> Finished {
        let Self { tensor, memory, shape } = self;
        drop(tensor);
        let memory = match memory {
            Memory::Cpu(elements) => Stored::Cpu(T::to_cpu_storage_owned(elements)),
            #[cfg(feature = "cuda")]
            Memory::Cuda(mut slice, device) => {
                {
                    // The end of this use, behind the launches: streams of cudarc's wait for it.
                    let stream = device.cuda_stream();
                    let (_, written) = slice.device_ptr_mut(&stream);
                    drop(written);
                }
                Stored::Cuda(CudaStorage::wrap_cuda_slice(slice, device))
            }
        };
        Finished { memory, shape }
    }
}

impl Finished {
    /// The result as a tensor, of which candle knows no gradient.
    pub(crate) fn into_tensor(self) -> candle_core::Tensor {
        let storage = match self.memory {
            Stored::Cpu(memory) => Storage::Cpu(memory),
            #[cfg(feature = "cuda")]
            Stored::Cuda(memory) => Storage::Cuda(memory),
        };
        candle_core::Tensor::from_storage(storage, self.shape, BackpropOp::none(), false)
    }

    /// The result of a call on the CPU.
    pub(crate) fn on_cpu(self) -> candle_core::Result<(CpuStorage, Shape)> {
        match self.memory {
            Stored::Cpu(memory) => Ok((memory, self.shape)),
            #[cfg(feature = "cuda")]
            Stored::Cuda(_) => Err(elsewhere().into()),
        }
    }

    /// The result of a call on a GPU.
    #[cfg(feature = "cuda")]
    pub(crate) fn on_cuda(self) -> candle_core::Result<(CudaStorage, Shape)> {
        match self.memory {
            Stored::Cuda(memory) => Ok((memory, self.shape)),
            Stored::Cpu(_) => Err(elsewhere().into()),
        }
    }
}

/// The error of a result that another call has made.
#[cfg(feature = "cuda")]
fn elsewhere() -> Error {
    let problem =
        "its result is on another device than its operands: make it by the call that `forward` is given"
            .to_owned();
    Error::Operands { operation: "an operation", problem }
}
