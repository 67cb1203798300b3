"""A recurrent layer or a convolution over one row: token by token, and what it takes over at a border."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from packviz.compute.row_record import RowsTrace
from packviz.inputs.cell_kinds import CELL_KINDS
from packviz.show.movie.layout import Place, Scene
from packviz.show.movie.marks import CodeLine, Frame, Step, marks
from packviz.show.movie.rows.through import at_row, lines, row_box, shown_part, starts, through
from packviz.show.movie.rows.view import RowsView
from packviz.show.movie.rows.words import chip, say
from packviz.text import two_decimals, with_article


def run(view: RowsView) -> Iterator[Step]:
    """Show the row before it runs, then one step for each of its tokens."""
    row, config = through(view), view.trace.config
    yield Step(_start(view), (_at(view, -1, -1),), name="start")
    for i, cell in enumerate(row.cells.tolist()):
        read = _read(view, cell)
        foreign = (row.leak.owner[read] != row.leak.owner[cell]).any()
        detail = (CodeLine(_line(view, cell, read), f"({config.embedding_dim},)"),)
        tone: Any = "wrong" if foreign and row.leak.differs[view.layer, cell] else ""
        caption = f"{_reading(view, i)} {compared(view, cell)}"
        yield Step(caption, (_at(view, i, i - 1), _at(view, i, i)), detail, tone, time=cell)


def _start(view: RowsView) -> str:
    row, config = through(view), view.trace.config
    name, isolate = config.layer.upper(), config.isolate
    if config.layer == "conv":
        k, key = config.kernel_size, "cut" if isolate else "window_over"
        how = say("run.kernel_1") if k == 1 else say(f"run.{key}", earlier="one" if k == 2 else k - 1)
    else:
        article = with_article(name).split()[0].capitalize()
        how = say("run.packed" if isolate else "run.over", article=article, name=name)
    which = "row" if len(view.trace.rows.rows) > 1 else "only_row"
    return f"{say(f'run.{which}', row=row.row, pieces=len(row.pieces))} {how}{shown_part(view)}"


def _read(view: RowsView, cell: int) -> list[int]:
    """Return the cells of the row that the layer reads for one: of its window, or those of the state and the token."""
    row, config = through(view), view.trace.config
    reach = config.kernel_size - 1 if config.layer == "conv" else 1
    cells = range(max(0, cell - reach), cell + 1)
    return [c for c in cells if not config.isolate or row.leak.owner[c] == row.leak.owner[cell]]


def _line(view: RowsView, cell: int, read: list[int]) -> str:
    """Return the line that makes the output in a cell from the cells that are read."""
    kind = view.trace.config.layer
    assert kind != "attention"  # which has a stage of its own
    if kind == "conv":
        return f"y[{cell}] = conv(x[{read[0]}:{cell + 1}])"
    before = cell - 1 if cell - 1 in read else None
    states = CELL_KINDS[kind].states  # h, for the LSTM h and c
    old = ", ".join("zeros" if before is None else f"{letter}[{before}]" for letter in states)
    new = ", ".join(f"{letter}[{cell}]" for letter in states)
    if len(states) > 1:
        return f"{new} = {kind}_cell(\n    x[{cell}], ({old}))"
    return f"{new} = {kind}_cell(x[{cell}], {old})"


def _reading(view: RowsView, i: int) -> str:
    """Return what the layer reads for a token, in words."""
    row, config = through(view), view.trace.config
    cell, b, t = int(row.cells[i]), int(view.b[row.tokens[i]]), int(view.t[row.tokens[i]])
    if config.layer == "conv":
        return _window(view, cell, b, t)
    which = chip(b) if t == 0 else f"A piece of {chip(b)}"
    if cell and row.leak.owner[cell - 1] == row.leak.owner[cell]:
        return say("run.inside", b=b, t=t, before=t - 1)
    if cell == 0:
        return say("run.first", which=which)
    key = "reset" if config.isolate else "carried"
    return say(f"run.{key}", which=which, before=row.sequence(cell - 1), name=config.layer.upper())


def _window(view: RowsView, cell: int, b: int, t: int) -> str:
    """Return which cells the convolution reads for a token, in words."""
    row, read = through(view), _read(view, cell)
    others = [row.sequence(c) for c in read if row.leak.owner[c] != row.leak.owner[cell]]
    zeros = view.trace.config.kernel_size - len(read)
    key = f"run.window{'_others' if others else ''}{'_zeros' if zeros else ''}"
    cells = f"cell {cell}" if read[0] == cell else f"cells {read[0]} to {cell}"
    foreign = "one" if len(others) == 1 else len(others)
    known = {"foreign": foreign, "others": [*dict.fromkeys(others)], "zeros": zeros}
    return say(key, b=b, t=t, cells=cells, before=chip(b) if read[0] else "the row", **known)


def compared(view: RowsView, cell: int) -> str:
    """Return how the output in a cell compares with that of its document alone, in words."""
    found, b = through(view).leak, through(view).sequence(cell)
    difference = float(found.difference[view.layer, cell])
    key = "differs" if found.differs[view.layer, cell] else "rounding" if difference else "equal"
    return say(f"run.{key}", b=b, apart=two_decimals(difference))


def run_scene(view: RowsView) -> Scene:
    """Return the scene: the row, on as many lines as are needed."""
    return Scene([row_box(view, states=view.trace.config.layer != "conv")])


def run_end(view: RowsView) -> Frame:
    """Return the row after its last token."""
    last = len(through(view).tokens) - 1
    return _at(view, last, last)


def _at(view: RowsView, read: int, ran: int) -> Frame:
    """Return the frame in which one token is read, and the first ones have run."""
    row, conv = through(view), view.trace.config.layer == "conv"
    i = np.arange(len(row.tokens))
    here = i == read
    if conv and read >= 0:
        here = np.isin(row.cells, _read(view, int(row.cells[read])))
    foreign = here & (row.owner != row.owner[read])
    states, done = None if conv else i <= read, i <= ran
    found = at_row(view, view.layer, ran=done, alone=done, compared=done, before=states, read=here, wrong=foreign)
    return found if conv else found | _states(view, found, i <= read)


def _states(view: RowsView, found: Frame, read: np.ndarray) -> Frame:
    """Return the state before each token, copied from the output before it, and the outlines of those at a border."""
    row, places, isolate = through(view), lines(states=True), view.trace.config.isolate
    here, before = row.cell("before", places), row.cell("output", places)
    begins = starts(row.leak).numpy()[row.cells]
    reset = begins & (isolate | (row.cells == 0))
    origin = Place("through", np.where(reset, here.x, np.roll(before.x, 1)), np.where(reset, here.y, before.y))
    b, t = view.b[row.tokens], view.t[row.tokens]
    look: dict[str, Any] = {"w": row.strip.width, "h": 0.75, "tone": "good" if isolate else "wrong"}
    around = marks("mark:before", "mark", here, b, t, shown=read & begins & (row.cells > 0), **look)
    return {"row:before": found["row:before"].but(origin=origin), "mark:before": around}


def has_run(run: RowsTrace) -> bool:
    """Return whether something other than attention runs over the rows."""
    return run.config.layer != "attention"
