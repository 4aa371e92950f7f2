//! Loads machine code for `cust`, and compiles PTX for it, with the compiler's messages.
//!
//! `cust`'s own `Module::from_ptx` gives no messages. The driver's linker does: it makes machine code from PTX, which
//! `cust` then loads.

use std::ffi::{CStr, c_uint, c_void};

use ::cust::error::CudaError;
use ::cust::module::Module;
use ::cust::sys::{self, CUjit_option, CUresult};

use super::failure::{describe, failure};
use crate::code::{DebugInfo, Loader, PtxRefused};
use crate::error::Result;

/// Room for the messages of the driver's compiler.
const LOG_BYTES: usize = 16 * 1024;

/// The current context, on a GPU of this name and compute capability.
pub(super) struct Context<'a> {
    pub(super) device: &'a str,
    pub(super) capability: (u32, u32),
}

impl Loader for Context<'_> {
    type Module = Module;

    fn capability(&self) -> (u32, u32) {
        self.capability
    }

    fn load_machine_code(&self, code: &[u8]) -> Result<Result<Module, String>> {
        match Module::from_cubin(code, &[]) {
            Ok(module) => Ok(Ok(module)),
            Err(refused) if is_refusal(refused) => Ok(Err(describe(refused))),
            Err(error) => Err(failure(self.device, "loading a kernel", error)),
        }
    }

    fn load_ptx(&self, ptx: &str) -> Result<Result<Module, PtxRefused>> {
        let mut linker = Linker::new();
        let code = linker.compile(ptx);
        match code {
            Ok(machine_code) => {
                let loaded = Module::from_cubin(machine_code, &[]);
                loaded.map(Ok).map_err(|error| failure(self.device, "loading a kernel", error))
            }
            Err(CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION) => Ok(Err(PtxRefused::Version)),
            Err(code) => Ok(Err(PtxRefused::Compiler {
                code: format!("{code:?}"),
                log: CStr::from_bytes_until_nul(&linker.log)
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            })),
        }
    }

    fn driver(&self) -> String {
        driver_version()
    }
}

/// Whether the driver says that it cannot use the code, and not that it cannot go on.
fn is_refusal(error: CudaError) -> bool {
    matches!(
        error,
        CudaError::NoBinaryForGpu
            | CudaError::InvalidImage
            | CudaError::InvalidPtx
            | CudaError::InvalidSource
            | CudaError::NotSupported
    )
}

/// The driver's linker, with the buffer for its messages, to which it writes until it is destroyed.
struct Linker {
    state: sys::CUlinkState,
    log: Box<[u8]>,
}

impl Linker {
    fn new() -> Self {
        Self { state: std::ptr::null_mut(), log: vec![0; LOG_BYTES].into() }
    }

    /// The machine code, which lives as long as the linker.
    fn compile(&mut self, ptx: &str) -> Result<&[u8], CUresult> {
        let mut options =
            vec![CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = vec![self.log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void];
        let kept = match DebugInfo::of_module(ptx) {
            DebugInfo::None => None,
            DebugInfo::LineTables => Some(CUjit_option::CU_JIT_GENERATE_LINE_INFO),
            DebugInfo::Full => Some(CUjit_option::CU_JIT_GENERATE_DEBUG_INFO),
        };
        options.extend(kept);
        // Yes, as a number in place of an address.
        values.extend(kept.map(|_| std::ptr::without_provenance_mut::<c_void>(1)));
        let count = options.len() as c_uint;
        // SAFETY: `options` and `values` have `count` entries each in the form that the driver API describes for them; the log
        // buffer has the announced size and lives until the linker is destroyed.
        done(unsafe {
            sys::cuLinkCreate_v2(count, options.as_mut_ptr(), values.as_mut_ptr(), &mut self.state)
        })?;

        let mut ptx = ptx.as_bytes().to_vec();
        ptx.push(0);
        // SAFETY: the linker exists; the PTX has the announced size, ends with a zero byte and outlives the call; there
        // are no further options.
        done(unsafe {
            sys::cuLinkAddData_v2(
                self.state,
                sys::CUjitInputType::CU_JIT_INPUT_PTX,
                ptx.as_mut_ptr().cast(),
                ptx.len(),
                c"kernels.ptx".as_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        })?;
        let (mut code, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: the linker exists, and the function writes an address and a size.
        done(unsafe { sys::cuLinkComplete(self.state, &mut code, &mut size) })?;
        // SAFETY: the driver made this many bytes of machine code, which live until the linker is destroyed.
        Ok(unsafe { std::slice::from_raw_parts(code.cast(), size) })
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        if !self.state.is_null() {
            // SAFETY: the linker exists, and nothing that it made is used any more.
            unsafe { sys::cuLinkDestroy(self.state) };
        }
    }
}

fn done(code: CUresult) -> Result<(), CUresult> {
    match code {
        CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(code),
    }
}

/// The CUDA version that the driver supports.
fn driver_version() -> String {
    ::cust::CudaApiVersion::get().map_or_else(
        |_| "of an unknown version".to_owned(),
        |version| format!("{}.{}", version.major(), version.minor()),
    )
}
