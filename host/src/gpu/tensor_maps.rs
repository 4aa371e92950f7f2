//! Tensor maps by the driver, for GPUs with TMA.

use std::ffi::c_void;
use std::sync::RwLockReadGuard;

use cuda_tiles::memory::TensorMap;
use cudarc::driver::sys::{
    CUtensorMap, CUtensorMapDataType as DataType, CUtensorMapFloatOOBfill as Fill,
    CUtensorMapInterleave as Interleave, CUtensorMapL2promotion as L2Promotion,
    CUtensorMapSwizzle as Swizzle,
};
use cudarc::driver::{result, sys};

use super::capture::Relaxed;
use super::{Gpu, GpuStream};
use crate::error::Result;
use crate::tensor_maps::{Encoding, MapDescription, MapDevice, MapElement, MapKeeper, Promotion, Words};

/// The major number of the first compute capability with TMA (PTX ISA, "cp.async.bulk.tensor").
const FIRST_WITH_TMA: u32 = 9;

impl Gpu {
    /// Keeps the tensor maps that a launch finds from being dropped, until it has been given to its stream.
    pub(crate) fn hold_tensor_maps(&self) -> Result<RwLockReadGuard<'_, ()>> {
        self.tensor_maps.hold(self)
    }

    /// Whether the GPU has TMA, which reads maps.
    pub(super) fn has_tensor_maps(&self) -> bool {
        self.capability().0 >= FIRST_WITH_TMA
    }
}

/// The tensor maps for launches on a stream.
pub(crate) struct StreamMaps<'stream>(pub(crate) &'static Gpu, pub(crate) &'stream GpuStream);

impl MapKeeper for StreamMaps<'_> {
    fn tensor_map(&self, description: &MapDescription) -> Result<*const TensorMap> {
        let Self(gpu, stream) = *self;
        if !gpu.has_tensor_maps() {
            return Ok(std::ptr::null());
        }
        gpu.bind()?;
        match stream.is_captured() {
            true => gpu.captured_maps.get(gpu, description),
            false => gpu.tensor_maps.get(gpu, description),
        }
    }
}

impl MapDevice for Gpu {
    fn encode(&self, encoding: &Encoding) -> Result<Words> {
        let mut map = CUtensorMap { opaque: [0; 16] };
        // SAFETY: the map and the arrays live through the call and have the lengths that the driver wants for three axes;
        // the address is not followed.
        let encoded = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut map,
                data_type(encoding.element),
                3,
                encoding.address as *mut c_void,
                encoding.extents.as_ptr(),
                encoding.pitches.as_ptr(),
                encoding.piece.as_ptr(),
                [1; 3].as_ptr(),
                Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle(encoding.swizzle_bytes),
                promotion(encoding.promotion()),
                Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        self.check("encoding a tensor map", encoded.result())?;
        Ok(map.opaque)
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        self.bind()?;
        let _relaxed = Relaxed::new();
        // SAFETY: allocating changes nothing that exists. The memory is never freed, as the GPU stays open.
        self.check("allocating memory for tensor maps", unsafe { result::malloc_sync(bytes) })
    }

    fn upload(&self, address: u64, maps: &[Words]) -> Result<()> {
        const OPERATION: &str = "copying tensor maps";
        self.bind()?;
        let _relaxed = Relaxed::new();
        let stream = self.upload_stream()?;
        // SAFETY: the address is that of room for the maps, which no kernel uses yet; `maps` outlives the copy, which is
        // waited for.
        let copied = unsafe { result::memcpy_htod_async(address, maps.as_flattened(), stream.cu_stream()) };
        self.check(OPERATION, copied)?;
        self.check(OPERATION, stream.synchronize())
    }

    fn settle(&self) -> Result<()> {
        Gpu::settle(self)
    }
}

fn data_type(element: MapElement) -> DataType {
    match element {
        MapElement::U8 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        MapElement::U16 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        MapElement::U32 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        MapElement::I32 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
        MapElement::U64 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        MapElement::I64 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT64,
        MapElement::F16 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        MapElement::F32 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        MapElement::F64 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        MapElement::Bf16 => DataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        MapElement::Tf32 => DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    }
}

fn promotion(promotion: Promotion) -> L2Promotion {
    match promotion {
        Promotion::To128Bytes => L2Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        Promotion::To256Bytes => L2Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    }
}

fn swizzle(bytes: u32) -> Swizzle {
    match bytes {
        128 => Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        64 => Swizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        32 => Swizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        _ => Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
    }
}
