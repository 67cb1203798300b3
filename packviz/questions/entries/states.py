"""Entries: which hidden state; those on both directions stand in `directions`."""

from __future__ import annotations

import torch

from packviz.compare import company
from packviz.compare.judging import differing, letters, written
from packviz.config import Config
from packviz.questions.entries import directions
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Entry, Outcome
from packviz.questions.pictures import numbers, picture

__all__ = ["ENTRIES", "GROUP"]

GROUP = directions.GROUP
_CLOSE = 1e-5  # float32 states below 1: up to here it is rounding

_RUN = """\
packed = pack_padded_sequence(
    x, lengths, batch_first=True, enforce_sorted=False)
output, h_n = gru(packed)
out, lens = pad_packed_sequence(output, batch_first=True)
"""
_NOT_PACKED = "out, _ = gru(x)\nout[:, -1].detach()"
_ALONE = "torch.cat([gru(one[None, :, None])[1][-1] for one in sequences]).detach()"


def _last_column(laboratory: Laboratory) -> Outcome:
    packed, padded = laboratory.broken.value, laboratory.run(_NOT_PACKED).value  # (B, H)
    alone, lengths = laboratory.run(_ALONE).value, laboratory.fixed["lens"].tolist()
    T = max(lengths)
    short = [b for b, length in enumerate(lengths) if length < T]
    whole = [b for b, length in enumerate(lengths) if length == T]
    off = {"packed": differing(packed, alone, _CLOSE), "not packed": differing(padded, alone, _CLOSE)}
    cases = {f"for {letters(whole)}, as long as the grid": not any(set(bad) & set(whole) for bad in off.values())}
    cases |= {
        f"for the shorter {letters(short)}, {side}": not set(bad) & set(short) for side, bad in off.items() if short
    }
    filler = sorted(set(packed[short].flatten().tolist()))
    told = (
        f"{letters(short) if short else 'No sequence'} ended before the last column, t = {T - 1}: packed, `out[:, -1]` "
        f"is filler there, {filler}; not packed, it is the state after pads. "
        f"Take `h_n[-1]`, or `out[torch.arange({len(lengths)}), lens - 1]`."
    )
    H = alone.size(1)
    shown = (
        numbers("packed: out[:, -1]", packed, rows=_names(alone), wrong=_cells(off["packed"], H)),
        numbers("padded: out[:, -1]", padded, wrong=_cells(off["not packed"], H)),
        numbers("h_n[-1]", laboratory.fixed.value, wrong=_cells(differing(laboratory.fixed.value, alone, _CLOSE), H)),
    )
    return Outcome(cases, told, picture(*shown))


def _output_and_h_n(laboratory: Laboratory) -> Outcome:
    output, h_n = (laboratory.fixed[name].detach() for name in ("out", "h_n"))
    data, lengths = laboratory.fixed["output"].data.detach(), laboratory.fixed["lens"].tolist()
    nearest = (data[:, None, None] - h_n).abs().amax(-1).amin(0)  # (L, B): how far from the nearest row of output
    found = (nearest <= _CLOSE).all(1).tolist()
    L, b = len(h_n), lengths.index(max(lengths))
    missing = [f"`h_n[{layer}]`" for layer in range(L) if not found[layer]]
    told = (
        f"`output.data` {tuple(data.shape)} has a state for each of the {len(data)} tokens, of the top layer only. "
        f"`h_n` {tuple(h_n.shape)} has one for each of {L} layers and {len(lengths)} sequences, after the last token. "
        f"Of `h_n`, {' and '.join(missing) or 'nothing'} is nowhere in `output`. Take `output` for a vector of each "
        "token, and `h_n[-1]` for one of each sequence."
    )
    steps, label = [f"t = {t}" for t in range(lengths[b])], letters([b])
    wrong = [(layer, j) for layer in range(L) if not found[layer] for j in range(h_n.size(2))]
    shown = (
        numbers(f"output of {label}", output[b, : lengths[b]], rows=steps),
        numbers(f"h_n of {label}", h_n[:, b], rows=[f"h_n[{layer}]" for layer in range(L)], wrong=wrong),
    )
    names = [f"for layer {layer}" + (", the top one" if layer == L - 1 else "") for layer in range(L)]
    return Outcome(dict(zip(names, found, strict=True)), told, picture(*shown))


def _company(laboratory: Laboratory) -> Outcome:
    B = len(laboratory.fixed["sequences"])
    kept = [company(laboratory.trace, b) for b in range(B)]
    padded = torch.stack([each.padded_in_batch - each.padded_alone for each in kept])  # (B, D*H)
    packed = torch.stack([each.packed_in_batch - each.packed_alone for each in kept])
    rest = max(each.packed_moved for each in kept)
    W, most = padded.size(1), max(kept, key=lambda each: each.padded_moved)
    changed = [each.b for each in kept if each.padded_changes], [each.b for each in kept if each.packed_changes]
    told = (
        f"Where nothing is packed, the pads are read like tokens: the batch gives {letters([most.b])} {most.pads} "
        f"pads, and they move its h_n by up to {written(most.padded_moved)}. Packed, each sequence ends at its own "
        f"last token, and {f'the batch moves no h_n by more than {written(rest)}' if rest else 'no h_n moves at all'}."
    )
    shown = (
        numbers("padded: in the batch − alone", padded, rows=_names(padded), wrong=_cells(changed[0], W)),
        numbers("packed: in the batch − alone", packed, wrong=_cells(changed[1], W)),
    )
    return Outcome(
        {"where nothing is packed": not changed[0], "where the batch is packed": not changed[1]}, told, picture(*shown)
    )


def _names(rows: torch.Tensor) -> list[str]:
    return [letters([b]) for b in range(len(rows))]


def _cells(rows: tuple[int, ...] | list[int], width: int) -> list[tuple[int, int]]:
    return [(b, j) for b in rows for j in range(width)]


_ONE_ALONE = "_, alone = gru(sequences[2][None, :, None])\n"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="last-column",
        group=GROUP,
        question="Is output[:, -1] the last hidden state, to classify with? Why is it zero?",
        claim="`output[:, -1]` is the state after each sequence's last token.",
        broken=_RUN + "out[:, -1].detach()",
        fixed=_RUN + "h_n[-1].detach()",
        experiment=_last_column,
        source="practical-torchtext issue 5; qclass_dl issue 1; tf-rnn issue 4",
        rows=(39,),
        batch="1 -1\n2 1 -2\n3",
        config=Config(hidden_size=3),
    ),
    Entry(
        key="output-or-h-n",
        group=GROUP,
        question="What is the difference between output and h_n, the hidden state?",
        claim="`output` holds every state that `h_n` holds.",
        broken=_RUN + "# the final states of layer 0?\nout[torch.arange(len(lens)), lens - 1].detach()",
        fixed=_RUN + "# the final states of layer 0\nh_n[0].detach()",
        experiment=_output_and_h_n,
        source="Stack Overflow, question 48302810; PyTorch forum, topic 146724",
        rows=(40,),
        batch="1 -1\n2 1 -2\n3",
        config=Config(hidden_size=3, num_layers=2),
    ),
    *directions.ENTRIES,
    Entry(
        key="batch-company",
        group=GROUP,
        question="Why do predictions change with the batch around a sequence? Alone they differ.",
        claim="A sequence has the same final state in every batch.",
        broken=_ONE_ALONE + "_, h_n = gru(x)\n(h_n[-1, 2] - alone[-1, 0]).detach()",
        fixed=_ONE_ALONE + _RUN.rpartition("out, ")[0] + "(h_n[-1, 2] - alone[-1, 0]).detach()",
        experiment=_company,
        source="stanza issue 1472; s3prl issue 415",
        rows=(45,),
        batch="1 -1\n2 1 -2\n3",
        config=Config(hidden_size=3),
    ),
)
