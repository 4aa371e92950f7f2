//! `test`: all tests that can run on this machine.

use std::process::Command;

use crate::error::Result;
use crate::process::{self, Beside, Outcome, Steps, run_all};
use crate::workspace::{cargo, consumer, target};
use crate::{toolchain, without_toolchain};

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
    /// Cargo's tests of the workspace, but for the next groups.
    Workspace,
    /// Products of matrices.
    Products,
    /// Every tile operation.
    Operations,
}

impl Group {
    /// What runs one after the other while PTX is compiled.
    const BESIDE_PTX: [(Self, fn() -> Result<Outcome>); 5] = [
        (Self::Consumer, consumer_test),
        (Self::WithoutToolchain, without_toolchain::run),
        (Self::Miri, miri),
        (Self::Workspace, workspace),
        (Self::Products, products),
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::Consumer => "a user's crate",
            Self::WithoutToolchain => "a machine without device toolchain",
            Self::Miri => "undefined behaviour, by Miri",
            Self::Workspace => "workspace",
            Self::Products => "products of matrices",
            Self::Operations => "operations",
        }
    }
}

/// Runs the tests, all of them even if one group fails.
pub(crate) fn run(options: &Options) -> Result {
    let is_meant = |group: Group| options.groups.is_empty() || options.groups.contains(&group);
    let mut steps = Steps::new("groups of tests");
    let mut step = |group: Group, run: &mut dyn FnMut() -> Result<Outcome>| {
        if is_meant(group) {
            steps.step(group.title(), run);
        }
    };
    // Compiling test kernels takes minutes of one core, which the other groups leave idle now and then.
    let mut ptx = (is_meant(Group::Ptx) && toolchain::assembler().is_some()).then(|| Beside::start(ptx()));
    for (group, run) in Group::BESIDE_PTX {
        step(group, &mut || run());
    }
    step(Group::Ptx, &mut || match ptx.take() {
        Some(running) => running.finish(),
        None => Ok(Outcome::Skipped("no `ptxas`: type `cargo xtask setup --checks`".to_owned())),
    });
    // Cargo's results come last in the output.
    step(Group::Operations, &mut || operations());
    steps.finish()
}

/// The package whose kernels take minutes to compile.
const OPERATIONS: &str = "cuda-tiles-operation-tests";

fn workspace() -> Result<Outcome> {
    run_all([cargo(["test", "--no-fail-fast", "--workspace", "--exclude", OPERATIONS])])
}

/// The ready-made products against sums in `f64`. Their kernels take a minute to compile for the CPU, and some more for GPUs.
fn products() -> Result<Outcome> {
    let mut products = cargo(["test", "--no-fail-fast", "--package", "cuda-tiles-suite"]);
    products.args(["--features", "gemm", "--test", "gemm"]);
    on_each_device(&mut products);
    run_all([products])
}

fn operations() -> Result<Outcome> {
    let mut operations = cargo(["test", "--no-fail-fast", "--package", OPERATIONS]);
    on_each_device(&mut operations);
    run_all([operations])
}

/// Leaves out the kernels' PTX where there is no GPU: nobody would run it. That kernels compile to it, another group checks.
fn on_each_device(tests: &mut Command) {
    match toolchain::gpus() {
        Ok(gpus) => eprintln!("on the CPU and on {}", gpus.join("; ")),
        Err(reason) => {
            eprintln!("on the CPU only: {reason}");
            tests.env("CUDA_TILES_TOOLCHAIN", "none");
        }
    }
}

/// This program's own checks of PTX.
fn ptx() -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.arg("ptx");
    command
}

/// Builds and tests the crate outside the workspace, with PTX.
fn consumer_test() -> Result<Outcome> {
    let mut command = cargo(["test", "--manifest-path"]);
    command.arg(consumer().join("Cargo.toml")).arg("--target-dir").arg(target().join("consumer"));
    command.env("CUDA_TILES_REQUIRE_PTX", "1");
    run_all([command])
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
