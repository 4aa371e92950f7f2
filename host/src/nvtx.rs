//! Ranges on the time line of Nsight Systems and other tools, by NVIDIA's protocol NVTX.
//!
//! A [`range`] is open as long as its guard lives, on the thread that opened it. Tools show it above the launches and copies that were asked for
//! meanwhile, and, projected on the GPU, the time that these took there. Without a tool a range costs a read of memory.
//!
//! ```
//! use cuda_tiles_host::nvtx;
//!
//! for step in 0..3 {
//!     let _step = nvtx::range(&format!("step {step}"));
//!     {
//!         let _prefill = nvtx::range("prefill");
//!         // ... launches ...
//!     }
//!     nvtx::mark("cache is full");
//! }
//! ```
//!
//! `nsys profile target/release/my-program` says by the environment variable `NVTX_INJECTION64_PATH` which library hears of ranges. It is loaded
//! at the first range; nothing of NVTX is needed to build or to start.
//!
//! With the environment variable `CUDA_TILES_NVTX=launches`, or after [`set_launch_ranges`], each launch of a kernel and of a graph is in a
//! range too, which has the kernel's path. Tools show launches by the names of their entries anyway: these ranges show the part of this
//! crate, and launches on the CPU.

mod injection;

use std::ffi::CString;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use injection::Tool;

/// An open range, which ends when this is dropped. Ranges of a thread end in the reverse order of their beginnings.
#[must_use = "the range ends at once"]
#[derive(Debug)]
pub struct Range {
    tool: Option<&'static Tool>,
    /// Ranges belong to their threads.
    thread: PhantomData<*const ()>,
}

/// Opens a range of this name, up to its first zero character.
pub fn range(name: &str) -> Range {
    let tool = tool();
    if let Some(tool) = tool {
        tool.push(&text(name));
    }
    Range { tool, thread: PhantomData }
}

/// Marks this moment.
pub fn mark(name: &str) {
    if let Some(tool) = tool() {
        tool.mark(&text(name));
    }
}

/// Whether a tool hears of ranges: to leave out what only serves their names.
pub fn is_heard() -> bool {
    tool().is_some()
}

impl Drop for Range {
    fn drop(&mut self) {
        if let Some(tool) = self.tool {
            tool.pop();
        }
    }
}

/// The tool that the process runs under.
fn tool() -> Option<&'static Tool> {
    static TOOL: OnceLock<Option<Tool>> = OnceLock::new();
    TOOL.get_or_init(injection::of_environment).as_ref()
}

/// The name as C has it.
fn text(name: &str) -> CString {
    let end = name.find('\0').unwrap_or(name.len());
    CString::new(&name[..end]).unwrap_or_default()
}

/// The variable that asks for ranges of launches.
const VARIABLE: &str = "CUDA_TILES_NVTX";

/// 0 or 1; at first what the variable says.
static LAUNCHES: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = u8::MAX;

/// Says whether each launch is in a range of its own from now on, on all threads.
pub fn set_launch_ranges(wanted: bool) {
    LAUNCHES.store(u8::from(wanted), Ordering::Relaxed);
}

/// The range of a launch, if there is to be one.
pub(crate) fn launch_range(name: &str) -> Option<Range> {
    let wanted = match LAUNCHES.load(Ordering::Relaxed) {
        UNKNOWN => {
            let wanted = std::env::var(VARIABLE).is_ok_and(|value| value == "launches");
            // Unless somebody has said it in between.
            let _ =
                LAUNCHES.compare_exchange(UNKNOWN, u8::from(wanted), Ordering::Relaxed, Ordering::Relaxed);
            wanted
        }
        wanted => wanted == 1,
    };
    wanted.then(|| range(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_their_first_zero() {
        assert_eq!(text("prefill").as_bytes(), b"prefill");
        assert_eq!(text("pre\0fill").as_bytes(), b"pre");
        assert_eq!(text("").as_bytes(), b"");
    }

    #[test]
    fn ranges_without_a_tool_do_nothing() {
        if std::env::var_os("NVTX_INJECTION64_PATH").is_none() {
            let _outer = range("outer");
            mark("moment");
            assert!(!is_heard());
        }
    }
}
