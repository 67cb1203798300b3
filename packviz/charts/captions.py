"""The words of a movie as Plotly shows them: its few tags are ours, everything else is text."""

import re
from collections.abc import Mapping
from textwrap import wrap

from packviz.charts.template import plain

__all__ = ["caption", "folded", "lines", "shortened"]

LETTER = 0.56  # width of a letter, on average, as a share of its size in pixels


def caption(text: str, hues: Mapping[str, str], width: float, px: float) -> str:
    """Return a caption in lines of at most `width` pixels: `**...**` strong, `{A}` in its colour, the rest as text."""
    strong, shown = False, []
    for line in wrap(text, max(12, int(width / (LETTER * px))), break_long_words=False, break_on_hyphens=False):
        parts = re.split(r"(\{[A-Z]+\}|\*\*)", line)
        out = "<b>" if strong else ""
        for part in parts:
            if part == "**":
                strong = not strong
                out += "<b>" if strong else "</b>"
            elif (letter := part[1:-1]) in hues and part == "{" + letter + "}":
                out += f'<b><span style="color:{hues[letter]}">{letter}</span></b>'
            else:
                out += plain(part)
        shown.append(out + ("</b>" if strong else ""))
    return "<br>".join(shown)


def lines(text: str, width: float, px: float) -> str:
    """Return plain text in lines of at most `width` pixels."""
    letters = max(12, int(width / (LETTER * px)))
    return "<br>".join(plain(line) for row in text.splitlines() for line in wrap(row, letters) or [""])


def folded(code: str, width: float, px: float) -> str:
    """Return code in lines of at most `width` pixels; what goes on in the next one is set in."""
    letters = max(12, int(width / (LETTER * px)))
    rows = [wrap(row, letters, subsequent_indent="    ", break_on_hyphens=False) or [""] for row in code.split("\n")]
    return "\n".join(line for row in rows for line in row)


def shortened(text: str, width: float, px: float) -> str:
    """Return as much of the text as fits `width` pixels, with `…` for the rest; nothing where that is no letter."""
    room = int(width / (LETTER * 1.08 * px))
    if len(text) <= room:
        return text
    return text[: room - 1] + "…" if room > 2 else ""
