//! `cargo cuda-tiles`: the command. `cargo cuda-tiles help` lists what it does.

use std::path::PathBuf;
use std::process::ExitCode;

use cargo_cuda_tiles::{Assembler, Error, Package, Report, Result, Workspace, fetch_ptxas};
use clap::{Args, Parser, Subcommand};
use cuda_tiles_builder::{Arch, find_ptxas};

/// Cargo starts the program `cargo-cuda-tiles` with `cuda-tiles` as its first argument.
#[derive(Parser)]
#[command(bin_name = "cargo", version)]
enum Cargo {
    /// Tools for crates of cuda-tiles kernels.
    #[command(subcommand, version)]
    CudaTiles(Command),
}

#[derive(Subcommand)]
enum Command {
    /// Says what each kernel takes on each architecture: registers, shared memory, spills, and how many blocks fit.
    Report(Options),
    /// Gets NVIDIA's assembler `ptxas`, by Python's pip and into the target folder, where there is none.
    Setup(Place),
}

/// Which workspace is meant.
#[derive(Args)]
struct Place {
    /// The `Cargo.toml` of the package or workspace; without it, the one of the current folder.
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
}

/// Which kernels the report is about, and how it looks.
#[derive(Args)]
struct Options {
    #[command(flatten)]
    place: Place,
    /// Only this package, whose build script compiles kernels. May be repeated.
    #[arg(short, long, value_name = "NAME", conflicts_with = "kernels")]
    package: Vec<String>,
    /// The profile `release`, as the build script and its settings may depend on it.
    #[arg(short, long, conflicts_with = "kernels")]
    release: bool,
    /// Features to build with, separated by commas.
    #[arg(short = 'F', long, value_name = "FEATURES", value_delimiter = ',')]
    features: Vec<String>,
    /// Compiles the crate of kernels in this folder, in place of what a build script compiles.
    #[arg(long, value_name = "FOLDER")]
    kernels: Option<PathBuf>,
    /// Only this architecture, such as `sm_90a`; with --kernels, the one to compile for. May be repeated.
    #[arg(long)]
    arch: Vec<Arch>,
    /// Ends with status 1 if a kernel spills registers or has a stack.
    #[arg(long)]
    deny_spills: bool,
    /// Prints JSON in place of a table.
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let Cargo::CudaTiles(command) = Cargo::parse();
    let result = match command {
        Command::Report(options) => report(options),
        Command::Setup(place) => setup(place),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(options: Options) -> Result {
    let Options { place, package, release, features, kernels, arch, deny_spills, json } = options;
    let workspace = Workspace::find(place.manifest_path)?;
    // Before anything is compiled.
    let assembler = Assembler::find(&workspace.tools())?;
    let mut images = match kernels {
        Some(folder) => workspace.compile(&folder, &arch, &features)?,
        None => workspace.built(&Package { names: package, features, release })?,
    };
    images.retain(|(_, of)| arch.is_empty() || arch.contains(of));
    if images.is_empty() {
        let wanted = arch.iter().map(|arch| arch.name()).collect::<Vec<_>>().join(", ");
        return Err(Error::NoPtx { hint: Some(format!("there is PTX, and none for {wanted}")) });
    }
    let report = Report::of(&images, &assembler)?;
    for complaint in &report.complaints {
        eprintln!("{complaint}");
    }
    match json {
        true => {
            println!("{}", serde_json::to_string_pretty(&report).expect("numbers and names can be written"))
        }
        false => print!("{report}"),
    }
    if report.refused > 0 {
        return Err(Error::Refused(report.refused));
    }
    match report.spilling().count() {
        spilling if deny_spills && spilling > 0 => Err(Error::Spills { spilling, all: report.rows.len() }),
        _ => Ok(()),
    }
}

fn setup(place: Place) -> Result {
    if let Some(program) = find_ptxas() {
        println!("ptxas is there already: {}", program.display());
        return Ok(());
    }
    let program = fetch_ptxas(&Workspace::find(place.manifest_path)?.tools())?;
    println!("ptxas: {}", program.display());
    println!("`cargo cuda-tiles report` finds it there. To let builds make machine code by it, type");
    println!("    export CUDA_TILES_PTXAS={}", program.display());
    Ok(())
}
