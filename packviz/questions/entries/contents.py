"""Entries: what is in a PackedSequence."""

from __future__ import annotations

import torch

from packviz import charts
from packviz.batch import Batch
from packviz.questions.entries import used_as_tensor
from packviz.questions.entries.packing_lines import PACK, PACK_SORTED
from packviz.questions.entries.used_as_tensor import GROUP, fields
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Chart, Entry, Film, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP"]


def _time_major(laboratory: Laboratory) -> Outcome:
    rows, joined = laboratory.fixed.value, laboratory.broken.value
    x, lengths = laboratory.fixed["x"][:, :, 0], laboratory.fixed["lengths"].tolist()
    one_after_the_other = [b for b, length in enumerate(lengths) for _ in range(length)]
    misplaced = (rows != joined).nonzero().flatten().tolist()
    return Outcome(
        {"for the rows of data": torch.equal(rows, joined)},
        f"`data` holds time step 0 of every sequence first, {rows[: len(lengths)].tolist()}, then time step 1, and so "
        f"on. Joined one after the other they would be {joined.tolist()}: {len(misplaced)} of {len(rows)} rows stand "
        "elsewhere. `unpack_sequence(packed)` returns the sequences.",
        picture(
            grid("x", x, lengths),
            strip("torch.cat(sequences)", joined, one_after_the_other, wrong=misplaced),
            strip("packed.data", rows, owners_of(lengths)),
        ),
    )


def _not_the_lengths(laboratory: Laboratory) -> Outcome:
    sizes, lengths = laboratory.broken.value, laboratory.fixed.value
    return Outcome(
        {f"for the lengths {lengths.tolist()}": torch.equal(sizes, lengths)},
        f"`batch_sizes` has a number for each time step: how many sequences have a token there. It is "
        f"{sizes.tolist()} for the lengths {lengths.tolist()}; {_sums(sizes, lengths)}. "
        "`pad_packed_sequence` returns the lengths as its second value.",
        Chart(charts.margins, (laboratory.trace,)),
    )


def _sums(one: torch.Tensor, other: torch.Tensor) -> str:
    first, second = int(one.sum()), int(other.sum())
    return f"both sum to {first}" if first == second else f"their sums are {first} and {second}"


def _counted(laboratory: Laboratory) -> Outcome:
    sizes, live = laboratory.fixed.value
    return Outcome(
        {f"at t = {t}": size != count for t, (size, count) in enumerate(zip(sizes, live, strict=True))},
        f"`batch_sizes` is {sizes}, and so many sequences have a token at each t: {live}. The sorted lengths, "
        f"{laboratory.broken.value}, count the same cells row by row; `batch_sizes` counts them column by column.",
    )


def _a_row_a_token(laboratory: Laboratory) -> Outcome:
    lengths = Batch.example("hundred").lengths
    large = laboratory.run(_SHAPE, x=torch.zeros(len(lengths), int(lengths.max()), 200), lengths=lengths)
    small = laboratory.run(_SHAPE)
    told = [f"`x` of size {tuple(run['x'].shape)} becomes {tuple(run.value)}" for run in (small, large)]
    given = laboratory.fixed["lengths"].tolist()
    return Outcome(
        {f"for x of size {tuple(run['x'].shape)}": run.value.numel() == run["x"].numel() for run in (small, large)},
        f"`data` has a row for each token and none for a pad: {' + '.join(map(str, given))} = {sum(given)} rows. "
        f"{told[0]}, and {told[1]}. That is right: `pad_packed_sequence` makes a grid of it again.",
        picture(
            grid("x", laboratory.fixed["x"][:, :, 0], given),
            strip("packed.data", laboratory.fixed["packed"].data, owners_of(given)),
        ),
    )


def _no_size(laboratory: Laboratory) -> Outcome:
    rows, batch = laboratory.fixed.value
    asked = {name: laboratory.run(PACK + f"packed.{name}") for name in ("size()", "shape", "dim()")}
    advice = laboratory.run(PACK + "packed.batch_sizes()")
    return Outcome(
        {f"with packed.{name}": done.error is None for name, done in asked.items()},
        f"It is a tuple of {len(laboratory.fixed['packed'])} fields and has no shape of its own. Ask `packed.data` for "
        f"its size, {tuple(rows)}; the number of sequences is `packed.batch_sizes[0]`, {int(batch)}. To replace `size` "
        f"by `batch_sizes`, as some advise, {'works' if advice.error is None else f'ends in `{advice.error}`'}.",
        picture(*fields(laboratory.fixed["packed"], laboratory.fixed["lengths"])),
    )


_SHAPE = PACK + "packed.data.shape"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="time-major",
        group=GROUP,
        question="In which order are the elements of packed.data? My samples are not one after the other.",
        claim="`data` holds the sequences one after the other.",
        broken="torch.cat(sequences)",
        fixed=PACK_SORTED + "packed.data.flatten()",
        experiment=_time_major,
        source="pytorch/pytorch issue 1820",
        rows=(1,),
        film=Film("pack"),
    ),
    Entry(
        key="batch-sizes-are-not-lengths",
        group=GROUP,
        question="What does batch_sizes mean? Why is it [3, 2, 1, 1], and not my lengths [4, 2, 1]?",
        claim="`batch_sizes` holds the length of each sequence.",
        broken=PACK_SORTED + "packed.batch_sizes",
        fixed=PACK_SORTED + "output, lengths = pad_packed_sequence(packed, batch_first=True)\nlengths",
        experiment=_not_the_lengths,
        source="pytorch/pytorch issue 1203; bentrevett/pytorch-seq2seq issue 91; pytorch/pytorch pull request 3878",
        rows=(2,),
        batch="1 2 3 4\n5 6\n7",
        film=Film("pack", name="margins"),
    ),
    Entry(
        key="batch-sizes-counted",
        group=GROUP,
        question="Is pack_padded_sequence broken: does it calculate batch_sizes wrong?",
        claim="`pack_padded_sequence` calculates `batch_sizes` wrong.",
        broken="# is this not what batch_sizes should be?\nlengths.sort(descending=True).values.tolist()",
        fixed=PACK
        + "live = [int((lengths > t).sum()) for t in range(x.size(1))]\n"
        + "packed.batch_sizes.tolist(), live",
        experiment=_counted,
        source="pytorch/pytorch issue 36448",
        rows=(3,),
        batch="7 8\n1 2 3 4\n5\n6 9 3 2",
        film=Film("pack", name="margins"),
    ),
    Entry(
        key="a-row-a-token",
        group=GROUP,
        question="Why is packed.data of size (6, 1), and not (3, 3)?",
        claim="`packed.data` is as large as the padded `x`.",
        broken=PACK + "packed.data.view(x.shape)",
        fixed=PACK + "packed.data.shape, lengths.sum(), packed.batch_sizes.sum()",
        experiment=_a_row_a_token,
        source="PyTorch forum, Understanding pack_padded_sequence and pad_packed_sequence",
        rows=(4,),
        messages=("RuntimeError: shape '[3, 3, 1]' is invalid for input of size 6",),
        film=Film("pack"),
    ),
    Entry(
        key="no-size",
        group=GROUP,
        question="'PackedSequence' object has no attribute 'size': how do I get its shape?",
        claim="A PackedSequence can be asked for its shape.",
        broken=PACK + "packed.size()",
        fixed=PACK + "packed.data.size(), packed.batch_sizes[0]",
        experiment=_no_size,
        source="sgrvinod captioning issue 176; torchsummaryX issue 6; pytorch-summary issue 128; "
        "IndRNN_pytorch issue 2; indrnn-pytorch issue 7",
        rows=(5,),
        messages=(
            "AttributeError: 'PackedSequence' object has no attribute 'size'",
            "AttributeError: 'PackedSequence' object has no attribute 'shape'",
            "TypeError: 'Tensor' object is not callable",
        ),
        batch="7 8\n1 2 3 4\n5",
        film=Film("pack"),
    ),
    *used_as_tensor.ENTRIES,
)
