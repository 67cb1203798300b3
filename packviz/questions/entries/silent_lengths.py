"""Entries: lengths that are wrong, and torch says nothing, or says it elsewhere."""

from __future__ import annotations

from torch import Tensor

from packviz.batch import sequence_label
from packviz.charts import Panel
from packviz.config import Config
from packviz.questions.entries.lengths_on_devices import GROUP
from packviz.questions.entries.origins import cells, origins
from packviz.questions.entries.packing_lines import PACK_SORTED
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, picture, strip

__all__ = ["ENTRIES"]

_CLAIMED = "packed = pack_padded_sequence(x, claimed, batch_first=True)\n"
_CUT = "short = x[:, :5]\n"
_IDS = "packed = pack_padded_sequence(\n    ids, {}, batch_first=True, enforce_sorted=False\n)\npacked.data"
_LESS = "claimed = lengths - 1\n"
_ALL = "claimed = torch.full_like(lengths, x.size(1))\n"
_SHARES = "shares = (lengths / x.size(1)).round(decimals=2)\n"
_FLOATS = "claimed = shares * x.size(1)\n"
_STEPS = {
    "in pack_padded_sequence": "packed",
    "in the GRU": "gru(packed)",
    "in pad_packed_sequence": "pad_packed_sequence(gru(packed)[0])",
}


def _speaks(done: Program) -> bool:
    return done.error is not None or bool(done.warnings)


def _loud(laboratory: Laboratory, start: str) -> dict[str, bool]:
    """Return where torch says anything after the lines that pack."""
    return {name: _speaks(laboratory.run(start + step)) for name, step in _STEPS.items()}


def _left_out(lengths: Tensor, claimed: Tensor, T: int) -> Tensor:
    """Return which cells (B, T) are tokens that the claimed lengths do not reach."""
    return cells(lengths, T).ge(0) & cells(claimed, T).lt(0)


def _marked(title: str, x: Tensor, lengths: Tensor, lost: Tensor) -> Panel:
    return grid(title, x, lengths.tolist(), wrong=[(b, t) for b, t in lost.nonzero().tolist()])


def _too_large(laboratory: Laboratory) -> Outcome:
    done, lengths = laboratory.broken, laboratory.fixed["lengths"]
    short, packed = done["short"], done["packed"]
    T, rows, asked = short.size(1), len(packed.data), int(packed.batch_sizes.sum())
    pack = "packed = pack_padded_sequence(short, lengths, batch_first=True)\n"
    unpacked = laboratory.run(_CUT + pack + "pad_packed_sequence(packed)")
    cuts = {cut: laboratory.run(f"short = x[:, :{cut}]\n" + pack) for cut in (T, T - 2)}
    texts = tuple(f"{value:g}" for value in packed.data[:, 0].tolist()) + ("none",) * (asked - rows)
    owners = (*origins(cells(lengths, T), lengths.clamp(max=T)), *[None] * (asked - rows))
    missing = frozenset((0, n) for n in range(rows, asked))
    return Outcome(
        {f"for the length {int(lengths.max())} where T = {cut}": _speaks(done) for cut, done in cuts.items()},
        f"Torch packs the length {int(lengths.max())} where T = {T} without a word: `data` has {rows} rows, but "
        f"`batch_sizes` sum to {asked}. Only later the GRU says `{done.error}`, and `pad_packed_sequence` says "
        f"`{unpacked.error}`. Check `lengths.max() <= x.size(1)` before you pack; where you cut `x` on purpose, cut "
        "the lengths as well.",
        picture(
            grid(f"x[:, :{T}], first feature", short[:, :, 0], lengths.tolist()),
            Panel(f"data has {rows} rows, batch_sizes sum to {asked}", (texts,), (owners,), wrong=missing),
        ),
    )


def _too_small(laboratory: Laboratory) -> Outcome:
    right, claimed = laboratory.fixed["packed"].data, laboratory.broken["claimed"]
    x, lengths = laboratory.fixed["x"][:, :, 0], laboratory.fixed["lengths"]
    lost = _left_out(lengths, claimed, x.size(1))
    shown = [_marked("x: the tokens that are dropped", x, lengths, lost)]
    if laboratory.broken.value is not None:
        shown.append(strip("packed.data", laboratory.broken.value, origins(cells(lengths, x.size(1)), claimed)))
    return Outcome(
        _loud(laboratory, _LESS + _CLAIMED),
        f"There are {len(right)} tokens, and the lengths {claimed.tolist()} reach {int(claimed.sum())} of them: "
        f"{x[lost].tolist()} are dropped. Packing cannot know how long a sequence is. Take `len(sequence)` of each "
        "one before you pad.",
        picture(*shown),
    )


def _pads_counted(laboratory: Laboratory) -> Outcome:
    wrong, right = laboratory.broken, laboratory.fixed
    x, lengths, claimed = right["x"][:, :, 0], right["lengths"], wrong["claimed"]
    owners = origins(cells(lengths, x.size(1)), claimed)
    pads = [n for n, owner in enumerate(owners) if owner is None]
    moved = (wrong.value - right.value).abs().amax(dim=-1)[0]
    worst = int(moved.argmax())
    return Outcome(
        _loud(laboratory, _ALL + _CLAIMED),
        f"Packing does not know which cells are pads: the lengths {claimed.tolist()} make {len(owners)} rows, and "
        f"{len(pads)} of them are pads. The GRU reads them, too: `h_n` of {sequence_label(worst)} moves by up to "
        f"{float(moved[worst]):.2f}. Give the lengths without the pads: count the tokens before you pad.",
        picture(
            grid("x", x, lengths.tolist()),
            strip("packed.data, with pads among the tokens", wrong["packed"].data, owners, wrong=pads),
        ),
    )


def _not_whole(laboratory: Laboratory) -> Outcome:
    listed = laboratory.run(_SHARES + "pack_padded_sequence(x, (shares * x.size(1)).tolist(), batch_first=True)")
    x, lengths = laboratory.fixed["x"][:, :, 0], laboratory.fixed["lengths"]
    claimed, right = laboratory.broken["claimed"], laboratory.fixed.value.tolist()
    kept = laboratory.run(_SHARES + _FLOATS + _CLAIMED + "pad_packed_sequence(packed)[1]").value
    given = ", ".join(f"{value:.4g}" for value in claimed.tolist())
    came = laboratory.broken.error or f"`batch_sizes` are {laboratory.broken.value.tolist()}"
    kept = lengths if kept is None else kept
    lost = _left_out(lengths, kept, x.size(1))
    return Outcome(
        {"as a float tensor": _speaks(laboratory.broken), "as a list of floats": _speaks(listed)},
        f"The lengths {given} are read as {kept.tolist()}: {came}, instead of {right}, and the "
        f"tokens {x[lost].tolist()} are lost. What is behind the point is cut off: round the lengths yourself, "
        "`claimed.round().long()`.",
        picture(_marked("x: the tokens that are lost", x, lengths, lost)),
    )


def _zero_is_an_id(laboratory: Laboratory) -> Outcome:
    ids, lengths = laboratory.fixed["ids"], laboratory.fixed["lengths"]
    counted, rows = laboratory.broken["counted"], laboratory.broken.value
    named = [f"for {sequence_label(b)}, {row.tolist()}" for b, row in enumerate(laboratory.fixed["sequences"])]
    lost = _left_out(lengths, counted, ids.size(1))
    owners = origins(cells(lengths, ids.size(1)), counted)
    return Outcome(
        dict(zip(named, (counted == lengths).tolist(), strict=True)),
        f"The count gives {counted.tolist()}, but the lengths are {lengths.tolist()}. It takes a real 0 for a pad, so "
        f"the tokens {ids[lost].tolist()} at the end are not packed. Measure before you pad, and keep one id for the "
        "pads alone.",
        picture(_marked("ids: the tokens that are not packed", ids, lengths, lost), strip("packed", rows, owners)),
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="lengths-too-large",
        group=GROUP,
        question="start (10) + length (1) exceeds dimension size (10): which length is too large?",
        claim="`pack_padded_sequence` raises an error for lengths larger than T.",
        broken=_CUT + "packed = pack_padded_sequence(short, lengths, batch_first=True)\ngru(packed)",
        fixed=_CUT
        + "kept = lengths.clamp(max=short.size(1))\n"
        + "packed = pack_padded_sequence(short, kept, batch_first=True)\n"
        + "len(packed.data), int(packed.batch_sizes.sum())",
        experiment=_too_large,
        source="pytorch/pytorch issue 146744",
        rows=(25,),
        messages=(
            "RuntimeError: start (10) + length (1) exceeds dimension size (10).",
            "RuntimeError: shape '[3, 1, 2]' is invalid for input of size 4",
        ),
        batch="[[[1, 9], [2, 8], [3, 7], [4, 6], [5, 5], [6, 4]], [[7, 3], [8, 2], [9, 1]], [[10, 3], [11, 2]]]",
    ),
    Entry(
        key="lengths-too-small",
        group=GROUP,
        question="What happens to the tokens beyond a length that is too small: are they missing?",
        claim="Torch warns, or raises an error, when a length is smaller than the sequence.",
        broken=_LESS + _CLAIMED + "packed.data.flatten()",
        fixed=PACK_SORTED + "packed.data.flatten()",
        experiment=_too_small,
        source="pytorch/pytorch issue 144207",
        rows=(26,),
        batch="1 2 3 4\n5 6 7",
    ),
    Entry(
        key="lengths-with-pads",
        group=GROUP,
        question="What happens when the lengths include the padding: is there an error?",
        claim="Lengths that count pads as well raise an error.",
        broken=_ALL + _CLAIMED + "output, h_n = gru(packed)\nh_n.detach()",
        fixed=PACK_SORTED + "output, h_n = gru(packed)\nh_n.detach()",
        experiment=_pads_counted,
        source="How does PyTorch's pack_padded_sequence function operate?",
        rows=(27,),
        batch="1 2 3 4\n5 6\n7",
    ),
    Entry(
        key="lengths-not-whole",
        group=GROUP,
        question="May lengths be floats, such as relative lengths (shares of the longest sequence)?",
        claim="Torch warns, or raises an error, when lengths are not whole numbers.",
        broken=_SHARES + _FLOATS + _CLAIMED + "packed.batch_sizes",
        fixed=_SHARES + "claimed = (shares * x.size(1)).round().long()\n" + _CLAIMED + "packed.batch_sizes",
        experiment=_not_whole,
        source="packviz, own experiment",
        rows=(28,),
        batch="1 2 3 4 5 6\n7 8 9 10 11\n12 13 14",
    ),
    Entry(
        key="zero-is-an-id",
        group=GROUP,
        question="Can I compute the lengths with (ids != 0).sum(1), counting all that is not 0?",
        claim="`(ids != 0).sum(1)` is the length of each sequence.",
        broken="counted = (ids != 0).sum(1)\n" + _IDS.format("counted"),
        fixed=_IDS.format("lengths"),
        experiment=_zero_is_an_id,
        source="Pack, Pad Sequence technique in pytorch; BiMPM issue 25",
        rows=(29,),
        batch="4 5 6 8\n7 0 9\n3 1",
        config=Config(embedding_dim=4),
    ),
)
