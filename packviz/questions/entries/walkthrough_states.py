"""Entries: pads and packs step by step, what to do with ht and the output."""

from __future__ import annotations

from packviz.config import Config
from packviz.questions.entries.marking import letters, same, written
from packviz.questions.entries.walkthrough_costs import BATCH, GROUP, PACK, SOURCE
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Film, Outcome
from packviz.questions.pictures import numbers, picture

__all__ = ["STATES"]

_WAYS = {
    "with one direction": "",
    "with two layers": ", num_layers=2",
    "with two directions": ", bidirectional=True",
}
_BOTH = "output, ht = gru(packed)\noutput, ht = output.data.detach(), ht.detach()\n"
_LAST = "output, ht = gru(packed)\nhs, _ = pad_packed_sequence(output, batch_first=True)\n"
_NEAREST = "torch.cdist(ht.flatten(0, 1), output.reshape(-1, ht.size(-1))).amin(1)"
_TABLE = "embedding = nn.Embedding(int(ids.max()) + 1, 2{padding_idx})\n"
_LOGITS = PACK + "output, _ = gru(packed)\ntargets = x[..., 0].long() % 4\n"
_UNPACKED_LOSS = """logits, _ = pad_packed_sequence(output, batch_first=True)
nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).detach()"""
_PACKED_LOSS = """targets = pack_padded_sequence(targets, lengths, batch_first=True,
    enforce_sorted=False)
nn.functional.cross_entropy(output.data, targets.data).detach()"""
_IGNORED = """logits, _ = pad_packed_sequence(output, batch_first=True)
pads = torch.arange(x.size(1)) >= lengths[:, None]
targets = targets.masked_fill(pads, -100)
nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()"""
_EACH = """logits, _ = pad_packed_sequence(output, batch_first=True)
nn.functional.cross_entropy(logits.mT, targets, reduction="none").detach()"""


def _gru(laboratory: Laboratory, settings: str) -> str:
    return f"gru = nn.GRU({laboratory.trace.padded.values.size(-1)}, 2, batch_first=True{settings})\n"


def _ht_last(laboratory: Laboratory) -> Outcome:
    taken = _LAST + "hs[torch.arange(len(lengths)), lengths - 1].detach(), ht[-1].detach()"
    pairs = {name: laboratory.run(_gru(laboratory, way) + PACK + taken).value for name, way in _WAYS.items()}
    half, whole = laboratory.broken.value, laboratory.fixed.value
    backward = same(half, whole[:, -half.size(1) :])
    return Outcome(
        {name: same(*pair) for name, pair in pairs.items()},
        f"`ht[-1]` is the last entry of `ht`: the top layer's, and of two directions the backward one. Here it has "
        f"{half.size(1)} of {whole.size(1)} numbers a sequence, {'' if backward else 'not '}the backward half. With "
        "two directions join `ht[-2]` and `ht[-1]`.",
        picture(
            numbers("ht[-1]", half, rows=letters(half)),
            numbers("ht[-2] and ht[-1]", whole, rows=letters(whole)),
        ),
    )


def _ht_or_output(laboratory: Laboratory) -> Outcome:
    nearest = {
        name: laboratory.run(_gru(laboratory, way) + PACK + _BOTH + _NEAREST).value for name, way in _WAYS.items()
    }
    ht, rows = laboratory.broken.value, laboratory.fixed.value
    missing = int((laboratory.run(PACK + _BOTH + _NEAREST).value > 1e-6).sum())
    return Outcome(
        {name: bool((far <= 1e-6).all()) for name, far in nearest.items()},
        f"`ht` {tuple(ht)} holds a last state for each layer and direction; the output {tuple(rows)} holds every time "
        f"step, of the top layer only. Here {missing} of {ht[0] * ht[1]} states of `ht` are not in the output. Take "
        "`ht` for one answer a sequence, the output for one answer a token.",
    )


def _padding_idx(laboratory: Laboratory) -> Outcome:
    vector, zero = laboratory.broken.value, laboratory.fixed.value
    weight = laboratory.run("embedding.weight.detach()").value
    wrong = [(0, column) for column in range(weight.size(1)) if weight[0, column]]
    packed = laboratory.run(PACK + "gru(packed)[0].data.sum().backward()\nembedding.weight.grad[0]").value
    return Outcome(
        {"for embedding.weight[0]": not weight[0].any()},
        f"The vector of id 0 is drawn like any other: {written(vector)}; with `padding_idx=0` it is {written(zero)}. "
        f"Packed, no pad is read: the gradient of row 0 is {written(packed)}. Set `padding_idx` all the same.",
        picture(numbers("embedding.weight", weight, rows=tuple(map(str, range(len(weight)))), wrong=wrong)),
    )


def _loss(laboratory: Laboratory) -> Outcome:
    unmasked, packed = laboratory.broken.value.item(), laboratory.fixed.value.item()
    ignored = laboratory.run(_LOGITS + _IGNORED).value
    each, lengths = laboratory.run(_LOGITS + _EACH).value, laboratory.broken["lengths"].tolist()
    pads = [(b, t) for b, length in enumerate(lengths) for t in range(length, each.size(1))]
    return Outcome(
        {"for cross_entropy": abs(unmasked - packed) <= 1e-6},
        f"The filler counts as {len(pads)} more tokens: the loss is {unmasked:.4f}. Of the packed output and packed "
        f"targets it is {packed:.4f}, and with `ignore_index` at the pads {ignored:.4f}.",
        picture(numbers("loss of each cell", each, rows=letters(each), wrong=pads)),
    )


STATES: tuple[Entry, ...] = (
    Entry(
        key="walkthrough-ht-last",
        group=GROUP,
        question="What is ht[-1]?",
        claim="`ht[-1]` is the output at the last token of every sequence.",
        broken=PACK + "output, ht = gru(packed)\nht[-1].detach()",
        fixed=PACK + "output, ht = gru(packed)\ntorch.cat([ht[-2], ht[-1]], dim=1).detach()",
        experiment=_ht_last,
        source=SOURCE,
        batch=BATCH,
        config=Config(hidden_size=2, bidirectional=True),
    ),
    Entry(
        key="walkthrough-ht-or-output",
        group=GROUP,
        question="ht or output: which of the two do I need?",
        claim="The output holds all that `ht` holds.",
        broken=PACK + "output, ht = gru(packed)\nht.shape",
        fixed=PACK + "output, ht = gru(packed)\noutput.data.shape",
        experiment=_ht_or_output,
        source=SOURCE,
        batch=BATCH,
        config=Config(hidden_size=2, num_layers=2),
        film=Film("unpack"),
    ),
    Entry(
        key="walkthrough-padding-idx",
        group=GROUP,
        question="Is the embedding of index 0 zero because 0 is the pad?",
        claim="The embedding of the pad 0 is a vector of zeros.",
        broken=_TABLE.format(padding_idx="") + "embedding.weight[0].detach()",
        fixed=_TABLE.format(padding_idx=", padding_idx=0") + "embedding.weight[0].detach()",
        experiment=_padding_idx,
        source=SOURCE,
        batch=BATCH,
        config=Config(embedding_dim=2),
    ),
    Entry(
        key="walkthrough-loss",
        group=GROUP,
        question="Output unpacked: can the loss take it as it is?",
        claim="The loss can take the unpacked output as it is.",
        broken=_LOGITS + _UNPACKED_LOSS,
        fixed=_LOGITS + _PACKED_LOSS,
        experiment=_loss,
        source=SOURCE,
        batch=BATCH,
    ),
)
