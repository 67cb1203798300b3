"""Fill the rows yourself: the documents, the reply to each of them in each row, and the rows that best fit needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packviz.compute.fill import fill_rows
from packviz.text import sentences, sequence_label

MAX_DOCUMENTS, MAX_CAPACITY = 9, 20  # limits for filling by hand

_say = sentences(Path(__file__).with_suffix(".toml"))


@dataclass(frozen=True)
class Document:
    """One document, and the reply when it is put into a row: said[room] with that many free cells."""

    letter: str
    length: int  # its tokens in a row: at most the capacity
    name: str  # its description: "A, 5 tokens"
    picked: str  # the message when it is chosen
    said: tuple[str, ...]  # capacity + 1


@dataclass(frozen=True)
class Filling:
    """What a visitor puts into rows, and the number of rows that best fit needs."""

    documents: tuple[Document, ...]
    capacity: int  # the cells of a row
    rows: int  # of best fit, longest first
    start: str  # the first message
    pick: str  # the message when a row is chosen before a document
    back: str  # the message when a document is taken out of its row
    done: tuple[str, ...]  # done[n - 1]: the last message with n rows


def filling(lengths: Sequence[int], max_length: int) -> Filling | None:
    """Return the exercise on documents of these lengths; None if there are too many, or their rows are too long.

    As in bfd, what exceeds max_length is dropped. Raises PackvizError for lengths or a max_length below 1.
    """
    filled = fill_rows(lengths, max_length)
    if len(lengths) > MAX_DOCUMENTS or max_length > MAX_CAPACITY:
        return None
    documents = tuple(_document(b, int(length), max_length) for b, length in enumerate(lengths))
    start, pick, back = (_say(f"say.{key}", capacity=max_length) for key in ("start", "pick", "back"))
    rows = len(filled.rows)
    done = tuple(_done(used, rows) for used in range(1, len(documents) + 1))
    return Filling(documents, max_length, rows, start, pick, back, done)


def _document(b: int, length: int, capacity: int) -> Document:
    kept = min(length, capacity)
    named = {"b": b, "length": length, "kept": kept, "cut": length - kept}
    name = _say("document.name_cut" if kept < length else "document.name", **named)
    said = tuple(_about_room(b, kept, room) for room in range(capacity + 1))
    return Document(sequence_label(b), kept, name, _say("document.picked", **named), said)


def _about_room(b: int, kept: int, room: int) -> str:
    if room < kept:
        return _say("document.exceeds" if room else "document.no_room", b=b, kept=kept, room=room)
    return _say("document.fits" if room > kept else "document.fills", b=b, left=room - kept)


def _done(used: int, rows: int) -> str:
    key = "more" if used > rows else "fewer" if used < rows else "equal"
    return _say(f"done.{key}", used=used, rows=rows)
