//! Several products of unequal shapes.

use std::sync::{Mutex, PoisonError};
use std::vec::Vec;

use cuda_tiles::element::{Element, Number};
use cuda_tiles_host::{Device, Result, Stream};

use super::call::Gemm;
use super::matrices::{Matrices, MatricesMut};
use super::multiply::Multiply;
use super::packing::Bits;

/// Streams that share the products of a group: while the last tiles of one product are computed, tiles of the next ones take the
/// multiprocessors that have become free.
const STREAMS: usize = 4;

/// The streams of a device, made when they are first needed.
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

impl<O: Element, C: Number> Gemm<'_, O, C> {
    /// Gives the stream the work of several products, of unequal shapes. They share the GPU, the largest first; the stream goes on
    /// when all are done.
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
    /// As [`multiply`](Self::multiply), of the first product that is refused; others may have been launched.
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
        let streams = streams(&stream.device())?;
        let begin = stream.record_event()?;
        for side in &streams {
            side.wait(&begin)?;
        }
        let mut next = streams.iter().cycle();
        let result = all
            .into_iter()
            .zip(&mut next)
            .try_for_each(|((_, a, b, c), side)| self.multiply_on(side, a, b, c));
        // Also after a failure: what has been launched is still at work.
        for side in &streams {
            stream.wait(&side.record_event()?)?;
        }
        result
    }
}
