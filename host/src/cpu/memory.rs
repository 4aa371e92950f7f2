//! Memory of the CPU that stands for a GPU's global memory.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{Error, Result};
use crate::owner::Owner;

/// Alignment of a GPU's allocations, which kernels may count on, in bytes.
const ALIGNMENT: usize = 256;

/// A buffer of bytes, aligned as a GPU's are unless it belongs to somebody else.
pub(crate) struct HostMemory {
    address: NonNull<u8>,
    layout: Layout,
    origin: Origin,
    number: usize,
}

/// Whose memory a buffer is.
enum Origin {
    /// This value's own, to be given back at its end.
    Allocated,
    /// Somebody else's. The owner, if it was handed over, ends with the buffer: work on the CPU is done when it is given.
    Foreign { _owner: Option<Owner> },
}

// SAFETY: the buffer is owned, or lent by somebody who vouches for its use as if it were; it has no ties to a thread.
unsafe impl Send for HostMemory {}
// SAFETY: through a shared reference the buffer is only read.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    /// Allocates a buffer of zeros, if there is room for it.
    pub(crate) fn zeroed(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, ALIGNMENT).ok()?;
        let address = if bytes == 0 {
            // An empty buffer still has an aligned address.
            layout.dangling_ptr()
        } else {
            // SAFETY: the size is not zero.
            NonNull::new(unsafe { alloc_zeroed(layout) })?
        };
        Some(Self { address, layout, origin: Origin::Allocated, number: next_number() })
    }

    /// Memory that belongs to somebody else; `owner` is dropped with the result.
    ///
    /// # Safety
    /// The address is not null. There are `bytes` initialised bytes, not more than `isize::MAX`, which nobody else uses
    /// as long as the result exists.
    pub(crate) unsafe fn foreign(address: *mut u8, bytes: usize, owner: Option<Owner>) -> Self {
        // SAFETY: the caller vouches for the address; for the size too, which an alignment of 1 cannot carry over the limit.
        let (address, layout) =
            unsafe { (NonNull::new_unchecked(address), Layout::from_size_align_unchecked(bytes, 1)) };
        Self { address, layout, origin: Origin::Foreign { _owner: owner }, number: next_number() }
    }

    /// A number that no other buffer of the process has, or ever had: an address may be another buffer's later.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Address of the first byte, for reading; for writing too if it came from a mutable borrow of the owner.
    pub(crate) fn address(&self) -> *mut u8 {
        self.address.as_ptr()
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the buffer is this long and was initialised when it was allocated or lent; nobody writes to it during a shared
        // borrow, since kernels get a writable address from mutable borrows only.
        unsafe { std::slice::from_raw_parts(self.address(), self.layout.size()) }
    }

    /// The bytes, to be changed.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is the only one.
        unsafe { std::slice::from_raw_parts_mut(self.address(), self.layout.size()) }
    }
}

fn next_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if matches!(self.origin, Origin::Allocated) && self.layout.size() > 0 {
            // SAFETY: the buffer was allocated with this layout and is not used again.
            unsafe { dealloc(self.address(), self.layout) }
        }
    }
}

/// Zeroed memory of the host.
pub(crate) fn host_memory(bytes: usize) -> Result<HostMemory> {
    HostMemory::zeroed(bytes).ok_or_else(|| Error::OutOfMemory { device: "the CPU".to_owned(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_zero() {
        for bytes in [0, 1, 255, 4096] {
            let mut memory = HostMemory::zeroed(bytes).unwrap();
            assert_eq!(memory.address() as usize % ALIGNMENT, 0);
            assert_eq!(memory.bytes(), vec![0; bytes]);
            memory.bytes_mut().fill(7);
            assert_eq!(memory.bytes(), vec![7; bytes]);
        }
    }

    #[test]
    fn memory_of_others_stays() {
        let mut bytes = vec![1_u8, 2, 3];
        // SAFETY: the vector is used again only after the buffer's end.
        let mut memory = unsafe { HostMemory::foreign(bytes.as_mut_ptr(), bytes.len(), None) };
        memory.bytes_mut()[1] = 7;
        assert_eq!(memory.bytes(), [1, 7, 3]);
        drop(memory);
        assert_eq!(bytes, [1, 7, 3]);
    }

    #[test]
    fn sizes_beyond_the_address_space_are_refused() {
        assert!(HostMemory::zeroed(usize::MAX).is_none());
    }
}
