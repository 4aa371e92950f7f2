//! What can go wrong when kernels are built, each with what to do about it.

use std::fmt;
use std::path::PathBuf;

use crate::toolchain::ToolchainMissing;
use crate::{Arch, Diagnostics, MetadataError, UnknownDebugInfo};

/// A build of kernels that failed.
///
/// `Debug` prints the same text as `Display`, so that `try_build().unwrap()` shows a message for people.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Cargo's variables are not set, so this is not a build script.
    #[error(
        "the variable `{variable}` is not set, which cargo sets for build scripts; outside of one, call \
         `CudaBuilder::out_dir` to say where the PTX shall go"
    )]
    NotABuildScript {
        /// The variable that is missing.
        variable: &'static str,
    },
    /// There is no crate where the kernels should be.
    #[error(
        "there is no kernel crate at {}: `CudaBuilder::new` takes the folder of its Cargo.toml, relative to the \
         folder of the Cargo.toml of the crate being built", .folder.display()
    )]
    NoKernelCrate {
        /// The folder that was looked at.
        folder: PathBuf,
    },
    /// `cargo metadata` failed for the kernel crate.
    #[error("cargo cannot read the kernel crate {}: {reason}", .manifest.display())]
    Metadata {
        /// The kernel crate's `Cargo.toml`.
        manifest: PathBuf,
        /// What cargo says.
        reason: String,
    },
    /// No toolchain can compile for the GPU, and PTX is required.
    #[error(
        "{0} (PTX is required by `CudaBuilder::required(true)`, by `CUDA_TILES_REQUIRE_PTX=1` or by \
         `CUDA_TILES_TOOLCHAIN`)"
    )]
    Toolchain(#[from] ToolchainMissing),
    /// The kernel crate does not compile.
    #[error("{diagnostics}error: the kernels of `{package}` do not compile for {}", names(.archs))]
    Compile {
        /// The kernel crate.
        package: String,
        /// The architectures that it was compiled for in vain.
        archs: Vec<Arch>,
        /// The compiler's messages.
        diagnostics: Diagnostics,
    },
    /// The compiler's PTX and the kernels' markers do not fit.
    #[error("the PTX of `{package}` for {arch} cannot be used: {source}")]
    Markers {
        /// The kernel crate.
        package: String,
        /// The architecture it was compiled for.
        arch: Arch,
        /// What does not fit.
        #[source]
        source: MetadataError,
    },
    /// The folder of PTX built earlier has no file for an architecture.
    #[error(
        "CUDA_TILES_PREBUILT_PTX names a folder without {}: {source}; build it where a device toolchain is \
         installed (cargo leaves it in the build script's OUT_DIR), or ask for other architectures with \
         `CudaBuilder::arch`", .path.display()
    )]
    Prebuilt {
        /// The file that cannot be read.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The variable that asks for debug information has another value than it can have.
    #[error("CUDA_TILES_DEBUG: {source}")]
    DebugInfo {
        /// What is wrong with it.
        #[source]
        source: UnknownDebugInfo,
    },
    /// Machine code was asked for, and there is no assembler to make it.
    #[error(
        "no machine code can be made: {reason}; install a CUDA toolkit, or let CUDA_TILES_PTXAS name the program `ptxas`"
    )]
    Assembler {
        /// What is missing.
        reason: String,
    },
    /// A program does not start.
    #[error("`{}` does not start: {source}", .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A file or folder cannot be read or written.
    #[error("{} cannot be {action}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// "read", "written", "created" or "packed".
        action: &'static str,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
}

fn names(archs: &[Arch]) -> String {
    archs.iter().map(|arch| arch.name()).collect::<Vec<_>>().join(", ")
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
