"""Entries: PyTorch's own documentation."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Film, Outcome
from packviz.questions.pictures import grid, numbers, picture

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Text: PyTorch's own documentation"

_PACK_SEQUENCE = """\
from torch.nn.utils.rnn import pack_sequence
packed = pack_sequence(sequences, enforce_sorted=False)
"""
_THERE_AND_BACK = """\
packed = pack_padded_sequence(
    x, lengths, batch_first=True, enforce_sorted=False
)
back, _ = pad_packed_sequence(packed, batch_first=True)
"""
_ANY_ORDER = "pack_padded_sequence(x.flip(0), lengths.flip(0), batch_first=True, enforce_sorted=False)"
_WIDER = "x = nn.functional.pad(x, (0, 0, 0, 2))\n"
_OTHER_PAD = "x = pad_sequence(sequences, True, -1.0).unsqueeze(-1)\n"
_LEFT = "x = pad_sequence(sequences, True, padding_side='left').unsqueeze(-1)\n"
_UNPAD = """\
from torch.nn.utils.rnn import unpad_sequence
padded = pad_sequence(sequences, batch_first={first})
"""


def _not_checked(laboratory: Laboratory) -> Outcome:
    ways = {"for pack_sequence": laboratory.fixed, "for pack_padded_sequence": laboratory.run(PACK)}
    lengths = laboratory.fixed["lengths"]
    packed = laboratory.fixed["packed"]
    sentence = "this condition is not checked"
    said = laboratory.run("from torch.nn.utils import rnn\nrnn.pack_sequence.__doc__").value
    return Outcome(
        {name: _as_they_came(program["packed"].sorted_indices) for name, program in ways.items()},
        f"The docstring of `pack_sequence` {'says' if sentence in said else 'no longer says'} '{sentence}'. But "
        f"torch sorts: the lengths {lengths.tolist()} are packed in the order {packed.sorted_indices.tolist()}, and "
        "unpacking undoes it.",
    )


def _as_they_came(order: Tensor | None) -> bool:
    return order is None or order.tolist() == list(range(len(order)))


def _longest(laboratory: Laboratory) -> Outcome:
    turned, first = laboratory.fixed, laboratory.broken
    padded, lengths = first["padded"], first["lengths"]
    longest = first["sequences"][int(lengths.argmax())]
    wrong = [(b, 0) for b in range(len(padded))]
    turned_round = laboratory.run(_ANY_ORDER).error is None
    return Outcome(
        {
            "with batch_first=False": torch.equal(turned.value, longest),
            "with batch_first=True": torch.equal(first.value, longest),
        },
        f"The longest sequence is {longest.tolist()}. With `batch_first=False` `input[:, 0]` is "
        f"{turned.value.tolist()}; with `batch_first=True` it is {first.value.tolist()}, the first time step of all "
        f"sequences, and `input[0]` is the first sequence."
        f"{' With `enforce_sorted=False` any order will do.' * turned_round}",
        picture(grid("batch_first=True, input[:, 0] marked", padded, lengths.tolist(), wrong=wrong)),
    )


def _inverse(laboratory: Laboratory) -> Outcome:
    ways = {
        "where T is the longest length": laboratory.run(_THERE_AND_BACK),
        "where T is larger": laboratory.broken,
        "where the pads hold another number": laboratory.run(_OTHER_PAD + _THERE_AND_BACK),
        "after padding on the left": laboratory.run(_LEFT + _THERE_AND_BACK),
    }
    x, back = laboratory.broken["x"], laboratory.broken["back"]
    lengths = laboratory.broken["lengths"].tolist()
    full = torch.equal(laboratory.fixed["back"], laboratory.fixed["x"])
    lost = [(b, t) for b in range(len(x)) for t in range(back.size(1), x.size(1))]
    return Outcome(
        {name: torch.equal(program["back"], program["x"]) for name, program in ways.items()},
        f"What comes back is as wide as the longest sequence: of {tuple(x.shape)} comes {tuple(back.shape)}. "
        f"With `total_length={x.size(1)}` {'all is' if full else 'still not all is'} there again; `padding_value` says "
        "what stands at the pads.",
        picture(grid("x", x[:, :, 0], lengths, wrong=lost), grid("back", back[:, :, 0], lengths)),
    )


def _unpadded(laboratory: Laboratory) -> Outcome:
    way = "unpad_sequence(padded, lengths, batch_first={first})\npadded.shape"
    done = {
        f"with batch_first={first}": (
            laboratory.run(_UNPAD.format(first=first) + "padded.shape").value,
            laboratory.run(_UNPAD.format(first=first) + way.format(first=first)).value,
        )
        for first in (False, True)
    }
    before, after = done["with batch_first=False"]
    kept = tuple(laboratory.fixed.value)
    return Outcome(
        {name: shapes[0] == shapes[1] for name, shapes in done.items()},
        f"With `batch_first=False` the tensor that you hand over is turned in place: {tuple(before)} before the call, "
        f"{tuple(after)} after it. Hand over `padded.transpose(0, 1)` with `batch_first=True`: then it stays {kept}.",
        picture(
            numbers("padded, before the call", laboratory.fixed["padded"]),
            numbers("after unpad_sequence", laboratory.broken["padded"]),
        ),
    )


_Claim = partial(Entry, group=GROUP)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="docs-not-checked",
        question="Does enforce_sorted=False mean that the order is just not checked?",
        claim="With `enforce_sorted=False` the order is only not checked: torch packs the sequences as they come.",
        broken="from torch.nn.utils.rnn import pack_sequence\npack_sequence(sequences)",
        fixed=_PACK_SEQUENCE + "packed.sorted_indices.tolist()",
        experiment=_not_checked,
        source="PyTorch torch.nn.utils.rnn.pack_sequence",
        messages=(
            "RuntimeError: `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
            "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if "
            "you do not need ONNX exportability.",
        ),
        batch="1 2\n3 4 5\n6",
        film=Film("sort"),
    ),
    _Claim(
        key="docs-longest-column",
        question="Should input[:, 0] be the longest sequence?",
        claim="`input[:,0]` should be the longest sequence.",
        broken="padded = pad_sequence(sequences, batch_first=True)\npadded[:, 0]",
        fixed="padded = pad_sequence(sequences)\npadded[:, 0]",
        experiment=_longest,
        source="PyTorch torch.nn.utils.rnn.pack_padded_sequence",
        batch="1 2 3 4\n5 6\n7",
    ),
    _Claim(
        key="docs-inverse",
        question="Is pad_packed_sequence the inverse of pack_padded_sequence?",
        claim="`pad_packed_sequence` is an inverse operation: it recovers the tensor that was packed.",
        broken=_WIDER + _THERE_AND_BACK + "back.shape",
        fixed=_WIDER
        + _THERE_AND_BACK.replace("packed, batch_first=True", "packed, True, total_length=x.size(1)")
        + "back.shape",
        experiment=_inverse,
        source="PyTorch torch.nn.utils.rnn.pack_padded_sequence; PyTorch torch.nn.utils.rnn.pad_packed_sequence",
        batch="1 2\n3 4 5\n6",
    ),
    _Claim(
        key="docs-unpad-in-place",
        question="Why has my padded tensor another shape after unpad_sequence?",
        claim="`unpad_sequence` leaves the tensor that it is given as it is.",
        broken=_UNPAD.format(first=False) + "unpad_sequence(padded, lengths)\npadded.shape",
        fixed=_UNPAD.format(first=False)
        + "unpad_sequence(padded.transpose(0, 1), lengths, batch_first=True)\npadded.shape",
        experiment=_unpadded,
        source="PyTorch torch.nn.utils.rnn.unpad_sequence",
        batch="1 2 3\n4 5",
    ),
)
