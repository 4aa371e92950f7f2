//! What can go wrong, each with what to do about it.

use std::path::{Path, PathBuf};

/// The result of this crate's functions.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program is not there, or cannot be started.
    #[error("`{program}` cannot be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A program ran and failed; what it said is on the terminal.
    #[error("`{program}` failed ({status})")]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// A file could not be read or written.
    #[error("{} cannot be {action}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: "read", "created" ...
        action: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// There is no assembler.
    #[error(
        "there is no `ptxas`: `cargo cuda-tiles setup` gets it, without a toolkit; or let CUDA_TILES_PTXAS, CUDA_HOME or PATH lead to one"
    )]
    NoAssembler,
    /// The wheel was there, and had no assembler in it.
    #[error("the package {package} of PyPI has no `ptxas` for this machine: install a CUDA toolkit")]
    NoAssemblerInWheel {
        /// The package.
        package: &'static str,
    },
    /// The packages that were built have no PTX.
    #[error(
        "no build script has left PTX: it is made where one calls `CudaBuilder::build`, of a package that is built here{}; for a crate of kernels \
         that no package here launches, type `cargo cuda-tiles report --kernels FOLDER`",
        .hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default()
    )]
    NoPtx {
        /// What a build script says about it.
        hint: Option<String>,
    },
    /// A file is not as its writer writes it.
    #[error("{}: {reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Cargo's description of the workspace cannot be read.
    #[error("what `cargo {command}` prints cannot be read: {reason}")]
    Cargo {
        /// The command.
        command: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Kernels could not be compiled.
    #[error(transparent)]
    Kernels(#[from] cuda_tiles_builder::Error),
    /// Kernels were assembled with complaints, each of which has been printed.
    #[error("`ptxas` refused PTX of {0} architectures")]
    Refused(usize),
    /// Some kernels keep in memory what should be in registers.
    #[error("{spilling} of {all} kernels spill registers or have a stack")]
    Spills {
        /// How many do.
        spilling: usize,
        /// How many there are.
        all: usize,
    },
}

/// Adds to an input or output error which file it was about.
pub(crate) trait Context<T> {
    /// Names the file, and what was tried.
    fn about(self, path: &Path, action: &'static str) -> Result<T>;
}

impl<T> Context<T> for std::io::Result<T> {
    fn about(self, path: &Path, action: &'static str) -> Result<T> {
        self.map_err(|source| Error::File { path: path.to_owned(), action, source })
    }
}
