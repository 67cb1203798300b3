"""How far the hidden state moves on pads: the state after a sequence's last token, and after more and more pads."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compare.judging import letters, written
from packviz.compare.runs import pad_input, run_tokens, tokens_of
from packviz.errors import PackvizError
from packviz.exactness import exact_arithmetic
from packviz.modules import directions
from packviz.record import Trace
from packviz.visible import shown

__all__ = ["Drift", "drift"]

_MOST_PADS = 1000
_AT_REST = 1e-3  # the last move beside the whole way


@dataclass(frozen=True, eq=False)
class Drift:
    """Hold how far the top layer's forward state of each sequence has moved after k pads, k = 0 to K.

    pad        (F,): what enters the cell at a pad
    states     (B, K + 1, H): h after the last token (k = 0), and after k pads more
    """

    pad: Tensor
    states: Tensor

    @property
    def distances(self) -> Tensor:
        """Return (B, K + 1): the norm of h_k - h_0."""
        return _norm(self.states - self.states[:, :1])

    @property
    def relative(self) -> Tensor:
        """Return (B, K + 1): the distances as shares of the norm of h_0; inf or nan where that is 0."""
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
        K = self.states.size(1) - 1
        if not bool(self.states.isfinite().all()):
            lost = (~self.states.isfinite().flatten(1).all(1)).nonzero().flatten().tolist()
            return f"Within {K} pads the state of {letters(lost)} grows beyond every finite number."
        one, all_of_them = self.distances[:, 1], self.distances[:, -1]
        restless = [b for b, rests in enumerate(self.converges) if not rests]
        still = float(self.last_moves.max())
        if restless:
            end = f"It is not at rest for {letters(restless)}: the last pad still moves it by up to {written(still)}."
        else:
            end = f"It comes to rest: the last pad moves it by {written(still)} at most."
        return f"One pad moves h by {_span(one)}, {K} pads by {_span(all_of_them)}{self._in_percent()}. {end}"

    def _in_percent(self) -> str:
        shares = self.relative[:, 1]
        return f" (one pad: {_span(100 * shares, 0)} % of its norm)" if bool(shares.isfinite().all()) else ""


def drift(trace: Trace, pads: int = 50) -> Drift:
    """Run torch's module over each sequence alone and over k pads after it, k = 0 to `pads`; the forward half is read.

    Raises PackvizError unless pads is a whole number from 1 to 1000, and where torch refused to pack the lengths.
    """
    if not isinstance(pads, int) or isinstance(pads, bool) or not 1 <= pads <= _MOST_PADS:
        expected = f"a whole number from 1 to {_MOST_PADS}"
        raise PackvizError("pads", expected=expected, came=shown(pads), mend="choose a number in that range")
    pad = pad_input(trace)
    with exact_arithmetic():
        apart = directions(trace.module) == 2 and trace.module.num_layers > 1
        states = _each(trace, pad, pads) if apart else _at_once(trace, pad, pads)
    return Drift(pad, states)


def _at_once(trace: Trace, pad: Tensor, pads: int) -> Tensor:
    """Return (B, K + 1, H) from one run: a forward state does not know what comes after it."""
    output, _ = run_tokens(trace, _longer(trace, pad, pads), range(len(trace.padded.lengths)))
    grid, _ = pad_packed_sequence(output, True)  # (B, T + K, D*H)
    forward = grid.chunk(directions(trace.module), 2)[0]
    last = trace.padded.lengths - 1
    steps = last.unsqueeze(1) + torch.arange(pads + 1, device="cpu")  # (B, K + 1)
    return forward[torch.arange(len(last), device="cpu").unsqueeze(1), steps]


def _each(trace: Trace, pad: Tensor, pads: int) -> Tensor:
    """Return (B, K + 1, H) from a run for each k: an upper layer reads a backward half, which has begun at the end."""
    every, D = range(len(trace.padded.lengths)), directions(trace.module)
    return torch.stack([run_tokens(trace, _longer(trace, pad, k), every)[1][-D] for k in range(pads + 1)], 1)


def _longer(trace: Trace, pad: Tensor, pads: int) -> list[Tensor]:
    """Return each sequence's tokens (length, F) and so many pads after them."""
    tail = pad.expand(pads, -1)
    return [torch.cat([tokens_of(trace, b), tail]) for b in range(len(trace.padded.lengths))]


def _norm(states: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(states, dim=-1)
    return norms


def _span(numbers: Tensor, digits: int | None = None) -> str:
    least, most = (
        written(number) if digits is None else f"{number:.{digits}f}"
        for number in (float(numbers.min()), float(numbers.max()))
    )
    return least if least == most else f"{least} to {most}"
