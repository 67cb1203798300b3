"""Experiments of the entries on losses: which cells are counted, and how much each of them weighs."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from packviz.cost import counts_of
from packviz.questions.entries.marking import close
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Outcome
from packviz.questions.pictures import grid, numbers, owners_of, picture, strip

__all__ = ["data_of_a_tensor", "ignored", "only_flattened", "three_means"]

_PACKED = """\
packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
output, h_n = gru(packed)
logits = nn.Linear(output.data.size(1), 3)(output.data)
targets = [sequence.long() % 3 for sequence in sequences]
targets = nn.utils.rnn.pack_sequence(targets, enforce_sorted=False).data
loss = nn.functional.cross_entropy(logits, targets)
"""
_GRADIENT = "\ntorch.autograd.grad(loss, gru.weight_hh_l0)[0]"


def ignored(laboratory: Laboratory) -> Outcome:
    """Compare packing with ignore_index: the loss, its gradient, and the rows that are computed."""
    broken, fixed, packed = laboratory.broken, laboratory.fixed, laboratory.run(_PACKED + "loss")
    gradients = [laboratory.run(code + _GRADIENT).value for code in (_PACKED, laboratory.entry.fixed)]
    rows = counts_of(laboratory.trace).updates
    padded_h_n, packed_h_n = fixed["gru"](fixed["x"])[1].detach(), packed["h_n"].detach()
    cells = [
        F.cross_entropy(done["logits"].transpose(1, 2), done["targets"], reduction="none") for done in (broken, fixed)
    ]
    lengths = fixed["lengths"]
    return Outcome(
        {
            "for the loss": close(packed.value, fixed.value),
            "for the gradient of weight_hh_l0": close(*gradients),
            "for h_n": close(padded_h_n, packed_h_n),
            "for the rows that the GRU computes": rows.packed == rows.padded,
        },
        f"The loss is {packed.value:.4f} packed and {fixed.value:.4f} with `ignore_index`; with the pads counted it is "
        f"{broken.value:.4f}. `ignore_index` leaves the pads out of the loss only: the GRU still computes "
        f"{rows.padded} rows, packed it computes {rows.packed}; and `h_n` still goes on over the pads, by up to "
        f"{float((padded_h_n - packed_h_n).abs().max()):.2f}. Use `ignore_index` for the loss, and pack for "
        "`h_n` or in both directions.",
        picture(
            numbers("loss, pads counted", cells[0], wrong=_pads(lengths, cells[0])),
            numbers("with ignore_index", cells[1]),
        ),
    )


def only_flattened(laboratory: Laboratory) -> Outcome:
    """Compare packed logits and targets with those picked by a mask: their loss, and their rows."""
    packed, masked = laboratory.broken, laboratory.fixed
    valid, lengths = masked["valid"], masked["lengths"].tolist()
    picked = F.cross_entropy(masked["logits"][valid], masked["targets"][valid], reduction="none")
    rows = F.cross_entropy(packed["logits"], packed["targets"], reduction="none")
    gradients = [laboratory.run(program.code + _GRADIENT).value for program in (packed, masked)]
    same = rows.shape == picked.shape and close(rows.sort().values, picked.sort().values)
    owners = [b for b, length in enumerate(lengths) for _ in range(length)]
    return Outcome(
        {
            "for the mean loss": not close(packed.value, masked.value),
            "for the losses of the rows": not same,
            "for the gradient of weight_hh_l0": not close(*gradients),
        },
        f"Packed, the loss is {packed.value:.4f}; picked with a mask, it is {masked.value:.4f}. Packing is only a way "
        f"to flatten here: {'the same' if same else 'not the same'} {len(rows)} losses, in another order. The logits "
        f"of all {valid.numel()} cells were computed before.",
        picture(
            strip("losses of packed rows", rows.round(decimals=2), owners_of(lengths)),
            strip("losses picked with the mask", picked.round(decimals=2), owners),
        ),
    )


def data_of_a_tensor(laboratory: Laboratory) -> Outcome:
    """Ask for `.data` after and before unpacking: how many rows there are, and whether they have a gradient."""
    (after, trained), (before, _) = laboratory.broken.value, laboratory.fixed.value
    lengths, output = laboratory.fixed["lengths"].tolist(), laboratory.broken["output"]
    rows = laboratory.fixed["rows"][:, 1].detach().round(decimals=2)
    unpacked = output[:, :, 1].detach().round(decimals=2)
    gradient = "still has a gradient" if trained else "is cut off from the gradients, too"
    return Outcome(
        {
            "for the number of rows": after[:-1].numel() == before[:-1].numel(),
            "for the gradients": trained,
        },
        f"`.data` of a `PackedSequence` is {tuple(before)}: {before[0]} packed rows. `.data` of a Tensor is the same "
        f"Tensor once more, here {tuple(after)} with all pads; it {gradient}. Take `.data` before you unpack.",
        picture(
            grid("output.data, unpacked", unpacked, lengths, wrong=_pads(laboratory.fixed["lengths"], unpacked)),
            strip("output.data, packed", rows, owners_of(lengths)),
        ),
    )


def three_means(laboratory: Laboratory) -> Outcome:
    """Take the mean of the same losses over all cells, over tokens, and over sequences."""
    naive, (tokens, sequences) = laboratory.broken.value, laboratory.fixed.value
    losses, lengths = laboratory.fixed["losses"], laboratory.fixed["lengths"]
    readouts = torch.stack([naive, tokens, sequences])[:, None]
    off = [] if close(naive, tokens) else [(0, 0)]
    return Outcome(
        {
            "between all cells and tokens": close(naive, tokens),
            "between tokens and sequences": close(tokens, sequences),
        },
        f"Over all {losses.numel()} cells, zeros at the pads among them, the mean is {naive:.3f}; over the "
        f"{int(lengths.sum())} tokens it is {tokens:.2f}; over the {len(lengths)} sequences it is {sequences:.2f}. "
        "Divide by the tokens if each token is to count the same, by the sequences if each sequence is.",
        picture(
            grid("loss of each cell", losses, lengths.tolist()),
            numbers("means", readouts, rows=("cells", "tokens", "seqs"), wrong=off),
        ),
    )


def _pads(lengths: Tensor, values: Tensor) -> list[tuple[int, int]]:
    return [(b, t) for b, length in enumerate(lengths.tolist()) for t in range(length, values.size(1))]
