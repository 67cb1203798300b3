"""The stage `losses` and the losses of Compare: labels, losses and weights of every token, and the sentences."""

import itertools
import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from movie_player import Open
from row_cases import cross, random_rows
from seeds import seeds
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

import packviz as pv
from packviz.facts import changed_means, draw_head, losses_in_rows, losses_of, means
from packviz.show.movie import losses_beside
from packviz.show.movie.frames import moments
from packviz.show.movie.rows.words import chips
from packviz.text import counted, joined, sequence_label

MEANS = ("tokens", "documents", "rows")
NUMBER = r"(\d+(?:\.\d+)?(?:e-\d+)?|nan)"
SHOWN = {  # by the name of a step: the order of the losses and the mean
    "padded": ("padded", "tokens"),
    "masked": ("masked", "tokens"),
    "packed": ("packed", "tokens"),
    **{over: ("rows", over) for over in MEANS},
    "accumulated": ("masked", "micro_batches"),
    "normalized": ("masked", "tokens"),
}
NAN = {  # what is said of a mean without labels, by the name of its step
    "padded": "no cell has a next one, so the mean is 0 / 0, which is NaN.",
    "masked": "No label is left, so the mean is 0 / 0, which is NaN.",
    "packed": "There is no label here either.",
    "accumulated": "so every mean is 0 / 0, which is NaN.",
    "normalized": "the sum of no losses is NaN, too.",
}
TEXT = "1 2 3 4 5\n4 5\n6 7 8 9\n3"


def cells_of(movie: Any, name: str, *families: str) -> dict[tuple[int, int], Any]:
    """Return the marks of these families that a step shows, by their two numbers."""
    step = movie.step_at("losses", None, name)
    named = ((name.split(":"), mark) for name, mark in movie.frame(step)["marks"].items())
    return {(int(name[1]), int(name[2])): mark for name, mark in named if name[0] in families}


def shows(cells: dict[tuple[int, int], Any], losses: Tensor, weights: Tensor) -> bool:
    """Return whether these cells have a loss in the colour of its weight, and no others do."""
    assert set(cells) == {(d, t) for d, t in weights.nonzero().tolist()}
    assert all(mark["v"] == pytest.approx(float(weights[at]), abs=6e-5) for at, mark in cells.items())
    assert all(float(mark["sub"]) == pytest.approx(float(losses[at]), abs=6e-2) for at, mark in cells.items())
    return bool(cells)


@pytest.mark.parametrize("seed", seeds(12))
def test_each_cell_shows_its_loss_in_the_colour_of_its_weight(seed: int) -> None:
    r = random_rows(seed)
    movie, found = pv.movie(r, ("losses",), micro_batch=1 + seed % 3), losses_in_rows(r)
    names = [step.name for step in movie.steps]
    if r.logits is None:
        assert names == ["labels", *MEANS, "end"]
        return
    assert names == ["padded", "masked", "packed", "labels", *MEANS, "accumulated", "normalized", "end"]
    for name, (order, over) in SHOWN.items():
        weights = found.weights(order, over, min(1 + seed % 3, len(found.documents)))  # type: ignore[arg-type]
        shows(cells_of(movie, name, "loss"), found.losses[order], weights)  # type: ignore[index]


def test_the_losses_are_named_in_the_line_that_they_are_in() -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse("1 2 3 4\n5 6\n7 8 9"), pv.RowConfig(max_length=6)), ("losses",))
    for name, count in (("padded", 3), ("masked", 3), ("labels", 0), ("tokens", 2), ("accumulated", 3)):
        shown = [mark for mark in movie.frame(movie.step_at("losses", None, name))["marks"].values() if mark["shown"]]
        lines = {(mark["p"].removeprefix("name:"), mark["y"]) for mark in shown if mark["text"] == "loss"}
        losses = {(mark["p"].removeprefix("row:"), mark["y"]) for mark in shown if mark["role"] == "value"}
        assert len(lines) == count
        assert lines == (losses if count else set()), name


@pytest.mark.parametrize("seed", seeds(12))
def test_the_labels_are_those_of_the_rows(seed: int) -> None:
    r = random_rows(seed)
    cells = dict[tuple[int, int], tuple[int, int]]()
    for row, pieces in enumerate(r.rows.rows):
        tokens = [(b, t) for b, start, stop in pieces for t in range(start, stop)]
        cells |= {token: (row, cell) for cell, token in enumerate(tokens)}
    texts = {int(each): text for ids, row in zip(r.batch.sequences, r.batch.texts, strict=True)
             for each, text in zip(ids, row, strict=True)} if r.logits is not None else {}  # fmt: skip
    found = cells_of(pv.movie(r, ("losses",)), "labels", "target", "unlabelled")
    assert set(found) == set(cells)
    for token, mark in found.items():
        label = int(r.labels[cells[token]])
        assert mark["text"] == ("−100" if label == -100 else texts[label])


def test_a_label_that_is_typed_beyond_the_window_has_its_text() -> None:
    r = pv.trace_rows(pv.Batch.parse("a b c\nd e f\ng"), pv.RowConfig(strategy="wrapped"))
    found = cells_of(pv.movie(r, ("losses",), sequences=1, steps=2), "labels", "target")
    assert [mark["text"] for _, mark in sorted(found.items())] == ["b", "c"]


def test_every_order_has_each_cell_where_that_order_puts_it() -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=7, strategy="bfd"))
    movie = pv.movie(r, ("losses",))
    padded, packed, rows = (cells_of(movie, name, "token") for name in ("padded", "packed", "rows"))
    lines = sorted({mark["y"] for mark in padded.values()})
    assert {at: (lines.index(mark["y"]), mark["x"]) for at, mark in padded.items()} == {
        (b, t): (b, pytest.approx(2.5 * t)) for b, t in padded
    }
    by_step = sorted(packed, key=lambda at: packed[at]["x"])
    numbers = [torch.arange(10 * b, 10 * b + n) for b, n in enumerate((5, 2, 4, 1))]
    data = torch.nn.utils.rnn.pack_sequence(numbers, enforce_sorted=False).data.tolist()
    assert [10 * b + t for b, t in by_step] == data
    for row, pieces in enumerate(r.rows.rows):
        here = sorted((at for at in rows if rows[at]["p"] == f"row:{row}"), key=lambda at: rows[at]["x"])
        assert here == [(b, t) for b, start, stop in pieces for t in range(start, stop)]


def test_a_pad_has_a_loss_only_without_a_mask() -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse(TEXT)), ("losses",))
    pads = set(cells_of(movie, "padded", "filler"))
    assert pads == {(1, 2), (1, 3), (1, 4), (2, 4), (3, 1), (3, 2), (3, 3), (3, 4)}
    assert pads & set(cells_of(movie, "padded", "loss")) == {at for at in pads if at[1] < 4}
    assert not pads & set(cells_of(movie, "masked", "loss"))
    assert not cells_of(movie, "packed", "filler")


@pytest.mark.parametrize(("text", "size"), [
    (TEXT, 2), ("1 2 3\n4 5\n6 7 8 9", 1), ("1 2\n3 4\n5 6", 2), ("1 2 3", 1), ("1 2 3 4 5\n4 5\n6 7 8 9", 2),
])  # fmt: skip
def test_micro_batches_have_a_size_for_which_the_mean_differs(text: str, size: int) -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse(text)), ("losses",))
    caption = movie.steps[movie.step_at("losses", None, "accumulated") - 1].caption
    assert f"splits the batch into micro-batches, here {size} document" in caption


def test_micro_batches_stand_apart_and_say_how_many_tokens_count() -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse(TEXT)), ("losses",), micro_batch=3)
    step = movie.step_at("losses", None, "accumulated")
    marks = movie.frame(step)["marks"]
    assert [marks[f"batch:{i}"]["text"] for i in (0, 1)] == ["8 labels", "0 labels"]
    y = [marks[f"letter:{d}"]["y"] for d in range(4)]
    assert y[1] - y[0] == pytest.approx(y[2] - y[1])
    assert y[3] - y[2] > y[1] - y[0]


@pytest.mark.parametrize("seed", seeds(40))
def test_every_sentence_is_true(seed: int) -> None:
    r = random_rows(seed)
    size = 1 + seed % 3
    movie, found = pv.movie(r, ("losses",), micro_batch=size), losses_in_rows(r)
    said = {step.name: step.caption for step in movie.steps}
    labelled = int((r.labels != -100).sum())
    if r.logits is not None:
        have = f"{labelled} of {counted(r.rows.tokens, 'token')} {'has' if labelled == 1 else 'have'} one."
        crossing = r.config.shift_labels == "row" and len(r.rows.rows[0]) > 1
        more = ", so a document's last token learns to predict the next document's first." if crossing else f": {have}"
        assert f"a label is the next token of the same {r.config.shift_labels}{more}" in said["labels"]
    for name, caption in said.items():
        if name not in SHOWN:
            continue
        order, over = SHOWN[name]
        weights = found.weights(order, over, min(size, len(found.documents)))  # type: ignore[arg-type]
        if order == "rows":
            nan = f"No token has a label, so **the mean over {over}** is 0 / 0, which is NaN."
            assert bool(re.search(rf"\*\*The mean over {over}\*\* is {r.loss[over]:.4f}", caption)) == bool(labelled)
            assert (nan in caption) == (not labelled)
        elif weights.any():
            mean = found.mean(order, over, min(size, len(found.documents)))  # type: ignore[arg-type]
            assert f"{mean:.4f}" in caption or (mean != mean and "0 / 0" in caption)
        else:
            assert NAN[name] in caption
        lacks = sorted({r.rows.rows[row][piece][0] for row, piece in r.unlabelled}) if name == "documents" else []
        ending = f" {chips(lacks)} {'has' if len(lacks) == 1 else 'have'} no label."
        assert caption.endswith(ending if lacks else "")
        assert ("no label." in caption) == bool(lacks)
    changed = changed_means(r)
    assert ("there is no loss" in said["end"]) == (not labelled)
    assert ("changes none of the three means" in said["end"]) == bool(labelled and not changed)
    if changed:
        stays = ["", " The other mean stays the same.", " The other two means stay the same."][3 - len(changed)]
        assert said["end"].endswith(stays)
        assert ("stay" in said["end"]) == bool(stays)
        means_of = (
            f"the mean{'s' * (len(changed) > 1)} over {joined(changed)}" if len(changed) < 3 else "all three means"
        )
        rows = f"With one document per row, {means_of} "
        assert (rows if "tokens" not in changed else f"**Packing changes {means_of}** from ") in said["end"]
        told = [float(each) for each in re.findall(r"\d+\.\d{4,8}", said["end"])]
        assert told == pytest.approx([means(r)[over][side] for side in (0, 1) for over in changed], abs=6e-5)
    if r.logits is not None:
        pads = int(found.labelled["padded"].sum() - found.labelled["masked"].sum())
        number = int(found.labelled["padded"].sum())
        assert (f"none of the {number} labels is a pad" in said["padded"]) == (number > 1 and not pads)
        assert ("the only label" in said["padded"]) == (number == 1)
        assert ("the only label is a token" in said["padded"]) == (number == 1 and not pads)
        few = f" {'1 label is a pad' if pads == 1 else f'{pads} labels are pads'}: "
        assert (few in said["padded"]) == bool(pads and number > 1)


@pytest.mark.parametrize(("settings", "said"), [
    ({"shift_labels": "row"}, "labels continue across borders."),
    ({"reset_positions": False}, "positions continue across borders."),
    ({"isolate": False}, "the layer continues across borders."),
    ({"layer": "gru", "isolate": False, "shift_labels": "row"}, "labels and the layer continue across borders."),
    ({"layer": "conv", "kernel_size": 1, "isolate": False, "shift_labels": "row"}, "labels continue across borders."),
    ({"positions": "rope", "reset_positions": False, "shift_labels": "row"}, "labels continue across borders."),
])  # fmt: skip
def test_the_end_names_what_continues_across_borders(settings: dict[str, Any], said: str) -> None:
    movie = pv.movie(pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(**settings)), ("losses",))
    assert f", because {said}" in movie.steps[-1].caption


@pytest.mark.parametrize("seed", seeds(40))
def test_what_continues_across_borders_is_what_differs_alone(seed: int) -> None:
    r = random_rows(seed)
    end = pv.movie(r, ("losses",)).steps[-1].caption
    if "tokens" not in changed_means(r):
        assert "across borders" not in end
        return
    told = end.partition(" continue")[0].rpartition(", because ")[2]
    labels = any(
        int(r.labels[row, end - 1]) != -100
        for row, lengths in enumerate(r.rows.lengths)
        for end in itertools.accumulate(lengths[:-1])
    )
    assert ("labels" in told) == labels
    apart = any(float(each.max()) > 1e-5 for row in r.difference for each in row)
    assert ("positions" in told or "layer" in told) == apart
    assert not apart or ("layer" in told) == any(
        bool(torch.as_tensor(r.influence[row] != 0)[cross(r)[row]].any()) for row in range(len(r.rows.rows))
    )


@pytest.mark.parametrize("seed", seeds(40))
def test_captions_say_what_losses_weigh(seed: int) -> None:
    r, size = random_rows(seed), 1 + seed % 3
    movie, found = pv.movie(r, ("losses",), micro_batch=size), losses_in_rows(r)
    said = {step.name: step.caption for step in movie.steps}
    pads = bool((found.labelled["padded"] & ~found.labelled["masked"]).any())
    for name, (order, over) in SHOWN.items():
        if name not in said:
            continue
        how: Any = order, over, min(size, len(found.documents))
        weights, mean = found.weights(*how), found.mean(*how)
        given = weights[weights != 0].tolist()
        extremes = {f"{weight:.3g}" for weight in (max(given), min(given))} if given else set()
        # Labels of two documents or rows are compared if they differ, unless the mean is NaN.
        compared = re.findall(rf"{NUMBER} in (?:{{|row )(\w+)}}?", said[name])
        differ = len(extremes) == 2 and mean == mean and name != "accumulated"
        assert {weight for weight, _ in compared} == (extremes if differ else set()), name
        for weight, where in compared:
            pieces = r.rows.rows[int(where)] if where.isdigit() else found.documents
            own = [d for d, piece in enumerate(found.documents) if piece in pieces]
            own = own if where.isdigit() else [d for d in own if sequence_label(found.documents[d][0]) == where]
            assert weight in {f"{float(each):.3g}" for each in weights[own].flatten()}
        # These say the weight that all have, if it is not the one said before.
        says = {"masked": pads, "tokens": len(given) > 1, "normalized": True}.get(name, False)
        equal = re.findall(rf"(?:labels? weighs?|the same weight,) {NUMBER}(?!\.?\d| in )", said[name])
        assert equal == ([*extremes] if says else []), name


def test_numbers_have_no_labels_and_no_sentence_on_their_shift() -> None:
    run = pv.trace_rows(pv.Batch.parse("0.5 1\n2 3"), pv.RowConfig(shift_labels="row"))
    caption = pv.movie(run, ("losses",)).steps[0].caption
    assert caption.endswith("because these tokens are not ids and there is nothing to predict.")
    assert "learns to predict" not in caption


def test_the_movie_of_losses_alone_computes_no_influence() -> None:
    r = pv.trace_rows(pv.Batch.parse("1 2 3\n4 5"))
    pv.movie(r, ("losses",))
    assert "_influence" not in vars(r)
    pv.movie(r, ("leak",))
    assert "_influence" in vars(r)


def code_of(movie: Any, name: str) -> Any:
    (line,) = movie.steps[movie.step_at("losses", None, name) - 1].detail
    return line


def test_the_code_of_each_mean_in_rows_gives_its_number() -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=7))
    movie = pv.movie(r, ("losses",))
    parts = [
        r.losses[row][(r.document_ids[row] == piece) & (r.labels[row] != -100)]
        for row, pieces in enumerate(r.rows.rows)
        for piece in range(len(pieces))
    ]
    rows = [row[labels != -100] for row, labels in zip(r.losses, r.labels, strict=True)]
    names = {"torch": torch, "loss": r.losses, "labels": r.labels, "documents": parts, "rows": rows}
    for name in MEANS:
        line = code_of(movie, name)
        assert f"{float(eval(line.text, names)):.4f}" == line.shape


def test_the_code_of_all_steps_has_no_shape_that_some_of_them_do_not_show() -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=6))
    movie = pv.movie(r, ("losses",))
    told = movie.to_dict()
    assert r.logits is not None
    made = F.cross_entropy(r.logits.transpose(1, 2), r.labels, reduction="none")  # as in the line of code
    padded = losses_in_rows(r).real.shape
    assert padded != made.shape
    assert told["code"][told["lines"]["losses"]][1] == ""


def test_the_code_of_the_padded_grid_makes_its_labels() -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT))
    movie, found = pv.movie(r, ("losses",)), losses_in_rows(r)
    ids = torch.nn.utils.rnn.pad_sequence(list(r.batch.sequences), True)
    lengths = torch.tensor([5, 2, 4, 1])
    names: dict[str, Any] = {"F": F, "ids": ids, "mask": found.real, "lengths": lengths}
    names |= {"loss": found.losses["packed"], "pack_padded_sequence": pack_padded_sequence}
    for name in ("padded", "masked"):
        exec(code_of(movie, name).text, names)
        assert torch.equal(names["labels"] != -100, found.labelled[name])
        assert code_of(movie, name).shape == str(tuple(names["labels"].shape))
    exec(code_of(movie, "packed").text, names)
    packed = cells_of(movie, "packed", "token")
    by_step = [found.losses["packed"][at] for at in sorted(packed, key=lambda at: packed[at]["x"])]
    assert torch.equal(names["loss"], torch.stack(by_step))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_code_of_micro_batches_accumulates_the_weights_as_gradients(size: int) -> None:
    r = pv.trace_rows(pv.Batch.parse("1 2 3 4 5\n4 5\n6 7 8 9"))
    movie, found = pv.movie(r, ("losses",), micro_batch=size), losses_in_rows(r)
    labelled = found.labelled["masked"]
    for name, over in (("accumulated", "micro_batches"), ("normalized", "tokens")):
        losses = found.losses["masked"].detach().double().clone().requires_grad_()
        batches = [losses[at : at + size][labelled[at : at + size]] for at in range(0, 3, size)]
        exec(code_of(movie, name).text, {"batches": batches, "labels": torch.where(labelled, 1, -100)})
        assert losses.grad is not None
        torch.testing.assert_close(losses.grad, found.weights("masked", over, size))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", seeds(6))
def test_compare_shows_the_losses_of_both_outputs_and_true_sentences(seed: int) -> None:
    text = "1 2 3\n4 5\n6" if seed % 2 else "on your mark\nget set\ngo home now or never"
    side: Any = "left" if seed % 3 == 2 else "right"
    t = pv.trace(pv.Batch.parse(text), pv.Config(bidirectional=seed % 2 == 0, padding_side=side, seed=seed))
    movie, found = losses_beside(t), losses_of(t)
    orders = {"padded": "padded", "masked": "masked", "packed": "packed", "sequences": "packed"}
    assert [step.name for step in movie.steps] == list(orders)
    for name, order in orders.items():
        over: Any = "documents" if name == "sequences" else "tokens"
        weights = found.weights(order, over)  # type: ignore[arg-type]
        assert shows(cells_of(movie, name, "loss"), found.losses[order], weights)  # type: ignore[index]
        caption = movie.steps[movie.step_at("losses", None, name) - 1].caption
        assert f"{found.mean(order, over):.4f}" in caption  # type: ignore[arg-type]
        compared = re.findall(rf"(?:A token|packed row|one) of {{(\w+)}} (?:weighs )?{NUMBER}", caption)
        assert len(compared) == 2 * (name == "sequences")  # no two of these sequences are equally long
        for letter, weight in compared:
            assert weight == f"{float(weights['ABC'.index(letter)].max()):.3g}"
    caption, pads = movie.steps[2].caption, int(t.packed_is_pad.sum())
    differ = f"{found.mean('masked'):.4f}" != f"{found.mean('packed'):.4f}"
    assert ("the outputs differ" in caption) == (differ and not pads)
    assert (f"{int((~t.padded.mask).sum())} of them are pads" in movie.steps[0].caption) == bool((~t.padded.mask).any())


def test_the_losses_beside_weigh_sequences_that_are_not_shown() -> None:
    movie = losses_beside(pv.trace(pv.Batch.parse("\n".join(["1 2 3"] * 50 + ["1 2"] * 10))))
    assert f"weighs {1 / 60 / 2:.3g}, and one of {{A}} weighs {1 / 60 / 3:.3g}." in movie.steps[-1].caption


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_losses_beside_say_if_pads_were_packed(side: Any) -> None:
    t = pv.trace(pv.Batch.parse("1 2 3 4\n4 5\n6"), pv.Config(padding_side=side))
    movie, pads = losses_beside(t), int(t.packed_is_pad.sum())
    packed, sequences = (step.caption for step in movie.steps[2:])
    assert (f": {pads} pads were packed and {pads} tokens were lost." in packed) == (side == "left")
    assert ("A packed row of {C} weighs" in sequences) == (side == "left")
    assert ("A token of {C} weighs" in sequences) == (side == "right")
    assert movie.to_dict()["exact"] == (t.exact and not pads)


def test_the_code_beside_compares_losses_gives_their_numbers() -> None:
    t = pv.trace(pv.Batch.parse("1 2 3\n4 5\n6"), pv.Config(bidirectional=True))
    movie, task = losses_beside(t), draw_head(t, 0)
    head, target = task.head, task.target
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False, allow_tf32=None):
        padded = head(t.module(t.padded.values)[0])
    packed = pack_padded_sequence(target, t.padded.lengths, True, enforce_sorted=False)
    losses = losses_of(t).losses["packed"]
    each = [row[:length] for row, length in zip(losses, t.padded.lengths.tolist(), strict=True)]
    output = t.packed_sequence._replace(data=t.output)
    names = {"F": F, "torch": torch, "logits": padded, "target": target, "mask": t.padded.mask}
    names |= {"head": head, "output": output, "packed_target": packed, "losses": each}
    for step in movie.steps:
        (line,) = step.detail
        assert f"{float(eval(line.text, names).detach()):.4f}" == line.shape


BATCHES = {
    3: "I love cats\nshe sleeps\nwe sing old songs",
    6: "I love cats\nshe sleeps\nwe sing old songs\ngo home\nno\nrain fell on the town",
    8: "I love cats\nshe sleeps\nwe sing old songs\ngo home\nno\nrain fell on the town\nso wet\nwe ran home",
}


def test_the_legend_of_weights_names_them_and_begins_at_zero() -> None:
    r = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=9))
    written = re.findall(">([^<]+)</text>", pv.movie(r, ("losses",)).to_svg(1))
    assert written[written.index("weight") :][:2] == ["weight", "0"]
    assert f"{losses_in_rows(r).heaviest:.3g}" in written
    assert not [text for text in written if text.startswith("−")]


@pytest.mark.parametrize("size", [(1280, 720), (1100, 600), (390, 844)])
@pytest.mark.parametrize("count", BATCHES)
def test_every_loss_and_every_label_has_room_in_its_cell(open_page: Open, count: int, size: tuple[int, int]) -> None:
    batch = pv.Batch.parse(BATCHES[count])
    r = pv.trace_rows(batch, pv.RowConfig(max_length=int(batch.lengths.max() + batch.lengths.min())))
    movie = pv.movie(r, ("losses",))
    last = {frame.step: frame.cells for frame in moments(movie.to_dict())}
    screen, written = open_page(movie, size=size), 0
    for step in range(1, len(movie.steps) + 1):
        screen.press(*["ArrowRight"] * (step > 1))
        for cell, place in zip(last[step], screen.places(), strict=True):
            if place and cell.role in ("value", "token", "ghost", "pad"):
                assert place[3] >= 13, (step, cell)
            if place and cell.role == "value":  # a word may be shortened, a number never
                assert place[2] - 3 >= 0.6 * 11 * len(cell.sub), (step, cell)
                written += bool(cell.sub)
    assert written


def test_at_the_end_the_code_has_a_table_of_each_mean_alone_and_in_the_rows() -> None:
    run = pv.trace_rows(pv.Batch.parse(TEXT), pv.RowConfig(max_length=9))
    heading, *lines = pv.movie(run, ("losses",)).steps[-1].detail
    assert (heading.text.split(), heading.shape) == (["#", "mean", "over", "alone"], "in rows")
    assert [line.text.split()[1] for line in lines] == list(MEANS)
    for line, (alone, rows) in zip(lines, means(run, losses_in_rows(run)).values(), strict=True):
        assert (line.text.split()[2], line.shape) == (f"{alone:.4f}", f"{rows:.4f}")
        assert len(line.text) == len(heading.text)  # its number is below the word
