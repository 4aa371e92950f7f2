//! The contact sheet: every misread scan, and under it the digit it shows and the digit that was read.

use crate::scans::{BLACK, EDGE, Scans};
use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

/// Edge of a scan's pixel in the picture.
const ZOOM: usize = 9;
/// Edge of a scan in the picture.
const SCAN: usize = EDGE * ZOOM;
/// Edge of a glyph's dot in the picture.
const DOT: usize = 2;
/// Width and height of a glyph, in dots.
const GLYPH: [usize; 2] = [5, 7];
/// Space between scans and around them.
const GAP: usize = 12;
/// Height of the label under a scan, with the space above it.
const LABEL: usize = GLYPH[1] * DOT + 6;
/// Width and height of a scan with its label and the space to the next one.
const CELL: [usize; 2] = [SCAN + GAP, SCAN + LABEL + GAP];
/// Scans side by side.
const COLUMNS: usize = 16;

type Colour = [u8; 3];
const BACKGROUND: Colour = [236, 234, 228];
const PAPER: Colour = [255, 255, 255];
const INK: Colour = [24, 28, 44];
const TRUE: Colour = [20, 120, 70];
const ARROW: Colour = [130, 130, 130];
const READ: Colour = [190, 30, 45];

/// The digits in 5 x 7 dots, rows from the top, the leftmost dot in bit 4.
const DIGITS: [[u8; 7]; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];
/// An arrow to the right, likewise.
const RIGHTWARDS: [u8; 7] = [0b00000, 0b00100, 0b00010, 0b11111, 0b00010, 0b00100, 0b00000];

/// Writes the sheet as a PNG file, and makes its folder where there is none. The scans are sorted by the digit they show,
/// then by the one that was read.
pub(crate) fn write(
    path: &Path,
    scans: &Scans,
    read: &[u32],
    misread: &[usize],
) -> Result<(), Box<dyn Error>> {
    let mut order = misread.to_vec();
    order.sort_by_key(|&row| (scans.labels[row], read[row], row));
    let mut sheet = Sheet::new(order.len());
    for (place, &row) in order.iter().enumerate() {
        let (left, top) = (GAP + place % COLUMNS * CELL[0], GAP + place / COLUMNS * CELL[1]);
        sheet.scan(left, top, scans.scan(row));
        sheet.label(left, top + SCAN + LABEL - GLYPH[1] * DOT, scans.labels[row], read[row]);
    }
    sheet
        .save(path)
        .map_err(|error| format!("the picture {} cannot be written: {error}", path.display()).into())
}

/// A picture in the making.
struct Sheet {
    width: usize,
    height: usize,
    bytes: Vec<u8>,
}

impl Sheet {
    /// An empty sheet with room for so many scans.
    fn new(scans: usize) -> Self {
        let rows = scans.div_ceil(COLUMNS).max(1);
        let (width, height) = (COLUMNS * CELL[0] + GAP, rows * CELL[1] + GAP);
        Self { width, height, bytes: BACKGROUND.repeat(width * height) }
    }

    fn fill(&mut self, left: usize, top: usize, edge: usize, colour: Colour) {
        for y in top..top + edge {
            for x in left..left + edge {
                self.bytes[3 * (y * self.width + x)..][..3].copy_from_slice(&colour);
            }
        }
    }

    fn scan(&mut self, left: usize, top: usize, pixels: &[f32]) {
        for (place, &pixel) in pixels.iter().enumerate() {
            let darkness = pixel / BLACK;
            let colour = std::array::from_fn(|channel| {
                let (paper, ink) = (f32::from(PAPER[channel]), f32::from(INK[channel]));
                (paper + (ink - paper) * darkness).round() as u8
            });
            self.fill(left + place % EDGE * ZOOM, top + place / EDGE * ZOOM, ZOOM, colour);
        }
    }

    /// The digit shown, an arrow, and the digit read, centred under a scan.
    fn label(&mut self, left: usize, top: usize, shown: u32, read: u32) {
        let advance = (GLYPH[0] + 3) * DOT;
        let first = left + (SCAN - 2 * advance - GLYPH[0] * DOT) / 2;
        self.glyph(first, top, DIGITS[shown as usize], TRUE);
        self.glyph(first + advance, top, RIGHTWARDS, ARROW);
        self.glyph(first + 2 * advance, top, DIGITS[read as usize], READ);
    }

    fn glyph(&mut self, left: usize, top: usize, rows: [u8; 7], colour: Colour) {
        for (y, row) in rows.into_iter().enumerate() {
            for x in (0..GLYPH[0]).filter(|x| row >> (GLYPH[0] - 1 - x) & 1 == 1) {
                self.fill(left + x * DOT, top + y * DOT, DOT, colour);
            }
        }
    }

    fn save(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut encoder =
            png::Encoder::new(BufWriter::new(File::create(path)?), self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.bytes)?;
        Ok(writer.finish()?)
    }
}
