"""Entries: padding on the left; they stand under the heading of `padding`."""

from __future__ import annotations

import torch

from packviz.batch import sequence_label
from packviz.config import Config
from packviz.questions.entries.layers_on_padding import GROUP
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip

__all__ = ["ENTRIES"]

_PACK = "packed = pack_padded_sequence(\n    {}, lengths, batch_first=True, enforce_sorted=False)\n"
_VALUES = "packed.data[:, 0].tolist()"


def _packed_left(laboratory: Laboratory) -> Outcome:
    left, right = (run["packed"].data[:, 0] for run in (laboratory.broken, laboratory.fixed))
    x, lengths = laboratory.broken["x"][:, :, 0], laboratory.broken["lengths"].tolist()
    real, read = laboratory.trace.padded.mask, laboratory.trace.packed_is_pad
    first = torch.arange(x.size(1)) < torch.tensor(lengths)[:, None]
    dropped = (real & ~first).nonzero().tolist()  # tokens that stand behind the first `length` columns
    owners = [None if pad else owner for owner, pad in zip(owners_of(lengths), read.tolist(), strict=True)]
    lost = [f"{x[b, t]:g} of {sequence_label(b)}" for b, t in dropped]
    told = (
        f"It takes the first `length` columns of each row, whatever they hold: {int(read.sum())} of the {len(read)} "
        f"packed rows are pads, and as many tokens are lost ({', '.join(lost) or 'none'}). Nothing is raised: "
        "pad on the right before you pack."
    )
    shown = (
        grid("x, padded on the left", x, lengths, left=True, wrong=[(b, t) for b, t in dropped]),
        strip("packed.data", left, owners, wrong=read.nonzero().flatten().tolist()),
        strip("packed.data, padded on the right", right, owners_of(lengths)),
    )
    cases = {f"with lengths {lengths}": torch.equal(left, right)}
    return Outcome(cases, told, picture(*shown))


def _side(laboratory: Laboratory) -> Outcome:
    left, turned, lengths = laboratory.fixed.value, laboratory.broken.value, laboratory.fixed["lengths"].tolist()
    ends = [float(sequence[-1]) for sequence in laboratory.fixed["sequences"]]
    at_the_end = left is not None and left[:, -1].tolist() == ends
    told = (
        f'`padding_side="left"` puts the pads first: the last column is {left[:, -1].tolist()}, the last token of each '
        f"sequence, as turning around twice {'does' if torch.equal(left, turned) else 'does not'}. "
        "Do not pack such a grid: packing wants the pads on the right."
        if left is not None
        else f"torch refuses `padding_side`: {laboratory.fixed.error}"
    )
    shown = [grid("turned twice", turned, lengths, left=True)]
    if left is not None:
        shown.append(grid('padding_side="left"', left, lengths, left=True))
    return Outcome({"for pad_sequence": not at_the_end}, told, picture(*shown))


ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="left-padding-packed",
        group=GROUP,
        question="Can I pack a batch that is padded on the left?",
        claim="`pack_padded_sequence` finds the tokens of a batch that is padded on the left.",
        broken=_PACK.format("x") + _VALUES,
        fixed="right = pad_sequence(sequences, batch_first=True).unsqueeze(-1)\n" + _PACK.format("right") + _VALUES,
        experiment=_packed_left,
        source="fairseq issue 841; fairseq issue 851; fairseq issue 860",
        rows=(51,),
        batch="2 3\n4 5 6\n1",
        config=Config(padding_side="left"),
    ),
    Entry(
        key="left-padding-option",
        group=GROUP,
        question="Can pad_sequence put the pads on the left?",
        claim="`pad_sequence` can pad on the right only.",
        broken="turned = [sequence.flip(0) for sequence in sequences]\npad_sequence(turned, batch_first=True).flip(1)",
        fixed='pad_sequence(sequences, batch_first=True, padding_side="left")',
        experiment=_side,
        source="pytorch/pytorch issue 10536",
        rows=(52,),
        batch="2 3\n4 5 6\n1",
    ),
)
