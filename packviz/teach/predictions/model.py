"""Prediction: a question about a trace, its answer, and the reasons for the answers that are often given instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from packviz.teach.predictions.reading import read_choice, read_letters, read_numbers
from packviz.text import counted

__all__ = [
    "Answer",
    "Form",
    "Moment",
    "Prediction",
    "Slip",
    "Stage",
    "Verdict",
    "most_telling",
    "slips_beside",
    "slips_naming",
    "spelled",
]

Answer = tuple[int, ...] | tuple[str, ...] | str  # numbers; letters in the order of the batch, () for none; a choice
Form = Literal["numbers", "choice", "letters"]
Stage = Literal["pad", "embed", "sort", "pack", "run", "unpack"]

NUMBERS = tuple(f"for example {' '.join([digit] * 3)}" for digit in ("7", "8", "9", "6", "5", "40", "41", "42"))
NUMBER = tuple(f"for example {number}" for number in (7, 8, 9, 6, 5, 12, 13, 14, 15, 70, 71, 72, 73, 74, 75, 76))
LETTER = tuple(f"for example {letter}" for letter in "XQUHKMYRVW")
LETTERS = (
    "for example X Y",
    "for example Q R",
    "for example U V W",
    "for example H J",
    "for example K",
    "for example M",
)


@dataclass(frozen=True)
class Slip:
    """Hold a typical wrong answer on this batch, and why it is wrong, in one or two sentences."""

    answer: Answer
    reason: str


@dataclass(frozen=True)
class Moment:
    """Hold where a movie shows why: a stage, and in it the step of a name or a time step; without, the last one."""

    stage: Stage
    timestep: int | None = None
    name: str = ""


@dataclass(frozen=True)
class Verdict:
    """Hold whether an answer is right, and the reason."""

    right: bool
    reason: str


@dataclass(frozen=True)
class Prediction:
    """Hold one question about a trace. All texts are plain, but for `code` in backticks.

    key      its kind, as in KINDS
    prompt   the question
    form     typed "numbers", one "choice" of `choices`, or typed "letters" of sequences
    answer   what torch says
    slips    typical wrong answers, different from the answer and from each other
    moment   where a movie shows why
    why      why the answer is right, with this batch's numbers
    hint     where to look, for an answer that is neither right nor a slip
    choices  what can be chosen; () unless the form is "choice"
    letters  the letters of all sequences; () unless the form is "letters"
    single   whether the prompt asks for one letter, not for any number of them
    """

    key: str
    prompt: str
    form: Form
    answer: Answer
    slips: tuple[Slip, ...]
    moment: Moment
    why: str
    hint: str
    choices: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    single: bool = False

    @property
    def example(self) -> str:
        """Return what an answer looks like, never the answer itself, nor a slip; "" for a choice."""
        if self.form == "choice":
            return ""
        if self.form == "letters":
            formats = LETTER if self.single else LETTERS
        else:
            formats = NUMBERS if len(self.answer) > 1 else NUMBER
        taken = {self.answer, *(slip.answer for slip in self.slips)}
        return next(text for text in formats if _shown_in(text, self.form) not in taken)

    @property
    def solution(self) -> str:
        """Return the right answer as one would type it."""
        return spelled(self.answer)

    def check(self, typed: str) -> Verdict:
        """Judge what was typed: right, a slip with its own reason, or wrong, with what differs first.

        Raises PackvizError for what cannot be read.
        """
        given = self._read(typed)
        if given == self.answer:
            return Verdict(True, self.why)
        for slip in self.slips:
            if given == slip.answer:
                return Verdict(False, slip.reason)
        return Verdict(False, f"{_difference(given, self.answer, self.form)} {self.hint}".strip())

    def _read(self, typed: str) -> Answer:
        if self.form == "choice":
            return read_choice(typed, self.choices)
        return read_numbers(typed) if self.form == "numbers" else read_letters(typed, self.letters)


def spelled(answer: Answer) -> str:
    """Return an answer as one would type it: "3 3 2 1", "A C", "none".

    >>> spelled((3, 3, 2, 1))
    '3 3 2 1'
    """
    return answer if isinstance(answer, str) else " ".join(map(str, answer)) or "none"


def slips_beside(answer: Answer, candidates: Iterable[tuple[Answer, str]]) -> tuple[Slip, ...]:
    """Return the slips that this batch can tell from the answer and from each other, the first reason for each."""
    reasons: dict[Answer, str] = {}
    for wrong, reason in candidates:
        if wrong != answer:
            reasons.setdefault(wrong, reason)
    return tuple(Slip(wrong, reason) for wrong, reason in reasons.items())


def slips_naming(candidates: Iterable[tuple[Answer, str]]) -> list[tuple[Answer, str]]:
    """Return the candidates that name a sequence: their reasons speak of those named."""
    return [candidate for candidate in candidates if candidate[0]]


def most_telling(predictions: Sequence[Prediction], number: int) -> Prediction | None:
    """Return the number-th prediction, those that tell most slips apart first, round and round; None without any.

    Where as many are told apart, a moment at t = 0 comes last: much is alike there.
    """
    ranked = sorted(predictions, key=lambda one: (-len(one.slips), one.moment.timestep == 0))
    return ranked[number % len(ranked)] if ranked else None


def _shown_in(example: str, form: Form) -> Answer:
    shown = example.removeprefix("for example ").split()
    return tuple(shown) if form == "letters" else tuple(map(int, shown))


def _difference(given: Answer, answer: Answer, form: Form) -> str:
    if form == "choice":
        return "That is not what happens."
    if form == "letters":
        return _other_letters(set(given), set(answer))
    return _other_numbers([int(number) for number in given], [int(number) for number in answer])


def _other_letters(given: set[object], answer: set[object]) -> str:
    missing, extra = len(answer - given), len(given - answer)
    parts = (
        [f"{'one' if extra == 1 else extra} of yours {'does' if extra == 1 else 'do'} not belong there"]
        if extra
        else []
    )
    parts += [f"{'one is' if missing == 1 else f'{missing} are'} missing"] if missing else []
    told = " and ".join(parts)
    return f"{told[:1].upper()}{told[1:]}."


def _other_numbers(given: list[int], answer: list[int]) -> str:
    if len(given) != len(answer):
        return f"You typed {counted(len(given), 'number')}, but the answer has {counted(len(answer), 'number')}."
    at = next(i for i, (mine, true) in enumerate(zip(given, answer, strict=True)) if mine != true)
    size = f"{given[at]} is too {'large' if given[at] > answer[at] else 'small'}"
    return f"{size}." if len(answer) == 1 else f"The first wrong number is entry {at}, counted from 0: {size}."
