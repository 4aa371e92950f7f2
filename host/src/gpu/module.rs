//! Loads PTX, which the driver compiles for the GPU at hand, and finds kernels in it.

use std::ffi::{CStr, CString, c_uint, c_void};
use std::sync::PoisonError;

use cuda_tiles::launch::Description;
use cudarc::driver::sys::{self, CUfunction_attribute as FunctionAttribute, CUjit_option, CUresult};
use cudarc::driver::{DriverError, result};

use super::Gpu;
use super::failure::describe;
use super::loaded::{Function, Handle, Module};
use super::messages::Messages;
use crate::artifact::{Artifact, Image};
use crate::entry;
use crate::error::{Error, Result};
use crate::parameters::total_shared;

/// Room for the messages of the driver's compiler.
const LOG_BYTES: usize = 16 * 1024;

/// The largest cluster that every GPU with clusters can run; larger ones must be asked for.
const PORTABLE_CLUSTER: u32 = 8;

/// Dynamic shared memory that every kernel may have without asking, in bytes.
const UNASKED_SHARED_MEMORY: u32 = 48 * 1024;

/// The major number of the first compute capability that lets a kernel start early and wait (PTX ISA, "griddepcontrol").
const FIRST_TO_WAIT: u32 = 9;

impl Gpu {
    /// Compiles an artifact's image for this GPU and loads it, unless it is loaded already.
    pub(crate) fn load(&self, artifact: &'static Artifact) -> Result<()> {
        let (major, minor) = self.capability();
        let image = artifact.image(major, minor)?;
        let mut loaded = self.modules.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.iter().any(|module| std::ptr::eq(module.artifact, artifact)) {
            return Ok(());
        }
        self.bind()?;
        let handle = Handle(self.compile(artifact, image)?);
        let messages = self.check("listening to kernels", Messages::new(handle.0))?;
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).extend(messages);
        loaded.push(Module { artifact, image, handle });
        // A kernel that was found once may be in two artifacts now.
        self.modules.functions.write().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(())
    }

    fn compile(&self, artifact: &Artifact, image: &Image) -> Result<sys::CUmodule> {
        let ptx = CString::new(image.ptx()).map_err(|_| Error::Jit {
            artifact: artifact.name(),
            arch: image.arch(),
            code: "the PTX text holds a zero byte".to_owned(),
            log: String::new(),
        })?;
        let mut log = vec![0_u8; LOG_BYTES];
        let mut options =
            [CUjit_option::CU_JIT_ERROR_LOG_BUFFER, CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void];
        let mut module = std::ptr::null_mut();
        // SAFETY: the PTX ends with a zero byte; `options` and `values` have the two entries that are announced, in the
        // form that the driver API describes for them; the log buffer has the announced size and outlives the call.
        let loaded = unsafe {
            sys::cuModuleLoadDataEx(
                &mut module,
                ptx.as_ptr().cast(),
                options.len() as c_uint,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match loaded {
            CUresult::CUDA_SUCCESS => Ok(module),
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => Err(Error::PtxVersion {
                artifact: artifact.name(),
                version: image.ptx_version().to_owned(),
                driver: self.driver(),
            }),
            CUresult::CUDA_ERROR_INVALID_PTX
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => Err(Error::Jit {
                artifact: artifact.name(),
                arch: image.arch(),
                code: describe(DriverError(loaded)),
                log: CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy().into_owned(),
            }),
            other => self.check("loading kernels", Err(DriverError(other))),
        }
    }

    /// The image that the kernel was loaded from.
    pub(crate) fn image_of(&self, kernel: &Description) -> Result<&'static Image> {
        self.bind()?;
        Ok(self.function(kernel)?.image)
    }

    /// The kernel's code on this GPU, ready to be launched if its image supports the kernel.
    pub(super) fn function(&self, kernel: &Description) -> Result<Function> {
        let known = self.modules.functions.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = known.get(&(kernel.path, kernel.fingerprint)) {
            return Ok(*function);
        }
        drop(known);
        let function = self.find(kernel)?;
        // Of a kernel for other GPUs nothing but the image is asked for.
        if function.image.supports(kernel) {
            self.prepare(kernel, function)?;
        }
        let mut known = self.modules.functions.write().unwrap_or_else(PoisonError::into_inner);
        known.insert((kernel.path, kernel.fingerprint), function);
        Ok(function)
    }

    /// Looks the kernel up in all modules, so that one which two of them have is noticed.
    fn find(&self, kernel: &Description) -> Result<Function> {
        let loaded = self.modules.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let images: Vec<_> = loaded.iter().map(|module| (module.artifact.name(), module.image)).collect();
        let (number, entry) = entry::find(kernel, &images, self)?;
        let Module { image, handle, .. } = &loaded[number];
        let symbol = CString::new(entry.symbol).unwrap_or_default();
        // SAFETY: the module was loaded into the current context and is never unloaded.
        let function = unsafe { result::module::get_function(handle.0, symbol) };
        Ok(Function {
            handle: Handle(self.check("looking a kernel up", function)?),
            waits: image.capability().0 >= FIRST_TO_WAIT,
            shared_bytes: kernel.shared_bytes[image.shared_class()],
            threads: image.threads(kernel),
            image,
        })
    }

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
        if kernel.cluster.iter().product::<u32>() > PORTABLE_CLUSTER {
            set(FunctionAttribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
        }
        Ok(())
    }
}
