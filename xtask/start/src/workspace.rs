//! Where things are, and the calls of cargo on them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's folder.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The folder for everything that is built.
pub fn target() -> PathBuf {
    // A relative setting means relative to where cargo was called, which `cargo run` keeps as the working folder.
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
        None => root().join("target"),
    }
}

/// The cargo that this program was started by, in the workspace's folder.
pub fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}
