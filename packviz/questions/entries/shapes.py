"""Entries: shapes and batch_first; here which axis is the batch, the refused shapes beside it."""

from __future__ import annotations

import torch
from torch import Tensor

from packviz.batch import sequence_label
from packviz.charts import Panel
from packviz.config import Config
from packviz.questions.entries.origins import cells, origins
from packviz.questions.entries.refused_shapes import ENTRIES as REFUSED
from packviz.questions.entries.refused_shapes import GROUP
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, picture, strip

__all__ = ["ENTRIES", "GROUP"]

_OUTPUT = "packed = pack_padded_sequence(x, lengths, batch_first=True)\noutput, h_n = gru(packed)\n"
_STATES = "packed = pack_padded_sequence(x, lengths, batch_first=True)\noutput, (h_n, c_n) = lstm(packed)\n"
_ALONE = (
    "alone = [lstm(x[b : b + 1, : lengths[b]])[1] for b in range(len(lengths))]\n"
    "[torch.cat(states, dim=1).transpose(0, 1) for states in zip(*alone)]"  # h and c: (B, L * D, H)
)
_FORGOTTEN = "pack_padded_sequence(x[:{0}, :{1}], lengths[:{0}].clamp(max={1}), enforce_sorted={2})"


def _when_packing(laboratory: Laboratory) -> Outcome:
    x, lengths = laboratory.fixed["x"][:, :, 0], laboratory.fixed["lengths"]
    owners, n = cells(lengths, x.size(1)), min(x.shape)
    right, wrong, shown = laboratory.fixed.value, laboratory.broken.value, [grid("x", x, lengths.tolist())]
    said = f"torch says `{laboratory.broken.error}`"
    if wrong is not None:
        rows = origins(owners, lengths, batch_first=False)
        differ = [row for row in range(min(len(wrong), len(right))) if wrong[row] != right[row]]
        shown.append(strip("packed.data without batch_first=True", wrong, rows, wrong=differ))
        said = f"`data` is {wrong.tolist()} instead of {right.tolist()} (pads in it: {rows.count(None)})"
    shown.append(strip("packed.data with batch_first=True", right, origins(owners, lengths)))
    return Outcome(
        {
            f"with B = {B}, T = {T}, enforce_sorted={held}": _refuses(laboratory, _FORGOTTEN.format(B, T, held))
            for B, T in ((n, n), (n - 1, n), (n, n - 1))
            for held in (True, False)
        },
        f"Without `batch_first=True` torch takes the first axis for the time. Here B = {len(x)} and T = {x.size(1)}, "
        f"and {said}. Torch can only notice that the lengths are not as many as the second axis is long, and with "
        "`enforce_sorted=False` not even that where B is less than T. Write `batch_first=True` everywhere.",
        picture(*shown),
    )


def _refuses(laboratory: Laboratory, code: str) -> bool:
    return laboratory.run(code).error is not None


def _when_unpacking(laboratory: Laboratory) -> Outcome:
    right, wrong = laboratory.fixed["padded"], laboratory.broken["padded"]
    lengths, same = laboratory.fixed["lengths"], right.shape == wrong.shape
    both = laboratory.run(
        "packed = pack_padded_sequence(x, lengths, batch_first=True)\n"
        "[pad_packed_sequence(packed, batch_first=first)[0][:, :, 0] for first in (True, False)]"
    ).value
    sequences = tuple(sequence_label(b) for b in range(len(lengths)))
    fields = ", ".join(f"`{name}`" for name in laboratory.fixed["packed"]._fields)
    owners = tuple(tuple(b if b >= 0 else None for b in row) for row in cells(lengths, len(both[1])).T.tolist())
    texts = tuple(tuple(f"{value:g}" for value in row) for row in both[1].tolist())
    steps = tuple(f"t={t}" for t in range(len(texts)))
    return Outcome(
        {"for the shape": same, "for the values": same and torch.equal(right, wrong)},
        f"`pad_packed_sequence` cannot see how you packed: a PackedSequence has only {fields}. Without `batch_first` "
        f"you get (T, B, H) = {tuple(wrong.shape)}, with `batch_first=True` (B, T, H) = {tuple(right.shape)}. Give the "
        "flag to both calls.",
        picture(
            grid("x unpacked, batch_first=True", both[0], lengths.tolist()),
            Panel("x unpacked, without it", texts, owners, rows=steps, columns=sequences),
        ),
    )


def _states_batch_first(laboratory: Laboratory) -> Outcome:
    alone = laboratory.run(_ALONE).value
    given = {"for h_n": laboratory.fixed["h_n"], "for c_n": laboratory.fixed["c_n"]}
    shapes = laboratory.run("output, (h_n, c_n) = lstm(x)\ntuple(output.shape), tuple(h_n.shape)").value
    right, wrong = laboratory.fixed.value, laboratory.broken.value
    mixed = [(b, j) for b, j in (~torch.isclose(right, wrong, atol=1e-6)).nonzero().tolist()]
    rows = [sequence_label(b) for b in range(len(right))]
    spoilt = len({b for b, _ in mixed})
    return Outcome(
        {name: _close(state, own) for (name, state), own in zip(given.items(), alone, strict=True)},
        f"`h_n` is (L·D, B, H) = {tuple(laboratory.fixed['h_n'].shape)}. So it is without packing: `lstm(x)` gives an "
        f"`output` {shapes[0]}, batch first, and an `h_n` {shapes[1]}. `reshape(B, -1)` mixes the sequences without a "
        f"word: {spoilt} of {len(rows)} rows are wrong. Write `h_n.transpose(0, 1).flatten(1)`.",
        picture(
            numbers("h_n.reshape(B, -1)", wrong, rows=rows, wrong=mixed),
            numbers("h_n.transpose(0, 1).flatten(1)", right, rows=rows),
        ),
    )


def _close(state: Tensor, own: Tensor) -> bool:
    """Return whether a state is that of each sequence alone, by its first axis."""
    return state.shape == own.shape and torch.allclose(state, own, atol=1e-6)


_OWN: tuple[Entry, ...] = (
    Entry(
        key="batch-first-forgotten",
        group=GROUP,
        question="I forgot batch_first=True in pack_padded_sequence: is there an error, or wrong data?",
        claim="To pack a (B, T) tensor without `batch_first=True` raises an error.",
        broken="pack_padded_sequence(x, lengths).data.flatten()",
        fixed="pack_padded_sequence(x, lengths, batch_first=True).data.flatten()",
        experiment=_when_packing,
        source="PyTorch pack_padded_sequence",
        rows=(31,),
        batch="1 2 3\n4 5 6\n7",
    ),
    Entry(
        key="batch-first-of-unpacking",
        group=GROUP,
        question="Why does pad_packed_sequence return (T, B, H), time first? I packed with batch_first.",
        claim="`pad_packed_sequence` gives back the axes of the tensor that was packed.",
        broken=_OUTPUT + "padded, _ = pad_packed_sequence(output)\npadded.shape",
        fixed=_OUTPUT + "padded, _ = pad_packed_sequence(output, batch_first=True)\npadded.shape",
        experiment=_when_unpacking,
        source="pytorch/pytorch issue 1176",
        rows=(32,),
        batch="1 2 3 4\n5 6\n7",
        config=Config(hidden_size=2),
    ),
    Entry(
        key="batch-first-of-h-n",
        group=GROUP,
        question="Why is the hidden state h_n (num_layers, batch, hidden), although batch_first=True?",
        claim="With `batch_first=True`, `h_n` and `c_n` are (B, L·D, H).",
        broken=_STATES + "h_n.reshape(len(lengths), -1).detach()",
        fixed=_STATES + "h_n.transpose(0, 1).flatten(1).detach()",
        experiment=_states_batch_first,
        source="pytorch/pytorch issue 4145; pytorch/pytorch issue 19675; pytorch/pytorch issue 34036; "
        "pytorch/pytorch issue 144116; hunkim/PyTorchZeroToAll issue 16",
        rows=(33,),
        batch="1 2 3 4\n5 6\n7",
        config=Config(cell="lstm", hidden_size=2, num_layers=2),
    ),
)

ENTRIES: tuple[Entry, ...] = tuple(sorted((*_OWN, *REFUSED), key=lambda entry: entry.rows))
