"""Entries: speed and memory. Times are measured here and now; cells and steps are counted."""

from __future__ import annotations

from collections.abc import Mapping

from packviz import charts, cost
from packviz.config import Config
from packviz.cost import Measurement
from packviz.questions.entries.packing_lines import PACK
from packviz.questions.laboratory import Laboratory
from packviz.questions.model import Chart, Entry, Outcome

__all__ = ["ENTRIES", "GROUP"]

GROUP = "Speed and memory"

ROUNDS, SECONDS = 9, 0.6  # of each measurement: enough to tell two times apart, and no long wait

_TIMED = """\
from timeit import repeat
x = torch.randn(16, 32, 1)
lengths = torch.arange(32, 16, -1)  # 16 sequences
def run():
    return {run}
times = repeat(run, number=1, repeat=5)
f"{{1e3 * min(times):.2f}} ms\""""


def _timed(cell: str, *, packed: bool) -> str:
    read = "pack_padded_sequence(x, lengths, batch_first=True)" if packed else "x"
    return _TIMED.format(run=f"{cell}({read})")


def _faster(measured: Measurement) -> bool:
    """Return whether packing took less time, and not only by chance."""
    return measured.differs and measured.ratio < 1


def _lstm(laboratory: Laboratory) -> Outcome:
    lengths = cost.draw_lengths(16, 32, 0.5, laboratory.entry.config.seed)
    measured: dict[str, Measurement] = {}
    for name, onednn in (("with oneDNN, as by default", True), ("with oneDNN off", False)):
        *_, measured[name] = cost.measure(
            lengths, "lstm", 32, 64, repeats=ROUNDS, threads=1, onednn=onednn, seconds=SECONDS
        )
    return Outcome(
        {name: _faster(each) for name, each in measured.items()},
        f"{_told('an LSTM, half of its cells pads', measured)} A padded LSTM may use oneDNN's fused step on the CPU, "
        "which packed input cannot; the two programs here run with oneDNN off. Measure your own sizes. "
        "Without packing, read each last state at `lengths - 1`.",
        Chart(charts.timings, (tuple(measured.values()),)),
    )


def _fills(laboratory: Laboratory) -> Outcome:
    seed = laboratory.entry.config.seed
    planned = cost.plan_sweep(("gru",), (0.1, 0.5, 0.9), (16,), (32,), (64,), threads=1, seed=seed)
    points = tuple(cost.sweep(planned, repeats=ROUNDS, seconds=SECONDS))
    named = {f"with {100 * (1 - point.measurement.fill):.0f} % pads": point.measurement for point in points}
    return Outcome(
        {name: _faster(measured) for name, measured in named.items()},
        f"{_told('a GRU', named)} Packing spares cells, but {planned[0].steps} steps still wait for one another, and "
        "packing and unpacking take time, too: your code may well be right.",
        Chart(charts.winning, (points,)),
    )


def _told(of: str, named: Mapping[str, Measurement]) -> str:
    alike: dict[str, list[str]] = {}
    for name, measured in named.items():
        alike.setdefault(_ratio(measured), []).append(name)
    ratios = "; ".join(f"{ratio} {', '.join(names)}" for ratio, names in alike.items())
    busy = " The machine was busy meanwhile." if any(measured.busy for measured in named.values()) else ""
    return f"Packed ÷ padded time of {of}, measured just now: {ratios}. Above 1 packing is slower.{busy}"


def _ratio(measured: Measurement) -> str:
    return f"{measured.ratio:.2f}" if measured.differs else "no difference that can be shown"


def _spared(laboratory: Laboratory) -> Outcome:
    counted = cost.counts_of(laboratory.trace)
    one_memory = not laboratory.fixed["copied"]
    updates, steps, needed = counted.updates, counted.steps, counted.both_inputs
    alive = counted.inputs.padded if one_memory else needed
    return Outcome(
        {
            "for the cell updates": updates.packed < updates.padded,
            "for the steps that wait for one another": steps.packed < steps.padded,
            "for the memory while packing": alive < counted.inputs.padded,
        },
        f"Counted, not measured: {updates.packed} cell updates in place of {updates.padded}, but {steps.packed} steps "
        f"in place of {steps.padded}. `packed.data` is {'no copy' if one_memory else 'a copy'}: while both are alive, "
        f"the input takes {alive} bytes, `batch_sizes` and the indices among them, "
        f"in place of {counted.inputs.padded}. Milliseconds are a third thing: measure.",
        Chart(charts.counts_bars, (counted,)),
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        key="lstm-slow-when-packed",
        group=GROUP,
        question="Is packing faster? Why is my LSTM slow on a PackedSequence?",
        claim="Measured here, an LSTM is faster when its input is packed (half of the cells are pads).",
        broken=_timed("lstm", packed=True),
        fixed=_timed("lstm", packed=False),
        experiment=_lstm,
        source="pytorch/pytorch issues 149194, 1788",
        rows=(64,),
        config=Config(cell="lstm", hidden_size=64),
        slow=True,
    ),
    Entry(
        key="times-are-worse",
        group=GROUP,
        question="My times are worse with packing. Is my code wrong?",
        claim="Measured here, packing is faster wherever there are pads.",
        broken=_timed("gru", packed=True),
        fixed=_timed("gru", packed=False),
        experiment=_fills,
        source="slp-ntua/patrec-labs issue 131",
        rows=(65,),
        config=Config(hidden_size=64),
        slow=True,
    ),
    Entry(
        key="saves-memory-and-computation",
        group=GROUP,
        question="Does packing save memory and computation?",
        claim="Packing saves memory and computation.",
        broken=PACK + "packed.data.nbytes  # as if there were nothing else",
        fixed=PACK
        + "copied = packed.data.data_ptr() != x.data_ptr()\n"
        + "copied, x.nbytes + sum(field.nbytes for field in packed)",
        experiment=_spared,
        source="PyTorch documentation, torch.nn.utils.rnn.pack_padded_sequence",
        rows=(66,),
        batch="1 2 3 4 5 6\n7 8\n9",
    ),
)
