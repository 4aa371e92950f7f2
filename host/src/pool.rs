//! What the pool holds out of which a GPU's tensors come.

/// The pool of a GPU's memory, in bytes: what [`Device::pool`](crate::Device::pool) has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolMemory {
    /// What tensors have now. The driver counts memory that was freed as used until its stream has come that far.
    pub used: u64,
    /// The most that they ever had at a time.
    pub most_used: u64,
    /// What the pool has taken from the GPU, used or not.
    pub reserved: u64,
    /// The most that it ever had.
    pub most_reserved: u64,
    /// Of what is not used the pool keeps so much when the program waits for the GPU, and gives the rest back. At first 0.
    pub release_threshold: u64,
}
