#!/usr/bin/env python3
"""The table and the plot of docs/performance.md, from the measurements in benches/results/.

    python3 docs/plot.py [--results FILE] [--check]

Writes docs/performance.svg, and the table between the two marker comments of docs/performance.md. --check writes nothing
and fails if either is not what the measurements say.

The measurements are what benches/peers.py wrote: a list with workload, unit, ours, rival, rival_name, ratio, ceiling,
commit, driver, date, and optionally others (every peer's best) and gpu. Needs Python alone.
"""
import argparse
import html
import json
import pathlib
import sys

DOCS = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"
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
OURS, PEERS = "cuda-tiles", ["CUDA Tile C++", "Triton", "PyTorch"]
COLOURS = {OURS: "#c2410c", "CUDA Tile C++": "#4d7c0f", "Triton": "#1d4ed8", "PyTorch": "#6b7280"}
WIDTH, LABELS, BAR, GAP, TOP = 800, 210, 16, 22, 46


def peer_rates(row):
    """The best of each peer; a row without `others` knows the fastest alone."""
    rates = row.get("others") or {row["rival_name"].split(" (")[0]: row["rival"]}
    names = PEERS + sorted(set(rates) - set(PEERS))
    return {name: rates[name] for name in names if name in rates}


def title(row):
    return TITLES.get(row["workload"], row["workload"])


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


def plot(rows):
    most = max(max(row["ours"], row["ceiling"], *peer_rates(row).values()) for row in rows)
    scale = (WIDTH - LABELS - 30) / most
    parts, y = [], TOP
    for row in rows:
        bars = {OURS: row["ours"], **peer_rates(row)}
        height = BAR * len(bars)
        parts.append(f'<text x="{LABELS - 10}" y="{y + height / 2 + 4}" text-anchor="end">{html.escape(title(row))}</text>')
        for k, (name, rate) in enumerate(bars.items()):
            top = y + k * BAR
            parts.append(
                f'<rect x="{LABELS}" y="{top}" width="{rate * scale:.1f}" height="{BAR - 2}" '
                f'fill="{COLOURS.get(name, "#9ca3af")}"/>'
                f'<text class="number" x="{LABELS + rate * scale - 6:.1f}" y="{top + 11}">{rate:,.0f}</text>'
            )
        line = LABELS + row["ceiling"] * scale
        parts.append(f'<path class="ceiling" d="M{line:.1f} {y - 4}V{y + height + 2}"/>')
        y += height + GAP
    legend, x = [], LABELS
    for name in [OURS] + [peer for peer in PEERS if any(peer in peer_rates(row) for row in rows)]:
        legend.append(f'<rect x="{x}" y="14" width="11" height="11" fill="{COLOURS[name]}"/><text x="{x + 16}" y="24">{name}</text>')
        x += 32 + 8 * len(name)
    legend.append(f'<path class="ceiling" d="M{x + 4} 12V28"/><text x="{x + 12}" y="24">a copy\'s rate</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" font-size="12">\n'
        "<title>Rate of memory-bound kernels in GB/s</title>\n"
        "<style>.number{font-size:11px;fill:#fff;text-anchor:end}.ceiling{stroke:#111;stroke-width:1.5;stroke-dasharray:4 3;fill:none}</style>\n"
        f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>\n' + "\n".join(legend + parts) + "\n</svg>\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=DOCS.parent / "benches/results/h200.json")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    rows = json.loads(options.results.read_text())
    page = DOCS / "performance.md"
    before, rest = page.read_text().split(BEGIN)
    _, after = rest.split(END)
    wanted = {
        page: f"{before}{BEGIN}\n{table(rows)}\n{END}{after}",
        DOCS / "performance.svg": plot(rows),
    }
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text() != text]
    if options.check:
        for path in stale:
            print(f"{path.name} is not what {options.results.name} says: run `python3 docs/plot.py`", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(wanted[path])
    return 0


if __name__ == "__main__":
    sys.exit(main())
