//! `quickstart`: from a fresh machine to digits classified by tile kernels.

use std::ffi::OsString;

use crate::error::Result;
use crate::toolchain::Running;
use crate::{process, source, workspace};

/// Gets the source of `core` if it is missing, builds the example `digits` with its kernels, and runs it with these arguments.
///
/// # Errors
/// If something is missing that cannot be had, or the example does not build or fails.
pub fn run(arguments: &[OsString]) -> Result {
    eprintln!("[1/2] setting up");
    source::install(&Running::find()?)?;
    eprintln!("[2/2] building and running the example `digits` (a minute, the first time)");
    let mut command =
        workspace::cargo(["run", "--release", "--package", "cuda-tiles-digits", "--example", "digits"]);
    // Paths among the arguments are meant from where the user is, and the example runs there.
    command.current_dir(".").arg("--manifest-path").arg(workspace::root().join("Cargo.toml"));
    command.arg("--").args(arguments);
    process::run(&mut command)
}
