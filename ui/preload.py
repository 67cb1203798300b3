"""The files that the first picture needs, to be fetched together with the page: the player, and parts of Streamlit's.

Streamlit's script asks for the code of an element when the first such element arrives, one round after the other. The
head of the page names these files, so that they are there in time.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import streamlit as st

from ui.player import NAME

__all__ = ["ELEMENTS", "needed"]

ELEMENTS = ("BidiComponent", "TextArea", "ButtonGroup", "NumberInput", "Checkbox", "Html")

_STATIC = Path(st.__file__).parent / "static"
_IMPORT = re.compile(r"""(?:from|import)\s*["']\./([^"']+\.js)["']""")


def needed() -> list[str]:
    """Return the player, the files of ELEMENTS and whatever they import, less what the page names itself."""
    folder, page = _STATIC / "static" / "js", _STATIC / "index.html"
    if not page.is_file():
        return [NAME]
    named = page.read_text("utf-8")
    found: dict[str, None] = {}
    for element in ELEMENTS:
        for file in sorted(folder.glob(f"{element}.*.js")):
            found |= dict.fromkeys(_with_imports(file, set()))
    return [NAME, *(f"static/js/{name}" for name in found if name not in named)]


def _with_imports(file: Path, seen: set[str]) -> Iterator[str]:
    if file.name in seen or not file.is_file():
        return
    seen.add(file.name)
    yield file.name
    for name in _IMPORT.findall(file.read_text("utf-8")):
        yield from _with_imports(file.parent / name, seen)
