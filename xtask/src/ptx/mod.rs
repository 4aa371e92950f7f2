//! `ptx`: checks of the generated code that need no GPU.
//!
//! The kernels are compiled for three generations of GPUs (all but Hopper every night) and assembled with NVIDIA's assembler, `ptxas`. A kernel
//! fails that touches local memory, calls a function, takes more registers than it is allowed, or has lost one of
//! its 128-bit accesses. For a few small kernels the whole PTX is compared with a file: they show in full what the
//! library's abstractions cost.

mod expectation;
mod golden;

use std::path::{Path, PathBuf};

use cargo_cuda_tiles::Assembler;
use cuda_tiles_builder::ptx::{Entry, Module};
use cuda_tiles_builder::{Arch, BuiltImage, CudaBuilder};

use crate::error::{Context, Error, Result};
use crate::{toolchain, workspace};
use expectation::Expectations;
use golden::Goldens;

/// A crate of kernels that is checked.
struct Kernels {
    folder: &'static str,
    /// For which architectures it is compiled, with which features.
    builds: &'static [(&'static [Arch], &'static [&'static str])],
    /// The same for every night, besides.
    nightly: &'static [(&'static [Arch], &'static [&'static str])],
    /// Whether the crate is only checked if it is named: its kernels take many minutes.
    if_named: bool,
    /// The most seconds of a processor that a kernel may take to compile, on the average of its crate and for all
    /// architectures together.
    budget: f64,
}

/// The crates: the ready-made kernels for Hopper with its own instructions, and every night for the oldest supported architecture and the
/// newest; products of matrices, which take minutes, for Hopper, where most registers are in use. Those of `f16` for K-major operands are
/// checked always, all others every night. A thousand test kernels are checked for the one that they are tested on, and only if they are
/// named: they take a quarter of an hour. The quickstart's kernels are checked for the one that they are compiled for. Thread-level kernels
/// are made of the same instructions everywhere, and checked for the oldest. Streamed products take other instructions on each generation,
/// all of which are looked at every night; they are long, and take longer.
const CRATES: [Kernels; 5] = [
    Kernels {
        folder: "kernels",
        builds: &[(&[Arch::Sm90a], &["gemm-f16-k-major"])],
        nightly: &[(&[Arch::Sm80, Arch::Sm120], &[]), (&[Arch::Sm90a], &["gemm"])],
        if_named: false,
        budget: 1.5,
    },
    Kernels {
        folder: "examples/digits/kernels",
        builds: &[(&[Arch::Sm80], &[])],
        nightly: &[],
        if_named: false,
        // So few that the library counts, which is compiled with them.
        budget: 10.0,
    },
    Kernels {
        folder: "tests/streams",
        builds: &[],
        nightly: &[(&[Arch::Sm90a], &[]), (&[Arch::Sm80, Arch::Sm89, Arch::Sm120], &[])],
        if_named: false,
        budget: 10.0,
    },
    Kernels {
        folder: "tests/threads",
        builds: &[(&[Arch::Sm80], &[])],
        nightly: &[],
        if_named: false,
        budget: 3.0,
    },
    Kernels {
        folder: TEST_KERNELS,
        builds: &[(&[Arch::Sm80], &[])],
        nightly: &[],
        if_named: true,
        budget: 1.5,
    },
];
const TEST_KERNELS: &str = "tests/kernels";

/// How to run the checks.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Takes what the kernels are now for what is expected from now on.
    #[arg(long)]
    bless: bool,
    /// Also what is checked every night. What is expected is taken from all of them.
    #[arg(long)]
    nightly: bool,
    /// Only this crate of kernels. Without it, all but `tests/kernels`.
    #[arg(value_parser = CRATES.map(|kernels| kernels.folder))]
    folder: Option<String>,
}

/// Compiles, assembles and checks all kernels. Prints a line for each failure.
pub(crate) fn run(options: &Options) -> Result {
    let program = toolchain::assembler()
        .ok_or_else(|| Error::missing("`ptxas`, NVIDIA's assembler,", "`cargo xtask setup --checks`"))?;
    let assembler = Assembler::new(program);
    let mut failures = Vec::new();
    let mut kernels = 0;
    let mut expectations = Expectations::read()?;
    let goldens = Goldens::read()?;
    let is_meant = |meant: &Kernels| match &options.folder {
        Some(only) => only == meant.folder,
        None => !meant.if_named,
    };
    let by_night = options.nightly || options.bless;
    for Kernels { folder, builds, nightly, budget, .. } in CRATES.into_iter().filter(is_meant) {
        let builds: Vec<_> = builds.iter().chain(if by_night { nightly } else { &[] }).collect();
        if builds.is_empty() {
            continue;
        }
        let before = processor_seconds();
        let mut images = Vec::new();
        for (number, (archs, features)) in builds.into_iter().enumerate() {
            images.extend(compile(folder, number, archs, features)?);
        }
        let seconds = processor_seconds().zip(before).map(|(now, before)| now - before);
        let reports = assembler.assemble_all(images.iter().map(|image| (&*image.path, image.arch)))?;
        let texts = images.iter().map(|image| read(&image.path)).collect::<Result<Vec<_>>>()?;
        let mut checked = Vec::new();
        for ((image, report), text) in images.iter().zip(&reports).zip(&texts) {
            let module = Module::parse(text)
                .map_err(|error| Error::Content { path: image.path.clone(), reason: error.to_string() })?;
            for complaint in &report.complaints {
                failures.push(format!("{folder}, {}: ptxas: {complaint}", image.arch));
            }
            kernels += module.entries().len();
            checked.push((image.arch, module, report));
        }
        if options.bless {
            expectations.bless(folder, &checked);
        }
        for (arch, module, report) in &checked {
            for entry in module.entries() {
                let place = format!("{folder}, {arch}: {}", kernel_name(entry.name()));
                let mut complaints = forbidden(entry);
                complaints.extend(expectations.complaints(folder, *arch, entry, report));
                complaints.extend(goldens.complaint(*arch, entry, options.bless)?);
                failures.extend(complaints.into_iter().map(|complaint| format!("{place}: {complaint}")));
            }
        }
        if by_night || nightly.is_empty() {
            failures.extend(expectations.superfluous(folder, &checked));
        }
        let all = checked.iter().map(|(_, module, _)| module.entries().len()).sum();
        failures.extend(seconds.and_then(|seconds| too_slow(folder, seconds, all, budget)));
    }
    if options.bless {
        expectations.write()?;
    }
    if options.folder.is_none() {
        failures.extend(goldens.without_kernel());
    }
    for failure in &failures {
        eprintln!("{failure}");
    }
    if failures.is_empty() {
        eprintln!("{kernels} kernels checked, those of all architectures together");
        return Ok(());
    }
    Err(Error::Checks { failed: failures.len(), all: kernels, what: "kernels' checks" })
}

/// The seconds that programs which this one has waited for, and those that they waited for, have computed. Unlike those on the clock they
/// do not tell of what else runs on the machine. `None` where Linux does not count them.
fn processor_seconds() -> Option<f64> {
    // proc_pid_stat(5): fields 16 and 17, in hundredths; the second is a name in parentheses that may have spaces in it.
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(13);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / 100.0)
}

/// Says how long the kernels took to compile, and complains if that is more than users of the library should wait.
fn too_slow(folder: &str, seconds: f64, kernels: usize, budget: f64) -> Option<String> {
    let each = seconds / kernels as f64;
    eprintln!("{folder}: {kernels} kernels in {seconds:.0} s, {each:.2} s each");
    (each > budget)
        .then(|| format!("{folder}: a kernel takes {each:.2} s to compile, the budget is {budget} s"))
}

/// Compiles a crate of kernels, in its build `number`: each has a folder for its images.
///
/// Test kernels have a folder of their own for what is compiled: for minutes nobody else could compile in it.
fn compile(folder: &str, number: usize, archs: &[Arch], features: &[&str]) -> Result<Vec<BuiltImage>> {
    let names: Vec<_> = archs.iter().map(|arch| arch.name()).collect();
    eprintln!("compiling {folder} for {}", names.join(", "));
    let own = workspace::target().join("ptx/build");
    let target = if folder == TEST_KERNELS { own } else { workspace::device_target() };
    let mut builder = CudaBuilder::new(workspace::root().join(folder))
        .required(true)
        .features(features.iter().copied())
        .out_dir(workspace::target().join("ptx").join(folder).join(number.to_string()))
        .target_dir(target);
    for &arch in archs {
        builder = builder.arch(arch);
    }
    if folder == TEST_KERNELS {
        // As `tests/operations/build.rs`: optimised in full, they take many minutes.
        builder = builder.rustflags(["-Copt-level=1"]);
    }
    Ok(builder.try_build()?.images)
}

/// The kernel's name, under which something is stated about it: the end of what the entry is called, before which its modules
/// stand. Kernels of one name share a statement.
fn kernel_name(entry: &str) -> &str {
    entry.rsplit('$').next().unwrap_or(entry)
}

/// What no kernel may contain.
fn forbidden(entry: &Entry<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    if entry.uses_local_memory() {
        complaints.push("the PTX uses local memory: a tile is not in registers".to_owned());
    }
    let calls = entry.calls();
    if let Some(first) = calls.first() {
        complaints.push(format!("the PTX has {} calls, the first to `{first}`", calls.len()));
    }
    complaints
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).about(path, "read")
}

/// The folder of what is expected.
fn golden_folder() -> PathBuf {
    workspace::root().join("xtask/golden")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_compilation_is_a_failure() {
        assert_eq!(too_slow("kernels", 150.0, 100, 1.5), None);
        assert_eq!(
            too_slow("kernels", 200.0, 100, 1.5).unwrap(),
            "kernels: a kernel takes 2.00 s to compile, the budget is 1.5 s"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn programs_that_compute_take_time() {
        let before = processor_seconds().unwrap();
        let count = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
        assert!(std::process::Command::new("sh").args(["-c", count]).status().unwrap().success());
        assert!(processor_seconds().unwrap() > before);
    }

    #[test]
    fn local_memory_and_calls_are_forbidden() {
        let text = ".version 8.0\n.target sm_80\n\
                    .entry good() { ld.global.b32 %r1, [%rd1]; ret; }\n\
                    .entry bad() { .local .b8 depot[4]; call.uni helper; call.uni other; ret; }\n";
        let module = Module::parse(text).unwrap();
        let [good, bad] = module.entries() else { panic!("two entries") };
        assert_eq!(forbidden(good), [""; 0]);
        assert_eq!(
            forbidden(bad),
            [
                "the PTX uses local memory: a tile is not in registers",
                "the PTX has 2 calls, the first to `helper`"
            ]
        );
    }
}
