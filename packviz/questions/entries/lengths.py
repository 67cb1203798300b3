"""Entries: the lengths; here those of nothing, and too few or too many of them."""

from __future__ import annotations

from torch import Tensor

from packviz.batch import sequence_label
from packviz.questions.entries.lengths_on_devices import ENTRIES as ON_DEVICES
from packviz.questions.entries.lengths_on_devices import GROUP
from packviz.questions.entries.origins import cells, origins
from packviz.questions.entries.silent_lengths import ENTRIES as SILENT
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, picture, strip

__all__ = ["ENTRIES", "GROUP"]

_EMPTY = "lengths[1], x[1] = 0, 0  # sequence B is empty\n"
_CLAMPED = (
    _EMPTY + "packed = pack_padded_sequence(\n"
    "    x, lengths.clamp(min=1), batch_first=True, enforce_sorted=False\n)\n"
    "h_n = gru(packed)[1].detach()\nh_n[0], (h_n * (lengths > 0)[:, None])[0]"
)
_KEPT = "kept = lengths > 3\nlong_x, long = x[kept], lengths[kept]\n"
_FEW = "pack_padded_sequence(x, lengths[:-1], batch_first=True, enforce_sorted={})"
_MANY = "pack_padded_sequence(x[:-1], lengths, batch_first=True, enforce_sorted={})"


def _zero_length(laboratory: Laboratory) -> Outcome:
    lists = laboratory.run(
        "from torch.nn.utils.rnn import pack_sequence\nsequences[1] = sequences[1][:0]\n"
        "pack_sequence(sequences, enforce_sorted=False)"
    )
    unmasked, masked = laboratory.run(_CLAMPED).value
    away = float((masked - laboratory.fixed.value).abs().max())
    rows = [sequence_label(b) for b in range(len(masked))]
    wrong = [(b, j) for b, j in (unmasked != masked).nonzero().tolist()]
    return Outcome(
        {
            "in pack_padded_sequence": laboratory.broken.error is None,
            "in pack_sequence": lists.error is None,
        },
        "Either leave the empty rows out and put zeros back into `h_n`, or pack with `lengths.clamp(min=1)` and mask "
        f"`h_n` afterwards: {f'the two differ by {away:.1g} at most' if away else 'both give the same `h_n`'} here. "
        f"Without the mask B has the state after one pad, {_short(unmasked[1])}, which means nothing.",
        picture(
            numbers("h_n, clamp(min=1), no mask", unmasked, rows=rows, wrong=wrong),
            numbers("h_n, B left out", laboratory.fixed.value, rows=rows),
        ),
    )


def _empty_batch(laboratory: Laboratory) -> Outcome:
    narrow = laboratory.run("pack_padded_sequence(x[:, :0], torch.zeros_like(lengths), batch_first=True)")
    listed = laboratory.run("from torch.nn.utils.rnn import pack_sequence\npack_sequence([])")
    x, lengths = laboratory.fixed["x"][:, :, 0], laboratory.fixed["lengths"]
    kept = laboratory.fixed["kept"]
    return Outcome(
        {
            "of no sequences": laboratory.broken.error is None,
            "of no time steps": narrow.error is None,
            "in pack_sequence": listed.error is None,
        },
        f"{int(kept.sum()) or 'None'} of the {len(kept)} sequences {'are' if kept.sum() > 1 else 'is'} longer than 3. "
        f"{_of_nothing(laboratory.broken.error)}; of an empty list `pack_sequence` says `{listed.error}`. Look "
        f"first, and skip the cell: with an `h_n` of the shape {tuple(laboratory.fixed.value)} the program can go on.",
        picture(
            grid("x", x, lengths.tolist()),
            strip(
                f"lengths: {int(kept.sum())} above 3",
                lengths,
                list(range(len(kept))),
                wrong=(~kept).nonzero().flatten().tolist(),
            ),
        ),
    )


def _of_nothing(error: str | None) -> str:
    return "Torch packs them" if error is None else f"Torch says `{error}`"


def _wrong_number(laboratory: Laboratory) -> Outcome:
    few, many = ({held: laboratory.run(code.format(held)) for held in (True, False)} for code in (_FEW, _MANY))
    cases = {
        f"with enforce_sorted={held} and one length too {name}": done.error is not None
        for name, runs in (("few", few), ("many", many))
        for held, done in runs.items()
    }
    x, lengths = laboratory.fixed["x"][:, :, 0], laboratory.fixed["lengths"]
    B, T = x.shape
    rows, last = few[False].value.data, sequence_label(B - 1)
    owners = origins(cells(lengths, T)[:-1], lengths[:-1])
    lost = [(B - 1, t) for t in range(int(lengths[-1]))]
    return Outcome(
        cases,
        f"`pack_padded_sequence(x, lengths)` takes `x` {tuple(laboratory.fixed['x'].shape)} for {T} sequences, "
        f"because `batch_first=True` is missing. But with `enforce_sorted=False` too few lengths raise no error: with "
        f"{B - 1} lengths, {last} is left out, and {len(rows)} rows are packed instead of "
        f"{len(laboratory.fixed.value)}. An old release said `lengths array has incorrect size` (cited, not run here).",
        picture(
            grid(f"x, with {B - 1} lengths: {last} is left out", x, lengths.tolist(), wrong=lost),
            strip("packed.data", rows, owners),
        ),
    )


def _short(values: Tensor) -> str:
    return "[" + ", ".join(f"{value:.2f}" for value in values.tolist()) + "]"


_OWN: tuple[Entry, ...] = (
    Entry(
        key="length-zero",
        group=GROUP,
        question="Length of all samples has to be greater than 0: may a sequence be empty?",
        claim="A sequence of length 0 can be packed.",
        broken=_EMPTY + "pack_padded_sequence(\n    x, lengths, batch_first=True, enforce_sorted=False\n)",
        fixed=_EMPTY + "kept = lengths > 0\npacked = pack_padded_sequence(\n"
        "    x[kept], lengths[kept], batch_first=True, enforce_sorted=False\n)\n"
        "h_n = torch.zeros(1, len(lengths), gru.hidden_size)\nh_n[:, kept] = gru(packed)[1].detach()\nh_n[0]",
        experiment=_zero_length,
        source="pytorch/pytorch issue 4582; pytorch/pytorch issue 80605; pytorch/pytorch issue 149227",
        rows=(23,),
        messages=(
            "RuntimeError: Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0",
        ),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="empty-batch",
        group=GROUP,
        question="Cannot pack empty tensors: what about a batch without any sequence?",
        claim="An empty batch can be packed.",
        broken=_KEPT + "pack_padded_sequence(long_x, long, batch_first=True)",
        fixed=_KEPT + "h_n = torch.zeros(1, 0, gru.hidden_size)\nif len(long) > 0:\n"
        "    h_n = gru(pack_padded_sequence(long_x, long, batch_first=True))[1]\nh_n.shape",
        experiment=_empty_batch,
        source="pytorch/pytorch issue 20529; pytorch/pytorch issue 94885",
        rows=(24,),
        messages=("RuntimeError: Cannot pack empty tensors.", "RuntimeError: received an empty list of sequences"),
        batch="1 2 3\n4 5\n6",
    ),
    Entry(
        key="number-of-lengths",
        group=GROUP,
        question="Expected `len(lengths)` to be equal to batch_size: how can it be another number?",
        claim="A wrong number of lengths raises an error.",
        broken="pack_padded_sequence(x, lengths)",
        fixed="pack_padded_sequence(x, lengths, batch_first=True).data.flatten()",
        experiment=_wrong_number,
        source="pytorch/pytorch issue 2312; OpenNMT-py issue 28",
        rows=(30,),
        messages=(
            "RuntimeError: Expected `len(lengths)` to be equal to batch_size, but got 3 (batch_size=5)",
            "ValueError: lengths array has incorrect size",
        ),
        batch="1 2 3 4 5\n6 7 8\n9 10",
    ),
)

ENTRIES: tuple[Entry, ...] = tuple(sorted((*ON_DEVICES, *_OWN, *SILENT), key=lambda entry: entry.rows))
