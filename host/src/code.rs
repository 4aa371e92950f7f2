//! From the code that a program embeds to a module on a GPU: machine code if it will do, else PTX for the driver's compiler.
//!
//! A module is loaded when one of its kernels is first asked for, once, whoever asks. Nobody waits for another module.

use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::artifact::{Artifact, Image, ptx_version};
use crate::error::{Error, Result};

/// The variable that keeps machine code out of use.
const VARIABLE: &str = "CUDA_TILES_MACHINE_CODE";

/// How a kernel's code came to the GPU.
///
/// ```
/// use cuda_tiles_host::Code;
///
/// let code = Code::Ptx { reason: "there was no `ptxas` when the program was built".to_owned() };
/// assert_eq!(
///     code.to_string(),
///     "compiled from PTX by the driver (there was no `ptxas` when the program was built)"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias("cubin", "SASS", "JIT"))]
pub enum Code {
    /// It is machine code that was made when the program was built.
    MachineCode,
    /// The driver has compiled PTX.
    Ptx {
        /// Why it is not machine code.
        reason: String,
    },
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MachineCode => formatter.write_str("machine code of the program"),
            Self::Ptx { reason } => write!(formatter, "compiled from PTX by the driver ({reason})"),
        }
    }
}

/// What turns code into a module: a driver with its compiler.
pub(crate) trait Loader {
    /// A module on the GPU.
    type Module;

    /// Major and minor number of the GPU's compute capability.
    fn capability(&self) -> (u32, u32);

    /// Loads machine code; what the driver says if it cannot use this code.
    fn load_machine_code(&self, code: &[u8]) -> Result<Result<Self::Module, String>>;

    /// Compiles and loads PTX.
    fn load_ptx(&self, ptx: &str) -> Result<Result<Self::Module, PtxRefused>>;

    /// The CUDA version that the driver supports.
    fn driver(&self) -> String;
}

/// The debug information in PTX, of which the driver's compiler keeps nothing unless it is told to.
// As `DebugInfo` in cuda-tiles-builder, which writes the PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DebugInfo {
    None,
    /// Where instructions come from.
    LineTables,
    /// Everything. The driver then optimises nothing.
    Full,
}

impl DebugInfo {
    pub(crate) fn of_module(ptx: &str) -> Self {
        let mut lines = ptx.lines().map(str::trim_start);
        let target = lines.by_ref().find(|line| line.starts_with(".target"));
        if target.is_some_and(|target| target.split(',').skip(1).any(|option| option.trim() == "debug")) {
            Self::Full
        } else if lines
            .any(|line| line.strip_prefix(".loc").is_some_and(|rest| rest.starts_with([' ', '\t'])))
        {
            Self::LineTables
        } else {
            Self::None
        }
    }
}

/// Why the driver's compiler does not take PTX.
pub(crate) enum PtxRefused {
    /// It is of a version that the driver does not know.
    Version,
    /// The driver's error, and the compiler's messages.
    Compiler { code: String, log: String },
}

/// An artifact on a GPU: those of its modules that were asked for.
pub(crate) struct Loaded<M> {
    pub(crate) artifact: &'static Artifact,
    /// What it is compiled from: that says how much shared memory and how many threads its kernels have.
    pub(crate) image: &'static Image,
    modules: Vec<Slot<M>>,
}

/// Room for a module.
struct Slot<M> {
    number: u32,
    module: OnceLock<(M, Code)>,
    /// Held while the module is being loaded.
    loading: Mutex<()>,
}

impl<M> Loaded<M> {
    /// An artifact of which nothing is loaded yet.
    pub(crate) fn new(artifact: &'static Artifact, image: &'static Image) -> Self {
        let slot = |number| Slot { number, module: OnceLock::new(), loading: Mutex::default() };
        Self { artifact, image, modules: image.modules().into_iter().map(slot).collect() }
    }

    /// A module, and how it was loaded. The first call loads it.
    ///
    /// # Errors
    /// [`Error::PtxVersion`], [`Error::Jit`], [`Error::DamagedImage`] and what the driver fails with; the next call tries again.
    pub(crate) fn module(&self, number: u32, loader: &impl Loader<Module = M>) -> Result<&(M, Code)> {
        let slot = self.modules.binary_search_by_key(&number, |slot| slot.number);
        let slot = &self.modules[slot.expect("the number is that of an entry of the image")];
        if let Some(module) = slot.module.get() {
            return Ok(module);
        }
        let _loading = slot.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = slot.module.get() {
            return Ok(module);
        }
        let off = std::env::var_os(VARIABLE).is_some_and(|value| value == "off");
        let module = self.load(number, loader, off)?;
        Ok(slot.module.get_or_init(|| module))
    }

    /// Loads a module; from PTX alone if machine code is switched off.
    fn load<L: Loader<Module = M>>(&self, number: u32, loader: &L, off: bool) -> Result<(M, Code)> {
        let reason = match self.image.machine_code(number, loader.capability()) {
            _ if off => format!("{VARIABLE}=off"),
            Ok(code) => match loader.load_machine_code(&code)? {
                Ok(module) => return Ok((module, Code::MachineCode)),
                Err(refusal) => format!("the driver refuses the machine code: {refusal}"),
            },
            Err(reason) => reason,
        };
        let ptx = self.image.module_ptx(number)?;
        let (kernels, artifact) = (|| self.image.kernels_of(number), self.artifact.name());
        match loader.load_ptx(&ptx)? {
            Ok(module) => Ok((module, Code::Ptx { reason })),
            Err(PtxRefused::Version) => Err(Error::PtxVersion {
                kernels: kernels(),
                artifact,
                version: ptx_version(&ptx).to_owned(),
                driver: loader.driver(),
            }),
            Err(PtxRefused::Compiler { code, log }) => {
                Err(Error::Jit { kernels: kernels(), artifact, arch: self.image.arch(), code, log })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Entry;
    use crate::artifact::tests::packed_image;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    /// A driver that takes some code, and counts what it is given.
    #[derive(Default)]
    struct Driver {
        refuses_machine_code: bool,
        refuses_version: bool,
        ptx: AtomicUsize,
        machine_code: AtomicUsize,
    }

    impl Loader for Driver {
        type Module = String;

        fn capability(&self) -> (u32, u32) {
            (9, 0)
        }

        fn load_machine_code(&self, code: &[u8]) -> Result<Result<String, String>> {
            self.machine_code.fetch_add(1, Ordering::Relaxed);
            match self.refuses_machine_code {
                true => Ok(Err("CUDA_ERROR_NO_BINARY_FOR_GPU".to_owned())),
                false => Ok(Ok(String::from_utf8(code.to_vec()).unwrap())),
            }
        }

        fn load_ptx(&self, ptx: &str) -> Result<Result<String, PtxRefused>> {
            self.ptx.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(5));
            let refused = || PtxRefused::Compiler {
                code: "CUDA_ERROR_INVALID_PTX".to_owned(),
                log: "line 3".to_owned(),
            };
            Ok(match ptx {
                _ if self.refuses_version => Err(PtxRefused::Version),
                "bogus" => Err(refused()),
                text => Ok(text.to_owned()),
            })
        }

        fn driver(&self) -> String {
            "12.0".to_owned()
        }
    }

    const fn entry(path: &'static str, module: u32) -> Entry {
        Entry { path, symbol: path, fingerprint: 0, declaration: "", module }
    }

    const ENTRIES: &[Entry] = &[entry("k::a", 0), entry("k::b", 1), entry("k::c", 2), entry("k::d", 2)];

    static KERNELS: Artifact = Artifact::new("kernels", &[], None);

    fn loaded(machine_code: Result<&[&[&str]], &'static str>) -> Loaded<String> {
        let ptx: &[&[&str]] = &[&["text 0", "text 1"], &["bogus"]];
        Loaded::new(&KERNELS, packed_image("sm_90a", (9, 0), ptx, machine_code, ENTRIES))
    }

    const MACHINE_CODE: Result<&[&[&str]], &str> = Ok(&[&["code 0", "", "code 2"]]);

    #[test]
    fn machine_code_comes_first() {
        let (loaded, driver) = (loaded(MACHINE_CODE), Driver::default());
        assert_eq!(loaded.module(0, &driver).unwrap(), &("code 0".to_owned(), Code::MachineCode));
        assert_eq!(loaded.module(2, &driver).unwrap(), &("code 2".to_owned(), Code::MachineCode));
        assert_eq!(driver.ptx.into_inner(), 0);
    }

    #[test]
    fn the_compiler_keeps_what_debug_information_there_is() {
        let of = |target, body| {
            DebugInfo::of_module(&format!(".version 8.0\n.target sm_80{target}\n.entry k() {{\n{body}\n}}\n"))
        };
        assert_eq!(of("", "ret;"), DebugInfo::None);
        assert_eq!(of("", ".local .b8 depot[4];"), DebugInfo::None);
        assert_eq!(of("", ".loc\t1 8 0\nret;"), DebugInfo::LineTables);
        assert_eq!(of(", debug", "\t.loc\t1 8 0\n\tret;"), DebugInfo::Full);
    }

    #[test]
    fn ptx_takes_its_place_and_says_why() {
        let reason = |loaded: &Loaded<String>, driver: &Driver, number, off| {
            let (module, code) = loaded.load(number, driver, off).unwrap();
            assert_eq!(module, format!("text {number}"));
            let Code::Ptx { reason } = code else { panic!("{code:?}") };
            reason
        };
        let driver = Driver::default();
        assert_eq!(reason(&loaded(MACHINE_CODE), &driver, 1, false), "this kernel has none");
        assert_eq!(reason(&loaded(MACHINE_CODE), &driver, 0, true), "CUDA_TILES_MACHINE_CODE=off");
        assert_eq!(reason(&loaded(Err("no `ptxas`")), &driver, 0, false), "no `ptxas`");
        assert_eq!(driver.machine_code.into_inner(), 0);
        let driver = Driver { refuses_machine_code: true, ..Driver::default() };
        let refused = "the driver refuses the machine code: CUDA_ERROR_NO_BINARY_FOR_GPU";
        assert_eq!(reason(&loaded(MACHINE_CODE), &driver, 0, false), refused);
    }

    #[test]
    fn what_the_compiler_refuses_names_its_kernels() {
        let driver = Driver { refuses_machine_code: true, ..Driver::default() };
        let kernels = loaded(MACHINE_CODE);
        let message = kernels.module(2, &driver).unwrap_err().to_string();
        assert_eq!(
            message,
            "the driver could not compile the kernels `c`, `d` of `kernels` (sm_90a) to machine code: \
             CUDA_ERROR_INVALID_PTX\nline 3"
        );
        // It stays unloaded, and the others are as they were.
        assert!(kernels.module(2, &driver).is_err() && kernels.module(0, &driver).is_ok());
        let driver = Driver { refuses_version: true, ..Driver::default() };
        let message = loaded(Err("")).module(1, &driver).unwrap_err().to_string();
        assert!(message.starts_with("the NVIDIA driver is too old for kernel `b` of `kernels`"), "{message}");
        assert!(message.contains("supports CUDA 12.0"), "{message}");
    }

    #[test]
    fn a_module_is_loaded_once_whoever_asks() {
        let (loaded, driver) = (loaded(Err("no `ptxas`")), Driver::default());
        thread::scope(|scope| {
            for number in [0, 1, 0, 1, 0, 1] {
                let (loaded, driver) = (&loaded, &driver);
                scope.spawn(move || {
                    assert_eq!(loaded.module(number, driver).unwrap().0, format!("text {number}"))
                });
            }
        });
        assert_eq!(driver.ptx.into_inner(), 2);
    }
}
