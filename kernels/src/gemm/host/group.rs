//! Groups: several products of different shapes in one call.

use std::sync::{Mutex, PoisonError};
use std::vec::Vec;

use cuda_tiles::element::Element;
use cuda_tiles_host::{Device, Result, Stream};

use super::matrices::{Matrices, MatricesMut};
use super::multiply::Multiply;
use super::options::Gemm;
use super::packing::Bits;
use crate::gemm::epilogue::Sum;

/// The number of streams that share the products of a group. The last wave of one product leaves multiprocessors free. Tiles of the next
/// products take these multiprocessors.
const STREAMS: usize = 4;

/// The streams of a device. The first call makes them.
fn streams(device: &Device) -> Result<Vec<Stream>> {
    static KNOWN: Mutex<Vec<(Device, Vec<Stream>)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, streams)) = known.iter().find(|(owner, _)| owner == device) {
        return Ok(streams.clone());
    }
    let streams: Vec<Stream> = (0..STREAMS).map(|_| device.stream()).collect::<Result<_>>()?;
    known.push((device.clone(), streams.clone()));
    Ok(streams)
}

impl<O: Element, C: Sum> Gemm<'_, O, C> {
    /// Launches several products, which may have different shapes.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// use cuda_tiles_host::{Device, Tensor};
    /// use cuda_tiles_kernels::gemm::Gemm;
    ///
    /// let device = Device::cpu();
    /// let half = |shape: [usize; 2], x| Tensor::full(&device, shape, f16::from_f32(x));
    /// let (a, b) = ([half([3, 8], 1.0)?, half([20, 16], 2.0)?], [half([8, 5], 1.0)?, half([16, 4], 0.5)?]);
    /// let mut c = [Tensor::<f16, 2>::poisoned(&device, [3, 5])?, Tensor::poisoned(&device, [20, 4])?];
    /// Gemm::new().multiply_all(a.iter().zip(&b).zip(&mut c).map(|((a, b), c)| (a, b, c)))?;
    /// assert_eq!(c[0].to_vec()?, [f16::from_f32(8.0); 15]);
    /// assert_eq!(c[1].to_vec()?, [f16::from_f32(16.0); 80]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`multiply`](Self::multiply). The error is that of the first product that fails. Larger products may have been launched before.
    ///
    /// # On a GPU
    ///
    /// The products run at the same time, the largest first. Later work on the stream waits for all of them. In a
    /// [`Graph`](cuda_tiles_host::Graph), which is one sequence, they run one after the other.
    pub fn multiply_all<'t, T, U, X, Y, Z>(&self, products: impl IntoIterator<Item = (X, Y, Z)>) -> Result<()>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
        X: Matrices<'t, T>,
        Y: Matrices<'t, U>,
        Z: MatricesMut<'t, O>,
    {
        let mut all = Vec::new();
        for (a, b, c) in products {
            let (a, b, c) = (a.matrices()?, b.matrices()?, c.matrices()?);
            let work = c.len() * a.shape()[2];
            all.push((work, a, b, c));
        }
        all.sort_by_key(|&(work, ..)| std::cmp::Reverse(work));
        let Some((_, _, _, c)) = all.first() else { return Ok(()) };
        let stream = self.stream_for(c);
        if stream.is_capturing() {
            return all.into_iter().try_for_each(|(_, a, b, c)| self.multiply_on(&stream, 1, a, b, c));
        }
        let streams = streams(&stream.device())?;
        let begin = stream.record_event()?;
        for side in &streams {
            side.wait(&begin)?;
        }
        let together = all.len().min(STREAMS) as u32;
        let mut next = streams.iter().cycle();
        let result = all
            .into_iter()
            .zip(&mut next)
            .try_for_each(|((_, a, b, c), side)| self.multiply_on(side, together, a, b, c));
        // Also after a failure: earlier launches still run.
        for side in &streams {
            stream.wait(&side.record_event()?)?;
        }
        result
    }
}
