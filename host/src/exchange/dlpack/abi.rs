//! The structs of `dlpack.h`, version 1.1, as C lays them out. Their layout is stable: a new major version changes
//! only what stands behind `deleter` in [`DLManagedTensorVersioned`].

use std::ffi::c_void;

/// The version of the structs that this library writes.
pub(super) const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 1 };

/// `DLDeviceType`: where memory is.
pub mod device_type {
    /// `kDLCPU`: memory of the host.
    pub const CPU: i32 = 1;
    /// `kDLCUDA`: memory of a GPU.
    pub const CUDA: i32 = 2;
    /// `kDLCUDAHost`: page-locked memory of the host.
    pub const CUDA_HOST: i32 = 3;
    /// `kDLROCM`: memory of a GPU of AMD's.
    pub const ROCM: i32 = 10;
    /// `kDLCUDAManaged`: memory that host and GPUs share.
    pub const CUDA_MANAGED: i32 = 13;
}

/// `DLPACK_FLAG_BITMASK_READ_ONLY`.
pub(super) const READ_ONLY: u64 = 1;
/// `DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED`: each element of less than a byte takes a whole one.
pub(super) const SUBBYTE_PADDED: u64 = 1 << 2;

/// Version of the protocol.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLPackVersion {
    /// A change breaks readers.
    pub major: u32,
    /// A change adds what readers may ignore.
    pub minor: u32,
}

/// Where the elements are.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLDevice {
    /// `DLDeviceType`, one of [`device_type`](crate::dlpack::device_type) or another one.
    pub device_type: i32,
    /// Number of the device; 0 for the CPU.
    pub device_id: i32,
}

impl DLDevice {
    /// The device's memory in words.
    pub(super) fn describe(self) -> String {
        let Self { device_type: place, device_id } = self;
        match place {
            device_type::CPU => "memory of the CPU".to_owned(),
            device_type::CUDA_HOST => "page-locked memory of the CPU".to_owned(),
            device_type::CUDA => format!("memory of GPU {device_id}"),
            device_type::CUDA_MANAGED => format!("managed memory of GPU {device_id}"),
            _ => format!("memory of device {device_id} of DLPack's type {place}"),
        }
    }
}

/// Type of the elements.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLDataType {
    /// `DLDataTypeCode`: 0 is signed, 1 unsigned, 2 IEEE float, 4 bfloat, 6 bool; from 7 on, small floats.
    pub code: u8,
    /// Bits of one number.
    pub bits: u8,
    /// Numbers in one element.
    pub lanes: u16,
}

/// An array that somebody else owns.
#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    /// Address that `byte_offset` counts from.
    pub data: *mut c_void,
    /// Where the elements are.
    pub device: DLDevice,
    /// Number of axes.
    pub ndim: i32,
    /// Type of the elements.
    pub dtype: DLDataType,
    /// Extents of the axes, in elements.
    pub shape: *mut i64,
    /// Distance of neighbours along each axis, in elements; null for row-major order.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// An array with its owner, as it was before version 1.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The array.
    pub dl_tensor: DLTensor,
    /// The owner's own.
    pub manager_ctx: *mut c_void,
    /// Ends the array. Null if nothing is to be done.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// An array with its owner.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// The version that the struct was written by.
    pub version: DLPackVersion,
    /// The owner's own.
    pub manager_ctx: *mut c_void,
    /// Ends the array. Null if nothing is to be done.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// Bit 0: the array may only be read. Bit 1: it is a copy. Bit 2: elements of less than a byte take a whole one.
    pub flags: u64,
    /// The array.
    pub dl_tensor: DLTensor,
}
