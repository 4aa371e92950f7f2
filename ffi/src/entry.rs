//! How a call goes from C to Rust and back.

use std::any::Any as Payload;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::abi::Any;
use crate::arguments::Arguments;
use crate::error::{Exception, Function, Problem};
use crate::runtime;

/// What an exported function is to C: reads the arguments, runs it, and writes its result. Returns 0, or -1 after an exception.
///
/// # Safety
/// As TVM-FFI calls functions: `arguments` is the address of `count` arguments as `c_api.h` describes them, and `result` that of room for
/// one, which holds no object. The memory of each tensor is, from its first to its last element, initialised and of its type, used by
/// nobody else during the call but in the order of the caller's stream, and not written by others meanwhile; the stream lives as long.
pub unsafe fn enter(
    function: &'static Function,
    arguments: *const Any,
    count: i32,
    result: *mut Any,
    run: fn(&mut Arguments<'_>) -> Result<Any, Exception>,
) -> c_int {
    // What a panic leaves behind is gone with the call.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller vouches for the arguments.
        let mut arguments = unsafe { Arguments::read(function, arguments, count)? };
        run(&mut arguments)
    }));
    let exception = match outcome {
        Ok(Ok(value)) => {
            if let Some(result) = NonNull::new(result) {
                // SAFETY: there is room for a result, says the caller, and nothing to drop in it.
                unsafe { result.write(value) };
            }
            return 0;
        }
        Ok(Err(exception)) => exception,
        Err(payload) => Problem::Panicked { message: message(&*payload) }.of(function),
    };
    runtime::raise(&exception);
    -1
}

/// The text of a panic.
fn message(payload: &(dyn Payload + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "of an unknown reason".to_owned())
}

/// The handle of a function in C, which has no state here.
pub type Handle = *mut c_void;
