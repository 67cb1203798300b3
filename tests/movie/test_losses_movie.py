"""The stage `losses`: labels, losses and weights of every token, and the numbers of its sentences."""

import re
from typing import Any

import pytest
import torch
from row_cases import random_rows
from seeds import seeds

import packviz as pv
from packviz.facts import changed_means, token_weights
from packviz.show.movie.staging import LETTER, READABLE, Staging
from packviz.text import joined, sequence_label

MEANS = ("tokens", "documents", "rows")
NUMBER = r"(\d+(?:\.\d+)?(?:e-\d+)?|nan)"


def marks(r: Any, movie: Any, step: int, *families: str) -> dict[tuple[int, int], Any]:
    """Return the marks of these families that a step shows, by row and cell."""
    cells = dict[tuple[int, int], tuple[int, int]]()
    for row, pieces in enumerate(r.rows.rows):
        tokens = [(b, t) for b, start, stop in pieces for t in range(start, stop)]
        cells |= {token: (row, cell) for cell, token in enumerate(tokens)}
    named = ((name.split(":"), mark) for name, mark in movie.frame(step)["marks"].items())
    found = {cells[int(name[1]), int(name[2])]: mark for name, mark in named if name[0] in families}
    for (row, cell), mark in found.items():
        gaps = 0.3 * int(r.document_ids[row, cell])
        assert (mark["p"], mark["x"]) == (f"losses:{row}", pytest.approx(1.8 * cell + gaps, abs=2e-3))
    return found


@pytest.mark.parametrize("seed", seeds(12))
def test_each_cell_shows_its_label_its_loss_and_its_weight(seed: int) -> None:
    r = random_rows(seed)
    movie = pv.movie(r, ("losses",))
    assert [step.name for step in movie.steps] == ["labels", *MEANS, "end"]
    assert marks(r, movie, 1, "weight") == {}
    for number, name in enumerate(MEANS, 2):
        weights, cells = token_weights(r)[name], marks(r, movie, number, "weight")
        assert set(cells) == {(row, cell) for row, cell in (r.document_ids >= 0).nonzero().tolist()}
        assert all(mark["v"] == pytest.approx(float(weights[at]), abs=6e-5) for at, mark in cells.items())
    labels, losses = marks(r, movie, 1, "target", "unlabelled"), marks(r, movie, 1, "loss")
    assert set(losses) == {(row, cell) for row, cell in (r.labels != -100).nonzero().tolist()}
    assert all(mark["text"] == f"{float(r.losses[at]):.2f}" for at, mark in losses.items())
    texts = {int(each): text for ids, row in zip(r.batch.sequences, r.batch.texts, strict=True)
             for each, text in zip(ids, row, strict=True)} if r.logits is not None else {}  # fmt: skip
    for at, mark in labels.items():
        label = int(r.labels[at])
        assert mark["text"] == ("−100" if label == -100 else texts[label])


@pytest.mark.parametrize("seed", seeds(40))
def test_every_sentence_is_true(seed: int) -> None:
    r = random_rows(seed)
    first, *steps, end = pv.movie(r, ("losses",)).steps
    labelled = int((r.labels != -100).sum())
    assert re.search(rf"\b{labelled} tokens? of {r.rows.tokens} ha", first.caption)
    assert ("of its document" in first.caption) == (r.config.shift_labels == "document")
    for name, step in zip(MEANS, steps, strict=True):
        weights = token_weights(r)[name]
        nan = f"No token has a label, so **the mean over {name}** is 0 / 0, which is NaN."
        assert (f"**The mean over {name}** is {r.loss[name]:.4f}" if labelled else nan) in step.caption
        for letter, weight in re.findall(rf"(?:A token|one) of {{(\w+)}} (?:weighs )?{NUMBER}", step.caption):
            found = set()
            for row, pieces in enumerate(r.rows.rows):
                for piece, (b, _, _) in enumerate(pieces):
                    if sequence_label(b) == letter:
                        found |= {f"{float(each):.3g}" for each in weights[row][r.document_ids[row] == piece]}
            assert weight in found, (step.caption, found)
        assert ("left out" in step.caption) == (name == "documents" and bool(r.unlabelled))
    changed = changed_means(r)
    assert ("there is no loss" in end.caption) == (not labelled)
    assert ("changes none of the three means" in end.caption) == bool(labelled and not changed)
    if changed:
        assert f"changes the mean{'s' * (len(changed) > 1)} over {joined(changed)}**" in end.caption


def test_numbers_have_no_labels_and_no_sentence_on_their_shift() -> None:
    run = pv.trace_rows(pv.Batch.parse("0.5 1\n2 3"), pv.RowConfig(shift_labels="row"))
    caption = pv.movie(run, ("losses",)).steps[0].caption
    assert caption.endswith("These tokens are not ids, so there is nothing to predict.")


def test_the_movie_of_losses_alone_computes_no_influence() -> None:
    r = pv.trace_rows(pv.Batch.parse("1 2 3\n4 5"))
    pv.movie(r, ("losses",))
    assert "_influence" not in vars(r)
    pv.movie(r, ("leak",))
    assert "_influence" in vars(r)


def test_the_code_of_each_mean_gives_its_number() -> None:
    r = pv.trace_rows(pv.Batch.parse("1 2 3 4 5\n4 5\n6 7 8 9\n3"), pv.RowConfig(max_length=7))
    parts = [
        r.losses[row][(r.document_ids[row] == piece) & (r.labels[row] != -100)]
        for row, pieces in enumerate(r.rows.rows)
        for piece in range(len(pieces))
    ]
    rows = [row[labels != -100] for row, labels in zip(r.losses, r.labels, strict=True)]
    names = {"torch": torch, "loss": r.losses, "labels": r.labels, "documents": parts, "rows": rows}
    for step in pv.movie(r, ("losses",)).steps[1:-1]:
        (line,) = step.detail
        assert f"{float(eval(line.text, names)):.4f}" == line.shape


@pytest.mark.parametrize("size", [(1050, 505), (930, 400), (356, 220)])
@pytest.mark.parametrize("shift", ["document", "row"])
def test_every_label_and_number_has_room_in_its_cell(shift: Any, size: tuple[int, int]) -> None:
    text = "I love cats\nshe sleeps\nwe sing old songs"
    r = pv.trace_rows(pv.Batch.parse(text), pv.RowConfig(max_length=6, shift_labels=shift))
    staging = Staging(pv.movie(r, ("losses",)).to_dict(), *size)
    frame = staging.frames[-1]
    shown = [(cell, staging.standing(frame.scene).rect(cell)) for cell in frame.cells if cell.shown]
    found = [(cell, rect) for cell, rect in shown if cell.role in ("value", "ghost", "pad") and rect]
    labelled = int((r.labels != -100).sum())
    assert len(found) == r.rows.tokens + labelled + r.rows.tokens
    for cell, rect in found:
        assert rect.h >= READABLE + 2
        if cell.role != "ghost":  # a long word may be shortened, a number never
            assert rect.w - 7 >= LETTER * READABLE * len(cell.text or "0.00")
