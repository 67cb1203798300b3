"""Answers are read generously or refused with a way out; the player judges them as Prediction.check does."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prediction_cases import SEEDS, STAGES, asked
from seeds import many
from trace_cases import made

from packviz.compute.trace import Trace
from packviz.errors import PackvizError
from packviz.inputs.batch import sequence_label
from packviz.predictions import Prediction, ask, asking
from packviz.show.movie import movie
from packviz.teach.predictions import MAX_ASKED
from packviz.teach.predictions.prediction import read_choice, read_letters, read_numbers
from player.build import node

CHOICES = ("It `sorts` them.", "It packs.")


def read_abc(typed: Any) -> object:
    return read_letters(typed, "ABC")


def chosen(typed: Any) -> object:
    return read_choice(typed, CHOICES)


WAYS: list[tuple[Callable[[Any], object], object, str]] = [
    (read_numbers, (4, 3, 1), "4 3 1 | 4, 3 1 | [4,3,1] | (4,3,1,) | torch.Size([4, 3, 1])"),
    (read_numbers, (4, 3, 1), "4 x 3 x 1 | 4×3×1 | 4*3*1"),
    (read_numbers, (3, 2), "tensor([3, 2]) | torch.tensor([3, 2]) | tensor([3, 2], dtype=torch.int32) | Size([3, 2])"),
    (read_numbers, (3, 2, 1), "batch_sizes = tensor([3, 2, 1]) | 3;2;1 | 3，2、1 | 3. 2. 1.0 | ٣ ٢ ١"),
    (read_numbers, (-1,), "-1 | \n -1 \t"),
    (read_abc, ("A", "B"), "A B | a,b | b a | AB"),
    (read_abc, ("A", "C"), "A and C | ['A', 'C']"),
    (read_abc, ("A", "B", "C"), "A, B, and C. | all"),
    (read_abc, ("A",), "A A"),
    (read_abc, (), "none | None | - | [] | nobody"),
    (chosen, CHOICES[0], "it SORTS them | It `sorts` them."),
]
READ = {typed: (read, answer) for read, answer, ways in WAYS for typed in ways.split(" | ")}
NO_NUMBERS = ["", "  \n", "three", "3 two", "2.5", "1e3", "9" * 5000, "1 " * 2000, "[]", "--1", "<b>"]
NO_LETTERS = ["", "D", "A D", "1", "A\u202eB\x00", "<script>", "A" * 5000, "nobody knows"]


@pytest.mark.parametrize("typed", READ)
def test_answers_are_read_in_many_spellings(typed: str) -> None:
    read, answer = READ[typed]
    assert read(typed) == answer


def test_a_label_of_two_letters_is_one_sequence() -> None:
    labels = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "AA", "AB"]
    assert read_letters("ab", labels) == ("AB",)
    assert read_letters("a b", labels) == ("A", "B")
    assert read_letters("and", labels) == ()


@pytest.mark.parametrize(("read", "typed"), [
    *((read_numbers, typed) for typed in [*NO_NUMBERS, None]),
    *((read_abc, typed) for typed in NO_LETTERS),
    (chosen, "something else"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused_in_a_short_message(read: Callable[[object], object], typed: object) -> None:
    with pytest.raises(PackvizError) as refusal:
        read(typed)
    assert refusal.value.parameter == "answer"
    assert len(str(refusal.value)) < 200
    assert "\u202e" not in str(refusal.value)


@settings(max_examples=many(300), deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(typed: str) -> None:
    for read in (read_numbers, read_abc, chosen):
        with suppress(PackvizError):
            assert isinstance(read(typed), tuple | str)


FIRST = "1 2 3\n4 5\n6 7 8 9"
JUDGE = Path(__file__).with_name("judge_answers.js")
PIECES = [*"33210ABC,;[]()x*.-+=٣３ \n", "1.0", "2.5", "none", "and", "all", "Ω"]
PIECES += ["tensor", "torch.", "Size", "sizes = ", ", dtype=torch.int64", "three", "<b>", "'", "999999999999999999"]
Said = tuple[bool | None, str]


def said_by_python(prediction: Prediction, typed: str) -> Said:
    try:
        verdict = prediction.check(typed)
    except PackvizError as refusal:
        return None, refusal.sentence
    return verdict.right, verdict.reason


def questions(seen: Trace) -> Iterator[tuple[Prediction, dict[str, Any]]]:
    """Yield the predictions about a trace, each with what a movie carries of it."""
    film = movie(seen)
    for stage in STAGES:
        carried = asking(film, stage).to_dict().get("questions", [])
        asked_for = dict.fromkeys(ask(seen, stage, number) for number in range(MAX_ASKED))
        yield from zip(filter(None, asked_for), carried, strict=True)


def compare(cases: Iterable[tuple[Prediction, dict[str, Any], int, list[str]]]) -> list[Said]:
    """Find that the player says the same as Python to each answer, and return what that was."""
    told = list(cases)
    given = [
        {"question": question, "labels": [sequence_label(b) for b in range(sequences)], "typed": typed}
        for _, question, sequences, typed in told
    ]
    found = json.loads(node(JUDGE, text=json.dumps(given)))
    said = []
    for (prediction, _, _, typed), verdicts in zip(told, found, strict=True):
        for text, verdict in zip(typed, verdicts, strict=True):
            assert tuple(verdict) == said_by_python(prediction, text), (prediction.prompt, text)
            said.append(tuple(verdict))
    return said


def ways_to_answer(prediction: Prediction) -> list[str]:
    """Return the right answer, all typical mistakes and some other answers, in several spellings."""
    answers = [prediction.answer, *(slip.answer for slip in prediction.slips)]
    if prediction.form == "choice":
        return [str(answer) for answer in answers]
    listed = [", ".join(map(str, answer)) for answer in answers]
    ways = ("{}", "[{}]", "tensor([{}], dtype=torch.int64)", "x = torch.Size([{}])", "{}.")
    return [way.format(each) for each in listed for way in ways] + ["7 7", "1", "A B", "none", "999 1 2"]


@pytest.mark.parametrize("seed", SEEDS[::8])
def test_right_answers_mistakes_and_others_are_judged_as_python_judges_them(seed: int) -> None:
    seen, sequences = asked(seed).seen, len(asked(seed).lengths)
    said = compare((each, question, sequences, ways_to_answer(each)) for each, question in questions(seen))
    assert {right for right, _ in said} >= {True, False}


def test_what_is_read_and_what_is_refused_is_the_same_with_the_same_words() -> None:
    typed = [*READ, *NO_NUMBERS, *NO_LETTERS]
    said = compare((each, question, 3, typed) for each, question in questions(made(FIRST)) if each.form != "choice")
    assert {None, False} <= {right for right, _ in said}
    assert len(said) > 500


@settings(max_examples=many(3), deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join), min_size=200, max_size=300))
def test_any_answer_is_judged_the_same(typed: list[str]) -> None:
    both = {each.form: (each, question, 3, typed) for each, question in questions(made(FIRST)) if each.form != "choice"}
    compare(both.values())


def test_the_answer_is_not_in_plain_sight() -> None:
    for prediction, question in questions(made(FIRST)):
        sentences = [prediction.why, *(slip.reason for slip in prediction.slips)]
        assert not [each for each in sentences if each in json.dumps(question, ensure_ascii=False)]


def test_a_movie_of_which_nothing_can_be_asked_stays_as_it_is() -> None:
    film = movie(made("1\n2 3", enforce_sorted=True))
    assert "questions" not in asking(film, "pack").to_dict()
    assert "questions" in asking(film, "sort").to_dict()


def test_nothing_is_asked_that_the_movie_does_not_show() -> None:
    film = movie(made(FIRST), ("pad",))
    assert asking(film, "pack") is film
    assert "questions" in asking(film, "pad").to_dict()
