//! CUDA's toolkit, as far as candle's own kernels and libraries want it: an installed one, or one made of NVIDIA's packages for Python.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Context, Error, Result};
use crate::{process, workspace};

/// The packages: the compiler and its parts, headers, and the libraries that candle links to. They run with drivers from R580.
const PACKAGES: [&str; 8] = [
    "nvidia-cuda-nvcc==13.0.*",
    "nvidia-cuda-crt==13.0.*",
    "nvidia-nvvm==13.0.*",
    "nvidia-cuda-cccl==13.0.*",
    "nvidia-cuda-runtime==13.0.*",
    "nvidia-cuda-nvrtc==13.0.*",
    "nvidia-cublas==13.0.*",
    "nvidia-curand==10.4.0.*",
];

/// The variables that name a toolkit, for the crates that look for one.
const VARIABLES: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];

/// What candle's kernels are compiled for where no GPU says it.
const CAPABILITY: (&str, &str) = ("CUDA_COMPUTE_CAP", "90");

/// A toolkit.
pub(super) struct Toolkit {
    /// Its folder.
    home: PathBuf,
}

impl Toolkit {
    /// The toolkit that a variable names, else the one made earlier, else a new one.
    pub(super) fn find_or_fetch() -> Result<Self> {
        if !process::succeeds(Command::new("g++").arg("--version")) {
            return Err(Error::missing("`g++`, which NVIDIA's compiler calls,", "`apt-get install g++`"));
        }
        let named = VARIABLES.into_iter().find_map(std::env::var_os);
        if let Some(home) = named.map(PathBuf::from).filter(|home| home.join("bin/nvcc").is_file()) {
            return Ok(Self { home });
        }
        let folder = workspace::check_tools().join("cuda");
        let made = Self { home: folder.join("nvidia/cu13") };
        if !made.stub().is_file() {
            made.fetch(&folder)?;
        }
        Ok(made)
    }

    /// Lets a command compile, link and run with this toolkit.
    pub(super) fn lend(&self, command: &mut Command) {
        for variable in VARIABLES {
            command.env(variable, &self.home);
        }
        for (variable, folder) in [("PATH", "bin"), ("LD_LIBRARY_PATH", "lib64")] {
            let mut folders = self.home.join(folder).into_os_string();
            if let Some(others) = std::env::var_os(variable) {
                folders.push(":");
                folders.push(others);
            }
            command.env(variable, folders);
        }
        if std::env::var_os(CAPABILITY.0).is_none() && crate::toolchain::gpus().is_err() {
            command.env(CAPABILITY.0, CAPABILITY.1);
        }
    }

    /// What stands for the driver's library when programs are linked.
    fn stub(&self) -> PathBuf {
        self.home.join("lib/stubs/libcuda.so")
    }

    /// Makes a toolkit of NVIDIA's packages.
    fn fetch(&self, folder: &Path) -> Result {
        let install =
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target"];
        let mut command = Command::new("python3");
        process::run(command.args(install).arg(folder).args(PACKAGES)).map_err(|error| {
            eprintln!("{error}");
            Error::missing(
                "NVIDIA's compiler, for candle's own kernels,",
                "`apt-get install python3-pip` and this command again, or set CUDA_HOME to a toolkit",
            )
        })?;
        let lib = self.home.join("lib");
        link("lib", &self.home.join("lib64"))?;
        // Linkers look for names without versions.
        for entry in std::fs::read_dir(&lib).about(&lib, "read")? {
            let name = entry.about(&lib, "read")?.file_name();
            if let Some((plain, _)) = name.to_string_lossy().split_once(".so.") {
                link(&name.to_string_lossy(), &lib.join(format!("{plain}.so")))?;
            }
        }
        self.make_stub()
    }

    /// The driver's library is part of the driver. Where there is none, programs are linked to a library that has its names and nothing else.
    fn make_stub(&self) -> Result {
        let header = self.home.join("include/cuda.h");
        let text = std::fs::read_to_string(&header).about(&header, "read")?;
        let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
        let is_function = |word: &&str| {
            word.strip_prefix("cu")
                .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
        };
        let mut assembly = String::new();
        for name in words.filter(is_function).collect::<BTreeSet<_>>() {
            let _ = writeln!(assembly, ".globl {name}\n.type {name}, @function\n{name}:");
        }
        let stub = self.stub();
        let source = stub.with_extension("s");
        let folder = self.home.join("lib/stubs");
        std::fs::create_dir_all(&folder).about(&folder, "created")?;
        std::fs::write(&source, assembly).about(&source, "written")?;
        let link = ["-shared", "-nostdlib", "-Wl,-soname,libcuda.so.1", "-o"];
        process::run(Command::new("cc").args(link).arg(&stub).arg(&source))
    }
}

/// A symbolic link, in place of an earlier one.
#[cfg(unix)]
fn link(target: &str, place: &Path) -> Result {
    if place.is_symlink() {
        std::fs::remove_file(place).about(place, "removed")?;
    }
    std::os::unix::fs::symlink(target, place).about(place, "written")
}

/// NVIDIA's packages for Windows are laid out in another way.
#[cfg(not(unix))]
fn link(_: &str, _: &Path) -> Result {
    Err(Error::missing("CUDA's toolkit", "its path into CUDA_HOME"))
}
