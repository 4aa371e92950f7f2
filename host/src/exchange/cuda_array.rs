//! The CUDA Array Interface, version 3: how CuPy, Numba, PyTorch and others describe an array on a GPU to one another, as a
//! dictionary in the attribute `__cuda_array_interface__`. [`CudaArrayInterface`] has its entries; a Python binding copies them from and
//! to the dictionary.
//!
//! For tensors on the CPU the same entries, without `stream`, are NumPy's `__array_interface__`.

use std::ffi::c_void;

use super::foreign::{ExchangeError, ReadOnlyTensor, Stated, check_writable, lending};
use crate::device::Device;
use crate::error::Result;
use crate::stream::Stream;
use crate::tensor::{Layout, Tensor, TensorView, TensorViewMut};
use crate::typestr::{NumpyElement, TypeStr};

/// The version of the protocol that this library writes.
const VERSION: u32 = 3;

/// The number of the default stream, whose handle is null.
const DEFAULT_STREAM: usize = 1;

/// The number of the calling thread's own default stream.
const PER_THREAD_STREAM: usize = 2;

/// The entries of `__cuda_array_interface__`. It owns nothing: whoever made it keeps the array alive.
///
/// ```
/// use cuda_tiles_host::{Device, Tensor, cuda_array::CudaArrayInterface};
///
/// let device = Device::auto()?;
/// let mut x = Tensor::from_slice(&device, [2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let columns = x.view().slice(1, 1..3)?;
/// let described = CudaArrayInterface::of(&columns, &device.default_stream())?;
/// assert_eq!((&described.shape[..], &*described.typestr), (&[2, 2][..], "<f4"));
/// assert_eq!(described.strides, Some(vec![12, 4]));
/// assert!(described.read_only);
///
/// // SAFETY: the tensor `x` has the elements, and is not written to before the end of `theirs`.
/// let theirs = unsafe { described.to_read_only::<f32, 2>(&device, ())? };
/// assert_eq!(theirs.to_vec()?, [2.0, 3.0, 5.0, 6.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CudaArrayInterface {
    /// Extents of the axes, in elements.
    pub shape: Vec<i64>,
    /// Type of the elements: see [`TypeStr`].
    pub typestr: String,
    /// `data[0]`: address of the first element; 0 if there is none.
    pub address: usize,
    /// `data[1]`: whether the array may only be read.
    pub read_only: bool,
    /// Distance of neighbours along each axis, in *bytes*; `None` for row-major order.
    pub strides: Option<Vec<i64>>,
    /// Version of the protocol.
    pub version: u32,
    /// The stream that the array was last used on: 1 is the default stream, 2 the calling thread's own, other numbers are handles.
    /// `None` if nothing is to be waited for.
    pub stream: Option<usize>,
    /// Which elements are valid, where not all of them are. No tensor has such a mask.
    pub mask: Option<Box<CudaArrayInterface>>,
}

impl CudaArrayInterface {
    /// Describes a view that others may read. `stream` is the one they are told to wait for: what they give to it from now on, or let
    /// wait for it, finds the elements written.
    ///
    /// The tensor has to live, and must not be written to, until they are done with it. If they use it on `stream`, or let that wait for
    /// them, then the end of the tensor and later writes to it wait as well.
    ///
    /// # Errors
    /// [`Error::WrongDevice`](crate::Error::WrongDevice) if the stream is not one of the tensor's device;
    /// [`Error::Trapped`](crate::Error::Trapped).
    pub fn of<T: NumpyElement, const RANK: usize>(
        view: &TensorView<'_, T, RANK>,
        stream: &Stream,
    ) -> Result<Self> {
        let address = view.storage.lend(stream).map_err(lending)?;
        Ok(Self::described::<T, RANK>(address, &view.layout, true, stream))
    }

    /// Describes a view that others may read and write, as [`CudaArrayInterface::of`] does. Nobody else may use the tensor until they
    /// are done with it.
    ///
    /// # Errors
    /// As [`CudaArrayInterface::of`].
    pub fn of_mut<T: NumpyElement, const RANK: usize>(
        view: &mut TensorViewMut<'_, T, RANK>,
        stream: &Stream,
    ) -> Result<Self> {
        let address = view.storage.lend_mut(stream).map_err(lending)?;
        Ok(Self::described::<T, RANK>(address, &view.layout, false, stream))
    }

    fn described<T: NumpyElement, const RANK: usize>(
        address: *mut u8,
        layout: &Layout<RANK>,
        read_only: bool,
        stream: &Stream,
    ) -> Self {
        let bytes = size_of::<T>() as i64;
        let (shape, strides) = layout.lengths_and_strides();
        Self {
            shape: shape.iter().map(|&extent| extent as i64).collect(),
            typestr: TypeStr::of::<T>().to_string(),
            address: if layout.len() == 0 { 0 } else { address as usize + layout.offset * size_of::<T>() },
            read_only,
            strides: (!layout.is_row_major()).then(|| strides.iter().map(|stride| stride * bytes).collect()),
            version: VERSION,
            stream: stream.device().is_gpu().then(|| match stream.handle() as usize {
                0 => DEFAULT_STREAM,
                handle => handle,
            }),
            mask: None,
        }
    }

    /// Takes the array as a tensor, to be read and written. `owner` is what keeps the array alive, such as a reference to the Python
    /// object: it is dropped once, when all work given to streams with the tensor is done, maybe on another thread.
    ///
    /// Work on the tensor comes after the work that the array's `stream` was given before the call.
    ///
    /// # Errors
    /// [`ExchangeError`] if the array has another type or rank, may only be read, has a mask, is not aligned, or has strides that a
    /// tensor cannot have; [`Error::Trapped`](crate::Error::Trapped). The owner is dropped then.
    ///
    /// # Safety
    /// - Shape, strides and address lead to initialised elements of the type (a bool is 0 or 1) in memory that kernels on the device can
    ///   use, or of the host if the device is the CPU. They stay until the owner is dropped, and nobody else uses them. What lies
    ///   between the elements of an array with gaps counts as part of it: copies from and to the host go over it.
    /// - The stream is one of the device's primary context, and is not destroyed as long as the tensor exists.
    pub unsafe fn to_tensor<T: NumpyElement, const RANK: usize>(
        &self,
        device: &Device,
        owner: impl Send + 'static,
    ) -> Result<Tensor<T, RANK>, ExchangeError> {
        let stated = self.checked::<T>()?;
        check_writable(&stated, &stated.layout::<T, RANK>()?, self.read_only)?;
        // SAFETY: passed on to the caller.
        unsafe { self.tensor(&stated, device, owner) }
    }

    /// Takes the array as a tensor, to be read. Strides may repeat elements. See [`CudaArrayInterface::to_tensor`].
    ///
    /// # Errors
    /// As [`CudaArrayInterface::to_tensor`], but that the array need not be writable.
    ///
    /// # Safety
    /// As of [`CudaArrayInterface::to_tensor`], but that others may read the elements.
    pub unsafe fn to_read_only<T: NumpyElement, const RANK: usize>(
        &self,
        device: &Device,
        owner: impl Send + 'static,
    ) -> Result<ReadOnlyTensor<T, RANK>, ExchangeError> {
        let stated = self.checked::<T>()?;
        // SAFETY: passed on to the caller; nobody writes to the result.
        Ok(ReadOnlyTensor::new(unsafe { self.tensor(&stated, device, owner)? }))
    }

    fn checked<T: NumpyElement>(&self) -> Result<Stated<'_>, ExchangeError> {
        let refuse = |problem| Err(ExchangeError::Protocol { protocol: "CUDA Array Interface", problem });
        if self.version > VERSION {
            // A later version may say what must not be overlooked.
            return refuse(format!(
                "version {} is newer than {VERSION}, which is the last one that is known",
                self.version
            ));
        }
        if self.mask.is_some() {
            return refuse(
                "the array has a mask, which no tensor has: fill what is not valid first".to_owned(),
            );
        }
        let found: TypeStr = match self.typestr.parse() {
            Ok(found) => found,
            Err(problem) => return refuse(format!("{problem}")),
        };
        if !found.is::<T>() || found.is_swapped() {
            return Err(ExchangeError::ElementType { found: found.to_string(), wanted: T::NAME });
        }
        Ok(Stated { shape: &self.shape, strides: self.strides.as_deref(), step_bytes: 1 })
    }

    /// # Safety
    /// As [`CudaArrayInterface::to_tensor`]; nobody writes to the result if others may read it.
    unsafe fn tensor<T: NumpyElement, const RANK: usize>(
        &self,
        stated: &Stated<'_>,
        device: &Device,
        owner: impl Send + 'static,
    ) -> Result<Tensor<T, RANK>, ExchangeError> {
        let stream = match self.stream {
            None | Some(DEFAULT_STREAM) => device.default_stream(),
            Some(0) => {
                let problem =
                    "stream 0 is ambiguous, and the protocol forbids it: 1 is the default stream".to_owned();
                return Err(ExchangeError::Protocol { protocol: "CUDA Array Interface", problem });
            }
            Some(PER_THREAD_STREAM) => {
                // Which stream that is depends on the thread that asks.
                device.synchronize()?;
                device.default_stream()
            }
            // SAFETY: passed on to the caller.
            Some(handle) => unsafe { device.borrow_stream(handle as *mut c_void) },
        };
        // SAFETY: passed on to the caller.
        unsafe { stated.tensor(&stream, self.address as *mut T, owner) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn described() -> (CudaArrayInterface, Arc<Vec<i16>>) {
        let values = Arc::new((0..12).collect::<Vec<i16>>());
        let interface = CudaArrayInterface {
            shape: vec![2, 3],
            typestr: "<i2".to_owned(),
            address: values.as_ptr() as usize,
            read_only: true,
            strides: None,
            version: 3,
            stream: None,
            mask: None,
        };
        (interface, values)
    }

    fn read(interface: &CudaArrayInterface, owner: Arc<Vec<i16>>) -> Result<Vec<i16>, String> {
        // SAFETY: the arrays of these tests stay within the twelve values, or are refused.
        let tensor = unsafe { interface.to_read_only::<i16, 2>(&Device::cpu(), owner) };
        tensor.map(|tensor| tensor.to_vec().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_array_of_any_strides_is_read_and_its_owner_is_dropped() {
        let (mut interface, values) = described();
        assert_eq!(read(&interface, values.clone()), Ok(vec![0, 1, 2, 3, 4, 5]));
        interface.strides = Some(vec![2, 8]);
        interface.stream = Some(7);
        assert_eq!(read(&interface, values.clone()), Ok(vec![0, 4, 8, 1, 5, 9]));
        assert_eq!(Arc::strong_count(&values), 1);
    }

    #[test]
    fn what_is_described_can_be_written() {
        let device = Device::cpu();
        let mut ours = Tensor::<u32, 2>::zeros(&device, [2, 3]).unwrap();
        let mut columns = ours.view_mut().slice(1, 1..3).unwrap().transpose();
        let interface = CudaArrayInterface::of_mut(&mut columns, &device.default_stream()).unwrap();
        assert_eq!((&interface.shape[..], interface.strides.as_deref()), (&[2, 2][..], Some(&[4, 12][..])));
        assert_eq!((interface.stream, interface.read_only), (None, false));
        // SAFETY: `ours` lives longer and is used only after the end of `theirs`.
        let mut theirs = unsafe { interface.to_tensor::<u32, 2>(&device, ()) }.unwrap();
        theirs.copy_from_slice(&[1, 2, 3, 4]).unwrap();
        drop(theirs);
        assert_eq!(ours.to_vec().unwrap(), [0, 1, 3, 0, 2, 4]);
    }

    #[test]
    fn empty_arrays_have_no_address() {
        let device = Device::cpu();
        let ours = Tensor::<f64, 2>::zeros(&device, [0, 3]).unwrap();
        let interface = CudaArrayInterface::of(&ours.view(), &device.default_stream()).unwrap();
        assert_eq!((interface.address, &*interface.typestr), (0, "<f8"));
        // SAFETY: there are no elements.
        assert!(unsafe { interface.to_tensor::<f64, 2>(&device, ()) }.is_err(), "it may only be read");
        // SAFETY: as above.
        assert!(unsafe { interface.to_read_only::<f64, 2>(&device, ()) }.unwrap().is_empty());
    }

    #[test]
    fn what_is_no_tensor_is_refused_and_its_owner_is_dropped() {
        type Change = fn(&mut CudaArrayInterface);
        let cases: [(Change, &str); 8] = [
            (|array| array.version = 4, "CUDA Array Interface: version 4 is newer than 3"),
            (|array| array.mask = Some(Box::new(array.clone())), "the array has a mask"),
            (|array| array.typestr = "<u2".to_owned(), "elements of type <u2, but a tensor of i16"),
            (|array| array.typestr = ">i2".to_owned(), "elements of type >i2, but a tensor of i16"),
            (|array| array.typestr = "i2".to_owned(), "`i2` is no type of NumPy"),
            (|array| array.stream = Some(0), "stream 0 is ambiguous"),
            (|array| array.address += 1, "no multiple of 2 bytes"),
            (|array| array.strides = Some(vec![3, 1]), "a stride is no multiple of the element's size"),
        ];
        for (change, problem) in cases {
            let (mut interface, values) = described();
            change(&mut interface);
            let message = read(&interface, values.clone()).unwrap_err();
            assert!(message.contains(problem), "{message}");
            assert_eq!(Arc::strong_count(&values), 1, "{message}");
        }
    }
}
