//! The driver's pool of memory, out of which buffers are allocated in the order of streams.

use cudarc::driver::sys::{CUmemPool_attribute, CUmemoryPool};
use cudarc::driver::{DriverError, result};

use super::Gpu;
use crate::error::Result;
use crate::pool::PoolMemory;

impl Gpu {
    /// What the pool holds; `None` if the GPU has none, so that buffers are allocated and freed at once.
    pub(crate) fn pool(&self) -> Result<Option<PoolMemory>> {
        self.with_pool("asking for the pool of memory", |pool| {
            Ok(PoolMemory {
                used: number(pool, CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?,
                most_used: number(pool, CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH)?,
                reserved: number(pool, CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?,
                most_reserved: number(pool, CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)?,
                release_threshold: number(pool, CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)?,
            })
        })
    }

    /// Lets the pool keep so many bytes that are not used.
    pub(crate) fn set_release_threshold(&self, mut bytes: u64) -> Result<()> {
        let threshold = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is the device's, and the attribute is a number of 64 bits, which is read during the call.
        let set = |pool| unsafe { result::mem_pool::set_attribute(pool, threshold, (&raw mut bytes).cast()) };
        self.with_pool("setting the pool's threshold", set).map(|_| ())
    }

    /// Gives back what is not used, but for so many bytes of what is reserved.
    pub(crate) fn trim_pool(&self, kept: usize) -> Result<()> {
        // SAFETY: the pool is the device's.
        let trim = |pool| unsafe { result::mem_pool::trim_to(pool, kept) };
        self.with_pool("trimming the pool of memory", trim).map(|_| ())
    }

    /// Does something with the pool that allocations take from, if there is one.
    pub(super) fn with_pool<R>(
        &self,
        operation: &'static str,
        act: impl FnOnce(CUmemoryPool) -> Result<R, DriverError>,
    ) -> Result<Option<R>> {
        if !self.context.has_async_alloc() {
            return Ok(None);
        }
        self.bind()?;
        // SAFETY: the device is one that the driver has named. Its pool lives as long as the device.
        let pool = unsafe { result::device::get_mem_pool(self.context.cu_device()) };
        self.check(operation, pool.and_then(act)).map(Some)
    }
}

/// An attribute of the device's pool that is a number of 64 bits, as all but those that are switches.
fn number(pool: CUmemoryPool, attribute: CUmemPool_attribute) -> Result<u64, DriverError> {
    let mut value = 0_u64;
    // SAFETY: the pool lives, the callers name attributes of this type, and the driver writes one value during the call.
    unsafe { result::mem_pool::get_attribute(pool, attribute, (&raw mut value).cast())? };
    Ok(value)
}
