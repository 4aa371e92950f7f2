//! What keeps memory alive that this crate did not allocate.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A value that owns somebody else's memory: dropped when nothing uses the memory any more, on whatever thread that is.
pub(crate) struct Owner {
    _value: Box<dyn Send>,
}

impl Owner {
    pub(crate) fn new(value: impl Send + 'static) -> Self {
        Self { _value: Box::new(value) }
    }

    /// Drops the value, of whose memory nobody has a use. One that panics must not end what its end was in the way of.
    #[cfg_attr(not(feature = "cudarc"), allow(dead_code, reason = "on the CPU owners end with their memory"))]
    pub(crate) fn end(self) {
        let _ = catch_unwind(AssertUnwindSafe(move || drop(self)));
    }
}

// SAFETY: nothing can be done with a shared reference to it.
unsafe impl Sync for Owner {}
