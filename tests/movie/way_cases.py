"""Packing and the way back, with all their whys: the cases that every such movie is held to."""

from functools import cached_property

from movie_cases import PACKED, Case
from movie_screen import Look, Show

import packviz as pv
from packviz import Movie

__all__ = ["DEEP", "Deep", "alike", "at_the_strip", "detail", "rows_of"]


class Deep(Case):
    """A case whose packing and unpacking are shown with all their whys; the run between them happens unseen."""

    def film(self, stages: object = None) -> Movie:  # noqa: ARG002
        return pv.movie(self.trace, ("pack", "unpack"), layer=self.layer, direction=self.direction, deep=True)

    @cached_property
    def plain(self) -> Show:
        """The same without the whys."""
        return Show(pv.movie(self.trace, ("pack", "unpack"), layer=self.layer, direction=self.direction))

    @property
    def margins(self) -> tuple[dict, dict[str, Look]]:
        """The step on the two margins, with the cells after it."""
        return self.show.of("pack")[
            min(len(self.judge.batch_sizes), 128) + 1
        ]  # before the first time step nothing is packed

    @property
    def memory(self) -> list[tuple[dict, dict[str, Look]]]:
        """The steps on memory, with the cells after each."""
        return self.show.of("pack")[min(len(self.judge.batch_sizes), 128) + 2 :]

    @property
    def drawn(self) -> bool:
        """Whether memory is drawn: where the cells are not too many, and all of them in the picture."""
        judge = self.judge
        return judge.B * judge.T <= 400 and max(judge.B, judge.T) <= 128

    @property
    def readings(self) -> list[tuple[dict, dict[str, Look]]]:
        """The steps on the ways to read a state, with the cells after each."""
        steps = self.show.of("unpack")
        first = next(i for i, (step, _) in enumerate(steps) if step["caption"].startswith("Ringed"))
        return steps[first + 1 :]


DEEP = [Deep(f"{case}-deep", lambda case=case: case._made, case.layer, case.direction) for case in PACKED]


def alike(case: Deep, plain: dict[str, Look], deep: dict[str, Look]) -> bool:
    """Return whether the cells of the ordinary movie are as there; the grid of two directions may be narrower."""
    across = {"x", "w"} if case.judge.D == 2 else set()
    return all(
        deep[name].get(key) == value
        for name, cell in plain.items()
        for key, value in cell.items()
        if key != "f" and (cell["p"] != "u" or key not in across)  # f: the number of its family, of which it has more
    )


def detail(step: dict, start: str) -> tuple[str, str]:
    """Return the rest of the detail line that starts so, and its shape."""
    return next((text.removeprefix(start), shape) for text, shape in step.get("detail", ()) if text.startswith(start))


def rows_of(cells: dict[str, Look], panel: str) -> list[Look]:
    """Return the tokens and pads that are shown in a panel, from its start to its end."""
    rows = (c for c in cells.values() if c["p"] == panel and c["role"] in ("token", "pad") and c["shown"])
    return sorted(rows, key=lambda cell: cell["x"])


def at_the_strip(cells: dict[str, Look]) -> str:
    """Return the panel in which the packed rows stand."""
    return cells["title:strip"]["p"]
