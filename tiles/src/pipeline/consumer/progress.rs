//! The multiplications of a pipeline that are under way.
//!
//! Where steps are alike, the compiler knows all of it, and nothing remains in the code.

use core::cell::Cell;

/// The multiplications under way, as all consumers of a pipeline count them.
#[derive(Default)]
pub struct Progress {
    /// The number that [`Consumer::start`](super::Consumer::start) has started, modulo 2³².
    started: Cell<u32>,
    /// Whether a step runs. Its multiplications are in no group yet.
    lending: Cell<bool>,
}

impl Progress {
    /// Runs a step. Its caller commits the step's multiplications as a group afterwards.
    #[inline_on_device]
    pub(crate) fn lend(&self, step: impl FnOnce()) {
        let before = self.lending.replace(true);
        step();
        self.lending.set(before);
    }

    /// Whether a step runs.
    #[inline_on_device]
    pub(crate) fn is_lending(&self) -> bool {
        self.lending.get()
    }

    /// Counts a multiplication as started, and returns its number.
    #[inline_on_device]
    pub(crate) fn count_started(&self) -> u32 {
        let number = self.started.get().wrapping_add(1);
        self.started.set(number);
        number
    }

    /// The number of multiplications started after the one with this number.
    #[inline_on_device]
    pub(crate) fn started_since(&self, number: u32) -> u32 {
        self.started.get().wrapping_sub(number)
    }
}
