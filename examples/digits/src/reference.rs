//! The same classifier in plain Rust and `f64`, with nothing of the library in it.

use crate::scans::{CLASSES, PIXELS, Scans};

/// What the kernels should find.
pub(crate) struct Expected {
    /// For each scan the probability of each digit.
    pub(crate) probabilities: Vec<f64>,
    /// For each scan the digit whose centroid is nearest.
    pub(crate) nearest: Vec<u32>,
}

/// Classifies the scans.
pub(crate) fn classify(scans: &Scans) -> Expected {
    let standard = standardise(scans);
    let centroids = centroids(&standard, &scans.labels);
    let mut expected = Expected { probabilities: Vec::new(), nearest: Vec::new() };
    for row in &standard {
        let distances: Vec<f64> = centroids
            .iter()
            .map(|centroid| row.iter().zip(centroid).map(|(x, c)| (x - c).powi(2)).sum::<f64>().sqrt())
            .collect();
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let sum: f64 = distances.iter().map(|distance| (least - distance).exp()).sum();
        expected.probabilities.extend(distances.iter().map(|distance| (least - distance).exp() / sum));
        let nearest = distances.iter().position(|&distance| distance == least);
        expected.nearest.push(nearest.expect("the least distance is among the distances") as u32);
    }
    expected
}

fn standardise(scans: &Scans) -> Vec<[f64; PIXELS]> {
    let rows = scans.len() as f64;
    let mut standard: Vec<[f64; PIXELS]> = (0..scans.len())
        .map(|row| std::array::from_fn(|column| f64::from(scans.scan(row)[column])))
        .collect();
    for column in 0..PIXELS {
        let mean = standard.iter().map(|row| row[column]).sum::<f64>() / rows;
        let variance = standard.iter().map(|row| (row[column] - mean).powi(2)).sum::<f64>() / rows;
        let scale = if variance == 0.0 { 1.0 } else { variance.sqrt() };
        for row in &mut standard {
            row[column] = (row[column] - mean) / scale;
        }
    }
    standard
}

fn centroids(standard: &[[f64; PIXELS]], labels: &[u32]) -> Vec<[f64; PIXELS]> {
    let mut centroids = vec![[0.0; PIXELS]; CLASSES];
    let mut members = [0.0_f64; CLASSES];
    for (row, &label) in standard.iter().zip(labels) {
        let class = label as usize;
        members[class] += 1.0;
        for (sum, value) in centroids[class].iter_mut().zip(row) {
            *sum += value;
        }
    }
    for (centroid, members) in centroids.iter_mut().zip(members) {
        for value in centroid {
            *value /= members.max(1.0);
        }
    }
    centroids
}
