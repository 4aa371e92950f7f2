//! What NVTX is to a tool: tables of places for functions, which the tool's library fills when it is loaded.
//!
//! The protocol is that of NVTX 3 (`nvtxDetail/nvtxTypes.h`, `nvtxImpl.h` and `nvtxInit.h` of NVIDIA's headers, which programs in C compile
//! into themselves). A program that wants to be heard loads the library that an environment variable names, and calls its function
//! `InitializeInjectionNvtx2` with a function that gives out *export tables*. One of them has a function that gives out the *function
//! tables*: for each module of NVTX an array of addresses of places, by the numbers that NVTX gives its functions. The tool writes its own
//! functions there.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// The variable that names the tool's library.
const VARIABLE: &str =
    if size_of::<usize>() == 8 { "NVTX_INJECTION64_PATH" } else { "NVTX_INJECTION32_PATH" };

/// The version of NVTX that this is.
const VERSION: u32 = 3;

/// The numbers of export tables.
const CALLBACKS: u32 = 1;
const VERSION_INFO: u32 = 3;

/// The modules of NVTX, from number 1 on, by how many functions each has: `CORE`, `CUDA`, `OPENCL`, `CUDART`, `CORE2`, `SYNC`.
const FUNCTIONS: [usize; MODULES] = [15, 8, 14, 6, 15, 6];
const MODULES: usize = 6;
const MOST_FUNCTIONS: usize = 15;

/// The functions of the module `CORE` that are called, by their numbers.
const MARK: usize = 2;
const RANGE_PUSH: usize = 9;
const RANGE_POP: usize = 11;

/// Where a tool writes the address of a function, or leaves null.
type Place = AtomicPtr<c_void>;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    struct_size: usize,
    module_functions: extern "system" fn(u32, *mut *const *const Place, *mut u32) -> c_int,
}

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct VersionInfo {
    struct_size: usize,
    version: u32,
    reserved: u32,
    set_injection_version: extern "system" fn(u32),
}

static CALLBACK_TABLE: Callbacks = Callbacks { struct_size: size_of::<Callbacks>(), module_functions };

static VERSION_TABLE: VersionInfo = VersionInfo {
    struct_size: size_of::<VersionInfo>(),
    version: VERSION,
    reserved: 0,
    set_injection_version,
};

/// The places of all modules. The first of each belongs to no function.
static PLACES: [[Place; MOST_FUNCTIONS + 1]; MODULES] =
    [const { [const { Place::new(null_mut()) }; MOST_FUNCTIONS + 1] }; MODULES];

/// The function table of each module: null, the address of each function's place, and null.
static TABLES: [FunctionTable; MODULES] = tables();

struct FunctionTable([*const Place; MOST_FUNCTIONS + 2]);

// SAFETY: the addresses are those of a static, or null, and are only read.
unsafe impl Sync for FunctionTable {}

const fn tables() -> [FunctionTable; MODULES] {
    let mut tables = [const { FunctionTable([null(); MOST_FUNCTIONS + 2]) }; MODULES];
    let mut module = 0;
    while module < MODULES {
        let mut function = 1;
        while function <= FUNCTIONS[module] {
            tables[module].0[function] = &raw const PLACES[module][function];
            function += 1;
        }
        module += 1;
    }
    tables
}

/// `NvtxGetExportTableFunc_t`: the export table of this number, or null.
extern "system" fn export_table(number: u32) -> *const c_void {
    match number {
        CALLBACKS => (&raw const CALLBACK_TABLE).cast(),
        VERSION_INFO => (&raw const VERSION_TABLE).cast(),
        _ => null(),
    }
}

/// Writes where the function table of a module is, and how many entries it has; 0 if there is no such module. Either place may be null.
extern "system" fn module_functions(
    module: u32,
    table: *mut *const *const Place,
    entries: *mut u32,
) -> c_int {
    let Some(module) = (module as usize).checked_sub(1).filter(|&module| module < MODULES) else { return 0 };
    // SAFETY: the caller is a tool's library, which hands over valid places or null, as NVTX has it.
    unsafe {
        if !entries.is_null() {
            entries.write(FUNCTIONS[module] as u32 + 1);
        }
        if !table.is_null() {
            table.write(TABLES[module].0.as_ptr());
        }
    }
    1
}

/// A tool tells which version of NVTX it was made for. Nothing depends on it.
extern "system" fn set_injection_version(_version: u32) {}

/// `NvtxInitializeInjectionNvtxFunc_t`, the function of a tool's library that fills the tables; 0 if it does not want to.
type Initialize = unsafe extern "system" fn(extern "system" fn(u32) -> *const c_void) -> c_int;

/// A tool that hears of ranges, by the functions that it has written. Those that it left out are not called.
pub(super) struct Tool {
    push: Option<unsafe extern "system" fn(*const c_char) -> c_int>,
    pop: Option<unsafe extern "system" fn() -> c_int>,
    mark: Option<unsafe extern "system" fn(*const c_char)>,
}

impl Tool {
    /// Lets a tool fill the tables. `None` if it does not want to.
    ///
    /// # Safety
    /// `initialize` keeps to the protocol: it calls what it is handed as NVTX describes it, and writes to places nothing but functions of
    /// the types that NVTX gives them, which can be called on any thread, from then on to the end of the process.
    unsafe fn attach(initialize: Initialize) -> Option<Self> {
        // The tables are one for the process.
        static ATTACHING: Mutex<()> = Mutex::new(());
        let _alone = ATTACHING.lock().unwrap_or_else(PoisonError::into_inner);
        PLACES.as_flattened().iter().for_each(|place| place.store(null_mut(), Ordering::Relaxed));
        // SAFETY: the caller vouches for the function.
        if unsafe { initialize(export_table) } == 0 {
            return None;
        }
        let [core, ..] = &PLACES;
        let written = |function: usize| core[function].load(Ordering::Acquire);
        // SAFETY: a place holds null, or what the tool has written there: a function of the type that NVTX gives the one of this number
        // (`nvtxRangePushA`, `nvtxRangePop`, `nvtxMarkA`). An `Option` of a function is null where it is `None`.
        unsafe {
            Some(Self {
                push: std::mem::transmute::<
                    *mut c_void,
                    Option<unsafe extern "system" fn(*const c_char) -> c_int>,
                >(written(RANGE_PUSH)),
                pop: std::mem::transmute::<*mut c_void, Option<unsafe extern "system" fn() -> c_int>>(
                    written(RANGE_POP),
                ),
                mark: std::mem::transmute::<*mut c_void, Option<unsafe extern "system" fn(*const c_char)>>(
                    written(MARK),
                ),
            })
        }
    }

    /// Opens a range on this thread.
    pub(super) fn push(&self, name: &CStr) {
        if let Some(push) = self.push {
            // SAFETY: whoever attached the tool vouches for its functions; the text ends with a zero, and lives through the call.
            let _level = unsafe { push(name.as_ptr()) };
        }
    }

    /// Ends the range of this thread that was opened last.
    pub(super) fn pop(&self) {
        if let Some(pop) = self.pop {
            // SAFETY: whoever attached the tool vouches for its functions.
            let _level = unsafe { pop() };
        }
    }

    /// Marks a moment.
    pub(super) fn mark(&self, name: &CStr) {
        if let Some(mark) = self.mark {
            // SAFETY: as for ranges.
            unsafe { mark(name.as_ptr()) };
        }
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tool")
    }
}

/// Loads the tool that the environment names, if it does. A library that cannot be loaded, or is none of a tool, is left out, as all programs
/// with NVTX do.
pub(super) fn of_environment() -> Option<Tool> {
    let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
    // SAFETY: whoever sets the variable says by that, as the protocol has it, that the library's code may run in this process.
    let library = unsafe { libloading::Library::new(path) }.ok()?;
    // SAFETY: libraries that have a function of this name are those of tools, whose function has this type.
    let initialize = *unsafe { library.get::<Initialize>(b"InitializeInjectionNvtx2\0") }.ok()?;
    // SAFETY: the library is a tool's, and stays loaded if its functions are called.
    let tool = unsafe { Tool::attach(initialize) }?;
    std::mem::forget(library);
    Some(tool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    thread_local! {
        /// What the tool of the test has heard.
        static HEARD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    fn hear(what: &str, text: *const c_char) {
        // SAFETY: `Tool` hands over texts of C.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
        HEARD.with_borrow_mut(|heard| heard.push(format!("{what} {text}")));
    }

    unsafe extern "system" fn push(text: *const c_char) -> c_int {
        hear("push", text);
        0
    }

    unsafe extern "system" fn pop() -> c_int {
        HEARD.with_borrow_mut(|heard| heard.push("pop".to_owned()));
        0
    }

    unsafe extern "system" fn mark(text: *const c_char) {
        hear("mark", text);
    }

    /// The function table of a module as a tool sees it.
    unsafe fn table_of(
        export: extern "system" fn(u32) -> *const c_void,
        module: u32,
    ) -> Option<&'static [*const Place]> {
        let callbacks = export(CALLBACKS).cast::<Callbacks>();
        let (mut table, mut entries) = (null(), 0);
        // SAFETY: the table has this number, and is a static.
        let found = unsafe { ((*callbacks).module_functions)(module, &mut table, &mut entries) };
        // SAFETY: as many entries are there, says the function.
        (found == 1).then(|| unsafe { std::slice::from_raw_parts(table, entries as usize) })
    }

    unsafe extern "system" fn takes_ranges(export: extern "system" fn(u32) -> *const c_void) -> c_int {
        // SAFETY: this is a tool.
        let core = unsafe { table_of(export, 1) }.unwrap();
        // SAFETY: the places are statics.
        let write = |function: usize, address: *mut c_void| unsafe {
            (*core[function]).store(address, Ordering::Relaxed);
        };
        write(RANGE_PUSH, push as *mut c_void);
        write(RANGE_POP, pop as *mut c_void);
        write(MARK, mark as *mut c_void);
        1
    }

    unsafe extern "system" fn takes_nothing(_: extern "system" fn(u32) -> *const c_void) -> c_int {
        1
    }

    unsafe extern "system" fn refuses(export: extern "system" fn(u32) -> *const c_void) -> c_int {
        // SAFETY: this is a tool.
        unsafe { takes_ranges(export) };
        0
    }

    #[test]
    fn a_tool_hears_of_what_it_has_written_functions_for() {
        // SAFETY: the functions above are of the types that NVTX has.
        unsafe {
            assert!(Tool::attach(refuses).is_none());
            let deaf = Tool::attach(takes_nothing).unwrap();
            deaf.push(c"unheard");
            deaf.mark(c"unheard");
            deaf.pop();
            let tool = Tool::attach(takes_ranges).unwrap();
            tool.push(c"outer");
            tool.mark(c"moment");
            tool.pop();
        }
        assert_eq!(HEARD.take(), ["push outer", "mark moment", "pop"]);
    }

    #[test]
    fn tables_have_a_place_for_each_function_of_nvtx() {
        for (module, functions) in (1..).zip(FUNCTIONS) {
            // SAFETY: this is what a tool does.
            let table = unsafe { table_of(export_table, module) }.unwrap();
            assert_eq!(table.len(), functions + 1);
            assert!(table[0].is_null() && table[1..].iter().all(|place| !place.is_null()));
            assert!(TABLES[module as usize - 1].0[functions + 1].is_null());
        }
        for module in [0, 7, u32::MAX] {
            assert_eq!(module_functions(module, null_mut(), null_mut()), 0);
        }
        assert_eq!(module_functions(1, null_mut(), null_mut()), 1);
        assert!(export_table(0).is_null() && export_table(2).is_null() && export_table(4).is_null());
        // SAFETY: the table has this number, and is a static.
        let version = unsafe { &*export_table(VERSION_INFO).cast::<VersionInfo>() };
        assert_eq!((version.struct_size, version.version, version.reserved), (24, 3, 0));
        (version.set_injection_version)(3);
    }
}
