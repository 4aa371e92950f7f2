//! `cargo xtask`: does what a newcomer types first by itself, and leaves all else to the package `xtask`.

use std::ffi::OsString;
use std::process::ExitCode;

use cuda_tiles_start::{process, quickstart, workspace};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, rest)) if command == "quickstart" => quickstart::run(rest),
        _ => return all_others(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles the other commands, and runs the one that is meant.
fn all_others(arguments: &[OsString]) -> ExitCode {
    let mut command = workspace::cargo(["run", "--quiet", "--package", "xtask", "--manifest-path"]);
    command.current_dir(".").arg(workspace::root().join("Cargo.toml")).arg("--").args(arguments);
    match command.status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("error: {}", process::start_error(&command, error));
            ExitCode::FAILURE
        }
    }
}
