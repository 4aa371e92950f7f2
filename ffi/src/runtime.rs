//! The functions of libtvm_ffi that a call needs, looked up when one first needs them.
//!
//! The Python package `tvm_ffi` has loaded the library, with its symbols for all, before it loads a module. So nothing is linked: a
//! library of exported functions builds, and loads, where TVM-FFI is not installed.

use std::ffi::{CString, c_char, c_void};
use std::sync::OnceLock;

use crate::error::{Exception, Problem};

/// The functions of TVM-FFI that are called.
pub(crate) struct Runtime {
    /// `TVMFFIErrorSetRaisedFromCStr`: the kind of an exception, and its text, for the calling thread's caller.
    pub(crate) raise: unsafe extern "C" fn(*const c_char, *const c_char),
    /// `TVMFFIEnvGetStream`: the calling thread's current stream of a device.
    pub(crate) stream: unsafe extern "C" fn(i32, i32) -> *mut c_void,
}

/// Found once, for all threads.
static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// TVM-FFI's functions, if the process has the library.
fn runtime() -> Option<&'static Runtime> {
    if RUNTIME.get().is_none()
        && let Some(found) = find()
    {
        // Another thread may have been first, with the same functions.
        let _ = RUNTIME.set(found);
    }
    RUNTIME.get()
}

#[cfg(not(test))]
fn find() -> Option<Runtime> {
    let process = process()?;
    // SAFETY: `tvm/ffi/c_api.h` and `tvm/ffi/extra/c_env_api.h` declare functions of these names with these signatures, and the C
    // interface of TVM-FFI 0.1 keeps them. The library stays loaded: Python unloads none.
    unsafe {
        Some(Runtime {
            raise: *process.get(c"TVMFFIErrorSetRaisedFromCStr").ok()?,
            stream: *process.get(c"TVMFFIEnvGetStream").ok()?,
        })
    }
}

/// All libraries of the process whose symbols are for all.
#[cfg(all(unix, not(test)))]
fn process() -> Option<libloading::os::unix::Library> {
    Some(libloading::os::unix::Library::this())
}

/// TVM-FFI's library, which the process has loaded.
#[cfg(all(windows, not(test)))]
fn process() -> Option<libloading::os::windows::Library> {
    libloading::os::windows::Library::open_already_loaded("tvm_ffi.dll").ok()
}

/// Tests have no TVM-FFI in their process.
#[cfg(test)]
fn find() -> Option<Runtime> {
    Some(crate::tests::stand_in())
}

/// The stream that the caller works on, on a CUDA device; null is the default stream, and the answer without TVM-FFI.
pub(crate) fn current_stream(device: crate::abi::DLDevice) -> *mut c_void {
    match runtime() {
        // SAFETY: the function takes any device, and answers null for those that it has no stream of.
        Some(runtime) => unsafe { (runtime.stream)(device.device_type, device.device_id) },
        None => std::ptr::null_mut(),
    }
}

/// Leaves an exception for the caller to find when the call has returned -1.
pub(crate) fn raise(exception: &Exception) {
    // A C string ends at the first zero byte.
    let text = exception.to_string().replace('\0', "\u{fffd}");
    let Some(runtime) = runtime() else {
        eprintln!("{}: {text} ({})", exception.kind().name().to_string_lossy(), Problem::NoRuntime);
        return;
    };
    let text = CString::new(text).unwrap_or_default();
    // SAFETY: both are strings that end with a zero byte, and TVM-FFI copies them.
    unsafe { (runtime.raise)(exception.kind().name().as_ptr(), text.as_ptr()) };
}
