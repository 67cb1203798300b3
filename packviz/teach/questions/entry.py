"""Entry: a question or claim about packing and the programs that try it, read from its Markdown file.

A file has three parts: settings in TOML between two lines of +++, the question as a heading, and below it three
programs and the explanation. The programs are fenced as ```python wrong, ```python right and ```python judge; all other
text is the explanation, in which {{ ... }} stands for what the programs computed (Jinja2).
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from packviz.inputs.config import Config
from packviz.show.movie.marks import Stage
from packviz.text import Brief

__all__ = ["ENTRIES", "FOLDER", "GROUPS", "Entry", "Film", "Verdict", "read"]

Verdict = Literal["true", "false", "depends", "cited"]

FOLDER = Path(__file__).parent / "entries"
_FILE = re.compile(r"\+\+\+\n(?P<settings>.*?)\n\+\+\+\n+# (?P<question>[^\n]+)\n(?P<body>.*)", re.DOTALL)
_PROGRAM = re.compile(r"^```python (wrong|right|judge)\n(.*?)\n?```\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Film:
    """Say where the movie of an entry's batch shows it: at a step, or at the end of the stage."""

    stage: Stage | Literal["beside"]  # "beside": in the movie of padded beside packed, by its stage run
    timestep: int | None = None
    name: str = ""  # of the step
    direction: int = 0  # the one that the run watches, 1 is backward


@dataclass(frozen=True, repr=False)
class Entry(Brief):
    r"""Hold one question or claim, as its file says it."""

    key: str  # its name in a link: the name of its file
    group: str  # the heading under which it is listed: that of its folder
    question: str  # in the words in which people ask
    claim: str  # a statement that the programs find true or false, or that depends
    # the one for which the explanation is written; "varies" where it depends on the machine
    verdict: Verdict | Literal["varies"]
    wrong: str  # the program as people write it
    right: str  # the one that works
    judge: str  # Python that compares what both have done
    explanation: str  # Markdown with placeholders
    sources: tuple[str, ...]  # where it is asked or claimed, by their public names
    rows: tuple[int, ...] = ()  # the numbers of the known questions that it answers; () for a claim of a text
    asked: tuple[str, ...] = ()  # the same question in other words, for the search
    also: tuple[str, ...] = ()  # other names under which a link finds it
    messages: tuple[str, ...] = ()  # errors that people paste, as "TypeError: ..."
    batch: str = "1 2 3\n4 5\n6"  # what is typed for it
    config: Config = field(default_factory=Config)  # how it is run
    film: Film | None = None  # where a movie shows it, if `judge` shows no picture
    place: int = 50  # its place in its group, before the rows
    slow: bool = False  # whether it takes longer than about a second


def read(path: Path) -> Entry:
    """Return the entry in a file; its key is the file's name, its group the folder's. Raises ValueError for others."""
    matched = _FILE.fullmatch(path.read_text(encoding="utf-8"))
    if matched is None:
        raise ValueError(f"{path.name}: expected settings between two lines of +++, then a heading")
    settings: dict[str, Any] = tomllib.loads(matched["settings"])
    programs = dict(_PROGRAM.findall(matched["body"]))
    if set(programs) != {"wrong", "right", "judge"}:
        raise ValueError(f"{path.name}: expected the programs wrong, right and judge, got {sorted(programs)}")
    film = settings.pop("film", None)
    settings |= {name: tuple(value) for name, value in settings.items() if isinstance(value, list)}
    return Entry(
        key=path.stem,
        group=_HEADINGS[path.parent.name],
        question=matched["question"].strip(),
        explanation=_PROGRAM.sub("", matched["body"]).strip(),
        config=Config(**settings.pop("config", {})),
        film=Film(**film) if film else None,
        **programs,
        **settings,
    )


_HEADINGS: dict[str, str] = tomllib.loads((FOLDER / "groups.toml").read_text(encoding="utf-8"))
GROUPS = tuple(_HEADINGS.values())
_FOUND = {folder: map(read, sorted((FOLDER / folder).glob("*.md"))) for folder in _HEADINGS}
ENTRIES = tuple(  # group by group, by `place`, then by the questions that they answer
    entry for found in _FOUND.values() for entry in sorted(found, key=lambda each: (each.place, each.rows or (999,)))
)
