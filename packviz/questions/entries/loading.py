"""Entries: several GPUs, loaders."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from packviz.batch import sequence_label
from packviz.charts import Panel
from packviz.questions.entries.packing_lines import PACK_SORTED
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Several GPUs, loaders"

_PART = """\
def forward(x, lengths):
    packed = pack_padded_sequence(x, lengths, batch_first=True)
    output, T = gru(packed)[0], x.size(1)
    return pad_packed_sequence(output, batch_first=True{more})[0]
parts = [forward(*part) for part in zip(x.chunk(2), lengths.chunk(2))]
torch.cat(parts).shape"""
_CUT = PACK_SORTED + (
    "halves = zip(packed.data.chunk(2), packed.batch_sizes.chunk(2))\n"
    "parts = [type(packed)(*half) for half in halves]\n"
)
_LOAD = """\
from torch.utils.data import DataLoader
def collate(chosen):
    lengths = torch.tensor([len(sequence) for sequence in chosen])
    x = pad_sequence(chosen, batch_first=True).unsqueeze(-1)
    return {made}
loader = DataLoader(sequences, batch_size=len(lengths), collate_fn=collate)
batch = next(iter(loader))
"""
_COLLATE_PACKED = _LOAD.format(made="pack_padded_sequence(x, lengths, batch_first=True)")
_FIELDS = ("data", "batch_sizes")
_COLLATE_PADDED = _LOAD.format(made="x, lengths")


def _parts(laboratory: Laboratory) -> Outcome:
    short, wide = laboratory.broken["parts"], laboratory.fixed["parts"]
    lengths = laboratory.fixed["lengths"].tolist()
    first = len(short[0])
    told = laboratory.broken.error or f"a Tensor {tuple(laboratory.broken.value)}"
    return Outcome(
        {name: len({part.size(1) for part in parts}) == 1 for name, parts in _named(short, wide).items()},
        f"Simulated here by `chunk(2)` on the CPU, as DataParallel cuts a batch: each part unpacks to its own longest "
        f"sequence, {short[0].size(1)} and {short[1].size(1)} columns. Joined, that gives `{told}` With "
        f"`total_length=x.size(1)` both have {wide[0].size(1)}. DataParallel's own error, 'Gather got an input of "
        "invalid size', needs two GPUs: cited, not run here.",
        picture(
            _part("part 1", short[0], lengths[:first], 0),
            _part("part 2", short[1], lengths[first:], first),
            _part("part 2, total_length", wide[1], lengths[first:], first),
        ),
    )


def _named(short: list[Tensor], wide: list[Tensor]) -> dict[str, list[Tensor]]:
    return {"without total_length": short, "with total_length": wide}


def _part(title: str, output: Tensor, lengths: list[int], first: int) -> Panel:
    """Return one unit of a part whose first sequence is number `first` of the batch."""
    panel = grid(title, output[:, :, 1].detach().round(decimals=2), lengths)
    owners = tuple(tuple(None if b is None else b + first for b in row) for row in panel.owners)
    return replace(panel, owners=owners, rows=tuple(sequence_label(b + first) for b in range(len(owners))))


def _cut(laboratory: Laboratory) -> Outcome:
    parts: list[PackedSequence] = laboratory.broken["parts"]
    whole = laboratory.run(PACK_SORTED + "gru(packed)[0].data").value
    owners = owners_of(laboratory.fixed["lengths"])
    runs = [laboratory.run(_CUT + f"gru(parts[{i}])[0].data") for i in range(len(parts))]
    wanted = whole.split([len(part.data) for part in parts])
    cases = {f"for part {i + 1}": _agrees(run, wanted[i]) for i, run in enumerate(runs)}
    panels, start = [], 0
    for i, part in enumerate(parts):
        panels.append(_fields(f"part {i + 1}", part, owners[start : start + len(part.data)]))
        start += len(part.data)
    said = laboratory.broken.error or "nothing"
    return Outcome(
        cases,
        f"Cut field by field, part 1 has {len(parts[0].data)} rows and `batch_sizes` {parts[0].batch_sizes.tolist()}, "
        f"which ask for {int(parts[0].batch_sizes.sum())}; the GRU says `{said}` `data` is time-major, so a half of "
        "it is no half of the batch. Simulated here by `chunk(2)` on the CPU. Give `x` and `lengths` to each part, and "
        "pack inside `forward`. What DataParallel itself does needs GPUs: cited, not run.",
        picture(*panels),
    )


def _fields(title: str, part: PackedSequence, owners: list[int]) -> Panel:
    """Return data and batch_sizes of a packed batch, a row each; batch_sizes marked where they ask for other rows."""
    data, sizes = (strip(title, each, [None] * len(each)) for each in (part.data, part.batch_sizes))
    wrong = [(1, t) for t in range(len(part.batch_sizes))] if int(part.batch_sizes.sum()) != len(part.data) else []
    colours = (tuple(owners), *sizes.owners)
    return replace(data, texts=data.texts + sizes.texts, owners=colours, wrong=frozenset(wrong), rows=_FIELDS)


def _all_fields(packed: PackedSequence) -> Panel:
    """Return the four fields, a row each; those that are None are marked."""
    rows = [("None",) if field is None else tuple(f"{n:g}" for n in field.flatten().tolist()) for field in packed]
    data = tuple(owners_of(pad_packed_sequence(packed)[1]))
    owners = [data, *((None,) * len(row) for row in rows[1:])]
    wrong = frozenset((i, 0) for i, field in enumerate(packed) if field is None)
    return Panel("batch, field by field", tuple(rows), tuple(owners), wrong=wrong, rows=packed._fields)


def _agrees(run: Program, wanted: Tensor) -> bool:
    if run.error is not None:
        return False
    return run.value.shape == wanted.shape and torch.allclose(run.value, wanted, atol=1e-6)


def _collated(laboratory: Laboratory) -> Outcome:
    loaded = laboratory.run(_COLLATE_PACKED + "batch").value
    by_loop, padded = laboratory.broken, laboratory.fixed.value
    own = laboratory.run(_COLLATE_PACKED + 'batch.to("cpu")').value
    lengths = laboratory.fixed["lengths"]
    said = by_loop.error or f"a {type(by_loop.value).__name__} of {len(by_loop.value)}"
    return Outcome(
        {
            "in the DataLoader itself": isinstance(loaded, PackedSequence),
            "with packed.to(device)": isinstance(own, PackedSequence),
            "in a loop over the fields of the batch": isinstance(by_loop.value, PackedSequence),
        },
        f"The DataLoader gives a {type(loaded).__name__}. But it is a tuple of {len(loaded)} fields, and code that "
        f"goes through a batch field by field ends in `{said}`. Return `x` {tuple(padded[0])} and `lengths`, and pack "
        "inside the model. `pin_memory=True` needs an accelerator: cited, not run here.",
        picture(_all_fields(loaded), grid("x", laboratory.fixed["x"][:, :, 0], lengths.tolist())),
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="data-parallel-widths",
        group=GROUP,
        question="Why can DataParallel not join the outputs of pad_packed_sequence?",
        claim="Each part of a batch unpacks to the same width.",
        broken=_PART.format(more=""),
        fixed=_PART.format(more=", total_length=T"),
        experiment=_parts,
        source="pytorch/pytorch issues 1591, 2312, 6299, 10537, 13214; crfpar issue 6",
        rows=(61,),
        messages=(
            "RuntimeError: Sizes of tensors must match except in dimension 0. Expected size 3 but got size 1 for "
            "tensor number 1 in the list.",
            "RuntimeError: Gather got an input of invalid size: got [2, 1, 4], but expected [2, 3, 4]",
        ),
        batch="1 2 3\n4 5\n6\n7",
    ),
    Entry(
        key="packed-into-data-parallel",
        group=GROUP,
        question="May a PackedSequence be the input of DataParallel or DDP?",
        claim="A PackedSequence can be cut into parts like a Tensor.",
        broken=_CUT + "gru(parts[0])",
        fixed="def forward(x, lengths):\n    "
        + PACK_SORTED
        + "    return gru(packed)[0].data\n"
        + "parts = [forward(*part) for part in zip(x.chunk(2), lengths.chunk(2))]\n"
        + "[part.shape for part in parts]",
        experiment=_cut,
        source="pytorch/pytorch issue 31422; Lightning-AI/pytorch-lightning issue 16397",
        rows=(62,),
        messages=("RuntimeError: start (4) + length (2) exceeds dimension size (4).",),
        batch="1 2 3\n4 5\n6\n7",
    ),
    Entry(
        key="collate-returns-packed",
        group=GROUP,
        question="May my collate_fn return a PackedSequence, with pin_memory or without?",
        claim="A PackedSequence from a collate function stays one.",
        broken=_COLLATE_PACKED + 'tuple(field.to("cpu") for field in batch)',
        fixed=_COLLATE_PADDED + "x, lengths = batch\n" + PACK_SORTED + "x.shape, lengths, packed.data.shape",
        experiment=_collated,
        source="Lightning-AI/pytorch-lightning issue 437; pytorch/pytorch issue 18078",
        rows=(63,),
        messages=("AttributeError: 'NoneType' object has no attribute 'to'",),
    ),
)
