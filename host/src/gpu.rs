//! The GPU back end, on the driver API through `cudarc`.
//!
//! Only `cudarc`'s bindings, contexts, streams and events are used. Its `CudaSlice` keeps *one* event for all readers
//! of a buffer, so that of two reads on two streams only the later one holds back a writer. [`memory`] therefore
//! keeps its own account of who uses what, which needs no event at all until a second stream comes in.

mod capture;
mod device;
mod driver;
mod failure;
mod graph;
mod loaded;
mod memory;
mod messages;
mod module;
mod peers;
mod pinned;
mod pool;
mod release;
mod reports;
mod stream;
mod tensor_maps;

pub(crate) use device::Gpu;
pub(crate) use graph::{GpuGraph, GpuOperation, GraphMaps};
pub(crate) use memory::GpuMemory;
pub(crate) use pinned::GpuPinned;
pub(crate) use stream::{GpuEvent, GpuStream};
pub(crate) use tensor_maps::StreamMaps;
