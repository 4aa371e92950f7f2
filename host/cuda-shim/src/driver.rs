//! Finds the driver's functions, and keeps its error codes within what `cust_raw` knows.

use std::sync::OnceLock;

use libloading::Library;

/// `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED`: there is no driver.
pub(crate) const NO_LIBRARY: u32 = 303;

/// `CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND`: the driver has no function of this name.
const NO_FUNCTION: u32 = 302;

/// `CUDA_ERROR_UNKNOWN`.
const UNKNOWN: u32 = 999;

/// Names of the driver's library: on Linux, and on Windows.
const NAMES: [&str; 3] = ["libcuda.so.1", "libcuda.so", "nvcuda.dll"];

/// The driver's function of this name, or the code that says why there is none.
///
/// # Safety
/// `Function` is the type of the driver's function.
pub(crate) unsafe fn find<Function: Copy>(name: &str) -> Result<Function, u32> {
    static DRIVER: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: the driver's library has initialisers that may run at any time, and it is never unloaded.
    let driver = DRIVER.get_or_init(|| NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok()));
    let driver = driver.as_ref().ok_or(NO_LIBRARY)?;
    // SAFETY: the caller vouches for the type.
    let function = unsafe { driver.get::<Function>(name) }.map_err(|_| NO_FUNCTION)?;
    Ok(*function)
}

/// The code itself if it is one of CUDA 11.4, else `CUDA_ERROR_UNKNOWN`.
pub(crate) fn known(code: u32) -> u32 {
    match code {
        0..=8
        | 34
        | 100..=102
        | 200..=202
        | 205..=224
        | 300..=304
        | 400
        | 401
        | 500
        | 600
        | 700..=705
        | 708..=720 => code,
        800..=809 | 900..=911 => code,
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_codes_become_unknown() {
        // CUDA_ERROR_INVALID_CLUSTER_SIZE, CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, CUDA_ERROR_FUNCTION_NOT_LOADED...
        for code in [912, 225, 721, 46, 36, 402, u32::MAX] {
            assert_eq!(known(code), UNKNOWN);
        }
        for code in [0, 222, 303, 719, 911, 999] {
            assert_eq!(known(code), code);
        }
    }
}
