//! Kernels in loaded code: which entry is a kernel's, and whether it has the kernel's body.
//!
//! A kernel is known by where it is defined. What its handle and an entry say about its launch must be the same besides: an
//! entry of another build may take other arguments.

use cuda_tiles::launch::{Description, Targets};

use crate::artifact::{Entry, Image};
use crate::error::{Error, Result, quoted};

/// Looks for a kernel in all that is loaded on a device, artifacts by their names: which of them has it, as what.
///
/// Two that have it are an error, although both take the kernel's arguments: the fingerprint does not tell what the code does,
/// which may differ, as when one was built with other features of the crate.
///
/// # Errors
/// [`Error::KernelNotLoaded`], [`Error::KernelMismatch`] and [`Error::AmbiguousKernel`].
pub(crate) fn find(
    kernel: &Description,
    loaded: &[(&'static str, &'static Image)],
    device: impl ToString,
) -> Result<(usize, &'static Entry)> {
    let entries = || {
        let numbered = loaded.iter().enumerate();
        numbered.flat_map(|(number, (_, image))| image.entries().iter().map(move |entry| (number, entry)))
    };
    let of_path = || entries().filter(|(_, entry)| entry.path == kernel.path);
    let found: Vec<_> = of_path().filter(|(_, entry)| entry.fingerprint == kernel.fingerprint).collect();
    match found[..] {
        [one] => return Ok(one),
        [] => {}
        _ => {
            let artifacts: Vec<_> = found.iter().map(|&(number, _)| loaded[number].0).collect();
            return Err(Error::AmbiguousKernel {
                kernel: kernel.name,
                device: device.to_string(),
                artifacts: quoted(&artifacts),
            });
        }
    }
    if let Some((number, other)) = of_path().next() {
        return Err(Error::KernelMismatch {
            kernel: kernel.name,
            path: kernel.path,
            declared: kernel.declaration,
            artifact: loaded[number].0,
            loaded: other.declaration,
        });
    }
    let mut names = match loaded.iter().map(|&(name, _)| name).collect::<Vec<_>>()[..] {
        [] => "none is loaded".to_owned(),
        ref names => quoted(names),
    };
    if let Some((_, other)) = entries().find(|(_, entry)| entry.name() == kernel.name) {
        names += &format!("; `{}` is another kernel", other.path);
    }
    Err(Error::KernelNotLoaded {
        kernel: kernel.name,
        path: kernel.path,
        device: device.to_string(),
        loaded: names,
    })
}

/// Refuses a kernel that is not for the GPUs of an image: its entry there has no body. The image was chosen for a device of this
/// compute capability.
///
/// # Errors
/// [`Error::Target`].
pub(crate) fn check_target(
    kernel: &Description,
    image: &Image,
    device: impl ToString,
    capability: (u32, u32),
) -> Result<()> {
    if image.supports(kernel) {
        return Ok(());
    }
    let name = called(kernel.declaration).unwrap_or(kernel.name);
    let other = if name.contains("::<") { "another instance or another kernel" } else { "another kernel" };
    let (wanted, advice) = match kernel.targets {
        Targets::NoWarpgroups => {
            ("GPUs without warpgroups (all but compute capability 9.0)", format!("launch {other}"))
        }
        _ if capability == WITH_WARPGROUPS => (
            "GPUs with warpgroups (compute capability 9.0, in code for sm_90a)",
            format!("add `.arch(Arch::Sm90a)` to the builder in build.rs, or launch {other}"),
        ),
        _ => ("GPUs with warpgroups (compute capability 9.0)", format!("launch {other}")),
    };
    Err(Error::Target {
        kernel: name,
        wanted,
        device: device.to_string(),
        major: capability.0,
        minor: capability.1,
        arch: image.arch(),
        advice,
    })
}

/// The compute capability of GPUs with warpgroups.
const WITH_WARPGROUPS: (u32, u32) = (9, 0);

/// # Errors
/// [`Error::NotOnCpu`] if the CPU has no code for the kernel.
pub(crate) fn check_cpu(kernel: &Description) -> Result<()> {
    match kernel.on_cpu {
        true => Ok(()),
        false => Err(Error::NotOnCpu { kernel: called(kernel.declaration).unwrap_or(kernel.name) }),
    }
}

/// What a declaration calls its function: `gemm::<256>` of `unsafe fn gemm::<256>(a: ...)`.
fn called(declaration: &'static str) -> Option<&'static str> {
    let (_, function) = declaration.split_once("fn ")?;
    let mut depth = 0;
    let end = function.find(|c| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c == '('
    });
    function.get(..end?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(path: &'static str, fingerprint: u64) -> Description {
        Description {
            name: path.rsplit_once("::").unwrap().1,
            path,
            declaration: "fn add(x: Span<f32, (u32,)>)",
            fingerprint,
            threads: 128,
            producer_threads: 0,
            consumers: 1,
            cluster: 1,
            grid_rank: 1,
            shared_bytes: [0; 3],
            dependent: false,
            targets: Targets::All,
            on_cpu: true,
            arguments: &["x"],
            file: file!(),
            line: line!(),
        }
    }

    const fn image(entries: &'static [Entry]) -> Image {
        // SAFETY: nobody loads it.
        unsafe { Image::new("sm_80", (8, 0), false, "", entries) }
    }

    const fn entry(path: &'static str, fingerprint: u64) -> Entry {
        Entry { path, symbol: path, fingerprint, declaration: "fn add(x: Span<u64, (u32,)>)", module: 0 }
    }

    static FIRST: Image = image(&[entry("first::a::add", 1), entry("first::b::add", 2)]);
    static SECOND: Image = image(&[entry("second::add", 3), entry("first::b::add", 4)]);

    fn found(kernel: &Description, loaded: &[(&'static str, &'static Image)]) -> Result<(usize, u64)> {
        find(kernel, loaded, "GPU 0").map(|(number, entry)| (number, entry.fingerprint))
    }

    const BOTH: [(&str, &Image); 2] = [("first", &FIRST), ("second", &SECOND)];

    #[test]
    fn kernels_of_one_name_are_found_by_their_modules_and_crates() {
        assert_eq!(found(&kernel("first::a::add", 1), &BOTH).unwrap(), (0, 1));
        assert_eq!(found(&kernel("second::add", 3), &BOTH).unwrap(), (1, 3));
    }

    #[test]
    fn a_build_with_other_arguments_does_not_stand_in_the_way_of_the_right_one() {
        assert_eq!(found(&kernel("first::b::add", 2), &BOTH).unwrap(), (0, 2));
        assert_eq!(found(&kernel("first::b::add", 4), &BOTH).unwrap(), (1, 4));
    }

    #[test]
    fn code_of_other_arguments_is_refused_with_both_declarations() {
        let message = found(&kernel("first::a::add", 7), &BOTH).unwrap_err().to_string();
        assert_eq!(
            message,
            "kernel `add` is not what the artifact `first` holds under its path `first::a::add`: the program calls \
             `fn add(x: Span<f32, (u32,)>)`, and the artifact was built from `fn add(x: Span<u64, (u32,)>)`; build both from \
             the same sources (is CUDA_TILES_PREBUILT_PTX out of date?)"
        );
    }

    #[test]
    fn a_kernel_of_the_same_name_is_not_taken_for_it() {
        let message = found(&kernel("third::add", 1), &BOTH).unwrap_err().to_string();
        assert_eq!(
            message,
            "kernel `add` (`third::add`) is in none of the artifacts loaded on GPU 0 (`first`, `second`; \
             `first::a::add` is another kernel): call `device.load(&KERNELS)` with the artifact that `include_kernels!` made \
             of its crate"
        );
        let message = found(&kernel("third::add", 1), &[]).unwrap_err().to_string();
        assert!(message.contains("loaded on GPU 0 (none is loaded): call"), "{message}");
    }

    /// What the launch of a kernel for some GPUs says on a device of this compute capability, in code for `arch`.
    fn refused(
        targets: Targets,
        declaration: &'static str,
        arch: &'static str,
        capability: (u32, u32),
    ) -> Option<String> {
        // SAFETY: nobody loads it.
        let image = unsafe { Image::new(arch, capability, false, "", &[]) };
        let kernel = Description { targets, declaration, ..kernel("first::add", 1) };
        check_target(&kernel, &image, "GPU 0 (RTX)", capability).err().map(|error| error.to_string())
    }

    #[test]
    fn a_kernel_for_other_gpus_is_refused_with_what_it_needs() {
        let gemm = "fn gemm::<256, (f16, f32)>(roles: WarpRoles, a: Span<f16, (u32,)>)";
        assert_eq!(
            refused(Targets::Warpgroups, gemm, "sm_120", (12, 0)).unwrap(),
            "kernel `gemm::<256, (f16, f32)>` is for GPUs with warpgroups (compute capability 9.0), but GPU 0 (RTX), of \
             compute capability 12.0, runs code for sm_120: launch another instance or another kernel"
        );
        assert_eq!(
            refused(Targets::Warpgroups, gemm, "sm_80", (9, 0)).unwrap(),
            "kernel `gemm::<256, (f16, f32)>` is for GPUs with warpgroups (compute capability 9.0, in code for sm_90a), but \
             GPU 0 (RTX), of compute capability 9.0, runs code for sm_80: add `.arch(Arch::Sm90a)` to the builder in build.rs, or \
             launch another instance or another kernel"
        );
        assert_eq!(
            refused(Targets::NoWarpgroups, "unsafe fn small(a: f32)", "sm_90a", (9, 0)).unwrap(),
            "kernel `small` is for GPUs without warpgroups (all but compute capability 9.0), but GPU 0 (RTX), of compute \
             capability 9.0, runs code for sm_90a: launch another kernel"
        );
    }

    #[test]
    fn a_kernel_is_launched_on_the_gpus_that_it_is_for() {
        for arch in ["sm_80", "sm_90", "sm_90a", "sm_120"] {
            let runs = |targets| refused(targets, "fn add()", arch, (9, 0)).is_none();
            assert!(runs(Targets::All), "{arch}");
            assert_eq!(runs(Targets::Warpgroups), arch == "sm_90a", "{arch}");
            assert_eq!(runs(Targets::NoWarpgroups), arch != "sm_90a", "{arch}");
        }
    }

    #[test]
    fn a_kernel_that_two_artifacts_hold_is_ambiguous() {
        let twice = [("one", &FIRST), ("other", &FIRST)];
        let message = found(&kernel("first::a::add", 1), &twice).unwrap_err().to_string();
        assert!(message.contains("more than one artifact loaded on GPU 0 (`one`, `other`)"), "{message}");
    }
}
