"""What the comparisons with other libraries share: launches through the driver and through our library, and samples."""
import ctypes
import json
import math
import pathlib
import subprocess

import torch

SAMPLES = 15
# Milliseconds that a sample takes at least.
SAMPLE = 3.0
# Cycles of the kernel behind which launches queue up.
SPIN = 700_000


class Driver:
    """Launches of PTX and cubins through the driver's C interface."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")

    def check(self, code, what):
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError(f"{what}: {text.value.decode() if text.value else code}")

    def function(self, image, entry):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.cuda.cuModuleLoadData(ctypes.byref(module), image), "cuModuleLoadData")
        self.check(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, entry.encode()), entry)
        return function

    def launcher(self, function, grid, threads, arguments, shared=0):
        """`None` is a null pointer; `shared` is the dynamic shared memory in bytes."""
        if shared:
            largest = ctypes.c_int(8)  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.check(self.cuda.cuFuncSetAttribute(function, largest, ctypes.c_int(shared)), "cuFuncSetAttribute")
        values = []
        for argument in arguments:
            if argument is None:
                values.append(ctypes.c_void_p(0))
            elif isinstance(argument, torch.Tensor):
                values.append(ctypes.c_void_p(argument.data_ptr()))
            elif isinstance(argument, tuple):  # extents of a span: one struct of u32
                values.append((ctypes.c_uint32 * len(argument))(*argument))
            elif isinstance(argument, float):
                values.append(ctypes.c_float(argument))
            else:
                values.append(ctypes.c_int32(argument))
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        sizes = [ctypes.c_uint(size) for size in (*grid, threads, 1, 1, shared)]

        def launch():
            self.check(self.cuda.cuLaunchKernel(function, *sizes, stream(), pointers, None), "cuLaunchKernel")

        launch.keep_alive = values
        return launch


class Array(ctypes.Structure):
    """A tensor for our library: benches/library/src/array.rs has the same structure."""

    _fields_ = [
        ("address", ctypes.c_void_p), ("element", ctypes.c_uint32), ("rank", ctypes.c_uint32),
        ("shape", ctypes.c_uint64 * 4), ("strides", ctypes.c_uint64 * 4),
    ]
    TYPES = ["f16", "bf16", "f32", "tf32", "f64", "i8", "i32", "f8e4m3", "f8e5m2"]
    NAMES = {
        torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.int8: "i8",
        torch.int32: "i32", torch.float8_e4m3fn: "f8e4m3", torch.float8_e5m2: "f8e5m2",
    }

    @classmethod
    def of(cls, tensor, element=None):
        """`element` names a type that PyTorch has no name for."""
        rank, fill = tensor.dim(), [1] * (4 - tensor.dim())
        return cls(
            tensor.data_ptr(), cls.TYPES.index(element or cls.NAMES[tensor.dtype]), rank,
            (ctypes.c_uint64 * 4)(*tensor.shape, *fill), (ctypes.c_uint64 * 4)(*tensor.stride(), *fill))


class Lacking(Exception):
    """Our library has no such function or kernel."""


class Library:
    """Our own launches: benches/library, built for the host."""

    def __init__(self, path, ordinal=0, architecture=None):
        self.library = ctypes.CDLL(str(path))
        self.library.ct_last_error.restype = ctypes.c_char_p
        self.check(self.library.ct_open(ctypes.c_int(ordinal), architecture and architecture.encode()))

    def check(self, code):
        if code:
            message = self.library.ct_last_error().decode()
            raise (Lacking if message.startswith("there is no kernel") else RuntimeError)(message)

    def launcher(self, name, *arguments):
        """A launch of a C function that takes the stream and these arguments; strings may come before the stream."""
        try:
            function = getattr(self.library, name)
        except AttributeError:
            raise Lacking(f"{name} is not in the library") from None
        before = [argument for argument in arguments if isinstance(argument, bytes)]
        after = [argument for argument in arguments if not isinstance(argument, bytes)]

        def launch():
            self.check(function(*before, stream(), *after))

        return launch

    def kernel(self, name, tensors):
        """A launch of one kernel on tensors."""
        arrays = (Array * len(tensors))(*map(Array.of, tensors))
        return self.launcher("ct_kernel", name.encode(), arrays, ctypes.c_size_t(len(tensors)))


def stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def cubins(folder):
    """The entries of a folder of CUDA Tile kernels by their names. The manifest lies in it or beside it."""
    if folder is None:
        return {}
    folder = pathlib.Path(folder)
    manifest = next(place for place in (folder, folder.parent) if (place / "manifest.json").is_file()) / "manifest.json"
    return {entry["name"]: entry for entry in json.loads(manifest.read_text()) if entry["ok"]}


def sample(launches, count, spin=SPIN):
    """Milliseconds of one launch, of `count` back to back, the first of which queue up while a kernel spins for so many cycles."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(spin)
    start.record()
    for k in range(count):
        launches[k % len(launches)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / count


def launches_of_a_sample(launches):
    """How many launches fill a sample, once each has run."""
    sample(launches, len(launches))
    return max(2, len(launches), math.ceil(SAMPLE / sample(launches, max(4, len(launches)))))


def sustained(launches, milliseconds, warm=500.0, measured=200.0):
    """Milliseconds of one launch after half a second of them, back to back: limited by power."""
    for k in range(math.ceil(warm / milliseconds)):
        launches[k % len(launches)]()
    count = max(2, math.ceil(measured / milliseconds))
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for k in range(count):
        launches[k % len(launches)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / count


def error(found, reference):
    """The distance relative to the reference's norm; NaN if anything is."""
    return ((found.double() - reference).norm() / reference.norm()).item()


def driver_version():
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def empty(*shape, dtype=torch.float32):
    return torch.empty(*shape, device="cuda", dtype=dtype)


def ceiling():
    """GB/s of PyTorch's copy of 1 GiB."""
    source, target = random(1 << 28), empty(1 << 28)
    times = [sample([lambda: target.copy_(source)], 6) for _ in range(SAMPLES)]
    return 8 * source.numel() / sorted(times)[SAMPLES // 2] / 1e6
