"""Entries: a forum thread on both functions, on padding without packing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from torch import Tensor

from packviz import charts, compare
from packviz.batch import sequence_label
from packviz.questions.entries.forum_example import GROUP, SOURCE
from packviz.questions.entries.marking import close
from packviz.questions.entries.packing_lines import PACK_SORTED
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Chart, Entry, Film, Outcome
from packviz.questions.pictures import numbers, picture
from packviz.trace import trace

__all__ = ["ENTRIES"]

_SMALL = 0.1  # of the state's norm: below it a move may be called quite small
_CELLS = ("RNN", "GRU", "LSTM")
_SHORT = "short = lengths.argmin()\n"
_BY_HAND = """\
cell = nn.{cell}(1, 2, batch_first=True)
_, padded = cell(x)
_, packed = cell(pack_padded_sequence(x, lengths, batch_first=True))
"""
_ONE_PAD = """\
longer, moved = nn.functional.pad(x, (0, 0, 0, 1)), []
for _ in range(20):
    cell = nn.{cell}(1, 4, batch_first=True)
    _, h_n = cell(pack_padded_sequence(x, lengths, batch_first=True))
    _, late = cell(pack_padded_sequence(longer, lengths + 1, batch_first=True))
    h_n, late = (each if torch.is_tensor(each) else each[0] for each in (h_n, late))
    moved.append((late - h_n).norm(dim=-1) / h_n.norm(dim=-1))
torch.cat(moved).median().item()
"""
_BOTH_WAYS = "gru = nn.GRU(1, 4, batch_first=True, bidirectional=True)\n"
_MASKED = """\
mask = torch.arange(x.size(1)) < lengths[:, None]
gru(x)[0][mask].square().mean().backward()
"""
_STEP = "gru(packed)[0].data.square().mean().backward()\n"
_GRADIENT = "gru.bias_hh_l0_reverse.grad[:4]"


def _first(state: Tensor | tuple[Tensor, Tensor]) -> Tensor:
    return state if isinstance(state, Tensor) else state[0]


def _fixed_length(laboratory: Laboratory) -> Outcome:
    widths = (1, 2, 3, 5)
    done = {T: laboratory.run(f"gru(torch.zeros(2, {T}, 1))[0].shape") for T in widths}
    took = [str(T) for T, program in done.items() if program.error is None]
    return Outcome(
        {f"for a batch of T = {T}": program.error is not None for T, program in done.items()},
        f"The same `gru` took batches of T = {', '.join(took)}, without packing. It makes as many steps as the batch "
        f"at hand is wide, {laboratory.fixed.value[1]} in this one. Only the sequences of one batch need one width.",
    )


def _by_hand(laboratory: Laboratory) -> Outcome:
    runs = {cell: laboratory.run(_BY_HAND.format(cell=cell)) for cell in _CELLS}
    states = {cell: (_first(run["padded"])[0], _first(run["packed"])[0]) for cell, run in runs.items()}
    padded, packed = states["RNN"]
    off = [b for b in range(len(packed)) if not close(padded[b], packed[b])]
    rows = [sequence_label(b) for b in range(len(packed))]
    last = rows[-1]
    return Outcome(
        {f"with nn.{cell}": close(*pair) for cell, pair in states.items()},
        f"The padded run goes on over the pads: for {last} `nn.RNN` ends at {padded[-1, 0]:.4f} instead of "
        f"{packed[-1, 0]:.4f}. Not as packed: {', '.join(rows[b] for b in off) or 'none'}. Pack the batch, or "
        "read the padded output at `lengths - 1`.",
        picture(
            numbers("h_n, padded", padded, rows=rows, wrong=[(b, unit) for b in off for unit in range(2)]),
            numbers("h_n, packed", packed, rows=rows),
        ),
    )


def _last_valid(laboratory: Laboratory) -> Outcome:
    packed, padded = laboratory.fixed.value, laboratory.broken.value
    alone = laboratory.run("torch.cat([gru(s[None, :, None])[1][0] for s in sequences]).detach()").value
    rows = [sequence_label(b) for b in range(len(alone))]
    off = [b for b in range(len(alone)) if not close(padded[b], alone[b])]
    wrong = [(b, unit) for b in off for unit in range(alone.size(1))]
    return Outcome(
        {f"for {row}": close(packed[b], alone[b]) for b, row in enumerate(rows)},
        "Packed, `h_n` of each sequence is its state when it runs alone; the largest difference is "
        f"{float((packed - alone).abs().max()):.1g}. Padded, it is another one for "
        f"{', '.join(rows[b] for b in off) or 'none'}, by up to {float((padded - alone).abs().max()):.2f}.",
        picture(numbers("h_n, packed", packed, rows=rows), numbers("h_n, padded", padded, rows=rows, wrong=wrong)),
    )


def _quite_small(laboratory: Laboratory) -> Outcome:
    moved = {cell: laboratory.run(_ONE_PAD.format(cell=cell)).value for cell in _CELLS}
    told = ", ".join(f"{100 * share:.0f} % (nn.{cell})" for cell, share in moved.items())
    return Outcome(
        {f"with nn.{cell}": share < _SMALL for cell, share in moved.items()},
        f"One pad moves the final state by {told} of its norm, the middle of 20 random modules; here 'quite small' "
        f"is below {100 * _SMALL:.0f} %. These weights are not trained: it shows that one pad can count, not how much "
        "it costs a trained model.",
        Chart(charts.drifts, (compare.drift(laboratory.trace, 10),)),
    )


def _gradients(laboratory: Laboratory) -> Outcome:
    here = laboratory.trace
    assert here.batch is not None
    assert here.config is not None
    one, two = (compare.losses(trace(here.batch, replace(here.config, bidirectional=both))) for both in (False, True))
    most = [max(row.masked for row in done.gradients) for done in (one, two)]
    return Outcome(
        {
            "in one direction": all(row.same_masked for row in one.gradients),
            "in both directions": all(row.same_masked for row in two.gradients),
        },
        f"With a masked loss the gradients of padded and packed are at most {most[0]:.1e} apart in one direction, and "
        f"up to {most[1]:.2f} in both: the backward half reads the pads first. So pack when `bidirectional=True`. "
        "What that does to the accuracy only a training shows.",
        Chart(charts.gradients, (two,)),
    )


def _zeros(laboratory: Laboratory) -> Outcome:
    short = int(laboratory.fixed["lengths"].argmin())
    length = int(laboratory.fixed["lengths"][short])
    padded, zeros = laboratory.fixed.value, laboratory.broken.value
    long = laboratory.run("wide = nn.functional.pad(x, (0, 0, 0, 100))\n(gru(wide)[0] - gru(wide * 0)[0]).detach()")
    end = float(long.value[short, -1].abs().max())
    steps = [f"t{t}" for t in range(len(padded))]
    label = sequence_label(short)
    return Outcome(
        {
            f"at the valid steps of {label}": close(padded[:length], zeros[:length]),
            f"at the pads of {label}": close(padded[length:], zeros[length:]),
        },
        f"The valid steps of {label} come before the pads, so they stay as they are; over the pads the state goes on "
        f"from there. The two are {float((padded - zeros)[-1].abs().max()):.2f} apart at the last column, and "
        f"{end:.1e} after 100 pads more: both go to the same resting point.",
        picture(numbers(f"output of {label}", padded, rows=steps), numbers("of zeros", zeros, rows=steps)),
    )


_Claim = partial(Entry, group=GROUP, source=SOURCE)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="forum-fixed-length",
        question="Do I have to unroll my RNN to a fixed length when I do not pack?",
        claim="Without packing an RNN has to be unrolled to one fixed length.",
        broken="x = nn.functional.pad(x, (0, 0, 0, 5 - x.size(1)))  # T = 5 always\ngru(x)[0].shape",
        fixed="gru(x)[0].shape  # T of this batch",
        experiment=_fixed_length,
        film=Film("beside"),
    ),
    _Claim(
        key="forum-padding-by-hand",
        question="Is padding by hand the same as pack_padded_sequence?",
        claim="Padding by hand gives the same final states as `pack_padded_sequence`.",
        broken=_BY_HAND.format(cell="RNN") + "padded[0].detach()",
        fixed=_BY_HAND.format(cell="RNN") + "packed[0].detach()",
        experiment=_by_hand,
        batch="1 2 3\n1 2\n1",
    ),
    _Claim(
        key="forum-last-valid",
        question="Is hidden the state after the last valid input?",
        claim="`h_n` of a packed batch is the state after each sequence's last valid input.",
        broken="_, h_n = gru(x)\nh_n[0].detach()",
        fixed=PACK_SORTED + "_, h_n = gru(packed)\nh_n[0].detach()",
        experiment=_last_valid,
    ),
    _Claim(
        key="forum-quite-small",
        question="Is the effect of padding small when the lengths are close?",
        claim="With lengths that are close, the effect of padding is quite small.",
        broken="_, h_n = gru(x)  # the last one ends on a pad\nh_n[0, -1].detach()",
        fixed=PACK_SORTED + "_, h_n = gru(packed)\nh_n[0, -1].detach()",
        experiment=_quite_small,
        batch="0.5 -1 0.8 0.3\n-0.7 0.9 0.4 1\n1 0.2 -0.6",
    ),
    _Claim(
        key="forum-loss",
        question="Does padding hurt the loss when I mask it?",
        claim="With a masked loss, padding changes no gradient.",
        broken=_BOTH_WAYS + _MASKED + _GRADIENT,
        fixed=_BOTH_WAYS + PACK_SORTED + _STEP + _GRADIENT,
        experiment=_gradients,
        batch="2 -1 3 1\n-2 3 1\n3 1",
    ),
    _Claim(
        key="forum-zero-sequence",
        question="Is an RNN on a short padded sequence the same as on zeros?",
        claim="An RNN gives the same for a short padded sequence as for a sequence of zeros.",
        broken=_SHORT + "gru(torch.zeros_like(x))[0][short].detach()",
        fixed=_SHORT + "gru(x)[0][short].detach()",
        experiment=_zeros,
        batch="1 2 3 4\n3 1 2\n2",
    ),
)
