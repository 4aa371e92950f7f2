#!/usr/bin/env python3
"""The operations on rows and their gradients, called from Python, beside PyTorch, torch.compile and Triton, on one GPU in one run.

    pip install examples/python
    python3 benches/rows.py --commit $(git rev-parse --short HEAD) --results benches/results/h200_rows.json

`--only TEXT` runs the workloads whose names match it, `--seconds S` begins none after so many. Every candidate runs once on poisoned results
and is compared with float64 before it is timed. Bytes are those of each operand read once and each result written once, as far as they are
matrices; a pass forward and backward of cross-entropy counts the logits and their gradient. Times are of launches back to back, with
operands that rotate over more memory than the cache has; the samples of all candidates are interleaved, and the median counts.
"""
import argparse
import datetime
import json
import math
import pathlib
import re
import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

import cuda_tiles_kernels as kernels
from measuring import ceiling, driver_version, empty, error, launches_of_a_sample, random, sample

SAMPLES = 7
# Bytes that the operands of consecutive launches have together, some times those of the cache.
ROTATED = 400_000_000
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}
NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}
WARPS = 4, 8, 16, 32
EPSILON = 1e-5


@triton.jit
def triton_softmax(x, y, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * columns
    i = tl.arange(0, BLOCK)
    row = tl.load(x + at + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    powers = tl.exp(row - tl.max(row, 0))
    tl.store(y + at + i, powers / tl.sum(powers, 0), mask=i < columns)


@triton.jit
def triton_rms_norm(x, weight, y, deviations, columns, epsilon, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * columns
    i = tl.arange(0, BLOCK)
    row = tl.load(x + at + i, mask=i < columns, other=0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(row * row, 0) / columns + epsilon)
    tl.store(deviations + tl.program_id(0), scale)
    tl.store(y + at + i, row * scale * tl.load(weight + i, mask=i < columns), mask=i < columns)


@triton.jit
def triton_layer_norm(x, weight, bias, y, means, deviations, columns, epsilon, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * columns
    i = tl.arange(0, BLOCK)
    row = tl.load(x + at + i, mask=i < columns, other=0).to(tl.float32)
    mean = tl.sum(row, 0) / columns
    distance = tl.where(i < columns, row - mean, 0)
    scale = tl.rsqrt(tl.sum(distance * distance, 0) / columns + epsilon)
    tl.store(means + tl.program_id(0), mean)
    tl.store(deviations + tl.program_id(0), scale)
    result = distance * scale * tl.load(weight + i, mask=i < columns) + tl.load(bias + i, mask=i < columns)
    tl.store(y + at + i, result, mask=i < columns)


@triton.jit
def triton_cross_entropy(logits, labels, losses, columns, BLOCK: tl.constexpr):
    """Losses, and the gradient of their sum in place of the logits, in the manner of Liger: one launch, two passes over the row."""
    row = tl.program_id(0)
    at = logits + row.to(tl.int64) * columns
    label = tl.load(labels + row)
    chosen = tl.load(at + label).to(tl.float32)
    top, total = -float("inf"), 0.0
    for first in range(0, columns, BLOCK):
        i = first + tl.arange(0, BLOCK)
        part = tl.load(at + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        following = tl.maximum(top, tl.max(part, 0))
        total = total * tl.exp(top - following) + tl.sum(tl.exp(part - following), 0)
        top = following
    logarithm = top + tl.log(total)
    tl.debug_barrier()
    for first in range(0, columns, BLOCK):
        i = first + tl.arange(0, BLOCK)
        part = tl.load(at + i, mask=i < columns, other=-float("inf")).to(tl.float32)
        tl.store(at + i, tl.exp(part - logarithm) - tl.where(i == label, 1.0, 0.0), mask=i < columns)
    tl.store(losses + row, logarithm - chosen)


class Workload:
    """A kernel and its peers. `candidates` makes, of one set of operands, the launches by their names, each with what it writes."""

    def __init__(self, name, moved, make, reference, candidates, dtype):
        self.name, self.moved, self.dtype = name, moved, dtype
        self.make, self.reference, self.candidates = make, reference, candidates


def block(columns):
    return triton.next_power_of_2(columns)


def by_triton(kernel, rows, columns, arguments, results):
    """A launch of a Triton kernel for each number of warps. Its blocks hold a row, up to Triton's recommended 65,536 elements."""
    if columns > 65536:
        return {}
    def launch(warps):
        return lambda: kernel[(rows,)](*arguments, BLOCK=block(columns), num_warps=warps)
    return {f"Triton (warps {warps})": (launch(warps), results) for warps in WARPS if block(columns) >= 32 * warps}


def compiled(function):
    return torch.compile(function, dynamic=False)


def named(operation, rows, columns, dtype):
    return f"{operation}_{NAMES[dtype]}_{rows}x{columns}"


def softmax(rows, columns, dtype):
    bytes = rows * columns * dtype.itemsize
    by_compiler = compiled(lambda x: F.softmax(x, -1))

    def candidates(x, y):
        return {
            "cuda-tiles": (lambda: kernels.softmax(x, y), [y]),
            "PyTorch": (lambda: torch.softmax(x, -1, out=y), [y]),
            "torch.compile": (lambda: by_compiler(x), None),
            **by_triton(triton_softmax, rows, columns, (x, y, columns), [y]),
        }

    def make():
        return random(rows, columns, dtype=dtype), empty(rows, columns, dtype=dtype)

    yield Workload(named("softmax", rows, columns, dtype), 2 * bytes, make, lambda x, y: [F.softmax(x.double(), -1)], candidates, dtype)

    def formula(y, dy):
        return (y * (dy - (dy.float() * y).sum(-1, keepdim=True))).to(dtype)

    backward_by_compiler = compiled(formula)

    def backward(y, dy, dx):
        return {
            "cuda-tiles": (lambda: kernels.softmax_backward(y, dy, dx), [dx]),
            "PyTorch": (lambda: torch.ops.aten._softmax_backward_data(dy, y, -1, dtype), None),
            "torch.compile": (lambda: backward_by_compiler(y, dy), None),
        }

    def make_backward():
        y = F.softmax(random(rows, columns), -1).to(dtype)
        return y, random(rows, columns, dtype=dtype), empty(rows, columns, dtype=dtype)

    def gradient(y, dy, dx):
        y, dy = y.double(), dy.double()
        return [y * (dy - (dy * y).sum(-1, keepdim=True))]

    yield Workload(named("softmax_backward", rows, columns, dtype), 3 * bytes, make_backward, gradient, backward, dtype)


def norm(operation, rows, columns, dtype):
    """Forward and backward of `layer_norm` or `rms_norm`."""
    bytes = rows * columns * dtype.itemsize
    centred = operation == "layer_norm"

    def function(x, weight, bias):
        if centred:
            return F.layer_norm(x, (columns,), weight, bias, EPSILON)
        return F.rms_norm(x, (columns,), weight, EPSILON)

    by_compiler = compiled(function)

    def make():
        x, weight, bias = random(rows, columns, dtype=dtype), random(columns, dtype=dtype), random(columns, dtype=dtype)
        return x, weight, bias, empty(rows, columns, dtype=dtype), empty(rows), empty(rows)

    def candidates(x, weight, bias, y, mean, deviation):
        if centred:
            def ours():
                kernels.layer_norm(x, weight, bias, EPSILON, y, mean, deviation)
            own = by_triton(triton_layer_norm, rows, columns, (x, weight, bias, y, mean, deviation, columns, EPSILON), [y])
        else:
            def ours():
                kernels.rms_norm(x, weight, EPSILON, y, deviation)
            own = by_triton(triton_rms_norm, rows, columns, (x, weight, y, deviation, columns, EPSILON), [y])
        return {
            "cuda-tiles": (ours, [y]),
            "PyTorch": (lambda: function(x, weight, bias), None),
            "torch.compile": (lambda: by_compiler(x, weight, bias), None),
            **own,
        }

    def reference(x, weight, bias, *_):
        return [function(x.double(), weight.double(), bias.double())]

    yield Workload(named(operation, rows, columns, dtype), 2 * bytes, make, reference, candidates, dtype)

    def make_backward():
        x, weight, bias, y, mean, deviation = make()
        kernels.layer_norm(x, weight, bias, EPSILON, y, mean, deviation)
        if not centred:
            kernels.rms_norm(x, weight, EPSILON, y, deviation)
        dy = random(rows, columns, dtype=dtype)
        return x, weight, bias, mean, deviation, dy, y, empty(columns, dtype=dtype), empty(columns, dtype=dtype)

    def backward(x, weight, bias, mean, deviation, dy, dx, dweight, dbias):
        if centred:
            def ours():
                kernels.layer_norm_backward(x, weight, mean, deviation, dy, dx, dweight, dbias)
        else:
            def ours():
                kernels.rms_norm_backward(x, weight, deviation, dy, dx, dweight)
        operands = [tensor.detach().requires_grad_() for tensor in ((x, weight, bias) if centred else (x, weight))]

        def by_autograd(function):
            result = function(*operands, *([] if centred else [None]))
            return lambda: torch.autograd.grad(result, operands, dy, retain_graph=True)

        return {
            "cuda-tiles": (ours, [dx, dweight, dbias] if centred else [dx, dweight]),
            "PyTorch": (by_autograd(function), None),
            "torch.compile": (by_autograd(by_compiler), None),
        }

    def gradient(x, weight, bias, mean, deviation, dy, *_):
        operands = [tensor.double().requires_grad_() for tensor in (x, weight, bias)]
        result = torch.autograd.grad(function(*operands), operands if centred else operands[:2], dy.double())
        return list(result)

    yield Workload(named(f"{operation}_backward", rows, columns, dtype), 3 * bytes, make_backward, gradient, backward, dtype)


def cross_entropy(rows, columns, dtype):
    bytes = rows * columns * dtype.itemsize

    def make():
        labels = torch.randint(columns, (rows,), device="cuda")
        return random(rows, columns, dtype=dtype), labels, empty(rows), empty(rows), torch.ones(rows, device="cuda"), empty(rows, columns, dtype=dtype)

    def reference(logits, labels, *_):
        return [F.cross_entropy(logits.double(), labels, reduction="none")]

    by_compiler = compiled(lambda logits, labels: F.cross_entropy(logits.float(), labels, reduction="none"))

    def forward(logits, labels, losses, logarithms, *_):
        return {
            "cuda-tiles": (lambda: kernels.cross_entropy(logits, labels, losses, logarithms), [losses]),
            "PyTorch": (lambda: F.cross_entropy(logits, labels, reduction="none"), None),
            "torch.compile": (lambda: by_compiler(logits, labels), None),
        }

    yield Workload(named("cross_entropy", rows, columns, dtype), bytes, make, reference, forward, dtype)

    def gradient(logits, labels, *_):
        powers = F.softmax(logits.double(), -1)
        powers[torch.arange(rows, device="cuda"), labels] -= 1
        return [powers]

    def both(logits, labels, losses, logarithms, ones, dlogits):
        def ours():
            kernels.cross_entropy(logits, labels, losses, logarithms)
            kernels.cross_entropy_backward(logits, labels, logarithms, ones, dlogits)

        def by_autograd(function):
            own = logits.detach().requires_grad_()
            return lambda: torch.autograd.grad(function(own, labels), own, ones)

        return {
            "cuda-tiles": (ours, [dlogits]),
            "PyTorch": (by_autograd(lambda logits, labels: F.cross_entropy(logits, labels, reduction="none").float()), None),
            "torch.compile": (by_autograd(by_compiler), None),
        }

    yield Workload(named("cross_entropy_both", rows, columns, dtype), 2 * bytes, make, gradient, both, dtype)

    def in_place(logits, labels, losses, logarithms, ones, dlogits):
        def ours():
            kernels.cross_entropy(logits, labels, losses, logarithms)
            kernels.cross_entropy_backward(logits, labels, logarithms, ones, None)
        def launch(warps):
            return lambda: triton_cross_entropy[(rows,)](logits, labels, losses, columns, BLOCK=32768, num_warps=warps)
        return {"cuda-tiles": (ours, [logits]), **{f"Triton (warps {warps})": (launch(warps), [logits]) for warps in (16, 32)}}

    yield Workload(named("cross_entropy_in_place", rows, columns, dtype), 2 * bytes, make, gradient, in_place, dtype)


def workloads():
    half = torch.bfloat16
    for shape in (65536, 1024), (8192, 8192), (16384, 4096):
        for operation in "rms_norm", "layer_norm":
            yield from norm(operation, *shape, half)
    for shape in (65536, 1024), (8192, 32768), (32768, 8192), (4096, 50257), (4096, 131072):
        yield from softmax(*shape, half)
    for shape in (4096, 128256), (4096, 50257):
        yield from cross_entropy(*shape, half)
    for operation in "rms_norm", "layer_norm":
        yield from norm(operation, 8192, 8192, torch.float32)
    for operation in "rms_norm", "layer_norm":
        yield from norm(operation, 524288, 128, half)
    yield from softmax(1048576, 64, half)
    for operation in "rms_norm", "layer_norm":
        yield from norm(operation, 65536, 1024, torch.float16)
        yield from norm(operation, 4096, 16384, half)
        yield from norm(operation, 512, 8192, half)


def checked(workload, operands):
    """The candidates that are right on these operands, with their errors."""
    right = {}
    expected = None
    for name in workload.candidates(*operands):
        if name == "torch.compile" and torch._dynamo.config.disable:
            continue
        # Those that work in place change the operands.
        own = tuple(operand.clone() for operand in operands)
        launch, results = workload.candidates(*own)[name]
        expected = expected or workload.reference(*operands)
        for result in results or []:
            if result is not own[0]:
                result.fill_(math.nan)
        found = launch()
        found = results or (found if isinstance(found, tuple) else [found])
        worst = max(error(one, other) for one, other in zip(found, expected, strict=False))
        if not worst <= TOLERANCE[workload.dtype]:
            print(f"{workload.name}: {name} is off by {worst:.1e}", flush=True)
            if name == "cuda-tiles":
                raise SystemExit("ours is wrong")
            continue
        right[name] = worst
    return right


def measure(workload):
    operands = workload.make()
    errors = checked(workload, operands)
    sets = [operands] + [workload.make() for _ in range(ROTATED // workload.moved)]
    launches = {name: [] for name in errors}
    for own in sets:
        for name, (launch, _) in workload.candidates(*own).items():
            if name in errors:
                launches[name].append(launch)
    counts = {name: launches_of_a_sample(own) for name, own in launches.items()}
    times = {name: [] for name in launches}
    for _ in range(SAMPLES):
        for name, own in launches.items():
            times[name].append(sample(own, counts[name]))
    rates = {name: workload.moved / sorted(own)[SAMPLES // 2] / 1e6 for name, own in times.items()}
    ours = rates.pop("cuda-tiles")
    others = {}
    for name, rate in rates.items():
        peer = name.split(" (")[0]
        others[peer] = max(others.get(peer, 0), rate)
    rival = max(others, key=others.get)
    return {
        "workload": workload.name, "unit": "GB/s", "ours": round(ours, 1), "rival": round(others[rival], 1), "rival_name": rival,
        "ratio": round(ours / others[rival], 4), "others": {name: round(rate, 1) for name, rate in others.items()},
        "error": errors["cuda-tiles"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--without-compiler", action="store_true", help="leaves out torch.compile, which takes seconds a workload")
    options = parser.parse_args()
    torch._dynamo.config.disable = options.without_compiler
    torch._functorch.config.donated_buffer = False  # Gradients are taken several times of one result.
    begin, rows = time.monotonic(), []
    head = {
        "ceiling": round(ceiling(), 1), "commit": options.commit, "driver": driver_version(),
        "gpu": torch.cuda.get_device_name(), "date": datetime.date.today().isoformat(),
    }
    print(f"copy {head['ceiling']:.0f} GB/s", flush=True)
    for workload in workloads():
        if not re.search(options.only, workload.name):
            continue
        if time.monotonic() - begin > options.seconds:
            print(f"no time for {workload.name}", flush=True)
            continue
        torch._dynamo.reset()
        row = measure(workload)
        torch.cuda.empty_cache()
        rows.append(row | head)
        others = ", ".join(f"{name} {rate:.0f}" for name, rate in row["others"].items())
        print(
            f"{row['ratio']:.3f} {row['workload']:36} {row['ours']:.0f} GB/s = {row['ours'] / head['ceiling']:.2f} of a copy; {others}; "
            f"error {row['error']:.1e}", flush=True)
        if options.results:
            options.results.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
