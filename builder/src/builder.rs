//! [`CudaBuilder`]: what a build script calls.

use std::ffi::OsString;
use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

use crate::cargo::{self, Compilation};
use crate::machine_code::{self, Assembler, Places};
use crate::pack::{Contents, Effort, write_packed};
use crate::ptx::split;
use crate::toolchain::{self, Toolchain, ToolchainMissing};
use crate::{Arch, BuiltImage, DebugInfo, Diagnostics, Error, artifact, debug_info, metadata};

/// The variable that makes a missing toolchain an error.
const REQUIRE_PTX: &str = "CUDA_TILES_REQUIRE_PTX";

/// The variable that names a folder of PTX built earlier.
const PREBUILT_PTX: &str = "CUDA_TILES_PREBUILT_PTX";

/// The variable that docs.rs sets.
const DOCS_RS: &str = "DOCS_RS";

/// Compiles a kernel crate to PTX.
///
/// ```no_run
/// // In a build script. (`no_run`: it needs the environment that cargo gives to build scripts.)
/// use cuda_tiles_builder::{Arch, CudaBuilder};
///
/// CudaBuilder::new("kernels").arch(Arch::Sm80).arch(Arch::Sm90a).build();
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is compiled before `build`"]
#[doc(alias("nvcc", "export_kernel"))]
pub struct CudaBuilder {
    folder: PathBuf,
    archs: Vec<Arch>,
    name: Option<String>,
    features: Vec<String>,
    default_features: bool,
    rustflags: Vec<String>,
    debug_info: DebugInfo,
    for_gpus: bool,
    required: bool,
    machine_code: Option<bool>,
    copy_to: Option<PathBuf>,
    out_dir: Option<PathBuf>,
    target_dir: Option<PathBuf>,
}

/// What a build has left behind.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Built {
    /// The artifact's name.
    pub name: String,
    /// The Rust source that embeds the PTX, for `cuda_tiles_host::include_kernels!`.
    pub source: PathBuf,
    /// The PTX, one file for each architecture; empty if there is none.
    pub images: Vec<BuiltImage>,
    /// Why there is no PTX, and what to type to get it.
    pub missing: Option<String>,
}

impl CudaBuilder {
    /// Starts to describe the build of the kernel crate in `folder`, relative to the folder of the `Cargo.toml`
    /// of the crate being built.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            archs: Vec::new(),
            name: None,
            features: Vec::new(),
            default_features: true,
            rustflags: Vec::new(),
            debug_info: DebugInfo::None,
            for_gpus: true,
            required: false,
            machine_code: None,
            copy_to: None,
            out_dir: None,
            target_dir: None,
        }
    }

    /// Adds an architecture to build PTX for. Without any, it is `sm_80` and `sm_90a`: every GPU since Ampere,
    /// and Hopper's own instructions.
    pub fn arch(mut self, arch: Arch) -> Self {
        if !self.archs.contains(&arch) {
            self.archs.push(arch);
        }
        self
    }

    /// Sets the name that `include_kernels!` uses; by default the kernel crate's, with `_` for `-`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds features of the kernel crate to compile with.
    pub fn features(mut self, features: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.features.extend(features.into_iter().map(Into::into));
        self
    }

    /// Whether the kernel crate's default features are on, which they are unless this says otherwise.
    pub fn default_features(mut self, on: bool) -> Self {
        self.default_features = on;
        self
    }

    /// Adds flags for rustc, after this crate's own: `-Ctarget-feature=+ptx86` for a later version of PTX, or `-Copt-level=1` for kernels that
    /// compile faster and run slower.
    pub fn rustflags(mut self, flags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.rustflags.extend(flags.into_iter().map(Into::into));
        self
    }

    /// Sets how much debuggers and profilers learn about the source of the kernels; without it, nothing. The variable
    /// `CUDA_TILES_DEBUG` decides in its place where it is set (`line`, `full` or `none`).
    ///
    /// [`DebugInfo::LineTables`] makes the PTX larger by a third and changes no instruction. The paths of source files are in the program
    /// then, as in a host program with debug information.
    ///
    /// ```no_run
    /// // In a build script. (`no_run`: it needs the environment that cargo gives to build scripts.)
    /// use cuda_tiles_builder::{CudaBuilder, DebugInfo};
    ///
    /// CudaBuilder::new("kernels").debug_info(DebugInfo::LineTables).build();
    /// ```
    #[doc(alias("lineinfo", "device-debug", "CUDA_RUST_DEBUG"))]
    pub fn debug_info(mut self, wanted: DebugInfo) -> Self {
        self.debug_info = wanted;
        self
    }

    /// Whether anything is compiled for GPUs, which it is unless this says otherwise. Without it the kernels run on the CPU only, and a launch
    /// on a GPU says why.
    ///
    /// ```no_run
    /// // In a build script, of a crate with a feature `gpu`. (`no_run`: it needs the environment that cargo gives to build scripts.)
    /// let gpu = std::env::var_os("CARGO_FEATURE_GPU").is_some();
    /// cuda_tiles_builder::CudaBuilder::new("kernels").for_gpus(gpu).build();
    /// ```
    pub fn for_gpus(mut self, wanted: bool) -> Self {
        self.for_gpus = wanted;
        self
    }

    /// Whether a missing device toolchain is an error. By default it is a warning, and the kernels run on the
    /// CPU only.
    pub fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Whether machine code is made ahead of time, so that a kernel's first launch need not wait for the driver's compiler. By
    /// default it is in optimised builds (`cargo build --release`) where NVIDIA's assembler is found, [as the crate's page
    /// says](crate#machine-code). With `true` it is in every build, and a missing assembler is an error.
    ///
    /// It costs what the driver's compiler would cost at the first launches, once for each kernel that has changed.
    ///
    /// ```no_run
    /// // In a build script. (`no_run`: it needs the environment that cargo gives to build scripts.)
    /// cuda_tiles_builder::CudaBuilder::new("kernels").machine_code(false).build();
    /// ```
    #[doc(alias("cubin", "SASS", "ptxas", "AOT"))]
    pub fn machine_code(mut self, wanted: bool) -> Self {
        self.machine_code = Some(wanted);
        self
    }

    /// Sets the folder to write to, in place of the build script's `OUT_DIR`. Nothing is then printed for
    /// cargo, so that other programs than build scripts can build PTX.
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Copies the PTX to a file, for programs that load it by themselves: `include_str!` it, and give it to `Module::from_ptx` of the crate
    /// `cust`. Of several architectures it is the oldest, whose code all GPUs run that the others are for.
    ///
    /// Without a device toolchain the file has a comment in place of PTX, which says why: no driver takes it.
    ///
    /// ```no_run
    /// // In a build script. (`no_run`: it needs the environment that cargo gives to build scripts.)
    /// let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    /// cuda_tiles_builder::CudaBuilder::new("kernels").copy_to(out.join("kernels.ptx")).build();
    /// ```
    pub fn copy_to(mut self, file: impl Into<PathBuf>) -> Self {
        self.copy_to = Some(file.into());
        self
    }

    /// Sets the folder for intermediate files, which later builds reuse. By default it is `cuda-tiles` in the
    /// target folder of the build around, or in [`out_dir`](Self::out_dir) if that is set. The target folder itself
    /// would be a dead lock: cargo holds it.
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(folder.into());
        self
    }

    /// Compiles the kernels and writes the PTX files and the source that embeds them: for build scripts. If that fails, the
    /// messages of the compiler, or what else is wrong, go to standard error, and the process ends with status 1: cargo shows
    /// them and nothing else.
    pub fn build(self) -> Built {
        self.try_build().unwrap_or_else(|error| {
            let prefix = if matches!(error, Error::Compile { .. }) { "" } else { "error: " };
            eprintln!("{prefix}{error}");
            std::process::exit(1)
        })
    }

    /// Does the same, for programs that go on after an error.
    ///
    /// # Errors
    ///
    /// If the kernel crate cannot be found, read or compiled, if its markers do not fit its entries, if a file
    /// cannot be written, or if there is no toolchain and one is [`required`](Self::required).
    pub fn try_build(self) -> Result<Built, Error> {
        let mut build = Build::new(self)?;
        let built = build.run()?;
        if build.in_build_script {
            // Cargo shows all output of a script that fails: these are for one that does not.
            print!("{}", build.directives);
        }
        Ok(built)
    }
}

/// A build under way: the settings, completed by the environment.
struct Build {
    settings: CudaBuilder,
    manifest: PathBuf,
    out_dir: PathBuf,
    target_dir: PathBuf,
    in_build_script: bool,
    /// How small the embedded files are to be.
    effort: Effort,
    /// What makes machine code, or why nothing does.
    assembler: Result<Assembler, String>,
    /// What cargo is to be told, in lines.
    directives: String,
}

impl Build {
    fn new(mut settings: CudaBuilder) -> Result<Self, Error> {
        if settings.archs.is_empty() {
            settings.archs = vec![Arch::Sm80, Arch::Sm90a];
        }
        let in_build_script = settings.out_dir.is_none();
        let out_dir = match settings.out_dir.take() {
            Some(folder) => absolute(folder)?,
            None => variable("OUT_DIR").ok_or(Error::NotABuildScript { variable: "OUT_DIR" })?.into(),
        };
        let root = variable("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
        let folder = absolute(root.join(&settings.folder))?;
        let manifest = folder.join("Cargo.toml");
        if !manifest.is_file() {
            return Err(Error::NoKernelCrate { folder });
        }
        let target_dir = match settings.target_dir.take() {
            Some(folder) => absolute(folder)?,
            None if in_build_script => beside_outer_target(&out_dir).join("cuda-tiles"),
            None => out_dir.join("cuda-tiles"),
        };
        if let Some(wanted) = variable(debug_info::VARIABLE) {
            let wanted = wanted.to_string_lossy().parse();
            settings.debug_info = wanted.map_err(|source| Error::DebugInfo { source })?;
        }
        artifact::create_folder(&out_dir)?;
        let places = Places::of_environment();
        let effort = if places.is_optimised { Effort::Greater } else { Effort::Small };
        let assembler = Assembler::find(settings.machine_code, &places)?;
        let directives = String::new();
        Ok(Self { settings, manifest, out_dir, target_dir, in_build_script, effort, assembler, directives })
    }

    fn run(&mut self) -> Result<Built, Error> {
        let assembler = [machine_code::VARIABLE].into_iter().chain(machine_code::TOOLKITS);
        let own = [
            toolchain::VARIABLE,
            REQUIRE_PTX,
            PREBUILT_PTX,
            debug_info::VARIABLE,
            DOCS_RS,
            "RUSTUP_TOOLCHAIN",
        ];
        for name in own.into_iter().chain(assembler) {
            self.tell_cargo("rerun-if-env-changed", name);
        }
        if is_on(DOCS_RS) {
            return self.without_ptx("docs.rs compiles nothing for the GPU".to_owned());
        }
        if !self.settings.for_gpus {
            return self.without_ptx("its build script compiles nothing for GPUs".to_owned());
        }
        if let Some(folder) = variable(PREBUILT_PTX) {
            return self.take_prebuilt(Path::new(&folder));
        }
        match toolchain::find() {
            Ok(toolchain) => self.compile(&toolchain),
            Err(missing) if self.is_required() => Err(missing.into()),
            Err(missing) => {
                if !toolchain::is_switched_off() {
                    self.warn(&missing)?;
                }
                self.without_ptx(missing.to_string())
            }
        }
    }

    fn is_required(&self) -> bool {
        let is_named = variable(toolchain::VARIABLE).is_some() && !toolchain::is_switched_off();
        self.settings.required || is_on(REQUIRE_PTX) || is_named
    }

    /// Compiles for all architectures at the same time: each takes one core for as long as the other.
    fn compile(&mut self, toolchain: &Toolchain) -> Result<Built, Error> {
        let metadata = cargo::metadata(&self.manifest, true)?;
        let package = cargo::package(&metadata, &self.manifest).ok_or_else(|| self.no_kernel_crate())?;
        for source in cargo::sources(&metadata, &package.id) {
            self.tell_cargo("rerun-if-changed", source.display());
        }
        let name = self.name(&package.name);
        let workspace = &*metadata.workspace_root;
        let packages = cargo::names_without_version(&metadata, &package.id);
        let compile = |arch| self.compile_for(arch, toolchain, workspace, &package.name, &packages, &name);
        let compiled: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> =
                self.settings.archs.iter().map(|&arch| scope.spawn(move || compile(arch))).collect();
            let ends = running.into_iter().map(|thread| thread.join());
            ends.map(|end| end.expect("compiling returns an error, and never panics")).collect()
        });
        self.finish(name, together(compiled)?, None)
    }

    fn compile_for(
        &self,
        arch: Arch,
        toolchain: &Toolchain,
        workspace: &Path,
        package: &str,
        packages: &[&str],
        name: &str,
    ) -> Result<(BuiltImage, Diagnostics), Error> {
        let path = self.out_dir.join(artifact::ptx_file(name, arch));
        let compilation = Compilation {
            manifest: &self.manifest,
            workspace,
            package,
            packages,
            features: &self.settings.features,
            default_features: self.settings.default_features,
            debug_info: self.settings.debug_info,
            rustflags: &self.settings.rustflags,
            target_folder: &self.target_dir.join(arch.name()),
        };
        let (text, warnings) = compilation.run(toolchain, arch, &path.with_extension("compiled.ptx"))?;
        Ok((self.finish_image(package, name, arch, path, &text)?, warnings))
    }

    /// Takes over PTX that an earlier build has made.
    fn take_prebuilt(&mut self, folder: &Path) -> Result<Built, Error> {
        let (package, name) = self.package_and_name()?;
        let mut images = Vec::new();
        for arch in self.settings.archs.clone() {
            let source = folder.join(artifact::ptx_file(&name, arch));
            self.tell_cargo("rerun-if-changed", source.display());
            let text = std::fs::read_to_string(&source)
                .map_err(|error| Error::Prebuilt { path: source.clone(), source: error })?;
            let path = self.out_dir.join(artifact::ptx_file(&name, arch));
            images.push(self.finish_image(&package, &name, arch, path, &text)?);
        }
        self.finish(name, images, None)
    }

    fn without_ptx(&mut self, missing: String) -> Result<Built, Error> {
        let (_, name) = self.package_and_name()?;
        self.finish(name, Vec::new(), Some(missing))
    }

    /// Puts the launch bounds into a module's text and writes it: whole, for people and tools, and as the program embeds it.
    fn finish_image(
        &self,
        package: &str,
        name: &str,
        arch: Arch,
        path: PathBuf,
        text: &str,
    ) -> Result<BuiltImage, Error> {
        let applied = metadata::apply(text, arch);
        let (text, kernels) =
            applied.map_err(|source| Error::Markers { package: package.to_owned(), arch, source })?;
        artifact::write(&path, &text)?;

        let parts = split::parts(&text);
        let module_of =
            |entry: &str| parts.iter().position(|part| part.entries.iter().any(|name| name == entry));
        let modules = kernels.iter().map(|kernel| module_of(&kernel.entry).unwrap_or_default()).collect();
        let texts: Vec<&str> = parts.iter().map(|part| &*part.text).collect();
        let file = self.out_dir.join(artifact::packed_ptx_file(name, arch));
        write_packed(&file, &texts, Contents::Text, self.effort)?;
        let machine_code = match &self.assembler {
            Ok(assembler) => {
                assembler.assemble(&texts, arch, &self.target_dir.join(arch.name()).join("machine-code"))?
            }
            Err(reason) => Err(reason.clone()),
        };
        if let Ok(machine_code) = &machine_code {
            let file = self.out_dir.join(artifact::packed_machine_code_file(name, arch));
            write_packed(&file, machine_code, Contents::MachineCode, self.effort)?;
        }
        Ok(BuiltImage { arch, path, without_machine_code: machine_code.err(), modules, kernels })
    }

    fn finish(
        &mut self,
        name: String,
        images: Vec<BuiltImage>,
        missing: Option<String>,
    ) -> Result<Built, Error> {
        for image in if self.assembler.is_ok() { &*images } else { &[] } {
            if let Some(reason) = &image.without_machine_code {
                self.tell_cargo(
                    "warning",
                    format!("`{name}` for {} has no machine code: {reason}", image.arch),
                );
            }
        }
        if let Some(file) = &self.settings.copy_to {
            let oldest = images.iter().min_by_key(|image| image.arch);
            artifact::write_copy(file, oldest, missing.as_deref().unwrap_or_default())?;
        }
        let source = artifact::write_source(&self.out_dir, &name, &images, missing.as_deref())?;
        Ok(Built { name, source, images, missing })
    }

    /// The kernel crate's package and the artifact's name, found without looking at dependencies.
    fn package_and_name(&self) -> Result<(String, String), Error> {
        let metadata = cargo::metadata(&self.manifest, false)?;
        let package = cargo::package(&metadata, &self.manifest).ok_or_else(|| self.no_kernel_crate())?;
        Ok((package.name.clone(), self.name(&package.name)))
    }

    fn name(&self, package: &str) -> String {
        self.settings.name.clone().unwrap_or_else(|| package.replace('-', "_"))
    }

    fn no_kernel_crate(&self) -> Error {
        Error::NoKernelCrate { folder: self.manifest.parent().unwrap_or(&self.manifest).to_owned() }
    }

    /// Says on the terminal that there will be no PTX, and sees to it that cargo asks again when a toolchain
    /// has been repaired.
    fn warn(&mut self, missing: &ToolchainMissing) -> Result<(), Error> {
        let (package, _) = self.package_and_name()?;
        self.tell_cargo(
            "warning",
            format!("the kernels of `{package}` will run on the CPU only: {}", missing.reason()),
        );
        self.tell_cargo("warning", format!("to build them for the GPU, {}", missing.remedy()));
        self.tell_cargo("rerun-if-changed", self.manifest.clone().display());
        for path in missing.watch() {
            self.tell_cargo("rerun-if-changed", path.display());
        }
        Ok(())
    }

    fn tell_cargo(&mut self, directive: &str, value: impl Display) {
        let _ = writeln!(self.directives, "cargo::{directive}={value}");
    }
}

/// The images of all architectures, or the first error; what the compiler refuses on several of them is one error. Warnings are
/// printed.
fn together(compiled: Vec<Result<(BuiltImage, Diagnostics), Error>>) -> Result<Vec<BuiltImage>, Error> {
    let (mut images, mut warnings) = (Vec::new(), Diagnostics::default());
    let mut failure = None;
    for result in compiled {
        match (result, &mut failure) {
            (Ok((image, others)), _) => {
                images.push(image);
                warnings.merge(others);
            }
            (
                Err(Error::Compile { archs: new, diagnostics: others, .. }),
                Some(Error::Compile { archs, diagnostics, .. }),
            ) => {
                archs.extend(new);
                diagnostics.merge(others);
            }
            (Err(error), None) => failure = Some(error),
            (Err(_), Some(_)) => {}
        }
    }
    match failure {
        Some(error) => Err(error),
        None => {
            eprint!("{warnings}");
            Ok(images)
        }
    }
}

fn absolute(path: PathBuf) -> Result<PathBuf, Error> {
    std::path::absolute(&path).map_err(|source| Error::File { path, action: "read", source })
}

/// An environment variable, if it is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether a variable is set to something other than `0`.
fn is_on(name: &str) -> bool {
    variable(name).is_some_and(|value| value != "0")
}

/// The outer target folder, of which `<target>/<profile>/build/<package>/out` is a build script's `OUT_DIR`, so
/// that builds of other profiles find the same compiled `core`; `out_dir` itself if it does not lie so.
fn beside_outer_target(out_dir: &Path) -> &Path {
    let build = out_dir.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "build"));
    build.and_then(Path::parent).and_then(Path::parent).unwrap_or(out_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intermediate_files_lie_beside_the_outer_profiles() {
        let target = |out_dir: &str| beside_outer_target(Path::new(out_dir)).to_owned();
        assert_eq!(target("/w/target/debug/build/app-1234/out"), Path::new("/w/target"));
        assert_eq!(target("/w/target/wasm/release/build/app-1234/out"), Path::new("/w/target/wasm"));
        assert_eq!(target("/somewhere/else"), Path::new("/somewhere/else"));
    }

    #[test]
    fn without_cargos_variables_the_error_says_where_to_call_it_from() {
        let error = CudaBuilder::new("kernels").out_dir(std::env::temp_dir()).try_build().unwrap_err();
        assert!(error.to_string().contains("there is no kernel crate at"), "{error}");
        assert_eq!(format!("{error:?}"), error.to_string());
    }

    #[test]
    fn an_architecture_asked_for_twice_is_built_once() {
        let builder = CudaBuilder::new("kernels").arch(Arch::Sm90).arch(Arch::Sm80).arch(Arch::Sm90);
        assert_eq!(builder.archs, [Arch::Sm90, Arch::Sm80]);
    }
}
