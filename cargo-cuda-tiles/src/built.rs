//! Where the PTX is: in the folders of build scripts that cargo names, or compiled for the purpose.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cuda_tiles_builder::{Arch, CudaBuilder};
use serde_json::Value;

use crate::error::{Context, Error, Result};

/// The workspace that the report is about, as cargo describes it.
#[derive(Clone, Debug)]
pub struct Workspace {
    manifest: Option<PathBuf>,
    /// Where cargo puts what it builds.
    target: PathBuf,
}

/// What cargo is asked to build, in the words of its own options.
#[derive(Clone, Debug, Default)]
pub struct Package {
    /// `--package`, as often as there are names.
    pub names: Vec<String>,
    /// `--features`.
    pub features: Vec<String>,
    /// `--release`.
    pub release: bool,
}

impl Workspace {
    /// The workspace of the current folder, or of that `Cargo.toml`.
    ///
    /// # Errors
    /// If there is none, or cargo does not start.
    pub fn find(manifest: Option<PathBuf>) -> Result<Self> {
        let mut workspace = Self { manifest, target: PathBuf::new() };
        let mut command = workspace.cargo("metadata");
        command.args(["--no-deps", "--format-version", "1"]);
        let printed = output("metadata", &mut command)?;
        let json: Value = serde_json::from_slice(&printed)
            .map_err(|error| Error::Cargo { command: "metadata", reason: error.to_string() })?;
        let target = json["target_directory"].as_str().ok_or_else(|| Error::Cargo {
            command: "metadata",
            reason: "it names no target folder".to_owned(),
        })?;
        workspace.target = target.into();
        Ok(workspace)
    }

    /// The folder that [`fetch_ptxas`](crate::fetch_ptxas) fills for this workspace.
    pub fn tools(&self) -> PathBuf {
        self.target.join("cuda-tiles/tools")
    }

    /// The files of PTX that the packages' build scripts leave, and the architectures that they are for. Runs the build scripts unless
    /// they have run, as `cargo check` does.
    ///
    /// # Errors
    /// [`Error::NoPtx`] if there are none; if cargo fails.
    pub fn built(&self, package: &Package) -> Result<Vec<(PathBuf, Arch)>> {
        let mut command = self.cargo("check");
        command.arg("--message-format=json-render-diagnostics");
        for name in &package.names {
            command.args(["--package", name]);
        }
        if !package.features.is_empty() {
            command.arg("--features").arg(package.features.join(","));
        }
        if package.release {
            command.arg("--release");
        }
        let printed = output("check", &mut command)?;
        let mut images = Vec::new();
        let mut hint = None;
        for folder in folders(&printed) {
            let found = images_in(&folder)?;
            if found.is_empty() {
                hint = hint.or_else(|| without_ptx(&folder));
            }
            images.extend(found);
        }
        if images.is_empty() { Err(Error::NoPtx { hint }) } else { Ok(images) }
    }

    /// Compiles a crate of kernels, which nothing has to launch, for these architectures.
    ///
    /// # Errors
    /// If it does not compile, or there is no toolchain that can.
    pub fn compile(
        &self,
        kernels: &Path,
        archs: &[Arch],
        features: &[String],
    ) -> Result<Vec<(PathBuf, Arch)>> {
        let kernels = std::path::absolute(kernels).about(kernels, "found")?;
        let folder = self.target.join("cuda-tiles");
        let mut builder = CudaBuilder::new(&kernels)
            .required(true)
            .machine_code(false)
            .features(features)
            .out_dir(folder.join("report"))
            .target_dir(folder);
        for &arch in archs {
            builder = builder.arch(arch);
        }
        let built = builder.try_build()?;
        Ok(built.images.into_iter().map(|image| (image.path, image.arch)).collect())
    }

    fn cargo(&self, subcommand: &str) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.arg(subcommand);
        if let Some(manifest) = &self.manifest {
            command.arg("--manifest-path").arg(manifest);
        }
        command
    }
}

/// What a command of cargo prints. Its messages for people go to the terminal.
fn output(name: &'static str, command: &mut Command) -> Result<Vec<u8>> {
    let program = || format!("cargo {name}");
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|source| Error::Start { program: program(), source })?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Error::Failed { program: program(), status: output.status }),
    }
}

/// The folders of build scripts among cargo's messages.
fn folders(messages: &[u8]) -> Vec<PathBuf> {
    let messages = messages.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let executed = messages.filter(|message: &Value| message["reason"] == "build-script-executed");
    executed.filter_map(|message| Some(message["out_dir"].as_str()?.into())).collect()
}

/// The files `NAME.ARCH.ptx` that the builder has written into a folder, in the order of their names. It writes `NAME.rs` beside them.
fn images_in(folder: &Path) -> Result<Vec<(PathBuf, Arch)>> {
    let mut images = Vec::new();
    for entry in std::fs::read_dir(folder).about(folder, "read")? {
        let path = entry.about(folder, "read")?.path();
        let Some((name, arch)) = path.file_name().and_then(|file| image_name(file.to_str()?)) else {
            continue;
        };
        // Images of an architecture that the build script no longer asks for stay in the folder.
        let source = folder.join(format!("{name}.rs"));
        let is_embedded = std::fs::read_to_string(&source)
            .is_ok_and(|text| text.contains(&format!("{name}.{arch}.ptx.packed")));
        if is_embedded {
            images.push((path, arch));
        }
    }
    images.sort();
    Ok(images)
}

/// The name of an artifact and the architecture, out of a file's name.
fn image_name(file: &str) -> Option<(&str, Arch)> {
    let (name, arch) = file.strip_suffix(".ptx")?.rsplit_once('.')?;
    Some((name, arch.parse().ok()?))
}

/// What the source that a builder has written says about the lack of PTX.
fn without_ptx(folder: &Path) -> Option<String> {
    let sources = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut texts = sources.filter_map(|path| std::fs::read_to_string(path).ok());
    let text = texts.find(|text| text.contains("::cuda_tiles_host::Artifact::new("))?;
    let reason = text.split_once("], Some(\"")?.1.rsplit_once("\"));")?.0;
    Some(reason.replace("\\\"", "\"").replace("\\n", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_build_scripts_are_found_among_cargos_messages() {
        let messages = br#"{"reason":"compiler-artifact","out_dir":"/no"}
{"reason":"build-script-executed","package_id":"a","out_dir":"/t/a/out"}
not json
{"reason":"build-script-executed","package_id":"b","out_dir":"/t/b/out"}
"#;
        assert_eq!(folders(messages), [Path::new("/t/a/out"), Path::new("/t/b/out")]);
    }

    #[test]
    fn only_images_that_are_embedded_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write(
            "my.kernels.rs",
            "include_bytes!(\"/my.kernels.sm_80.ptx.packed\") \"/my.kernels.sm_120.ptx.packed\"",
        );
        for name in
            ["my.kernels.sm_80.ptx", "my.kernels.sm_90a.ptx", "my.kernels.sm_120.ptx", "other.sm_80.ptx"]
        {
            write(name, "");
        }
        write("my.kernels.sm_80.ptx.packed", "");
        write("my.kernels.sm_80.compiled.ptx", "");
        let expected = [("my.kernels.sm_120.ptx", Arch::Sm120), ("my.kernels.sm_80.ptx", Arch::Sm80)];
        let expected = expected.map(|(name, arch)| (folder.path().join(name), arch));
        assert_eq!(images_in(folder.path()).unwrap(), expected);
    }

    #[test]
    fn a_build_without_ptx_says_why() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(without_ptx(folder.path()), None);
        let source = "pub static KERNELS: ::cuda_tiles_host::Artifact = ::cuda_tiles_host::Artifact::new(\"k\", &[\n\
                      ], Some(\"no `rust-src`; type \\\"this\\\"\"));\n";
        std::fs::write(folder.path().join("k.rs"), source).unwrap();
        assert_eq!(without_ptx(folder.path()).unwrap(), "no `rust-src`; type \"this\"");
    }
}
