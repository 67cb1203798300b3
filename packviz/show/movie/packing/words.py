"""The captions: templates in captions.toml, filled in with this batch's numbers."""

import json
from pathlib import Path
from typing import Any

from packviz.show.movie.packing.facts import exact, number
from packviz.show.movie.packing.view import View, listed, once, shape
from packviz.text import counted, percent, sentences

STARTS = {
    "zeros": "zeros",
    "random": "random, with a different row for each sequence",
    "learned": "one learned row, the same for all",
    "carried": "the final state of the previous batch: here this batch itself, run once from zeros",
    "given": "the one given",
}


_CAPTIONS = Path(__file__).with_name("captions.toml")
TERMS: dict[str, str] = json.loads(
    _CAPTIONS.parents[1].joinpath("terms.json").read_text(encoding="utf-8")
)  # their definitions
_WRITE = sentences(_CAPTIONS)


def say(stage: str, key: str, view: View, **values: Any) -> str:
    """Return a caption from captions.toml; values: what it needs besides the view."""
    return _WRITE(f"{stage}.{key}", **(_known(view) | values))


@once
def _known(view: View) -> dict[str, Any]:
    line = "row" if view.batch_first else "column"  # a sequence in the layout of x
    return _FUNCTIONS | {"v": view, "chips": view.chips, "lost": lambda: lost(view), "line": line}


def lost(view: View) -> str:
    """Say how many pads were packed and thus how many tokens were lost."""
    count = sum(view.packed_pads.values())
    return f"{counted(count, 'pad')} {'was' if count == 1 else 'were'} packed, {counted(count, 'token')} lost"


_FUNCTIONS: dict[str, Any] = {made.__name__: made for made in (counted, exact, listed, number, percent, shape)}
_FUNCTIONS["are"] = lambda count: "is" if count == 1 else "are"
_FUNCTIONS["its"] = lambda sequences: "its" if len(sequences) == 1 else "their"
