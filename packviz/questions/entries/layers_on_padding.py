"""Entries: BatchNorm, Linear, Dropout and convolution beside padding; they stand under the heading of `padding`."""

from __future__ import annotations

import torch

from packviz.compare.judging import largest, letters, written
from packviz.config import Config
from packviz.questions.laboratory import Laboratory, Program
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import grid, numbers, owners_of, picture, strip

__all__ = ["ENTRIES", "GROUP"]

GROUP = "What padding does: embedding, norms, dropout"
_CLOSE = 1e-5

_PACK = """\
packed = pack_padded_sequence(
    x, lengths, batch_first=True, enforce_sorted=False)
"""
_RUN = _PACK + "output, h_n = gru(packed)\n"


def _batch_norm(laboratory: Laboratory) -> Outcome:
    padded, packed = laboratory.broken["norm"], laboratory.fixed["norm"]
    x, data = laboratory.fixed["x"][:, :, 0], laboratory.fixed["packed"].data
    lengths = laboratory.fixed["lengths"].tolist()
    pairs = {
        "for the mean": (padded.running_mean, packed.running_mean),
        "for the variance": (padded.running_var, packed.running_var),
    }
    cases = {name: bool(torch.allclose(*pair, atol=_CLOSE)) for name, pair in pairs.items()}
    mean, var = ([float(each) for each in pair] for pair in pairs.values())
    told = (
        f"Over all {x.numel()} cells of the grid, {x.numel() - len(data)} of them pads, the mean is {mean[0]:.3g} and "
        f"the variance {var[0]:.3g}; over the {len(data)} tokens {mean[1]:.3g} and {var[1]:.3g}. BatchNorm1d knows no "
        "lengths: give it `packed.data`, and put the result back with `packed._replace(data=...)`."
    )
    outside = [(b, t) for b, length in enumerate(lengths) for t in range(length, x.size(1))]
    wrong = [(0, j) for j, held in enumerate(cases.values()) if not held]
    table = torch.tensor([[mean[0], var[0]], [mean[1], var[1]]])
    shown = (
        grid("x", x, lengths, wrong=outside),
        numbers("batch statistics", table, rows=["x", "data"], columns=["mean", "var"], wrong=wrong),
        strip("packed.data", data, owners_of(lengths)),
    )
    return Outcome(cases, told, picture(*shown))


def _next_layer(laboratory: Laboratory) -> Outcome:
    linear, dropout, mixing = laboratory.run(_SCORED), laboratory.run(_DROPPING), laboratory.run(_MIXING)
    rows, kept = dropout["output"].data, dropout["dropped"].data
    harmless = bool(((kept == 0) | torch.isclose(kept, 2 * rows)).all())
    off = _apart(mixing)
    cases = {
        "before nn.Linear": not torch.allclose(linear["theirs"], linear["ours"], atol=_CLOSE),
        "before nn.Dropout": not harmless,
        "before nn.Conv1d, which mixes neighbours": bool((off > _CLOSE).any()),
    }
    apart = largest(linear["theirs"].detach(), linear["ours"].detach())
    told = (
        f"A layer that takes each row by itself may run on `output.data`: with `nn.Linear` the scores differ by "
        f"{written(apart)} from those of the unpacked output. A convolution would mix rows that are neighbours in "
        f"the strip, but of other sequences: {int((off > _CLOSE).sum())} of {len(off)} rows come out wrong, so "
        "unpack before it."
    )
    owners = owners_of(mixing["lengths"])
    shown = (
        strip("nn.Linear on output.data", linear["scores"].data.detach().round(decimals=2), owners),
        strip(
            "nn.Conv1d on output.data: how far each row is off",
            off.round(decimals=2),
            owners,
            wrong=(off > _CLOSE).nonzero().flatten().tolist(),
        ),
    )
    return Outcome(cases, told, picture(*shown))


def _apart(mixing: Program) -> torch.Tensor:
    """Return (N,): how far each convolved row is from the one of its sequence alone."""
    off: torch.Tensor = (mixing["mixed"] - mixing["alone"]).detach().abs().amax(1)
    return off


def _one_layer(laboratory: Laboratory) -> Outcome:
    one, two = laboratory.broken, laboratory.run(_DEEPER)
    b = int(one["lengths"].argmax())  # a row without pads
    again = laboratory.fixed["again"].detach()[b] + 0.0  # (T, H); no -0.0
    first, second = (run.detach()[b] for run in one["runs"])
    deeper = [run.detach()[b] for run in two["runs"]]
    cases = {f"with num_layers={layers}": not torch.equal(*run["runs"]) for layers, run in ((1, one), (2, two))}
    steps = [f"t = {t}" for t in range(len(first))]
    zeros = (again == 0).nonzero().tolist()
    told = (
        f"`dropout` stands between two layers, and after the last there is none: in training two runs of one layer "
        f"are {written(largest(first, second))} apart, of two layers {written(largest(*deeper))}. "
        f"An `nn.Dropout` of its own set {len(zeros)} of the {again.numel()} numbers of {letters([b])} to zero."
    )
    shown = (
        numbers(f"dropout=0.5: output of {letters([b])}", first, rows=steps),
        numbers("nn.Dropout(0.5) after it", again, rows=steps),
    )
    return Outcome(cases, told, picture(*shown))


_SCORED = (
    _RUN
    + """\
linear = nn.Linear(gru.hidden_size, 1)
scores = output._replace(data=linear(output.data))
ours, lens = pad_packed_sequence(scores, batch_first=True)
out, _ = pad_packed_sequence(output, batch_first=True)
valid = torch.arange(out.size(1)) < lens[:, None]
ours, theirs = ours[valid], linear(out)[valid]
"""
)
_DROPPING = _RUN + "dropped = output._replace(data=nn.Dropout(0.5)(output.data))"
_MIXING = (
    _RUN
    + """\
conv = nn.Conv1d(gru.hidden_size, 1, 3, padding=1)
mixed = conv(output.data.t()[None])[0].t()
runs = [gru(one[None, :, None])[0] for one in sequences]
rows = [conv(run.transpose(1, 2))[0].t() for run in runs]
padded = pad_sequence(rows, batch_first=True)
alone = pack_padded_sequence(
    padded, lengths, batch_first=True, enforce_sorted=False).data
"""
)
_LINEAR = "linear = nn.Linear(gru.hidden_size, 1)\n"
_TWICE = "runs = gru(x)[0], gru(x)[0]\n"
_GRU = "gru = nn.GRU(1, 3, {}dropout=0.5, batch_first=True)\n"
_DEEPER = _GRU.format("num_layers=2, ") + _TWICE
_BATCH = "1 -1\n2 1 -2\n3"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="batch-norm",
        group=GROUP,
        question="Do the statistics of BatchNorm include the pads?",
        claim="BatchNorm1d on the padded grid takes its statistics from the tokens only.",
        broken="norm = nn.BatchNorm1d(1, momentum=1.0)\nnorm(x.transpose(1, 2))\nnorm.running_mean, norm.running_var",
        fixed=_PACK + "norm = nn.BatchNorm1d(1, momentum=1.0)\nnorm(packed.data)\nnorm.running_mean, norm.running_var",
        experiment=_batch_norm,
        source="pytorch/pytorch issue 70529; pytorch/pytorch issue 25910; pytorch/pytorch issue 81985; "
        "Multilingual_TTS issue 81; keras issue 3228; tensorflow issue 30161; deepspeech.pytorch issue 312",
        rows=(48,),
        batch="4 5\n1 2 7\n6",
    ),
    Entry(
        key="layers-on-data",
        group=GROUP,
        question="Do I have to unpack before a linear layer or dropout?",
        claim="A packed output must be unpacked before the next layer.",
        broken=_RUN + _LINEAR + "linear(output)",
        fixed=_RUN
        + _LINEAR
        + "scores = output._replace(data=linear(output.data))\n"
        + "out, lens = pad_packed_sequence(scores, batch_first=True)\n"
        + "out.squeeze(2).detach()",
        experiment=_next_layer,
        source="sentiment-analysis issue 5; pytorch/translate issue 122",
        rows=(49,),
        messages=("TypeError: linear(): argument 'input' (position 1) must be Tensor, not PackedSequence",),
        batch=_BATCH,
        config=Config(hidden_size=3),
    ),
    Entry(
        key="dropout-of-one-layer",
        group=GROUP,
        question="Why does torch warn that dropout expects num_layers greater than 1?",
        claim="`dropout=0.5` drops numbers while a GRU is trained.",
        broken=_GRU.format("") + _TWICE + "torch.equal(*runs)",
        fixed="gru = nn.GRU(1, 3, batch_first=True)\ndropout = nn.Dropout(0.5)\n"
        "again = dropout(gru(x)[0])\ntorch.equal(again, dropout(gru(x)[0]))",
        experiment=_one_layer,
        source="PyTorch documentation, nn.GRU",
        rows=(50,),
        messages=(
            "UserWarning: dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            "num_layers greater than 1, but got dropout=0.5 and num_layers=1",
        ),
        batch=_BATCH,
        config=Config(hidden_size=3),
    ),
)
