#!/usr/bin/env python3
"""Our matrix products and attention next to what users would pick instead, on one GPU, in one process.

    python3 benches/matrix.py --library libcuda_tiles_bench.so [--cubins DIR] [--only NAME ...] [--budget SECONDS]
                              [--quick] [--alone] [--commit HASH] [--results benches/results/h200_matrix.json]

The library is that of benches/library (`cargo build --release -p cuda-tiles-bench-library --features gemm`); its launches are those of any
Rust program. Needs PyTorch (cuBLAS, cuDNN) and Triton; --cubins names a folder of CUDA Tile C++ kernels with a
`manifest.json` in it or beside it. Without --library the peers are measured alone, with --alone ours. --quick takes five
samples, and bursts only.

Method: every candidate runs once on a poisoned output and is compared with a float64 reference; integers must be equal.
`burst` is CUDA events around at least 3 ms of back-to-back launches after 25 ms of rest, the samples of all candidates
interleaved, the median of 15; `sustained` is the same after half a second back to back, where power limits the clock.
Inputs are normally distributed and rotate over sets larger than the L2 cache. Operations are 2 M N K; of attention
4 B H S S D, half of them if causal. `ratio` is ours over the best rival; below 2 % is a tie.

A candidate that fails or hangs ends the process that measures; another one goes on without it.
"""
import argparse
import concurrent.futures
import ctypes
import datetime
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import gelu, scaled_dot_product_attention

try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.tools.tensor_descriptor import TensorDescriptor
except ImportError:
    triton = None

import measuring
from measuring import SAMPLES, Array, Driver, Lacking, Library, launches_of_a_sample, sample, sustained

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
F8, I8, I32 = torch.float8_e4m3fn, torch.int8, torch.int32
# Rest before a sample, in seconds, and the bytes that all sets of a workload exceed together.
REST, ROTATED = 0.025, 300e6
# Seconds without news after which a process that measures is taken to hang: while it starts, and later.
PATIENCE_AT_FIRST, PATIENCE = 180, 90


if triton:

    @triton.jit
    def triton_gemm(a, b, c, rows, columns, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                    TRANSPOSED: tl.constexpr, FLAT: tl.constexpr, SUM: tl.constexpr):
        down, across = tl.cdiv(rows, M), tl.cdiv(columns, N)
        for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), flatten=FLAT):
            first = tile // (8 * across) * 8
            height = min(down - first, 8)
            i, j = first + tile % (8 * across) % height, tile % (8 * across) // height
            sums = tl.zeros((M, N), SUM)
            for k in range(0, tl.cdiv(depth, K)):
                x = a.load([i * M, k * K])
                if TRANSPOSED:
                    sums = tl.dot(x, b.load([j * N, k * K]).T, sums, out_dtype=SUM)
                else:
                    sums = tl.dot(x, b.load([k * K, j * N]), sums, out_dtype=SUM)
            c.store([i * M, j * N], sums.to(c.dtype))


    @triton.jit
    def triton_gemm_by_pointers(a, b, c, rows: tl.constexpr, columns: tl.constexpr, depth: tl.constexpr, M: tl.constexpr,
                                N: tl.constexpr, K: tl.constexpr):
        across: tl.constexpr = columns // N
        i = tl.program_id(0) // (8 * across) * 8 + tl.program_id(0) % 8
        j = tl.program_id(0) % (8 * across) // 8
        down, right, along = i * M + tl.arange(0, M), j * N + tl.arange(0, N), tl.arange(0, K)
        x, y = a + down[:, None] * depth + along[None, :], b + along[:, None] * columns + right[None, :]
        sums = tl.zeros((M, N), tl.float32)
        for _ in range(0, depth // K):
            sums = tl.dot(tl.load(x), tl.load(y), sums)
            x += K
            y += K * columns
        tl.store(c + down[:, None] * columns + right[None, :], sums.to(tl.float16))


class GemmOptions(ctypes.Structure):
    """benches/library/src/gemm.rs has the same structure."""

    _fields_ = [("fast_accumulation", ctypes.c_uint32), ("bias_gelu", ctypes.c_uint32), ("bias", Array)]


class Workload:
    """The data, the candidates on it, and the reference.

    `make(fill)` makes one set of tensors, whose output is `out`; `ours(library, set)` and each of `peers`, by kind and
    name, `call(set)` are launches. `tiles` names CUDA Tile kernels, `tiles_launch` their grid and arguments. `check(set,
    found)` is the error.
    """

    def __init__(self, name, unit, work, make, ours, peers, check, tolerance, bytes_of_a_set, tiles=(),
                 tiles_launch=None, architecture=None, power=True):
        self.name, self.unit, self.work, self.make, self.ours, self.peers = name, unit, work, make, ours, peers
        self.check, self.tolerance, self.tiles, self.tiles_launch = check, tolerance, tiles, tiles_launch
        self.sets = max(2, math.ceil(ROTATED / bytes_of_a_set))
        self.architecture, self.power = architecture, power


def filled(fill, *shape, dtype, scale=1.0):
    """Normally distributed numbers, or whatever is there. Integers are uniform."""
    if not fill:
        return torch.empty(*shape, device="cuda", dtype=dtype)
    if dtype == I8:
        return torch.randint(-128, 128, shape, device="cuda", dtype=dtype)
    wide = dtype if dtype in (F32, F64) else F32
    return (torch.randn(*shape, device="cuda", dtype=wide) * scale).to(dtype)


def poison(tensor):
    """NaN everywhere, or the least integer."""
    tensor.fill_(math.nan if tensor.dtype.is_floating_point else torch.iinfo(tensor.dtype).min)


def product_error(s, found):
    """Against the product in float64, which is exact for 8-bit integers."""
    if "reference" not in s:
        reference = s["a"].double() @ s["b"].double()
        if "bias" in s:
            reference = gelu(reference + s["bias"].double(), approximate="tanh")
        s["reference"] = reference
    if found.dtype == I32:
        return 0.0 if bool((found.double() == s["reference"]).all()) else math.inf
    return measuring.error(found, s["reference"])


def our_gemm(fast=False, element=None):
    def launcher(library, s):
        options = GemmOptions(int(fast), 0, Array())
        if "bias" in s:
            options.bias_gelu, options.bias = 1, Array.of(s["bias"])
        arrays = Array.of(s["a"], element), Array.of(s["b"], element), Array.of(s["out"])
        return library.launcher("ct_gemm", *map(ctypes.byref, arrays), ctypes.byref(options))

    return launcher


def our_kernel(name):
    return lambda library, s: library.kernel(name, [s[key] for key in ("a", "b", "bias", "out") if key in s])


def matmul(s):
    torch.matmul(s["a"], s["b"], out=s["out"])


def triton_candidate(m, n, k, warps, stages, transposed=False, flat=True):
    """A persistent kernel on tensor maps. The output's type says what sums are of."""

    def call(s):
        a, b, c = s["a"], s["b"], s["out"]
        if "maps" not in s:
            describe = TensorDescriptor.from_tensor
            s["maps"] = (describe(a, [m, k]), describe(b.t(), [n, k]) if transposed else describe(b, [k, n]),
                         describe(c, [m, n]))
        (rows, depth), columns = a.shape, b.shape[1]
        blocks = min(multiprocessors(), -(-rows // m) * -(-columns // n))
        triton_gemm[(blocks,)](*s["maps"], rows, columns, depth, M=m, N=n, K=k, TRANSPOSED=transposed, FLAT=flat,
                               SUM=tl.int32 if c.dtype == I32 else tl.float32, num_warps=warps, num_stages=stages)

    return "Triton", f"persistent{' flat' if flat else ''} {m}x{n}x{k} warps {warps} stages {stages}", call


def triton_for_8_0(m, n, k, warps, stages):
    """Triton's code for compute capability 8.0, for sizes that its tiles divide, on whatever GPU there is."""

    def function(s):
        places = {(i,): [["tt.divisibility", 16]] for i in range(3)}
        constants = dict(rows=s["a"].shape[0], columns=s["b"].shape[1], depth=s["a"].shape[1], M=m, N=n, K=k)
        types = dict(a="*fp16", b="*fp16", c="*fp16", **dict.fromkeys(constants, "constexpr"))
        source = ASTSource(triton_gemm_by_pointers, signature=types, constexprs=constants, attrs=places)
        kernel = triton.compile(source, target=GPUTarget("cuda", 80, 32),
                                options=dict(num_warps=warps, num_stages=stages))
        driver, ptx = Driver(), kernel.asm["ptx"]
        found = driver.function(ptx.encode() + b"\0", kernel.metadata.name)
        # Behind the kernel's own parameters are the addresses of memory that it does not use.
        spare = ptx[:ptx.index(")")].count(".param") - 3
        blocks = (constants["rows"] // m) * (constants["columns"] // n)
        return driver.launcher(found, (blocks, 1, 1), 32 * warps, [s["a"], s["b"], s["out"]] + [None] * spare,
                               kernel.metadata.shared)

    def call(s):
        key = f"code for 8.0 {m} {n} {k}"
        if key not in s:
            s[key] = function(s)
        s[key]()

    return "Triton", f"code for 8.0, {m}x{n}x{k} warps {warps} stages {stages}", call


def multiprocessors():
    return torch.cuda.get_device_properties(0).multi_processor_count


def tile_grid(s, p):
    (rows, _), columns = s["a"].shape, s["b"].shape[1]
    tiles = -(-rows // p["BM"]) * -(-columns // p["BN"])
    grid = min(multiprocessors(), tiles) if "PERSIST" in p else tiles
    return (grid, 1, 1), [s["a"], s["b"], s["out"], rows, columns, s["a"].shape[1]]


def gemm(name, size, dtype, out, tolerance, transposed=False, triton_by=None, tiles=(), peers=None, ours=None,
         bias=False, pitch=None, power=True, moved=False, architecture=None):
    """A product of an M x K by a K x N matrix; `transposed`: the second one is column-major. `pitch`: rows start at
    multiples of so many elements. `moved`: the rate is of bytes."""
    m, n, k = size
    scale = k ** -0.25 if bias else 1.0

    def matrix(fill, rows, columns, kind):
        width = -(-columns // pitch) * pitch if pitch else columns
        return filled(fill, rows, width, dtype=kind, scale=scale)

    def make(fill):
        a = matrix(fill, m, k, dtype)[:, :k]
        b = matrix(fill, n, k, dtype)[:, :k].t() if transposed else matrix(fill, k, n, dtype)[:, :n]
        frame = matrix(False, m, n, out)
        s = dict(a=a, b=b, out=frame[:, :n])
        if pitch:
            s["frame"] = frame
        if bias:
            s["bias"] = filled(fill, n, dtype=dtype)
        return s

    found = list(peers if peers is not None else [("cuBLAS", "torch.matmul", matmul)])
    if triton and triton_by:
        found.append(triton_candidate(*triton_by, transposed=transposed))
    bytes_of_a_set = dtype.itemsize * (m * k + k * n) + out.itemsize * m * n
    return Workload(name, "GB/s" if moved else "TFLOP/s", bytes_of_a_set if moved else 2 * m * n * k, make,
                    ours or our_gemm(), found, product_error, tolerance, bytes_of_a_set, tiles, tile_grid,
                    architecture, power)


def scaled(fast):
    def call(s):
        if "one" not in s:
            s["one"] = torch.ones((), device="cuda")
        return torch._scaled_mm(s["a"], s["b"], s["one"], s["one"], out_dtype=BF16, use_fast_accum=fast)

    return "cuBLAS", f"_scaled_mm {'fast' if fast else 'precise'}", call


def int_mm(s):
    torch._int_mm(s["a"], s["b"], out=s["out"])


def addmm_gelu(s):
    return torch._addmm_activation(s["bias"], s["a"], s["b"], use_gelu=True)


def separate_gelu(s):
    return gelu(torch.addmm(s["bias"], s["a"], s["b"]), approximate="tanh")


def square(size):
    return size, size, size


def half_gemm(dtype, size, transposed):
    name = "f16" if dtype == F16 else "bf16"
    tiles = [] if transposed else [f"gemm_{name}__bm128_bn256_bk32_warps8_persist1",
                                   f"gemm_{name}__bm256_bn256_bk64_ctas2_warps8_persist1"]
    return gemm(f"gemm_{name}_{size}{'_bt' if transposed else ''}", square(size), dtype, dtype,
                1e-3 if dtype == F16 else 1e-2, transposed, (128, 256, 64, 8, 3), tiles)


def tf32(transposed):
    suffix, options = ("_tn", "_tn_layout1") if transposed else ("", "")
    return gemm(f"gemm_tf32_8192{'_bt' if transposed else ''}", square(8192), F32, F32, 2e-3, transposed,
                tiles=[f"gemm_tf32{suffix}__bm128_bn256_bk32_warps8_persist1{options}"], ours=our_gemm(element="tf32"))


def fp8(fast):
    contender = dict(triton_by=(128, 256, 128, 8, 3),
                     tiles=["gemm_fp8__tn_layout1_bm128_bn128_bk128_warps8_persist1_gm16"]) if fast else {}
    return gemm(f"gemm_f8e4m3_8192_{'fast' if fast else 'precise'}", square(8192), F8, BF16, 1e-2, True,
                peers=[scaled(fast)], ours=our_gemm(fast), **contender)


def ragged(pitch):
    return gemm("gemm_f16_ragged" + ("_pitch" if pitch else ""), (4097, 4093, 4091), F16, F16, 1e-3, pitch=pitch,
                triton_by=(128, 256, 64, 8, 3) if pitch else None)


def decode(rows):
    """One or a few rows by a matrix of weights, each of whose columns is contiguous, as a linear layer has them."""
    return gemm(f"decode_f16_{rows}", (rows, 8192, 8192), F16, F16, 1e-3, True, power=False, moved=True)


def step(name, kernel, size, **others):
    return gemm(f"{name}_{size}", square(size), F16, F16, 2e-3, ours=our_kernel(kernel), **others)


def with_bias_and_gelu(name, size, ours):
    return gemm(f"{name}_{size}", square(size), F16, F16, 2e-3, ours=ours, bias=True, peers=[
        ("cuBLAS", "_addmm_activation", addmm_gelu), ("PyTorch", "addmm, gelu", separate_gelu)])


def batched():
    batches, size = 64, 1024

    def make(fill):
        tensors = [filled(fill, batches, size, size, dtype=F16) for _ in range(2)]
        return dict(a=tensors[0], b=tensors[1], out=filled(False, batches, size, size, dtype=F16))

    return Workload("gemm_f16_64x1024", "TFLOP/s", 2 * batches * size ** 3, make, our_gemm(),
                    [("cuBLAS", "torch.bmm", lambda s: torch.bmm(s["a"], s["b"], out=s["out"]))], product_error, 1e-3,
                    6 * batches * size ** 2)


GROUP = [
    (4096, 4096, 1024), (3072, 1024, 4096), (2048, 2048, 2048), (1024, 4096, 1536), (512, 8192, 2048),
    (256, 4096, 4096), (128, 8192, 4096), (64, 4096, 8192), (1536, 1536, 1536), (2560, 1280, 1920), (640, 5120, 2560),
    (3584, 896, 1792), (1000, 3000, 2000), (120, 2040, 4080), (96, 6144, 3072), (768, 768, 12288),
]
# Rows that 16 experts were given.
EXPERTS = [1024, 128, 640, 64, 896, 256, 512, 32, 768, 1280, 96, 384, 704, 160, 832, 416]


def our_group(library, s):
    """All problems in one launch."""
    kinds = [(Array * len(s["group"]))(*[Array.of(problem[key]) for problem in s["group"]]) for key in ("a", "b", "out")]
    options = GemmOptions(0, 0, Array())
    return library.launcher("ct_grouped_gemm", *kinds, ctypes.c_size_t(len(s["group"])), ctypes.byref(options))


def one_by_one(s):
    for problem in s["group"]:
        matmul(problem)


def group_error(s, found):
    """The worst of all problems; they all lie in one output."""
    return max(product_error(problem, problem["out"]) for problem in s["group"])


def grouped():
    def make(fill):
        out = filled(False, sum(m * n for m, n, _ in GROUP), dtype=F16)
        parts = out.split([m * n for m, n, _ in GROUP])
        group = [dict(a=filled(fill, m, k, dtype=F16), b=filled(fill, k, n, dtype=F16), out=part.view(m, n))
                 for (m, n, k), part in zip(GROUP, parts)]
        return dict(group=group, out=out)

    return Workload("grouped_f16_16", "TFLOP/s", sum(2 * m * n * k for m, n, k in GROUP), make, our_group,
                    [("cuBLAS", "matmul one by one", one_by_one)], group_error, 1e-3,
                    sum(2 * (m * k + k * n + m * n) for m, n, k in GROUP))


def experts():
    """Unequal numbers of rows, each by weights of its own."""
    rows, size = sum(EXPERTS), 4096

    def make(fill):
        a, out = filled(fill, rows, size, dtype=BF16), filled(False, rows, size, dtype=BF16)
        weights = filled(fill, len(EXPERTS), size, size, dtype=BF16).transpose(1, 2)
        group = [dict(a=x, b=w, out=y) for x, w, y in zip(a.split(EXPERTS), weights, out.split(EXPERTS))]
        ends = torch.tensor(EXPERTS, device="cuda", dtype=I32).cumsum(0, dtype=I32)
        return dict(group=group, out=out, a=a, weights=weights, ends=ends)

    def grouped_mm(s):
        return torch._grouped_mm(s["a"], s["weights"], offs=s["ends"])

    def check(s, found):
        return max(product_error(problem, part) for problem, part in zip(s["group"], found.split(EXPERTS)))

    return Workload("grouped_bf16_experts", "TFLOP/s", 2 * rows * size * size, make, our_group,
                    [("PyTorch", "_grouped_mm", grouped_mm), ("cuBLAS", "matmul one by one", one_by_one)], check, 1e-2,
                    2 * (2 * rows * size + len(EXPERTS) * size * size))


def attention(causal):
    batches, heads, length, depth = 4, 32, 4096, 128
    shape, scale, looked_at = (batches, heads, length, depth), depth ** -0.5, [0, 37, 90, 127]

    def make(fill):
        s = {key: filled(fill, *shape, dtype=F16) for key in "qkv"}
        return dict(s, out=filled(False, *shape, dtype=F16))

    def ours(library, s):
        arrays = [Array.of(s[key]) for key in ("q", "k", "v", "out")]
        return library.launcher("ct_attention", *map(ctypes.byref, arrays), ctypes.c_float(scale), ctypes.c_int(causal))

    def cudnn(s):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return scaled_dot_product_attention(s["q"], s["k"], s["v"], is_causal=causal)

    def check(s, found):
        """Of some heads; all must be numbers."""
        if "reference" not in s:
            mask = torch.ones(length, length, device="cuda", dtype=torch.bool).triu(1)
            references = []
            for head in looked_at:
                q, k, v = (s[key].flatten(0, 1)[head].double() for key in "qkv")
                scores = q @ k.t() * scale
                references.append(torch.softmax(scores.masked_fill(mask, -math.inf) if causal else scores, -1) @ v)
            s["reference"] = torch.stack(references)
        if not bool(torch.isfinite(found).all()):
            return math.nan
        return measuring.error(found.flatten(0, 1)[looked_at], s["reference"])

    def tiles_launch(s, p):
        return (length // p["BM"], batches * heads, 1), [s["q"], s["k"], s["v"], s["out"], batches * heads, length, scale]

    tiles = ["attn_causal__bm64_bn128_occ2_latk2_latv4_rev1_oneloop1"] if causal else [
        "attn__bm128_bn256_warps8_latk2_latv4"]
    work = 4 * batches * heads * length * length * depth // (2 if causal else 1)
    return Workload("attention_f16" + ("_causal" if causal else ""), "TFLOP/s", work, make, ours,
                    [("cuDNN", "scaled_dot_product_attention", cudnn)], check, 2e-3,
                    8 * batches * heads * length * depth, tiles, tiles_launch)


# The most important first: what the budget does not allow is left out at the end.
WORKLOADS = {
    "f16_8192": lambda: half_gemm(F16, 8192, False),
    "f16_4096": lambda: half_gemm(F16, 4096, False),
    "f16_8192_bt": lambda: half_gemm(F16, 8192, True),
    "f16_4096_bt": lambda: half_gemm(F16, 4096, True),
    "attention": lambda: attention(False),
    "attention_causal": lambda: attention(True),
    "bf16_8192": lambda: half_gemm(BF16, 8192, False),
    "tf32": lambda: tf32(False),
    "tf32_bt": lambda: tf32(True),
    "fp8_fast": lambda: fp8(True),
    "fp8_precise": lambda: fp8(False),
    "i8": lambda: gemm("gemm_i8_8192_bt", square(8192), I8, I32, 0.0, True, (128, 128, 128, 8, 3),
                       peers=[("cuBLAS", "_int_mm", int_mm)]),
    "f64": lambda: gemm("gemm_f64_4096", square(4096), F64, F64, 1e-13),
    "ragged": lambda: ragged(None),
    "ragged_pitch": lambda: ragged(64),
    "streamed_8192": lambda: step("gemm_streamed", "gemm_streamed", 8192),
    "loads_8192": lambda: step("gemm_loads", "gemm_loads", 8192),
    "streamed_gelu_8192": lambda: with_bias_and_gelu("gemm_streamed_gelu", 8192, our_kernel("gemm_streamed_gelu")),
    "gelu_8192": lambda: with_bias_and_gelu("gemm_f16_gelu", 8192, our_gemm()),
    "sm_80": lambda: gemm("gemm_f16_8192_sm_80", square(8192), F16, F16, 1e-3, architecture="sm_80", peers=[
        ("cuBLAS", "torch.matmul", matmul),
        *(triton_for_8_0(*by) for by in [(128, 128, 64, 4, 3), (128, 256, 64, 8, 3)] if triton)]),
    **{f"decode_{rows}": lambda rows=rows: decode(rows) for rows in (1, 8, 16, 32, 64)},
    "batched": batched,
    "grouped": grouped,
    "experts": experts,
    "bf16_4096": lambda: half_gemm(BF16, 4096, False),
    "bf16_8192_bt": lambda: half_gemm(BF16, 8192, True),
    "bf16_4096_bt": lambda: half_gemm(BF16, 4096, True),
    "streamed_4096": lambda: step("gemm_streamed", "gemm_streamed", 4096),
    "loads_4096": lambda: step("gemm_loads", "gemm_loads", 4096),
    "streamed_gelu_4096": lambda: with_bias_and_gelu("gemm_streamed_gelu", 4096, our_kernel("gemm_streamed_gelu")),
}


class Bench:
    """What a process that measures has: the driver, our library in each architecture, and the journal."""

    def __init__(self, options):
        self.options, self.driver, self.cubins = options, Driver(), measuring.cubins(options.cubins)
        self.version, self.copy = measuring.driver_version(), None
        # The driver compiles the kernels of each architecture, which takes a while, beside the others.
        threads, architectures = concurrent.futures.ThreadPoolExecutor(), {None}
        architectures.update(WORKLOADS[key]().architecture for key in options.only)
        self.libraries = {which: threads.submit(self.library, which) for which in architectures if options.library}

    def note(self, **line):
        """A line for the process that waits for this one."""
        with open(self.options.journal, "a") as journal:
            print(json.dumps(line), file=journal)

    def library(self, architecture):
        """The library with the kernels of one architecture. A second one is a copy of the file: the loader then gives
        it variables of its own."""
        path = pathlib.Path(self.options.library).resolve()
        if architecture:
            path = pathlib.Path(shutil.copy(path, pathlib.Path(tempfile.mkdtemp()) / f"{architecture}_{path.name}"))
        return Library(path, 0, architecture)

    def candidates(self, workload, sets):
        """(kind, name, what makes one launch for each set)."""
        if self.options.library:
            yield "ours", "cuda-tiles", lambda: [
                workload.ours(self.libraries[workload.architecture].result(), s) for s in sets]
        if self.options.alone:
            return
        for kind, name, call in workload.peers:
            yield kind, name, lambda call=call: [lambda s=s: call(s) for s in sets]
        for name in workload.tiles:
            if name in self.cubins:
                yield "CUDA Tile C++", name.split("__")[1], lambda name=name: self.tile_launches(workload, name, sets)

    def tile_launches(self, workload, name, sets):
        image = (pathlib.Path(self.options.cubins) / f"{name}.cubin").read_bytes()
        function = self.driver.function(image, "kern")
        launches = []
        for s in sets:
            grid, arguments = workload.tiles_launch(s, self.cubins[name]["p"])
            launches.append(self.driver.launcher(function, grid, 1, arguments))
        return launches

    def checked(self, workload, first, launch, kind):
        """The error of one launch on a poisoned output."""
        poison(first.get("frame", first["out"]))
        torch.cuda.synchronize()
        returned = launch()
        torch.cuda.synchronize()
        # PyTorch's functions without an `out` return their result.
        error = workload.check(first, first["out"] if returned is None else returned)
        if kind == "ours" and "frame" in first:
            beside = first["frame"][:, first["out"].shape[1]:]
            if not bool(beside.isnan().all()):
                raise RuntimeError("it wrote beside its output")
        return error

    def measure(self, key, workload):
        """The row of the table."""
        self.note(begin=key, kind="the data")
        sets = [workload.make(True) for _ in range(workload.sets)]
        good, notes = [], []
        for kind, name, make in self.candidates(workload, sets):
            if [key, kind] in self.options.without:
                notes.append(f"{kind} ({name}): failed before")
                continue
            self.note(begin=key, kind=kind)
            try:
                launches = make()
                error = self.checked(workload, sets[0], launches[0], kind)
                if not error <= workload.tolerance:
                    notes.append(f"WRONG: {kind} ({name}), error {error:.2e}")
                    continue
                good.append(dict(kind=kind, name=name, launches=launches, error=error,
                                 count=launches_of_a_sample(launches), samples=[]))
            except Lacking as lacking:
                notes.append(f"{kind}: {lacking}")
            except Exception as problem:  # Whatever a library says, the others go on.
                notes.append(f"FAILED: {kind} ({name}): {str(problem)[:300]}")
                print(workload.name, notes[-1], flush=True)
                torch.cuda.synchronize()  # Raises, and so ends the process, if the GPU cannot go on.
        for _ in range(5 if self.options.quick else SAMPLES):
            for one in good:
                self.note(begin=key, kind=one["kind"])
                if workload.power:
                    time.sleep(REST)
                one["samples"].append(sample(one["launches"], one["count"]))
        for one in good:
            one["milliseconds"] = statistics.median(one["samples"])
            one["rate"] = self.rate(workload, one["milliseconds"])
            if workload.power and not self.options.quick:
                self.note(begin=key, kind=one["kind"])
                one["sustained"] = self.rate(workload, sustained(one["launches"], one["milliseconds"]))
            if one["kind"] == "ours":
                again = self.checked(workload, sets[0], one["launches"][0], "ours")
                if not again <= workload.tolerance:
                    notes.append(f"WRONG under load: ours, error {again:.2e}")
        return self.row(workload, good, notes)

    @staticmethod
    def rate(workload, milliseconds):
        return workload.work / milliseconds / (1e6 if workload.unit == "GB/s" else 1e9)

    def row(self, workload, good, notes):
        best = {}
        for one in good:
            if one["kind"] not in best or one["rate"] > best[one["kind"]]["rate"]:
                best[one["kind"]] = one
        ours = best.pop("ours", None)
        rival = max(best.values(), key=lambda one: one["rate"], default=None)
        sustained_rival = max((one["sustained"] for one in best.values() if "sustained" in one), default=None)
        sustained_ours = ours and ours.get("sustained")

        def ratio(one, other):
            return round(one / other, 4) if one and other else None

        def rounded(value):
            return value and round(value, 1)

        return dict(
            ratio=ratio(ours and ours["rate"], rival and rival["rate"]),
            sustained_ratio=ratio(sustained_ours, sustained_rival),
            workload=workload.name, unit=workload.unit, ours=rounded(ours and ours["rate"]),
            sustained=rounded(sustained_ours), rival=rounded(rival and rival["rate"]),
            rival_name=rival and f"{rival['kind']} ({rival['name']})", sustained_rival=rounded(sustained_rival),
            others={kind: rounded(one["rate"]) for kind, one in best.items()},
            sustained_others={kind: rounded(one["sustained"]) for kind, one in best.items() if "sustained" in one},
            **(dict(ceiling=round(self.copy, 1)) if workload.unit == "GB/s" else {}),
            error=ours and ours["error"], errors={kind: one["error"] for kind, one in best.items()},
            **(dict(notes=notes) if notes else {}), commit=self.options.commit, driver=self.version,
            gpu=torch.cuda.get_device_name(), date=datetime.date.today().isoformat())


def compile_triton(names):
    """Begins to compile the Triton kernels of all workloads, in processes of their own: this one must not have used the
    GPU yet. What they compile stays in Triton's cache. Returns their numbers."""
    jobs = [name for name in names if any(kind == "Triton" for kind, _, _ in WORKLOADS[name]().peers)]
    children = []
    for name in jobs:
        child = os.fork()
        if child == 0:
            try:
                workload = WORKLOADS[name]()
                data = workload.make(False)
                for kind, _, call in workload.peers:
                    if kind == "Triton":
                        call(data)
                torch.cuda.synchronize()
            except Exception as problem:
                print(f"Triton for {name}: {problem}"[:400], flush=True)
            finally:
                os._exit(0)
        children.append(child)
    return children


def work(options):
    """Measures the workloads that it is told, and writes the journal."""
    children = compile_triton(options.only) if triton and options.compile and not options.alone else []
    torch.manual_seed(datetime.datetime.now().microsecond)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.cuda.init()
    bench = Bench(options)
    for child in children:
        os.waitpid(child, 0)
    bench.copy = measuring.ceiling()
    for key in options.only:
        if time.time() > options.deadline:
            return
        row = bench.measure(key, WORKLOADS[key]())
        bench.note(done=key, row=row)
        print(line_of(row), flush=True)
        torch.cuda.empty_cache()


def line_of(row):
    """A row in one line, ratio first."""

    def number(value, digits):
        return "-" if value is None else f"{value:.{digits}f}"

    peers = ", ".join(f"{kind} {rate:.0f} ({number(row['sustained_others'].get(kind), 0)})"
                      for kind, rate in row["others"].items())
    of_copy = f", copy {row['ceiling']:.0f}" if "ceiling" in row else ""
    error = "" if row["error"] is None else f", error {row['error']:.1e}"
    notes = "".join(f"\n    {note}" for note in row.get("notes", []))
    return (f"{number(row['ratio'], 3):>6} ({number(row['sustained_ratio'], 3)}) {row['workload']:26} "
            f"{number(row['ours'], 0)} ({number(row['sustained'], 0)}) {row['unit']}; {peers}{of_copy}{error}{notes}")


def supervise(options):
    """Lets processes measure until all is measured or the budget is used up, and collects their rows."""
    start, left, without, rows = time.time(), list(options.only), [], []
    folder, first = tempfile.mkdtemp(), True
    while left and time.time() < start + options.budget:
        journal = pathlib.Path(folder) / f"journal{len(left)}_{len(without)}"
        journal.touch()
        order = dict(vars(options), only=left, without=without, journal=str(journal), compile=first,
                     deadline=start + options.budget)
        child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--work", json.dumps(order)])
        hung = not watch(child, journal)
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        done = [line["done"] for line in lines if "done" in line]
        rows += [line["row"] for line in lines if "row" in line]
        left = [name for name in left if name not in done]
        write(options, rows)
        if child.returncode == 0:
            break
        begun = [line for line in lines if "begin" in line]
        what = "hung" if hung else f"ended with {child.returncode}"
        if not begun or begun[-1]["begin"] not in left:
            print(f"The process that measures {what} before it began; what is left: {left}")
            break
        key, kind = begun[-1]["begin"], begun[-1]["kind"]
        print(f"FAILED: {kind} of {key}: the process that measures {what}; another one goes on without it", flush=True)
        if [key, kind] in without or kind == "the data":
            left.remove(key)
        without.append([key, kind])
        first = False
    print(f"\nratio to the best rival, in bursts (sustained); {time.time() - start:.0f} s")
    for row in rows:
        print(line_of(row))
    if left:
        print(f"not measured: {' '.join(left)}")
    notes = [note for row in rows for note in row.get("notes", [])]
    return 1 if without or left or any("ours" in note and note.startswith(("WRONG", "FAILED")) for note in notes) else 0


def watch(child, journal, patience=PATIENCE, at_first=PATIENCE_AT_FIRST):
    """Waits for the process. Whether it ended by itself, and not for want of news for so many seconds."""
    news, size = time.time(), 0
    while child.poll() is None:
        time.sleep(0.25)
        if journal.stat().st_size != size:
            news, size = time.time(), journal.stat().st_size
        if time.time() - news > (patience if size else at_first):
            child.kill()
            child.wait()
            return False
    return True


def write(options, rows):
    if options.results:
        pathlib.Path(options.results).write_text(json.dumps(rows, indent=1) + "\n")


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(argparse.Namespace(**json.loads(sys.argv[2])))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library")
    parser.add_argument("--cubins")
    parser.add_argument("--only", nargs="*", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--budget", type=float, default=1e9)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--results")
    return supervise(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
