//! DLPack: arrays that libraries of one process hand to one another without a copy, on the CPU and on GPUs.
//!
//! A [`ManagedTensor`] owns a `DLManagedTensor` of either version and ends it once. [`Tensor::into_dlpack`] and [`share`] make one,
//! [`Tensor::from_dlpack`] and [`ReadOnlyTensor::from_dlpack`] take one. What crosses the border to C is a pointer:
//! [`ManagedTensor::into_raw`] and [`ManagedTensor::from_raw`]. Python wraps it in a capsule named `dltensor_versioned`
//! (`dltensor` for the older struct), which whoever takes the pointer renames to `used_dltensor_versioned`.
//!
//! ```
//! use cuda_tiles_host::{Device, Tensor, dlpack::ManagedTensor};
//!
//! let stream = Device::cpu().default_stream();
//! let ours = Tensor::from_slice(&Device::cpu(), [2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let pointer = ours.into_dlpack(&stream)?.into_raw();
//! // ... through C ...
//! // SAFETY: the pointer was just made, and nobody else has it.
//! let managed = unsafe { ManagedTensor::from_raw(pointer)? };
//! assert_eq!(managed.shape(), [2, 3]);
//! let theirs = Tensor::<f32, 2>::from_dlpack(managed, &stream)?;
//! assert_eq!(theirs.to_vec()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Order on a GPU
//! Both sides name a stream, as Python's `__dlpack__(stream=...)` does ([`Device::borrow_stream`](crate::Device::borrow_stream) makes
//! one of a handle).
//!
//! *Export.* Work that the consumer gives to the stream after the call finds the elements written. The consumer calls the deleter
//! after it has given its last work on the array to this stream, or has made the stream wait for it. It need not wait for that
//! work: the memory is freed, or used by us again, behind it.
//!
//! *Import.* The stream is the one that was passed to the producer: work on the tensor, on whatever stream, comes after the work that
//! the stream was given before the call. The deleter runs once, when all work given to streams with the tensor is done, at the
//! tensor's end or later on a thread of this library.

mod abi;
mod element;
mod managed;

use std::sync::Arc;

use cuda_tiles::element::Element;

use super::foreign::{ExchangeError, ReadOnlyTensor, Stated, check_writable, lending};
use crate::device::Device;
use crate::error::Result;
use crate::stream::Stream;
use crate::tensor::{Layout, Tensor, TensorView};

pub use abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, device_type,
};
pub use element::DlpackElement;
pub use managed::ManagedTensor;

impl<T: DlpackElement, const RANK: usize> Tensor<T, RANK> {
    /// Hands the tensor over to another library, which may read and write it. It is freed when the other library is done with it.
    ///
    /// `stream` is the consumer's; [the module](self) says what it may rely on.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) if the stream is not one of the tensor's device;
    /// [`Error::Trapped`](crate::Error::Trapped). The tensor ends then.
    #[doc(alias("to_dlpack", "__dlpack__"))]
    pub fn into_dlpack(mut self, stream: &Stream) -> Result<ManagedTensor> {
        let view = self.view_mut();
        let layout = view.layout;
        let address = view.storage.lend_mut(stream).map_err(lending)?;
        Ok(ManagedTensor::new::<T, RANK>(address, &layout, device_of(&self.device()), false, self))
    }

    /// Takes a tensor that another library hands over. `T` and `RANK` are what it must be; [`ManagedTensor::data_type`] and
    /// [`ManagedTensor::shape`] tell beforehand.
    ///
    /// `stream` is the one that was passed to the producer; [the module](self) says more.
    ///
    /// # Errors
    /// [`ExchangeError`] if the array has another type, rank or device, is not aligned, or has negative strides. An array that may
    /// only be read, or that gives one element several indices, is one for [`ReadOnlyTensor::from_dlpack`]. The array is given
    /// back then.
    pub fn from_dlpack(managed: ManagedTensor, stream: &Stream) -> Result<Self, ExchangeError> {
        import(managed, stream, true)
    }
}

impl<T: DlpackElement, const RANK: usize> ReadOnlyTensor<T, RANK> {
    /// Takes an array that another library shares, to be read. Strides may repeat elements.
    ///
    /// # Errors
    /// As [`Tensor::from_dlpack`], but that the array need not be writable.
    pub fn from_dlpack(managed: ManagedTensor, stream: &Stream) -> Result<Self, ExchangeError> {
        Ok(Self::new(import(managed, stream, false)?))
    }
}

/// Shares a tensor, or a view of it, with another library, which may only read it. The tensor lives until both are done with it.
///
/// `stream` is the consumer's; [the module](self) says what it may rely on. The flag that forbids writing is one of DLPack 1.0: a
/// consumer that knows only the older struct cannot have the array.
///
/// ```
/// use std::sync::Arc;
/// use cuda_tiles_host::{Device, Tensor, dlpack};
///
/// let device = Device::auto()?;
/// let tensor = Arc::new(Tensor::from_slice(&device, [2, 3], &[1, 2, 3, 4, 5, 6])?);
/// let columns = dlpack::share(&tensor, |x| x.view().slice(1, 1..3), &device.default_stream())?;
/// assert_eq!((columns.shape(), columns.strides()), (&[2, 2][..], Some(&[3, 1][..])));
/// assert!(columns.is_read_only());
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # Errors
/// Those of `view`; [`Error::WrongDevice`](crate::Error::WrongDevice) if the stream is not one of the tensor's device;
/// [`Error::Trapped`](crate::Error::Trapped).
pub fn share<T: Element, const RANK: usize, U: DlpackElement, const OTHER: usize>(
    tensor: &Arc<Tensor<T, RANK>>,
    view: impl for<'tensor> FnOnce(&'tensor Tensor<T, RANK>) -> Result<TensorView<'tensor, U, OTHER>>,
    stream: &Stream,
) -> Result<ManagedTensor> {
    let view = view(tensor)?;
    let address = view.storage.lend(stream).map_err(lending)?;
    // A view for any lifetime is one of this tensor, or of one that lives forever.
    let owner = Arc::clone(tensor);
    Ok(ManagedTensor::new::<U, OTHER>(address, &view.layout, device_of(&view.device()), true, owner))
}

/// Takes an array of another library.
fn import<T: DlpackElement, const RANK: usize>(
    managed: ManagedTensor,
    stream: &Stream,
    writable: bool,
) -> Result<Tensor<T, RANK>, ExchangeError> {
    let (found, wanted) = (managed.data_type(), T::DATA_TYPE);
    if found != wanted || (wanted.bits < 8 && managed.is_padded()) {
        return Err(ExchangeError::ElementType { found: element::describe(found), wanted: T::NAME });
    }
    check_device(managed.device(), stream)?;
    let (shape, strides) = (managed.shape().to_vec(), managed.strides().map(<[i64]>::to_vec));
    let stated = Stated { shape: &shape, strides: strides.as_deref(), step_bytes: size_of::<T>() };
    if writable {
        let layout: Layout<RANK> = stated.layout::<T, RANK>()?;
        check_writable(&stated, &layout, managed.is_read_only())?;
    }
    let address = managed.address().cast::<T>();
    // SAFETY: the maker of `managed` vouches for the elements, and for what the producer does until it is dropped. Nobody writes to
    // one that may only be read: the caller makes a `ReadOnlyTensor` of it.
    unsafe { stated.tensor(stream, address, managed) }
}

/// The device in DLPack's numbers.
fn device_of(device: &Device) -> DLDevice {
    match device.as_gpu() {
        None => DLDevice { device_type: device_type::CPU, device_id: 0 },
        Some(gpu) => DLDevice { device_type: device_type::CUDA, device_id: gpu.ordinal() as i32 },
    }
}

/// Refuses memory that the stream's device cannot use as its own.
fn check_device(found: DLDevice, stream: &Stream) -> Result<(), ExchangeError> {
    let device = stream.device();
    let fits = match (found.device_type, device.as_gpu()) {
        (device_type::CPU | device_type::CUDA_HOST, None) => true,
        (device_type::CUDA | device_type::CUDA_MANAGED, Some(gpu)) => {
            gpu.ordinal() as i64 == i64::from(found.device_id)
        }
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => Err(ExchangeError::Device { found: found.describe(), expected: device.short_name() }),
    }
}

#[cfg(test)]
mod tests;
