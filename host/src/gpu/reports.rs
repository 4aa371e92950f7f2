//! What a GPU reports: the results of the driver's calls, and what its kernels have said.

use std::sync::PoisonError;

use cudarc::driver::{DriverError, result, sys};

use super::Gpu;
use super::failure::{describe, is_trap};
use super::messages::{self, Messages};
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

    /// Lets the kernels of a new module of the current context speak, if they have anything to say.
    pub(super) fn listen(&self, module: sys::CUmodule) -> Result<()> {
        const OPERATION: &str = "listening to kernels";
        let (mut variable, mut bytes) = (0, 0);
        // SAFETY: the module is loaded in the current context, the name ends with a zero, and both results are written.
        let found = unsafe {
            sys::cuModuleGetGlobal_v2(&mut variable, &mut bytes, module, messages::VARIABLE.as_ptr())
        };
        match found.result() {
            Err(DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND)) => return Ok(()),
            other => self.check(OPERATION, other)?,
        }
        let stream = self.upload_stream()?;
        let upload = |address, words: &[u64]| {
            // SAFETY: the address is that of room for these words, which no kernel uses yet; they outlive the copy, which is waited for.
            unsafe { result::memcpy_htod_async(address, words, stream.cu_stream()) }?;
            stream.synchronize()
        };
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let made = match &mut *messages {
            Some(messages) => Ok(messages),
            none => Messages::new(upload).map(|messages| none.insert(messages)),
        };
        // The variable has the two words of 64 bits that `cuda_tiles` gives it, and no kernel of the module runs.
        let uploaded = made.and_then(|messages| upload(variable, &messages.addresses));
        // An error shows messages.
        drop(messages);
        self.check(OPERATION, uploaded)
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
