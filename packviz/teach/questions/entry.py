"""Entry: a question or claim about packing and the programs that test it, read from its Markdown file.

A file has three parts: settings in TOML between two lines of +++, the question as a heading, and below it three
programs and the explanation. The programs are fenced as ```python wrong, ```python right and ```judge; all other text
is the explanation, in which {{ ... }} stands for what the programs computed (Jinja2).
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from packviz.inputs.config import Config
from packviz.show.movie.marks import Stage
from packviz.text import Brief

__all__ = ["ENTRIES", "FIRST", "FOLDER", "GROUPS", "Entry", "EntryMovie", "Verdict", "read"]

Verdict = Literal["true", "false", "depends", "cited"]

FOLDER = Path(__file__).parent / "entries"
_FILE = re.compile(r"\+\+\+\n(?P<settings>.*?)\n\+\+\+\n+# (?P<question>[^\n]+)\n(?P<body>.*)", re.DOTALL)
_PROGRAM = re.compile(r"^```(?:python (?=wrong|right))?(wrong|right|judge)\n(.*?)\n?```\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class EntryMovie:
    """The place in the movie of an entry's batch that shows it: a step, or the end of a stage."""

    stage: Stage | Literal["beside"]  # "beside": the stage run in the movie of padded beside packed
    timestep: int | None = None
    name: str = ""  # of the step
    direction: int = 0  # watched in the run, 1 is backward


@dataclass(frozen=True, repr=False)
class Entry(Brief):
    """A question or claim, from its file."""

    key: str  # its name in a link: the name of its file
    group: str  # the heading under which it is listed: the name of its folder
    question: str  # as people ask it
    answer: str  # in one sentence
    claim: str  # a statement that the programs find true or false, or that depends
    # the verdict that the explanation is written for; "varies" if it depends on the machine
    verdict: Verdict | Literal["varies"]
    wrong: str  # the program as people often write it
    right: str  # the one that works
    judge: str  # Python that compares the results of both
    explanation: str  # Markdown with placeholders
    sources: tuple[str, ...]  # the public names of where it is asked or claimed
    rows: tuple[int, ...] = ()  # the numbers of the known questions that it answers; () for a claim from a text
    asked: tuple[str, ...] = ()  # the same question in other words, for the search
    also: tuple[str, ...] = ()  # other names that link to it
    messages: tuple[str, ...] = ()  # errors that people paste, as "TypeError: ..."
    batch: str = "1 2 3\n4 5\n6"  # the text of its batch
    config: Config = field(default_factory=Config)  # the settings of its run
    titles: tuple[str, str] = ("What people write", "What works")  # of its programs; others if neither is wrong
    film: EntryMovie | None = None  # where a movie shows it, if `judge` shows no picture
    place: int = 50  # its sort key within its group, before the rows
    first: int = 0  # its place among the few that are listed before anything is asked, from 1; 0 if it is none of them
    onednn: bool = False  # whether its programs may use oneDNN, as torch does by default
    slow: bool = False  # whether it takes longer than about a second


def read(path: Path) -> Entry:
    """Return the entry in a file; its key is the file's name, its group the folder's. Raises ValueError if invalid."""
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
        film=EntryMovie(**film) if film else None,
        **programs,
        **settings,
    )


_HEADINGS: dict[str, str] = tomllib.loads((FOLDER / "groups.toml").read_text(encoding="utf-8"))
GROUPS = tuple(_HEADINGS.values())
_FOUND = {folder: map(read, sorted((FOLDER / folder).glob("*.md"))) for folder in _HEADINGS}
ENTRIES = tuple(  # group by group, by `place`, then by the questions that they answer
    entry for found in _FOUND.values() for entry in sorted(found, key=lambda each: (each.place, each.rows or (999,)))
)
FIRST = tuple(sorted((entry for entry in ENTRIES if entry.first), key=lambda each: each.first))
