//! What can go wrong in a command.

use std::path::{Path, PathBuf};

use cuda_tiles_start::error::Error as Cause;

/// The result of a command.
pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

/// Why a command stopped.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A program did not start or failed, or something has to be installed first.
    #[error(transparent)]
    Start(#[from] Cause),
    /// A file could not be read, written or removed.
    #[error("{path} cannot be {action}: {source}", path = .path.display())]
    File { path: PathBuf, action: &'static str, source: std::io::Error },
    /// Kernels could not be compiled.
    #[error(transparent)]
    Kernels(#[from] cuda_tiles_builder::Error),
    /// The assembler did not start, or could not be had.
    #[error(transparent)]
    Assembler(#[from] cargo_cuda_tiles::Error),
    /// Checks ran, and some failed. Each has been printed on its own line.
    #[error("{failed} of {all} {what} failed")]
    Checks { failed: usize, all: usize, what: &'static str },
    /// Modules import one another in circles, each of which has been printed.
    #[error("{0} circles of imports; `cargo xtask imports` lists all imports between their parts")]
    Circles(usize),
    /// A file's content is not what the command can work with.
    #[error("{path}: {reason}", path = .path.display())]
    Content { path: PathBuf, reason: String },
}

impl Error {
    /// Something has to be installed first.
    pub(crate) fn missing(what: &str, fix: impl Into<String>) -> Self {
        Self::Start(Cause::Missing { what: what.to_owned(), fix: fix.into() })
    }
}

/// Adds to an input or output error which file it was about.
pub(crate) trait Context<T> {
    /// Names the file, and what was tried: "read", "written" ...
    fn about(self, path: &Path, action: &'static str) -> Result<T>;
}

impl<T> Context<T> for std::io::Result<T> {
    fn about(self, path: &Path, action: &'static str) -> Result<T> {
        self.map_err(|source| Error::File { path: path.to_owned(), action, source })
    }
}
