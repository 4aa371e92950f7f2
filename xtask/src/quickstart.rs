//! `quickstart`: from a fresh machine to digits classified by tile kernels.

use std::path::PathBuf;

use crate::error::Result;
use crate::{process, setup, workspace};

/// How to run the example.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The scans to classify: lines of 64 pixels and a label.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// The picture of the misread digits to write.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// `cpu` or `gpu`; by default the GPU, where there is one.
    #[arg(long)]
    device: Option<String>,
}

/// Installs what is missing, builds the kernels and the example, and runs it.
pub(crate) fn run(options: &Options) -> Result {
    eprintln!("[1/2] setting up");
    setup::run(&setup::Options::default())?;
    eprintln!("[2/2] building and running the example `digits` (a minute or two, the first time)");
    let csv = options.csv.clone().unwrap_or_else(|| workspace::root().join("data/digits.csv"));
    let out = options.out.clone().unwrap_or_else(|| workspace::target().join("quickstart/misread.png"));
    let mut command = workspace::cargo([
        "run",
        "--release",
        "--package",
        "cuda-tiles-digits",
        "--example",
        "digits",
        "--",
        "--csv",
    ]);
    // The example runs in the workspace's folder; relative paths are meant from here.
    command
        .arg(std::path::absolute(&csv).unwrap_or(csv))
        .arg("--out")
        .arg(std::path::absolute(&out).unwrap_or(out));
    if let Some(device) = &options.device {
        command.arg("--device").arg(device);
    }
    process::run(&mut command)
}
