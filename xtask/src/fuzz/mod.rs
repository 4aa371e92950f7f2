//! `fuzz`: random kernels, compiled in batches, run on the CPU and on the GPU, and compared with an interpreter.

mod batch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use cuda_tiles_fuzz::generate::generate;
use cuda_tiles_fuzz::print;
use cuda_tiles_fuzz::program::Program;
use cuda_tiles_fuzz::shrink::{candidates, shrink};

use crate::error::{Context, Error, Result};
use crate::process;

/// The script that runs the batches of a folder elsewhere.
const RUN_SCRIPT: &str = include_str!("run.sh");

/// How many smaller kernels are compiled at once.
const CANDIDATES: usize = 16;

#[derive(Args)]
pub(crate) struct Options {
    /// The seed of the first kernel; the others have those that follow.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many kernels.
    #[arg(long, default_value_t = 100)]
    count: usize,
    /// How many of them are one program.
    #[arg(long, default_value_t = 50)]
    batch: usize,
    /// Where they run.
    #[arg(long, value_enum, default_value_t = Place::Cpu)]
    device: Place,
    /// The folder for the programs, to be carried to a machine that has a GPU and no Rust. Nothing runs here.
    #[arg(long)]
    emit: Option<PathBuf>,
    /// A file with a kernel as data, as a difference prints it, in place of those of seeds.
    #[arg(long)]
    program: Option<PathBuf>,
    /// In place of each kernel those that are smaller by one edit: to shrink one that fails on another machine.
    #[arg(long)]
    candidates: bool,
    /// Prints the kernels and does nothing else.
    #[arg(long)]
    print: bool,
    /// Prints the kernels as data and does nothing else.
    #[arg(long)]
    data: bool,
}

/// Where kernels run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Place {
    /// On the CPU.
    Cpu,
    /// On the GPU.
    Gpu,
    /// On both, which are compared with each other as well.
    All,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::All => "all",
        }
    }
}

pub(crate) fn run(options: &Options) -> Result {
    let programs = options.programs()?;
    if options.print {
        for program in &programs {
            println!("{}", print::kernel(program, &format!("k{}", program.seed)));
        }
        return Ok(());
    }
    if options.data {
        println!("{}", print::as_data(&programs));
        return Ok(());
    }
    match &options.emit {
        Some(folder) => emit(&programs, options.batch.max(1), folder),
        None => compare(&programs, options),
    }
}

impl Options {
    fn programs(&self) -> Result<Vec<Program>> {
        let programs: Vec<Program> = match &self.program {
            Some(path) => {
                let text = std::fs::read_to_string(path).about(path, "read")?;
                let reason = |problem: String| Error::Content { path: path.clone(), reason: problem };
                vec![Program::from_data(&text).map_err(reason)?]
            }
            None => (self.seed..).take(self.count).map(generate).collect(),
        };
        Ok(if self.candidates { programs.iter().flat_map(candidates).collect() } else { programs })
    }
}

/// Compiles the programs for another machine.
fn emit(programs: &[Program], batch: usize, folder: &Path) -> Result {
    std::fs::create_dir_all(folder).about(folder, "created")?;
    for (number, programs) in programs.chunks(batch).enumerate() {
        let since = Instant::now();
        let program = batch::build(programs, true)?;
        let to = folder.join(format!("batch_{number:03}"));
        process::output(Command::new("strip").arg("-o").arg(&to).arg(&program))?;
        let seconds = since.elapsed().as_secs_f64();
        eprintln!("{}: {} kernels, built in {seconds:.1} s", to.display(), programs.len());
    }
    let script = folder.join("run.sh");
    std::fs::write(&script, RUN_SCRIPT).about(&script, "written")?;
    process::run(Command::new("chmod").arg("+x").arg(&script))
}

/// Compiles the programs, runs them here, and shrinks those that show a difference.
fn compare(programs: &[Program], options: &Options) -> Result {
    let (start, mut building, mut different) = (Instant::now(), Duration::ZERO, 0);
    for programs in programs.chunks(options.batch.max(1)) {
        let since = Instant::now();
        let program = batch::build(programs, options.device != Place::Cpu)?;
        building += since.elapsed();
        let lines = batch::run(&program, options.device)?;
        lines.iter().for_each(|line| println!("{line}"));
        let failed: BTreeSet<usize> = lines.iter().filter_map(|line| batch::failed(line)).collect();
        different += failed.len();
        for number in failed {
            let smallest = shrunk(&programs[number], options)?;
            println!("{}", print::kernel(&smallest, &format!("k{}", smallest.seed)));
            println!("{}", print::launcher(&smallest, &format!("k{}", smallest.seed)));
            println!("as data: {}", print::as_data(std::slice::from_ref(&smallest)));
        }
    }
    let (count, seconds) = (programs.len(), start.elapsed().as_secs_f64());
    let each = building.as_secs_f64() / count.max(1) as f64;
    eprintln!("{count} kernels in {seconds:.0} s; to compile one took {each:.2} s");
    match different {
        0 => Ok(()),
        failed => Err(Error::Checks { failed, all: count, what: "random kernels" }),
    }
}

/// The smallest program that still shows a difference.
fn shrunk(program: &Program, options: &Options) -> Result<Program> {
    let mut problem = None;
    let smallest = shrink(program.clone(), CANDIDATES, |candidates| {
        let examined = batch::build(candidates, options.device != Place::Cpu)
            .and_then(|program| batch::run(&program, options.device));
        match examined {
            Ok(lines) => lines.iter().filter_map(|line| batch::failed(line)).min(),
            Err(error) => {
                problem = Some(error);
                None
            }
        }
    });
    problem.map_or(Ok(smallest), Err)
}
