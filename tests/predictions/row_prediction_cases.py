"""Torch's own answers to every question about rows: found from the prompt and the run, not from the question's code."""

import re
from functools import cache

import torch
from row_cases import random_rows
from torch import Tensor

from packviz import RowsTrace
from packviz.teach.predictions import Answer, Prediction
from packviz.teach.predictions.rows import ROW_KINDS
from packviz.text import sequence_label

_ID = r"(?P<letter>[A-Z]+)"


@cache
def rows_of(seed: int) -> RowsTrace:
    return random_rows(seed, dtype="float64")


@cache
def every_row_prediction(seed: int) -> tuple[Prediction, ...]:
    """Return three questions of each kind that can be asked about a run."""
    found = (kind(rows_of(seed), number, anyhow=True) for kind in ROW_KINDS for number in range(3))
    return tuple(prediction for prediction in found if prediction is not None)


def answer_of(run: RowsTrace, prediction: Prediction) -> Answer:
    """Ask torch what the prompt asks."""
    key, prompt = prediction.key, prediction.prompt
    if key in ("cu_seqlens", "row_token"):
        return _of_one_row(run, key, prompt)
    if key in ("row_count", "dropped_from", "dropped_tokens"):
        return _of_all_rows(run, key)
    if key == "document_count":
        positions = list(map(int, re.findall(r"\d+", re.split(r"\.|, and", prompt.partition("position_ids` ")[2])[0])))
        pads = re.search(r"its last (?:(\d+) cells are pads|cell is a pad)", prompt)
        return (positions.count(0) - (int(pads[1] or 1) if pads else 0),)
    if key == "heavier":
        return _of_means(run, prompt)
    r = int(re.search(r"[Rr]ow (\d+)", prompt)[1])  # type: ignore[index]
    if key == "row_documents":
        return tuple(sequence_label(b) for b in sorted({b for b, _, _ in run.rows.rows[r]}))
    of = run.document_ids[r]
    if key == "position_ids":
        lengths = torch.bincount(of[of >= 0]).tolist()
        starts = lengths if run.config.reset_positions else [sum(lengths)]
        return tuple(torch.cat([torch.arange(length) for length in starts]).tolist())
    if key in ("keys_read", "mask_cells"):
        return _of_attention(run, key, prompt, r)
    return _of_changes(run, key, prompt, r)


def _of_means(run: RowsTrace, prompt: str) -> Answer:
    """Return in which mean a token of a document weighs the most: the derivatives of each mean by the losses."""
    letter = re.search(r"a token of ([A-Z]+) the largest weight", prompt)[1]  # type: ignore[index]
    losses, labelled = torch.zeros(run.labels.shape, dtype=torch.float64, requires_grad=True), run.labels != -100
    documents = [
        losses[row][here & labelled[row]]
        for row, of in enumerate(run.document_ids)
        for here in (of == piece for piece in range(int(of.max()) + 1))
    ]
    rows = [each[there] for each, there in zip(losses, labelled, strict=True)]
    found = {"over tokens": losses[labelled].mean()}
    for name, groups in (("documents", documents), ("rows", rows)):
        found[f"over {name}"] = torch.stack([group.mean() for group in groups if len(group)]).mean()
    weights = {name: torch.autograd.grad(mean, losses, retain_graph=True)[0] for name, mean in found.items()}
    row, piece = next(
        (r, d) for r, row in enumerate(run.rows.rows) for d, (b, _, _) in enumerate(row) if sequence_label(b) == letter
    )
    here = run.document_ids[row] == piece
    order = ("over documents", "over rows", "over tokens")
    return max(order, key=lambda name: round(float(weights[name][row][here].max()), 9))


def _of_one_row(run: RowsTrace, key: str, prompt: str) -> Answer:
    sequences = [torch.full((length,), b) for b, length in enumerate(run.batch.lengths.tolist())]
    if key == "cu_seqlens":
        begins = torch.searchsorted(torch.cat(sequences), torch.arange(len(sequences) + 1))
        return tuple(begins.tolist())
    cell = int(re.search(r"in cell (\d+)", prompt)[1])  # type: ignore[index]
    return (sequence_label(int(torch.cat(sequences)[cell])),)


def _of_all_rows(run: RowsTrace, key: str) -> Answer:
    """Count the tokens that stand in rows, sequence by sequence."""
    if key == "row_count":
        return (int((run.document_ids >= 0).any(1).sum()),)
    there = torch.zeros(len(run.batch.lengths), dtype=torch.int64)
    for row in run.rows.rows:
        for b, start, stop in row:
            there[b] += stop - start
    lost = run.batch.lengths - there
    if key == "dropped_tokens":
        return (int(run.batch.lengths.sum() - (run.document_ids >= 0).sum()),)
    return tuple(sequence_label(b) for b in lost.nonzero().flatten().tolist())


def _of_attention(run: RowsTrace, key: str, prompt: str, r: int) -> Answer:
    """Count the weights that are not 0."""
    weights: Tensor = run.layers[0].weights[r, 0]  # type: ignore[attr-defined]
    if key == "mask_cells":
        return (int((weights > 0).sum()),)
    found = re.search(rf"does token (?P<token>\d+) .counted from 0. of {_ID} read", prompt)
    assert found is not None
    place = int(found["token"])
    at = 0
    for b, start, stop in run.rows.rows[r]:
        if sequence_label(b) == found["letter"] and start <= place < stop:
            return (int((weights[at + place - start] > 0).sum()),)
        at += stop - start
    raise AssertionError(prompt)


def _of_changes(run: RowsTrace, key: str, prompt: str, r: int) -> Answer:
    """Change the numbers of some tokens, and compare the outputs of the model bit by bit."""
    found = re.search(rf"(?:tokens of|last token of|label of the last token of) {_ID} ?(?:depend|changes|\?)", prompt)
    assert found is not None
    pieces, of = [b for b, _, _ in run.rows.rows[r]], run.document_ids[r]
    d = [sequence_label(b) for b in pieces].index(found["letter"])
    cells = (of == d).nonzero().flatten()
    if key == "last_label":
        last = int(cells[-1])
        follows = last + 1 < len(of) and int(of[last + 1]) >= 0
        if run.config.shift_labels == "document" or not follows:
            assert int(run.labels[r, last]) == -100
            return "`-100`: it has no label"
        assert int(run.labels[r, last]) == int(run.input_ids[r, last + 1])
        return f"the first token of {sequence_label(pieces[d + 1])}"
    if key == "conv_hit":
        return (int(_changed(run, r, torch.arange(int(cells[0])))[cells].sum()),)
    changed = _changed(run, r, cells[-1:])
    if key == "changed_tokens":
        return (int(changed.sum()),)
    letters = {pieces[int(of[q])] for q in changed.nonzero().flatten()}
    return tuple(map(sequence_label, sorted(letters)))


def _changed(run: RowsTrace, r: int, tokens: Tensor) -> Tensor:
    """Return (N,) bool: which outputs of a row are not the same once these tokens have other numbers."""
    n = int((run.document_ids[r] >= 0).sum())
    positions, documents = run.position_ids[r : r + 1, :n], run.document_ids[r : r + 1, :n]
    with torch.no_grad():
        x = run.model.embed(run.inputs[r : r + 1, :n])
        other = x.clone()
        torch.manual_seed(0)
        other[0, tokens] += torch.randn_like(other[0, tokens])
        before, after = (run.model.run(each, positions, documents)[0] for each in (x, other))
    return (before != after).any(-1)
