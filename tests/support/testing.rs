//! What tests of the ready-made kernels share: the devices, random numbers, and launches that are repeated.

use std::sync::OnceLock;

use cuda_tiles::element::Element;
use cuda_tiles_host::Device;

use crate::kernels::KERNELS;

/// The CPU, and the GPU if there is one, with the kernels loaded.
///
/// # Panics
/// If the device that `CUDA_TILES_DEVICE` names cannot be used.
pub fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let found = Device::auto().unwrap();
        found.load(&KERNELS).unwrap();
        let cpu = Device::cpu();
        if found.is_gpu() { vec![cpu, found] } else { vec![cpu] }
    })
}

/// The seed of this run: `CUDA_TILES_SEED`, or else the time. A test that fails prints it.
fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| {
        let asked = std::env::var("CUDA_TILES_SEED").ok();
        let seed = match asked {
            Some(seed) => seed.parse().expect("CUDA_TILES_SEED is a number"),
            None => std::time::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_nanos() as u64),
        };
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            report(panic);
            eprintln!("CUDA_TILES_SEED={seed} makes the same random numbers again");
        }));
        seed
    })
}

/// Random numbers that differ from run to run.
pub struct Random(crate::random::Random);

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl Random {
    /// The sequence of this run's seed.
    ///
    /// # Panics
    /// If `CUDA_TILES_SEED` is set and no number.
    pub fn new() -> Self {
        Self(crate::random::Random::new(seed()))
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit as u64) as usize
    }

    /// One of the choices.
    pub fn among<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A size up to a limit: often a small or an awkward one.
    pub fn size(&mut self, most: usize) -> usize {
        let size =
            self.among(&[0, 1, 2, 7, 16, 31, 64, 67, 127, 128, 131, 192, 200, 256, 257, 509, 1021, 2048]);
        if self.below(3) == 0 || size > most { 1 + self.below(most) } else { size }
    }
}

/// How often a test repeats a launch: as often as `CUDA_TILES_TEST_REPEATS` says, or `on_gpu` times on a GPU and three times on the
/// CPU.
pub fn repeats(device: &Device, on_gpu: usize) -> usize {
    let asked = std::env::var("CUDA_TILES_TEST_REPEATS").ok().and_then(|times| times.parse().ok());
    asked.unwrap_or(if device.is_gpu() { on_gpu } else { 3 })
}

/// Launches so often, and demands the same elements each time, to the bit.
///
/// # Panics
/// If a launch gives another result than the first.
pub fn check_repeated<T: Element<Bits: PartialEq>>(times: usize, mut launch: impl FnMut() -> Vec<T>) {
    let first = launch();
    for time in 1..times {
        let differs =
            launch().into_iter().zip(&first).position(|(now, then)| now.to_bits() != then.to_bits());
        assert!(differs.is_none(), "launch {time} differs from the first at element {differs:?}");
    }
}
