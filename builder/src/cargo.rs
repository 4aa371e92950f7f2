//! The two calls of cargo: `metadata`, to learn what the kernel crate consists of, and `rustc` with the target
//! `nvptx64-nvidia-cuda`, to compile it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId, TargetKind};

use crate::diagnostics::Diagnostics;
use crate::toolchain::Toolchain;
use crate::{Arch, Error, environment};

/// The target that the device code is compiled for.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// The profile, whatever the kernel crate's `Cargo.toml` says: unoptimised kernels would keep tiles in memory
/// instead of registers, and arithmetic that panics on overflow has no place there.
const PROFILE: [&str; 8] = [
    "profile.release.opt-level=3",
    "profile.release.lto='fat'",
    "profile.release.codegen-units=1",
    "profile.release.panic='abort'",
    "profile.release.debug=false",
    "profile.release.debug-assertions=false",
    "profile.release.overflow-checks=false",
    "profile.release.incremental=false",
];

/// What is to be compiled.
pub(crate) struct Compilation<'a> {
    pub(crate) manifest: &'a Path,
    /// The root of the kernel crate's workspace, where rustc runs.
    pub(crate) workspace: &'a Path,
    pub(crate) package: &'a str,
    pub(crate) features: &'a [String],
    pub(crate) default_features: bool,
    pub(crate) rustflags: &'a [String],
    pub(crate) target_folder: &'a Path,
}

impl Compilation<'_> {
    /// Compiles the kernel crate for `arch`, and leaves the module's PTX in `ptx`. Returns the compiler's warnings.
    pub(crate) fn run(&self, toolchain: &Toolchain, arch: Arch, ptx: &Path) -> Result<Diagnostics, Error> {
        let mut command = self.command(toolchain, arch, ptx);
        let output =
            command.output().map_err(|source| Error::Start { program: toolchain.cargo.clone(), source })?;
        let mut diagnostics = Diagnostics::read(&output.stdout, self.workspace);
        if output.status.success() && ptx.is_file() {
            return Ok(diagnostics);
        }
        if !diagnostics.has_errors() {
            // Failures that are cargo's own, such as a dependency that it cannot find, are on its standard error. A process that
            // was stopped, by a user or for lack of memory, leaves no message but its status.
            let stderr = String::from_utf8_lossy(&output.stderr);
            diagnostics.add_error(format!("{stderr}cargo: {}\n", output.status));
        }
        Err(Error::Compile { package: self.package.to_owned(), archs: vec![arch], diagnostics })
    }

    fn command(&self, toolchain: &Toolchain, arch: Arch, ptx: &Path) -> Command {
        let mut command = Command::new(&toolchain.cargo);
        environment::clean(&mut command);
        command
            .env("RUSTC", &toolchain.rustc)
            // Compiling `core` and the `ptx-kernel` ABI are unstable; this lets a stable compiler do it.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_ENCODED_RUSTFLAGS", self.rustflags(arch).join("\x1f"))
            // A configuration file may put intermediate files elsewhere, behind the outer cargo's lock.
            .env("CARGO_BUILD_BUILD_DIR", self.target_folder)
            .args(["rustc", "--lib", "--release", "--crate-type", "cdylib", "--target", TARGET])
            .args(["-Zbuild-std=core", "--message-format=json", "--manifest-path"])
            .arg(self.manifest)
            .arg("--target-dir")
            .arg(self.target_folder);
        for setting in PROFILE {
            command.args(["--config", setting]);
        }
        if !self.default_features {
            command.arg("--no-default-features");
        }
        if !self.features.is_empty() {
            command.arg("--features").arg(self.features.join(","));
        }
        // With fat LTO the assembly of the last crate is the whole program's: the PTX. There is nothing to link,
        // and without a linked file cargo never takes PTX of other settings for up to date.
        command
            .args(["--", "-Zno-link", "-Zcrate-attr=feature(abi_ptx,asm_experimental_arch,linkage)"])
            .arg(format!("--emit=asm={}", ptx.display()));
        command
    }

    fn rustflags(&self, arch: Arch) -> Vec<String> {
        let (major, minor) = arch.ptx_version();
        let mut flags = vec![
            format!("-Ctarget-cpu={arch}"),
            format!("-Ctarget-feature=+ptx{major}{minor}"),
            // A panic becomes a trap, without the code that would format its message.
            "-Zunstable-options".to_owned(),
            "-Cpanic=immediate-abort".to_owned(),
            // Names of entries that are identifiers of PTX, whatever their modules are called.
            "-Csymbol-mangling-version=v0".to_owned(),
            // Arrays stay in registers only if every loop over them is unrolled.
            "-Cllvm-args=-unroll-threshold=2000".to_owned(),
            // A call passes its arguments through memory: nothing is too large to be inlined.
            "-Cllvm-args=-inline-threshold=100000".to_owned(),
        ];
        flags.extend_from_slice(self.rustflags);
        flags
    }
}

/// Asks cargo what the kernel crate is; with `dependencies`, also what it depends on for the GPU.
pub(crate) fn metadata(manifest: &Path, dependencies: bool) -> Result<Metadata, Error> {
    let mut command = MetadataCommand::new();
    command.manifest_path(manifest);
    if dependencies {
        command.other_options(["--filter-platform".to_owned(), TARGET.to_owned()]);
    } else {
        command.no_deps();
    }
    let failed = |source| Error::Metadata { manifest: manifest.to_owned(), source };
    let mut command = command.cargo_command();
    environment::clean(&mut command);
    // `--filter-platform` asks a compiler about the target; the running one is as good as any.
    if let Some(rustc) = std::env::var_os("RUSTC") {
        command.env("RUSTC", rustc);
    }
    let output = command.output().map_err(|error| failed(cargo_metadata::Error::Io(error)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(failed(cargo_metadata::Error::CargoMetadata { stderr }));
    }
    MetadataCommand::parse(String::from_utf8_lossy(&output.stdout)).map_err(failed)
}

/// The package whose `Cargo.toml` is `manifest`.
pub(crate) fn package<'a>(metadata: &'a Metadata, manifest: &Path) -> Option<&'a Package> {
    let same = |package: &&Package| {
        let (left, right) = (package.manifest_path.as_std_path().canonicalize(), manifest.canonicalize());
        matches!((left, right), (Ok(left), Ok(right)) if left == right)
    };
    metadata.packages.iter().find(same)
}

/// The files and folders that the PTX is made from: those of the kernel crate and of the packages on this
/// machine that it depends on, and the lock file.
pub(crate) fn sources(metadata: &Metadata, root: &PackageId) -> Vec<PathBuf> {
    let reached = reachable(metadata, root);
    let mut sources: Vec<PathBuf> = metadata
        .packages
        .iter()
        .filter(|package| package.source.is_none() && reached.contains(&package.id))
        .flat_map(own_files)
        .collect();
    sources.push(metadata.workspace_root.join("Cargo.lock").into_std_path_buf());
    sources.sort();
    sources.dedup();
    sources
}

/// A package's manifest, the folders of its libraries and its build script.
fn own_files(package: &Package) -> Vec<PathBuf> {
    let mut files = vec![package.manifest_path.clone().into_std_path_buf()];
    for target in &package.targets {
        let source = target.src_path.as_std_path();
        if target.kind.contains(&TargetKind::CustomBuild) {
            files.push(source.to_owned());
        } else if target.kind.iter().any(is_library) {
            files.extend(source.parent().map(Path::to_owned));
        }
    }
    files
}

fn is_library(kind: &TargetKind) -> bool {
    !matches!(kind, TargetKind::Bin | TargetKind::Bench | TargetKind::Example | TargetKind::Test)
}

/// The packages that `root` depends on, directly or not, and itself.
fn reachable<'a>(metadata: &'a Metadata, root: &'a PackageId) -> HashSet<&'a PackageId> {
    let nodes = metadata.resolve.as_ref().map_or(&[][..], |resolve| &resolve.nodes);
    let mut reached = HashSet::from([root]);
    let mut to_visit = vec![root];
    while let Some(id) = to_visit.pop() {
        let dependencies =
            nodes.iter().find(|node| node.id == *id).map_or(&[][..], |node| &node.dependencies);
        to_visit.extend(dependencies.iter().filter(|dependency| reached.insert(dependency)));
    }
    reached
}
