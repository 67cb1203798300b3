"""Text as it may stand on the screen: hidden characters made visible, quotes, and cuts."""

import re

# Control characters, line and paragraph separators, zero-width spaces, bidirectional controls and lone surrogates.
# Joiners stay: emoji and several scripts need them.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u200b\u200e\u200f"
    "\u2028-\u202e\u2060\u2066-\u2069\u3164\ufeff\ud800-\udfff]"
)
_BLANK = re.compile(r"\s+")


def visible(text: str) -> str:
    r"""Replace each invisible or unprintable character by a visible symbol.

    >>> visible("a\x00b\tc")
    'a␀b␉c'
    """
    seen = _HIDDEN.sub(_symbol, text)
    return "␣" * len(seen) if _BLANK.fullmatch(seen) else seen


def quoted(text: str, width: int = 24) -> str:
    """Return the text for a message: visible, in quotes, and cut to `width` characters.

    >>> print(quoted("short"), quoted("x" * 30, width=5))
    'short' 'xxxx…'
    """
    seen = visible(text[: width + 1])
    return f"'{seen}'" if len(text) <= width else f"'{seen[: width - 1]}…'"


def quoted_line(text: str, width: int = 24) -> str:
    """Return the first line of a text for a message, as `quoted`, with "…" if other lines follow.

    >>> print(quoted_line("one"), quoted_line("one\\ntwo"))
    'one' 'one…'
    """
    line = next(filter(str.strip, text.split("\n")), text)
    said = quoted(line, width)
    return said if line.strip() == text.strip() or len(line) > width else f"{said[:-1]}…'"


def unlinked(markdown: str) -> str:
    """Return Markdown with the words of its links to pages of the app, but without the links.

    >>> print(unlinked("Pad, and [mask the loss](losses)."))
    Pad, and mask the loss.
    """
    return re.sub(r"\[([^\[\]]*)\]\([a-z_]+\)", r"\1", markdown)


def _symbol(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "\N{REPLACEMENT CHARACTER}"
