//! `test`: all tests that can run on this machine.

use std::process::Command;

use crate::error::Result;
use crate::process::{self, Outcome, Steps, run_all};
use crate::workspace::{cargo, consumer, target};
use crate::{ptx, toolchain, without_toolchain};

/// Which tests to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only these groups of tests.
    groups: Vec<Group>,
}

/// A group of tests.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Group {
    /// The kernels' PTX, with NVIDIA's assembler.
    Ptx,
    /// A user's crate, outside the workspace.
    Consumer,
    /// The same on a machine without device toolchain.
    WithoutToolchain,
    /// The core's tests under Miri.
    Miri,
    /// Cargo's tests of the workspace.
    Workspace,
}

impl Group {
    /// All groups. Cargo's own come last, so that the output ends with their results.
    const ALL: [Self; 5] = [Self::Ptx, Self::Consumer, Self::WithoutToolchain, Self::Miri, Self::Workspace];

    fn title(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::Consumer => "a user's crate",
            Self::WithoutToolchain => "a machine without device toolchain",
            Self::Miri => "undefined behaviour, by Miri",
            Self::Workspace => "workspace",
        }
    }

    fn run(self) -> Result<Outcome> {
        match self {
            Self::Ptx => checked_ptx(),
            Self::Consumer => run_all([consumer_test()]),
            Self::WithoutToolchain => without_toolchain::run(),
            Self::Miri => miri(),
            Self::Workspace => workspace(),
        }
    }
}

/// Runs the tests, all of them even if one group fails.
pub(crate) fn run(options: &Options) -> Result {
    let mut steps = Steps::new("groups of tests");
    for group in Group::ALL {
        if options.groups.is_empty() || options.groups.contains(&group) {
            steps.step(group.title(), || group.run());
        }
    }
    steps.finish()
}

/// The package whose kernels take minutes to compile.
const OPERATIONS: &str = "cuda-tiles-operation-tests";

fn workspace() -> Result<Outcome> {
    let mut operations = cargo(["test", "--no-fail-fast", "--package", OPERATIONS]);
    match toolchain::gpus() {
        Ok(gpus) => eprintln!("on the CPU and on {}", gpus.join("; ")),
        Err(reason) => {
            eprintln!("on the CPU only: {reason}");
            // Nobody runs the kernels' PTX here. That they compile to it, the group before has checked.
            operations.env("CUDA_TILES_TOOLCHAIN", "none");
        }
    }
    run_all([cargo(["test", "--no-fail-fast", "--workspace", "--exclude", OPERATIONS]), operations])
}

fn checked_ptx() -> Result<Outcome> {
    if toolchain::assembler().is_none() {
        return Ok(Outcome::Skipped("no `ptxas`: type `cargo xtask setup --checks`".to_owned()));
    }
    ptx::run(&ptx::Options::default())?;
    Ok(Outcome::Done)
}

/// Builds and tests the crate outside the workspace, with PTX.
fn consumer_test() -> Command {
    let mut command = cargo(["test", "--manifest-path"]);
    command.arg(consumer().join("Cargo.toml")).arg("--target-dir").arg(target().join("consumer"));
    command.env("CUDA_TILES_REQUIRE_PTX", "1");
    command
}

/// Interprets a subset of the core's tests, those that reach every kind of unsafe code on the CPU, and reports any
/// undefined behaviour.
fn miri() -> Result<Outcome> {
    if !process::succeeds(&mut toolchain::nightly_cargo(["miri", "--version"])) {
        return Ok(Outcome::Skipped("no Miri: type `cargo xtask setup --miri`".to_owned()));
    }
    let mut command =
        toolchain::nightly_cargo(["miri", "test", "--package", "cuda-tiles", "--test", "views"]);
    command.arg("--target-dir").arg(target().join("miri"));
    process::run(&mut command)?;
    Ok(Outcome::Done)
}
