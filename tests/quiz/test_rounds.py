"""A round is the same for everybody, asks many kinds of questions, and has torch's own answers."""

import re
from collections import Counter

import pytest
import torch
from prediction_cases import torch_answer
from quiz_cases import PLACES, ROUNDS, asked_of, lengths_of, round_of
from seeds import all_of_them
from torch.nn.utils.rnn import pack_padded_sequence

from packviz.compute.trace import trace
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.show.movie import movie
from packviz.teach.predictions import KINDS
from packviz.teach.quiz import LEVELS, Question

LEAST_KINDS = {1: 6, 2: 8, 3: 8}
# The kind of each question in round 12, and the lengths of its batch: links to it must not lead anywhere else.
ROUND_12 = {
    1: "batch_size 3 4 1, alive 3 2 2 1, last_column 4 3 1, enforced 3 5 4, padded_shape 4 3 2, final_step 3 4 2, "
    "packed_token 5 1 4 2, batch_sizes 3 1 2 3, unpacked_width 5 2 4, pad_count 3 1 4",
    2: "padded_shape 6 3 6 5 5, packed_token 1 2 2 3, batch_sizes 3 2 3 2 1 3, enforced 4 4 3 2 2 1, "
    "packed_row 2 1 3 2 2 2, batch_size 2 3 1 1 2 3, ended 2 3 5 2 4, sorted_row 6 6 2 6 6, alive 2 1 1 1 3 1, "
    "pad_count 1 2 3 2",
    3: "fed_backward 2 3 6 6, enforced 1 6 2 8 4, final_backward 4 6 2 1, sorted_row 4 8 6 4, unpacked_width 4 7 1 5, "
    "sorted_indices 1 4 4 2 4 1, joins_backward 4 4 1 2, ended 5 1 7 4, packed_row 5 4 4 2 1, last_column 4 2 3 5 1 4",
}

each_level = pytest.mark.parametrize("level", LEVELS)
each_round = pytest.mark.parametrize(("level", "number"), PLACES)


def all_of(level: int) -> list[Question]:
    return [question for number in ROUNDS for question in round_of(level, number)]


@each_round
def test_every_question_has_torchs_answer_and_reasons_for_two_others(level: int, number: int) -> None:
    for question in round_of(level, number):
        prediction = question.prediction
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
        there = re.findall(r"\d+", f"{prompt} ; {' '.join(question.settings)}")
        count = len(prediction.answer)
        shown = [tuple(map(int, there[i : i + count])) for i in range(len(there) - count + 1)]
        assert prediction.answer not in shown, question


@pytest.mark.parametrize(("level", "number"), PLACES[::9])
def test_the_text_and_the_settings_are_enough_to_find_the_answer(level: int, number: int) -> None:
    for question in round_of(level, number):
        cell, *others = question.settings
        config = eval(f"Config({', '.join(others)})", {"Config": Config})
        again = trace(Batch.parse(question.text), config)
        kind, prompt = KINDS[question.prediction.key], question.prediction.prompt.replace(cell[3:], "GRU")
        found = [same for turn in range(12) if (same := kind(again, turn)) and same.prompt == prompt]
        assert found
        assert found[0].answer == question.prediction.answer


@each_level
def test_rounds_differ_and_ask_all_kinds_of_their_level(level: int) -> None:
    assert len({tuple(question.text for question in round_of(level, number)) for number in ROUNDS}) == len(ROUNDS)
    assert len({question.prediction.key for question in round_of(level, 1)}) == 10
    assert {question.prediction.key for question in all_of(level)} == set(LEVELS[level].kinds)


def test_every_kind_but_one_is_asked_at_some_level() -> None:
    asked = {kind for each in LEVELS.values() for kind in each.kinds}
    assert set(KINDS) - asked == {"promised"}  # a lesson asks it of a batch that torch has sorted


@all_of_them
@each_level
def test_what_is_asked_about_enforce_sorted_is_what_is_shown_and_run(level: int) -> None:
    asked = [question for question in all_of(level) if "enforce_sorted" in question.prediction.prompt]
    assert {question.trace.error is None for question in asked} == {True, False}
    for question in asked:
        assert "`enforce_sorted=True`" in question.prediction.prompt
        assert "enforce_sorted=True" in question.settings
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


@each_level
def test_the_lengths_are_never_the_batch_sizes(level: int) -> None:
    for question in all_of(level):
        lengths = sorted(lengths_of(question), reverse=True)
        packed = pack_padded_sequence(torch.zeros(len(lengths), lengths[0]), torch.tensor(lengths), True)
        assert packed.batch_sizes.tolist() != lengths, question.text


@all_of_them
@each_level
def test_no_choice_is_nearly_always_the_right_one(level: int) -> None:
    asked = [question.prediction for question in all_of(level)]
    for key in {each.key for each in asked if each.form == "choice"} - {"sorted_indices"}:
        answers = Counter(each.answer for each in asked if each.key == key)
        assert max(answers.values()) / answers.total() < 0.85, (key, answers)
