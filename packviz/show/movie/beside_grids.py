"""What stands still where padded stands beside packed: the grids that each side reads, with their letters."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from packviz.show.movie.marks import NONE, Frame, Marks, Place, Role, frame, marks
from packviz.show.movie.padded_vs_packed import PACKED, PADDED, Both, Side
from packviz.show.movie.sheet import steps
from packviz.show.movie.view import once


def grids(both: Both, sides: Sequence[Side]) -> Frame:
    """Return the headings, the letters, and what each side reads: all of x, or its packed rows."""
    x, lead, groups = both.text, -both.letter - 0.1 * both.text, []
    for side in sides:
        h, headings = f"{side.name}h", {"x": Place(side.x.name, lead, side.x.heading().y)}
        headings["h"] = Place(h, 0.0, -1.6 * x)
        panels = [side.x.name, *([] if both.small else [h])]
        if both.with_outputs:
            headings["o"] = Place(side.out.name, lead, side.out.heading().y)
            panels.append(side.out.name)
        for panel, place in headings.items():
            groups.append(marks(f"title:{place.panel}", "title", place, text=both.heading(side.name, panel)))
        into = Place(h, -both.lead_in, -0.75 * x)
        groups.append(marks(f"axis:{side.name}:in", "axis", into, w=both.input_width, h=x, text="x"))
        groups += [*(_letters(both, panel, side.row) for panel in panels), *_read(both, side)]
    return frame(*groups, *axes(both))


def _letters(both: Both, panel: str, row: np.ndarray) -> Marks:
    b = both.ranked
    place = both.letter_at(panel, row[b])
    return marks(f"label:{panel}", "label", place, (b,), seq=b, w=both.letter, text=both.letters_ranked)


def _read(both: Both, side: Side) -> Iterator[Marks]:
    """Yield the tokens that a side reads, and the pads."""
    real = both.mask[side.b, side.t]
    kinds: tuple[tuple[Role, str, np.ndarray], ...] = (("token", "x", real), ("pad", "pad", ~real))
    for role, name, which in kinds:
        if which.any():
            b, t = side.b[which], side.t[which]
            yield marks(
                f"{name}:{side.name}", role, side.x.cell(side.row[b], t), (b, t), seq=b, w=side.x.width,
                vec=vectors(both, side, b, t), scale=scale(both), **texts_of(both, both.token_number[b, t], side),
            )  # fmt: skip


def texts_of(both: Both, number: np.ndarray, side: Side) -> dict[str, Any]:
    """Return how tokens are written, or pads where they have no number."""
    if not len(number) or number[0] < 0:
        return {"text": "pad" if both.layer else both.pad_text, "tone": "wrong" if side.name == PACKED else ""}
    sub = both.token_sub[number] if isinstance(both.token_sub, np.ndarray) else ""
    return {"text": both.token_text[number], "sub": sub, "token": number}


def vectors(both: Both, side: Side, b: np.ndarray, t: Any) -> Any:
    """Return the numbers that enter the watched layer there; none for a single one, which is written out."""
    if both.small:
        return NONE
    if both.layer:
        return both.below_rows(b, t) if side.name == PADDED else both.rows_at("below", np.maximum(both.row_at[b, t], 0))
    if both.features == 1:
        return NONE
    return np.where(both.mask[b, t], both.x_rows(b, t), NONE) if both.raw_vectors else both.x_rows(b, t)


def scale(both: Both) -> str:
    return "state" if both.layer else "input"


@once
def axes(both: Both) -> list[Marks]:
    """Return the names of the time steps above what is read, and above the outputs."""
    grids = [side.x for side in both.sides] + [side.out for side in both.sides if both.with_outputs]
    t, text = both.ts, steps(both.columns)
    return [
        marks(f"axis:{grid.name}", "axis", grid.axis(t), (t,), w=grid.width, h=both.text, text=text) for grid in grids
    ]
