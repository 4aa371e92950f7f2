//! Calls the library that cargo has built from Python: `tests/test_numpy.py`. It needs `python3` with NumPy and TVM-FFI, which
//! `cargo xtask setup --checks` gets, and is left out without them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This program is target/PROFILE/deps/python-HASH.
    let program = env::current_exe().expect("this program has a path");
    let folder = program.parent().expect("a program is in a folder");
    let packages = folder.join("../../checks/python");
    let python = || {
        let mut command = Command::new("python3");
        let path = env::join_paths([package, &packages]).expect("no colon is in these paths");
        command.env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    };
    match python().args(["-c", "import numpy, tvm_ffi"]).output() {
        Ok(output) if output.status.success() => {}
        Ok(_) => return left_out("no NumPy or no TVM-FFI"),
        Err(_) => return left_out("no `python3`"),
    }
    let status = python()
        .arg(package.join("tests/test_numpy.py"))
        .env("CUDA_TILES_PYTHON_LIBRARY", library(folder))
        .status()
        .expect("python3 runs, as it has just done");
    if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn left_out(reason: &str) -> ExitCode {
    println!("calls from Python: left out: {reason}: type `cargo xtask setup --checks`");
    ExitCode::SUCCESS
}

/// The library of this package.
fn library(folder: &Path) -> PathBuf {
    folder.join(format!("{}cuda_tiles_python{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX))
}
