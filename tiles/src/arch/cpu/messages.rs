//! What a kernel has to say: a failure is a panic, and a message is shown at once.

use crate::protocol::{MOST_NUMBERS, Report, TEXTS};
use core::fmt;
use core::panic::Location;
use core::sync::atomic::{AtomicPtr, Ordering};

/// Whether messages are words that the host shows later.
pub const SHOWN_BY_HOST: bool = false;

/// Nothing to order: see the GPU's.
#[inline]
pub fn fence() {}

/// A failure that is being reported.
pub struct Failure {
    operation: &'static str,
    text: usize,
    location: &'static Location<'static>,
    numbers: [u64; MOST_NUMBERS],
    count: usize,
}

impl Failure {
    /// Begins the report of a failure: what the operation is called, and one of [`protocol::TEXTS`](TEXTS), whose numbers
    /// are to come.
    #[cold]
    #[track_caller]
    pub fn new(operation: &'static str, text: usize) -> Self {
        Self { operation, text, location: Location::caller(), numbers: [0; MOST_NUMBERS], count: 0 }
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        if self.count < MOST_NUMBERS {
            self.numbers[self.count] = number;
            self.count += 1;
        }
    }

    /// Adds a list: its length, and its numbers.
    #[inline]
    pub fn list(&mut self, length: usize, number: impl Fn(usize) -> u64) {
        self.number(length as u64);
        let mut i = 0;
        while i < length {
            self.number(number(i));
            i += 1;
        }
    }

    /// Nothing to name: the message of an assertion is the panic's.
    pub fn message(&mut self, _position: Option<u32>) {}

    /// Panics with the message and the kernel's source line.
    #[cold]
    #[track_caller]
    pub fn end(self) -> ! {
        let report = Report { operation: self.operation, text: TEXTS[self.text], numbers: &self.numbers };
        panic!("{report} (at {})", self.location)
    }
}

/// A message that is written by a closure.
struct Message<F>(F);

impl<F: Fn(&mut dyn fmt::Write) -> fmt::Result> fmt::Display for Message<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(formatter)
    }
}

/// Panics because a safe operation was misused, with the message and the kernel's source line.
#[cold]
#[track_caller]
pub fn fail(message: impl Fn(&mut dyn fmt::Write) -> fmt::Result) -> ! {
    panic!("{} (at {})", Message(message), Location::caller())
}

/// Never called: messages are shown at once.
///
/// # Safety
/// None needed.
pub unsafe fn claim(_words: u32) -> Option<u32> {
    unreachable!("the CPU shows messages at once")
}

/// Never called.
///
/// # Safety
/// None needed.
pub unsafe fn store(_position: u32, _word: u32) {
    unreachable!("the CPU shows messages at once")
}

/// Never called.
///
/// # Safety
/// None needed.
pub unsafe fn publish(_position: u32, _header: u32) {
    unreachable!("the CPU shows messages at once")
}

/// Shows a message.
type Printer = fn(&dyn fmt::Display);

static PRINTER: AtomicPtr<Printer> = AtomicPtr::new(core::ptr::null_mut());

/// Sets what shows messages; before it is set, they are dropped: this library has no standard output.
pub fn set_printer(printer: &'static Printer) {
    PRINTER.store(core::ptr::from_ref(printer).cast_mut(), Ordering::Release);
}

/// Shows a message at once.
pub fn show(message: &dyn fmt::Display) {
    // SAFETY: the pointer is null or one to a static that `set_printer` was given, which nobody writes.
    if let Some(printer) = unsafe { PRINTER.load(Ordering::Acquire).as_ref() } {
        printer(message);
    }
}
