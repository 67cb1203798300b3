"""What runs over a row and what leaks: the sentences, numbers and outlines of the movie, recomputed from the run."""

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from row_cases import cross, random_rows
from seeds import seeds
from torch import nn
from torch.nn.utils.rnn import pack_sequence, unpack_sequence

import packviz as pv
from packviz.facts.row_leaks import ROUNDING, leak_in
from packviz.text import sequence_label, two_decimals

TEXT = "5 1 2 3\n2 8 7\n3\n1 7 4 9 6"
RECURRENT = ("rnn", "gru", "lstm")


def run_of(**settings: Any) -> Any:
    return pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(dtype="float64", **settings))


def shown(run: Any) -> tuple[Any, Any, list[list[Any]]]:
    """Return the movie, the row that it shows, and its documents: letter, place of the first token, and length."""
    movie = pv.movie(run, ("leak",) if run.config.layer == "attention" else ("run", "leak"))
    row = max(range(len(run.rows.rows)), key=lambda r: len(run.rows.rows[r]))
    return movie, row, [[sequence_label(b), start, stop - start] for b, start, stop in run.rows.rows[row]]


def told(movie: Any, name: str) -> str:
    return str(movie.steps[movie.step_at("leak", name=name) - 1].caption.replace("**", ""))


def tokens_in(caption: str) -> set[tuple[str, int]]:
    """Return the tokens that a caption names; none if it leaves some out."""
    if " more" in caption:
        return set()
    found = set()
    for numbers, letter in re.findall(r"[Tt]okens? ([\d, and to]+?) of \{(\w+)\}", caption):
        ends = list(map(int, re.findall(r"\d+", numbers)))
        found |= {(letter, t) for t in (range(ends[0], ends[1] + 1) if "to" in numbers else ends)}
    return found


def named(tokens: torch.Tensor, documents: list[list[Any]]) -> set[tuple[str, int]]:
    """Return the tokens of a row, (n,) bool, by letter and place."""
    places = [(letter, start + i) for letter, start, length in documents for i in range(length)]
    return {place for place, there in zip(places, tokens.tolist(), strict=True) if there}


@pytest.mark.parametrize("seed", seeds(40))
def test_every_sentence_on_alone_and_influence_holds(seed: int) -> None:
    run = random_rows(seed)
    movie, row, documents = shown(run)
    n = sum(length for *_, length in documents)
    bound = ROUNDING[run.config.dtype] * max(1.0, max(float(each.abs().max()) for each in run.alone[row]))
    last = told(movie, f"layer {len(run.layers) - 1}")
    apart = torch.cat(run.difference[row])
    differs = apart > bound
    changed = {letter for letter, _ in named(differs, documents)}
    assert ("the two runs differ at token" in last) == (len(changed) == 1)
    assert ("the two runs differ in {" in last) == (len(changed) > 1)
    assert ("which is rounding" in last) == bool(apart.any() and not differs.any())
    assert (
        movie.steps[movie.step_at("leak", name=f"layer {len(run.layers) - 1}") - 1].tone == "wrong"
    ) == differs.any()
    if " more" not in last and len(changed) == 1:
        assert tokens_in(last) == named(differs, documents)
    if " more" not in last:
        assert {*re.findall(r"\{(\w+)\}", last)} == changed
    assert ("exactly" in last) == (not apart.any())
    if apart.any():
        assert f"{two_decimals(float(apart.max().double()))}" in last
    influence, owner = run.influence[row, :n, :n], run.document_ids[row, :n]
    for d, (letter, *_) in enumerate(documents):
        by = [documents[k][0] for k in sorted({*owner[(influence[owner == d] != 0).any(0)].tolist()} - {d})]
        caption = told(movie, f"document {d}")
        assert caption.startswith(f"The outputs of {{{letter}}} depend on tokens of")
        read = re.findall(r"\{(\w+)\}", caption)[1:]
        assert read == (by or [letter])[: len(read)]
        assert len(read) in (len(by) or 1, 4)


@pytest.mark.parametrize("seed", seeds(40))
def test_the_verdict_fits_what_the_row_lacks(seed: int) -> None:
    run = random_rows(seed)
    movie, row, documents = shown(run)
    caption, c = told(movie, "verdict"), run.config
    leaks = bool((run.influence[row] != 0)[cross(run)[row]].any())
    if len(documents) == 1 and c.reset_positions:
        assert caption == "The row holds one document, so nothing can leak."
    elif leaks:
        assert caption.startswith("This row leaks: ")
        assert not c.isolate
        fix = {"attention": "A block mask keeps", "conv": "Cut the row"}.get(
            c.layer, "Reset the state, or run a Packed"
        )
        assert fix in caption
    else:
        later = len(documents) > 1 and not c.reset_positions and c.layer == "attention" and c.positions == "learned"
        assert caption.startswith("The positions run on: ") == later
        if later:
            assert f"starts at {documents[0][2]}, not at 0" in caption
            assert c.isolate
    assert "That changes outputs" not in caption or leak_in(run, row).hit.any()


@pytest.mark.parametrize(("kernel_size", "num_layers"), [(2, 1), (4, 1), (3, 2), (9, 1)])
def test_a_convolution_hits_the_first_tokens_of_each_later_document(kernel_size: int, num_layers: int) -> None:
    run = run_of(layer="conv", isolate=False, kernel_size=kernel_size, num_layers=num_layers, strategy="wrapped")
    movie, row, documents = shown(run)
    caption, reach = told(movie, "verdict"), (kernel_size - 1) * num_layers
    hit = {(letter, t) for letter, _, length in documents[1:] for t in range(min(reach, length))}
    assert named(leak_in(run, row).differs[-1], documents) == hit
    assert {*re.findall(r"\{(\w+)\}", told(movie, f"layer {num_layers - 1}"))} == {letter for letter, _ in hit}
    assert f"reaches up to {reach} token{'s' * (reach > 1)} into each later document. Cut the row" in caption


@pytest.mark.parametrize("settings", [
    {}, {"positions": "rope", "reset_positions": False}, {"layer": "gru"}, {"layer": "lstm"}, {"layer": "rnn"},
    {"layer": "conv"},
])  # fmt: skip
def test_with_the_right_border_the_verdict_is_no_leak(settings: dict[str, Any]) -> None:
    run = run_of(**settings)
    caption, found = told(shown(run)[0], "verdict"), leak_in(run, 0)
    assert caption.startswith("Nothing leaks")
    assert ("A difference of ≈ 0 is rounding" in caption) == (not settings and bool((found.difference[-1] != 0).any()))
    assert not found.crossing.any()
    assert float(found.difference.max()) <= 1e-13


@pytest.mark.parametrize("layer", ["attention", "gru", "conv"])
def test_the_lesson_shows_the_leak_before_what_prevents_it(layer: str) -> None:
    run, leaking = run_of(layer=layer), run_of(layer=layer, isolate=False)
    movie = pv.movie(run, ("leak",), deep=True)
    names = [step.name for step in movie.steps]
    assert names == ["before", "without", "reached", "layer 0", "verdict", "end"]
    assert [step.tone for step in movie.steps] == ["", "wrong", "wrong", "", "", ""]
    assert f"by up to {two_decimals(float(torch.cat(leaking.difference[0]).max()))}." in told(movie, "without")
    letters = [letter for letter, *_ in shown(run)[2]]
    reached = (leaking.influence[0] != 0)[:, run.document_ids[0] == 0].any(1)
    others = [letters[d] for d in run.document_ids[0][reached].unique().tolist() if d]
    assert re.findall(r"\{(\w+)\}", told(movie, "reached")) == [letters[0], *others]
    for name, hits in (("reached", leak_in(leaking, 0).crossing), ("verdict", leak_in(run, 0).crossing)):
        marks = movie.frame(movie.step_at("leak", name=name))["marks"].values()
        red = [mark for mark in marks if mark["role"] == "mark" and mark["p"] == "influence" and mark["shown"]]
        assert bool(red) == bool(hits.any())
    assert re.match(r"Without .*, .* leaked\. With (it|one|them), .* exactly 0", told(movie, "verdict"))


@pytest.mark.parametrize("settings", [{"isolate": False}, {"layer": "conv", "kernel_size": 1}], ids=str)
def test_where_nothing_can_be_taken_away_the_lesson_shows_the_run_alone(settings: dict[str, Any]) -> None:
    names = [step.name for step in pv.movie(run_of(**settings), ("leak",), deep=True).steps]
    assert "document 0" in names
    assert "without" not in names


def test_alone_by_layer_ends_with_alone() -> None:
    for layer in (*RECURRENT, "conv", "attention"):
        run = run_of(layer=layer, num_layers=2, isolate=False)
        assert torch.equal(leak_in(run, 0).alone[-1], torch.cat(run.alone[0]))


@pytest.mark.parametrize("seed", seeds(40))
def test_every_step_of_the_run_says_what_is_read_and_how_far_it_is(seed: int) -> None:
    run = random_rows(seed, layer=(*RECURRENT, "conv")[seed % 4])
    movie, row, documents = shown(run)
    c, apart = run.config, torch.cat(run.difference[row])
    bound = ROUNDING[c.dtype] * max(1.0, max(float(each.abs().max()) for each in run.alone[row]))
    owner = [d for d, (*_, length) in enumerate(documents) for _ in range(length)]
    steps = [step for step in movie.steps if step.stage == "run"][1:]
    assert [step.time for step in steps] == list(range(len(owner)))
    for cell, step in enumerate(steps):
        letter, start, _ = documents[owner[cell]]
        place, caption = start + cell - owner.index(owner[cell]), step.caption.replace("**", "")
        if c.layer == "conv":
            reads = list(range(max(0, cell - c.kernel_size + 1), cell + 1))
            reads = [k for k in reads if not c.isolate or owner[k] == owner[cell]]
            cells = f"cells {reads[0]} to {cell}" if len(reads) > 1 else f"cell {cell}"
            assert f"Token {place} of {{{letter}}} reads {cells}" in caption
            others = sum(owner[k] != owner[cell] for k in reads)
            assert ("of them from" in caption) == bool(others)
            assert not others or f"{'one' if others == 1 else others} of them from" in caption
            zeros = c.kernel_size - len(reads)
            assert (f"and {zeros} zero" in caption) == bool(zeros)
        elif cell and owner[cell] == owner[cell - 1]:
            assert caption.startswith(f"Token {place} of {{{letter}}} is read with the state after token {place - 1}.")
        else:
            assert ("nothing reset" in caption) == (cell > 0 and not c.isolate)
            assert ("starts at zero" in caption) == (cell > 0 and c.isolate)
        assert ("is exactly that of" in caption) == (not apart[cell])
        assert not apart[cell] or two_decimals(float(apart[cell].double())) in caption
        assert ("which is rounding" in caption) == (0 < apart[cell] <= bound)


def test_the_state_before_a_token_is_the_output_before_it_or_zero() -> None:
    for isolate in (True, False):
        run = run_of(layer="gru", isolate=isolate)
        movie, row, documents = shown(run)
        marks = movie.frame(movie.step_at("run"))["marks"].values()
        states = [mark["vec"] for mark in marks if mark["role"] == "vector"]
        assert len(states) == sum(length for *_, length in documents)
        output = run.output[row]
        begins = {sum(length for *_, length in documents[:d]) for d in range(len(documents) if isolate else 1)}
        for cell, state in enumerate(states):
            expected = torch.zeros(8) if cell in begins else output[cell - 1]
            torch.testing.assert_close(torch.tensor(state).double(), expected.double(), atol=6e-5, rtol=0)


def test_the_picture_of_influence_is_the_influence() -> None:
    run = run_of(layer="lstm", isolate=False)
    movie, row, _ = shown(run)
    frame = movie.frame(movie.step_at("leak", name="verdict"))["marks"]
    cells = {
        (mark["y"], mark["x"]): mark for mark in frame.values() if mark["p"] == "influence" and mark["role"] == "value"
    }
    assert len(cells) == 13 * 13
    for (q, k), mark in cells.items():
        value = float(run.influence[row, int(q), int(k)])
        assert (mark["text"] == "0") == (value == 0)
        assert mark["v"] == pytest.approx(value, abs=6e-5)
        assert mark["scale"] == "influence"
    assert movie.to_dict()["scales"]["influence"] == pytest.approx(float(run.influence[row].max()))
    wrong = [mark for mark in frame.values() if mark["role"] == "mark" and mark["p"] == "influence"]
    assert len(wrong) == 4 * 3 / 2  # each document but the first is reached by all before it


@pytest.mark.parametrize(("words", "columns"), [("I am\nwe do\nno", True), ("I love cats\nshe sleeps", False)])
def test_the_words_stand_beside_the_influence_and_short_ones_above_it(words: str, columns: bool) -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse(words)), ("leak",))
    marks = movie.frame(movie.step_at("leak", name="verdict"))["marks"].values()
    tokens = [mark for mark in marks if mark["role"] == "token" and mark["p"] == "influence" and mark["shown"]]
    packed = [word for line in sorted(words.split("\n"), key=lambda line: -len(line.split())) for word in line.split()]
    assert [(mark["text"], mark["y"]) for mark in tokens if mark["x"] < 0] == list(zip(packed, range(9), strict=False))
    above = [(mark["text"], mark["x"]) for mark in tokens if mark["y"] < 0]
    assert above == (list(zip(packed, range(9), strict=False)) if columns else [])


def test_long_words_leave_their_room_to_the_influence() -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse("I love marsupials\nshe sleeps")), ("leak",))
    marks = movie.frame(movie.step_at("leak", name="verdict"))["marks"].values()
    assert not [mark for mark in marks if mark["role"] == "token" and mark["p"] == "influence"]


def test_attention_has_no_stage_run_and_the_others_have() -> None:
    assert {step.stage for step in pv.movie(run_of(layer="lstm")).steps} >= {"run", "leak"}
    assert "run" not in {step.stage for step in pv.movie(run_of()).steps}


def test_of_a_window_only_shown_tokens_have_marks() -> None:
    movie = pv.movie(run_of(layer="conv", isolate=False), ("run", "leak"), sequences=2, steps=2)
    assert sum(step.stage == "run" for step in movie.steps) == 1 + 2
    frame = movie.frame(movie.step_at("leak", name="verdict"))["marks"].values()
    assert sum(mark["role"] == "value" and mark["p"] == "influence" for mark in frame) == 4


def test_differences_too_large_for_their_cells_are_written_as_text() -> None:
    batch = pv.Batch.parse("1e30 2.5e30\n3e38 0.5\n5 6", kind="numbers")
    run = pv.trace_rows(batch, pv.RowConfig(layer="conv", isolate=False))
    movie = pv.movie(run, ("run", "leak"))
    step = movie.step_at("run")
    written = [mark["text"] for name, mark in movie.frame(step)["marks"].items() if name.startswith("apart:")]
    apart = torch.cat(run.difference[0]).tolist()
    assert min(apart[-2:]) > 1e30
    assert written[-2:] == [f"{each:.1e}".replace("e+", "e") for each in apart[-2:]]
    assert all(f">{text}<" in movie.to_svg(step) for text in ("1e30", "2.5e30", "3e38", *written[-2:]))


def test_a_difference_that_fits_is_a_number_unless_it_is_rounding() -> None:
    movie, row, _ = shown(run := run_of(layer="lstm", isolate=False))
    marks = movie.frame(len(movie.steps))["marks"]
    written = [(mark["text"], mark["v"]) for name, mark in marks.items() if name.startswith("apart:")]
    apart = torch.cat(run.difference[row]).tolist()
    assert [text for text, _ in written] == ["" if each > 1e-12 else "≈ 0" if each else "0" for each in apart]
    assert [v for _, v in written] == pytest.approx(apart, abs=6e-5)


@pytest.mark.parametrize("seed", seeds(20))
def test_the_code_of_the_run_makes_the_outputs_of_the_row(seed: int) -> None:
    run = random_rows(seed, layer=(*RECURRENT, "conv")[seed % 4])
    movie, row, _ = shown(run)
    c, model, n = run.config, run.model, sum(run.rows.lengths[row])
    tokens = [each if run.values is None else each.to(run.values.dtype) for each in run.batch.sequences]
    layers = [without_padding(layer) if c.layer == "conv" else layer for layer in model.layers]
    space: dict[str, Any] = {"torch": torch, "F": F, "pack_sequence": pack_sequence, "sequences": tokens}
    space |= {"lengths": list(map(len, tokens)), "embed": model.embed_tokens, "layers": layers, c.layer: layers[0]}
    for line in movie.code[:3]:
        assert max(map(len, line.text.splitlines())) <= 44
        exec(line.text, space)
    output = space["output"]
    if c.layer != "conv" and c.isolate:
        assert movie.code[2].shape == f"data {tuple(output.data.shape)}"
        output = torch.cat(unpack_sequence(output))
    else:
        assert movie.code[2].shape == str(tuple(output.shape))
    torch.testing.assert_close(output, run.output[row, :n], atol=1e-5, rtol=1e-5)


def without_padding(layer: Any) -> Any:
    return lambda x: F.conv1d(x, layer.weight, layer.bias, groups=layer.groups)


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize("layer", RECURRENT)
def test_the_line_of_each_step_makes_its_output(layer: str, isolate: bool) -> None:
    run = run_of(layer=layer, isolate=isolate)
    cell = {"rnn": nn.RNNCell, "gru": nn.GRUCell, "lstm": nn.LSTMCell}[layer](8, 8, dtype=torch.float64)
    own = run.model.layers[0].state_dict()
    cell.load_state_dict({name.removesuffix("_l0"): weight for name, weight in own.items()})
    x = run.model.embed_tokens(run.input_ids[0])
    space: dict[str, Any] = {f"{layer}_cell": cell, "x": x, "h": {}, "c": {}, "zeros": x.new_zeros(8)}
    for step in shown(run)[0].steps[1:]:
        if step.stage == "run":
            exec(step.detail[0].text, space)
            torch.testing.assert_close(space["h"][step.time], run.output[0, step.time], atol=1e-12, rtol=0)


def test_beside_a_recurrent_layer_no_line_makes_a_mask_or_a_loss() -> None:
    text = "".join(line.text for line in shown(run_of(layer="lstm", isolate=False))[0].code)
    assert "mask" not in text
    assert "cross_entropy" not in text


@pytest.mark.parametrize("isolate", [False, True])
def test_the_last_caption_says_whether_this_run_has_leaked(isolate: bool) -> None:
    assert told(shown(run_of(layer="lstm", isolate=isolate))[0], "end").startswith("This run has leaked") != isolate


@pytest.mark.parametrize("layer", ["attention", "lstm", "conv"])
def test_a_long_row_shows_at_most_sixty_cells(layer: Any) -> None:
    documents = [torch.arange(10) for _ in range(15)]
    run = pv.trace_rows(pv.Batch.from_tensors(documents), pv.RowConfig(layer=layer))
    movie = shown(run)[0]
    first = next(step for step in movie.steps if step.stage in ("run", "leak"))
    assert first.caption.endswith("60 of 150 cells are shown.")
    assert sum(step.stage == "run" for step in movie.steps) == (0 if layer == "attention" else 1 + 60)
    shapes = [tuple(each.shape) for each in run._influence.values()]
    assert shapes == [(60, 150)]
    assert not any(len(each) > 60 for each in movie.to_dict()["numbers"])


def test_the_verdict_on_a_long_row_is_on_all_its_cells() -> None:
    documents = [torch.arange(70), torch.arange(5)]
    verdicts: list[tuple[dict[str, Any], str]] = [
        ({"isolate": False}, "leak"),
        ({"reset_positions": False}, "positions"),
        ({}, "none"),
    ]
    for settings, verdict in verdicts:
        run = pv.trace_rows(pv.Batch.from_tensors(documents), pv.RowConfig(dtype="float64", **settings))
        assert leak_in(run, 0, 60).verdict == leak_in(run, 0).verdict == verdict


@pytest.mark.parametrize("seed", seeds(20))
def test_the_influence_on_some_outputs_is_a_part_of_all(seed: int) -> None:
    run = random_rows(seed, dtype="float64")
    some = range(sum(run.rows.lengths[0]) // 3, 1 + sum(run.rows.lengths[0]) // 2)
    part, whole = run.influence_on(0, some), run.influence_in(0)[some.start : some.stop]
    torch.testing.assert_close(part, whole, rtol=1e-9, atol=1e-12)
    assert torch.equal(part == 0, whole == 0)
