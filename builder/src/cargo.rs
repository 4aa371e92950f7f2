//! The two calls of cargo: `metadata`, to learn what the kernel crate consists of, and `rustc` with the target
//! `nvptx64-nvidia-cuda`, to compile it.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::diagnostics::Diagnostics;
use crate::json::{items, messages, text, texts};
use crate::ptx::{declarations, units};
use crate::toolchain::Toolchain;
use crate::{Arch, DebugInfo, Error, environment};

/// The target that the device code is compiled for.
const TARGET: &str = "nvptx64-nvidia-cuda";

/// Flags for every crate, whatever profiles and their exceptions for packages say in the kernel crate's `Cargo.toml`: flags come last.
/// Unoptimised kernels would keep tiles in memory instead of registers, and arithmetic that panics on overflow has no place there.
const FLAGS: [&str; 10] = [
    "-Copt-level=3",
    // Tiles pack what there is to pack. *Measured:* a seventh of the time of a compilation; without it the PTX of 200 kernels of `gemm` is
    // the same, and 780 kernels keep their registers. rustc's flag does not reach the passes for whole programs, which take a tenth as long
    // again.
    "-Cno-vectorize-slp",
    "-Cllvm-args=-vectorize-slp=false",
    "-Cdebug-assertions=off",
    "-Coverflow-checks=off",
    // A panic becomes a trap, without the code that would format its message.
    "-Zunstable-options",
    "-Cpanic=immediate-abort",
    // Names of entries that are identifiers of PTX, whatever their modules are called.
    "-Csymbol-mangling-version=v0",
    // Arrays stay in registers only if every loop over them is unrolled.
    "-Cllvm-args=-unroll-threshold=2000",
    // A call passes its arguments through memory: nothing is too large to be inlined.
    "-Cllvm-args=-inline-threshold=100000",
];

/// LLVM's passes for whole programs, behind those for a crate, which rustc adds by itself only where it links. Without them some kernels take
/// more registers, and some spill more. They run at the level of the last of rustc's `flags` that states one.
fn whole_program(flags: &[String]) -> String {
    let level = flags.iter().rev().find_map(|flag| flag.strip_prefix("-Copt-level="));
    format!("-Cpasses=lto<O{}>", level.unwrap_or("3"))
}

/// Flags by which the code of all functions stands in metadata, and is compiled where it is called.
const DESCRIBED: [&str; 3] =
    ["-Zalways-encode-mir", "-Zcross-crate-inline-threshold=always", "-Zshare-generics=no"];

/// Settings of both profiles. No flag of rustc makes some of them. Others change nothing in the code of dependencies, but cargo compiles
/// those once for each profile: kernel crates of two workspaces share them where their manifests would say different things. So the level of
/// optimisation, which the flags state, is that of no manifest either, whatever it says of a package.
const PROFILE: [&str; 5] = [
    "profile.dev.incremental=false",
    "profile.dev.debug='line-tables-only'",
    "profile.dev.lto='off'",
    "profile.release.incremental=false",
    "profile.release.lto='fat'",
];

/// Unstable features that kernels are written with, or `#[kernel]` writes.
const FEATURES: &str = "-Zcrate-attr=feature(abi_ptx,asm_experimental_arch,linkage)";

/// How many codegen units a crate with many Rust modules has at most. They are compiled side by side.
const UNITS: u32 = 16;

/// How the code of the kernel crate's dependencies gets into its module.
#[derive(Clone, Copy)]
enum Dependencies {
    /// Of dependencies, `core` among them, rustc writes metadata alone, with the code of all functions as it is before code
    /// generation. The kernel crate takes from it what it calls. This is what `cargo check` does, whose compilation of the last
    /// crate is asked for assembly besides: of so many codegen units, each of which is a file.
    Described { units: u32 },
    /// Dependencies are compiled in full, and linked: all that they define is there, statics and `global_asm!` included.
    Linked,
}

/// What is to be compiled.
pub(crate) struct Compilation<'a> {
    pub(crate) manifest: &'a Path,
    /// The root of the kernel crate's workspace, where rustc runs.
    pub(crate) workspace: &'a Path,
    pub(crate) package: &'a str,
    /// The packages whose level of optimisation is not to be the manifest's: see [`names_without_version`].
    pub(crate) packages: &'a [&'a str],
    pub(crate) features: &'a [String],
    pub(crate) default_features: bool,
    pub(crate) debug_info: DebugInfo,
    pub(crate) rustflags: &'a [String],
    pub(crate) target_folder: &'a Path,
}

impl Compilation<'_> {
    /// Compiles the kernel crate for `arch`. Returns the module's PTX and the compiler's warnings; `file` is for the compiler to write to.
    ///
    /// A static of a dependency is code of the dependency, which metadata does not hold. A kernel that uses one, such as a table of
    /// `libm`, takes the long way; the builds of all others are spared the code generation of what nobody links. A static of the crate
    /// that several codegen units use is defined in one of them: such a crate is compiled as a whole.
    pub(crate) fn run(
        &self,
        toolchain: &Toolchain,
        arch: Arch,
        file: &Path,
    ) -> Result<(String, Diagnostics), Error> {
        // Debug information numbers files and types of a unit.
        let most = if self.debug_info == DebugInfo::None { UNITS } else { 1 };
        let mut way = Dependencies::Described { units: most };
        loop {
            let (units, warnings) = self.compile(toolchain, arch, way, file)?;
            way = match (way, units::merged(&units)) {
                (way, Some(module))
                    if matches!(way, Dependencies::Linked) || !declarations::lacks_definitions(&module) =>
                {
                    return Ok((declarations::with_declarations(&module), warnings));
                }
                (Dependencies::Described { units: 2.. }, _) if units.len() > 1 => {
                    Dependencies::Described { units: 1 }
                }
                _ => Dependencies::Linked,
            };
        }
    }

    /// The PTX of each codegen unit, in a fixed order.
    fn compile(
        &self,
        toolchain: &Toolchain,
        arch: Arch,
        dependencies: Dependencies,
        file: &Path,
    ) -> Result<(Vec<String>, Diagnostics), Error> {
        let mut command = self.command(toolchain, arch, dependencies, file);
        let output =
            command.output().map_err(|source| Error::Start { program: toolchain.cargo.clone(), source })?;
        let mut diagnostics = Diagnostics::read(&output.stdout, self.workspace);
        if output.status.success() {
            let written = match dependencies {
                Dependencies::Described { .. } => assembly_of_last(&output.stdout)?,
                Dependencies::Linked => Vec::from_iter(file.is_file().then(|| file.to_owned())),
            };
            if !written.is_empty() {
                let read = |path: PathBuf| {
                    std::fs::read_to_string(&path).map_err(|source| Error::File {
                        path,
                        action: "read",
                        source,
                    })
                };
                return Ok((written.into_iter().map(read).collect::<Result<_, _>>()?, diagnostics));
            }
        }
        if !diagnostics.has_errors() {
            // Failures that are cargo's own, such as a dependency that it cannot find, are on its standard error. A process that
            // was stopped, by a user or for lack of memory, leaves no message but its status.
            let stderr = String::from_utf8_lossy(&output.stderr);
            diagnostics.add_error(format!("{stderr}cargo: {}\n", output.status));
        }
        Err(Error::Compile { package: self.package.to_owned(), archs: vec![arch], diagnostics })
    }

    fn command(&self, toolchain: &Toolchain, arch: Arch, dependencies: Dependencies, file: &Path) -> Command {
        let mut command = Command::new(&toolchain.cargo);
        environment::clean(&mut command);
        command
            .env("RUSTC", &toolchain.rustc)
            // Compiling `core` and the `ptx-kernel` ABI are unstable; this lets a stable compiler do it.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_ENCODED_RUSTFLAGS", self.rustflags(arch, dependencies).join("\x1f"))
            // A configuration file may put intermediate files elsewhere, behind the outer cargo's lock.
            .env("CARGO_BUILD_BUILD_DIR", self.target_folder)
            .args(["rustc", "--lib", "--target", TARGET])
            .args(["-Zbuild-std=core", "--message-format=json", "--manifest-path"])
            .arg(self.manifest)
            .arg("--target-dir")
            .arg(self.target_folder);
        for setting in PROFILE {
            command.args(["--config", setting]);
        }
        for package in self.packages.iter().copied().chain(["\"*\""]) {
            command.arg("--config").arg(format!("profile.dev.package.{package}.opt-level=0"));
        }
        if !self.default_features {
            command.arg("--no-default-features");
        }
        if !self.features.is_empty() {
            command.arg("--features").arg(self.features.join(","));
        }
        match dependencies {
            // Of this name cargo documents that it is no profile, but `cargo check` by the profile `dev`. The assembly lies beside
            // the metadata, so that cargo's notion of what is up to date holds for it too.
            Dependencies::Described { units } => {
                command.args(["--profile", "check", "--crate-type", "lib", "--", FEATURES]);
                command.arg(whole_program(self.rustflags)).arg(format!("-Ccodegen-units={units}"));
                // Not for dependencies: their metadata serves builds of every kind.
                command.args(self.debug_info.compiler_flags());
                // Cargo names files after the package, where it lies in its workspace, and flags. Crates of two workspaces that are
                // compiled in one folder at the same time would overwrite each other's.
                let mut hasher = DefaultHasher::new();
                self.manifest.hash(&mut hasher);
                command.arg("--emit=asm").arg(format!("--cfg=cuda_tiles_crate=\"{}\"", hasher.finish()));
            }
            // With fat LTO the assembly of the last crate is the whole program's: the PTX. There is nothing to link,
            // and without a linked file cargo never takes PTX of other settings for up to date.
            Dependencies::Linked => {
                command.args(["--release", "--crate-type", "cdylib", "--", FEATURES, "-Zno-link"]);
                command.arg(format!("--emit=asm={}", file.display()));
            }
        }
        command
    }

    fn rustflags(&self, arch: Arch, dependencies: Dependencies) -> Vec<String> {
        let (major, minor) = arch.ptx_version();
        let mut flags = vec![format!("-Ctarget-cpu={arch}"), format!("-Ctarget-feature=+ptx{major}{minor}")];
        flags.extend(FLAGS.map(str::to_owned));
        match dependencies {
            Dependencies::Described { .. } => flags.extend(DESCRIBED.map(str::to_owned)),
            Dependencies::Linked => {
                flags.push("-Ccodegen-units=1".to_owned());
                flags.extend(self.debug_info.compiler_flags().iter().map(|&flag| flag.to_owned()));
            }
        }
        flags.extend_from_slice(self.rustflags);
        flags
    }
}

/// The assembly of the crate that cargo reports last, which is the kernel crate: a file, or one for each codegen unit, beside the
/// crate's metadata. rustc writes the metadata first; older files are of a compilation that had other units.
fn assembly_of_last(stdout: &[u8]) -> Result<Vec<PathBuf>, Error> {
    let artifact = messages(stdout, "compiler-artifact").last();
    let metadata = artifact.iter().flat_map(|artifact| texts(&artifact["filenames"]).map(PathBuf::from));
    let mut metadata = metadata.filter(|file| file.extension().is_some_and(|extension| extension == "rmeta"));
    let Some(metadata) = metadata.next() else { return Ok(Vec::new()) };
    let stem = metadata.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("lib"));
    let (Some(stem), Some(folder)) = (stem, metadata.parent()) else { return Ok(Vec::new()) };
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::File { path, action: "read", source }
    };
    let changed = |path: &Path| path.metadata().and_then(|file| file.modified()).map_err(failed(path));
    let written = changed(&metadata)?;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_assembly =
            name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".s"));
        if is_assembly && changed(&path)? >= written {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// A workspace, as cargo describes it.
pub(crate) struct Metadata {
    pub(crate) workspace_root: PathBuf,
    packages: Vec<Package>,
    /// By the package's identifier, the identifiers of those that it depends on.
    dependencies: HashMap<String, Vec<String>>,
}

/// A package of a workspace, or one that these depend on.
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    manifest: PathBuf,
    /// Whether its source is on this machine, for people to edit.
    is_local: bool,
    /// The kinds and root files of what cargo makes of it.
    targets: Vec<(Vec<String>, PathBuf)>,
}

impl Metadata {
    fn read(json: &Value) -> Self {
        Self {
            workspace_root: text(&json["workspace_root"]).into(),
            packages: items(&json["packages"]).map(Package::read).collect(),
            dependencies: items(&json["resolve"]["nodes"])
                .map(|node| (text(&node["id"]), texts(&node["dependencies"]).map(str::to_owned).collect()))
                .collect(),
        }
    }
}

impl Package {
    fn read(json: &Value) -> Self {
        let target = |target: &Value| {
            let kinds = texts(&target["kind"]).map(str::to_owned).collect();
            (kinds, text(&target["src_path"]).into())
        };
        Self {
            id: text(&json["id"]),
            name: text(&json["name"]),
            manifest: text(&json["manifest_path"]).into(),
            is_local: json["source"].is_null(),
            targets: items(&json["targets"]).map(target).collect(),
        }
    }

    /// Its manifest, the folders of its libraries and its build script.
    fn own_files(&self) -> Vec<PathBuf> {
        let is_program = |kind: &String| ["bin", "bench", "example", "test"].contains(&kind.as_str());
        let mut files = vec![self.manifest.clone()];
        for (kinds, source) in &self.targets {
            if kinds.iter().any(|kind| kind == "custom-build") {
                files.push(source.clone());
            } else if !kinds.iter().all(is_program) {
                files.extend(source.parent().map(Path::to_owned));
            }
        }
        files
    }
}

/// Asks cargo what the kernel crate is; with `dependencies`, also what it depends on for the GPU.
pub(crate) fn metadata(manifest: &Path, dependencies: bool) -> Result<Metadata, Error> {
    let cargo = std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from);
    let mut command = Command::new(&cargo);
    environment::clean(&mut command);
    command.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(manifest);
    if dependencies {
        command.args(["--filter-platform", TARGET]);
    } else {
        command.arg("--no-deps");
    }
    // `--filter-platform` asks a compiler about the target; the running one is as good as any.
    if let Some(rustc) = std::env::var_os("RUSTC") {
        command.env("RUSTC", rustc);
    }
    let output = command.output().map_err(|source| Error::Start { program: cargo, source })?;
    let failed = |reason| Error::Metadata { manifest: manifest.to_owned(), reason };
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("`cargo metadata` exited with an error: {stderr}")));
    }
    let json = serde_json::from_slice(&output.stdout);
    json.map(|json| Metadata::read(&json)).map_err(|error| failed(error.to_string()))
}

/// The package whose `Cargo.toml` is `manifest`.
pub(crate) fn package<'a>(metadata: &'a Metadata, manifest: &Path) -> Option<&'a Package> {
    let same = |package: &&Package| {
        let (left, right) = (package.manifest.canonicalize(), manifest.canonicalize());
        matches!((left, right), (Ok(left), Ok(right)) if left == right)
    };
    metadata.packages.iter().find(same)
}

/// The files and folders that the PTX is made from: those of the kernel crate and of the packages on this
/// machine that it depends on, and the lock file.
pub(crate) fn sources(metadata: &Metadata, root: &str) -> Vec<PathBuf> {
    let local = compiled_from(metadata, root).filter(|package| package.is_local);
    let mut sources: Vec<PathBuf> = local.flat_map(Package::own_files).collect();
    sources.push(metadata.workspace_root.join("Cargo.lock"));
    sources.sort();
    sources.dedup();
    sources
}

/// The names of the packages that the package `root` is compiled from, its own among them: those whose level of optimisation the builder may
/// state. Cargo refuses a second level beside one that the workspace's manifest states for a version, such as `libm@0.2.16`.
pub(crate) fn names_without_version<'a>(metadata: &'a Metadata, root: &'a str) -> Vec<&'a str> {
    let manifest = std::fs::read_to_string(metadata.workspace_root.join("Cargo.toml")).unwrap_or_default();
    let has_version = |name: &str| ["@", ":"].iter().any(|mark| manifest.contains(&format!("{name}{mark}")));
    let all = compiled_from(metadata, root).map(|package| &*package.name);
    let mut names: Vec<&str> = all.filter(|name| !has_version(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The packages that `root` depends on, directly or not, and itself.
fn compiled_from<'a>(metadata: &'a Metadata, root: &'a str) -> impl Iterator<Item = &'a Package> {
    let mut reached = HashSet::from([root]);
    let mut to_visit = vec![root];
    while let Some(id) = to_visit.pop() {
        let dependencies = metadata.dependencies.get(id).map_or(&[][..], Vec::as_slice);
        to_visit.extend(dependencies.iter().map(String::as_str).filter(|&id| reached.insert(id)));
    }
    metadata.packages.iter().filter(move |package| reached.contains(&*package.id))
}
