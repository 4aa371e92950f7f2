//! Which products still read a stage.

use core::cell::Cell;

/// Who reads the stages of a message that was lent or is held.
pub struct Reads {
    readers: Cell<Readers>,
    /// Whether it is held. Products of such messages alone belong to no step, which would make a group of them.
    is_held: bool,
}

/// See [`Reads`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Nobody: what read them has waited for what was under way.
    Nobody,
    /// Products that are in no group yet. Those of warpgroups go on by themselves.
    Products,
    /// Products that made groups of themselves, while those of the step before are done.
    OwnGroups,
}

impl Reads {
    /// Of a message that is lent to a step.
    #[inline(always)]
    pub(crate) fn of_step() -> Self {
        Self { readers: Cell::new(Readers::Nobody), is_held: false }
    }

    /// Of a message that is held, whose release waits for all products and asks nobody.
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
