//! What can go wrong on the host, in the words of the user who has to put it right.

use std::fmt;

use cuda_tiles::span::{FactError, SpanError};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure of a device, a tensor or a launch. Each message says what was asked for, what stood against it and
/// what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[doc(alias("TileError"))]
pub enum Error {
    /// No NVIDIA driver answers.
    #[error(
        "no GPU can be used ({reason}): install the NVIDIA driver (R525 or newer), or run on the CPU with \
         `Device::cpu()` or CUDA_TILES_DEVICE=cpu"
    )]
    NoDriver {
        /// Why the driver does not answer.
        reason: String,
    },

    /// The driver answers, but has no GPU of this number.
    #[error("there is no GPU {ordinal}: the driver reports {count} GPU(s), numbered from 0")]
    NoSuchGpu {
        /// The number asked for.
        ordinal: usize,
        /// How many GPUs the driver reports.
        count: usize,
    },

    /// The environment variable `CUDA_TILES_DEVICE` holds something else than a device.
    #[error(
        "CUDA_TILES_DEVICE is `{value}`, which names no device: use `cpu`, `gpu` or `gpu:1` (the second GPU)"
    )]
    DeviceVariable {
        /// The variable's value.
        value: String,
    },

    /// The driver is older than the oldest that this crate works with.
    #[error(
        "the NVIDIA driver supports CUDA {major}.{minor}, but CUDA 12.0 is needed: update the driver to R525 or newer"
    )]
    DriverTooOld {
        /// Major number of the CUDA version that the driver supports.
        major: u32,
        /// Minor number of the CUDA version that the driver supports.
        minor: u32,
    },

    /// The artifact was built without PTX.
    #[error("the kernels `{artifact}` hold no PTX for a GPU: {reason}")]
    NoPtx {
        /// Name of the artifact.
        artifact: &'static str,
        /// Why the build made no PTX, and what to do.
        reason: String,
    },

    /// None of the artifact's images runs on the GPU.
    #[error(
        "the kernels `{artifact}` were not built for this GPU: it has compute capability {major}.{minor}, and the \
         images are for {images}; {advice}"
    )]
    NoImage {
        /// Name of the artifact.
        artifact: &'static str,
        /// Major number of the GPU's compute capability.
        major: u32,
        /// Minor number of the GPU's compute capability.
        minor: u32,
        /// The targets of the artifact's images.
        images: String,
        /// What to do about it.
        advice: String,
    },

    /// The driver's compiler does not know the PTX version of a kernel.
    #[error(
        "the NVIDIA driver is too old for {} of `{artifact}`: the code is PTX ISA {version}, and the driver supports \
         CUDA {driver}; update the driver, or build the kernels for an older PTX version", kernels_named(.kernels)
    )]
    PtxVersion {
        /// The kernels in the module that was to be loaded, mostly one.
        kernels: Vec<&'static str>,
        /// Name of the artifact.
        artifact: &'static str,
        /// PTX ISA version of the image.
        version: String,
        /// CUDA version that the driver supports.
        driver: String,
    },

    /// The driver's compiler refused the PTX of a kernel.
    #[error(
        "the driver could not compile {} of `{artifact}` ({arch}) to machine code: {code}\n{log}",
        kernels_named(.kernels)
    )]
    Jit {
        /// The kernels in the module that was to be loaded, mostly one.
        kernels: Vec<&'static str>,
        /// Name of the artifact.
        artifact: &'static str,
        /// Target of the image.
        arch: &'static str,
        /// The driver's error.
        code: String,
        /// The compiler's own messages.
        log: String,
    },

    /// The code in the program is not as it was built.
    #[error("the kernels for {arch} that the program embeds are damaged: {problem}; build the program again")]
    DamagedImage {
        /// Target of the image.
        arch: &'static str,
        /// What is wrong with it.
        problem: String,
    },

    /// A kernel was launched on a GPU that has not loaded it.
    #[error(
        "kernel `{kernel}` (`{path}`) is in none of the artifacts loaded on {device} ({loaded}): call `device.load(&KERNELS)` \
         with the artifact that `include_kernels!` made of its crate"
    )]
    KernelNotLoaded {
        /// Name of the kernel.
        kernel: &'static str,
        /// Where it is defined.
        path: &'static str,
        /// The device it was launched on.
        device: String,
        /// The artifacts loaded there.
        loaded: String,
    },

    /// A loaded artifact has a kernel of this path that is launched in another way.
    #[error(
        "kernel `{kernel}` is not what the artifact `{artifact}` holds under its path `{path}`: the program calls `{declared}`, \
         and the artifact was built from `{loaded}`{}; build both from the same sources (is CUDA_TILES_PREBUILT_PTX out of \
         date?)", alike(.declared, .loaded)
    )]
    KernelMismatch {
        /// Name of the kernel.
        kernel: &'static str,
        /// Where it is defined.
        path: &'static str,
        /// The function that the program launches.
        declared: &'static str,
        /// The artifact.
        artifact: &'static str,
        /// The function that the artifact was built from.
        loaded: &'static str,
    },

    /// Two loaded artifacts have this kernel.
    #[error(
        "kernel `{kernel}` is in more than one artifact loaded on {device} ({artifacts}): load one of them, or build each from \
         a crate of its own name"
    )]
    AmbiguousKernel {
        /// Name of the kernel.
        kernel: &'static str,
        /// The device it was launched on.
        device: String,
        /// The artifacts that have it.
        artifacts: String,
    },

    /// The attribute of a kernel, or of an instance, leaves this GPU out.
    #[error(
        "kernel `{kernel}` is for {wanted}, but {device}, of compute capability {major}.{minor}, runs code for {arch}: {advice}"
    )]
    Target {
        /// The kernel, with the values of its generic parameters.
        kernel: &'static str,
        /// The GPUs that it is for.
        wanted: &'static str,
        /// The device it was launched on.
        device: String,
        /// Major number of the device's compute capability.
        major: u32,
        /// Minor number of the device's compute capability.
        minor: u32,
        /// The target of the code that the device runs.
        arch: &'static str,
        /// What to do about it.
        advice: String,
    },

    /// A kernel was launched on the CPU that has code for GPUs alone.
    #[error(
        "kernel `{kernel}` has no code for the CPU, as its attribute says (`cpu = ..`): launch it on a GPU, or launch another instance"
    )]
    NotOnCpu {
        /// The kernel, with the values of its generic parameters.
        kernel: &'static str,
    },

    /// The grid does not fit the kernel or the hardware.
    #[error("kernel `{kernel}` cannot run on the grid {grid}: {problem}")]
    Grid {
        /// Name of the kernel.
        kernel: &'static str,
        /// The grid, as `(x, y, z)`.
        grid: String,
        /// What is wrong with it, and what to do.
        problem: String,
    },

    /// An argument does not fit the kernel's parameter.
    #[error("kernel `{kernel}`, argument {position} (`{name}`): {problem}")]
    Argument {
        /// Name of the kernel.
        kernel: &'static str,
        /// Position among the arguments, from 1.
        position: usize,
        /// Name of the kernel's parameter.
        name: &'static str,
        /// What is wrong with the argument.
        #[source]
        problem: Box<ArgumentError>,
    },

    /// The kernel needs more of something than the GPU has for one block.
    #[error(
        "kernel `{kernel}` needs {needed} {what} a block, but {device} has {limit}: use smaller tiles or fewer stages"
    )]
    Resources {
        /// Name of the kernel.
        kernel: &'static str,
        /// What is missing, for example "bytes of shared memory".
        what: &'static str,
        /// How much of it the kernel needs.
        needed: u32,
        /// How much the GPU has.
        limit: u32,
        /// The device.
        device: String,
    },

    /// A block of a kernel panicked on the CPU: a bounds check or an assertion failed.
    #[error("kernel `{kernel}` panicked in block ({}, {}, {}): {message}", .block[0], .block[1], .block[2])]
    Panicked {
        /// Name of the kernel.
        kernel: &'static str,
        /// Index of the block in the grid; the first one, if several panicked.
        block: [u32; 3],
        /// The panic's message, with the line of the kernel.
        message: String,
    },

    /// A kernel trapped on the GPU, which ends the use of that GPU by this process.
    #[error("{}", trapped(.kernels, .device, .code, .report.as_deref()))]
    Trapped {
        /// The kernels launched since the GPU was last known to be well; the one that trapped is among them.
        kernels: Vec<&'static str>,
        /// The device.
        device: String,
        /// The driver's error.
        code: String,
        /// What the kernel has reported; nothing where unsafe code went wrong, or a `panic!` trapped.
        report: Option<Box<Report>>,
    },

    /// The device's memory, or the machine's, is used up.
    #[error("{device} has no room for another {bytes} bytes")]
    OutOfMemory {
        /// The device.
        device: String,
        /// How much was asked for.
        bytes: usize,
    },

    /// A tensor of this shape would need more bytes than an address can count.
    #[error("a tensor of shape {shape} with {element_bytes}-byte elements is larger than the address space")]
    TooLarge {
        /// The shape.
        shape: Dimensions,
        /// Bytes of one element.
        element_bytes: usize,
    },

    /// A slice of values and a tensor do not have the same number of elements.
    #[error("a tensor of shape {shape} has {expected} elements, but {found} were given")]
    Length {
        /// The tensor's shape.
        shape: Dimensions,
        /// Number of its elements.
        expected: usize,
        /// Number of values given.
        found: usize,
    },

    /// A view asks for something that lies outside its tensor.
    #[error("{operation} of a tensor of shape {shape}: {problem}")]
    View {
        /// The operation.
        operation: &'static str,
        /// The tensor's shape.
        shape: Dimensions,
        /// What is wrong.
        problem: String,
    },

    /// The operands of a ready-made operation do not go together, or have a form that it does not take.
    #[error("{operation}: {problem}")]
    Operands {
        /// The operation.
        operation: &'static str,
        /// What is wrong with them, and what to do.
        problem: String,
    },

    /// The source and the destination of a copy, or a stream and a tensor, belong to different devices.
    #[error("{what} is on {found}, but the {other} is on {expected}: make both on one device")]
    WrongDevice {
        /// What is on the wrong device.
        what: &'static str,
        /// The device it is on.
        found: String,
        /// What it was used with.
        other: &'static str,
        /// The device of the latter.
        expected: String,
    },

    /// A GPU cannot use the memory of another one.
    #[error(
        "kernels on {device} cannot use the memory of {peer}: hardware and driver have no way between them; copy tensors with `Tensor::copy_to`"
    )]
    NoPeerAccess {
        /// The device whose kernels were to use it.
        device: String,
        /// The device whose memory it is.
        peer: String,
    },

    /// Something cannot be part of a graph, or a graph cannot be launched as it is.
    #[error("{operation}: {problem}")]
    Graph {
        /// What was being done.
        operation: &'static str,
        /// What stands against it, and what to do.
        problem: String,
    },

    /// The threads that run kernels on the CPU could not be started.
    #[error("the CPU's kernel threads could not be started: {reason}")]
    Threads {
        /// Why.
        reason: String,
    },

    /// The driver refused something for a reason without a case of its own.
    #[error("{device}: {operation} failed: {code}")]
    Driver {
        /// The device.
        device: String,
        /// What was being done.
        operation: &'static str,
        /// The driver's error.
        code: String,
    },
}

/// Why a value cannot be passed for a kernel's parameter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The tensor is on another device than the launch.
    #[error(
        "the tensor is on {tensor}, but the launch is on {launch}: make the tensor on the launch's device, copy it there with \
         `copy_to`, or let one GPU use the memory of another with `Device::enable_peer_access`"
    )]
    WrongDevice {
        /// The tensor's device.
        tensor: String,
        /// The launch's device.
        launch: String,
    },
    /// The kernel updates a tensor of another GPU atomically, and there is no NVLink between them.
    #[error(
        "the tensor is on {tensor}, whose memory {launch} can read and write, but not update atomically: update a tensor of the launch's own \
         GPU and copy it"
    )]
    NoPeerUpdates {
        /// The tensor's device.
        tensor: String,
        /// The launch's device.
        launch: String,
    },
    /// A field of a tuple or a struct does not fit.
    #[error("in field `{name}`, {problem}")]
    Field {
        /// The field's name, or its number in a tuple.
        name: &'static str,
        /// What is wrong with it.
        problem: Box<ArgumentError>,
    },
    /// An element of an array or a list does not fit.
    #[error("in element {index}, {problem}")]
    Item {
        /// The element's number, from 0.
        index: usize,
        /// What is wrong with it.
        problem: Box<ArgumentError>,
    },
    /// A list of more arguments than the kernel's list has places for.
    #[error(
        "{given} arguments do not fit the kernel's list, which holds {most}: launch for {most} at a time"
    )]
    ListLength {
        /// How many were given.
        given: usize,
        /// How many the kernel's list holds.
        most: usize,
    },
    /// The tensor's shape, strides or alignment do not fit the kernel's span type.
    #[error("a tensor of shape {shape} and strides {strides} does not fit: {problem}")]
    Span {
        /// The tensor's shape.
        shape: Dimensions,
        /// The tensor's strides, in elements.
        strides: Dimensions,
        /// What does not fit.
        problem: SpanError,
    },
    /// The tensor's strides or alignment are not those of a tensor that a kernel can stream.
    #[error("a tensor of shape {shape} and strides {strides} cannot be streamed: {problem}")]
    Matrix {
        /// The tensor's shape.
        shape: Dimensions,
        /// The tensor's strides, in elements.
        strides: Dimensions,
        /// What stands against it, and what to do.
        problem: String,
    },
    /// A number does not have the fact that the kernel's parameter states.
    #[error("a number does not fit: {0}")]
    Fact(FactError),
    /// The device failed while the tensor was made ready.
    #[error(transparent)]
    Device(#[from] Error),
}

/// A shape or strides in a message, written `[2, 3]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimensions(pub Vec<usize>);

impl fmt::Display for Dimensions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl<const RANK: usize> From<[usize; RANK]> for Dimensions {
    fn from(sizes: [usize; RANK]) -> Self {
        Self(sizes.to_vec())
    }
}

/// Why a kernel on a GPU trapped: the first failure of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Index of the block in the grid.
    pub block: [u32; 3],
    /// What failed.
    pub message: String,
    /// The source file.
    pub file: String,
    /// The line in it.
    pub line: u32,
}

/// Why two declarations that read alike are different.
fn alike(declared: &str, loaded: &str) -> &'static str {
    if declared == loaded { ", with another attribute, or other types of these names" } else { "" }
}

/// The message about a trap.
fn trapped(kernels: &[&'static str], device: &str, code: &str, report: Option<&Report>) -> String {
    let subject = match kernels {
        [] => "a kernel".to_owned(),
        [kernel] => format!("kernel `{kernel}`"),
        several => format!("one of the kernels {}", quoted(several)),
    };
    let end = "This process cannot use the GPU any more: every later call on it fails";
    match report {
        Some(Report { block: [x, y, z], message, file, line }) => {
            format!(
                "{subject} trapped in block ({x}, {y}, {z}) on {device}: {message} (at {file}:{line}). {end} ({code})"
            )
        }
        None => format!(
            "{subject} trapped on {device} ({code}): a bounds check or an assertion failed, or unsafe code went wrong. {end}. \
             Run with CUDA_TILES_DEVICE=cpu to see the line"
        ),
    }
}

/// Kernels as the object of a sentence.
fn kernels_named(kernels: &[&str]) -> String {
    match kernels {
        [] => "a module".to_owned(),
        [kernel] => format!("kernel `{kernel}`"),
        several => format!("the kernels {}", quoted(several)),
    }
}

/// Names in backquotes, separated by commas.
pub(crate) fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trap_names_the_kernels_in_question() {
        let error = |kernels| {
            let code = "CUDA_ERROR_LAUNCH_FAILED".into();
            Error::Trapped { kernels, device: "GPU 0".into(), code, report: None }.to_string()
        };
        assert!(
            error(vec!["softmax"])
                .starts_with("kernel `softmax` trapped on GPU 0 (CUDA_ERROR_LAUNCH_FAILED)")
        );
        assert!(error(vec!["a", "b"]).starts_with("one of the kernels `a`, `b` trapped on GPU 0"));
        assert!(error(vec!["softmax"]).ends_with("Run with CUDA_TILES_DEVICE=cpu to see the line"));
    }

    #[test]
    fn a_report_says_what_failed_and_where() {
        let (block, message, file) =
            ([3, 0, 0], "load of tile [4] reaches outside".into(), "src/x.rs".into());
        let report = Some(Box::new(Report { block, message, file, line: 12 }));
        let error =
            Error::Trapped { kernels: vec!["k"], device: "GPU 0".into(), code: "CODE".into(), report };
        assert!(error.to_string().starts_with(
            "kernel `k` trapped in block (3, 0, 0) on GPU 0: load of tile [4] reaches outside (at src/x.rs:12). This"
        ));
    }

    #[test]
    fn a_panic_names_kernel_and_block() {
        let error = Error::Panicked { kernel: "gemm", block: [3, 1, 0], message: "out of bounds".into() };
        assert_eq!(error.to_string(), "kernel `gemm` panicked in block (3, 1, 0): out of bounds");
    }
}
