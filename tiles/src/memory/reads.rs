//! The multiplications that still read a stage.

use core::cell::Cell;

/// The readers of a stage that is lent to a step or held by a guard.
pub struct Reads {
    readers: Cell<Readers>,
    /// Whether a guard holds it. Multiplications that read held stages alone belong to no step, which would commit their group.
    is_held: bool,
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
    /// The readers of a stage that is lent to a step.
    #[inline(always)]
    pub(crate) fn of_step() -> Self {
        Self { readers: Cell::new(Readers::Nobody), is_held: false }
    }

    /// The readers of a held stage. Its release waits for all multiplications, and does not ask.
    #[inline(always)]
    pub(crate) fn of_held() -> Self {
        Self { readers: Cell::new(Readers::Nobody), is_held: true }
    }

    #[inline(always)]
    pub(crate) fn readers(&self) -> Readers {
        self.readers.get()
    }

    #[inline(always)]
    pub(crate) fn set(&self, readers: Readers) {
        self.readers.set(readers);
    }

    #[inline(always)]
    pub(crate) fn is_held(&self) -> bool {
        self.is_held
    }
}
