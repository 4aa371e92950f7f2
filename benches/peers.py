#!/usr/bin/env python3
"""Our kernels next to what users would pick instead, on one GPU, in one process.

    python3 benches/peers.py --ptx FILE.ptx [--cubins DIR] [--commit HASH] [--results benches/results/h200.json]

Needs PyTorch; times Triton too where it is installed, and CUDA Tile C++ where --cubins names a folder with
`manifest.json` (a list of {"wl": workload, "name": file without .cubin, "p": parameters, "ok": true}) and cubins whose
entry is `kern(pointers..., sizes as i32...)`. --ptx is a file that the builder wrote for this GPU.

Method: every candidate runs once on a poisoned output and is compared with a float64 reference. Time is CUDA events
around back-to-back launches of at least 3 ms, queued behind a short spin so that the host's launch time does not
show; inputs rotate over sets larger than the L2 cache; samples of all candidates are interleaved; the median of 15.
Bytes: each input read once, each output written once. `ratio` is ours over the best rival; below 2 % is a tie.
"""
import argparse
import ctypes
import datetime
import json
import math
import re
import statistics
import subprocess

import torch

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

SAMPLES = 15
ROWS = 8192


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

    def launcher(self, function, grid, threads, arguments):
        values = []
        for argument in arguments:
            if isinstance(argument, torch.Tensor):
                values.append(ctypes.c_void_p(argument.data_ptr()))
            elif isinstance(argument, tuple):  # extents of a span: one struct of u32
                values.append((ctypes.c_uint32 * len(argument))(*argument))
            else:
                values.append(ctypes.c_int32(argument))
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        sizes = [ctypes.c_uint(size) for size in (*grid, threads, 1, 1, 0)]

        def launch():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(self.cuda.cuLaunchKernel(function, *sizes, stream, pointers, None), "cuLaunchKernel")

        launch.keep_alive = values
        return launch


if triton:

    @triton.jit
    def triton_add(x, y, z, count, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < count
        tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)

    @triton.jit
    def triton_softmax(x, y, columns, BLOCK: tl.constexpr):
        row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
        inside = at < columns
        values = tl.load(x + row * columns + at, mask=inside, other=-float("inf")).to(tl.float32)
        powers = tl.exp(values - tl.max(values, axis=0))
        result = powers / tl.sum(powers, axis=0)
        tl.store(y + row * columns + at, result.to(y.dtype.element_ty), mask=inside)

    @triton.jit
    def triton_row_sum(x, sums, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
        row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        for start in tl.range(0, columns, BLOCK, num_stages=STAGES):
            total += tl.load(x + row * columns + start + at, mask=start + at < columns, other=0.0)
        tl.store(sums + row, tl.sum(total, axis=0))


def cubin_grid(parameters, units):
    """Blocks of a CUDA Tile kernel: one for each tile, or for each group of rows."""
    return (-(-units // parameters.get("TILE", parameters.get("R", 1))), 1, 1)


class Workload:
    """Data, the candidates on it, and the reference."""

    def __init__(self, name, cubins, moved, sets, units, ours, torch_candidates, triton_candidates, reference, tolerance):
        self.name, self.cubins, self.moved, self.sets, self.units = name, cubins, moved, sets, units
        self.ours, self.torch_candidates, self.triton_candidates = ours, torch_candidates, triton_candidates
        self.reference, self.tolerance = reference, tolerance


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def empty(*shape, dtype=torch.float32):
    return torch.empty(*shape, device="cuda", dtype=dtype)


def vector_add():
    count = 1 << 28
    sets = [dict(x=random(count), y=random(count), out=empty(count)) for _ in range(2)]
    return Workload(
        "vadd_f32_2^28", "vadd", 12 * count, sets, count,
        ("add_f32_4096", lambda s: ((-(-count // 4096), 1, 1), [s["x"], (count,), s["y"], (count,), s["out"], (count,)])),
        {"torch.add": lambda s: torch.add(s["x"], s["y"], out=s["out"])},
        {f"BLOCK {block} warps {warps}": lambda s, block=block, warps=warps: triton_add[(-(-count // block),)](
            s["x"], s["y"], s["out"], count, BLOCK=block, num_warps=warps)
         for block, warps in ((1024, 4), (1024, 8), (2048, 4), (4096, 8))},
        lambda s: s["x"].double() + s["y"].double(), 1e-7)


def softmax(dtype, entry, name, cubins, tolerance):
    sets = [dict(x=random(ROWS, 8192, dtype=dtype), out=empty(ROWS, 8192, dtype=dtype)) for _ in range(3)]
    return Workload(
        name, cubins, 2 * dtype.itemsize * ROWS * 8192, sets, ROWS,
        (entry, lambda s: ((ROWS, 1, 1), [s["x"], (ROWS,), s["out"], (ROWS,)])),
        {"torch.softmax": lambda s: torch.softmax(s["x"], -1, out=s["out"])},
        {f"warps {warps}": lambda s, warps=warps: triton_softmax[(ROWS,)](
            s["x"], s["out"], 8192, BLOCK=8192, num_warps=warps) for warps in (4, 8, 16)},
        lambda s: torch.softmax(s["x"].double(), -1), tolerance)


def row_sum():
    columns = 32768
    sets = [dict(x=random(ROWS, columns) + 0.5, out=empty(ROWS)) for _ in range(2)]
    return Workload(
        "rowsum_f32_8192x32768", "rowsum", 4 * ROWS * columns, sets, ROWS,
        ("row_sum_8192", lambda s: ((ROWS, 1, 1), [s["x"], (ROWS, columns), s["out"], (ROWS,)])),
        {"torch.sum": lambda s: torch.sum(s["x"], 1, out=s["out"])},
        {f"BLOCK {block} stages {stages} warps {warps}": lambda s, block=block, stages=stages, warps=warps:
         triton_row_sum[(ROWS,)](s["x"], s["out"], columns, BLOCK=block, STAGES=stages, num_warps=warps)
         for block, stages, warps in ((4096, 1, 4), (4096, 3, 4), (8192, 1, 8), (8192, 2, 8))},
        lambda s: s["x"].double().sum(1), 1e-5)


WORKLOADS = [
    vector_add,
    lambda: softmax(torch.float32, "softmax_8192", "softmax_f32_8192x8192", "softmax_f32", 1e-5),
    lambda: softmax(torch.float16, "softmax_half_f16_8192", "softmax_f16_8192x8192", "softmax_f16", 1e-3),
    row_sum,
]


def sample(launches, count):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(700_000)
    start.record()
    for k in range(count):
        launches[k % len(launches)]()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / count


def candidates(workload, driver, ptx, cubins):
    """(kind, name, one launch for each set)."""
    entry, arguments = workload.ours
    threads = re.search(rf"\.entry {re.escape(entry)}\(.*?\.maxntid (\d+)", ptx, re.S)
    if not threads:
        raise SystemExit(f"{entry} is not in the PTX, or states no block size: build it with cuda-tiles-builder")
    function = driver.function(ptx.encode() + b"\0", entry)
    launches = []
    for tensors in workload.sets:
        grid, values = arguments(tensors)
        launches.append(driver.launcher(function, grid, int(threads[1]), values))
    yield "ours", entry, launches
    for name, call in workload.torch_candidates.items():
        yield "PyTorch", name, [lambda s=s, call=call: call(s) for s in workload.sets]
    for name, call in (workload.triton_candidates if triton else {}).items():
        yield "Triton", name, [lambda s=s, call=call: call(s) for s in workload.sets]
    manifest = json.load(open(f"{cubins}/manifest.json")) if cubins else []
    for cubin in manifest:
        if cubin["wl"] != workload.cubins or not cubin["ok"]:
            continue
        image = open(f"{cubins}/{cubin['name']}.cubin", "rb").read()
        function = driver.function(image, "kern")
        grid = cubin_grid(cubin["p"], workload.units)
        launches = []
        for s in workload.sets:
            sizes = [workload.units] if "y" in s else list(s["x"].shape)
            launches.append(driver.launcher(function, grid, 1, [*s.values(), *sizes]))
        yield "CUDA Tile C++", cubin["name"].split("__")[1], launches


def measure(workload, driver, ptx, cubins):
    found = list(candidates(workload, driver, ptx, cubins))
    first = workload.sets[0]
    reference = workload.reference(first)
    good = []
    for kind, name, launches in found:
        first["out"].fill_(math.nan)
        launches[0]()
        torch.cuda.synchronize()
        error = ((first["out"].double() - reference).norm() / reference.norm()).item()
        if error <= workload.tolerance:
            good.append((kind, name, launches, error))
        else:
            print(f"FAILED {workload.name}: {kind} {name} is wrong, error {error}")
    del reference
    counts = [max(2, math.ceil(3.0 / sample(launches, 4))) for _, _, launches, _ in good]
    samples = [[] for _ in good]
    for _ in range(SAMPLES):
        for k, (_, _, launches, _) in enumerate(good):
            samples[k].append(sample(launches, counts[k]))
    rates = [workload.moved / statistics.median(times) / 1e6 for times in samples]
    return [(kind, name, rate, error) for (kind, name, _, error), rate in zip(good, rates)]


def ceiling():
    source, target = random(1 << 28), empty(1 << 28)
    times = [sample([lambda: target.copy_(source)], 6) for _ in range(SAMPLES)]
    return 8 * source.numel() / statistics.median(times) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ptx", required=True)
    parser.add_argument("--cubins")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--results")
    options = parser.parse_args()
    torch.manual_seed(datetime.datetime.now().microsecond)
    torch.cuda.init()
    random(1)
    driver, ptx = Driver(), open(options.ptx).read()
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    version = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    copy = ceiling()
    print(f"{torch.cuda.get_device_name()}, driver {version}, copy {copy:.0f} GB/s")
    rows = []
    for make in WORKLOADS:
        workload = make()
        results = measure(workload, driver, ptx, options.cubins)
        best = {}
        for kind, name, rate, error in results:
            if kind not in best or rate > best[kind][1]:
                best[kind] = (name, rate, error)
        if "ours" not in best:
            raise SystemExit(1)
        ours = best.pop("ours")
        rival = max(best, key=lambda kind: best[kind][1])
        rows.append(dict(
            workload=workload.name, unit="GB/s", ours=round(ours[1], 1), rival=round(best[rival][1], 1),
            rival_name=f"{rival} ({best[rival][0]})", ratio=round(ours[1] / best[rival][1], 4), ceiling=round(copy, 1),
            others={kind: round(rate, 1) for kind, (_, rate, _) in best.items()}, error=ours[2],
            commit=options.commit, driver=version, gpu=torch.cuda.get_device_name(),
            date=datetime.date.today().isoformat()))
        print(f"{workload.name:22} {rows[-1]['ratio']:.3f} of {rows[-1]['rival_name']}: {ours[1]:.0f} GB/s, "
              + ", ".join(f"{kind} {rate:.0f}" for kind, (_, rate, _) in sorted(best.items())))
        del workload
        torch.cuda.empty_cache()
    if options.results:
        json.dump(rows, open(options.results, "w"), indent=1)


if __name__ == "__main__":
    main()
