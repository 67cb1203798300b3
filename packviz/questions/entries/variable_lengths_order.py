"""Entries: variable sequence lengths, what the text says about order."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from packviz.config import Config
from packviz.questions.entries.marking import differing, letters, same
from packviz.questions.entries.variable_lengths_padding import GROUP, SOURCE
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import numbers, picture, strip

__all__ = ["ORDER", "PACK"]

PACK = "packed = pack_padded_sequence(x, lengths, batch_first=True,\n    enforce_sorted=False)\n"
_BY_HAND = """longest_first = lengths.argsort(descending=True)
packed = pack_padded_sequence(x[longest_first], lengths[longest_first],
    batch_first=True)
"""
_INDICES = "y, i = lengths.sort(descending=True)\n_, r = i.sort()\n"
_LAST = (
    _INDICES
    + """packed = pack_padded_sequence(x[i], y, batch_first=True)
x, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)
j = torch.arange(len(y))
x[j, y - 1][r].detach()"""
)


def _sorted_required(laboratory: Laboratory) -> Outcome:
    by_hand = laboratory.broken["packed"].data[:, 0]
    calls = {
        "for a padded batch": PACK + "packed.data[:, 0]",
        "for a list of sequences": "torch.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False).data",
    }
    done = {name: laboratory.run(code) for name, code in calls.items()}
    moved, right = laboratory.broken.value, laboratory.fixed.value
    indices = laboratory.fixed["packed"].sorted_indices.tolist()
    agree = {name: run.error is None and same(run.value, by_hand) for name, run in done.items()}
    return Outcome(
        {name: not agrees for name, agrees in agree.items()},
        f"Since 1.1 `enforce_sorted=False` sorts, here with `sorted_indices` {indices}; {_agreeing(agree)}. `h_n` "
        "comes back in your order; sorted by hand, it stays in the sorted order. `pack_sequence` pads as well.",
        picture(
            numbers("h_n, sorted by hand", moved, rows=letters(moved), wrong=differing(moved, right)),
            numbers("h_n, enforce_sorted=False", right, rows=letters(right)),
        ),
    )


def _agreeing(agree: Mapping[str, bool]) -> str:
    both = all(agree.values())
    return "its packed rows are those sorted by hand" if both else "its packed rows are not those sorted by hand"


def _inverse(laboratory: Laboratory) -> Outcome:
    lengths, y, i, r = (laboratory.fixed[name] for name in ("lengths", "y", "i", "r"))
    unsorted = laboratory.run(PACK + "packed.unsorted_indices").value
    twice = torch.tensor(laboratory.broken.value)
    wrong = (twice != lengths).nonzero().flatten().tolist()
    return Outcome(
        {"for the lengths": bool((y[r] == lengths).all()), "for unsorted_indices": bool((r == unsorted).all())},
        f"`i` = {i.tolist()} says which row comes next in the sorted batch. `r` = {r.tolist()} says where each row "
        f"went: the inverse permutation, which torch keeps as `unsorted_indices`. With `i` again instead of `r` the "
        f"lengths come out as {twice.tolist()}.",
        picture(
            strip("lengths", lengths, range(len(lengths))),
            strip("y[r]", y[r], i[r].tolist()),
            strip("y[i]", twice, i[i].tolist(), wrong=wrong),
        ),
    )


def _last_output(laboratory: Laboratory) -> Outcome:
    taken, final = laboratory.broken.value, laboratory.fixed.value
    H = laboratory.entry.config.hidden_size
    wrong = differing(taken, final)
    columns = (*(f"→ {unit}" for unit in range(H)), *(f"← {unit}" for unit in range(H)))
    return Outcome(
        {
            "in the forward half": same(taken[:, :H], final[:, :H]),
            "in the backward half": same(taken[:, H:], final[:, H:]),
        },
        f"At its last token the backward direction has seen that one token only: {len(wrong)} of {final.numel()} "
        "numbers differ. It ends at time step 0. Join `h_n[-2]` and `h_n[-1]`: both have seen the whole sequence.",
        picture(
            numbers("x[j, y - 1][r]", taken, rows=letters(taken), columns=columns, wrong=wrong),
            numbers("h_n[-2], h_n[-1]", final, rows=letters(final), columns=columns),
        ),
    )


ORDER: tuple[Entry, ...] = (
    Entry(
        key="variable-sorted-required",
        group=GROUP,
        question="Must I pad and sort the sequences myself before I pack them?",
        claim="A PackedSequence must be made of sequences that you have padded and sorted yourself.",
        broken=_BY_HAND + "gru(packed)[1][0].detach()",
        fixed=PACK + "gru(packed)[1][0].detach()",
        experiment=_sorted_required,
        source=SOURCE,
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="variable-inverse",
        group=GROUP,
        question="What are the sorted indices of the sorted indices?",
        claim="The sorted indices of the sorted indices put every row back where it was.",
        broken=_INDICES + "y[i].tolist()",
        fixed=_INDICES + "y[r].tolist()",
        experiment=_inverse,
        source=SOURCE,
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="variable-last-output",
        group=GROUP,
        question="Does x[j, i][r] get the last output of a bidirectional GRU?",
        claim="`x[j, i][r]` gets the last output of every sequence from a bidirectional GRU.",
        broken=_LAST,
        fixed=PACK + "_, h_n = gru(packed)\ntorch.cat([h_n[-2], h_n[-1]], dim=1).detach()",
        experiment=_last_output,
        source=SOURCE,
        batch="1 2\n3\n4 5 6",
        config=Config(hidden_size=2, bidirectional=True),
    ),
)
