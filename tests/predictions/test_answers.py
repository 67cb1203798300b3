"""Answers are read generously or refused with a way out; the player judges them as Prediction.check does."""

import json
import re
import sys
import unicodedata
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prediction_cases import SEEDS, asked
from seeds import many
from trace_cases import made

from packviz.compute.rows import trace_rows
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.row_config import RowConfig
from packviz.predictions import KINDS, Answer, Prediction, Stage, ask, asking, spelled
from packviz.show.movie import STAGES, movie
from packviz.show.movie.kinds import ROWS_MOVIE, movie_kind_of, stages_of
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
    (read_numbers, (3, 2), "tensor([3, 2], device='cuda:0', dtype=torch.int64) | x=[3,2] | x == [3, 2]"),
    (read_numbers, (3, 2, 1), "batch_sizes = tensor([3, 2, 1]) | packed.batch_sizes = [3, 2, 1] | größe = 3 2 1"),
    (read_numbers, (3, 2, 1), "3;2;1 | 3，2、1 | 3. 2. 1.0 | ٣ ٢ ١ | ３ ２ １ | 3\u00a02\x1c1 | 003 +2 1.00"),
    (read_numbers, (-1,), "-1 | \n -1 \t | [-1.]"),
    (read_numbers, (0,), "-0 | 0.0 | 00 | zero | Zero. | row 0 | t=0 | in row zero"),
    (
        read_numbers,
        (2,),
        "row 2 | Row 2. | row two | row = 2 | in row 2 | cell 2 | column 2 | position 2 | 2 rows | two",
    ),
    (
        read_numbers,
        (2,),
        "t=2 | t = 2 | t == 2 | t 2 | at t = 2 | at t=2. | step 2 | time step 2 | At time step 2. | 2.",
    ),
    (read_numbers, (2,), "Two | TWO. | two rows | 2 pads. | 2 tokens | 2 time steps"),
    (read_numbers, (12, 3), "twelve three | [twelve, 3] | 12 and three | twelve and 3"),
    (read_numbers, (3, 2, 1), "3, 2 and 1 | 3, 2, AND 1 | 3 and 2 and 1 | rows 3, 2 and 1"),
    (read_numbers, (4,), "rows 4 | token 4 | tokens 4 | Token 4. | document 4 | key = 4 | 4 positions"),
    (read_abc, ("A", "B"), "A B | a,b | b a | AB | a. b."),
    (read_abc, ("A", "C"), "A and C | ['A', 'C'] | Ａ Ｃ | C.. a"),
    (read_abc, ("A", "B", "C"), "A, B, and C. | all"),
    (read_abc, ("A",), "A A"),
    (read_abc, (), "none | None | - | [] | nobody"),
    (chosen, CHOICES[0], "it SORTS them | It `sorts` them."),
]
READ = {typed: (read, answer) for read, answer, ways in WAYS for typed in ways.split(" | ")}
NO_NUMBERS = ["", "  \n", "thirteen", "2.5", "1e3", "9" * 5000, "1 " * 2000, "[]", "--1", "<b>", "."]
NO_NUMBERS += ["batch sizes = 3", "= 3", "+-3", "-+3", "3-2", "1" * 19, "3 \u200b2", "\ufeff", "tensor([])"]
NO_NUMBERS += ["row", "rows", "t =", "row A", "row 2 step 3", "row 2 or 3", "2 or 3", "2nd", "the second", "second row"]
NO_NUMBERS += ["batch_sizes[2] = 3", "row 2: 3", "about 2", "not 2", "2 rows of 3", "2-3", "two-three", "none", "row -"]
NO_NUMBERS += ["and", "and 3", "3 and", "3 and none", "3 or 2", "tokens 4 of row 2", "token"]
NO_LETTERS = ["", "D", "A D", "1", "A\u202eB\x00", "<script>", "A" * 5000, "nobody knows", "A.B", "A = B", "ß", "1x2"]


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


NUMBERS = ("{}", "[{}]", "tensor([{}], dtype=torch.int64)", "torch.Size([{}])", "{}.", " ( {} , )")
FIRST = "1 2 3\n4 5\n6 7 8 9"
JUDGE = Path(__file__).with_name("judge_answers.js")
PIECES = [*"33210ABC,;[]()x*.-+=٣３ \n", "1.0", "2.5", "none", "and", "all", "Ω"]
PIECES += [
    "row ",
    "t = ",
    "at ",
    "two",
    " rows",
    "tokens ",
    " and ",
    "TEN.",
    "tensor",
    "torch.",
    "Size",
    "sizes = ",
    ", dtype=torch.int64",
    "three",
    "<b>",
    "'",
    "999999999999999999",
]
# how an answer was read, whether it is right, the reason, and whether it counts as a try
Said = tuple[str, bool | None, str, bool]


def said_by_python(prediction: Prediction, typed: list[str]) -> Iterator[Said]:
    before: list[Answer] = []
    for text in typed:
        try:
            verdict, read = prediction.check(text), prediction.read(text)
        except PackvizError as refusal:
            yield "", None, refusal.sentence, False
            continue
        yield spelled(read), verdict.right, verdict.reason, prediction.counts(read, before)
        before.append(read)


def questions(seen: Any, stages: Iterable[Stage] = STAGES) -> Iterator[tuple[Prediction, dict[str, Any]]]:
    """Yield the predictions about a run, each with what a movie carries of it."""
    film = movie(seen, [*stages_of(movie_kind_of(seen), seen)])
    for stage in stages:
        carried = asking(film, stage).to_dict().get("questions", [])
        asked_for = dict.fromkeys(ask(seen, stage, number) for number in range(MAX_ASKED))
        yield from zip(filter(None, asked_for), carried, strict=True)


def judged(cases: Iterable[tuple[Prediction, dict[str, Any], list[str]]]) -> Iterator[tuple[str, Said, Said]]:
    """Yield what was typed, with what Python and the player say to it."""
    told = list(cases)
    given = [{"question": question, "typed": typed} for _, question, typed in told]
    for (prediction, _, typed), verdicts in zip(told, json.loads(node(JUDGE, text=json.dumps(given))), strict=True):
        by_python = said_by_python(prediction, typed)
        for text, said, (read, right, reason, counted) in zip(typed, by_python, verdicts, strict=True):
            yield text, said, (read, right, reason.replace("\N{NO-BREAK SPACE}", " "), counted)


def test_the_player_breaks_no_line_between_a_name_and_its_number() -> None:
    carried = [question for _, question in questions(made(FIRST))]
    told = " ".join(b64decode(question["sealed"]).decode() for question in carried)
    assert "t\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}3" in told
    assert not re.search(r" = \d", told)


# answers to the first question of a kind, one after the other, and whether each counts as a try
TRIES: list[tuple[str, dict[str, bool]]] = [
    ("batch_sizes", {"9 8 7 6": True, "[9, 8, 7, 6]": False, "tensor([9, 8, 7, 6])": False, "9 8 7 5": True}),
    ("batch_sizes", {"9 8": False, "9 8 7 6 5": False, "three": False, "": False, "9 8 7 6": True}),
    ("batch_sizes", {"4 3 2": True, "4, 3, 2": False, "4 3 3": False, "3 3 2 1": True, "[3. 3. 2. 1.]": False}),
    ("pad_count", {"7 7": False, "7": True, "+7.0": False, "3 3": False, "3": True}),
    ("ended", {"A": True, "a.": False, "X": False, "C, A": True, "A and C": False, "none": True, "nobody": False}),
    ("packed_token", {"A": True, "A B": False, "a": False, "C": True}),
    ("last_column", {"its final state": True, "`padding_value`, which was not computed": True}),
]


@pytest.mark.parametrize(("key", "answers"), TRIES)
def test_an_answer_that_was_given_or_has_another_count_of_numbers_is_no_try(key: str, answers: dict[str, bool]) -> None:
    asked_for, question = next(each for each in questions(made(FIRST)) if each[0].key == key)
    said = judged([(asked_for, question, [*answers])])
    assert [(by_python[3], by_player[3]) for _, by_python, by_player in said] == [
        (each, each) for each in answers.values()
    ]


def ways_to_answer(prediction: Prediction) -> list[str]:
    """Return the right answer, all typical mistakes and some other answers, in several spellings."""
    answers = [prediction.answer, *(slip.answer for slip in prediction.slips)]
    if prediction.form == "choice":
        return [str(answer) for answer in answers]
    listed = [", ".join(map(str, answer)) or "none" for answer in answers]
    spellings = ("{}", " ( {} )", "[{}].") if prediction.form == "letters" else NUMBERS
    return [way.format(each) for each in listed for way in spellings]


@pytest.mark.parametrize("settings", [{"max_length": 4}, {"isolate": False}, {"layer": "conv", "isolate": False}])
def test_the_player_judges_answers_about_rows_as_python_does(settings: dict[str, Any]) -> None:
    run = trace_rows(Batch.parse("5 1 2 3 4\n2 8\n3 1 7\n9"), RowConfig(**settings))
    said = list(
        judged((each, question, ways_to_answer(each)) for each, question in questions(run, stages_of(ROWS_MOVIE, run)))
    )
    assert [typed for typed, by_python, by_player in said if by_python != by_player] == []
    assert {right for _, (_, right, *_), _ in said} == {True, False}


@pytest.mark.parametrize("seed", SEEDS[::8])
def test_the_player_judges_the_usual_spellings_as_python_does(seed: int) -> None:
    seen = asked(seed).seen
    said = list(judged((each, question, ways_to_answer(each)) for each, question in questions(seen)))
    assert [typed for typed, by_python, by_player in said if by_python != by_player] == []
    assert {right for _, (_, right, *_), _ in said} == {True, False}


def disagreements(typed: list[str]) -> list[tuple[str, Said, Said]]:
    """Return the texts that Python and the player read, judge or refuse differently, each with what both say."""
    both = {each.form: (each, question, typed) for each, question in questions(made(FIRST)) if each.form != "choice"}
    assert set(both) == {"numbers", "letters"}
    return [each for each in judged(both.values()) if each[1] != each[2]]


def test_the_player_reads_and_refuses_what_python_does() -> None:
    typed = [
        *READ,
        *NO_NUMBERS,
        *NO_LETTERS,
        "and",
        "c and a",
        "CA",
        "007",
        "3 3 2 1.0",
        "7 7",
        "A B C D",
        ",",
        "a x b",
    ]
    assert disagreements(typed) == []


@settings(max_examples=many(3), deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join), min_size=200, max_size=300))
def test_the_player_reads_and_refuses_any_spelling_as_python_does(typed: list[str]) -> None:
    assert disagreements(typed) == []


def test_the_player_reads_the_digits_of_every_script() -> None:
    digits = [sign for sign in map(chr, range(sys.maxunicode)) if unicodedata.category(sign) == "Nd"]
    assert disagreements([f"{digit} -{digit}7" for digit in digits]) == []


@pytest.mark.parametrize("typed", ["none", "A B", "AB", "1", "D"])
def test_where_one_letter_is_asked_for_none_and_two_are_refused(typed: str) -> None:
    prediction = KINDS["packed_token"](made(FIRST))
    assert prediction is not None
    with pytest.raises(
        PackvizError, match=r"we cannot read .* as one letter from A to C[.] Type the letter of a sequence[.]$"
    ):
        prediction.read(typed)
    assert "none" not in prediction.parts["unread"]


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
