"""Text as it can be shown: nothing hidden, nothing that a screen or a file cannot hold."""

from __future__ import annotations

import math
import re

__all__ = ["quoted", "shown", "visible"]

# Control characters, line and paragraph separators, spaces of no width, marks that turn the direction of the text
# after them, and lone surrogates. Joiners stay: emoji and several scripts need them.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u200b\u200e\u200f"
    "\u2028-\u202e\u2060\u2066-\u2069\u3164\ufeff\ud800-\udfff]"
)
_BLANK = re.compile(r"\s+")


def visible(text: str) -> str:
    r"""Return the text with a visible symbol for each character that cannot be seen or shown.

    >>> visible("a\x00b\tc")
    'a␀b␉c'
    """
    seen = _HIDDEN.sub(_symbol, text)
    return "␣" * len(seen) if _BLANK.fullmatch(seen) else seen


def quoted(text: str, width: int = 24) -> str:
    """Return the text for a message: visible, in quotes, and cut to `width` characters.

    >>> quoted("x" * 30, width=5)
    "'xxxx…'"
    """
    seen = visible(text[: width + 1])
    return f"'{seen}'" if len(text) <= width else f"'{seen[: width - 1]}…'"


def shown(value: object) -> str:
    """Return any value for a message: a text in quotes, a number as it is, anything else by its type."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else f"a number of {int(math.log10(abs(value))) + 1} digits"
    return f"a {type(value).__name__}"


def _symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"
