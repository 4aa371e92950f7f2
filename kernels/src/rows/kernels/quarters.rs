//! A row as four tiles side by side.
//!
//! What is done to the quarters of a row in turn takes registers for one quarter at a time: of a whole row's weights, a thread would hold
//! as many elements as of the row itself, and a multiprocessor so many blocks less. They are four fields, because of an array in a loop the
//! compiler makes local memory.

use cuda_tiles::inline_on_device;

/// Something for each quarter, from the first columns on.
#[derive(Clone, Copy)]
pub(super) struct Quarters<X>(X, X, X, X);

impl<X> Quarters<X> {
    #[inline_on_device]
    pub(super) fn of(mut quarter: impl FnMut(u32) -> X) -> Self {
        Self(quarter(0), quarter(1), quarter(2), quarter(3))
    }

    /// The same of each, given its number.
    #[inline_on_device]
    pub(super) fn map<Y>(self, mut change: impl FnMut(u32, X) -> Y) -> Quarters<Y> {
        let Self(a, b, c, d) = self;
        Quarters(change(0, a), change(1, b), change(2, c), change(3, d))
    }

    /// All in one.
    #[inline_on_device]
    pub(super) fn reduce(self, combine: impl Fn(X, X) -> X) -> X {
        let Self(a, b, c, d) = self;
        combine(combine(a, b), combine(c, d))
    }
}
