//! NCCL's library, loaded at run time: the functions that this crate calls, as NCCL 2.18 declares them.
//!
//! `cudarc` has bindings too. They look for `libnccl.so` and not for `libnccl.so.2`, the only name that NCCL's packages give it without
//! their headers; they panic where nothing is found; and numbers that newer versions return are no value of their enumerations. Beside a
//! crate that asks `cudarc` to link the driver (candle does), they would want NCCL when the program is linked.

use std::env;
use std::ffi::{CStr, OsString, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use libloading::Library as File;

use crate::collectives::error::{CollectiveError, Result};

/// The environment variable that names the library's file.
const VARIABLE: &str = "CUDA_TILES_NCCL";

/// What is looked for without it.
const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];

/// The oldest version that works, as NCCL counts: the first whose nonblocking communicators can do all that others can.
const OLDEST: c_int = 21800;

pub(super) const UNIQUE_ID_BYTES: usize = 128;

/// `ncclComm_t`.
pub(super) type RawCommunicator = *mut c_void;

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct UniqueId([u8; UNIQUE_ID_BYTES]);

/// `ncclResult_t`. Newer versions have more values.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Code(c_int);

impl Code {
    pub(super) const SUCCESS: Self = Self(0);
    pub(super) const IN_PROGRESS: Self = Self(7);
}

/// `ncclConfig_t` of NCCL 2.18. Newer versions see by its size what it does not have.
#[repr(C)]
pub(super) struct Config {
    size: usize,
    magic: c_uint,
    version: c_uint,
    blocking: c_int,
    cga_cluster_size: c_int,
    min_ctas: c_int,
    max_ctas: c_int,
    net_name: *const c_char,
    split_share: c_int,
}

impl Config {
    /// Nonblocking, and all else as NCCL thinks best.
    pub(super) fn nonblocking() -> Self {
        const UNDEFINED: c_int = c_int::MIN;
        Self {
            size: size_of::<Self>(),
            magic: 0xcafe_beef,
            version: OLDEST as c_uint,
            blocking: 0,
            cga_cluster_size: UNDEFINED,
            min_ctas: UNDEFINED,
            max_ctas: UNDEFINED,
            net_name: ptr::null(),
            split_share: UNDEFINED,
        }
    }
}

type Stream = *mut c_void;

/// What all ranks reduce: source, target, elements, their type, the reduction.
type ReduceFn =
    unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, RawCommunicator, Stream) -> Code;

macro_rules! functions {
    ($($field:ident: $name:literal $type:ty;)*) => {
        /// The functions of the library.
        pub(super) struct Library {
            $(pub(super) $field: $type,)*
            _file: File,
        }

        impl Library {
            /// Finds all functions.
            ///
            /// # Safety
            /// The file is NCCL's library.
            unsafe fn of(file: File) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: NCCL declares the function so. It stays loaded as long as `file`, which is kept beside it.
                    $($field: *unsafe { file.get::<$type>($name) }?,)*
                    _file: file,
                })
            }
        }
    };
}

functions! {
    version: c"ncclGetVersion" unsafe extern "C" fn(*mut c_int) -> Code;
    new_unique_id: c"ncclGetUniqueId" unsafe extern "C" fn(*mut UniqueId) -> Code;
    join_with: c"ncclCommInitRankConfig" unsafe extern "C" fn(*mut RawCommunicator, c_int, UniqueId, c_int, *mut Config) -> Code;
    finalize: c"ncclCommFinalize" unsafe extern "C" fn(RawCommunicator) -> Code;
    destroy: c"ncclCommDestroy" unsafe extern "C" fn(RawCommunicator) -> Code;
    abort: c"ncclCommAbort" unsafe extern "C" fn(RawCommunicator) -> Code;
    asynchronous_state: c"ncclCommGetAsyncError" unsafe extern "C" fn(RawCommunicator, *mut Code) -> Code;
    error_text: c"ncclGetErrorString" unsafe extern "C" fn(Code) -> *const c_char;
    last_error_text: c"ncclGetLastError" unsafe extern "C" fn(RawCommunicator) -> *const c_char;
    group_start: c"ncclGroupStart" unsafe extern "C" fn() -> Code;
    group_end: c"ncclGroupEnd" unsafe extern "C" fn() -> Code;
    all_reduce: c"ncclAllReduce" ReduceFn;
    reduce_scatter: c"ncclReduceScatter" ReduceFn;
    all_gather: c"ncclAllGather" unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, RawCommunicator, Stream) -> Code;
    broadcast: c"ncclBroadcast" unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, RawCommunicator, Stream) -> Code;
    send: c"ncclSend" unsafe extern "C" fn(*const c_void, usize, c_int, c_int, RawCommunicator, Stream) -> Code;
    receive: c"ncclRecv" unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, RawCommunicator, Stream) -> Code;
}

/// The library, loaded when it is first asked for.
pub(super) fn load() -> Result<&'static Library> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    let loaded = LIBRARY.get_or_init(|| match env::var_os(VARIABLE).filter(|file| !file.is_empty()) {
        Some(file) => first_of(&[file]),
        None => first_of(&NAMES.map(OsString::from)),
    });
    loaded.as_ref().map_err(|problem| CollectiveError::NoLibrary { problem: problem.clone() })
}

/// The first of these files that is NCCL, or what stands against each.
fn first_of(files: &[OsString]) -> Result<Library, String> {
    let mut problems = Vec::new();
    for file in files {
        match open(file) {
            Ok(library) => return Ok(library),
            Err(problem) => problems.push(format!("`{}`: {problem}", file.to_string_lossy())),
        }
    }
    Err(problems.join("; "))
}

fn open(file: &OsString) -> Result<Library, String> {
    // SAFETY: whoever installs or names the file vouches for its being NCCL, whose initialisers may run at any time.
    let library =
        unsafe { File::new(file).and_then(|file| Library::of(file)) }.map_err(|error| error.to_string())?;
    let mut version = 0;
    // SAFETY: the function writes one integer to the address that it is given.
    let code = unsafe { (library.version)(&mut version) };
    match code {
        Code::SUCCESS if version >= OLDEST => Ok(library),
        Code::SUCCESS => Err(format!("its version is {}, which is older than 2.18", version_text(version))),
        code => Err(library.describe(code)),
    }
}

/// A version as NCCL counts it, as `2.18.1`.
fn version_text(version: c_int) -> String {
    // Until 2.8 it counted by thousands.
    let major = if version < 10000 { 1000 } else { 10000 };
    format!("{}.{}.{}", version / major, version % major / 100, version % 100)
}

impl Library {
    /// A new identity.
    pub(super) fn unique_id(&self) -> Result<[u8; UNIQUE_ID_BYTES], Code> {
        let mut id = UniqueId([0; UNIQUE_ID_BYTES]);
        // SAFETY: the function writes one identity to the address that it is given.
        match unsafe { (self.new_unique_id)(&mut id) } {
            Code::SUCCESS => Ok(id.0),
            code => Err(code),
        }
    }

    /// Begins to join the other ranks, on the GPU whose context is the thread's current one.
    pub(super) fn join(
        &self,
        world_size: c_int,
        id: &[u8; UNIQUE_ID_BYTES],
        rank: c_int,
        config: &mut Config,
    ) -> Result<RawCommunicator, Code> {
        let mut communicator = ptr::null_mut();
        // SAFETY: the function writes one address, and reads the configuration during the call.
        let code = unsafe { (self.join_with)(&mut communicator, world_size, UniqueId(*id), rank, config) };
        match code {
            Code::SUCCESS | Code::IN_PROGRESS if !communicator.is_null() => Ok(communicator),
            code => Err(code),
        }
    }

    /// What a communicator is doing.
    ///
    /// # Safety
    /// The communicator is alive, and the caller's alone.
    pub(super) unsafe fn state(&self, communicator: RawCommunicator) -> Code {
        let mut state = Code::SUCCESS;
        // SAFETY: the caller vouches for the communicator, and the function writes one number.
        match unsafe { (self.asynchronous_state)(communicator, &mut state) } {
            Code::SUCCESS => state,
            code => code,
        }
    }

    /// NCCL's text for an error.
    pub(super) fn describe(&self, code: Code) -> String {
        // SAFETY: the function takes any number, and returns a text that stays.
        unsafe { text((self.error_text)(code)) }
    }

    /// What NCCL says of its last error on this thread.
    ///
    /// # Safety
    /// The communicator is alive, and the caller's alone.
    pub(super) unsafe fn last_error(&self, communicator: RawCommunicator) -> String {
        // SAFETY: the caller vouches for the communicator; the text stays until the next error.
        unsafe { text((self.last_error_text)(communicator)) }.trim().to_owned()
    }
}

/// # Safety
/// The address is null or that of a text that ends in a zero.
unsafe fn text(address: *const c_char) -> String {
    match address.is_null() {
        true => String::new(),
        // SAFETY: the caller vouches for the text.
        false => unsafe { CStr::from_ptr(address) }.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_for_is_said() {
        let problem = first_of(&["libnccl-none.so.2".into(), "/nowhere/libnccl.so".into()]).err().unwrap();
        assert!(
            problem.contains("`libnccl-none.so.2`: ") && problem.contains("`/nowhere/libnccl.so`: "),
            "{problem}"
        );
        let error = CollectiveError::NoLibrary { problem }.to_string();
        assert!(error.contains("name its file in CUDA_TILES_NCCL"), "{error}");
    }

    #[test]
    fn another_library_is_refused() {
        let Ok(libc) = open(&"libc.so.6".into()) else { return };
        drop(libc);
        panic!("the C library has no functions of NCCL");
    }

    #[test]
    fn versions_read_as_nccl_writes_them() {
        assert_eq!(version_text(21805), "2.18.5");
        assert_eq!(version_text(2708), "2.7.8");
    }
}
