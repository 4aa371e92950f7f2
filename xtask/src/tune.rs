//! `tune`: measures the plans of matrix products on this machine's GPU.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::{process, toolchain, workspace};

/// What to measure, and where to write it.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The products to measure, one a line; `kernels/tuning/products.txt` if it is left out.
    products: Option<PathBuf>,
}

/// Builds the kernels of products, measures them, and writes `kernels/tuning/<GPU>.csv`.
pub(crate) fn run(options: &Options) -> Result {
    let gpus = toolchain::gpus().map_err(|reason| {
        Error::missing(
            "a GPU, whose plans are measured,",
            format!("this on a machine that has one ({reason})"),
        )
    })?;
    eprintln!("measuring on {}", gpus.join("; "));
    let folder = workspace::root().join("kernels/tuning");
    let products = options.products.clone().unwrap_or_else(|| folder.join("products.txt"));
    let mut command = workspace::cargo([
        "bench",
        "--package",
        "cuda-tiles-suite",
        "--features",
        "gemm",
        "--bench",
        "tune",
        "--",
    ]);
    process::run(command.arg("--products").arg(products).arg("--results").arg(folder))
}
