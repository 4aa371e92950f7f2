//! Running other programs, and lists of steps that do.

use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use cuda_tiles_start::error::Error as Cause;
use cuda_tiles_start::process::command_line;
pub(crate) use cuda_tiles_start::process::{output, start_error, succeeds};

use crate::error::{Error, Result};

/// Prints the command and runs it with this terminal.
pub(crate) fn run(command: &mut Command) -> Result {
    Ok(cuda_tiles_start::process::run(command)?)
}

/// Prints the command, runs it and returns its messages for people, which are shown too.
pub(crate) fn messages(command: &mut Command) -> Result<String> {
    eprintln!("$ {}", command_line(command));
    let output = command.stdin(Stdio::null()).output().map_err(|source| start_error(command, source))?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    eprint!("{messages}");
    if output.status.success() {
        return Ok(messages);
    }
    Err(failed(command_line(command), output.status))
}

/// A program that runs beside others, whose processors it leaves to those. What it prints is kept until it has ended.
pub(crate) struct Beside {
    command: String,
    running: JoinHandle<Result<Output>>,
}

impl Beside {
    pub(crate) fn start(command: Command) -> Self {
        let line = command_line(&command);
        eprintln!("$ {line} &");
        let mut command = if cfg!(unix) { behind_others(&command) } else { command };
        let run = move || {
            command.stdin(Stdio::null()).output().map_err(|source| start_error(&command, source).into())
        };
        Self { command: line, running: thread::spawn(run) }
    }

    /// Waits for its end, and prints what it printed.
    pub(crate) fn finish(self) -> Result<Outcome> {
        let output = self.running.join().expect("starting a program does not panic")?;
        eprint!(
            "$ {}\n{}{}",
            self.command,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        if output.status.success() { Ok(Outcome::Done) } else { Err(failed(self.command, output.status)) }
    }
}

/// The command with a lower priority: `nice` starts it (POSIX, "nice").
fn behind_others(command: &Command) -> Command {
    let mut nice = Command::new("nice");
    nice.args(["-n", "10"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        nice.current_dir(folder);
    }
    nice
}

fn failed(command: String, status: ExitStatus) -> Error {
    Cause::Command { command, status }.into()
}

/// Steps that all run, whether or not one of them fails, so that one call shows everything that is wrong.
pub(crate) struct Steps {
    what: &'static str,
    all: usize,
    failed: Vec<&'static str>,
}

/// How a step ended that did not fail.
pub(crate) enum Outcome {
    /// It ran, and all was well.
    Done,
    /// It did not run, for the reason given.
    Skipped(String),
}

impl Steps {
    /// A list of steps called `what` in messages.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, all: 0, failed: Vec::new() }
    }

    /// Runs a step and prints how it ended, on a line.
    pub(crate) fn step(&mut self, name: &'static str, step: impl FnOnce() -> Result<Outcome>) {
        eprintln!("== {name}");
        self.all += 1;
        let start = Instant::now();
        let result = step();
        let seconds = start.elapsed().as_secs_f32();
        match result {
            Ok(Outcome::Done) => eprintln!("== {name}: ok ({seconds:.1} s)"),
            Ok(Outcome::Skipped(reason)) => eprintln!("== {name}: skipped: {reason}"),
            Err(error) => {
                eprintln!("== {name}: FAILED: {error}");
                self.failed.push(name);
            }
        }
    }

    /// An error if a step failed. The failed ones are named again, since their output may be long gone.
    pub(crate) fn finish(self) -> Result {
        if self.failed.is_empty() {
            return Ok(());
        }
        for name in &self.failed {
            eprintln!("failed: {name}");
        }
        Err(Error::Checks { failed: self.failed.len(), all: self.all, what: self.what })
    }
}

/// Runs commands one after the other, and stops at the first that fails.
pub(crate) fn run_all(commands: impl IntoIterator<Item = Command>) -> Result<Outcome> {
    for mut command in commands {
        run(&mut command)?;
    }
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_steps_run_and_the_failed_ones_are_counted() {
        let missing = || Error::missing("it", "that");
        let mut steps = Steps::new("steps");
        let mut ran = 0;
        steps.step("first", || Err(missing()));
        steps.step("second", || {
            ran += 1;
            Ok(Outcome::Skipped("no need".into()))
        });
        assert_eq!(ran, 1);
        assert_eq!(steps.finish().unwrap_err().to_string(), "1 of 2 steps failed");
    }

    #[cfg(unix)]
    #[test]
    fn a_program_behind_others_is_the_same_program() {
        let mut command = Command::new("sh");
        command
            .args(["-c", "echo $GIVEN$HOME; pwd; nice"])
            .env("GIVEN", "given")
            .env_remove("HOME")
            .current_dir("/");
        let printed = output(&mut behind_others(&command)).unwrap();
        let own = output(&mut Command::new("nice")).unwrap().trim().parse::<i32>().unwrap();
        assert_eq!(printed, format!("given\n/\n{}\n", (own + 10).min(19)));
    }

    #[test]
    fn a_program_beside_others_tells_its_end() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        assert!(matches!(Beside::start(shell("true")).finish(), Ok(Outcome::Done)));
        let failed = Beside::start(shell("exit 3")).finish().err().unwrap().to_string();
        assert!(failed.starts_with("`sh -c 'exit 3'` failed"), "{failed}");
    }
}
