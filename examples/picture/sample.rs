//! The picture for those who have none at hand.

use std::path::{Path, PathBuf};

use image::{ImageResult, Rgb, RgbImage};

/// No tile divides either of them.
const WIDTH: u32 = 961;
const HEIGHT: u32 = 643;

/// In units of the picture's height, from the top left.
const HORIZON: f32 = 0.62;
const SUN: [f32; 2] = [0.9, 0.44];
const SUN_RADIUS: f32 = 0.16;

/// Red, green and blue, from 0 to 255.
type Colour = [f32; 3];

/// Draws a sunset over the sea, strews specks over it, and writes it to `file`.
pub(crate) fn write(file: &Path) -> ImageResult<PathBuf> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    RgbImage::from_fn(WIDTH, HEIGHT, |x, y| speckled(x, y, pixel(x, y))).save(file)?;
    Ok(file.to_owned())
}

/// The mean colour of nine places in a pixel, so that edges are smooth.
fn pixel(x: u32, y: u32) -> Colour {
    let unit = 1.0 / HEIGHT as f32;
    let places = (0..9).map(|k| ((k % 3) as f32 / 3.0, (k / 3) as f32 / 3.0));
    let sum = places.fold([0.0; 3], |sum: Colour, (right, down)| {
        let colour = place((x as f32 + right) * unit, (y as f32 + down) * unit);
        [0, 1, 2].map(|k| sum[k] + colour[k])
    });
    sum.map(|part| part / 9.0)
}

fn place(x: f32, y: f32) -> Colour {
    if y < HORIZON { above(x, y) } else { sea(x, y - HORIZON) }
}

/// Sky, sun and hills.
fn above(x: f32, y: f32) -> Colour {
    // The nearest hills first, each a sum of waves.
    let ridge = |base: f32, height: f32, phase: f32| {
        let wave = (x * 5.1 + phase).sin() + 0.5 * (x * 11.7 + 2.0 * phase).sin() + 0.2 * (x * 31.0).sin();
        HORIZON - base - height * (1.0 + wave / 1.7)
    };
    if y > ridge(0.005, 0.045, 0.4) {
        return [38.0, 24.0, 62.0];
    }
    if y > ridge(0.035, 0.07, 2.6) {
        return [86.0, 42.0, 92.0];
    }
    let away = ((x - SUN[0]).powi(2) + (y - SUN[1]).powi(2)).sqrt();
    if away < SUN_RADIUS {
        let down = (y - SUN[1] + SUN_RADIUS) / (2.0 * SUN_RADIUS);
        return blend([255.0, 232.0, 140.0], [255.0, 110.0, 110.0], down);
    }
    let dusk = (y / HORIZON).powf(1.4);
    let sky = blend([28.0, 26.0, 74.0], [246.0, 142.0, 104.0], dusk);
    blend(sky, [255.0, 214.0, 150.0], 0.55 * (-5.0 * (away - SUN_RADIUS)).exp())
}

/// What is above the horizon, in waves that grow towards the eye; `depth` counts from the horizon.
fn sea(x: f32, depth: f32) -> Colour {
    let nearness = depth / (1.0 - HORIZON);
    let phase = 9.0 / (nearness + 0.08);
    let wave = (phase * 2.4 + 3.0 * (x * 3.0 + phase).sin()).sin();
    let mirrored = (HORIZON - 1.3 * depth + 0.11 * nearness * wave).clamp(0.0, HORIZON - 0.001);
    let reflection = above(x + 0.035 * nearness.sqrt() * wave, mirrored);
    blend(reflection, [20.0, 44.0, 92.0], 0.35 + 0.2 * nearness)
}

/// A mixture: `share` of the second colour.
fn blend(one: Colour, other: Colour, share: f32) -> Colour {
    [0, 1, 2].map(|k| one[k] + (other[k] - one[k]) * share)
}

/// The colour, or in one pixel of twenty-four black or white.
fn speckled(x: u32, y: u32, colour: Colour) -> Rgb<u8> {
    // A hash of the place (M. Jarzynski and M. Olano, "Hash functions for GPU rendering", 2020: pcg).
    let state = (x + y * WIDTH).wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    match ((word >> 22) ^ word) % 48 {
        0 => Rgb([0; 3]),
        1 => Rgb([255; 3]),
        _ => Rgb(colour.map(|part| part as u8)),
    }
}
