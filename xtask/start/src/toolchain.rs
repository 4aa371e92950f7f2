//! The Rust toolchain in use.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Result;
use crate::process;

/// The toolchain that cargo is running with.
pub struct Running {
    /// What `rustc --version` prints.
    pub version: String,
    /// Its folder.
    pub sysroot: PathBuf,
    /// Its name with rustup, if rustup runs it.
    pub rustup_name: Option<String>,
}

impl Running {
    /// Asks rustc.
    ///
    /// # Errors
    /// If it cannot be started, or fails.
    pub fn find() -> Result<Self> {
        let version = process::output(rustc().arg("--version"))?.trim().to_owned();
        let sysroot = process::output(rustc().args(["--print", "sysroot"]))?.trim().into();
        Ok(Self { version, sysroot, rustup_name: std::env::var("RUSTUP_TOOLCHAIN").ok() })
    }

    /// Whether the component `rust-src` is installed.
    pub fn has_source(&self) -> bool {
        has_source(&self.sysroot)
    }

    /// The command that adds components to this toolchain, if rustup manages it.
    pub fn add_components(&self, components: &[&str]) -> Option<Command> {
        let name = self.rustup_name.as_ref()?;
        let mut command = Command::new("rustup");
        command.args(["component", "add", "--toolchain", name]).args(components);
        Some(command)
    }
}

/// The rustc that cargo is running with.
pub fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Whether the sysroot contains the source of `core`.
pub fn has_source(sysroot: &Path) -> bool {
    sysroot.join("lib/rustlib/src/rust/library/core/src/lib.rs").is_file()
}
