//! Launches kernels on the streams and buffers of the crate [`cudarc`].
//!
//! [`Stream::from_cudarc`] is a stream of `cudarc` as one of this crate. [`CudarcTensor`] and [`CudarcTensorMut`] give a `CudaSlice` or
//! a view of one the shape that a kernel's span needs. They are arguments of launches beside [`Tensor`]s.
//!
//! ```no_run
//! // Not run: it needs a GPU.
//! use cuda_tiles::prelude::*;
//! use cuda_tiles_host::cudarc::{CudarcTensor, CudarcTensorMut};
//! use cuda_tiles_host::{Device, Grid, Launch, Stream};
//! use cudarc::driver::CudaContext;
//!
//! // In a crate of its own, which the build script compiles to PTX:
//! #[kernel]
//! fn vector_add(cx: Cx, a: Span<f32, (u32,)>, b: Span<f32, (u32,)>, c: SpanMut<f32, (u32,)>) {
//!     let tile = shape![1024];
//!     let (a, b, c) = (a.partition(cx, tile), b.partition(cx, tile), c.partition(cx, tile));
//!     let i = cx.bid::<0>();
//!     c.store_masked(a.load_masked(Zero, i) + b.load_masked(Zero, i), i);
//! }
//!
//! // In the program, include_kernels!("kernels") defines KERNELS.
//! # static KERNELS: cuda_tiles_host::Artifact =
//! #     cuda_tiles_host::Artifact::new("kernels", &[], None);
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = CudaContext::new(0)?;
//! let theirs = context.new_stream()?;
//! let a = theirs.clone_htod(&vec![1.0_f32; 5000])?;
//! let b = theirs.clone_htod(&vec![2.0_f32; 5000])?;
//! let mut c = theirs.alloc_zeros::<f32>(5000)?;
//!
//! let stream = Stream::from_cudarc(&theirs)?;
//! stream.device().load(&KERNELS)?;
//! let (x, y) = (CudarcTensor::new(&a, [5000])?, CudarcTensor::new(&b, [5000])?);
//! let z = CudarcTensorMut::new(&mut c, [5000])?;
//! vector_add.launch_on(&stream, Grid::cover([5000], [1024]), (x, y, z))?;
//!
//! assert_eq!(theirs.clone_dtoh(&c)?, [3.0; 5000]);
//! # Ok(())
//! # }
//! ```
//!
//! # Order
//! A launch is one use of a buffer, as a call of `cudarc`'s own is: it comes after all work on the buffer that `cudarc` knows of, and
//! whatever `cudarc` does with the buffer later comes after the launch. That holds for any stream of either crate, unless the program has
//! told `cudarc` not to track events (`CudaContext::disable_event_tracking`): then order between streams is the program's, as always there.
//! A launch on the buffer's own stream records one event at most. On another stream each of both waits for the other.

use std::sync::Arc;

use ::cudarc::driver::sys::CUdeviceptr;
use ::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut};
use cuda_tiles::element::Element;
use cuda_tiles::launch::Parameter;

use crate::argument::{Argument, Launching};
use crate::error::{ArgumentError, Error, Result};
use crate::gpu::Gpu;
use crate::size::byte_count;
use crate::stream::Stream;
use crate::tensor::{Layout, Tensor, check_len};

impl Stream {
    /// A stream of `cudarc` as one of this crate. It is kept as long as the result, or a clone of it, exists.
    ///
    /// # Errors
    /// [`Error::Driver`] if the stream belongs to another context than the GPU's primary one.
    pub fn from_cudarc(stream: &Arc<CudaStream>) -> Result<Self> {
        let gpu = gpu_of(stream)?;
        Ok(Self::of_gpu(gpu, gpu.shared_stream(Arc::clone(stream))))
    }
}

/// The GPU of a stream of `cudarc`.
fn gpu_of(stream: &CudaStream) -> Result<&'static Gpu> {
    let gpu = Gpu::open(stream.context().ordinal())?;
    if gpu.owns(stream) {
        return Ok(gpu);
    }
    Err(Error::Driver {
        device: gpu.to_string(),
        operation: "using a stream of cudarc",
        code: "its context is not the GPU's primary one; make it with `CudaContext::new`".to_owned(),
    })
}

/// A buffer of `cudarc` that can be lent to a launch.
trait Buffer {
    /// The stream that `cudarc` orders the buffer's uses by.
    fn stream(&self) -> Arc<CudaStream>;

    /// The buffer's address. Work given to its stream from now on comes after earlier work on the buffer.
    fn enter(&mut self) -> CUdeviceptr;

    /// Work on the buffer that `cudarc` is asked for from now on comes after the work given to the buffer's stream so far.
    fn leave(&mut self);
}

/// A buffer to be read.
struct Read<'buffer, T>(&'buffer dyn DevicePtr<T>);

/// A buffer to be read and written.
struct Write<'buffer, T>(&'buffer mut dyn DevicePtrMut<T>);

macro_rules! buffer {
    ($($kind:ident by $access:ident;)*) => { $(
        impl<T> Buffer for $kind<'_, T> {
            fn stream(&self) -> Arc<CudaStream> {
                Arc::clone(self.0.stream())
            }

            fn enter(&mut self) -> CUdeviceptr {
                let stream = self.stream();
                let (address, use_so_far) = self.0.$access(&stream);
                // Its end would record the use, which begins only now.
                std::mem::forget(use_so_far);
                address
            }

            fn leave(&mut self) {
                let stream = self.stream();
                let (_, ended_use) = self.0.$access(&stream);
                drop(ended_use);
            }
        }
    )* };
}

buffer! {
    Read by device_ptr;
    Write by device_ptr_mut;
}

/// A buffer on its way into one launch.
struct Lent<'buffer, T: Element, const RANK: usize> {
    /// The buffer as memory of somebody else, who uses it on the buffer's stream before and after.
    tensor: Option<Tensor<T, RANK>>,
    shape: [usize; RANK],
    gpu: &'static Gpu,
    buffer: Box<dyn Buffer + 'buffer>,
}

impl<'buffer, T: Element, const RANK: usize> Lent<'buffer, T, RANK> {
    fn new(buffer: impl Buffer + 'buffer, len: usize, shape: [usize; RANK]) -> Result<Self> {
        // Refuses shapes whose strides would overflow.
        byte_count::<T, RANK>(shape)?;
        check_len(shape, Layout::row_major(shape).len(), len)?;
        let gpu = gpu_of(&buffer.stream())?;
        Ok(Self { tensor: None, shape, gpu, buffer: Box::new(buffer) })
    }

    /// The tensor, for a launch that ends its use of this argument by dropping it.
    fn enter(&mut self) -> Result<&mut Tensor<T, RANK>> {
        let stream = Stream::of_gpu(self.gpu, self.gpu.shared_stream(self.buffer.stream()));
        let address = match self.buffer.enter() {
            // An empty buffer may have no memory.
            0 => std::ptr::dangling_mut(),
            address => address as *mut T,
        };
        // SAFETY: the launch alone reads the elements, from their bits. The buffer has as many elements as the shape, and is borrowed,
        // mutably if it is to be written, as long as `self` lives. Whatever is given to its stream after the drop of the tensor, which
        // `self` keeps, comes after the launch; `leave` then tells `cudarc`. `self` is in the hands of the launch, which drops it.
        let tensor = unsafe { Tensor::borrowed(&stream, address, self.shape)? };
        Ok(self.tensor.insert(tensor))
    }
}

impl<T: Element, const RANK: usize> Drop for Lent<'_, T, RANK> {
    fn drop(&mut self) {
        // The buffer's stream waits for the launch first.
        if self.tensor.take().is_some() {
            self.buffer.leave();
        }
    }
}

/// A buffer of `cudarc` with a shape, to be read: the argument for a read-only span or a `TmaLoad`. Row-major.
pub struct CudarcTensor<'buffer, T: Element, const RANK: usize>(Lent<'buffer, T, RANK>);

/// A buffer of `cudarc` with a shape, to be read and written: the argument for a writable span or a `TmaStore`. Row-major.
pub struct CudarcTensorMut<'buffer, T: Element, const RANK: usize>(Lent<'buffer, T, RANK>);

impl<'buffer, T: Element, const RANK: usize> CudarcTensor<'buffer, T, RANK> {
    /// Gives a `CudaSlice` or a `CudaView` a shape.
    ///
    /// # Errors
    /// [`Error::Length`] if the buffer does not have as many elements as the shape; [`Error::Driver`] if it belongs to another context than
    /// the GPU's primary one.
    pub fn new<D: DevicePtr<T>>(buffer: &'buffer D, shape: [usize; RANK]) -> Result<Self> {
        Ok(Self(Lent::new(Read(buffer), buffer.len(), shape)?))
    }

    /// The same for a buffer that holds the bits of the numbers, such as `u8` for `f8e4m3`, which `cudarc` does not know.
    ///
    /// # Errors
    /// As [`CudarcTensor::new`].
    pub fn from_bits<D: DevicePtr<T::Bits>>(buffer: &'buffer D, shape: [usize; RANK]) -> Result<Self> {
        Ok(Self(Lent::new(Read(buffer), buffer.len(), shape)?))
    }
}

impl<'buffer, T: Element, const RANK: usize> CudarcTensorMut<'buffer, T, RANK> {
    /// Gives a `CudaSlice` or a `CudaViewMut` a shape.
    ///
    /// # Errors
    /// As [`CudarcTensor::new`].
    pub fn new<D: DevicePtrMut<T>>(buffer: &'buffer mut D, shape: [usize; RANK]) -> Result<Self> {
        let len = buffer.len();
        Ok(Self(Lent::new(Write(buffer), len, shape)?))
    }

    /// The same for a buffer that holds the bits of the numbers, such as `u8` for `f8e4m3`, which `cudarc` does not know.
    ///
    /// # Errors
    /// As [`CudarcTensor::new`].
    pub fn from_bits<D: DevicePtrMut<T::Bits>>(buffer: &'buffer mut D, shape: [usize; RANK]) -> Result<Self> {
        let len = buffer.len();
        Ok(Self(Lent::new(Write(buffer), len, shape)?))
    }
}

#[diagnostic::do_not_recommend]
impl<P: Parameter, T: Element, const RANK: usize> Argument<P> for CudarcTensor<'_, T, RANK>
where
    for<'tensor> &'tensor Tensor<T, RANK>: Argument<P>,
{
    fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<P, ArgumentError> {
        let tensor: &Tensor<T, RANK> = self.0.enter()?;
        let mut argument = tensor;
        argument.resolve(launch)
    }
}

#[diagnostic::do_not_recommend]
impl<P: Parameter, T: Element, const RANK: usize> Argument<P> for CudarcTensorMut<'_, T, RANK>
where
    for<'tensor> &'tensor mut Tensor<T, RANK>: Argument<P>,
{
    fn resolve(&mut self, launch: &Launching<'_, Stream>) -> Result<P, ArgumentError> {
        let mut argument = self.0.enter()?;
        argument.resolve(launch)
    }
}
