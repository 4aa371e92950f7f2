//! The scans, and the file they come from.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Pixels of a scan along each edge.
pub(crate) const EDGE: usize = 8;
/// Pixels of a scan.
pub(crate) const PIXELS: usize = EDGE * EDGE;
/// The digits 0 to 9.
pub(crate) const CLASSES: usize = 10;
/// The value of a black pixel; 0 is white.
pub(crate) const BLACK: f32 = 16.0;

/// Scans of digits.
pub(crate) struct Scans {
    /// The pixels of all scans, scan by scan, rows from the top.
    pub(crate) pixels: Vec<f32>,
    /// The digit that each scan shows.
    pub(crate) labels: Vec<u32>,
}

/// Why there are no scans to classify.
#[derive(Debug)]
pub(crate) enum ScansError {
    /// The file cannot be read.
    File { path: PathBuf, source: io::Error },
    /// A line is not a scan.
    Line { path: PathBuf, line: usize, problem: String },
    /// The file has no lines.
    Empty { path: PathBuf },
}

impl fmt::Display for ScansError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, source } => write!(formatter, "{} cannot be read: {source}", path.display()),
            Self::Line { path, line, problem } => write!(formatter, "{}:{line}: {problem}", path.display()),
            Self::Empty { path } => write!(formatter, "{} holds no scans", path.display()),
        }
    }
}

impl std::error::Error for ScansError {}

impl Scans {
    /// Reads a file of comma-separated numbers: on each line 64 pixels from 0 to 16, then the digit. Empty lines are
    /// skipped.
    pub(crate) fn read(path: &Path) -> Result<Self, ScansError> {
        let text =
            fs::read_to_string(path).map_err(|source| ScansError::File { path: path.into(), source })?;
        let mut scans = Self { pixels: Vec::new(), labels: Vec::new() };
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            scans.push(line).map_err(|problem| ScansError::Line {
                path: path.into(),
                line: number + 1,
                problem,
            })?;
        }
        if scans.labels.is_empty() {
            return Err(ScansError::Empty { path: path.into() });
        }
        Ok(scans)
    }

    /// The number of scans.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// The pixels of one scan.
    pub(crate) fn scan(&self, row: usize) -> &[f32] {
        &self.pixels[row * PIXELS..][..PIXELS]
    }

    fn push(&mut self, line: &str) -> Result<(), String> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != PIXELS + 1 {
            return Err(format!(
                "a line has {PIXELS} pixels and a digit, {} fields, but this one has {}",
                PIXELS + 1,
                fields.len()
            ));
        }
        for (column, field) in fields[..PIXELS].iter().enumerate() {
            match field.parse() {
                Ok(pixel) if (0.0..=BLACK).contains(&pixel) => self.pixels.push(pixel),
                _ => {
                    return Err(format!(
                        "field {} is `{field}`, but a pixel is a number from 0 to {BLACK}",
                        column + 1
                    ));
                }
            }
        }
        match fields[PIXELS].parse() {
            Ok(digit) if (digit as usize) < CLASSES => self.labels.push(digit),
            _ => {
                return Err(format!(
                    "field {} is `{}`, but the last field is the digit, 0 to 9",
                    PIXELS + 1,
                    fields[PIXELS]
                ));
            }
        }
        Ok(())
    }
}
