//! `bench`: the benchmarks of the CPU, and of the GPU where there is one.

use std::process::Command;

use crate::error::Result;
use crate::{process, toolchain, workspace};

/// Which benchmarks to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only those whose name contains this.
    filter: Option<String>,
}

/// Runs the benchmarks in release mode.
pub(crate) fn run(options: &Options) -> Result {
    process::run(benchmark("cpu").args(&options.filter))?;
    match toolchain::gpus() {
        Ok(gpus) => {
            eprintln!("measuring on {}", gpus.join("; "));
            process::run(benchmark("gpu").args(&options.filter))?;
            process::run(&mut workspace::cargo([
                "bench",
                "--package",
                "cuda-tiles-host",
                "--bench",
                "graphs",
            ]))
        }
        Err(reason) => {
            eprintln!("GPU benchmarks: left out, {reason}");
            Ok(())
        }
    }
}

/// A benchmark of the workspace's root package, with machine code of its kernels where the assembler is installed.
fn benchmark(name: &str) -> Command {
    let mut command = workspace::cargo(["bench", "--package", "cuda-tiles-suite", "--bench", name]);
    toolchain::lend_assembler(&mut command);
    command.arg("--");
    command
}
