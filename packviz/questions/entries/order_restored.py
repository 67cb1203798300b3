"""Entries: results that come back in the order as given, and how that order is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from packviz.batch import sequence_label
from packviz.charts import Panel
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, owners_of, picture, strip

__all__ = ["ALONE", "ENTRIES", "GROUP", "apart", "reordered", "states"]

GROUP = "Ordering, sort, unsort"
_CLOSE = 1e-5  # rounding, when a sequence is run alone, stays below; other rows are much further apart


def reordered(panel: Panel, order: Sequence[int], title: str, *, wrong: Iterable[tuple[int, int]] = ()) -> Panel:
    """Return the panel with its rows in this order, each in its own colour and with its own letter."""
    return replace(
        panel,
        title=title,
        texts=tuple(panel.texts[b] for b in order),
        owners=tuple(panel.owners[b] for b in order),
        rows=tuple(panel.rows[b] for b in order),
        wrong=frozenset(wrong),
    )


def _by_hand(laboratory: Laboratory) -> Outcome:
    h_n, by_hand = laboratory.fixed.value, laboratory.broken.value
    alone = laboratory.run(ALONE.format("")).value
    output = laboratory.run(PACK + "pad_packed_sequence(gru(packed)[0], batch_first=True)[0].detach()").value
    rows = torch.arange(len(h_n))
    ends = output[rows, laboratory.fixed["lengths"] - 1]
    mixed = apart(by_hand, alone)
    return Outcome(
        {"for the output": bool(apart(ends, alone)), "for h_n": bool(apart(h_n, alone))},
        f"A PackedSequence carries `sorted_indices` and `unsorted_indices`, and both results come back as given: row b "
        f"of `h_n` is what sequence b has alone. Put into order once more, {len(mixed)} of {len(alone)} rows would "
        "belong to another sequence: take `output` and `h_n` as they are.",
        picture(
            states("each one alone", alone), states("h_n", h_n), states("h_n[:, unsorted_indices]", by_hand, mixed)
        ),
    )


def apart(ours: Tensor, theirs: Tensor) -> list[int]:
    """Return which rows of two (B, H) differ by more than rounding."""
    return [b for b, pair in enumerate(zip(ours, theirs, strict=True)) if not torch.allclose(*pair, atol=_CLOSE)]


def states(title: str, h: Tensor, wrong: Sequence[int] = ()) -> Panel:
    """Return states (B, H) as a panel, a row for each sequence; wrong: rows of another sequence."""
    names = [sequence_label(b) for b in range(len(h))]
    return numbers(title, h, rows=names, wrong=[(b, unit) for b in wrong for unit in range(h.size(1))])


def _unpacked(laboratory: Laboratory) -> Outcome:
    output, x = laboratory.fixed["output"][:, :, 0], laboratory.fixed["x"][:, :, 0]
    lengths, longest_first = laboratory.fixed["lengths"].tolist(), laboratory.broken["sorted_lengths"].tolist()
    packed = laboratory.fixed["packed"]
    mistaken = [(b, n - 1) for b, n in enumerate(longest_first) if n != lengths[b]]
    return Outcome(
        {
            "for the rows": torch.equal(output, x[packed.sorted_indices]),
            "for the lengths": lengths == longest_first,
        },
        f"In `packed` the longest is first, with the lengths {longest_first}; unpacked, rows and lengths stand as "
        f"given, {lengths}. With the sorted lengths one reads {laboratory.broken.value.tolist()} as the last tokens; "
        f"they are {laboratory.fixed.value.tolist()}. Use the lengths that `pad_packed_sequence` returns.",
        picture(
            grid("x", x, lengths),
            strip("packed.data", packed.data, owners_of(lengths)),
            grid("unpacked; marked: read by mistake", output, lengths, wrong=mistaken),
        ),
    )


def _dropped(laboratory: Laboratory) -> Outcome:
    kept, dropped = laboratory.fixed, laboratory.broken
    wanted, came = kept.value, dropped.value
    lengths, order = kept["lengths"].tolist(), kept["packed"].sorted_indices
    states = [laboratory.run(_STATE, changed=run["changed"]).value for run in (kept, dropped)]
    whole = laboratory.run(_TENFOLD, changed=type(dropped["changed"])(10 * kept["packed"].data, *kept["packed"][1:]))
    misplaced = [(row, t) for row, t in (came != wanted).nonzero().tolist()]
    titled = grid("with _replace", wanted, lengths)
    shuffled = grid("", came[order.argsort()], lengths)
    return Outcome(
        {"for the unpacked rows": torch.equal(came, wanted), "for h_n": not apart(states[1], states[0])},
        f"Without the two indices the rows stay as they were sorted, {order.tolist()}, and nothing is raised. "
        f"`packed._replace(data=...)` keeps the indices, {_does(torch.equal(whole.value, wanted))} "
        "`PackedSequence(data, *packed[1:])`.",
        picture(titled, reordered(shuffled, order.tolist(), "PackedSequence(data, batch_sizes)", wrong=misplaced)),
    )


def _does(so: bool) -> str:
    return "and so does" if so else "but not"


# (B, H): each sequence's state when it is run by itself, to be completed with its initial state
ALONE = "torch.stack([gru(s.view(1, -1, 1){})[1][0, 0] for b, s in enumerate(sequences)]).detach()"
_UNPACK = PACK + "output, lengths = pad_packed_sequence(packed, batch_first=True)\n"
_STATE = "gru(changed)[1][0].detach()"
_TENFOLD = "pad_packed_sequence(changed, batch_first=True)[0].squeeze(2)"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="unsort-by-hand",
        group=GROUP,
        question="Do I have to unsort output and the hidden state h_n? My rows are mixed up, in wrong order.",
        claim="After `enforce_sorted=False` the results must be put back into order by hand.",
        broken=PACK + "output, h_n = gru(packed)\nh_n[0, packed.unsorted_indices].detach()",
        fixed=PACK + "output, h_n = gru(packed)\nh_n[0].detach()",
        experiment=_by_hand,
        source="pytorch/pytorch issue 4927; pytorch/pytorch issue 3584; vsepp issue 36",
        rows=(13,),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="order-after-unpacking",
        group=GROUP,
        question="Is the original order restored when pad_packed_sequence unpacks the sequences?",
        claim="`pad_packed_sequence` returns the longest sequence first.",
        broken=_UNPACK
        + "sorted_lengths = lengths.sort(descending=True).values\n"
        + "output[torch.arange(len(output)), sorted_lengths - 1].flatten()",
        fixed=_UNPACK + "output[torch.arange(len(output)), lengths - 1].flatten()",
        experiment=_unpacked,
        source="pytorch/pytorch issue 33746",
        rows=(14,),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="order-dropped",
        group=GROUP,
        question="Why are rows shuffled after BatchNorm or dropout on packed.data?",
        claim="`PackedSequence(data, batch_sizes)` is all that a packed batch needs.",
        broken="from torch.nn.utils.rnn import PackedSequence\n\n"
        + PACK
        + "# 10 * stands for any layer\nchanged = PackedSequence(10 * packed.data, packed.batch_sizes)\n"
        + _TENFOLD,
        fixed=PACK + "# 10 * stands for any layer\nchanged = packed._replace(data=10 * packed.data)\n" + _TENFOLD,
        experiment=_dropped,
        source="pytorch/pytorch issue 49936; pytorch/pytorch issue 26462",
        rows=(17,),
        batch="1 2\n3\n4 5 6",
    ),
)
