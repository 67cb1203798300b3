"""The pages of the app, as pages.toml lists them: the menu, the lessons and their stages, what the search finds."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packviz.text import Brief

__all__ = ["LESSONS", "PAGES", "Page", "place_of_lesson", "stages_of_lesson"]


@dataclass(frozen=True, repr=False)
class Page(Brief):
    """A page of the app.

    address  its file in pages/, without the ending
    title    in links and in the search
    about    its subject
    group    in the menu; "": none
    named    in the menu, if that is not its address in words
    asked    what people ask who look for it; (): the search does not find it
    stages   those of the movie of a lesson, the one that its predictions are about first; (): it is not a lesson
    kind     of run, which a lesson shows
    """

    address: str
    title: str
    about: str
    group: str = ""
    named: str = ""
    asked: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    kind: str = "packing"

    @property
    def menu(self) -> str:
        """Return its name in the menu."""
        return self.named or self.address.replace("_", " ").capitalize()


def _page(address: str, page: Mapping[str, Any]) -> Page:
    known: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in page.items()}
    return Page(address, **known)


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PAGES = tuple(_page(address, page) for address, page in _TABLE.items())
LESSONS: Mapping[str, Page] = {page.address: page for page in PAGES if page.stages}


def place_of_lesson(address: str) -> tuple[int, int]:
    """Return the number of a lesson in its group, from 1, and how many lessons the group has."""
    series = [each for each, page in LESSONS.items() if page.group == LESSONS[address].group]
    return series.index(address) + 1, len(series)


def stages_of_lesson(kind: str, stage: str) -> tuple[str, ...]:
    """Return the stages of the movie in the lesson on a stage of a kind of run; the stage alone if it has no lesson."""
    lessons = (page.stages for page in LESSONS.values() if page.kind == kind and stage in page.stages)
    return next(lessons, (stage,))
