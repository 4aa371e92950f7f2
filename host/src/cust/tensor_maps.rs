//! Tensor maps in the memory of `cust`'s current context.

use std::sync::{Mutex, PoisonError, RwLockReadGuard};

use ::cust::context::CurrentContext;
use ::cust::memory::{CopyDestination, DeviceBuffer};
use cuda_tiles::memory::TensorMap;

use super::failure::failure;
use crate::error::{Error, Result};
use crate::tensor_maps::{
    Encoding, MapDescription, MapDevice, MapElement, MapKeeper, Promotion, TensorMaps, Words,
};

/// The major number of the first compute capability with TMA (PTX ISA, "cp.async.bulk.tensor").
const FIRST_WITH_TMA: u32 = 9;

/// The maps of one context's device. They are freed with it.
pub(super) struct Maps {
    maps: TensorMaps,
    memory: Memory,
}

/// The device, and what it has lent to the maps.
struct Memory {
    device: String,
    has_tma: bool,
    chunks: Mutex<Vec<DeviceBuffer<u8>>>,
}

/// A map, aligned as the driver wants it.
#[repr(C, align(64))]
struct Aligned(Words);

impl Maps {
    /// No maps yet, on a device of this name whose compute capability has this major number.
    pub(super) fn new(device: &str, major: u32) -> Self {
        let has_tma = major >= FIRST_WITH_TMA;
        let memory = Memory { device: device.to_owned(), has_tma, chunks: Mutex::default() };
        Self { maps: TensorMaps::default(), memory }
    }

    /// Keeps the maps that a launch finds from being dropped.
    pub(super) fn hold(&self) -> Result<RwLockReadGuard<'_, ()>> {
        self.maps.hold(&self.memory)
    }
}

impl MapKeeper for Maps {
    fn tensor_map(&self, description: &MapDescription) -> Result<*const TensorMap> {
        match self.memory.has_tma {
            true => self.maps.get(&self.memory, description),
            false => Ok(std::ptr::null()),
        }
    }
}

impl Memory {
    fn check<T>(&self, operation: &'static str, result: Result<T, ::cust::error::CudaError>) -> Result<T> {
        result.map_err(|error| failure(&self.device, operation, error))
    }
}

impl MapDevice for Memory {
    fn encode(&self, encoding: &Encoding) -> Result<Words> {
        let mut map = Aligned([0; 16]);
        let steps = [1_u32; 3];
        // SAFETY: the map and the arrays live through the call and have the lengths that the driver wants for three axes,
        // of which it only reads the arrays; the address is not followed.
        let code = unsafe {
            cuda_tiles_cuda_shim::cuTensorMapEncodeTiled(
                (&raw mut map).cast(),
                data_type(encoding.element),
                3,
                encoding.address as *mut _,
                encoding.extents.as_ptr().cast_mut().cast(),
                encoding.pitches.as_ptr().cast_mut().cast(),
                encoding.piece.as_ptr().cast_mut().cast(),
                steps.as_ptr().cast_mut().cast(),
                0,
                swizzle(encoding.swizzle_bytes),
                promotion(encoding.promotion()),
                0,
            )
        };
        match code {
            0 => Ok(map.0),
            code => Err(Error::Driver {
                device: self.device.clone(),
                operation: "encoding a tensor map",
                code: format!("error {code}"),
            }),
        }
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let chunk = self.check("allocating memory for tensor maps", DeviceBuffer::zeroed(bytes))?;
        let address = chunk.as_device_ptr().as_raw();
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
        Ok(address)
    }

    fn upload(&self, address: u64, maps: &[Words]) -> Result<()> {
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = maps.as_flattened().iter().flat_map(|word| word.to_ne_bytes()).collect();
        for chunk in chunks.iter() {
            let offset = address.wrapping_sub(chunk.as_device_ptr().as_raw()) as usize;
            if offset < chunk.len() {
                let mut room = chunk.index(offset..offset + bytes.len());
                self.check("copying tensor maps", room.copy_from(&bytes))?;
            }
        }
        // The copy itself may come back before its end.
        self.settle()
    }

    fn settle(&self) -> Result<()> {
        self.check("waiting for the GPU", CurrentContext::synchronize())
    }
}

/// The driver's number of an element type (`CUtensorMapDataType`).
fn data_type(element: MapElement) -> i32 {
    match element {
        MapElement::U8 => 0,
        MapElement::U16 => 1,
        MapElement::U32 => 2,
        MapElement::I32 => 3,
        MapElement::U64 => 4,
        MapElement::I64 => 5,
        MapElement::F16 => 6,
        MapElement::F32 => 7,
        MapElement::F64 => 8,
        MapElement::Bf16 => 9,
        MapElement::Tf32 => 11,
    }
}

/// The driver's numbers (`CUtensorMapL2promotion`).
fn promotion(promotion: Promotion) -> i32 {
    match promotion {
        Promotion::To128Bytes => 2,
        Promotion::To256Bytes => 3,
    }
}

/// The driver's number of a pattern (`CUtensorMapSwizzle`).
fn swizzle(bytes: u32) -> i32 {
    match bytes {
        128 => 3,
        64 => 2,
        32 => 1,
        _ => 0,
    }
}
