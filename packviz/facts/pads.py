"""The padding value, tokens mistaken for it, and how far padding moves the hidden state."""

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_packed_sequence

from packviz.compute.determinism import exact_arithmetic
from packviz.compute.draw import Drawn, draw
from packviz.compute.record import Refusal, Trace, Traced
from packviz.facts.padded_run import a_sequence, pad_input, run_tokens, tokens_of
from packviz.facts.words import sentence
from packviz.inputs.config import Config
from packviz.inputs.module import directions
from packviz.text import Brief, sequence_label, two_digits
from packviz.validate import integer

__all__ = ["Drift", "PadCollision", "ZeroStep", "after_zero_vector", "drift", "pad_collision", "pad_row"]

_MAX_PADS = 1000
_RUN = (*range(11), 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700)  # if each k needs its own run
_AT_REST = 1e-3  # the last move relative to the total distance
_MANY = 50  # zeros


@dataclass(frozen=True)
class PadCollision:
    """The lengths that counting the cells that differ from the pad would give."""

    pad: float  # padding_value, or the pad's id with an embedding
    code: str  # the usual code for the count on a grid x, batch first
    # the real tokens (b, t) that equal the pad, for vectors in every feature; t is the column of the padded grid
    cells: tuple[tuple[int, int], ...]
    lengths: tuple[int, ...]  # the true lengths, B of them
    counted: tuple[int, ...]  # what the code counts instead
    wrong: tuple[int, ...]  # the sequences whose length is counted wrong
    sentence: str  # what is lost, or why nothing is


def pad_collision(trace: Trace) -> PadCollision:
    """Find the real tokens that equal the padding value, and the lengths that a count without them gives.

    The padding value is known from the settings; for a module of your own it is the value of all pads of its grid, or
    0 if there is no such value. Works also if torch refused the lengths.
    """
    padded, config = trace.padded, trace.config
    ids = padded.embedding is not None
    if config is not None:
        pad = config.pad_id if ids else config.padding_value
    else:
        features = pad_input(trace).tolist()
        pad = features[0] if len(set(features)) == 1 else 0.0
    differs, code = padded.tokens != pad, f"(x != {pad:g}).sum(1)"  # (B, T) or (B, T, F)
    if differs.dim() == 3:
        differs, code = differs.any(2), f"(x != {pad:g}).any(2).sum(1)"
    lengths, counted = padded.lengths.tolist(), differs.sum(1).tolist()
    cells = tuple((b, t) for b, t in (padded.mask & ~differs).nonzero().tolist())
    wrong = tuple(b for b, length in enumerate(lengths) if length != counted[b])
    counts = [f"{counted[b]} for {sequence_label(b)} (length {lengths[b]})" for b in wrong]
    places = [f"{sequence_label(b)} at t = {t}" for b, t in cells]
    if places:
        zeros = ids and config is not None and config.padding_idx is not None
        said = ["equal_tokens", "counts" if counts else "counts_right", "keep", *(["never_trained"] if zeros else [])]
    elif counts:
        said = ["other_pads"]
    else:
        said = ["words" if trace.batch is not None and trace.batch.kind == "words" else "luck"]
    value, kind = f"{pad:g}", "id" if ids else "value"
    named = f"id {value}" if ids else value
    known = {"pad": named, "value": value, "kind": kind, "code": code, "counts": counts, "places": places}
    text = sentence(*(f"pad.{key}" for key in said), **known)
    return PadCollision(pad, code, cells, tuple(lengths), tuple(counted), wrong, text)


def pad_row(config: Config) -> str:
    """Explain the pad's row of the embedding."""
    return sentence("pad.row_trained" if config.padding_idx is None else "pad.row_of_zeros", config=config)


@dataclass(frozen=True, eq=False, repr=False)
class Drift(Brief):
    """How far k pads have moved the top layer's forward state of each sequence, for some k from 0 to K."""

    pad: Tensor  # (F,): what enters the cell at a pad
    states: Tensor  # (B, len(pads), H): h after the last token (k = 0), and after k more pads
    pads: tuple[int, ...]  # the k of each column of states, ascending; always includes 0, 1, K - 1 and K
    layers: int  # L; the states are the top layer's
    directions: int  # D; the states are the forward ones

    @property
    def distances(self) -> Tensor:
        """Return (B, len(pads)): the norm of h_k - h_0."""
        return _norm(self.states - self.states[:, :1])

    @property
    def last_moves(self) -> Tensor:
        """Return (B,): the norm of h_K - h_(K-1), how far the last pad still moved the state."""
        return _norm(self.states[:, -1] - self.states[:, -2])

    @property
    def converges(self) -> Tensor:
        """Return (B,) bool: whether the last pad moved the state by at most a thousandth of the total distance."""
        return self.last_moves <= _AT_REST * self.distances[:, -1]

    @property
    def sentence(self) -> str:
        """Return how far one pad and all pads move the state, and whether it converges."""
        K, finite = self.pads[-1], self.states.isfinite().flatten(1).all(1)
        if not bool(finite.all()):
            return sentence("drift.grows", K=K, off=(~finite).nonzero().flatten().tolist())
        percent = 100 * self.distances[:, 1] / _norm(self.states[:, 0])  # inf or nan if that is 0
        has_share, restless = bool(percent.isfinite().all()), (~self.converges).nonzero().flatten().tolist()
        last, moved = float(self.last_moves.max()), "drift.pads" if K > 1 else "drift.one_pad"
        h = "the top layer's h" if self.layers > 1 else "h"
        return sentence(
            f"{moved}_share" if has_share else moved,
            "drift.restless" if restless else "drift.nearly_still" if last else "drift.still",
            state=f"the forward half of {h}" if self.directions == 2 else h,
            K=K,
            one=_span(self.distances[:, 1]),
            every=_span(self.distances[:, -1]),
            share=_span(percent, ".0f") if has_share else "",
            restless=restless,
            last=last,
        )


def drift(trace: Trace, pads: int = 50) -> Drift:
    """Run torch's module over each sequence's tokens followed by pads, and measure how far its state moves.

    If an upper layer reads the backward half of a lower one, that half starts at the last pad, so each number of pads
    needs its own run, and only some of them are run; otherwise one run covers them all.

    Raises PackvizError unless pads is an integer from 1 to 1000, or if torch refused to pack the lengths.
    """
    pads, pad = integer("pads", pads, 1, _MAX_PADS), pad_input(trace)
    L, D, every = trace.module.num_layers, directions(trace.module), range(len(trace.padded.lengths))

    def run(k: int) -> tuple[Tensor, Tensor]:
        """Return the forward output (B, T + k, H) and state (B, H) after k pads; the lock is released between runs."""
        with exact_arithmetic():
            packed, h_n = run_tokens(trace, [torch.cat([tokens_of(trace, b), pad.expand(k, -1)]) for b in every], every)
        return pad_packed_sequence(packed, True)[0].chunk(D, 2)[0], h_n[-D]

    if D == 2 and L > 1:
        counts = (*(k for k in _RUN if k < pads - 1), *range(max(0, pads - 1), pads + 1))
        return Drift(pad, torch.stack([run(k)[1] for k in counts], 1), counts, L, D)
    ends = zip(run(pads)[0], trace.padded.lengths.tolist(), strict=True)
    states = [row[length - 1 : length + pads] for row, length in ends]  # (K + 1, H) each
    return Drift(pad, torch.stack(states), tuple(range(pads + 1)), L, D)


@dataclass(frozen=True)
class ZeroStep:
    """The top layer's forward state of one sequence, before and after extra steps with all-zero input."""

    # h after its last token, after one zero step, and after fifty; H numbers each
    states: tuple[tuple[float, ...], ...]
    norms: tuple[float, ...]  # of the first state, of the move to the second, of the move to the third
    sentence: str  # what one step of zeros does to h, and what fifty do


def after_zero_vector(trace: Traced, b: int = 0) -> ZeroStep:
    """Run the whole module over sequence b alone, and again followed by one and by fifty inputs of zeros.

    torch's own module is run, from the same initial state as in the trace; if torch refused the lengths, nothing was
    carried over, and a carried state is zeros. Raises PackvizError if there is no such sequence.
    """
    b, D = a_sequence(trace, b), directions(trace.module)
    x = tokens_of(trace, b)
    start: Trace | Drawn = trace
    if isinstance(trace, Refusal) and trace.batch is not None and trace.config is not None:  # nothing was run
        start = draw(trace.batch, trace.config)
    with exact_arithmetic():
        longer = [torch.cat([x, x.new_zeros(zeros, x.size(1))]) for zeros in (0, 1, _MANY)]
        states = [run_tokens(start, [tokens], [b])[1][-D, 0] for tokens in longer]
    norms = [float(state.norm()) for state in (states[0], *(h - states[0] for h in states[1:]))]
    return ZeroStep(tuple(tuple(state.tolist()) for state in states), tuple(norms), _zeros_say(b, len(x), *norms))


def _zeros_say(b: int, length: int, norm: float, once: float, often: float) -> str:
    """Return what one step of zeros does to h, and what _MANY do."""
    share = 100 * once / norm if once < 10 * norm else None
    moved = "zeros_unchanged" if not once else "zeros_move" if share is None else "zeros_move_share"
    return sentence(
        "drift.norm",
        f"drift.{moved}",
        *(["drift.zeros_remove"] if once else []),
        b=b,
        length=length,
        norm=f"{norm:.3g}",
        once=f"{once:.3g}",
        share="" if share is None else f"{share:.0f}",
        many=_MANY,
        often=f"{often:.3g}",
    )


def _norm(states: Tensor) -> Tensor:
    return cast(Tensor, torch.linalg.vector_norm(states, dim=-1))


def _span(numbers: Tensor, form: str = "") -> str:
    ends = [numbers.min().item(), numbers.max().item()]
    return " to ".join(dict.fromkeys(format(end, form) if form else two_digits(end) for end in ends))
