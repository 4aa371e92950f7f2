//! Owners of DLPack's structs.

use std::ffi::c_void;
use std::fmt;
use std::mem;
use std::ptr::{self, NonNull};
use std::slice;

use super::abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLTensor, READ_ONLY, SUBBYTE_PADDED,
    VERSION,
};
use super::element::{DlpackElement, describe};
use crate::exchange::foreign::ExchangeError;
use crate::tensor::Layout;

/// An array that is on its way from one library to another. It calls the struct's deleter when it is dropped, unless somebody takes it:
/// [`Tensor::from_dlpack`](crate::Tensor::from_dlpack), or C by [`ManagedTensor::into_raw`].
pub struct ManagedTensor {
    handle: Handle,
}

#[derive(Clone, Copy)]
enum Handle {
    Versioned(NonNull<DLManagedTensorVersioned>),
    Unversioned(NonNull<DLManagedTensor>),
}

// SAFETY: the struct is this value's own, and its maker vouches that the deleter may run on any thread. One that this module made
// drops a value that is `Send`.
unsafe impl Send for ManagedTensor {}
// SAFETY: through a shared reference the struct is only read.
unsafe impl Sync for ManagedTensor {}

/// What an array's struct points to, and the struct itself, in one allocation.
struct Parts<M, O> {
    managed: M,
    // Vectors, since a box that moves may invalidate pointers to what it holds.
    _shape: Vec<i64>,
    _strides: Vec<i64>,
    _owner: O,
}

impl ManagedTensor {
    /// Takes over what a producer of DLPack 1 made. An array of a version with another major number is given back to it.
    ///
    /// # Errors
    /// [`ExchangeError::Protocol`] if the major version is not 1, or the shape is missing.
    ///
    /// # Safety
    /// - The pointer is one to a `DLManagedTensorVersioned` that is the caller's own to consume. All of it is as `dlpack.h` says, and
    ///   the deleter may be called on any thread.
    /// - Shape, strides, data address and offset lead to initialised elements of the data type (a bool is 0 or 1) in memory of
    ///   the device, which stay until the deleter is called. Until then nobody else writes to them. If the array is taken as a
    ///   [`Tensor`](crate::Tensor) and written to, nobody else reads them either. What lies between the elements of an array
    ///   with gaps counts as part of it: copies from and to the host go over it.
    pub unsafe fn from_raw(pointer: NonNull<DLManagedTensorVersioned>) -> Result<Self, ExchangeError> {
        let managed = Self { handle: Handle::Versioned(pointer) };
        // SAFETY: the caller vouches for the struct; its first fields are the same in every version.
        let version = unsafe { (*pointer.as_ptr()).version };
        match version.major {
            1 => managed.checked(),
            major => Err(ExchangeError::Protocol {
                protocol: "DLPack",
                problem: format!(
                    "the array is of version {major}.{}, and only version 1 is known",
                    version.minor
                ),
            }),
        }
    }

    /// Takes over what a producer of DLPack before version 1 made. It cannot say that an array may only be read.
    ///
    /// # Errors
    /// [`ExchangeError::Protocol`] if the shape is missing.
    ///
    /// # Safety
    /// As [`ManagedTensor::from_raw`], of a `DLManagedTensor`.
    pub unsafe fn from_raw_unversioned(pointer: NonNull<DLManagedTensor>) -> Result<Self, ExchangeError> {
        Self { handle: Handle::Unversioned(pointer) }.checked()
    }

    fn checked(self) -> Result<Self, ExchangeError> {
        let DLTensor { ndim, shape, .. } = self.tensor();
        if *ndim < 0 || (*ndim > 0 && shape.is_null()) {
            let problem = format!("the array has {ndim} axes and the shape at {:p}", *shape);
            return Err(ExchangeError::Protocol { protocol: "DLPack", problem });
        }
        Ok(self)
    }

    /// An array of this library.
    pub(super) fn new<T: DlpackElement, const RANK: usize>(
        address: *mut u8,
        layout: &Layout<RANK>,
        device: DLDevice,
        is_read_only: bool,
        owner: impl Send + 'static,
    ) -> Self {
        let tensor = |shape: &mut [i64], strides: &mut [i64]| DLTensor {
            // Several libraries do not know of the offset: it stays 0.
            data: address.wrapping_add(layout.offset * size_of::<T>()).cast::<c_void>(),
            device,
            ndim: RANK as i32,
            dtype: T::DATA_TYPE,
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let (shape, strides) = layout.lengths_and_strides();
        let flags = if is_read_only { READ_ONLY } else { 0 };
        Self::versioned(&shape.map(|extent| extent as i64), &strides, flags, owner, tensor)
    }

    /// A struct of our own, which drops `owner` at its end.
    fn versioned<O: Send + 'static>(
        shape: &[i64],
        strides: &[i64],
        flags: u64,
        owner: O,
        tensor: impl FnOnce(&mut [i64], &mut [i64]) -> DLTensor,
    ) -> Self {
        let (mut shape, mut strides) = (shape.to_vec(), strides.to_vec());
        let dl_tensor = tensor(&mut shape, &mut strides);
        let managed = DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx: ptr::null_mut(),
            deleter: Some(delete::<DLManagedTensorVersioned, O>),
            flags,
            dl_tensor,
        };
        let parts =
            Box::into_raw(Box::new(Parts { managed, _shape: shape, _strides: strides, _owner: owner }));
        // SAFETY: the box was just made.
        let pointer = unsafe {
            (*parts).managed.manager_ctx = parts.cast();
            NonNull::new_unchecked(&raw mut (*parts).managed)
        };
        Self { handle: Handle::Versioned(pointer) }
    }

    /// The array for C. Its deleter must be called once, on any thread.
    pub fn into_raw(self) -> NonNull<DLManagedTensorVersioned> {
        match self.handle {
            Handle::Versioned(pointer) => {
                mem::forget(self);
                pointer
            }
            Handle::Unversioned(_) => {
                let array = self.tensor();
                let (shape, strides) = (self.shape().to_vec(), self.strides().map(<[i64]>::to_vec));
                let (data, device, dtype, byte_offset) =
                    (array.data, array.device, array.dtype, array.byte_offset);
                let strides = strides.unwrap_or_else(|| row_major(&shape));
                let tensor = |shape: &mut [i64], strides: &mut [i64]| DLTensor {
                    data,
                    device,
                    ndim: shape.len() as i32,
                    dtype,
                    shape: shape.as_mut_ptr(),
                    strides: strides.as_mut_ptr(),
                    byte_offset,
                };
                Self::versioned(&shape, &strides, 0, self, tensor).into_raw()
            }
        }
    }

    /// The array for C, as it was before DLPack 1.0. Its deleter must be called once, on any thread.
    ///
    /// # Errors
    /// [`ExchangeError::ReadOnly`] if the array may only be read, which the older struct cannot say.
    pub fn into_raw_unversioned(self) -> Result<NonNull<DLManagedTensor>, ExchangeError> {
        match self.handle {
            Handle::Unversioned(pointer) => {
                mem::forget(self);
                Ok(pointer)
            }
            Handle::Versioned(_) if self.is_read_only() => Err(ExchangeError::ReadOnly),
            Handle::Versioned(_) => {
                let DLTensor { data, device, ndim, dtype, shape, strides, byte_offset } = *self.tensor();
                // Shape and strides are those of the struct that is kept.
                let dl_tensor = DLTensor { data, device, ndim, dtype, shape, strides, byte_offset };
                let managed = DLManagedTensor {
                    dl_tensor,
                    manager_ctx: ptr::null_mut(),
                    deleter: Some(delete::<DLManagedTensor, ManagedTensor>),
                };
                let (_shape, _strides) = (Vec::new(), Vec::new());
                let parts = Box::into_raw(Box::new(Parts { managed, _shape, _strides, _owner: self }));
                // SAFETY: the box was just made.
                Ok(unsafe {
                    (*parts).managed.manager_ctx = parts.cast();
                    NonNull::new_unchecked(&raw mut (*parts).managed)
                })
            }
        }
    }

    /// Where the elements are.
    pub fn device(&self) -> DLDevice {
        self.tensor().device
    }

    /// Type of the elements.
    pub fn data_type(&self) -> DLDataType {
        self.tensor().dtype
    }

    /// Extents of the axes, in elements.
    pub fn shape(&self) -> &[i64] {
        let DLTensor { ndim, shape, .. } = self.tensor();
        match *ndim {
            0 => &[],
            // SAFETY: the shape of an array has as many numbers as axes, and is not null, as was checked.
            count => unsafe { slice::from_raw_parts(*shape, count as usize) },
        }
    }

    /// Distance of neighbours along each axis, in elements; `None` for row-major order.
    pub fn strides(&self) -> Option<&[i64]> {
        let DLTensor { ndim, strides, .. } = self.tensor();
        // SAFETY: the strides of an array, where it states them, are as many as its axes.
        (!strides.is_null()).then(|| unsafe { slice::from_raw_parts(*strides, *ndim as usize) })
    }

    /// Whether the array may only be read.
    pub fn is_read_only(&self) -> bool {
        self.flags() & READ_ONLY != 0
    }

    /// Whether elements of less than a byte take a whole one.
    pub(super) fn is_padded(&self) -> bool {
        self.flags() & SUBBYTE_PADDED != 0
    }

    /// Address of the first element.
    pub(super) fn address(&self) -> *mut u8 {
        let DLTensor { data, byte_offset, .. } = self.tensor();
        data.cast::<u8>().wrapping_add(*byte_offset as usize)
    }

    fn flags(&self) -> u64 {
        match self.handle {
            // SAFETY: the struct is this value's own, until it is dropped.
            Handle::Versioned(pointer) => unsafe { pointer.as_ref().flags },
            Handle::Unversioned(_) => 0,
        }
    }

    fn tensor(&self) -> &DLTensor {
        // SAFETY: the struct is this value's own, until it is dropped.
        unsafe {
            match &self.handle {
                Handle::Versioned(pointer) => &pointer.as_ref().dl_tensor,
                Handle::Unversioned(pointer) => &pointer.as_ref().dl_tensor,
            }
        }
    }
}

impl Drop for ManagedTensor {
    fn drop(&mut self) {
        // SAFETY: the struct is this value's own and is not used again. `into_raw` forgets the value.
        unsafe {
            match self.handle {
                Handle::Versioned(pointer) => {
                    if let Some(deleter) = pointer.as_ref().deleter {
                        deleter(pointer.as_ptr());
                    }
                }
                Handle::Unversioned(pointer) => {
                    if let Some(deleter) = pointer.as_ref().deleter {
                        deleter(pointer.as_ptr());
                    }
                }
            }
        }
    }
}

impl fmt::Debug for ManagedTensor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (elements, device) = (describe(self.data_type()), self.device().describe());
        write!(formatter, "ManagedTensor of {elements}, of shape {:?} in {device}", self.shape())
    }
}

/// A struct of C that says who made it.
trait Managed {
    fn context(&self) -> *mut c_void;
}

impl Managed for DLManagedTensor {
    fn context(&self) -> *mut c_void {
        self.manager_ctx
    }
}

impl Managed for DLManagedTensorVersioned {
    fn context(&self) -> *mut c_void {
        self.manager_ctx
    }
}

/// The deleter of this module's own structs. A panic of an owner's end does not reach C: `extern "C"` aborts at it.
///
/// # Safety
/// The struct is the one in a leaked `Parts<M, O>`, whose address it has, and nobody uses it again.
unsafe extern "C" fn delete<M: Managed, O>(managed: *mut M) {
    // SAFETY: the caller vouches for it.
    drop(unsafe { Box::from_raw((*managed).context().cast::<Parts<M, O>>()) });
}

/// Strides of an array whose elements lie one after the other. Of what is too large to be one they are of no use to anybody.
fn row_major(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1_i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis].max(1));
    }
    strides
}
