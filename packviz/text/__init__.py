"""Text for the screen: escaped control characters, described values, pluralized counts, lists in prose, templates."""

from packviz.text.characters import quoted, quoted_line, unlinked, visible
from packviz.text.phrases import (
    agree,
    are,
    counted,
    in_words,
    joined,
    letters,
    listed,
    sequence_label,
    so_many,
    with_article,
)
from packviz.text.rounding import percent, two_decimals, two_digits
from packviz.text.templates import ENVIRONMENT, filled, html, markup, sentences
from packviz.text.values import Brief, dtype_name, numbers, shape, shown

__all__ = [
    "ENVIRONMENT",
    "Brief",
    "agree",
    "are",
    "counted",
    "dtype_name",
    "filled",
    "html",
    "in_words",
    "joined",
    "letters",
    "listed",
    "markup",
    "numbers",
    "percent",
    "quoted",
    "quoted_line",
    "sentences",
    "sequence_label",
    "shape",
    "shown",
    "so_many",
    "two_decimals",
    "two_digits",
    "unlinked",
    "visible",
    "with_article",
]
