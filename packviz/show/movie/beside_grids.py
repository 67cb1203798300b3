"""What stands still where padded stands beside packed: the grids that each side reads, with their letters."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from packviz.show.movie.marks import NONE, Frame, Marks, Place, frame, marks
from packviz.show.movie.padded_vs_packed import PACKED, PADDED, SIDES, Both
from packviz.show.movie.sheet import steps
from packviz.show.movie.view import once

At = Mapping[str, np.ndarray]  # of each side the row of every sequence


def grids(both: Both, at: At) -> Frame:
    """Return the headings, the letters, and what each side reads: all of x, or its packed rows."""
    x, groups = both.text, []
    for side in SIDES:
        grid, out = both.grid_of(side), both.out_of(side)
        lead = -both.letter - 0.1 * x
        groups += [
            marks(f"title:{side}x", "title", Place(grid.name, lead, grid.heading().y), text=both.heading(side, "x")),
            marks(f"title:{side}h", "title", Place(f"{side}h", 0.0, -1.6 * x), text=both.heading(side, "h")),
            marks(
                f"axis:{side}:in", "axis", Place(f"{side}h", -both.lead_in, -0.75 * x), w=both.input_width, h=x,
                text="x",
            ),
            _letters(both, grid.name, at[side]),
        ]  # fmt: skip
        if not both.small:
            groups.append(_letters(both, f"{side}h", at[side]))
        if both.with_outputs:
            heading = Place(out.name, lead, out.heading().y)
            groups += [
                marks(f"title:{side}o", "title", heading, text=both.heading(side, "o")),
                _letters(both, out.name, at[side]),
            ]
        groups += _read(both, side, at[side])
    return frame(*groups, *axes(both))


def _letters(both: Both, panel: str, row: np.ndarray) -> Marks:
    b = both.ranked
    place = both.letter_at(panel, row[b])
    return marks(f"label:{panel}", "label", place, (b,), seq=b, w=both.letter, text=both.letters_ranked)


def _read(both: Both, side: str, row: np.ndarray) -> Iterator[Marks]:
    """Yield the tokens that a side reads, and the pads."""
    grid, (b, t) = both.grid_of(side), both.cells(side)
    real = both.mask[b, t]
    for kind, which in (("token", real), ("pad", ~real)):
        if not which.any():
            continue
        rows, at = b[which], t[which]
        number = both.token_number[rows, at]
        yield marks(
            f"x:{side}" if kind == "token" else f"pad:{side}", "token" if kind == "token" else "pad",
            grid.cell(row[rows], at), (rows, at), seq=rows, w=grid.width, vec=vectors(both, side, rows, at),
            scale=scale(both), **texts_of(both, number, side),
        )  # fmt: skip


def texts_of(both: Both, number: np.ndarray, side: str) -> dict[str, Any]:
    """Return how tokens are written, or pads where they have no number."""
    if not len(number) or number[0] < 0:
        return {"text": "pad" if both.layer else both.pad_text, "tone": "wrong" if side == PACKED else ""}
    sub = both.token_sub[number] if isinstance(both.token_sub, np.ndarray) else ""
    return {"text": both.token_text[number], "sub": sub, "token": number}


def vectors(both: Both, side: str, b: np.ndarray, t: Any) -> Any:
    """Return the numbers that enter the watched layer there; none for a single one, which is written out."""
    if both.small:
        return NONE
    if both.layer:
        return both.below_rows(b, t) if side == PADDED else both.rows_at("below", np.maximum(both.row_at[b, t], 0))
    if both.features == 1:
        return NONE
    return np.where(both.mask[b, t], both.x_rows(b, t), NONE) if both.raw_vectors else both.x_rows(b, t)


def scale(both: Both) -> str:
    return "state" if both.layer else "input"


@once
def axes(both: Both) -> list[Marks]:
    """Return the names of the time steps above what is read, and above the outputs."""
    grids = [both.grid_of(side) for side in SIDES]
    grids += [both.out_of(side) for side in SIDES if both.with_outputs]
    t, text = both.ts, steps(both.columns)
    return [
        marks(f"axis:{grid.name}", "axis", grid.axis(t), (t,), w=grid.width, h=both.text, text=text) for grid in grids
    ]
