//! `setup`: gets what is missing, from the first source that has it, or says what to type.

use std::process::Command;

use cargo_cuda_tiles::fetch_ptxas;
use cuda_tiles_builder::{Arch, CudaBuilder};
use cuda_tiles_start::source;

use crate::error::{Error, Result};
use crate::toolchain::{self, Running};
use crate::{book, process, workspace};

/// The PyPI packages that `test` calls kernels from Python with, and the modules that they are there for.
const PYTHON_PACKAGES: [(&str, &str); 2] = [("tvm_ffi", "apache-tvm-ffi==0.1.15.*"), ("numpy", "numpy>=2")];

/// What to install.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Also what `check`, `test` and `ptx` need: rustfmt, clippy, NVIDIA's assembler, NumPy and TVM-FFI.
    #[arg(long)]
    checks: bool,
    /// Also what is needed every night: cargo-deny, mdBook, and Miri for rustup's nightly if that is installed.
    #[arg(long)]
    nightly: bool,
}

/// Installs what is missing. What is there already stays as it is.
pub(crate) fn run(options: &Options) -> Result {
    let running = Running::find()?;
    source::install(&running)?;
    if options.checks {
        install_lints(&running)?;
        install_assembler()?;
        install_python_packages();
    }
    if options.nightly {
        install_deny()?;
        install_mdbook()?;
        install_miri()?;
    }
    eprintln!("ready: {} kernels compile to PTX", compile_kernels()?);
    Ok(())
}

fn install_lints(running: &Running) -> Result {
    let missing: Vec<&str> = ["clippy", "rustfmt"]
        .into_iter()
        .filter(|component| {
            let subcommand = if *component == "rustfmt" { "fmt" } else { component };
            !process::succeeds(&mut workspace::cargo([subcommand, "--version"]))
        })
        .collect();
    if missing.is_empty() {
        eprintln!("clippy, rustfmt: there already");
        return Ok(());
    }
    match running.add_components(&missing) {
        Some(mut command) => process::run(&mut command),
        None => Err(Error::missing(
            &missing.join(" and "),
            "`apt-get install cargo-web`, or install Rust by rustup",
        )),
    }
}

fn install_deny() -> Result {
    if process::succeeds(&mut workspace::cargo(["deny", "--version"])) {
        eprintln!("cargo-deny: there already");
        return Ok(());
    }
    eprintln!("cargo-deny: is compiled now, which takes a minute or two");
    // Without optimisation: it runs for a second or two a check, and is compiled anew on every machine.
    let install = ["install", "cargo-deny", "--version", "^0.20", "--locked", "--debug"];
    process::run(workspace::cargo(install).env("CARGO_PROFILE_DEV_DEBUG", "false"))
}

fn install_mdbook() -> Result {
    if book::is_installed() {
        eprintln!("mdBook: there already");
        return Ok(());
    }
    eprintln!("mdBook: is compiled now, which takes a minute");
    // Without optimisation, as cargo-deny. None of its features is needed: search, a server, watching for changes.
    let install =
        ["install", "mdbook", "--version", "^0.5.4", "--no-default-features", "--locked", "--debug"];
    process::run(workspace::cargo(install).env("CARGO_PROFILE_DEV_DEBUG", "false"))
}

/// NVIDIA's assembler, unless a toolkit has one.
fn install_assembler() -> Result {
    if let Some(program) = toolchain::assembler() {
        eprintln!("ptxas: there already: {}", program.display());
        return Ok(());
    }
    fetch_ptxas(&workspace::check_tools()).map(|_| ()).map_err(|error| {
        eprintln!("{error}");
        Error::missing(
            "`ptxas`, which checks need,",
            "`apt-get install python3-pip` and this command again, or install a CUDA toolkit",
        )
    })
}

/// NumPy and TVM-FFI, unless Python has them, into a folder of their own. Without them the test of calls from Python is left out.
fn install_python_packages() {
    let missing = PYTHON_PACKAGES.iter().filter(|(module, _)| !toolchain::has_python_module(module));
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if missing.is_empty() {
        eprintln!("NumPy, TVM-FFI: there already");
        return;
    }
    let install =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
    let mut command = Command::new("python3");
    command.args(install).arg("--target").arg(toolchain::python_packages()).args(missing);
    if let Err(error) = process::run(&mut command) {
        eprintln!("NumPy, TVM-FFI: left out, and with them the test of calls from Python: {error}");
    }
}

fn install_miri() -> Result {
    if !toolchain::has_nightly() {
        eprintln!("miri: left out, for it needs a nightly: `rustup toolchain install nightly`");
        return Ok(());
    }
    if process::succeeds(&mut toolchain::nightly_cargo(["miri", "--version"])) {
        eprintln!("miri: there already");
        return Ok(());
    }
    let add = ["component", "add", "--toolchain", "nightly", "miri", "rust-src"];
    process::run(Command::new("rustup").args(add))
}

/// Compiles the quickstart's kernels for one architecture, the proof that what is installed works. Returns how many there are.
pub(crate) fn compile_kernels() -> Result<usize> {
    eprintln!("compiling the kernels of the quickstart to PTX (half a minute, the first time)");
    let built = CudaBuilder::new(workspace::root().join("examples/digits/kernels"))
        .arch(Arch::Sm80)
        .required(true)
        .out_dir(workspace::target().join("setup"))
        .target_dir(workspace::device_target())
        .try_build()?;
    Ok(built.images.iter().map(|image| image.kernels.len()).sum())
}
