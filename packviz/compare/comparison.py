"""The same module, the same weights and the same initial state on the padded batch and on the packed one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compare.judging import tolerance_of
from packviz.compare.reasons import reasons
from packviz.compare.record import Comparison, Reading
from packviz.compare.runs import layer_states, run_padded, run_tokens, tokens_of
from packviz.compare.verdicts import findings
from packviz.exactness import exact_arithmetic
from packviz.modules import directions
from packviz.record import Trace

__all__ = ["compare"]

_WAYS = ("forward", "backward")


def compare(trace: Trace) -> Comparison:
    """Run torch's module over the padded grid, pads and all, and set it beside the packed run of the trace.

    Raises PackvizError where torch refused to pack the lengths.
    """
    h_n_packed, lengths, T = trace.h_n, trace.padded.lengths, trace.padded.mask.size(1)
    with exact_arithmetic():
        padded, h_n_padded, c_n_padded = run_padded(trace)
        output = trace.packed_sequence._replace(data=trace.output)
        packed, _ = pad_packed_sequence(output, True, trace.padding_value, T)  # (B, T, D*H)
        done = Comparison(
            padded=padded,
            packed=packed,
            valid=torch.arange(T, device="cpu") < lengths.unsqueeze(1),
            real=trace.padded.mask,
            filler=trace.padding_value,
            h_n_padded=h_n_padded,
            h_n_packed=h_n_packed,
            c_n_padded=c_n_padded,
            c_n_packed=trace.c_n,
            readings=(),
            states=layer_states(trace),
            directions=directions(trace.module),
            tolerance=tolerance_of(padded.dtype),
        )
        done = replace(done, readings=_readings(done, trace, _wanted(trace)))
    return replace(done, findings=findings(done, trace))


def _wanted(trace: Trace) -> Tensor:
    """Return (B, D*H): the top layer's state after each sequence's own tokens and nothing else."""
    if not bool(trace.packed_is_pad.any()):
        return trace.unpacked.last_valid
    B, D = len(trace.padded.lengths), directions(trace.module)
    _, h_n = run_tokens(trace, [tokens_of(trace, b) for b in range(B)], range(B))
    return torch.cat(h_n[-D:].unbind(0), 1)


def _readings(done: Comparison, trace: Trace, wanted: Tensor) -> tuple[Reading, ...]:
    first, D, B = trace.padded.batch_first, done.directions, len(wanted)
    rows, last = torch.arange(B, device="cpu"), trace.padded.lengths - 1
    out = trace.unpacked.output if first else trace.unpacked.output.transpose(0, 1)  # as wide as total_length
    column = "out[:, -1]" if first else "out[-1]"
    valid = "out[torch.arange(len(lens)), lens - 1]" if first else "out[lens - 1, torch.arange(len(lens))]"
    T, lengths = done.valid.size(1), tuple(trace.padded.lengths.tolist())
    ends = ([T] * B, lengths)

    def read(
        key: str, code: str, sides: tuple[Tensor, Tensor], at: tuple[Sequence[int], Sequence[int]], ways: slice
    ) -> Reading:
        halves = _WAYS[:D][ways]
        whys = (reasons(columns, end, done.real, halves) for columns, end in zip(at, ends, strict=True))
        half = torch.cat(wanted.chunk(D, 1)[ways], 1)
        return Reading(key, code, *sides, half, halves, done.tolerance, lengths, *whys)

    def final(d: int) -> Reading:
        at = ([0] * B, [0] * B) if d else ([T - 1] * B, last.tolist())
        sides = (done.h_n_padded[d - D], done.h_n_packed[d - D])
        return read(f"h_n_{_WAYS[d]}", f"h_n[{d - D}]", sides, at, slice(d, d + 1))

    ends_of = ([T - 1] * B, [out.size(1) - 1] * B)
    whole = slice(0, D)
    return (
        read("last_column", column, (done.padded[:, -1], out[:, -1]), ends_of, whole),
        read("last_valid", valid, (done.padded[rows, last], done.packed[rows, last]), (last.tolist(),) * 2, whole),
        *(final(d) for d in range(D)),
    )
