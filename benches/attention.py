#!/usr/bin/env python3
"""Attention beside FlashAttention-4, FlashAttention-3, and PyTorch's two backends, cuDNN and FlashAttention-2, on one GPU, in one process.

    cargo build --release -p cuda-tiles-bench-library
    python3 benches/attention.py --library target/release/libcuda_tiles_bench.so --commit $(git rev-parse --short HEAD) \\
        [--only NAME ...] [--budget SECONDS] [--results benches/results/h200_attention.json]

FlashAttention-4 is the module `flash_attn.cute`, FlashAttention-3 the module `flash_attn_interface`; those that cannot be imported are left
out. Without --library the peers are measured alone. The first launches on small inputs compile what is compiled when first used.

Method: every candidate runs once on a poisoned output, and some rows of some heads are compared with attention in float64. A sample is CUDA
events around at least 3 ms of launches, which queue up behind a kernel that spins until the host has issued them all, after 20 ms of rest;
the samples of all candidates are interleaved, and the median of nine counts. Inputs are normally distributed and rotate over sets larger
than the L2 cache. Each library gets them as it wants them: ours and PyTorch as (batch, head, row, column), FlashAttention-3 and 4 as
(batch, row, head, column). Operations are 4 B H S S D, half of them if causal. `ratio` is ours over the best peer.
"""
import argparse
import concurrent.futures
import ctypes
import datetime
import importlib
import importlib.metadata
import itertools
import json
import math
import pathlib
import statistics
import sys
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from measuring import SPIN, Array, Library, driver_version, error, launches_of_a_sample, random, sample

SAMPLES = 9
# Seconds of rest before a sample, and the bytes that all sets of a workload exceed together.
REST, ROTATED = 0.020, 300e6
# Cycles of the spinning kernel for each second that the host takes to issue the launches of a sample: twice the clock.
CYCLES = 4e9
BATCHES, HEADS = 4, 32
# The matrices whose rows are compared, and about how many rows of each.
LOOKED_AT, ROWS = [0, 37, 90, 127], 96
NAMES = {torch.bfloat16: "bf16", torch.float16: "f16"}
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 1.2e-2}
BACKENDS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "FlashAttention-2": SDPBackend.FLASH_ATTENTION}
# Modules with a function `flash_attn_func`, and the names of their distributions.
MODULES = {
    "FlashAttention-4": ("flash_attn.cute", "flash-attn-4"),
    "FlashAttention-3": ("flash_attn_interface", "flash-attn-3"),
}


class Workload:
    """One shape, and its data."""

    def __init__(self, dtype, columns, length, causal):
        self.dtype, self.columns, self.length, self.causal = dtype, columns, length, causal
        self.name = f"attention_{NAMES[dtype]}_{columns}_{length}{'_causal' if causal else ''}"
        self.shape, self.scale = (BATCHES, HEADS, length, columns), columns ** -0.5
        self.work = 4 * BATCHES * HEADS * length * length * columns // (2 if causal else 1)

    def make(self, by_rows):
        """Sets of tensors; with `by_rows` the operands of those who want heads inside of rows too."""
        bytes_of_a_set = 8 * math.prod(self.shape)
        sets = []
        for _ in range(max(2, math.ceil(ROTATED / bytes_of_a_set))):
            s = {key: random(*self.shape, dtype=self.dtype) for key in "qkv"}
            s["out"] = torch.full(self.shape, math.nan, device="cuda", dtype=self.dtype)
            if by_rows:
                s["by_rows"] = [s[key].transpose(1, 2).contiguous() for key in "qkv"]
            sets.append(s)
        return sets

    def reference(self, s):
        """The numbers of the rows that are compared, and what they must be near to, in float64."""
        rows = torch.arange(0, self.length, self.length // ROWS, device="cuda")
        rows[-1] = self.length - 1
        unseen = torch.arange(self.length, device="cuda")[None] > rows[:, None]
        expected = []
        for matrix in LOOKED_AT:
            q, k, v = (s[key].flatten(0, 1)[matrix].double() for key in "qkv")
            scores = q[rows] @ k.t() * self.scale
            expected.append(torch.softmax(scores.masked_fill(unseen, -math.inf) if self.causal else scores, -1) @ v)
        return rows, torch.stack(expected)

    def error(self, found, reference):
        """The distance of the rows that are compared; NaN if any number of the result is not finite."""
        rows, expected = reference
        if not all(bool(torch.isfinite(part).all()) for part in found):
            return math.nan
        return error(torch.stack([found[m // HEADS, m % HEADS][rows] for m in LOOKED_AT]), expected)


WORKLOADS = {
    workload.name: workload
    for workload in itertools.starmap(Workload, itertools.product(NAMES, (64, 128), (4096, 16384, 1024), (False, True)))
}


def backend(which):
    """Calls PyTorch's attention by one backend."""

    def call(workload, s):
        with sdpa_kernel(which):
            return scaled_dot_product_attention(s["q"], s["k"], s["v"], is_causal=workload.causal)

    return call


def module(function):
    """Calls a function of FlashAttention's own modules."""

    def call(workload, s):
        found = function(*s["by_rows"], causal=workload.causal)
        # Some return logarithms too.
        return (found[0] if isinstance(found, (tuple, list)) else found).transpose(1, 2)

    return call


def peers():
    """What can be called, by name, and its versions. The others are named in a line each."""
    calls = {name: backend(which) for name, which in BACKENDS.items()}
    versions = {"PyTorch": torch.__version__, "CUDA": torch.version.cuda, "cuDNN": torch.backends.cudnn.version()}
    for name, (path, distribution) in MODULES.items():
        begun = time.monotonic()
        try:
            imported = importlib.import_module(path)
            calls[name] = module(imported.flash_attn_func)
        except Exception as problem:  # Whatever a library says, the others go on.
            print(f"{name} is left out: {type(problem).__name__}: {str(problem)[:300]}", flush=True)
            continue
        try:
            versions[name] = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = getattr(imported, "__version__", "unknown")
        print(f"{name} {versions[name]}: imported in {time.monotonic() - begun:.1f} s", flush=True)
    return calls, versions


def warm_up(calls, workloads):
    """Compiles what is compiled when first used. Returns the calls that worked for all kinds of workloads."""
    kinds = dict.fromkeys((workload.dtype, workload.columns, workload.causal) for workload in workloads)
    failed = set()
    for (dtype, columns, causal), (name, call) in itertools.product(kinds, calls.items()):
        if name in failed:
            continue
        begun, small = time.monotonic(), Workload(dtype, columns, 1024, causal)
        s = {key: random(1, 2, 1024, columns, dtype=dtype) for key in "qkv"}
        s["by_rows"] = [s[key].transpose(1, 2).contiguous() for key in "qkv"]
        try:
            call(small, s)
            torch.cuda.synchronize()
        except Exception as problem:
            failed.add(name)
            print(f"FAILED: {name} is left out, it fails for {NAMES[dtype]} and {columns} columns, causal {causal}: "
                  f"{str(problem)[:300]}", flush=True)
            torch.cuda.synchronize()  # Raises, and so ends the process, if the GPU cannot go on.
        if time.monotonic() - begun > 0.5:
            print(f"first launch of {name}, {NAMES[dtype]}, {columns} columns, causal {causal}: "
                  f"{time.monotonic() - begun:.1f} s", flush=True)
    return {name: call for name, call in calls.items() if name not in failed}


def ours(library, workload, s):
    """A launch of ours."""
    arrays = [Array.of(s[key].flatten(0, 1)) for key in ("q", "k", "v", "out")]
    rest = ctypes.c_float(workload.scale), ctypes.c_int(workload.causal)
    return library.launcher("ct_attention", *map(ctypes.byref, arrays), *rest)


def checked(workload, s, launch, reference):
    """The error of one launch on a poisoned output."""
    s["out"].fill_(math.nan)
    # PyTorch's allocator gives out this memory again, to those who make their results themselves.
    torch.full_like(s["out"], math.nan)
    torch.cuda.synchronize()
    returned = launch()
    torch.cuda.synchronize()
    return workload.error(s["out"] if returned is None else returned, reference)


def spin_of(launches, count):
    """Cycles for which a kernel must spin until the host has issued that many launches."""
    torch.cuda.synchronize()
    torch.cuda._sleep(SPIN)
    begun = time.perf_counter()
    for k in range(count):
        launches[k % len(launches)]()
    issued = time.perf_counter() - begun
    torch.cuda.synchronize()
    return max(SPIN, int(CYCLES * issued)) if issued < 0.05 else SPIN


def measure(workload, library, calls):
    """The row of the table."""
    sets = workload.make(any(name in MODULES for name in calls))
    reference = workload.reference(sets[0])
    candidates, notes = {}, []
    if library:
        candidates["ours"] = [ours(library, workload, s) for s in sets]
    for name, call in calls.items():
        candidates[name] = [lambda call=call, s=s: call(workload, s) for s in sets]
    errors, plans, times = {}, {}, {}
    with torch.no_grad():
        for name, launches in candidates.items():
            try:
                errors[name] = checked(workload, sets[0], launches[0], reference)
                if not errors[name] <= TOLERANCE[workload.dtype]:
                    notes.append(f"WRONG: {name}, error {errors[name]:.2e}")
                    continue
                count = launches_of_a_sample(launches)
                plans[name], times[name] = (launches, count, spin_of(launches, count)), []
            except Exception as problem:  # Whatever a library says, the others go on.
                notes.append(f"FAILED: {name}: {str(problem)[:300]}")
                torch.cuda.synchronize()  # Raises, and so ends the process, if the GPU cannot go on.
        for _ in range(SAMPLES):
            for name, plan in plans.items():
                time.sleep(REST)
                times[name].append(sample(*plan))
        if "ours" in times:
            again = checked(workload, sets[0], plans["ours"][0][0], reference)
            if not again <= TOLERANCE[workload.dtype]:
                notes.append(f"WRONG under load: ours, error {again:.2e}")
    rates = {name: workload.work / statistics.median(of) / 1e9 for name, of in times.items()}
    spreads = {name: round((max(of) - min(of)) / statistics.median(of), 4) for name, of in times.items()}
    own = rates.pop("ours", None)
    rival = max(rates, key=rates.get, default=None)
    return {
        "workload": workload.name, "shape": workload.shape, "unit": "TFLOP/s", "ours": own and round(own, 1),
        "rival": rival and round(rates[rival], 1), "rival_name": rival,
        "ratio": round(own / rates[rival], 4) if own and rival else None,
        "others": {name: round(rate, 1) for name, rate in rates.items()}, "errors": errors, "spreads": spreads,
        **({"notes": notes} if notes else {}),
    }


def line_of(row):
    """A row in one line, ratio first."""
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3f}"
    others = ", ".join(f"{name} {rate:.0f}" for name, rate in row["others"].items())
    notes = "".join(f"\n    {note}" for note in row.get("notes", []))
    return f"{ratio:>6} {row['workload']:32} {'-' if row['ours'] is None else format(row['ours'], '.0f'):>4}; {others}{notes}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", choices=WORKLOADS, default=list(WORKLOADS), metavar="NAME")
    parser.add_argument("--budget", type=float, default=math.inf, help="begin no workload after so many seconds")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    begun, workloads = time.monotonic(), [WORKLOADS[name] for name in options.only]
    torch.cuda.init()
    # The driver compiles our kernels, which takes a while, beside the others.
    threads = concurrent.futures.ThreadPoolExecutor()
    opened = options.library and threads.submit(Library, options.library.resolve())
    calls, versions = peers()
    with torch.no_grad():
        calls = warm_up(calls, workloads)
    library = opened and opened.result()
    print(f"ready after {time.monotonic() - begun:.1f} s; rates in TFLOP/s, first the ratio of ours to the best peer", flush=True)
    head = {
        "commit": options.commit, "driver": driver_version(), "gpu": torch.cuda.get_device_name(),
        "date": datetime.date.today().isoformat(), "versions": versions,
    }
    rows = []
    for workload in workloads:
        if time.monotonic() - begun > options.budget:
            break
        rows.append(measure(workload, library, calls))
        print(line_of(rows[-1]), flush=True)
        torch.cuda.empty_cache()
        if options.results:
            options.results.write_text(json.dumps({"head": head, "rows": rows}, indent=1) + "\n")
    left = [workload.name for workload in workloads[len(rows):]]
    print(f"{time.monotonic() - begun:.0f} s" + (f"; not measured: {' '.join(left)}" if left else ""), flush=True)
    bad = [note for row in rows for note in row.get("notes", []) if ": ours" in note]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
