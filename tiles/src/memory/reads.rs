//! The multiplications that still read a stage.

use crate::arch::barriers::{self, PRODUCER_WARP};
use core::cell::Cell;

/// The readers of a stage that is lent to a step or held by a guard.
pub struct Reads {
    readers: Cell<Readers>,
    /// Whether a guard holds it. Multiplications that read held stages alone belong to no step, which would commit their group.
    is_held: bool,
    /// Whether TMA may fill the stage again.
    before_tma: bool,
}

/// See [`Reads`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// No instruction: each reader has waited for its own reads.
    Nobody,
    /// Multiplications that are in no group yet. Those of warpgroups are asynchronous.
    Products,
    /// Multiplications that committed groups of their own. Those of the step before are done.
    OwnGroups,
}

impl Reads {
    /// The readers of a stage that is lent to a step. `before_tma` says whether TMA may fill it again.
    #[inline_on_device]
    pub(crate) fn of_step(before_tma: bool) -> Self {
        Self { readers: Cell::new(Readers::Nobody), is_held: false, before_tma }
    }

    /// The readers of a held stage. Its release waits for all multiplications, and does not ask.
    #[inline_on_device]
    pub(crate) fn of_held() -> Self {
        Self { readers: Cell::new(Readers::Nobody), is_held: true, before_tma: true }
    }

    #[inline_on_device]
    pub(crate) fn readers(&self) -> Readers {
        self.readers.get()
    }

    #[inline_on_device]
    pub(crate) fn set(&self, readers: Readers) {
        self.readers.set(readers);
    }

    /// Orders this thread's loads from the stage before TMA's next write to it. An arrival at an mbarrier alone does not: TMA writes
    /// through another proxy (PTX ISA, "Async Proxy"), and was seen to overtake loads that had been issued.
    #[inline_on_device]
    pub(crate) fn are_done(&self) {
        if PRODUCER_WARP && self.before_tma {
            barriers::fence_proxy_async();
        }
    }

    /// [`are_done`](Self::are_done) for the stages of operands A, if it is in one, and B.
    #[inline_on_device]
    pub(crate) fn both_are_done(a: Option<&Self>, b: &Self) {
        match a {
            Some(a) if a.before_tma => a.are_done(),
            _ => b.are_done(),
        }
    }

    #[inline_on_device]
    pub(crate) fn is_held(&self) -> bool {
        self.is_held
    }
}
