//! Which block a thread runs: on the device there is no other, see the CPU's.

/// The one run of a block that a thread is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Run;

impl Run {
    /// It.
    #[inline(always)]
    pub fn current() -> Self {
        Self
    }

    /// Nothing to ask.
    #[inline(always)]
    pub fn assert_current(self, _what: &'static str) {}

    /// Nothing to ask.
    #[inline(always)]
    pub fn assert_lent(self, _what: &'static str) {}
}

/// A thread's being in its run.
pub struct Entered;

/// Nothing to enter.
#[inline(always)]
pub fn enter() -> Entered {
    Entered
}
