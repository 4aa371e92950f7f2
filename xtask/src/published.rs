//! The crates as they will be published, and programs that have nothing else of this repository: a user's crate, and what the template makes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::error::{Context, Result};
use crate::process::{self, Outcome};
use crate::workspace::{self, cargo, target};

/// The crates that are published, each after those that it needs.
pub(crate) const CRATES: [&str; 9] = [
    "cuda-tiles-macros",
    "cuda-tiles",
    "cuda-tiles-builder",
    "cuda-tiles-cuda-shim",
    "cuda-tiles-host",
    "cuda-tiles-kernels",
    "cuda-tiles-ffi-macros",
    "cuda-tiles-ffi",
    "cargo-cuda-tiles",
];

/// The name that the template is given.
const PROJECT: &str = "my-kernels";

/// The programs, side by side, with the packaged crates in place of a registry's.
pub(crate) struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// The programs, which are made once.
    pub(crate) fn get() -> Result<&'static Self> {
        static PROGRAMS: OnceLock<Programs> = OnceLock::new();
        match PROGRAMS.get() {
            Some(programs) => Ok(programs),
            None => {
                let programs = Self::prepare()?;
                Ok(PROGRAMS.get_or_init(|| programs))
            }
        }
    }

    /// Packages the crates and copies the programs next to them.
    fn prepare() -> Result<Self> {
        let folder = target().join("published");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).about(&folder, "removed")?;
        }
        let crates = folder.join("crates");
        std::fs::create_dir_all(&crates).about(&crates, "created")?;
        let packages = package()?;
        let mut config = String::from("[patch.crates-io]\n");
        for name in CRATES {
            let file = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
            let archive = packages.join(format!("{file}.crate"));
            process::run(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&crates))?;
            config += &format!("{name} = {{ path = {:?} }}\n", crates.join(file));
        }
        // Their tests are small, and the programs' own profiles are for kernels that people wait for. As in the workspace, so that they
        // share what others wrote.
        config += "[profile.dev]\nlto = \"off\"\n";
        for package in ["cuda-tiles", "cuda-tiles-host"] {
            config += &format!("[profile.dev.package.{package}]\nopt-level = 1\n");
        }
        let settings = folder.join(".cargo");
        std::fs::create_dir_all(&settings).about(&settings, "created")?;
        let settings = settings.join("config.toml");
        std::fs::write(&settings, config).about(&settings, "written")?;
        copy(&workspace::root().join("tests/consumer"), &folder.join("consumer"), &str::to_owned)?;
        // The user's crate is built for both architectures.
        let expand = |text: &str| text.replace("{{project-name}}", PROJECT).replace(".arch(Arch::Sm80)", "");
        copy(&workspace::root().join("template"), &folder.join(PROJECT), &expand)?;
        Ok(Self { folder })
    }

    /// The folder of all of them.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A call of cargo in the folder of the user's crate.
    pub(crate) fn consumer(&self, subcommand: &str) -> Command {
        self.cargo("consumer", subcommand)
    }

    /// A call of cargo in the folder that the template has made.
    fn template(&self, subcommand: &str) -> Command {
        self.cargo(PROJECT, subcommand)
    }

    /// A call of cargo in a program's folder, above which it finds the packaged crates.
    fn cargo(&self, program: &str, subcommand: &str) -> Command {
        let mut command = cargo([subcommand, "--target-dir"]);
        command.arg(target()).current_dir(self.folder.join(program));
        command
    }
}

/// Packages the crates, and returns the folder of the archives.
fn package() -> Result<PathBuf> {
    // Programs build the packages: cargo need not do it, too.
    let mut command = cargo(["package", "--no-verify", "--allow-dirty"]);
    command.args(CRATES.iter().flat_map(|name| ["--package", name]));
    process::run(command.arg("--target-dir").arg(target()))?;
    Ok(target().join("package"))
}

/// Copies a program without its settings and what was built, each file as `text` makes it.
fn copy(from: &Path, to: &Path, text: &dyn Fn(&str) -> String) -> Result {
    std::fs::create_dir_all(to).about(to, "created")?;
    for entry in std::fs::read_dir(from).about(from, "read")? {
        let entry = entry.about(from, "read")?;
        let (name, source) = (entry.file_name(), entry.path());
        if name == ".cargo" || name == "target" {
            continue;
        }
        let destination = to.join(name);
        if source.is_dir() {
            copy(&source, &destination, text)?;
        } else {
            let content = std::fs::read_to_string(&source).about(&source, "read")?;
            std::fs::write(&destination, text(&content)).about(&destination, "written")?;
        }
    }
    Ok(())
}

/// Tests the user's crate and what the template makes, with PTX.
pub(crate) fn test() -> Result<Outcome> {
    let programs = Programs::get()?;
    process::run_all([programs.consumer("test"), programs.template("test"), programs.template("run")].map(
        |mut command| {
            command.env("CUDA_TILES_REQUIRE_PTX", "1");
            command
        },
    ))
}
