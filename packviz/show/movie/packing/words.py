"""The captions: whole sentences of captions.toml. A stage chooses them, and passes what fills in their blanks."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from packviz.show.movie.packing import packed_rows
from packviz.show.movie.packing.view import View, listed
from packviz.show.movie.written import exact, number
from packviz.text import sentences, sequence_label, shape

_CAPTIONS = Path(__file__).with_name("captions.toml")
TERMS: dict[str, str] = json.loads(
    _CAPTIONS.parents[1].joinpath("terms.json").read_text(encoding="utf-8")
)  # their definitions
_WRITE = sentences(_CAPTIONS)


def say(*keys: str, **values: object) -> str:
    """Return sentences of captions.toml, one after another; values: what fills in their blanks."""
    return " ".join([_WRITE(key, **FUNCTIONS, **values) for key in keys])


def chip(b: int) -> str:
    """Return the letter of a sequence in the form used in captions."""
    return "{" + sequence_label(b) + "}"


def chips(sequences: Sequence[int]) -> str:
    """Return the letters of some sequences in the form used in captions: `{A}, {B} and {C}`."""
    count = len(sequences)
    chips = [chip(b) for b in ((*sequences[:2], sequences[-1]) if count > 6 else sequences)]
    if count > 6:
        return f"{chips[0]}, {chips[1]}, … {chips[2]} ({count} sequences)"
    return " and ".join(filter(None, (", ".join(chips[:-1]), chips[-1]))) if chips else "none"


def lost(view: View) -> str:
    """Return how many pads were packed and thus how many tokens were lost, as part of a sentence."""
    return say("pack.lost", pads=packed_rows.pads(view))


FUNCTIONS: dict[str, Callable[..., str]] = {each.__name__: each for each in (chip, chips, exact, listed, number, shape)}
