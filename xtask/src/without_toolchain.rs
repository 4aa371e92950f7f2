//! The promise that a build works without a device toolchain: kernels then run on the CPU, and a warning says
//! what to type.
//!
//! The machine without one is made here: a sysroot that links to everything of the running one but the source of
//! `core`, a rustc that uses it, and a search path without rustup.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Context, Error, Result};
use crate::process::{self, Outcome};
use crate::published::Programs;
use crate::toolchain::{self, Running};
use crate::workspace;

/// Builds and tests the crate of a user as such a machine would. Dependencies are those of the test with a toolchain: no kernel is in them.
#[cfg(unix)]
pub(crate) fn run() -> Result<Outcome> {
    if toolchain::has_source(Path::new("/usr")) {
        return Ok(Outcome::Skipped("the system's own rustc has the source of `core`".to_owned()));
    }
    let folder = workspace::target().join("without-toolchain");
    let rustc = hide_source(&Running::find()?, &folder)?;
    let programs = Programs::get()?;
    let manifest = programs.folder().join("consumer/Cargo.toml");
    let cargo = |subcommand: &str| {
        let mut command = programs.consumer(subcommand);
        command
            .args(["--color", "never"])
            .env("RUSTC", &rustc)
            .env("PATH", path_without_rustup())
            .env_remove("CUDA_TILES_TOOLCHAIN")
            .env_remove("CUDA_TILES_REQUIRE_PTX");
        command
    };
    process::run(&mut cargo("test"))?;
    // Cargo repeats the warnings of a build script that has nothing to do.
    let warnings = warnings_of(&mut cargo("build"))?;
    let is_complete = warnings.len() == 2
        && warnings[0].contains("will run on the CPU only")
        && warnings[1].contains("rustup component add rust-src");
    if is_complete {
        return Ok(Outcome::Done);
    }
    Err(Error::Content {
        path: manifest,
        reason: format!(
            "the build should warn once, in two lines, and say what to type; it says {warnings:#?}"
        ),
    })
}

#[cfg(not(unix))]
pub(crate) fn run() -> Result<Outcome> {
    Ok(Outcome::Skipped("it needs symbolic links and a shell".to_owned()))
}

/// Makes the sysroot and the rustc that uses it, and returns the latter.
#[cfg(unix)]
fn hide_source(running: &Running, folder: &Path) -> Result<PathBuf> {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let rustlib = folder.join("lib/rustlib");
    if rustlib.exists() {
        std::fs::remove_dir_all(&rustlib).about(&rustlib, "removed")?;
    }
    std::fs::create_dir_all(&rustlib).about(&rustlib, "created")?;
    let original = running.sysroot.join("lib/rustlib");
    for entry in std::fs::read_dir(&original).about(&original, "read")? {
        let entry = entry.about(&original, "read")?;
        if entry.file_name() != "src" {
            let link = rustlib.join(entry.file_name());
            symlink(entry.path(), &link).about(&link, "created")?;
        }
    }
    let rustc = folder.join("rustc");
    let script = format!(
        "#!/bin/sh\nexec '{}' --sysroot '{}' \"$@\"\n",
        running.sysroot.join("bin/rustc").display(),
        folder.display()
    );
    std::fs::write(&rustc, script).about(&rustc, "written")?;
    std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755))
        .about(&rustc, "made executable")?;
    Ok(rustc)
}

/// The search path without the folders that contain rustup.
fn path_without_rustup() -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| !folder.join("rustup").exists());
    std::env::join_paths(folders).unwrap_or_default()
}

/// The lines in which build scripts warn.
fn warnings_of(command: &mut Command) -> Result<Vec<String>> {
    let output = command.output().map_err(|source| process::start_error(command, source))?;
    let messages = String::from_utf8_lossy(&output.stderr);
    // Those of rustc about the source have no `package@version:` in front.
    let warning = |line: &str| line.strip_prefix("warning: consumer@").map(str::to_owned);
    Ok(messages.lines().filter_map(warning).collect())
}
