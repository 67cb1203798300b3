"""Entries: a PackedSequence where a tensor, a list or a pair is expected."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch.nn.utils.rnn import PackedSequence

from packviz.charts import Panel
from packviz.questions.entries.packing_lines import PACK, PACK_SORTED
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Film, Outcome
from packviz.questions.pictures import grid, owners_of, picture, strip
from packviz.reference import distance

__all__ = ["ENTRIES", "GROUP", "fields"]

GROUP = "What is in a PackedSequence"
_CELLS = ("RNN", "GRU", "LSTM")


def _not_a_pair(laboratory: Laboratory) -> Outcome:
    pair = laboratory.broken
    packed = laboratory.fixed["packed"]
    names = [f"`{name}`" for name in packed._fields]
    return Outcome(
        {"in data, batch_sizes = packed": pair.error is None},
        f"It has {len(packed)} fields: {', '.join(names)}. Take those that you need by their names: then it does not "
        "matter how many there are.",
        picture(*fields(packed, laboratory.fixed["lengths"])),
    )


def fields(packed: PackedSequence, lengths: torch.Tensor) -> tuple[Panel, ...]:
    """Return the four fields of what was packed unsorted with these lengths (B,), each with its shape."""
    data, sizes, order, back = (torch.as_tensor(field) for field in packed)
    return (
        strip(f"data: {tuple(data.shape)}", data, owners_of(lengths)),
        _plain(f"batch_sizes: {tuple(sizes.shape)}", sizes),
        strip(f"sorted_indices: {tuple(order.shape)}", order, order.tolist()),
        strip(f"unsorted_indices: {tuple(back.shape)}", back, list(range(len(back)))),
    )


def _plain(title: str, values: torch.Tensor) -> Panel:
    """Return whole numbers (T,) that belong to no sequence, in the neutral colour."""
    return replace(strip(title, values, ()), owners=(), values=((0.0,) * len(values),))


def _not_a_list(laboratory: Laboratory) -> Outcome:
    packed, sequences = laboratory.fixed["packed"], laboratory.fixed["sequences"]
    kinds = laboratory.run(PACK + _KINDS).value
    in_order = laboratory.run(_LONGEST_FIRST + PACK_SORTED + _KINDS).value
    first = laboratory.run(PACK + "packed[0]").value
    owners = owners_of(laboratory.fixed["lengths"])
    return Outcome(
        {
            "with len(packed)": laboratory.broken.value == len(sequences),
            "with packed[0]": torch.equal(first.flatten(), sequences[0]),
        },
        f"It is a tuple: `len(packed)` is {laboratory.broken.value} for {len(sequences)} sequences, and a loop goes "
        f"over its fields, here {', '.join(kinds)}; with `enforce_sorted=True` {', '.join(in_order)}. "
        f"`packed[0]` is `packed.data`, {len(packed.data)} rows of all sequences. `unpack_sequence(packed)` returns a "
        "list of the sequences.",
        picture(strip("packed[0]", first, owners), strip("sequences[0]", sequences[0], [0] * len(sequences[0]))),
    )


def _pointwise(laboratory: Laboratory) -> Outcome:
    tried = {name: laboratory.run(PACK + code) for name, code in _POINTWISE.items()}
    twice = laboratory.run(PACK + "packed * 2")
    before, after = laboratory.fixed["packed"], laboratory.fixed["changed"]
    kept = all(torch.equal(*pair) for pair in zip(before[1:], after[1:], strict=True))
    owners, lengths = owners_of(laboratory.fixed["lengths"]), laboratory.fixed["lengths"].tolist()
    return Outcome(
        {f"with {name}": done.error is None for name, done in tried.items()},
        f"Apply the function or the layer to `packed.data`, and put its {len(after.data)} rows in place of the old "
        f"ones: `packed._replace(data=...)` {'keeps' if kept else 'changes'} the other three fields. "
        f"{_doubled(twice)}",
        picture(
            strip("packed.data", before.data, owners),
            strip("changed.data", after.data, owners),
            grid("unpacked", laboratory.fixed.value, lengths),
        ),
    )


def _doubled(twice: Program) -> str:
    if twice.error is not None:
        return f"`packed * 2` ends in `{twice.error}`."
    return f"Take care with `packed * 2`: nothing is raised, and it is a tuple of {len(twice.value)} fields."


def _embedding(laboratory: Laboratory) -> Outcome:
    first = laboratory.fixed["packed"].data
    rows = laboratory.run(_PACK_IDS + "embedding(packed.data)").value
    apart = distance(rows.detach(), first.detach())
    return Outcome(
        {"with embedding(packed)": laboratory.broken.error is None},
        f"Embed the padded ids, then pack: `data` has the size {tuple(first.shape)}. `embedding(packed.data)` would do "
        f"as well: its {len(rows)} rows are {'the same' if apart == 0 else f'up to {apart:.2g} away'}.",
    )


def _cells(laboratory: Laboratory) -> Outcome:
    modules = {name: laboratory.run(PACK + f"nn.{name}(1, 4)(packed)") for name in _CELLS}
    cells = {f"{name}Cell": laboratory.run(PACK + f"nn.{name}Cell(1, 4)(packed)") for name in _CELLS}
    apart = distance(laboratory.fixed.value, laboratory.run(PACK + "gru(packed)[1][0].detach()").value)
    sizes = laboratory.fixed["packed"].batch_sizes.tolist()
    return Outcome(
        {f"with nn.{name}": done.error is None for name, done in (modules | cells).items()},
        f"A cell takes one time step: loop over `batch_sizes`, {sizes}, and give it that many rows of `data` at a "
        "time. With the weights of `gru` the loop ends with "
        f"{f'its `h_n`, but for {apart:.0e}' if apart else 'the same `h_n`, to the last bit'}.",
    )


_KINDS = '["None" if each is None else type(each).__name__ for each in packed]'
_LONGEST_FIRST = "order = lengths.argsort(descending=True)\nx, lengths = x[order], lengths[order]\n"
_PACK_IDS = PACK.replace("x, ", "ids, ")
_POINTWISE = {
    "torch.relu": "torch.relu(packed)",
    "torch.sigmoid": "torch.sigmoid(packed)",
    "nn.Linear": "nn.Linear(1, 2)(packed)",
    "nn.Dropout": "nn.Dropout(0.5)(packed)",
}
_LOOP = """\
cell = nn.GRUCell(1, 4)
weights = gru.state_dict()
cell.load_state_dict(
    {name.removesuffix("_l0"): weights[name] for name in weights}
)
h, rows = torch.zeros(len(lengths), 4), 0
for size in packed.batch_sizes.tolist():
    now = cell(packed.data[rows : rows + size], h[:size])
    h, rows = torch.cat([now, h[size:]]), rows + size
h[packed.unsorted_indices].detach()"""

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="four-fields",
        group=GROUP,
        question="ValueError: too many values to unpack (expected 2), from a PackedSequence",
        claim="A PackedSequence is a pair of `data` and `batch_sizes`.",
        broken=PACK + "data, batch_sizes = packed",
        fixed=PACK + "data, batch_sizes = packed.data, packed.batch_sizes\ndata.shape, batch_sizes",
        experiment=_not_a_pair,
        source="sgrvinod captioning issues 75, 123, 161 and pull request 125; adaptive-attention issue 12",
        rows=(6,),
        messages=("ValueError: too many values to unpack (expected 2)",),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="len-of-packed",
        group=GROUP,
        question="Why is len(packed) 4? Can I iterate over the sequences of a PackedSequence?",
        claim="A PackedSequence is a list of the sequences.",
        broken=PACK + "len(packed)",
        fixed="from torch.nn.utils.rnn import unpack_sequence\n\n"
        + PACK
        + "[each.flatten().tolist() for each in unpack_sequence(packed)]",
        experiment=_not_a_list,
        source="PyTorch torch.nn.utils.rnn.PackedSequence",
        rows=(7,),
        batch="1 2\n3\n4 5 6",
    ),
    Entry(
        key="pointwise-on-data",
        group=GROUP,
        question="Argument 'input' must be Tensor, not PackedSequence: how do I apply a layer?",
        claim="Functions of tensors, and layers such as `nn.Linear`, take a PackedSequence.",
        broken=PACK + "torch.relu(packed)",
        fixed=PACK
        + "changed = packed._replace(data=torch.relu(packed.data))\n"
        + "pad_packed_sequence(changed, batch_first=True)[0].squeeze(2)",
        experiment=_pointwise,
        source="pytorch/pytorch issue 25310; pytorch/pytorch issue 8921; pytorch/pytorch issue 9193",
        rows=(8,),
        messages=tuple(
            f"TypeError: {name}(): argument 'input' (position 1) must be Tensor, not PackedSequence"
            for name in ("relu", "sigmoid", "linear", "dropout")
        ),
        batch="1 -2\n-3\n4 -5 6",
    ),
    Entry(
        key="embed-before-packing",
        group=GROUP,
        question="Where does the embedding go: before or after packing?",
        claim="`nn.Embedding` takes a PackedSequence of ids.",
        broken=_PACK_IDS + "embedding(packed)",
        fixed="x = embedding(ids)\n" + PACK + "packed.data.shape",
        experiment=_embedding,
        source="PyTorch forum, Understanding pack_padded_sequence and pad_packed_sequence",
        rows=(9,),
        messages=("TypeError: embedding(): argument 'indices' (position 2) must be Tensor, not PackedSequence",),
        batch="get set\ngo\non your mark",
        film=Film("embed", name="embedded"),
    ),
    Entry(
        key="cells-on-packed",
        group=GROUP,
        question="'PackedSequence' object has no attribute 'dim': can a custom cell or a GRUCell read it?",
        claim="Every recurrent module of PyTorch takes a PackedSequence.",
        broken=PACK + "nn.GRUCell(1, 4)(packed)",
        fixed=PACK + _LOOP,
        experiment=_cells,
        source="recurrent-batch-normalization-pytorch issue 14; indrnn-pytorch issue 7",
        rows=(10,),
        messages=("AttributeError: 'PackedSequence' object has no attribute 'dim'",),
        batch="1 2\n3\n4 5 6",
        film=Film("run", timestep=1),
    ),
)
