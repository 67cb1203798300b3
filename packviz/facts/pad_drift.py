"""How far the hidden state moves on pads: the state after a sequence's last token, and after more and more pads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.record import Trace
from packviz.facts.padded_run import pad_input, run_tokens, tokens_of
from packviz.inputs.module import directions
from packviz.text import counted, letters, two_digits
from packviz.validate import integer

__all__ = ["Drift", "drift"]

_MAX_PADS = 1000
_RUN = (*range(11), 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700)  # where each k takes a run of its own
_AT_REST = 1e-3  # the last move beside the whole way


@dataclass(frozen=True, eq=False)
class Drift:
    """Hold how far the top layer's forward state of each sequence has moved after k pads, for some k from 0 to K.

    pad         (F,): what enters the cell at a pad
    states      (B, len(pads), H): h after the last token (k = 0), and after k pads more
    pads        the k of each column of states, growing; 0, 1, K - 1 and K are always among them
    layers      L; the states are those of the top one
    directions  D; the states are those of the forward half
    """

    pad: Tensor
    states: Tensor
    pads: tuple[int, ...]
    layers: int
    directions: int

    @property
    def distances(self) -> Tensor:
        """Return (B, len(pads)): the norm of h_k - h_0."""
        return _norm(self.states - self.states[:, :1])

    @property
    def relative(self) -> Tensor:
        """Return (B, len(pads)): the distances as shares of the norm of h_0; inf or nan where that is 0."""
        return self.distances / _norm(self.states[:, :1])

    @property
    def last_moves(self) -> Tensor:
        """Return (B,): the norm of h_K - h_(K-1), how far the last pad still moved the state."""
        return _norm(self.states[:, -1] - self.states[:, -2])

    @property
    def converges(self) -> tuple[bool, ...]:
        """Return for each sequence whether the last pad moved it by at most a thousandth of the whole way."""
        return tuple((self.last_moves <= _AT_REST * self.distances[:, -1]).tolist())

    @property
    def told(self) -> str:
        """Return how far one pad and all pads move the state, and whether it comes to rest, in plain sentences."""
        K = self.pads[-1]
        if not bool(self.states.isfinite().all()):
            lost = (~self.states.isfinite().flatten(1).all(1)).nonzero().flatten().tolist()
            return f"Within {counted(K, 'pad')} the state of {letters(lost)} grows beyond every finite number."
        one, all_of_them = self.distances[:, 1], self.distances[:, -1]
        restless = [b for b, rests in enumerate(self.converges) if not rests]
        still = float(self.last_moves.max())
        if restless:
            end = (
                f"It is not at rest for {letters(restless)}: the last pad still moves it by up to {two_digits(still)}."
            )
        else:
            moves = f"moves it by at most {two_digits(still)}" if still else "moves it no more"
            end = f"It comes to rest: the last pad {moves}."
        more = f", {K} pads by {_span(all_of_them)}" if K > 1 else ""
        return f"One pad moves {self._which()} by {_span(one)}{more}{self._in_percent()}. {end}"

    def _which(self) -> str:
        whose = f"h of the top layer of {self.layers}" if self.layers > 1 else "h"
        return f"the forward half of {whose}" if self.directions == 2 else whose

    def _in_percent(self) -> str:
        shares = self.relative[:, 1]
        return f" (one pad: {_span(100 * shares, 0)} % of its norm)" if bool(shares.isfinite().all()) else ""


def drift(trace: Trace, pads: int = 50) -> Drift:
    """Run torch's module over each sequence alone and over k pads after it, k = 0 to `pads`; the forward half is read.

    Where an upper layer reads a backward half, each k takes a run of its own: then only some k are run.

    Raises PackvizError unless pads is a whole number from 1 to 1000, and where torch refused to pack the lengths.
    """
    pads = integer("pads", pads, 1, _MAX_PADS)
    pad = pad_input(trace)
    L, D = trace.module.num_layers, directions(trace.module)
    apart = D == 2 and L > 1
    counts = _some(pads) if apart else tuple(range(pads + 1))
    states = _each(trace, pad, counts) if apart else _at_once(trace, pad, pads)
    return Drift(pad, states, counts, L, D)


def _some(pads: int) -> tuple[int, ...]:
    """Return 0 to 10, then fewer and fewer, and the last two."""
    return (*(k for k in _RUN if k < pads - 1), *range(max(0, pads - 1), pads + 1))


def _at_once(trace: Trace, pad: Tensor, pads: int) -> Tensor:
    """Return (B, K + 1, H) from one run: a forward state does not know what comes after it."""
    with exact_arithmetic():
        output, _ = run_tokens(trace, _longer(trace, pad, pads), range(len(trace.padded.lengths)))
    grid, _ = pad_packed_sequence(output, True)  # (B, T + K, D*H)
    forward = grid.chunk(directions(trace.module), 2)[0]
    last = trace.padded.lengths - 1
    steps = last.unsqueeze(1) + torch.arange(pads + 1, device="cpu")  # (B, K + 1)
    return forward[torch.arange(len(last), device="cpu").unsqueeze(1), steps]


def _each(trace: Trace, pad: Tensor, counts: tuple[int, ...]) -> Tensor:
    """Return (B, k, H) from a run for each k: an upper layer reads a backward half, which has begun at the end."""
    return torch.stack([_after(trace, pad, k) for k in counts], 1)


def _after(trace: Trace, pad: Tensor, pads: int) -> Tensor:
    """Return (B, H) after so many pads; others may compute between two such runs."""
    with exact_arithmetic():
        _, h_n = run_tokens(trace, _longer(trace, pad, pads), range(len(trace.padded.lengths)))
    return h_n[-directions(trace.module)]


def _longer(trace: Trace, pad: Tensor, pads: int) -> list[Tensor]:
    """Return each sequence's tokens (length, F) and so many pads after them."""
    tail = pad.expand(pads, -1)
    return [torch.cat([tokens_of(trace, b), tail]) for b in range(len(trace.padded.lengths))]


def _norm(states: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(states, dim=-1)
    return norms


def _span(numbers: Tensor, digits: int | None = None) -> str:
    least, most = (
        two_digits(number) if digits is None else f"{number:.{digits}f}"
        for number in (float(numbers.min()), float(numbers.max()))
    )
    return least if least == most else f"{least} to {most}"
