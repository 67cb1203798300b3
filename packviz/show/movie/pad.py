"""The ragged input, the padding, and the embedding where there is one."""

from collections.abc import Callable, Iterator

from packviz.show.movie.figures import number
from packviz.show.movie.film import Film
from packviz.show.movie.layout import Box, above, beside, scene
from packviz.show.movie.mask import mask, mask_grid
from packviz.show.movie.model import Cell, Change, CodeLine, Place
from packviz.show.movie.pad_row import pad_row
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.show.movie.sides import other_side
from packviz.show.movie.turned import back, turned, turned_box
from packviz.text import counted, percent

__all__ = ["embed", "pad"]


def pad(film: Film, plan: Plan) -> None:
    """Film the ragged rows and the filler that makes them a tensor."""
    upright = plan.upright
    film.scenes["pad"] = scene([lambda _: _around(_alone(upright), _alone(plan))])
    film.scenes["embed"] = film.scenes["sort"] = scene([lambda _: _alone(plan)])
    film.add(*_tokens(upright), *_labels(upright), *_filler(upright), *_axes(upright))
    film.step("pad", _ragged_caption(plan), index(plan, "pad"))
    filled, code = _padding(upright), index(plan, "pad")
    film.step("pad", _padded_caption(plan), code, filled, detail=_axes_of(plan), name="padded")
    if not plan.batch_first:
        film.step("pad", _transposed_caption(plan), index(plan, "pad"), _transposition(plan))
    if "pad" in plan.deep:
        film.scenes["pad"] = scene([lambda _: _with_mask(plan, beside), lambda _: _with_mask(plan, above)])
        for why in (mask, other_side, turned, back):
            why(film, plan)


def embed(film: Film, plan: Plan) -> None:
    """Film how every id, the pad's too, becomes its row of the embedding table."""
    film.step("embed", _embedded_caption(plan), index(plan, "embed"), _embedding(plan), name="embedded")
    if "embed" in plan.deep:
        pad_row(film, plan)


def _alone(plan: Plan) -> Box:
    return plan.grid.box(counts=False)


def _around(*boxes: Box) -> Box:
    """Return a box in which the grid has room before it is turned and after, without moving."""
    left, top = (max(box.panels["x"][axis] for box in boxes) for axis in (0, 1))
    right = max(box.width - box.panels["x"][0] for box in boxes)
    bottom = max(box.height - box.panels["x"][1] for box in boxes)
    panels: dict[str, tuple[float, float]] = {}
    for box in boxes:
        x, y = left - box.panels["x"][0], top - box.panels["x"][1]
        panels |= {name: (at[0] + x, at[1] + y) for name, at in box.panels.items()}
    return Box(left + right, top + bottom, panels)


def _with_mask(plan: Plan, joined: Callable[..., Box]) -> Box:
    """Return a box with room for the mask too; it is away while the grid is turned, and leaves its room to it."""
    return _around(joined(_alone(plan), mask_grid(plan).box(counts=False)), _alone(plan.upright), turned_box(plan))


def _tokens(plan: Plan) -> Iterator[Cell]:
    for k, (b, t) in enumerate(plan.positions):
        place = plan.grid.cell(plan.place[b], t - plan.lead(b))
        vector = plan.features_at(b, t) if plan.raw_vectors else None
        text, sub = plan.texts(b, t)
        yield Cell(
            f"token:{b}:{t}", "token", place, plan.cell_width, text=text, sub=sub, sequence=b, token=k, vector=vector,
            scale="input",
        )  # fmt: skip


def _labels(plan: Plan) -> Iterator[Cell]:
    yield Cell("title:x", "title", plan.grid.heading(), text=counted(plan.total[0], "sequence"))
    for b in plan.shown:
        yield Cell(f"label:{b}", "label", plan.grid.label(plan.place[b]), plan.text, text=plan.label(b), sequence=b)
        end = plan.grid.cell(plan.place[b], plan.lengths[b])
        yield Cell(
            f"length:{b}",
            "note",
            Place(end.panel, end.x + 0.2 * plan.text, end.y),
            text=str(plan.lengths[b]),
            sub=str(plan.lengths[b]),  # what is left of "len 4" where there is no room for it
            sequence=b,
        )


def _filler(plan: Plan) -> Iterator[Cell]:
    for b in plan.shown:
        for t in range(plan.columns):
            if not plan.mask[b][t]:
                place = plan.grid.cell(plan.place[b], t)
                yield Cell(f"pad:{b}:{t}", "pad", place, plan.cell_width, text=plan.pad_text, sequence=b, shown=False)


def _axes(plan: Plan) -> Iterator[Cell]:
    for t in range(plan.columns):
        yield Cell(f"axis:{t}", "axis", plan.grid.axis(t), plan.cell_width, plan.text, text=f"t={t}", shown=False)


def _padding(plan: Plan) -> Iterator[Change]:
    """Tokens keep to their side; filler comes in from the other one."""
    left = plan.padding_side == "left"
    for b, t in plan.positions:
        yield Change(f"token:{b}:{t}", place=plan.grid.cell(plan.place[b], t))
    for b in plan.shown:
        yield Change(f"length:{b}", place=plan.grid.length(plan.place[b]), text=f"len {plan.lengths[b]}")
        for t in range(plan.columns):
            if not plan.mask[b][t]:
                start = plan.grid.cell(plan.place[b], -1.5 if left else plan.columns + 0.5)
                yield Change(f"pad:{b}:{t}", shown=True, origin=start)
    yield from (Change(f"axis:{t}", shown=True) for t in range(plan.columns))
    yield Change("title:x", text=_heading(plan, "padded"))


def _transposition(plan: Plan) -> Iterator[Change]:
    grid, width = plan.grid, plan.cell_width
    for b in plan.shown:
        p = plan.place[b]
        yield Change(f"label:{b}", place=grid.label(p), w=width)
        yield Change(f"length:{b}", place=grid.length(p), w=width)
        for t in range(plan.columns):
            yield Change(f"{'token' if plan.mask[b][t] else 'pad'}:{b}:{t}", place=grid.cell(p, t))
    yield from (Change(f"axis:{t}", place=grid.axis(t), w=plan.text, h=1.0) for t in range(plan.columns))
    yield Change("title:x", place=grid.heading(), text=_heading(plan, "padded"))


def _embedding(plan: Plan) -> Iterator[Change]:
    for b in plan.shown:
        for t in range(plan.columns):
            kind = "token" if plan.mask[b][t] else "pad"
            yield Change(f"{kind}:{b}:{t}", vector=plan.features_at(b, t), scale="input")
    yield Change("title:x", text=_heading(plan, "embedded"))


def _axes_of(plan: Plan) -> tuple[CodeLine, ...]:
    sizes = plan.trace.padded.values.shape
    if not plan.one_number or plan.trace.batch is None:
        return ()
    return (
        CodeLine(
            "pad_sequence: B rows, T steps" if plan.batch_first else "pad_sequence: T steps, B columns",
            shape(*sizes[:2]),
        ),
        CodeLine("unsqueeze(-1): F = 1 a token", shape(*sizes)),
    )


def _heading(plan: Plan, how: str) -> str:
    name = "ids" if plan.embedded and how == "padded" else "x"
    return f"{how} {name} {shape(*plan.trace.padded.values.shape[: 2 if name == 'ids' else 3])}"


def _ragged_caption(plan: Plan) -> str:
    lengths = plan.listed(plan.lengths)
    if len(plan.lengths) == 1:
        return f"One sequence of length {plan.lengths[0]}. The batch has one row, {plan.chips(plan.shown)}."
    if len(set(plan.lengths)) == 1:
        return f"**{plan.total[0]} sequences**, all of length {plan.lengths[0]}: they stack into a tensor as they are."
    return f"**{plan.total[0]} sequences** of lengths {lengths}. A tensor needs rows of one length."


def _padded_caption(plan: Plan) -> str:
    rows, columns = plan.total
    pads = rows * columns - plan.tokens
    if not pads:
        return f"All rows have length T = {columns}: there is nothing to fill."
    part = percent(pads / (rows * columns))
    share = f"{pads} of {rows * columns} cells ({part}) {'is' if pads == 1 else 'are'} padding."
    if plan.trace.batch is None:
        return f"x came padded up to T = {columns}: {share}"
    side = " on the left" if plan.padding_side == "left" else ""
    return f"**pad_sequence** fills up to T = {columns}{side} with {plan.pad_text}: {share}"


def _transposed_caption(plan: Plan) -> str:
    sizes = shape(*plan.trace.padded.values.shape[:2])
    return f"**batch_first=False**: time goes down, sequences stand side by side. (T, B) = {sizes}."


def _embedded_caption(plan: Plan) -> str:
    table = plan.trace.padded.embedding
    assert table is not None
    rows, width = table.shape
    zero = not bool(table[int(plan.pad_id)].any())
    pad = "a row of zeros, for it is padding_idx" if zero else "a row of its own, and not zeros"
    return (
        f"**embedding** looks up every id in a table of {counted(rows, 'row')}: "
        f"each cell is now {counted(width, 'number')}, so F = {width}. The pad's id {number(plan.pad_id)} has {pad}."
    )
