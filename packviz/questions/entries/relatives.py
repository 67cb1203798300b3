"""Entries: relatives with confusing names."""

from __future__ import annotations

import torch
from torch import Tensor

from packviz.questions.entries.packing_lines import PACK_SORTED
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Relatives with confusing names"

_NESTED = "from torch.nested import nested_tensor\nnested = nested_tensor({of}, layout=torch.jagged)\n"
_ROW = "e = embedding(torch.cat(sequences))  # one row\n"
_SCORES = "scores = e @ e.t() / e.size(1) ** 0.5\n"
_CAUSAL = "seen = torch.ones_like(scores).tril().bool()\n"
_WEIGHTS = "weights = scores.masked_fill(~seen, -torch.inf).softmax(1)\nweights"
_BLOCKS = "own = [torch.ones(len(s), len(s)) for s in sequences]\nseen = torch.block_diag(*own).tril().bool()\n"
_WITH_EOS = """\
eos = torch.zeros(1, dtype=torch.int64)  # an id of its own
row = torch.cat([torch.cat([sequence, eos]) for sequence in sequences])
e = embedding(row)
"""


def _jagged(laboratory: Laboratory) -> Outcome:
    nested, lengths = laboratory.broken["nested"].values().flatten(), laboratory.fixed["lengths"].tolist()
    packed, offsets = laboratory.fixed["packed"].data.flatten(), laboratory.broken["nested"].offsets().tolist()
    marks = [torch.full((length,), b) for b, length in enumerate(lengths)]
    owners = laboratory.run(_NESTED.format(of="marks") + "nested.values().tolist()", marks=marks).value
    return Outcome(
        {
            "for the order in memory": torch.equal(nested, packed),
            "for a GRU that reads it": laboratory.broken.error is None,
        },
        f"A jagged nested tensor lies one sequence after the other, {_written(nested)}, and keeps `offsets` {offsets}; "
        f"packed data is time-major, {_written(packed)}. The GRU says `{laboratory.broken.error}`. For an RNN, GRU or "
        "LSTM use `pack_sequence` or pad.",
        picture(
            grid("padded", laboratory.fixed["x"][:, :, 0], lengths),
            strip("packed.data", packed, owners_of(lengths)),
            strip("nested.values()", nested, owners),
        ),
    )


def _contaminated(laboratory: Laboratory) -> Outcome:
    eos = laboratory.run(_WITH_EOS + _SCORES + _CAUSAL + _WEIGHTS).value.detach()
    causal, blocks = laboratory.broken.value.detach(), laboratory.fixed.value.detach()
    lengths = laboratory.fixed["lengths"]
    leaks = {
        "with a causal mask alone": _leak(causal, lengths),
        "with an EOS token between them": _leak(eos, lengths + 1),
        "with a block-diagonal mask": _leak(blocks, lengths),
    }
    bounds = torch.cat([torch.zeros(1, dtype=lengths.dtype), lengths.cumsum(0)]).tolist()
    told = ", ".join(f"{100 * leak:.1f} % {name}" for name, leak in leaks.items())
    return Outcome(
        {name: leak == 0 for name, leak in leaks.items()},
        f"This packing joins sequences in one row of {int(lengths.sum())} tokens; no `PackedSequence` is in it. Of the "
        f"attention of B and later sequences, the share that lies on the ones before is {told}. Libraries write the "
        f"block-diagonal mask as `cu_seqlens` {bounds}, and let `position_ids` begin at 0 in each sequence.",
        picture(
            numbers("causal mask", causal, wrong=_foreign(causal, lengths)),
            numbers("block-diagonal mask", blocks, wrong=_foreign(blocks, lengths)),
        ),
    )


def _leak(weights: Tensor, lengths: Tensor) -> float:
    """Return the mean share of the weight of all sequences but the first that lies on another sequence's tokens."""
    owner = torch.arange(len(lengths)).repeat_interleave(lengths)
    foreign = weights.masked_fill(owner[:, None] == owner, 0).sum(1)
    return float(foreign[owner > 0].mean()) if len(lengths) > 1 else 0.0


def _foreign(weights: Tensor, lengths: Tensor) -> list[tuple[int, int]]:
    owner = torch.arange(len(lengths)).repeat_interleave(lengths)
    return [(int(i), int(j)) for i, j in ((weights > 0) & (owner[:, None] != owner)).nonzero()]


def _written(values: Tensor) -> str:
    return "[" + ", ".join(f"{value:g}" for value in values.tolist()) + "]"


ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="nested-tensor",
        group=GROUP,
        question="Can a GRU read a NestedTensor in place of a PackedSequence?",
        claim="A jagged nested tensor can stand in for a PackedSequence.",
        broken="columns = [sequence[:, None] for sequence in sequences]\n"
        + _NESTED.format(of="columns")
        + "gru(nested)",
        fixed=PACK_SORTED + "gru(packed)[0].data.shape",
        experiment=_jagged,
        source="pytorch/pytorch issue 82534; pytorch/nestedtensor issue 339",
        rows=(71,),
        messages=("ValueError: Transpose is not supported on the batch dimension for jagged NT",),
        batch="1 2 3\n4 5",
    ),
    Entry(
        key="packing-for-fine-tuning",
        group=GROUP,
        question="Sequence packing for LLM fine-tuning (SFT, cu_seqlens): do the sequences mix?",
        claim="Sequences packed into one row do not see each other: no cross-contamination.",
        broken=_ROW + _SCORES + _CAUSAL + _WEIGHTS,
        fixed=_ROW + _SCORES + _BLOCKS + _WEIGHTS,
        experiment=_contaminated,
        source="huggingface/trl issues 805, 1230; huggingface/alignment-handbook issue 204; functionary issue 265; "
        "Qwen3-VL issue 1506",
        rows=(72,),
        batch="the old cat\nshe sleeps",
    ),
)
