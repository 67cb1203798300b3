"""Reading: an entry from its Markdown file.

A file has three parts: settings in TOML between two lines of +++, the question as a heading, and below it three
programs and the explanation. The programs are fenced as ```python wrong, ```python right and ```python judge; all other
text is the explanation, in which {{ ... }} stands for what the programs computed (Jinja2).
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from packviz.inputs.config import Config
from packviz.teach.questions.entry import Entry, Film

__all__ = ["ENTRIES", "FOLDER", "GROUPS", "read"]

FOLDER = Path(__file__).parent / "entries"
_FILE = re.compile(r"\+\+\+\n(?P<settings>.*?)\n\+\+\+\n+# (?P<question>[^\n]+)\n(?P<body>.*)", re.DOTALL)
_PROGRAM = re.compile(r"^```python (wrong|right|judge)\n(.*?)\n?```\n", re.DOTALL | re.MULTILINE)


def read(path: Path) -> Entry:
    """Return the entry in a file; its key is the file's name, its group the folder's."""
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


def _in_order(folder: str) -> list[Entry]:
    """Return the entries of a group: by `place`, then by the questions that they answer."""
    found = map(read, sorted((FOLDER / folder).glob("*.md")))
    return sorted(found, key=lambda entry: (entry.place, entry.rows or (999,)))


_HEADINGS: dict[str, str] = tomllib.loads((FOLDER / "groups.toml").read_text(encoding="utf-8"))
GROUPS = tuple(_HEADINGS.values())
ENTRIES = tuple(entry for folder in _HEADINGS for entry in _in_order(folder))
