//! How work uses memory.

/// How a piece of work uses a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It only reads: other reads may run beside it.
    Read,
    /// It writes, so that it must have the buffer for itself.
    Write,
}

impl Access {
    /// The access that both together are.
    pub(crate) fn and(self, other: Self) -> Self {
        if self == Self::Read { other } else { self }
    }
}
