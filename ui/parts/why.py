"""Why pack: what padding and packing do to one sequence, as a table of what is read and the final state, in colours."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isnan
from pathlib import Path
from textwrap import shorten

import streamlit as st

from packviz.compute.verify import apart
from packviz.facts.why_pack import FinalState, ReadState, final_state
from packviz.show.theme import DARK, LIGHT, Palette, diverging, sequence_color, text_on
from packviz.text import markup
from ui.parts.notices import about_the_edit
from ui.parts.player import WHY, stage_on_screen
from ui.state.kinds import PACKING
from ui.state.runs import last_good, run

__all__ = ["why"]

_TILES = 8  # tokens, or pads, that are drawn one by one; more of them are one bar
_TYPED = 80  # characters of a sequence; what has no room is cut off
_NUMBERED = 4  # numbers of a state that have room in their cells


@st.fragment(key=WHY)
def why() -> None:
    """Show what padding and packing do to one sequence, the shortest wherever pads visibly change it.

    The movie does not wait for this; until it has been painted, the place is empty.
    """
    with st.container(key="why"):
        if stage_on_screen() is not None:
            asked = last_good(PACKING, None)
            shown = run(asked)
            found = shown.fact(final_state)
            if isinstance(found, FinalState):
                st.html(_table(found, shown.movie.scales["state"], shown.batch.texts[found.b]))
            else:
                st.markdown(found)
            about_the_edit(asked, shown.batch)


def _table(found: FinalState, scale: float, tokens: Sequence[str]) -> str:
    """Return the table as HTML.

    scale: the number at which the diverging scale of the movie ends. tokens: the sequence as typed.
    """
    ways, longest = (found.alone, found.padded, found.packed), len(found.padded.pads)
    return markup(
        Path(__file__).with_name("why.html"),
        found=found,
        hue=sequence_color(found.b),
        text_on=text_on,
        light=LIGHT,
        dark=DARK,
        ramp=zip(LIGHT.diverging, DARK.diverging, strict=True),
        end=f"{scale:.3g}",
        longest=longest,
        typed=shorten(" ".join(tokens), _TYPED, placeholder=" …"),
        rows=[(way, list(_inputs(way)), _cells(way, scale), _furthest(found, way)) for way in ways],
        numbered=len(found.alone.h) <= _NUMBERED,
    )


def _inputs(way: ReadState) -> Iterator[tuple[bool, int]]:
    """Yield what is drawn of the inputs: whether they are pads, and how many of them are one mark."""
    for pad, alike in groupby(way.pads):
        count = len(list(alike))
        yield from [(pad, 1)] * count if count <= _TILES else [(pad, count)]


def _cells(way: ReadState, scale: float) -> list[tuple[str, str, str]]:
    """Return each number of a state as text, and its colour on a light and on a dark page, as in the movie."""
    numbers = way.h.tolist()
    return [(f"{v:z.2f}".replace("-", "−"), _color(v / scale, LIGHT), _color(v / scale, DARK)) for v in numbers]


def _furthest(found: FinalState, way: ReadState) -> int:
    """Return which number of a state differs most from that of the sequence alone, -1 if that is rounding.

    Of the state alone it is the one that differs most from the padded state.
    """
    other = found.padded if way is found.alone else way
    return int(apart(other.h, found.alone.h).argmax()) if other.off else -1


def _color(share: float, palette: Palette) -> str:
    return palette.pad if isnan(share) else diverging(share, palette)
