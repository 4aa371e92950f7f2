//! Other GPUs whose memory this one uses.
//!
//! Kernels of a GPU reach the memory of another one if the driver has mapped it for them: by the contexts' peer access for memory of
//! its own, and by the access of the pool for what comes from the pool, as our tensors do.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{MutexGuard, PoisonError};

use cudarc::driver::sys::{self, CUdevice_P2PAttribute, CUresult};

use super::Gpu;
use crate::error::{Error, Result};

/// `CUmemAccessDesc`, whose fields have other names in other versions of the bindings.
#[repr(C)]
struct PoolAccess {
    location_type: u32,
    location: c_int,
    flags: u32,
}

const _: () = assert!(size_of::<PoolAccess>() == size_of::<sys::CUmemAccessDesc>());

impl PoolAccess {
    /// Reading and writing by a GPU.
    fn of(gpu: &Gpu) -> Self {
        // `CU_MEM_LOCATION_TYPE_DEVICE` and `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`.
        Self { location_type: 1, location: gpu.context.cu_device(), flags: 3 }
    }
}

impl Gpu {
    fn peers(&self) -> MutexGuard<'_, BTreeMap<usize, bool>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether hardware and driver let kernels of this GPU use memory of another one.
    pub(crate) fn can_access(&self, peer: &Gpu) -> Result<bool> {
        if self.ordinal() == peer.ordinal() {
            return Ok(true);
        }
        let mut can = 0;
        let (own, other) = (self.context.cu_device(), peer.context.cu_device());
        // SAFETY: both devices are ones that the driver has named, and it writes one number.
        let asked = unsafe { sys::cuDeviceCanAccessPeer(&mut can, own, other) };
        self.check("asking for peer access", asked.result())?;
        Ok(can != 0)
    }

    /// Lets kernels of this GPU use memory of another one, from now to the end of the process.
    pub(crate) fn enable_peer_access(&self, peer: &Gpu) -> Result<()> {
        let mut peers = self.peers();
        if self.ordinal() == peer.ordinal() || peers.contains_key(&peer.ordinal()) {
            return Ok(());
        }
        if !self.can_access(peer)? {
            return Err(Error::NoPeerAccess { device: self.to_string(), peer: peer.to_string() });
        }
        // Over NVLink there are atomic updates, over PCI Express not.
        let mut updates = 0;
        let native = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
        let (own, other) = (self.context.cu_device(), peer.context.cu_device());
        // SAFETY: both devices are ones that the driver has named, and it writes one number.
        let asked = unsafe { sys::cuDeviceGetP2PAttribute(&mut updates, native, own, other) };
        self.check("asking for atomics between GPUs", asked.result())?;
        self.bind()?;
        // SAFETY: the peer's context is its primary one, which stays to the end of the process.
        let enabled = unsafe { sys::cuCtxEnablePeerAccess(peer.context.cu_ctx(), 0) };
        if enabled != CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED {
            self.check("enabling peer access", enabled.result())?;
        }
        let access = PoolAccess::of(self);
        // SAFETY: the pool is the peer's, and the description, which is laid out as the driver's, is read during the call.
        let open = |pool| unsafe { sys::cuMemPoolSetAccess(pool, (&raw const access).cast(), 1) }.result();
        peer.with_pool("opening the pool of memory to another GPU", open)?;
        peers.insert(peer.ordinal(), updates != 0);
        Ok(())
    }

    /// Whether kernels of this GPU may use memory of the other one, and update it atomically if they are to do that.
    pub(crate) fn reaches(&self, other: &Gpu, updates: bool) -> bool {
        let allows = |&can_update: &bool| can_update || !updates;
        self.ordinal() == other.ordinal() || self.peers().get(&other.ordinal()).is_some_and(allows)
    }
}
