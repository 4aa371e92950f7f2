//! What keeps memory alive that this crate did not allocate.

/// A value that owns somebody else's memory: dropped when nothing uses the memory any more, on whatever thread that is.
pub(crate) struct Owner {
    _value: Box<dyn Send>,
}

impl Owner {
    pub(crate) fn new(value: impl Send + 'static) -> Self {
        Self { _value: Box::new(value) }
    }
}

// SAFETY: nothing can be done with a shared reference to it.
unsafe impl Sync for Owner {}
