//! What can go wrong between ranks.

use std::time::Duration;

use crate::error::Error;

/// The result of what ranks do together.
pub(super) type Result<T, E = CollectiveError> = std::result::Result<T, E>;

/// A failure of a communicator or of a call on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectiveError {
    /// There is no NCCL on this machine.
    #[error(
        "GPUs communicate by NCCL, which cannot be loaded: {problem}. Install NCCL 2.18 or newer, or name its file in \
         CUDA_TILES_NCCL; a package of Python has it as site-packages/nvidia/nccl/lib/libnccl.so.2"
    )]
    NoLibrary {
        /// The files that were looked for, each with what stood against it.
        problem: String,
    },

    /// NCCL makes no identity, for example because it finds no network.
    #[error("NCCL makes no identity for a communicator: {problem}. NCCL_DEBUG=WARN tells more")]
    Identity {
        /// NCCL's error.
        problem: String,
    },

    /// The ranks of a communicator do not go together.
    #[error("rank {rank} of {world_size} cannot have a communicator: {problem}")]
    Ranks {
        /// The rank.
        rank: usize,
        /// How many ranks there are to be.
        world_size: usize,
        /// What is wrong, and what to do.
        problem: String,
    },

    /// The tensors or the stream of a call do not fit it. Nothing was communicated, and the communicator is as before.
    #[error("rank {rank} of {world_size}, {operation}: {problem}")]
    Argument {
        /// The rank that made the call.
        rank: usize,
        /// How many ranks there are.
        world_size: usize,
        /// The call.
        operation: String,
        /// What does not fit, and what to do.
        problem: String,
    },

    /// The ranks did not come together. The communicators of all ranks are of no use any more.
    #[error(
        "rank {rank} of {world_size}, {operation}: {failure}. This communicator is of no use any more: make a new one on all ranks"
    )]
    Failed {
        /// The rank that got the error.
        rank: usize,
        /// How many ranks there are.
        world_size: usize,
        /// The call that got the error.
        operation: String,
        /// Why, as the first rank of this process has met it.
        #[source]
        failure: Failure,
    },

    /// A device failed.
    #[error(transparent)]
    Device(#[from] Error),
}

/// Why ranks did not come together. It is the same value on all ranks of a process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Time ran out.
    #[error("{}", timed_out(.operation, *.after, .missing))]
    TimedOut {
        /// What was not done.
        operation: String,
        /// The communicator's time-out.
        after: Duration,
        /// The ranks of this process that did not call it. Of ranks of other processes nothing is known.
        missing: Vec<usize>,
    },

    /// Two ranks made different calls at the same place of their order.
    #[error(
        "rank {} called {}, but rank {} called {}: all ranks make the same calls in the same order", .ranks[0], .calls[0], .ranks[1],
        .calls[1]
    )]
    Disagreement {
        /// The ranks.
        ranks: [usize; 2],
        /// Their calls.
        calls: [String; 2],
    },

    /// A rank dropped its communicator before it made a call that others wait for.
    #[error("rank {rank} has dropped its communicator and did not call {operation}")]
    Left {
        /// The rank that is gone.
        rank: usize,
        /// What others called.
        operation: String,
    },

    /// NCCL refused something, or lost a rank.
    #[error("on rank {rank}, {operation} failed: {code}{}", detail(.message))]
    Nccl {
        /// The rank whose communicator has met it.
        rank: usize,
        /// What was being done.
        operation: String,
        /// NCCL's name for the error.
        code: String,
        /// What NCCL says further.
        message: String,
    },

    /// A GPU failed during a call.
    #[error("on rank {rank}, {operation} failed: {problem}")]
    Gpu {
        /// The rank of the GPU.
        rank: usize,
        /// What was being done.
        operation: String,
        /// The GPU's error.
        problem: String,
    },
}

fn timed_out(operation: &str, after: Duration, missing: &[usize]) -> String {
    let advice = "check that all ranks make the same calls in the same order, or allow more time";
    match missing {
        [] => format!("{operation} was not done within {after:?}: {advice}"),
        [rank] => format!("rank {rank} did not call {operation} within {after:?}: {advice}"),
        ranks => format!("ranks {ranks:?} did not call {operation} within {after:?}: {advice}"),
    }
}

fn detail(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(" ({message})") }
}
