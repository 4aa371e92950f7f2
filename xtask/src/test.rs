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
    /// Tests of views, of what belongs to a block, and of streams, under Miri.
    Miri,
    /// More under Miri, for every night; not among all groups.
    MiriNightly,
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
        (Self::Miri, || interpreted(&MIRI)),
        (Self::Workspace, workspace),
        (Self::Products, products),
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::Consumer => "a user's crate",
            Self::WithoutToolchain => "a machine without device toolchain",
            Self::Miri => "undefined behaviour, by Miri",
            Self::MiriNightly => "undefined behaviour, by Miri, every night",
            Self::Workspace => "workspace",
            Self::Products => "products of matrices",
            Self::Operations => "operations",
        }
    }
}

/// Runs the tests, all of them even if one group fails.
pub(crate) fn run(options: &Options) -> Result {
    let is_meant = |group: Group| match group {
        Group::MiriNightly => options.groups.contains(&group),
        _ => options.groups.is_empty() || options.groups.contains(&group),
    };
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
    step(Group::MiriNightly, &mut || interpreted(&MIRI_NIGHTLY));
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

/// The tests of a package that Miri interprets, and the flags of Miri.
struct Interpreted {
    package: &'static str,
    tests: &'static [&'static str],
    flags: &'static str,
}

/// rayon's threads run the host's blocks. By its default model Miri finds fault with the lists of crossbeam that these are queued in, and
/// with threads that are there to the end.
const WITH_THREADS: &str = "-Zmiri-tree-borrows -Zmiri-ignore-leaks";

/// In every run: those that reach every kind of unsafe code of the CPU path, with few random cases.
const MIRI: [Interpreted; 2] = [
    Interpreted { package: "cuda-tiles", tests: &["views", "blocks", "spans"], flags: "" },
    Interpreted { package: "cuda-tiles-host", tests: &["pipelines", "streamed"], flags: WITH_THREADS },
];

/// Every night besides. What is left out takes days (all values of a type, products, operations), or is inline assembly, which Miri does
/// not know.
const MIRI_NIGHTLY: [Interpreted; 2] = [
    Interpreted { package: "cuda-tiles", tests: &["shapes"], flags: "-Zmiri-disable-isolation" },
    Interpreted { package: "cuda-tiles-host", tests: &["cuts", "launch"], flags: WITH_THREADS },
];

/// Interprets tests, and reports any undefined behaviour.
fn interpreted(tests: &[Interpreted]) -> Result<Outcome> {
    if !process::succeeds(&mut toolchain::nightly_cargo(["miri", "--version"])) {
        return Ok(Outcome::Skipped("no Miri: type `cargo xtask setup --miri`".to_owned()));
    }
    run_all(tests.iter().map(|interpreted| {
        let mut command =
            toolchain::nightly_cargo(["miri", "test", "--no-fail-fast", "--package", interpreted.package]);
        command.args(interpreted.tests.iter().flat_map(|test| ["--test", test]));
        command.arg("--target-dir").arg(target().join("miri")).env("MIRIFLAGS", interpreted.flags);
        command
    }))
}
