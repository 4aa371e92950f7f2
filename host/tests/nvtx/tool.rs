//! A tool's library, which `host/tests/launch.rs` compiles: it appends a line to a file for each range that begins or ends.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::OpenOptions;
use std::io::Write;

fn line(text: &str) {
    let path = std::env::var_os("HEARD").expect("the test says where to");
    let mut file = OpenOptions::new().append(true).create(true).open(path).expect("the file opens");
    writeln!(file, "{text}").expect("the file is written");
}

fn text(text: *const c_char) -> String {
    // SAFETY: NVTX hands over texts of C.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

extern "system" fn push(name: *const c_char) -> c_int {
    line(&format!("push {}", text(name)));
    0
}

extern "system" fn pop() -> c_int {
    line("pop");
    0
}

extern "system" fn mark(name: *const c_char) {
    line(&format!("mark {}", text(name)));
}

#[repr(C)]
struct Callbacks {
    struct_size: usize,
    module_functions: extern "system" fn(c_int, *mut *mut *mut *const c_void, *mut u32) -> c_int,
}

/// # Safety
/// It is called as NVTX has it.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn InitializeInjectionNvtx2(
    export_table: extern "system" fn(u32) -> *const c_void,
) -> c_int {
    // SAFETY: number 1 is the table of callbacks.
    let callbacks = unsafe { &*export_table(1).cast::<Callbacks>() };
    let (mut table, mut entries) = (std::ptr::null_mut(), 0);
    assert_eq!((callbacks.module_functions)(1, &mut table, &mut entries), 1);
    assert!(entries > 11 && callbacks.struct_size >= size_of::<Callbacks>());
    // SAFETY: the numbers are those of `nvtxMarkA`, `nvtxRangePushA` and `nvtxRangePop`.
    unsafe {
        **table.add(2) = mark as *const c_void;
        **table.add(9) = push as *const c_void;
        **table.add(11) = pop as *const c_void;
    }
    1
}
