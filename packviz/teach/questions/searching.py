"""Search: the entries and pages that match a question in words, or a pasted error message.

An SQLite FTS5 index ranks them (bm25, word stems). A text that contains an entry's message, whatever the numbers in
it, finds that entry first; of several, the one with the same numbers.
"""

import re
import sqlite3
import threading
import tomllib
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from packviz.teach.questions.entry import ENTRIES, GROUPS, Entry
from packviz.text import Brief

__all__ = ["PAGES", "Page", "has_message", "is_error", "search"]

MAX_FOUND = 12
_MAX_TYPED = 2_000  # characters of a text that are read, from its last error or from its beginning
_WEIGHTS = {"asked": 6.0, "claim": 2.0, "messages": 2.0, "name": 2.0, "heading": 1.0, "explained": 0.7, "code": 0.3}
_QUOTES = 0.5  # factor of the score of an entry that answers one sentence of a particular text
_SHARE = 0.2  # of the best score: results with less are left out
_ALWAYS = 5  # this many of the best are always kept
_WHOLE = 0.85  # the share of its words, in order, from which a message counts as found
_RAISED = re.compile(r"\w*(?:Error|Exception|Warning|Unsupported):")
_WORD = re.compile(r"[a-z_]+|\d{3,}")  # shorter numbers are ignored
_COMMON = frozenset(
    _WORD.findall(
        "a an and are as at be by can do does for from have how i if in is it me my of on or so that the there this to "
        "was what when where which why will with you your"
    )
)


@dataclass(frozen=True, repr=False)
class Page(Brief):
    """A page of the app: its address, title, subject and menu section, and questions that should find it."""

    address: str
    title: str
    about: str
    menu: str = ""  # "": outside the sections
    asked: tuple[str, ...] = ()  # (): the search does not find it


PAGES = tuple(
    Page(address, **{**page, "asked": tuple(page.get("asked", ()))})
    for address, page in tomllib.loads(Path(__file__).with_name("pages.toml").read_text(encoding="utf-8")).items()
)
_EVERYTHING: tuple[Entry | Page, ...] = (*ENTRIES, *(page for page in PAGES if page.asked))
_QUOTING = frozenset(entry for entry in ENTRIES if entry.group == GROUPS[-1])
_LOCK = threading.Lock()


@lru_cache(maxsize=512)
def search(text: str) -> tuple[Entry | Page, ...]:
    """Return the matches of a text, best first; for a traceback the last error counts. "" finds nothing."""
    words = _words(_raised(text))
    named = [entry for entry in ENTRIES if _has(entry, tuple(words))]
    if named:  # the numbers in an error come from somebody's batch
        words = [word for word in words if not word.isdecimal()]
    terms = list(dict.fromkeys(filter(None, (_known(word) for word in words if word not in _COMMON))))
    if not terms:
        return ()
    pairs = [" ".join(pair) for pair in pairwise(words) if not _COMMON.issuperset(pair)]
    query = " OR ".join(f'"{each}"' for each in dict.fromkeys([" ".join(words), *pairs, *terms]))
    score = f"-bm25(found, {', '.join(map(str, _WEIGHTS.values()))})"
    with _LOCK:
        rows = _index().execute(f"SELECT rowid, {score} FROM found WHERE found MATCH ?", (query,)).fetchall()
    scores = {_EVERYTHING[row - 1]: score for row, score in rows}
    for found in scores.keys() & _QUOTING:
        scores[found] *= _QUOTES
    exact = {entry for entry in named if any(message.partition(": ")[2] in text for message in entry.messages)}
    best = sorted(scores, key=lambda each: (each not in named, each not in exact, -scores[each]))
    least = _SHARE * max(scores.values(), default=0.0)
    return tuple(each for rank, each in enumerate(best[:MAX_FOUND]) if rank < _ALWAYS or scores[each] >= least)


def is_error(text: str) -> bool:
    """Return whether a text contains an error as Python prints it: "RuntimeError: ..."."""
    return _RAISED.search(text) is not None


def has_message(entry: Entry, text: str) -> bool:
    """Return whether a message of the entry appears in a text, whatever its numbers."""
    return _has(entry, tuple(_words(_raised(text))))


def _has(entry: Entry, words: tuple[str, ...]) -> bool:
    return any(_share(tuple(_words(message)), words) >= _WHOLE for message in entry.messages)


@lru_cache(maxsize=4096)
def _share(message: tuple[str, ...], words: tuple[str, ...]) -> float:
    """Return the share of a message's words, after the kind of error, that a text has in the same order."""
    kind, *rest = message
    said = [word for word in words if word != kind]
    blocks = SequenceMatcher(None, rest, said, autojunk=False).get_matching_blocks()
    common = sum(block.size for block in blocks)
    return common / len(rest) if len(said) >= min(4, len(rest)) else 0.0


def _raised(text: str) -> str:
    """Return the last error of a traceback and what follows it, or the beginning of any other text."""
    ends = [match.start() for match in _RAISED.finditer(text)]
    return text[ends[-1] if ends else 0 :][:_MAX_TYPED]


def _words(text: str) -> list[str]:
    return [word.strip("_") for word in _WORD.findall(text.lower()) if word.strip("_")]


@cache
def _index() -> sqlite3.Connection:
    """Return the index of all entries and pages, in memory; row 1 is the first entry, the pages come last."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(f"CREATE VIRTUAL TABLE found USING fts5({', '.join(_WEIGHTS)}, tokenize = 'porter')")
    marks = ", ".join("?" * len(_WEIGHTS))
    database.executemany(
        f"INSERT INTO found({', '.join(_WEIGHTS)}) VALUES ({marks})",
        [tuple(" ".join(_words(text)) for text in _columns(each).values()) for each in _EVERYTHING],
    )
    return database


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset(word for each in _EVERYTHING for text in _columns(each).values() for word in _words(text))


def _columns(found: Entry | Page) -> dict[str, str]:
    """Return the texts of an entry or a page by column name, in column order."""
    if isinstance(found, Page):
        asked = "\n".join((found.title, *found.asked))
        return dict.fromkeys(_WEIGHTS, "") | {"asked": asked, "claim": found.about, "name": found.address}
    return {
        "asked": "\n".join((found.question, *found.asked)),
        "claim": found.claim,
        "messages": "\n".join(found.messages),
        "name": " ".join((found.key, *found.also)).replace("-", " "),
        "heading": " ".join((found.group, *found.sources)),
        "explained": found.explanation,
        "code": f"{found.wrong}\n{found.right}",
    }


@lru_cache(maxsize=4096)
def _known(word: str) -> str:
    """Return a known word: the word itself, the shortest that starts with it, one spelled similarly, or ""."""
    vocabulary = _vocabulary()
    if word in vocabulary:
        return word
    begun = min((other for other in vocabulary if len(word) > 3 and other.startswith(word)), key=len, default="")
    return begun or next(iter(get_close_matches(word, vocabulary, 1, 0.8)), "")
