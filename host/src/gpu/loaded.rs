//! The code on a GPU: modules, and the kernels that were found in them.

use std::collections::HashMap;
use std::sync::{Mutex, RwLock};

use cudarc::driver::sys;

use crate::artifact::{Entry, Image};
use crate::code::Loaded;

/// What is loaded on a GPU.
#[derive(Default)]
pub(super) struct Modules {
    pub(super) loaded: Mutex<Vec<Module>>,
    /// The entries that were looked for before. To find one takes a comparison with every entry of all that is loaded.
    pub(super) found: RwLock<HashMap<Key, (Module, &'static Entry)>>,
    pub(super) functions: RwLock<HashMap<Key, Function>>,
}

/// A kernel's path and fingerprint.
pub(super) type Key = (&'static str, u64);

/// An artifact on a GPU, which stays as long as the GPU is open: to the end of the process.
pub(super) type Module = &'static Loaded<Handle<sys::CUmodule>>;

/// A kernel's code, ready to be launched if its image supports the kernel.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) handle: Handle<sys::CUfunction>,
    /// Whether it may start before the kernel that it depends on has ended: whether it was compiled with the instruction by
    /// which a dependent one waits.
    pub(super) waits: bool,
    /// The dynamic shared memory that its code uses, in bytes.
    pub(super) shared_bytes: u32,
    /// The threads of a CTA along x and y, in its code.
    pub(super) threads: [u32; 2],
    /// What it was loaded from.
    pub(super) image: &'static Image,
}

/// A handle of the driver that belongs to a context and to no thread.
#[derive(Clone, Copy)]
pub(crate) struct Handle<T>(pub(super) T);

// SAFETY: the driver's modules, functions and streams are used through functions that may be called from any thread which
// has made their context current (CUDA driver API, "Module Management" and "Stream Management").
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above; a handle itself is never changed.
unsafe impl<T> Sync for Handle<T> {}
