//! The source of `core`: gets it from the first place that has it, or says what to type.

use std::path::Path;
use std::process::Command;

use crate::error::{Error, Result};
use crate::process;
use crate::toolchain::{self, Running};

/// The Debian packages that together can compile kernels, for machines without rustup.
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "rust-web-src", "cargo-web"];

/// The source of `core`, without which nothing can be compiled for the GPU.
///
/// # Errors
/// If no way to get it is known, or the one that is known fails.
pub fn install(running: &Running) -> Result {
    if running.has_source() {
        eprintln!("rust-src: there already, for {}", running.version);
        return Ok(());
    }
    let by_rustup = running.add_components(&["rust-src"]);
    if let Some(mut command) = by_rustup {
        match process::run(&mut command) {
            Ok(()) => return Ok(()),
            Err(error) => eprintln!("{error}"),
        }
    }
    if toolchain::has_source(Path::new("/usr")) {
        eprintln!("rust-src: there already, for the system's /usr/bin/rustc");
        return Ok(());
    }
    if is_root() && process::succeeds(Command::new("apt-get").arg("--version")) {
        process::run(Command::new("apt-get").arg("update"))?;
        let install = ["install", "--yes", "--no-install-recommends"];
        return process::run(Command::new("apt-get").args(install).args(DEBIAN_PACKAGES));
    }
    Err(Error::Missing {
        what: "the source of `core`, rustup's component `rust-src`,".to_owned(),
        fix: format!(
            "`rustup component add rust-src`; without rustup, on Debian and as root: `apt-get install {}`",
            DEBIAN_PACKAGES.join(" ")
        ),
    })
}

fn is_root() -> bool {
    process::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}
