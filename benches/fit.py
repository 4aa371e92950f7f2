#!/usr/bin/env python3
"""Fits the constants of model.rs and tile_costs.rs in kernels/src/gemm/host to measurements.

    python3 benches/products.py --library libcuda_tiles_bench.so --plans plans.jsonl --seed 1
    python3 benches/fit.py plans.jsonl ...

Needs NumPy and SciPy. The fit begins with the constants of these files, and plans of tiles that have no costs there do not count. Prints the
constants, how much longer than the fastest plans the chosen plans take, and the products for which the choice is worst.
`microseconds` is the function of the same name in model.rs. *Refused:* a search for the constants with the fastest choices. Of products that
it did not see, its choices were slower than those of the fit.
"""
import argparse
import json
import math
import pathlib
import re
import types

import numpy
from scipy.optimize import least_squares

from ratios import ends

MULTIPROCESSORS, COMPACT, SHARPNESS, STEP_BYTES, BOX_ROWS, SECTOR_BYTES, CHUNK_BYTES = 132, 64, 4, 128, 64, 32, 16
RING_BYTES, MOST_STAGES, FEW_STEPS, STEPS_OF_PARTIAL_SUMS = 194 * 1024, 12, 4, 12
# Those of multiply.rs.
PARTIAL_SUMS_OF_ROWS, SECOND_PASS_COLUMNS, ROWS_OF_BLOCKS, ELEMENTS_OF_ROWS = 9, 128, 256, 24 * 1024
# Bytes of an element of the operands and of the result.
BYTES = {"f16": (2, 2), "bf16": (2, 2), "tf32": (4, 4), "f64": (8, 8), "i8": (1, 4), "e4m3": (1, 2), "e4m3 fast": (1, 2)}
# The most rows of operand A that are packed, and how many times as many columns the result then has: `packs_few_rows` of plan.rs.
FEW_ROWS, MANY_TO_PACK = {"f16": 64, "bf16": 64, "tf32": 32}, 8
# Those of packing.rs.
SHARING_TILE, MOST_REQUESTS, MOST_REQUESTS_OF_ROWS, SMALL_COPY_BYTES, MOST_CROWDED_BYTES = 128, 500, 400_000, 1 << 20, 512
# The constants of model.rs. Bandwidths are megabytes in a microsecond.
CONSTANTS = ["start", "cluster", "launch", "behind_waves", "pack", "partial_sum", "partial_sum_of_a_row", "following_tile", "following_wave", "bandwidth", "result_bandwidth", "ragged_result_bandwidth", "ragged_result_bandwidth_beside_words", "partial_sums_bandwidth", "cache_bandwidth",
             "beside_lines", "beside_lines_by_32", "beside_lines_by_64", "short_pieces_bandwidth", "vector_short_pieces_bandwidth", "vector_pieces_bandwidth", "stream_k_bandwidth", "row", "row_outside", "short_row", "unaligned_row", "unaligned_row_of_few_steps", "outside", "row_of_zeros", "unaligned_result", "unaligned_result_beside_words", "unaligned_result_of_threads", "unaligned_result_by_words",
             "unaligned", "copied_by_words", "copied_by_elements", "unaligned_vectors", "unaligned_dots", "alone", "sm_bandwidth", "latency", "beside_what_stays", "narrow"]
# The kernels, as benches/library/src/gemm.rs numbers them: a cluster by its rows and columns of blocks.
LOADS = {"Tma": 0, "Threads": 1, "Vector": 2, "Cluster([2, 1])": 21, "Cluster([1, 2])": 12, "Cluster([1, 4])": 14, "Cluster([4, 1])": 41, "Cluster([2, 2])": 22}
# What stands for the bytes of an element of 8-bit floats with fast accumulation, in tile_costs.rs.
FAST = 0
# What stands for the bytes of any element there.
ANY = -1
# The tiles of a vector kernel that are loaded at a time, and their elements by the bytes of an element: `tile_elements` of vector.rs.
TILES, TILE = 3, {2: 2048, 4: 2048, 8: 1024}
# Plans that take longer than so many times the fastest plan's time do not matter.
SLOWEST = 2.5
# The weight of a constant's change by the factor e, beside errors of so much in the times of plans.
BEFORE = 3.0
ORDERS = ["nn", "nt", "tn", "tt"]
# `resident_blocks` of tile_costs.rs, by the bytes of an element and the tile, in the order of ORDERS.
RESIDENT = {(2, 128, 64): (2, 2, 2, 2), (2, 64, 128): (3, 3, 3, 3), (2, 32, 256): (3, 3, 3, 3), (2, 64, 32): (10, 10, 10, 10), (2, 16, 128): (2, 2, 2, 2), (2, 16, 16): (5, 5, 4, 4), (2, 16, 64): (5, 5, 5, 5), (2, 64, 64): (4, 4, 4, 4), (4, 32, 32): (6, 5, 4, 5),
            (8, 64, 64): (2, 2, 2, 2), (8, 64, 32): (3, 3, 3, 3), (8, 32, 32): (2, 2, 2, 2)}
RESIDENT_VECTORS = {2: 5, 4: 4, 8: 4}


class Product:
    """A product that was measured: its sizes, and (rows, columns, loads, cut, microseconds) of its plans."""

    def __init__(self, line):
        self.kind, self.order, self.sizes, self.rival = line["kind"], line["order"], line["sizes"], line["rival"]
        self.plans = [(tuple(plan[:4]), plan[4]) for plan in line["plans"]]
        self.bytes, self.result_bytes = BYTES[self.kind]
        rows, columns, depth = self.sizes
        # A column is computed as the row of the transposed product: `factors_of_row` of call.rs.
        if columns == 1 < rows:
            self.order = "".join({"n": "t", "t": "n"}[storage] for storage in reversed(self.order))
            rows, columns, _ = self.sizes = [columns, rows, depth]
        # One row is K-major, wherever the next one would begin.
        if rows == 1:
            self.order = "n" + self.order[1]
        pitches = depth if self.order[0] == "n" else rows, columns if self.order[1] == "n" else depth
        lengths = rows * depth, depth * columns
        is_read = [rows == 1 or pitches[0] * self.bytes % 16 == 0, pitches[1] * self.bytes % 16 == 0]
        self.packed = [0 if is_read else self.bytes * length for is_read, length in zip(is_read, lengths)]
        # The storage that TMA reads. No kernel of tf32 has two MN-major operands: one is packed as its transpose.
        self.read = self.order
        if self.kind == "tf32" and self.order == "tn":
            a, b = [self.bytes * length for length in lengths]
            whole = {"nn": [a, self.packed[1]], "tt": [self.packed[0], b]}
            self.read = min(["tt", "nn"], key=lambda order: sum(whole[order]))
            self.packed = whole[self.read]
        # Few rows and crowded ones are packed as their transposes: `packs_few_rows` of plan.rs, `has_crowded_rows` and `has_crowded_steps` of packing.rs.
        alignment = [math.gcd(pitch * self.bytes, STEP_BYTES) for pitch in pitches]

        def is_crowded(length, alignment, sharing):
            row, of_transpose = length * self.bytes, depth * self.bytes
            is_small = length * math.ceil(of_transpose / STEP_BYTES) * STEP_BYTES <= SMALL_COPY_BYTES
            requests = requests_for_a_line(row, alignment, sharing / SHARING_TILE)
            if row < STEP_BYTES:
                return requests > MOST_REQUESTS
            return self.bytes == 2 and is_small and alignment < SECTOR_BYTES and requests * depth > MOST_REQUESTS_OF_ROWS

        def has_crowded_steps(length, alignment, sharing):
            row, of_transpose = depth * self.bytes, length * self.bytes
            is_small = depth * math.ceil(of_transpose / STEP_BYTES) * STEP_BYTES <= SMALL_COPY_BYTES
            waits = row < STEP_BYTES or row <= MOST_CROWDED_BYTES and alignment < SECTOR_BYTES
            requests = requests_for_a_line(row, alignment, sharing / SHARING_TILE)
            return self.bytes > 1 and of_transpose >= STEP_BYTES and is_small and waits and requests > MOST_REQUESTS

        has_few_rows = rows <= FEW_ROWS.get(self.kind, 0) and columns >= MANY_TO_PACK * rows
        a, b = self.read
        if a == "t" and (has_few_rows or not self.packed[0] and is_crowded(rows, alignment[0], columns)):
            a, self.packed[0] = "n", self.bytes * lengths[0]
        elif a == "n" and not self.packed[0] and not has_few_rows and has_crowded_steps(rows, alignment[0], columns):
            a, self.packed[0] = "t", self.bytes * lengths[0]
        if b == "n" and not self.packed[1] and is_crowded(columns, alignment[1], rows):
            b, self.packed[1] = "t", self.bytes * lengths[1]
        elif b == "t" and not self.packed[1] and has_crowded_steps(columns, alignment[1], rows):
            b, self.packed[1] = "n", self.bytes * lengths[1]
        self.read = a + b
        # Whether threads load the elements of an operand one by one, as in call.rs; kernels of dot products load words.
        self.one_by_one = [pitch * self.bytes % max(8, 2 * self.bytes) > 0 for pitch in pitches]
        self.beside_words = [pitch * self.bytes % 4 > 0 for pitch in pitches]
        self.beside_chunks = [pitch * self.bytes % CHUNK_BYTES > 0 for pitch in pitches]
        self.row_alignment = [STEP_BYTES if packed else of for of, packed in zip(alignment, self.packed)]

    def tile(self, plan):
        """What the costs of a tile depend on."""
        rows, columns, loads, _ = plan
        size = FAST if self.kind == "e4m3 fast" else self.bytes
        # A matrix and a vector cost the same whatever the element type.
        return (ANY, loads, self.is_of_dots(plan), max(rows, columns)) if loads == LOADS["Vector"] else (size, loads, rows, columns)

    def is_of_dots(self, plan):
        """`is_of_dots` of model.rs."""
        return self.order[1] == "t" if plan[0] == 1 else self.order[0] == "n"

    def step_bytes(self, plan):
        """`step_bytes` of tile_costs.rs."""
        rows, columns, loads, _ = plan
        if loads == 2:
            return TILES * TILE[self.bytes] * self.bytes // (rows * columns)
        return {(1, 2, 16, 16): 512, (1, 2, 64, 128): 32, (1, 2, 64, 32): 32, (1, 2, 32, 256): 32, (1, 4, 32, 32): 256, (1, 8, 64, 64): 256, (1, 8, 64, 32): 256, (1, 8, 32, 32): 512}.get((loads, self.bytes, rows, columns), STEP_BYTES)

    def short_pieces(self, plan):
        """The bytes of `short_pieces` of model.rs: by pieces of a sector; and of a matrix for a vector by shorter ones, and by pieces of one sector or two."""
        (rows, columns, depth), (tile_rows, tile_columns, loads, _) = self.sizes, plan
        if loads == LOADS["Vector"] and not self.is_of_dots(plan):
            matrix, piece = max(rows, columns) * depth * self.bytes, max(tile_rows, tile_columns) * self.bytes
            return (0, matrix * SECTOR_BYTES // piece, 0) if piece < SECTOR_BYTES else (0, 0, matrix * (piece <= 2 * SECTOR_BYTES))
        if loads == LOADS["Threads"] and self.step_bytes(plan) == SECTOR_BYTES and depth * self.bytes > STEP_BYTES:
            k_major = [size * (order == own) for size, order, own in ((rows, self.order[0], "n"), (columns, self.order[1], "t"))]
            return sum(k_major) * depth * self.bytes, 0, 0
        if (loads, tile_rows, tile_columns) != (LOADS["Threads"], 16, 16):
            return 0, 0, 0
        of_a = rows * math.ceil(columns / tile_columns) if self.order[0] == "t" and rows > 1 else 0
        of_b = columns * math.ceil(rows / tile_rows) if self.order[1] == "n" and columns > 1 else 0
        return (of_a + of_b) * depth * self.bytes, 0, 0

    def steps_by_tma(self):
        """`steps_by_tma` of model.rs."""
        _, _, depth = self.sizes
        return max(1, math.ceil(depth * self.bytes / STEP_BYTES))

    def stay(self, plan):
        """`stay` of model.rs."""
        (rows, columns, _), (tile_rows, tile_columns, _, cut) = self.sizes, plan
        may = cut == 0 and min(tile_rows, tile_columns) <= 64 and self.result_bytes <= 2
        may = may and self.steps_by_tma() <= stages_of(plan)
        return may and rows <= tile_rows, may and columns <= tile_columns

    def beside_lines(self, plan, of_a, of_b):
        """The sums of these numbers of operands whose rows begin at multiples of 16, of 32 and of 64 bytes in a tile, but not of more."""
        return [sum(number for number, alignment in zip((of_a, of_b), self.tile_alignment(plan)) if alignment in which)
                for which in ((1, 2, 4, 8, 16), (32,), (64,))]

    def tile_alignment(self, plan):
        """`tile_alignment` of model.rs."""
        a, b = self.row_alignment
        of_a = a if self.read[0] == "n" else math.gcd(a, plan[0] * self.bytes)
        return of_a, b if self.read[1] == "t" else math.gcd(b, plan[1] * self.bytes)

    def loaded_bytes(self, plan):
        """The bytes of `loaded_bytes` of model.rs, and those of rows beside lines among them."""
        (rows, columns, _), (tile_rows, tile_columns, *_) = self.sizes, plan
        def of_boxes(is_k_major, length, tile):
            """The rows or columns of an operand, those of boxes that tiles share or that reach outside included."""
            if is_k_major:
                box = 1 if has_last_boxes(plan) else box_rows(tile)
                return math.ceil(length / box) * box
            box = min(BOX_ROWS, tile)
            tiles, rest = divmod(length, tile)
            return (tiles * math.ceil(tile / box) + math.ceil(rest / box)) * box

        a_stays, b_stays = self.stay(plan)
        down, across = cluster(plan)
        lines = ((not a_stays) * of_boxes(self.read[0] == "n", rows, tile_rows) * math.ceil(columns / tile_columns / across),
                 (not b_stays) * of_boxes(self.read[1] == "t", columns, tile_columns) * math.ceil(rows / tile_rows / down))
        return [count * self.steps_by_tma() * STEP_BYTES for count in (sum(lines), *self.beside_lines(plan, *lines))]

    def rows_of_zeros(self, plan):
        """`rows_of_zeros` of model.rs."""
        (_, _, depth), (tile_rows, tile_columns, *_), (a_stays, b_stays) = self.sizes, plan, self.stay(plan)
        step = STEP_BYTES // self.bytes
        boxes = (self.read[0] == "t" and not a_stays) * math.ceil(tile_rows / step) + (self.read[1] == "n" and not b_stays) * math.ceil(tile_columns / step)
        return boxes * (-depth % step)

    def short_rows(self, plan):
        """`short_rows` of model.rs."""
        (rows, columns, depth), (tile_rows, tile_columns, *_), (down, across) = self.sizes, plan, cluster(plan)
        slots, loops = multiprocessors(plan) * resident_blocks(plan), stages_of(plan) // self.steps_by_tma()

        def of(index, row, tiles, sharing):
            loads = min(tiles, slots * loops) if self.stay(plan)[index] else tiles / sharing
            is_short = 0 < row * self.bytes < STEP_BYTES and not self.packed[index]
            return requests_for_a_line(row * self.bytes, self.row_alignment[index], loads) if is_short else 0

        row_of_a, row_of_b = depth if self.read[0] == "n" else rows, columns if self.read[1] == "n" else depth
        return of(0, row_of_a, math.ceil(columns / tile_columns), across) + of(1, row_of_b, math.ceil(rows / tile_rows), down)

    def copied_rows(self, plan, has_waves):
        """The rows of `copying` of model.rs, of operands A and B: of a whole tile, of the last one, and outside of that."""
        def of(is_k_major, stays, length, tile):
            tiles = math.ceil(length / tile)
            outside = -length % box_rows(tile) if is_k_major and not has_last_boxes(plan) else 0
            if stays:
                return 0, 0, 0
            return (0, length / tiles, outside / tiles) if has_waves else (min(length, tile), length - (tiles - 1) * tile, outside)

        (rows, columns, _), (tile_rows, tile_columns, *_), (a_stays, b_stays) = self.sizes, plan, self.stay(plan)
        return of(self.read[0] == "n", a_stays, rows, tile_rows), of(self.read[1] == "t", b_stays, columns, tile_columns)

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
        return max(0.0 if a_stays else at_an_end(self.read[0] == "n", rows, tile_rows),
                   0.0 if b_stays else at_an_end(self.read[1] == "t", columns, tile_columns))


def requests_for_a_line(row, alignment, loads):
    """`requests_for_a_line` of packing.rs."""
    is_beside_sectors = row > SECTOR_BYTES and alignment < SECTOR_BYTES
    rows = STEP_BYTES / min(row, STEP_BYTES) if alignment < STEP_BYTES else 1
    return (4 if is_beside_sectors else 1) * rows * loads


def box_rows(rows):
    """`box_rows` of model.rs."""
    if rows <= BOX_ROWS:
        return rows
    return next((most for most in range(BOX_ROWS, BOX_ROWS // 2 - 1, -8) if rows % most == 0), rows // 2)


def has_last_boxes(plan):
    """`has_last_boxes` of model.rs."""
    rows, columns, loads, _ = plan
    return loads == LOADS["Tma"] and (rows <= 64 or columns <= 64 and rows % 128 > 0)


def resident_blocks(plan):
    """`resident_blocks` of plan.rs, of kernels that TMA feeds."""
    rows, columns, loads, _ = plan
    return 2 if loads == LOADS["Tma"] and rows <= COMPACT and columns <= COMPACT else 1


def stages_of(plan):
    """`stages` of model.rs."""
    rows, columns, *_ = plan
    return min(max(RING_BYTES // resident_blocks(plan) // ((rows + columns) * STEP_BYTES), 2), MOST_STAGES)


def cluster(plan):
    """`cluster` of plan.rs."""
    return divmod(plan[2], 10) if plan[2] > 2 else (1, 1)


def adds_up_rows(rows, columns, parts):
    """`adds_up_rows` of multiply.rs, of a result of one matrix."""
    return parts >= PARTIAL_SUMS_OF_ROWS and rows * math.ceil(columns / SECOND_PASS_COLUMNS) <= ROWS_OF_BLOCKS and rows * columns <= ELEMENTS_OF_ROWS


def multiprocessors(plan):
    """`multiprocessors` of plan.rs."""
    return MULTIPROCESSORS * 10 // 11 if math.prod(cluster(plan)) > 2 else MULTIPROCESSORS


class Plans:
    """The measured plans of all products as arrays: what the model needs to know of each. A plan's product is `product`."""

    def __init__(self, products, tiles):
        tiles = {tile: index for index, tile in enumerate(tiles)}
        rows = [self.row(index, product, plan, tiles) | dict(measured=time)
                for index, product in enumerate(products) for plan, time in product.plans]
        self.names = list(rows[0])
        for name in self.names:
            setattr(self, name, numpy.array([row[name] for row in rows]))
        # The first plan of each product.
        self.firsts = numpy.searchsorted(self.product, numpy.arange(len(products)))
        self.fastest = numpy.minimum.reduceat(self.measured, self.firsts)

    def only(self, which):
        """These plans, without `firsts` and `fastest`."""
        some = types.SimpleNamespace()
        for name in self.names:
            setattr(some, name, getattr(self, name)[which])
        return some

    @staticmethod
    def row(index, product, plan, tiles):
        """A plan's numbers: counts, and megabytes."""
        tile_rows, tile_columns, loads, cut = plan
        rows, columns, depth = product.sizes
        by_tma, (down, across) = loads not in (LOADS["Threads"], LOADS["Vector"]), cluster(plan)
        resident = usual = resident_blocks(plan) if by_tma else 4
        if loads == 1:
            resident = RESIDENT[product.bytes, tile_rows, tile_columns][ORDERS.index(product.order)]
        elif loads == 2:
            resident = RESIDENT_VECTORS[product.bytes]
        steps = max(1, math.ceil(depth * product.bytes / product.step_bytes(plan)))
        count = down * math.ceil(rows / tile_rows / down) * across * math.ceil(columns / tile_columns / across)
        full, rest = divmod(count, MULTIPROCESSORS)
        # Whether threads copy ahead, by words or by elements: `one_by_one` of model.rs.
        copies_words, copies_elements = loads == 1 and (tile_rows, tile_columns) in [(128, 64), (16, 128)], loads == 1 and product.bytes == 8
        is_vector, is_of_dots = loads == LOADS["Vector"], product.is_of_dots(plan)
        pieces, short_of_vectors, of_vectors = product.short_pieces(plan)
        loaded, *beside = [1e-6 * count * by_tma for count in product.loaded_bytes(plan)]
        has_waves = count * max(1, cut) > multiprocessors(plan) * resident
        copied = [[usual * by_tma * number for number in of] for of in product.copied_rows(plan, has_waves)]
        beside_lines = [usual * by_tma * count for count in product.beside_lines(plan, tile_rows / across, tile_columns / down)]
        # `stream_k_blocks` of plan.rs.
        sharing = min(MULTIPROCESSORS, max(rest, math.isqrt(rest * steps * STEPS_OF_PARTIAL_SUMS)))
        launches, sums, splits = 0, 0, 0
        if cut > 0:
            launches, sums, splits = 1, max(4, product.bytes) * rows * columns * cut, cut
        elif cut < 0:
            launches, splits = 1 + (full > 0), sharing / max(1, rest)
            sums = 4 * tile_rows * tile_columns * min(sharing + rest, 2 * sharing)
        packs = [packed for packed in product.packed if packed and by_tma]
        return dict(
            product=index, tile=tiles[product.tile(plan)], by_tma=by_tma, loads_sectors=loads == LOADS["Threads"] and product.step_bytes(plan) == SECTOR_BYTES, in_clusters=down * across > 1,
            unaligned=(loads == 1 and not copies_words and not copies_elements) * sum(product.one_by_one),
            copied_by_words=copies_words * sum(product.beside_chunks),
            copied_by_elements=copies_elements * sum(product.beside_chunks),
            unaligned_vectors=is_vector and not is_of_dots and product.bytes < 8 and product.one_by_one[tile_rows == 1],
            unaligned_dots=is_vector and is_of_dots and product.beside_words[tile_rows == 1],
            multiprocessors=multiprocessors(plan), resident=resident, usual=usual, steps=math.ceil(steps / max(1, cut)), tiles=count * max(1, cut), is_stream_k=cut < 0,
            full=full * MULTIPROCESSORS,
            last_steps=math.ceil(rest * steps / max(1, sharing)),
            again=rest * (tile_rows + tile_columns) * depth * product.bytes * 1e-6 * (cut < 0),
            whole_a=copied[0][0], last_a=copied[0][1], outside_a=copied[0][2],
            whole_b=copied[1][0], last_b=copied[1][1], outside_b=copied[1][2],
            has_few_steps=usual == 2 and product.bytes > 1 and math.ceil(steps / max(1, cut)) <= FEW_STEPS, unaligned_rows=beside_lines[0], unaligned_rows_by_32=beside_lines[1], unaligned_rows_by_64=beside_lines[2],
            rows_of_zeros=usual * by_tma * product.rows_of_zeros(plan) * (cut == 0),
            short_rows=product.short_rows(plan) if by_tma else 0, beside_what_stays=by_tma and any(product.stay(plan)), narrow=by_tma and min(tile_rows, tile_columns) == 16,
            operands=depth * product.bytes * (rows + columns) * 1e-6, result=rows * columns * product.result_bytes * 1e-6,
            loaded=loaded, beside=beside[0], beside_by_32=beside[1], beside_by_64=beside[2], pieces=pieces * 1e-6, short_pieces_of_vectors=short_of_vectors * 1e-6, pieces_of_vectors=of_vectors * 1e-6, outside=usual * product.steps_outside(plan) * by_tma,
            unaligned_elements=usual * tile_rows * tile_columns * (cut <= 0 and columns * product.result_bytes % 16 > 0),
            unaligned_result_by_words=loads == 1 and columns * product.result_bytes % 4 == 0,
            unaligned_result_beside_words=by_tma and columns * product.result_bytes % 4 > 0,
            packs=len(packs), packed=2e-6 * sum(packs), ring_of_step=by_tma * (tile_rows + tile_columns) * STEP_BYTES * usual / RING_BYTES, launches=launches, sums=sums * 1e-6, splits=splits, adds_up_rows=adds_up_rows(rows, columns, cut))


def larger(x, y):
    """`larger` of model.rs."""
    return (x ** SHARPNESS + y ** SHARPNESS) ** (1 / SHARPNESS)


class Model:
    def __init__(self, tiles):
        self.tiles = sorted(tiles)

    def logarithms(self, constants, costs):
        """Logarithms of the constants, then of the costs of a k step and of a tile for each shape."""
        return numpy.log([*(constants[name] for name in CONSTANTS), *(cost for tile in self.tiles for cost in costs[tile])])

    def read(self, logarithms):
        values = numpy.exp(logarithms)
        costs = values[len(CONSTANTS):].reshape(-1, 2)
        return dict(zip(CONSTANTS, values)), dict(zip(self.tiles, map(tuple, costs)))

    @staticmethod
    def microseconds(logarithms, plans):
        values = numpy.exp(logarithms)
        constant = types.SimpleNamespace(**dict(zip(CONSTANTS, values)))
        costs = values[len(CONSTANTS):].reshape(-1, 2)
        step, tile = costs[plans.tile].T

        def factor(name):
            return numpy.where(getattr(plans, name), getattr(constant, name), 1)

        for name in ("unaligned_vectors", "unaligned_dots"):
            step = step * factor(name)
        step = step * constant.unaligned ** plans.unaligned * constant.copied_by_words ** plans.copied_by_words * constant.copied_by_elements ** plans.copied_by_elements

        def beside_lines(name):
            parts = ("", 1), ("_by_32", constant.beside_lines_by_32), ("_by_64", constant.beside_lines_by_64)
            return sum(part * getattr(plans, name + which) for which, part in parts)

        def copying(whole, last, outside):
            return numpy.maximum(constant.row * whole, constant.row * last + constant.row_outside * outside)

        step = larger(step, constant.unaligned_row * beside_lines("unaligned_rows"))
        step = larger(step, copying(plans.whole_a, plans.last_a, plans.outside_a) + copying(plans.whole_b, plans.last_b, plans.outside_b))
        unaligned_result = numpy.where(plans.by_tma, constant.unaligned_result, constant.unaligned_result_of_threads)
        unaligned_result = unaligned_result * factor("unaligned_result_by_words") * factor("unaligned_result_beside_words")
        # What the first tile of a block costs more than the tiles that follow.
        first = numpy.where(plans.by_tma, (1 - constant.following_tile) * tile, 0)
        tile = tile - first
        tile = tile + constant.outside * plans.outside + constant.row_of_zeros * plans.rows_of_zeros + unaligned_result * plans.unaligned_elements

        def waves(tiles, one, steps):
            """The time of tiles of so many k steps that take `one` each where blocks share a multiprocessor."""
            full, rest = numpy.divmod(tiles, plans.multiprocessors * plans.resident)
            of_first = numpy.minimum(plans.resident, numpy.ceil(tiles / plans.multiprocessors))

            def share(blocks):
                others = (blocks - 1) / numpy.maximum(plans.usual - 1, 1)
                return numpy.where(plans.usual > 1, constant.alone + (1 - constant.alone) * others, 1)

            def wave(blocks):
                return larger(share(blocks) * one, constant.latency * steps * plans.ring_of_step)

            last = numpy.where(rest > 0, wave(numpy.ceil(rest / plans.multiprocessors)), 0)
            behind = numpy.where(plans.loads_sectors & (full > 0), constant.following_wave, 1)
            return share(of_first) * first + numpy.where(full > 0, wave(plans.resident) + behind * ((full - 1) * wave(plans.resident) + last), last)

        longer = numpy.where(plans.has_few_steps, constant.unaligned_row_of_few_steps * beside_lines("unaligned_rows") * plans.steps, 0)
        one = larger(plans.steps * step + tile + longer, plans.usual * plans.operands / plans.tiles / constant.sm_bandwidth)
        compute = waves(numpy.where(plans.is_stream_k, plans.full, plans.tiles), one, plans.steps)
        compute = numpy.where(plans.is_stream_k & (plans.full == 0), 0, compute)
        last = waves(numpy.full_like(plans.tiles, MULTIPROCESSORS), plans.last_steps * step + 2 * tile + first, plans.last_steps)
        behind = numpy.where(plans.full > 0, constant.behind_waves, 0)
        compute = compute + numpy.where(plans.is_stream_k, larger(last, plans.again / constant.stream_k_bandwidth) + behind, 0)
        delivered = (plans.loaded + constant.beside_lines * beside_lines("beside")) / constant.cache_bandwidth
        beside_words = plans.unaligned_result_beside_words
        ragged = numpy.where(beside_words, constant.ragged_result_bandwidth_beside_words, constant.ragged_result_bandwidth)
        result_bandwidth = numpy.where(plans.by_tma & (plans.unaligned_elements > 0), ragged, constant.result_bandwidth)
        memory = larger(plans.operands / constant.bandwidth + plans.result / result_bandwidth, delivered / plans.multiprocessors)
        memory = memory * factor("beside_what_stays") * factor("narrow")
        one_by_one = numpy.where(plans.unaligned > 0, constant.unaligned, 1)
        of_vectors = plans.short_pieces_of_vectors / constant.vector_short_pieces_bandwidth + plans.pieces_of_vectors / constant.vector_pieces_bandwidth
        memory = larger(memory, plans.pieces * one_by_one / constant.short_pieces_bandwidth + of_vectors)
        # The memory's time that the last wave does not use.
        rest, each = plans.tiles % (plans.multiprocessors * plans.resident), plans.operands / plans.tiles
        unused = numpy.ceil(rest / plans.multiprocessors) * each / constant.sm_bandwidth - rest * each / constant.bandwidth
        has_waves = (plans.tiles > plans.multiprocessors * plans.resident) & numpy.logical_not(plans.is_stream_k)
        memory = memory + numpy.where(has_waves, numpy.maximum(unused, 0), 0)
        packing = plans.packs * constant.pack + plans.packed / constant.bandwidth
        return (constant.start * plans.by_tma + constant.cluster * plans.in_clusters + larger(compute, memory) + constant.short_row * plans.short_rows + packing + plans.launches * constant.launch
                + plans.sums / constant.partial_sums_bandwidth + plans.splits * numpy.where(plans.adds_up_rows, constant.partial_sum_of_a_row, constant.partial_sum))

    def fit(self, plans, before):
        """The constants with the least errors of logarithms. Plans close to the fastest one weigh most: the choice is among them.

        Constants that few plans depend on stay close to those before.
        """
        slower = plans.measured / plans.fastest[plans.product]
        plans, slower = plans.only(slower < SLOWEST), slower[slower < SLOWEST]
        weights = 1 / numpy.sqrt(0.05 + slower - 1)

        def errors(logarithms):
            of_plans = weights * numpy.log(self.microseconds(logarithms, plans) / plans.measured)
            return numpy.concatenate([of_plans, BEFORE * (logarithms - before)])

        return least_squares(errors, before, loss="soft_l1", f_scale=0.3, max_nfev=100).x

    def chosen(self, logarithms, plans):
        """The measured time of each product's plan that has the least estimated time."""
        estimated = self.microseconds(logarithms, plans)
        least = numpy.minimum.reduceat(estimated, plans.firsts)
        return numpy.minimum.reduceat(numpy.where(estimated == least[plans.product], plans.measured, numpy.inf), plans.firsts)


def summary(title, ratios):
    mean, fifth, least = ends(ratios)
    print(f"{title}: geometric mean {mean:.3f}, 5th percentile {fifth:.3f}, least {least:.3f}")


def report(when, products, chosen, fastest):
    rivals = numpy.array([product.rival or math.nan for product in products])
    known = ~numpy.isnan(rivals)
    summary(f"{when}: the fastest plan's time over the chosen plan's", fastest / chosen)
    summary(f"{when}: the rival's over the chosen plan's", (rivals / chosen)[known])
    summary(f"{when}: the rival's over the fastest plan's", (rivals / fastest)[known])


def committed():
    """The constants of model.rs and the costs of tile_costs.rs."""
    host = pathlib.Path(__file__).parent / "../kernels/src/gemm/host"
    text = (host / "model.rs").read_text()
    constants = {}
    for name in CONSTANTS:
        value = float(re.search(rf"const {name.upper()}: f64 = ([\d.e-]+);", text)[1])
        constants[name] = value * 1e-6 if "bandwidth" in name else value
    number = r"([\d.]+)"
    text_of_costs = (host / "tile_costs.rs").read_text()
    costs = re.findall(rf"\(Loads::([^_]*?), (\d|FAST), \((\d+), (\d+)\)\) => \({number}, {number}\)", text_of_costs)
    of_vectors = re.findall(rf"\((true|false), (\d+)\) => \({number}, {number}\)", text_of_costs)
    return constants, {
        (FAST if size == "FAST" else int(size), LOADS[loads], int(rows), int(columns)): (float(step), float(tile))
        for loads, size, rows, columns, step, tile in costs
    } | {(ANY, LOADS["Vector"], is_k_major == "true", int(elements)): (float(step), float(tile)) for is_k_major, elements, step, tile in of_vectors}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plans", nargs="+")
    options = parser.parse_args()
    constants, costs = committed()
    products = [Product(json.loads(line)) for path in options.plans for line in open(path)]
    for product in products:
        product.plans = [(plan, microseconds) for plan, microseconds in product.plans if product.tile(plan) in costs]
    products = [product for product in products if product.plans]
    model = Model(costs)
    plans, before = Plans(products, model.tiles), model.logarithms(constants, costs)
    report("before", products, model.chosen(before, plans), plans.fastest)
    logarithms = model.fit(plans, before)
    constants, costs = model.read(logarithms)
    for name, value in constants.items():
        print(f"{name} {value:.3g}")
    names = {number: name for name, number in LOADS.items()}
    for (size, loads, rows, columns), (step, tile) in costs.items():
        is_vector = loads == LOADS["Vector"]
        shape = f"({str(bool(rows)).lower()}, {columns})" if is_vector else f"(Loads::{names[loads]}, {size or 'FAST'}, ({rows}, {columns}))"
        print(f"{shape} => ({step:.3g}, {tile:.3g}),")
    chosen = model.chosen(logarithms, plans)
    report("after", products, chosen, plans.fastest)
    estimated = model.microseconds(logarithms, plans)
    keys = [plan for product in products for plan, _ in product.plans]
    for index in numpy.argsort(plans.fastest / chosen)[:40]:
        of = numpy.flatnonzero(plans.product == index)
        taken, best = of[numpy.argmin(estimated[of])], of[numpy.argmin(plans.measured[of])]
        described = [f"{keys[plan]} {plans.measured[plan]} us, estimated {estimated[plan]:.1f}" for plan in (taken, best)]
        product = products[index]
        print(f"{plans.fastest[index] / chosen[index]:.2f} {product.kind} {product.order} {product.sizes}: {described[0]}; the fastest {described[1]}")


if __name__ == "__main__":
    main()
