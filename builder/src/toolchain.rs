//! Finds a Rust toolchain that can compile for the GPU.
//!
//! The back end is in every rustc; what may be missing is the source of `core`, rustup's component `rust-src`,
//! because no precompiled `core` for `nvptx64-nvidia-cuda` is distributed.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::environment;

/// The variable that names the toolchain to use.
pub(crate) const VARIABLE: &str = "CUDA_TILES_TOOLCHAIN";

/// The value of the variable with which nothing is compiled for the GPU.
const NONE: &str = "none";

/// The oldest rustc that is known to compile kernels correctly, as (major, minor).
const OLDEST: (u32, u32) = (1, 95);

/// Where the system's package manager puts a toolchain.
const SYSTEM_SYSROOT: &str = "/usr";

/// A compiler that can compile for the GPU, and the cargo that belongs to it.
#[derive(Clone, Debug)]
pub(crate) struct Toolchain {
    pub(crate) cargo: PathBuf,
    pub(crate) rustc: PathBuf,
}

/// A toolchain that was looked at and cannot compile for the GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Where it was found, such as "rustup's toolchain `stable`".
    pub origin: String,
    /// Why it cannot be used.
    pub reason: String,
    /// The command that would make it usable, if there is one.
    pub remedy: Option<String>,
    /// A file or folder that changes when the toolchain is repaired.
    watch: Option<PathBuf>,
}

/// No installed toolchain can compile for the GPU. The message says what was tried, and what to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolchainMissing {
    /// The toolchains looked at, in the order of the search.
    pub rejected: Vec<Rejected>,
}

impl ToolchainMissing {
    /// One sentence: what is missing.
    pub fn reason(&self) -> String {
        let tried: Vec<String> =
            self.rejected.iter().map(|tried| format!("{}: {}", tried.origin, tried.reason)).collect();
        let tried = if tried.is_empty() { "none was found".to_owned() } else { tried.join("; ") };
        format!("no Rust toolchain here can compile kernels for the GPU ({tried})")
    }

    /// The commands to type, as one sentence.
    pub fn remedy(&self) -> String {
        let debian = "apt-get install rustc-web rust-web-src cargo-web";
        match self.rejected.iter().find_map(|tried| tried.remedy.as_deref()) {
            Some(command) => format!("type `{command}`; without rustup, on Debian: `{debian}`"),
            None => format!(
                "type `rustup toolchain install stable --component rust-src`; without rustup, on Debian: `{debian}`"
            ),
        }
    }

    /// What to watch for changes, so that the next build notices a repaired toolchain.
    pub(crate) fn watch(&self) -> impl Iterator<Item = PathBuf> {
        let rustup = rustup_home().map(|home| home.join("update-hashes"));
        self.rejected
            .iter()
            .filter_map(|tried| tried.watch.clone())
            .chain(rustup)
            .filter(|path| path.exists())
    }
}

impl fmt::Display for ToolchainMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason(), self.remedy())
    }
}

impl std::error::Error for ToolchainMissing {}

/// Searches for a toolchain, in the order that the crate's documentation states.
///
/// A toolchain named by the variable is the user's decision: if it cannot be used, no other is tried.
pub(crate) fn find() -> Result<Toolchain, ToolchainMissing> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return named_by_variable(&named).map_err(|rejected| ToolchainMissing { rejected: vec![rejected] });
    }
    let mut rejected = Vec::new();
    let candidates = std::iter::once_with(running)
        .chain(std::iter::once_with(installed_by_rustup).flatten())
        .chain(std::iter::once_with(installed_by_the_system).flatten());
    for candidate in candidates {
        match candidate.examine() {
            Ok(toolchain) => return Ok(toolchain),
            Err(reason) => rejected.push(reason),
        }
    }
    Err(ToolchainMissing { rejected })
}

/// Whether the variable says that nothing shall be compiled for the GPU.
pub(crate) fn is_switched_off() -> bool {
    std::env::var_os(VARIABLE).is_some_and(|value| value == NONE)
}

/// A compiler to look at.
struct Candidate {
    origin: String,
    rustc: PathBuf,
    /// The name of the toolchain with rustup, if it has one.
    rustup_name: Option<String>,
}

impl Candidate {
    /// Whether the compiler can be used, or why not.
    fn examine(self) -> Result<Toolchain, Rejected> {
        let rejected =
            |reason: String| Rejected { origin: self.origin.clone(), reason, remedy: None, watch: None };
        let printed = output(Command::new(&self.rustc).arg("-vV")).map_err(&rejected)?;
        let version = release(&printed)
            .ok_or_else(|| rejected(format!("{} does not state its version", self.rustc.display())))?;
        if version_of(version).is_none_or(|found| found < OLDEST) {
            return Err(rejected(format!("it is rustc {version}, and {}.{} is needed", OLDEST.0, OLDEST.1)));
        }
        let sysroot = output(Command::new(&self.rustc).args(["--print", "sysroot"])).map_err(&rejected)?;
        let sysroot = PathBuf::from(sysroot.trim());
        let rustlib = sysroot.join("lib/rustlib");
        if !rustlib.join("src/rust/library/core/src/lib.rs").is_file() {
            let components = rustlib.join("components");
            return Err(Rejected {
                remedy: self.rustup_name.as_ref().map(|name| add_component(name)),
                watch: Some(if components.is_file() { components } else { rustlib }),
                ..rejected(format!("rustc {version} without the component `rust-src`, the source of `core`"))
            });
        }
        let bin = sysroot.join("bin");
        let own_or = |name: &str, fallback: PathBuf| {
            let own = bin.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
            if own.is_file() { own } else { fallback }
        };
        let running_cargo = std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
        Ok(Toolchain { cargo: own_or("cargo", running_cargo), rustc: own_or("rustc", self.rustc.clone()) })
    }
}

fn add_component(toolchain: &str) -> String {
    format!("rustup component add rust-src --toolchain {toolchain}")
}

/// The toolchain that the variable names, by a path or by rustup's name.
fn named_by_variable(named: &OsStr) -> Result<Toolchain, Rejected> {
    let origin = format!("{VARIABLE}={}", named.to_string_lossy());
    let rejected = |reason: String, remedy| Rejected { origin: origin.clone(), reason, remedy, watch: None };
    if named == NONE {
        let reason = "the GPU is switched off by it".to_owned();
        return Err(rejected(reason, Some(format!("unset {VARIABLE}"))));
    }
    let path = Path::new(named);
    let executable = format!("rustc{}", std::env::consts::EXE_SUFFIX);
    if path.components().count() > 1 || path.is_absolute() {
        let rustc = [path.join("bin").join(&executable), path.join(&executable)]
            .into_iter()
            .find(|rustc| rustc.is_file())
            .ok_or_else(|| rejected("there is no `rustc` in it, nor in its `bin`".to_owned(), None))?;
        return Candidate { origin, rustc, rustup_name: None }.examine();
    }
    let name = named.to_string_lossy().into_owned();
    match rustup_which(&name) {
        Ok(rustc) => Candidate { origin, rustc, rustup_name: Some(name) }.examine(),
        Err(reason) => {
            let remedy = format!("rustup toolchain install {name} --component rust-src");
            Err(rejected(reason, Some(remedy)))
        }
    }
}

/// The toolchain of the cargo that runs the build script.
fn running() -> Candidate {
    let rustc = std::env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from);
    let rustup_name = std::env::var("RUSTUP_TOOLCHAIN").ok();
    let origin = match &rustup_name {
        Some(name) => format!("the running toolchain `{name}`"),
        None => format!("the running `{}`", rustc.display()),
    };
    Candidate { origin, rustc, rustup_name }
}

/// rustup's toolchains, nightlies first, since they are the most likely to have `rust-src`.
fn installed_by_rustup() -> Vec<Candidate> {
    let listed = output(Command::new("rustup").args(["toolchain", "list"])).unwrap_or_default();
    let mut names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_by_key(|name| !name.starts_with("nightly"));
    names
        .into_iter()
        .filter_map(|name| {
            let origin = format!("rustup's toolchain `{name}`");
            Some(Candidate { origin, rustc: rustup_which(name).ok()?, rustup_name: Some(name.to_owned()) })
        })
        .collect()
}

fn installed_by_the_system() -> Option<Candidate> {
    let rustc = Path::new(SYSTEM_SYSROOT).join("bin/rustc");
    rustc.is_file().then(|| Candidate {
        origin: format!("the system's `{}`", rustc.display()),
        rustc,
        rustup_name: None,
    })
}

/// The compiler of a rustup toolchain.
fn rustup_which(toolchain: &str) -> Result<PathBuf, String> {
    output(Command::new("rustup").args(["which", "rustc", "--toolchain", toolchain]))
        .map(|path| PathBuf::from(path.trim()))
}

fn rustup_home() -> Option<PathBuf> {
    std::env::var_os("RUSTUP_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".rustup")))
}

/// What a command prints, or in one line why it failed.
fn output(command: &mut Command) -> Result<String, String> {
    environment::clean(command);
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("`{program}` does not start: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let message = message.lines().find(|line| !line.is_empty()).unwrap_or("it says nothing");
    Err(format!("`{program}` failed: {message}"))
}

/// The version in what `rustc -vV` prints, such as `1.97.0-nightly`.
fn release(printed: &str) -> Option<&str> {
    printed.lines().find_map(|line| line.strip_prefix("release: "))
}

/// The major and minor part of a version.
fn version_of(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_source(name: &str) -> Rejected {
        Rejected {
            origin: format!("the running toolchain `{name}`"),
            reason: "rustc 1.95.0 without the component `rust-src`, the source of `core`".to_owned(),
            remedy: Some(add_component(name)),
            watch: None,
        }
    }

    #[test]
    fn the_message_says_what_is_missing_and_what_to_type() {
        let missing = ToolchainMissing { rejected: vec![without_source("stable")] };
        let message = missing.to_string();
        assert!(message.contains("the running toolchain `stable`: rustc 1.95.0 without"), "{message}");
        assert!(message.contains("`rustup component add rust-src --toolchain stable`"), "{message}");
        assert!(message.contains("`apt-get install rustc-web rust-web-src cargo-web`"), "{message}");
        assert_eq!(message.lines().count(), 1);
    }

    #[test]
    fn with_no_toolchain_at_all_the_message_says_how_to_install_one() {
        let message = ToolchainMissing { rejected: vec![] }.to_string();
        assert!(message.contains("none was found"), "{message}");
        assert!(message.contains("rustup toolchain install stable --component rust-src"), "{message}");
    }

    #[test]
    fn versions_are_read_from_what_rustc_prints() {
        let printed = "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)\nbinary: rustc\nrelease: 1.97.0-nightly\n";
        assert_eq!(release(printed).and_then(version_of), Some((1, 97)));
        assert_eq!(release("rustc 1.97"), None);
        assert!(version_of("1.9").unwrap() < OLDEST);
    }

    #[test]
    fn a_path_without_a_compiler_is_refused() {
        let rejected = named_by_variable(OsStr::new("/nowhere/at/all")).unwrap_err();
        assert!(rejected.origin.contains("/nowhere/at/all"), "{rejected:?}");
        assert!(rejected.reason.contains("no `rustc`"), "{rejected:?}");
    }

    #[cfg(unix)]
    #[test]
    fn an_old_compiler_and_one_without_source_are_refused() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let sysroot = folder.path();
        let rustc = sysroot.join("bin/rustc");
        std::fs::create_dir_all(rustc.parent().unwrap()).unwrap();
        let refused = |version: &str| {
            let root = sysroot.display();
            let script = format!(
                "#!/bin/sh\ncase \"$1\" in -vV) echo 'release: {version}';; *) echo '{root}';; esac\n"
            );
            std::fs::write(&rustc, script).unwrap();
            std::fs::set_permissions(&rustc, std::fs::Permissions::from_mode(0o755)).unwrap();
            named_by_variable(sysroot.as_os_str()).unwrap_err().reason
        };
        assert_eq!(refused("1.84.1"), "it is rustc 1.84.1, and 1.95 is needed");
        assert!(refused("1.95.0").contains("without the component `rust-src`"));
    }
}
