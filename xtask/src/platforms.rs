//! Other processors and systems: tests of the CPU path, cross-compiled, and run by an emulator.

use std::path::Path;
use std::process::Command;

use crate::error::Result;
use crate::process::{self, Outcome, run_all};
use crate::workspace::{cargo, target};

/// A platform, and the programs that build and run for it on Debian.
struct Platform {
    /// Its name for rustc.
    target: &'static str,
    linker: &'static str,
    /// The emulator, and its arguments.
    runner: &'static [&'static str],
    /// The packages that have linker and emulator.
    packages: &'static str,
}

const PLATFORMS: [Platform; 2] = [
    Platform {
        target: "aarch64-unknown-linux-gnu",
        linker: "aarch64-linux-gnu-gcc",
        runner: &["/usr/bin/qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
        packages: "qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    },
    Platform {
        target: "x86_64-pc-windows-gnu",
        linker: "x86_64-w64-mingw32-gcc",
        runner: &["/usr/lib/wine/wine64"],
        packages: "wine64 gcc-mingw-w64-x86-64",
    },
];

/// The tests: views, spans and blocks of the library, launches and tensors of the host, and what the builder makes of PTX.
const TESTS: [(&str, &[&str]); 3] = [
    ("cuda-tiles", &["--test", "views", "--test", "spans", "--test", "blocks"]),
    (
        "cuda-tiles-host",
        &["--lib", "--test", "launch", "--test", "aggregates", "--test", "cuts", "--test", "pipelines"],
    ),
    ("cuda-tiles-builder", &["--lib"]),
];

/// Runs the tests for all platforms for which this machine has what it takes.
pub(crate) fn test() -> Result<Outcome> {
    let mut missing = Vec::new();
    for platform in &PLATFORMS {
        match platform.missing() {
            Some(fix) => missing.push(fix),
            None => {
                run_all(TESTS.iter().map(|(package, tests)| platform.test(package, tests)))?;
            }
        }
    }
    Ok(if missing.is_empty() {
        Outcome::Done
    } else {
        Outcome::Skipped(format!("type {}", missing.join(", and ")))
    })
}

impl Platform {
    /// What to type, if something is missing.
    fn missing(&self) -> Option<String> {
        let has_linker = process::succeeds(Command::new(self.linker).arg("--version"));
        if !has_linker || !Path::new(self.runner[0]).exists() {
            return Some(format!("`apt-get install {}`", self.packages));
        }
        let library =
            Command::new("rustc").args(["--print", "target-libdir", "--target", self.target]).output();
        let has_library =
            library.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists());
        (!has_library).then(|| format!("`rustup target add {}`", self.target))
    }

    fn test(&self, package: &str, tests: &[&str]) -> Command {
        let mut command = cargo(["test", "--no-fail-fast", "--target", self.target, "--package", package]);
        let variable = self.target.to_uppercase().replace('-', "_");
        command
            .args(tests)
            .arg("--target-dir")
            .arg(target().join("platforms"))
            // It starts itself again, which an emulated program cannot.
            .args(["--", "--skip", "an_overflow_of_the_stack_says_whose_it_is"])
            .env("CUDA_TILES_TOOLCHAIN", "none")
            .env(format!("CARGO_TARGET_{variable}_LINKER"), self.linker)
            .env(format!("CARGO_TARGET_{variable}_RUNNER"), self.runner.join(" "));
        command
    }
}
