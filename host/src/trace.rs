//! `CUDA_TILES_TRACE`: a line for each launch.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::printer;

/// The variable that switches lines on.
const VARIABLE: &str = "CUDA_TILES_TRACE";

/// Which lines launches leave, see [`set_trace`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trace {
    /// None.
    #[default]
    Off,
    /// One before each launch, which waits for nothing: of a program that hangs, the last kernels are known.
    Launches,
    /// One after each launch, with the time that the device took. Each launch waits for its end on a GPU, so that nothing runs beside
    /// it and the program takes longer than without.
    Times,
}

/// [`Trace`] as a number; at first the one that stands for what the variable says.
static TRACE: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = u8::MAX;

/// Sets which lines launches leave from now on, on all devices and threads. At first the environment variable `CUDA_TILES_TRACE`
/// says it: `1` or `launches`, `times`, and `0` or `off` or nothing at all for none.
///
/// The lines go to standard error, or to the printer that [`set_printer`](crate::set_printer) has set. They have the kernel's path, the
/// numbers of blocks and of threads in a block, the device and its stream, the seconds since the first such line, and with
/// [`Trace::Times`] the time of the kernel. Launches that are refused leave none with `Times`. A launch that a [`Graph`](crate::Graph) captures
/// leaves one that says so, and each launch of the graph one for all.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Launch, Tensor, Trace, set_printer, set_trace};
/// use std::sync::Mutex;
///
/// #[kernel]
/// fn clear(cx: Cx, x: SpanMut<f32, (u32,)>) {
///     x.partition(cx, shape![64]).store_masked(cx.zeros::<f32>(shape![64]), cx.bid::<0>());
/// }
///
/// static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// set_printer(|line| LINES.lock().unwrap().push(line.to_owned()));
/// set_trace(Trace::Times);
/// let mut x = Tensor::full(&Device::cpu(), [256], 1.0)?;
/// clear.launch(&Device::cpu(), 4, (&mut x,))?;
/// let lines = LINES.lock().unwrap();
/// // trace: rust_out::clear on (4, 1, 1) blocks of 1 thread, CPU, at 0.000 s, took 21.53µs
/// assert!(lines[0].contains("clear on (4, 1, 1) blocks of 1 thread, CPU, at 0.000 s, took "));
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
pub fn set_trace(trace: Trace) {
    TRACE.store(trace as u8, Ordering::Relaxed);
}

/// Which lines are wanted.
pub(crate) fn wanted() -> Trace {
    match TRACE.load(Ordering::Relaxed) {
        0 => Trace::Off,
        1 => Trace::Launches,
        2 => Trace::Times,
        _ => of_environment(),
    }
}

/// Takes over what the variable says, once. A value that means nothing is told about.
#[cold]
fn of_environment() -> Trace {
    static SAID: OnceLock<Trace> = OnceLock::new();
    let trace = *SAID.get_or_init(|| {
        let value = std::env::var(VARIABLE).unwrap_or_default();
        parse(&value).unwrap_or_else(|| {
            printer::warn(&format!(
                "{VARIABLE}={value} means nothing: it is `launches` (or `1`), `times`, or `off` (or `0`)"
            ));
            Trace::Off
        })
    });
    // Unless somebody has set another one in between.
    let _ = TRACE.compare_exchange(UNKNOWN, trace as u8, Ordering::Relaxed, Ordering::Relaxed);
    trace
}

fn parse(value: &str) -> Option<Trace> {
    match value {
        "" | "0" | "off" => Some(Trace::Off),
        "1" | "launches" => Some(Trace::Launches),
        "times" => Some(Trace::Times),
        _ => None,
    }
}

/// A launch, as its line shows it.
pub(crate) struct Line {
    /// The kernel's path.
    pub(crate) kernel: &'static str,
    pub(crate) blocks: [u32; 3],
    /// Threads of a block.
    pub(crate) threads: u32,
    /// The device and the stream.
    pub(crate) place: String,
}

/// A launch of a graph, as its line shows it.
pub(crate) struct GraphLine {
    pub(crate) launches: usize,
    pub(crate) copies: usize,
    /// The device and the stream.
    pub(crate) place: String,
}

/// Shows a launch, which takes place now.
pub(crate) fn show(line: &impl fmt::Display) {
    printer::warn(&format!("{line}, at {:.3} s", since_first().as_secs_f64()));
}

/// Shows a launch, which has taken so long.
pub(crate) fn show_with(line: &impl fmt::Display, time: Duration) {
    // It began before.
    let began = since_first().saturating_sub(time);
    printer::warn(&format!("{line}, at {:.3} s, took {time:.2?}", began.as_secs_f64()));
}

impl fmt::Display for GraphLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { launches, copies, place } = self;
        let counted = |count: usize, one, many| format!("{count} {}", if count == 1 { one } else { many });
        let (launches, copies) =
            (counted(*launches, "launch", "launches"), counted(*copies, "copy", "copies"));
        write!(f, "trace: a graph of {launches} and {copies}, {place}")
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, blocks: [x, y, z], threads, place } = self;
        let plural = if *threads == 1 { "" } else { "s" };
        write!(f, "trace: {kernel} on ({x}, {y}, {z}) blocks of {threads} thread{plural}, {place}")
    }
}

/// The time since this was asked for first.
fn since_first() -> Duration {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_has_four_meanings() {
        for (value, meaning) in [
            ("", Some(Trace::Off)),
            ("0", Some(Trace::Off)),
            ("off", Some(Trace::Off)),
            ("1", Some(Trace::Launches)),
            ("launches", Some(Trace::Launches)),
            ("times", Some(Trace::Times)),
            ("time", None),
        ] {
            assert_eq!(parse(value), meaning, "{value}");
        }
    }

    #[test]
    fn a_graph_has_one_line() {
        let line = |launches, copies| GraphLine { launches, copies, place: "CPU".to_owned() }.to_string();
        assert_eq!(line(1, 0), "trace: a graph of 1 launch and 0 copies, CPU");
        assert_eq!(line(12, 1), "trace: a graph of 12 launches and 1 copy, CPU");
    }

    #[test]
    fn a_line_has_all_that_is_known_of_the_launch() {
        let place = "GPU 0 (NVIDIA H200), stream 0x10".to_owned();
        let line = Line { kernel: "k::scale", blocks: [4, 2, 1], threads: 384, place };
        assert_eq!(
            line.to_string(),
            "trace: k::scale on (4, 2, 1) blocks of 384 threads, GPU 0 (NVIDIA H200), stream 0x10"
        );
    }
}
