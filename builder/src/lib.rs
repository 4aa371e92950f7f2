//! Compiles a crate of `cuda-tiles` kernels to PTX, from the build script of the crate that launches them.
//!
//! A kernel crate is an ordinary `#![no_std]` library. For the CPU it is a plain dependency; for the GPU this
//! crate compiles it a second time with rustc's own `nvptx64-nvidia-cuda` back end, once for each GPU
//! architecture asked for, and leaves the PTX in `OUT_DIR`:
//!
//! ```no_run
//! // build.rs. (`no_run`: it needs the environment that cargo gives to build scripts.)
//! use cuda_tiles_builder::CudaBuilder;
//!
//! fn main() {
//!     CudaBuilder::new("kernels").build();
//! }
//! ```
//!
//! The launching crate embeds the result with `cuda_tiles_host::include_kernels!("kernels");`, which declares
//! `pub static KERNELS: cuda_tiles_host::Artifact`. No CUDA toolkit is involved: the driver turns the PTX of a
//! kernel into machine code when it is launched first.
//!
//! # What has to be installed
//!
//! A rustc 1.95 or newer, stable or nightly, with the component `rust-src`, because `core` is compiled for the
//! GPU too (some fifteen seconds for each architecture, the first time). These places are searched in order:
//!
//! 1. what the variable `CUDA_TILES_TOOLCHAIN` names,
//! 2. the toolchain that cargo is running with,
//! 3. rustup's other toolchains, nightlies first,
//! 4. the system's `/usr/bin/rustc`, as of Debian's packages `rustc-web`, `rust-web-src` and `cargo-web`.
//!
//! If none will do, the build goes on without PTX: the kernels then run on the CPU only, a warning says what to
//! type, and a launch on a GPU repeats it. [`CudaBuilder::required`] makes it an error instead.
//!
//! # Errors
//!
//! What the compiler refuses in a kernel, cargo shows in the compiler's own text, with paths from the folder where you have typed
//! `cargo build`; what two architectures have in common is there once. [`CudaBuilder::build`] prints it and ends the build script,
//! [`CudaBuilder::try_build`] returns it to programs that go on.
//!
//! # Environment variables
//!
//! | variable | meaning |
//! |---|---|
//! | `CUDA_TILES_TOOLCHAIN` | the toolchain to use: a rustup name (`nightly`), or the path of a sysroot or of its `bin`; `none` compiles nothing, and says nothing about it |
//! | `CUDA_TILES_REQUIRE_PTX` | `1`: a missing toolchain is an error, as with [`CudaBuilder::required`] |
//! | `CUDA_TILES_PREBUILT_PTX` | a folder with `<name>.<arch>.ptx` files, made by an earlier build; nothing is compiled |
//! | `CUDA_TILES_PTXAS` | the `ptxas` that makes machine code ahead of time, see below; `none` makes none |
//! | `CUDA_TILES_DEBUG` | `line` or `full`: debug information in the kernels, as by [`CudaBuilder::debug_info`]; `none`: none, whatever the build script asks for |
//! | `DOCS_RS` | set by docs.rs: nothing is compiled, and nothing is said about it |
//!
//! Settings meant for the host (`RUSTFLAGS`, `RUSTC_WRAPPER`, `CARGO_PROFILE_*` ...) do not reach the device
//! compilation, and the kernel crate needs no profile of its own: it is always optimised.
//!
//! # Machine code
//!
//! The driver makes machine code from PTX when a kernel is launched first, in 0.05 to 2 seconds for each kernel. Where NVIDIA's assembler is
//! at hand (`ptxas`, in `CUDA_TILES_PTXAS`, in the `bin` of `CUDA_HOME` or `CUDA_PATH`, or in `PATH`) optimised builds make it beforehand, and
//! embed it beside the PTX. Launches prefer it where GPU and driver can run it. [`CudaBuilder::machine_code`] makes it in other
//! builds too, or in none. Nothing depends on it: without an assembler the program has its PTX.
//!
//! # Launch bounds
//!
//! rustc has no attribute for a kernel's block size. `#[kernel(threads = 256)]` therefore leaves a comment in the
//! PTX, and this crate turns it into the directives that PTX has for the purpose: see [`KernelMetadata`]. The
//! reader of PTX text behind it is public as [`ptx`].

mod arch;
mod artifact;
mod builder;
mod cargo;
mod debug_info;
mod diagnostics;
mod environment;
mod error;
mod hash;
mod json;
mod machine_code;
mod metadata;
mod pack;
mod parallel;
pub mod ptx;
mod toolchain;

pub use arch::{Arch, UnknownArch};
pub use artifact::BuiltImage;
pub use builder::{Built, CudaBuilder};
pub use debug_info::{DebugInfo, UnknownDebugInfo};
pub use diagnostics::Diagnostics;
pub use error::Error;
pub use machine_code::find_ptxas;
pub use metadata::{KernelMetadata, MetadataError};
pub use toolchain::{Rejected, ToolchainMissing};
