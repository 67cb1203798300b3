"""Entries: what padding does to states and to the embedding; with those on other layers and left padding."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from packviz import charts
from packviz.batch import Batch
from packviz.compare import drift
from packviz.compare.judging import written
from packviz.config import Config
from packviz.questions.entries import layers_on_padding, left_padding
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Chart, Entry, Outcome
from packviz.questions.pictures import numbers, picture
from packviz.studies import after_zero_vector
from packviz.trace import trace

__all__ = ["ENTRIES", "GROUP"]

GROUP = layers_on_padding.GROUP
_SMALL = 0.1  # of the norm of the last state

_PACK = """\
packed = pack_padded_sequence(
    x, lengths, batch_first=True, enforce_sorted=False)
output, h_n = gru(packed)
"""


def _effect(laboratory: Laboratory) -> Outcome:
    batch, config = Batch.parse(laboratory.entry.batch), laboratory.entry.config
    drifted = {cell: drift(trace(batch, replace(config, cell=cell))) for cell in ("rnn", "gru", "lstm")}
    one = {cell: done.relative[:, 1] for cell, done in drifted.items()}  # (B,) each
    cases = {f"with nn.{cell.upper()}": bool((share < _SMALL).all()) for cell, share in one.items()}
    shares = ", ".join(f"{cell.upper()} {100 * s.min():.0f} to {100 * s.max():.0f} %" for cell, s in one.items())
    pads = drifted["gru"].pads[-1]
    rest = "the state of the GRU rests" if all(drifted["gru"].converges) else "the state of the GRU still moves"
    told = (
        f"One pad moves h by this share of its norm, with these random weights: {shares}. After {pads} pads {rest}, "
        f"up to {written(float(drifted['gru'].distances.max()))} away from the one after the last token. "
        "Pack, or take the state at `lens - 1`."
    )
    return Outcome(cases, told, Chart(charts.drifts, (drifted["gru"],)))


def _zero_vector(laboratory: Laboratory) -> Outcome:
    batch, config = Batch.parse(laboratory.entry.batch), laboratory.entry.config
    steps = {bias: after_zero_vector(trace(batch, replace(config, bias=bias))) for bias in (True, False)}
    drawn = laboratory.run(_DRAWN)
    cases = {f"with bias={bias}": step.moved == 0 for bias, step in steps.items()}
    cases["after the embedding's weights are drawn again"] = torch.equal(drawn["before"], drawn["after"])
    row, grad = drawn["made"], drawn["embedding"].weight.grad[0]
    told = (
        f"The row is {'not zeros' if row.any() else 'zeros'}, but the cell still computes with h and its biases: one "
        f"more pad moves A's h by {written(steps[True].moved)}, with `bias=False` by {written(steps[False].moved)}. "
        f"After `nn.init.normal_(embedding.weight)` the norm of the row is {written(float(drawn['row'].norm()))} and "
        f"that of its gradient {written(float(grad.norm()))}: nothing brings the zeros back. Packed, no pad is read."
    )
    shown = (
        numbers("h of A", drawn["h"], rows=["0 pads", "1 pad"], wrong=_differing_columns(drawn["h"])),
        numbers("weight[0]", row[None]),
        numbers(
            "weight[0], drawn again",
            drawn["row"][None],
            wrong=[(0, j) for j in drawn["row"].nonzero().flatten().tolist()],
        ),
    )
    return Outcome(cases, told, picture(*shown))


def _differing_columns(pair: Tensor) -> list[tuple[int, int]]:
    return [(1, j) for j in (pair[0] != pair[1]).nonzero().flatten().tolist()]


def _gradient(laboratory: Laboratory) -> Outcome:
    padded, packed = laboratory.broken, laboratory.fixed
    masked, both_ways = (laboratory.run(start + _MASKED) for start in ("", _BOTH_WAYS))
    told_idx = laboratory.run(_WITH_IDX + laboratory.entry.broken)
    norms = {
        "with a loss of all cells": padded,
        "with a mask on the loss": masked,
        "with a mask on the loss of a bidirectional GRU": both_ways,
        "with padding_idx=0": told_idx,
        "where the batch is packed": packed,
    }
    rows = {name: run["embedding"].weight.grad for name, run in norms.items()}
    cases = {name: bool(grad[0].any()) for name, grad in rows.items()}
    told = (
        "The norm of the gradient of row 0 is "
        + "; ".join(f"{written(float(grad[0].norm()))} {name}" for name, grad in rows.items())
        + ". Backward, the pads are read before the tokens, so they reach the loss. "
        + f"Packing reads the {len(packed['packed'].data)} tokens only."
    )
    ids = [str(id_) for id_ in range(len(rows["where the batch is packed"]))]
    wrong = [(0, j) for j in rows["with a loss of all cells"][0].nonzero().flatten().tolist()]
    shown = (
        numbers("padded: gradient of each row", padded["embedding"].weight.grad, rows=ids, wrong=wrong),
        numbers("packed: gradient of each row", packed["embedding"].weight.grad, rows=ids),
    )
    return Outcome(cases, told, picture(*shown))


_DRAWN = """\
made = embedding.weight[0].detach().clone()
alone = sequences[0][None]
longer = nn.functional.pad(alone, (0, 1))
h = torch.cat([gru(embedding(a))[1][-1] for a in (alone, longer)]).detach()
nn.init.normal_(embedding.weight)
row = embedding.weight[0].detach().clone()
before, after = (gru(embedding(a))[1] for a in (alone, longer))
after.sum().backward()
"""
_MASKED = """\
out, _ = gru(x)
out[ids != 0].pow(2).sum().backward()
"""
_BOTH_WAYS = "gru = nn.GRU(4, 4, bidirectional=True, batch_first=True)\n"
_WITH_IDX = "embedding.padding_idx = 0\nx = embedding(ids)\n"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="small-effect",
        group=GROUP,
        question="Is the effect of padding on the last hidden state small?",
        claim="One pad after the last token moves the state by less than a tenth.",
        broken="_, h_n = gru(x)  # A reads one pad, C two\nh_n[-1].detach()",
        fixed=_PACK + "h_n[-1].detach()",
        experiment=_effect,
        source="PyTorch forum, Understanding pack_padded_sequence and pad_packed_sequence; keras issue 85",
        rows=(46,),
        batch="1 2\n3 1 2\n1",
    ),
    Entry(
        key="zero-row",
        group=GROUP,
        question="With padding_idx pads are zero vectors: do they have no effect?",
        claim="With `padding_idx` a pad leaves the state as it is.",
        broken="_, h_n = gru(x)\nh_n[-1].detach()",
        fixed=_PACK + "h_n[-1].detach()",
        experiment=_zero_vector,
        source="pytorch/pytorch issue 1812; pytorch/pytorch issue 3711; pytorch/pytorch issue 46585; "
        "fairseq issue 4633; fastai issue 2517; transformers issue 344",
        rows=(47,),
        batch="the cat\na dog sleeps\nrain",
        config=Config(padding_idx=0),
    ),
    *layers_on_padding.ENTRIES,
    *left_padding.ENTRIES,
    Entry(
        key="pad-row-gradient",
        group=GROUP,
        question="Does the embedding's row of the pad, padding_idx, get a gradient?",
        claim="The embedding's row of the pad is trained: it gets a gradient.",
        broken="out, _ = gru(x)\nout.pow(2).sum().backward()\nembedding.weight.grad[0]",
        fixed=_PACK + "output.data.pow(2).sum().backward()\nembedding.weight.grad[0]",
        experiment=_gradient,
        source="PyTorch documentation, nn.Embedding",
        rows=(53,),
        batch="the cat\na dog sleeps\nrain",
    ),
)
