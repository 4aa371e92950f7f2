//! Where things are, and the calls of cargo on them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// The folder for everything that is built.
pub(crate) fn target() -> PathBuf {
    // A relative setting means relative to where cargo was called, which `cargo run` keeps as the working folder.
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
        None => root().join("target"),
    }
}

/// Where `setup --checks` puts programs that only checks need.
pub(crate) fn check_tools() -> PathBuf {
    target().join("checks")
}

/// Where builders keep their intermediate files: the same folder as for the workspace's build scripts, so that
/// `core` is compiled once.
pub(crate) fn device_target() -> PathBuf {
    target().join("cuda-tiles")
}

/// The cargo that this program was started by, in the workspace's folder.
pub(crate) fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}
