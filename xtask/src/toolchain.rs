//! The Rust toolchain in use, the driver, and NVIDIA's assembler.

use std::path::PathBuf;
use std::process::Command;

use cargo_cuda_tiles::ptxas_in;
use cuda_tiles_builder::find_ptxas;
pub(crate) use cuda_tiles_start::toolchain::{Running, has_source};

use crate::process;
use crate::workspace;

/// Whether rustup has a toolchain called `nightly`.
pub(crate) fn has_nightly() -> bool {
    process::succeeds(Command::new("rustup").args(["run", "nightly", "rustc", "--version"]))
}

/// Cargo of rustup's nightly, in the workspace's folder.
pub(crate) fn nightly_cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new("rustup");
    command.current_dir(workspace::root()).args(["run", "nightly", "cargo"]).args(arguments);
    // These name the toolchain that runs this program.
    for variable in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command
}

/// NVIDIA's assembler: the one that `setup --checks` installs, or one of a CUDA toolkit.
pub(crate) fn assembler() -> Option<PathBuf> {
    ptxas_in(&workspace::check_tools()).or_else(find_ptxas)
}

/// Where `setup --checks` puts packages for Python.
pub(crate) fn python_packages() -> PathBuf {
    workspace::check_tools().join("python")
}

/// Whether Python has a module, from there or from anywhere.
pub(crate) fn has_python_module(name: &str) -> bool {
    let mut command = Command::new("python3");
    command.args(["-c", &format!("import {name}")]).env("PYTHONPATH", python_packages());
    process::succeeds(&mut command)
}

/// Lets the builds of a command make machine code by the assembler, if there is one and the user has named no other.
pub(crate) fn lend_assembler(command: &mut Command) {
    const VARIABLE: &str = "CUDA_TILES_PTXAS";
    if let (None, Some(program)) = (std::env::var_os(VARIABLE), assembler()) {
        command.env(VARIABLE, program);
    }
}

/// The GPUs as the driver's own tool describes them, a line each, or why there is none.
pub(crate) fn gpus() -> Result<Vec<String>, &'static str> {
    let query = ["--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"];
    let listed = Command::new("nvidia-smi").args(query).output();
    match listed {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
        }
        Ok(_) => Err("`nvidia-smi` finds no GPU"),
        Err(_) => Err("no NVIDIA driver answers (`nvidia-smi` is not there)"),
    }
}
