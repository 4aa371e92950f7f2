//! The launches of the four kernels.

use crate::scans::{CLASSES, PIXELS, Scans};
use cuda_tiles_digits_kernels as digits;
use cuda_tiles_host::{Device, Grid, Launch, Result, Tensor};
use std::time::Duration;

/// What the kernels found.
pub(crate) struct Classified {
    /// For each scan the probability of each digit.
    pub(crate) probabilities: Vec<f32>,
    /// For each scan the digit whose centroid is nearest.
    pub(crate) nearest: Vec<u32>,
    /// How long the kernels took, copies left out.
    pub(crate) time: Duration,
}

/// Classifies the scans on a device.
pub(crate) fn classify(device: &Device, scans: &Scans) -> Result<Classified> {
    let rows = scans.len();
    let pixels = Tensor::from_slice(device, [rows, PIXELS], &scans.pixels)?;
    let labels = Tensor::from_slice(device, [rows], &scans.labels)?;
    let mut mean = Tensor::poisoned(device, [PIXELS])?;
    let mut deviation = Tensor::poisoned(device, [PIXELS])?;
    let mut standard = Tensor::poisoned(device, [rows, PIXELS])?;
    let mut centroids = Tensor::poisoned(device, [CLASSES, PIXELS])?;
    let mut probabilities = Tensor::poisoned(device, [rows, CLASSES])?;
    let mut nearest = Tensor::poisoned(device, [rows])?;

    let mut run = || -> Result<Duration> {
        let stream = device.default_stream();
        let start = stream.record_event()?;
        let columns = Grid::cover([PIXELS], [16]);
        digits::column_statistics.launch(device, columns, (&pixels, &mut mean, &mut deviation))?;
        digits::standardise.launch(
            device,
            Grid::cover([rows], [32]),
            (&pixels, &mean, &deviation, &mut standard),
        )?;
        digits::class_centroids.launch(device, CLASSES as u32, (&standard, &labels, &mut centroids))?;
        digits::classify.launch(
            device,
            Grid::cover([rows], [8]),
            (&standard, &centroids, &mut probabilities, &mut nearest),
        )?;
        stream.record_event()?.elapsed_since(&start)
    };
    // The first run also pays for things that happen once: threads that start, code that is loaded.
    run()?;
    let time = run()?;
    Ok(Classified { probabilities: probabilities.to_vec()?, nearest: nearest.to_vec()?, time })
}
