//! Where the messages of kernels go.

use std::cell::Cell;
use std::fmt::Display;
use std::io::Write as _;
use std::sync::{Arc, Once, PoisonError, RwLock};

use cuda_tiles::cpu;

type Printer = Arc<dyn Fn(&str) + Send + Sync>;

static PRINTER: RwLock<Option<Printer>> = RwLock::new(None);

/// Sets what becomes of the lines that kernels print with `tile_print!`, on all devices: `printer` is called with each,
/// without a line break. At first they go to standard output. It gets the lines of [`set_trace`](crate::set_trace) too, which at first
/// go to standard error.
///
/// On a GPU the lines come when the program waits for it, or for one of its streams; on the CPU as kernels print
/// them, from several threads.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Launch, set_printer};
/// use std::sync::Mutex;
///
/// #[kernel]
/// fn hello(cx: Cx, number: f32) {
///     tile_print!(cx, "{:.2} is in all of {}", number, cx.full(shape![2, 2], number));
/// }
///
/// static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// set_printer(|line| LINES.lock().unwrap().push(line.to_owned()));
/// hello.launch(&Device::cpu(), 1, (0.5,))?;
/// assert_eq!(LINES.lock().unwrap()[..], ["0.50 is in all of [[0.5, 0.5], [0.5, 0.5]]"]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
pub fn set_printer(printer: impl Fn(&str) + Send + Sync + 'static) {
    let printer: Printer = Arc::new(printer);
    let before = PRINTER.write().unwrap_or_else(PoisonError::into_inner).replace(printer);
    // What a printer does when it is dropped is its own affair, and may be to set another one: not under the lock.
    drop(before);
}

thread_local! {
    /// Whether this thread is in a printer.
    static SHOWING: Cell<bool> = const { Cell::new(false) };
}

/// A thread's being in a printer, however that ends.
struct Showing;

impl Drop for Showing {
    fn drop(&mut self) {
        SHOWING.set(false);
    }
}

/// Shows one line of a kernel.
pub(crate) fn show(line: &str) {
    show_or(line, |line| println!("{line}"));
}

/// Shows one line about a kernel.
pub(crate) fn warn(line: &str) {
    // Who has closed the standard error does without.
    show_or(line, |line| _ = writeln!(std::io::stderr(), "{line}"));
}

/// Shows one line by the printer, if there is one that is not busy.
fn show_or(line: &str, otherwise: fn(&str)) {
    // A printer that itself waits for a device, or launches on the CPU, is not called again for the lines that come of it.
    if SHOWING.replace(true) {
        return otherwise(line);
    }
    let _showing = Showing;
    // Called without the lock, so that a printer can set another one.
    let printer = PRINTER.read().unwrap_or_else(PoisonError::into_inner).clone();
    match printer {
        Some(printer) => printer(line),
        None => otherwise(line),
    }
}

/// Lets blocks on the CPU print.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    static ON_THE_CPU: fn(&dyn Display) = |message| show(&message.to_string());
    ONCE.call_once(|| cpu::set_printer(&ON_THE_CPU));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;
    use std::sync::Mutex;

    #[test]
    fn a_printer_may_set_another_one_panic_and_print() {
        static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let push = |line: &str| LINES.lock().unwrap().push(line.to_owned());
        set_printer(move |line| {
            push(line);
            // Goes to standard output, as a line within a line.
            show("within");
            set_printer(move |line| {
                push(line);
                if line == "third" {
                    panic!("in a printer");
                }
            });
        });
        show("first");
        show("second");
        assert!(catch_unwind(|| show("third")).is_err());
        show("fourth");
        assert_eq!(*LINES.lock().unwrap(), ["first", "second", "third", "fourth"]);
    }
}
