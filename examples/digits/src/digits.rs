//! Reads handwritten digits with tile kernels, on the GPU if there is one and else on the CPU.
//!
//!     cargo run --release --package cuda-tiles-digits --example digits
//!
//! The scans (8 x 8 pixels, 1,797 of them) are standardised by columns; each is given to the class whose centroid is
//! nearest; softmax over the negative distances says how sure that is. The kernels are in `examples/digits/kernels`. The
//! same is computed in plain `f64` Rust for comparison, and the misread digits are drawn.

mod classifier;
mod reference;
mod scans;
mod sheet;

use classifier::Classified;
use cuda_tiles_host::Device;
use lexopt::ValueExt as _;
use scans::Scans;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

cuda_tiles_host::include_kernels!("digits");

const HELP: &str = "\
Classifies scans of handwritten digits with tile kernels.

  --csv FILE       the scans: 64 pixel values (0 to 16) and the digit on each line
  --out FILE       where the picture of the misread digits goes
  --device DEVICE  `cpu` or `gpu`; by default the GPU, where there is one";

/// What the user wants.
struct Arguments {
    csv: PathBuf,
    out: PathBuf,
    device: Option<Kind>,
}

enum Kind {
    Cpu,
    Gpu,
}

impl Arguments {
    /// Reads the command line. `None` if it asks for help.
    fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut arguments = Self {
            csv: concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits.csv").into(),
            out: "target/quickstart/misread.png".into(),
            device: None,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                lexopt::Arg::Long("csv") => arguments.csv = parser.value()?.into(),
                lexopt::Arg::Long("out") => arguments.out = parser.value()?.into(),
                lexopt::Arg::Long("device") => {
                    let kind = |name: &str| match name {
                        "cpu" => Ok(Kind::Cpu),
                        "gpu" => Ok(Kind::Gpu),
                        _ => Err("it is neither `cpu` nor `gpu`"),
                    };
                    arguments.device = Some(parser.value()?.parse_with(kind)?);
                }
                lexopt::Arg::Long("help") | lexopt::Arg::Short('h') => return Ok(None),
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(arguments))
    }
}

fn main() -> ExitCode {
    let result = match Arguments::parse() {
        Ok(Some(arguments)) => run(&arguments),
        Ok(None) => {
            println!("{HELP}");
            Ok(())
        }
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let scans = Scans::read(&arguments.csv)?;
    eprintln!("read {} scans from {}", scans.len(), arguments.csv.display());

    let device = match arguments.device {
        None => Device::auto()?,
        Some(Kind::Cpu) => Device::cpu(),
        Some(Kind::Gpu) => Device::gpu(0)?,
    };
    if device.is_gpu() {
        eprintln!("loading the kernels on {} (the driver compiles them) ...", device.name());
    }
    device.load(&KERNELS)?;

    eprintln!("classifying ...");
    let classified = classifier::classify(&device, &scans)?;
    eprintln!("comparing with plain f64 Rust ...");
    let expected = reference::classify(&scans);

    let misread: Vec<usize> =
        (0..scans.len()).filter(|&row| classified.nearest[row] != scans.labels[row]).collect();
    sheet::write(&arguments.out, &scans, &classified.nearest, &misread)?;

    let right = scans.len() - misread.len();
    let reads = classified.nearest.iter().zip(&expected.nearest);
    let otherwise = reads.filter(|(found, expected)| found != expected).count();
    println!("ran on       {device}");
    println!("accuracy     {:.2} % ({right} of {})", 100.0 * right as f64 / scans.len() as f64, scans.len());
    println!("plain f64    reads {otherwise} digits otherwise");
    println!(
        "difference   {:.1e} at most, of a probability from plain f64",
        difference(&classified, &expected)
    );
    println!("time         {:.1} us for the four kernels", classified.time.as_secs_f64() * 1e6);
    println!("misread      {} digits, drawn in {}", misread.len(), arguments.out.display());
    Ok(())
}

/// The largest difference of any probability from the reference's.
fn difference(classified: &Classified, expected: &reference::Expected) -> f64 {
    let pairs = classified.probabilities.iter().zip(&expected.probabilities);
    pairs.map(|(&found, expected)| (f64::from(found) - expected).abs()).fold(0.0, f64::max)
}
