"""A round is the same for everybody and has torch's own answers; a scorecard keeps what was answered and its points."""

import random
import re
from collections import Counter
from functools import cache
from typing import Any

import pytest
import torch
from prediction_cases import Asked, torch_answer
from row_prediction_cases import answer_of
from seeds import all_of_them, many, seeds
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.record import Refusal, Trace
from packviz.compute.rows import RowsTrace, trace_rows
from packviz.compute.trace import trace
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.inputs.row_config import RowConfig
from packviz.show.movie import movie
from packviz.teach.predictions import KINDS, spelled
from packviz.teach.quiz import LEVELS, QuizQuestion, Scorecard, progress_code, questions, read_progress_code

ROUNDS = range(1, max(5, many(15)) + 1)  # of each level: in fewer, not every kind is asked
PLACES = [(level, number) for level in LEVELS for number in ROUNDS]

round_of = cache(questions)


def lengths_of(question: QuizQuestion) -> list[int]:
    """Return the lengths, counted in the text."""
    return [len(line.split()) for line in question.text.splitlines()]


def asked_of(question: QuizQuestion) -> Asked:
    """Return what torch is to be asked: from the text and the settings alone."""
    assert isinstance(question.config, Config)
    assert isinstance(question.trace, Trace | Refusal)
    lengths, features = lengths_of(question), 4 if question.text.split()[0].isalpha() else 1
    return Asked(question.trace, question.config, lengths, max(lengths), features)


LEAST_KINDS = {1: 6, 2: 8, 3: 8, 4: 8, 5: 8}
# The kind of each question in round 12, and the lengths of its batch: links to it must not lead anywhere else.
ROUND_12 = {
    1: "batch_size 3 4 1, alive 3 2 2 1, last_column 4 3 1, enforced 3 5 4, padded_shape 4 3 2, final_step 3 4 2, "
    "packed_token 5 1 4 2, batch_sizes 3 1 2 3, unpacked_width 5 2 4, pad_count 3 1 4",
    2: "padded_shape 6 3 6 5 5, packed_token 1 2 2 3, batch_sizes 3 2 3 2 1 3, enforced 4 4 3 2 2 1, "
    "packed_row 2 1 3 2 2 2, batch_size 2 3 1 1 2 3, ended 2 3 5 2 4, sorted_row 6 6 2 6 6, alive 2 1 1 1 3 1, "
    "pad_count 1 2 3 2",
    3: "fed_backward 2 3 6 6, enforced 1 6 2 8 4, final_backward 4 6 2 1, sorted_row 4 8 6 4, unpacked_width 4 7 1 5, "
    "sorted_indices 1 4 4 2 4 1, joins_backward 4 4 1 2, ended 5 1 7 4, packed_row 5 4 4 2 1, last_column 4 2 3 5 1 4",
    4: "last_label 4 4 2 4, conv_hit 2 1 4, dropped_from 4 6 7, position_ids 1 5 4, mask_cells 3 2 1 3, "
    "cu_seqlens 2 2 3 1, changed_tokens 3 4 1, dropped_tokens 5 1 5 5, document_count 3 3 3 2 3, "
    "changed_documents 3 4 1",
    5: "gradient_enters 1 2 5 6 6, ended 4 4 3 2 1 1, live_going_back 5 3 6 8 3, pad_gradient 5 2 5 1 3 1, "
    "alive 8 7 6 4, final_backward 8 7 7 5 5 3, fed_backward 6 1 6 1 1, last_label 3 2 3 3 1, heavier 3 5 5 5, "
    "joins_backward 4 7 3 7 2",
}

each_level = pytest.mark.parametrize("level", LEVELS)
each_round = pytest.mark.parametrize(("level", "number"), PLACES)


def all_of(level: int) -> list[QuizQuestion]:
    return [question for number in ROUNDS for question in round_of(level, number)]


@each_round
def test_every_question_has_torchs_answer_and_reasons_for_two_others(level: int, number: int) -> None:
    for question in round_of(level, number):
        prediction = question.prediction
        if isinstance(question.trace, RowsTrace):
            assert prediction.answer == answer_of(question.trace, prediction), question
        else:
            assert prediction.answer == torch_answer(asked_of(question), prediction), question
        assert len(prediction.slips) >= 2


@each_round
def test_a_round_asks_many_kinds_and_nothing_twice(level: int, number: int) -> None:
    asked = round_of(level, number)
    kinds = Counter(question.prediction.key for question in asked)
    assert len({(question.text, question.prediction.prompt) for question in asked}) == len(asked) == 10
    assert len(kinds) >= LEAST_KINDS[level]
    assert max(kinds.values()) <= 2


@each_round
def test_no_answer_appears_in_its_question(level: int, number: int) -> None:
    for question in round_of(level, number):
        prediction = question.prediction
        if prediction.form != "numbers":
            continue
        prompt = prediction.prompt.replace("counted from 0", "")
        there = re.findall(r"\d+", f"{prompt} ; {' '.join(question.settings.values())}")
        count = len(prediction.answer)
        shown = [tuple(map(int, there[i : i + count])) for i in range(len(there) - count + 1)]
        assert prediction.answer not in shown, question


@pytest.mark.parametrize(("level", "number"), PLACES[::9])
def test_the_text_and_the_settings_are_enough_to_find_the_answer(level: int, number: int) -> None:
    for question in round_of(level, number):
        kind, prompt = KINDS[question.prediction.key], question.prediction.prompt
        if isinstance(question.config, RowConfig):
            config = eval(f"RowConfig({', '.join(question.settings.values())})", {"RowConfig": RowConfig})
            again: Any = trace_rows(Batch.parse(question.text), config)
        else:
            cell, *others = question.settings.values()
            config = eval(f"Config({', '.join((f'cell={cell[3:].lower()!r}', *others))})", {"Config": Config})
            again = trace(Batch.parse(question.text), config)
        found = [same for turn in range(12) if (same := kind(again, turn)) and same.prompt == prompt]
        assert found
        assert found[0].answer == question.prediction.answer


@each_level
def test_rounds_differ_and_ask_all_kinds_of_their_level(level: int) -> None:
    assert len({tuple(question.text for question in round_of(level, number)) for number in ROUNDS}) == len(ROUNDS)
    assert len({question.prediction.key for question in round_of(level, 1)}) == 10
    assert {question.prediction.key for question in all_of(level)} == set(LEVELS[level].kinds)


def test_every_kind_but_two_of_the_lessons_is_asked_at_some_level() -> None:
    asked = {kind for each in LEVELS.values() for kind in each.kinds}
    assert set(KINDS) - asked == {
        "promised",
        "row_documents",
    }  # of a batch that torch has sorted, and instead of `row_count`


@all_of_them
@pytest.mark.parametrize("level", [1, 2, 3])
def test_what_is_asked_about_enforce_sorted_is_what_is_shown_and_run(level: int) -> None:
    asked = [question for question in all_of(level) if "enforce_sorted" in question.prediction.prompt]
    assert {isinstance(question.trace, Refusal) for question in asked} == {True, False}
    for question in asked:
        assert "`enforce_sorted=True`" in question.prediction.prompt
        assert "enforce_sorted=True" in question.settings.values()
        film = movie(question.trace, question.stages, deep=True)
        (call,) = [line.text for line in film.code if "pack_padded_sequence(" in line.text]
        assert "enforce_sorted=False" not in call
        if question.prediction.key == "enforced":
            refused = question.prediction.answer == "It raises a RuntimeError."
            assert refused == bool(film.steps[-1].error) == asked_of(question).refused()


@each_level
def test_a_round_that_was_shared_stays_the_same(level: int) -> None:
    seen = [(question.prediction.key, *lengths_of(question)) for question in round_of(level, 12)]
    assert ", ".join(" ".join(map(str, each)) for each in seen) == ROUND_12[level]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_the_hidden_states_of_typed_numbers_can_be_told_apart(level: int) -> None:
    runs = [each.trace for each in all_of(level) if each.batch.kind == "numbers"]
    states = [run.output for run in runs if isinstance(run, Trace)]
    assert len(states) > 5
    assert max(float(h.abs().max()) for h in states) < 0.99
    shown = [[tuple(row) for row in (100 * h).round().tolist()] for h in states]  # as two decimals show them
    assert sum(len(set(rows)) for rows in shown) > 0.9 * sum(map(len, shown))


@each_level
def test_the_lengths_are_never_the_batch_sizes(level: int) -> None:
    for question in all_of(level):
        lengths = sorted(lengths_of(question), reverse=True)
        packed = pack_padded_sequence(torch.zeros(len(lengths), lengths[0]), torch.tensor(lengths), True)
        assert packed.batch_sizes.tolist() != lengths, question.text


def test_who_is_live_is_shown_in_the_packing_at_that_time_step() -> None:
    asked = [question for question in all_of(1) if question.prediction.key == "alive"]
    assert asked
    for question in asked:
        film, moment = movie(question.trace, question.stages, deep=True), question.moment
        played = film.steps[film.step_at(moment.stage, moment.timestep, moment.name) - 1]
        assert (played.stage, played.time) == ("pack", question.prediction.moment.timestep)


@all_of_them
@each_level
def test_no_choice_is_nearly_always_the_right_one(level: int) -> None:
    asked = [question.prediction for question in all_of(level)]
    for key in {each.key for each in asked if each.form == "choice"} - {"sorted_indices"}:
        answers = Counter(each.answer for each in asked if each.key == key)
        assert max(answers.values()) / answers.total() < 0.85, (key, answers)


ASKED = round_of(2, 1)
NEW = Scorecard(ASKED)


def wrong(i: int, which: int = 0) -> str:
    return spelled(ASKED[i].prediction.slips[which].answer)


def right(i: int) -> str:
    return ASKED[i].prediction.solution


def played(seed: int) -> tuple[Scorecard, int]:
    """Return a round as somebody leaves it: the questions in their order, up to anywhere."""
    draw, scorecard, at = random.Random(seed), NEW, 0
    for _ in range(draw.randint(0, 40)):
        if at == len(ASKED):
            break
        if scorecard.settled(at):
            at += 1
        elif draw.random() < 0.2:
            scorecard = scorecard.given_up(at)
        else:
            scorecard = scorecard.answered(
                at, right(at) if draw.random() < 0.5 else wrong(at, len(scorecard.tries(at)))
            )
    return scorecard, at


@pytest.mark.parametrize(("form", "spelling"), [
    ("numbers", "  {} "), ("numbers", "[{}]"), ("numbers", "torch.tensor([{}.])"), ("letters", "['{}']"),
    ("letters", "{}."), ("choice", " `{}`"),
])  # fmt: skip
def test_the_same_answer_again_is_no_second_try(form: str, spelling: str) -> None:
    for i, question in enumerate(ASKED):
        if question.prediction.form == form:
            once = NEW.answered(i, wrong(i))
            again = wrong(i) if form == "choice" else wrong(i).replace(" ", ", ")
            assert once.answered(i, spelling.format(again)) is once
            assert once.mark(i) == "open"
    assert form in {question.prediction.form for question in ASKED}


def test_what_cannot_be_read_is_no_try() -> None:
    for i in range(10):
        for typed in ("", "  ", "???"):
            with pytest.raises(PackvizError):
                NEW.answered(i, typed)


def test_where_one_letter_is_asked_for_none_is_not_offered() -> None:
    found = (each for number in ROUNDS for each in round_of(1, number) if each.prediction.single)
    question = next(found)
    for typed in ("7", "none", "?"):
        with pytest.raises(PackvizError, match="one letter from A to") as problem:
            Scorecard((question,)).answered(0, typed)
        assert "none" not in problem.value.fix


@each_level
def test_a_question_is_the_prediction_of_its_number(level: int) -> None:
    for question in round_of(level, 1):
        assert KINDS[question.prediction.key](question.trace, question.number) == question.prediction


def test_another_count_of_numbers_is_no_try_unless_it_is_a_typical_mistake() -> None:
    every = [question for level in LEVELS for number in range(1, 9) for question in round_of(level, number)]
    counting = [each for each in every if each.prediction.form == "numbers"]
    counts = []
    for question in counting:
        asked, scorecard = question.prediction, Scorecard((question,))
        for slip in asked.slips:
            verdict = scorecard.answered(0, spelled(slip.answer)).verdict(0)
            assert verdict is not None
            assert verdict.reason == slip.reason
        known = {len(slip.answer) for slip in asked.slips} | {len(asked.answer)}
        more = " ".join(["7"] * (max(known) + 1))
        with pytest.raises(PackvizError, match="this did not cost you a try") as problem:
            scorecard.answered(0, more)
        assert problem.value.got.startswith(str(len(more.split())))
        assert problem.value.expected == f"{len(asked.answer)} number{'s' * (len(asked.answer) > 1)}"
        counts.append(len(known))
    assert len(counts) > 50
    assert sum(counts) > len(counts) + 10  # some typical mistakes have another count


@pytest.mark.parametrize("seed", seeds(20))
def test_the_points_are_those_of_the_marks_whatever_is_answered(seed: int) -> None:
    draw, scorecard = random.Random(seed), NEW
    tries: dict[int, list[bool]] = {i: [] for i in range(10)}
    given_up: set[int] = set()
    for _ in range(draw.randint(0, 40)):
        i = draw.randrange(10)
        over = len(tries[i]) == 2 or True in tries[i] or i in given_up
        if draw.random() < 0.1:
            scorecard = scorecard.given_up(i)
            given_up |= set() if over else {i}
            continue
        correct = draw.random() < 0.4
        scorecard = scorecard.answered(i, right(i) if correct else wrong(i, min(len(tries[i]), 1)))
        if not over:
            tries[i].append(correct)
    marks = ["first" if t[:1] == [True] else "second" if True in t else "open" for t in tries.values()]
    expected = ["missed" if t == [False, False] or i in given_up else marks[i] for i, t in tries.items()]
    assert list(scorecard.marks) == expected
    assert scorecard.points == 2 * expected.count("first") + expected.count("second")
    assert scorecard.over == ("open" not in expected)


@pytest.mark.parametrize("seed", seeds(20))
def test_a_code_brings_back_a_round_of_the_quiz(seed: int) -> None:
    scorecard, at = played(seed)
    code = progress_code(scorecard, at)
    found = read_progress_code(ASKED, code)
    assert found is not None
    again, there = found
    assert (again.marks, again.points, there) == (scorecard.marks, scorecard.points, at)
    assert again.untouched == scorecard.untouched == (code == "")
    assert progress_code(again, there) == code
    assert len(code) <= len(ASKED) + 1
    for i in range(len(ASKED)):
        assert again.answered(i, right(i)).marks == scorecard.answered(i, right(i)).marks
        assert again.given_up(i).marks == scorecard.given_up(i).marks
        if wrong(i, 1) not in scorecard.tries(i):
            assert again.answered(i, wrong(i, 1)).marks == scorecard.answered(i, wrong(i, 1)).marks


@pytest.mark.parametrize("seed", seeds(40))
def test_no_text_makes_more_than_a_round_could_have(seed: int) -> None:
    draw = random.Random(seed)
    code = "".join(draw.choices("012w-3x ²\n%", weights=(9, 9, 9, 1, 1, 1, 1, 1, 1, 1, 1), k=draw.randint(0, 13)))
    again = read_progress_code(ASKED, code)
    good = re.fullmatch("[012]{0,9}[w-]?|[012]{10}-?", code)
    assert (again is not None) == (good is not None)
    if again is not None:
        assert 0 <= again[1] <= len(ASKED)
        assert again[0].points == sum(int(digit) for digit in code if digit.isdigit())
