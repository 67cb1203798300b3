"""The captions: templates in captions.toml, filled in with this batch's numbers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packviz.show.movie.once import once
from packviz.show.movie.packing import inputs, packed_rows, recurrent
from packviz.show.movie.packing.view import View, listed
from packviz.show.movie.written import exact, number
from packviz.text import counted, percent, sentences, sequence_label, shape

STARTS = {
    "zeros": "all zeros",
    "random": "random, with a different row for each sequence",
    "learned": "one learned row, the same for all",
    "carried": "the final state of the previous batch: here this batch itself, run once from zeros",
    "given": "the state that was given",
}


_CAPTIONS = Path(__file__).with_name("captions.toml")
TERMS: dict[str, str] = json.loads(
    _CAPTIONS.parents[1].joinpath("terms.json").read_text(encoding="utf-8")
)  # their definitions
_WRITE = sentences(_CAPTIONS)


_FIELDS = ("trace", "layer", "direction", "transposed", "lengths", "total", "order", "shown", "batch_sizes")


def say(stage: str, key: str, view: View, **values: Any) -> str:
    """Return a caption from captions.toml; values: what it needs besides the view."""
    return _WRITE(f"{stage}.{key}", **(_known(view) | values))


@once
def _known(view: View) -> dict[str, Any]:
    """Return what every caption may use; v: what is said about the run."""
    trace, line = view.trace, "row" if inputs.batch_first(view) else "column"  # a sequence in the layout of x
    v: dict[str, Any] = {name: getattr(view, name) for name in _FIELDS}
    v |= {"module": trace.module, "cell": recurrent.cell(view), "kept": recurrent.kept(view)}
    v |= {name.__name__: name(view) for name in (inputs.embedded, inputs.batch_first, inputs.padding_side)}
    v |= {"pad_id": inputs.pad_id(view), "pad_text": inputs.pad_text(view), "tokens": inputs.count(view)}
    v |= {"packed_pads": packed_rows.packed_pads(view)}
    if not inputs.refused(view):
        v |= {"directions": recurrent.directions(view)}
        v |= {"width_out": packed_rows.width_out(view), "pads_out": packed_rows.pads_out(view)}
    return _FUNCTIONS | {"v": v, "chips": chips, "lost": lambda: lost(view), "line": line}


def chips(sequences: Sequence[int]) -> str:
    """Return the letters of some sequences in the form used in captions: `{A}, {B} and {C}`."""
    count = len(sequences)
    ends = (*sequences[:2], sequences[-1]) if count > 6 else sequences
    chips = ["{" + sequence_label(b) + "}" for b in ends]
    if count > 6:
        return f"{chips[0]}, {chips[1]}, … {chips[2]} ({count} sequences)"
    return " and ".join(filter(None, (", ".join(chips[:-1]), chips[-1]))) if chips else "none"


def lost(view: View) -> str:
    """Return how many pads were packed and thus how many tokens were lost, as part of a sentence."""
    count = sum(packed_rows.packed_pads(view).values())
    were = "was" if count == 1 else "were"
    return f"{counted(count, 'pad')} {were} packed and {counted(count, 'token')} {were} lost"


_FUNCTIONS: dict[str, Any] = {made.__name__: made for made in (counted, exact, listed, number, percent, shape)}
_FUNCTIONS["are"] = lambda count: "is" if count == 1 else "are"
_FUNCTIONS["its"] = lambda sequences: "its" if len(sequences) == 1 else "their"
