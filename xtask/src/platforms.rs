//! Other processors and systems: tests of the CPU path, cross-compiled, and run by an emulator where one can.

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
    /// The emulator, and its arguments; none where tests are compiled and not run.
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
        // The wine of Debian 12 has no bcryptprimitives.dll, without which no program of Rust starts.
        runner: &[],
        packages: "gcc-mingw-w64-x86-64",
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

/// Tests that start their own program again, which an emulated one cannot.
const STARTING_THEMSELVES: [&str; 2] =
    ["an_overflow_of_the_stack_says_whose_it_is", "the_variable_lets_each_launch_leave_a_line"];

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
        let has_runner = self.runner.first().is_none_or(|program| Path::new(program).exists());
        if !has_linker || !has_runner {
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
            .env("CUDA_TILES_TOOLCHAIN", "none")
            .env(format!("CARGO_TARGET_{variable}_LINKER"), self.linker);
        if self.runner.is_empty() {
            command.arg("--no-run");
        } else {
            command
                .env(format!("CARGO_TARGET_{variable}_RUNNER"), self.runner.join(" "))
                .arg("--")
                .args(STARTING_THEMSELVES.iter().flat_map(|test| ["--skip", test]));
        }
        command
    }
}
