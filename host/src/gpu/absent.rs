//! What stands in for the GPU back end where the feature `cudarc` is off: types without values, and one error.

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, RwLockReadGuard};
use std::time::Duration;

use cuda_tiles::launch::Description;
use cuda_tiles::memory::TensorMap;

use crate::access::Access;
use crate::artifact::{Artifact, Image};
use crate::code::Code;
use crate::error::{Error, Result};
use crate::owner::Owner;
use crate::parameters::EntryParameters;
use crate::pool::PoolMemory;
use crate::tensor_maps::{MapDescription, MapKeeper};
use crate::warm_up::Progress;

pub(crate) enum Gpu {}

#[derive(Clone)]
pub(crate) struct GpuStream(&'static Gpu);

pub(crate) enum GpuEvent {}

pub(crate) struct GpuMemory(&'static Gpu);

pub(crate) enum GpuPinned {}

/// The maps for launches on a stream.
pub(crate) struct StreamMaps<'stream>(pub(crate) &'static Gpu, pub(crate) &'stream GpuStream);

pub(crate) struct GpuOperation;

pub(crate) enum GpuGraph {}

pub(crate) struct GraphMaps(&'static Gpu);

impl Gpu {
    pub(crate) fn open(_ordinal: usize) -> Result<&'static Gpu> {
        let reason = "built without the feature `cudarc` of cuda-tiles-host".to_owned();
        Err(Error::NoDriver { reason })
    }

    pub(crate) fn count() -> Result<usize> {
        Ok(0)
    }

    pub(crate) fn can_access(&self, _peer: &Gpu) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn enable_peer_access(&self, _peer: &Gpu) -> Result<()> {
        match *self {}
    }

    pub(crate) fn reaches(&self, _other: &Gpu, _updates: bool) -> bool {
        match *self {}
    }

    pub(crate) fn ordinal(&self) -> usize {
        match *self {}
    }

    pub(crate) fn name(&self) -> &str {
        match *self {}
    }

    pub(crate) fn capability(&self) -> (u32, u32) {
        match *self {}
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        match *self {}
    }

    pub(crate) fn shared_memory_limit(&self) -> u32 {
        match *self {}
    }

    pub(crate) fn memory(&self) -> Result<(usize, usize)> {
        match *self {}
    }

    pub(crate) fn pool(&self) -> Result<Option<PoolMemory>> {
        match *self {}
    }

    pub(crate) fn set_release_threshold(&self, _bytes: u64) -> Result<()> {
        match *self {}
    }

    pub(crate) fn trim_pool(&self, _kept: usize) -> Result<()> {
        match *self {}
    }

    pub(crate) fn load(&self, _artifact: &'static Artifact) -> Result<()> {
        match *self {}
    }

    pub(crate) fn warm_up(
        &self,
        _artifact: &'static Artifact,
        _progress: &mut dyn FnMut(&Progress),
    ) -> Result<()> {
        match *self {}
    }

    pub(crate) fn warm_up_kernels(
        &self,
        _kernels: &[&Description],
        _progress: &mut dyn FnMut(&Progress),
    ) -> Result<()> {
        match *self {}
    }

    pub(crate) fn code_of(&self, _kernel: &Description) -> Result<Code> {
        match *self {}
    }

    pub(crate) fn threads(&self, _kernel: &Description) -> Result<u32> {
        match *self {}
    }

    pub(crate) fn image_of(&self, _kernel: &Description) -> Result<&'static Image> {
        match *self {}
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn hold_tensor_maps(&self) -> Result<RwLockReadGuard<'_, ()>> {
        match *self {}
    }

    pub(crate) fn default_stream(&self) -> &GpuStream {
        match *self {}
    }

    pub(crate) fn new_stream(&self) -> Result<GpuStream> {
        match *self {}
    }

    /// # Safety
    /// None is needed: there is no GPU to call this on.
    pub(crate) unsafe fn borrowed_stream(&self, _handle: *mut c_void) -> GpuStream {
        match *self {}
    }
}

impl MapKeeper for StreamMaps<'_> {
    fn tensor_map(&self, _description: &MapDescription) -> Result<*const TensorMap> {
        let Self(gpu, GpuStream(_)) = *self;
        match *gpu {}
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, _formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl fmt::Display for GpuStream {
    fn fmt(&self, _formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {}
    }
}

impl GpuStream {
    pub(crate) fn raw_handle(&self) -> *mut c_void {
        match *self.0 {}
    }

    pub(crate) fn is(&self, _other: &GpuStream) -> bool {
        match *self.0 {}
    }

    pub(crate) fn synchronize(&self, _gpu: &Gpu) -> Result<()> {
        match *self.0 {}
    }

    pub(crate) fn record(&self, _gpu: &Gpu) -> Result<GpuEvent> {
        match *self.0 {}
    }

    pub(crate) fn wait(&self, _gpu: &Gpu, _event: &GpuEvent) -> Result<()> {
        match *self.0 {}
    }

    /// # Safety
    /// None is needed: there is no stream to call this on.
    pub(crate) unsafe fn launch(
        &self,
        _gpu: &Gpu,
        _kernel: &Description,
        _grid: [u32; 3],
        _parameters: &mut [*mut c_void],
    ) -> Result<()> {
        match *self.0 {}
    }
}

impl GpuEvent {
    pub(crate) fn is_done(&self, _gpu: &Gpu) -> Result<bool> {
        match *self {}
    }

    pub(crate) fn synchronize(&self, _gpu: &Gpu) -> Result<()> {
        match *self {}
    }

    pub(crate) fn elapsed_since(&self, _gpu: &Gpu, _start: &GpuEvent) -> Result<Duration> {
        match *self {}
    }
}

impl GpuMemory {
    pub(crate) fn filled(gpu: &'static Gpu, _bytes: usize, _fill: u8) -> Result<Self> {
        match *gpu {}
    }

    pub(crate) fn captured(
        gpu: &'static Gpu,
        _stream: &GpuStream,
        _bytes: usize,
        _fill: Option<u8>,
    ) -> Result<Option<Self>> {
        match *gpu {}
    }

    pub(crate) fn copied(gpu: &'static Gpu, _source: &[u8]) -> Result<Self> {
        match *gpu {}
    }

    /// # Safety
    /// None is needed: there is no GPU to have memory.
    pub(crate) unsafe fn foreign(
        gpu: &'static Gpu,
        _lender: &GpuStream,
        _address: *mut u8,
        _bytes: usize,
        _owner: Option<Owner>,
    ) -> Self {
        match *gpu {}
    }

    pub(crate) fn gpu(&self) -> &'static Gpu {
        match *self.0 {}
    }

    pub(crate) fn bytes(&self) -> usize {
        match *self.0 {}
    }

    pub(crate) fn address(&self) -> *mut u8 {
        match *self.0 {}
    }

    pub(crate) fn bytes(&self) -> usize {
        match *self.0 {}
    }

    pub(crate) fn enter(&self, _stream: &GpuStream, _access: Access) -> Result<()> {
        match *self.0 {}
    }

    pub(crate) fn write(&self, _offset: usize, _source: &[u8]) -> Result<()> {
        match *self.0 {}
    }

    /// # Safety
    /// None is needed: there is no memory to call this on.
    pub(crate) unsafe fn read(&self, _offset: usize, _target: *mut u8, _bytes: usize) -> Result<()> {
        match *self.0 {}
    }

    pub(crate) fn copy_of(gpu: &'static Gpu, _source: &Self) -> Result<Self> {
        match *gpu {}
    }

    pub(crate) fn copy_from(
        &self,
        _stream: &GpuStream,
        _offset: usize,
        _source: &Self,
        _source_offset: usize,
        _bytes: usize,
    ) -> Result<()> {
        match *self.0 {}
    }

    pub(crate) fn write_pinned(&self, _stream: &GpuStream, _source: &GpuPinned) -> Result<()> {
        match *self.0 {}
    }

    pub(crate) fn read_pinned(&self, _stream: &GpuStream, _target: &GpuPinned) -> Result<()> {
        match *self.0 {}
    }
}

impl GpuPinned {
    pub(crate) fn zeroed(gpu: &'static Gpu, _bytes: usize) -> Result<Self> {
        match *gpu {}
    }

    pub(crate) fn gpu(&self) -> &'static Gpu {
        match *self {}
    }

    pub(crate) fn address(&self) -> *mut u8 {
        match *self {}
    }

    pub(crate) fn bytes(&self) -> usize {
        match *self {}
    }

    pub(crate) fn settled(&self) -> Result<*mut u8> {
        match *self {}
    }
}

impl GpuOperation {
    pub(crate) fn launch(
        gpu: &Gpu,
        _kernel: &Description,
        _grid: [u32; 3],
        _parameters: EntryParameters,
    ) -> Result<Self> {
        match *gpu {}
    }

    pub(crate) fn copy(_source: *const u8, _target: *mut u8, _bytes: usize) -> Self {
        Self
    }
}

impl GpuGraph {
    pub(crate) fn new(gpu: &'static Gpu, _operations: Vec<GpuOperation>) -> Result<Self> {
        match *gpu {}
    }

    pub(crate) fn update(&mut self, _operations: Vec<GpuOperation>) -> Result<()> {
        match *self {}
    }

    /// # Safety
    /// None is needed: there is no graph to call this on.
    pub(crate) unsafe fn launch<'memory>(
        &mut self,
        _stream: &GpuStream,
        _memory: impl Iterator<Item = (&'memory GpuMemory, Access)>,
        _pinned: &mut Vec<&'memory GpuPinned>,
        _maps: &GraphMaps,
    ) -> Result<()> {
        match *self {}
    }
}

impl GraphMaps {
    pub(crate) fn new(gpu: &'static Gpu) -> Arc<Self> {
        match *gpu {}
    }
}

impl MapKeeper for GraphMaps {
    fn tensor_map(&self, _description: &MapDescription) -> Result<*const TensorMap> {
        match *self.0 {}
    }
}
