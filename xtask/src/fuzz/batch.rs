//! A batch of kernels as a crate of its own, as a user's is: outside of the workspace, with a build script that compiles kernels.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cuda_tiles_fuzz::print;
use cuda_tiles_fuzz::program::Program;

use super::Place;
use cuda_tiles_start::error::Error as Cause;

use crate::error::{Context, Result};
use crate::{process, workspace};

/// The build script: only the GPU's own code, so that a kernel is compiled once for it.
const BUILD_SCRIPT: &str = "fn main() {
    cuda_tiles_builder::CudaBuilder::new(\"kernels\").arch(cuda_tiles_builder::Arch::Sm90a).build();
}
";

/// Writes a crate of these kernels and compiles it; returns the program.
pub(super) fn build(programs: &[Program], device_code: bool) -> Result<PathBuf> {
    let folder = workspace::target().join("fuzz/batch");
    write(programs, &folder)?;
    let target = workspace::target().join("fuzz/build");
    let mut command = workspace::cargo(["build", "--quiet", "--bin", "fuzz-batch", "--manifest-path"]);
    command.arg(folder.join("Cargo.toml")).arg("--target-dir").arg(&target);
    // The dependencies are those of the workspace, which are here.
    command.arg("--offline");
    if device_code {
        command.env("CUDA_TILES_REQUIRE_PTX", "1");
    } else {
        command.env("CUDA_TILES_TOOLCHAIN", "none");
    }
    process::output(&mut command)?;
    Ok(target.join("debug/fuzz-batch"))
}

fn write(programs: &[Program], folder: &Path) -> Result {
    let root = workspace::root().display();
    let manifest = format!(
        "[package]
name = \"fuzz-batch\"
version = \"0.1.0\"
edition = \"2024\"
publish = false

[dependencies]
cuda-tiles = {{ path = \"{root}/tiles\" }}
cuda-tiles-host = {{ path = \"{root}/host\" }}
cuda-tiles-fuzz-runner = {{ path = \"{root}/tests/fuzz/runner\" }}
kernels = {{ path = \"kernels\" }}

[build-dependencies]
cuda-tiles-builder = {{ path = \"{root}/builder\" }}

[workspace]

# Kernels are small: what takes time is to compile them.
[profile.dev]
opt-level = 0
debug = false
incremental = false

[profile.dev.package.cuda-tiles-fuzz]
opt-level = 2
"
    );
    let kernels_manifest = format!(
        "[package]
name = \"kernels\"
version = \"0.1.0\"
edition = \"2024\"
publish = false

[dependencies]
cuda-tiles = {{ path = \"{root}/tiles\" }}
"
    );
    let mut kernels = print::KERNELS_HEAD.to_owned();
    let mut launchers = String::from(
        "//! Launches random kernels.\n\n#![allow(warnings)]\n\nuse cuda_tiles::prelude::*;\n\
         use cuda_tiles_fuzz_runner::{Device, Launch, Memory, Result};\n\n\
         cuda_tiles_host::include_kernels!(\"kernels\");\n\n",
    );
    let mut names = String::new();
    for (number, program) in programs.iter().enumerate() {
        let name = format!("k{number}");
        let _ = write!(kernels, "\n{}", print::kernel(program, &name));
        launchers.push_str(&print::launcher(program, &name));
        let _ = write!(names, "launch_{name}, ");
    }
    let _ = write!(
        launchers,
        "\nfn main() -> std::process::ExitCode {{\n    \
         cuda_tiles_fuzz_runner::main(&KERNELS, include_str!(\"../programs.json\"), &[{names}])\n}}\n"
    );
    let programs = print::as_data(programs);
    let files = [
        ("Cargo.toml", manifest),
        ("build.rs", BUILD_SCRIPT.to_owned()),
        ("programs.json", programs),
        ("src/main.rs", launchers),
        ("kernels/Cargo.toml", kernels_manifest),
        ("kernels/src/lib.rs", kernels),
    ];
    for (name, content) in files {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).about(parent, "created")?;
        std::fs::write(&path, content).about(&path, "written")?;
    }
    // The versions of the workspace's dependencies.
    let lock = workspace::root().join("Cargo.lock");
    let copy = folder.join("Cargo.lock");
    std::fs::copy(&lock, &copy).about(&copy, "written")?;
    Ok(())
}

/// Runs a batch and returns what it prints.
pub(super) fn run(program: &Path, device: Place) -> Result<Vec<String>> {
    let output = Command::new(program)
        .arg(device.name())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| Cause::Start { program: program.display().to_string(), source })?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// The number of the kernel in its batch that a line reports, if it reports one.
pub(super) fn failed(line: &str) -> Option<usize> {
    let words: Vec<&str> = line.split(' ').collect();
    match words.as_slice() {
        ["difference" | "failure", "kernel", number, ..] => number.parse().ok(),
        _ => None,
    }
}
