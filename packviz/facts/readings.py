"""The same vector for each sequence read from the padded run and from the packed one, and why a wrong one is wrong."""

from dataclasses import dataclass

import torch
from torch import Tensor

from packviz.compute.record import Trace
from packviz.compute.verify import apart, differing
from packviz.facts.padded_run import run_tokens, tokens_of
from packviz.facts.readouts import WAYS, codes
from packviz.facts.words import sentence
from packviz.inputs.module import directions

__all__ = ["Reading", "Side", "readings"]


@dataclass(frozen=True, eq=False)
class Side:
    """Hold what is read on one side; W is H, or 2*H for both halves side by side."""

    values: Tensor  # (B, W), as read
    wanted: Tensor  # (B, W), each direction's state after it has read exactly the sequence's own tokens
    reasons: tuple[tuple[str, ...], ...]  # for each sequence and half, why a state that is wrong there is wrong
    single: tuple[int, ...] = ()  # the sequences of one token, where both halves are right for that alone

    @property
    def off(self) -> Tensor:
        """Return (B, halves): the largest difference from what is wanted."""
        return apart(self.values, self.wanted).view(len(self.values), len(self.reasons[0]), -1).amax(2)

    @property
    def wrong(self) -> tuple[int, ...]:
        """Return the sequences for which this is not what is wanted, by more than rounding."""
        return differing(self.values, self.wanted)

    @property
    def right(self) -> bool:
        """Return whether it is what is wanted for every sequence."""
        return not self.wrong

    @property
    def verdict(self) -> str:
        """Return whether it is right, or for which sequences it is wrong, in a few words."""
        return sentence("reading.verdict", wrong=self.wrong)

    @property
    def sentence(self) -> str:
        """Return for which sequences it is the state after exactly their own tokens, and why not."""
        wrong, single = self.wrong, [b for b in self.single if b not in self.wrong]
        if not wrong:
            return sentence("reading.right", single=single, count=len(self.values))
        whys: dict[str, list[int]] = {}
        for b in wrong:
            whys.setdefault(self._why(b), []).append(b)
        return sentence("reading.wrong", whys=whys, most=float(self.off[list(wrong)].max()), single=single)

    def _why(self, b: int) -> str:
        """Return the reasons of the halves of one sequence that are wrong."""
        ours, wanted = (rows[b].view(len(self.reasons[b]), -1) for rows in (self.values, self.wanted))
        whys = dict.fromkeys(self.reasons[b][half] for half in differing(ours, wanted))
        return ", and ".join(whys) or "its numbers are too far off"


@dataclass(frozen=True, eq=False)
class Reading:
    """Hold one way to read a vector for each sequence, on both sides."""

    key: str  # last_column, last_valid, h_n_forward or h_n_backward
    code: str  # the line that reads it
    padded: Side
    packed: Side

    @property
    def differs(self) -> tuple[int, ...]:
        """Return the sequences for which both sides do not read the same."""
        return differing(self.padded.values, self.packed.values)

    @property
    def sentence(self) -> str:
        """Return for which sequences each side is right, and why not."""
        return sentence("reading.both", it=self)


def readings(trace: Trace, padded: Tensor, packed: Tensor, h_n_padded: Tensor) -> tuple[Reading, ...]:
    """Read each sequence's vector on both sides, padded and packed (B, T, D*H): last column, last valid step, h_n."""
    wanted, real, D = _wanted(trace), trace.padded.mask.tolist(), directions(trace.module)
    lengths, B, T = trace.padded.lengths.tolist(), len(wanted), padded.size(1)
    out = trace.unpacked.output if trace.padded.batch_first else trace.unpacked.output.transpose(0, 1)
    rows, last = torch.arange(B, device="cpu"), trace.padded.lengths - 1
    first, ends, wide, final = [0] * B, [T - 1] * B, [out.size(1) - 1] * B, last.tolist()  # columns that are read

    def side(values: Tensor, columns: list[int], read: list[int], ways: tuple[str, ...]) -> Side:
        reasons = tuple(
            tuple(_reason(*place, way, f"its {way} half" if len(ways) == 2 else "it") for way in ways)
            for place in zip(columns, read, real, strict=True)
        )
        single = tuple(b for b, length in enumerate(lengths) if length == 1 and len(ways) == 2)
        own = wanted.chunk(D, 1)[WAYS.index(ways[0])] if len(ways) < D else wanted
        return Side(values, own, reasons, single)

    names = [*zip(("last_column", "last_valid"), codes(batch_first=trace.padded.batch_first), strict=True)]
    names += [(f"h_n_{way}", f"h_n[{d - D}]") for d, way in enumerate(WAYS[:D])]
    ours = [(padded[:, -1], ends), (padded[rows, last], final), *zip(h_n_padded[-D:], (ends, first), strict=False)]
    theirs = [(out[:, -1], wide), (packed[rows, last], final), *zip(trace.h_n[-D:], (final, first), strict=False)]
    ways = [WAYS[:D], WAYS[:D], *((way,) for way in WAYS[:D])]
    return tuple(
        Reading(*name, side(*one, [T] * B, halves), side(*other, lengths, halves))
        for name, one, other, halves in zip(names, ours, theirs, ways, strict=True)
    )


def _wanted(trace: Trace) -> Tensor:
    """Return (B, D*H): the top layer's state after each sequence's own tokens and nothing else."""
    if not bool(trace.packed_is_pad.any()):
        return trace.unpacked.last_valid
    B, D = len(trace.padded.lengths), directions(trace.module)
    _, h_n = run_tokens(trace, [tokens_of(trace, b) for b in range(B)], range(B))
    return torch.cat(h_n[-D:].unbind(0), 1)


def _reason(t: int, end: int, real: list[bool], way: str, it: str) -> str:
    """Return why the state of a direction at column t is not the one after exactly the sequence's own tokens.

    end   how many columns the cell has read: T padded, the length packed; filler stands after them
    real  (T,) bool: the cells that hold a token
    """
    if t >= end:
        return "filler stands there"
    seen = real[: t + 1] if way == "forward" else real[t:end][::-1]  # in the order in which it reads
    tokens, pads = sum(seen), len(seen) - sum(seen)
    if not tokens:
        return f"{it} has read padding only"
    if tokens < sum(real):
        only = "one token" if tokens == 1 else f"{tokens} tokens"
        return f"{it} has read padding and {only} only" if pads else f"{it} has read {only} only"
    if pads:
        return f"padding has moved {it}" if seen[0] else f"{it} starts in the padding"
    return f"{it} reads a layer below that starts in the padding"
