"""Entry: a question or claim about packing, the programs that try it, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from packviz.inputs.config import Config
from packviz.show.movie.model import Stage

__all__ = ["Chart", "Entry", "Film", "Outcome", "Verdict"]

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


@dataclass(frozen=True)
class Entry:
    r"""Hold one question or claim, as its file says it.

    key          its name in a link: the name of its file
    group        the heading under which it is listed: that of its folder
    question     in the words in which people ask
    claim        a statement that the programs find true or false, or that depends
    verdict      the one for which the explanation is written; "varies" where it depends on the machine
    wrong        the program as people write it
    right        the one that works
    judge        Python that compares what both have done
    explanation  Markdown with placeholders
    sources      where it is asked or claimed, by their public names
    rows         the numbers of the list of known questions that it answers; () for a claim of a text
    asked        the same question in other words, for the search
    also         other names under which a link finds it
    messages     errors that people paste, as "TypeError: ..."
    batch        what is typed for it
    config       how it is run
    film         where a movie shows it, if `judge` shows no picture
    place        its place in its group, before the rows
    slow         whether it takes longer than about a second
    """

    key: str
    group: str
    question: str
    claim: str
    verdict: Verdict | Literal["varies"]
    wrong: str
    right: str
    judge: str
    explanation: str
    sources: tuple[str, ...]
    rows: tuple[int, ...] = ()
    asked: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    batch: str = "1 2 3\n4 5\n6"
    config: Config = field(default_factory=Config)
    film: Film | None = None
    place: int = 50
    slow: bool = False


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
    told    the explanation, Markdown, with the numbers just computed
    chart   the picture, where it is made of what was computed; else the entry has a film
    failed  what the judging block raised, or ""
    """

    cases: Mapping[str, bool]
    told: str
    chart: Chart | None = None
    failed: str = ""

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
