"""Entries: a forum thread on both functions, on how large packed data is."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from packviz import charts
from packviz.questions.entries.forum_example import GROUP, SOURCE
from packviz.questions.entries.packing_lines import PACK_SORTED
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Chart, Entry, Film, Outcome
from packviz.trace import trace_module

__all__ = ["ENTRIES"]

_HUNDRED = """\
live = [100] * 5 + [99, 77, 58, 35, 25, 11, 5, 3, 2, 2, 1]
lengths = torch.tensor([sum(n > b for n in live) for b in range(100)])
x = torch.randn(100, 16, 200)
packed = pack_padded_sequence(x, lengths, batch_first=True)
"""


def _same_size(laboratory: Laboratory) -> Outcome:
    sent, came = laboratory.fixed["x"], laboratory.fixed["packed"].data
    small = laboratory.run(PACK_SORTED)
    return Outcome(
        {
            "for 100 sequences": came.shape == sent.shape,
            "for the batch of the picture": small["packed"].data.shape == small["x"].shape,
        },
        f"{tuple(sent.shape)} went in, {tuple(came.shape)} came out: of {sent[..., 0].numel():,} cells "
        f"{len(came)} hold a token. `pad_packed_sequence` makes {tuple(laboratory.fixed.value)} of it again.",
    )


def _sum(laboratory: Laboratory) -> Outcome:
    done = laboratory.fixed
    packed, lengths = done["packed"], done["lengths"]
    hundred = trace_module(nn.GRU(done["x"].size(2), 1, batch_first=True), done["x"], lengths)
    count = int(lengths.sum())
    return Outcome(
        {
            "for the rows of data": len(packed.data) == count,
            "for batch_sizes": int(packed.batch_sizes.sum()) == count,
        },
        f"The {len(lengths)} lengths add up to {count}, and so do the {len(packed.batch_sizes)} batch_sizes: each "
        f"token is one row of `data`, which is {tuple(packed.data.shape)}. No pad has a row.",
        Chart(charts.margins, (hundred,)),
    )


def _two_parts(laboratory: Laboratory) -> Outcome:
    packed = laboratory.fixed["packed"]
    parts = [tuple(sequence[:, None].shape) for sequence in laboratory.fixed["sequences"]]
    came = [tuple(part.shape) for part in laboratory.fixed["parts"]]
    held = [tuple(part.shape) for part in packed if torch.is_tensor(part) and part.is_floating_point()]
    return Outcome(
        {"for the tensors with tokens": held == parts},
        f"It is one tensor `data` of {tuple(packed.data.shape)}, with the tokens of all sequences. Where they belong "
        f"is in `batch_sizes`, {packed.batch_sizes.tolist()}. `unpack_sequence` gives back {came}.",
    )


_Claim = partial(Entry, group=GROUP, source=SOURCE)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="forum-size-sent",
        question="I sent 100x16x200 and got 818x200: should it not have the same size?",
        claim="What is packed keeps the size of what was sent.",
        broken=_HUNDRED + "packed.data.view(100, 16, 200)",
        fixed=_HUNDRED + "pad_packed_sequence(packed, batch_first=True)[0].shape",
        experiment=_same_size,
        messages=("RuntimeError: shape '[100, 16, 200]' is invalid for input of size 163600",),
        film=Film("pack", name="margins"),
    ),
    _Claim(
        key="forum-why-818",
        question="Why 818 rows: how many rows does packed data have?",
        claim="818 is the sum of the 100 lengths.",
        broken=_HUNDRED + "x.size(0) * x.size(1)",
        fixed=_HUNDRED + "len(packed.data), lengths.sum()",
        experiment=_sum,
    ),
    _Claim(
        key="forum-3x1-and-1x1",
        question="Does a packed batch of lengths 3 and 1 contain a 3x1 and a 1x1?",
        claim="The packed output contains a 3x1 and a 1x1 tensor.",
        broken=PACK_SORTED + "first, second = packed",
        fixed="from torch.nn.utils.rnn import unpack_sequence\n"
        + PACK_SORTED
        + "parts = unpack_sequence(packed)\n"
        + "[part.shape for part in parts]",
        experiment=_two_parts,
        messages=("ValueError: too many values to unpack (expected 2)",),
        batch="1 2 3\n4",
        film=Film("pack", name="margins"),
    ),
)
