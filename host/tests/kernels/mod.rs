//! Kernels in hand-written PTX, and the device to run them on.

#![allow(dead_code, reason = "each test program uses some of the kernels")]

use cuda_tiles::launch::{Description, Kernel, Targets};
use cuda_tiles::span::{Exclusive, TensorSpan};
use cuda_tiles_host::{Artifact, Device, Entry, Grid, Image, Tensor};

#[cfg(feature = "cudarc")]
pub(crate) mod captured;

/// Threads of a block.
pub(crate) const THREADS: u32 = 128;

/// Elements of the tensors of most tests.
pub(crate) const LEN: usize = 1000;

/// Nanoseconds that are long enough for a race to show.
pub(crate) const DELAY: u64 = 20_000_000;

pub(crate) type Span = TensorSpan<f32, (u32,)>;
pub(crate) type SpanMut = TensorSpan<f32, (u32,), Exclusive>;

// SAFETY: the entries do what the kernels of the same names declare.
static IMAGE: Image = unsafe {
    image(include_str!("../ptx/tests.ptx"), &[entry("increment"), entry("delayed_copy"), entry("fail")])
};
pub(crate) static KERNELS: Artifact = Artifact::new("tests", std::slice::from_ref(&IMAGE), None);

/// Adds 1 to each element.
// SAFETY: the entries do what the kernels of the same names declare.
pub(crate) static INCREMENT: Kernel<(SpanMut,)> =
    unsafe { Kernel::new(description("increment", &["x"]), |_, _| unreachable!("it runs on the GPU")) };

/// Waits for so many nanoseconds, then copies.
// SAFETY: the entries do what the kernels of the same names declare.
pub(crate) static DELAYED_COPY: Kernel<(Span, SpanMut, u64)> = unsafe {
    Kernel::new(description("delayed_copy", &["x", "y", "delay"]), |_, _| unreachable!("it runs on the GPU"))
};

/// Traps.
// SAFETY: the entries do what the kernels of the same names declare.
pub(crate) static FAIL: Kernel<()> =
    unsafe { Kernel::new(description("fail", &[]), |_, _| unreachable!("it runs on the GPU")) };

/// A kernel with a name, without shared memory.
pub(crate) const fn description(name: &'static str, arguments: &'static [&'static str]) -> Description {
    Description {
        name,
        path: name,
        declaration: "",
        fingerprint: 0,
        threads: THREADS,
        grid_rank: 1,
        producer_threads: 0,
        consumers: 1,
        cluster: 1,
        shared_bytes: [0; 3],
        dependent: false,
        targets: Targets::All,
        on_cpu: true,
        arguments,
        file: file!(),
        line: line!(),
    }
}

/// The entry of the kernel of such a name.
pub(crate) const fn entry(name: &'static str) -> Entry {
    Entry { path: name, symbol: name, fingerprint: 0, declaration: "", module: 0 }
}

/// PTX for all GPUs since Volta.
///
/// # Safety
/// The entries do what the kernels of the same names declare.
pub(crate) const unsafe fn image(ptx: &'static str, entries: &'static [Entry]) -> Image {
    // SAFETY: passed on to the caller.
    unsafe { Image::new("sm_70", (7, 0), false, ptx, entries) }
}

/// The GPU with the kernels loaded; `None`, and a line in the log, on a machine without one. With
/// CUDA_TILES_DEVICE=gpu a missing GPU is a failure.
pub(crate) fn gpu() -> Option<Device> {
    let device = Device::auto().unwrap();
    if !device.is_gpu() {
        eprintln!("skipped: {device}");
        return None;
    }
    device.load(&KERNELS).unwrap();
    Some(device)
}

/// A thread for each element of a tensor of [`LEN`].
pub(crate) fn grid() -> Grid {
    Grid::cover([LEN], [THREADS as usize])
}

/// A tensor of [`LEN`] such elements.
pub(crate) fn filled(device: &Device, value: f32) -> Tensor<f32, 1> {
    Tensor::full(device, [LEN], value).unwrap()
}
