"""One batch in memory three times: the padded tensor, the packed rows, and torch's jagged nested tensor."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

from packviz.facts.memory_layout import Memory, memory
from packviz.show.movie.film import Film
from packviz.show.movie.layout import Box, above, beside, scene
from packviz.show.movie.model import Cell, Change, CodeLine, Place
from packviz.show.movie.places import Strip
from packviz.show.movie.plan import Plan
from packviz.show.movie.program import index, shape
from packviz.text import counted

__all__ = ["MOST", "SCENE", "memory_strips"]

MARKED = 48  # cells of the padded tensor up to which every row has its address below it
MOST = 400  # cells of the padded tensor up to which it is drawn
SCENE = "pack:memory"


def memory_strips(film: Film, plan: Plan, heading: str) -> None:
    """Film the padded and the jagged layout beside the packed one; many cells are only counted.

    heading: of the packed strip as the stage leaves it.
    """
    kept, code = memory(plan.trace), index(plan, "pack")
    if len(kept.padded.cells) > MOST or plan.total != (len(plan.shown), plan.columns):
        film.step("pack", _numbers_caption(kept), code, detail=_bytes(kept, 3))
        return
    packed = plan.strip if len(kept.padded.cells) <= MARKED else replace(plan.strip, name="packed", marks=False)
    padded, jagged = _padded(plan, kept, packed), _jagged(plan, kept, packed)
    strips = (padded.strip, packed, jagged.strip)
    film.scenes[SCENE] = scene(
        [partial(arrange, plan, strips) for arrange in (_beside, _above)], [partial(_alone, strips)]
    )
    film.add(*padded.cells, *jagged.cells)
    film.later(_room_for(plan, packed))
    first, second = _padded_caption(plan, kept), _jagged_caption(kept)
    film.step("pack", first, code, padded.flight, detail=_bytes(kept, 1), scene=SCENE)
    named = Change("title:strip", text=f"packed: {_rows(kept.packed.cells)}, time step after time step")
    film.step("pack", second, code, [named, *jagged.flight], detail=(*_made(kept), *_bytes(kept, 3)), scene=SCENE)
    film.later(
        [*padded.hidden, *jagged.hidden, *_room_for(plan, plan.strip, counts=True), Change("title:strip", text=heading)]
    )


@dataclass(frozen=True)
class _Layout:
    """A strip of its own: (b, t) of every row in memory order, which of them are tokens, and from where they come.

    names: of the groups that stand apart.
    """

    plan: Plan
    strip: Strip
    heading: str
    names: Sequence[str]
    rows: Sequence[tuple[int, int]]
    tokens: Sequence[bool]
    origins: Sequence[Place]

    @cached_property
    def cells(self) -> list[Cell]:
        """Every cell, hidden."""
        return [*self._tokens(), *self._marks()]

    @property
    def hidden(self) -> list[Change]:
        """What hides it all again."""
        return [Change(cell.id, shown=False) for cell in self.cells]

    @property
    def flight(self) -> list[Change]:
        """What shows it all, the rows on their way from where they come."""
        rows = [Change(f"{self.strip.name}:{i}", shown=True, origin=origin) for i, origin in enumerate(self.origins)]
        return [*rows, *(Change(cell.id, shown=True) for cell in self.cells[len(rows) :])]

    def _tokens(self) -> Iterator[Cell]:
        plan, strip = self.plan, self.strip
        for i, ((b, t), is_token, place) in enumerate(zip(self.rows, self.tokens, _places(strip), strict=True)):
            text, sub = plan.texts(b, t) if is_token else (plan.pad_text, "")
            inside = plan.embedded or (is_token and plan.raw_vectors)
            yield Cell(
                f"{strip.name}:{i}", "token" if is_token else "pad", place, strip.width, text=text, sub=sub, sequence=b,
                token=plan.token_number[b, t] if is_token else None,
                vector=plan.features_at(b, t) if inside else None, scale="input", shown=False,
            )  # fmt: skip

    def _marks(self) -> Iterator[Cell]:
        strip, first = self.strip, 0
        yield Cell(f"title:{strip.name}", "title", strip.heading(), text=self.heading, shown=False)
        for group, (count, name) in enumerate(zip(strip.counts, self.names, strict=True)):
            start = strip.cell(group, 0)
            if strip.marks:
                above_it, width = Place(start.panel, start.x, -0.85), count * strip.width
                yield Cell(f"bracket:{strip.name}:{group}", "bracket", above_it, width, 0.8, text=name, shown=False)
                for position in range(count):
                    at, n = strip.cell(group, position), first + position
                    below = Place(at.panel, at.x, strip.height)
                    yield Cell(f"address:{strip.name}:{n}", "axis", below, strip.width, 0.5, text=str(n), shown=False)
            first += count


def _places(strip: Strip) -> list[Place]:
    return [strip.cell(group, n) for group, count in enumerate(strip.counts) for n in range(count)]


def _room_for(plan: Plan, packed: Strip, *, counts: bool = False) -> Iterator[Change]:
    """Move the packed rows to a strip that has less around it, or more; and with or without a name for the counts."""
    yield Change("title:counts", shown=counts)
    yield Change("title:strip", place=packed.heading())
    for t, rows in enumerate(plan.alive):
        for position, b in enumerate(rows):
            kind = "token" if plan.mask[b][t] else "stray"
            yield Change(f"{kind}:{b}:{t}", place=packed.cell(t, position))


def _padded(plan: Plan, kept: Memory, packed: Strip) -> _Layout:
    rows, columns = plan.total
    groups, size = (rows, columns) if plan.batch_first else (columns, rows)
    places = [divmod(i, size) for i in range(groups * size)]
    at = [
        cell or (here if plan.batch_first else here[::-1]) for cell, here in zip(kept.padded.cells, places, strict=True)
    ]
    names = [plan.label(b) for b in range(rows)] if plan.batch_first else [f"t={t}" for t in range(columns)]
    order = "row after row" if plan.batch_first else "time step after time step"
    heading = f"padded: {counted(len(at), 'cell')}, {order}"
    origins = [plan.grid.cell(plan.rank[b], t) for b, t in at]
    tokens = [cell is not None for cell in kept.padded.cells]
    return _Layout(plan, replace(packed, name="padded", counts=[size] * groups), heading, names, at, tokens, origins)


def _jagged(plan: Plan, kept: Memory, packed: Strip) -> _Layout:
    counts = [end - start for start, end in pairwise(kept.offsets)]
    at = [cell for cell in kept.jagged.cells if cell is not None]
    there = {cell: place for cell, place in zip(kept.packed.cells, _places(packed), strict=True) if cell}
    origins = [there.get((b, t)) or plan.grid.cell(plan.rank[b], t) for b, t in at]
    heading = f"jagged: {_rows(at)}, sequence after sequence"
    names = [plan.label(b) for b in range(len(counts))]
    return _Layout(plan, replace(packed, name="jagged", counts=counts), heading, names, at, [True] * len(at), origins)


def _alone(strips: Sequence[Strip], capacity: float) -> Box:
    return above(*(strip.box(capacity) for strip in strips), gap=0.25)


def _beside(plan: Plan, strips: Sequence[Strip], capacity: float) -> Box:
    return beside(plan.grid.box(), _alone(strips, capacity), gap=0.8 * plan.text)


def _above(plan: Plan, strips: Sequence[Strip], capacity: float) -> Box:
    return above(plan.grid.box(), _alone(strips, capacity), gap=0.25)


def _rows(rows: Sequence[object]) -> str:
    return counted(len(rows), "row")


def _pads(cells: Sequence[object]) -> int:
    return sum(cell is None for cell in cells)


def _padded_caption(plan: Plan, kept: Memory) -> str:
    cells, pads = len(kept.padded.cells), _pads(kept.padded.cells)
    order = "row after row" if plan.batch_first else "time step after time step"
    given = ", in the order in which they were given" if plan.order != sorted(plan.order) else ""
    share = (
        f"{pads} of {counted(cells, 'cell')} {'is' if pads == 1 else 'are'} padding" if pads else "no cell is padding"
    )
    return f"Memory is one long line. There the **padded** tensor lies {order}{given}: {share}."


def _jagged_caption(kept: Memory) -> str:
    pads, rows = _pads(kept.packed.cells), len(kept.packed.cells)
    orders = "**Packed** data lies time step after time step, a **jagged** nested tensor sequence after sequence"
    if pads:
        verb = "is" if pads == 1 else "are"
        return f"{orders}. But {pads} of the {rows} packed rows {verb} padding, packed as if it were data."
    each = f"{counted(rows, 'row')} each, no padding"
    return f"{orders}: {each}. An RNN reads a time step at a time: in packed data that is one slice."


def _numbers_caption(kept: Memory) -> str:
    cells, pads = len(kept.padded.cells), _pads(kept.padded.cells)
    return (
        f"In memory the **padded** tensor has {counted(cells, 'cell')}, {pads} of them padding, **packed** data "
        f"has {_rows(kept.packed.cells)}, a **jagged** nested tensor {_rows(kept.jagged.cells)}. Too many to draw."
    )


def _made(kept: Memory) -> tuple[CodeLine, ...]:
    code = "jagged = nested_tensor(\n    sequences, layout=torch.jagged)"
    return (CodeLine(code, shape(len(kept.jagged.cells))),)


def _bytes(kept: Memory, many: int) -> tuple[CodeLine, ...]:
    """Return how many bytes each layout takes, and the int64 tensors without which it cannot be read."""
    sizes = {
        "x + lengths": kept.padded,
        "packed data + indices": kept.packed,
        "jagged values + offsets": kept.jagged,
    }
    lines = [CodeLine(name, f"{layout.bytes} + {layout.index_bytes}") for name, layout in sizes.items()]
    return (CodeLine("# bytes: values + int64 beside"), *lines[:many])
