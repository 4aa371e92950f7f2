//! Measures the plans of matrix products on this GPU, and writes down the fastest of each.
//!
//! `cargo xtask tune`, or the program itself on a machine without Rust:
//! `tune --products FILE --results FOLDER [--seconds N]`. The results go to the file that is named after the GPU, for example
//! `nvidia-h200.csv`; what it says of other products stays. `cuda_tiles_kernels::gemm` goes by these files when it is built.
//!
//! Method: every plan runs once, then for about a millisecond; of the eight fastest the samples, of at least 3 ms of back-to-back
//! launches each, are interleaved, and the one with the least median of seven wins. Factors are random, and inputs and
//! outputs of small products rotate over sets that together exceed the L2 cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use cuda_tiles::element::{Element, bf16, f8e4m3, f16, tf32};
use cuda_tiles_host::{Device, Error, Result, Tensor, TensorView, Timer};
use cuda_tiles_kernels::gemm::{Bits, Gemm, Multiply, Plan};
use cuda_tiles_suite::kernels::KERNELS;

/// Plans that are measured thoroughly.
const FINALISTS: usize = 8;
/// Samples of each of them.
const SAMPLES: usize = 7;
/// How long each plan is measured to see which are worth more.
const SCREENING: Duration = Duration::from_millis(1);
/// Bytes that all sets of a product exceed together: more than any cache.
const ROTATED: usize = 200 << 20;
/// The first line of a file of results.
const HEADER: &str = "product,batches,rows,columns,depth,loads,tile rows,tile columns,cut,microseconds";

#[derive(Parser)]
struct Options {
    /// The products to measure, one a line.
    #[arg(long)]
    products: PathBuf,
    /// The folder of the results.
    #[arg(long)]
    results: PathBuf,
    /// When to stop, in seconds: products that are left keep what was measured before.
    #[arg(long, default_value_t = u64::MAX)]
    seconds: u64,
    /// What `cargo bench` passes.
    #[arg(long, hide = true)]
    bench: bool,
}

/// A line of the list of products.
struct Product<'l> {
    types: [&'l str; 3],
    transposed: [bool; 2],
    fast: bool,
    /// Batches, rows, columns and depth.
    sizes: [usize; 4],
}

impl<'l> Product<'l> {
    fn parse(line: &'l str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().filter(|&word| word != "fast").collect();
        let [a, b, c, ways, sizes @ ..] = &words[..] else { return None };
        let sizes: Option<Vec<usize>> =
            sizes.iter().map(|size| size.parse().ok().filter(|&size| size > 0)).collect();
        let transposed = match *ways {
            "nn" => [false, false],
            "nt" => [false, true],
            "tn" => [true, false],
            "tt" => [true, true],
            _ => return None,
        };
        let fast = line.split_whitespace().any(|word| word == "fast");
        Some(Self { types: [a, b, c], transposed, fast, sizes: sizes?.try_into().ok()? })
    }

    fn measure(&self, device: &Device) -> Result<Best> {
        match self.types {
            ["f16", "f16", "f16"] => self.of_types::<f16, f16, f16>(device),
            ["f16", "f16", "f32"] => self.of_types::<f16, f16, f32>(device),
            ["bf16", "bf16", "bf16"] => self.of_types::<bf16, bf16, bf16>(device),
            ["bf16", "bf16", "f32"] => self.of_types::<bf16, bf16, f32>(device),
            ["tf32", "tf32", "f32"] => self.of_types::<tf32, tf32, f32>(device),
            ["f8e4m3", "f8e4m3", "f16"] => self.of_types::<f8e4m3, f8e4m3, f16>(device),
            ["f8e4m3", "f8e4m3", "bf16"] => self.of_types::<f8e4m3, f8e4m3, bf16>(device),
            ["f8e4m3", "f8e4m3", "f32"] => self.of_types::<f8e4m3, f8e4m3, f32>(device),
            ["i8", "i8", "i32"] => self.of_types::<i8, i8, i32>(device),
            ["u8", "i8", "i32"] => self.of_types::<u8, i8, i32>(device),
            ["f64", "f64", "f64"] => self.of_types::<f64, f64, f64>(device),
            types => Err(Error::Operands {
                operation: "tune",
                problem: format!("products of {types:?} are not measured here"),
            }),
        }
    }

    fn of_types<T, U, O>(&self, device: &Device) -> Result<Best>
    where
        T: Random + Multiply<U, O>,
        U: Random + Element<Bits: Bits>,
        O: Element,
    {
        let [batches, rows, columns, depth] = self.sizes;
        let bytes = batches
            * (rows * depth * size_of::<T>()
                + depth * columns * size_of::<U>()
                + rows * columns * size_of::<O>());
        let mut sets = Vec::new();
        for _ in 0..(ROTATED / bytes.max(1) + 2).min(64) {
            let a = random::<T>(device, [batches, rows, depth], self.transposed[0])?;
            let b = random::<U>(device, [batches, depth, columns], self.transposed[1])?;
            sets.push((a, b, Tensor::<O, 3>::zeros(device, [batches, rows, columns])?));
        }
        let stream = device.default_stream();
        let gemm = || Gemm::<O, T::Sum>::new().fast_accumulation(self.fast);
        let (name, plans) = {
            let (a, b, c) = &sets[0];
            gemm().plans::<T, U>(
                view_of(a, self.transposed[0])?,
                view_of(b, self.transposed[1])?,
                c.view(),
            )?
        };
        let mut turn = 0;
        let mut launch = |plan: Plan| -> Result<()> {
            let count = sets.len();
            let (a, b, c) = &mut sets[turn % count];
            turn += 1;
            gemm().plan(plan).multiply(
                view_of(a, self.transposed[0])?,
                view_of(b, self.transposed[1])?,
                c.view_mut(),
            )
        };
        let timed = Timer::new().samples(1).sample_time(SCREENING);
        let timed = timed.compare_all(&stream, plans.len(), |plan| launch(plans[plan]))?;
        let mut finalists: Vec<_> = plans.into_iter().zip(timed).collect();
        finalists.sort_by_key(|(_, timing)| timing.median);
        finalists.truncate(FINALISTS);
        let timer = Timer::new().samples(SAMPLES);
        let timed = timer.compare_all(&stream, finalists.len(), |at| launch(finalists[at].0))?;
        let medians =
            finalists.iter().zip(timed).map(|(&(plan, _), timing)| (timing.median.as_secs_f64() * 1e6, plan));
        let best = medians.min_by(|x, y| x.0.total_cmp(&y.0));
        let Some((microseconds, plan)) = best else {
            return Err(Error::Operands {
                operation: "tune",
                problem: format!("there is no plan for {name}"),
            });
        };
        let [batches, rows, columns, depth] = self.sizes;
        Ok(Best { key: format!("{name},{batches},{rows},{columns},{depth}"), plan, microseconds })
    }
}

/// What was found.
struct Best {
    key: String,
    plan: Plan,
    microseconds: f64,
}

impl Best {
    fn line(&self) -> String {
        let Plan { loads, rows, columns, decomposition } = self.plan;
        format!("{},{loads},{rows},{columns},{decomposition},{:.2}", self.key, self.microseconds)
    }
}

/// Elements that can be filled with random numbers.
trait Random: Element {
    fn of(number: f32) -> Self;
}

macro_rules! random {
    ($($type:ident $of:expr;)*) => { $(
        impl Random for $type {
            fn of(number: f32) -> Self {
                ($of)(number)
            }
        }
    )* };
}
random! {
    f16 f16::from_f32;
    bf16 bf16::from_f32;
    tf32 tf32::from_f32;
    f8e4m3 f8e4m3::from_f32;
    f64 f64::from;
    i8 |x| (x * 32.0) as i8;
    u8 |x: f32| (x * 32.0 + 128.0) as u8;
}

/// Matrices of random elements, in memory as they are or transposed.
fn random<T: Random>(
    device: &Device,
    [batches, rows, columns]: [usize; 3],
    transposed: bool,
) -> Result<Tensor<T, 3>> {
    // The clock depends on how many bits change: a sum of four uniform numbers is normal enough.
    let mut generator = cuda_tiles_suite::random::Random::new(1);
    let mut number = || {
        let bytes = generator.bits().to_le_bytes();
        (bytes[..4].iter().map(|&byte| f32::from(byte)).sum::<f32>() - 510.0) / 148.0
    };
    // The numbers repeat, with a period that is no multiple of a row.
    let some: Vec<T> = (0..(1 << 20) + 7).map(|_| T::of(number())).collect();
    let values = some.iter().copied().cycle().take(batches * rows * columns).collect();
    let shape = if transposed { [batches, columns, rows] } else { [batches, rows, columns] };
    Tensor::from_vec(device, shape, values)
}

/// The matrices that [`random`] made.
fn view_of<T: Element>(tensor: &Tensor<T, 3>, transposed: bool) -> Result<TensorView<'_, T, 3>> {
    if transposed { tensor.view().permute([0, 2, 1]) } else { Ok(tensor.view()) }
}

/// The lines of a file of results, by product and sizes.
fn known(path: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let key = |line: &str| line.splitn(6, ',').take(5).collect::<Vec<_>>().join(",");
    text.lines().skip(1).map(|line| (key(line), line.to_owned())).collect()
}

fn run(options: &Options) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let device = Device::auto()?;
    if !device.is_gpu() {
        return Err(format!("plans are measured on a GPU, and this is the {device}").into());
    }
    device.load(&KERNELS)?;
    let path = options.results.join(device.name().to_lowercase().replace(' ', "-")).with_extension("csv");
    let mut lines = known(&path);
    let text = std::fs::read_to_string(&options.products)?;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        if start.elapsed().as_secs() >= options.seconds {
            println!("not measured any more: {line}");
            continue;
        }
        let product = Product::parse(line).ok_or_else(|| {
            let (file, number) = (options.products.display(), number + 1);
            format!(
                "{file}:{number}: `{line}` is no product: three element types, `nn` to `tt`, perhaps `fast`, and batches, \
                 rows, columns and depth"
            )
        })?;
        match product.measure(&device) {
            Ok(best) => {
                println!("{}", best.line());
                lines.insert(best.key.clone(), best.line());
                // After each product, so that nothing is lost, whatever happens to the next one.
                write(&path, &lines)?;
            }
            Err(error @ (Error::Trapped { .. } | Error::Driver { .. })) => return Err(error.into()),
            Err(error) => println!("not measured: {line}: {error}"),
        }
    }
    println!("{} products in {}", lines.len(), path.display());
    Ok(())
}

/// Writes the results.
fn write(path: &Path, lines: &BTreeMap<String, String>) -> std::io::Result<()> {
    let mut text = format!("{HEADER}\n");
    for line in lines.values() {
        text.push_str(line);
        text.push('\n');
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // Beside it first: whoever stops the program leaves the old file or the new one.
    let unfinished = path.with_extension("unfinished");
    std::fs::write(&unfinished, text)?;
    std::fs::rename(unfinished, path)
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
