//! The contact sheet: pictures of one size side by side, two to a row.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ImageResult, Rgb, RgbImage, imageops};

/// Pictures side by side.
const COLUMNS: usize = 2;
/// Pixels between pictures and around them.
const GAP: u32 = 8;
/// The sheet's width, at most.
const WIDTH: u32 = 640;

/// Writes the pictures, made smaller where they are large, as one PNG.
pub(crate) fn write(file: &Path, pictures: &[RgbImage]) -> ImageResult<()> {
    let (width, height) = pictures[0].dimensions();
    let cell_width = width.min(WIDTH / COLUMNS as u32 - GAP);
    let cell_height = (height * cell_width / width).max(1);
    let rows = pictures.len().div_ceil(COLUMNS) as u32;
    let mut sheet = RgbImage::from_pixel(
        COLUMNS as u32 * (cell_width + GAP) + GAP,
        rows * (cell_height + GAP) + GAP,
        Rgb([255; 3]),
    );
    for (place, picture) in pictures.iter().enumerate() {
        let small = imageops::resize(picture, cell_width, cell_height, imageops::FilterType::Triangle);
        let (left, top) =
            ((place % COLUMNS) as u32 * (cell_width + GAP), (place / COLUMNS) as u32 * (cell_height + GAP));
        imageops::replace(&mut sheet, &small, (left + GAP).into(), (top + GAP).into());
    }
    let writer = BufWriter::new(File::create(file)?);
    sheet.write_with_encoder(PngEncoder::new_with_quality(
        writer,
        CompressionType::Best,
        FilterType::Adaptive,
    ))
}
