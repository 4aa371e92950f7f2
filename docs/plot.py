#!/usr/bin/env python3
"""The tables, plots and drawings of the book's pages performance.md, tensor-cores.md and rows.md.

    python3 docs/plot.py [--results FILE] [--matrix FILE] [--products FILE] [--rows FILE] [--check]

Writes into docs/book/src, from the measurements in benches/results/, performance.svg, tensor-cores.svg, products.svg, and the tables
between the marker comments of the pages; and the drawings of docs/diagrams.py. --check writes nothing and fails if any
of them is not what it would write.

The measurements are what benches/peers.py wrote: a list with workload, unit, ours, rival, rival_name, ratio, ceiling,
commit, driver, date, and optionally others (every peer's best) and gpu; what benches/rows.py wrote, which is alike; and what
benches/matrix.py wrote, which has sustained rates beside; and what benches/products.py wrote. Needs Python alone.
"""
import argparse
import html
import json
import math
import pathlib
import sys

from diagrams import drawings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "benches"))
from ratios import ends

PAGES = ROOT / "docs/book/src"
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
OF_PRODUCTS = "<!-- products: begin -->", "<!-- products: end -->"
TITLES = {
    "vadd_f32_2^28": "vector add, f32, 2^28",
    "softmax_f32_8192x8192": "softmax, f32, 8192 x 8192",
    "softmax_f16_8192x8192": "softmax, f16, 8192 x 8192",
    "rowsum_f32_8192x32768": "row sum, f32, 8192 x 32768",
    "layernorm_f16_8192x8192": "layer norm, f16, 8192 x 8192",
    "transpose_f32_16384x16384": "transpose, f32, 16384 x 16384",
    "gather_f16_131072x1024": "gather rows, f16, 2^17 x 1024",
    "cumsum_f32_8192x8192": "cumulative sum, f32, 8192 x 8192",
    "gather_f16_131072x1024_view": "gather rows, by the peer's view",
    "softmax_f32_8192x8191": "softmax, f32, 8192 x 8191",
    "softmax_f16_8192x8191": "softmax, f16, 8192 x 8191",
    "rowsum_f32_8192x50257": "row sum, f32, 8192 x 50257",
}
OURS, PEERS = "cuda-tiles", ["CUDA Tile C++", "Triton", "torch.compile", "PyTorch"]
COLOURS = {OURS: "#c2410c", "CUDA Tile C++": "#4d7c0f", "Triton": "#1d4ed8", "PyTorch": "#6b7280"}
MATRIX_TITLES = {
    "gemm_f16_8192": "`gemm`, f16, 8192^3", "gemm_f16_4096": "f16, 4096^3",
    "gemm_f16_8192_bt": "f16, 8192^3, B column-major", "gemm_f16_4096_bt": "f16, 4096^3, B column-major",
    "gemm_bf16_8192": "bf16, 8192^3", "gemm_bf16_4096": "bf16, 4096^3",
    "gemm_bf16_8192_bt": "bf16, 8192^3, B column-major", "gemm_bf16_4096_bt": "bf16, 4096^3, B column-major",
    "gemm_tf32_8192": "TF32, 8192^3", "gemm_tf32_8192_bt": "TF32, 8192^3, B column-major",
    "gemm_f8e4m3_8192_fast": "FP8 E4M3, 8192^3, accumulated by the tensor cores",
    "gemm_f8e4m3_8192_precise": "FP8 E4M3, 8192^3, promoted accumulation",
    "gemm_i8_8192_bt": "i8, 8192^3", "gemm_f64_4096": "f64, 4096^3",
    "gemm_f16_ragged": "f16, 4097 x 4093 x 4091, packed",
    "gemm_f16_ragged_pitch": "f16, 4097 x 4093 x 4091, rows of 64",
    "gemm_f16_gelu_8192": "`gemm`, bias and GELU, f16, 8192^3", "gemm_f16_64x1024": "f16, 64 of 1024^3",
    "gemm_f16_8192_sm_80": "f16, 8192^3, code for sm_80",
    "gemm_loads_8192": "1. `mma(load, load)`, f16, 8192^3", "gemm_loads_4096": "`mma(load, load)`, f16, 4096^3",
    "gemm_streamed_8192": "2. streamed operands, f16, 8192^3", "gemm_streamed_4096": "streamed operands, f16, 4096^3",
    "gemm_streamed_gelu_8192": "3. streamed, with bias and GELU, f16, 8192^3",
    "gemm_streamed_gelu_4096": "streamed, bias and GELU, f16, 4096^3",
    "grouped_f16_16": "16 unequal products, f16", "grouped_bf16_experts": "16 experts, bf16",
    "attention_f16": "attention, f16, 4 x 32 x 4096 x 128", "attention_f16_causal": "attention, causal, f16, 4 x 32 x 4096 x 128",
    **{f"decode_f16_{rows}": f"{rows} x 8192 by 8192 x 8192, f16" for rows in (1, 8, 16, 32, 64)},
}
MATRIX_PEERS = ["cuBLAS", "cuDNN", "CUDA Tile C++", "Triton", "PyTorch"]
# The chapter's steps, and the workload whose rate by cuBLAS is their line.
STEPS = {
    "gemm_loads_8192": "mma(load, load)", "gemm_streamed_8192": "streamed operands",
    "gemm_streamed_gelu_8192": "streamed, with bias and GELU", "gemm_f16_8192": "gemm",
    "gemm_f16_gelu_8192": "gemm, with bias and GELU",
}
LINE = "gemm_f16_8192"
# The classes of drawn products, by what benches/products.py calls them, and the colours of their element types.
PRODUCTS = {
    "any": "any sizes", "model": "projections of models", "square": "squares", "thin": "long thin", "deep": "deep small",
    "ragged": "ragged, rows at any place", "few rows": "1 to 16 rows", "tf32": "TF32", "e4m3 fast": "FP8, fast", "e4m3": "FP8, precise",
    "i8": "`i8`", "f64": "`f64`",
}
KINDS = {
    "f16": ("f16, bf16", "#1d4ed8"), "bf16": ("f16, bf16", "#1d4ed8"), "tf32": ("TF32", "#4d7c0f"), "e4m3": ("FP8", "#c2410c"),
    "e4m3 fast": ("FP8", "#c2410c"), "i8": ("i8", "#7e22ce"), "f64": ("f64", "#6b7280"),
}
# The ratios that the plot of products shows, and how many of the slowest are listed.
LEAST, MOST, WORST = 0.5, 8, 20
WIDTH, BAR, GAP, SIZE = 840, 15, 18, 12
STYLE = (
    "<style>.number{font-size:11px;fill:#fff}.tick{font-size:11px;fill:#4b5563;text-anchor:middle}.title{font-size:14px;font-weight:bold}"
    ".grid{stroke:#e5e7eb;fill:none}.ceiling{stroke:#111;stroke-width:1.5;stroke-dasharray:4 3;fill:none}</style>\n"
)


def peer_rates(row):
    """The best of each peer; a row without `others` knows the fastest alone."""
    rates = row.get("others") or {row["rival_name"].split(" (")[0]: row["rival"]}
    names = PEERS + sorted(set(rates) - set(PEERS))
    return {name: rates[name] for name in names if name in rates}


def title(row):
    if row["workload"] in TITLES:
        return TITLES[row["workload"]]
    # As rms_norm_backward_bf16_8192x4096.
    operation, dtype, shape = row["workload"].rsplit("_", 2)
    return f"{operation.replace('_', ' ')}, {dtype}, {shape.replace('x', ' x ')}"


def table(rows):
    peers = [peer for peer in PEERS if any(peer in peer_rates(row) for row in rows)]
    lines = [
        f"| workload | {OURS} | {' | '.join(peers)} | ratio to the best peer | of a copy's rate |",
        "|---|" + "---:|" * (len(peers) + 3),
    ]
    for row in rows:
        rates = peer_rates(row)
        cells = [f"{rates[peer]:,.0f}" if peer in rates else "" for peer in peers]
        lines.append(
            f"| {title(row)} | **{row['ours']:,.0f}** | {' | '.join(cells)} | {row['ratio']:.3f} "
            f"| {row['ours'] / row['ceiling']:.2f} |"
        )
    places = sorted({(row.get("gpu", "NVIDIA H200"), row["driver"], row["commit"], row["date"]) for row in rows})
    for gpu, driver, commit, date in places:
        lines.append(f"\nIn GB/s, more is better. {gpu}, driver {driver}, commit {commit}, {date}.")
    return "\n".join(lines)


def text_width(text, size=SIZE):
    """The width of a text in a wide sans-serif font, at least."""
    return 0.64 * size * len(text)


def axis(left, scale, most, step, top, bottom):
    """Grid lines and the numbers below them."""
    ticks = range(0, int(most) + 1, step)
    return [
        f'<path class="grid" d="M{left + tick * scale:.1f} {top}V{bottom}"/>'
        f'<text class="tick" x="{left + tick * scale:.1f}" y="{bottom + 15}">{tick:,}</text>'
        for tick in ticks
    ]


def bar(left, top, rate, scale, height, colour):
    """A bar with its figure at the left end, where no other line runs."""
    return (f'<rect x="{left}" y="{top}" width="{rate * scale:.1f}" height="{height - 1}" fill="{colour}"/>'
            f'<text class="number" x="{left + 6}" y="{top + height / 2 + 3.5:g}">{rate:,.0f}</text>')


def svg(heading, height, parts):
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" font-family="sans-serif" font-size="{SIZE}">\n'
        f"<title>{html.escape(heading)}</title>\n{STYLE}"
        f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>\n<text class="title" x="16" y="24">{html.escape(heading)}</text>\n'
        + "\n".join(parts) + "\n</svg>\n"
    )


def plot(rows):
    left = max(text_width(title(row)) for row in rows) + 24
    most = max(max(row["ours"], row["ceiling"], *peer_rates(row).values()) for row in rows)
    scale, first = (WIDTH - left - 30) / most, 88
    bars, y = [], first
    for row in rows:
        rates = {OURS: row["ours"], **peer_rates(row)}
        height = BAR * len(rates)
        bars.append(f'<text x="{left - 10:g}" y="{y + height / 2 + 4:g}" text-anchor="end">{html.escape(title(row))}</text>')
        for k, (name, rate) in enumerate(rates.items()):
            bars.append(bar(left, y + k * BAR, rate, scale, BAR, COLOURS.get(name, "#9ca3af")))
        line = left + row["ceiling"] * scale
        bars.append(f'<path class="ceiling" d="M{line:.1f} {y - 5}V{y + height + 4}"/>')
        y += height + GAP
    legend, x = [], 16
    for name in [OURS] + [peer for peer in PEERS if any(peer in peer_rates(row) for row in rows)]:
        legend.append(f'<rect x="{x:g}" y="40" width="11" height="11" fill="{COLOURS[name]}"/><text x="{x + 17:g}" y="50">{name}</text>')
        x += 17 + text_width(name) + 16
    ceilings = sorted({round(row["ceiling"]) for row in rows})
    copy = f"rate of a copy by PyTorch, {' to '.join(f'{rate:,}' for rate in {ceilings[0]: 0, ceilings[-1]: 0})} GB/s"
    legend.append(f'<path class="ceiling" d="M{x + 4:g} 37V54"/><text x="{x + 13:g}" y="50">{copy}</text>')
    gpus = " and ".join(sorted({row.get("gpu", "NVIDIA H200") for row in rows}))
    unit = f'<text class="tick" x="{left + (WIDTH - left - 30) / 2:.1f}" y="{y + 32}">GB/s: bytes of inputs and outputs per time. More is better.</text>'
    return svg(f"Memory-bound kernels on one {gpus}, in GB/s", y + 46,
               legend + axis(left, scale, most, 1000, first - 10, y - 4) + bars + [unit])


def matrix_table(rows):
    """Bursts, and sustained rates in parentheses; the chapter's steps first."""
    steps = list(STEPS)
    rows = sorted((row for row in rows if row["ours"] is not None),
                  key=lambda row: steps.index(row["workload"]) if row["workload"] in STEPS else len(steps))
    peers = [peer for peer in MATRIX_PEERS if any(peer in row["others"] for row in rows)]
    lines = [f"| | {OURS} | {' | '.join(peers)} | ratio to the best peer |", "|---|" + "---:|" * (len(peers) + 2)]
    for row in rows:
        rates = [both(row["others"].get(peer), row["sustained_others"].get(peer)) for peer in peers]
        unit = ", GB/s" if row["unit"] == "GB/s" else ""
        lines.append(f"| {MATRIX_TITLES.get(row['workload'], row['workload'])}{unit} "
                     f"| **{both(row['ours'], row['sustained'])}** | {' | '.join(rates)} "
                     f"| {both(row['ratio'], row['sustained_ratio'], '.3f')} |")
    for gpu, driver, commit, date in sorted({(row["gpu"], row["driver"], row["commit"], row["date"]) for row in rows}):
        lines.append(f"\nIn TFLOP/s where no unit is named, more is better; in parentheses sustained. {gpu}, driver {driver}, "
                     f"commit {commit}, {date}.")
    return "\n".join(lines)


def both(burst, sustained, form=",.0f"):
    """A number of bursts, and the sustained one if there is one."""
    if burst is None:
        return ""
    return f"{burst:{form}}" + (f" ({sustained:{form}})" if sustained else "")


def steps_plot(rows):
    """The rate of each step, with cuBLAS as a line."""
    rates = {row["workload"]: row for row in rows}
    steps = {name: rates[name]["ours"] for name in STEPS if rates.get(name, {}).get("ours")}
    line = rates.get(LINE, {}).get("others", {}).get("cuBLAS")
    most, high, first = max([*steps.values(), line or 0]), 22, 66
    left = max(text_width(STEPS[name]) for name in steps) + 24
    scale, bars, y = (WIDTH - left - 30) / most, [], first
    for name, rate in steps.items():
        bars.append(f'<text x="{left - 10:g}" y="{y + 15}" text-anchor="end">{html.escape(STEPS[name])}</text>')
        bars.append(bar(left, y, rate, scale, high, COLOURS[OURS]))
        y += high + 8
    if line:
        x = left + line * scale
        bars.append(f'<path class="ceiling" d="M{x:.1f} {first - 8}V{y - 2}"/>'
                    f'<text x="{x:.1f}" y="{first - 13}" text-anchor="end">cuBLAS without an epilogue: {line:,.0f} TFLOP/s</text>')
    unit = f'<text class="tick" x="{left + (WIDTH - left - 30) / 2:.1f}" y="{y + 32}">TFLOP/s in short bursts. More is better.</text>'
    return svg("Product of 8192 x 8192 matrices of f16, step by step, in TFLOP/s", y + 46,
               axis(left, scale, most, 100, first - 4, y - 4) + bars + [unit])


def products_table(results):
    """The ratios of each class of drawn products, and the products with the least ratios."""
    head, rows = results["head"], [row for row in results["rows"] if row["ratio"]]
    lines = ["| products | number | geometric mean | 5th percentile | least |", "|---|---:|---:|---:|---:|"]
    for name, title in [*PRODUCTS.items(), (None, "all")]:
        ratios = [row["ratio"] for row in rows if name in (None, row["name"])]
        mean, fifth, least = ends(ratios)
        lines.append(f"| {title} | {len(ratios)} | {mean:.2f} | {fifth:.2f} | {least:.2f} |")
    lines += [f"\nSeed {head['seed']}. {head['gpu']}, driver {head['driver']}, commit {head['commit']}, {head['date']}; ratios of times, more is better.",
              "\n![The ratio of each product over its work](products.svg)", f"\nThe {WORST} with the least ratios:\n",
              "| product | ours, us | cuBLAS, us | ratio | plan |", "|---|---:|---:|---:|---|"]
    for row in sorted(rows, key=lambda row: row["ratio"])[:WORST]:
        sizes = " x ".join(map(str, row["sizes"]))
        lines.append(f"| {row['kind']}, {row['order']}, {sizes} | {row['ours']:.1f} | {row['rival']:.1f} | {row['ratio']:.2f} | {plan(*row['plan'])} |")
    return "\n".join(lines)


def plan(rows, columns, loads, cut):
    """A plan, as benches/library/src/gemm.rs numbers it."""
    by = {0: "", 1: ", by threads", 2: ", for a vector"}.get(loads, f", clusters of {loads // 10} x {loads % 10}")
    return f"{rows} x {columns}{by}" + (f", {cut} parts" if cut > 0 else ", stream-K" if cut < 0 else "")


def products_plot(results):
    """The ratio of each drawn product over its work, both logarithmic, and a line where both libraries take as long."""
    points = [(2e-9 * math.prod(row["sizes"]), row["ratio"], KINDS[row["kind"]]) for row in results["rows"] if row["ratio"]]
    left, right, top, bottom = 60, WIDTH - 20, 70, 430
    decades = [math.floor(math.log10(min(work for work, *_ in points))), math.ceil(math.log10(max(work for work, *_ in points)))]

    def place(work, ratio):
        along = (math.log10(work) - decades[0]) / (decades[1] - decades[0])
        up = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
        return left + along * (right - left), bottom - up * (bottom - top)

    parts, x = [], 16
    for name, colour in dict.fromkeys(KINDS.values()):
        parts.append(f'<circle cx="{x + 5}" cy="46" r="4" fill="{colour}"/><text x="{x + 15}" y="50">{name}</text>')
        x += round(31 + text_width(name))
    for decade in range(decades[0], decades[1] + 1):
        across, _ = place(10.0**decade, 1)
        parts.append(f'<path class="grid" d="M{across:.1f} {top}V{bottom}"/><text class="tick" x="{across:.1f}" y="{bottom + 15}">1e{decade}</text>')
    for ratio in (0.5, 1, 2, 4, 8):
        _, height = place(1, ratio)
        parts.append(f'<path class="{"ceiling" if ratio == 1 else "grid"}" d="M{left} {height:.1f}H{right}"/>'
                     f'<text class="tick" x="{left - 16}" y="{height + 4:.1f}">{ratio}</text>')
    for work, ratio, (_, colour) in points:
        across, height = place(work, ratio)
        parts.append(f'<circle cx="{across:.1f}" cy="{height:.1f}" r="3" fill="{colour}" fill-opacity="0.6"/>')
    parts.append(f'<text class="tick" x="{(left + right) / 2}" y="{bottom + 34}">Work in Gflop. Above the line gemm takes less time than cuBLAS.</text>')
    return svg(f"Drawn products: cuBLAS's time over gemm's, on one {results['head']['gpu']}", bottom + 48, parts)


def with_table(page, table, begin=BEGIN, end=END):
    """The page's text with the table between its marker comments."""
    before, rest = page.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{table}\n{end}{after}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    results = ROOT / "benches/results"
    parser.add_argument("--results", type=pathlib.Path, default=results / "h200.json")
    parser.add_argument("--matrix", type=pathlib.Path, default=results / "h200_matrix.json")
    parser.add_argument("--products", type=pathlib.Path, default=results / "h200_products.json")
    parser.add_argument("--rows", type=pathlib.Path, default=results / "h200_rows.json")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows, page, chapter = json.loads(options.results.read_text()), PAGES / "performance.md", PAGES / "tensor-cores.md"
    measured = {}
    if options.matrix.is_file():
        matrix = json.loads(options.matrix.read_text())
        picture = "![The rate of each step, beside that of cuBLAS](tensor-cores.svg)"
        products = json.loads(options.products.read_text())
        text = with_table(chapter.read_text(), f"{matrix_table(matrix)}\n\n{picture}")
        measured = {
            chapter: with_table(text, products_table(products), *OF_PRODUCTS),
            PAGES / "tensor-cores.svg": steps_plot(matrix),
            PAGES / "products.svg": products_plot(products),
        }
    of_rows = PAGES / "rows.md"
    wanted = {
        of_rows: with_table(of_rows.read_text(), table(json.loads(options.rows.read_text()))),
        page: with_table(page.read_text(), table(rows)),
        PAGES / "performance.svg": plot(rows),
        **measured,
        **{PAGES / name: drawing for name, drawing in drawings().items()},
    }
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text() != text]
    if options.check:
        for path in stale:
            print(f"{path.name} is not what the measurements and formulas say: run `python3 docs/plot.py`", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
