//! The errors of `cust`, in this crate's words.

use ::cust::error::CudaError;

use crate::error::Error;

pub(super) fn failure(device: &str, operation: &'static str, error: CudaError) -> Error {
    Error::Driver { device: device.to_owned(), operation, code: describe(error) }
}

pub(super) fn describe(error: CudaError) -> String {
    format!("{error:?}: {error}")
}
