"""The drawings of docs/book/src/tensor-cores.md, made from the layouts' formulas. docs/plot.py writes them.

A layout says of which bits of an element's coordinates the number of its register and of its thread are made, as
`tiles/src/layout/matrix_part.rs` does. `checked()` compares the formulas with those that the PTX ISA prints beside its own
figures ("Matrix Fragments for mma.m16n8k16 with floating point type", "Register Fragments and Shared Memory Matrix Layouts" of
wgmma, and "Swizzling Modes" of tensors).
"""
import html

# Bits of the coordinates that the bits of a register's number and of a lane are, from the lowest. p = log2(4 / bytes) = 1.
ACCUMULATOR = dict(register=[("column", 0), ("row", 3)], lane=[("column", 1), ("column", 2), ("row", 0), ("row", 1), ("row", 2)])
A = dict(register=[("k", 0), ("row", 3), ("k", 3)], lane=[("k", 1), ("k", 2), ("row", 0), ("row", 1), ("row", 2)])
B = dict(register=[("k", 0), ("k", 3)], lane=[("k", 1), ("k", 2), ("column", 0), ("column", 1), ("column", 2)])
# Further registers and the warp of wgmma's accumulators, 64 rows by N columns.
WGMMA = dict(
    register=ACCUMULATOR["register"] + [("column", 3), ("column", 4), ("column", 5), ("column", 6), ("column", 7)],
    lane=ACCUMULATOR["lane"], warp=[("row", 4), ("row", 5)])
TINTS = ["#fde7d9", "#fdf3d0", "#e6f2d5", "#d5f0e8", "#d7e9fb", "#e2defa", "#f3dcf5", "#fbdbe3"]
STRONG = "#c2410c"


def number(bits, **coordinates):
    """The number whose bits are these bits of the coordinates."""
    return sum((coordinates[axis] >> bit & 1) << place for place, (axis, bit) in enumerate(bits))


def chunk_in_memory(row, chunk):
    """Where in its row of 128 bytes a chunk of 16 lies: swizzle<128B>."""
    return chunk ^ row % 8


def checked():
    """Whether the formulas above are the ISA's."""
    for lane in range(32):
        group, within = lane // 4, lane % 4
        for i in range(8):
            row, k = group + (8 if i in (2, 3, 6, 7) else 0), within * 2 + i % 2 + (8 if i >= 4 else 0)
            assert (number(A["lane"], row=row, k=k), number(A["register"], row=row, k=k)) == (lane, i)
        for i in range(4):
            k = within * 2 + i % 2 + (8 if i >= 2 else 0)
            assert (number(B["lane"], k=k, column=group), number(B["register"], k=k, column=group)) == (lane, i)
            place = dict(row=group + (8 if i >= 2 else 0), column=within * 2 + i % 2)
            assert (number(ACCUMULATOR["lane"], **place), number(ACCUMULATOR["register"], **place)) == (lane, i)
        for warp in range(4):
            for i in range(128):
                place = dict(row=16 * warp + group + 8 * (i // 2 % 2), column=8 * (i // 4) + 2 * within + i % 2)
                found = [number(WGMMA[part], **place) for part in ("warp", "lane", "register")]
                assert found == [warp, lane, i], (found, warp, lane, i)
    for row in range(16):
        for chunk in range(8):
            # Address bits 4 to 6 are exclusive-ored with bits 7 to 9.
            address = row * 128 + chunk * 16
            assert address ^ (address >> 7 & 7) << 4 == row * 128 + chunk_in_memory(row, chunk) * 16
    return True


class Drawing:
    """An SVG that grows with what is drawn."""

    def __init__(self, title):
        self.title, self.parts, self.width, self.height = title, [], 0, 0

    def reach(self, x, y):
        self.width, self.height = max(self.width, x + 16), max(self.height, y + 16)

    def box(self, x, y, width, height, fill, label="", stroke="#9ca3af", ink="#111", size=11):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" stroke="{stroke}"/>')
        if label:
            self.text(x + width / 2, y + height / 2 + size * 0.36, label, "middle", ink, size)
        self.reach(x + width, y + height)

    def text(self, x, y, text, anchor="start", ink="#111", size=12, weight="normal"):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{ink}" font-size="{size}" '
                          f'font-weight="{weight}">{html.escape(text)}</text>')
        self.reach(x + ((0.64 if weight == "bold" else 0.56) * size * len(text) if anchor == "start" else 0), y)

    def arrow(self, x, y, to_x, to_y, dashed=False):
        dash = ' stroke-dasharray="3 3"' if dashed else ""
        self.parts.append(f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="#111" fill="none" marker-end="url(#head)"{dash}/>')

    def svg(self):
        head = ('<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                '<path d="M0 0L8 4L0 8z"/></marker></defs>')
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" font-family="sans-serif">\n'
                f"<title>{html.escape(self.title)}</title>\n{head}\n"
                f'<rect width="{self.width:g}" height="{self.height:g}" fill="#fff"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def fragment(drawing, x, y, layout, rows, columns, axes, watched, cell=(30, 18)):
    """A grid of elements, each with its lane and its register."""
    wide, high = cell
    for i in range(rows):
        for j in range(columns):
            place = dict(zip(axes, (i, j)))
            lane, register = number(layout["lane"], **place), number(layout["register"], **place)
            own = lane == watched
            drawing.box(x + j * wide, y + i * high, wide, high, STRONG if own else TINTS[lane // 4],
                        f"{lane}:{register}", "#fff", "#fff" if own else "#111", 10)


def fragments():
    """One mma.sync m16n8k16: A on the left, B above, the accumulators where both meet."""
    drawing, watched, (wide, high) = Drawing("Fragments of mma.sync.m16n8k16"), 5, (30, 18)
    left, top, gap = 16, 78, 30
    across, down = left + 16 * wide + gap, top + 16 * high + gap
    drawing.text(left, 28, "mma.sync m16n8k16, 16-bit operands", size=14, weight="bold")
    drawing.text(left, 48, f"Each cell: lane : register. The dark cells are lane {watched}'s. Four lanes of a group share a tint.")
    fragment(drawing, across, top, B, 16, 8, ("k", "column"), watched)
    fragment(drawing, left, down, A, 16, 16, ("row", "k"), watched)
    fragment(drawing, across, down, ACCUMULATOR, 16, 8, ("row", "column"), watched)
    drawing.text(across, top - 8, "B, 16 x 8: k down, columns across")
    drawing.text(left, down - 8, "A, 16 x 16: rows down, k across")
    drawing.text(across, down - 8, "accumulators, 16 x 8")
    return drawing.svg()


def warpgroup():
    """The accumulators of wgmma m64nN: the same 16 x 8 pieces, a warp for each 16 rows."""
    drawing, (wide, high), pieces = Drawing("Accumulators of wgmma.m64nN"), (112, 58), 5
    drawing.text(16, 28, "wgmma m64nN: accumulators of four warps", size=14, weight="bold")
    drawing.text(16, 48, "Each piece is 16 x 8, as for mma.sync. Register numbers grow to the right, warp numbers downwards.")
    for piece in range(pieces):
        drawing.text(96 + (piece + 0.5) * wide, 76, f"columns {8 * piece} .. {8 * piece + 7}", "middle", size=11)
    for warp in range(4):
        rows = range(16 * warp, 16 * warp + 16)
        drawing.text(88, 84 + (warp + 0.55) * high, f"rows {rows[0]} .. {rows[-1]}", "end", size=11)
        for piece in range(pieces):
            places = [dict(row=row, column=column) for row in rows for column in range(8 * piece, 8 * piece + 8)]
            warps = {number(WGMMA["warp"], **place) for place in places}
            registers = sorted({number(WGMMA["register"], **place) for place in places})
            assert warps == {warp} and registers == list(range(registers[0], registers[0] + 4))
            x, y = 96 + piece * wide, 84 + warp * high
            drawing.box(x, y, wide, high, TINTS[2 * warp])
            drawing.text(x + wide / 2, y + high / 2 - 3, f"warp {warp}", "middle", size=12)
            drawing.text(x + wide / 2, y + high / 2 + 14, f"registers {registers[0]} .. {registers[-1]}", "middle", size=11)
    drawing.text(96 + pieces * wide + 8, 84 + 2 * high + 4, "and so on to N")
    drawing.text(16, 84 + 4 * high + 26, "A second warpgroup has rows 64 .. 127 in the same way, a third 128 .. 191.")
    return drawing.svg()


def stage():
    """A stage: panels of 128 bytes, and how the chunks of a row lie in them."""
    drawing, (wide, high) = Drawing("A swizzled stage in shared memory"), (34, 24)
    drawing.text(16, 28, "A stage of 16-bit elements: 128 rows x 128 columns as two panels of 64 columns", size=14, weight="bold")
    for panel in range(2):
        x = 16 + panel * 190
        drawing.box(x, 44, 180, 58, TINTS[4 + panel])
        drawing.text(x + 90, 70, f"panel {panel}: columns {64 * panel} .. {64 * panel + 63}", "middle")
        drawing.text(x + 90, 90, f"bytes {16384 * panel} .. {16384 * panel + 16383}", "middle", size=11)
    drawing.text(16, 126, "Each panel is row-major with rows of 128 bytes. Its first eight rows, in chunks of 16 bytes (eight elements):")
    for side, heading in enumerate(("the tile: chunk of the row", "shared memory: which chunk lies where")):
        x = 66 + side * 376
        drawing.text(x, 152, heading, weight="bold")
        for row in range(8):
            drawing.text(x - 8, 162 + row * high + 16, f"row {row}" if side == 0 else f"byte {128 * row}", "end", size=11)
            for chunk in range(8):
                place = chunk if side == 0 else chunk_in_memory(row, chunk)
                watched = chunk == 2
                drawing.box(x + place * wide, 162 + row * high, wide, high, STRONG if watched else TINTS[chunk],
                            str(chunk), "#fff", "#fff" if watched else "#111")
    drawing.text(16, 386, "chunk in memory = chunk ^ (row % 8), the same for every eight rows. The dark chunks are one column of the tile.")
    drawing.text(16, 404, "Without the swizzle all eight would lie in the same four banks. With it they lie in eight different groups of four banks.")
    return drawing.svg()


def schedule(stages, steps, copy, product):
    """When each step's copy and product run, by the ring's rules. A copy waits until its stage is empty, which it is once
    the product that read it is done, and the engine brings one stage at a time; a product waits until its stage is full."""
    copies, products = [], []
    for step in range(steps):
        empty = products[step - stages][1] if step >= stages else 0
        begin = max(empty, copies[-1][1] if copies else 0)
        copies.append((begin, begin + copy))
        begin = max(copies[step][1], products[-1][1] if products else 0)
        products.append((begin, begin + product))
    return copies, products


def ring():
    """The ring of stages with its barriers and roles, and a schedule that the rules give."""
    drawing, stages, steps, scale = Drawing("A ring of stages"), 4, 9, 27
    drawing.text(16, 28, "A ring of four stages between the producer warp and the consumer warps", size=14, weight="bold")
    drawing.box(16, 48, 150, 150, TINTS[1])
    drawing.box(634, 48, 160, 150, TINTS[2])
    for k, line in enumerate(("producer warp", "", "wait empty[s]", "expect bytes of A, B", "load A into stage s", "load B into stage s")):
        drawing.text(28, 70 + 20 * k, line, size=12, weight="bold" if k == 0 else "normal")
    for k, line in enumerate(("consumers", "(256 threads)", "wait full[s]", "acc += A(s) B(s)", "wait for step before,", "arrive at its empty")):
        drawing.text(646, 70 + 20 * k, line, size=12, weight="bold" if k == 0 else "normal")
    for s in range(stages):
        x = 216 + s * 96
        drawing.box(x, 84, 84, 62, TINTS[4])
        drawing.text(x + 42, 108, f"stage {s}", "middle", weight="bold")
        drawing.text(x + 42, 128, "A and B tile", "middle", size=11)
    drawing.arrow(168, 72, 632, 72)
    drawing.text(400, 64, "full[s]: the loaded bytes have arrived", "middle", size=12)
    drawing.arrow(632, 166, 168, 166)
    drawing.text(400, 186, "empty[s]: nobody reads the stage any more", "middle", size=12)

    copies, products = schedule(stages, steps, 1.6, 2.4)
    left, top = 110, 236
    drawing.text(16, top - 10, "In time, where a product takes longer than a load (the numbers are steps along k):")
    for lane, (name, spans, tint) in enumerate((("loads", copies, TINTS[1]), ("products", products, TINTS[2]))):
        y = top + lane * 30
        drawing.text(left - 10, y + 16, name, "end")
        for step, (begin, end) in enumerate(spans):
            drawing.box(left + begin * scale, y, (end - begin) * scale, 24, tint, str(step))
    for s in range(stages):
        y = top + 72 + s * 26
        drawing.text(left - 10, y + 15, f"stage {s}", "end")
        for step in range(s, steps, stages):
            begin, end = copies[step][0], products[step][1]
            drawing.box(left + begin * scale, y, (copies[step][1] - begin) * scale, 20, TINTS[1])
            drawing.box(left + copies[step][1] * scale, y, (end - copies[step][1]) * scale, 20, TINTS[4], str(step))
    assert all(later[0] == earlier[1] for earlier, later in zip(products, products[1:]))
    drawing.text(16, top + 72 + stages * 26 + 18,
                 "A load into a stage begins when the product that read the stage is done. After the first, no product waits for a load.")
    return drawing.svg()


def drawings():
    """File names and contents."""
    assert checked()
    return {"fragments.svg": fragments(), "warpgroup.svg": warpgroup(), "stage.svg": stage(), "ring.svg": ring()}
