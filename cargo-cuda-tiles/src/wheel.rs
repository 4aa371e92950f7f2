//! NVIDIA's assembler out of the Python package that carries it: a download in place of a toolkit. Nothing is installed into Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Context, Error, Result};

/// The package of PyPI.
const PACKAGE: &str = "nvidia-cuda-nvcc==13.*";

/// The assembler in a folder that [`fetch_ptxas`] has filled, if there is one.
pub fn ptxas_in(folder: &Path) -> Option<PathBuf> {
    let program = folder.join("nvidia/cu13/bin").join(format!("ptxas{}", std::env::consts::EXE_SUFFIX));
    program.is_file().then_some(program)
}

/// Downloads the assembler into `folder`, by Python's `pip`, and returns where it lies there. Does nothing if it is there.
///
/// # Errors
/// If there is no Python with `pip`, if the download fails, or if a file cannot be written.
pub fn fetch_ptxas(folder: &Path) -> Result<PathBuf> {
    if let Some(program) = ptxas_in(folder) {
        return Ok(program);
    }
    let wheels = folder.join("wheels");
    std::fs::create_dir_all(&wheels).about(&wheels, "created")?;
    let download = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest"];
    python(Command::new("python3").args(download).arg(&wheels).arg(PACKAGE))?;
    for entry in std::fs::read_dir(&wheels).about(&wheels, "read")? {
        let wheel = entry.about(&wheels, "read")?.path();
        python(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(folder))?;
    }
    let program = ptxas_in(folder).ok_or(Error::NoAssemblerInWheel { package: PACKAGE })?;
    make_executable(&program)?;
    Ok(program)
}

fn python(command: &mut Command) -> Result {
    let program = "python3".to_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Failed { program: format!("{program} -m pip"), status }),
        Err(source) => Err(Error::Start { program, source }),
    }
}

/// Python's unzip does not restore the permission to execute.
#[cfg(unix)]
fn make_executable(program: &Path) -> Result {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755))
        .about(program, "made executable")
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result {
    Ok(())
}
