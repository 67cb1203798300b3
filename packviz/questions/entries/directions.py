"""Entries: both directions; they stand under the heading of `states`."""

from __future__ import annotations

from dataclasses import replace

import torch

from packviz.batch import Batch
from packviz.charts import Panel
from packviz.compare import Comparison, compare
from packviz.compare.judging import differing, largest, letters, written
from packviz.config import Config
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import numbers, picture
from packviz.trace import trace

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Which hidden state; both directions"
_CLOSE = 1e-5  # float32 states below 1: up to here it is rounding

_PACK = """\
packed = pack_padded_sequence(
    x, lengths, batch_first=True, enforce_sorted=False)
"""
_UNPACK = "out, lens = pad_packed_sequence(output, batch_first=True)\n"
_LSTM = _PACK + "output, (h_n, c_n) = lstm(packed)\n" + _UNPACK
_GRU = _PACK + "output, h_n = gru(packed)\n" + _UNPACK


def _last_of_both(laboratory: Laboratory) -> Outcome:
    read, final = laboratory.broken.value, laboratory.fixed.value  # (B, 2*H)
    lengths, H = laboratory.fixed["lens"].tolist(), read.size(1) // 2
    off = [set(differing(*halves, _CLOSE)) for halves in zip(read.chunk(2, 1), final.chunk(2, 1), strict=True)]
    ones = [b for b, length in enumerate(lengths) if length == 1]
    longer = [b for b, length in enumerate(lengths) if length > 1]
    cases = {"in the forward half": not off[0]}
    cases |= {f"in the backward half of {letters(longer)}, longer than 1": not off[1] & set(longer)} if longer else {}
    cases |= {f"in the backward half of {letters(ones)}, of length 1": not off[1] & set(ones)} if ones else {}
    agree = set(range(len(lengths))) - off[1]
    told = (
        "The backward direction starts at the last token: there it has read this one token only. Its final state "
        f"stands at t = 0, so in the backward half `output` and `h_n` agree for "
        f"{letters(sorted(agree)) if agree else 'no sequence'} alone. Take `torch.cat((h_n[-2], h_n[-1]), 1)`."
    )
    wrong = [(b, half * H + j) for half in (0, 1) for b in off[half] for j in range(H)]
    halves, rows = ["fwd"] * H + ["bwd"] * H, [letters([b]) for b in range(len(lengths))]
    shown = (
        numbers("output at lens - 1", read, rows=rows, columns=halves, wrong=wrong),
        numbers("cat(h_n[-2], h_n[-1])", final, rows=rows, columns=halves),
    )
    return Outcome(cases, told, picture(*shown))


def _order_of_h_n(laboratory: Laboratory) -> Outcome:
    out, h_n, lens = (laboratory.fixed[name].detach() for name in ("out", "h_n", "lens"))
    L, B, H = len(h_n) // 2, h_n.size(1), h_n.size(2)
    forward = out.view(B, -1, 2, H)[torch.arange(B), lens - 1, 0]
    guess, read = laboratory.broken.value, laboratory.fixed.value
    off = differing(guess, forward, _CLOSE)
    is_view = "is" if not differing(read, forward, _CLOSE) else "is not"
    back = differing(h_n.view(L, 2, B, H)[-1, 1], out.view(B, -1, 2, H)[:, 0, 1], _CLOSE)
    told = (
        f"`h_n` {tuple(h_n.shape)} goes layer by layer, forward before backward. `h_n.view({L}, 2, {B}, {H})[-1, 0]` "
        f"{is_view} the top layer's forward state: `out.view({B}, {out.size(1)}, 2, {H})` has it at the last token, "
        f"index 0 of the 2. The backward state is `[-1, 1]`: `out` {'does not have' if back else 'has'} it at t = 0, "
        "index 1 of the 2."
    )
    rows = [letters([b]) for b in range(B)]
    shown = (
        numbers(f"h_n[{L - 1}]", guess, rows=rows, wrong=[(b, j) for b in off for j in range(H)]),
        numbers(f"h_n.view({L}, 2, {B}, {H})[-1, 0]", read),
        numbers("out, forward", forward),
    )
    return Outcome({f"with num_layers={L}": not off}, told, picture(*shown))


def _zero_padding(laboratory: Laboratory) -> Outcome:
    one, two = (_compared(laboratory, layers) for layers in (1, 2))
    without = _compared(laboratory, bias=False)
    cases = {
        "in the forward half of one layer": _off(one, 0) <= _CLOSE,
        "in the backward half of one layer": _off(one, 1) <= _CLOSE,
        "in the forward half of two layers": _off(two, 0) <= _CLOSE,
        "with bias=False, in both halves": max(_off(without, 0), _off(without, 1)) <= _CLOSE,
    }
    told = (
        f"The backward direction begins on the pads: its half of the output is up to {written(_off(one, 1))} off at "
        f"the tokens, the forward half {written(_off(one, 0))}. A second layer reads both halves, so even its forward "
        f"half is {written(_off(two, 0))} off. With `bias=False` zeros leave a state of zeros as it is, and the "
        f"difference is {written(max(_off(without, 0), _off(without, 1)))}. With biases, pack."
    )
    return Outcome(cases, told, picture(*(_half(one, d) for d in (0, 1))))


def _compared(laboratory: Laboratory, num_layers: int = 1, *, bias: bool = True) -> Comparison:
    entry = laboratory.entry
    return compare(trace(Batch.parse(entry.batch), replace(entry.config, num_layers=num_layers, bias=bias)))


def _off(comparison: Comparison, d: int) -> float:
    padded, packed = comparison.half(d)
    return largest(padded[comparison.valid], packed[comparison.valid])


def _half(comparison: Comparison, d: int) -> Panel:
    """Return how far padded is from packed in one half, (B, T); × where nothing was packed."""
    padded, packed = comparison.half(d)
    apart = (padded - packed).abs().amax(2).masked_fill(~comparison.valid, 0.0)  # (B, T)
    wrong = [(b, t) for b, t in (apart > _CLOSE).nonzero().tolist()]
    B, T = apart.shape
    steps = [f"t = {t}" for t in range(T)]
    title, rows = f"{('forward', 'backward')[d]}: how far off (×: pad)", [letters([b]) for b in range(B)]
    panel = numbers(title, apart, rows=rows, columns=steps, wrong=wrong)
    cells = zip(panel.texts, comparison.valid.tolist(), strict=True)
    told = tuple(tuple(text if kept else "×" for text, kept in zip(*row, strict=True)) for row in cells)
    return replace(panel, texts=told)


def _reversed(laboratory: Laboratory) -> Outcome:
    own, tied = laboratory.broken, laboratory.fixed
    here, there, same = (h.detach() for h in (own["h_n"][0], own["turned"][1], tied["turned"][1]))
    off, off_tied = differing(here, there, _CLOSE), differing(tied["h_n"][0].detach(), same, _CLOSE)
    told = (
        "Each direction has weights of its own, `weight_ih_l0` and `weight_ih_l0_reverse`: the two states are up to "
        f"{written(largest(here, there))} apart. With the forward weights copied to the backward "
        f"direction they are {written(largest(here, same))} apart."
    )
    rows = [letters([b]) for b in range(len(here))]
    wrong = [(b, j) for b in off for j in range(here.size(1))]
    shown = (
        numbers("x: forward", here, rows=rows),
        numbers("reversed x: backward", there, wrong=wrong),
        numbers("same weights", same),
    )
    cases = {"with the weights that nn.GRU makes": not off, "with the same weights in both directions": not off_tied}
    return Outcome(cases, told, picture(*shown))


_TURN = "_, h_n = gru(x)\n_, turned = gru(x.flip(1))\n(h_n[0] - turned[1]).detach()"
_TIE = """\
with torch.no_grad():
    for name, weight in gru.named_parameters():
        if name.endswith("_reverse"):
            own = name.removesuffix("_reverse")
            weight.copy_(gru.get_parameter(own))
"""
_BATCH = "1 -1\n2 1 -2\n3"
_BOTH = Config(hidden_size=2, bidirectional=True)

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="bidirectional-last-output",
        group=GROUP,
        question="Bidirectional: do I concatenate h_n[-2] and h_n[-1], or take the last output?",
        claim="`output` at the last token holds the final states of both directions.",
        broken=_LSTM + "out[torch.arange(len(lens)), lens - 1].detach()",
        fixed=_LSTM + "torch.cat((h_n[-2], h_n[-1]), 1).detach()",
        experiment=_last_of_both,
        source="PyTorch forum, topic 114814",
        rows=(41,),
        batch=_BATCH,
        config=replace(_BOTH, cell="lstm"),
    ),
    Entry(
        key="order-of-h-n",
        group=GROUP,
        question="How do I separate the forward and backward directions of h_n and output?",
        claim="`h_n` lists the forward states of all layers first, then the backward ones.",
        broken=_GRU + "# the top layer's forward state?\nh_n[gru.num_layers - 1].detach()",
        fixed=_GRU + "L, B, H = gru.num_layers, len(lens), gru.hidden_size\nh_n.view(L, 2, B, H)[-1, 0].detach()",
        experiment=_order_of_h_n,
        source="pytorch/pytorch issue 3587; pytorch/pytorch issue 74291",
        rows=(42,),
        batch=_BATCH,
        config=replace(_BOTH, num_layers=2),
    ),
    Entry(
        key="bidirectional-zero-padding",
        group=GROUP,
        question="Does zero padding change the output of a bidirectional RNN?",
        claim="A bidirectional RNN has the same output at the tokens with and without zero padding.",
        broken="out, _ = gru(x)\nout[2, 0].detach()  # at the one token of C",
        fixed=_GRU + "out[2, 0].detach()  # at the one token of C",
        experiment=_zero_padding,
        source="pytorch/pytorch issue 3662; pytorch/pytorch issue 1811; pytorch/pytorch issue 517; "
        "PyTorch forum, topic 132898; tensorflow issue 6633",
        rows=(43,),
        batch=_BATCH,
        config=replace(_BOTH, seed=1),
    ),
    Entry(
        key="reversed-input",
        group=GROUP,
        question="Does a reversed (flipped) input swap the two directions?",
        claim="The forward state of `x` is the backward state of the reversed `x`.",
        broken=_TURN,
        fixed=_TIE + _TURN,
        experiment=_reversed,
        source="PyTorch forum, topic 119521",
        rows=(44,),
        batch="1 -1 3\n2 1 -2",
        config=_BOTH,
    ),
)
