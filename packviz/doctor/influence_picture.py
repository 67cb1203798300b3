"""Who changes whom, as a picture: the findings of a check that run a batch in several ways."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan
from pathlib import Path

from packviz.doctor.evidence import Evidence
from packviz.doctor.leaves import is_text
from packviz.rules.finding import Finding, Findings
from packviz.show.theme import FONT, LIGHT, mix, text_on
from packviz.text import markup, sequence_label, two_digits

MOST = 40  # rows and columns of a picture


@dataclass(frozen=True, eq=False)
class Influence:
    """Who changes whom.

    names      of the samples, or tokens
    sizes      by (j, i): how much the output of i changes if j does; j is None for any other batch. inf: its shape,
               nan: its text
    forwards   how often the model was run
    groups     the document of each token: inside one, tokens may change each other
    varied     whether they were changed one by one
    """

    names: Sequence[str]
    sizes: Mapping[tuple[int | None, int], float]
    forwards: int
    title: str
    groups: Sequence[int] = ()
    varied: bool = True

    def _is_own(self, i: int, j: int | None) -> bool:
        return i == j or (bool(self.groups) and j is not None and self.groups[i] == self.groups[j])

    def svg(self) -> str:
        """Return the picture: a row for what is changed, a column for what that changes."""
        shown = range(min(len(self.names), MOST))
        side, left, top = (46, 110, 66) if len(shown) <= 12 else (14, 110, 66)
        rows = [*(shown if self.varied else ()), *([None] if any(j is None for j, _ in self.sizes) else [])]
        largest = max((size for size in self.sizes.values() if size < inf), default=1.0)
        heads = [
            {"x": left + (i + 0.5) * side, "y": top - 6, "anchor": "middle", "text": self.names[i]}
            for i in shown
            if side > 20 or i % 4 == 0
        ]
        cells = []
        for at, j in enumerate(rows):
            y = top + at * side
            label = ("alone" if self.groups else "another batch") if j is None else f"changed: {self.names[j]}"
            if side > 20 or j is None or j % 2 == 0:
                heads.append({"x": left - 8, "y": y + side / 2 + 4, "anchor": "end", "text": label})
            for i in shown:
                size = self.sizes.get((j, i), 0.0)
                share = 0.0 if not size else 0.35 + 0.65 * size / largest if size < inf else 1.0
                fill = LIGHT.pad if self._is_own(i, j) else mix(LIGHT.background, LIGHT.wrong, share)
                text = "text" if isnan(size) else "shape" if size == inf else two_digits(size) if size else ""
                how = f"changes {'by' if size < inf else 'its'} {text}" if size else "does not change"
                title = f"{label}: {self.names[i]} {how}"
                place = {"x": left + i * side, "y": y, "fill": fill, "ink": text_on(fill)}
                cells.append({**place, "text": text if side > 20 else "", "title": title})
        more = "" if len(shown) == len(self.names) else f" (the first {MOST} of {len(self.names)})"
        return markup(
            Path(__file__).with_name("influence_picture.svg"),
            width=max(left + len(shown) * side + 16, 330),
            height=top + len(rows) * side + 12,
            title=f"{self.title}: output by column{more}",
            left=8,
            heads=heads,
            cells=cells,
            side=side,
            font=FONT,
            background=LIGHT.background,
            text=LIGHT.text,
            line=LIGHT.line,
        )


class Checked(Findings):
    """The findings of a check, with the picture of who changes whom."""

    influence: Influence

    def __new__(cls, findings: Iterable[Finding], influence: Influence) -> "Checked":
        """Make the report of these findings and the picture."""
        self = super().__new__(cls, findings)
        self.influence = influence
        return self

    def __getnewargs__(self) -> tuple[tuple[Finding, ...], Influence]:
        """Return what pickle and copy need."""
        return tuple(self), self.influence

    def svg(self) -> str:
        """Return who changes whom as an SVG picture."""
        return self.influence.svg()

    def ignoring(self, ignore: str | Collection[str]) -> "Checked":
        """Return the findings without these keys. Raises PackvizError for a key that no finding has."""
        return Checked(super().ignoring(ignore), self.influence)

    def _repr_html_(self) -> str:
        """Return a table for notebooks, and the picture if anything was found."""
        return super()._repr_html_() + (self.svg() if self else "")


def influence_of(done: Evidence, title: str, names: Sequence[str] = ()) -> Influence:
    """Return who changes whom in the runs of a check, as numbers. names: of the samples, if not their letters."""
    names = names or [sequence_label(b) for b in range(len(done.baseline.lengths))]
    sizes: dict[tuple[int | None, int], float] = {}
    for one in done.changes:
        if one.way != "again" and one.on is not None:
            pair, text = (one.by, one.on), is_text(one.name) and not isnan(one.size)
            size = inf if isnan(one.size) else one.size
            sizes[pair] = sizes.get(pair, nan) if text else max(size, sizes.get(pair, 0.0))
    return Influence(names, sizes, done.model.calls, title, varied="values" in done.compared)
