//! Loads code, where need be through the driver's compiler, and finds kernels in it.

use std::ffi::{CStr, CString, c_uint, c_void};
use std::sync::PoisonError;

use cuda_tiles::launch::Description;
use cudarc::driver::sys::{self, CUfunction_attribute as FunctionAttribute, CUjit_option, CUresult};
use cudarc::driver::{DriverError, result};

use super::Gpu;
use super::capture::Relaxed;
use super::failure::describe;
use super::loaded::{Function, Handle, Module};
use crate::artifact::{Artifact, Entry, Image};
use crate::code::{Code, DebugInfo, Loaded, Loader, PtxRefused};
use crate::entry;
use crate::error::{Error, Result};
use crate::parameters::total_shared;
use crate::warm_up::{self, Progress};

/// Room for the messages of the driver's compiler.
const LOG_BYTES: usize = 16 * 1024;

/// Dynamic shared memory that every kernel may have without asking, in bytes.
const UNASKED_SHARED_MEMORY: u32 = 48 * 1024;

/// The major number of the first compute capability that lets a kernel start early and wait (PTX ISA, "griddepcontrol").
const FIRST_TO_WAIT: u32 = 9;

impl Gpu {
    /// Takes an artifact's image for this GPU over, unless it is there already. Its modules are loaded when they are asked for.
    pub(crate) fn load(&self, artifact: &'static Artifact) -> Result<()> {
        self.registered(artifact).map(|_| ())
    }

    fn registered(&self, artifact: &'static Artifact) -> Result<Module> {
        let (major, minor) = self.capability();
        let image = artifact.image(major, minor)?;
        let mut loaded = self.modules.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = loaded.iter().find(|module| std::ptr::eq(module.artifact, artifact)) {
            return Ok(module);
        }
        // As long as the GPU, which stays open.
        let module: Module = Box::leak(Box::new(Loaded::new(artifact, image)));
        loaded.push(module);
        // A kernel that was found once may be in two artifacts now.
        self.modules.found.write().unwrap_or_else(PoisonError::into_inner).clear();
        self.modules.functions.write().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(module)
    }

    /// Loads all modules of an artifact, several at a time.
    pub(crate) fn warm_up(
        &self,
        artifact: &'static Artifact,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<()> {
        let loaded = self.registered(artifact)?;
        let name = |&module: &u32| loaded.image.kernels_of(module).first().copied().unwrap_or_default();
        warm_up::run(
            &loaded.image.modules(),
            name,
            |&module| loaded.module(module, self).map(|_| ()),
            progress,
        )
    }

    /// Makes kernels ready to be launched, several at a time.
    pub(crate) fn warm_up_kernels(
        &self,
        kernels: &[&Description],
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<()> {
        let ready = |kernel: &&Description| {
            self.bind()?;
            self.function(kernel).map(|_| ())
        };
        warm_up::run(kernels, |kernel| kernel.name, ready, progress)
    }

    /// The image that the kernel is loaded from.
    pub(crate) fn image_of(&self, kernel: &Description) -> Result<&'static Image> {
        self.find(kernel).map(|(module, _)| module.image)
    }

    /// How the kernel's code came to the GPU, to which it comes now if it was not asked for yet.
    pub(crate) fn code_of(&self, kernel: &Description) -> Result<Code> {
        let (module, entry) = self.find(kernel)?;
        module.module(entry.module, self).map(|(_, code)| code.clone())
    }

    /// The kernel's code on this GPU, ready to be launched if its image supports the kernel.
    pub(super) fn function(&self, kernel: &Description) -> Result<Function> {
        let known = self.modules.functions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = known.get(&(kernel.path, kernel.fingerprint)) {
            return Ok(*function);
        }
        drop(known);
        let _relaxed = Relaxed::new();
        let (module, entry) = self.find(kernel)?;
        let Loaded { image, .. } = *module;
        let (Handle(handle), _) = module.module(entry.module, self)?;
        let symbol = CString::new(entry.symbol).unwrap_or_default();
        // SAFETY: the module was loaded into the current context and is never unloaded.
        let handle = unsafe { result::module::get_function(*handle, symbol) };
        let function = Function {
            handle: Handle(self.check("looking a kernel up", handle)?),
            waits: image.capability().0 >= FIRST_TO_WAIT,
            shared_bytes: kernel.shared_bytes[image.shared_class()],
            threads: image.threads(kernel),
            image,
        };
        // Of a kernel for other GPUs nothing but the image is asked for.
        if image.supports(kernel) {
            self.prepare(kernel, function)?;
        }
        let mut known = self.modules.functions.write().unwrap_or_else(PoisonError::into_inner);
        known.insert((kernel.path, kernel.fingerprint), function);
        Ok(function)
    }

    /// The threads of a block of the kernel, whose code comes to the GPU now if it is not there yet.
    pub(crate) fn threads(&self, kernel: &Description) -> Result<u32> {
        self.bind()?;
        Ok(self.function(kernel)?.threads.iter().product())
    }

    /// Looks the kernel up in all artifacts, so that one which two of them have is noticed.
    fn find(&self, kernel: &Description) -> Result<(Module, &'static Entry)> {
        let key = (kernel.path, kernel.fingerprint);
        if let Some(found) = self.modules.found.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(*found);
        }
        let loaded = self.modules.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let images: Vec<_> = loaded.iter().map(|module| (module.artifact.name(), module.image)).collect();
        let (number, entry) = entry::find(kernel, &images, self)?;
        let found = (loaded[number], entry);
        // The lock is still held: no artifact has come since.
        self.modules.found.write().unwrap_or_else(PoisonError::into_inner).insert(key, found);
        Ok(found)
    }

    /// Loads PTX, of whose debug information something is `kept`, or machine code; with the compiler's messages if the driver refuses it.
    ///
    /// # Safety
    /// The code ends with a zero byte, or it is a whole file of machine code, the head of which says how long it is.
    unsafe fn load_code(
        &self,
        code: &[u8],
        kept: DebugInfo,
    ) -> Result<Result<Handle<sys::CUmodule>, (CUresult, String)>> {
        self.bind()?;
        let mut log = vec![0_u8; LOG_BYTES];
        let mut options =
            vec![CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = vec![log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void];
        let kept = match kept {
            DebugInfo::None => None,
            DebugInfo::LineTables => Some(CUjit_option::CU_JIT_GENERATE_LINE_INFO),
            DebugInfo::Full => Some(CUjit_option::CU_JIT_GENERATE_DEBUG_INFO),
        };
        options.extend(kept);
        // Yes, as a number in place of an address.
        values.extend(kept.map(|_| std::ptr::without_provenance_mut::<c_void>(1)));
        let mut module = std::ptr::null_mut();
        // SAFETY: the code ends where the driver expects it to, the caller says; `options` and `values` have as many entries as are
        // announced, in the form that the driver API describes for them; the log buffer has the announced size and outlives the call.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                code.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match loaded {
            CUresult::CUDA_SUCCESS => {}
            refused if is_refusal(refused) => {
                let log = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().into_owned();
                return Ok(Err((refused, log)));
            }
            other => return self.check("loading a kernel", Err(DriverError(other))),
        }
        self.listen(module)?;
        Ok(Ok(Handle(module)))
    }
}

impl Loader for Gpu {
    type Module = Handle<sys::CUmodule>;

    fn capability(&self) -> (u32, u32) {
        self.capability()
    }

    fn load_machine_code(&self, code: &[u8]) -> Result<Result<Self::Module, String>> {
        // SAFETY: it is a file as `ptxas` has written it: whoever made the image vouches for that.
        let loaded = unsafe { self.load_code(code, DebugInfo::None)? };
        Ok(loaded.map_err(|(refused, _)| describe(DriverError(refused))))
    }

    fn load_ptx(&self, ptx: &str) -> Result<Result<Self::Module, PtxRefused>> {
        let refused = |code: String, log| Err(PtxRefused::Compiler { code, log });
        let kept = DebugInfo::of_module(ptx);
        let Ok(ptx) = CString::new(ptx) else {
            return Ok(refused("the PTX text holds a zero byte".to_owned(), String::new()));
        };
        // SAFETY: the text ends with a zero byte.
        Ok(match unsafe { self.load_code(ptx.as_bytes_with_nul(), kept)? } {
            Ok(module) => Ok(module),
            Err((CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, _)) => Err(PtxRefused::Version),
            Err((code, log)) => refused(describe(DriverError(code)), log),
        })
    }

    fn driver(&self) -> String {
        self.driver()
    }
}

/// Whether the driver says that it cannot use the code, and not that it cannot go on.
fn is_refusal(code: CUresult) -> bool {
    matches!(
        code,
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUresult::CUDA_ERROR_INVALID_PTX
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_INVALID_SOURCE
            | CUresult::CUDA_ERROR_NOT_SUPPORTED
            | CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    )
}

impl Gpu {
    /// Compares what the kernel needs with what the GPU has, and asks the driver for what must be asked for.
    fn prepare(&self, kernel: &Description, function: Function) -> Result<()> {
        let Function { handle: Handle(function), shared_bytes, threads: needed, .. } = function;
        let get = |attribute| {
            // SAFETY: the function belongs to a module of the current context.
            let value = unsafe { result::function::get_function_attribute(function, attribute) };
            self.check("asking for a kernel's properties", value.map(|value| value as u32))
        };
        let set = |attribute, value: u32| {
            // SAFETY: as above.
            let done = unsafe { result::function::set_function_attribute(function, attribute, value as i32) };
            self.check("setting a kernel's properties", done)
        };
        let refuse = |what, needed, limit| {
            Err(Error::Resources { kernel: kernel.name, what, needed, limit, device: self.to_string() })
        };

        let threads = get(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let needed = needed.iter().product();
        if needed > threads {
            return refuse("threads", needed, threads);
        }
        let shared = total_shared(get(FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?, shared_bytes);
        if shared > self.shared_memory_limit() {
            return refuse("bytes of shared memory", shared, self.shared_memory_limit());
        }
        if shared > UNASKED_SHARED_MEMORY {
            set(FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes)?;
        }
        Ok(())
    }
}
