//! A picture as planes of red, green and blue.

use std::path::Path;

use cuda_tiles_host::{Device, Result, Tensor};
use image::{ImageResult, Rgb, RgbImage};

/// Planes of the same height and width, each row by row, one byte a pixel.
pub(crate) struct Planes {
    shape: [usize; 3],
    values: Vec<u8>,
}

impl Planes {
    /// Reads a picture of any format that the file's content says it has.
    pub(crate) fn read(file: &Path) -> ImageResult<Self> {
        let picture = image::ImageReader::open(file)?.with_guessed_format()?.decode()?.to_rgb8();
        let shape = [3, picture.height() as usize, picture.width() as usize];
        let plane = |channel| picture.pixels().map(move |Rgb(pixel)| pixel[channel]);
        Ok(Self { shape, values: (0..3).flat_map(plane).collect() })
    }

    /// The picture, pixel by pixel.
    pub(crate) fn to_picture(&self) -> RgbImage {
        let [_, height, width] = self.shape;
        RgbImage::from_fn(width as u32, height as u32, |x, y| {
            let at = y as usize * width + x as usize;
            Rgb([0, 1, 2].map(|channel| self.values[channel * height * width + at]))
        })
    }

    /// The number of planes.
    pub(crate) fn count(&self) -> usize {
        self.shape[0]
    }

    /// Rows of a plane.
    pub(crate) fn height(&self) -> usize {
        self.shape[1]
    }

    /// Columns of a plane.
    pub(crate) fn width(&self) -> usize {
        self.shape[2]
    }

    /// The planes with `rows` more rows above and below, and `columns` more columns left and right, which repeat the
    /// outermost pixels.
    pub(crate) fn with_border(&self, rows: usize, columns: usize) -> Self {
        let [count, height, width] = self.shape;
        let within =
            |position: usize, border: usize, length: usize| position.saturating_sub(border).min(length - 1);
        let mut values = Vec::with_capacity(count * (height + 2 * rows) * (width + 2 * columns));
        for plane in self.values.chunks_exact(height * width) {
            for y in 0..height + 2 * rows {
                let row = &plane[within(y, rows, height) * width..][..width];
                values.extend((0..width + 2 * columns).map(|x| row[within(x, columns, width)]));
            }
        }
        Self { shape: [count, height + 2 * rows, width + 2 * columns], values }
    }

    /// The planes on a device.
    pub(crate) fn to_tensor(&self, device: &Device) -> Result<Tensor<u8, 3>> {
        Tensor::from_slice(device, self.shape, &self.values)
    }

    /// The planes that a device has.
    pub(crate) fn from_tensor(tensor: &Tensor<u8, 3>) -> Result<Self> {
        Ok(Self { shape: tensor.shape(), values: tensor.to_vec()? })
    }
}
