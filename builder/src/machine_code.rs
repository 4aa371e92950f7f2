//! Machine code ahead of time, by NVIDIA's assembler where there is one.
//!
//! The driver makes machine code from PTX, in a twentieth of a second for a small kernel and in seconds for a large one. `ptxas` makes the
//! same before, once. Its results are kept: a later build assembles what has changed.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::artifact::create_folder;
use crate::hash::name_of;
use crate::{Arch, DebugInfo, Error, parallel};

/// The variable that names the assembler.
pub(crate) const VARIABLE: &str = "CUDA_TILES_PTXAS";

/// The variables that name a toolkit.
pub(crate) const TOOLKITS: [&str; 2] = ["CUDA_HOME", "CUDA_PATH"];

/// The value of the variable with which nothing is assembled.
const NONE: &str = "none";

/// The variable by which cargo tells build scripts whether the program is optimised.
pub(crate) const PROFILE: &str = "PROFILE";

/// NVIDIA's assembler.
#[derive(Clone, Debug)]
pub(crate) struct Assembler {
    program: PathBuf,
    /// What it says about itself: another release makes other code.
    version: String,
}

/// Where an assembler may be: the values of the variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The assembler that the user names, or `none`.
    pub(crate) named: Option<PathBuf>,
    /// Folders that have one, the first of them first.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether the program is optimised.
    pub(crate) is_optimised: bool,
}

impl Places {
    /// The places of this process.
    pub(crate) fn of_environment() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let toolkits =
            TOOLKITS.into_iter().filter_map(variable).map(|toolkit| PathBuf::from(toolkit).join("bin"));
        let path = variable("PATH").unwrap_or_default();
        Self {
            named: variable(VARIABLE).map(PathBuf::from),
            folders: toolkits.chain(std::env::split_paths(&path)).collect(),
            is_optimised: variable(PROFILE).is_some_and(|profile| profile == "release"),
        }
    }

    /// The assembler to use, or why there is none, if `wanted` says yes, no, or nothing.
    ///
    /// # Errors
    /// [`Error::Assembler`] if one was asked for and there is none.
    fn find(&self, wanted: Option<bool>) -> Result<Result<PathBuf, String>, Error> {
        match (wanted, &self.named) {
            (Some(false), _) => {
                return Ok(Err("`CudaBuilder::machine_code(false)` leaves it out".to_owned()));
            }
            (_, Some(named)) if named.as_os_str() == NONE => {
                return Ok(Err(format!("{VARIABLE}={NONE} leaves it out")));
            }
            (None, _) if !self.is_optimised => {
                return Ok(Err("builds without optimisation leave it out".to_owned()));
            }
            (_, Some(named)) if named.is_file() => return Ok(Ok(named.clone())),
            (_, Some(named)) => {
                return Err(Error::Assembler {
                    reason: format!("{VARIABLE} names {}, which is no file", named.display()),
                });
            }
            _ => {}
        }
        let name = format!("ptxas{}", std::env::consts::EXE_SUFFIX);
        match self.folders.iter().map(|folder| folder.join(&name)).find(|program| program.is_file()) {
            Some(program) => Ok(Ok(program)),
            None if wanted == Some(true) => Err(Error::Assembler {
                reason: format!("there is no `ptxas` in PATH or in a toolkit, and {VARIABLE} names none"),
            }),
            None => Ok(Err("there was no `ptxas` when the program was built".to_owned())),
        }
    }
}

/// NVIDIA's assembler where builds look for it: what `CUDA_TILES_PTXAS` names, a toolkit in `CUDA_HOME` or `CUDA_PATH`, `PATH`.
///
/// ```
/// if let Some(program) = cuda_tiles_builder::find_ptxas() {
///     println!("machine code is made by {}", program.display());
/// }
/// ```
pub fn find_ptxas() -> Option<PathBuf> {
    Places::of_environment().find(Some(true)).ok()?.ok()
}

impl Assembler {
    /// The assembler to use, or why there is none.
    ///
    /// # Errors
    /// [`Error::Assembler`] if one was asked for and there is none, or if it does not run.
    pub(crate) fn find(wanted: Option<bool>, places: &Places) -> Result<Result<Self, String>, Error> {
        let program = match places.find(wanted)? {
            Ok(program) => program,
            Err(reason) => return Ok(Err(reason)),
        };
        let output = match Command::new(&program).arg("--version").output() {
            Ok(output) => output,
            // Nobody has asked for this one.
            Err(error) if wanted.is_none() && places.named.is_none() => {
                return Ok(Err(format!(
                    "{} did not start when the program was built: {error}",
                    program.display()
                )));
            }
            Err(source) => return Err(Error::Start { program, source }),
        };
        Ok(Ok(Self { program, version: String::from_utf8_lossy(&output.stdout).into_owned() }))
    }

    /// The machine code of each module, or what is wrong with the first that has none. `kept` is the folder of earlier results.
    pub(crate) fn assemble(
        &self,
        modules: &[&str],
        arch: Arch,
        kept: &Path,
    ) -> Result<Result<Vec<Vec<u8>>, String>, Error> {
        create_folder(kept)?;
        let results = parallel::map(modules, |module| self.assemble_one(module, arch, kept));
        let results: Result<Vec<_>, Error> = results.into_iter().collect();
        Ok(results?.into_iter().collect())
    }

    fn assemble_one(&self, module: &str, arch: Arch, kept: &Path) -> Result<Result<Vec<u8>, String>, Error> {
        let name = name_of(&(&self.version, arch.name(), module));
        let code = kept.join(format!("{name}.cubin"));
        let failed = |action, path: &Path, source| Error::File { path: path.to_owned(), action, source };
        if let Ok(bytes) = std::fs::read(&code) {
            return Ok(Ok(bytes));
        }
        // Two builds may come here at once.
        let own = |end| kept.join(format!("{name}.{}.{end}", std::process::id()));
        let (source, unfinished) = (own("ptx"), own("unfinished"));
        std::fs::write(&source, module).map_err(|error| failed("written", &source, error))?;
        let output = Command::new(&self.program)
            .args(["--gpu-name", arch.name()])
            .args(DebugInfo::of_module(module).assembler_flag())
            .arg("--output-file")
            .args([&unfinished, &source])
            .output()
            .map_err(|source| Error::Start { program: self.program.clone(), source })?;
        let _ = std::fs::remove_file(&source);
        if !output.status.success() {
            return Ok(Err(complaint(&String::from_utf8_lossy(&output.stderr))));
        }
        let bytes = std::fs::read(&unfinished).map_err(|error| failed("read", &unfinished, error))?;
        std::fs::rename(&unfinished, &code).map_err(|error| failed("written", &code, error))?;
        Ok(Ok(bytes))
    }
}

/// The first line that says what is wrong.
fn complaint(messages: &str) -> String {
    let mut lines = messages.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_error = |line: &&str| line.contains("error") || line.contains("fatal");
    let line = lines.clone().find(is_error).or_else(|| lines.next()).unwrap_or("it says nothing");
    format!("`ptxas` failed when the program was built: {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_code_is_made_where_it_is_wanted_and_possible() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(format!("ptxas{}", std::env::consts::EXE_SUFFIX));
        std::fs::write(&program, "").unwrap();
        let there =
            Places { folders: vec!["/no/such/folder".into(), folder.path().into()], ..Places::default() };
        let release = Places { is_optimised: true, ..there.clone() };
        let nowhere = Places { is_optimised: true, ..Places::default() };
        let named = |named: &Path| Places { named: Some(named.into()), ..nowhere.clone() };

        assert_eq!(release.find(None).unwrap(), Ok(program.clone()));
        assert_eq!(there.find(Some(true)).unwrap(), Ok(program.clone()));
        assert_eq!(named(&program).find(None).unwrap(), Ok(program));
        let reason = |places: &Places, wanted| places.find(wanted).unwrap().unwrap_err();
        assert_eq!(reason(&there, None), "builds without optimisation leave it out");
        assert_eq!(reason(&nowhere, None), "there was no `ptxas` when the program was built");
        assert_eq!(reason(&release, Some(false)), "`CudaBuilder::machine_code(false)` leaves it out");
        assert_eq!(reason(&named(Path::new("none")), Some(true)), "CUDA_TILES_PTXAS=none leaves it out");
        let error = |places: &Places, wanted| places.find(wanted).unwrap_err().to_string();
        assert!(error(&nowhere, Some(true)).contains("there is no `ptxas` in PATH"));
        assert!(
            error(&named(Path::new("/no/ptxas")), None)
                .contains("CUDA_TILES_PTXAS names /no/ptxas, which is no file")
        );
    }

    #[test]
    fn the_complaint_is_the_line_with_the_error() {
        let messages = "\nptxas info    : 0 bytes gmem\nptxas k.ptx, line 3; fatal   : Unsupported .version 9.9\nptxas fatal\n";
        assert!(
            complaint(messages).ends_with("built: ptxas k.ptx, line 3; fatal   : Unsupported .version 9.9")
        );
        assert!(complaint("").ends_with("it says nothing"));
    }
}
