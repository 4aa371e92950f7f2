//! What a GPU reports: the results of the driver's calls, and what its kernels have said.

use std::sync::PoisonError;

use cudarc::driver::DriverError;

use super::Gpu;
use super::failure::{describe, is_trap};
use super::messages::Messages;
use crate::error::{Error, Report, Result};
use crate::printer;

impl Gpu {
    /// The result of a driver call made to do `operation`, with the error in words.
    pub(super) fn check<T>(&self, operation: &'static str, result: Result<T, DriverError>) -> Result<T> {
        result.map_err(|error| self.failure(operation, error))
    }

    fn failure(&self, operation: &'static str, error: DriverError) -> Error {
        let device = self.to_string();
        if is_trap(error.0) {
            self.show_messages();
            let report = self.report();
            let kernels = self.launches.kernels(report.as_ref());
            return Error::Trapped { kernels, device, code: describe(error), report: report.map(Box::new) };
        }
        Error::Driver { device, operation, code: describe(error) }
    }

    /// Shows what kernels have printed so far.
    pub(super) fn show_messages(&self) {
        let mut lines = Vec::new();
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(messages) = &mut *messages {
            messages.take(&mut lines);
        }
        // The printer may wait for the GPU itself.
        drop(messages);
        lines.iter().for_each(|line| printer::show(line));
    }

    /// What the kernel that trapped has reported, if anything.
    pub(super) fn report(&self) -> Option<Report> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.as_ref().and_then(Messages::report)
    }
}
