"""Prediction: a question about a trace, its answer, and the reasons why the usual wrong answers are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from packviz.show.movie.model import Stage
from packviz.teach.predictions.answers import read_choice, read_letters, read_numbers
from packviz.text import counted

__all__ = ["Answer", "Form", "Moment", "Prediction", "Slip", "Stage", "Verdict", "spelled"]

Answer = tuple[int, ...] | tuple[str, ...] | str  # numbers; letters in the order of the batch, () for none; a choice
Form = Literal["numbers", "choice", "letters"]

# What an answer may look like; the first that is neither the answer nor a typical mistake is shown as an example.
_ONE_NUMBER: list[Answer] = [(n,) for n in (7, 8, 9, 6, 5, 12, 13, 14, 15, *range(70, 77))]
_NUMBERS: list[Answer] = [(n, n, n) for n in (7, 8, 9, 6, 5, 40, 41, 42)]
_ONE_LETTER: list[Answer] = [(letter,) for letter in "XQUHKMYRVW"]
_LETTERS: list[Answer] = [tuple(letters) for letters in ("XY", "QR", "UVW", "HJ", "K", "M")]


@dataclass(frozen=True)
class Slip:
    """Hold a typical wrong answer on this batch, and why it is wrong, in one or two sentences."""

    answer: Answer
    reason: str


@dataclass(frozen=True)
class Moment:
    """Hold where a movie shows why: a stage, and its step of a given name or time step, or else its last step."""

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
    """Hold one question about a trace. All texts are plain, except for `code` in backticks.

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
    single   whether the prompt asks for exactly one letter
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
            formats = _ONE_LETTER if self.single else _LETTERS
        else:
            formats = _NUMBERS if len(self.answer) > 1 else _ONE_NUMBER
        taken = {self.answer, *(slip.answer for slip in self.slips)}
        return f"for example {spelled(next(each for each in formats if each not in taken))}"

    @property
    def solution(self) -> str:
        """Return the right answer as one would type it."""
        return spelled(self.answer)

    def check(self, typed: str) -> Verdict:
        """Judge what was typed: right, a slip with its own reason, or wrong, with the first difference.

        Raises PackvizError for what cannot be read.
        """
        given = self.read(typed)
        if given == self.answer:
            return Verdict(True, self.why)
        for slip in self.slips:
            if given == slip.answer:
                return Verdict(False, slip.reason)
        return Verdict(False, f"{_difference(given, self.answer, self.form)} {self.hint}".strip())

    def read(self, typed: str) -> Answer:
        """Return the answer that was typed. Raises PackvizError for what cannot be read."""
        if self.form == "choice":
            return read_choice(typed, self.choices)
        return read_numbers(typed) if self.form == "numbers" else read_letters(typed, self.letters)


def spelled(answer: Answer) -> str:
    """Return an answer as one would type it: "3 3 2 1", "A C", "none".

    >>> spelled((3, 3, 2, 1))
    '3 3 2 1'
    """
    return answer if isinstance(answer, str) else " ".join(map(str, answer)) or "none"


def _difference(given: Answer, answer: Answer, form: Form) -> str:
    if form == "choice":
        return "That is not what happens."
    if form == "letters":
        extra, missing = len(set(given) - set(answer)), len(set(answer) - set(given))
        counts = {"Letters that do not belong": extra, "Letters missing": missing}
        return " ".join(f"{what}: {count}." for what, count in counts.items() if count)
    if len(given) != len(answer):
        return f"You typed {counted(len(given), 'number')}, but the answer has {counted(len(answer), 'number')}."
    mine, right = [int(number) for number in given], [int(number) for number in answer]
    at = next(i for i, pair in enumerate(zip(mine, right, strict=True)) if pair[0] != pair[1])
    size = f"{mine[at]} is too {'large' if mine[at] > right[at] else 'small'}."
    return size if len(answer) == 1 else f"The first wrong number is entry {at}, counted from 0: {size}"
