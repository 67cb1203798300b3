"""Entries: pads and packs, step by step."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from packviz.questions.entries.marking import letters, same
from packviz.questions.entries.walkthrough_costs import BATCH, COSTS, GROUP, PACK, SOURCE
from packviz.questions.entries.walkthrough_states import STATES
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Film, Outcome
from packviz.questions.pictures import grid, numbers, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP"]

_PACK_SEQUENCE = "torch.nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)"
_WATCHED = """from torch.utils._python_dispatch import TorchDispatchMode
made = []
class Watch(TorchDispatchMode):
    def __torch_dispatch__(self, call, types, args=(), kwargs=None):
        made.append(call(*args, **(kwargs or {})))
        return made[-1]
with Watch():
    WORK
shapes = [tuple(each.shape) for each in made if isinstance(each, torch.Tensor)]
[shape for shape in shapes if sorted(shape[:2]) == sorted((len(lengths), int(lengths.max())))]"""
_WITHOUT_PADS = """order = lengths.argsort(descending=True).tolist()
steps = range(int(lengths.max()))
torch.cat([sequences[b][t : t + 1] for t in steps
    for b in order if t < lengths[b]])"""
_UNPACK = "output, _ = gru(packed)\nback, _ = pad_packed_sequence(output{flag})\nback[..., 0].detach()"
_BACK = "back, _ = pad_packed_sequence(packed, batch_first=True)\n"
_CHANGES = {
    "for the batch as it is": "",
    "for a column to spare": "x = nn.functional.pad(x, (0, 0, 0, 1))\n",
    "for padding on the left": 'x = pad_sequence(sequences, True, padding_side="left")[..., None]\n',
    "for pads of -1": "x = pad_sequence(sequences, True, -1.0)[..., None]\n",
}


def _no_padding(laboratory: Laboratory) -> Outcome:
    padding = "pad_sequence(sequences, batch_first=True)"
    calls = {
        "for pack_padded_sequence": f"pack_padded_sequence({padding}, lengths, True, False)",
        "for pack_sequence": _PACK_SEQUENCE,
    }
    made = {name: laboratory.run(_WATCHED.replace("WORK", code)).value for name, code in calls.items()}
    x, data, lengths = laboratory.broken["x"][..., 0], laboratory.fixed.value, laboratory.broken["lengths"].tolist()
    cells, rows = laboratory.broken.value
    shapes = ", ".join(f"`{name.removeprefix('for ')}` {list(dict.fromkeys(found))}" for name, found in made.items())
    return Outcome(
        {name: not found for name, found in made.items()},
        f"Both begin with a padded tensor; torch was watched while it made them: {shapes}. What comes out holds no "
        f"pads: {rows} rows of {cells} cells. The padded tensor must be made, and then copied. The "
        "second program packs without one, in a slow loop.",
        picture(grid("padded first", x, lengths), strip("packed.data", data, owners_of(lengths))),
    )


def _list_input(laboratory: Laboratory) -> Outcome:
    given = laboratory.run("pack_padded_sequence(sequences, lengths, batch_first=True, enforce_sorted=False)")
    done, taken = laboratory.fixed, laboratory.run(PACK + "packed.data[:, 0]").value
    agree = done.error is None and same(done.value, taken)
    return Outcome(
        {"for pack_padded_sequence": laboratory.broken.error is None, "for pack_sequence": done.error is None},
        f"`pack_sequence` takes the list; `pack_padded_sequence` takes one padded tensor and the lengths. Given the "
        f'list, it raises "{laboratory.broken.error}", with `enforce_sorted=False` "{given.error}". The packed rows of '
        f"both are {'the same' if agree else 'not the same'}.",
    )


def _numpy_lengths(laboratory: Laboratory) -> Outcome:
    wanted = laboratory.broken.value
    forms = {"for a tensor": "lengths", "for a list": "lengths.tolist()"}
    runs = {name: laboratory.run(laboratory.entry.fixed.replace("lengths", form)) for name, form in forms.items()}
    elsewhere = laboratory.run(_ELSEWHERE).error
    agree = {name: run.error is None and same(run.value, wanted) for name, run in runs.items()}
    return Outcome(
        {name: not agrees for name, agrees in agree.items()},
        f"The array gives {len(wanted)} rows; a tensor on the CPU and a list give {_agreeing(agree)}. A tensor on "
        f'another device is refused, here on the device "meta": "{elsewhere}". Then `lengths.cpu()` is enough.',
    )


def _agreeing(agree: Mapping[str, bool]) -> str:
    return "the same" if all(agree.values()) else "not all the same"


def _transposed(laboratory: Laboratory) -> Outcome:
    plain, turned = laboratory.broken.value, laboratory.fixed.value
    lengths = laboratory.fixed["lengths"].tolist()
    B, T = len(lengths), max(lengths)
    return Outcome(
        {"with batch_first=False": plain.shape == (T, B), "with batch_first=True": torch.equal(turned, plain.T)},
        f"Without the flag the first two sizes are {tuple(plain.shape)}: T = {T}, B = {B}. With `batch_first=True` "
        f"they are {tuple(turned.shape)}. The flag of `pad_packed_sequence` is its own: set it there, too.",
        picture(
            numbers("unit 0, T × B", plain, columns=letters(turned)),
            numbers("unit 0, B × T", turned, rows=letters(turned)),
        ),
    )


def _inverse(laboratory: Laboratory) -> Outcome:
    runs = {name: laboratory.run(change + PACK + _BACK + "torch.equal(back, x)") for name, change in _CHANGES.items()}
    x, back = laboratory.broken["x"], laboratory.broken["back"]
    left, minus = runs["for padding on the left"], runs["for pads of -1"]
    lengths, returned = laboratory.broken["lengths"].tolist(), laboratory.fixed["back"]
    whole = "the same" if laboratory.fixed.value else "not the same"
    return Outcome(
        {name: bool(run.value) for name, run in runs.items()},
        f"With a column to spare, `x` of shape {tuple(x.shape)} comes back as {tuple(back.shape)}; with `total_length` "
        f"as {tuple(returned.shape)}, {whole} as `x`. Padded on the left, the tokens {_lost(left)} do not come back. "
        f"Pads of −1 come back as {_filler(minus)}: set `padding_value` in `pad_packed_sequence`, too.",
        picture(grid("x", x[..., 0], lengths), grid("back", back[..., 0], lengths)),
    )


def _lost(run: Program) -> list[float]:
    kept = run["back"].flatten().tolist()
    return [value for value in run["x"].flatten().tolist() if value not in kept]


def _filler(run: Program) -> list[float]:
    changed = run["x"] != run["back"]
    return sorted(set(run["back"][changed].tolist()))


_ELSEWHERE = """longest_first = lengths.sort(descending=True).values
pack_padded_sequence(x, longest_first.to("meta"), batch_first=True)"""
_SPARE = _CHANGES["for a column to spare"] + PACK
_NUMPY = "packed = pack_padded_sequence(x, {lengths}, batch_first=True,\n    enforce_sorted=False)\npacked.data[:, 0]"

_PACKING: tuple[Entry, ...] = (
    Entry(
        key="walkthrough-no-padding",
        group=GROUP,
        question="Does a PackedSequence do without a padded tensor?",
        claim="A PackedSequence is made without a padded tensor of the maximum length.",
        broken=PACK + "x.numel(), packed.data.numel()",
        fixed=_WITHOUT_PADS,
        experiment=_no_padding,
        source=SOURCE,
        batch="1 2\n3 4 5",
    ),
    Entry(
        key="walkthrough-list-input",
        group=GROUP,
        question="_pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not list",
        claim="The input of packing should be a list of Tensors.",
        broken="pack_padded_sequence(sequences, lengths, batch_first=True)",
        fixed=_PACK_SEQUENCE + ".data",
        experiment=_list_input,
        source=SOURCE,
        messages=(
            "TypeError: _pack_padded_sequence(): argument 'input' (position 1) must be Tensor, not list",
            "AttributeError: 'list' object has no attribute 'device'",
        ),
        batch=BATCH,
        film=Film("pad"),
    ),
    Entry(
        key="walkthrough-numpy-lengths",
        group=GROUP,
        question="Are seq_len.cpu().numpy() lengths needed?",
        claim="The lengths must be turned into a NumPy array.",
        broken=_NUMPY.format(lengths="lengths.cpu().numpy()"),
        fixed=_NUMPY.format(lengths="lengths"),
        experiment=_numpy_lengths,
        source=SOURCE,
        messages=("RuntimeError: 'lengths' argument should be a 1D CPU int64 tensor, but got 1D meta Long tensor",),
        batch=BATCH,
        film=Film("pack", name="margins"),
    ),
    Entry(
        key="walkthrough-transposed",
        group=GROUP,
        question="Why is the unpacked output T × B, and not B × T?",
        claim="Unpacked data is T × B × *, and with `batch_first` it is transposed.",
        broken=PACK + _UNPACK.format(flag=""),
        fixed=PACK + _UNPACK.format(flag=", batch_first=True"),
        experiment=_transposed,
        source=SOURCE,
        batch="1 2\n3 4 5",
    ),
    Entry(
        key="walkthrough-inverse",
        group=GROUP,
        question="Packed and unpacked: is that always the x that went in?",
        claim="`pad_packed_sequence` is the inverse operation of `pack_padded_sequence`.",
        broken=_SPARE + _BACK + "torch.equal(back, x)",
        fixed=_SPARE + _BACK.replace("True)", "True,\n    total_length=x.size(1))") + "torch.equal(back, x)",
        experiment=_inverse,
        source=SOURCE,
        batch=BATCH,
    ),
)
ENTRIES: tuple[Entry, ...] = (*COSTS, *_PACKING, *STATES)
