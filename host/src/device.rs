//! Devices: a GPU, or the CPU in its place.

use std::env;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use cuda_tiles::launch::Description;

use crate::artifact::{Artifact, Image};
use crate::code::Code;
use crate::cpu;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::pool::PoolMemory;
use crate::stream::Stream;
use crate::warm_up::Progress;

/// The environment variable that [`Device::auto`] obeys.
const VARIABLE: &str = "CUDA_TILES_DEVICE";

/// Where tensors live and kernels run: a GPU or the CPU. Clones are the same device.
///
/// A GPU that was opened once stays open, with the kernels loaded on it, until the process ends.
///
/// ```
/// use cuda_tiles_host::Device;
///
/// let device = Device::cpu();
/// assert!(!device.is_gpu());
/// assert!(device.to_string().starts_with("CPU, "));
/// ```
#[derive(Clone)]
pub struct Device {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Cpu {
        /// Why it is not a GPU, where one was looked for.
        instead_of_gpu: Option<Arc<str>>,
    },
    Gpu(&'static Gpu),
}

impl Device {
    /// GPU 0 if an NVIDIA driver answers, else the CPU. Printing the device tells which, and why.
    ///
    /// The environment variable `CUDA_TILES_DEVICE` overrides the choice: `cpu`, `gpu`, or `gpu:1` for the second GPU.
    ///
    /// # Errors
    /// If `CUDA_TILES_DEVICE` names no device or asks for a GPU that cannot be used. Without the variable a GPU that
    /// fails to open means the CPU, and no error.
    pub fn auto() -> Result<Self> {
        match env::var(VARIABLE) {
            Ok(value) if !value.is_empty() => Self::from_variable(&value),
            Err(env::VarError::NotUnicode(value)) => {
                Err(Error::DeviceVariable { value: value.to_string_lossy().into_owned() })
            }
            _ => Ok(Self::gpu(0).unwrap_or_else(|error| Self::instead_of_gpu(&error))),
        }
    }

    fn from_variable(value: &str) -> Result<Self> {
        let unknown = || Error::DeviceVariable { value: value.to_owned() };
        match value.split_once(':') {
            None if value == "cpu" => Ok(Self::cpu()),
            None if value == "gpu" => Self::gpu(0),
            Some(("gpu", ordinal)) => Self::gpu(ordinal.parse().map_err(|_| unknown())?),
            _ => Err(unknown()),
        }
    }

    fn instead_of_gpu(error: &Error) -> Self {
        let reason = match error {
            Error::NoDriver { reason } => reason.clone(),
            other => other.to_string(),
        };
        Self { kind: Kind::Cpu { instead_of_gpu: Some(reason.into()) } }
    }

    /// The CPU. Kernels run there as ordinary Rust code, their blocks in parallel on all cores.
    ///
    /// In builds without optimisation they take 20 to 150 times as long. Tests and debug builds optimise the kernels alone,
    /// by the workspace's `Cargo.toml`; `kernels` stands for the crate that has them:
    ///
    /// ```toml
    /// [profile.dev.package.cuda-tiles]
    /// opt-level = 2
    ///
    /// [profile.dev.package.cuda-tiles-host]
    /// opt-level = 2
    ///
    /// [profile.dev.package.kernels]
    /// opt-level = 2
    /// ```
    ///
    /// The first launch of an unoptimised build that takes longer than a second says so on the standard error.
    /// `CUDA_TILES_NOTES=off` switches that off.
    pub fn cpu() -> Self {
        Self { kind: Kind::Cpu { instead_of_gpu: None } }
    }

    /// The GPU of this number, from 0, in the driver's order.
    ///
    /// # Errors
    /// [`Error::NoDriver`], [`Error::DriverTooOld`], [`Error::NoSuchGpu`], or [`Error::Driver`] if the GPU does not
    /// open.
    pub fn gpu(ordinal: usize) -> Result<Self> {
        Ok(Self { kind: Kind::Gpu(Gpu::open(ordinal)?) })
    }

    /// How many GPUs there are, numbered from 0. None without a driver that works; [`Device::gpu`] says why.
    ///
    /// ```
    /// use cuda_tiles_host::Device;
    ///
    /// let gpus = (0..Device::gpu_count()).map(Device::gpu).collect::<Result<Vec<_>, _>>()?;
    /// println!("{gpus:?}");
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    #[doc(alias("cuDeviceGetCount", "device_count"))]
    pub fn gpu_count() -> usize {
        Gpu::count().unwrap_or(0)
    }

    /// Makes the kernels of an artifact known to this GPU, so that each of them can be launched. What is launched is compiled, when it is
    /// first, and nothing else: this call takes no time. Several artifacts may be loaded; loading one again does nothing. On the CPU
    /// there is nothing to load.
    ///
    /// The first launch of a kernel brings its code to the GPU: at once, where the program has machine code that GPU and driver can
    /// run, else through the driver's compiler, which takes 0.05 to 2 seconds and keeps the result on disk for other processes.
    /// [`Device::warm_up`] does it beforehand, and [`Device::code_of`] tells which of both it was.
    ///
    /// # Errors
    /// [`Error::NoPtx`] or [`Error::NoImage`] if the artifact has nothing for this GPU. What the driver refuses is an error of the first
    /// launch.
    #[doc(alias("cuModuleLoad", "cuModuleLoadData"))]
    pub fn load(&self, artifact: &'static Artifact) -> Result<()> {
        match self.kind {
            Kind::Cpu { .. } => Ok(()),
            Kind::Gpu(gpu) => gpu.load(artifact),
        }
    }

    /// Loads an artifact and brings the code of all its kernels to the GPU, several at a time, so that no launch has to wait for the
    /// driver's compiler. `progress` hears of each module that has come, on this thread. On the CPU nothing is to be done.
    ///
    /// Wanted before measurements, before stream captures of others, and before kernels on several streams that wait for each other:
    /// the driver may let a new module wait for kernels that run. A large library takes a minute; [`Device::warm_up_kernels`] takes
    /// those that the program launches.
    ///
    /// ```
    /// use cuda_tiles_host::{Artifact, Device};
    ///
    /// // include_kernels!("kernels") defines KERNELS.
    /// # static KERNELS: Artifact = Artifact::new("kernels", &[], None);
    /// let device = Device::cpu();
    /// device.warm_up(&KERNELS, |progress| println!("{progress}"))?;
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::load`]; and [`Error::PtxVersion`] if the driver is too old for a kernel, [`Error::Jit`] with the compiler's
    /// messages if it refuses one. The first error ends the work.
    #[doc(alias("precompile", "warmup"))]
    pub fn warm_up(&self, artifact: &'static Artifact, mut progress: impl FnMut(&Progress)) -> Result<()> {
        match self.kind {
            Kind::Cpu { .. } => Ok(()),
            Kind::Gpu(gpu) => gpu.warm_up(artifact, &mut progress),
        }
    }

    /// Brings the code of some kernels to the GPU, several at a time. They belong to artifacts that are [loaded](Device::load).
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// use cuda_tiles_host::{Device, Launch, Tensor};
    ///
    /// #[kernel]
    /// fn double(cx: Cx, x: SpanMut<f32, (u32,)>) {
    ///     let x = x.partition(cx, shape![64]);
    ///     let i = cx.bid::<0>();
    ///     x.store_masked(x.load_masked(Zero, i) * 2.0, i);
    /// }
    ///
    /// let device = Device::cpu();
    /// device.warm_up_kernels(&[double.description()], |_| ())?;
    /// let mut x = Tensor::full(&device, [64], 1.5)?;
    /// double.launch(&device, 1, (&mut x,))?;
    /// assert_eq!(x.to_vec()?, [3.0; 64]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As the first launch of each of them: [`Error::KernelNotLoaded`], [`Error::KernelMismatch`], [`Error::AmbiguousKernel`],
    /// [`Error::PtxVersion`], [`Error::Jit`], [`Error::Resources`].
    pub fn warm_up_kernels(
        &self,
        kernels: &[&Description],
        mut progress: impl FnMut(&Progress),
    ) -> Result<()> {
        match self.kind {
            Kind::Cpu { .. } => Ok(()),
            Kind::Gpu(gpu) => gpu.warm_up_kernels(kernels, &mut progress),
        }
    }

    /// How a kernel's code came to this GPU: as machine code that was made when the program was built, or through the driver's compiler,
    /// and why. It comes now if the kernel was not launched yet. `None` for the CPU.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// use cuda_tiles_host::Device;
    ///
    /// #[kernel]
    /// fn double(cx: Cx, x: SpanMut<f32, (u32,)>) {
    ///     let x = x.partition(cx, shape![64]);
    ///     let i = cx.bid::<0>();
    ///     x.store_masked(x.load_masked(Zero, i) * 2.0, i);
    /// }
    ///
    /// let device = Device::cpu();
    /// if let Some(code) = device.code_of(double.description())? {
    ///     println!("{code}");
    /// }
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Device::warm_up_kernels`].
    pub fn code_of(&self, kernel: &Description) -> Result<Option<Code>> {
        self.as_gpu().map(|gpu| gpu.code_of(kernel)).transpose()
    }

    /// The image that a kernel is loaded from, whose target may be older than the GPU: what of the kernel's code is known
    /// before a launch. `None` for the CPU.
    ///
    /// # Errors
    /// [`Error::KernelNotLoaded`], [`Error::KernelMismatch`], [`Error::AmbiguousKernel`], as a launch.
    pub fn image_of(&self, kernel: &Description) -> Result<Option<&'static Image>> {
        self.as_gpu().map(|gpu| gpu.image_of(kernel)).transpose()
    }

    /// Whether a kernel is for this device. `targets` in a kernel's attribute, or `if` behind an instance, leaves GPUs out. The CPU
    /// runs every kernel but those whose attribute says `cpu = ..`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// use cuda_tiles_host::{Device, Launch, Tensor};
    ///
    /// /// Numbers the elements, `N` a block. Blocks of 64 are for GPUs with warpgroups.
    /// #[kernel(instances(<16>, <64> if warpgroups))]
    /// fn count<B: Block, const N: usize>(cx: Cx<B>, x: SpanMut<u32, (u32,)>)
    /// where
    ///     D<N>: Dimension,
    /// {
    ///     let x = x.partition(cx, shape![N]);
    ///     let i = cx.bid::<0>();
    ///     x.store_masked(cx.iota::<u32>(shape![N]) + *i * N as u32, i);
    /// }
    ///
    /// let device = Device::cpu();
    /// let mut x = Tensor::poisoned(&device, [64])?;
    /// let wide = count::<64>();
    /// if device.supports(wide.description())? {
    ///     wide.launch(&device, 1, (&mut x,))?;
    /// } else {
    ///     count::<16>().launch(&device, 4, (&mut x,))?;
    /// }
    /// assert_eq!(x.to_vec()?[60..], [60, 61, 62, 63]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::KernelNotLoaded`], [`Error::KernelMismatch`], [`Error::AmbiguousKernel`], as a launch.
    pub fn supports(&self, kernel: &Description) -> Result<bool> {
        Ok(self.image_of(kernel)?.map_or(kernel.on_cpu, |image| image.supports(kernel)))
    }

    /// Waits for all work on the device.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU.
    pub fn synchronize(&self) -> Result<()> {
        match self.kind {
            Kind::Cpu { .. } => Ok(()),
            Kind::Gpu(gpu) => gpu.synchronize(),
        }
    }

    /// Whether hardware and driver let kernels of this device use tensors of another one. A device can use its own.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver does not say.
    #[doc(alias("cuDeviceCanAccessPeer", "cudaDeviceCanAccessPeer"))]
    pub fn can_access_peer(&self, peer: &Device) -> Result<bool> {
        match (self.kind.clone(), peer.kind.clone()) {
            (Kind::Gpu(gpu), Kind::Gpu(peer)) => gpu.can_access(peer),
            _ => Ok(self == peer),
        }
    }

    /// Lets kernels of this device use tensors of another one, from now to the end of the process: launches on this device take them as
    /// arguments, to be read and written, loaded by TMA, and over NVLink updated atomically. The other direction is a call of its own.
    /// Between a device and itself, as on the CPU, it is so anyway.
    ///
    /// A launch is ordered among all uses of such a tensor, on whatever device, as among those of one device. So no two GPUs have a tensor
    /// at the same time of which one writes it, and atomic updates need no larger scope than `scope::Device`. `scope::System` is for memory
    /// that unsafe code shares.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// use cuda_tiles_host::{Device, Launch, Tensor};
    ///
    /// #[kernel]
    /// fn double(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    ///     let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
    ///     y.store(x.load(cx.bid::<0>()) * 2.0, cx.bid::<0>());
    /// }
    ///
    /// let (here, there) = (Device::cpu(), Device::cpu()); // or Device::gpu(0)?, Device::gpu(1)?
    /// here.enable_peer_access(&there)?;
    /// let x = Tensor::full(&there, [64], 1.5)?;
    /// let mut y = Tensor::zeros(&here, [64])?;
    /// double.launch(&here, 1, (&x, &mut y))?;
    /// assert_eq!(y.to_vec()?, [3.0; 64]);
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoPeerAccess`] if there is no way between the devices, as between the CPU and a GPU; [`Error::Driver`].
    #[doc(alias("cuCtxEnablePeerAccess", "cudaDeviceEnablePeerAccess", "cuMemPoolSetAccess"))]
    pub fn enable_peer_access(&self, peer: &Device) -> Result<()> {
        match (self.kind.clone(), peer.kind.clone()) {
            (Kind::Gpu(gpu), Kind::Gpu(peer)) => gpu.enable_peer_access(peer),
            _ if self == peer => Ok(()),
            _ => Err(Error::NoPeerAccess { device: self.short_name(), peer: peer.short_name() }),
        }
    }

    /// Makes a new stream: work given to it runs in order, and beside the work of other streams.
    ///
    /// # Errors
    /// [`Error::Driver`] if the driver has no more streams.
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(self)
    }

    /// The stream of all work whose stream is not named.
    pub fn default_stream(&self) -> Stream {
        Stream::default_of(self)
    }

    /// A stream that belongs to somebody else, for work between theirs: `handle` is a `CUstream` (or, which is the same,
    /// a `cudaStream_t`) of the GPU's primary context, the one that the CUDA runtime and the libraries on it use; null is
    /// the default stream. It is not destroyed with the result. On the CPU, which has no queues, the handle means
    /// nothing.
    ///
    /// ```
    /// use cuda_tiles_host::Device;
    ///
    /// let device = Device::auto()?;
    /// // SAFETY: null is the default stream, which is always valid.
    /// let stream = unsafe { device.borrow_stream(std::ptr::null_mut()) };
    /// stream.synchronize()?;
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Safety
    /// On a GPU: the handle is null or that of a stream of the GPU's primary context, other than the per-thread default
    /// stream, and the stream is not destroyed as long as the result, a clone of it, or a tensor that was used on it,
    /// exists.
    pub unsafe fn borrow_stream(&self, handle: *mut c_void) -> Stream {
        // SAFETY: passed on to the caller.
        unsafe { Stream::borrowed(self, handle) }
    }

    /// Whether the device is a GPU.
    pub fn is_gpu(&self) -> bool {
        matches!(self.kind, Kind::Gpu(_))
    }

    /// The device's product name; "CPU" for the CPU.
    pub fn name(&self) -> &str {
        match self.kind {
            Kind::Cpu { .. } => "CPU",
            Kind::Gpu(gpu) => gpu.name(),
        }
    }

    /// Major and minor number of the GPU's compute capability; `None` for the CPU.
    pub fn capability(&self) -> Option<(u32, u32)> {
        self.as_gpu().map(Gpu::capability)
    }

    /// How many blocks run at the same time, roughly: the GPU's multiprocessors, or the CPU's kernel threads.
    pub fn multiprocessors(&self) -> u32 {
        match self.kind {
            Kind::Cpu { .. } => cpu::threads() as u32,
            Kind::Gpu(gpu) => gpu.multiprocessors(),
        }
    }

    /// Free and total memory of the GPU, in bytes; `None` for the CPU.
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU.
    pub fn memory(&self) -> Result<Option<(usize, usize)>> {
        self.as_gpu().map(Gpu::memory).transpose()
    }

    /// What the pool of memory holds out of which the GPU's tensors come; `None` for the CPU, whose tensors come from the program's
    /// allocator, and for a GPU without a pool.
    ///
    /// The pool is the driver's, and one for all of the process: what other libraries allocate in the order of streams is counted too.
    ///
    /// ```
    /// use cuda_tiles_host::Device;
    ///
    /// let device = Device::auto()?;
    /// // Ten gigabytes that were freed stay with the program, so that new tensors cost nothing.
    /// device.set_release_threshold(10_000_000_000)?;
    /// // ... tensors come and go ...
    /// if let Some(pool) = device.pool()? {
    ///     println!("{} of {} bytes are in use", pool.used, pool.reserved);
    /// }
    /// // Another program wants the GPU: give back all that is free.
    /// device.trim_pool(0)?;
    /// # Ok::<(), cuda_tiles_host::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Trapped`] if a kernel went wrong on the GPU.
    #[doc(alias("cuMemPoolGetAttribute", "memory_reserved", "memory_allocated"))]
    pub fn pool(&self) -> Result<Option<PoolMemory>> {
        self.as_gpu().map_or(Ok(None), Gpu::pool)
    }

    /// Lets the pool keep so many bytes of memory that tensors have freed. At first it keeps none when the program waits for the GPU, and
    /// the next tensors cost a call of the system each. `u64::MAX` keeps all. Without a pool, as on the CPU, this does nothing.
    ///
    /// # Errors
    /// As [`Device::pool`].
    #[doc(alias("cuMemPoolSetAttribute"))]
    pub fn set_release_threshold(&self, bytes: u64) -> Result<()> {
        self.as_gpu().map_or(Ok(()), |gpu| gpu.set_release_threshold(bytes))
    }

    /// Gives memory that no tensor uses back to the GPU, until the pool has no more than `kept` bytes, used or not. Memory that
    /// was freed counts as used as long as its stream is not that far: [`synchronize`](Self::synchronize) first. Without a pool, as on the
    /// CPU, this does nothing.
    ///
    /// # Errors
    /// As [`Device::pool`].
    #[doc(alias("cuMemPoolTrimTo", "empty_cache"))]
    pub fn trim_pool(&self, kept: usize) -> Result<()> {
        self.as_gpu().map_or(Ok(()), |gpu| gpu.trim_pool(kept))
    }

    /// The most shared memory that a block can have, in bytes; `None` for the CPU, where it is ordinary memory.
    pub fn shared_memory_limit(&self) -> Option<u32> {
        self.as_gpu().map(Gpu::shared_memory_limit)
    }

    /// What the device is, for a log: name and size, and for the CPU why it is not a GPU, where one was looked for.
    pub fn description(&self) -> String {
        self.to_string()
    }

    /// The GPU, if it is one.
    pub(crate) fn as_gpu(&self) -> Option<&'static Gpu> {
        match self.kind {
            Kind::Cpu { .. } => None,
            Kind::Gpu(gpu) => Some(gpu),
        }
    }

    /// The device of a GPU's memory or stream.
    pub(crate) fn of_gpu(gpu: &'static Gpu) -> Self {
        Self { kind: Kind::Gpu(gpu) }
    }

    /// The device in a few words, for messages.
    pub(crate) fn short_name(&self) -> String {
        match self.kind {
            Kind::Cpu { .. } => "the CPU".to_owned(),
            Kind::Gpu(gpu) => gpu.to_string(),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Cpu { instead_of_gpu } => {
                write!(formatter, "CPU, {} threads", cpu::threads())?;
                instead_of_gpu.iter().try_for_each(|reason| write!(formatter, " ({reason})"))
            }
            Kind::Gpu(gpu) => {
                let (major, minor) = gpu.capability();
                write!(
                    formatter,
                    "{gpu}, compute capability {major}.{minor}, {} multiprocessors",
                    gpu.multiprocessors()
                )
            }
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Device({self})")
    }
}

/// Two devices are equal if they are the same GPU, or both the CPU.
impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.as_gpu().map(Gpu::ordinal) == other.as_gpu().map(Gpu::ordinal)
    }
}

impl Eq for Device {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_has_no_pool_and_every_setting_is_fine_with_it() {
        let device = Device::cpu();
        device.set_release_threshold(u64::MAX).unwrap();
        device.trim_pool(0).unwrap();
        assert_eq!(device.pool().unwrap(), None);
    }

    #[test]
    fn the_variable_names_a_device() {
        assert!(!Device::from_variable("cpu").unwrap().is_gpu());
        for value in ["CPU!", "gpu:", "gpu:x", "gpu:-1", "tpu", "cpu:0"] {
            let message = Device::from_variable(value).unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("CUDA_TILES_DEVICE is `{value}`, which names no device")),
                "{message}"
            );
        }
    }

    #[test]
    fn the_cpu_says_why_it_is_not_a_gpu() {
        let error = Error::NoDriver { reason: "no NVIDIA driver: libcuda.so.1 not found".to_owned() };
        let device = Device::instead_of_gpu(&error);
        let expected = format!("CPU, {} threads (no NVIDIA driver: libcuda.so.1 not found)", cpu::threads());
        assert_eq!(device.to_string(), expected);
        assert_eq!(device, Device::cpu());
    }

    #[test]
    fn the_cpu_is_a_peer_of_the_cpu() {
        let (one, other) = (Device::cpu(), Device::cpu());
        assert!(one.can_access_peer(&other).unwrap());
        one.enable_peer_access(&other).unwrap();
    }

    #[test]
    fn the_cpu_has_no_gpu_properties() {
        let device = Device::cpu();
        assert_eq!(device.capability(), None);
        assert_eq!(device.memory().unwrap(), None);
        assert_eq!(device.shared_memory_limit(), None);
        assert!(device.multiprocessors() >= 1);
        device.synchronize().unwrap();
    }
}
