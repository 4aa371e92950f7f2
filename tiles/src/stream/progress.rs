//! What products of a pipeline are under way, and which stages they read.
//!
//! All of this is known at compile time where steps are alike, and nothing of it is left in the code.

use core::cell::Cell;

/// What all receivers of a pipeline know together about products under way.
#[derive(Default)]
pub struct Progress {
    /// How many were started by [`Receiver::start`](super::Receiver::start), modulo 2³².
    started: Cell<u32>,
    /// Whether stages are lent to a step, whose products are no group yet.
    lending: Cell<bool>,
}

impl Progress {
    /// Runs a step, which puts products under way that are made a group afterwards.
    #[inline(always)]
    pub(super) fn lend(&self, step: impl FnOnce()) {
        let before = self.lending.replace(true);
        step();
        self.lending.set(before);
    }

    /// Whether a step runs.
    #[inline(always)]
    pub(super) fn is_lending(&self) -> bool {
        self.lending.get()
    }

    /// Counts a product that was started. The result is its number.
    #[inline(always)]
    pub(super) fn count_started(&self) -> u32 {
        let number = self.started.get().wrapping_add(1);
        self.started.set(number);
        number
    }

    /// How many were started after the one with this number.
    #[inline(always)]
    pub(super) fn started_since(&self, number: u32) -> u32 {
        self.started.get().wrapping_sub(number)
    }
}

/// Who reads the stages of a message that was lent or is held.
pub struct Reads {
    readers: Cell<Readers>,
    /// Whether it is held. Products of such messages alone belong to no step, which would make a group of them.
    is_held: bool,
}

/// See [`Reads`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Readers {
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
    pub(super) fn of_step() -> Self {
        Self { readers: Cell::new(Readers::Nobody), is_held: false }
    }

    /// Of a message that is held, whose release waits for all products and asks nobody.
    #[inline(always)]
    pub(super) fn of_held() -> Self {
        Self { readers: Cell::new(Readers::Nobody), is_held: true }
    }

    #[inline(always)]
    pub(super) fn readers(&self) -> Readers {
        self.readers.get()
    }

    #[inline(always)]
    pub(super) fn set(&self, readers: Readers) {
        self.readers.set(readers);
    }

    #[inline(always)]
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }
}
