"""The padded grid as marks: its tokens and pads, its rows' letters and lengths, the names of its time steps."""

from typing import Any

import numpy as np

from packviz.show.movie.layout import Column, Grid, Place, Strip
from packviz.show.movie.marks import Frame, Marks, frame, marks, title
from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, matrices, places, token_table
from packviz.show.movie.packing.view import View
from packviz.text import counted, shape


def ragged(view: View) -> Frame:
    """Return the sequences as given: rows of tokens of different lengths."""
    grid = upright(view)
    rows, b, t = view.place, token_table.sequence(view), token_table.time_step(view)
    before = padded(view, grid)
    return {
        "title:x": before["title:x"].but(
            text=counted(view.total[0], "sequence") + ": words and ids" * inputs.embedded(view)
        ),
        "axis": before["axis"],
        "label": before["label"],
        "length": before["length"],
        "token": before["token"].but(
            grid.cell(rows[b], t - inputs.leads(view)[b]), vec=_vectors(view, "token", raw=True)
        ),
    }


@once
def padded(view: View, grid: Grid, *, shaped: bool = True) -> Frame:
    """Return the padded grid, ids not embedded yet. shaped: whether its heading says its shape."""
    told = heading(view, "padded", turned=grid.transposed != view.transposed)
    return sheet(view, grid, view.place, told if shaped else told.partition(" (")[0], raw=True)


def upright(view: View) -> Grid:
    """Return the grid with time running across, as sequences are written."""
    return Grid("x", len(view.shown), view.columns, places.cell_width(view), False, view.text, places.grid(view).below)


def sheet(view: View, grid: Grid, row: Any, heading: str, *, raw: bool = False) -> Frame:
    """Return all of the padded grid.

    row: (B,) the position of each sequence in the picture. raw: whether ids are not embedded yet.
    """
    size: dict[str, Any] = {"w": grid.width, "h": grid.height, "scale": "input"}
    (b, t), (pad_b, pad_t) = (token_table.sequence(view), token_table.time_step(view)), token_table.pads(view)
    words: dict[str, Any] = {
        "text": token_table.texts(view),
        "sub": token_table.subtexts(view),
        "token": np.arange(len(b)),
    }
    vec, pad_vec = (_vectors(view, kind, raw=raw) for kind in ("token", "pad"))
    token = marks("token", "token", grid.cell(row[b], t), b, t, vec=vec, **words, **size)
    pad_at = grid.cell(row[pad_b], pad_t)
    pad = marks("pad", "pad", pad_at, pad_b, pad_t, text=inputs.pad_text(view), vec=pad_vec, **size)
    return frame(*edges(view, grid, row, heading), token, pad)


def edges(view: View, grid: Grid, row: Any, heading: str, prefix: str = "") -> tuple[Marks, ...]:
    """Return what surrounds a grid: its heading, its rows' letters and lengths, and the names of its time steps."""
    x, bs, t, lengths = view.text, view.shown, np.arange(grid.columns), texts(np.array(view.lengths)[view.shown])
    p = row[bs]
    width, low, w, h = (
        (grid.width, grid.width, x, grid.height) if grid.transposed else (x, 1.0, grid.width, grid.axis_height)
    )
    return (
        title(grid.heading(), heading),
        marks(f"{prefix}label", "label", grid.label(p), bs, text=places.letters(view), w=width),
        marks(f"{prefix}length", "note", grid.length(p), bs, text="len " + lengths, sub=lengths, w=low),
        marks(f"{prefix}axis", "axis", grid.axis(t), t, text=steps(grid.columns), w=w, h=h),
    )


def heading(view: View, how: str, *, turned: bool = False) -> str:
    """Return the heading of the grid: its description and its shape, with B and T exchanged if it is turned."""
    name = "ids" if inputs.embedded(view) and how == "padded" else "x"
    first, second, *rest = view.trace.padded.values.shape[: 2 if name == "ids" else 3]
    return f"{how} {name} {shape(*((second, first) if turned else (first, second)), *rest)}"


def steps(count: int) -> np.ndarray:
    """Return the names of time steps."""
    return texts(f"t={t}" for t in range(count))


def outline(
    name: str, grid: Grid, at: tuple[Column, Column], rows: Column = 1, columns: Column = 1, *keys: Column, **look: Any
) -> Marks:
    """Return the outline around a number of rows and time steps, starting at this position and time step."""
    wide, high = (rows * grid.width, columns) if grid.transposed else (columns * grid.width, rows)
    return marks(name, look.pop("role", "mark"), grid.cell(*at), *keys, w=wide * 1.0, h=high * 1.0, **look)


def focus(name: str, grid: Grid, t: Column, rows: Column, *, shown: Any = True) -> Marks:
    """Return the outline around the first rows of the time step in focus."""
    return outline(name, grid, (0, t), rows, role="focus", shown=shown)


def named(strip: Strip, names: np.ndarray, at: Place, n: np.ndarray, suffix: str = "") -> tuple[Marks, Marks]:
    """Return the names above the groups of a strip, and the addresses n below its rows, which are at these places."""
    every, counts = np.arange(len(strip.counts)), np.array(strip.counts)
    above_it, below = Place(strip.name, strip.cell(every, 0).x, -0.85), Place(strip.name, at.x, strip.height + 0.12)
    return (
        marks(f"bracket{suffix}", "bracket", above_it, every, w=counts * strip.width, h=0.8, text=names),
        marks(f"address{suffix}", "axis", below, n, w=strip.width, h=0.38, text=texts(n)),
    )


def texts(values: Any) -> np.ndarray:
    """Return numbers as a column of texts."""
    return np.array([str(each) for each in values], dtype=object)


def _vectors(view: View, kind: str, *, raw: bool) -> Any:
    """Return the rows of numbers shown in the cells of the grid: none for single numbers and for ids not embedded."""
    if inputs.embedded(view) and not raw:
        return matrices.x_rows(
            view,
            *(token_table.pads(view) if kind == "pad" else (token_table.sequence(view), token_table.time_step(view))),
        )
    return (
        matrices.x_rows(view, token_table.sequence(view), token_table.time_step(view))
        if inputs.raw_vectors(view) and kind == "token"
        else -1
    )
