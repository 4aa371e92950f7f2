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
import datetime
import json
import math
import re
import statistics

import torch

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

from measuring import SAMPLES, Driver, ceiling, cubins as manifest_of, driver_version, empty, error as distance, random
from measuring import launches_of_a_sample, sample

ROWS = 8192


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


    @triton.jit
    def triton_layer_norm(x, weight, bias, y, means, deviations, columns, epsilon, BLOCK: tl.constexpr):
        row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
        inside = at < columns
        values = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
        mean = tl.sum(values, axis=0) / columns
        distance = tl.where(inside, values - mean, 0.0)
        scale = 1 / tl.sqrt(tl.sum(distance * distance, axis=0) / columns + epsilon)
        tl.store(means + row, mean)
        tl.store(deviations + row, scale)
        result = distance * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
        tl.store(y + row * columns + at, result.to(tl.float16), mask=inside)

    @triton.jit
    def triton_transpose(x, y, size, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
        rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
        columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
        tile = tl.load(x + rows[:, None] * size + columns[None, :])
        tl.store(y + columns[:, None] * size + rows[None, :], tl.trans(tile))

    @triton.jit
    def triton_gather(table, indices, out, WIDTH: tl.constexpr, ROWS: tl.constexpr):
        rows, at = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
        source = tl.load(indices + rows).to(tl.int64)
        values = tl.load(table + source[:, None] * WIDTH + at[None, :])
        tl.store(out + rows[:, None].to(tl.int64) * WIDTH + at[None, :], values)

    @triton.jit
    def triton_cumulative_sum(x, y, columns, BLOCK: tl.constexpr):
        row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
        inside = at < columns
        values = tl.load(x + row * columns + at, mask=inside, other=0.0)
        tl.store(y + row * columns + at, tl.cumsum(values, 0), mask=inside)


class Workload:
    """Data, the candidates on it, and the reference.

    `cubins` names the workload in the manifest, or says (name, sizes, grid): the sizes that its kernels take after the
    pointers, and the grid for a kernel's parameters.
    """

    def __init__(self, name, cubins, moved, sets, ours, torch_candidates, triton_candidates, reference, tolerance):
        self.name, self.moved, self.sets = name, moved, sets
        self.cubins, self.cubin_sizes, self.cubin_grid = cubins
        self.ours, self.torch_candidates, self.triton_candidates = ours, torch_candidates, triton_candidates
        self.reference, self.tolerance = reference, tolerance


def by_rows(name, sizes):
    """CUDA Tile kernels with one block for each tile or group of rows."""
    return name, sizes, lambda p: (-(-sizes[0] // p.get("TILE", p.get("R", 1))), 1, 1)


def vector_add():
    count = 1 << 28
    sets = [dict(x=random(count), y=random(count), out=empty(count)) for _ in range(2)]
    return Workload(
        "vadd_f32_2^28", by_rows("vadd", [count]), 12 * count, sets,
        ("add_f32_4096", lambda s: ((-(-count // 4096), 1, 1), [s["x"], (count,), s["y"], (count,), s["out"], (count,)])),
        {"torch.add": lambda s: torch.add(s["x"], s["y"], out=s["out"])},
        {f"BLOCK {block} warps {warps}": lambda s, block=block, warps=warps: triton_add[(-(-count // block),)](
            s["x"], s["y"], s["out"], count, BLOCK=block, num_warps=warps)
         for block, warps in ((1024, 4), (1024, 8), (2048, 4), (4096, 8))},
        lambda s: s["x"].double() + s["y"].double(), 1e-7)


def softmax(dtype, entry, cubins, tolerance, columns=8192):
    """Rows of `columns`; where the kernel is compiled for any number of them, `columns` is an extent."""
    sets = [dict(x=random(ROWS, columns, dtype=dtype), out=empty(ROWS, columns, dtype=dtype)) for _ in range(3)]
    extents = (ROWS,) if columns == 8192 else (ROWS, columns)
    return Workload(
        f"softmax_f{8 * dtype.itemsize}_8192x{columns}", by_rows(cubins, [ROWS, columns]),
        2 * dtype.itemsize * ROWS * columns, sets,
        (entry, lambda s: ((ROWS, 1, 1), [s["x"], extents, s["out"], extents])),
        {"torch.softmax": lambda s: torch.softmax(s["x"], -1, out=s["out"])},
        {f"warps {warps}": lambda s, warps=warps: triton_softmax[(ROWS,)](
            s["x"], s["out"], columns, BLOCK=8192, num_warps=warps) for warps in (4, 8, 16)},
        lambda s: torch.softmax(s["x"].double(), -1), tolerance)


def row_sum(columns, entry, cubins):
    sets = [dict(x=random(ROWS, columns) + 0.5, out=empty(ROWS)) for _ in range(2)]
    return Workload(
        f"rowsum_f32_8192x{columns}", by_rows(cubins, [ROWS, columns]), 4 * ROWS * columns, sets,
        (entry, lambda s: ((ROWS, 1, 1), [s["x"], (ROWS, columns), s["out"], (ROWS,)])),
        {"torch.sum": lambda s: torch.sum(s["x"], 1, out=s["out"])},
        {f"BLOCK {block} stages {stages} warps {warps}": lambda s, block=block, stages=stages, warps=warps:
         triton_row_sum[(ROWS,)](s["x"], s["out"], columns, BLOCK=block, STAGES=stages, num_warps=warps)
         for block, stages, warps in ((4096, 1, 4), (4096, 3, 4), (8192, 1, 8), (8192, 2, 8))},
        lambda s: s["x"].double().sum(1), 1e-5)


def layer_norm():
    columns, epsilon = 8192, 1e-5
    half = lambda *shape: random(*shape, dtype=torch.float16)
    sets = [dict(x=half(ROWS, columns), w=half(columns), b=half(columns), out=empty(ROWS, columns, dtype=torch.float16),
                 mean=empty(ROWS), deviation=empty(ROWS)) for _ in range(3)]
    return Workload(
        "layernorm_f16_8192x8192", by_rows("layernorm_f16", [ROWS, columns, epsilon]), 4 * ROWS * columns, sets,
        ("layer_norm_f16_8192", lambda s: ((ROWS, 1, 1), [
            s["x"], (ROWS,), s["w"], s["b"], epsilon, s["out"], (ROWS,), s["mean"], (ROWS,), s["deviation"], (ROWS,)])),
        {"layer_norm": lambda s: torch.layer_norm(s["x"], (columns,), s["w"], s["b"], epsilon)},
        {f"warps {warps}": lambda s, warps=warps: triton_layer_norm[(ROWS,)](
            s["x"], s["w"], s["b"], s["out"], s["mean"], s["deviation"], columns, epsilon, BLOCK=8192, num_warps=warps)
         for warps in (4, 8, 16)},
        lambda s: torch.layer_norm(s["x"].double(), (columns,), s["w"].double(), s["b"].double(), epsilon), 1e-3)


def transpose():
    size = 16384
    sets = [dict(x=random(size, size), out=empty(size, size)) for _ in range(2)]

    def grid(parameters):
        rows, columns = size // parameters["TR"], size // parameters["TC"]
        return (rows, columns, 1) if "SWAP" in parameters else (columns, rows, 1)

    return Workload(
        "transpose_f32_16384x16384", ("transpose", [size, size], grid), 8 * size * size, sets,
        ("transpose_f32_64_64", lambda s: ((size // 64, size // 64, 1), [s["x"], (size, size), s["out"], (size, size)])),
        {"copy_(x.t())": lambda s: s["out"].copy_(s["x"].t())},
        {f"{rows}x{columns} warps {warps}": lambda s, rows=rows, columns=columns, warps=warps:
         triton_transpose[(size // rows, size // columns)](s["x"], s["out"], size, ROWS=rows, COLUMNS=columns, num_warps=warps)
         for rows, columns, warps in ((64, 64, 4), (64, 64, 8), (64, 128, 8), (128, 64, 8))},
        lambda s: s["x"].t().double(), 0.0)


def gather(cubins):
    rows, table, width = 1 << 17, 1 << 18, 1024
    sets = []
    for _ in range(2):
        indices = torch.randint(0, table, (rows,), device="cuda", dtype=torch.int32)
        sets.append(dict(table=random(table, width, dtype=torch.float16), indices=indices,
                         out=empty(rows, width, dtype=torch.float16)))
    wide = [s["indices"].long() for s in sets]
    return Workload(
        "gather_f16_131072x1024" + ("" if cubins == "gather" else "_view"),
        (cubins, [rows, table, width], lambda p: (rows // p["R"], width // p["D"], 1)), 4 * rows * width + 4 * rows, sets,
        ("gather_rows_f16_1_1024", lambda s: ((rows, 1, 1), [s["table"], (table,), s["indices"], (rows,), s["out"], (rows,)])),
        {"index_select": lambda s: torch.index_select(s["table"], 0, wide[next(k for k, t in enumerate(sets) if t is s)], out=s["out"])},
        {f"{n} rows warps {warps}": lambda s, n=n, warps=warps: triton_gather[(rows // n,)](
            s["table"], s["indices"], s["out"], WIDTH=width, ROWS=n, num_warps=warps) for n, warps in ((1, 1), (2, 4), (4, 4))},
        lambda s: s["table"][s["indices"].long()].double(), 0.0)


def cumulative_sum():
    columns = 8192
    sets = [dict(x=random(ROWS, columns), out=empty(ROWS, columns)) for _ in range(2)]
    return Workload(
        "cumsum_f32_8192x8192", by_rows("cumsum", [ROWS, columns]), 8 * ROWS * columns, sets,
        ("cumulative_sum_f32_8192", lambda s: ((ROWS, 1, 1), [s["x"], (ROWS,), s["out"], (ROWS,)])),
        {"torch.cumsum": lambda s: torch.cumsum(s["x"], 1, out=s["out"])},
        {f"warps {warps}": lambda s, warps=warps: triton_cumulative_sum[(ROWS,)](
            s["x"], s["out"], columns, BLOCK=8192, num_warps=warps) for warps in (4, 8, 16)},
        lambda s: s["x"].double().cumsum(1), 1e-5)


WORKLOADS = {
    "vadd": vector_add,
    "softmax_f32": lambda: softmax(torch.float32, "softmax_8192", "softmax_f32", 1e-5),
    "softmax_f16": lambda: softmax(torch.float16, "softmax_half_f16_8192", "softmax_f16", 1e-3),
    "rowsum": lambda: row_sum(32768, "row_sum_8192", "rowsum"),
    "layernorm_f16": layer_norm,
    "transpose": transpose,
    "gather": lambda: gather("gather"),
    "cumsum": cumulative_sum,
    # Where a peer's own limit shows: its view for gathering, and rows that no vector divides.
    "gather_view": lambda: gather("gather_view"),
    "softmax_f32_ragged": lambda: softmax(torch.float32, "softmax_any_8192", "softmax_f32_ragged", 1e-5, 8191),
    "softmax_f16_ragged": lambda: softmax(torch.float16, "softmax_any_half_f16_8192", "softmax_f16_ragged", 1e-3, 8191),
    "rowsum_ragged": lambda: row_sum(50257, "row_sum_8192", "rowsum_ragged"),
}


def candidates(workload, driver, ptx, cubins):
    """(kind, name, one launch for each set)."""
    entry, arguments = workload.ours
    # Entries are named by the kernel's crate, modules and name.
    found = re.search(rf"\.entry (\w+(?:\$\w+)*\${re.escape(entry)})\(.*?\.maxntid (\d+)", ptx, re.S)
    if not found:
        raise SystemExit(f"{entry} is not in the PTX, or states no block size: build it with cuda-tiles-builder")
    symbol, threads = found[1], int(found[2])
    function = driver.function(ptx.encode() + b"\0", symbol)
    launches = []
    for tensors in workload.sets:
        grid, values = arguments(tensors)
        launches.append(driver.launcher(function, grid, threads, values))
    yield "ours", entry, launches
    for name, call in workload.torch_candidates.items():
        yield "PyTorch", name, [lambda s=s, call=call: call(s) for s in workload.sets]
    for name, call in (workload.triton_candidates if triton else {}).items():
        yield "Triton", name, [lambda s=s, call=call: call(s) for s in workload.sets]
    for cubin in manifest_of(cubins).values():
        if cubin["wl"] != workload.cubins:
            continue
        image = open(f"{cubins}/{cubin['name']}.cubin", "rb").read()
        function = driver.function(image, "kern")
        grid = workload.cubin_grid(cubin["p"])
        launches = [driver.launcher(function, grid, 1, [*s.values(), *workload.cubin_sizes]) for s in workload.sets]
        yield "CUDA Tile C++", cubin["name"].split("__")[1], launches


def measure(workload, driver, ptx, cubins):
    found = list(candidates(workload, driver, ptx, cubins))
    first = workload.sets[0]
    reference = workload.reference(first)
    good = []
    for kind, name, launches in found:
        first["out"].fill_(math.nan)
        returned = launches[0]()
        torch.cuda.synchronize()
        # PyTorch's functions without an `out` return their result.
        result = returned if kind == "PyTorch" and returned is not None else first["out"]
        error = distance(result, reference)
        del returned, result
        if error <= workload.tolerance:
            good.append((kind, name, launches, error))
        else:
            print(f"FAILED {workload.name}: {kind} {name} is wrong, error {error}")
    del reference
    counts = [launches_of_a_sample(launches) for _, _, launches, _ in good]
    samples = [[] for _ in good]
    for _ in range(SAMPLES):
        for k, (_, _, launches, _) in enumerate(good):
            samples[k].append(sample(launches, counts[k]))
    rates = [workload.moved / statistics.median(times) / 1e6 for times in samples]
    return [(kind, name, rate, error) for (kind, name, _, error), rate in zip(good, rates)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ptx", required=True)
    parser.add_argument("--cubins")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--results")
    parser.add_argument("--only", nargs="*", choices=WORKLOADS, default=list(WORKLOADS))
    options = parser.parse_args()
    torch.manual_seed(datetime.datetime.now().microsecond)
    torch.cuda.init()
    random(1)
    driver, ptx = Driver(), open(options.ptx).read()
    version, copy = driver_version(), ceiling()
    print(f"{torch.cuda.get_device_name()}, driver {version}, copy {copy:.0f} GB/s")
    rows = []
    for name in options.only:
        workload = WORKLOADS[name]()
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
