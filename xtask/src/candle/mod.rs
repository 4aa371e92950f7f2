//! `candle`: the operations for candle, which have a workspace of their own in `candle/`. Continuous integration leaves them out: candle's
//! 160 packages would take it minutes.

mod toolkit;

use std::process::Command;

use crate::error::Result;
use crate::{process, toolchain, workspace};
use toolkit::Toolkit;

/// What to build.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Also for GPUs, with candle's own kernels: by the CUDA toolkit of CUDA_HOME, or by NVIDIA's compiler from Python packages, of which this
    /// gets 0.7 GB. What was built runs where there is a GPU. Takes a quarter of an hour, the first time.
    #[arg(long)]
    cuda: bool,
}

/// Checks and tests the operations on the CPU, and if that is wanted on the GPU.
pub(crate) fn run(options: &Options) -> Result {
    // First, so that what is missing is told at once.
    let toolkit = if options.cuda { Some(Toolkit::find_or_fetch()?) } else { None };
    process::run(cargo("fmt").args(["--all", "--", "--check"]))?;
    process::run(cargo("clippy").args(["--all-targets", "--features", "gemm", "--", "--deny", "warnings"]))?;
    process::run(
        cargo("doc").args(["--no-deps", "--features", "gemm"]).env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    process::run(cargo("test").args(["--features", "gemm"]))?;
    process::run(cargo("run").args(["--example", "llama", "--features", "gemm"]))?;
    let Some(toolkit) = toolkit else { return Ok(()) };
    let on_cuda = |subcommand: &str, arguments: &[&str]| {
        let mut command = cargo(subcommand);
        command.arg("--release").args(arguments).args(["--features", "cuda,gemm"]);
        command.env_remove("CUDA_TILES_TOOLCHAIN");
        toolchain::lend_assembler(&mut command);
        toolkit.lend(&mut command);
        command
    };
    match toolchain::gpus() {
        Ok(gpus) => {
            eprintln!("testing on {}", gpus.join("; "));
            process::run(&mut on_cuda("test", &["--test", "suite"]))?;
            process::run(&mut on_cuda("run", &["--example", "llama"]))?;
            process::run(&mut on_cuda("run", &["--example", "measure"]))
        }
        Err(reason) => {
            process::run(&mut on_cuda("build", &["--test", "suite", "--examples"]))?;
            eprintln!("built, and not run: {reason}");
            Ok(())
        }
    }
}

/// Cargo on the workspace of `candle/`, in a target folder of its own, where builds for the CPU compile no kernel to PTX.
fn cargo(subcommand: &str) -> Command {
    let mut command = workspace::cargo([subcommand, "--manifest-path", "candle/Cargo.toml"]);
    command.env("CARGO_TARGET_DIR", workspace::target().join("candle")).env("CUDA_TILES_TOOLCHAIN", "none");
    command
}
