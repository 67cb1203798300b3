"""Entries: sorted_indices and unsorted_indices."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from packviz.batch import sequence_label
from packviz.charts import Panel
from packviz.questions.entries.order_restored import GROUP
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import picture
from packviz.studies import first_unstable, order_of_equals

__all__ = ["ENTRIES"]

_MOST = 64  # equal lengths that are tried
_LINE = 6  # letters in a line of the picture


def _twice(laboratory: Laboratory) -> Outcome:
    lengths, back, packed = laboratory.fixed["lengths"], laboratory.fixed.value, laboratory.fixed["packed"]
    pairs = laboratory.run(_TWICE, lengths=lengths.sort().values)
    indices, inverse = packed.sorted_indices, packed.unsorted_indices
    return Outcome(
        {
            f"for the lengths {run['lengths'].tolist()}": torch.equal(run.value, run["lengths"])
            for run in (laboratory.broken, pairs)
        },
        f"`sorted_indices` {indices.tolist()} taken twice makes {laboratory.broken.value.tolist()} of the lengths "
        f"{lengths.tolist()}: twice is enough only where rows change places in pairs. `unsorted_indices`, which "
        f"{'is' if torch.equal(inverse, indices.argsort()) else 'is not'} `sorted_indices.argsort()`, makes "
        f"{back.tolist()} again.",
        picture(
            _letters("as given", range(len(lengths))),
            _letters("[sorted_indices]", indices.tolist()),
            _letters("and again", indices[indices].tolist(), check=True),
            _letters("[unsorted_indices]", indices[inverse].tolist(), check=True),
        ),
    )


def _letters(title: str, order: Sequence[int], *, check: bool = False) -> Panel:
    """Return sequences as letters in lines; wrong, if checked, where one does not stand at its own number."""
    owners = tuple(tuple(order[start : start + _LINE]) for start in range(0, len(order), _LINE))
    texts = tuple(tuple(map(sequence_label, line)) for line in owners)
    moved = [divmod(place, _LINE) for place, b in enumerate(order) if check and place != b]
    return Panel(title, texts, owners, wrong=frozenset(moved))


def _ties(laboratory: Laboratory) -> Outcome:
    first = first_unstable(_MOST)
    most = _MOST if first is None else first - 1
    order = laboratory.fixed["packed"].sorted_indices.tolist()
    cases = {f"for 2 to {most} equal lengths": all(_kept(n) for n in range(2, most + 1))}
    return Outcome(
        cases if first is None else cases | {f"for {first} equal lengths": _kept(first)},
        f"The documentation does not promise it. Here {len(order)} sequences of length 1 are packed in the order "
        f"{order[:4]} and so on. "
        "Where you need the order, read `packed.sorted_indices`, and do not compute it again by yourself; the results "
        "come back in your order.",
        picture(_letters(f"{len(order)} as given", range(len(order))), _letters("as packed", order, check=True)),
    )


def _kept(n: int) -> bool:
    return order_of_equals(n) == tuple(range(n))


_TWICE = PACK + "once = lengths[packed.sorted_indices]\nonce[packed.sorted_indices]"
_MANY = """\
many, lengths = torch.arange(17.0).view(17, 1), [1] * 17
packed = pack_padded_sequence(
    many, lengths, batch_first=True, enforce_sorted=False
)
"""

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="unsorted-indices",
        group=GROUP,
        question="Sorted indices of sorted indices: what is unsorted_indices, and how do I undo a sort?",
        claim="Taking `sorted_indices` a second time undoes the sort.",
        broken=_TWICE,
        fixed=_TWICE.replace("once[packed.sorted", "once[packed.unsorted"),
        experiment=_twice,
        source="Variable Sequence Lengths for PyTorch RNNs",
        rows=(15,),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="ties",
        group=GROUP,
        question="Is the sort by length stable: do sequences of equal length keep their order?",
        claim="Sequences of equal length are packed in the order in which they came.",
        broken=_MANY + "packed.data.int().flatten().tolist()",
        fixed=_MANY + "packed.data[packed.unsorted_indices].int().flatten().tolist()",
        experiment=_ties,
        source="packviz, own experiment",
        rows=(18,),
        batch="1\n2\n3",
    ),
)
