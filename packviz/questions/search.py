"""Search: the entries that a question in words, or a pasted error message, is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache, lru_cache
from math import log

from packviz.questions.entries import ENTRIES
from packviz.questions.model import Entry

__all__ = ["has_message", "is_error", "search"]

MOST = 12  # entries that are found
_WEIGHTS = {"question": 3.0, "key": 2.5, "claim": 2.0, "messages": 1.5, "group": 1.0, "source": 1.0, "code": 0.5}
_AGAIN = 0.3  # of its weight for a word that stands in another field, too
_SHARE = 0.2  # of the best one's score that the last one found has at least
_RARE = 3.0  # what the beginning of a word tells at most
_WHOLE = 12.0  # for an entry one of whose messages is there, word by word
_RAISED = re.compile(r"\w*(?:Error|Exception|Warning|Unsupported):")
_WORDS = re.compile(r"[a-z_]+|\d+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ings?|ed|e?s|e)$")
_COMMON = frozenset(
    _WORDS.findall(
        "a an and are as at be by do does for from how i in is it not of on or that the this to what why with"
    )
)


def search(text: str) -> tuple[Entry, ...]:
    """Return the entries that a text is about, best first; of a traceback its last error counts.

    Numbers in a message stand for any others. "" finds nothing.
    """
    asked = frozenset(map(_known, _words(_raised(text))))
    if not asked:
        return ()
    weights = _rarity()
    scores = {entry: _score(asked, entry, weights) for entry in ENTRIES}
    found = sorted((entry for entry in ENTRIES if scores[entry] > 0), key=lambda entry: -scores[entry])
    return tuple(entry for entry in found[:MOST] if scores[entry] >= _SHARE * scores[found[0]])


def is_error(text: str) -> bool:
    """Return whether a text has an error in it, as torch and Python print it: "RuntimeError: ..."."""
    return _RAISED.search(text) is not None


def has_message(entry: Entry, text: str) -> bool:
    """Return whether a message of the entry stands in a text, word by word; its numbers may be others."""
    asked = _words(_raised(text))
    return any(_there(message, asked, _rarity()) > 0 for message in _messages(entry))


def _raised(text: str) -> str:
    """Return the last error of a traceback with all that follows it, or the whole text."""
    ends = [match.start() for match in _RAISED.finditer(text)]
    return text[ends[-1] :] if ends else text


@lru_cache(maxsize=4096)
def _known(word: str) -> str:
    """Return the word that is meant: itself, or where no entry has it, one that is typed nearly like it."""
    rarity = _rarity()
    if word in rarity or len(word) < 5 or any(other.startswith(word) for other in rarity):
        return word
    return next(iter(get_close_matches(word, rarity, 1, 0.82)), word)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text in small letters, without their endings; names like batch_sizes in parts, too.

    Every number is the word "#", which stands for any other; one of three digits and more is also a word of its own.
    """
    words = {word.strip("_") for word in _WORDS.findall(text.lower())}
    parts = {part for word in words for part in word.split("_")} | words
    told = (word for word in parts if word and word not in _COMMON and not (word.isdigit() and len(word) < 3))
    return frozenset(map(_stem, told)) | {"#" for word in words if word.isdigit()}


def _stem(word: str) -> str:
    """Return a word without the ending of a plural or of a verb: sizes and sized are size, packing is pack."""
    return _ENDING.sub("", word) if "_" not in word and not word.isdigit() else word


@cache
def _fields(entry: Entry) -> tuple[tuple[float, frozenset[str]], ...]:
    texts = {
        "question": entry.question,
        "key": entry.key.replace("-", " "),
        "claim": entry.claim,
        "messages": re.sub(r"\d+", "0", "\n".join(entry.messages)),
        "group": entry.group,
        "source": entry.source,
        "code": f"{entry.broken}\n{entry.fixed}",
    }
    return tuple((_WEIGHTS[name], _words(text)) for name, text in texts.items())


@cache
def _messages(entry: Entry) -> tuple[frozenset[str], ...]:
    return tuple(_words(re.sub(r"\d+", "0", message)) for message in entry.messages)


@cache
def _rarity() -> dict[str, float]:
    """Return how much a word tells: the rarer among the entries, the more."""
    counts = Counter(word for entry in ENTRIES for word in frozenset().union(*(words for _, words in _fields(entry))))
    return {word: log(1 + len(ENTRIES) / count) for word, count in counts.items()} | {"#": 0.1}


def _score(asked: frozenset[str], entry: Entry, rarity: Mapping[str, float]) -> float:
    score = 0.0
    for word in asked:
        told = [_match(word, words, rarity) * weight for weight, words in _fields(entry)]
        score += (1 - _AGAIN) * max(told) + _AGAIN * sum(told)
    return score + _WHOLE * max((_there(message, asked, rarity) for message in _messages(entry)), default=0.0)


def _match(word: str, words: frozenset[str], rarity: Mapping[str, float]) -> float:
    """Return how much a word tells of a field: all where it stands there, half where it begins one."""
    if word in words:
        return rarity[word]
    begun = [rarity[other] for other in words if len(word) >= 4 and other.startswith(word)]
    return min(max(begun, default=0.0), rarity.get(word, _RARE)) / 2


def _there(message: frozenset[str], asked: frozenset[str], rarity: Mapping[str, float]) -> float:
    """Return the share of a message that was asked for, 0.0 where it is less than two thirds; the rarer words count."""
    whole = sum(rarity[word] for word in message)
    share = sum(rarity[word] for word in message & asked) / whole if whole else 0.0
    return share * min(1.0, whole / 10) if share > 2 / 3 else 0.0
