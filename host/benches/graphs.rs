//! What a replay costs: graphs of this crate next to the driver's own of the same launches, and next to the launches one by one.
//!
//!     cargo bench -p cuda-tiles-host --bench graphs
//!
//! `done`, which is what a replay costs, is the time of 20 to 200 replays back to back until the GPU is done with them, divided by their
//! number, and `call` the time of the call that launches one. Medians of 31 rounds in which all take turns. The kernels are short.

#[path = "../tests/kernels/mod.rs"]
mod kernels;

use std::time::{Duration, Instant};

use cuda_tiles_host::{Device, Error, Graph, Launch, Stream, Tensor};
use cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
use kernels::captured::Captured;
use kernels::{INCREMENT, THREADS, gpu};

const ROUNDS: usize = 31;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(device) = gpu() else { return Ok(()) };
    println!("{device}; microseconds");
    println!("                  driver             ours               ratio          one by one");
    println!("launches tensors    done     call      done     call   done   call      done   update");
    for (launches, tensors) in [(1, 1), (10, 1), (10, 10), (100, 10), (100, 100), (1000, 100)] {
        measure(&device, launches, tensors)?;
    }
    Ok(())
}

/// Gives a stream as many launches, on the tensors in turns.
fn work(stream: &Stream, launches: usize, tensors: &mut [Tensor<f32, 1>]) -> Result<(), Error> {
    let count = tensors.len();
    (0..launches).try_for_each(|number| INCREMENT.launch_on(stream, 1, (&mut tensors[number % count],)))
}

fn measure(device: &Device, launches: usize, tensors: usize) -> Result<(), Box<dyn std::error::Error>> {
    let stream = device.stream()?;
    let make =
        || (0..tensors).map(|_| Tensor::zeros(device, [THREADS as usize])).collect::<Result<Vec<_>, _>>();
    let (mut of_driver, mut one_by_one) = (make()?, make()?);
    // From here on they are used on this stream alone, which a captured stream can follow.
    work(&stream, tensors, &mut of_driver)?;
    stream.synchronize()?;
    let theirs = Captured::new(&stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, || {
        work(&stream, launches, &mut of_driver).expect("the launches are captured")
    });
    let mut ours = Graph::capture(device, make()?, |stream, tensors| work(stream, launches, tensors))?;

    let replays = (20_000 / launches as u32).clamp(20, 200);
    let mut times = [const { Vec::new() }; 6];
    let [their_times, their_calls, our_times, our_calls, single_times, update_times] = &mut times;
    for _ in 0..ROUNDS {
        let (done, call) = per_replay(replays, &stream, || {
            theirs.launch(&stream);
            Ok(())
        })?;
        their_times.push(done);
        their_calls.push(call);
        let (done, call) = per_replay(replays, &stream, || Ok(ours.launch_on(&stream)?))?;
        our_times.push(done);
        our_calls.push(call);
        single_times.push(per_replay(replays, &stream, || Ok(work(&stream, launches, &mut one_by_one)?))?.0);
        let start = Instant::now();
        ours.update(|stream, tensors| work(stream, launches, tensors))?;
        update_times.push(start.elapsed());
    }
    let [theirs, their_call, ours, our_call, single, update] = times.map(median);
    println!(
        "{launches:8} {tensors:7} {theirs:7.2} {their_call:8.2} {ours:9.2} {our_call:8.2} {:6.3} {:6.3} {single:9.2} {update:8.2}",
        ours / theirs,
        our_call / their_call
    );
    Ok(())
}

/// The time of a replay, and that of a call when the GPU has nothing to do.
fn per_replay(
    replays: u32,
    stream: &Stream,
    mut replay: impl FnMut() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<(Duration, Duration), Box<dyn std::error::Error>> {
    let mut calls = Vec::new();
    for _ in 0..5 {
        stream.synchronize()?;
        let start = Instant::now();
        replay()?;
        calls.push(start.elapsed());
    }
    calls.sort_unstable();
    stream.synchronize()?;
    let start = Instant::now();
    (0..replays).try_for_each(|_| replay())?;
    stream.synchronize()?;
    Ok((start.elapsed() / replays, calls[2]))
}

/// In microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}
