"""Entries: shapes and types that torch refuses, from a list of sequences to the cell."""

from __future__ import annotations

from packviz.batch import sequence_label
from packviz.charts import Panel
from packviz.config import Config
from packviz.questions.entries.origins import cells, origins
from packviz.questions.entries.packing_lines import PACK_SORTED
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, picture, strip

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Shapes and batch_first"

_CELLS = ("RNN", "GRU", "LSTM")
_FLAT = "flat = pad_sequence(sequences, batch_first=True)  # (B, T)\n"
_BOX = "box = torch.zeros(len(sequences), int(lengths.max()), 1)\n"
_LOADER = "from torch.utils.data import DataLoader\n"
_DTYPE = (
    "ValueError: RNN input dtype (torch.{0}) does not match weight dtype (torch.float32). "
    "Convert input: input.to(torch.float32), or convert model: model.to(torch.{0})"
)


def _no_feature_axis(laboratory: Laboratory) -> Outcome:
    pack = _FLAT + "packed = pack_padded_sequence(flat, lengths, batch_first=True)\n"
    runs = {
        name: laboratory.run(pack + f"nn.{name}(1, {laboratory.entry.config.hidden_size})(packed)") for name in _CELLS
    }
    flat, lengths = laboratory.fixed["flat"], laboratory.fixed["lengths"]
    data, owners = runs["GRU"]["packed"].data, origins(cells(lengths, flat.size(1)), lengths)
    upright = laboratory.fixed["packed"].data
    deep = Panel(
        f"with a feature axis: {tuple(upright.shape)}",
        tuple((f"{value:g}",) for value in upright[:, 0].tolist()),
        tuple((owner,) for owner in owners),
    )
    return Outcome(
        {f"for nn.{name}": run.error is None for name, run in runs.items()},
        f"Packing takes a (B, T) tensor, and `data` is then {tuple(data.shape)}. The cell wants a vector for each row: "
        f"{tuple(upright.shape)}. The GRU says `{runs['GRU'].error}`, the LSTM `{runs['LSTM'].error}`. Add the axis "
        "with `unsqueeze(-1)`, or an embedding, before you pack.",
        picture(strip(f"data: {tuple(data.shape)}", data, owners, wrong=range(len(data))), deep),
    )


def _row_of_a_box(laboratory: Laboratory) -> Outcome:
    lengths = laboratory.fixed["lengths"].tolist()
    put = _BOX + "box[{0}, : len(sequences[{0}])] = sequences[{0}]"
    tried = [laboratory.run(put.format(b)) for b in range(len(lengths))]
    first, box = laboratory.fixed["sequences"][0], laboratory.fixed["box"]
    room = tuple(tuple(f"{value:g}" for value in row) for row in box[0, : lengths[0]].tolist())
    return Outcome(
        {
            f"for {sequence_label(b)} of length {length}": run.error is None
            for b, (length, run) in enumerate(zip(lengths, tried, strict=True))
        },
        f"A row of `box` has the shape {tuple(box[0].shape)}, and sequence A {tuple(first.shape)}. Torch compares "
        f"the last axes first, {len(first)} here and {box.size(2)} there. Give A the same last axis with "
        f"`unsqueeze(-1)`: {tuple(first.unsqueeze(-1).shape)}. Or let `pad_sequence` make the whole tensor.",
        picture(
            strip(f"sequences[0]: {tuple(first.shape)}", first, [0] * len(first), wrong=range(len(first))),
            Panel(f"its place in box: {(len(room), 1)}", room, ((0,),) * len(room)),
        ),
    )


def _one_axis(laboratory: Laboratory) -> Outcome:
    pack = "pack_padded_sequence(sequences[0], lengths[:1], batch_first={})"
    runs = {held: laboratory.run(pack.format(held)) for held in (True, False)}
    first, rows = laboratory.fixed["sequences"][0], laboratory.fixed["alone"]
    alone = laboratory.run("gru(sequences[0].unsqueeze(-1))[1].shape").value
    return Outcome(
        {f"with batch_first={held}": run.error is None for held, run in runs.items()},
        f"Torch looks for an axis of time and an axis of sequences, and {tuple(first.shape)} has only one axis. Make a "
        f"batch of one, with a feature axis for the cell: `view(1, -1, 1)`, {tuple(rows.shape)}. One sequence "
        f"alone needs no packing: `gru(sequences[0].unsqueeze(-1))` gives an `h_n` of the shape {tuple(alone)}.",
        picture(
            strip(f"sequences[0]: {tuple(first.shape)}", first, [0] * len(first), wrong=range(len(first))),
            grid(f"a batch of one: {tuple(rows.shape)}", rows[:, :, 0], [len(first)]),
        ),
    )


def _stacked(laboratory: Laboratory) -> Outcome:
    listed = laboratory.run("torch.tensor([sequence.tolist() for sequence in sequences])")
    loaded = laboratory.run(_LOADER + "next(iter(DataLoader(sequences, batch_size=len(sequences))))")
    sequences, padded = laboratory.fixed["sequences"], laboratory.fixed["padded"]
    ragged = Panel(
        f"sequences of lengths {laboratory.fixed['lengths'].tolist()}",
        tuple(tuple(f"{value:g}" for value in row.tolist()) for row in sequences),
        tuple((b,) * len(row) for b, row in enumerate(sequences)),
        rows=tuple(sequence_label(b) for b in range(len(sequences))),
    )
    return Outcome(
        {
            "with torch.stack": laboratory.broken.error is None,
            "with torch.tensor": listed.error is None,
            "in a DataLoader": loaded.error is None,
        },
        f"A tensor has no ragged rows. `pad_sequence` fills them up to {padded.size(1)} columns: "
        f"{tuple(padded.shape)}. A DataLoader needs a `collate_fn` that calls it and returns the lengths as well.",
        picture(ragged, grid(f"padded: {tuple(padded.shape)}", padded, laboratory.fixed["lengths"].tolist())),
    )


def _whole_numbers(laboratory: Laboratory) -> Outcome:
    pack = "packed = pack_padded_sequence(ids.unsqueeze(-1), lengths, batch_first=True)\n"
    runs = {name: laboratory.run(pack + f"nn.{name}(1, 4)(packed)") for name in _CELLS}
    plain = laboratory.run("nn.LSTM(1, 4, batch_first=True)(ids.unsqueeze(-1))")
    ids, x = laboratory.fixed["ids"], laboratory.fixed["x"]
    weights = laboratory.fixed["gru"].weight_ih_l0.dtype
    return Outcome(
        {f"for nn.{name}": run.error is None for name, run in runs.items()}
        | {"for nn.LSTM without packing": plain.error is None},
        f"The ids are {ids.dtype}, and the weights {weights}. The packed LSTM says it in other words: "
        f"`{runs['LSTM'].error}`. For words use an embedding: `embedding(ids)` is {x.dtype}. For numbers write "
        "`.float()`.",
        picture(
            grid(f"ids: {ids.dtype}", ids, laboratory.fixed["lengths"].tolist()),
            numbers(f"embedding(ids)[0]: {x.dtype}", x[0], rows=[f"t={t}" for t in range(len(x[0]))]),
        ),
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="no-feature-axis",
        group=GROUP,
        question="input must have 2 dimensions, got 1: what is missing in my packed data?",
        claim="A cell can read packed data of the shape (N,).",
        broken=_FLAT + "packed = pack_padded_sequence(flat, lengths, batch_first=True)\ngru(packed)",
        fixed=_FLAT
        + "x = flat.unsqueeze(-1)  # (B, T, 1)\n"
        + "packed = pack_padded_sequence(x, lengths, batch_first=True)\n"
        + "gru(packed)[0].data.shape",
        experiment=_no_feature_axis,
        source="PyTorch forum, Understanding pack_padded_sequence and pad_packed_sequence",
        rows=(34,),
        messages=(
            "RuntimeError: input must have 2 dimensions, got 1",
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x3 and 1x8)",
        ),
        batch="1 2\n3",
        config=Config(hidden_size=2),
    ),
    Entry(
        key="row-of-a-box",
        group=GROUP,
        question="The expanded size of the tensor (1) must match the existing size (3): why?",
        claim="A sequence of the shape (length,) can be put into a row of a (B, T, 1) tensor.",
        broken=_BOX + "box[0, : len(sequences[0])] = sequences[0]\nbox[0].flatten()",
        fixed=_BOX + "box[0, : len(sequences[0])] = sequences[0].unsqueeze(-1)\nbox[0].flatten()",
        experiment=_row_of_a_box,
        source="PyTorch forum, Understanding pack_padded_sequence and pad_packed_sequence",
        rows=(35,),
        messages=(
            "RuntimeError: The expanded size of the tensor (1) must match the existing size (3) at non-singleton "
            "dimension 1.  Target sizes: [3, 1].  Tensor sizes: [3]",
        ),
        batch="1 2 3\n4 5",
    ),
    Entry(
        key="one-axis",
        group=GROUP,
        question="Dimension out of range (expected to be in range of [-1, 0], but got 1): why?",
        claim="A single sequence of the shape (T,) can be packed as it is.",
        broken="pack_padded_sequence(sequences[0], lengths[:1], batch_first=True)",
        fixed="alone = sequences[0].view(1, -1, 1)  # (B, T, F)\n"
        "pack_padded_sequence(alone, lengths[:1], batch_first=True).data",
        experiment=_one_axis,
        source="Active-NLP issue 2",
        rows=(36,),
        messages=("IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",),
        batch="1 2 3\n4 5",
    ),
    Entry(
        key="ragged-list",
        group=GROUP,
        question="stack expects each tensor to be equal size: how do I collate different lengths?",
        claim="Sequences of different lengths can be made one tensor as they are.",
        broken="torch.stack(sequences)",
        fixed=_LOADER
        + """
def collate_fn(batch):
    lengths = torch.tensor([len(sequence) for sequence in batch])
    return pad_sequence(batch, batch_first=True), lengths

loader = DataLoader(sequences, batch_size=3, collate_fn=collate_fn)
padded, lengths = next(iter(loader))
padded.shape, lengths""",
        experiment=_stacked,
        source="captcha-recognition issue 1; imagen-pytorch issue 288; psetae issue 21; GenBioEL issue 3",
        rows=(37,),
        messages=(
            "RuntimeError: stack expects each tensor to be equal size, but got [7] at entry 0 and [6] at entry 1",
        ),
        batch="1 2 3 4 5 6 7\n8 9 10 11 12 13\n14 15",
    ),
    Entry(
        key="ids-into-a-cell",
        group=GROUP,
        question="RNN input dtype (torch.int64) does not match weight dtype: can it read ids?",
        claim="A cell can read whole numbers (int64).",
        broken="x = ids.unsqueeze(-1)\n" + PACK_SORTED + "gru(packed)",
        fixed="x = embedding(ids)\n" + PACK_SORTED + "gru(packed)[0].data.shape",
        experiment=_whole_numbers,
        source="sentiment-analysis issue 5; packviz, own experiment",
        rows=(38,),
        messages=(
            _DTYPE.format("int64"),
            "RuntimeError: mat1 and mat2 must have the same dtype, but got Long and Float",
        ),
        batch="on your mark\nget set\ngo",
    ),
)
