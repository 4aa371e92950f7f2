//! The project's own commands: `cargo xtask <command>`. `cargo xtask help` lists them.

mod bench;
mod book;
mod bundle;
mod candle;
mod check;
mod doctor;
mod error;
mod fuzz;
mod imports;
mod platforms;
mod process;
mod ptx;
mod published;
mod setup;
mod test;
mod toolchain;
mod tune;
mod without_toolchain;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cuda_tiles_start::quickstart;

/// The commands of cuda-tiles.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Installs what is missing to compile kernels for the GPU.
    Setup(setup::Options),
    /// Reports each prerequisite, and how to get the ones that are missing.
    Doctor,
    /// Checks format, lints, documentation and imports; if it is told, the book and dependencies too.
    Check(check::Options),
    /// Runs all tests: those that need no GPU, and the GPU's where there is one.
    Test(test::Options),
    /// Checks the kernels' PTX with NVIDIA's assembler. Needs no GPU.
    Ptx(ptx::Options),
    /// Classifies scanned digits with tile kernels, on the GPU or on the CPU.
    Quickstart(Forwarded),
    /// Measures the kernels on the CPU, and on the GPU where there is one.
    Bench(bench::Options),
    /// Measures the plans of matrix products on this GPU, for `kernels/tuning/`.
    Tune(tune::Options),
    /// Runs random kernels, and compares with an interpreter that shares no code with the library.
    Fuzz(fuzz::Options),
    /// Builds the book of `docs/book` with mdBook.
    Book,
    /// Lists the parts of each crate that use one another in a circle.
    Imports,
    /// Checks and tests the operations for candle, on the CPU and, if that is wanted, on the GPU.
    Candle(candle::Options),
    /// Collects GPU tests and benchmarks in a folder for a machine without Rust.
    Bundle(bundle::Options),
}

/// What the example `digits` is told.
#[derive(clap::Args)]
struct Forwarded {
    /// `--csv FILE`, `--out FILE` and `--device DEVICE`, as its `--help` says.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<std::ffi::OsString>,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Setup(options) => setup::run(&options),
        Command::Doctor => doctor::run(),
        Command::Check(options) => check::run(&options),
        Command::Test(options) => test::run(&options),
        Command::Ptx(options) => ptx::run(&options),
        Command::Quickstart(options) => quickstart::run(&options.arguments).map_err(error::Error::from),
        Command::Bench(options) => bench::run(&options),
        Command::Tune(options) => tune::run(&options),
        Command::Fuzz(options) => fuzz::run(&options),
        Command::Book => book::run(),
        Command::Imports => imports::list(),
        Command::Candle(options) => candle::run(&options),
        Command::Bundle(options) => bundle::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
