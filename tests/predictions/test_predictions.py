"""Every answer is torch's own, and every slip has its own reason."""

import random
import re
from functools import cache
from typing import Any

import pytest
import torch
from prediction_cases import SEEDS, STAGES, asked, named, number_in, torch_answer
from seeds import all_of_them

from packviz.compute.trace import Trace, trace, trace_module
from packviz.errors import PackvizError
from packviz.inputs.batch import Batch, sequence_label
from packviz.inputs.config import Config
from packviz.teach.predictions import KINDS, Answer, Prediction, ask, spelled

TURNS = range(3)
BATCH_SIZES_HEADS = (
    "These are the lengths, one",
    "These are the sorted lengths",
    "These are running totals",
    "These are the packed rows",
    "These count the sequences that",
)

each_seed = pytest.mark.parametrize("seed", SEEDS)


def made(text: str = "1 2 3\n4 5\n6 7 8 9", **settings: Any) -> Trace:
    return trace(Batch.parse(text), Config(**settings))


def of_kind(key: str, seen: Trace, number: int = 0) -> Prediction:
    prediction = KINDS[key](seen, number)
    assert prediction is not None
    return prediction


@cache
def every_prediction(seed: int) -> tuple[Prediction, ...]:
    seen = asked(seed).seen
    made = (kind(seen, number) for kind in KINDS.values() for number in TURNS)
    return tuple(prediction for prediction in made if prediction is not None)


def ways_to_type(prediction: Prediction, answer: Answer) -> list[str]:
    if isinstance(answer, str):
        return [answer, f"  {answer.upper()} ", answer.replace("`", "")]
    parts = [str(part) for part in answer]
    if prediction.form == "letters":
        words = (
            [" ".join(parts), ",".join(parts).lower(), " and ".join(parts)] if parts else ["none", "None", "-", "[]"]
        )
        return [*words, " ".join(reversed(parts)) or "nobody"]
    listed = ", ".join(parts)
    spaced = [" ".join(parts), listed, f"[{listed}]", f"({','.join(parts)},)", f"tensor([{listed}])"]
    return [*spaced, f"torch.Size([{listed}])", f"tensor([{listed}], dtype=torch.int64)", "  ".join(parts) + "\n"]


@each_seed
def test_every_answer_is_what_torch_returns(seed: int) -> None:
    for prediction in every_prediction(seed):
        assert prediction.answer == torch_answer(asked(seed), prediction), prediction


@each_seed
def test_the_right_answer_is_right_however_it_is_typed(seed: int) -> None:
    for prediction in every_prediction(seed):
        for typed in ways_to_type(prediction, prediction.answer):
            verdict = prediction.check(typed)
            assert verdict.right, (prediction.prompt, typed)
            assert verdict.reason == prediction.why


@each_seed
def test_every_slip_is_wrong_and_gets_its_own_reason(seed: int) -> None:
    for prediction in every_prediction(seed):
        answers = [prediction.answer, *(slip.answer for slip in prediction.slips)]
        assert len(set(answers)) == len(answers)
        for slip in prediction.slips:
            for typed in ways_to_type(prediction, slip.answer):
                verdict = prediction.check(typed)
                assert (verdict.right, verdict.reason) == (False, slip.reason), (prediction.prompt, typed)


@each_seed
def test_the_example_shows_the_format_and_no_answer(seed: int) -> None:
    for prediction in every_prediction(seed):
        if prediction.form == "choice":
            assert prediction.example == ""
            continue
        shown = prediction.example.removeprefix("for example ")
        assert shown != prediction.example
        assert shown not in {prediction.solution, *(spelled(slip.answer) for slip in prediction.slips)}
        try:
            verdict = prediction.check(shown)
        except PackvizError:  # letters that this batch does not have
            assert prediction.form == "letters"
        else:
            assert not verdict.right
            assert verdict.reason not in {slip.reason for slip in prediction.slips}


@each_seed
def test_choices_differ_and_have_the_answer_once(seed: int) -> None:
    for prediction in every_prediction(seed):
        if prediction.form == "choice":
            assert len(set(prediction.choices)) == len(prediction.choices) >= 2
            assert prediction.choices.count(str(prediction.answer)) == 1
            assert {slip.answer for slip in prediction.slips} == set(prediction.choices) - {prediction.answer}
        else:
            assert prediction.choices == ()


@each_seed
def test_any_other_answer_is_wrong_and_says_what_differs(seed: int) -> None:
    draw = random.Random(seed)
    for prediction in every_prediction(seed):
        if prediction.form != "numbers":
            continue
        given = tuple(draw.randint(-3, 60) for _ in range(draw.choice((1, len(prediction.answer)))))
        if given in {prediction.answer, *(slip.answer for slip in prediction.slips)}:
            continue
        verdict = prediction.check(" ".join(map(str, given)))
        assert not verdict.right
        if len(given) != len(prediction.answer):
            assert f"but the answer has {len(prediction.answer)} number" in verdict.reason
        else:
            i = next(i for i, number in enumerate(given) if number != prediction.answer[i])
            size = "large" if given[i] > int(prediction.answer[i]) else "small"
            assert f"{given[i]} is too {size}" in verdict.reason


@each_seed
def test_a_lesson_asks_the_same_again_and_only_where_there_is_something_to_ask(seed: int) -> None:
    seen = asked(seed).seen
    for stage in STAGES:
        for number in range(4):
            prediction = ask(seen, stage, number)
            assert prediction == ask(seen, stage, number)
            if stage == "embed":
                assert (prediction is None) == (seen.padded.embedding is None)
            elif stage in ("pack", "run", "unpack"):
                assert (prediction is None) == (seen.error is not None)
            else:
                assert prediction is not None


@each_seed
def test_nobody_has_to_type_much(seed: int) -> None:
    spoke = 0
    for prediction in every_prediction(seed):
        if prediction.form != "choice":
            spoke += 1
            assert len(prediction.answer) <= 10
    assert spoke


@each_seed
def test_texts_are_short_plain_and_complete_sentences(seed: int) -> None:
    for prediction in every_prediction(seed):
        reasons = [prediction.why, *(slip.reason for slip in prediction.slips)]
        for text in [*reasons, *([prediction.hint] if prediction.hint else []), prediction.prompt]:
            plain = re.sub(r"`[^`]*`", "code", text)
            assert not re.search(r"[*<>$~#`\\_|]|  |\. \.|: \.|None\b", plain), text
            assert text.endswith((".", "?")), text
            assert len(text) <= 260, text


@each_seed
def test_reasons_name_the_mistake_that_was_made(seed: int) -> None:
    case = asked(seed)
    for prediction in every_prediction(seed):
        for slip in prediction.slips:
            made = mistakes(case.lengths, prediction, slip.reason)
            assert made is None or slip.answer == made, (prediction.prompt, slip)


def mistakes(lengths: list[int], prediction: Prediction, reason: str) -> Answer | None:
    """Make the mistake that a reason speaks of, from the lengths alone; None for the others."""
    sizes = [sum(length > t for length in lengths) for t in range(max(lengths))]
    if prediction.key == "batch_sizes":
        return {
            "These are the lengths, one": tuple(lengths),
            "These are the sorted lengths": tuple(sorted(lengths, reverse=True)),
            "These are running totals": tuple(sum(sizes[: t + 1]) for t in range(len(sizes))),
            "These are the packed rows": tuple(sum(sizes[:t]) for t in range(len(sizes))),
            "These count the sequences that": tuple(len(lengths) - size for size in sizes),
        }.get(next((head for head in BATCH_SIZES_HEADS if reason.startswith(head)), ""))
    if prediction.key == "packed_row":
        b, t = named(prediction.prompt), number_in(r"time step (\d+)", prediction.prompt)
        if reason.startswith("You read sequence by sequence:"):
            return (sum(lengths[:b]) + t,)
        return (sum(sizes[:t]) + b,) if reason.startswith("You forgot the sort") else None
    if prediction.key == "alive" and reason.startswith("For "):
        t = number_in(r"at t = (\d+)", prediction.prompt)
        return tuple(sequence_label(b) for b, length in enumerate(lengths) if length <= t)
    return None


def test_a_moment_lies_within_the_trace() -> None:
    for seed in SEEDS:
        for prediction in every_prediction(seed):
            t = prediction.moment.timestep
            last = max(*asked(seed).lengths, asked(seed).seen.total_length or 0)
            assert t is None or 0 <= t < last


@all_of_them
def test_the_random_traces_ask_every_kind_in_every_way() -> None:
    everything = [prediction for seed in SEEDS for prediction in every_prediction(seed)]
    assert {prediction.key for prediction in everything} == set(KINDS)
    assert any(prediction.answer == () for prediction in everything)
    assert any(prediction.form == "choice" and prediction.key == "sorted_indices" for prediction in everything)
    assert {p.answer for p in everything if p.key == "last_column"} >= {"its state after its last step"}
    assert len({p.answer for p in everything if p.key == "last_column"}) == 4
    assert {asked(seed).seen.config is None for seed in SEEDS} == {True, False}
    assert any(asked(seed).seen.error for seed in SEEDS)
    assert any(asked(seed).seen.run and asked(seed).seen.packed_is_pad.any() for seed in SEEDS)


def test_batch_sizes_read_as_lengths_are_named() -> None:
    prediction = of_kind("batch_sizes", made())
    assert prediction.answer == (3, 3, 2, 1)
    assert "These are the lengths, one number for each sequence" in prediction.check("3 2 4").reason
    assert "the sorted lengths" in prediction.check("4 3 2").reason
    assert "running totals" in prediction.check("3 6 8 9").reason


def test_packed_rows_read_sequence_by_sequence_are_named() -> None:
    prediction = of_kind("packed_row", made())
    assert "sequence C at time step 1" in prediction.prompt
    assert prediction.check("3").right
    assert prediction.check("6").reason.startswith("You read sequence by sequence: 5 rows before C")
    assert prediction.check("5").reason.startswith("You forgot the sort.")


def test_the_first_question_of_each_lesson_on_the_first_example() -> None:
    first = {stage: ask(made(), stage) for stage in STAGES}
    assert {stage: prediction and (prediction.key, prediction.solution) for stage, prediction in first.items()} == {
        "pad": ("padded_shape", "3 4 1"),
        "embed": None,
        "sort": ("sorted_row", "2"),
        "pack": ("batch_sizes", "3 3 2 1"),
        "run": ("alive", "A C"),
        "unpack": ("last_column", "`padding_value`, a filler that no cell computed"),
    }


def test_successive_questions_differ() -> None:
    for stage, least in (("sort", 4), ("pack", 8), ("run", 8), ("unpack", 4)):
        prompts = [prediction.prompt for number in range(14) if (prediction := ask(made(), stage, number))]
        assert len(set(prompts)) >= least


def test_a_refusal_is_asked_for_and_nothing_after_it() -> None:
    seen = made("1\n2 3", enforce_sorted=True)
    first, second = ask(seen, "sort"), ask(seen, "sort", 1)
    assert first is not None
    assert first == second
    assert (first.key, first.answer) == ("enforced", "It raises a RuntimeError.")
    assert first.why.startswith("B (length 2) comes after A (length 1).")
    assert [ask(seen, stage) for stage in ("pack", "run", "unpack")] == [None, None, None]
    assert ask(seen, "pad") is not None


def test_equal_lengths_that_torch_left_in_no_order_are_never_asked_for() -> None:
    seen = trace(Batch.example("hundred"))
    lengths = seen.padded.lengths.tolist()
    for number in range(12):
        prediction = of_kind("sorted_row", seen, number)
        letters = re.search(r"sequence ([A-Z]+)", prediction.prompt)
        assert letters
        b = next(b for b in range(100) if seen.batch is not None and seen.batch.label(b) == letters[1])
        assert lengths.count(lengths[b]) == 1


def test_a_wrong_number_of_numbers_is_said() -> None:
    reason = of_kind("batch_sizes", made()).check("3 3 2").reason
    assert reason.startswith("You typed 3 numbers, but the answer has 4 numbers.")


def test_the_first_wrong_entry_is_said() -> None:
    reason = of_kind("batch_sizes", made()).check("3 3 1 1").reason
    assert reason.startswith("The first wrong number is entry 2, counted from 0: 1 is too small.")


def test_missing_and_extra_letters_are_counted() -> None:
    prediction = of_kind("alive", made())
    assert prediction.answer == ("A", "C")
    assert prediction.check("B C").reason.startswith("Letters that do not belong: 1. Letters missing: 1.")


def test_an_example_for_one_letter_shows_one() -> None:
    spoke = 0
    for seed in SEEDS:
        for prediction in every_prediction(seed):
            if prediction.form == "letters":
                spoke += 1
                one = "Type the letter of the sequence" in prediction.prompt
                assert not one or len(prediction.example.removeprefix("for example ").split()) == 1
    assert of_kind("packed_token", made()).example == "for example X"
    assert of_kind("alive", made()).example == "for example X Y"
    assert spoke


def test_the_mean_is_called_so_where_it_is_whole() -> None:
    assert "3 is the mean of the lengths 3, 2, 4." in of_kind("padded_shape", made()).check("3 3 1").reason
    nearly = of_kind("padded_shape", made("1 2 3\n4 5 6\n6 7\n1 2 3 4\n5")).check("5 3 1").reason
    assert "3 is about the mean of the lengths 3, 3, 2, 4, 1." in nearly


def test_lengths_typed_as_the_shape_are_named() -> None:
    assert of_kind("padded_shape", made()).check("3 2 4").reason.startswith("These are the lengths, one number for")
    one = of_kind("padded_shape", made("1 2 3")).check("3").reason
    assert one.startswith("3 is the length of the only sequence.")


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
                spoke += 1
                assert prediction.answer != tuple(lengths)
            if prediction.key == "batch_size":
                spoke += 1
                t = number_in(r"\[(\d+)\]", prediction.prompt)
                typical = {asked(seed).lengths[t], lengths[t]} if t < len(lengths) else set()
                assert prediction.answer[0] not in typical
    assert spoke > len(SEEDS)


@each_seed
def test_no_sentence_counts_one_in_the_plural(seed: int) -> None:
    plural = re.compile(r"(?<![\w.×] )(?<![\w.])1 (sequences|rows|numbers|tokens|steps|cells|columns|lengths|pads)\b")
    for prediction in every_prediction(seed):
        for text in (prediction.prompt, prediction.why, prediction.hint, *(slip.reason for slip in prediction.slips)):
            assert not plural.search(text), text


def test_no_sequence_is_picked_where_all_are_equally_long() -> None:
    seen = made("1 2\n3 4\n5 6")
    reasons = [of_kind("batch_size", seen, number).check("2").reason for number in range(2)]
    assert all(reason.startswith("Every length is 2.") for reason in reasons)
    assert of_kind("batch_size", made("1 2")).check("2").reason.startswith("2 is the length of sequence A.")


def test_a_promise_that_was_not_given_is_asked_about_as_one() -> None:
    prediction = of_kind("promised", made())
    assert prediction.prompt.startswith("What would `pack_padded_sequence` do with the lengths 3, 2, 4 and")
    assert prediction.answer == "It raises a RuntimeError."
    assert of_kind("promised", made("1 2\n3 4")).answer == "It packs them as they are."
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


@pytest.mark.parametrize("stage", ["nope", "", None, 3, ["pad"], "Pad"])
def test_a_stage_that_is_none_is_refused(stage: Any) -> None:
    with pytest.raises(PackvizError) as refusal:
        ask(made(), stage)
    assert refusal.value.parameter == "stage"
    assert refusal.value.expected == "pad, embed, sort, pack, run or unpack"


@pytest.mark.parametrize("number", ["x", None, 1.5, True, -1])
def test_a_number_that_counts_nothing_is_refused(number: Any) -> None:
    with pytest.raises(PackvizError) as refusal:
        ask(made(), "pack", number)
    assert refusal.value.parameter == "number"


def test_what_is_no_trace_is_refused() -> None:
    nothing: Any = None
    with pytest.raises(PackvizError) as refusal:
        ask(nothing, "pack")
    assert refusal.value.parameter == "trace"
