"""Entry: a question or claim about packing, the programs that try it, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from packviz.config import Config
from packviz.movie.model import Stage

if TYPE_CHECKING:
    from packviz.questions.laboratory import Laboratory

__all__ = ["Chart", "Entry", "Experiment", "Film", "Outcome", "Verdict"]

Verdict = Literal["true", "false", "depends", "cited"]


@dataclass(frozen=True)
class Film:
    """Say where the movie of an entry's batch shows it.

    stage: of the movie, or "beside" for the movie of padded beside packed, by its stage run. timestep, name: of the
    step in it; without both, where the stage ends. direction: the one that the run watches, 1 is backward.
    """

    stage: Stage | Literal["beside"]
    timestep: int | None = None
    name: str = ""
    direction: int = 0


@dataclass(frozen=True, eq=False)
class Chart:
    """Hold what a picture is drawn of: one of packviz.charts' functions, and its arguments but for the palette."""

    draw: Callable[..., Any]
    of: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Hold what the programs of an entry have shown.

    cases   whether the claim held, case by case; each name reads after "holds" and "does not hold":
            "with bias=True", "in the forward half". None where nothing could be run here
    told    one to three sentences, Markdown, with the numbers just computed
    chart   the picture, where it is made of what was computed; else the entry has a film
    """

    cases: Mapping[str, bool]
    told: str
    chart: Chart | None = None

    @property
    def verdict(self) -> Verdict:
        """Return true where the claim held in every case, false where in none, depends where in some; else cited."""
        held = set(self.cases.values())
        if not held:
            return "cited"
        return "depends" if len(held) == 2 else "true" if held == {True} else "false"

    @property
    def depends_on(self) -> str:
        """Return in which cases the claim held and in which not; "" where there is one answer."""
        if self.verdict != "depends":
            return ""
        held, failed = ([name for name, holds in self.cases.items() if holds == wanted] for wanted in (True, False))
        return f"It holds {'; '.join(held)}. It does not hold {'; '.join(failed)}."


Experiment = Callable[["Laboratory"], Outcome]


@dataclass(frozen=True)
class Entry:
    r"""Hold one question or claim.

    key         its name in a link
    group       the heading under which it stands
    question    in the words in which people ask
    claim       a statement, which the experiment finds true or false, or which depends
    broken      the program that does not do what is wanted; run by `experiment` as `laboratory.broken`
    fixed       the one that does; `laboratory.fixed`
    experiment  runs them, and whatever else it takes, and returns what happened
    source      where it is asked or claimed, by its public name
    rows        the numbers of the list of known questions that it answers, for the tests; () for a claim of a text
    messages    errors that people paste, as "TypeError: ..."; those that `experiment` can raise here, it raises
    batch       what is typed for it
    config      how it is run
    film        where a movie shows it
    slow        whether it takes longer than about a second
    """

    key: str
    group: str
    question: str
    claim: str
    broken: str
    fixed: str
    experiment: Experiment
    source: str
    rows: tuple[int, ...] = ()
    messages: tuple[str, ...] = ()
    batch: str = "1 2 3\n4 5\n6"
    config: Config = field(default_factory=Config)
    film: Film | None = None
    slow: bool = False
