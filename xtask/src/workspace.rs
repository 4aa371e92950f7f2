//! Where the project's own commands put things.

use std::path::PathBuf;

pub(crate) use cuda_tiles_start::workspace::{cargo, root, target};

/// Where `setup --checks` puts programs that only checks need.
pub(crate) fn check_tools() -> PathBuf {
    target().join("checks")
}

/// Where builders keep their intermediate files: the same folder as for the workspace's build scripts, so that
/// `core` is compiled once.
pub(crate) fn device_target() -> PathBuf {
    target().join("cuda-tiles")
}
