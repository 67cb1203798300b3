"""Texts in a still picture: how wide they are, and how much of one fits into a cell.

A still is made without fonts, so widths are estimates.
"""

import unicodedata
from collections.abc import Iterator
from itertools import accumulate, takewhile

from packviz.show.movie.staging import LETTER, SMALL, Text


def fitted(text: str, x: float, y: float, w: float, px: float, fill: str, *, bold: bool = False) -> Iterator[Text]:
    """Yield a text as large as fits clear of the edges, shortened at the smallest size; or nothing."""
    w = (w - min(7, 0.2 * w)) / (1.12 if bold else 1)
    size = min(px, max(SMALL, w / max(LETTER, ems(text))))
    room = w / size + 0.2 * LETTER
    if ems(text) > room:
        widths = accumulate(map(ems, text), initial=ems("…"))
        most = sum(1 for _ in takewhile(lambda width: width <= room, widths)) - 1  # letters before the ellipsis
        text = f"{text[:most]}…" if most > 0 else ""
    if text:
        yield Text(x, y, text, size, fill, bold)


def ems(text: str) -> float:
    """Return about how wide a text is, in multiples of its size: an M is wider than an i, and a mark has no width."""
    return sum(
        0.0
        if unicodedata.combining(letter)
        else 1.0
        if letter in "MWmw@%…" or unicodedata.east_asian_width(letter) in "WF"
        else 0.68
        if letter.isupper()
        else LETTER
        for letter in text
    )
