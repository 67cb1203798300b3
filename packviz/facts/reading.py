"""One way to read a vector for each sequence, padded and packed, and why a wrong one is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.compute.verify import apart, differing
from packviz.facts.padded_run import run_tokens, tokens_of
from packviz.inputs.module import directions
from packviz.text import letters, two_digits

__all__ = ["WAYS", "Reading", "codes", "read_both"]

WAYS = ("forward", "backward")
_Reasons = tuple[tuple[str, ...], ...]  # by sequence and half


@dataclass(frozen=True, eq=False)
class Reading:
    """Hold one way to read a vector for each sequence, on both sides; W is H, or 2*H for both halves side by side.

    key, code  last_column, last_valid, h_n_forward or h_n_backward, and the line that reads it
    padded     (B, W), from the padded run
    packed     (B, W), from the packed run
    wanted     (B, W), each direction's state after it has read exactly the sequence's own tokens
    halves     "forward", "backward" or both
    tolerance  up to where two numbers are called equal
    lengths    (B,), of the sequences
    reasons_padded, reasons_packed   for each sequence and half, why a state that is wrong there is wrong
    """

    key: str
    code: str
    padded: Tensor
    packed: Tensor
    wanted: Tensor
    halves: tuple[str, ...]
    tolerance: float
    lengths: tuple[int, ...]
    reasons_padded: _Reasons
    reasons_packed: _Reasons

    @property
    def apart(self) -> Tensor:
        """Return (B, halves): the largest difference between padded and packed."""
        return self._by_half(self.padded, self.packed)

    @property
    def off_padded(self) -> Tensor:
        """Return (B, halves): the largest difference of the padded reading from what is wanted."""
        return self._by_half(self.padded, self.wanted)

    @property
    def off_packed(self) -> Tensor:
        """Return (B, halves): the largest difference of the packed reading from what is wanted."""
        return self._by_half(self.packed, self.wanted)

    @property
    def wrong_padded(self) -> tuple[int, ...]:
        """Return the sequences for which the padded reading is not what is wanted."""
        return differing(self.padded, self.wanted, self.tolerance)

    @property
    def wrong_packed(self) -> tuple[int, ...]:
        """Return the sequences for which the packed reading is not what is wanted."""
        return differing(self.packed, self.wanted, self.tolerance)

    @property
    def right_padded(self) -> bool:
        """Return whether the padded reading is what is wanted for every sequence."""
        return not self.wrong_padded

    @property
    def right_packed(self) -> bool:
        """Return whether the packed reading is what is wanted for every sequence."""
        return not self.wrong_packed

    @property
    def differs(self) -> tuple[int, ...]:
        """Return the sequences for which both sides do not read the same."""
        return differing(self.padded, self.packed, self.tolerance)

    @property
    def told(self) -> str:
        """Return for which sequences each side reads the state after exactly their own tokens, and why not."""
        padded = self._side(self.wrong_padded, self.padded, self.off_padded, self.reasons_padded)
        packed = self._side(self.wrong_packed, self.packed, self.off_packed, self.reasons_packed)
        return f"{self.code}: padded {padded}; packed {packed}."

    def _side(self, wrong: tuple[int, ...], ours: Tensor, off: Tensor, reasons: _Reasons) -> str:
        short = [b for b, length in enumerate(self.lengths) if length == 1 and b not in wrong]
        why_right = short if len(self.halves) == 2 and self.key.startswith("last") else []
        if not wrong:
            return f"right for every sequence{', for each has length 1' if len(why_right) == len(ours) else ''}"
        spoiled = [
            set(differing(part, wanted, self.tolerance))
            for part, wanted in zip(*(whole.chunk(len(self.halves), 1) for whole in (ours, self.wanted)), strict=True)
        ]
        whys = [_joined([why for why, bad in zip(reasons[b], spoiled, strict=True) if b in bad]) for b in wrong]
        told = ", ".join(f"{letters([wrong[i] for i in places])} ({why})" for why, places in _grouped(whys))
        most = two_digits(float(off[list(wrong)].max()))
        right = f", right for {letters(why_right)}, which {_have(why_right)} length 1" if why_right else ""
        return f"wrong for {told}, by up to {most}{right}"

    def _by_half(self, one: Tensor, other: Tensor) -> Tensor:
        return torch.stack([part.amax(1) for part in apart(one, other).chunk(len(self.halves), 1)], 1)


def codes(*, batch_first: bool) -> tuple[str, str]:
    """Return the lines that read the last column and the last valid step of the unpacked output, `out`."""
    if batch_first:
        return "out[:, -1]", "out[torch.arange(len(lens)), lens - 1]"
    return "out[-1]", "out[lens - 1, torch.arange(len(lens))]"


def read_both(
    trace: Trace, padded: Tensor, packed: Tensor, h_n_padded: Tensor, tolerance: float
) -> tuple[Reading, ...]:
    """Read each sequence's vector on both sides, padded and packed (B, T, D*H): last column, last valid step, h_n."""
    wanted, real = _wanted(trace), trace.padded.mask
    first, D, B = trace.padded.batch_first, directions(trace.module), len(wanted)
    rows, last = torch.arange(B, device="cpu"), trace.padded.lengths - 1
    out = trace.unpacked.output if first else trace.unpacked.output.transpose(0, 1)  # as wide as total_length
    column, valid = codes(batch_first=first)
    T, lengths = real.size(1), tuple(trace.padded.lengths.tolist())
    ends = ([T] * B, lengths)

    def read(
        key: str, code: str, sides: tuple[Tensor, Tensor], at: tuple[Sequence[int], Sequence[int]], ways: slice
    ) -> Reading:
        halves = WAYS[:D][ways]
        whys = (_reasons(columns, end, real, halves) for columns, end in zip(at, ends, strict=True))
        half = torch.cat(wanted.chunk(D, 1)[ways], 1)
        return Reading(key, code, *sides, half, halves, tolerance, lengths, *whys)

    def final(d: int) -> Reading:
        at = ([0] * B, [0] * B) if d else ([T - 1] * B, last.tolist())
        sides = (h_n_padded[d - D], trace.h_n[d - D])
        return read(f"h_n_{WAYS[d]}", f"h_n[{d - D}]", sides, at, slice(d, d + 1))

    ends_of = ([T - 1] * B, [out.size(1) - 1] * B)
    whole = slice(0, D)
    return (
        read("last_column", column, (padded[:, -1], out[:, -1]), ends_of, whole),
        read("last_valid", valid, (padded[rows, last], packed[rows, last]), (last.tolist(),) * 2, whole),
        *(final(d) for d in range(D)),
    )


def _wanted(trace: Trace) -> Tensor:
    """Return (B, D*H): the top layer's state after each sequence's own tokens and nothing else."""
    if not bool(trace.packed_is_pad.any()):
        return trace.unpacked.last_valid
    B, D = len(trace.padded.lengths), directions(trace.module)
    _, h_n = run_tokens(trace, [tokens_of(trace, b) for b in range(B)], range(B))
    return torch.cat(h_n[-D:].unbind(0), 1)


def _reasons(
    at: Sequence[int], ends: Sequence[int], real: Tensor, halves: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """Return for each sequence and half why the state that stands there is none of exactly the sequence's own tokens.

    at      (B,) the column that is read
    ends    (B,) how many columns the cell has read: T padded, the length packed; filler stands after them
    real    (B, T) bool: the cells that hold a token
    halves  "forward" or "backward", or both
    """
    return tuple(
        tuple(_reason(t, end, row, half, f"its {half} half" if len(halves) == 2 else "it") for half in halves)
        for t, end, row in zip(at, ends, real.tolist(), strict=True)
    )


def _grouped(said: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Return each sentence once, with the places that have it, in the order in which they come."""
    groups: dict[str, list[int]] = {}
    for place, reason in enumerate(said):
        groups.setdefault(reason, []).append(place)
    return list(groups.items())


def _reason(t: int, end: int, real: list[bool], half: str, it: str) -> str:
    if t >= end:
        return "filler stands there"
    seen = real[: t + 1] if half == "forward" else real[t:end][::-1]  # in the order in which it reads
    tokens, pads = sum(seen), len(seen) - sum(seen)
    if not tokens:
        return f"{it} has read padding only"
    if tokens < sum(real):
        only = "one token" if tokens == 1 else f"{tokens} tokens"
        return f"{it} has read padding and {only} only" if pads else f"{it} has read {only} only"
    if pads:
        return f"padding has moved {it}" if seen[0] else f"{it} starts in the padding"
    return f"{it} reads a layer below that starts in the padding"


def _joined(whys: list[str]) -> str:
    return ", and ".join(dict.fromkeys(whys)) or "its numbers are too far off"


def _have(sequences: list[int]) -> str:
    return "has" if len(sequences) == 1 else "have"
