//! `doctor`: a line for each prerequisite, with the command that gets it.

use std::process::Command;

use crate::error::{Error, Result};
use crate::toolchain::{self, Running};
use crate::{book, process, setup, workspace};

/// How to get what `setup` installs.
const BY_SETUP: &str = "type `cargo xtask setup`";

/// The report, as it grows.
#[derive(Default)]
struct Report {
    all: usize,
    missing: usize,
}

impl Report {
    /// A prerequisite without which kernels cannot be compiled, found or missing with its fix.
    fn required(&mut self, name: &str, state: std::result::Result<String, String>) {
        self.all += 1;
        match state {
            Ok(found) => println!("ok        {name}: {found}"),
            Err(fix) => {
                self.missing += 1;
                println!("MISSING   {name}: {fix}");
            }
        }
    }

    /// Something that only some commands need, or that only makes things faster.
    fn optional(&mut self, name: &str, state: std::result::Result<String, String>) {
        self.all += 1;
        match state {
            Ok(found) => println!("ok        {name}: {found}"),
            Err(fix) => println!("optional  {name}: {fix}"),
        }
    }
}

/// Looks at everything. An error if something required is missing.
pub(crate) fn run() -> Result {
    let mut report = Report::default();
    let running = Running::find()?;
    report.required("Rust", compiler(&running.version));
    // Another toolchain than the running one will do, which the next line proves.
    let source = if running.has_source() { Ok("installed".to_owned()) } else { Err(BY_SETUP.to_owned()) };
    report.optional("rust-src of this Rust", source);
    let kernels = setup::compile_kernels().map(|kernels| format!("{kernels} kernels compile to PTX"));
    report.required("device code", kernels.map_err(|error| format!("{error}; or {BY_SETUP}")));
    report.optional("GPU", gpu());

    let by_checks = || "type `cargo xtask setup --checks`".to_owned();
    let by_nightly = || "type `cargo xtask setup --nightly`".to_owned();
    for subcommand in ["fmt", "clippy"] {
        let found = is_installed(process::succeeds(&mut workspace::cargo([subcommand, "--version"])));
        report.optional(&format!("cargo {subcommand}, for `check`"), found.ok_or_else(by_checks));
    }
    let deny = is_installed(process::succeeds(&mut workspace::cargo(["deny", "--version"])));
    report.optional("cargo deny, for `check --nightly`", deny.ok_or_else(by_nightly));
    let mdbook = is_installed(book::is_installed());
    report.optional("mdBook, for `book` and `check --nightly`", mdbook.ok_or_else(by_nightly));
    let assembler = toolchain::assembler().map(|program| program.display().to_string());
    report.optional("ptxas, for `ptx` and `test`", assembler.ok_or_else(by_checks));
    let pip = ["-m", "pip", "--version"];
    let pip = is_installed(process::succeeds(Command::new("python3").args(pip)));
    let fix = "type `apt-get install python3-pip`, or use the ptxas of a CUDA toolkit";
    report.optional("pip, to get ptxas", pip.ok_or_else(|| fix.to_owned()));
    for module in ["numpy", "tvm_ffi"] {
        let found = is_installed(toolchain::has_python_module(module));
        report.optional(&format!("Python's {module}, for `test`"), found.ok_or_else(by_checks));
    }
    let miri = is_installed(process::succeeds(&mut toolchain::nightly_cargo(["miri", "--version"])));
    let fix = "type `rustup toolchain install nightly`, then `cargo xtask setup --nightly`";
    report.optional("Miri, for `test`", miri.ok_or_else(|| fix.to_owned()));

    match report.missing {
        0 => Ok(()),
        failed => Err(Error::Checks { failed, all: report.all, what: "prerequisites" }),
    }
}

/// What is reported about an optional tool that is there.
fn is_installed(is_there: bool) -> Option<String> {
    is_there.then(|| "installed".to_owned())
}

/// Whether rustc is new enough.
fn compiler(version: &str) -> std::result::Result<String, String> {
    let oldest = env!("CARGO_PKG_RUST_VERSION");
    if is_at_least(version, oldest) {
        Ok(version.to_owned())
    } else {
        Err(format!("this is {version}, and {oldest} is needed; type `rustup update stable`"))
    }
}

/// Whether the version in "rustc 1.95.0 (...)" is not before `oldest`.
fn is_at_least(version: &str, oldest: &str) -> bool {
    let numbers =
        |text: &str| -> Vec<u32> { text.split('.').take(2).filter_map(|part| part.parse().ok()).collect() };
    let release = version.split_whitespace().nth(1).unwrap_or_default();
    numbers(release) >= numbers(oldest)
}

fn gpu() -> std::result::Result<String, String> {
    match toolchain::gpus() {
        Ok(gpus) => Ok(gpus.join("; ")),
        Err(reason) => Err(format!("{reason}; kernels run on the CPU")),
    }
}

#[cfg(test)]
mod tests {
    use super::is_at_least;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(is_at_least("rustc 1.95.0 (f2d3ce0bd 2026-03-21)", "1.95"));
        assert!(is_at_least("rustc 1.100.0-nightly (4d1f98451 2026-05-15)", "1.95"));
        assert!(!is_at_least("rustc 1.94.1 (e408947bf 2026-03-25)", "1.95"));
        assert!(!is_at_least("something else", "1.95"));
    }
}
