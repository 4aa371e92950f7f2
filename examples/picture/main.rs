//! Filters of a picture: blur, edges, median.
//!
//!     cargo run --release --example picture [FILE]
//!
//! Takes any PNG or JPEG; without one it draws `target/picture/picture.png` and strews specks over it. The filtered pictures are
//! written beside the original, as `NAME.blur.png`, `NAME.median.png` and `NAME.edges.png`, and all of them together, small,
//! as `NAME.sheet.png`. The edges are those of the median, as specks have edges too.
//!
//! The kernels, in `kernels/src/image.rs`, work on windows that overlap: a window may start at any element.

mod planes;
mod sample;
mod sheet;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use cuda_tiles_host::{Device, Launch, Tensor};
use cuda_tiles_kernels::image as filters;
use cuda_tiles_suite::kernels::KERNELS;
use planes::Planes;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let original = match std::env::args_os().nth(1) {
        Some(file) => PathBuf::from(file),
        None => sample::write(Path::new("target/picture/picture.png"))?,
    };
    let picture = Planes::read(&original).map_err(|error| format!("{}: {error}", original.display()))?;
    let device = Device::auto()?;
    device.load(&KERNELS)?;
    println!("{}: {} x {} pixels, on {device}", original.display(), picture.width(), picture.height());

    let show = |name: &str, filter: Filter, picture: &Planes| -> Result<Planes, Box<dyn Error>> {
        let (filtered, time) = timed(|| filter(&device, picture))?;
        let file = original.with_extension(format!("{name}.png"));
        filtered.to_picture().save(&file)?;
        println!(
            "{name}: {} in {:.2} ms, copies to and from the device included",
            file.display(),
            time.as_secs_f64() * 1e3
        );
        Ok(filtered)
    };
    let blurred = show("blur", blur, &picture)?;
    let cleaned = show("median", median, &picture)?;
    let edges = show("edges", edges, &cleaned)?;

    let file = original.with_extension("sheet.png");
    sheet::write(&file, &[&picture, &blurred, &cleaned, &edges].map(Planes::to_picture))?;
    println!("all of them: {}", file.display());
    Ok(())
}

type Filter = fn(&Device, &Planes) -> cuda_tiles_host::Result<Planes>;

/// The result of the second of two runs, and how long that took: the first one meets a cold device.
fn timed<T, E>(run: impl Fn() -> Result<T, E>) -> Result<(T, Duration), E> {
    run()?;
    let start = Instant::now();
    let result = run()?;
    Ok((result, start.elapsed()))
}

/// A block for each tile of each plane.
fn grid(picture: &Planes) -> (u32, u32, u32) {
    let tiles = |length: usize, tile: usize| length.div_ceil(tile) as u32;
    let [rows, columns] = filters::TILE;
    (picture.count() as u32, tiles(picture.height(), rows), tiles(picture.width(), columns))
}

/// A blur in two passes, along rows and along columns.
fn blur(device: &Device, picture: &Planes) -> cuda_tiles_host::Result<Planes> {
    let reach = filters::BLUR_REACH;
    let x = picture.with_border(reach, reach).to_tensor(device)?;
    // The first pass keeps the border above and below, which the second one uses up.
    let (count, height, width) = (picture.count(), picture.height(), picture.width());
    let mut between = Tensor::poisoned(device, [count, height + 2 * reach, width])?;
    let (planes, _, columns) = grid(picture);
    let rows = (height + 2 * reach).div_ceil(filters::TILE[0]) as u32;
    filters::blur_rows.launch(device, (planes, rows, columns), (&x, &mut between))?;
    let mut y = Tensor::poisoned(device, [count, height, width])?;
    filters::blur_columns.launch(device, grid(picture), (&between, &mut y))?;
    Planes::from_tensor(&y)
}

/// How steep each plane is at each pixel.
fn edges(device: &Device, picture: &Planes) -> cuda_tiles_host::Result<Planes> {
    let x = picture.with_border(filters::SOBEL_REACH, filters::SOBEL_REACH).to_tensor(device)?;
    let mut y = Tensor::poisoned(device, [picture.count(), picture.height(), picture.width()])?;
    filters::sobel.launch(device, grid(picture), (&x, &mut y))?;
    Planes::from_tensor(&y)
}

/// The median of 5 x 5 pixels.
fn median(device: &Device, picture: &Planes) -> cuda_tiles_host::Result<Planes> {
    let x = picture.with_border(filters::MEDIAN_REACH, filters::MEDIAN_REACH).to_tensor(device)?;
    let mut y = Tensor::poisoned(device, [picture.count(), picture.height(), picture.width()])?;
    filters::median.launch(device, grid(picture), (&x, &mut y))?;
    Planes::from_tensor(&y)
}
