//! Compiled kernels: the code that the builder embeds in the program, and the choice among its images.

mod packed;

use std::borrow::Cow;

use cuda_tiles::launch::Description;

use crate::error::{Error, Result};

use packed::{Damaged, Packed};

/// The oldest compute capability that the builder compiles for.
const OLDEST_CAPABILITY: (u32, u32) = (8, 0);

/// The major number of the first compute capability with TMA (PTX ISA, "cp.async.bulk.tensor").
const FIRST_WITH_TMA: u32 = 9;

/// The kernels of one crate, compiled for one or several GPU architectures.
///
/// `cuda_tiles_builder` writes one from a build script; [`include_kernels!`](crate::include_kernels) brings it into
/// the program and [`Device::load`](crate::Device::load) onto a GPU.
#[derive(Debug, Clone, Copy)]
pub struct Artifact {
    name: &'static str,
    images: &'static [Image],
    missing: Option<&'static str>,
}

/// The code of all kernels of a crate for one architecture: PTX, and machine code where it was made ahead of time.
#[derive(Debug, Clone, Copy)]
pub struct Image {
    arch: &'static str,
    major: u32,
    minor: u32,
    exact: bool,
    source: Source,
    entries: &'static [Entry],
}

/// Where the code is.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// One module of PTX, as it is.
    Text(&'static str),
    /// Many small modules, compressed, and their machine code or why there is none.
    Packed { ptx: Packed, machine_code: Result<Packed, &'static str> },
}

/// An entry of compiled code: a kernel, or an instance of a generic one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Where the kernel is defined, [`Description::path`].
    pub path: &'static str,
    /// What it is called in PTX, and by profilers.
    pub symbol: &'static str,
    /// The hash of what a launch relies on, [`Description::fingerprint`].
    pub fingerprint: u64,
    /// The function as it is declared, [`Description::declaration`].
    pub declaration: &'static str,
    /// The number of the module that it is in, within its image. Modules are loaded one by one, when a kernel in them is launched
    /// first. An image of [one text](Image::new) has the module 0.
    pub module: u32,
}

impl Entry {
    /// The kernel's name: the end of its path.
    pub(crate) fn name(&self) -> &'static str {
        self.path.rsplit_once("::").map_or(self.path, |(_, name)| name)
    }
}

impl Artifact {
    /// An artifact of this name with these images, or with none, and the reason why. The file that `cuda_tiles_builder` writes
    /// calls it.
    pub const fn new(name: &'static str, images: &'static [Image], missing: Option<&'static str>) -> Self {
        Self { name, images, missing }
    }

    /// Name of the kernel crate.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// One image for each architecture that the kernels were built for.
    pub const fn images(&self) -> &'static [Image] {
        self.images
    }

    /// Why there are no images, if the build was asked to go on without them.
    pub const fn missing(&self) -> Option<&'static str> {
        self.missing
    }

    /// The best image for a GPU of the given compute capability: the one made for exactly this capability if there is
    /// one, else the newest plain image that is not newer than the GPU.
    ///
    /// # Errors
    /// [`Error::NoPtx`] if the artifact was built without PTX; [`Error::NoImage`] if none of its images runs on
    /// the GPU: the message lists them and names the architecture to add in `build.rs`.
    ///
    /// ```
    /// use cuda_tiles_host::{Artifact, Image};
    ///
    /// // SAFETY: they have no entries.
    /// static IMAGES: [Image; 2] = unsafe {
    ///     [Image::new("sm_80", (8, 0), false, "", &[]), Image::new("sm_90a", (9, 0), true, "", &[])]
    /// };
    /// let kernels = Artifact::new("kernels", &IMAGES, None);
    /// assert_eq!(kernels.image(9, 0)?.arch(), "sm_90a");
    /// assert_eq!(kernels.image(12, 0)?.arch(), "sm_80");
    /// assert!(kernels.image(7, 5).is_err());
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    pub fn image(&self, major: u32, minor: u32) -> Result<&'static Image> {
        if self.images.is_empty() {
            let reason = self
                .missing
                .unwrap_or("the builder was given no architecture; add `.arch(Arch::Sm80)` in build.rs");
            return Err(Error::NoPtx { artifact: self.name, reason: reason.to_owned() });
        }
        let capability = (major, minor);
        let exact = self.images.iter().find(|image| image.exact && image.capability() == capability);
        let plain = || {
            let candidates =
                self.images.iter().filter(|image| !image.exact && image.capability() <= capability);
            candidates.max_by_key(|image| image.capability())
        };
        exact.or_else(plain).ok_or_else(|| Error::NoImage {
            artifact: self.name,
            major,
            minor,
            images: self.images.iter().map(|image| image.arch).collect::<Vec<_>>().join(", "),
            advice: advice(capability),
        })
    }
}

impl Image {
    /// The PTX for the architecture `arch`, a compute capability of these major and minor numbers: for GPUs of `exact`ly this one, or
    /// for later ones too. It is one module, for code that was not made by `cuda_tiles_builder`.
    ///
    /// # Safety
    /// The PTX has each of the entries, under its symbol, and these have the module 0. An entry is a kernel's if both have the same
    /// path and fingerprint, and then does what the kernel's Rust function says.
    pub const unsafe fn new(
        arch: &'static str,
        (major, minor): (u32, u32),
        exact: bool,
        ptx: &'static str,
        entries: &'static [Entry],
    ) -> Self {
        Self { arch, major, minor, exact, source: Source::Text(ptx), entries }
    }

    /// The same in the form that `cuda_tiles_builder` writes: files of compressed modules of PTX, and of machine code, or the reason why
    /// there is none. The file that it writes calls this function.
    ///
    /// # Safety
    /// Both files are as the builder writes them; in each, the modules that entries name have these entries, under their symbols. An
    /// entry is a kernel's if both have the same path and fingerprint, and then does what the kernel's Rust function says: the builder
    /// compiled it from that function.
    pub const unsafe fn packed(
        arch: &'static str,
        (major, minor): (u32, u32),
        exact: bool,
        ptx: &'static [u8],
        machine_code: Result<&'static [u8], &'static str>,
        entries: &'static [Entry],
    ) -> Self {
        let machine_code = match machine_code {
            Ok(file) => Ok(Packed(file)),
            Err(reason) => Err(reason),
        };
        Self { arch, major, minor, exact, source: Source::Packed { ptx: Packed(ptx), machine_code }, entries }
    }

    /// The architecture as the compiler calls it, for example `sm_90a`.
    pub const fn arch(&self) -> &'static str {
        self.arch
    }

    /// Major and minor number of its compute capability.
    pub const fn capability(&self) -> (u32, u32) {
        (self.major, self.minor)
    }

    /// Whether it runs on GPUs of exactly this compute capability (`sm_90a`), and not on later ones as plain PTX does.
    pub const fn is_exact(&self) -> bool {
        self.exact
    }

    /// The PTX of an entry: the text of the module that it is in, with what it needs and without the image's other kernels.
    ///
    /// ```
    /// use cuda_tiles_host::{Entry, Image};
    ///
    /// const PTX: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry nothing() { ret; }";
    /// const ENTRY: Entry = Entry { path: "kernels::nothing", symbol: "nothing", fingerprint: 0, declaration: "fn nothing()", module: 0 };
    /// // SAFETY: the entry is there, and does nothing.
    /// static IMAGE: Image = unsafe { Image::new("sm_80", (8, 0), false, PTX, &[ENTRY]) };
    /// assert!(IMAGE.ptx(&IMAGE.entries()[0])?.contains(".entry nothing()"));
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DamagedImage`] if the program's file was changed behind the compiler's back, or the entry is another image's.
    pub fn ptx(&self, entry: &Entry) -> Result<Cow<'static, str>> {
        self.module_ptx(entry.module)
    }

    /// The PTX of a module.
    pub(crate) fn module_ptx(&self, module: u32) -> Result<Cow<'static, str>> {
        let damaged = |problem: String| Error::DamagedImage { arch: self.arch, problem };
        match self.source {
            Source::Text(text) => Ok(Cow::Borrowed(text)),
            Source::Packed { ptx, .. } => {
                let bytes = ptx.module(module as usize).map_err(|error| damaged(error.to_string()))?;
                let bytes = bytes.ok_or_else(|| damaged(format!("module {module} is empty")))?;
                Ok(Cow::Owned(String::from_utf8(bytes).map_err(|_| damaged("PTX is no text".to_owned()))?))
            }
        }
    }

    /// The machine code of a module for a GPU of this compute capability, or why there is none.
    pub(crate) fn machine_code(&self, module: u32, device: (u32, u32)) -> Result<Vec<u8>, String> {
        let file = match self.source {
            Source::Text(_) => return Err("the image is one text of PTX".to_owned()),
            Source::Packed { machine_code, .. } => machine_code?,
        };
        // Machine code runs on later GPUs of the same generation (CUDA C++ Programming Guide, "Binary Compatibility").
        if self.major != device.0 || self.minor > device.1 {
            return Err(format!(
                "the machine code is for {}, and the GPU has compute capability {}.{}",
                self.arch, device.0, device.1
            ));
        }
        let module = file.module(module as usize).map_err(|damaged: Damaged| damaged.to_string())?;
        module.ok_or_else(|| "this kernel has none".to_owned())
    }

    /// The numbers of its modules, each once.
    pub(crate) fn modules(&self) -> Vec<u32> {
        let mut modules: Vec<u32> = self.entries.iter().map(|entry| entry.module).collect();
        modules.sort_unstable();
        modules.dedup();
        modules
    }

    /// The names of the kernels in a module.
    pub(crate) fn kernels_of(&self, module: u32) -> Vec<&'static str> {
        self.entries.iter().filter(|entry| entry.module == module).map(Entry::name).collect()
    }

    /// The kernels in it.
    pub const fn entries(&self) -> &'static [Entry] {
        self.entries
    }

    /// Which of a kernel's sizes of shared memory its code has, as an index of
    /// [`Description::shared_bytes`](cuda_tiles::launch::Description::shared_bytes): what the code knows from its target.
    // As `BUDGET_CLASS` in `cuda_tiles::arch::shared`.
    pub fn shared_class(&self) -> usize {
        match self.arch {
            "sm_90a" | "sm_100" | "sm_100a" => 2,
            "sm_80" | "sm_87" => 1,
            _ => 0,
        }
    }

    /// Whether the code uses warpgroups.
    // As `WARPGROUPS` in `cuda_tiles::arch::matrix`.
    pub fn has_warpgroups(&self) -> bool {
        self.arch == "sm_90a"
    }

    /// Whether a kernel is for GPUs that run this image: whether its entry here has the kernel's body.
    pub fn supports(&self, kernel: &Description) -> bool {
        kernel.targets.include(self.has_warpgroups())
    }

    /// The threads of a CTA of a kernel in this image's code, along x and y. Producer warps are there where the target has TMA. Behind
    /// blocks that share them they are another row.
    // As `PRODUCER_WARP` in `cuda_tiles::arch::barriers`.
    pub fn threads(&self, kernel: &Description) -> [u32; 2] {
        let producers = if self.major >= FIRST_WITH_TMA { kernel.producer_threads } else { 0 };
        match kernel.consumers {
            1 => [kernel.threads + producers, 1],
            consumers => [kernel.threads, consumers + producers / kernel.threads],
        }
    }
}

/// The version of the PTX language that a text is written in, from its `.version` line.
pub(crate) fn ptx_version(ptx: &str) -> &str {
    let line = ptx.lines().find_map(|line| line.trim().strip_prefix(".version"));
    line.map_or("of unknown version", str::trim)
}

/// What to do so that the kernels run on a GPU of this compute capability.
fn advice((major, minor): (u32, u32)) -> String {
    if (major, minor) < OLDEST_CAPABILITY {
        return "the GPU is too old, 8.0 (Ampere) is the oldest that kernels can be built for; run on the CPU with \
                CUDA_TILES_DEVICE=cpu"
            .to_owned();
    }
    // Plain PTX of the generation's first chip runs on all its others.
    format!("add `.arch(Arch::Sm{major}0)` to the builder in build.rs")
}

/// Defines `pub static KERNELS:` [`Artifact`]: the kernels that the build script compiled under this name.
///
/// `cuda_tiles_host::include_kernels!("kernels");` stands in the program's source; it reads the file that
/// `cuda_tiles_builder` writes from the program's build script. The repository's `tests/consumer` is a whole program.
#[macro_export]
macro_rules! include_kernels {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use cuda_tiles::launch::Targets;

    const fn image(arch: &'static str, major: u32, minor: u32, exact: bool) -> Image {
        // SAFETY: it has no entries.
        unsafe { Image::new(arch, (major, minor), exact, "//\n.version 8.0\n.target sm_80\n", &[]) }
    }

    const IMAGES: &[Image] = &[
        image("sm_90a", 9, 0, true),
        image("sm_75", 7, 5, false),
        image("sm_90", 9, 0, false),
        image("sm_80", 8, 0, false),
    ];
    const KERNELS: Artifact = Artifact::new("kernels", IMAGES, None);

    #[test]
    fn the_image_of_exactly_this_gpu_comes_first() {
        assert_eq!(KERNELS.image(9, 0).unwrap().arch, "sm_90a");
    }

    #[test]
    fn else_the_newest_plain_image_that_is_not_newer() {
        assert_eq!(KERNELS.image(7, 5).unwrap().arch, "sm_75");
        assert_eq!(KERNELS.image(8, 0).unwrap().arch, "sm_80");
        assert_eq!(KERNELS.image(8, 9).unwrap().arch, "sm_80");
        assert_eq!(KERNELS.image(10, 0).unwrap().arch, "sm_90");
    }

    #[test]
    fn an_exact_image_serves_no_later_gpu() {
        let kernels = Artifact { images: &IMAGES[..1], ..KERNELS };
        let message = kernels.image(10, 3).unwrap_err().to_string();
        assert_eq!(
            message,
            "the kernels `kernels` were not built for this GPU: it has compute capability 10.3, and the images are for \
             sm_90a; add `.arch(Arch::Sm100)` to the builder in build.rs"
        );
    }

    #[test]
    fn a_gpu_that_is_too_old_is_told_so() {
        let message = KERNELS.image(7, 0).unwrap_err().to_string();
        assert!(
            message.contains("the images are for sm_90a, sm_75, sm_90, sm_80; the GPU is too old, 8.0"),
            "{message}"
        );
    }

    #[test]
    fn an_artifact_without_ptx_says_why() {
        let kernels = Artifact::new("kernels", &[], Some("rust-src is not installed"));
        let message = kernels.image(9, 0).unwrap_err().to_string();
        assert_eq!(message, "the kernels `kernels` hold no PTX for a GPU: rust-src is not installed");
    }

    #[test]
    fn code_for_one_chip_has_all_of_its_shared_memory() {
        assert_eq!(IMAGES.iter().map(Image::shared_class).collect::<Vec<_>>(), [2, 0, 0, 1]);
    }

    #[test]
    fn producer_warps_are_there_with_tma() {
        let kernel = Description {
            name: "product",
            path: "kernels::product",
            declaration: "fn product()",
            fingerprint: 0,
            threads: 256,
            producer_threads: 32,
            consumers: 1,
            cluster: 1,
            grid_rank: 1,
            shared_bytes: [0; 3],
            dependent: false,
            targets: Targets::All,
            on_cpu: true,
            arguments: &[],
            file: file!(),
            line: line!(),
        };
        let threads = IMAGES.iter().map(|image| image.threads(&kernel)).collect::<Vec<_>>();
        assert_eq!(threads, [[288, 1], [256, 1], [288, 1], [256, 1]]);
        let sharing = Description { threads: 128, producer_threads: 128, consumers: 3, ..kernel };
        assert_eq!(IMAGES[0].threads(&sharing), [128, 4]);
    }

    #[test]
    fn the_ptx_version_is_read_from_the_text() {
        assert_eq!(ptx_version(&IMAGES[0].module_ptx(0).unwrap()), "8.0");
        assert_eq!(ptx_version("nothing"), "of unknown version");
    }

    const fn entry(path: &'static str, module: u32) -> Entry {
        Entry { path, symbol: path, fingerprint: 0, declaration: "", module }
    }

    /// An image with these files.
    pub(crate) fn packed_image(
        arch: &'static str,
        capability: (u32, u32),
        ptx: &[&[&str]],
        machine_code: Result<&[&[&str]], &'static str>,
        entries: &'static [Entry],
    ) -> &'static Image {
        let file = |blocks| &*packed::tests::file(blocks).leak();
        // SAFETY: nobody gives it to a GPU.
        Box::leak(Box::new(unsafe {
            Image::packed(arch, capability, arch.ends_with('a'), file(ptx), machine_code.map(file), entries)
        }))
    }

    #[test]
    fn modules_of_packed_images_are_found_by_their_entries() {
        const ENTRIES: &[Entry] = &[entry("k::a", 1), entry("k::b", 0), entry("k::c", 1)];
        let image =
            packed_image("sm_80", (8, 0), &[&["zero"], &["one", "\u{e9}"]], Err("no assembler"), ENTRIES);
        let text = |index: usize| image.ptx(&ENTRIES[index]).unwrap();
        assert_eq!([text(0), text(1), text(2)], ["one", "zero", "one"]);
        assert_eq!(image.modules(), [0, 1]);
        assert_eq!(image.kernels_of(1), ["a", "c"]);
        assert_eq!(image.machine_code(0, (8, 0)).unwrap_err(), "no assembler");
        let message = image.ptx(&entry("k::d", 7)).unwrap_err().to_string();
        assert!(message.contains("sm_80") && message.contains("none of the number 7"), "{message}");
    }

    #[test]
    fn machine_code_is_for_one_generation() {
        let image = |arch, capability| packed_image(arch, capability, &[&["text"]], Ok(&[&["code"]]), &[]);
        let runs = |arch, made_for, device| image(arch, made_for).machine_code(0, device).is_ok();
        assert!(
            runs("sm_80", (8, 0), (8, 0)) && runs("sm_80", (8, 0), (8, 9)) && runs("sm_90a", (9, 0), (9, 0))
        );
        assert!(
            !runs("sm_86", (8, 6), (8, 0))
                && !runs("sm_80", (8, 0), (9, 0))
                && !runs("sm_80", (8, 0), (12, 0))
        );
        assert_eq!(
            image("sm_80", (8, 0)).machine_code(0, (9, 0)).unwrap_err(),
            "the machine code is for sm_80, and the GPU has compute capability 9.0"
        );
    }
}
