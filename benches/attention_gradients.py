#!/usr/bin/env python3
"""The gradients of attention beside those of PyTorch's scaled_dot_product_attention, by cuDNN and by FlashAttention-2, on one GPU in one run.

    cargo build --release -p cuda-tiles-bench-library
    python3 benches/attention_gradients.py --library target/release/libcuda_tiles_bench.so --commit $(git rev-parse --short HEAD) \\
        --results benches/results/h200_attention_gradients.json

First, gradients of random problems (numbers of queries and keys, shared keys, both masks, heads of 64 and 128 columns) are compared with
those of PyTorch in float64, and fifty launches with each other. Then come the times: launches back to back after a rest, the samples of all
candidates interleaved, and the median counts. Operations are those of five products, 10 B H S S D, half of them if causal: ours does seven.
`forward` are the rates of the forward pass, of 4 B H S S D operations: ours, ours with the logarithms that the gradients need, and cuDNN's.
"""
import argparse
import ctypes
import datetime
import itertools
import json
import math
import pathlib
import random
import statistics
import sys
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from measuring import Array, Library, driver_version, error, sample

NAMES = {torch.float16: "f16", torch.bfloat16: "bf16"}
TOLERANCE = {torch.float16: 2e-3, torch.bfloat16: 1.2e-2}
PEERS = {"cuDNN": SDPBackend.CUDNN_ATTENTION, "FlashAttention-2": SDPBackend.FLASH_ATTENTION}
SAMPLES = 7
# Cycles of rest before a sample, some 20 ms.
REST = 30_000_000
SHAPES = [(4, 32, rows, columns) for rows in (1024, 4096, 16384) for columns in (64, 128)]


class Problem:
    """Random operands, as batches of matrices, with room for our results."""

    def __init__(self, library, queries, keys, scale, causal, dtype):
        def drawn(shape):
            return torch.randn(*shape, device="cuda").to(dtype)

        self.q, self.k, self.v, self.dout = map(drawn, (queries, keys, keys, queries))
        self.out, self.logarithms = torch.empty_like(self.q), torch.empty(queries[:2], device="cuda")
        self.gradients = [torch.empty_like(x) for x in (self.q, self.k, self.v)]
        for room in (self.out, self.logarithms, *self.gradients):
            room.fill_(math.nan)
        self.scale, self.causal = scale, causal
        operands = [self.q, self.k, self.v, self.out]
        rest = ctypes.c_float(scale), ctypes.c_int(causal)
        self.arrays = [Array.of(x) for x in operands]
        self.plain = library.launcher("ct_attention", *map(ctypes.byref, self.arrays), *rest)
        self.forward = library.launcher("ct_attention_with_logarithms", arrays(*operands, self.logarithms), *rest)
        self.backward = library.launcher(
            "ct_attention_backward", arrays(*operands, self.logarithms, self.dout, *self.gradients), *rest)

    def errors(self):
        """The distances of our result, logarithms and gradients from those in float64."""
        self.forward()
        self.backward()
        q, k, v = (x.double().requires_grad_() for x in (self.q, self.k, self.v))
        group = len(q) // len(k)
        scores = q @ k.repeat_interleave(group, 0).mT * self.scale
        if self.causal:
            rows, columns = scores.shape[1:]
            seen = torch.ones(rows, columns, dtype=torch.bool, device="cuda").tril(columns - rows)
            scores = scores.masked_fill(~seen, -math.inf)
        out = scores.softmax(-1) @ v.repeat_interleave(group, 0)
        expected = torch.autograd.grad(out, (q, k, v), self.dout.double())
        errors = [error(self.out, out), (self.logarithms - scores.logsumexp(-1)).abs().max().item()]
        for found, wanted in zip(self.gradients, expected):
            # With one key the gradients of scores vanish.
            least = 1e-2 * math.sqrt(wanted.numel())
            errors.append(((found.double() - wanted).norm() / max(wanted.norm().item(), least)).item())
        return errors


def arrays(*tensors):
    return ctypes.byref((Array * len(tensors))(*map(Array.of, tensors)))


def check(library, count):
    worst = {}
    edges = [(1, 1, 1, 1), (2, 1, 70, 200), (1, 3, 200, 520), (2, 2, 129, 257), (3, 1, 1000, 1024), (1, 4, 64, 2100)]
    forms = itertools.product(edges, (64, 128), NAMES, (False, True))
    problems = [(*edge, *form) for edge, *form in forms]
    for _ in range(count):
        queries, keys, causal = random.randint(1, 700), random.randint(1, 700), random.random() < 0.5
        if causal:
            queries, keys = min(queries, keys), max(queries, keys)
        matrices, group = random.randint(1, 5), random.choice((1, 1, 2, 4))
        problems.append((matrices, group, queries, keys, random.choice((64, 128)), random.choice([*NAMES]), causal))
    for matrices, group, queries, keys, columns, dtype, causal in problems:
        scale = random.choice((columns ** -0.5, 0.3, 0.02))
        shapes = (matrices * group, queries, columns), (matrices, keys, columns)
        errors = Problem(library, *shapes, scale, causal, dtype).errors()
        if not all(x <= TOLERANCE[dtype] for x in errors):
            sys.exit(f"wrong: {shapes}, causal {causal}, scale {scale}, {dtype}: {errors}")
        worst[NAMES[dtype]] = [max(pair) for pair in zip(worst.get(NAMES[dtype], errors), errors)]
    problem = Problem(library, (8, 1000, 128), (4, 1000, 128), 0.1, True, torch.bfloat16)
    problem.forward()
    problem.backward()
    first = [x.clone() for x in problem.gradients]
    for _ in range(50):
        [x.fill_(math.nan) for x in problem.gradients]
        problem.backward()
        if not all(map(torch.equal, first, problem.gradients)):
            sys.exit("two launches differ")
    for name, errors in worst.items():
        print(name, len(problems), "problems, errors of out, logarithms, dq, dk, dv:", *(f"{x:.1e}" for x in errors))


def peer(backend, q, k, v, dout, causal):
    """The launches of a peer, forward and backward."""
    operands = [x.detach().clone().requires_grad_() for x in (q, k, v)]
    with sdpa_kernel(backend):
        out = scaled_dot_product_attention(*operands, is_causal=causal)

    def forward():
        with torch.no_grad(), sdpa_kernel(backend):
            scaled_dot_product_attention(*operands, is_causal=causal)

    return forward, lambda: torch.autograd.grad(out, operands, dout, retain_graph=True)


def measure(library, shape, dtype, causal):
    batches, heads, rows, columns = shape
    matrices = (batches * heads, rows, columns)
    problem = Problem(library, matrices, matrices, columns ** -0.5, causal, dtype)
    problem.forward()
    forward = {"ours": problem.plain, "ours with logarithms": problem.forward}
    backward = {"ours": problem.backward}
    for name, backend in PEERS.items():
        operands = (x.view(shape) for x in (problem.q, problem.k, problem.v, problem.dout))
        forward[name], backward[name] = peer(backend, *operands, causal)
    del forward["FlashAttention-2"]
    launches = {("forward", name): launch for name, launch in forward.items()}
    launches |= {("backward", name): launch for name, launch in backward.items()}
    times = {key: [] for key in launches}
    count = 3 if rows >= 4096 else 8
    for launch in launches.values():
        sample([launch], 2)
    for _ in range(SAMPLES):
        for key, launch in launches.items():
            torch.cuda._sleep(REST)
            times[key].append(sample([launch], count, spin=3_000_000))
    work = 4 * batches * heads * rows * rows * columns / (2 if causal else 1)
    rates = {key: (work if key[0] == "forward" else 2.5 * work) / statistics.median(of) / 1e9 for key, of in times.items()}
    others = {name: round(rates["backward", name], 1) for name in PEERS}
    rival = max(others, key=others.get)
    return {
        "workload": f"attention_gradients_{NAMES[dtype]}{'_causal' if causal else ''}", "shape": shape, "unit": "TFLOP/s",
        "ours": round(rates["backward", "ours"], 1), "rival": others[rival], "rival_name": rival,
        "ratio": round(rates["backward", "ours"] / others[rival], 3), "others": others,
        "forward": {name: round(rates["forward", name], 1) for name in forward},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--commit", default="")
    parser.add_argument("--results", type=pathlib.Path)
    parser.add_argument("--problems", type=int, default=60, help="random problems to check")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no measurement after so many")
    options = parser.parse_args()
    begun = time.monotonic()
    library = Library(pathlib.Path(options.library).resolve())
    check(library, options.problems)
    results = []
    for dtype, shape, causal in itertools.product((torch.bfloat16, torch.float16), SHAPES, (False, True)):
        if time.monotonic() - begun > options.seconds:
            break
        row = measure(library, shape, dtype, causal)
        row |= {"commit": options.commit, "driver": driver_version(), "gpu": torch.cuda.get_device_name(),
                "date": datetime.date.today().isoformat()}
        print(json.dumps({key: row[key] for key in ("workload", "shape", "ratio", "ours", "others", "forward")}), flush=True)
        results.append(row)
        if options.results:
            options.results.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
