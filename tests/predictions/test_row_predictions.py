"""Questions about rows: torch has every answer, each mistake its reason, and the player asks before it shows."""

import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from row_cases import random_rows
from row_prediction_cases import answer_of, every_row_prediction, rows_of
from seeds import all_of_them, seeds
from test_predictions import PLURAL

import packviz as pv
from packviz.errors import PackvizError
from packviz.show.movie import movie
from packviz.teach.predictions import Answer, Prediction, ask, asking, spelled
from packviz.teach.predictions.kind import QuestionKind
from packviz.teach.predictions.row_facts import RowFacts
from packviz.teach.predictions.rows import ROW_KINDS

SEEDS = seeds(40)
each_seed = pytest.mark.parametrize("seed", SEEDS)
Rows = tuple[tuple[int, ...], ...]
TEXT = "5 1 2 3 4\n2 8\n3 1 7\n9"


def of(text: str = TEXT, **settings: object) -> pv.RowsTrace:
    return pv.trace_rows(pv.Batch.parse(text), pv.RowConfig(**settings))  # type: ignore[arg-type]


@each_seed
def test_every_answer_about_rows_is_what_torch_computes(seed: int) -> None:
    for prediction in every_row_prediction(seed):
        assert prediction.answer == answer_of(rows_of(seed), prediction), prediction


@all_of_them
def test_every_kind_is_asked_with_different_answers() -> None:
    answers = {(each.key, each.answer) for seed in SEEDS for each in every_row_prediction(seed)}
    counts = Counter(key for key, _ in answers)
    assert set(counts) == {kind.key for kind in ROW_KINDS}
    assert min(counts.values()) >= 2, counts


@each_seed
def test_mistakes_about_rows_are_judged_with_their_reasons(seed: int) -> None:
    for prediction in every_row_prediction(seed):
        reasons = {prediction.answer: prediction.why, **{slip.answer: slip.reason for slip in prediction.slips}}
        assert len(reasons) == len(prediction.slips) + 1
        for answer, reason in reasons.items():
            verdict = prediction.check(spelled(answer))
            assert (verdict.right, verdict.reason) == (answer == prediction.answer, reason), prediction


@each_seed
def test_the_sentences_about_rows_are_whole_and_have_no_wrong_plural(seed: int) -> None:
    for prediction in every_row_prediction(seed):
        for text in (prediction.prompt, prediction.hint, prediction.why, *(slip.reason for slip in prediction.slips)):
            assert not PLURAL.search(text), text
            assert not re.search(r"[.?][A-Z]| [.,?]|\{|\.\.| $", text), text
            assert text == "" or (text[-1] in ".?" and re.match("[`0-9A-Z]", text)), text
        assert prediction.single == ("Type the letter of the sequence" in prediction.prompt)
        assert prediction.form == "choice" or len(prediction.answer) <= 64
        assert prediction.example.removeprefix("for example ") != prediction.solution


@pytest.mark.parametrize("strategy", ["ffd", "bfd"])
@pytest.mark.parametrize("kind", ROW_KINDS[2:6], ids=lambda kind: kind.key)
def test_a_question_says_what_the_letters_of_a_strategy_mean(kind: QuestionKind[RowFacts], strategy: str) -> None:
    run = of(max_length=4, strategy=strategy)
    name, letters = re.findall(r"\*\*(.+?)\*\* \((\w+)\)", movie(run, ("fill",)).steps[0].caption)[0]
    asked = kind(run)
    assert asked
    assert f"does {name.lower()} (`{letters}`) " in asked.prompt


@pytest.mark.parametrize("seed", SEEDS[::4])
def test_the_movie_has_the_step_of_every_question_about_rows(seed: int) -> None:
    run = rows_of(seed)
    for moment in {each.moment for each in every_row_prediction(seed)}:
        film = movie(run, (moment.stage,), deep=True)
        played = film.steps[film.step_at(moment.stage, moment.timestep, moment.name) - 1]
        assert (played.stage, moment.name) == (moment.stage, moment.name and played.name)


@pytest.mark.parametrize(("stage", "whole", "one_step"), [
    ("two", {"cu_seqlens", "row_token"}, set()),
    ("fill", {"row_documents", "dropped_from", "dropped_tokens"}, set()),
    ("borders", set(), {"position_ids"}),
    ("attention", set(), {"keys_read", "mask_cells"}),
    ("leak", {"changed_tokens", "changed_documents"}, set()),
])  # fmt: skip
def test_a_stage_of_rows_asks_what_it_shows_and_plays_what_leads_to_it(
    stage: str, whole: set[str], one_step: set[str]
) -> None:
    run = of(max_length=4 if stage == "fill" else 9, isolate=False)
    asked = [ask(run, stage, number) for number in range(6)]
    assert {each.key for each in asked if each} == whole | one_step
    film = asking(movie(run, tuple(dict.fromkeys(("two", stage)))), stage)  # most do not begin at the first step
    start = [step.stage for step in film.steps].index(stage) + 1
    questions = film.to_dict()["questions"]
    assert len(questions) >= len(whole | one_step)
    begins = {question["prompt"]: question["first"] for question in questions}
    assert {each.key for each in asked if each and begins[each.prompt] == start} == whole
    assert all(each["first"] == each["step"] for each in questions if each["first"] != start)


@pytest.mark.parametrize("text", [TEXT, "1 2 3\n4 5\n6 7 8 9\n1 3"])
@pytest.mark.parametrize("strategy", ["ffd", "next_fit"])
def test_a_question_that_compares_the_means_is_answered_where_all_have_been_seen(text: str, strategy: str) -> None:
    run = of(text, max_length=5, strategy=strategy)
    film = asking(movie(run, ("losses",)), "losses")
    questions = [each for each in film.to_dict()["questions"] if "largest weight" in each["prompt"]]
    assert questions
    for question in questions:
        shown = film.steps[question["first"] - 1 : question["step"]]
        assert [step.name for step in shown] == ["tokens", "documents", "rows"]


def test_a_question_about_a_query_goes_to_the_step_of_that_query() -> None:
    run = of("I love cats\nshe sleeps\nwe sing old songs")
    film = asking(movie(run, ("attention",)), "attention")
    asked = [each for number in range(6) if (each := ask(run, "attention", number))]
    asked = list(dict.fromkeys(each for each in asked if each.key == "keys_read"))
    first = {question["prompt"]: question["first"] for question in film.to_dict()["questions"]}
    assert len(asked) > 1
    for prediction in asked:
        assert f"reads **{prediction.solution} key" in film.steps[first[prediction.prompt] - 1].caption


@pytest.mark.parametrize(("settings", "masked"), [
    ({}, True), ({"causal": False}, True), ({"isolate": False}, False), ({"layer": "gru"}, False),
    ({"layer": "conv"}, False), ({"max_length": 5, "strategy": "next_fit"}, False),
])  # fmt: skip
def test_a_question_on_what_leaks_names_the_mask_where_there_is_one(settings: dict[str, Any], masked: bool) -> None:
    run = of("1 2 3 4 5\n6 7 8 9 1" if "max_length" in settings else TEXT, **settings)  # or one document in each row
    for asked in filter(None, (ask(run, "leak", number) for number in range(6))):
        assert (", kept apart by a mask." in asked.prompt) == masked


def test_rows_have_no_direction_to_ask_about_and_no_stage_of_packing() -> None:
    with pytest.raises(PackvizError, match="such a run has no direction"):
        ask(of(), "two", direction=1)
    with pytest.raises(PackvizError, match=r"expected two.* fill.* but got 'pack'"):
        ask(of(), "pack")


@pytest.mark.parametrize(("kind", "typed", "reason"), [
    ("cu_seqlens", "5 2 3 1", "These are the lengths."),
    ("cu_seqlens", "5 7 10 11", "The first sequence begins in cell 0"),
    ("cu_seqlens", "0 4 7 9 10 11", "You added up `batch_sizes`."),
    ("row_count", "4", "With one document in each row there would be 4 rows."),
    ("row_documents", "B", "You kept the order of the batch"),
    ("row_documents", "C", "Row 1 holds more than one document."),
    ("dropped_tokens", "5", "You counted whole documents."),
    ("position_ids", "0 1 2 3", "You went on counting across the borders."),
    ("keys_read", "1", "1 would be the number of tokens before it in its document. It also reads itself."),
    ("mask_cells", "3", "3 would be the cells below the diagonal of each document's block."),
    ("changed_tokens", "2", "You counted everything from this token to the end of the row."),
])  # fmt: skip
def test_a_typical_mistake_about_rows_is_named(kind: str, typed: str, reason: str) -> None:
    prediction = next(each for each in ROW_KINDS if each.key == kind)(of(max_length=4))
    assert prediction is not None
    assert prediction.check(typed).reason.startswith(reason)


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_an_untypical_count_of_keys_is_told_what_to_count(isolate: bool, causal: bool) -> None:
    prediction = next(each for each in ROW_KINDS if each.key == "keys_read")(
        of(max_length=4, isolate=isolate, causal=causal)
    )
    assert prediction is not None
    reason = prediction.check("99").reason
    assert reason.startswith("Count ")
    assert ("own document" in reason, "before" in reason) == (isolate, causal)


@each_seed
def test_no_reason_about_rows_begins_with_a_number(seed: int) -> None:
    assert [each.why for each in every_row_prediction(seed) if each.why[:1].isdecimal()] == []


@each_seed
def test_no_reason_about_rows_counts_zero_or_one_in_figures(seed: int) -> None:
    for prediction in every_row_prediction(seed):
        if prediction.key in ("keys_read", "conv_hit"):
            for text in (prediction.why, *(slip.reason for slip in prediction.slips)):
                assert not re.search(r"the (0|1) token|first 1 |all 1 |, [01] of them|the 1 before", text), text


def test_the_only_token_of_a_later_document_reads_across_the_border() -> None:
    run = of("1 2 3\n4", layer="conv", isolate=False, num_layers=1, kernel_size=3)
    asked = next(each for each in ROW_KINDS if each.key == "conv_hit")(run, 0, anyhow=True)
    assert asked
    assert asked.why.endswith("so the only token of B reads across the border.")


def test_the_only_token_of_a_document_reads_only_itself() -> None:
    run = of("1 2 3\n4", num_layers=1, causal=False)
    kind = next(each for each in ROW_KINDS if each.key == "keys_read")
    asked = [found for number in range(9) if (found := kind(run, number, anyhow=True)) and found.answer == (1,)]
    assert {each.why for each in asked} == {"This is the only token of its document, so it reads only itself."}


@pytest.mark.parametrize(("isolate", "place"), [(True, "its document"), (False, "the row")])
def test_a_first_token_is_said_to_read_only_itself(isolate: bool, place: str) -> None:
    run = of("1 2 3", num_layers=1, isolate=isolate)
    kind = next(each for each in ROW_KINDS if each.key == "keys_read")
    asked = [found for number in range(9) if (found := kind(run, number, anyhow=True)) and found.answer == (1,)]
    assert asked
    assert {each.why for each in asked} == {f"This is the first token of {place}, so it reads only itself."}


@each_seed
def test_who_counted_too_many_is_not_told_to_count_more(seed: int) -> None:
    """Too many outputs, keys or documents: the reason does not say that something changes or is read, too."""
    for prediction in every_row_prediction(seed):
        if prediction.key in ("changed_tokens", "changed_documents", "keys_read"):
            size = count(prediction.answer)
            for slip in prediction.slips:
                if count(slip.answer) > size:
                    assert not re.search(r", too\b|\balso\b|does not end", slip.reason), (prediction.answer, slip)


def count(answer: Answer) -> int:
    """Return the number that an answer gives, or how many letters."""
    numbers = [each for each in answer if isinstance(each, int)]
    return sum(numbers) if numbers else len(answer)


def test_nothing_about_rows_is_asked_of_a_packed_batch() -> None:
    packed = pv.trace(pv.Batch.parse(TEXT))
    assert [kind(packed) for kind in ROW_KINDS] == [None] * len(ROW_KINDS)


def test_a_row_too_long_to_be_named_is_not_asked_about() -> None:
    run = of("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n" * 4)
    assert [kind.key for kind in ROW_KINDS if kind(run)] == ["cu_seqlens", "row_token"]
    assert random_rows(0).rows.max_length > 0


def best_fits(sizes: Sequence[int], C: int, rows: Sequence[tuple[int, ...]] = (), at: int = 0) -> set[Rows]:
    """Return every way to put pieces of these sizes, longest first, into the fullest rows that have room for them."""
    if at == len(sizes):
        return {tuple(rows)}
    rooms = [C - sum(sizes[piece] for piece in row) for row in rows]
    least = min((room for room in rooms if room >= sizes[at]), default=None)
    if least is None:
        return best_fits(sizes, C, [*rows, (at,)], at + 1)
    found = set[Rows]()
    for r, room in enumerate(rooms):
        if room == least:
            found |= best_fits(sizes, C, [*rows[:r], (*rows[r], at), *rows[r + 1 :]], at + 1)
    return found


@each_seed
def test_a_row_that_best_fit_chose_of_equally_full_ones_is_said_to_be_so(seed: int) -> None:
    """Without the sentence, every way to fill the rows gives the row that is asked about the same tokens."""
    draw = random.Random(seed)
    C, lengths = draw.randint(3, 7), [draw.randint(1, 4) for _ in range(draw.randint(4, 8))]
    lengths = [min(length, C) for length in lengths]
    run = of("\n".join(" ".join(["7"] * length) for length in lengths), max_length=C, strategy="bfd", num_layers=1)
    order = sorted(range(len(lengths)), key=lambda b: -lengths[b])
    ways = best_fits([lengths[b] for b in order], C)
    kind = next(each for each in ROW_KINDS if each.key == "row_documents")
    asked = {row_of(found): found for number in range(9) if (found := kind(run, number, anyhow=True))}
    assert asked
    for r, prediction in asked.items():
        there = {frozenset(order[piece] for piece in way[r]) for way in ways}
        assert frozenset(b for b, _, _ in run.rows.rows[r]) in there
        assert ("Of equally full rows, `bfd` takes the one" in prediction.prompt) == (len(there) > 1)


def row_of(prediction: Prediction) -> int:
    return int(re.search(r"row (\d+)", prediction.prompt)[1])  # type: ignore[index]


@pytest.mark.parametrize("strategy", ["bfd", "bfd_split"])
def test_of_equally_full_rows_the_one_that_became_so_first_is_filled(strategy: str) -> None:
    """E finds one free cell in both rows, and row 1 was so full before row 0 was."""
    run = of("\n".join(" ".join(["7"] * n) for n in (6, 4, 4, 2, 1)), max_length=9, strategy=strategy, num_layers=1)
    kind = next(each for each in ROW_KINDS if each.key == "row_documents")
    asked = {row_of(found): found for number in range(4) if (found := kind(run, number, anyhow=True))}
    assert {r: found.answer for r, found in asked.items()} == {0: ("A", "D"), 1: ("B", "C", "E")}
    said = f"Equal lengths keep their order. Of equally full rows, `{strategy}` takes the one that became so first."
    assert all(found.prompt.endswith(said) for found in asked.values())
