//! Where the messages of kernels go.

use std::cell::Cell;
use std::fmt::Display;
use std::sync::{Once, PoisonError, RwLock};

use cuda_tiles::arch::messages;

type Printer = Box<dyn Fn(&str) + Send + Sync>;

static PRINTER: RwLock<Option<Printer>> = RwLock::new(None);

/// Sets what becomes of the lines that kernels print with `tile_print!`, on all devices: `printer` is called with each,
/// without a line break. At first they go to standard output.
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
    *PRINTER.write().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(printer));
}

/// Shows one line.
pub(crate) fn show(line: &str) {
    thread_local! {
        static SHOWING: Cell<bool> = const { Cell::new(false) };
    }
    // A printer that itself waits for a device, or launches on the CPU, must not be called again under its own lock.
    if SHOWING.replace(true) {
        return println!("{line}");
    }
    match &*PRINTER.read().unwrap_or_else(PoisonError::into_inner) {
        Some(printer) => printer(line),
        None => println!("{line}"),
    }
    SHOWING.set(false);
}

/// Lets blocks on the CPU print.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    static ON_THE_CPU: fn(&dyn Display) = |message| show(&message.to_string());
    ONCE.call_once(|| messages::set_printer(&ON_THE_CPU));
}
