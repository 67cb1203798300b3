"""The movie of a batch in rows: order of the strip and the row, cells of each token, and the numbers of captions."""

import re
from itertools import accumulate
from typing import Any, get_args

import pytest
import torch
import torch.nn.functional as F
from movie_screen import match
from torch.nn.utils.rnn import pack_sequence

import packviz as pv
from packviz.errors import PackvizError
from packviz.facts.episodes import episodes
from packviz.inputs.borders import BORDER_RULES, starts_by
from packviz.inputs.row_config import Strategy
from packviz.show.movie.rows.spelled import MAX_CELLS
from packviz.teach.predictions.rows import position_ids
from packviz.text import counted, joined, sequence_label

TEXT = "5 1 2 3 4\n2 8\n3 1 7\n9"
STRATEGIES = get_args(Strategy)


def run_of(strategy: Strategy = "bfd") -> Any:
    return pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=4, strategy=strategy))


def tokens(movie: Any, step: int, panel: str) -> list[Any]:
    found = [mark for mark in movie.frame(step)["marks"].values() if mark["role"] == "token" and mark["p"] == panel]
    return sorted(found, key=lambda mark: (mark["y"], mark["x"]))


def test_the_strip_has_torchs_packed_order() -> None:
    run = run_of()
    data = pack_sequence(list(run.batch.sequences), enforce_sorted=False).data
    shown = [int(mark["text"]) for mark in tokens(pv.movie(run, ("two",)), 1, "strip")]
    assert shown == data.int().tolist()


def test_the_row_has_one_sequence_after_another() -> None:
    run = run_of()
    movie = pv.movie(run, ("two",))
    shown = [int(mark["text"]) for mark in tokens(movie, len(movie.steps), "row")]
    assert shown == [int(value) for sequence in run.batch.sequences for value in sequence]


def test_each_step_states_the_next_entry_of_cu_seqlens() -> None:
    run = run_of()
    entry = r"(?:so \*\*cu_seqlens\*\* gets the|The last) entry (?:of \*\*cu_seqlens\*\* is )?(\d+)"
    stated = [re.search(entry, step.caption) for step in pv.movie(run, ("two",)).steps[1:-1]]
    assert [int(found[1]) for found in stated if found] == [*accumulate(map(len, run.batch.sequences))]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_filled_rows_hold_what_fill_rows_says(strategy: Strategy) -> None:
    run = run_of(strategy)
    movie = pv.movie(run, ("fill",))
    shown = [int(mark["text"]) for mark in tokens(movie, len(movie.steps), "rows")]
    pieces = [piece for row in run.rows.rows for piece in row]
    assert shown == [int(value) for b, start, stop in pieces for value in run.batch.sequences[b][start:stop]]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_caption_of_fill_says_what_room_there_is(strategy: Strategy) -> None:
    lengths, C = (5, 2, 3, 1, 4, 3, 2, 4, 1), 5
    batch = pv.Batch.from_tensors([torch.arange(1, n + 1) for n in lengths])
    movie = pv.movie(pv.trace_rows(batch, pv.RowConfig(max_length=C, strategy=strategy)), ("fill",))
    room, opened = list[int](), 0
    for step in movie.steps[1:-1]:
        letter, row = match(r"of \{(\w)\}.* row (\d+)[.,]", step.caption).groups()
        part = re.search(r"[Tt]okens? (\d+)(?: to (\d+))?", step.caption)
        many = int(part[2] or part[1]) - int(part[1]) + 1 if part else lengths[ord(letter) - ord("A")]
        room += [C] * (int(row) == len(room))
        if "no room" in step.caption.lower() or "No row" in step.caption:
            opened += 1
            others = room[:-1] if "No row" in step.caption else [room[int(match(r"^Row (\d+) ", step.caption)[1])]]
            assert int(row) == len(room) - 1
            assert max(others) < many
        room[int(row)] -= many
        free = re.search(r"then has (\d+) free cell", step.caption)
        assert room[int(row)] >= 0
        assert free is None or int(free[1]) == room[int(row)]
        assert ("is then full" in step.caption) <= (room[int(row)] == 0)
    assert (opened > 0) == (strategy in ("next_fit", "first_fit", "ffd", "bfd"))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_last_caption_of_fill_counts_rows_and_cells(strategy: Strategy) -> None:
    rows = run_of(strategy).rows
    caption = pv.movie(run_of(strategy), ("fill",)).steps[-1].caption
    numbers = [int(each) if each.isdecimal() else 0 for each in re.findall(r"\d+|\b[Nn]o\b", caption)]
    dropped = sum(stop - start for _, start, stop in rows.dropped)
    ids = [b for row in rows.rows for b, _, _ in row] + [b for b, _, _ in rows.dropped]
    cut = sum(ids.count(b) > 1 for b in set(ids))
    assert numbers == [len(rows.rows), 4, rows.tokens, rows.padding, dropped, cut]


def test_one_row_that_keeps_everything_is_summed_up_without_zeros() -> None:
    caption = pv.movie(pv.trace_rows(pv.Batch.parse("1 2 3\n4 5\n6")), ("fill",)).steps[-1].caption
    assert caption == (
        "1 row of 6 cells holds 6 tokens, and no cell is free. No token was dropped, and no document was cut."
    )


def test_a_row_of_one_cell_is_named_in_the_singular() -> None:
    steps = pv.movie(pv.trace_rows(pv.Batch.parse("1")), ("fill",)).steps
    assert steps[1].caption.endswith("which is then full.")
    assert steps[-1].caption.startswith("1 row of 1 cell holds 1 token, and no cell is free. ")


def test_a_window_is_stated_in_the_notes() -> None:
    assert "showing 6 of 11 tokens" in pv.movie(run_of(), sequences=2, steps=4).notes


def test_rows_have_no_direction() -> None:
    with pytest.raises(PackvizError, match="direction"):
        pv.movie(run_of(), direction=1)


@pytest.mark.parametrize("head", [-1, 2])
def test_a_head_that_the_run_does_not_have_is_refused(head: int) -> None:
    with pytest.raises(PackvizError, match="head"):
        pv.movie(run_of(), head=head)


def test_a_recurrent_module_has_no_heads() -> None:
    with pytest.raises(PackvizError, match="head"):
        pv.movie(pv.trace(pv.Batch.parse(TEXT)), head=1)


def test_free_cells_belong_to_no_sequence() -> None:
    movie = pv.movie(run_of(), ("fill",))
    free = [mark for mark in movie.frame(len(movie.steps))["marks"].values() if mark["role"] == "pad"]
    assert [mark["seq"] for mark in free] == [None, None]


BORDERED: dict[str, tuple[str, dict[str, Any]]] = {
    "one row": (TEXT, {}),
    "free cells": (TEXT, {"max_length": 14}),
    "one token": ("1 2 3\n4\n5\n6 7", {"max_length": 9}),
    "positions run on": (TEXT, {"reset_positions": False, "causal": False}),
    "several rows": (TEXT, {"max_length": 6, "strategy": "wrapped"}),
    "one document": ("1 2 3", {}),
}
each_border = pytest.mark.parametrize(("text", "settings"), BORDERED.values(), ids=BORDERED)


def borders_of(text: str, settings: dict[str, Any]) -> tuple[Any, Any, int, list[int]]:
    """Return the run, its movie of borders, the row with the most documents, and their lengths."""
    run = pv.trace_rows(pv.Batch.parse(text), pv.RowConfig(**settings))
    row = max(range(len(run.rows.rows)), key=lambda number: len(run.rows.rows[number]))
    return run, pv.movie(run, ("borders",)), row, list(run.rows.lengths[row])


def test_pictures_and_questions_are_of_the_same_row() -> None:
    text = "\n".join(
        ["1 2 3 4"] * 36 + ["5 6"] * 4 + ["7"] * 8
    )  # in rows of 8: 18, then one of 4, then one of 8, hidden
    run = pv.trace_rows(pv.Batch.parse(text), pv.RowConfig(max_length=8, strategy="next_fit", layer="gru"))
    assert [len(row) for row in run.rows.rows] == [2] * 18 + [4, 8]
    for stage in ("borders", "run", "leak"):
        assert "row 18" in pv.movie(run, (stage,)).steps[0].caption.lower(), stage
    question = position_ids(run)
    assert question is not None
    assert "Row 18" in question.prompt
    assert {b for way in episodes(run) for b in way.wrong} == {36, 37, 38, 39}
    assert "Row 19" in pv.movie(run, ("borders",), sequences=48).steps[0].caption


def marks_of(movie: Any, name: str, step: str) -> list[Any]:
    number = movie.step_at("borders", name=step)
    found = [mark for key, mark in movie.frame(number)["marks"].items() if key.partition(":")[0] == f"spelled {name}"]
    return sorted(found, key=lambda mark: (mark["y"], mark["x"]))


@each_border
def test_each_spelling_has_the_numbers_of_the_run(text: str, settings: dict[str, Any]) -> None:
    run, movie, row, lengths = borders_of(text, settings)
    n = sum(lengths)
    for name, ids in (("position_ids", run.position_ids), ("seq_idx", run.document_ids)):
        assert [int(mark["text"]) for mark in marks_of(movie, name, "mask")] == ids[row, :n].tolist()
    offsets = [*marks_of(movie, "cu_seqlens", "mask"), *marks_of(movie, "end", "mask")]
    assert [int(mark["text"]) for mark in offsets] == run.cu_seqlens[row].tolist()
    mask = [mark["text"] == "True" for mark in marks_of(movie, "mask", "mask")]
    assert mask == run.mask[row].flatten().tolist()


@each_border
def test_the_lines_of_borders_turn_each_spelling_into_the_next(text: str, settings: dict[str, Any]) -> None:
    run, movie, row, lengths = borders_of(text, settings)
    space: dict[str, Any] = {"torch": torch, "F": F, "lengths": lengths}
    for step in movie.steps[1:5]:
        ((line, shape),) = step.detail
        name = line.split(" = ")[0]
        exec(line, space)
        assert shape == str(tuple(space[name].shape))
    assert torch.equal(space["position_ids"], run.position_ids[row])
    assert torch.equal(space["seq_idx"], run.document_ids[row])
    assert torch.equal(space["cu_seqlens"], run.cu_seqlens[row])
    assert torch.equal(space["mask"], run.mask[row])
    details = [detail for step in movie.steps[5:-1] for detail in step.detail]
    for rule, (line, shape) in zip(BORDER_RULES, details, strict=True):
        exec(line, space)
        assert torch.equal(space["begins"], starts_by(run.position_ids[row], rule))
        assert shape == str(tuple(space["begins"].shape))


@each_border
def test_the_captions_of_borders_count_documents_tokens_and_pairs(text: str, settings: dict[str, Any]) -> None:
    run, movie, row, lengths = borders_of(text, settings)
    said = {step.name: step.caption for step in movie.steps}
    letters = re.findall(r"{(\w)}", said["row"])
    assert [ord(letter) - ord("A") for letter in letters] == [b for b, _, _ in run.rows.rows[row]]
    longest_first = letters != sorted(letters)
    assert ("longest first" in said["row"]) == longest_first
    assert not longest_first or lengths == sorted(lengths, reverse=True)
    assert ("A pad" in said["position_ids"]) == (run.config.reset_positions and sum(lengths) < run.rows.max_length)
    assert ("run on" in said["position_ids"]) == (not run.config.reset_positions)
    assert f"and then {sum(lengths)}, the number of tokens." in said["cu_seqlens"]
    assert ("earlier tokens" in said["mask"]) == run.config.causal
    numbers = said["end"].partition("length")[2].partition(".")[0]
    assert list(map(int, re.findall(r"\d+", numbers))) == lengths
    found = pv.find_documents(position_ids=run.position_ids[row])
    assert ("position_ids" not in said["end"].partition(" give the same")[0]) == (list(found) != lengths)
    assert bool(re.search("position_ids do not", said["end"])) == (list(found) != lengths)


def test_borders_say_whose_positions_would_be_others_if_they_ran_on() -> None:
    run = pv.trace_rows(pv.Batch.parse(TEXT))
    wrong = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(reset_positions=False))
    said = {step.name: step.caption for step in pv.movie(run, ("borders",)).steps}
    moved = sorted({*wrong.document_ids[0][run.position_ids[0] != wrong.position_ids[0]].tolist()})
    letters = joined([f"{{{sequence_label(wrong.rows.rows[0][d][0])}}}" for d in moved])
    assert said["position_ids"].endswith(
        f"restart at 0 in each document. If they ran on, {letters} would get other positions."
    )
    single = pv.movie(pv.trace_rows(pv.Batch.parse("1 2 3")), ("borders",))
    assert not any("If they ran on" in step.caption for step in single.steps)


@each_border
def test_what_each_rule_finds_is_what_find_documents_finds(text: str, settings: dict[str, Any]) -> None:
    run, movie, row, lengths = borders_of(text, settings)
    ids, starts = run.position_ids[row], run.cu_seqlens[row][:-1].tolist()
    if all(list(pv.find_documents(position_ids=ids, rule=rule)) == lengths for rule in BORDER_RULES):
        caption = movie.steps[movie.step_at("borders", name="rules") - 1].caption
        assert caption.endswith("Here all agree.")
        marked = marks_of(movie, "start", "rules")
        assert [round(mark["x"] / marked[0]["w"]) for mark in marked] == starts
        return
    for rule in BORDER_RULES:
        step = movie.steps[movie.step_at("borders", name=rule) - 1]
        caption, found = step.caption, pv.find_documents(position_ids=ids, rule=rule)
        lengths_found, told = (", ".join(map(str, each)) for each in (found, lengths))
        differ = len(found) == len(lengths) and list(found) != lengths
        stated = f"finds lengths {lengths_found} instead of {told}." if differ else f"finds {len(found)} document"
        begun = starts_by(ids, rule).nonzero().flatten().tolist()
        taken = sum(start >= sum(lengths) for start in begun)
        assert (f"counts pads as {taken} document" if taken else stated) in caption
        assert ("which is right" in caption) == (list(found) == lengths)
        assert ("**fails**" in caption) == (step.tone == "wrong") == (list(found) != lengths)
        assert ("counts pads" in caption) == bool(taken)
        missed = [run.rows.rows[row][d][0] for d, start in enumerate(starts) if start not in begun]
        named = missed if len(found) > 1 else []  # if it finds one document, it misses all others
        assert [ord(letter) - ord("A") for letter in re.findall(r"{(\w)}", caption)] == named
        outlined = marks_of(movie, "start", rule)
        places = [round(mark["x"] / outlined[0]["w"]) for mark in outlined]
        assert places == begun
        assert [mark["tone"] == "good" for mark in outlined] == [start in starts for start in begun]


def test_the_picture_of_the_mask_says_what_true_and_false_mean() -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse(TEXT)), ("borders",))
    kinds, said = marks_of(movie, "kind", "mask"), marks_of(movie, "meaning", "mask")
    assert [mark["text"] for mark in kinds] == ["True", "False"]
    assert [mark["text"] for mark in said] == ["is read", "is not read"]
    assert not marks_of(movie, "meaning", "cu_seqlens")


def test_a_long_row_shows_its_first_cells() -> None:
    run = pv.trace_rows(pv.Batch.parse("\n".join("1 2 3 4 5 6 7" for _ in range(9))))
    movie = pv.movie(run, ("borders",))
    assert len(marks_of(movie, "mask", "mask")) == MAX_CELLS**2
    assert f"row 0: 63 tokens, the first {MAX_CELLS} cells" in str(movie.to_dict())


def test_a_row_is_there_once_something_goes_into_it() -> None:
    movie = pv.movie(run_of(), ("fill",))
    frames = [movie.frame(step)["marks"].values() for step in range(1, len(movie.steps) + 1)]
    rows = [
        {mark["y"] for mark in marks if mark["p"] == "rows" and mark["role"] in ("pad", "token")} for marks in frames
    ]
    assert [len(ys) for ys in rows] == [1, 1, 2, 3, 3, 3]  # how many there will be is what the lesson asks first


@each_border
def test_the_lines_beside_the_picture_run_one_after_another(text: str, settings: dict[str, Any]) -> None:
    run, movie, row, _ = borders_of(text, settings)
    sequences = list(run.batch.sequences)
    space: dict[str, Any] = {"torch": torch, "F": F, "sequences": sequences}
    space["lengths"] = [len(sequence) for sequence in sequences]
    of = {name: movie.code[number] for name, number in movie.lines.items()}
    two, fill, borders = movie.code[:3]
    assert of["borders"] is borders
    for line in (two, fill, borders):
        exec(line.text, space)
    assert two.shape == str(tuple(space["row"].shape))
    assert space["rows"] == run.rows
    assert fill.shape == f"{counted(len(run.rows.rows), 'row')} of {run.rows.max_length}"
    assert torch.equal(space["mask"], run.mask[row])
    assert borders.shape == str(tuple(space["mask"].shape))
    assert len(movie.code) == 4  # and the layer


@pytest.mark.parametrize(
    ("stages", "proof", "exact"),
    [
        (("two",), "the order of the PackedSequence is torch's own", True),
        (("fill",), "packviz fills the rows itself: torch has no function for it", False),
        (("borders",), "packviz computed these borders, and the lines of code make the same ones in torch", False),
        (("attention",), "the outputs come from torch's own scaled_dot_product_attention", True),
        (("losses",), "the losses come from torch's own cross_entropy", True),
        (
            ("two", "attention"),
            "the order of the PackedSequence is torch's own; "
            "the outputs come from torch's own scaled_dot_product_attention",
            True,
        ),
        (
            ("fill", "losses"),
            "the losses come from torch's own cross_entropy; "
            "packviz fills the rows itself: torch has no function for it",
            False,
        ),
        (
            ("borders", "attention"),
            "the outputs come from torch's own scaled_dot_product_attention; "
            "packviz computed these borders, and the lines of code make the same ones in torch",
            False,
        ),
    ],
)
def test_the_proof_is_about_the_stages_shown(stages: Any, proof: str, exact: bool) -> None:
    movie = pv.movie(run_of(), stages)
    assert (movie.proof, movie.exact) == (proof, exact)


def test_the_losses_follow_any_stage_though_a_document_is_cut() -> None:
    run = pv.trace_rows(pv.Batch.example("sentences"), pv.RowConfig(max_length=6, strategy="wrapped"))
    for stage in ("two", "fill", "borders", "attention", "leak"):
        assert [step.stage for step in pv.movie(run, (stage, "losses")).steps][-1] == "losses"


def test_no_caption_has_backticks_and_each_strategy_is_named() -> None:
    captions = [step.caption for text, settings in BORDERED.values() for step in borders_of(text, settings)[1].steps]
    captions += [pv.movie(run_of(strategy), ("fill",)).steps[0].caption for strategy in STRATEGIES]
    assert "`" not in "".join(captions)
    assert (
        "**Best-fit decreasing** (bfd) takes the documents from longest to shortest, and puts each into the fullest row"
        in captions[-2]
    )


@pytest.mark.parametrize("settings", [{}, {"causal": False}, {"max_length": 14}, {"max_length": 14, "causal": False}])
@pytest.mark.parametrize("isolate", [True, False])
def test_the_code_of_attention_makes_the_mask_of_the_run(settings: dict[str, Any], isolate: bool) -> None:
    run = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(isolate=isolate, **settings))
    space: dict[str, Any] = {"torch": torch, "F": F, "lengths": [5, 2, 3, 1]}
    for line in pv.movie(run, ("attention",)).code[1:]:
        exec(line.text.partition("out = ")[0], space)
    assert run.mask is not None
    assert torch.equal(space["mask"], run.mask[0])
