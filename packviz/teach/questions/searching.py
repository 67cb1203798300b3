"""Search: the entries and pages that answer a question in words, or a pasted error message.

An SQLite FTS5 index scores them (bm25, word stems); the score is multiplied by the share of the typed words, rare ones
counting more, that stand in the question, the claim or the messages of an entry. A text that contains an entry's
message, or a sentence of it, whatever the numbers in it, finds that entry first; of several, the one with the same
numbers. A question that is asked word for word comes next. No step takes more than linear time in the length of the
text, and no text is kept.
"""

import math
import re
import sqlite3
import threading
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from rapidfuzz import fuzz, process
from rapidfuzz.distance import LCSseq

from packviz.show.movie.packing.words import TERMS
from packviz.teach.pages import PAGES, Page
from packviz.teach.questions.entry import ENTRIES, GROUPS, Entry
from packviz.text import Brief

__all__ = ["MAX_CHARACTERS", "Results", "has_message", "is_error", "meaning", "search", "searched"]

MAX_CHARACTERS = 20_000  # of a text, counted from its end: a traceback ends with the error
_MAX_READ = 2_000  # of these, from the last error or from the beginning
_MAX_WORD = 30  # letters; longer words are ignored
_MAX_FOUND = 12
_NEAREST = 3  # results for a text that nothing answers
_SUBJECT = 10  # answers that have a word of the subject, such as "mask"; without one, a text gets no nearest results
_WEIGHTS = {"asked": 6.0, "claim": 2.0, "messages": 2.0, "name": 2.0, "heading": 1.0, "explained": 0.7, "code": 0.3}
_COVERING = "{asked claim messages name heading}"  # the columns in which a typed word counts as covered
_QUOTES = 0.5  # factor of the score of an entry that answers one sentence of a particular text
_SHARE = 0.2  # of the best score: results with less are left out
_ALWAYS = 5  # this many of the best are kept in any case if they fit
_FITS = 0.55  # share of the typed words, by weight, that an answer must cover to fit
_WHOLE = 0.85  # share of the words of a message, in order, from which it counts as found
_QUOTED = 0.9  # share of the words of a text, in order, from which it counts as a part of a message
_LEAST_QUOTED = 5  # words of such a part
_ERROR = re.compile(r"(?:Error|Exception|Warning|Unsupported):")
_CLAUSE = re.compile(r"[?.,;:] (?!-\d)|[?.,;:]$")  # not the comma in output[:, -1]
_LAST_COLUMN = re.compile(
    r"\b\w*out(?:puts?)?\[:, ?-1(?:, ?:)?\]"
)  # whatever name the output has, and how it is spaced
_WORD = re.compile(r"[a-z_]+|\d{3,}")  # shorter numbers are ignored
_NAME = re.compile(r"\w+")
_COMMON = frozenset(
    _WORD.findall(
        "a after all an and any are as at be because but by can did do does for from get got happen happens have how i "
        "if in is it its me meaning more my need of on or over should so than that the there this to use vs was what "
        "when where which why will with would you your"
    )
)
_LETTERS = frozenset("".join(sorted(word)) for word in _COMMON)  # of small words: "teh" is one, too

_ARTICLES = frozenset({"a", "an", "the", "my", "this", "that", "it"})
_MEANINGS: Mapping[str, str] = TERMS | tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
_ASKING = frozenset({"mean", "means", "s", "explain", "define", "definition", "tell"})  # of a term


@dataclass(frozen=True, repr=False)
class Results(Brief):
    """What a search found, best first."""

    found: tuple[Entry | Page, ...] = ()
    fits: bool = False  # whether the first one covers the text; otherwise they are only the nearest


_EVERYTHING: tuple[Entry | Page, ...] = (*ENTRIES, *(page for page in PAGES if page.asked))
_QUOTING = frozenset(entry for entry in ENTRIES if entry.group == GROUPS[-1])
_LOCK = threading.Lock()


def search(text: str) -> Results:
    """Return what matches a text; for a traceback the last error counts. "" finds nothing."""
    words = _words(searched(text))
    named = [entry for entry in ENTRIES if _has(entry, words)]
    if named:  # the numbers in an error come from somebody's batch
        words = [word for word in words if not word.isdecimal()]
    typed = list(dict.fromkeys(word for word in words if not _is_small(word)))
    known = {word: _known(word) for word in typed}
    terms = list(dict.fromkeys(filter(None, known.values())))
    if not terms:
        return Results()
    told = [pair for pair in pairwise(words) if pair[0] != "to" and not _COMMON.issuperset(pair)]  # "to pad" is "pad"
    pairs = [" ".join(pair) for pair in told]
    scores = _scores([" ".join(words), *pairs, *terms])
    covered = _covered([known[word] for word in typed])
    ranked = {found: score * covered.get(found, 0.0) for found, score in scores.items()}
    exact = {entry for entry in named if any(message.partition(": ")[2] in text for message in entry.messages)}
    best = sorted(
        ranked,
        key=lambda each: (each not in named, each not in exact, _otherwise(words, each), -ranked[each]),
    )
    if not named and covered.get(best[0], 0.0) < _FITS:
        on_the_subject = any(len(_containing(term)) >= _SUBJECT for term in terms)
        return Results(tuple(best[:_NEAREST]) if on_the_subject else ())
    least = _SHARE * max(ranked.values())
    fit = {each for each in best[:_ALWAYS] if covered.get(each, 0.0) >= _FITS}
    kept = (each for each in best[:_MAX_FOUND] if each in {best[0], *named, *fit} or ranked[each] >= least)
    return Results(tuple(kept), fits=True)


def meaning(text: str) -> str:
    """Return what a term means, in one line, if a text is only this term or asks what it is; otherwise "".

    >>> meaning("What is a pad?")
    'pads: values that make short rows as long as the longest; they carry no information'
    """
    words = _NAME.findall(text[:_MAX_READ])
    rest = [word for word in words if word.lower() not in _ASKING and not _is_small(word.lower())]
    asked = " ".join(rest or words[-1:])  # "i" is a term, too
    alike = {_spelling(term): term for term in _MEANINGS if len(term) > 1}
    term = asked if asked in _MEANINGS else alike.get(_spelling(asked), "")
    told = _MEANINGS.get(term, "")
    return told if not told or re.match(rf"{re.escape(term)}\b", told) else f"{term}: {told}"


def _spelling(term: str) -> str:
    """Return a term without what people spell differently: capitals, spaces, hyphens, underscores, the plural."""
    return re.sub("[ _-]", "", term.lower()).removesuffix("s")


def is_error(text: str) -> bool:
    """Return whether a text contains an error as Python prints it: "RuntimeError: ..."."""
    return _ERROR.search(text[-MAX_CHARACTERS:]) is not None


def has_message(entry: Entry, text: str) -> bool:
    """Return whether a message of the entry, or a sentence of it, appears in a text, whatever its numbers."""
    return _has(entry, _words(searched(text)))


def searched(text: str) -> str:
    """Return what the search reads: the last error of a traceback and what follows, or the beginning of other text."""
    text = text[-MAX_CHARACTERS:]
    begin = max((match.start() for match in _ERROR.finditer(text)), default=0)
    while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
        begin -= 1
    return text[begin : begin + _MAX_READ]


def _scores(phrases: Sequence[str]) -> dict[Entry | Page, float]:
    """Return the bm25 score of everything that contains one of the phrases."""
    query = " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases))
    score = f"-bm25(found, {', '.join(map(str, _WEIGHTS.values()))})"
    with _LOCK:
        rows = _index().execute(f"SELECT rowid, {score} FROM found WHERE found MATCH ?", (query,)).fetchall()
    scores = {_EVERYTHING[row - 1]: score for row, score in rows}
    return {found: score * (_QUOTES if found in _QUOTING else 1.0) for found, score in scores.items()}


def _covered(terms: Sequence[str]) -> dict[Entry | Page, float]:
    """Return the share of the terms that each result covers, weighted by inverse document frequency.

    "" stands for a word that is nowhere in the index: it weighs as much as the rarest and is never covered.
    """
    total, covered = 0.0, dict.fromkeys(_EVERYTHING, 0.0)
    for term in terms:
        rows = _containing(term) if term else ()
        weight = math.log((len(_EVERYTHING) + 1) / (len(rows) + 1))
        total += weight
        for row in rows:
            covered[_EVERYTHING[row - 1]] += weight
    return {found: share / total for found, share in covered.items()} if total else {}


def _containing(term: str) -> Sequence[int]:
    with _LOCK:
        found = _index().execute("SELECT rowid FROM found WHERE found MATCH ?", (f'{_COVERING}: "{term}"',))
        return [row for (row,) in found]


def _has(entry: Entry, words: Sequence[str]) -> bool:
    return any(_says(message, words) for message in _messages(entry))


def _says(message: tuple[str, ...], words: Sequence[str]) -> bool:
    """Return whether a text has nearly all words of a message, or is nearly all from it, in the same order."""
    kind, *rest = message
    said = [word for word in words if word != kind]
    common = LCSseq.similarity(rest, said)
    whole = len(said) >= min(4, len(rest)) and common >= _WHOLE * len(rest)
    return whole or (len(said) >= _LEAST_QUOTED and common >= _QUOTED * len(said))


@cache
def _messages(entry: Entry) -> tuple[tuple[str, ...], ...]:
    """Return the words of each message of an entry, and of its first sentence if it has several."""
    whole = [tuple(_words(message)) for message in entry.messages]
    first = [tuple(_words(message.partition(". ")[0])) for message in entry.messages if ". " in message]
    return (*whole, *(words for words in first if len(words) > _LEAST_QUOTED))


def _otherwise(asked: Sequence[str], found: Entry | Page) -> int:
    """Return how a question differs from what people ask who look for this: 0 hardly, 1 in small words, 2 in others."""
    clauses = _clauses(found)
    content = _content(asked)
    same_content = len(content) > 1 and content in {_content(each.split()) for each in clauses}
    return 0 if _bare(asked) in clauses else 1 if same_content else 2


@cache
def _clauses(found: Entry | Page) -> frozenset[str]:
    """Return the words of what people ask who look for an entry or a page, clause by clause."""
    asked = (found.title if isinstance(found, Page) else found.question, *found.asked)
    clauses = [_words(clause) for question in asked for clause in _CLAUSE.split(question)]
    return frozenset(_bare(each) for each in clauses if len(_content(each)) > 1 or isinstance(found, Entry))


def _bare(words: Sequence[str]) -> str:
    """Return the words of a question without articles, and words such as "it" that stand for what the app is about."""
    return " ".join(word for word in words if word not in _ARTICLES)


def _content(words: Sequence[str]) -> frozenset[str]:
    """Return the words of a question that say what it is about."""
    return frozenset(words) - _COMMON


def _joined(text: str) -> str:
    return " ".join(_words(text))


def _words(text: str) -> list[str]:
    named = _LAST_COLUMN.sub("output last_column", text.lower())
    return [word.strip("_") for word in _WORD.findall(named) if word.strip("_")]


@cache
def _index() -> sqlite3.Connection:
    """Return the index of all entries and pages, in memory; row 1 is the first entry, the pages come last."""
    database = sqlite3.connect(":memory:", check_same_thread=False)
    database.execute(f"CREATE VIRTUAL TABLE found USING fts5({', '.join(_WEIGHTS)}, tokenize = 'porter')")
    marks = ", ".join("?" * len(_WEIGHTS))
    database.executemany(
        f"INSERT INTO found({', '.join(_WEIGHTS)}) VALUES ({marks})",
        [tuple(map(_joined, _columns(each).values())) for each in _EVERYTHING],
    )
    return database


@cache
def _vocabulary() -> tuple[str, ...]:
    """Return all words of the index, shortest first."""
    words = {word for each in _EVERYTHING for text in _columns(each).values() for word in _words(text)}
    return tuple(sorted(words, key=lambda word: (len(word), word)))


def _columns(found: Entry | Page) -> dict[str, str]:
    """Return the texts of an entry or a page by column name, in column order."""
    if isinstance(found, Page):
        asked = "\n".join((found.title, *found.asked))
        return dict.fromkeys(_WEIGHTS, "") | {"asked": asked, "claim": found.about, "name": found.address}
    return {
        "asked": "\n".join((found.question, *found.asked)),
        "claim": f"{found.claim}\n{found.answer}",
        "messages": "\n".join(found.messages),
        "name": " ".join((found.key, *found.also)).replace("-", " "),
        "heading": " ".join((found.group, *found.sources)),
        "explained": found.explanation,
        "code": f"{found.wrong}\n{found.right}",
    }


def _is_small(word: str) -> bool:
    """Return whether a word says nothing about the subject, also if its letters were typed in another order."""
    return word in _COMMON or ("".join(sorted(word)) in _LETTERS and word not in _vocabulary())


def _known(word: str) -> str:
    """Return a known word: the word itself, the shortest that starts with it, one spelled similarly, or ""."""
    vocabulary = _vocabulary()
    if word in vocabulary or len(word) > _MAX_WORD:
        return word if word in vocabulary else ""
    begun = next((other for other in vocabulary if len(word) > 3 and other.startswith(word)), "")
    if begun or len(word) < 4:
        return begun
    near = process.extractOne(word, vocabulary, scorer=fuzz.ratio, score_cutoff=80)
    return near[0] if near else ""
