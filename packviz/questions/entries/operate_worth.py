"""Entries: how does pack_padded_sequence function, on what packing is good for."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from packviz import charts, compare, cost
from packviz.batch import Batch, sequence_label
from packviz.compare import Comparison
from packviz.config import Config
from packviz.questions.entries.operate_order import GROUP, SOURCE
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Chart, Entry, Outcome
from packviz.questions.pictures import numbers, picture
from packviz.record import Trace
from packviz.trace import trace

__all__ = ["ENTRIES"]

_MASK = "real = torch.arange(x.size(1)) < lengths[:, None]\n"
_STEP = "loss.backward()\ngru.bias_hh_l0.grad"
_UNMASKED = "loss = gru(x)[0].square().mean()\n" + _STEP
_MASKED = _MASK + "loss = gru(x)[0][real].square().mean()\n" + _STEP


def _with(laboratory: Laboratory, *, bidirectional: bool) -> Trace:
    here = laboratory.trace
    assert here.batch is not None
    assert here.config is not None
    return trace(here.batch, replace(here.config, bidirectional=bidirectional))


def _skews(laboratory: Laboratory) -> Outcome:
    one, two = (compare.losses(_with(laboratory, bidirectional=both)) for both in (False, True))
    unmasked = max(row.unmasked for row in one.gradients)
    masked, both = (max(row.masked for row in done.gradients) for done in (one, two))
    return Outcome(
        {
            "without a mask": any(not row.same_unmasked for row in one.gradients),
            "with a masked loss, in one direction": any(not row.same_masked for row in one.gradients),
            "with a masked loss, in both directions": any(not row.same_masked for row in two.gradients),
        },
        f"Compared with packing, the gradients of a padded run are off by up to {unmasked:.2f} if pads count in the "
        f"loss, by {masked:.1e} if they are masked, and by {both:.2f} if they are masked with `bidirectional=True`. "
        "Mask the loss; in both directions, pack as well.",
        Chart(charts.gradients, (one,)),
    )


def _saves(laboratory: Laboratory) -> Outcome:
    count, program = cost.counts_of(laboratory.trace), laboratory.fixed
    x, packed = program["x"], program["packed"]
    kept = x.untyped_storage().data_ptr() != packed.data.untyped_storage().data_ptr()
    inputs = x.nbytes + packed.data.nbytes if kept else x.nbytes
    return Outcome(
        {
            "in cell updates": count.updates.packed < count.updates.padded,
            "in time steps, one after the other": count.steps.packed < count.steps.padded,
            "in memory while x is still there": inputs <= x.nbytes,
        },
        f"Counted: {count.updates.packed} cell updates instead of {count.updates.padded}, but {count.steps.packed} "
        f"time steps one after the other, as with {count.steps.padded}. `packed.data` is "
        f"{'a copy' if kept else 'no copy'}: {packed.data.nbytes} bytes beside the {x.nbytes} of `x`. Milliseconds "
        "depend on the machine; the page Cost measures them.",
        Chart(charts.counts_bars, (count,)),
    )


def _worth(laboratory: Laboratory) -> Outcome:
    one, two = (_with(laboratory, bidirectional=both) for both in (False, True))
    assert one.config is not None
    longest = int(one.padded.lengths.max())
    equal = trace(Batch.parse("\n".join([" ".join(["1"] * longest)] * len(one.padded.lengths))), one.config)
    here, there = cost.counts_of(one), cost.counts_of(equal)
    changed = {both: bool(_wrong(compare.compare(run))) for both, run in ((False, one), (True, two))}
    return Outcome(
        {
            "for the cell updates of these lengths": here.spared > 0,
            "for the cell updates of equal lengths": there.spared > 0,
            "for the states in one direction, read at lengths - 1": changed[False],
            "for the states in both directions": changed[True],
        },
        f"These lengths fill {100 * here.fill:.0f} % of the grid, and packing spares {here.spared} of "
        f"{here.updates.padded} cell updates; with equal lengths it spares {there.spared}. For the results it "
        "matters when `bidirectional=True`; in one direction `lengths - 1` reads the same from the padded output. "
        "Whether it is faster, the page Cost measures.",
        Chart(charts.counts_bars, (here,)),
    )


def _wrong(done: Comparison) -> tuple[int, ...]:
    """Return the sequences whose padded run has not their last states at any valid step."""
    forward, *backward = (reading for reading in done.readings if reading.key in ("last_valid", "h_n_backward"))
    return backward[0].wrong_padded if backward else forward.wrong_padded


def _both_halves(laboratory: Laboratory) -> Outcome:
    read, wanted = laboratory.broken.value, laboratory.fixed.value
    H, rows = read.size(1) // 2, [sequence_label(b) for b in range(len(read))]
    halves = {"forward": slice(0, H), "backward": slice(H, None)}
    right = {name: bool((read[:, half] == wanted[:, half]).all()) for name, half in halves.items()}
    wrong = [(b, i) for b in range(len(read)) for i in range(2 * H) if read[b, i] != wanted[b, i]]
    longer = sorted({rows[b] for b, _ in wrong})
    return Outcome(
        {f"in the {name} half": holds for name, holds in right.items()},
        f"The backward half begins at the last token: at `lengths - 1` it has read one token. For "
        f"{', '.join(longer) or 'none'} that is not the state after the whole sequence. Take `h_n[-2]` and `h_n[-1]`.",
        picture(
            numbers("output at lengths - 1", read, rows=rows, wrong=wrong),
            numbers("h_n[-2], h_n[-1]", wanted, rows=rows),
        ),
    )


_Claim = partial(Entry, group=GROUP, source=SOURCE)

ENTRIES: tuple[Entry, ...] = (
    _Claim(
        key="operate-skews-gradients",
        question="Does padding skew the gradients?",
        claim="Padding skews the gradients.",
        broken=_UNMASKED,
        fixed=_MASKED,
        experiment=_skews,
        batch="1 -1 2\n3 1\n2 1 -1 1",
    ),
    _Claim(
        key="operate-saves",
        question="Does packing save computing time and memory?",
        claim="Packing saves computing time and memory.",
        broken=PACK + "packed.data.nbytes  # as if x were gone",
        fixed=PACK + "x.nbytes + packed.data.nbytes  # both are there",
        experiment=_saves,
        batch="1 2 3\n4 5\n6 7 8 9",
    ),
    _Claim(
        key="operate-worth",
        question="When is packing worth it?",
        claim="Packing is worth it.",
        broken="output, h_n = gru(x)  # a step at every pad, too\noutput.shape[:2].numel()",
        fixed=PACK + "output, h_n = gru(packed)\nlen(output.data)",
        experiment=_worth,
        batch="1\n2 3\n4 5 6 7 8 9",
    ),
    _Claim(
        key="operate-bidirectional",
        question="And what about bidirectional: is the last valid output still right?",
        claim="With `bidirectional=True` the output at `lengths - 1` is the last state.",
        broken=PACK
        + "out, _ = pad_packed_sequence(gru(packed)[0], batch_first=True)\n"
        + "out[torch.arange(len(lengths)), lengths - 1].detach()",
        fixed=PACK + "_, h_n = gru(packed)\ntorch.cat((h_n[-2], h_n[-1]), 1).detach()",
        experiment=_both_halves,
        batch="1 2 3\n4\n6 7",
        config=Config(hidden_size=2, bidirectional=True),
    ),
)
