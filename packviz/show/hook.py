"""Why pack: one sequence that ends early, its state padded and packed, as two small pictures."""

from dataclasses import dataclass
from html import escape

import torch
from torch import Tensor

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.compute.verify import distance
from packviz.facts.padded_run import run_padded
from packviz.facts.words import sentence
from packviz.inputs.module import state_size
from packviz.show.theme import LIGHT, SEQUENCE_HUES, Palette, hue, text_on

_WIDTH, _HIGH, _CELL, _GAP = 100.0, 14.0, 6.0, 1.0  # of a picture: its width, its lines, its row of cells
_MOST = 4  # units whose lines are drawn
_WORDY, _LONGEST = 8, 7  # time steps up to which a cell has room for its token, and its characters
_STYLE = (
    f"<style>rect {{y: {_HIGH + _GAP:g}px; height: {_CELL:g}px; rx: .8px; stroke-width: .25px}}"
    "text {text-anchor: middle; font: 3.1px sans-serif} polyline {fill: none; stroke-width: .5px}"
    "@media (max-width: 220px) {text {display: none}}</style>"  # too small to read
)
_SVG = "http://www.w3.org/2000/svg"


@dataclass(frozen=True, eq=False)
class Hook:
    """Hold one sequence, padded and packed.

    b       the sequence with the most pads, the first of them
    texts   its tokens and its pads as they were typed, T of them; empty where they are vectors
    padded  (T, H) the top layer's forward state after each column of its padded row, run by torch with its pads
    packed  (length, H) the same after each of its tokens, packed
    """

    b: int
    texts: tuple[str, ...]
    padded: Tensor
    packed: Tensor

    @property
    def moved(self) -> float:
        """Return the largest change of a number of the state by the pads."""
        return distance(self.padded[-1], self.packed[-1])


def padded_most(trace: Trace) -> int | None:
    """Return the sequence with the most pads, the first of them; None where none is padded on the right."""
    padded, b = trace.padded, int(trace.padded.lengths.argmin())
    length, columns = int(padded.lengths[b]), padded.mask.size(1)
    on_the_right = length < columns and bool(padded.mask[b, :length].all())
    return b if trace.error is None and on_the_right else None


def hook(trace: Trace) -> Hook | None:
    """Return what pads do to the sequence that has the most of them; None where none is padded on the right."""
    b = padded_most(trace)
    if b is None:
        return None
    size, length, row = state_size(trace.module), int(trace.padded.lengths[b]), trace.padded.tokens[b]
    with exact_arithmetic():
        states = run_padded(trace)[0][b, :, :size]
    rows = (trace.packed.sequence == b).nonzero().flatten()
    rows = rows[trace.packed.timestep[rows].argsort()]
    texts = ("",) * len(row)
    if trace.batch is not None and trace.batch.kind != "vectors" and row.dim() == 1:
        texts = (*trace.batch.texts[b], *(f"{pad:g}" for pad in row[length:].tolist()))
    return Hook(b, texts, states, trace.output[rows, :size])


def pictures(found: Hook, palette: Palette = LIGHT) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return of each side, padded and packed, a sentence with numbers of this run, and an SVG image."""
    pads = len(found.padded) - len(found.packed)
    size = found.packed.size(1)
    moving = sentence("hook.padded", b=found.b, pads=pads, moved=found.moved, size=size, lines=min(size, _MOST))
    resting = sentence("hook.packed", b=found.b, size=size)
    return (moving, _drawn(found, found.padded, palette)), (resting, _drawn(found, found.packed, palette))


def _drawn(found: Hook, states: Tensor, palette: Palette) -> str:
    """Draw the cells of a row, and above them the state after each of them, with a dot at its end."""
    columns, length = len(found.padded), len(found.packed)
    width = _WIDTH / columns
    cells = [_cell(found, t, palette, read=t < len(states)) for t in range(columns)]
    most = float(torch.cat([found.padded, found.packed]).abs().max()) or 1.0
    lines = []
    for unit in states[:, :_MOST].T.tolist():
        way = [((t + 0.5) * width, _HIGH * (0.5 - 0.45 * h / most)) for t, h in enumerate(unit)]
        rest = way[length - 1 :] if len(way) > length else [way[-1], ((columns - 0.5) * width, way[-1][1])]
        x, y = way[length - 1]
        lines.append(_line(way[:length], palette.text))
        lines.append(f"<circle cx='{x:.1f}' cy='{y:.2f}' r='.9' fill='{palette.text}'/>")
        lines.append(_line(rest, palette.wrong) if len(way) > length else _line(rest, palette.good, "1 1"))
    size = f"0 0 {_WIDTH:g} {_HIGH + _GAP + _CELL + 0.5:g}"
    drawn = "".join(cells + lines)
    return f"<svg viewBox='{size}' xmlns='{_SVG}'>{_STYLE}{drawn}</svg>"


def _cell(found: Hook, t: int, palette: Palette, *, read: bool) -> str:
    """Draw the cell of a time step: a token, filler that is read, or an empty place."""
    width, token = _WIDTH / len(found.padded), t < len(found.packed)
    hue_of_b = SEQUENCE_HUES[hue(found.b)[0]]
    fill = hue_of_b if token else palette.pad if read else "none"
    line = f"stroke='{hue_of_b}'" if token else f"stroke='{palette.pad_hatch}' stroke-dasharray='1 .7'"
    box = f"x='{t * width + 0.4:.1f}' width='{width - 0.8:.1f}'"
    cell = f"<rect {box} fill='{fill}' {line}/>"
    if not read or len(found.padded) > _WORDY:
        return cell
    text, color = found.texts[t], text_on(hue_of_b) if token else palette.quiet
    shown = escape(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…")
    at = f"x='{(t + 0.5) * width:.1f}' y='{_HIGH + _GAP + 4.1:g}'"
    return f"{cell}<text {at} fill='{color}'>{shown}</text>"


def _line(points: list[tuple[float, float]], color: str, dashes: str = "") -> str:
    joined = " ".join(f"{x:.1f},{y:.2f}" for x, y in points)
    dashed = f" stroke-dasharray='{dashes}'" if dashes else ""
    return f"<polyline points='{joined}' stroke='{color}'{dashed}/>"
