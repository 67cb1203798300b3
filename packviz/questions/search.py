"""Search: the entries that a question in words, or a pasted error message, is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from math import log

from packviz.questions.entries import ENTRIES
from packviz.questions.model import Entry

__all__ = ["search"]

MOST = 12  # entries that are found
_WEIGHTS = {"messages": 3.0, "question": 3.0, "claim": 2.0, "key": 2.0, "group": 1.0, "source": 1.0, "code": 0.5}
_SHARE = 0.3  # of the best one's score that the last one found has at least
_WHOLE = 12.0  # for an entry one of whose messages is there, word by word
_RAISED = re.compile(r"^(?:\w+\.)*(\w*(?:Error|Exception|Warning|Unsupported)\b.*)", re.MULTILINE)
_WORDS = re.compile(r"[a-z_]+|\d+")
_COMMON = frozenset(
    _WORDS.findall(
        "a an and are as at be by do does for from how i in is it not of on or that the this to what why with"
    )
)


def search(text: str) -> tuple[Entry, ...]:
    """Return the entries that a text is about, best first; of a traceback its last error counts.

    Numbers in a message stand for any others. "" finds nothing.
    """
    asked = _words(_raised(text))
    if not asked:
        return ()
    weights = _rarity()
    scores = {entry: _score(asked, entry, weights) for entry in ENTRIES}
    found = sorted((entry for entry in ENTRIES if scores[entry] > 0), key=lambda entry: -scores[entry])
    return tuple(entry for entry in found[:MOST] if scores[entry] >= _SHARE * scores[found[0]])


def _raised(text: str) -> str:
    """Return the last error of a traceback with all that follows it, or the whole text."""
    ends = [match.start() for match in _RAISED.finditer(text)]
    return text[ends[-1] :] if ends and "\n" in text.strip() else text


def _words(text: str) -> frozenset[str]:
    """Return the words of a text in small letters, names like batch_sizes in one and in parts, numbers as one word."""
    words = {"#" if word.isdigit() else word.strip("_") for word in _WORDS.findall(text.lower())}
    parts = {part for word in words for part in word.split("_")}
    return frozenset(word for word in words | parts if word and word not in _COMMON)


@cache
def _fields(entry: Entry) -> tuple[tuple[float, frozenset[str]], ...]:
    texts = {
        "messages": "\n".join(entry.messages),
        "question": entry.question,
        "claim": entry.claim,
        "key": entry.key.replace("-", " "),
        "group": entry.group,
        "source": entry.source,
        "code": f"{entry.broken}\n{entry.fixed}",
    }
    return tuple((_WEIGHTS[name], _words(text)) for name, text in texts.items())


@cache
def _rarity() -> dict[str, float]:
    """Return how much a word tells: the rarer among the entries, the more."""
    counts = Counter(word for entry in ENTRIES for word in frozenset().union(*(words for _, words in _fields(entry))))
    return {word: log(1 + len(ENTRIES) / count) for word, count in counts.items()} | {"#": 0.1}


def _score(asked: frozenset[str], entry: Entry, rarity: Mapping[str, float]) -> float:
    score = 0.0
    for word in asked:
        score += max(_match(word, words, rarity) * weight for weight, words in _fields(entry))
    return score + _WHOLE * max((_there(_words(message), asked, rarity) for message in entry.messages), default=0.0)


def _match(word: str, words: frozenset[str], rarity: Mapping[str, float]) -> float:
    """Return how much a word tells of a field: all where it stands there, half where it begins one."""
    if word in words:
        return rarity[word]
    begun = [rarity[other] for other in words if len(word) >= 4 and other.startswith(word)]
    return max(begun, default=0.0) / 2


def _there(message: frozenset[str], asked: frozenset[str], rarity: Mapping[str, float]) -> float:
    """Return the share of a message that was asked for, 0.0 where it is less than two thirds; the rarer words count."""
    whole = sum(rarity[word] for word in message)
    share = sum(rarity[word] for word in message & asked) / whole if whole else 0.0
    return share * min(1.0, whole / 10) if share > 2 / 3 else 0.0
