//! `check`: everything about the source that needs no test to run.

use std::path::PathBuf;
use std::process::Command;

use crate::error::Result;
use crate::process::{self, Beside, Outcome, Steps, run_all};
use crate::workspace::{self, target};
use crate::{book, imports, published};

/// What to check.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Also what is checked every night: the book, by mdBook, and the dependencies, by cargo-deny. Both take minutes to install.
    #[arg(long)]
    nightly: bool,
}

/// Runs the checks, and names those that fail.
pub(crate) fn run(options: &Options) -> Result {
    let mut steps = Steps::new("checks");
    // They keep one core busy, and the lints of the host leave one idle now and then.
    let mut of_device = Some(Beside::start(device_lints()));
    steps.step("format", || run_all(formats()));
    steps.step("lints", || run_all([host_lints()]));
    steps.step("lints of device code", || of_device.take().map_or(Ok(Outcome::Done), Beside::finish));
    steps.step("documentation", || run_all([documentation()]));
    steps.step("imports", imports::check);
    steps.step("performance page", || run_all([performance_page()]));
    if options.nightly {
        steps.step("book", book::build);
        steps.step("dependencies", dependencies);
    }
    steps.finish()
}

/// Cargo with a target folder of its own, where no kernel is compiled to PTX: nothing here looks at that, and in
/// the common folder the next build would have to compile it again.
fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = workspace::cargo(arguments);
    command.env("CUDA_TILES_TOOLCHAIN", "none").env("CARGO_TARGET_DIR", folder());
    command
}

/// The target folder. `CUDA_TILES_CHECK_TARGET` names another one.
fn folder() -> PathBuf {
    std::env::var_os("CUDA_TILES_CHECK_TARGET").map_or_else(|| target().join("check"), PathBuf::from)
}

/// The crates of the workspace, and those outside of it, which are named: `--all` would reach into the workspace.
fn formats() -> [Command; 4] {
    let format = |options: &[&str]| {
        let mut command = cargo(["fmt"]);
        command.args(options).args(["--", "--check"]);
        command
    };
    let outside = |manifest: &str, packages: [&str; 2]| {
        let [first, second] = packages;
        format(&["--manifest-path", manifest, "--package", first, "--package", second])
    };
    [
        format(&["--all"]),
        outside("tests/consumer/Cargo.toml", ["consumer", "kernels"]),
        outside("candle/Cargo.toml", ["cuda-tiles-candle", "cuda-tiles-candle-kernels"]),
        format(&["--manifest-path", "examples/cubecl/Cargo.toml", "--package", "cubecl-example"]),
    ]
}

/// All code for the host, with the features that are not among the default ones: the launcher on `cust`, and `gemm`. They only add code.
fn host_lints() -> Command {
    let mut command = cargo(["clippy", "--workspace", "--all-targets"]);
    command.args([
        "--features",
        "cuda-tiles-suite/cust,cuda-tiles-suite/gemm-on-cpu",
        "--",
        "--deny",
        "warnings",
    ]);
    command
}

/// The code that only the GPU's target compiles. The linter, like the builder, needs `core` for that target and
/// the unstable features that give access to its instructions.
fn device_lints() -> Command {
    let mut command = cargo(["clippy", "--package", "cuda-tiles", "--lib"]);
    command
        .args(["--target", "nvptx64-nvidia-cuda", "-Zbuild-std=core"])
        .args(["--", "--deny", "warnings"])
        .env("RUSTC_BOOTSTRAP", "1")
        // Build scripts look at that variable: what they and macros need would be compiled anew here, and again in the next step.
        .env("CARGO_TARGET_DIR", folder().join("device"))
        .env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-cpu=sm_90a");
    command
}

/// Of the crates that people read about, with the parts of the host that only some users want; the one for `cust` wants CUDA's library to
/// link to.
fn documentation() -> Command {
    let mut command = cargo(["doc", "--no-deps"]);
    command.args(published::CRATES.iter().flat_map(|name| ["--package", name]));
    let features =
        ["cuda-array-interface", "dlpack", "gguf", "nccl", "ndarray", "npz", "nvtx", "safetensors"];
    let features = features.map(|feature| format!("cuda-tiles-host/{feature}")).join(",");
    command.args(["--features", &features, "--features", "cuda-tiles-kernels/host"]);
    command.env("RUSTDOCFLAGS", "--deny warnings");
    command
}

/// The table and the plot say what the measurements in `benches/results` say.
fn performance_page() -> Command {
    let mut command = Command::new("python3");
    command.arg(workspace::root().join("docs/plot.py")).arg("--check");
    command
}

/// Licences, sources and duplicates of the dependencies, and what is known against them.
fn dependencies() -> Result<Outcome> {
    if !process::succeeds(&mut cargo(["deny", "--version"])) {
        let fix = "cargo-deny is not installed: type `cargo xtask setup --nightly`";
        return Ok(Outcome::Skipped(fix.to_owned()));
    }
    let deny = |checks: &[&str]| {
        let mut command = cargo(["deny", "--workspace", "--all-features", "check", "--hide-inclusion-graph"]);
        command.args(checks);
        command
    };
    process::run(&mut deny(&["bans", "licenses", "sources"]))?;
    if !process::succeeds(&mut cargo(["deny", "fetch", "db"])) {
        eprintln!("advisories: not checked, for the advisory database cannot be fetched");
        return Ok(Outcome::Done);
    }
    process::run(&mut deny(&["--disable-fetch", "advisories"]))?;
    Ok(Outcome::Done)
}
