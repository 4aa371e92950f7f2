//! Lesson 5: copies and kernels that run while the program goes on.
//!
//!     cargo run --release --example 05_streams
//!
//! Work given to a stream runs in order, beside the work of other streams. A tensor knows which streams still use it, so
//! that there is nothing to get wrong: what would be a race waits. Here two streams take turns, and one copies while the
//! other computes. On the CPU the same program runs one step after the other.

use cuda_tiles_host::{Device, Grid, Launch, PinnedBuffer, Result, Tensor};
use cuda_tiles_kernels::vector;
use cuda_tiles_suite::kernels::KERNELS;

const PIECES: usize = 8;
const LENGTH: usize = 1 << 20;
const TILE: usize = 4096;

fn main() -> Result<()> {
    let device = Device::auto()?;
    device.load(&KERNELS)?;
    let streams = [device.stream()?, device.stream()?];

    // Copies are asynchronous from and to pinned memory.
    let numbers: Vec<f32> = (0..LENGTH).map(|i| i as f32).collect();
    let input = PinnedBuffer::from_slice(&device, &numbers)?;
    let mut outputs =
        (0..PIECES).map(|_| PinnedBuffer::zeros(&device, LENGTH)).collect::<Result<Vec<_>>>()?;

    let start = streams[0].record_event()?;
    streams[1].wait(&start)?;
    for (piece, output) in outputs.iter_mut().enumerate() {
        let stream = &streams[piece % 2];
        let mut x = Tensor::zeros(&device, [LENGTH])?;
        let y = Tensor::full(&device, [LENGTH], piece as f32)?;
        let mut z = Tensor::zeros(&device, [LENGTH])?;
        x.copy_from_pinned(stream, &input)?;
        vector::add::<f32, TILE>().launch_on(stream, Grid::cover([LENGTH], [TILE]), (&x, &y, &mut z))?;
        z.copy_to_pinned(stream, output)?;
        // The tensors may go now: their memory is kept until the stream has done with it.
    }
    streams[0].wait(&streams[1].record_event()?)?;
    let time = streams[0].record_event()?.elapsed_since(&start)?;

    for (piece, output) in outputs.iter().enumerate() {
        // Looking into a pinned buffer waits for the copy.
        let sums = output.as_slice()?;
        assert!(sums.iter().zip(&numbers).all(|(sum, number)| *sum == number + piece as f32));
    }
    println!("{PIECES} pieces of {LENGTH} numbers in {:.2} ms on {device}", time.as_secs_f64() * 1e3);
    Ok(())
}
