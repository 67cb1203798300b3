"""Our docstrings name their parts in aligned columns; on a page these columns become a table."""

import re
from typing import Any

from griffe import Extension, Object

__all__ = ["Tables"]

# "name   meaning", and lines further in that go on with the meaning
PART = re.compile(r"^(?P<name>\S+(?:, \S+)*)(?: {2,}| (?=\s))(?P<meaning>\S.*(?:\n {3,}\S.*)*)$", re.MULTILINE)
COLUMNS = re.compile(rf"(?:{PART.pattern.replace('?P<name>', '?:').replace('?P<meaning>', '?:')}\n?)+", re.MULTILINE)


class Tables(Extension):
    """Turns the columns of each docstring into a table."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = COLUMNS.sub(_table, obj.docstring.value)


def _table(columns: re.Match[str]) -> str:
    rows = (
        f"| `{part['name']}` | {' '.join(part['meaning'].split()).replace('|', chr(92) + '|')} |"
        for part in PART.finditer(columns[0])
    )
    return "\n".join(["| name | meaning |", "|---|---|", *rows, ""])
