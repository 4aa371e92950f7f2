//! `test`: all tests that can run on this machine.

use std::process::Command;

use crate::error::Result;
use crate::process::{self, Beside, Outcome, Steps, run_all};
use crate::workspace::{cargo, target};
use crate::{platforms, published, toolchain, without_toolchain};

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
    /// The PTX for all generations of GPUs, for every night; not among all groups.
    PtxNightly,
    /// A user's crate and what the template makes, with the crates as they are published.
    Consumer,
    /// The same on a machine without device toolchain.
    WithoutToolchain,
    /// Tests of views, of what belongs to a block, and of streams, under Miri, for every night; not among all groups.
    Miri,
    /// The CPU path on other processors and systems, by emulators, for every night; not among all groups.
    Platforms,
    /// Our host library in a program with other people's crates, for every night; not among all groups.
    Neighbours,
    /// Misuses that must not compile, and what the compiler says about them.
    Misuse,
    /// Cargo's other tests of the workspace, products of matrices included.
    Workspace,
}

impl Group {
    fn title(self) -> &'static str {
        match self {
            Self::Ptx => "PTX",
            Self::PtxNightly => "PTX, every night",
            Self::Consumer => "a user's crate and the template, with the published crates",
            Self::WithoutToolchain => "a machine without device toolchain",
            Self::Miri => "undefined behaviour, by Miri",
            Self::Platforms => "other platforms",
            Self::Neighbours => "other people's crates in one program",
            Self::Misuse => "misuses",
            Self::Workspace => "workspace",
        }
    }
}

/// Runs the tests, all of them even if one group fails.
pub(crate) fn run(options: &Options) -> Result {
    let is_meant = |group: Group| match group {
        Group::PtxNightly | Group::Miri | Group::Platforms | Group::Neighbours => {
            options.groups.contains(&group)
        }
        _ => options.groups.is_empty() || options.groups.contains(&group),
    };
    let mut steps = Steps::new("groups of tests");
    let mut step = |group: Group, run: &mut dyn FnMut() -> Result<Outcome>| {
        if is_meant(group) {
            steps.step(group.title(), run);
        }
    };
    // They keep one core busy for minutes, and the others leave one idle now and then.
    let mut ptx =
        (is_meant(Group::Ptx) && toolchain::assembler().is_some()).then(|| Beside::start(ptx_checks(&[])));
    let gpus = toolchain::gpus();
    let mut misuses = is_meant(Group::Misuse)
        .then(|| Beside::start(tests_of_workspace(&["--test", MISUSES], gpus.is_ok())));
    step(Group::Consumer, &mut published::test);
    step(Group::WithoutToolchain, &mut without_toolchain::run);
    step(Group::Workspace, &mut || workspace(&gpus));
    step(Group::Ptx, &mut || match ptx.take() {
        Some(running) => running.finish(),
        None => Ok(without_assembler()),
    });
    step(Group::Misuse, &mut || misuses.take().map_or(Ok(Outcome::Done), Beside::finish));
    step(Group::PtxNightly, &mut || match toolchain::assembler().is_some() {
        true => run_all([ptx_checks(&["--nightly"])]),
        false => Ok(without_assembler()),
    });
    step(Group::Miri, &mut || match has_miri() {
        true => run_all(interpreted(&MIRI)),
        false => Ok(without_miri()),
    });
    step(Group::Platforms, &mut platforms::test);
    step(Group::Neighbours, &mut || run_all(neighbours()));
    steps.finish()
}

/// The test of the workspace that compiles misuses.
const MISUSES: &str = "compile_fail";

/// All packages in one call of cargo, which compiles what takes minutes side by side: tile operations, products, and the library's own
/// tests.
fn workspace(gpus: &std::result::Result<Vec<String>, &'static str>) -> Result<Outcome> {
    match gpus {
        Ok(gpus) => eprintln!("on the CPU and on {}", gpus.join("; ")),
        Err(reason) => eprintln!("on the CPU only: {reason}"),
    }
    run_all([tests_of_workspace(&["--exclude", "cuda-tiles-misuse-tests"], gpus.is_ok())])
}

/// Cargo's tests of the workspace. All calls have the same features, so that they share what they compile.
fn tests_of_workspace(which: &[&str], has_gpu: bool) -> Command {
    let mut tests =
        cargo(["test", "--no-fail-fast", "--workspace", "--features", "cuda-tiles-suite/gemm-on-cpu"]);
    tests.args(which);
    if !has_gpu {
        tests.env("CUDA_TILES_TEST_WITHOUT_GPU", "1");
    }
    tests
}

/// This program's own checks of PTX.
fn ptx_checks(options: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.arg("ptx").args(options);
    command
}

fn without_assembler() -> Outcome {
    Outcome::Skipped("no `ptxas`: type `cargo xtask setup --checks`".to_owned())
}

/// Our host library and `cudarc`, with the features that candle and cubecl ask of it; and by the names that functions of the driver have in
/// the oldest version that is promised.
fn neighbours() -> [Command; 2] {
    let check = || {
        let mut command = cargo(["check", "--locked", "--manifest-path", "tests/neighbours/Cargo.toml"]);
        command
            .args(["--package", "cudarc", "--package", "cuda-tiles-host", "--target-dir"])
            .arg(target().join("neighbours"));
        command
    };
    let mut oldest = check();
    oldest.env("CUDARC_CUDA_VERSION", "12000");
    [check(), oldest]
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

/// What is left out takes days (all values of a type, products, operations), or is inline assembly, which Miri does not know.
const MIRI: [Interpreted; 3] = [
    Interpreted { package: "cuda-tiles", tests: &["views", "blocks", "spans"], flags: "" },
    Interpreted { package: "cuda-tiles", tests: &["shapes"], flags: "-Zmiri-disable-isolation" },
    Interpreted {
        package: "cuda-tiles-host",
        tests: &["cuts", "launch", "pipelines", "streamed"],
        flags: WITH_THREADS,
    },
];

fn has_miri() -> bool {
    process::succeeds(&mut toolchain::nightly_cargo(["miri", "--version"]))
}

fn without_miri() -> Outcome {
    Outcome::Skipped("no Miri: type `cargo xtask setup --nightly`".to_owned())
}

/// Interprets tests, and reports any undefined behaviour.
fn interpreted(tests: &[Interpreted]) -> impl Iterator<Item = Command> {
    tests.iter().map(|interpreted| {
        let mut command =
            toolchain::nightly_cargo(["miri", "test", "--no-fail-fast", "--package", interpreted.package]);
        command.args(interpreted.tests.iter().flat_map(|test| ["--test", test]));
        command.arg("--target-dir").arg(target().join("miri")).env("MIRIFLAGS", interpreted.flags);
        command
    })
}
