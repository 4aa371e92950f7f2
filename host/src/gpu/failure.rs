//! Translates the driver's errors.
//!
//! A kernel that traps is reported by whatever call comes next, and by every call after that: the context is dead. So
//! that the message can name the kernel, each launch is noted until its stream has been seen to end well.

use std::collections::VecDeque;
use std::sync::Mutex;

use cudarc::driver::{DriverError, sys::CUresult};

use super::Gpu;
use crate::error::{Error, Result};

/// How many launches are remembered: enough for a message, and the list never grows.
const REMEMBERED: usize = 16;

/// The launches that have not been seen to end well.
#[derive(Default)]
pub(super) struct Launches {
    /// Pairs of the stream's address and the kernel's name, oldest first.
    recent: Mutex<VecDeque<(usize, &'static str)>>,
}

impl Launches {
    /// Notes the launch of a kernel on a stream.
    pub(super) fn note(&self, stream: usize, kernel: &'static str) {
        let mut recent = self.recent.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if recent.back() == Some(&(stream, kernel)) {
            return;
        }
        if recent.len() == REMEMBERED {
            recent.pop_front();
        }
        recent.push_back((stream, kernel));
    }

    /// Forgets the launches on one stream, or on all: they have ended well.
    pub(super) fn forget(&self, stream: Option<usize>) {
        let mut recent = self.recent.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        recent.retain(|&(other, _)| stream.is_some_and(|stream| stream != other));
    }

    /// The kernels in question, each once.
    fn kernels(&self) -> Vec<&'static str> {
        let recent = self.recent.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut kernels = Vec::new();
        for &(_, kernel) in recent.iter() {
            if !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        kernels
    }
}

impl Gpu {
    /// The result of a driver call made to do `operation`, with the error in words.
    pub(super) fn check<T>(&self, operation: &'static str, result: Result<T, DriverError>) -> Result<T> {
        result.map_err(|error| self.failure(operation, error))
    }

    fn failure(&self, operation: &'static str, error: DriverError) -> Error {
        let device = self.to_string();
        if is_trap(error.0) {
            return Error::Trapped { kernels: self.launches.kernels(), device, code: describe(error) };
        }
        Error::Driver { device, operation, code: describe(error) }
    }
}

/// Whether the error is one that a running kernel causes, after which the context is of no use.
fn is_trap(code: CUresult) -> bool {
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

    #[test]
    fn launches_are_forgotten_stream_by_stream() {
        let launches = Launches::default();
        launches.note(0, "a");
        launches.note(0, "a");
        launches.note(1, "b");
        launches.note(0, "a");
        assert_eq!(launches.kernels(), ["a", "b"]);
        launches.forget(Some(0));
        assert_eq!(launches.kernels(), ["b"]);
        launches.forget(None);
        assert!(launches.kernels().is_empty());
    }

    #[test]
    fn the_list_of_launches_does_not_grow() {
        const NAMES: [&str; 3] = ["a", "b", "c"];
        let launches = Launches::default();
        (0..1000).for_each(|launch| launches.note(0, NAMES[launch % 3]));
        assert_eq!(launches.recent.lock().unwrap().len(), REMEMBERED);
    }
}
