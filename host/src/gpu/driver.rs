//! The driver's library: whether it is there, and the one function whose newest form old drivers lack.
//!
//! `cudarc` looks each function up when it is first called, or links all of them, as the features say that other crates of a program set.
//! All functions that this crate calls are those of CUDA 12.0, by the names that bindings from 12.0 on give them, but for the time
//! between events: bindings from 12.8 on name a function that came with that version.

use std::ffi::c_void;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUresult};
use cudarc::driver::{CudaEvent, DriverError};

/// The oldest driver interface that works: CUDA 12.0 (R525), as the driver counts.
pub(super) const OLDEST: i32 = 12000;

/// The driver's library, which its installation puts where the system looks.
const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// Whether the driver's library can be opened. It stays open: `cudarc` asks for it by another name, for which the system would load it a second
/// time, and cuda-gdb knows it by this one.
pub(super) fn is_present() -> bool {
    // SAFETY: the driver's initialisers may run at any time.
    unsafe { libloading::Library::new(LIBRARY) }.map(std::mem::forget).is_ok()
}

/// The CUDA version that the driver supports, as 1000 * major + 10 * minor.
pub(super) fn version() -> Result<i32, DriverError> {
    let mut version = 0;
    // SAFETY: the function writes one integer to the address it is given.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(version)
}

/// `cuEventElapsedTime`.
type ElapsedTime = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> CUresult;

/// The time from one event to another, in milliseconds. Waits for both.
pub(super) fn milliseconds_between(start: &CudaEvent, end: &CudaEvent) -> Result<f32, DriverError> {
    start.context().bind_to_thread()?;
    start.synchronize()?;
    end.synchronize()?;
    let elapsed_time = elapsed_time()?;
    let mut milliseconds = 0.0;
    // SAFETY: both events are alive, and the function writes one number to the address it is given.
    unsafe { elapsed_time(&mut milliseconds, start.cu_event(), end.cu_event()) }.result()?;
    Ok(milliseconds)
}

/// The driver's function in its form of CUDA 12.0.
fn elapsed_time() -> Result<ElapsedTime, DriverError> {
    static FUNCTION: OnceLock<ElapsedTime> = OnceLock::new();

    if let Some(function) = FUNCTION.get() {
        return Ok(*function);
    }
    let mut address: *mut c_void = std::ptr::null_mut();
    // SAFETY: the name ends in a zero, and the function writes one address to the place it is given. The status may be left out.
    let found = unsafe {
        sys::cuGetProcAddress_v2(
            c"cuEventElapsedTime".as_ptr(),
            &mut address,
            OLDEST,
            sys::CUdriverProcAddress_flags::CU_GET_PROC_ADDRESS_DEFAULT as u64,
            std::ptr::null_mut(),
        )
    };
    found.result()?;
    if address.is_null() {
        return Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND));
    }
    // SAFETY: the driver found the function of this name as CUDA 12.0 declares it, which `ElapsedTime` repeats.
    let function = unsafe { std::mem::transmute::<*mut c_void, ElapsedTime>(address) };
    Ok(*FUNCTION.get_or_init(|| function))
}
