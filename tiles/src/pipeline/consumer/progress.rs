//! What products of a pipeline are under way, and which stages they read.
//!
//! All of this is known at compile time where steps are alike, and nothing of it is left in the code.

use core::cell::Cell;

/// What all receivers of a pipeline know together about products under way.
#[derive(Default)]
pub struct Progress {
    /// How many were started by [`Consumer::start`](super::Consumer::start), modulo 2³².
    started: Cell<u32>,
    /// Whether stages are lent to a step, whose products are no group yet.
    lending: Cell<bool>,
}

impl Progress {
    /// Runs a step, which puts products under way that are made a group afterwards.
    #[inline(always)]
    pub(crate) fn lend(&self, step: impl FnOnce()) {
        let before = self.lending.replace(true);
        step();
        self.lending.set(before);
    }

    /// Whether a step runs.
    #[inline(always)]
    pub(crate) fn is_lending(&self) -> bool {
        self.lending.get()
    }

    /// Counts a product that was started. The result is its number.
    #[inline(always)]
    pub(crate) fn count_started(&self) -> u32 {
        let number = self.started.get().wrapping_add(1);
        self.started.set(number);
        number
    }

    /// How many were started after the one with this number.
    #[inline(always)]
    pub(crate) fn started_since(&self, number: u32) -> u32 {
        self.started.get().wrapping_sub(number)
    }
}
