#!/usr/bin/env python3
"""Matrix products of drawn sizes next to cuBLAS, on one GPU.

    python3 benches/products.py --library libcuda_tiles_bench.so [--seed N] [--count N] [--only CLASS ...] [--budget SECONDS]
                                [--plans FILE] [--commit HASH] [--results benches/results/h200_products.json]

The products are drawn with a seed: sizes log-uniform from 1 to 16,384, projections of published models at 1 to 8,192 rows, squares to
32,768, long thin ones, deep small ones and ragged ones. A rival is the best of PyTorch's calls of cuBLAS and cuBLASLt.

Method: ours and each rival run once on a poisoned output, and rows of the result, the last among them, are compared with a
float64 reference. A sample is the time of 2 ms of launches, at most 40, between two events. The launches queue up behind a kernel that
spins, so the time is that of the GPU. The samples of all candidates are interleaved, and the median of 7 counts. Inputs are normally distributed and rotate over sets larger than the L2 cache. `ratio` is the
rival's time over ours.

--plans FILE: also measures every plan that we have for the products, and appends their times to FILE. `fit.py` makes the model of them.
"""
import argparse
import ctypes
import datetime
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import torch

import measuring
from measuring import Array, Library
from matrix import GemmOptions, filled, poison, watch
from ratios import ends

SAMPLES, SAMPLE, ROTATED, MOST_SETS = 7, 2.0, 300e6, 64
# Cycles of the kernel behind which launches queue up, and the most launches that the host makes in that time.
SPIN, QUEUED = 6_000_000, 40
# Seconds without a finished product after which the process is taken to hang.
PATIENCE = 120
KINDS = {
    "f16": (torch.float16, torch.float16, 2e-3), "bf16": (torch.bfloat16, torch.bfloat16, 1e-2),
    "tf32": (torch.float32, torch.float32, 2e-3), "f64": (torch.float64, torch.float64, 1e-12),
    "i8": (torch.int8, torch.int32, 0.0), "e4m3 fast": (torch.float8_e4m3fn, torch.bfloat16, 1e-2),
    "e4m3": (torch.float8_e4m3fn, torch.bfloat16, 1e-2),
}

# Rows and columns of the weights (out, in) of published models: query, key and value, output, gate and up, down, vocabulary.
MODELS = {
    "Llama 3.2 1B": [(2048, 2048), (512, 2048), (8192, 2048), (2048, 8192), (128256, 2048)],
    "Llama 3.2 3B": [(3072, 3072), (1024, 3072), (8192, 3072), (3072, 8192)],
    "Llama 3.1 8B": [(4096, 4096), (1024, 4096), (14336, 4096), (4096, 14336), (128256, 4096)],
    "Llama 3.1 70B": [(8192, 8192), (1024, 8192), (28672, 8192), (8192, 28672)],
    "Qwen3 0.6B": [(2048, 1024), (1024, 1024), (1024, 2048), (3072, 1024), (1024, 3072), (151936, 1024)],
    "Qwen3 4B": [(4096, 2560), (1024, 2560), (2560, 4096), (9728, 2560), (2560, 9728)],
    "Qwen3 8B": [(4096, 4096), (12288, 4096), (4096, 12288), (151936, 4096)],
    "Qwen3 14B": [(5120, 5120), (1024, 5120), (17408, 5120), (5120, 17408)],
    "Qwen3 32B": [(8192, 5120), (5120, 8192), (25600, 5120), (5120, 25600)],
    "Qwen3 30B-A3B": [(4096, 2048), (512, 2048), (768, 2048), (2048, 768), (2048, 4096)],
}


def draw(seed, count):
    """The products: (class, kind, order, (rows, columns, depth))."""
    generator = random.Random(seed)

    def size(low, high):
        return round(math.exp(generator.uniform(math.log(low), math.log(high))))

    def multiple(of, low, high):
        return max(of, round(size(low, high) / of) * of)

    def half():
        return generator.choice(["f16", "f16", "bf16"])

    def order():
        return generator.choice(["nn", "nt", "tn", "tt"])

    def any_size():
        return half(), order(), (size(1, 16384), size(1, 16384), size(1, 16384))

    def model():
        columns, depth = generator.choice(MODELS[generator.choice(list(MODELS))])
        return half(), "nt", (size(1, 8192), columns, depth)

    def square():
        step = generator.choice([1, 8, 64, 128, 256, 1024])
        edge = multiple(step, max(128, step), 32768)
        return half(), order(), (edge, edge, edge)

    def thin():
        sizes = [size(16384, 400000), multiple(8, 8, 512), multiple(8, 16, 1024)]
        if generator.random() < 0.5:
            sizes[0], sizes[1] = sizes[1], sizes[0]
        return half(), order(), tuple(sizes)

    def deep():
        return half(), order(), (multiple(8, 16, 1024), multiple(8, 16, 1024), multiple(64, 8192, 131072))

    def ragged():
        return half(), order(), tuple(size(500, 8000) | 1 for _ in range(3))

    def few_rows():
        return half(), generator.choice(["nt", "nn"]), (size(1, 16), size(512, 32768), size(512, 32768))

    def other(kind, step, orders, high):
        def one():
            sizes = (multiple(1, 17, high), multiple(step, 64, high), multiple(step, 64, high))
            return kind, generator.choice(orders), sizes

        return one

    classes = {
        "any": (any_size, 80), "model": (model, 80), "square": (square, 24), "thin": (thin, 20), "deep": (deep, 20),
        "ragged": (ragged, 20), "few rows": (few_rows, 20),
        "tf32": (other("tf32", 4, ["nn", "nt", "tn", "tt"], 12288), 24),
        "e4m3 fast": (other("e4m3 fast", 16, ["nt"], 16384), 16), "e4m3": (other("e4m3", 16, ["nt"], 16384), 16),
        "i8": (other("i8", 16, ["nt"], 16384), 16), "f64": (other("f64", 1, ["nn", "nt", "tn", "tt"], 6000), 16),
    }
    whole = sum(share for _, share in classes.values())
    return [(name, *one()) for name, (one, share) in classes.items() for _ in range(round(share * count / whole))]


class Plan(ctypes.Structure):
    """benches/library/src/gemm.rs has the same structure."""

    _fields_ = [("rows", ctypes.c_uint32), ("columns", ctypes.c_uint32), ("loads", ctypes.c_uint32), ("cut", ctypes.c_int32)]

    def key(self):
        return self.rows, self.columns, self.loads, self.cut


class Product:
    """The data of a product, our launch and the rivals."""

    def __init__(self, kind, order, sizes):
        self.kind, self.order, self.sizes = kind, order, sizes
        self.element, self.result, self.tolerance = KINDS[kind]
        rows, columns, depth = sizes
        moved = self.element.itemsize * (rows * depth + depth * columns) + self.result.itemsize * rows * columns
        self.count = max(1, min(MOST_SETS, math.ceil(ROTATED / moved)))
        self.sets = [self.make() for _ in range(self.count)]

    def make(self):
        rows, columns, depth = self.sizes

        def matrix(down, across, transposed):
            if transposed:
                return filled(True, across, down, dtype=self.element).t()
            return filled(True, down, across, dtype=self.element)

        a, b = matrix(rows, depth, self.order[0] == "t"), matrix(depth, columns, self.order[1] == "t")
        return dict(a=a, b=b, out=torch.empty(rows, columns, device="cuda", dtype=self.result))

    def ours(self, library, plan=None):
        options = GemmOptions(int(self.kind == "e4m3 fast"), 0, Array())
        element = "tf32" if self.kind == "tf32" else None
        launches = []
        for s in self.sets:
            arrays = [Array.of(s["a"], element), Array.of(s["b"], element), Array.of(s["out"])]
            last = [] if plan is None else [ctypes.byref(plan)]
            name = "ct_gemm" if plan is None else "ct_gemm_by_plan"
            launches.append(library.launcher(name, *map(ctypes.byref, arrays), ctypes.byref(options), *last))
            launches[-1].arrays = arrays
        return launches

    def plans(self, library):
        """The plan that is chosen, and all plans."""
        options, s = GemmOptions(int(self.kind == "e4m3 fast"), 0, Array()), self.sets[0]
        element = "tf32" if self.kind == "tf32" else None
        arrays = [Array.of(s["a"], element), Array.of(s["b"], element), Array.of(s["out"])]
        plans, count = (Plan * 4096)(), ctypes.c_size_t(4096)
        library.launcher("ct_gemm_plans", *map(ctypes.byref, arrays), ctypes.byref(options), plans, ctypes.byref(count))()
        return plans[0], plans[1:count.value]

    def rivals(self):
        """(name, what to do before its samples, launches)."""
        nothing = lambda: None
        if self.kind == "i8":
            return [("_int_mm", nothing, [lambda s=s: torch._int_mm(s["a"], s["b"], out=s["out"]) for s in self.sets])]
        if self.kind.startswith("e4m3"):
            one, fast = torch.ones((), device="cuda"), self.kind == "e4m3 fast"
            return [("_scaled_mm", nothing, [
                lambda s=s: torch._scaled_mm(s["a"], s["b"], one, one, out_dtype=self.result, use_fast_accum=fast)
                for s in self.sets])]
        launches = [lambda s=s: torch.mm(s["a"], s["b"], out=s["out"]) for s in self.sets]
        return [(f"mm {which}", lambda which=which: torch.backends.cuda.preferred_blas_library(which), launches)
                for which in ("cublas", "cublaslt")]

    def error(self, launch):
        """The error of one launch on a poisoned output."""
        s = self.sets[0]
        poison(s["out"])
        returned = launch()
        found = s["out"] if returned is None else returned
        rows = self.sizes[0]
        if "rows" not in s:
            s["rows"] = torch.tensor(sorted({0, rows - 1, *(random.randrange(rows) for _ in range(40))}), device="cuda")
            wide = s["b"].double() if s["b"].numel() < 1 << 27 else None
            a = s["a"][s["rows"]].double()
            s["reference"] = a @ wide if wide is not None else torch.cat(
                [a @ part.double() for part in s["b"].split(1024, dim=1)], dim=1)
        some = found[s["rows"]]
        if found.dtype == torch.int32:
            return 0.0 if bool((some.double() == s["reference"]).all()) else math.inf
        if not bool(torch.isfinite(found).all()):
            return math.nan
        return measuring.error(some, s["reference"])


def sample(launches, count):
    """Milliseconds of one launch, of `count` that all queue up before the first one begins."""
    return measuring.sample(launches, count, SPIN)


def launches_of_a_sample(launches):
    once = sample(launches, min(len(launches), 4))
    return max(2, min(QUEUED, math.ceil(SAMPLE / once)))


def measure(library, kind, order, sizes):
    """The row of one product."""
    product, row = Product(kind, order, sizes), dict(notes=[])
    candidates = [("ours", lambda: None, product.ours(library))] if library else []
    good = []
    for name, prepare, launches in candidates + product.rivals():
        try:
            prepare()
            error = product.error(launches[0])
            torch.cuda.synchronize()
            if not error <= product.tolerance:
                row["notes"].append(f"WRONG: {name}, error {error:.2e}")
                continue
            if name == "ours":
                # A first launch of each set makes its tensor maps.
                for launch in launches:
                    launch()
            good.append((name, prepare, launches, launches_of_a_sample(launches), []))
        except Exception as problem:  # Whatever a library says, the others go on.
            row["notes"].append(f"FAILED: {name}: {str(problem)[:200]}")
            torch.cuda.synchronize()
    for _ in range(SAMPLES):
        for _, prepare, launches, count, samples in good:
            prepare()
            samples.append(sample(launches, count))
    times = {name: statistics.median(samples) * 1e3 for name, _, _, _, samples in good}
    ours = times.pop("ours", None)
    rival = min(times, key=times.get, default=None)
    row.update(ours=ours and round(ours, 2), rival=rival and round(times[rival], 2), rival_name=rival,
               ratio=round(times[rival] / ours, 4) if ours and rival else None)
    return product, row


def of_plans(library, product):
    """Microseconds of plans, but for numbers of partial sums that are close to others."""
    times, latest = {}, {}
    for plan in product.plans(library)[1]:
        tile = plan.rows, plan.columns, plan.loads
        if plan.cut > 0 and plan.cut < 1.25 * latest.get(tile, 0):
            continue
        latest[tile] = max(plan.cut, 0)
        # As many as `launches_of_a_sample` counts on: a small product's arrays would otherwise stay in the L2 cache.
        launches = product.ours(library, plan)[:QUEUED]
        try:
            for launch in launches:
                launch()
            once = sample(launches, 2)
            count = max(2, min(QUEUED, math.ceil(0.4 / once)))
            times[plan.key()] = round(statistics.median(sample(launches, count) for _ in range(3 if once < 1 else 1)) * 1e3, 2)
        except Exception as problem:
            print(f"{plan.key()}: {problem}"[:200], flush=True)
    return [(*key, time) for key, time in times.items()]


def work(options):
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.cuda.init()
    library = Library(pathlib.Path(options.library).resolve(), 0, None) if options.library else None
    products = draw(options.seed, options.count)
    for index in options.left:
        if time.time() > options.deadline:
            return
        name, kind, order, sizes = products[index]
        with open(options.journal, "a") as journal:
            print(json.dumps(dict(begin=index)), file=journal, flush=True)
            product, row = measure(library, kind, order, sizes)
            if options.plans:
                times = of_plans(library, product)
                with open(options.plans, "a") as plans:
                    print(json.dumps(dict(kind=kind, order=order, sizes=sizes, rival=row["rival"], plans=times)), file=plans)
            if library:
                row["plan"] = product.plans(library)[0].key()
            row = dict(row, name=name, kind=kind, order=order, sizes=sizes)
            print(json.dumps(dict(done=index, row=row)), file=journal, flush=True)
        del product
        if index % 16 == 0:
            torch.cuda.empty_cache()


def supervise(options):
    """Lets processes measure until all is measured, and collects their rows."""
    products = draw(options.seed, options.count)
    left = [index for index, product in enumerate(products) if not options.only or product[0] in options.only]
    # Classes in turns: what the budget does not allow is missing from each.
    random.Random(0).shuffle(left)
    rows, deadline, folder = [], time.time() + options.budget, tempfile.mkdtemp()
    while left and time.time() < deadline:
        journal = pathlib.Path(folder) / f"journal{len(left)}"
        journal.touch()
        order = dict(vars(options), left=left, journal=str(journal), deadline=deadline)
        child = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--work", json.dumps(order)])
        hung = not watch(child, journal, PATIENCE, PATIENCE)
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        rows += [line["row"] for line in lines if "row" in line]
        done = {line["done"] for line in lines if "done" in line}
        begun = [line["begin"] for line in lines if "begin" in line]
        left = [index for index in left if index not in done]
        if child.returncode == 0:
            break
        if not begun or begun[-1] not in left:
            print(f"the process that measures ended with {child.returncode}")
            break
        left.remove(begun[-1])
        name, kind, order, sizes = products[begun[-1]]
        note = "ours hung" if hung else f"the process ended with {child.returncode}"
        rows.append(dict(name=name, kind=kind, order=order, sizes=sizes, ratio=None, notes=[f"FAILED: {note}"]))
        print(rows[-1], flush=True)
    report(rows)
    if options.results:
        head = dict(seed=options.seed, count=len(products), commit=options.commit, driver=measuring.driver_version(),
                    gpu=torch.cuda.get_device_name(), date=datetime.date.today().isoformat())
        lines = ",\n".join(json.dumps(row) for row in sorted(rows, key=lambda row: (row["name"], row["sizes"])))
        pathlib.Path(options.results).write_text(f'{{"head": {json.dumps(head)}, "rows": [\n{lines}\n]}}\n')
    return 1 if left or any(note.startswith(("WRONG: ours", "FAILED")) for row in rows for note in row["notes"]) else 0


def report(rows):
    """Mean and low ends of the ratios by class and by element type, and the worst products."""
    def line(title, ratios):
        mean, fifth, least = ends(ratios)
        print(f"{title:12} {len(ratios):4} products: geometric mean {mean:.3f}, 5th percentile {fifth:.3f}, least {least:.3f}")

    good = [row for row in rows if row["ratio"]]
    for key in ("name", "kind"):
        for title in sorted({row[key] for row in good}):
            line(title, [row["ratio"] for row in good if row[key] == title])
    line("all", [row["ratio"] for row in good])
    for row in sorted(good, key=lambda row: row["ratio"])[:20]:
        print(f"{row['ratio']:.3f} {row['name']:9} {row['kind']:9} {row['order']} {row['sizes']}: {row['ours']} us, "
              f"{row['rival_name']} {row['rival']} us, plan {row.get('plan')}")
    for row in rows:
        for note in row["notes"]:
            print(row["kind"], row["order"], row["sizes"], note)


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(argparse.Namespace(**json.loads(sys.argv[2])))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--count", type=int, default=352)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--budget", type=float, default=1e9)
    parser.add_argument("--plans")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--results")
    return supervise(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
