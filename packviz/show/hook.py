"""Why pack: the state of one sequence that ends early, padded and packed, as two small pictures."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Refusal, Trace, Traced
from packviz.compute.verify import distance
from packviz.facts.padded_run import packed_grid, run_padded
from packviz.facts.words import sentence
from packviz.inputs.module import state_size
from packviz.show.theme import LIGHT, Palette, sequence_color, text_on
from packviz.text import markup

_MOST = 4  # units whose lines are drawn


@dataclass(frozen=True, eq=False)
class Hook:
    """Hold one sequence, padded and packed."""

    b: int  # the first of the sequences with the most pads
    texts: tuple[str, ...]  # its tokens as typed and its pads, T of them; empty for vectors
    padded: Tensor  # (T, H): the top layer's forward state after each column of its row, run by torch with the pads
    packed: Tensor  # (length, H): the same after each of its tokens, packed

    @property
    def moved(self) -> float:
        """Return the largest change that the pads make to a number of the state."""
        return distance(self.padded[-1], self.packed[-1])


def padded_most(trace: Trace | Refusal) -> int | None:
    """Return the first of the sequences with the most pads; None if none is padded on the right."""
    padded, b = trace.padded, int(trace.padded.lengths.argmin())
    length, columns = int(padded.lengths[b]), padded.mask.size(1)
    on_the_right = length < columns and bool(padded.mask[b, :length].all())
    return b if isinstance(trace, Trace) and on_the_right else None


def hook(trace: Traced) -> Hook | None:
    """Return what pads do to the sequence with the most pads; None if none is padded on the right."""
    b = padded_most(trace)
    if b is None:
        return None
    size, length, row = state_size(trace.module), int(trace.padded.lengths[b]), trace.padded.tokens[b]
    with exact_arithmetic():
        states = run_padded(trace)[0][b, :, :size]
    ends = row[length:].flatten().tolist()
    pads = [f"{pad:g}" for pad in ends] if len(ends) == len(row) - length else [""] * (len(row) - length)
    texts = (*trace.texts[b], *pads) if trace.texts and trace.texts[b] else ("",) * len(row)
    return Hook(b, texts, states, packed_grid(trace)[b, :length, :size])


def pictures(found: Hook, palette: Palette = LIGHT) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return for each side, padded and packed, a sentence with numbers of this run, and an SVG image."""
    pads = len(found.padded) - len(found.packed)
    size = found.packed.size(1)
    moving = sentence("hook.padded", b=found.b, pads=pads, moved=found.moved, size=size, lines=min(size, _MOST))
    resting = sentence("hook.packed", b=found.b, size=size)
    return (moving, _drawn(found, found.padded, palette)), (resting, _drawn(found, found.packed, palette))


def _drawn(found: Hook, states: Tensor, palette: Palette) -> str:
    """Draw the cells of a row, and above each the state after it, with a dot at the end."""
    columns, color = len(found.padded), sequence_color(found.b)
    most = float(torch.cat([found.padded, found.packed]).abs().max()) or 1.0
    ways = [
        [(f"{(t + 0.5) * 100 / columns:.1f}", f"{14 * (0.5 - 0.45 * h / most):.2f}") for t, h in enumerate(unit)]
        for unit in states[:, :_MOST].T.tolist()
    ]
    row = {"columns": columns, "length": len(found.packed), "read": len(states), "texts": found.texts}
    look = {"palette": palette, "color": color, "ink": text_on(color)}
    return markup(Path(__file__).with_suffix(".svg"), ways=ways, **row, **look)
