"""The legend of the number colours: the two ends of each scale."""

from collections.abc import Iterator, Mapping

from packviz.show.movie.staging import LETTER, MEASURES, Shape, Text, Tile
from packviz.show.theme import Palette, diverging


def legend(scales: Mapping[str, float], y: float, px: float, palette: Palette) -> Iterator[Shape]:
    """Yield the legend at this height: for each scale its name, if there are several, its ends and its colours.

    scales: the numbers at which they end. px: the size of the text.
    """
    x = 14.0
    for scale, largest in scales.items():
        signed, end = scale not in MEASURES["unsigned"], f"{largest:.3g}"
        name = f"{MEASURES['scales'][scale]} " if len(scales) > 1 or not signed else ""
        low = -1.0 if signed else 0.0
        first, last = (f"{name}−{end}", f"+{end}") if signed else (f"{name}0", end)
        yield Text(x, y, first, px, palette.quiet, at="start")
        x += LETTER * px * len(first) + 8
        yield from (Tile(x + 8 * i, y - 5, 8, 10, diverging(low + (1 - low) * i / 9, palette)) for i in range(10))
        x += 86
        yield Text(x, y, last, px, palette.quiet, at="start")
        x += LETTER * px * len(last) + 8
