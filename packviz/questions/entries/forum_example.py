"""Entries: a forum thread on both functions, on the example that it begins with."""

from __future__ import annotations

from functools import partial

from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from packviz.questions.entries.packing_lines import PACK_SORTED
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP", "SOURCE"]

GROUP = "Text: a forum thread on both functions"
SOURCE = "PyTorch forum, Understanding pack_padded_sequence and pad_packed_sequence"

_POSTED = """\
batch_in = torch.zeros(3, 3, 1)
batch_in[0] = torch.FloatTensor([1, 2, 3])
batch_in[1] = torch.FloatTensor([1, 2, 0])
batch_in[2] = torch.FloatTensor([1, 0, 0])
packed = pack_padded_sequence(batch_in, [3, 2, 1], batch_first=True)
packed.data.flatten()"""
_ONE_ROW = """\
batch_in = torch.zeros(len(sequences), 1, x.size(1))
for row, sequence in zip(batch_in, sequences):
    row[0, : len(sequence)] = sequence
packed = pack_padded_sequence(batch_in, lengths, batch_first=True)
"""
_LONG = """\
batch_in = torch.LongTensor([[1, 2, 3], [4, 5, 0], [6, 0, 0]])
packed = pack_padded_sequence(batch_in, [3, 2, 1], batch_first=True)
"""
_EMBEDDED = """\
batch_in = torch.LongTensor([[1, 2, 3], [4, 5, 0], [6, 0, 0]])
embedded = nn.Embedding(7, 2, padding_idx=0)(batch_in)
packed = pack_padded_sequence(embedded, [3, 2, 1], batch_first=True)
_, h_n = nn.GRU(2, 4)(packed)
h_n.shape"""


def _square(laboratory: Laboratory) -> Outcome:
    x, size = laboratory.fixed["x"], tuple(laboratory.fixed["packed"].data.shape)
    wanted, rows = tuple(x.shape[:2]), laboratory.fixed["packed"].data
    lengths = laboratory.fixed["lengths"].tolist()
    return Outcome(
        {"for this batch": size == wanted},
        f"`packed.data` is {size}: one row for each token, {' + '.join(map(str, lengths))} = {sum(lengths)} of them, "
        f"and {size[1]} feature. A tensor of {wanted} would hold the pads, too; packing leaves them out.",
        picture(grid(f"x, {wanted} cells", x[:, :, 0], lengths), strip("packed.data", rows, owners_of(lengths))),
    )


def _wrong_shape(laboratory: Laboratory) -> Outcome:
    tall, flat = laboratory.fixed["packed"], laboratory.broken["packed"]
    entered = {"x": tall, "batch_in": flat}
    names = {"x": laboratory.fixed["x"], "batch_in": laboratory.broken["batch_in"]}
    running = laboratory.run(f"{_ONE_ROW}nn.RNN(x.size(1), 2)(packed)")
    lengths = laboratory.fixed["lengths"].tolist()
    size = tuple(tall.data.shape)
    return Outcome(
        {
            f"for the shape {tuple(names[name].shape)}": tuple(packed.data.shape) == size and _torn(packed)
            for name, packed in entered.items()
        },
        f"{size} is right, and comes from the right shape {tuple(names['x'].shape)}. The shape "
        f"{tuple(names['batch_in'].shape)} gives `data` of {tuple(flat.data.shape)} without an error, but it does not "
        f"fit: {len(flat.data)} rows, while `batch_sizes` {flat.batch_sizes.tolist()} count "
        f"{int(flat.batch_sizes.sum())}. The RNN then ends in `{running.error}`",
        picture(
            grid(f"data of {tuple(names['batch_in'].shape)}", flat.data, lengths, wrong=_pads(flat.data, lengths)),
            strip(f"data of {tuple(names['x'].shape)}", tall.data, owners_of(lengths)),
        ),
    )


def _torn(packed: PackedSequence) -> bool:
    return len(packed.data) != int(packed.batch_sizes.sum())


def _pads(values: Tensor, lengths: list[int]) -> list[tuple[int, int]]:
    return [(b, t) for b, length in enumerate(lengths) for t in range(length, values.size(1))]


def _runs(laboratory: Laboratory) -> Outcome:
    done = laboratory.fixed
    left, right = laboratory.broken["batch_in"][:, :, 0], done["batch_in"][:, :, 0]
    wrong = [(0, t) for t in range(3)] if laboratory.broken.error else []
    return Outcome(
        {"for the code as it is posted": laboratory.broken.error is None},
        f"One row of `batch_in` is {tuple(done['batch_in'][0].shape)}, and what is written into it is (3,). With "
        f"`unsqueeze(-1)` it fits, and `data` is {done.value.tolist()}.",
        picture(grid("batch_in, posted", left, (3, 2, 1), wrong=wrong), grid("with unsqueeze(-1)", right, (3, 2, 1))),
    )


def _long(laboratory: Laboratory) -> Outcome:
    packing = laboratory.run(f"{_LONG}packed.data.tolist()")
    floats = laboratory.run(f"{_LONG}nn.GRU(1, 4)(packed._replace(data=packed.data.float()))")
    rows = laboratory.broken["packed"].data
    return Outcome(
        {
            "for packing": packing.error is None,
            "for the GRU behind it": laboratory.broken.error is None or floats.error is None,
        },
        f"It packs: `data` is {packing.value}. But these are whole numbers, which no GRU takes, and `data` has "
        f"{rows.dim()} dimension: as float it ends in `{floats.error}`. Ids need an embedding first; then `h_n` is "
        f"{tuple(laboratory.fixed.value)}.",
        picture(
            grid("batch_in", laboratory.broken["batch_in"], (3, 2, 1)),
            strip("packed.data, no features", rows, owners_of((3, 2, 1)), wrong=range(len(rows))),
        ),
    )


_Claim = partial(Entry, group=GROUP, source=SOURCE)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="forum-3x3",
        question="Three sequences of up to three numbers: should packed.data not be 3x3?",
        claim="Packing three sequences of up to three numbers should give 3x3; 6x1 is a bug.",
        broken=PACK_SORTED + "packed.data.view(x.shape[:2])",
        fixed=PACK_SORTED + "packed.data.shape, lengths.sum()",
        experiment=_square,
        messages=("RuntimeError: shape '[3, 3]' is invalid for input of size 6",),
    ),
    _Claim(
        key="forum-wrong-shape",
        question="Is data (6, 1) because my batch has a wrong shape?",
        claim="A wrong shape of the batch is the reason for 6x1 instead of 3x3.",
        broken=_ONE_ROW + "pad_packed_sequence(packed, batch_first=True)",
        fixed=PACK_SORTED + "packed.data.shape, packed.batch_sizes.tolist()",
        experiment=_wrong_shape,
        messages=(
            "RuntimeError: shape '[1, 2, 3]' is invalid for input of size 0",
            "RuntimeError: start (3) + length (2) exceeds dimension size (3).",
        ),
    ),
    _Claim(
        key="forum-posted-code",
        question="The expanded size of the tensor must match the existing size: does the posted code run?",
        claim="The code posted in the thread runs.",
        broken=_POSTED,
        fixed=_POSTED.replace("])\n", "]).unsqueeze(-1)\n"),
        experiment=_runs,
        messages=(
            "RuntimeError: The expanded size of the tensor (1) must match the existing size (3) at non-singleton "
            "dimension 1.  Target sizes: [3, 1].  Tensor sizes: [3]",
        ),
    ),
    _Claim(
        key="forum-longtensor",
        question="Does a LongTensor batch repair the example?",
        claim="Writing the batch as one LongTensor repairs the example.",
        broken=_LONG + "nn.GRU(1, 4)(packed)",
        fixed=_EMBEDDED,
        experiment=_long,
        messages=(
            "ValueError: RNN input dtype (torch.int64) does not match weight dtype (torch.float32). Convert input: "
            "input.to(torch.float32), or convert model: model.to(torch.int64)",
            "RuntimeError: input must have 2 dimensions, got 1",
        ),
    ),
)
