"""Question: what is asked, how an answer is read and judged, and the movie that shows why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from typing import Literal, TypedDict, cast, get_type_hints

from classroom.state import RefusedError
from packviz.errors import PackvizError
from packviz.teach.predictions import Prediction, spelled
from packviz.text import quoted, sequence_label, visible
from packviz.validate import choice, is_integer

Form = Literal["choice", "number", "numbers", "letters", "cell", "text"]
Answer = int | float | str | list[int | float | str]  # as it is sent

MAX_TYPED, MAX_NUMBERS = 200, 64  # characters and numbers of an answer


@dataclass(frozen=True)
class Film:
    """The movie of an answer: the player's data as gzipped JSON, how many steps it has, and that of the answer."""

    data: bytes
    steps: int
    step: int


class _Always(TypedDict):
    kind: str
    prompt: str
    form: Form


class PublicQuestion(_Always, total=False):
    """What everybody may see of a question: the fields of Question that are not empty, and in a room two more.

    number: among the questions of the room, counted from 1. html: the prompt, if it is the teacher's Markdown.
    """

    options: Sequence[str]
    rows: Sequence[Sequence[str]]
    settings: Sequence[str]
    letters: Sequence[str]
    example: str
    single: bool
    poll: bool
    collects: bool
    number: int
    html: str


@dataclass(frozen=True, eq=False)
class Question:
    """One question.

    kind      of prediction; "own" for the teacher's own question
    form      what is answered: one of the `options`, a number, several numbers, letters of sequences, a cell or a text
    answer    as it would be sent: the option's index, a number, a list of numbers, a text, or [sequence, time step];
              None for a poll, whose answers are neither right nor wrong
    solution  the same as `read` returns it; "" for a poll
    why       why it is right; "" if nothing is known
    reasons   for each usual wrong answer, as `read` returns it, why it is wrong
    rows      the batch as it came, its tokens as texts; () if there is none
    settings  as code
    asked     the prediction that judges an answer; None if that is not a prediction's
    lengths   of the sequences, for an answer that is a cell
    words     whether the words of texts are counted, and not whole texts
    poll      whether there is no right answer (specs.is_poll)
    """

    kind: str
    prompt: str
    form: Form
    answer: Answer | None
    solution: str
    why: str
    reasons: Mapping[str, str]
    options: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    settings: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    example: str = ""
    single: bool = False
    asked: Prediction | None = None
    lengths: tuple[int, ...] = ()
    words: bool = False
    poll: bool = False

    @cached_property
    def public(self) -> PublicQuestion:
        """Return what everybody may see before the answer is shown."""
        shown = {name: getattr(self, name, None) for name in get_type_hints(PublicQuestion)}
        return cast(PublicQuestion, {name: value for name, value in shown.items() if value})

    @property
    def collects(self) -> bool:
        """Return whether it collects texts."""
        return self.form == "text" and self.poll

    def read(self, given: object) -> str:
        """Return an answer in its normal form, so that equal answers are equal; raises RefusedError if it has none."""
        if self.form == "cell":
            return self._cell(given)
        if self.form == "choice" and is_integer(given):
            if not 0 <= given < len(self.options):
                last = len(self.options) - 1
                raise RefusedError(400, f"There is no option {given}: expected an index from 0 to {last}.")
            return self.options[given]
        typed = _typed(given)
        if self.asked is None and self.form != "choice":
            return _own_answer(typed, self.form)
        try:
            if self.asked is not None:
                return spelled(self.asked.read(typed))
            return choice("answer", typed, self.options)
        except PackvizError as problem:
            raise RefusedError(400, problem.sentence) from None

    def is_right(self, read: str | None) -> bool:
        """Return whether an answer is right, as `read` returns it. No answer to a poll is."""
        return read == self.solution and not self.poll

    def reason(self, read: str) -> str:
        """Return why an answer is right or wrong; "" if nothing is known."""
        if self.is_right(read):
            return self.why
        if read in self.reasons or self.asked is None:
            return self.reasons.get(read, "")
        return self.asked.check(read).reason

    def _cell(self, given: object) -> str:
        """Return a cell, given as [b, t], as a text such as "B, t = 2"; raises RefusedError unless it is a token."""
        match given:
            case [int(b), int(t)] if not {bool} & {type(b), type(t)} and 0 <= b < len(self.lengths):
                if 0 <= t < self.lengths[b]:
                    return cell_name(b, t)
        raise RefusedError(
            400, "The answer must be the token that was tapped, [sequence, time step], both counted from 0."
        )


def _own_answer(typed: str, form: Form) -> str:
    """Return a number or a text in answer to a teacher's own question; upper and lower case are the same."""
    if form == "text":
        if not typed.strip():
            raise RefusedError(400, "The answer is empty: type a text.")
        return visible(" ".join(typed.casefold().split()))
    try:
        number = float(typed)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise RefusedError(400, f"The answer must be a number, such as 6 or 0.5, not {quoted(typed)}.")
    return f"{number + 0.0:.12g}"  # 0 for -0


def cell_name(b: int, t: int) -> str:
    """Return a cell of the batch as one says it."""
    return f"{sequence_label(b)}, t = {t}"


def _typed(given: object) -> str:
    """Return an answer as one would type it."""
    items: Sequence[object] = given if isinstance(given, list) else [given]
    if all(isinstance(item, int | float | str) and not isinstance(item, bool) for item in items):
        typed = " ".join(map(str, items))
        if len(items) <= MAX_NUMBERS and len(typed) <= MAX_TYPED:
            return typed
    raise RefusedError(
        400,
        f"The answer must be a number, a text of at most {MAX_TYPED} characters, "
        f"or a list of at most {MAX_NUMBERS} numbers.",
    )
