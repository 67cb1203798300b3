"""Entries: ordering, sort, unsort."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from packviz.questions.entries import order_indices, order_of_states, order_restored
from packviz.questions.entries.order_restored import GROUP, reordered
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP"]


def _must_be_sorted(laboratory: Laboratory) -> Outcome:
    packed, lengths = laboratory.fixed["packed"], laboratory.fixed["lengths"]
    order, sizes = packed.sorted_indices.tolist(), packed.batch_sizes.tolist()
    unsorted = grid("x as given", laboratory.fixed["x"][:, :, 0], lengths.tolist())
    outside = [(b, t) for b, length in enumerate(lengths.tolist()) for t in range(length) if b >= sizes[t]]
    return Outcome(
        {
            "with enforce_sorted=True": laboratory.broken.error is not None,
            "with enforce_sorted=False": laboratory.fixed.error is not None,
        },
        f"At each t the cell computes the first `batch_sizes[t]` rows, here {sizes}, so the longer sequences must "
        f"stand above the shorter ones: as given, {len(outside)} tokens stand below these rows. With "
        f"`enforce_sorted=False` torch sorts for you, here by `sorted_indices` {order}, and puts the results back into "
        "your order.",
        picture(replace(unsorted, wrong=frozenset(outside)), reordered(unsorted, order, "longest first")),
    )


def _not_checked(laboratory: Laboratory) -> Outcome:
    order, first = laboratory.fixed.value
    also = laboratory.run(laboratory.entry.broken.replace("pack_sequence", "pack_padded_sequence"))
    padded = laboratory.run(PACK + "packed.data[: len(lengths)].flatten()").value
    given = laboratory.fixed["x"][:, 0, 0]
    lengths = laboratory.fixed["lengths"]
    rows = laboratory.fixed["packed"].data
    return Outcome(
        {
            "for pack_sequence": torch.equal(first, given),
            "for pack_padded_sequence": torch.equal(padded, given),
        },
        f"{_quoted('pack_sequence', laboratory.broken)} {_quoted('pack_padded_sequence', also)} "
        f"The sequences start with {given.tolist()}, and `data` with {first.tolist()}: torch "
        f"{'has not moved them' if torch.equal(first, given) else 'has sorted them'}, by `sorted_indices` "
        f"{order.tolist()}.",
        picture(
            grid("x", laboratory.fixed["x"][:, :, 0], lengths.tolist()),
            strip("packed.data", rows, owners_of(lengths), wrong=(first != given).nonzero().flatten().tolist()),
        ),
    )


def _quoted(name: str, read: Program) -> str:
    says = "does not say what `False` does." if read.error else f'says: "{read.value}"'
    return f"The documentation of `{name}` {says}"


def _aligned(laboratory: Laboratory) -> Outcome:
    own, same = laboratory.broken, laboratory.fixed
    theirs = _sequences_of(own["packed"].data), _sequences_of(own["wanted"].data)
    apart = [n for n, pair in enumerate(zip(*theirs, strict=True)) if len(set(pair)) == 2]
    together = _sequences_of(same["packed"].data) == _sequences_of(same["wanted"].data)
    return Outcome(
        {"for targets of other lengths": not apart, "for targets of the same lengths": together},
        f"With lengths {own['lengths'].tolist()} and {own['of_targets']}, {len(apart)} of {len(theirs[0])} pairs are "
        "made of two different sequences, and nothing is raised. Pack both with the same lengths; where the "
        "targets have lengths of their own, pack the predictions with these.",
        picture(
            strip("packed.data", own["packed"].data, theirs[0]),
            strip("wanted.data, by its own lengths", own["wanted"].data, theirs[1], wrong=apart),
            strip("wanted.data, by the same lengths", same["wanted"].data, _sequences_of(same["wanted"].data)),
        ),
    )


def _sequences_of(data: Tensor) -> list[int]:
    """Return the sequence of each row, which its tens tell: 1x is A, 2x is B."""
    return [int(value) // 10 - 1 for value in data.flatten().abs()]


_WANTED = """\
wanted = pack_padded_sequence(
    targets, {}, batch_first=True, enforce_sorted=False
)
[(int(a), int(b)) for a, b in zip(packed.data, wanted.data)]"""

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="must-be-sorted",
        group=GROUP,
        question="`lengths` array must be sorted in decreasing order: why do I have to sort my batch?",
        claim="`pack_padded_sequence` packs only sequences that are sorted by length.",
        broken="pack_padded_sequence(x, lengths, batch_first=True)",
        fixed=PACK + "packed.sorted_indices, packed.unsorted_indices",
        experiment=_must_be_sorted,
        source="PyTorch forum, topic 3540; pytorch/pytorch issue 23079; sgrvinod labeling issue 2",
        rows=(11,),
        messages=(
            "RuntimeError: `lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
            "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if "
            "you do not need ONNX exportability.",
        ),
        batch="1\n4 5 6 7\n2 3",
    ),
    Entry(
        key="only-not-checked",
        group=GROUP,
        question='What does enforce_sorted=False do? Is the order only "not checked"?',
        claim="With `enforce_sorted=False` the sequences are packed in the order in which they came.",
        broken="from torch.nn.utils.rnn import pack_sequence\n\n"
        'words = " ".join(pack_sequence.__doc__.split())\n'
        'words[words.rindex("If ``False``") :].split(" Default")[0]',
        fixed="from torch.nn.utils.rnn import pack_sequence\n\n"
        "packed = pack_sequence(sequences, enforce_sorted=False)\n"
        "packed.sorted_indices, packed.data[: len(sequences)]",
        experiment=_not_checked,
        source="pytorch/pytorch issue 33602; PyTorch torch.nn.utils.rnn.pack_sequence",
        rows=(12,),
        batch="1 2\n3\n4 5 6",
    ),
    *order_restored.ENTRIES,
    *order_indices.ENTRIES,
    *order_of_states.ENTRIES,
    Entry(
        key="zip-inputs-and-targets",
        group=GROUP,
        question="Can I zip packed inputs and packed targets that have different lengths?",
        claim="Row n of the packed targets belongs to row n of the packed inputs.",
        broken="of_targets = [1, 3, 2]\ntargets = torch.tensor([[15, 0, 0], [25, 26, 27], [35, 36, 0]])\n"
        + PACK
        + _WANTED.format("of_targets"),
        fixed="targets = -x.squeeze(2)\n" + PACK + _WANTED.format("lengths"),
        experiment=_aligned,
        source="packviz, own experiment; Variable Sequence Lengths for PyTorch RNNs",
        rows=(19,),
        batch="11 12\n21\n31 32 33",
    ),
)
