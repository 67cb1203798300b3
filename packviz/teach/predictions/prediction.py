"""Prediction: a question about a trace, its answer, and the reasons why typical wrong answers are wrong.

What is typed is parsed leniently: "4, 2 1", "[4,2,1]", "torch.Size([3, 4, 1])", "3, 2 and 1", "row 2", "two", "a,b",
"none".
"""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import normalize

from packviz.errors import PackvizError, UnreadAnswerError
from packviz.show.movie.marks import Stage
from packviz.text import Brief, counted, quoted, shown

Answer = tuple[int, ...] | tuple[str, ...] | str  # numbers; letters in the order of the batch, () for none; a choice
Form = Literal["numbers", "choice", "letters"]

# Possible answers; the first that is neither the answer nor a typical mistake is shown as an example.
_ONE_NUMBER: list[Answer] = [(n,) for n in (7, 8, 9, 6, 5, 12, 13, 14, 15, *range(70, 77))]
_NUMBERS: list[Answer] = [(n, n, n) for n in (7, 8, 9, 6, 5, 40, 41, 42)]
_ONE_LETTER: list[Answer] = [(letter,) for letter in "XQUHKMYRVW"]
_LETTERS: list[Answer] = [tuple(letters) for letters in ("XY", "QR", "UVW", "HJ", "K", "M")]

MAX_CHARACTERS = 2000


# How a typed answer is read, here and in player/answers.js, which gets these patterns and words.
_NUMERALS = ("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN", "ELEVEN", "TWELVE")
_NUMBER_WORDS = {word: n for n, word in enumerate(_NUMERALS)}
_NUMBER_FOLLOWS = rf"(?=[+-]?\d|(?:{'|'.join(_NUMERALS)})\b)"
_NOUN = r"(?:(?:time )?step|row|cell|column|position|pad|token|key|output|document|sequence)s?"
_SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ufeff]+")  # white space and control characters
_SKIPPED: Mapping[Form, str] = {
    "numbers": "|".join([
        r"^[^ =,;:()\[\]{}+*\d-][^ =,;:()\[\]{}+*-]* ?==? ?",  # batch_sizes =
        rf"^(?:(?:in|at) )?(?:{_NOUN}|t)(?: ?==?)? ?{_NUMBER_FOLLOWS}",  # row 2, at t = 2
        rf" {_NOUN}\.?$",  # 2 rows
        rf" and {_NUMBER_FOLLOWS}",  # 3, 2 and 1
        r"\b(?:torch ?\. ?)?(?:tensor|size|longtensor)\b",
        r", ?(?:dtype|device) ?=[^,()\[\]]*",
        r"(?<=\d) ?[x×*] ?(?=\d)",  # 4 x 3
        r"""[,;、()\[\]{}'"]""",
    ]),
    "letters": r"""[,;、()\[\]{}'"]|\.+(?= |$)""",
}  # fmt: skip
_INTEGER = r"([+-]?\d{1,18})(?:\.0*)?"
_NOBODY = ("NONE", "NOBODY", "NOTHING", "-", "–", "—", "∅")


@dataclass(frozen=True)
class Slip:
    """A typical wrong answer on this batch, and why it is wrong, in one or two sentences."""

    answer: Answer
    reason: str


@dataclass(frozen=True)
class MovieMoment:
    """Where a movie shows why: a stage, and its step with a given name or time step, or else its last step."""

    stage: Stage
    timestep: int | None = None
    name: str = ""
    whole: bool = False  # whether the stage is played up to that step, because all its steps lead to the answer
    since: str = ""  # the name of the step from which it is played up to that step, if not all of them do


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and the reason."""

    right: bool
    reason: str


@dataclass(frozen=True, repr=False)
class Prediction(Brief):
    """One question about a trace. All texts are plain, except for `code` in backticks."""

    key: str  # its kind, as in KINDS
    prompt: str  # the question
    form: Form  # typed "numbers", one "choice" of `choices`, or typed "letters" of sequences
    answer: Answer  # what torch says
    slips: tuple[Slip, ...]  # typical wrong answers, different from the answer and from each other
    moment: MovieMoment  # where a movie shows why
    why: str  # why the answer is right, with this batch's numbers
    hint: str  # where to look, for an answer that is neither right nor a slip
    choices: tuple[str, ...] = ()  # what can be chosen; () unless the form is "choice"
    letters: tuple[str, ...] = ()  # the letters of all sequences; () unless the form is "letters"
    single: bool = False  # whether the prompt asks for exactly one letter
    place: Any = None  # of the run at which it is asked, as its kind has it

    @property
    def example(self) -> str:
        """Return an example of the format, never the answer itself or a slip; "" for a choice."""
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
        """Return the right answer as typed."""
        return spelled(self.answer)

    @property
    def otherwise(self) -> str:
        """Return the reply to a wrong answer that is not a slip."""
        return self.hint or "That is not the answer."

    @property
    def miscounted(self) -> str:
        """Return the reply to such an answer with too few or too many parts; as `otherwise` unless it is numbers."""
        if self.form != "numbers":
            return self.otherwise
        return f"The answer has {counted(len(self.answer), 'number')}. {self.hint}".strip()

    @property
    def parts(self) -> Mapping[str, Any]:
        """Return how the player reads what is typed, so that it takes and refuses what `read` does.

        skipped: a regular expression for what stands between the parts. one: for one part; its group is what counts.
        words: in capitals, with what each stands for. unread: the message for anything else, with a blank
        for it. single: whether it must be one letter.
        """
        letters = self.form == "letters"
        return {
            "skipped": _SKIPPED.get(self.form, ""),
            "one": f"({'|'.join(self.letters)})" if letters else _INTEGER,
            "words": _words(self.letters) if letters else {word: [str(n)] for word, n in _NUMBER_WORDS.items()},
            "unread": _refusal("{got}", self._wanted).sentence,
            "single": self.single,
        }

    @property
    def _wanted(self) -> tuple[str, str]:
        if self.form == "letters":
            return _wanted_letters(self.letters, single=self.single)
        return _wanted_numbers(single=len(self.answer) == 1)

    def check(self, typed: str) -> Verdict:
        """Judge what was typed. Raises PackvizError for anything that cannot be read."""
        return self.judge(self.read(typed))

    def judge(self, given: Answer) -> Verdict:
        """Judge an answer as `read` returns it: right, a slip with its own reason, or wrong, with a hint."""
        if given == self.answer:
            return Verdict(True, self.why)
        reasons = {slip.answer: slip.reason for slip in self.slips}
        otherwise = self.otherwise if len(given) == len(self.answer) else self.miscounted
        return Verdict(False, reasons.get(given) or otherwise)

    def counts(self, given: Answer, before: Container[Answer] = ()) -> bool:
        """Return whether an answer counts as a try; `counts` in player/answers.js says the same.

        An answer that was given before does not, nor does a wrong count of numbers unless that is a typical mistake.
        All of them are as `read` returns them.
        """
        known = given == self.answer or any(given == slip.answer for slip in self.slips)
        return given not in before and (known or self.form != "numbers" or len(given) == len(self.answer))

    def read(self, typed: str) -> Answer:
        """Return the answer that was typed. Raises PackvizError for anything that cannot be read."""
        if self.form == "choice":
            return read_choice(typed, self.choices)
        if self.form == "letters":
            return read_letters(typed, self.letters, single=self.single)
        return read_numbers(typed, single=len(self.answer) == 1)


def spelled(answer: Answer) -> str:
    """Return an answer as typed: "3 3 2 1", "A C", "none".

    >>> spelled((3, 3, 2, 1))
    '3 3 2 1'
    """
    return answer if isinstance(answer, str) else " ".join(map(str, answer)) or "none"


def read_numbers(typed: str, *, single: bool = False) -> tuple[int, ...]:
    """Return the integers in a text. Raises PackvizError if there are none, or anything else.

    single: whether the message asks for one.

    >>> read_numbers("tensor([3, 2])")
    (3, 2)
    """
    wanted = _wanted_numbers(single=single)
    text = _legible(typed, wanted)
    parts = _parts(text, "numbers")
    numbers = [_number(part) for part in parts]
    if not parts or None in numbers:
        raise _refusal(quoted(parts[numbers.index(None)] if parts else text), wanted)
    return tuple(number for number in numbers if number is not None)


def read_letters(typed: str, letters: Sequence[str], *, single: bool = False) -> tuple[str, ...]:
    """Return the sequences named in a text in the order of `letters`, () for none. Raises PackvizError for others.

    single: whether it must be exactly one.

    >>> read_letters("c, a", "ABC")
    ('A', 'C')
    """
    letters = tuple(letters)
    wanted = _wanted_letters(letters, single=single)
    text = _legible(typed, wanted)
    named = set[str]()
    for word in _parts(text, "letters"):
        meant = _named(word.upper(), letters)
        if meant is None:
            raise _refusal(quoted(word), wanted)
        named.update(meant)
    if single and len(named) != 1:
        raise _refusal(quoted(text), wanted)
    return tuple(letter for letter in letters if letter in named)


def read_choice(typed: str, choices: Sequence[str]) -> str:
    """Return the choice that a text names, ignoring case and backticks. Raises PackvizError if it is none of them."""
    plain = {_plain(choice): choice for choice in choices}
    wanted = "one of the choices", "choose one of them"
    text = _plain(_checked(typed, wanted))
    if text not in plain:
        raise _refusal(quoted(typed), wanted)
    return plain[text]


def _wanted_numbers(*, single: bool) -> tuple[str, str]:
    """Return what is expected as numbers, and how to type it."""
    if single:
        return "one whole number", "type it in digits, such as 7"
    return "whole numbers", "type digits with spaces between, such as 7 7 7"


def _wanted_letters(letters: Sequence[str], *, single: bool) -> tuple[str, str]:
    """Return what is expected as letters, and how to type it."""
    reach = letters[0] if len(letters) == 1 else f"{letters[0]} to {letters[-1]}"
    if single:
        expected = f"the letter {reach}" if len(letters) == 1 else f"one letter from {reach}"
        return expected, "type the letter of a sequence"
    return f"letters, {reach}, or none", "type letters separated by spaces, or the word none"


def _number(part: str) -> int | None:
    """Return the integer that a part stands for, in digits or as a word; None if it is none."""
    found = re.fullmatch(_INTEGER, part, re.ASCII)
    return int(found[1]) if found else _NUMBER_WORDS.get(part.upper().rstrip("."))


def _named(word: str, letters: Sequence[str]) -> Sequence[str] | None:
    """Return the sequences that a word in capitals names: itself, none, all, or each letter; None for others."""
    if word in letters:
        return [word]
    meant = _words(letters).get(word)
    return meant if meant is not None else list(word) if set(word) <= set(letters) else None


def _words(letters: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the words that stand for none or all of the sequences, in capitals."""
    return {**dict.fromkeys((*_NOBODY, "AND"), ()), "ALL": letters}


def _parts(text: str, form: Form) -> list[str]:
    return re.sub(_SKIPPED[form], " ", text, flags=re.ASCII | re.IGNORECASE).split()


def _legible(typed: object, wanted: tuple[str, str]) -> str:
    """Return what was typed in plain characters: digits of all scripts as 0 to 9, full-width signs as usual ones."""
    text = normalize("NFKC", _checked(typed, wanted))
    return _SPACE.sub(" ", "".join(str(int(sign)) if sign.isdecimal() else sign for sign in text)).strip()


def _plain(choice: str) -> str:
    return " ".join(choice.replace("`", "").lower().split()).rstrip(".")


def _checked(typed: object, wanted: tuple[str, str]) -> str:
    if not isinstance(typed, str):
        raise _refusal(shown(typed), wanted)
    if not _SPACE.sub("", typed):
        raise _refusal("nothing", wanted)
    if len(typed) > MAX_CHARACTERS:
        raise _refusal(f"a text of {len(typed)} characters", wanted)
    return typed.strip()


def _refusal(got: str, wanted: tuple[str, str]) -> PackvizError:
    """Return the error for an answer; wanted: what was expected, and how to fix it."""
    expected, fix = wanted
    return UnreadAnswerError("answer", expected=expected, got=got, fix=fix)
