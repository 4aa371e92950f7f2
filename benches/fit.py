#!/usr/bin/env python3
"""Fits the constants of kernels/src/gemm/host/model.rs to measurements.

    python3 benches/products.py --library libcuda_tiles_bench.so --plans plans.jsonl --seed 1
    python3 benches/fit.py plans.jsonl ...

Needs NumPy and SciPy. Prints the constants, how much longer than the fastest plans the chosen plans take, and the products for which the choice
is worst. `microseconds` is the function of the same name in model.rs.
"""
import json
import math
import statistics
import sys

import numpy
from scipy.optimize import least_squares

MULTIPROCESSORS, COMPACT_ROWS, SHARPNESS, STEP_BYTES = 132, 64, 4, 128
# Bytes of an element of the operands and of the result.
BYTES = {"f16": (2, 2), "bf16": (2, 2), "tf32": (4, 4), "f64": (8, 8), "i8": (1, 4), "e4m3": (1, 2), "e4m3 fast": (1, 2)}
# The constants of model.rs, and where the fit begins. Bandwidths are megabytes in a microsecond.
CONSTANTS = dict(start=2.0, launch=2.5, pack=2.0, partial_sum=0.05, bandwidth=3.9, result_bandwidth=2.5, partial_sums_bandwidth=2.5,
                 stream_k_bandwidth=6.0, unaligned_row=2.5e-3, unaligned_threads=1.5, alone=0.6)
# Plans that take longer than so many times the fastest plan's time do not matter.
SLOWEST = 2.5


class Product:
    """A product that was measured: its sizes, and (rows, columns, threads, cut, microseconds) of its plans."""

    def __init__(self, line):
        self.kind, self.order, self.sizes, self.rival = line["kind"], line["order"], line["sizes"], line["rival"]
        self.plans = [(tuple(plan[:4]), plan[4]) for plan in line["plans"]]
        self.bytes, self.result_bytes = BYTES[self.kind]
        rows, columns, depth = self.sizes
        pitches = depth if self.order[0] == "n" else rows, columns if self.order[1] == "n" else depth
        lengths = rows * depth, depth * columns
        self.packed = [self.bytes * length if pitch * self.bytes % 16 else 0 for pitch, length in zip(pitches, lengths)]
        self.aligned = all(packed or pitch * self.bytes % STEP_BYTES == 0 for pitch, packed in zip(pitches, self.packed))
        self.fastest = min((time for _, time in self.plans), default=None)

    def tile(self, plan):
        """What the costs of a tile depend on."""
        rows, columns, threads, _ = plan
        return self.bytes, threads, rows, columns


class Model:
    def __init__(self, tiles):
        self.tiles = sorted(tiles)

    def first(self):
        """Logarithms of the constants, then of the costs of a k step and of a tile for each shape."""
        areas = [rows * columns / (128 * 256) for _, _, rows, columns in self.tiles]
        return numpy.log([*CONSTANTS.values(), *(cost for area in areas for cost in (0.1 + 0.6 * area, 1.5))])

    def read(self, logarithms):
        values = numpy.exp(logarithms)
        costs = values[len(CONSTANTS):].reshape(-1, 2)
        return dict(zip(CONSTANTS, values)), dict(zip(self.tiles, map(tuple, costs)))

    @staticmethod
    def microseconds(constants, costs, product, plan):
        tile_rows, tile_columns, threads, cut = plan
        rows, columns, depth = product.sizes
        step, tile = costs[product.tile(plan)]
        if threads:
            step *= constants["unaligned_threads"] if any(product.packed) else 1
        resident = 4 if threads else 2 if tile_rows <= COMPACT_ROWS else 1
        if not threads and not product.aligned:
            rows_time = constants["unaligned_row"] * (tile_rows + tile_columns) * resident
            step = (step ** SHARPNESS + rows_time ** SHARPNESS) ** (1 / SHARPNESS)

        def waves(tiles, one):
            """The time of tiles that take `one` each where blocks share a multiprocessor."""
            full, rest = divmod(tiles, MULTIPROCESSORS * resident)
            others = math.ceil(rest / MULTIPROCESSORS) - 1
            share = constants["alone"] + (1 - constants["alone"]) * others / (resident - 1) if resident > 1 else 1
            return (full + (share if rest else 0)) * one

        steps = max(1, math.ceil(depth * product.bytes / STEP_BYTES))
        tiles = math.ceil(rows / tile_rows) * math.ceil(columns / tile_columns)
        memory = (depth * product.bytes * (rows + columns) * 1e-6 / constants["bandwidth"]
                  + rows * columns * product.result_bytes * 1e-6 / constants["result_bandwidth"])
        launches, sums, splits = 0, 0, 0
        if cut == 0:
            compute = waves(tiles, steps * step + tile)
        elif cut > 0:
            compute = waves(tiles * cut, math.ceil(steps / cut) * step + tile)
            launches, sums, splits = 1, 4 * rows * columns * cut, cut
        else:
            full, rest = divmod(tiles, MULTIPROCESSORS)
            again = rest * (tile_rows + tile_columns) * depth * product.bytes * 1e-6 / constants["stream_k_bandwidth"]
            memory = max(memory, again)
            compute = (waves(full * MULTIPROCESSORS, steps * step + tile)
                       + waves(MULTIPROCESSORS, math.ceil(rest * steps / MULTIPROCESSORS) * step + 2 * tile))
            launches, splits = 1 + (full > 0), MULTIPROCESSORS / max(1, rest)
            sums = 4 * tile_rows * tile_columns * min(MULTIPROCESSORS + rest, 2 * MULTIPROCESSORS)
        bound = (compute ** SHARPNESS + memory ** SHARPNESS) ** (1 / SHARPNESS)
        packs = [] if threads else [packed for packed in product.packed if packed]
        packing = sum(constants["pack"] + 2e-6 * packed / constants["bandwidth"] for packed in packs)
        return ((0 if threads else constants["start"]) + bound + packing + launches * constants["launch"]
                + sums * 1e-6 / constants["partial_sums_bandwidth"] + splits * constants["partial_sum"])

    def fit(self, products):
        """The constants with the least errors of logarithms. Plans close to the fastest one weigh most: the choice is among them."""
        measured = [(product, plan, time, 1 / math.sqrt(0.05 + time / product.fastest - 1)) for product in products
                    for plan, time in product.plans if time < SLOWEST * product.fastest]

        def errors(logarithms):
            constants, costs = self.read(logarithms)
            return [weight * math.log(self.microseconds(constants, costs, product, plan) / time)
                    for product, plan, time, weight in measured]

        return self.read(least_squares(errors, self.first(), loss="soft_l1", f_scale=0.3, max_nfev=40).x)


def summary(title, ratios):
    ratios = sorted(ratios)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"{title}: geometric mean {mean:.3f}, 5th percentile {ratios[len(ratios) // 20]:.3f}, least {ratios[0]:.3f}")


def main():
    lines = [json.loads(line) for path in sys.argv[1:] for line in open(path)]
    products = [product for product in map(Product, lines) if product.plans]
    model = Model({product.tile(plan) for product in products for plan, _ in product.plans})
    constants, costs = model.fit(products)
    for name, value in constants.items():
        print(f"{name} {value:.3g}")
    for (size, threads, rows, columns), (step, tile) in costs.items():
        print(f"(Loads::{'Threads' if threads else 'Tma'}, {size}, ({rows}, {columns})) => ({step:.3g}, {tile:.3g}),")
    chosen = []
    for product in products:
        plan, time = min(product.plans, key=lambda plan: model.microseconds(constants, costs, product, plan[0]))
        chosen.append((product.fastest / time, time, plan, product))
    summary("the fastest plan's time over the chosen plan's", [ratio for ratio, *_ in chosen])
    summary("the rival's over the chosen plan's", [p.rival / time for _, time, _, p in chosen if p.rival])
    summary("the rival's over the fastest plan's", [p.rival / p.fastest for *_, p in chosen if p.rival])
    for ratio, time, plan, product in sorted(chosen, key=lambda one: one[0])[:20]:
        print(f"{ratio:.2f} {product.kind} {product.order} {product.sizes}: {plan} takes {time} us, the fastest {product.fastest} us")


if __name__ == "__main__":
    main()
