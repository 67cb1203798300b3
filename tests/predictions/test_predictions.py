"""Every answer is torch's own, every typical mistake has its own reason, every moment is a step of its movie."""

import re
from functools import cache
from typing import Any

import pytest
import torch
from prediction_cases import SEEDS, asked, number_in, torch_answer
from trace_cases import made

from packviz.compute.record import Refusal
from packviz.compute.trace import Trace, trace, trace_module
from packviz.inputs.batch import Batch
from packviz.inputs.config import Config
from packviz.show.movie import STAGES, Movie, movie
from packviz.teach.predictions import KINDS, MovieMoment, Prediction, Stage, ask, spelled

FIRST = "1 2 3\n4 5\n6 7 8 9"
BACKWARD = ("joins_backward", "final_backward", "fed_backward")

PLURAL = re.compile(r"(?<![\w.×] )(?<![\w.])1 (sequences|rows|numbers|tokens|steps|cells|columns|lengths|pads)\b")

each_seed = pytest.mark.parametrize("seed", SEEDS)


def of_kind(key: str, seen: Trace, number: int = 0) -> Prediction:
    prediction = KINDS[key](seen, number)
    assert prediction is not None
    return prediction


@cache
def every_prediction(seed: int) -> tuple[Prediction, ...]:
    found = (kind(asked(seed).seen, number) for kind in KINDS.values() for number in range(3))
    return tuple(prediction for prediction in found if prediction is not None)


@each_seed
def test_every_answer_is_what_torch_returns(seed: int) -> None:
    for prediction in every_prediction(seed):
        assert prediction.answer == torch_answer(asked(seed), prediction), prediction
        last = max(*asked(seed).lengths, asked(seed).seen.total_length or 0)
        assert prediction.moment.timestep in (None, *range(last))


@each_seed
def test_right_answers_and_slips_are_judged_with_their_reasons(seed: int) -> None:
    for prediction in every_prediction(seed):
        reasons = {prediction.answer: prediction.why, **{slip.answer: slip.reason for slip in prediction.slips}}
        assert len(reasons) == len(prediction.slips) + 1
        for answer, reason in reasons.items():
            verdict = prediction.check(spelled(answer))
            assert (verdict.right, verdict.reason) == (answer == prediction.answer, reason), prediction


@each_seed
def test_no_reason_begins_with_a_number_since_the_answer_stands_before_it(seed: int) -> None:
    assert [each.why for each in every_prediction(seed) if each.why[:1].isdecimal()] == []


def test_at_a_time_step_that_all_sequences_reach_all_have_a_token() -> None:
    whys = [of_kind("batch_size", made(text)).why for text in ("1 2\n3 4\n5 6", "1 2")]
    assert re.fullmatch(r"All 3 sequences have a token at t = \d\.", whys[0])
    assert re.fullmatch(r"The only sequence has a token at t = \d\.", whys[1])


@each_seed
def test_the_example_shows_the_format_choices_differ_and_one_is_no_plural(seed: int) -> None:
    for prediction in every_prediction(seed):
        for text in (prediction.prompt, prediction.hint, prediction.why, *(slip.reason for slip in prediction.slips)):
            assert not PLURAL.search(text)
        shown = prediction.example.removeprefix("for example ")
        assert (shown == prediction.example == "") == (prediction.form == "choice")
        assert shown not in {prediction.solution, *(spelled(slip.answer) for slip in prediction.slips)}
        assert not prediction.single or len(shown.split()) == 1
        assert prediction.single == ("Type the letter of the sequence" in prediction.prompt)

        wrong = {slip.answer for slip in prediction.slips}
        assert (prediction.choices == ()) == (prediction.form != "choice")
        if prediction.form == "choice":
            assert len(set(prediction.choices)) == len(prediction.choices) >= 2
            assert wrong | {prediction.answer} == set(prediction.choices)
        else:
            assert len(prediction.answer) <= 10  # nobody has to type much


@each_seed
def test_a_lesson_asks_the_same_again(seed: int) -> None:
    seen = asked(seed).seen
    nothing = {
        "embed": seen.padded.embedding is None,
        **dict.fromkeys(("pack", "run", "unpack", "backward"), isinstance(seen, Refusal)),
    }
    for stage in STAGES:
        for number in range(4):
            prediction = ask(seen, stage, number)
            assert prediction == ask(seen, stage, number)
            assert (prediction is None) == nothing.get(stage, False)


@each_seed
def test_each_direction_has_questions_of_its_own_about_the_run_alone(seed: int) -> None:
    seen = asked(seed).seen
    if not seen.module.bidirectional:
        return
    for number in range(6):
        there, back = (ask(seen, "run", number, direction=d) for d in (0, 1))
        assert (there is None) == (back is None) == isinstance(seen, Refusal)
        assert there is None or there.key in ("ended", "final_step")  # the picture has the live rows of each step
        assert back is None or (back.key in BACKWARD and back.prompt.startswith("Going backward"))
    for stage in STAGES:
        assert stage == "run" or ask(seen, stage, 1, direction=1) == ask(seen, stage, 1)


@pytest.mark.parametrize(("key", "text", "typed", "reason"), [
    ("batch_sizes", FIRST, "3 2 4", "These are the lengths, one number for each sequence"),
    ("batch_sizes", FIRST, "4 3 2", "These are the sorted lengths"),
    ("batch_sizes", FIRST, "3 6 8 9", "These are running totals"),
    ("batch_sizes", FIRST, "3 3 2", "The answer has 4 numbers. For each time step"),
    ("batch_sizes", FIRST, "3 3 1 1", "For each time step t from 0 to 3, count"),
    ("batch_size", "1 2\n3 4\n5 6", "2", "Every length is 2."),
    ("batch_size", "1 2", "2", "2 is the length of sequence A."),
    ("packed_row", FIRST, "6", "You read sequence by sequence: 5 rows before C"),
    ("packed_row", FIRST, "5", "You forgot the sort."),
    ("alive", FIRST, "B C", "Time steps are counted from 0"),
    ("live_going_back", FIRST, "A", "A joins at t = 2, but the sequences that joined before it still have a gradient"),
    ("live_going_back", FIRST, "B", "B ends before t = 2. Going back, it joins later, at its own last step."),
    ("live_going_back", FIRST, "A B C", "Not all of them have joined"),
    ("live_going_back", FIRST, "A B", "`batch_sizes[2]` is 2, but it counts the first rows"),
    ("live_going_back", "1 2 3 4 5 6\n1 2 3\n5", "A", "These have a gradient at t = 3. Going back changes the order"),
    ("padded_shape", FIRST, "3 3 1", "3 is the mean of the lengths 3, 2, 4."),
    ("padded_shape", "1 2 3\n4 5 6\n6 7\n1 2 3 4\n5", "5 3 1", "3 is about the mean of the lengths 3, 3, 2, 4, 1."),
    ("padded_shape", FIRST, "3 2 4", "These are the lengths, one number for"),
    ("padded_shape", "1 2 3", "3", "3 is the length of the only sequence."),
])  # fmt: skip
def test_a_typical_mistake_is_named(key: str, text: str, typed: str, reason: str) -> None:
    assert of_kind(key, made(text)).check(typed).reason.startswith(reason)


@pytest.mark.parametrize(("side", "answer", "wrong"), [("right", "0", "what the"), ("left", "what the", "0")])
def test_a_pad_has_a_gradient_only_if_it_was_packed(side: str, answer: str, wrong: str) -> None:
    seen = made(FIRST, padding_side=side)
    prediction = of_kind("pad_gradient", seen)
    t, name = number_in(prediction.prompt), re.findall(r"sequence (\w)", prediction.prompt)[0]
    assert str(prediction.answer).startswith(answer)
    assert ("has no row" in prediction.why) == (side == "right")
    given = next(each for each in prediction.choices if each.startswith(wrong))
    said = prediction.check(given).reason
    assert ("padded run" in said) == (side == "right")
    assert not seen.padded.mask["ABC".index(name), t]


def test_a_batch_without_pads_is_not_asked_for_their_gradient() -> None:
    assert KINDS["pad_gradient"](made("1 2\n3 4"), 0) is None


def test_a_refusal_is_asked_for_and_nothing_after_it() -> None:
    seen = made("1\n2 3", enforce_sorted=True)
    first = ask(seen, "sort")
    assert first is not None
    assert first == ask(seen, "sort", 1)
    assert (first.key, first.answer) == ("enforced", "It raises a RuntimeError.")
    assert first.why.startswith("B (length 2) comes after A (length 1).")
    assert [ask(seen, stage) for stage in ("pack", "run", "unpack")] == [None, None, None]
    assert ask(seen, "pad") is not None


@pytest.mark.parametrize("text", ["1 2 3\n4 5\n6", "1 2\n3\n4 5 6", "1 2\n3 4", "1", "1 2 3\n4\n5"])
def test_batch_sizes_are_not_asked_for_where_the_lengths_would_be_right(text: str) -> None:
    assert [KINDS[key](made(text), 0) for key in ("batch_sizes", "batch_size")] == [None, None]
    asked_here = {prediction.key for n in range(4) if (prediction := ask(made(text), "pack", n))}
    assert asked_here == {"packed_row", "packed_token"} or text == "1"


def test_no_question_about_batch_sizes_is_answered_by_a_length() -> None:
    spoke = 0
    for seed in SEEDS:
        lengths = sorted(asked(seed).lengths, reverse=True)
        for prediction in every_prediction(seed):
            if prediction.key == "batch_sizes":
                assert prediction.answer != tuple(lengths)
            if prediction.key == "batch_size":
                t = number_in(prediction.prompt)
                typical = {asked(seed).lengths[t], lengths[t]} if t < len(lengths) else set()
                assert prediction.answer[0] not in typical
            spoke += prediction.key in ("batch_sizes", "batch_size")
    assert spoke > len(SEEDS)


def test_a_promise_that_was_not_given_is_asked_about_as_one() -> None:
    prediction = of_kind("promised", made(FIRST))
    assert prediction.prompt.startswith("What would `pack_padded_sequence` do with the lengths 3, 2, 4 and")
    assert prediction.answer == "It raises a RuntimeError."
    assert of_kind("promised", made("1 2\n3 4")).answer == "It packs the batch as it is."
    assert KINDS["promised"](made("1 2\n3", enforce_sorted=True), 0) is None
    assert of_kind("enforced", made("1 2\n3", enforce_sorted=True)).prompt.startswith("What does `pack_padded")


@pytest.mark.parametrize("count", [1, 2, 16, 17, 20, 64])
def test_the_sort_of_equal_lengths_is_always_asked_about(count: int) -> None:
    text = "\n".join(["1 2"] * count)
    x, lengths = torch.ones(count, 2, 1), [2] * count
    module = torch.nn.GRU(1, 2, batch_first=True)
    sorts = [made(text), made(text, enforce_sorted=True), trace_module(module, x, lengths)]
    for seen in [*sorts, trace_module(module, x, lengths, enforce_sorted=True)]:
        prediction = ask(seen, "sort")
        assert prediction is not None
        others = any(KINDS[key](seen, 0) for key in ("enforced", "sorted_row", "sorted_indices"))
        assert (prediction.key == "promised") == (not others)
    assert count != 20 or getattr(ask(made(text), "sort"), "key", "") == "promised"


def leads_nowhere(film: Movie, moment: MovieMoment) -> bool:
    played = film.steps[film.step_at(moment.stage, moment.timestep, moment.name) - 1]
    if played.stage != moment.stage:
        return True
    if moment.timestep is None and not moment.name:  # a moment that is meant to be the end of its stage
        return played is not [each for each in film.steps if each.stage == moment.stage][-1]
    by_name = bool(moment.name) and played.name == moment.name
    return not by_name and (moment.timestep is None or played.time != moment.timestep)


def check(seen: Trace, turns: range = range(12)) -> int:
    """Look up every moment in the movie of its lesson: of each stage and direction that this trace has."""
    count = 0
    for stage in STAGES:
        stages: tuple[Stage, ...] = (
            ("pad", "embed") if stage == "pad" and seen.padded.embedding is not None else (stage,)
        )
        for direction in range(2 if seen.module.bidirectional and stage == "run" else 1):
            asked_for = [ask(seen, stage, number, direction=direction) for number in turns]
            moments = {prediction.moment for prediction in asked_for if prediction}
            if moments:
                film = movie(seen, stages, direction=direction, deep=True)
                assert [moment for moment in moments if leads_nowhere(film, moment)] == []
            count += len(moments)
    return count


def wide(lengths: tuple[int, ...] = (200, 3, 130, 128, 129, 7), **settings: Any) -> Trace:
    """Trace lengths of which some are beyond the window of a movie, 60 time steps."""
    return trace(Batch.from_tensors([torch.ones(n, 1) for n in lengths]), Config(hidden_size=1, **settings))


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_the_movie_has_the_step_of_every_moment(seed: int) -> None:
    assert check(asked(seed).seen) > 0


@pytest.mark.slow
def test_it_has_it_where_the_window_is_narrower_than_the_batch() -> None:
    assert check(wide(bidirectional=True, total_length=256), range(0, 120, 9)) > 10
    assert check(wide((150, 150, 150))) > 10
    assert check(made(FIRST, total_length=256)) > 10


@pytest.mark.parametrize("total_length", [None, 4, 6, 256])
def test_the_width_is_shown_by_the_step_on_the_width_where_there_is_one(total_length: int | None) -> None:
    seen = made(FIRST, total_length=total_length)
    film, prediction = movie(seen, ("unpack",), deep=True), ask(seen, "unpack", 1)
    assert prediction is not None
    assert prediction.key == "unpacked_width"
    moment = prediction.moment
    played = film.steps[film.step_at(moment.stage, moment.timestep, moment.name) - 1]
    assert (played.name == "width") == (total_length is not None)
