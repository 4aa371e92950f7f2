//! What a rank asks of the others.

use std::fmt;

use super::element::{Reduction, Type};

/// What a rank asks of the others. Of a collective call all ranks ask for the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) kind: Kind,
    /// Elements of a rank's part: of what it sends to a gather, of what it gets of a scatter, else of the whole.
    pub(super) elements: usize,
    pub(super) element: Type,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    AllReduce(Reduction),
    AllGather,
    ReduceScatter(Reduction),
    Broadcast { root: usize },
    Send { to: usize },
    Receive { from: usize },
}

impl Call {
    /// Bytes of a rank's part.
    pub(super) fn bytes(&self) -> usize {
        // They are those of a tensor, which can be counted.
        self.elements * self.element.bytes
    }

    /// Sender and receiver of a message; none for what all ranks do.
    pub(super) fn route(&self, rank: usize) -> Option<(usize, usize)> {
        match self.kind {
            Kind::Send { to } => Some((rank, to)),
            Kind::Receive { from } => Some((from, rank)),
            _ => None,
        }
    }

    /// Whether the call of another rank is what this one waits for.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        let alike = self.elements == other.elements && self.element.name == other.element.name;
        alike && (self.kind == other.kind || matches!(self.kind, Kind::Send { .. } | Kind::Receive { .. }))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllReduce(reduction) => write!(formatter, "all-reduce ({reduction})"),
            Self::AllGather => formatter.write_str("all-gather"),
            Self::ReduceScatter(reduction) => write!(formatter, "reduce-scatter ({reduction})"),
            Self::Broadcast { root } => write!(formatter, "broadcast from rank {root}"),
            Self::Send { to } => write!(formatter, "send to rank {to}"),
            Self::Receive { from } => write!(formatter, "receive from rank {from}"),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.kind {
            Kind::AllGather | Kind::ReduceScatter(_) => " each",
            _ => "",
        };
        write!(formatter, "{} of {} {}{part}", self.kind, self.elements, self.element.name)
    }
}

/// Where the elements of a call are: what the rank gives, and where it takes the result. Both may be the same, in part or as a whole, as the
/// call in place has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffers {
    pub(super) source: *const u8,
    pub(super) target: *mut u8,
}

// SAFETY: addresses alone; who reads or writes there vouches for it.
unsafe impl Send for Buffers {}
