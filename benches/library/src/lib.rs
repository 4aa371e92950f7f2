//! The ready-made kernels behind a C interface: `benches/matrix.py` loads it into the process of the libraries that it
//! compares them with. Launches go through `cuda_tiles_host`, as those of any program do, on memory and streams of the
//! other library.
//!
//! Every function returns 0, or 1 after a failure, whose text [`ct_last_error`] has. A library that lacks a function lacks
//! the kernels for it.

mod array;
pub mod attention;
#[cfg(feature = "gemm")]
pub mod gemm;
mod kernels;

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};

use cuda_tiles_host::{Artifact, Device, Stream};
use cuda_tiles_suite::kernels::KERNELS;

use array::Array;

/// The result of a function of this library.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The device that [`ct_open`] opened.
static DEVICE: OnceLock<Device> = OnceLock::new();

thread_local! {
    /// Text of the calling thread's last failure.
    static FAILURE: RefCell<CString> = RefCell::default();
}

/// Opens GPU number `ordinal`, or the CPU if that is negative, and loads the kernels. `architecture` names the image to
/// load, for example `sm_80`; null is the best one. A process that wants kernels of two architectures loads two copies
/// of the library's file.
///
/// # Safety
/// `architecture` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_open(ordinal: c_int, architecture: *const c_char) -> c_int {
    guarded(|| {
        let device = match usize::try_from(ordinal) {
            Ok(ordinal) => Device::gpu(ordinal)?,
            Err(_) => Device::cpu(),
        };
        let artifact = if architecture.is_null() {
            &KERNELS
        } else {
            // SAFETY: not null, so the caller vouches for it.
            of_architecture(unsafe { text(architecture) }?)?
        };
        device.load(artifact)?;
        match DEVICE.get_or_init(|| device.clone()) == &device {
            true => Ok(()),
            false => Err("another device is open".into()),
        }
    })
}

/// The text of the calling thread's last failure, until its next one.
#[unsafe(no_mangle)]
pub extern "C" fn ct_last_error() -> *const c_char {
    FAILURE.with_borrow(|failure| failure.as_ptr())
}

/// Launches the kernel whose entry has this name on `count` arrays, in the order of its parameters.
///
/// # Safety
/// `name` is a C string, and `arrays` the address of `count` arrays of memory on the device that is open, which the
/// kernel may use, in the way of its parameters and in the order of `stream`, a stream of that device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ct_kernel(
    name: *const c_char,
    stream: *mut c_void,
    arrays: *const Array,
    count: usize,
) -> c_int {
    guarded(|| {
        // SAFETY: the caller vouches for the name, the arrays and the stream.
        unsafe {
            let arrays = std::slice::from_raw_parts(arrays, count);
            kernels::launch(text(name)?, &borrowed(stream)?, arrays)
        }
    })
}

/// The kernels with the images of one architecture alone.
fn of_architecture(architecture: &str) -> Result<&'static Artifact> {
    let images: Vec<_> =
        KERNELS.images().iter().filter(|image| image.arch() == architecture).copied().collect();
    if images.is_empty() {
        return Err(format!("the kernels were not built for `{architecture}`").into());
    }
    Ok(Box::leak(Box::new(Artifact::new(KERNELS.name(), images.leak(), None))))
}

/// The stream with this handle. Each is kept, so that it is made once.
///
/// # Safety
/// The handle is that of a stream of the device that is open, which lives as long as the process.
unsafe fn borrowed(handle: *mut c_void) -> Result<Stream> {
    static STREAMS: Mutex<Option<HashMap<usize, Stream>>> = Mutex::new(None);
    let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let streams = streams.get_or_insert_default();
    if let Some(stream) = streams.get(&handle.addr()) {
        return Ok(stream.clone());
    }
    let device = DEVICE.get().ok_or("no device is open: call ct_open first")?;
    // SAFETY: passed on to the caller.
    let stream = unsafe { device.borrow_stream(handle) };
    streams.insert(handle.addr(), stream.clone());
    Ok(stream)
}

/// The text of a C string.
///
/// # Safety
/// It is one, and stays as it is.
unsafe fn text<'text>(text: *const c_char) -> Result<&'text str> {
    // SAFETY: passed on to the caller.
    Ok(unsafe { CStr::from_ptr(text) }.to_str()?)
}

/// Runs `work`; an error or a panic becomes the calling thread's last failure.
fn guarded(work: impl FnOnce() -> Result<()>) -> c_int {
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "a panic, whose message is on the error output".to_owned(),
    };
    FAILURE.set(CString::new(failure).unwrap_or_default());
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use array::tests::array;
    use cuda_tiles::element::f16;

    /// Opens the CPU, on which every test runs.
    fn open() {
        // SAFETY: null names no architecture.
        assert_eq!(unsafe { ct_open(-1, std::ptr::null()) }, 0);
    }

    fn kernel(name: &CStr, arrays: &[Array]) -> std::result::Result<(), String> {
        open();
        // SAFETY: the arrays are made of vectors that live through the call, and the CPU has one stream.
        match unsafe { ct_kernel(name.as_ptr(), std::ptr::null_mut(), arrays.as_ptr(), arrays.len()) } {
            0 => Ok(()),
            // SAFETY: the text stays until this thread's next failure.
            _ => Err(unsafe { text(ct_last_error()) }.unwrap().to_owned()),
        }
    }

    #[test]
    fn kernels_run_on_memory_of_others() {
        let (mut x, mut y, mut z) = (vec![1.5_f32; 5000], vec![2.0_f32; 5000], vec![f32::NAN; 5000]);
        kernel(c"add_f32_4096", &[array(&mut x, &[5000]), array(&mut y, &[5000]), array(&mut z, &[5000])])
            .unwrap();
        assert_eq!(z, [3.5; 5000]);

        let (mut x, mut y) = (vec![3.0_f32; 2 * 8192], vec![f32::NAN; 2 * 8192]);
        kernel(c"softmax_8192", &[array(&mut x, &[2, 8192]), array(&mut y, &[2, 8192])]).unwrap();
        assert_eq!(y, [1.0 / 8192.0; 2 * 8192]);
    }

    #[test]
    fn products_of_the_lessons_run() {
        let one = f16::ONE;
        let (mut a, mut b, mut bias) = (vec![one; 2 * 16], vec![one; 16 * 8], vec![-f16::from_f32(16.0); 8]);
        let (a, b) = (array(&mut a, &[2, 16]), array(&mut b, &[16, 8]));
        for name in [c"gemm_loads", c"gemm_streamed"] {
            let mut c = vec![f16::NAN; 16];
            kernel(name, &[a, b, array(&mut c, &[2, 8])]).unwrap();
            assert_eq!(c, [f16::from_f32(16.0); 16]);
        }
        let mut c = vec![f16::NAN; 16];
        let arrays = [a, b, array(&mut bias, &[8]), array(&mut c, &[2, 8])];
        kernel(c"gemm_streamed_gelu", &arrays).unwrap();
        assert_eq!(c, [f16::ZERO; 16]);
    }

    #[test]
    fn attention_runs_on_memory_of_others() {
        open();
        let mut numbers = vec![f16::ONE; 2 * 3 * 4 * 64];
        let q = array(&mut numbers, &[2, 3, 4, 64]);
        // Keys are alike: a query gets the mean of the values that it sees.
        let mut values: Vec<f16> = (0..numbers.len()).map(|at| f16::from_f32((at / 64 % 4) as f32)).collect();
        let mut out = vec![f16::NAN; numbers.len()];
        let (v, o) = (array(&mut values, &[2, 3, 4, 64]), array(&mut out, &[2, 3, 4, 64]));
        // SAFETY: the arrays are made of vectors that live through the call, and the CPU has one stream.
        assert_eq!(unsafe { attention::ct_attention(std::ptr::null_mut(), &q, &q, &v, &o, 0.125, 1) }, 0);
        assert!(out.iter().enumerate().all(|(at, x)| x.to_f32() == (at / 64 % 4) as f32 / 2.0));
    }

    #[test]
    fn failures_have_words() {
        let mut x = vec![0.0_f32; 16];
        let message = kernel(c"subtract", &[array(&mut x, &[16])]).unwrap_err();
        assert_eq!(message, "there is no kernel `subtract` of 1 arrays");
        let mut y = vec![0.0_f64; 16];
        let all = [array(&mut x, &[16]), array(&mut y, &[16]), array(&mut x.clone(), &[16])];
        assert_eq!(kernel(c"add_f32_4096", &all).unwrap_err(), "an array of f64 was given for one of f32");
        let message = kernel(c"softmax_8192", &[array(&mut x, &[2, 8]), array(&mut x.clone(), &[2, 8])]);
        assert!(
            message.unwrap_err().starts_with("kernel `softmax_8192`, argument 1 (`x`): a tensor of shape")
        );
        // SAFETY: the name is a C string.
        assert_eq!(unsafe { ct_open(-1, c"sm_10".as_ptr()) }, 1);
    }
}
