//! `bundle`: tests and benchmarks as one folder, and as an archive of it, to carry to a machine that has a GPU and a driver, and no
//! Rust.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{Artifact, Message, TargetKind};

use crate::error::{Context, Error, Result};
use crate::{process, toolchain, workspace};

/// The most that the archive may hold, in bytes.
const LARGEST: u64 = 64 << 20;

/// The packages with tests, examples and benchmarks that use a GPU.
const PACKAGES: [&str; 4] =
    ["cuda-tiles-suite", "cuda-tiles-digits", "cuda-tiles-operation-tests", "cuda-tiles-host"];

/// How a program names the folder of its package. A test that does so reads the source tree, and the other machine has none.
const SOURCE_TREE: &str = "env!(\"CARGO_MANIFEST_DIR\")";

/// The benchmark of the CPU. The other machine is there for its GPU.
const CPU_BENCHMARK: &str = "cpu";

/// The library that `benches/matrix.py` loads, which goes into the bundle beside that.
const LIBRARY: &str = "cuda-tiles-bench-library";

/// The script that runs the programs over there.
const RUN_SCRIPT: &str = include_str!("bundle/run.sh");

/// The kinds of programs, each a folder of the bundle.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Test,
    Example,
    Bench,
}

impl Kind {
    fn folder(self) -> &'static str {
        match self {
            Self::Test => "tests",
            Self::Example => "examples",
            Self::Bench => "benches",
        }
    }

    /// What kind of program an artifact of cargo is, if it belongs into the bundle.
    fn of(artifact: &Artifact) -> Result<Option<Self>> {
        let target = &artifact.target;
        Ok(match target.kind.first() {
            Some(TargetKind::Test) if !reads_source(target.src_path.as_std_path())? => Some(Self::Test),
            Some(TargetKind::Example) => Some(Self::Example),
            Some(TargetKind::Bench) if target.name != CPU_BENCHMARK => Some(Self::Bench),
            _ => None,
        })
    }
}

/// What goes into the bundle.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Also machine code of the kernels, which takes some minutes to make, and `ptxas`: `setup --checks` installs it.
    #[arg(long)]
    machine_code: bool,
}

/// Builds the programs and puts them, stripped, into `target/bundle` with a script that runs them.
pub(crate) fn run(options: &Options) -> Result {
    let bundle = workspace::target().join("bundle");
    if bundle.exists() {
        std::fs::remove_dir_all(&bundle).about(&bundle, "removed")?;
    }
    let mut tests = workspace::cargo(["test", "--no-run", "--tests", "--benches"]);
    let mut examples = workspace::cargo(["build", "--examples"]);
    for command in [&mut tests, &mut examples] {
        command.args(PACKAGES.into_iter().flat_map(|package| ["--package", package]));
        command.args(["--features", "cuda-tiles-suite/cust"]);
    }
    // By themselves: otherwise all other programs would hold the kernels of `gemm` too.
    let mut products = workspace::cargo(["test", "--no-run", "--package", "cuda-tiles-suite"]);
    products.args(["--features", "gemm", "--test", "gemm", "--bench", "tune", "--bench", "first_launch"]);
    for mut command in [tests, examples, products] {
        if options.machine_code {
            toolchain::lend_assembler(&mut command);
        }
        command
            .args(["--release", "--message-format=json-render-diagnostics"])
            .env("CUDA_TILES_REQUIRE_PTX", "1");
        for artifact in built(&mut command)? {
            if let (Some(kind), Some(program)) = (Kind::of(&artifact)?, &artifact.executable) {
                let folder = bundle.join(kind.folder());
                std::fs::create_dir_all(&folder).about(&folder, "created")?;
                strip(program.as_std_path(), &folder.join(name(&artifact)))?;
            }
        }
    }
    let mut library = workspace::cargo(["build", "--release", "--package", LIBRARY, "--features", "gemm"]);
    library.arg("--message-format=json-render-diagnostics").env("CUDA_TILES_REQUIRE_PTX", "1");
    let benches = bundle.join(Kind::Bench.folder());
    for artifact in built(&mut library)?.iter().filter(|artifact| artifact.target.is_cdylib()) {
        for file in &artifact.filenames {
            strip(file.as_std_path(), &benches.join(file.file_name().unwrap_or_default()))?;
        }
    }
    for script in files(&workspace::root().join("benches"))? {
        if script.extension().is_some_and(|extension| extension == "py") {
            let copy = benches.join(script.file_name().unwrap_or_default());
            std::fs::copy(&script, &copy).about(&copy, "written")?;
        }
    }
    copy_folder(&workspace::root().join("data"), &bundle.join("data"))?;
    copy_folder(&workspace::root().join("kernels/tuning"), &bundle.join("tuning"))?;
    let script = bundle.join("run.sh");
    std::fs::write(&script, RUN_SCRIPT).about(&script, "written")?;
    process::run(Command::new("chmod").arg("+x").arg(&script))?;

    let archive = bundle.with_extension("tar.xz");
    pack(&bundle, &archive)?;
    let megabytes = |bytes| bytes as f64 / 1e6;
    let (folder, size) = (size_of(&bundle)?, archive.metadata().about(&archive, "read")?.len());
    eprintln!(
        "{}: {:.1} MB, of which the archive {} makes {:.1} MB; there, type `tar -xf bundle.tar.xz && bundle/run.sh all`",
        bundle.display(),
        megabytes(folder),
        archive.display(),
        megabytes(size),
    );
    if size > LARGEST {
        let reason = format!("it holds {size} bytes, and {LARGEST} is the most that it may");
        return Err(Error::Content { path: archive, reason });
    }
    Ok(())
}

/// Whether the test with this root file reads the source tree. Files beside a `main.rs` are its modules.
fn reads_source(root: &Path) -> Result<bool> {
    let modules = match (root.ends_with("main.rs"), root.parent()) {
        (true, Some(folder)) => files(folder)?,
        _ => vec![root.to_owned()],
    };
    for file in modules.iter().filter(|file| file.is_file()) {
        if std::fs::read_to_string(file).about(file, "read")?.contains(SOURCE_TREE) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes an archive of a folder.
fn pack(folder: &Path, archive: &Path) -> Result {
    let mut tar = Command::new("tar");
    tar.arg("--use-compress-program=xz -T0 -1").arg("--create").arg("--file").arg(archive);
    tar.arg("--directory").arg(folder.parent().unwrap_or(folder)).arg(folder.file_name().unwrap_or_default());
    process::run(&mut tar)
}

/// What a program is called in the bundle: its target's name, after the folder of its package.
fn name(artifact: &Artifact) -> String {
    let folder =
        artifact.manifest_path.parent().and_then(|folder| folder.strip_prefix(workspace::root()).ok());
    match folder.and_then(|folder| folder.file_name()) {
        Some(package) => format!("{package}-{}", artifact.target.name),
        None => artifact.target.name.clone(),
    }
}

/// Runs cargo and returns what it has built.
fn built(command: &mut Command) -> Result<Vec<Artifact>> {
    let output = process::output(command.stderr(Stdio::inherit()))?;
    let messages = Message::parse_stream(output.as_bytes()).filter_map(std::result::Result::ok);
    let artifact = |message| match message {
        Message::CompilerArtifact(artifact) => Some(artifact),
        _ => None,
    };
    Ok(messages.filter_map(artifact).collect())
}

/// Copies a program without its symbols.
fn strip(program: &Path, to: &Path) -> Result {
    process::output(Command::new("strip").arg("-o").arg(to).arg(program))?;
    Ok(())
}

/// Copies a folder of files.
fn copy_folder(from: &Path, to: &Path) -> Result {
    std::fs::create_dir_all(to).about(to, "created")?;
    for file in files(from)? {
        let copy = to.join(file.file_name().unwrap_or_default());
        std::fs::copy(&file, &copy).about(&copy, "written")?;
    }
    Ok(())
}

/// The size of all files in a folder and below, in bytes.
fn size_of(folder: &Path) -> Result<u64> {
    let mut size = 0;
    for path in files(folder)? {
        size += if path.is_dir() { size_of(&path)? } else { path.metadata().about(&path, "read")?.len() };
    }
    Ok(size)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).about(folder, "read")?;
    entries.map(|entry| Ok(entry.about(folder, "read")?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_read_the_source_tree_stay_here() {
        let reads = |test: &str| reads_source(&workspace::root().join(test)).unwrap();
        for test in [
            "tests/documents.rs",
            "tests/parity/main.rs",
            "examples/digits/tests/quickstart.rs",
            "tests/traits.rs",
        ] {
            assert!(reads(test), "{test}");
        }
        for test in [
            "tests/attention.rs",
            "tests/attention_gradients.rs",
            "tests/launch.rs",
            "tests/operations/operations.rs",
            "tests/ready_made.rs",
        ] {
            assert!(!reads(test), "{test}");
        }
    }

    #[test]
    fn the_archive_holds_the_folder() {
        let folder = std::env::temp_dir().join(format!("cuda-tiles-bundle-{}", std::process::id()));
        let bundle = folder.join("bundle");
        std::fs::create_dir_all(bundle.join("tests")).unwrap();
        std::fs::write(bundle.join("tests/operations"), "code ".repeat(1000)).unwrap();
        let archive = bundle.with_extension("tar.xz");
        pack(&bundle, &archive).unwrap();
        let size = archive.metadata().unwrap().len();
        let listed = process::output(Command::new("tar").arg("--list").arg("--file").arg(&archive)).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(listed.lines().any(|line| line == "bundle/tests/operations"), "{listed}");
        assert!(size < 1000, "it is compressed: {size} bytes");
    }
}
