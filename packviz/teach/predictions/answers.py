r"""What somebody typed as an answer, read generously: "4, 2 1", "[4,2,1]", "torch.Size([3, 4, 1])", "a,b", "none"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from packviz.errors import PackvizError
from packviz.text import quoted, shown

__all__ = ["read_choice", "read_letters", "read_numbers"]

MAX_CHARACTERS = 2000
MAX_DIGITS = 18

_TENSOR = re.compile(r"(?:\w+\s*={1,2}\s*)?(?:(?:torch\s*\.\s*)?(?:tensor|size|longtensor)\b)?", re.IGNORECASE)
_DTYPE = re.compile(r",\s*(?:dtype|device)\s*=[^,()\[\]]*")
_APART = re.compile(r"[\s,;，、()\[\]{}'\"]+")
_BETWEEN_SIZES = re.compile(r"(?<=\d)\s*[x×*]\s*(?=\d)", re.IGNORECASE)
_WHOLE = re.compile(r"([+-]?\d+)(?:\.0*)?")
_NOBODY = {"none", "nobody", "nothing", "-", "–", "—", "∅"}


def read_numbers(typed: str) -> tuple[int, ...]:
    """Return the whole numbers of a text; raises PackvizError where there is none, or something else.

    >>> read_numbers("tensor([3, 2])")
    (3, 2)
    """
    text = _DTYPE.sub(" ", _checked(typed, "whole numbers", "type them with spaces between, such as 7 7 7"))
    text = text[match.end() :] if (match := _TENSOR.match(text)) else text
    parts = [part for part in _APART.split(_BETWEEN_SIZES.sub(" ", text)) if part]
    if not parts:
        raise _refusal("whole numbers", quoted(typed), "type them with spaces between, such as 7 7 7")
    return tuple(map(_whole, parts))


def read_letters(typed: str, letters: Sequence[str]) -> tuple[str, ...]:
    """Return the named sequences in the order of `letters`, () for none; raises PackvizError for any other word.

    >>> read_letters("c, a", "ABC")
    ('A', 'C')
    """
    letters = tuple(letters)
    expected, mend = _letters_expected(letters)
    text = _checked(typed, expected, mend)
    words = [word.upper() for word in _APART.split(text.rstrip(".")) if word]
    named = {letter for word in words if word != "AND" or word in letters for letter in _named(word, letters)}
    if unknown := [word for word in named if word not in letters]:
        raise _refusal(expected, ", ".join(quoted(word) for word in sorted(unknown)[:3]), mend)
    return tuple(letter for letter in letters if letter in named)


def read_choice(typed: str, choices: Sequence[str]) -> str:
    """Return the choice that a text is, whatever its case and backticks; raises PackvizError where it is none."""
    plain = {_plain(choice): choice for choice in choices}
    expected = "one of the choices"
    text = _plain(_checked(typed, expected, "choose one"))
    if text not in plain:
        raise _refusal(expected, quoted(typed), "choose one of them as it stands there")
    return plain[text]


def _checked(typed: object, expected: str, mend: str) -> str:
    if not isinstance(typed, str):
        raise _refusal(expected, shown(typed), mend)
    if not typed.strip():
        raise _refusal(expected, "nothing", mend)
    if len(typed) > MAX_CHARACTERS:
        raise _refusal(expected, f"a text of {len(typed)} characters", mend)
    return typed.strip()


def _whole(part: str) -> int:
    match = _WHOLE.fullmatch(part)
    if match is None or len(match[1]) > MAX_DIGITS:
        raise _refusal("whole numbers", quoted(part), "type whole numbers with spaces between, such as 7 7 7")
    return int(match[1])


def _named(word: str, letters: Sequence[str]) -> list[str]:
    """Return the sequences that a word names: itself, nobody, all, or each of its characters."""
    if word in letters:
        return [word]
    if word.lower() in _NOBODY:
        return []
    if word == "ALL":
        return list(letters)
    return list(word) if set(word) <= set(letters) else [word]


def _letters_expected(letters: Sequence[str]) -> tuple[str, str]:
    reach = letters[0] if len(letters) == 1 else f"{letters[0]} to {letters[-1]}"
    return f"letters of sequences, {reach}, or none", "type letters with spaces between, or the word none"


def _plain(choice: str) -> str:
    return " ".join(choice.replace("`", "").lower().split()).rstrip(".")


def _refusal(expected: str, came: str, mend: str) -> PackvizError:
    return PackvizError("answer", expected=expected, came=came, mend=mend)
