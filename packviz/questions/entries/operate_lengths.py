"""Entries: how does pack_padded_sequence function, on wrong lengths and on padding."""

from __future__ import annotations

from functools import partial

import torch

from packviz.batch import sequence_label
from packviz.questions.entries.operate_order import GROUP, SOURCE
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip

__all__ = ["ENTRIES"]

_PACK = """\
packed = pack_padded_sequence(
    x, {lengths}, batch_first=True, enforce_sorted=False
)
packed.data.flatten().tolist()"""
_WIDE = "x = nn.functional.pad(x, (0, 0, 0, 5 - x.size(1)))  # T = 5\n"
_RIGHT = _PACK.format(lengths="lengths")
_COUNTED = "lengths = torch.tensor([len(each) for each in sequences])\n"
_WATCHED = """\
from torch.nn.utils.rnn import pack_sequence
from torch.overrides import TorchFunctionMode

class Watch(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        called.append(function.__name__)
        return function(*args, **(kwargs or {}))

called = []
with Watch():
    pack_sequence(sequences, enforce_sorted=False)"""


def _packed(laboratory: Laboratory, lengths: list[int]) -> Program:
    return laboratory.run(_WIDE + _PACK.format(lengths="asked"), asked=torch.tensor(lengths))


def _too_long(laboratory: Laboratory) -> Outcome:
    x, lengths = laboratory.broken["x"][:, :, 0], laboratory.fixed["lengths"].tolist()
    longer = [*lengths[:-1], x.size(1)]
    beyond = _packed(laboratory, [*lengths[:-1], x.size(1) + 1])
    rows = torch.tensor(laboratory.broken.value or laboratory.fixed.value)
    owners = owners_of(longer)
    pads = [n for n, row in enumerate(rows.tolist()) if row == 0]
    torn = f"{len(beyond['packed'].data)} rows" if beyond.error is None else beyond.error
    return Outcome(
        {
            "for a length above the tokens, up to T": laboratory.broken.error is not None,
            "for a length above T": beyond.error is not None,
        },
        f"Nothing is raised: with the lengths {longer} it packs {[int(row) for row in rows]}, {len(pads)} pads among "
        f"them. It cannot know which zeros are pads. With {x.size(1) + 1} at T = {x.size(1)} it gives {torn}, while "
        f"the lengths add up to {sum(lengths[:-1]) + x.size(1) + 1}. Count the lengths before padding.",
        picture(grid("x", x, lengths), strip(f"data with lengths {longer}", rows, owners, wrong=pads)),
    )


def _tolerant(laboratory: Laboratory) -> Outcome:
    lengths, T = laboratory.fixed["lengths"].tolist(), laboratory.broken["x"].size(1)
    asked = {
        "for a length of 0": [*lengths[:-1], 0],
        "for a missing length with enforce_sorted=False": lengths[:-1],
        "for a length that is too large": [*lengths[:-1], T],
        "for a length that is larger than T": [*lengths[:-1], T + 1],
        "for a length that is too small": [lengths[0] - 1, *lengths[1:]],
    }
    done = {name: _packed(laboratory, wrong) for name, wrong in asked.items()}
    silent = [f"{asked[name]}" for name, program in done.items() if program.error is None]
    few = torch.tensor(sorted(lengths, reverse=True)[:-1])
    done["for a missing length with enforce_sorted=True"] = laboratory.run(
        "pack_padded_sequence(x[lengths.argsort(descending=True)], few, batch_first=True)", few=few
    )
    missing, b = done["for a missing length with enforce_sorted=False"], len(lengths) - 1
    left = torch.tensor(missing.value if missing.error is None else [])
    return Outcome(
        {name: program.error is not None for name, program in done.items()},
        f"The text is right that lengths must be checked, but the function is too tolerant, not too strict: with "
        f"`enforce_sorted=False` it took in silence {', '.join(silent)} instead of {lengths}. With one "
        "missing, a whole sequence is lost. Count the lengths before padding.",
        picture(
            grid("x", laboratory.fixed["x"][:, :, 0], lengths, wrong=[(b, t) for t in range(lengths[b])]),
            strip(f"data with lengths {lengths[:-1]}", left, owners_of(lengths[:-1])),
        ),
    )


def _instead(laboratory: Laboratory) -> Outcome:
    watched = laboratory.run(_WATCHED)
    calls = [name for name in watched["called"] if name in ("pad_sequence", "_pack_padded_sequence")]
    x, lengths = laboratory.fixed["x"][:, :, 0], laboratory.fixed["lengths"]
    return Outcome(
        {
            "for pack_padded_sequence": laboratory.broken.error is None,
            "for pack_sequence": "pad_sequence" not in calls,
        },
        f"It is no way around padding: `pack_padded_sequence` takes the padded tensor, {tuple(x.shape)} here, and "
        f"`pack_sequence` makes one inside, it calls {' and '.join(f'`{name}`' for name in calls)}. The pads are left "
        "out of `data`, but they were there first.",
        picture(
            grid("first: padded", x, lengths.tolist()),
            strip("then: packed", torch.tensor(laboratory.fixed.value), owners_of(lengths)),
        ),
    )


def _too_short(laboratory: Laboratory) -> Outcome:
    lengths, x = laboratory.fixed["lengths"].tolist(), laboratory.fixed["x"][:, :, 0]
    each = {b: [n - (i == b) for i, n in enumerate(lengths)] for b, length in enumerate(lengths) if length > 1}
    done = {b: _packed(laboratory, wrong) for b, wrong in each.items()}
    kept, right = laboratory.broken.value, laboratory.fixed.value
    lost = [number for number in right if number not in kept]
    dropped = [(b, t) for b, t in (x[..., None] == torch.tensor(lost)).any(-1).nonzero().tolist()]
    return Outcome(
        {f"for {sequence_label(b)}, one too short": program.error is not None for b, program in done.items()},
        f"Nothing is raised. With {laboratory.broken['short'].tolist()} instead of {lengths} the last token of each "
        f"longer sequence is dropped in silence: {[int(number) for number in lost]} (marked). `data` has {len(kept)} "
        f"rows instead of {len(right)}. Count the lengths before padding.",
        picture(grid("x", x, lengths, wrong=dropped)),
    )


_Claim = partial(Entry, group=GROUP, source=SOURCE)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="operate-length-too-large",
        question="Is an error raised when a length exceeds the number of non-padding tokens?",
        claim="A runtime error is thrown when lengths exceed the number of non-padding tokens.",
        broken=_WIDE + "lengths[-1] = 5  # it has 3 tokens\n" + _RIGHT,
        fixed=_WIDE + _RIGHT,
        experiment=_too_long,
        batch="1 2 3\n5 6\n7 8 9",
    ),
    _Claim(
        key="operate-fault-tolerant",
        question="Is pack_padded_sequence fault tolerant about lengths?",
        claim="Wrong lengths are not tolerated: they are refused.",
        broken=_WIDE + "lengths = lengths[:-1]  # one is missing\n" + _RIGHT,
        fixed=_WIDE + _COUNTED + _RIGHT,
        experiment=_tolerant,
        messages=(
            "RuntimeError: Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0",
            "RuntimeError: Expected `len(lengths)` to be equal to batch_size, but got 2 (batch_size=3)",
        ),
        batch="1 2 3\n5 6\n7 8 9",
    ),
    _Claim(
        key="operate-instead-of-padding",
        question="Is packing something to use instead of padding?",
        claim="Packing takes the place of padding.",
        broken="pack_padded_sequence(sequences, lengths, batch_first=True)",
        fixed=_RIGHT,
        experiment=_instead,
        messages=("TypeError: _pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not list",),
    ),
    _Claim(
        key="operate-length-too-small",
        question="And when a length is wrong in the other direction, too small?",
        claim="A length that is too small raises an error.",
        broken="short = (lengths - 1).clamp(min=1)\n" + _PACK.format(lengths="short"),
        fixed=_RIGHT,
        experiment=_too_short,
        batch="1 2 3\n4 5\n6 7 8 9",
    ),
)
