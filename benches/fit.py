#!/usr/bin/env python3
"""Fits the constants of kernels/src/gemm/host/model.rs to measurements.

    python3 benches/products.py --library libcuda_tiles_bench.so --plans plans.jsonl --seed 1
    python3 benches/fit.py plans.jsonl ...

Needs NumPy and SciPy. The constants are fitted to the times first, or with --refine they begin as they are, and plans of tiles that have no costs
in the model do not count. Then small changes that lead to faster choices are kept, for --seconds of them. Prints the constants, how much longer than the fastest plans the chosen plans take, and the products for which the choice is worst.
`microseconds` is the function of the same name in model.rs.
"""
import argparse
import json
import math
import pathlib
import random
import re
import statistics
import time

import numpy
from scipy.optimize import least_squares

MULTIPROCESSORS, COMPACT, SHARPNESS, STEP_BYTES, BOX_ROWS = 132, 64, 4, 128, 64
RING_BYTES, MOST_STAGES = 194 * 1024, 8
# Bytes of an element of the operands and of the result.
BYTES = {"f16": (2, 2), "bf16": (2, 2), "tf32": (4, 4), "f64": (8, 8), "i8": (1, 4), "e4m3": (1, 2), "e4m3 fast": (1, 2)}
# The constants of model.rs, and where the fit begins. Bandwidths are megabytes in a microsecond.
CONSTANTS = dict(start=2.0, launch=2.5, pack=2.0, partial_sum=0.05, bandwidth=3.9, result_bandwidth=2.5, partial_sums_bandwidth=2.5,
                 cache_bandwidth=10.0, short_pieces_bandwidth=1.4, stream_k_bandwidth=6.0, unaligned_row=2.5e-3, outside=0.2, unaligned_result=1e-4,
                 unaligned_threads=1.5, alone=0.6)
# The kernels, as benches/library/src/gemm.rs numbers them.
LOADS = ["Tma", "Threads", "Vector", "Cluster"]
# Those that TMA feeds.
BY_TMA = {0, 3}
# The tiles of a vector kernel that are loaded at a time, and their elements.
TILES, TILE = 4, 2048
# Plans that take longer than so many times the fastest plan's time do not matter.
SLOWEST = 2.5
# Choices that take longer than so many times the fastest plan's time count several times.
SLOW, SLOW_WEIGHT = 1.12, 4


class Product:
    """A product that was measured: its sizes, and (rows, columns, loads, cut, microseconds) of its plans."""

    def __init__(self, line):
        self.kind, self.order, self.sizes, self.rival = line["kind"], line["order"], line["sizes"], line["rival"]
        self.plans = [(tuple(plan[:4]), plan[4]) for plan in line["plans"]]
        self.bytes, self.result_bytes = BYTES[self.kind]
        rows, columns, depth = self.sizes
        pitches = depth if self.order[0] == "n" else rows, columns if self.order[1] == "n" else depth
        lengths = rows * depth, depth * columns
        self.packed = [self.bytes * length if pitch * self.bytes % 16 else 0 for pitch, length in zip(pitches, lengths)]
        self.aligned = all(packed or pitch * self.bytes % STEP_BYTES == 0 for pitch, packed in zip(pitches, self.packed))

    def tile(self, plan):
        """What the costs of a tile depend on."""
        rows, columns, loads, _ = plan
        return (self.bytes, loads, min(rows, columns), max(rows, columns)) if loads == 2 else (self.bytes, loads, rows, columns)

    def step_bytes(self, plan):
        """`step_bytes` of model.rs."""
        rows, columns, loads, _ = plan
        if loads == 2:
            return TILES * TILE * self.bytes // (rows * columns)
        return {(1, 2, 16, 16): 512, (1, 4, 32, 32): 256}.get((loads, self.bytes, rows, columns), STEP_BYTES)

    def bytes_of_short_pieces(self, plan):
        """`bytes_of_short_pieces` of model.rs."""
        (rows, columns, depth), (tile_rows, tile_columns, *_) = self.sizes, plan
        of_a = rows * math.ceil(columns / tile_columns) if self.order[0] == "t" and rows > 1 else 0
        of_b = columns * math.ceil(rows / tile_rows) if self.order[1] == "n" and columns > 1 else 0
        return (of_a + of_b) * depth * self.bytes

    def stay(self, plan):
        """`stay` of model.rs."""
        (rows, columns, depth), (tile_rows, tile_columns, _, cut) = self.sizes, plan
        resident = 2 if tile_rows <= COMPACT and tile_columns <= COMPACT else 1
        stages = min(max(RING_BYTES // resident // ((tile_rows + tile_columns) * STEP_BYTES), 2), MOST_STAGES)
        may = cut == 0 and min(tile_rows, tile_columns) <= 64 and self.result_bytes <= 2
        may = may and math.ceil(depth * self.bytes / STEP_BYTES) <= stages
        return may and rows <= tile_rows, may and columns <= tile_columns

    def loaded_bytes(self, plan):
        """`loaded_bytes` of model.rs."""
        (rows, columns, depth), (tile_rows, tile_columns, *_) = self.sizes, plan
        side, (a_stays, b_stays) = min(BOX_ROWS, tile_rows), self.stay(plan)
        loads = ((not a_stays) * math.ceil(rows / side) * side * math.ceil(columns / tile_columns)
                 + (not b_stays) * math.ceil(columns / BOX_ROWS) * BOX_ROWS * math.ceil(rows / tile_rows / cluster_rows(plan)))
        return loads * max(1, math.ceil(depth * self.bytes / STEP_BYTES)) * STEP_BYTES

    def steps_outside(self, plan):
        """`steps_outside` of model.rs."""
        (rows, columns, depth), (tile_rows, tile_columns, _, cut) = self.sizes, plan
        if cut < 0:
            return 0
        step = STEP_BYTES // self.bytes
        steps = math.ceil(max(1, math.ceil(depth / step)) / max(1, cut))

        def at_an_end(is_k_major, length, tile):
            if is_k_major:
                return float(depth % step != 0)
            return steps / math.ceil(length / tile) if length % min(tile, BOX_ROWS) else 0.0

        a_stays, b_stays = self.stay(plan)
        return max(0.0 if a_stays else at_an_end(self.order[0] == "n", rows, tile_rows),
                   0.0 if b_stays else at_an_end(self.order[1] == "t", columns, tile_columns))


def cluster_rows(plan):
    """`cluster_rows` of plan.rs."""
    return 2 if plan[2] == 3 else 1


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
        tile_rows, tile_columns, loads, cut = plan
        rows, columns, depth = product.sizes
        step, tile = costs[product.tile(plan)]
        by_tma, cluster = loads in BY_TMA, cluster_rows(plan)
        if not by_tma:
            step *= constants["unaligned_threads"] if any(product.packed) else 1
        resident = 4 if not by_tma else 2 if tile_rows <= COMPACT and tile_columns <= COMPACT else 1
        if by_tma and not product.aligned:
            rows_time = constants["unaligned_row"] * (tile_rows + tile_columns / cluster) * resident
            step = (step ** SHARPNESS + rows_time ** SHARPNESS) ** (1 / SHARPNESS)

        def waves(tiles, one):
            """The time of tiles that take `one` each where blocks share a multiprocessor."""
            full, rest = divmod(tiles, MULTIPROCESSORS * resident)
            others = math.ceil(rest / MULTIPROCESSORS) - 1
            share = constants["alone"] + (1 - constants["alone"]) * others / (resident - 1) if resident > 1 else 1
            return (full + (share if rest else 0)) * one

        steps = max(1, math.ceil(depth * product.bytes / product.step_bytes(plan)))
        tiles = cluster * math.ceil(rows / tile_rows / cluster) * math.ceil(columns / tile_columns)
        memory = (depth * product.bytes * (rows + columns) * 1e-6 / constants["bandwidth"]
                  + rows * columns * product.result_bytes * 1e-6 / constants["result_bandwidth"])
        if by_tma:
            loaded = product.loaded_bytes(plan) * 1e-6 / constants["cache_bandwidth"]
            memory = (memory ** SHARPNESS + loaded ** SHARPNESS) ** (1 / SHARPNESS)
            tile += constants["outside"] * resident * product.steps_outside(plan)
        elif (tile_rows, tile_columns) == (16, 16):
            slower = constants["unaligned_threads"] if any(product.packed) else 1
            pieces = product.bytes_of_short_pieces(plan) * 1e-6 * slower / constants["short_pieces_bandwidth"]
            memory = (memory ** SHARPNESS + pieces ** SHARPNESS) ** (1 / SHARPNESS)
        if cut <= 0 and columns * product.result_bytes % 16:
            tile += constants["unaligned_result"] * resident * tile_rows * tile_columns
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
        packs = [] if not by_tma else [packed for packed in product.packed if packed]
        packing = sum(constants["pack"] + 2e-6 * packed / constants["bandwidth"] for packed in packs)
        return ((0 if not by_tma else constants["start"]) + bound + packing + launches * constants["launch"]
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


    def refine(self, constants, costs, products, seconds):
        """Changes constants at random by a few per cent, and keeps what leads to faster choices."""
        generator, end = random.Random(0), time.time() + seconds
        names = [("constant", name) for name in constants] + [("cost", tile, which) for tile in costs for which in (0, 1)]

        def loss(constants, costs, of):
            total = 0
            for product in of:
                _, taken = min(product.plans, key=lambda plan: self.microseconds(constants, costs, product, plan[0]))
                ratio = taken / product.fastest
                total += math.log(ratio) + SLOW_WEIGHT * max(0, ratio - SLOW)
            return total

        while time.time() < end:
            kind, name, *which = generator.choice(names)
            factor = math.exp(generator.choice([-1, 1]) * generator.choice([0.02, 0.05, 0.1]))
            changed, changed_costs, of = dict(constants), dict(costs), products
            if kind == "constant":
                changed[name] *= factor
            else:
                both = list(costs[name])
                both[which[0]] *= factor
                changed_costs[name], of = tuple(both), [product for product in products if product.bytes == name[0]]
            if loss(changed, changed_costs, of) < loss(constants, costs, of) - 1e-3:
                constants, costs = changed, changed_costs
        return constants, costs


def summary(title, ratios):
    ratios = sorted(ratios)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"{title}: geometric mean {mean:.3f}, 5th percentile {ratios[len(ratios) // 20]:.3f}, least {ratios[0]:.3f}")


def committed():
    """The constants and costs of model.rs."""
    text = (pathlib.Path(__file__).parent / "../kernels/src/gemm/host/model.rs").read_text()
    constants = {}
    for name in CONSTANTS:
        value = float(re.search(rf"const {name.upper()}: f64 = ([\d.e-]+);", text)[1])
        constants[name] = value * 1e-6 if "bandwidth" in name else value
    number = r"([\d.]+)"
    shape = r"\((\d+), (\d+)\)"
    costs = re.findall(rf"\(Loads::(\w+), (\d|_), {shape}(?: \| {shape})?\) => \({number}, {number}\)", text)
    return constants, {
        (int(size) if size != "_" else 2, LOADS.index(loads), int(rows), int(columns)): (float(step), float(tile))
        for loads, size, rows, columns, _, _, step, tile in costs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="+")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--refine", action="store_true")
    options = parser.parse_args()
    lines = [json.loads(line) for path in options.plans for line in open(path)]
    products = list(map(Product, lines))
    if options.refine:
        constants, costs = committed()
        for product in products:
            product.plans = [(plan, microseconds) for plan, microseconds in product.plans if product.tile(plan) in costs]
        model = Model(costs)
    products = [product for product in products if product.plans]
    for product in products:
        product.fastest = min(microseconds for _, microseconds in product.plans)
    if not options.refine:
        model = Model({product.tile(plan) for product in products for plan, _ in product.plans})
        constants, costs = model.fit(products)
    constants, costs = model.refine(constants, costs, products, options.seconds)
    for name, value in constants.items():
        print(f"{name} {value:.3g}")
    for (size, loads, rows, columns), (step, tile) in costs.items():
        print(f"(Loads::{LOADS[loads]}, {size}, ({rows}, {columns})) => ({step:.3g}, {tile:.3g}),")
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
