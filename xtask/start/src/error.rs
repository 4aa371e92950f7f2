//! What can go wrong before anything of the project is compiled.

use std::fmt;

/// The result of a step.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// Why a step stopped.
#[derive(Debug)]
pub enum Error {
    /// A program is not there, or cannot be started.
    Start {
        /// The program.
        program: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A program ran and failed. What it printed is on the terminal already.
    Command {
        /// The program with its arguments.
        command: String,
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// Something has to be installed first.
    Missing {
        /// What.
        what: String,
        /// What to type.
        fix: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { program, source } => write!(formatter, "`{program}` cannot be started: {source}"),
            Self::Command { command, status } => write!(formatter, "`{command}` failed ({status})"),
            Self::Missing { what, fix } => write!(formatter, "{what} is missing; type {fix}"),
        }
    }
}

impl std::error::Error for Error {}
