//! How long launches take.

use std::fmt;
use std::time::Duration;

use crate::device::Device;
use crate::error::Result;
use crate::stream::Stream;
use crate::tensor::Storage;

/// Bytes of each of the two buffers that a copy reads and writes: together more than any cache holds.
const COPIED: usize = 128 << 20;

/// Measures how long launches take, and how fast a device copies.
///
/// The work runs once beforehand, so that its kernels are compiled and its memory is there. Each sample is the time of as many launches back
/// to back as take three milliseconds, divided by their number: on a GPU between two events of the stream, on the CPU on the clock.
/// What counts is the median of fifteen samples.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Grid, Launch, Tensor, Timer};
///
/// #[kernel]
/// fn scale(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>, factor: f32) {
///     let (x, y) = (x.partition(cx, shape![1024]), y.partition(cx, shape![1024]));
///     let i = cx.bid::<0>();
///     y.store_masked(x.load_masked(Zero, i) * factor, i);
/// }
///
/// const COUNT: usize = 1 << 16;
/// let device = Device::cpu();
/// let x = Tensor::full(&device, [COUNT], 2.0)?;
/// let mut y = Tensor::poisoned(&device, [COUNT])?;
/// let stream = device.stream()?;
///
/// let timer = Timer::new().samples(5);
/// let timing = timer.measure(&stream, || {
///     scale.launch_on(&stream, Grid::cover([COUNT], [1024]), (&x, &mut y, 1.5))
/// })?;
/// let bytes = 2 * COUNT * size_of::<f32>();
/// println!("{timing}: {:.1} GB/s", timing.rate(bytes as f64) / 1e9);
/// assert!(timing.least <= timing.median && timing.median <= timing.most);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is measured before `measure`"]
#[doc(alias("do_bench", "benchmark", "CudaEvent"))]
pub struct Timer {
    samples: usize,
    sample_time: Duration,
    cold: bool,
}

/// How long a launch takes: what a [`Timer`] has found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Timing {
    /// The median of the samples.
    pub median: Duration,
    /// The shortest of them.
    pub least: Duration,
    /// The longest of them.
    pub most: Duration,
    /// How many samples there were.
    pub samples: usize,
    /// How many launches each of them has.
    pub launches: usize,
}

impl Default for Timer {
    fn default() -> Self {
        Self { samples: 15, sample_time: Duration::from_millis(3), cold: false }
    }
}

impl Timer {
    /// Fifteen samples of three milliseconds, of launches back to back.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many samples are taken.
    ///
    /// # Panics
    /// If there are none.
    pub fn samples(mut self, samples: usize) -> Self {
        assert!(samples > 0, "a timer takes at least one sample");
        self.samples = samples;
        self
    }

    /// Sets how long a sample takes at least: launches that are shorter are repeated. A sample has at least one launch. Those of less than a
    /// millisecond suffer from what else the machine does.
    pub fn sample_time(mut self, time: Duration) -> Self {
        self.sample_time = time;
        self
    }

    /// Whether each launch finds the caches full of other data. Without it, a launch finds what the one before has left there: use it
    /// where inputs come from memory, and fit in the cache. Each launch is measured by itself then, to about half a microsecond on a GPU.
    ///
    /// Data of which launches together use more than the cache holds needs no such care, and inputs in turn from several sets are
    /// the more exact way to have that.
    pub fn cold(mut self, cold: bool) -> Self {
        self.cold = cold;
        self
    }

    /// Measures what `launch` gives to the stream. It is called many times, and should give the stream nothing but the launches in
    /// question.
    ///
    /// # Errors
    /// What `launch` returns; [`Error::Trapped`](crate::Error::Trapped) if a kernel went wrong on the GPU;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is no room for what fills the caches.
    pub fn measure(&self, stream: &Stream, mut launch: impl FnMut() -> Result<()>) -> Result<Timing> {
        let [timing] = self.compare(stream, |_: usize| launch())?;
        Ok(timing)
    }

    /// Measures `N` things at the same time: their samples alternate, so that changes of the clock and of the temperature meet all of
    /// them alike. `launch` is told which one is meant, from 0 on.
    ///
    /// ```
    /// use cuda_tiles_host::{Device, Timer};
    /// use std::time::Duration;
    ///
    /// let stream = Device::cpu().stream()?;
    /// let timer = Timer::new().samples(3).sample_time(Duration::ZERO);
    /// let [short, long] = timer.compare(&stream, |which| {
    ///     std::thread::sleep(Duration::from_millis([1, 20][which]));
    ///     Ok(())
    /// })?;
    /// assert!(short.median < long.median);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`measure`](Self::measure).
    pub fn compare<const N: usize>(
        &self,
        stream: &Stream,
        launch: impl FnMut(usize) -> Result<()>,
    ) -> Result<[Timing; N]> {
        let timings = self.compare_all(stream, N, launch)?;
        Ok(std::array::from_fn(|which| timings[which]))
    }

    /// As [`compare`](Self::compare), of as many things as `count` says.
    ///
    /// # Errors
    /// As [`measure`](Self::measure).
    pub fn compare_all(
        &self,
        stream: &Stream,
        count: usize,
        mut launch: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vec<Timing>> {
        let mut cache = match self.cold {
            true => Some(MemoryCopy::new(&stream.device())?),
            false => None,
        };
        let mut launches = Vec::with_capacity(count);
        for which in 0..count {
            launch(which)?;
            let once = sample(stream, 1, &mut cache, || launch(which))?;
            launches.push(repetitions(self.sample_time, once));
        }
        let mut samples = vec![Vec::with_capacity(self.samples); count];
        for _ in 0..self.samples {
            for (which, samples) in samples.iter_mut().enumerate() {
                samples.push(sample(stream, launches[which], &mut cache, || launch(which))?);
            }
        }
        Ok(samples
            .into_iter()
            .zip(launches)
            .map(|(samples, launches)| Timing::of(samples, launches))
            .collect())
    }

    /// How many bytes the device copies within its own memory in a second, those that are read and those that are written: the ceiling
    /// for kernels that wait for memory. It is the driver's copy of 128 MiB, and on the CPU one by all threads that run kernels.
    ///
    /// ```no_run
    /// // Not run: it takes 256 MiB.
    /// use cuda_tiles_host::{Device, Timer};
    ///
    /// let device = Device::auto()?;
    /// println!("{:.0} GB/s", Timer::new().copy_rate(&device)? / 1e9);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) if there is no room for 256 MiB; [`Error::Trapped`](crate::Error::Trapped) if a
    /// kernel went wrong on the GPU.
    pub fn copy_rate(&self, device: &Device) -> Result<f64> {
        let (mut copy, stream) = (MemoryCopy::new(device)?, device.stream()?);
        let timer = self.clone().cold(false);
        let timing = timer.measure(&stream, || copy.give(&stream))?;
        Ok(timing.rate(2.0 * COPIED as f64))
    }
}

impl Timing {
    /// The result of at least one sample.
    fn of(mut samples: Vec<Duration>, launches: usize) -> Self {
        samples.sort_unstable();
        let [median, least, most] = [samples.len() / 2, 0, samples.len() - 1].map(|at| samples[at]);
        Self { median, least, most, samples: samples.len(), launches }
    }

    /// How much a second there is of something of which a launch has `amount`: bytes it moves, operations it computes.
    ///
    /// A launch that took no time at all, as the clock has it, has an infinite rate.
    pub fn rate(&self, amount: f64) -> f64 {
        amount / self.median.as_secs_f64()
    }

    /// How far the samples lie apart, as a part of the median: 0.02 are two per cent. Much more than that tells of something
    /// else that ran on the device.
    pub fn spread(&self) -> f64 {
        let range = self.most - self.least;
        if range.is_zero() { 0.0 } else { range.as_secs_f64() / self.median.as_secs_f64() }
    }
}

/// As `21.53µs (least 21.17µs, spread 3 %, 15 samples of 140 launches)`.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, least, samples, launches, .. } = self;
        let spread = 100.0 * self.spread();
        write!(
            f,
            "{median:.2?} (least {least:.2?}, spread {spread:.0} %, {samples} samples of {launches} launches)"
        )
    }
}

/// How many launches of this time fill a sample.
fn repetitions(sample: Duration, once: Duration) -> usize {
    // What takes no time by the clock takes a tenth of a microsecond at least.
    let once = once.max(Duration::from_nanos(100));
    sample.as_nanos().div_ceil(once.as_nanos()).max(1) as usize
}

/// The time of one of `count` launches: back to back, or each by itself after something else has gone through the `cache`.
fn sample(
    stream: &Stream,
    count: usize,
    cache: &mut Option<MemoryCopy>,
    mut launch: impl FnMut() -> Result<()>,
) -> Result<Duration> {
    let mut between = |launches: usize| {
        let start = stream.record_event()?;
        (0..launches).try_for_each(|_| launch())?;
        stream.record_event()?.elapsed_since(&start)
    };
    let total = match cache {
        None => between(count)?,
        Some(copy) => {
            let mut total = Duration::ZERO;
            for _ in 0..count {
                copy.give(stream)?;
                total += between(1)?;
            }
            total
        }
    };
    Ok(total.div_f64(count as f64))
}

/// A copy within a device's memory, of more than a cache holds.
struct MemoryCopy {
    source: Storage,
    target: Storage,
}

impl MemoryCopy {
    fn new(device: &Device) -> Result<Self> {
        let filled = |value| Storage::filled(device, COPIED, value);
        Ok(Self { source: filled(1)?, target: filled(2)? })
    }

    /// Gives it to a stream.
    fn give(&mut self, stream: &Stream) -> Result<()> {
        self.target.copy_from(stream, 0, &self.source, 0, COPIED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn a_timing_is_the_median_and_the_range_of_its_samples() {
        let timing = Timing::of([5, 3, 4, 9, 4].map(Duration::from_millis).to_vec(), 7);
        let [median, least, most] = [4, 3, 9].map(Duration::from_millis);
        assert_eq!(timing, Timing { median, least, most, samples: 5, launches: 7 });
        assert_eq!(timing.spread(), 1.5);
        assert_eq!(timing.rate(4e6), 1e9);
        assert_eq!(timing.to_string(), "4.00ms (least 3.00ms, spread 150 %, 5 samples of 7 launches)");
        assert_eq!(Timing::of(vec![Duration::ZERO], 1).spread(), 0.0);
    }

    #[test]
    fn short_launches_are_repeated() {
        let of = |sample, once| repetitions(Duration::from_micros(sample), Duration::from_micros(once));
        assert_eq!(
            [of(3000, 1000), of(3000, 1001), of(3000, 5000), of(0, 5), of(3000, 0)],
            [3, 3, 1, 1, 30000]
        );
    }

    #[test]
    fn each_is_run_once_before_and_as_often_as_said() {
        let stream = Device::cpu().stream().unwrap();
        let mut counts = [0; 2];
        let timer = Timer::new().samples(3).sample_time(Duration::from_millis(9));
        let times = [Duration::from_millis(10), Duration::from_millis(5)];
        let timings: [Timing; 2] = timer
            .compare(&stream, |which| {
                counts[which] += 1;
                sleep(times[which]);
                Ok(())
            })
            .unwrap();
        for which in 0..2 {
            let Timing { least, samples, launches, .. } = timings[which];
            assert!(least >= times[which] && samples == 3);
            // Once to warm up, once to see how long it takes.
            assert_eq!(counts[which], 2 + 3 * launches);
        }
        assert_eq!(timings[0].launches, 1);
    }

    #[test]
    fn the_first_error_ends_the_measurement() {
        let stream = Device::cpu().stream().unwrap();
        let mut calls = 0;
        let result = Timer::new().measure(&stream, || {
            calls += 1;
            Device::gpu(usize::MAX).map(|_| ())
        });
        assert!(result.is_err() && calls == 1);
    }

    #[test]
    #[cfg(not(miri))]
    fn other_data_goes_through_the_cache_before_a_cold_launch() {
        let device = Device::cpu();
        let stream = device.stream().unwrap();
        let timer = Timer::new().samples(1).sample_time(Duration::ZERO).cold(true);
        let timing = timer.measure(&stream, || Ok(())).unwrap();
        // The copy itself is no part of the time.
        assert!(timing.median < Duration::from_millis(1), "{timing}");
        let rate = timer.copy_rate(&device).unwrap();
        assert!(rate > 1e8 && rate.is_finite(), "{rate}");
        let mut copy = MemoryCopy::new(&device).unwrap();
        copy.give(&stream).unwrap();
        let Storage::Cpu(target) = &copy.target else { panic!("it is the CPU's") };
        assert!(target.bytes().iter().all(|&byte| byte == 1));
    }
}
