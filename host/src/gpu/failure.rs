//! Translates the driver's errors.
//!
//! A kernel that traps is reported by whatever call comes next, and by every call after that: the context is dead. So
//! that the message can name the kernel, each launch is noted until its stream has been seen to end well.

use std::collections::VecDeque;
use std::sync::Mutex;

use cuda_tiles::launch::Description;
use cudarc::driver::{DriverError, sys::CUresult};

use crate::error::Report;

/// How many launches are remembered: enough for a message, and the list never grows.
const REMEMBERED: usize = 16;

/// The launches that have not been seen to end well.
#[derive(Default)]
pub(super) struct Launches {
    /// Oldest first.
    recent: Mutex<VecDeque<Launched>>,
}

/// A launch: the stream's address, the kernel's name, and where its source begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Launched {
    stream: usize,
    kernel: &'static str,
    file: &'static str,
    line: u32,
}

impl Launched {
    pub(super) fn new(stream: usize, kernel: &Description) -> Self {
        Self { stream, kernel: kernel.name, file: kernel.file, line: kernel.line }
    }

    /// The same kernel on another stream.
    pub(super) fn on(self, stream: usize) -> Self {
        Self { stream, ..self }
    }

    /// The line of the kernel, if the reported one may be its own: in the same file, as either build calls it, and behind.
    fn begins_before(&self, report: &Report) -> Option<u32> {
        let (a, b) = (self.file, report.file.as_str());
        ((a.ends_with(b) || b.ends_with(a)) && self.line <= report.line).then_some(self.line)
    }
}

impl Launches {
    /// Notes a launch.
    pub(super) fn note(&self, launched: Launched) {
        self.note_all([launched]);
    }

    /// Notes launches of a graph, of which the last ones count.
    pub(super) fn note_all(&self, launched: impl IntoIterator<Item = Launched>) {
        let mut recent = self.recent.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        for launched in launched {
            if recent.back() == Some(&launched) {
                continue;
            }
            if recent.len() == REMEMBERED {
                recent.pop_front();
            }
            recent.push_back(launched);
        }
    }

    /// Forgets the launches on one stream, or on all: they have ended well.
    pub(super) fn forget(&self, stream: Option<usize>) {
        let mut recent = self.recent.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        recent.retain(|other| stream.is_some_and(|stream| stream != other.stream));
    }

    /// The kernels in question, each once: the one whose source the report's line is in, or all.
    pub(super) fn kernels(&self, report: Option<&Report>) -> Vec<&'static str> {
        let recent = self.recent.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let line = report
            .and_then(|report| recent.iter().filter_map(|launched| launched.begins_before(report)).max());
        let mut kernels = Vec::new();
        for launched in recent.iter() {
            let excluded = report
                .filter(|_| line.is_some())
                .is_some_and(|report| launched.begins_before(report) != line);
            if !excluded && !kernels.contains(&launched.kernel) {
                kernels.push(launched.kernel);
            }
        }
        kernels
    }
}

/// Whether the error is one that a running kernel causes, after which the context is of no use.
pub(super) fn is_trap(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
    )
}

/// The driver's name and text for an error.
pub(super) fn describe(error: DriverError) -> String {
    let text = |found: Result<&std::ffi::CStr, DriverError>| {
        found.map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
    };
    match (text(error.error_name()), text(error.error_string())) {
        (name, _) if name.is_empty() => format!("error {}", error.0 as u32),
        (name, meaning) => format!("{name}: {meaning}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(stream: usize, kernel: &'static str, line: u32) -> Launched {
        Launched { stream, kernel, file: "src/lib.rs", line }
    }

    #[test]
    fn launches_are_forgotten_stream_by_stream() {
        let launches = Launches::default();
        launches.note(launched(0, "a", 1));
        launches.note(launched(0, "a", 1));
        launches.note(launched(1, "b", 20));
        launches.note(launched(0, "a", 1));
        assert_eq!(launches.kernels(None), ["a", "b"]);
        launches.forget(Some(0));
        assert_eq!(launches.kernels(None), ["b"]);
        launches.forget(None);
        assert!(launches.kernels(None).is_empty());
    }

    #[test]
    fn a_reported_line_tells_which_kernel_it_was() {
        let launches = Launches::default();
        launches.note(launched(0, "a", 1));
        launches.note(launched(0, "b", 20));
        launches.note(launched(0, "c", 40));
        let report =
            |file: &str, line| Report { block: [0; 3], message: String::new(), file: file.into(), line };
        assert_eq!(launches.kernels(Some(&report("/home/user/src/lib.rs", 30))), ["b"]);
        assert_eq!(launches.kernels(Some(&report("src/lib.rs", 19))), ["a"]);
        assert_eq!(launches.kernels(Some(&report("src/helpers.rs", 30))), ["a", "b", "c"]);
    }

    #[test]
    fn the_list_of_launches_does_not_grow() {
        const NAMES: [&str; 3] = ["a", "b", "c"];
        let launches = Launches::default();
        (0..1000).for_each(|launch| launches.note(launched(0, NAMES[launch % 3], 1)));
        assert_eq!(launches.recent.lock().unwrap().len(), REMEMBERED);
    }
}
