"""The mask beside the padded grid: True where a token stands, False where a pad does."""

from collections.abc import Iterator
from dataclasses import replace

from packviz.show.movie.film import Film
from packviz.show.movie.model import Cell, Change, CodeLine
from packviz.show.movie.places import Grid
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.text import counted

__all__ = ["mask", "mask_gone", "mask_grid"]

FLAG = 1.6  # units that the word False needs


def mask_grid(plan: Plan) -> Grid:
    """Return where the mask stands: laid out as x is."""
    width = plan.cell_width if plan.small else max(plan.cell_width, FLAG)
    return replace(plan.grid, name="mask", width=width, below=0.0)


def mask(film: Film, plan: Plan) -> None:
    """Film how every cell of the grid is asked whether it is a token."""
    film.add(*_cells(plan))
    film.step("pad", _caption(plan), index(plan, "pad"), _asked(plan), detail=(_code(plan),))


def mask_gone(plan: Plan) -> Iterator[Change]:
    """Yield the changes that take the mask away."""
    return (Change(cell.id, shown=False) for cell in _cells(plan))


def _cells(plan: Plan) -> Iterator[Cell]:
    grid, down = mask_grid(plan), plan.transposed
    yield Cell("title:mask", "title", grid.heading(), text=f"mask {_shape(plan)}", shown=False)
    for t in range(plan.columns):
        wide, high = (plan.text, 1.0) if down else (grid.width, plan.text)
        yield Cell(f"maxis:{t}", "axis", grid.axis(t), wide, high, text=f"t={t}", shown=False)
    for b in plan.shown:
        p, wide = plan.place[b], grid.width if down else plan.text
        yield Cell(f"mlabel:{b}", "label", grid.label(p), wide, text=plan.label(b), sequence=b, shown=False)
        for t in range(plan.columns):
            yield Cell(
                f"flag:{b}:{t}", "flag", grid.cell(p, t), grid.width, text=str(plan.mask[b][t]), sequence=b,
                token=plan.token_number.get((b, t)), shown=False,
            )  # fmt: skip


def _asked(plan: Plan) -> Iterator[Change]:
    for cell in _cells(plan):
        kind, *at = cell.id.split(":")
        start = plan.grid.cell(plan.place[int(at[0])], int(at[1])) if kind == "flag" else None
        yield Change(cell.id, shown=True, origin=start)


def _code(plan: Plan) -> CodeLine:
    steps = "arange(T).flip(0)" if plan.padding_side == "left" else "arange(T)"
    compared = f"{steps} < lengths[:, None]" if plan.batch_first else f"{steps}[:, None] < lengths"
    return CodeLine(f"mask = {compared}", _shape(plan))


def _shape(plan: Plan) -> str:
    return shape(*plan.trace.padded.values.shape[:2])


def _caption(plan: Plan) -> str:
    mask = plan.trace.padded.mask
    tokens, pads = int(mask.sum()), int((~mask).sum())
    if not pads:
        return f"The **mask** tells tokens from padding. Here it is True everywhere: N = {counted(tokens, 'token')}."
    are = "is" if pads == 1 else "are"
    return (
        f"The **mask** tells tokens from padding: {tokens} True, for there are N = {counted(tokens, 'token')}, "
        f"and {pads} False, which {are} padding. A loss or a mean needs it, for x alone does not say which is which."
    )
