//! Lets programs that use the crate [`cust`](https://docs.rs/cust) build on machines without a CUDA toolkit, and start on
//! machines without an NVIDIA driver.
//!
//! `cust` 0.3.2 links against `libcuda`. This crate takes that library's place: it defines the driver's functions, and
//! each looks up its namesake in the driver when it is first called. Without a driver they return
//! `CUDA_ERROR_SHARED_OBJECT_INIT_FAILED`, so that `cust::init` fails in an orderly way.
//!
//! Two things make the linker use it:
//! - `CUDA_LIBRARY_PATH` names this crate's folder when `cust` is built, in `.cargo/config.toml`:
//!   `[env] CUDA_LIBRARY_PATH = { value = "host/cuda-shim", relative = true }`. In `lib64/` there lies a `libcuda.so` that
//!   is a linker script without contents.
//! - The program depends on this crate and says `extern crate cuda_tiles_cuda_shim as _;`, as the feature `cust` of
//!   `cuda-tiles-host` does.
//!
//! It also mends a defect. `cust_raw` declares the driver's error codes as a closed Rust enumeration, which must never
//! hold a code that is newer than itself, and newer drivers return such codes. Here they become `CUDA_ERROR_UNKNOWN`.

#![allow(non_snake_case, reason = "the functions have the driver's names")]

mod driver;
mod functions;

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

pub use functions::*;

/// Text of errors where there is no driver to ask.
const NO_DRIVER: &CStr = c"no NVIDIA driver: libcuda.so.1 not found";

type Describe = unsafe extern "C" fn(u32, *mut *const c_char) -> u32;

/// Gives the text of an error: the driver's, or without a driver that there is none.
///
/// # Safety
/// `text` is valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(error: u32, text: *mut *const c_char) -> u32 {
    static FOUND: OnceLock<Result<Describe, u32>> = OnceLock::new();
    // SAFETY: the driver's function of this name has this type; the caller vouches for `text`.
    unsafe { describe(FOUND.get_or_init(|| driver::find("cuGetErrorString")), error, text) }
}

/// Gives the name of an error: the driver's, or without a driver that there is none.
///
/// # Safety
/// `name` is valid for writing a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: u32, name: *mut *const c_char) -> u32 {
    static FOUND: OnceLock<Result<Describe, u32>> = OnceLock::new();
    // SAFETY: the driver's function of this name has this type; the caller vouches for `name`.
    unsafe { describe(FOUND.get_or_init(|| driver::find("cuGetErrorName")), error, name) }
}

/// # Safety
/// `text` is valid for writing a pointer.
unsafe fn describe(driver: &Result<Describe, u32>, error: u32, text: *mut *const c_char) -> u32 {
    match driver {
        // SAFETY: passed on to the caller.
        Ok(function) => driver::known(unsafe { function(error, text) }),
        Err(_) => {
            // SAFETY: passed on to the caller.
            unsafe { text.write(NO_DRIVER.as_ptr()) };
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_driver_errors_have_a_text_and_calls_a_code() {
        // SAFETY: `cuInit` takes any flags.
        let code = unsafe { cuInit(0) };
        let mut text = std::ptr::null();
        // SAFETY: `text` is a pointer.
        assert_eq!(unsafe { cuGetErrorString(code, &mut text) }, 0);
        // SAFETY: the function succeeded, so the text is a string that is never freed.
        let text = unsafe { CStr::from_ptr(text) };
        assert_eq!(code == driver::NO_LIBRARY, text == NO_DRIVER, "{code}: {text:?}");
    }
}
