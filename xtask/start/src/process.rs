//! Running other programs.

use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// Prints the command and runs it with this terminal.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn run(command: &mut Command) -> Result {
    eprintln!("$ {}", command_line(command));
    let status = command.status().map_err(|source| start_error(command, source))?;
    if status.success() { Ok(()) } else { Err(Error::Command { command: command_line(command), status }) }
}

/// Runs the command and returns what it prints. Its messages for people stay out of sight unless it fails.
///
/// # Errors
/// If it cannot be started, or fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|source| start_error(command, source))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    Err(Error::Command { command: command_line(command), status: output.status })
}

/// Whether the command can be started and succeeds. Nothing of what it prints is shown.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The command as one would type it.
pub fn command_line(command: &Command) -> String {
    let quoted = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        if word.contains([' ', '\'', '"', '(', '*']) { format!("'{word}'") } else { word.into_owned() }
    };
    // Cargo is known by its name; under rustup its path is long and says nothing.
    let program = command.get_program();
    let program = std::path::Path::new(program).file_name().unwrap_or(program);
    let words = std::iter::once(program).chain(command.get_args()).map(quoted);
    words.collect::<Vec<_>>().join(" ")
}

/// The error of a command that did not start.
pub fn start_error(command: &Command, source: std::io::Error) -> Error {
    Error::Start { program: command.get_program().to_string_lossy().into_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_typed() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command.args(["doc", "--config", "profile.release.lto = 'fat'"]);
        assert_eq!(command_line(&command), "cargo doc --config 'profile.release.lto = 'fat''");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(&mut Command::new("no-such-program-anywhere")).unwrap_err();
        assert!(error.to_string().starts_with("`no-such-program-anywhere` cannot be started"), "{error}");
        assert!(!succeeds(&mut Command::new("no-such-program-anywhere")));
    }
}
